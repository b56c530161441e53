/** Rotation certificates: the vector parsed and made, and every text that is not one. */
import assert from "node:assert/strict";
import { fromHex, hex, type Signer, utf8 } from "../../src/evidence/crypto.ts";
import { nodeCrypto, signerFromPem } from "../../src/evidence/node_crypto.ts";
import { parseVerifierKey, signNote } from "../../src/evidence/note.ts";
import { formatRotationCertificate, parseRotationCertificate } from "../../src/evidence/rotation.ts";
import vector from "../vectors/evidence/rotation_cert.json" with { type: "json" };

/** The vectors' keys: each seed is the SHA-256 of the label. */
function throwAwaySigner(label: string): Signer {
  const pkcs8 = [...fromHex("302e020100300506032b657004220420"), ...nodeCrypto.sha256(utf8(label))];
  const text = Uint8Array.from(pkcs8).toBase64();
  return signerFromPem(`-----BEGIN PRIVATE KEY-----\n${text}\n-----END PRIVATE KEY-----\n`);
}
const old = throwAwaySigner("THROW-AWAY TEST KEY 1");
const next = throwAwaySigner("THROW-AWAY TEST KEY 2");

const PREFIX = "jis.example.internal/dep-7f3a/";
const ROTATION = {
  prefix: PREFIX,
  ordinal: 2,
  from: "2026-11-20T00:00:00Z",
  reason: "scheduled",
  old,
  new: next,
};
const TEXT = vector.cert.slice(0, vector.cert.indexOf("\n\n") + 1);

const parse = (note: string) => parseRotationCertificate(nodeCrypto, note);

/** A note over a text, signed by these keys under its first line. */
function signed(text: string, signers: readonly Signer[] = [old, next]): string {
  return signNote(nodeCrypto, { text, name: text.split("\n")[0]! }, signers);
}

Deno.test("the vector's certificate is read", () => {
  assert.deepEqual(parse(vector.cert), {
    prefix: PREFIX,
    ordinal: 2,
    oldKey: parseVerifierKey(nodeCrypto, vector.old_vkey).publicKey,
    newKey: parseVerifierKey(nodeCrypto, vector.new_vkey).publicKey,
    from: "2026-11-20T00:00:00Z",
    reason: "scheduled",
  });
});

Deno.test("certifying the vector's rotation writes its certificate, byte for byte", () => {
  assert.equal(formatRotationCertificate(nodeCrypto, ROTATION), vector.cert);
});

Deno.test("the vector's certificate with any one bit flipped is refused", () => {
  const bytes = utf8(vector.cert);
  for (let bit = 0; bit < bytes.length * 8; bit += 1) {
    const changed = bytes.slice();
    changed[bit >> 3]! ^= 1 << (bit & 7);
    assert.equal(parse(new TextDecoder("utf-8", { ignoreBOM: true }).decode(changed)), null, `bit ${bit}`);
  }
});

Deno.test("the vector's certificate with any one byte left out is refused", () => {
  const bytes = utf8(vector.cert);
  for (let at = 0; at < bytes.length; at += 1) {
    const changed = Uint8Array.from([...bytes.subarray(0, at), ...bytes.subarray(at + 1)]);
    assert.equal(parse(new TextDecoder().decode(changed)), null, `byte ${at}`);
  }
});

Deno.test("both keys must have signed, in any order and beside other signers", () => {
  const stranger = throwAwaySigner("a stranger");
  assert.notEqual(parse(signed(TEXT, [next, old])), null);
  assert.notEqual(parse(signed(TEXT, [old, stranger, next])), null);
  assert.equal(parse(signed(TEXT, [old])), null);
  assert.equal(parse(signed(TEXT, [next])), null);
  assert.equal(parse(signed(TEXT, [old, stranger])), null);
  assert.equal(parse(signed(TEXT, [stranger, next])), null);
});

Deno.test("a signature under another name than the first line does not count", () => {
  const other = signNote(nodeCrypto, { text: TEXT, name: "jis.example.internal/dep-7f3a/sys" }, [old, next]);
  assert.equal(parse(other), null);
});

