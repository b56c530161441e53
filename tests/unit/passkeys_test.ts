/** Passkeys: what is asked of a browser, and which answers are accepted, for honest and for hostile ones. */
import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { verifyRegistrationResponse } from "@simplewebauthn/server";
import {
  PASSKEY_CEREMONY_MS,
  type PasskeyAlgorithm,
  type PasskeyAuthentication,
  passkeyAuthenticationSchema,
  passkeyCreationOptionsSchema,
  type PasskeyRegistration,
  passkeyRegistrationSchema,
  passkeyRequestOptionsSchema,
} from "../../src/domain/passkey.ts";
import {
  authenticationOptions,
  registrationOptions,
  type StoredPasskey,
  verifyAuthentication,
  verifyRegistration,
} from "../../src/identity/passkeys.ts";
import { PasskeyRefusal, type PasskeyRefusalCode } from "../../src/identity/passkey_refusal.ts";
import {
  type AuthenticatorOptions,
  base64url,
  cborArray,
  cborBytes,
  cborInteger,
  cborMap,
  cborText,
  concat,
  coseBytes,
  coseKey,
  type CoseMember,
  coseMembers,
  FLAGS,
  type Forgery,
  keyPair,
  SoftwareAuthenticator,
} from "../software_authenticator.ts";

const ORIGIN = "https://jiss.bank.example";
const CHALLENGE = Uint8Array.from({ length: 32 }, (_, index) => index);
const OTHER_CHALLENGE = new Uint8Array(32).fill(7);
const EXPECTED = { challenge: CHALLENGE, origin: ORIGIN, rpId: "jiss.bank.example" };
const USER = { userId: "01USERADA", userName: "ada@bank.example", userDisplayName: "Ada" };
const QUESTION = { ...EXPECTED, rpName: "JISS", ...USER, existing: [] };
const ALGORITHMS: readonly PasskeyAlgorithm[] = ["ES256", "RS256"];

const creation = registrationOptions(QUESTION);
const request = authenticationOptions(EXPECTED);

/** The code of the refusal. It fails if there is none, or if anything else is thrown. */
async function refusalOf(attempt: Promise<unknown>, what = ""): Promise<PasskeyRefusalCode> {
  try {
    await attempt;
  } catch (error) {
    assert.ok(error instanceof PasskeyRefusal, `${what}: ${error}`);
    return error.code;
  }
  return assert.fail(`${what} was accepted`);
}

const register = (response: unknown) => verifyRegistration({ ...EXPECTED, response });
const signIn = (response: unknown, credential: StoredPasskey | null) =>
  verifyAuthentication({ ...EXPECTED, response, credential });

/** An authenticator with one passkey, which the service has. */
async function registered(
  options?: AuthenticatorOptions,
): Promise<{ readonly authenticator: SoftwareAuthenticator; readonly stored: StoredPasskey }> {
  const authenticator = new SoftwareAuthenticator(ORIGIN, options);
  const { credentialId, publicKey, counter } = await register(authenticator.create(creation));
  return { authenticator, stored: { credentialId, publicKey, counter, userId: USER.userId } };
}

// ---- options ----------------------------------------------------------------------------------------------

Deno.test("a registration asks for a passkey that checks its user, without a statement about the authenticator", () => {
  const existing = ["A".repeat(43)];
  assert.deepEqual(registrationOptions({ ...QUESTION, existing }), {
    rp: { id: "jiss.bank.example", name: "JISS" },
    user: { id: "MDFVU0VSQURB", name: "ada@bank.example", displayName: "Ada" },
    challenge: "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8",
    pubKeyCredParams: [{ type: "public-key", alg: -7 }, { type: "public-key", alg: -257 }],
    timeout: PASSKEY_CEREMONY_MS,
    excludeCredentials: [{ type: "public-key", id: existing[0] }],
    authenticatorSelection: {
      residentKey: "required",
      requireResidentKey: true,
      userVerification: "required",
    },
    attestation: "none",
  });
});

Deno.test("a sign-in names no credential: its options are the same for everybody", () => {
  assert.deepEqual(request, {
    rpId: "jiss.bank.example",
    challenge: "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8",
    timeout: PASSKEY_CEREMONY_MS,
    allowCredentials: [],
    userVerification: "required",
  });
});

Deno.test("options fit their schemas", () => {
  assert.deepEqual(passkeyCreationOptionsSchema.parse(creation), creation);
  assert.deepEqual(passkeyRequestOptionsSchema.parse(request), request);
});

Deno.test("a challenge is 32 bytes, and the id of a user 1 to 64", () => {
  for (const length of [0, 31, 33]) {
    const challenge = new Uint8Array(length);
    assert.throws(() => registrationOptions({ ...QUESTION, challenge }), RangeError);
    assert.throws(() => authenticationOptions({ ...EXPECTED, challenge }), RangeError);
  }
  for (const userId of ["", "x".repeat(65), "ü".repeat(33)]) {
    assert.throws(() => registrationOptions({ ...QUESTION, userId }), RangeError);
  }
  registrationOptions({ ...QUESTION, userId: "ü".repeat(32) });
});

// ---- honest registrations ---------------------------------------------------------------------------------

