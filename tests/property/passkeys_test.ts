/**
 * The laws of passkeys: whatever is sent, nothing but a refusal is thrown; whatever is changed of a sign-in, no other bytes
 * than the signed ones are accepted; and a key that is accepted can be used.
 */
import assert from "node:assert/strict";
import fc from "fast-check";
import {
  authenticationOptions,
  registrationOptions,
  verifyAuthentication,
  verifyRegistration,
} from "../../src/identity/passkeys.ts";
import { PasskeyRefusal } from "../../src/identity/passkey_refusal.ts";
import {
  base64url,
  cborArray,
  cborBytes,
  cborInteger,
  cborMap,
  cborText,
  concat,
  SoftwareAuthenticator,
} from "../software_authenticator.ts";

const SEED = 20_261_127;
const ORIGIN = "https://jiss.bank.example";
const EXPECTED = { challenge: new Uint8Array(32).fill(5), origin: ORIGIN, rpId: "jiss.bank.example" };
const USER = { userId: "01USERADA", userName: "ada", userDisplayName: "Ada", rpName: "JISS", existing: [] };

const creation = registrationOptions({ ...EXPECTED, ...USER });
const request = authenticationOptions(EXPECTED);
const authenticators = (["ES256", "RS256"] as const).map((algorithm) =>
  new SoftwareAuthenticator(ORIGIN, { algorithm })
);
const registrations = authenticators.map((authenticator) => authenticator.create(creation));
const passkeys = await Promise.all(
  registrations.map((response) => verifyRegistration({ ...EXPECTED, response })),
);
const answers = authenticators.map((authenticator) => authenticator.get(request));
const stored = passkeys.map((passkey) => ({ ...passkey, userId: USER.userId }));

/** The result; null if it is refused. Anything else that is thrown fails the test. */
async function unlessRefused<Result>(attempt: Promise<Result>): Promise<Result | null> {
  try {
    return await attempt;
  } catch (error) {
    if (error instanceof PasskeyRefusal) return null;
    throw error;
  }
}

const register = (response: unknown) => unlessRefused(verifyRegistration({ ...EXPECTED, response }));
const signIn = (response: unknown, which: number, isKnown = true) =>
  unlessRefused(
    verifyAuthentication({ ...EXPECTED, response, credential: isKnown ? stored[which]! : null }),
  );

const which = fc.nat({ max: 1 });

// ---- changes ----------------------------------------------------------------------------------------------

type Json = null | boolean | number | string | Json[] | { [name: string]: Json };

/** A value of JSON in place of what stands at a random path. */
function setSomewhere(json: Json, [choice, ...rest]: readonly number[], value: Json): Json {
  if (choice === undefined || json === null || typeof json !== "object") return value;
  const names = Object.keys(json);
  if (names.length === 0) return value;
  const name = names[choice % names.length]!;
  const copy = structuredClone(json) as Record<string, Json>;
  copy[name] = setSomewhere(copy[name]!, rest, value);
  return copy;
}

const anything = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<Json>,
  fc.base64String({ maxLength: 400 }),
  fc.uint8Array({ minLength: 30, maxLength: 400 }).map(base64url),
);

/** Changes bytes: some of them are replaced, put in, left out or repeated. */
const change = fc.record({
  at: fc.nat(),
  length: fc.nat({ max: 40 }),
  bytes: fc.uint8Array({ maxLength: 40 }),
  mask: fc.integer({ min: 1, max: 255 }),
  how: fc.constantFrom("flip", "replace", "insert", "cut", "repeat"),
});
type Change = typeof change extends fc.Arbitrary<infer Value> ? Value : never;

function changed(whole: Uint8Array, { at: position, length, bytes, mask, how }: Change): Uint8Array {
  const at = position % whole.length;
  const [before, middle, after] = [
    whole.subarray(0, at),
    whole.subarray(at, at + length),
    whole.subarray(at + length),
  ];
  switch (how) {
    case "flip":
      return whole.with(at, whole[at]! ^ mask);
    case "replace":
      return concat(before, bytes, after);
    case "insert":
      return concat(before, bytes, middle, after);
    case "cut":
      return concat(before, after);
    default:
      return concat(before, middle, middle, after);
  }
}

const changes = fc.array(change, { minLength: 1, maxLength: 3 });

function changedText(text: string, list: readonly Change[]): string {
  const bytes = Uint8Array.fromBase64(text, { alphabet: "base64url" });
  return base64url(
    list.reduce<Uint8Array>((whole, one) => whole.length === 0 ? whole : changed(whole, one), bytes),
  );
}

// ---- laws -------------------------------------------------------------------------------------------------

Deno.test("any JSON is refused, and nothing else is thrown", () =>
  fc.assert(
    fc.asyncProperty(fc.oneof(anything, fc.anything()), which, async (response, index) => {
      assert.equal(await register(response), null);
      assert.equal(await signIn(response, index), null);
    }),
    { seed: SEED, numRuns: 1000 },
  ));

