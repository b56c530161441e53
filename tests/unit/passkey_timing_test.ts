/**
 * Whether the time of a refused sign-in tells which passkeys exist. Within each form of signature every reason is
 * compared with every other by rank, in random order; a shortcut would be seen, as the last test shows.
 */
import assert from "node:assert/strict";
import type { PasskeyAlgorithm, PasskeyAuthentication } from "../../src/domain/passkey.ts";
import {
  authenticationOptions,
  registrationOptions,
  type StoredPasskey,
  verifyAuthentication,
  verifyRegistration,
} from "../../src/identity/passkeys.ts";
import { PasskeyRefusal } from "../../src/identity/passkey_refusal.ts";
import { mannWhitney } from "../mann_whitney.ts";
import { mulberry32 } from "../random_numbers.ts";
import { keyPair, SoftwareAuthenticator } from "../software_authenticator.ts";

/** The probability that two equal reasons look different, over all pairs of one run. A second run must agree. */
const SIGNIFICANCE = 0.001;
const REFUSALS = 250;
const ORIGIN = "https://jiss.bank.example";
const EXPECTED = { challenge: new Uint8Array(32).fill(5), origin: ORIGIN, rpId: "jiss.bank.example" };
const USER = { userId: "01USERADA", userName: "ada", userDisplayName: "Ada", rpName: "JISS", existing: [] };

interface Reason {
  readonly name: string;
  readonly response: PasskeyAuthentication;
  readonly credential: StoredPasskey | null;
}

async function registered(algorithm: PasskeyAlgorithm) {
  const authenticator = new SoftwareAuthenticator(ORIGIN, { algorithm });
  const creation = registrationOptions({ ...EXPECTED, ...USER });
  const passkey = await verifyRegistration({ ...EXPECTED, response: authenticator.create(creation) });
  return { authenticator, stored: { ...passkey, userId: USER.userId } };
}

/** A passkey of RS256 whose modulus is above that of the service's own key for unknown ones. */
async function registeredAbove() {
  for (;;) {
    const found = await registered("RS256");
    if (found.stored.publicKey.subarray(11, 12)[0]! >= 0xe8) return found;
  }
}

const known = { ES256: await registered("ES256"), RS256: await registeredAbove() };

/**
 * Answers of an attacker who knows the ids of passkeys but no key; the signature is one of another key, or the given
 * one.
 */
function reasonsOf(form: PasskeyAlgorithm, signature?: Uint8Array): readonly Reason[] {
  const { privateKey } = keyPair(form);
  const forgery = { privateKey, counter: 1, ...(signature === undefined ? {} : { signature }) };
  const answer = (algorithm: PasskeyAlgorithm) =>
    known[algorithm].authenticator.get(authenticationOptions(EXPECTED), forgery);
  const { ES256, RS256 } = known;
  return [
    { name: "unknown", response: answer("ES256"), credential: null },
    { name: "known, ES256", response: answer("ES256"), credential: ES256.stored },
    { name: "known, RS256", response: answer("RS256"), credential: RS256.stored },
    {
      name: "another user's",
      response: answer("ES256"),
      credential: { ...ES256.stored, userId: "01USERBEN" },
    },
    { name: "used more often", response: answer("ES256"), credential: { ...ES256.stored, counter: 9 } },
    {
      name: "another id than the one looked up",
      response: answer("ES256"),
      credential: { ...ES256.stored, credentialId: "A".repeat(43) },
    },
  ];
}

type Samples = ReadonlyMap<string, readonly number[]>;

/** Milliseconds of each refusal, by its reason. */
async function sample(reasons: readonly Reason[], seed: number): Promise<Samples> {
  const random = mulberry32(seed);
  const order = reasons.flatMap((reason) => Array<Reason>(REFUSALS).fill(reason))
    .map((reason) => ({ reason, rank: random() })).sort((one, other) => one.rank - other.rank);
  const samples = new Map(reasons.map(({ name }) => [name, [] as number[]]));
  for (const { reason: { name, response, credential } } of order) {
    const startedAt = performance.now();
    const error = await verifyAuthentication({ ...EXPECTED, response, credential }).catch((error) => error);
    samples.get(name)!.push(performance.now() - startedAt);
    assert.ok(error instanceof PasskeyRefusal);
  }
  return samples;
}

/** The pairs that one run tells apart, with Bonferroni's correction over all pairs. */
function differingPairs(samples: Samples): readonly string[] {
  const names = [...samples.keys()];
  const pairs = names.flatMap((one, index) => names.slice(index + 1).map((other) => [one, other] as const));
  return pairs.filter(([one, other]) =>
    mannWhitney(samples.get(one)!, samples.get(other)!).p < SIGNIFICANCE / pairs.length
  ).map((pair) => pair.join(" | "));
}

/** The pairs that two runs tell apart. */
async function toldApart(reasons: readonly Reason[]): Promise<readonly string[]> {
  await sample(reasons, 0);
  const suspects = differingPairs(await sample(reasons, 1));
  if (suspects.length === 0) return [];
  const again = differingPairs(await sample(reasons, 2));
  return suspects.filter((pair) => again.includes(pair));
}

const FORGED: Readonly<Record<string, readonly Reason[]>> = {
  "ES256 by another key": reasonsOf("ES256"),
  "ES256 with numbers that are never right": reasonsOf("ES256", Uint8Array.fromHex("3006020100020100")),
  "RS256 by another key": reasonsOf("RS256"),
  // An RSA signature is below the modulus.
  "RS256 above some moduli and below others": reasonsOf("RS256", new Uint8Array(256).fill(0xe4)),
  "RS256 above all moduli": reasonsOf("RS256", new Uint8Array(256).fill(0xff)),
};

for (const [what, reasons] of Object.entries(FORGED)) {
  Deno.test(`a refused signature of ${what} takes as long whatever is stored`, async () => {
    assert.deepEqual(await toldApart(reasons), []);
  });
}

Deno.test("the comparison would see a refusal without a verification", async () => {
  const [unknown, wrong] = reasonsOf("ES256");
  const { response } = unknown!;
  const shortcut = {
    name: "shortcut",
    response: { ...response, response: { ...response.response, signature: "A".repeat(94) } },
    credential: null,
  };
  assert.deepEqual(await toldApart([shortcut, wrong!]), ["shortcut | known, ES256"]);
});
