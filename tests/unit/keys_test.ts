/** Keys: the form and hash of live keys, master secrets, secrets at rest, and request digests. */
import assert from "node:assert/strict";
import {
  API_KEY_RANDOM_BYTES,
  apiKeyPrefix,
  comparableKey,
  hashApiKey,
  isApiKey,
  matchingPepper,
  mayBeHeld,
  mintApiKey,
} from "../../src/keys/api_key.ts";
import {
  MASTER_SCOPES,
  masterSecretNames,
  type MasterSecrets,
  sharedSecrets,
  verifyMasterKey,
} from "../../src/keys/master_keys.ts";
import { deriveSecretsKey, requestDigest, unwrapSecret, wrapSecret } from "../../src/keys/secrets.ts";

const KEY = "jis_0123456789ABCDEFGHJKMNPQRS";
const PEPPER = "pepper-of-the-tests-0123456789-0123456789";
const OLD_PEPPER = "pepper-of-yesterday-0123456789-0123456789";
const bytesFrom = (start: number, length = API_KEY_RANDOM_BYTES) =>
  Uint8Array.from({ length }, (_, index) => start + index);

// ---- live keys --------------------------------------------------------------------------------------------

Deno.test("a minted key is jis_ and 26 characters of Crockford base32, five bits of each random byte", () => {
  assert.equal(API_KEY_RANDOM_BYTES, 26);
  assert.equal(mintApiKey(bytesFrom(0)), "jis_0123456789ABCDEFGHJKMNPQRS");
  assert.equal(mintApiKey(bytesFrom(6)), "jis_6789ABCDEFGHJKMNPQRSTVWXYZ");
  assert.equal(mintApiKey(bytesFrom(224)), "jis_0123456789ABCDEFGHJKMNPQRS", "only the low five bits count");
  assert.equal(mintApiKey(new Uint8Array(26).fill(255)), "jis_ZZZZZZZZZZZZZZZZZZZZZZZZZZ");
});

Deno.test("each of the 32 characters stands for exactly one value of five bits", () => {
  const characters = Array.from({ length: 32 }, (_, value) => mintApiKey(new Uint8Array(26).fill(value))[4]);
  assert.equal(characters.join(""), "0123456789ABCDEFGHJKMNPQRSTVWXYZ");
});

Deno.test("a key is made of exactly 26 bytes, never padded", () => {
  for (const length of [0, 25, 27]) assert.throws(() => mintApiKey(new Uint8Array(length)), RangeError);
});

Deno.test("only texts of the key's form are keys", () => {
  assert.equal(isApiKey(KEY), true);
  const others = [
    "",
    KEY.slice(0, -1),
    `${KEY}0`,
    `${KEY}\n`,
    ` ${KEY}`,
    KEY.toLowerCase(),
    KEY.replace("jis_", "JIS_"),
    KEY.replace("jis_", "jis-"),
    KEY.replace("S", "I"),
    KEY.replace("S", "L"),
    KEY.replace("S", "O"),
    KEY.replace("S", "U"),
    KEY.replace("S", "\uff33"),
  ];
  for (const text of others) assert.equal(isApiKey(text), false, JSON.stringify(text));
});

Deno.test("a key's prefix is its first 8 characters", () => {
  assert.equal(apiKeyPrefix(KEY), "jis_0123");
});

Deno.test("the stored hash is HMAC-SHA256 of the key under the pepper", () => {
  // printf jis_… | openssl dgst -sha256 -hmac pepper-of-the-tests-…
  assert.equal(
    hashApiKey(KEY, PEPPER).toHex(),
    "44c6db9ef8a35638fbe01ed508fd66132e923311877ef3a68701688ed1b06508",
  );
});

Deno.test("a key verifies under the current and the previous pepper, and under no other", () => {
  assert.equal(matchingPepper(KEY, hashApiKey(KEY, PEPPER), [PEPPER]), PEPPER);
  assert.equal(matchingPepper(KEY, hashApiKey(KEY, PEPPER), [PEPPER, OLD_PEPPER]), PEPPER);
  assert.equal(matchingPepper(KEY, hashApiKey(KEY, OLD_PEPPER), [PEPPER, OLD_PEPPER]), OLD_PEPPER);
  assert.equal(matchingPepper(KEY, hashApiKey(KEY, OLD_PEPPER), [PEPPER]), null);
  assert.equal(matchingPepper(KEY, hashApiKey(KEY, PEPPER), []), null);
});

