/**
 * The keys that an auditor pins, in every form in which a key is passed on, and keys that certificates
 * connect.
 */
import assert from "node:assert/strict";
import { canonicalJson } from "../../src/evidence/canonical.ts";
import { concat, fromHex, hex, type Signer, utf8 } from "../../src/evidence/crypto.ts";
import { nodeCrypto, signerFromPem } from "../../src/evidence/node_crypto.ts";
import { formatVerifierKey } from "../../src/evidence/note.ts";
import { formatRotationCertificate } from "../../src/evidence/rotation.ts";
import { fingerprint, jwkOf, parsePins, type PinnedKey, TrustedKeys } from "../../src/evidence/trust.ts";
import { publicKeyPem } from "../auditing.ts";
import checkpoints from "../vectors/evidence/checkpoint.json" with { type: "json" };
import rotation from "../vectors/evidence/rotation_cert.json" with { type: "json" };

const KEY = fromHex("04c3a4f368d0bbdcd4b4f4d9fe3739a988c85581f5006dc1d4012d26b2e744ce");
/** The key as openssl writes it. */
const PEM = `-----BEGIN PUBLIC KEY-----
MCowBQYDK2VwAyEABMOk82jQu9zUtPTZ/jc5qYjIVYH1AG3B1AEtJrLnRM4=
-----END PUBLIC KEY-----
`;
/** RFC 8037, appendix A. */
const RFC_KEY = fromHex("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a");
const RFC_JWK = { kty: "OKP", crv: "Ed25519", x: "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo" };
const RFC_SECRET = "nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A";

const PREFIX = "jis.example.internal/dep-7f3a/";
const ANYWHERE = { prefix: null, from: null, until: null };

const parse = (text: string) => parsePins(nodeCrypto, text);

/** The message with which a text is refused. */
function refusal(text: string): string {
  try {
    parse(text);
  } catch (error) {
    assert.ok(error instanceof SyntaxError, String(error));
    return error.message;
  }
  throw new assert.AssertionError({ message: `was accepted: ${text}` });
}

// ---- forms of a public key --------------------------------------------------------------------------------

Deno.test("a key's fingerprint is the base64 of its SHA-256, without padding", () => {
  assert.equal(fingerprint(nodeCrypto, KEY), "SHA256:S/4u7MWATigAB+aN6JbzbaWdQ0cD0I1TmpkA04jcOs8");
});

Deno.test("a key's JWK has the RFC's thumbprint as its name, and the sizes that the key may sign", () => {
  assert.deepEqual(jwkOf(nodeCrypto, { publicKey: RFC_KEY, from: 0, until: null }), {
    ...RFC_JWK,
    use: "sig",
    alg: "EdDSA",
    kid: "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k",
    "x-jiss-from": 0,
    "x-jiss-until": null,
  });
});

// ---- pins -------------------------------------------------------------------------------------------------

Deno.test("a PEM public key is pinned for any log, with any text around it and any line ends", () => {
  const expected = [{ publicKey: KEY, ...ANYWHERE }];
  const wrapped = PEM.replace("MCowBQYDK2VwAyEABMOk82jQu9zU", "MCowBQYDK2VwAyEABMOk\n82jQu9zU");
  for (
    const text of [PEM, PEM.replaceAll("\n", "\r\n"), `\ufeff${PEM}`, `Key of the log:\n${PEM}\n`, wrapped]
  ) {
    assert.deepEqual(parse(text), expected);
  }
});

Deno.test("several PEM keys in one file are all pinned", () => {
  assert.deepEqual(parse(publicKeyPem(RFC_KEY) + PEM), [
    { publicKey: RFC_KEY, ...ANYWHERE },
    { publicKey: KEY, ...ANYWHERE },
  ]);
});

Deno.test("a JWKS is pinned with the ranges of its keys, and so is a single JWK", () => {
  const first = jwkOf(nodeCrypto, { publicKey: KEY, from: 0, until: 41 });
  const second = jwkOf(nodeCrypto, { publicKey: RFC_KEY, from: 17, until: null });
  const pins = [
    { publicKey: KEY, prefix: null, from: 0, until: 41 },
    { publicKey: RFC_KEY, prefix: null, from: 17, until: null },
  ];
  assert.deepEqual(parse(JSON.stringify({ keys: [first, second] }, null, 2)), pins);
  assert.deepEqual(parse(JSON.stringify(second)), pins.slice(1));
  assert.deepEqual(parse(JSON.stringify(RFC_JWK)), [{ publicKey: RFC_KEY, ...ANYWHERE }]);
});

