/** Allowed targets of webhooks: by address, by URL and by the addresses of a name. */
import assert from "node:assert/strict";
import { parseNetworks } from "../../src/limits/networks.ts";
import {
  allowedAddresses,
  isOwnListener,
  refusalOf,
  type TargetPolicy,
  TargetRefused,
} from "../../src/webhooks/target.ts";

function policyOf(allowed: readonly string[], own: string | null = null): TargetPolicy {
  return { allowed: parseNetworks(allowed), isOwn: (address, port) => `${address} ${port}` === own };
}

const PUBLIC_ONLY = policyOf([]);
const ANYWHERE = policyOf(["0.0.0.0/0", "::/0"]);

const PUBLIC = [
  "8.8.8.8",
  "1.1.1.1",
  "9.255.255.255",
  "11.0.0.0",
  "100.63.255.255",
  "100.128.0.0",
  "128.0.0.1",
  "172.15.255.255",
  "172.32.0.0",
  "192.0.1.0",
  "192.167.255.255",
  "198.17.255.255",
  "198.20.0.0",
  "223.255.255.255",
  "2606:4700:4700::1111",
  "2001:4860:4860::8888",
  "::ffff:8.8.8.8",
  "64:ff9b::8.8.8.8",
];

const NOT_PUBLIC = [
  "10.0.0.0",
  "10.255.255.255",
  "100.64.0.0",
  "100.127.255.255",
  "127.0.0.1",
  "127.255.255.255",
  "172.16.0.0",
  "172.31.255.255",
  "192.0.0.1",
  "192.0.2.1",
  "192.88.99.1",
  "192.168.0.1",
  "198.18.0.1",
  "198.51.100.1",
  "203.0.113.1",
  "240.0.0.1",
  "255.255.255.254",
  "::1",
  "fc00::1",
  "fdff::1",
  "fec0::1",
  "2001::1",
  "2001:db8::1",
  "2002:0808:0808::1",
  "3fff::1",
  "4000::1",
  "100::1",
  "::ffff:10.0.0.1",
  "::ffff:7f00:1",
  "::8.8.8.8",
  "64:ff9b::10.0.0.1",
  "64:ff9b:1::8.8.8.8",
];

const NEVER = [
  "0.0.0.0",
  "0.1.2.3",
  "169.254.0.1",
  "169.254.169.254",
  "224.0.0.1",
  "239.255.255.255",
  "255.255.255.255",
  "100.100.100.200",
  "168.63.129.16",
  "::",
  "fe80::1",
  "febf::1",
  "fe80::1%eth0",
  "ff02::1",
  "fd00:ec2::254",
  "fd20:ce::254",
  "::ffff:169.254.169.254",
  "::ffff:a9fe:a9fe",
  "0:0:0:0:0:ffff:a9fe:a9fe",
  "::169.254.169.254",
  "64:ff9b::169.254.169.254",
  "64:ff9b::a9fe:a9fe",
  "64:ff9b:1::169.254.169.254",
  "2002:a9fe:a9fe::1",
  "::ffff:0.0.0.0",
  "not an address",
];

Deno.test("a public address may be called, another one only if it is allowed, and some never", () => {
  for (const address of PUBLIC) assert.equal(refusalOf(address, 443, PUBLIC_ONLY), null, address);
  for (const address of NOT_PUBLIC) {
    assert.equal(refusalOf(address, 443, PUBLIC_ONLY), "not_allowed", address);
    assert.equal(refusalOf(address, 443, ANYWHERE), null, address);
  }
  for (const address of NEVER) {
    assert.equal(refusalOf(address, 443, PUBLIC_ONLY), "never", address);
    assert.equal(refusalOf(address, 443, ANYWHERE), "never", address);
  }
});

Deno.test("only the listed networks are allowed, in every form of their addresses", () => {
  const policy = policyOf(["10.1.0.0/16", "fd00:1::/32"]);
  for (const address of ["10.1.0.0", "10.1.255.255", "::ffff:10.1.2.3", "64:ff9b::10.1.2.3", "fd00:1::9"]) {
    assert.equal(refusalOf(address, 443, policy), null, address);
  }
  for (const address of ["10.0.255.255", "10.2.0.0", "192.168.0.1", "fd00:2::9", "127.0.0.1", "::1"]) {
    assert.equal(refusalOf(address, 443, policy), "not_allowed", address);
  }
  assert.equal(refusalOf("::1", 443, policyOf(["::1/128"])), null);
});