for (const algorithm of ALGORITHMS) {
  Deno.test(`a new passkey of ${algorithm} is returned as it is to be stored`, async () => {
    const authenticator = new SoftwareAuthenticator(ORIGIN, { algorithm });
    const answer = authenticator.create(creation);
    const { publicKey, ...passkey } = await register(answer);
    assert.deepEqual(passkey, {
      credentialId: answer.id,
      counter: 0,
      transports: ["internal"],
      backedUp: false,
    });
    assert.equal(publicKey.length, { ES256: 77, RS256: 272 }[algorithm]);
    assert.ok(publicKey instanceof Uint8Array);
  });
}

const HONEST: Readonly<Record<string, Forgery>> = {
  "a counter that does not begin at 0": { counter: 4_294_967_295 },
  "an extension's data (credProtect)": {
    extensions: cborMap([[cborText("credProtect"), cborInteger(3)]]),
  },
  "members that later browsers add": {
    clientData: { other_keys_can_be_added_here: "…", crossOrigin: undefined },
  },
  "no transports": { transports: [] },
  "an id of 16 bytes": { attestedId: new Uint8Array(16).fill(9) },
  "an id of 1,023 bytes": { attestedId: new Uint8Array(1023).fill(9) },
};
for (const [what, forgery] of Object.entries(HONEST)) {
  Deno.test(`a registration may have ${what}`, async () => {
    const answer = new SoftwareAuthenticator(ORIGIN).create(creation, forgery);
    const id = forgery.attestedId === undefined ? answer.id : base64url(forgery.attestedId);
    const { credentialId, counter, transports } = await register({ ...answer, id });
    assert.equal(credentialId, id);
    assert.equal(counter, forgery.counter ?? 0);
    assert.deepEqual(transports, forgery.transports ?? ["internal"]);
  });
}

Deno.test("a passkey that is kept in more places says so, and each transport is told once", async () => {
  const flags = FLAGS.userPresent | FLAGS.userVerified | FLAGS.mayBeBackedUp;
  const made = async (flags: number) => {
    const transports = ["hybrid", "internal", "hybrid"];
    return await register(new SoftwareAuthenticator(ORIGIN).create(creation, { flags, transports }));
  };
  assert.equal((await made(flags)).backedUp, false);
  assert.equal((await made(flags | FLAGS.isBackedUp)).backedUp, true);
  assert.deepEqual((await made(flags)).transports, ["hybrid", "internal"]);
});

Deno.test("members that the service does not read may be anything", async () => {
  const answer = new SoftwareAuthenticator(ORIGIN).create(creation);
  await register({
    ...answer,
    rawId: answer.id,
    authenticatorAttachment: "platform",
    clientExtensionResults: { credProps: { rk: true } },
    response: { ...answer.response, publicKey: 7, publicKeyAlgorithm: "x", authenticatorData: null },
  });
});

// ---- statements about the authenticator -------------------------------------------------------------------

/** A certificate of nobody's that names `http://crl.attacker.example/` as its list of revoked ones. */
const CERTIFICATE = Uint8Array.fromBase64(
  "MIIBbTCCARKgAwIBAgIUI9hy/mb6iakpbHgUaS6OafSDkyYwCgYIKoZIzj0EAwIwDDEKMAgGA1UEAwwBeDAgFw0yNjExMjcwMTEzMzRaGA8yMTI2MTEwMzAxMTMzNFowDDEKMAgGA1UEAwwBeDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABNGKvvMDtccJQtNmGvdPJfVfG/Ai/ERc7kHD7LqVH3SATvxMtC1+yCVgspBCPPKycknBTgrIcYL/DWAcLYznxDGjUDBOMC0GA1UdHwQmMCQwIqAgoB6GHGh0dHA6Ly9jcmwuYXR0YWNrZXIuZXhhbXBsZS8wHQYDVR0OBBYEFIAODL31DHWplo6ZKu5I8kYonL2GMAoGCCqGSM49BAMCA0kAMEYCIQD2G92w1LWn3RbVTT95T/U0v7YfNf+fSNnEG2mCFZQ9xAIhAMDv9BrghF5lcZMD/ois67HKkzjmQHQteKSRXmQVgS0P",
);

/** Addresses that are fetched meanwhile; nothing leaves the process. */
async function fetchedBy(act: () => Promise<unknown>): Promise<readonly string[]> {
  const real = globalThis.fetch;
  const fetched: string[] = [];
  globalThis.fetch = (input) => {
    fetched.push(String(input));
    return Promise.reject(new TypeError("no network"));
  };
  try {
    await act().catch(() => {});
  } finally {
    globalThis.fetch = real;
  }
  return fetched;
}

Deno.test("a statement about the authenticator is not read, so that no address in it is fetched", async () => {
  for (const format of ["apple", "android-key", "packed", "tpm", "unheard-of"]) {
    const cbor = cborMap([[cborText("x5c"), cborArray([cborBytes(CERTIFICATE)])]]);
    const answer = new SoftwareAuthenticator(ORIGIN).create(creation, { statement: { format, cbor } });
    assert.deepEqual(await fetchedBy(() => register(answer)), [], format);
    await register(answer);
    // This is what the package does with it by itself (13.3.3).
    const { challenge } = creation;
    const fetched = await fetchedBy(() =>
      verifyRegistrationResponse({
        response: { ...answer, rawId: answer.id, clientExtensionResults: {} } as never,
        expectedChallenge: challenge,
        expectedOrigin: ORIGIN,
        expectedRPID: EXPECTED.rpId,
      })
    );
    assert.deepEqual(fetched, format === "apple" ? ["http://crl.attacker.example/"] : [], format);
  }
});