Deno.test("keys of other kinds in a JWKS are left out", () => {
  const rsa = { kty: "RSA", n: "AQAB", e: "AQAB" };
  const agreement = { ...RFC_JWK, crv: "X25519" };
  assert.deepEqual(parse(JSON.stringify({ keys: [rsa, agreement, RFC_JWK] })).length, 1);
  assert.match(refusal(JSON.stringify({ keys: [rsa, agreement] })), /holds no Ed25519 key/);
  assert.match(refusal('{"keys":[]}'), /holds no Ed25519 key/);
  assert.match(refusal("{}"), /holds no Ed25519 key/);
});

Deno.test("verifier keys, one on a line, are pinned for the log in their names", () => {
  const text = `${checkpoints.vkey}\r\n\r\n  ${rotation.new_vkey}  \r\n`;
  const next = fromHex("9b3ebfe05cbd575983bb8f9de61ca9ebb8c1166865bcc0fb8820cf0bb4800b8a");
  assert.deepEqual(parse(text), [
    { publicKey: KEY, prefix: PREFIX, from: null, until: null },
    { publicKey: next, prefix: PREFIX, from: null, until: null },
  ]);
});

Deno.test("a verifier key whose id does not fit is refused, and the line is named", () => {
  const changed = checkpoints.vkey.replace("+b388ee46+", "+b388ee47+");
  assert.match(refusal(`${checkpoints.vkey}\n\n${changed}`), /^Line 3 is no public key, or not a whole one/);
  const time = formatVerifierKey(nodeCrypto, { name: `${PREFIX}time`, publicKey: KEY });
  assert.match(refusal(time), /line 1 is not for a chain of this service/);
});

Deno.test("a private key is refused in every form, and the message does not repeat any of it", () => {
  const der = concat(
    fromHex("302e020100300506032b657004220420"),
    Uint8Array.fromBase64(RFC_SECRET, {
      alphabet: "base64url",
    }),
  );
  const pem = `-----BEGIN PRIVATE KEY-----\n${der.toBase64()}\n-----END PRIVATE KEY-----\n`;
  const jwk = { ...RFC_JWK, d: RFC_SECRET };
  const texts = [
    pem,
    PEM + pem,
    pem.replaceAll("\n", "\\n"),
    pem.replaceAll("PRIVATE", "ENCRYPTED PRIVATE"),
    pem.replaceAll("PRIVATE", "OPENSSH PRIVATE"),
    JSON.stringify({ pem }),
    JSON.stringify(jwk),
    JSON.stringify({ keys: [RFC_JWK, jwk] }),
    JSON.stringify({ keys: [RFC_JWK, { kty: "oct", k: RFC_SECRET }] }),
    `PRIVATE+KEY+${PREFIX}sys+b388ee46+${RFC_SECRET}`,
  ];
  for (const text of texts) {
    const message = refusal(text);
    assert.match(message, /^This is a private key, .* Pin its public key instead/, text);
    assert.ok(!message.includes(RFC_SECRET.slice(0, 8)) && !message.includes(der.toBase64().slice(0, 8)));
  }
});

Deno.test("no refusal repeats any of the input", () => {
  const secret = "correct-horse-battery-staple";
  const texts = [
    secret,
    `{"${secret}`,
    JSON.stringify({ ...RFC_JWK, x: secret }),
    JSON.stringify({ keys: [{ ...RFC_JWK, "x-jiss-from": secret }] }),
    `-----BEGIN PUBLIC KEY-----\n${secret}\n-----END PUBLIC KEY-----\n`,
    `-----BEGIN ${secret}-----\nAAAA\n-----END ${secret}-----\n`,
    `${secret}+b388ee46+AQTDpPNo0Lvc1LT02f43OamIyFWB9QBtwdQBLSay50TO`,
  ];
  for (const text of texts) assert.ok(!refusal(text).includes("horse"), text);
});