Deno.test("an answer with any value somewhere else in it is refused or the same, and nothing else is thrown", () =>
  fc.assert(
    fc.asyncProperty(
      which,
      fc.array(fc.nat(), { minLength: 1, maxLength: 3 }),
      anything,
      async (index, path, value) => {
        const made = await register(setSomewhere(registrations[index]! as Json, path, value));
        if (made !== null) {
          assert.deepEqual({ ...made, transports: [] }, { ...passkeys[index], transports: [] });
        }
        const used = await signIn(setSomewhere(answers[index]! as Json, path, value), index);
        if (used !== null) assert.deepEqual(used, { newCounter: 1, backedUp: false });
      },
    ),
    { seed: SEED, numRuns: 500 },
  ));

Deno.test("a registration with any bytes changed is refused, or its key can be used", () =>
  fc.assert(
    fc.asyncProperty(
      which,
      fc.constantFrom("clientDataJSON", "attestationObject"),
      changes,
      async (index, name, list) => {
        const answer = registrations[index]!;
        const response = { ...answer.response, [name]: changedText(answer.response[name], list) };
        const passkey = await register({ ...answer, response });
        if (passkey === null) return;
        assert.equal(passkey.credentialId, answer.id);
        assert.equal(passkey.publicKey.length, [77, 272][index]);
        // It is another key or the same one: a sign-in fails or succeeds, and throws nothing else.
        const credential = { ...passkey, counter: 0, userId: USER.userId };
        await unlessRefused(verifyAuthentication({ ...EXPECTED, response: answers[index], credential }));
      },
    ),
    { seed: SEED, numRuns: 2000 },
  ));

Deno.test("a sign-in is refused unless it is of the bytes that were signed, and by whom they were signed", () =>
  fc.assert(
    fc.asyncProperty(
      which,
      fc.constantFrom("clientDataJSON", "authenticatorData", "signature", "userHandle"),
      changes,
      fc.boolean(),
      async (index, name, list, isKnown) => {
        const answer = answers[index]!;
        const text = changedText(answer.response[name], list);
        fc.pre(text !== answer.response[name]);
        const response = { ...answer, response: { ...answer.response, [name]: text } };
        assert.equal(await signIn(response, index, isKnown), null);
      },
    ),
    { seed: SEED, numRuns: 2000 },
  ));

const { cbor } = fc.letrec<{ cbor: Uint8Array }>((tie) => ({
  cbor: fc.oneof(
    { maxDepth: 4, depthSize: "small" },
    fc.integer({ min: -300, max: 300 }).map(cborInteger),
    fc.uint8Array({ maxLength: 80 }).map(cborBytes),
    fc.string({ maxLength: 20 }).map(cborText),
    fc.constantFrom(
      ...[0xf4, 0xf6, 0xf7, 0xf9, 0xfa, 0xfb, 0xff, 0x5f, 0x7f, 0x9f, 0xbf, 0xc0, 0xd8].map((byte) =>
        Uint8Array.of(byte)
      ),
    ),
    fc.array(tie("cbor"), { maxLength: 5 }).map(cborArray),
    fc.array(
      fc.tuple(fc.oneof(fc.constantFrom(1, 3, -1, -2, -3).map(cborInteger), tie("cbor")), tie("cbor")),
      {
        maxLength: 6,
      },
    ).map(cborMap),
  ),
}));

Deno.test("no random CBOR is accepted as a key or as an attestation, and as extensions it throws nothing", () =>
  fc.assert(
    fc.asyncProperty(cbor, async (bytes) => {
      const [authenticator] = authenticators;
      assert.equal(await register(authenticator!.create(creation, { publicKey: bytes })), null);
      assert.equal(await register(authenticator!.create(creation, { attestationObject: bytes })), null);
      await signIn(authenticator!.get(request, { extensions: bytes }), 0);
    }),
    { seed: SEED, numRuns: 500 },
  ));

Deno.test("a counter is accepted if it rises, or stays 0", () =>
  fc.assert(
    fc.asyncProperty(
      fc.oneof(fc.nat({ max: 3 }), fc.integer({ min: 0, max: 0xffff_ffff })),
      fc.oneof(fc.nat({ max: 3 }), fc.integer({ min: 0, max: 0xffff_ffff })),
      async (counter, before) => {
        const response = authenticators[0]!.get(request, { counter });
        const used = await unlessRefused(
          verifyAuthentication({ ...EXPECTED, response, credential: { ...stored[0]!, counter: before } }),
        );
        const isFine = counter > before || (counter === 0 && before === 0);
        assert.deepEqual(used, isFine ? { newCounter: counter, backedUp: false } : null);
      },
    ),
    { seed: SEED, numRuns: 200 },
  ));