// ---- hostile registrations and sign-ins -------------------------------------------------------------------

/** Whatever is wrong with the shared parts is refused in both ceremonies. */
const SHARED: Readonly<Record<string, readonly [PasskeyRefusalCode, Forgery]>> = {
  "an unknown type": ["wrong_ceremony", { type: "payment.get" }],
  "no type": ["malformed", { clientData: { type: undefined } }],
  "another challenge": ["wrong_challenge", { challenge: base64url(OTHER_CHALLENGE) }],
  "a part of the challenge": ["wrong_challenge", { challenge: base64url(CHALLENGE.subarray(0, 31)) }],
  "the challenge with padding": ["wrong_challenge", { challenge: `${base64url(CHALLENGE)}=` }],
  "no challenge": ["wrong_challenge", { challenge: "" }],
  "a challenge that is a number": ["malformed", { clientData: { challenge: 7 } }],
  "another origin": ["wrong_origin", { origin: "https://jiss.attacker.example" }],
  "the origin in plain http": ["wrong_origin", { origin: "http://jiss.bank.example" }],
  "another port": ["wrong_origin", { origin: "https://jiss.bank.example:8443" }],
  "a host below": ["wrong_origin", { origin: "https://x.jiss.bank.example" }],
  "the origin with a slash": ["wrong_origin", { origin: `${ORIGIN}/` }],
  "an app's origin": ["wrong_origin", { origin: "android:apk-key-hash:AAAA" }],
  "a list of origins": ["malformed", { clientData: { origin: [ORIGIN] } }],
  "a page in a page": ["in_frame", { clientData: { crossOrigin: true } }],
  "a page around it": ["in_frame", { clientData: { topOrigin: ORIGIN } }],
  "a text for crossOrigin": ["malformed", { clientData: { crossOrigin: "false" } }],
  "data that is no JSON": ["malformed", { clientDataBytes: new TextEncoder().encode("{") }],
  "data that is a list": ["malformed", { clientDataBytes: new TextEncoder().encode("[]") }],
  "data that is null": ["malformed", { clientDataBytes: new TextEncoder().encode("null") }],
  "deep data": ["malformed", { clientDataBytes: new TextEncoder().encode("[".repeat(2048)) }],
  "data with another prototype": [
    "malformed",
    { clientDataBytes: new TextEncoder().encode(`{"__proto__":{"type":"webauthn.get"}}`) },
  ],
  "another relying party": ["wrong_relying_party", { rpId: "bank.example" }],
  "no user present": ["user_not_verified", { flags: FLAGS.userVerified }],
  "no user verified": ["user_not_verified", { flags: FLAGS.userPresent }],
  "no flags": ["user_not_verified", { flags: 0 }],
  "a copy of what cannot be copied": [
    "malformed",
    { flags: FLAGS.userPresent | FLAGS.userVerified | FLAGS.isBackedUp },
  ],
};

for (const [what, [code, forgery]] of Object.entries(SHARED)) {
  Deno.test(`a registration with ${what} is refused: ${code}`, async () => {
    assert.equal(
      await refusalOf(register(new SoftwareAuthenticator(ORIGIN).create(creation, forgery))),
      code,
    );
  });
  Deno.test(`a sign-in with ${what} is refused: ${code}`, async () => {
    const { authenticator, stored } = await registered();
    const answer = authenticator.get(request, forgery);
    assert.equal(await refusalOf(signIn(answer, stored)), code);
    assert.equal(await refusalOf(signIn(answer, null)), code, "whether it is known does not matter");
  });
}

Deno.test("data of the browser that is no UTF-8 is refused: malformed", async () => {
  const { authenticator, stored } = await registered();
  const dataOf = (type: string, member: Uint8Array) => {
    const known = JSON.stringify({ type, challenge: creation.challenge, origin: ORIGIN });
    const utf8 = (text: string) => new TextEncoder().encode(text);
    return concat(utf8(`${known.slice(0, -1)},"x":"`), member, utf8(`"}`));
  };
  for (const [bytes, isWrong] of [[Uint8Array.of(0xc3, 0xbc), false], [Uint8Array.of(0xff), true]] as const) {
    const made = authenticator.create(creation, { clientDataBytes: dataOf("webauthn.create", bytes) });
    const used = authenticator.get(request, { clientDataBytes: dataOf("webauthn.get", bytes) });
    for (const attempt of [() => register(made), () => signIn(used, stored)]) {
      if (isWrong) assert.equal(await refusalOf(attempt()), "malformed");
      else await attempt();
    }
  }
});

Deno.test("bytes have one spelling: a last character with more bits than the bytes is refused", async () => {
  const { authenticator, stored } = await registered();
  const answer = authenticator.get(request);
  const respelled = (text: string) => {
    const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    return text.slice(0, -1) + alphabet[alphabet.indexOf(text.at(-1)!) + 1]!;
  };
  const authenticatorData = respelled(answer.response.authenticatorData);
  assert.deepEqual(
    Uint8Array.fromBase64(authenticatorData, { alphabet: "base64url" }),
    Uint8Array.fromBase64(answer.response.authenticatorData, { alphabet: "base64url" }),
  );
  const changed = { ...answer, response: { ...answer.response, authenticatorData } };
  assert.equal(await refusalOf(signIn(changed, stored)), "malformed");
  await signIn(answer, stored);
});