Deno.test("the service's own listener is never called, in any form of its address", () => {
  const policy = (host: string): TargetPolicy => ({
    ...ANYWHERE,
    isOwn: (address, port) => isOwnListener({ url: "http://127.0.0.1:8080", host }, { address, port }),
  });
  for (const address of ["127.0.0.1", "::ffff:127.0.0.1", "64:ff9b::127.0.0.1"]) {
    assert.equal(refusalOf(address, 8080, policy("127.0.0.1")), "never", address);
  }
  assert.equal(refusalOf("127.0.0.1", 8443, policy("127.0.0.1")), null);
  assert.equal(refusalOf("127.0.0.2", 8080, policy("127.0.0.1")), null);
  for (const host of ["0.0.0.0", "::", "localhost"]) {
    for (const address of ["127.0.0.1", "127.0.0.2", "10.0.0.9", "::1"]) {
      assert.equal(refusalOf(address, 8080, policy(host)), "never", `${host} ${address}`);
    }
    assert.equal(refusalOf("10.0.0.9", 8443, policy(host)), null);
    assert.equal(refusalOf("8.8.8.8", 8080, policy(host)), null, "another machine");
  }
  const long = { url: "http://[::1]:8080", host: "0:0:0:0:0:0:0:1" };
  assert.ok(isOwnListener(long, { address: "::1", port: 8080 }));
  assert.ok(isOwnListener({ ...long, host: "0:0:0:0:0:0:0:0" }, { address: "10.0.0.9", port: 8080 }));
  const tls = { url: "https://10.0.0.9", host: "10.0.0.9" };
  assert.ok(isOwnListener(tls, { address: "10.0.0.9", port: 443 }));
});

const nowhere = () => Promise.reject(new Error("nothing may be resolved"));

Deno.test("an address in a URL is judged without a look-up, in every spelling", async () => {
  const judged = (url: string, policy = PUBLIC_ONLY) =>
    allowedAddresses(new URL(url), { policy, resolve: nowhere });
  for (
    const [url, address] of [
      ["https://8.8.8.8/x", "8.8.8.8"],
      ["https://134744072/", "8.8.8.8"],
      ["https://0x08.010.8.8:8443/", "8.8.8.8"],
      ["https://[2606:4700:4700::1111]/", "2606:4700:4700::1111"],
    ] as const
  ) assert.deepEqual(await judged(url), [address], url);
  for (
    const url of [
      "https://127.0.0.1/",
      "https://127.1/",
      "https://2130706433/",
      "https://0x7f000001/",
      "https://017700000001/",
      "https://127.0.0.1./",
      "https://[::1]/",
      "https://[::ffff:127.0.0.1]/",
      "https://10.0.0.1:8443/",
      "https://１０.0.0.1/",
    ]
  ) {
    await assert.rejects(
      judged(url),
      (error: Error) => error instanceof TargetRefused && /JISS_WEBHOOK_ALLOW/.test(error.message),
      url,
    );
    await judged(url, ANYWHERE);
  }
  for (
    const url of ["https://169.254.169.254/latest", "https://0/", "https://[fe80::1]/", "https://[ff02::1]/"]
  ) {
    for (const policy of [PUBLIC_ONLY, ANYWHERE]) {
      await assert.rejects(judged(url, policy), /must not lead to a link-local/, url);
    }
  }
});

Deno.test("a name is refused if one of its addresses is refused or if it has none, and the message names no address", async () => {
  const resolving = (answers: readonly string[] | Error) => () =>
    answers instanceof Error ? Promise.reject(answers) : Promise.resolve(answers);
  const judged = (answers: readonly string[] | Error) =>
    allowedAddresses(new URL("https://hooks.example/x"), {
      policy: PUBLIC_ONLY,
      resolve: resolving(answers),
    });
  assert.deepEqual(await judged(["8.8.8.8", "2606:4700:4700::1111"]), ["8.8.8.8", "2606:4700:4700::1111"]);
  const messages = new Set<string>();
  for (
    const answers of [[], ["8.8.8.8", "10.0.0.1"], ["169.254.169.254"], ["::1"], new Error("no such name")]
  ) {
    await assert.rejects(judged(answers), (error: Error) => {
      messages.add(error.message);
      return error instanceof TargetRefused;
    });
  }
  assert.deepEqual([...messages], [
    "must name a host that resolves only to public addresses, or to networks that JISS_WEBHOOK_ALLOW lists",
  ]);
});
