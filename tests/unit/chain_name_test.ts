/** Names of chains, of their epochs, and the prefix of an origin. */
import assert from "node:assert/strict";
import { chainPrefix, formatEpoch, parseChain, splitName } from "../../src/evidence/chain_name.ts";

Deno.test("a chain's name is parsed into family and epoch, and formatted back", () => {
  const names: Readonly<Record<string, readonly [family: string, epoch: number]>> = {
    "sys": ["sys", 1],
    "sys/e2": ["sys", 2],
    "org/acme": ["org/acme", 1],
    "org/acme/e3": ["org/acme", 3],
    "org/acme/admin": ["org/acme/admin", 1],
    "org/acme/admin/e10": ["org/acme/admin", 10],
    "org/e2": ["org/e2", 1],
    "org/e2/e2": ["org/e2", 2],
    "org/admin": ["org/admin", 1],
    "org/admin/admin": ["org/admin/admin", 1],
    "org/sys": ["org/sys", 1],
  };
  for (const [chain, [family, epoch]] of Object.entries(names)) {
    assert.deepEqual(parseChain(chain), { family, epoch }, chain);
    assert.equal(formatEpoch(family, epoch), chain);
  }
});

Deno.test("a text that does not name a chain is refused", () => {
  const none = [
    ...["", "org", "org/", "sys/", "sys/e1", "sys/e02", "sys/e0", "sys/e", "sys/e2/e3", "keys", "SYS"],
    ...["org/a b", "org/acme/", "org/acme/other", "org/acme/e1", "org/acme\n", `org/${"a".repeat(129)}`],
    `sys/e${2 ** 53}`,
  ];
  for (const chain of none) assert.equal(parseChain(chain), null, JSON.stringify(chain));
});

Deno.test("the prefix of an origin is the text before its chain, for any name of the log", () => {
  const prefixes: readonly (readonly [prefix: string, chain: string])[] = [
    ["jiss.local/01JCR5Z8K0X7V3T2M9QWERTY02/", "sys"],
    ["jiss.local/01JCR5Z8K0X7V3T2M9QWERTY02/", "sys/e2"],
    ["jiss.local/01JCR5Z8K0X7V3T2M9QWERTY02/", "org/acme/admin"],
    ["jiss.local/01JCR5Z8K0X7V3T2M9QWERTY02/", "org/sys"],
    ["jiss.local/01JCR5Z8K0X7V3T2M9QWERTY02/", "org/org/admin/e2"],
    ["bank.example/eu/01JCR5Z8K0X7V3T2M9QWERTY02/", "org/acme"],
    ["bank.example/org/01JCR5Z8K0X7V3T2M9QWERTY02/", "sys"],
    ["bank.example/org/01JCR5Z8K0X7V3T2M9QWERTY02/", "org/e2"],
  ];
  for (const [prefix, chain] of prefixes) {
    assert.equal(chainPrefix(`${prefix}${chain}`, chain), prefix, prefix + chain);
    assert.deepEqual(splitName(`${prefix}${chain}`), { prefix, rest: chain });
  }
});

Deno.test("an origin belongs to one chain only, not to another one whose name it merely ends in", () => {
  assert.equal(chainPrefix("log/dep/org/sys", "sys"), null);
  assert.equal(chainPrefix("log/dep/org/org/admin", "org/admin"), null);
  assert.equal(chainPrefix("log/dep/org/acme", "org/other"), null);
  assert.equal(chainPrefix("log/dep/org/acme", "acme"), null);
  assert.equal(chainPrefix("log/dep/keys", "keys"), null);
  assert.equal(chainPrefix("dep/sys", "sys"), null);
  assert.equal(chainPrefix("log/dep/sys", ""), null);
  assert.equal(chainPrefix("log/de p/sys", "sys"), null);
  assert.equal(chainPrefix("//sys", "sys"), null);
});

Deno.test("the name of rotation certificates is parsed like an origin", () => {
  assert.deepEqual(splitName("log/dep/keys"), { prefix: "log/dep/", rest: "keys" });
  assert.deepEqual(splitName("log/dep/org/keys"), { prefix: "log/dep/", rest: "org/keys" });
  for (const name of ["keys", "dep/keys", "log/dep/key", "log/dep/", "log/dep+x/keys", "log/dep/keys/"]) {
    assert.equal(splitName(name), null, name);
  }
});