Deno.test("the answer of one ceremony is refused by the other", async () => {
  const { authenticator, stored } = await registered();
  assert.equal(
    await refusalOf(register(authenticator.create(creation, { type: "webauthn.get" }))),
    "wrong_ceremony",
  );
  assert.equal(
    await refusalOf(signIn(authenticator.get(request, { type: "webauthn.create" }), stored)),
    "wrong_ceremony",
  );
  assert.equal(await refusalOf(register(authenticator.get(request))), "malformed");
  assert.equal(await refusalOf(signIn(authenticator.create(creation), stored)), "malformed");
});

// ---- keys -------------------------------------------------------------------------------------------------

const EC = coseMembers(keyPair("ES256").publicKey, "ES256");
const RSA = coseMembers(keyPair("RS256").publicKey, "RS256");
const changed = (members: readonly CoseMember[], changes: Readonly<Record<number, CoseMember[1] | null>>) =>
  members.flatMap(([label, value]): readonly CoseMember[] => {
    const change = changes[label];
    return change === null ? [] : [[label, change ?? value]];
  });
const valueOf = (members: readonly CoseMember[], label: number) =>
  members.find((member) => member[0] === label)![1] as Uint8Array;
const rsaOf = (modulusLength: number, publicExponent = 65_537) =>
  coseMembers(generateKeyPairSync("rsa", { modulusLength, publicExponent }).publicKey, "RS256");
const flipped = (bytes: Uint8Array, at: number) => bytes.map((byte, index) => index === at ? byte ^ 1 : byte);

const UNSUPPORTED: Readonly<Record<string, readonly CoseMember[]>> = {
  "an RSA key that says ES256": changed(RSA, { 3: -7 }),
  "an elliptic key that says RS256": changed(EC, { 3: -257 }),
  "an RSA key of another type": changed(RSA, { 1: 2 }),
  "an elliptic key of another type": changed(EC, { 1: 3 }),
  "an elliptic key of the type OKP": changed(EC, { 1: 1 }),
  "an elliptic key that says ES384": changed(EC, { 3: -35 }),
  "an elliptic key of another curve": changed(EC, { [-1]: 2 }),
  "an elliptic key without a curve": changed(EC, { [-1]: null }),
  "an elliptic key without y": changed(EC, { [-3]: null }),
  "a point beside the curve": changed(EC, { [-3]: flipped(valueOf(EC, -3), 31) }),
  "the point of zeros": changed(EC, { [-2]: new Uint8Array(32), [-3]: new Uint8Array(32) }),
  "a coordinate above the field": changed(EC, { [-2]: new Uint8Array(32).fill(255) }),
  "a short coordinate": changed(EC, { [-2]: valueOf(EC, -2).subarray(1) }),
  "a long coordinate": changed(EC, { [-2]: concat(new Uint8Array(1), valueOf(EC, -2)) }),
  "a coordinate that is a number": changed(EC, { [-2]: 7 }),
  "Ed25519": [[1, 1], [3, -8], [-1, 6], [-2, new Uint8Array(32).fill(1)]],
  "RS1": changed(RSA, { 3: -1000 }),
  "PS256": changed(RSA, { 3: -37 }),
  "RS256 of 1,024 bits": rsaOf(1024),
  "RS256 of 3,072 bits": rsaOf(3072),
  "RS256 with the exponent 3": rsaOf(2048, 3),
  "RS256 with a huge exponent": changed(RSA, { [-2]: valueOf(RSA, -1) }),
  "RS256 with a small modulus": changed(RSA, { [-1]: valueOf(RSA, -1).with(0, 0) }),
  "a member too many": [...EC, [-4, new Uint8Array(32).fill(1)]],
  "a key's id": [...EC, [2, new Uint8Array(4)]],
};

for (const [what, members] of Object.entries(UNSUPPORTED)) {
  Deno.test(`a registration of ${what} is refused: unsupported_key`, async () => {
    const answer = new SoftwareAuthenticator(ORIGIN).create(creation, { publicKey: coseBytes(members) });
    const code = await refusalOf(register(answer));
    // The package refuses what is no algorithm that it knows.
    assert.ok(["unsupported_key", "malformed"].includes(code), code);
    if (!["RS1", "an elliptic key that says ES384"].includes(what)) assert.equal(code, "unsupported_key");
  });
}

// ---- CBOR -------------------------------------------------------------------------------------------------

const EMPTY_DATA = new Uint8Array(37);
const objectOf = (data: Uint8Array) =>
  cborMap([
    [cborText("fmt"), cborText("none")],
    [cborText("attStmt"), cborMap([])],
    [cborText("authData"), data],
  ]);
const repeated = (byte: number, count = 12_000) => new Uint8Array(count).fill(byte);