Deno.test("a certificate that is not well-formed is refused, whoever signed it", () => {
  assert.equal(signed(TEXT), vector.cert, "the text that is changed below is valid itself");
  const bad = {
    "an origin for the first line": TEXT.replace("/keys\n", "/sys\n"),
    "no deployment in the first line": TEXT.replace(
      "jis.example.internal/dep-7f3a/",
      "jis.example.internal/",
    ),
    "the first key": TEXT.replace("rotate 2", "rotate 1"),
    "a leading zero": TEXT.replace("rotate 2", "rotate 02"),
    "no ordinal": TEXT.replace("rotate 2\n", ""),
    "the keys exchanged": TEXT.replace("old ", "swap ").replace("new ", "old ").replace(
      "swap ",
      "new ",
    ),
    "an instant without a zone": TEXT.replace("00:00Z", "00:00"),
    "an instant that does not exist": TEXT.replace("T00:", "T25:"),
    "no reason": TEXT.replace("reason scheduled\n", ""),
    "an empty reason": TEXT.replace("reason scheduled", "reason "),
    "one line more": `${TEXT}more\n`,
    "a key in base64url": TEXT.replaceAll("+", "-").replaceAll("/5hyp", "_5hyp"),
  };
  for (const [what, text] of Object.entries(bad)) {
    assert.notEqual(text, TEXT, what);
    assert.equal(parse(signed(text)), null, what);
  }
  for (const note of ["", TEXT, `${TEXT}\n`, "{}", vector.cert.trimEnd()]) assert.equal(parse(note), null);
});

Deno.test("a key cannot follow itself", () => {
  assert.throws(() => formatRotationCertificate(nodeCrypto, { ...ROTATION, new: old }), RangeError);
});

Deno.test("an unsound key is in no certificate, even if a signature verifies under it", () => {
  // The identity: R = S·B holds for R the identity and S zero, over any message.
  const identity: Signer = {
    publicKey: fromHex(`01${"00".repeat(31)}`),
    sign: () => fromHex(`01${"00".repeat(63)}`),
  };
  assert.ok(nodeCrypto.verifyEd25519(identity.publicKey, utf8("anything"), identity.sign(utf8(""))));
  for (const pair of [{ old: identity, new: next }, { old, new: identity }]) {
    assert.throws(() => formatRotationCertificate(nodeCrypto, { ...ROTATION, ...pair }), RangeError);
    const [first, second] = [pair.old.publicKey.toBase64(), pair.new.publicKey.toBase64()];
    const text = TEXT.replace(/old .*/, `old ${first}`).replace(/new .*/, `new ${second}`);
    assert.equal(parse(signed(text, [pair.old, pair.new])), null);
  }
});

Deno.test("a certificate is not made from values that it cannot hold", () => {
  const refused = [
    { prefix: "" },
    { prefix: "jis.example.internal/" },
    { prefix: "jis.example.internal/dep-7f3a" },
    { prefix: "jis example/dep-7f3a/" },
    { ordinal: 1 },
    { ordinal: 2.5 },
    { from: "2026-11-20" },
    { from: "2026-11-20T00:00:00+01:00" },
    { reason: "" },
    { reason: "two\nlines" },
    { reason: "a \u001b[2J terminal's control" },
  ];
  for (const part of refused) {
    const make = () => formatRotationCertificate(nodeCrypto, { ...ROTATION, ...part });
    assert.throws(make, RangeError, JSON.stringify(part));
  }
});

Deno.test("a certificate with milliseconds, a long log name and a reason in words is read as it was made", () => {
  const said = {
    prefix: "bank.example/eu/01JCR5Z8K0X7V3T2M9QWERTY02/",
    ordinal: 17,
    from: "2027-02-01T08:30:00.250Z",
    reason: "la clé précédente — compromise",
  };
  const read = parse(formatRotationCertificate(nodeCrypto, { ...ROTATION, ...said }));
  assert.deepEqual({ ...read, oldKey: hex(read!.oldKey), newKey: hex(read!.newKey) }, {
    ...said,
    oldKey: hex(old.publicKey),
    newKey: hex(next.publicKey),
  });
});