Deno.test("another key never verifies", () => {
  const stored = hashApiKey(KEY, PEPPER);
  for (let at = 4; at < KEY.length; at += 1) {
    const other = KEY.slice(0, at) + (KEY[at] === "Z" ? "Y" : "Z") + KEY.slice(at + 1);
    assert.equal(matchingPepper(other, stored, [PEPPER, OLD_PEPPER]), null, other);
  }
});

Deno.test("no key verifies if no hash is stored", () => {
  for (const key of [KEY, comparableKey(undefined), ""]) {
    assert.equal(matchingPepper(key, null, [PEPPER, OLD_PEPPER]), null, key);
  }
});

Deno.test("a missing or malformed key is compared as a key of the right form that nobody holds", () => {
  const nobody = "jis_00000000000000000000000000";
  assert.equal(comparableKey(KEY), KEY);
  for (const presented of [undefined, "", "Bearer x", KEY.toLowerCase(), `${KEY} `, "x".repeat(100_000)]) {
    assert.equal(comparableKey(presented), nobody);
  }
  assert.equal(isApiKey(nobody), true);
  assert.equal(mayBeHeld(nobody), false, "no organization may have it");
  assert.equal(mayBeHeld(KEY), true);
  assert.equal(mayBeHeld(KEY.toLowerCase()), false);
});

// ---- master secrets ---------------------------------------------------------------------------------------

const ACTIVE = "active-secret-0123456789-0123456789";
const PREVIOUS = "previous-secret-0123456789-012345678";
const OTHER = "secret-of-another-scope-0123456789-0";
const secrets: MasterSecrets = { ORG_CREATE: [ACTIVE, PREVIOUS], ALERT_ACK: [OTHER], BILLING_ROTATE: [] };

Deno.test("a master scope accepts its active and its previous secret and nothing else", () => {
  const offer = (presented: string | undefined) =>
    verifyMasterKey(presented, { secrets, scope: "ORG_CREATE" });
  assert.equal(offer(ACTIVE), true);
  assert.equal(offer(PREVIOUS), true);
  for (const presented of [undefined, "", OTHER, `${ACTIVE} `, ACTIVE.slice(1), ACTIVE.toUpperCase()]) {
    assert.equal(offer(presented), false, presented!);
  }
});

Deno.test("a secret of one scope is refused by every other", () => {
  for (const scope of MASTER_SCOPES) {
    assert.equal(verifyMasterKey(ACTIVE, { secrets, scope }), scope === "ORG_CREATE", scope);
    assert.equal(verifyMasterKey(OTHER, { secrets, scope }), scope === "ALERT_ACK", scope);
  }
});

Deno.test("a scope without a secret authenticates nobody, not even an empty or missing value", () => {
  for (const scope of ["ORG_SUSPEND", "BILLING_ROTATE"] as const) {
    for (const presented of [undefined, "", ACTIVE, "undefined", "null"]) {
      assert.equal(verifyMasterKey(presented, { secrets, scope }), false, `${scope} ${presented}`);
    }
  }
  assert.equal(verifyMasterKey(undefined, { secrets: {}, scope: "ORG_CREATE" }), false);
  assert.equal(verifyMasterKey("", { secrets: {}, scope: "ORG_CREATE" }), false);
});

Deno.test("each of the nine scopes has two names in the environment", () => {
  assert.deepEqual(MASTER_SCOPES.map((scope) => masterSecretNames(scope)[0]), [
    "MASTER_ADMIN_KEY_ORG_CREATE",
    "MASTER_ADMIN_KEY_BILLING_SUSPEND",
    "MASTER_ADMIN_KEY_BILLING_ROTATE",
    "MASTER_ADMIN_KEY_ORG_USAGE_READ",
    "MASTER_ADMIN_KEY_ORG_SUSPEND",
    "MASTER_ADMIN_KEY_ORG_REACTIVATE",
    "MASTER_ADMIN_KEY_ORG_FORCE_ROTATE",
    "MASTER_ADMIN_KEY_ORG_FORCE_REVOKE",
    "MASTER_ADMIN_KEY_ALERT_ACK",
  ]);
  assert.equal(masterSecretNames("ALERT_ACK")[1], "MASTER_ADMIN_KEY_ALERT_ACK_PREVIOUS");
});