const MALFORMED: Readonly<Record<string, Forgery>> = {
  "an attestation that is no map": { attestationObject: concat(cborText("x".repeat(40))) },
  "an attestation without data": { attestationObject: concat(cborMap([]), EMPTY_DATA) },
  "data that is a text": { attestationObject: objectOf(cborText("x".repeat(200))) },
  "data that is a list": { attestationObject: objectOf(cborArray(Array(40).fill(cborInteger(0)))) },
  "data of 36 bytes": { attestationObject: objectOf(cborBytes(new Uint8Array(36))) },
  "twice the same member": {
    attestationObject: cborMap(Array(2).fill([cborText("authData"), cborBytes(EMPTY_DATA)])),
  },
  "a member whose name is a list": {
    attestationObject: cborMap([[cborArray([]), cborBytes(EMPTY_DATA)]]),
  },
  "a list of four milliards": {
    attestationObject: concat(Uint8Array.of(0x9a, 255, 255, 255, 255), EMPTY_DATA),
  },
  "a map of 2^64 members": { attestationObject: concat(Uint8Array.of(0xbb), repeated(255, 60)) },
  "bytes without an end": { attestationObject: concat(Uint8Array.of(0x5f), repeated(0x40, 60)) },
  "deep lists": { attestationObject: repeated(0x81) },
  "deep maps": { attestationObject: repeated(0xa1) },
  "deep tags": { attestationObject: repeated(0xc1) },
  "a reserved value": { attestationObject: repeated(0xfc, 40) },
  "a key that is no CBOR": { publicKey: repeated(0xff, 77) },
  "a key that is a list": { publicKey: cborArray([cborInteger(2)]) },
  "a key that is empty": { publicKey: cborMap([]) },
  "a key with a deep member": { publicKey: concat(cborMap([]), repeated(0x81, 2000)) },
  "a key without an algorithm": { publicKey: coseBytes(changed(EC, { 3: null })) },
  "an algorithm that is bytes": { publicKey: coseBytes(changed(EC, { 3: Uint8Array.of(7) })) },
  "the same label twice": { publicKey: coseBytes([...EC.slice(0, 4), EC[3]!]) },
  "a key in another spelling of its lengths": {
    publicKey: concat(Uint8Array.of(0xb8, 5), coseBytes(EC).subarray(1)),
  },
  "another id in the data": { attestedId: new Uint8Array(32) },
  "an id longer than the data": { attestedId: new Uint8Array(16), publicKey: new Uint8Array() },
  "bytes after the data": { trailing: Uint8Array.of(0) },
  "extensions that are no CBOR": { extensions: Uint8Array.of(0xff) },
  "extensions that end early": { extensions: Uint8Array.of(0xa1, 0x61) },
};

for (const [what, forgery] of Object.entries(MALFORMED)) {
  Deno.test(`a registration with ${what} is refused: malformed`, async () => {
    const answer = new SoftwareAuthenticator(ORIGIN).create(creation, forgery);
    assert.equal(await refusalOf(register(answer)), "malformed");
  });
}

Deno.test("a registration without a key in its data, or with less than it announces, is refused: malformed", async () => {
  const authenticator = new SoftwareAuthenticator(ORIGIN);
  const answer = authenticator.create(creation);
  const object = Uint8Array.fromBase64(answer.response.attestationObject, { alphabet: "base64url" });
  const data = object.slice(-(37 + 16 + 2 + 32 + 77));
  const withoutFlag = data.with(32, data[32]! & ~FLAGS.hasKey);
  const refused = [
    withoutFlag,
    withoutFlag.subarray(0, 37),
    ...[37, 53, 54, 55, 87].map((end) => data.subarray(0, end)),
  ];
  for (const part of [data, ...refused]) {
    const attestationObject = base64url(objectOf(cborBytes(part)));
    const attempt = register({ ...answer, response: { ...answer.response, attestationObject } });
    if (part === data) await attempt;
    else assert.equal(await refusalOf(attempt), "malformed", `${part.length}`);
  }
});

for (const algorithm of ALGORITHMS) {
  Deno.test(`a registration of ${algorithm} that is cut anywhere is refused`, async () => {
    const answer = new SoftwareAuthenticator(ORIGIN, { algorithm }).create(creation);
    const whole = Uint8Array.fromBase64(answer.response.attestationObject, { alphabet: "base64url" });
    for (let length = 0; length < whole.length; length += 1) {
      const attestationObject = base64url(whole.subarray(0, length));
      const code = await refusalOf(
        register({ ...answer, response: { ...answer.response, attestationObject } }),
      );
      assert.ok(["malformed", "unsupported_key"].includes(code), `${length}: ${code}`);
    }
  });
}

// ---- JSON -------------------------------------------------------------------------------------------------

const GARBAGE: readonly unknown[] = [
  undefined,
  null,
  true,
  0,
  NaN,
  "",
  "{}",
  [],
  [[]],
  {},
  { id: "x" },
  { response: null },
  { id: null, type: null, response: {} },
  () => {},
  Symbol("x"),
  10n,
  new Map(),
  new Date(0),
  Object.create(null),
  JSON.parse(`{"__proto__":{"id":"${"A".repeat(43)}","type":"public-key"}}`),
];

Deno.test("what is no answer at all is refused: malformed", async () => {
  const { stored } = await registered();
  for (const [index, response] of GARBAGE.entries()) {
    assert.equal(await refusalOf(register(response), `${index}`), "malformed");
    assert.equal(await refusalOf(signIn(response, stored), `${index}`), "malformed");
    assert.equal(await refusalOf(signIn(response, null), `${index}`), "malformed");
  }
});

type Json = Record<string, unknown>;

/** The answer with another value at a path of one or two names. */
function replaced(answer: object, path: string, value: unknown): unknown {
  const copy = structuredClone(answer) as Json;
  const names = path.split(".");
  const holder = names.length === 1 ? copy : copy[names[0]!] as Json;
  holder[names.at(-1)!] = value;
  return copy;
}