Deno.test("a damaged or wrong file is refused in words that say what to do", () => {
  const p256 = `-----BEGIN PUBLIC KEY-----
MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE44hzZotJihK3hKrbgwGr6M2VNNqa
8j8KqQuPr/BLmaAvwU6ngD2veYf8O6MV+RYHEeEIoo6l6vAVzObCTLJvhQ==
-----END PUBLIC KEY-----
`;
  const certificate = PEM.replaceAll("PUBLIC KEY", "CERTIFICATE");
  const refused: readonly (readonly [text: string, message: RegExp])[] = [
    ["", /^It is empty: it must hold the service's public key/],
    [" \n", /^It is empty/],
    ["not a key", /^Line 1 is no public key/],
    [PEM.slice(0, 60), /cut off or damaged: get the file again/],
    [PEM + PEM.slice(0, 60), /cut off or damaged/],
    [PEM.replace("MCow", "MC?w"), /cut off or damaged/],
    [p256, /not an Ed25519 public key/],
    [PEM.replace("RM4=", "RM5="), /not an Ed25519 public key/],
    [certificate, /PEM that is not a public key/],
    ["{", /begins like JSON but is none/],
    [JSON.stringify({ ...RFC_JWK, x: RFC_JWK.x.slice(1) }), /damaged: x must be 43 characters/],
    [JSON.stringify({ ...RFC_JWK, x: `${RFC_JWK.x.slice(0, -1)}p` }), /damaged/],
    [JSON.stringify({ ...RFC_JWK, "x-jiss-from": -1 }), /damaged/],
    [JSON.stringify({ ...RFC_JWK, "x-jiss-until": 1.5 }), /damaged/],
    [JSON.stringify({ ...RFC_JWK, "x-jiss-from": 5, "x-jiss-until": 4 }), /damaged/],
  ];
  for (const [text, message] of refused) assert.match(refusal(text), message, text);
});

Deno.test("an unsound key is refused in every form", () => {
  const identity = fromHex(`01${"00".repeat(31)}`);
  const vkey = formatVerifierKey(nodeCrypto, { name: `${PREFIX}sys`, publicKey: identity });
  const jwk = JSON.stringify(jwkOf(nodeCrypto, { publicKey: identity, from: null, until: null }));
  for (const text of [publicKeyPem(identity), jwk]) assert.match(refusal(text), /not a sound Ed25519/);
  assert.match(refusal(vkey), /^Line 1 is no public key/);
});

// ---- trust ------------------------------------------------------------------------------------------------

/** A key for these tests: its seed is the SHA-256 of the label. */
function signerOf(label: string): Signer {
  const pkcs8 = concat(fromHex("302e020100300506032b657004220420"), nodeCrypto.sha256(utf8(label)));
  return signerFromPem(`-----BEGIN PRIVATE KEY-----\n${pkcs8.toBase64()}\n-----END PRIVATE KEY-----\n`);
}
const [first, second, third, stranger] = ["first", "second", "third", "stranger"].map(signerOf) as [
  Signer,
  Signer,
  Signer,
  Signer,
];

function certificateOf(old: Signer, next: Signer, prefix = PREFIX): string {
  return formatRotationCertificate(nodeCrypto, {
    prefix,
    ordinal: 2,
    from: "2026-11-20T00:00:00.000Z",
    reason: "scheduled",
    old,
    new: next,
  });
}

function trusting(...signers: readonly Signer[]): TrustedKeys {
  const pins = signers.map(({ publicKey }) => ({ publicKey, ...ANYWHERE }));
  return new TrustedKeys(nodeCrypto, { pins, prefix: PREFIX });
}

function whichOf(keys: TrustedKeys): readonly boolean[] {
  return [first, second, third, stranger].map(({ publicKey }) => keys.has(publicKey));
}

Deno.test("without a certificate only pins are trusted", () => {
  assert.deepEqual(whichOf(trusting()), [false, false, false, false]);
  assert.deepEqual(whichOf(trusting(second)), [false, true, false, false]);
});

Deno.test("certificates are followed from old to new and from new to old, in any order", () => {
  const certificates = [certificateOf(first, second), certificateOf(second, third)];
  for (const pinned of [first, second, third]) {
    for (const order of [certificates, certificates.toReversed()]) {
      const keys = trusting(pinned);
      for (const certificate of order) keys.admit(certificate);
      assert.deepEqual(whichOf(keys), [true, true, true, false]);
    }
  }
});

Deno.test("a certificate waits for another one that connects it to a pin", () => {
  const keys = trusting(first);
  keys.admit(certificateOf(second, third));
  assert.deepEqual(whichOf(keys), [true, false, false, false]);
  keys.admit(certificateOf(first, second));
  assert.deepEqual(whichOf(keys), [true, true, true, false]);
});

Deno.test("a certificate that is not valid, or belongs to another log, connects nothing", () => {
  const keys = trusting(first);
  const good = certificateOf(first, second);
  keys.admit(good.replace("reason scheduled", "reason other"));
  keys.admit(good.slice(0, good.lastIndexOf("—")));
  keys.admit(certificateOf(first, second, "other.example/dep-1/"));
  keys.admit("");
  keys.admit(certificateOf(stranger, third));
  assert.deepEqual(whichOf(keys), [true, false, false, false]);
});

Deno.test("trusted keys sign under every origin of their log, and under none of another's", () => {
  const keys = trusting(first);
  keys.admit(certificateOf(first, second));
  for (const chain of ["sys", "org/acme", "org/acme/admin/e2"]) {
    const name = `${PREFIX}${chain}`;
    assert.deepEqual(keys.verifierKeys(name), [
      { name, publicKey: first.publicKey },
      { name, publicKey: second.publicKey },
    ]);
  }
  assert.deepEqual(keys.verifierKeys("other.example/dep-1/sys"), []);
  assert.deepEqual(keys.verifierKeys(PREFIX), []);
});

Deno.test("a verifier key is trusted for its own log only", () => {
  const pins = parse(checkpoints.vkey);
  assert.ok(new TrustedKeys(nodeCrypto, { pins, prefix: PREFIX }).has(KEY));
  const elsewhere = new TrustedKeys(nodeCrypto, { pins, prefix: "other.example/dep-1/" });
  assert.ok(!elsewhere.has(KEY));
  elsewhere.admit(rotation.cert);
  assert.deepEqual(elsewhere.verifierKeys("other.example/dep-1/sys"), []);
});

Deno.test("a key's range is that of its pins, the narrowest of several; a key that is not pinned has none", () => {
  const keys = new TrustedKeys(nodeCrypto, {
    prefix: PREFIX,
    pins: [
      { publicKey: KEY, prefix: null, from: 3, until: null },
      { publicKey: KEY, prefix: null, from: 5, until: 40 },
      { publicKey: KEY, prefix: PREFIX, from: null, until: 50 },
      { publicKey: KEY, prefix: "other.example/dep-1/", from: 20, until: 21 },
      { publicKey: RFC_KEY, ...ANYWHERE },
    ],
  });
  keys.admit(rotation.cert);
  assert.deepEqual(keys.rangeOf(KEY), { from: 5, until: 40 });
  assert.deepEqual(keys.rangeOf(RFC_KEY), { from: null, until: null });
  assert.deepEqual(keys.rangeOf(first.publicKey), { from: null, until: null });
  assert.equal(keys.verifierKeys(`${PREFIX}sys`).length, 3, "each key once: two pinned, one connected");
});

Deno.test("two pins of one key for two logs are valid for both", () => {
  const other = "other.example/dep-1/";
  const pins = [PREFIX, other].map((prefix) => ({ publicKey: KEY, prefix, from: null, until: null }));
  for (const prefix of [PREFIX, other]) {
    assert.ok(new TrustedKeys(nodeCrypto, { pins, prefix }).has(KEY));
  }
});

Deno.test("the parts of a JWKS that are served are canonical JSON", () => {
  const text = canonicalJson({ keys: [jwkOf(nodeCrypto, { publicKey: KEY, from: 0, until: null })] });
  assert.deepEqual(parse(text), [{ publicKey: KEY, prefix: null, from: 0, until: null }]);
});

Deno.test("keys in use are pins and their successors; a pin with a last size, and keys before a pin, are not", () => {
  const inUse = (...pins: readonly PinnedKey[]) => {
    const keys = new TrustedKeys(nodeCrypto, { pins, prefix: PREFIX });
    keys.admit(certificateOf(first, second));
    keys.admit(certificateOf(first, stranger));
    return {
      current: [first, second, stranger].map(({ publicKey }) => keys.isCurrent(publicKey)),
      superseded: keys.supersededBy([second.publicKey]).map(hex),
    };
  };
  const pin = ({ publicKey }: Signer, more: Partial<PinnedKey> = {}) => ({ publicKey, ...ANYWHERE, ...more });
  const latest = { current: [false, true, false], superseded: [] };
  assert.deepEqual(inUse(pin(second)), latest);
  assert.deepEqual(inUse(pin(first, { until: 9 }), pin(second)), latest);
  assert.deepEqual(inUse(pin(first)), { current: [true, true, true], superseded: [hex(first.publicKey)] });
});