Deno.test("every name that repeats a secret is paired with the first that holds it", () => {
  const named = (entries: Record<string, string>) =>
    Object.entries(entries).map(([name, value]) => ({ name, value }));
  assert.deepEqual(sharedSecrets(named({ A: "1", B: "2" })), []);
  assert.deepEqual(sharedSecrets(named({ A: "1", B: "2", C: "1", D: "2", E: "1" })), [
    ["A", "C"],
    ["B", "D"],
    ["A", "E"],
  ]);
});

// ---- secrets at rest --------------------------------------------------------------------------------------

const WRAPPING_KEY = deriveSecretsKey(PEPPER);
const IV = bytesFrom(100, 12);
const PLAIN = bytesFrom(0, 32);
const wrapped = wrapSecret(PLAIN, { key: WRAPPING_KEY, purpose: "installation key", iv: IV });

Deno.test("the wrapping key is 32 bytes of HKDF-SHA256 and depends on the secret alone", () => {
  assert.equal(WRAPPING_KEY.length, 32);
  assert.deepEqual(deriveSecretsKey(PEPPER), WRAPPING_KEY);
  assert.notDeepEqual(deriveSecretsKey(OLD_PEPPER), WRAPPING_KEY);
  assert.equal(
    WRAPPING_KEY.toHex(),
    "4d9cb28bf345b42db1de4465469716ca074efbd20f6a28236f9b923008491b44",
  );
});

Deno.test("a wrapped secret is its iv, its encrypted bytes and a tag of 16, and can be opened again", () => {
  assert.equal(wrapped.length, 12 + 32 + 16);
  assert.deepEqual(wrapped.slice(0, 12), IV);
  assert.deepEqual(unwrapSecret(wrapped, { key: WRAPPING_KEY, purpose: "installation key" }), PLAIN);
  const empty = wrapSecret(new Uint8Array(), { key: WRAPPING_KEY, purpose: "p", iv: IV });
  assert.deepEqual(unwrapSecret(empty, { key: WRAPPING_KEY, purpose: "p" }), new Uint8Array());
});

Deno.test("another key or another purpose opens nothing", () => {
  const key = deriveSecretsKey(OLD_PEPPER);
  assert.equal(unwrapSecret(wrapped, { key, purpose: "installation key" }), null);
  for (const purpose of ["", "installation key ", "webhook secret"]) {
    assert.equal(unwrapSecret(wrapped, { key: WRAPPING_KEY, purpose }), null, purpose);
  }
});

Deno.test("a wrapped secret with any bit flipped cannot be opened", () => {
  for (let bit = 0; bit < wrapped.length * 8; bit += 1) {
    const changed = wrapped.slice();
    changed[bit >> 3]! ^= 1 << (bit & 7);
    assert.equal(
      unwrapSecret(changed, { key: WRAPPING_KEY, purpose: "installation key" }),
      null,
      `bit ${bit}`,
    );
  }
});

Deno.test("a wrapped secret that lost bytes cannot be opened", () => {
  for (let length = wrapped.length - 1; length >= 0; length -= 1) {
    const options = { key: WRAPPING_KEY, purpose: "installation key" };
    assert.equal(unwrapSecret(wrapped.slice(0, length), options), null, `the first ${length}`);
    assert.equal(unwrapSecret(wrapped.slice(wrapped.length - length), options), null, `the last ${length}`);
  }
});

// ---- request digests --------------------------------------------------------------------------------------

Deno.test("a request digest is an HMAC under the installation key, bound to its use", () => {
  // printf 'jis.request/1\n{"a":1}' | openssl dgst -sha256 -mac HMAC -macopt hexkey:0001…1f
  assert.equal(
    requestDigest(PLAIN, '{"a":1}').toHex(),
    "e90c55a916467baa52400a1af79d9fae76e8921c483d9a5c9bc109fc745a69c9",
  );
});

Deno.test("a request digest differs by key and by request", () => {
  const digest = requestDigest(PLAIN, '{"a":1}');
  assert.deepEqual(requestDigest(PLAIN, '{"a":1}'), digest);
  assert.notDeepEqual(requestDigest(bytesFrom(1, 32), '{"a":1}'), digest);
  assert.notDeepEqual(requestDigest(PLAIN, '{"a":2}'), digest);
});