/** Each text of an answer, with its most characters. */
const REGISTRATION_TEXTS: Readonly<Record<string, number>> = {
  id: 1364,
  "response.clientDataJSON": 2731,
  "response.attestationObject": 21_846,
};
const AUTHENTICATION_TEXTS: Readonly<Record<string, number>> = {
  id: 1364,
  "response.clientDataJSON": 2731,
  "response.authenticatorData": 1366,
  "response.signature": 342,
  "response.userHandle": 86,
};

Deno.test("texts that are too long, no base64url, or no texts are refused: malformed", async () => {
  const { authenticator, stored } = await registered();
  const [made, used] = [authenticator.create(creation), authenticator.get(request)];
  const cases = [
    ...Object.entries(REGISTRATION_TEXTS).map(([path, most]) => ({ path, most, answer: made as object })),
    ...Object.entries(AUTHENTICATION_TEXTS).map(([path, most]) => ({ path, most, answer: used as object })),
  ];
  for (const { path, most, answer } of cases) {
    const schema = answer === made ? passkeyRegistrationSchema : passkeyAuthenticationSchema;
    assert.ok(schema.safeParse(replaced(answer, path, "A".repeat(most))).success, `${path} ${most}`);
    assert.ok(!schema.safeParse(replaced(answer, path, "A".repeat(most + 1))).success, `${path} ${most + 1}`);
    const texts = ["", "A", "A".repeat(most + 1), "A".repeat(1_000_000)];
    const spellings = ["+", "/", "=", " ", "\n", "ü", "\0", "A".repeat(45), `${"A".repeat(42)}B`];
    const own = path.split(".").reduce<unknown>((value, name) => (value as Json)[name], answer) as string;
    const wrong: readonly unknown[] = [
      ...texts,
      ...spellings.map((spelling) => spelling.length > 1 ? spelling : own + spelling),
      ...[null, 7, true, [own], { text: own }, undefined],
    ];
    for (const value of wrong) {
      const response = replaced(answer, path, value);
      // A text of the right form with other bytes is refused for what it says.
      const isForm = schema.safeParse(response).success;
      const code = await refusalOf(
        answer === made ? register(response) : signIn(response, stored),
        `${path} ${JSON.stringify(value)?.slice(0, 60)}`,
      );
      if (!isForm) assert.equal(code, "malformed");
    }
  }
});

Deno.test("transports are at most eight names", async () => {
  const answer = new SoftwareAuthenticator(ORIGIN).create(creation);
  const wrong: readonly unknown[] = [
    "usb",
    null,
    [7],
    [""],
    ["USB"],
    ["x".repeat(33)],
    ["<script>"],
    Array(9).fill("usb"),
  ];
  for (const transports of wrong) {
    assert.equal(await refusalOf(register(replaced(answer, "response.transports", transports))), "malformed");
  }
  const { transports: _, ...response } = answer.response;
  assert.deepEqual((await register({ ...answer, response })).transports, []);
});

Deno.test("another type of credential is refused", async () => {
  const { authenticator, stored } = await registered();
  for (const type of ["password", "", null, "PUBLIC-KEY"]) {
    assert.equal(await refusalOf(register({ ...authenticator.create(creation), type })), "malformed");
    assert.equal(await refusalOf(signIn({ ...authenticator.get(request), type }, stored)), "malformed");
  }
});

// ---- honest sign-ins --------------------------------------------------------------------------------------

for (const algorithm of ALGORITHMS) {
  Deno.test(`a passkey of ${algorithm} signs in again and again, and its counter rises`, async () => {
    const { authenticator, stored } = await registered({ algorithm });
    let { counter } = stored;
    for (let use = 1; use <= 3; use += 1) {
      const { newCounter, backedUp } = await signIn(authenticator.get(request), { ...stored, counter });
      assert.equal(newCounter, use);
      assert.equal(backedUp, false);
      counter = newCounter;
    }
  });

  Deno.test(`a passkey of ${algorithm} that does not count signs in again and again`, async () => {
    const { authenticator, stored } = await registered({ algorithm, counts: false });
    for (let use = 1; use <= 3; use += 1) {
      assert.equal((await signIn(authenticator.get(request), stored)).newCounter, 0);
    }
  });
}

Deno.test("a sign-in says whether the passkey is kept in more places by now", async () => {
  const { authenticator, stored } = await registered();
  const flags = FLAGS.userPresent | FLAGS.userVerified | FLAGS.mayBeBackedUp | FLAGS.isBackedUp;
  assert.equal((await signIn(authenticator.get(request, { flags }), stored)).backedUp, true);
});

Deno.test("a sign-in may have extensions' data", async () => {
  const { authenticator, stored } = await registered();
  const extensions = cborMap([[cborText("x"), cborInteger(1)]]);
  assert.equal((await signIn(authenticator.get(request, { extensions }), stored)).newCounter, 1);
});

Deno.test("a key may come from the database as a Buffer", async () => {
  const { Buffer } = await import("node:buffer");
  const { authenticator, stored } = await registered();
  const publicKey = Buffer.from(concat(new Uint8Array(3), stored.publicKey)).subarray(3);
  await signIn(authenticator.get(request), { ...stored, publicKey });
});

// ---- hostile sign-ins -------------------------------------------------------------------------------------

Deno.test("an answer counts for one challenge", async () => {
  const { authenticator, stored } = await registered({ counts: false });
  const response = authenticator.get(request);
  await signIn(response, stored);
  const again = verifyAuthentication({
    ...EXPECTED,
    challenge: OTHER_CHALLENGE,
    response,
    credential: stored,
  });
  assert.equal(await refusalOf(again), "wrong_challenge");
});

Deno.test("a replayed answer is refused by the counter even if the challenge is used again", async () => {
  const { authenticator, stored } = await registered();
  const response = authenticator.get(request);
  const { newCounter } = await signIn(response, stored);
  assert.equal(await refusalOf(signIn(response, { ...stored, counter: newCounter })), "counter_regressed");
});

Deno.test("a counter that does not rise is refused, unless it stays 0", async () => {
  const { authenticator, stored } = await registered();
  const used = (counter: number, storedCounter: number) =>
    signIn(authenticator.get(request, { counter }), { ...stored, counter: storedCounter });
  const regressions = [[1, 1], [1, 2], [0, 1], [0, 4_294_967_295], [4_294_967_294, 4_294_967_295]] as const;
  for (const [counter, storedCounter] of regressions) {
    assert.equal(
      await refusalOf(used(counter, storedCounter)),
      "counter_regressed",
      `${counter} ${storedCounter}`,
    );
  }
  for (const [counter, storedCounter] of [[0, 0], [1, 0], [7, 2], [4_294_967_295, 4_294_967_294]] as const) {
    assert.equal((await used(counter, storedCounter)).newCounter, counter);
  }
});

Deno.test("the counter tells nothing to whoever has no key", async () => {
  const { authenticator, stored } = await registered();
  const { privateKey } = keyPair("ES256");
  const answer = authenticator.get(request, { counter: 1, privateKey });
  assert.equal(await refusalOf(signIn(answer, { ...stored, counter: 9 })), "wrong_signature");
});

Deno.test("an unknown credential is refused, however it is signed", async () => {
  for (const algorithm of ALGORITHMS) {
    const { authenticator, stored } = await registered({ algorithm });
    assert.equal(await refusalOf(signIn(authenticator.get(request), null)), "unknown_credential");
    const other = { ...stored, credentialId: base64url(new Uint8Array(32)) };
    assert.equal(await refusalOf(signIn(authenticator.get(request), other)), "unknown_credential");
  }
});

Deno.test("another user's passkey is refused for this user", async () => {
  const { authenticator, stored } = await registered();
  const credential = { ...stored, userId: "01USERBEN" };
  assert.equal(await refusalOf(signIn(authenticator.get(request), credential)), "wrong_user");
  const userHandle = base64url(new TextEncoder().encode("01USERBEN"));
  assert.equal(await refusalOf(signIn(authenticator.get(request, { userHandle }), stored)), "wrong_user");
});

Deno.test("another passkey's key is refused", async () => {
  for (const algorithm of ALGORITHMS) {
    for (const other of ALGORITHMS) {
      const { authenticator, stored } = await registered({ algorithm });
      const { publicKey } = (await registered({ algorithm: other })).stored;
      const answer = authenticator.get(request);
      assert.equal(await refusalOf(signIn(answer, { ...stored, publicKey })), "wrong_signature");
    }
  }
});

Deno.test("a signature of another algorithm than the stored key's is refused", async () => {
  for (const [algorithm, other] of [["ES256", "RS256"], ["RS256", "ES256"]] as const) {
    const { authenticator, stored } = await registered({ algorithm });
    const { privateKey } = keyPair(other);
    assert.equal(
      await refusalOf(signIn(authenticator.get(request, { privateKey }), stored)),
      "wrong_signature",
    );
  }
});

Deno.test("a stored key that lies about its algorithm opens nothing", async () => {
  const { authenticator, stored } = await registered();
  const keys = { rsa: keyPair("RS256"), ec: keyPair("ES256") };
  const lies: readonly (readonly [Uint8Array, keyof typeof keys])[] = [
    [coseBytes(changed(coseMembers(keys.rsa.publicKey, "RS256"), { 3: -7 })), "rsa"],
    [coseBytes(changed(coseMembers(keys.ec.publicKey, "ES256"), { 3: -257 })), "ec"],
    [coseBytes(changed(coseMembers(keys.ec.publicKey, "ES256"), { 3: -36 })), "ec"],
    [new Uint8Array(), "ec"],
    [new Uint8Array(77), "ec"],
    [repeated(0x81, 5000), "ec"],
  ];
  for (const [publicKey, name] of lies) {
    const answer = authenticator.get(request, { privateKey: keys[name].privateKey });
    const credential = { ...stored, publicKey: Uint8Array.from(publicKey) };
    assert.equal(await refusalOf(signIn(answer, credential)), "wrong_signature");
  }
});

Deno.test("signatures that no key makes are refused", async () => {
  const none: Readonly<Record<string, string>> = {
    "r and s are 0": "3006020100020100",
    "r and s are 1": "3006020101020101",
    "r is the order of the curve":
      "3026022100ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551020101",
    "zeros for RSA": "00".repeat(256),
    "ones for RSA": "ff".repeat(256),
  };
  for (const algorithm of ALGORITHMS) {
    const { authenticator, stored } = await registered({ algorithm });
    for (const [what, hex] of Object.entries(none)) {
      const answer = authenticator.get(request, { signature: Uint8Array.fromHex(hex) });
      assert.equal(await refusalOf(signIn(answer, stored), what), "wrong_signature", what);
      assert.equal(await refusalOf(signIn(answer, null), what), "unknown_credential", what);
    }
  }
});

Deno.test("signatures in another form than the two are refused: malformed", async () => {
  const others: Readonly<Record<string, string>> = {
    "zeros": "00".repeat(72),
    "255 bytes": "01".repeat(255),
    "r and s without DER": "55".repeat(64),
    "deep DER": "30".repeat(200),
    "a length of the sequence in more bytes": "308106020101020101",
    "a length of four milliards": "3084ffffffff020101020101",
    "a sequence that ends early": "3005020101020101",
    "a sequence that ends late": "3007020101020101",
    "one integer": "3006020401010101",
    "three integers": "3009020101020101020101",
    "bytes after it": "300602010102010100",
    "bytes in it": "30070201010201010000",
    "another type than integers": "3006040101040101",
    "an integer without bytes": "3007020002030101010101",
    "an integer below 0": "3006020180020101",
    "an integer with a zero too many": "300702020001020101",
    "an integer of 34 bytes": `302802227f${"11".repeat(33)}020101`,
    "an integer beyond the end": "3006020101020501",
  };
  const { authenticator, stored } = await registered();
  for (const [what, hex] of Object.entries(others)) {
    const answer = authenticator.get(request, { signature: Uint8Array.fromHex(hex) });
    assert.equal(await refusalOf(signIn(answer, stored), what), "malformed", what);
    assert.equal(await refusalOf(signIn(answer, null), what), "malformed", what);
  }
});

for (const algorithm of ALGORITHMS) {
  Deno.test(`a sign-in of ${algorithm} with any signed bit changed is refused`, async () => {
    const { authenticator, stored } = await registered({ algorithm });
    const answer = authenticator.get(request);
    for (const name of ["authenticatorData", "signature", "clientDataJSON"] as const) {
      const bytes = Uint8Array.fromBase64(answer.response[name], { alphabet: "base64url" });
      for (let at = 0; at < bytes.length; at += 1) {
        const response = { ...answer.response, [name]: base64url(flipped(bytes, at)) };
        await refusalOf(signIn({ ...answer, response }, stored), `${name} byte ${at}`);
      }
    }
  });
}

Deno.test("data that the authenticator did not sign whole is refused", async () => {
  const { authenticator, stored } = await registered();
  for (
    const forgery of [
      { trailing: Uint8Array.of(0) },
      { extensions: Uint8Array.of(0xff) },
      { extensions: repeated(0x81, 900) },
      { signed: (bytes: Uint8Array) => bytes.subarray(1) },
      { signed: (bytes: Uint8Array) => bytes.subarray(0, 37) },
    ]
  ) {
    const code = await refusalOf(signIn(authenticator.get(request, forgery), stored));
    assert.equal(code, "wrong_signature");
  }
});

// ---- messages ---------------------------------------------------------------------------------------------

Deno.test("a refusal's message is the same whatever is stored, and holds nothing of the answer", async () => {
  const { authenticator, stored } = await registered();
  const messages = new Set<string>();
  const attempts: readonly (readonly [PasskeyAuthentication, StoredPasskey | null])[] = [
    [authenticator.get(request), null],
    [authenticator.get(request, { privateKey: keyPair("ES256").privateKey }), stored],
    [authenticator.get(request), { ...stored, userId: "01USERBEN" }],
    [authenticator.get(request, { counter: 1 }), { ...stored, counter: 5 }],
  ];
  for (const [response, credential] of attempts) {
    await signIn(response, credential).catch((error: PasskeyRefusal) => messages.add(error.message));
  }
  assert.deepEqual([...messages], [
    "The service does not accept this passkey: use another one, or ask the administrator of your organization.",
  ]);
});

// ---- start ------------------------------------------------------------------------------------------------

Deno.test("the package is loaded by the first passkey, not by a start", async () => {
  const code = `
    const { authenticationOptions, verifyRegistration } = await import("./src/identity/passkeys.ts");
    const isLoaded = () => "getMetadata" in Reflect;
    const states = [isLoaded()];
    const expected = { challenge: new Uint8Array(32), origin: "https://a.example", rpId: "a.example" };
    authenticationOptions(expected);
    await verifyRegistration({ ...expected, response: {} }).catch(() => {});
    states.push(isLoaded());
    await import("./src/identity/webauthn.ts");
    console.log(JSON.stringify([...states, isLoaded()]));`;
  const { stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["eval", "--quiet", "--lock=tests/deno.lock", code],
    cwd: `${import.meta.dirname}/../..`,
  }).output();
  assert.equal(
    new TextDecoder().decode(stdout).trim(),
    "[false,false,true]",
    new TextDecoder().decode(stderr),
  );
});

// ---- types ------------------------------------------------------------------------------------------------

Deno.test("what the schemas accept is what browsers send", () => {
  const authenticator = new SoftwareAuthenticator(ORIGIN);
  const made: PasskeyRegistration = passkeyRegistrationSchema.parse(authenticator.create(creation));
  const used: PasskeyAuthentication = passkeyAuthenticationSchema.parse(authenticator.get(request));
  assert.deepEqual([made.type, used.type], ["public-key", "public-key"]);
  assert.equal(coseKey(keyPair("ES256").publicKey, "ES256").length, 77);
});
