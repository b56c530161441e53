/** Rate limits by example: the window's edges and its memory, and the client's address behind proxies. */
import assert from "node:assert/strict";
import { clientAddress, limitSubject } from "../../src/limits/client_address.ts";
import { parseNetworks } from "../../src/limits/networks.ts";
import { memoryWindow } from "../harness.ts";

const WINDOW = 60_000;

// ---- the window -------------------------------------------------------------------------------------------

Deno.test("the 60th request of a minute is admitted, the 61st refused, and one more a minute after the first", () => {
  const window = memoryWindow(60);
  const first = window.admit("a", 1_000);
  assert.deepEqual(first, { admitted: true, counted: true, limit: 60, remaining: 59, resetMs: 60_000 });
  for (let n = 2; n < 60; n += 1) assert.equal(window.admit("a", 1_000 + n).admitted, true);
  assert.deepEqual(window.admit("a", 2_000), {
    admitted: true,
    counted: true,
    limit: 60,
    remaining: 0,
    resetMs: 59_000,
  });
  assert.deepEqual(window.admit("a", 2_000), {
    admitted: false,
    counted: true,
    limit: 60,
    remaining: 0,
    resetMs: 59_000,
  });
  assert.deepEqual(window.admit("a", 60_999), {
    admitted: false,
    counted: true,
    limit: 60,
    remaining: 0,
    resetMs: 1,
  });
  assert.deepEqual(window.admit("a", 61_000), {
    admitted: true,
    counted: true,
    limit: 60,
    remaining: 0,
    resetMs: 2,
  });
});

Deno.test("a burst at the end of one minute leaves nothing for the start of the next", () => {
  const window = memoryWindow(3);
  for (const at of [59_997, 59_998, 59_999]) assert.equal(window.admit("a", at).admitted, true);
  for (const at of [60_000, 60_001, 90_000, 119_996]) assert.equal(window.admit("a", at).admitted, false);
  assert.equal(window.admit("a", 119_997).admitted, true);
});

Deno.test("requests of a subject that is refused do not prolong the refusal", () => {
  const window = memoryWindow(1);
  window.admit("a", 0);
  for (let at = 1; at < WINDOW; at += 100) assert.equal(window.admit("a", at).admitted, false);
  assert.equal(window.admit("a", WINDOW).admitted, true);
});

Deno.test("instants past the window are deleted: a subject that never pauses needs no more memory", () => {
  const window = memoryWindow(10);
  for (let n = 0; n < 100_000; n += 1) assert.equal(window.admit("a", n * 6_000).admitted, true);
  assert.deepEqual([window.subjects, window.bytes], [1, 61_440]);
});

Deno.test("a table that empties step by step gives its memory back", () => {
  const window = memoryWindow(1);
  for (let n = 0; n < 5_000; n += 1) window.admit(`subject ${n}`, n);
  assert.deepEqual([window.subjects, window.bytes], [5_000, 983_040]);
  for (let n = 0; n < 5_000; n += 1) window.forget(60_000 + n);
  assert.deepEqual([window.subjects, window.bytes], [0, 61_440]);
});

Deno.test("a full table refuses new subjects uncounted, still admits known ones, and removes nobody early", () => {
  const reported: number[] = [];
  const window = memoryWindow(2, { subjectsMax: 2_000, reportUncounted: (total) => reported.push(total) });
  for (let n = 0; n < 2_000; n += 1) assert.equal(window.admit(`subject ${n}`, n).admitted, true);
  for (const at of [2_000, 59_999]) {
    assert.deepEqual(window.admit("new", at), {
      admitted: false,
      counted: false,
      limit: 2,
      remaining: 0,
      resetMs: 60_000 - at,
    });
  }
  assert.equal(window.admit("subject 7", 59_999).admitted, true);
  assert.equal(window.admit("subject 7", 59_999).admitted, false, "at its limit");
  assert.equal(window.admit("new", 60_000).admitted, true, "the oldest has left");
  assert.equal(window.admit("newer", 60_000).admitted, false);
  assert.equal(window.admit("subject 7", 60_006).admitted, false, "still at its limit");
  assert.equal(window.admit("subject 7", 60_007).admitted, true);
  assert.deepEqual([window.uncounted, reported], [3, [1]], "reported once in a window");
  window.forget(200_000);
  assert.deepEqual([window.subjects, window.bytes], [0, 61_440]);
});

Deno.test("a table whose instants are all used refuses every subject uncounted", () => {
  const window = memoryWindow(5_000, { timesMax: 3_000 });
  for (let n = 0; n < 3_000; n += 1) assert.equal(window.admit("a", n).admitted, true);
  for (const subject of ["a", "b"]) {
    assert.deepEqual(window.admit(subject, 3_000), {
      admitted: false,
      counted: false,
      limit: 5_000,
      remaining: 0,
      resetMs: 57_000,
    });
  }
});

Deno.test("a request that was decided late counts from the decision on, not from its arrival", () => {
  const window = memoryWindow(1);
  assert.equal(window.admit("other", 1_000).admitted, true);
  assert.deepEqual(window.admit("a", 400), {
    admitted: true,
    counted: true,
    limit: 1,
    remaining: 0,
    resetMs: 60_000,
  });
  assert.deepEqual(window.admit("other", 400), {
    admitted: false,
    counted: true,
    limit: 1,
    remaining: 0,
    resetMs: 60_000,
  });
  assert.equal(window.admit("a", 60_999).admitted, false);
  assert.equal(window.admit("a", 61_000).admitted, true);
});

Deno.test("a million addresses within a minute need at most 100 MB, each still limited, and a minute later nothing", async () => {
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      ...["run", "--allow-env", "--v8-flags=--expose-gc", `--lock=${import.meta.dirname}/../deno.lock`],
      `${import.meta.dirname}/../limits_memory.ts`,
    ],
    stdout: "piped",
    stderr: "piped",
  }).output();
  assert.ok(success, new TextDecoder().decode(stderr));
  const { full, idle, subjects, admitted, limited } = JSON.parse(new TextDecoder().decode(stdout));
  assert.deepEqual({ subjects, admitted, limited }, {
    subjects: [1_000_000, 0],
    admitted: 0,
    limited: 1_000_000,
  });
  assert.ok(full <= 100e6, `${full} bytes`);
  assert.ok(idle <= 1e6, `${idle} bytes`);
});

// ---- networks ---------------------------------------------------------------------------------------------

Deno.test("a network contains its addresses, whole or partly given, in IPv4 and IPv6", () => {
  const cases: readonly (readonly [cidr: string, inside: string, outside: string])[] = [
    ["10.0.0.0/8", "10.255.255.255", "11.0.0.0"],
    ["10.1.2.3/8", "10.9.9.9", "9.9.9.9"],
    ["192.0.2.0/31", "192.0.2.1", "192.0.2.2"],
    ["192.0.2.7", "192.0.2.7", "192.0.2.8"],
    ["0.0.0.0/0", "203.0.113.9", "2001:db8::1"],
    ["2001:db8::/33", "2001:db8:7fff::1", "2001:db8:8000::1"],
    ["2001:db8::1", "2001:0DB8:0::1", "2001:db8::2"],
    ["::/0", "2001:db8::1", "10.0.0.1"],
  ];
  for (const [cidr, inside, outside] of cases) {
    assert.equal(parseNetworks([cidr]).includes(inside), true, `${cidr} holds ${inside}`);
    assert.equal(parseNetworks([cidr]).includes(outside), false, `${cidr} does not hold ${outside}`);
  }
});

Deno.test("an IPv4-mapped address belongs to the network of its IPv4 address, in any spelling", () => {
  const networks = parseNetworks(["10.0.0.0/8"]);
  for (const address of ["::ffff:10.0.0.1", "::FFFF:10.0.0.1", "::ffff:a00:1", "0:0:0:0:0:ffff:10.0.0.1"]) {
    assert.equal(networks.includes(address), true, address);
  }
  assert.equal(networks.includes("::ffff:11.0.0.1"), false);
  assert.equal(networks.includes("::10.0.0.1"), false);
});

Deno.test("a text that is not an address is in no network", () => {
  const networks = parseNetworks(["0.0.0.0/0", "::/0"]);
  for (const text of ["", "unknown", "10.0.0.1:80", "[::1]", "010.0.0.1", "10.0.0", "10.0.0.1/32"]) {
    assert.equal(networks.includes(text), false, text);
  }
});

Deno.test("a text that is not a network is refused by name", () => {
  const bad = [
    "",
    "10.0.0.0/33",
    "10.0.0.0/",
    "10.0.0.0/8/8",
    "10.0.0.0/-1",
    "10.0.0.0/+8",
    "::/129",
    "proxy",
  ];
  for (const cidr of bad) {
    assert.throws(
      () => parseNetworks(["10.0.0.0/8", cidr]),
      { name: "SyntaxError", message: `${cidr} is not a network like 10.0.0.0/8` },
    );
  }
});

// ---- the client's address ---------------------------------------------------------------------------------

const trusted = parseNetworks(["10.0.0.0/8", "fd00::/8"]);
const through = (peer: string, forwardedFor: string | null) => clientAddress(peer, { forwardedFor, trusted });

Deno.test("without a trusted proxy the peer is the client, whatever it forwards", () => {
  assert.equal(through("203.0.113.7", null), "203.0.113.7");
  assert.equal(through("203.0.113.7", "198.51.100.1"), "203.0.113.7");
  assert.equal(through("203.0.113.7", "10.0.0.1"), "203.0.113.7");
  assert.equal(
    clientAddress("10.0.0.1", { forwardedFor: "198.51.100.1", trusted: parseNetworks([]) }),
    "10.0.0.1",
  );
});

Deno.test("behind trusted proxies the client is the first address from the right that is not a trusted proxy", () => {
  assert.equal(through("10.0.0.1", "198.51.100.1"), "198.51.100.1");
  assert.equal(through("10.0.0.1", "198.51.100.1, 10.0.0.2"), "198.51.100.1");
  assert.equal(through("10.0.0.1", "198.51.100.1,10.0.0.3 , 10.0.0.2"), "198.51.100.1");
  assert.equal(through("fd00::1", "2001:db8::5"), "2001:db8::5");
});

Deno.test("addresses that a client writes to the left of its own are ignored", () => {
  const spoofed = [
    "192.0.2.1",
    "10.9.9.9",
    "unknown",
    "",
    "<script>",
    "a".repeat(10_000),
    "192.0.2.1, 192.0.2.2",
  ];
  for (const left of spoofed) {
    assert.equal(through("10.0.0.1", `${left}, 198.51.100.1`), "198.51.100.1", left.slice(0, 40));
    assert.equal(through("10.0.0.1", `${left}, 198.51.100.1, 10.0.0.2`), "198.51.100.1", left.slice(0, 40));
  }
});

Deno.test("a trusted proxy that forwards nothing, or only proxies, is itself the client", () => {
  assert.equal(through("10.0.0.1", null), "10.0.0.1");
  assert.equal(through("10.0.0.1", ""), "10.0.0.1");
  assert.equal(through("10.0.0.1", " , "), "10.0.0.1");
  assert.equal(through("10.0.0.1", "10.0.0.3, 10.0.0.2"), "10.0.0.3");
});

Deno.test("a hop that a proxy wrote with a port is read as the address without it", () => {
  assert.equal(through("10.0.0.1", "198.51.100.1:443"), "198.51.100.1");
  assert.equal(through("10.0.0.1", "198.51.100.1, 10.0.0.2:8080"), "198.51.100.1");
  assert.equal(through("10.0.0.1", "[2001:db8::1]:443"), "2001:db8::1");
  assert.equal(through("10.0.0.1", "[2001:db8::1]"), "2001:db8::1");
});

Deno.test("a malformed hop ends the reading: the proxy that wrote it is counted", () => {
  for (
    const hop of ["unknown", "198.51.100.1:x", "[2001:db8::1", "_hidden", "198.51.100.999", "010.1.1.1"]
  ) {
    assert.equal(through("10.0.0.1", `198.51.100.1, ${hop}`), "10.0.0.1", hop);
    assert.equal(through("10.0.0.1", `198.51.100.1, ${hop}, 10.0.0.2`), "10.0.0.2", hop);
  }
});

Deno.test("an IPv4-mapped peer or hop is read as its IPv4 address", () => {
  assert.equal(through("::ffff:203.0.113.7", null), "203.0.113.7");
  assert.equal(through("::FFFF:203.0.113.7", null), "203.0.113.7");
  for (const peer of ["::ffff:cb00:7107", "0:0:0:0:0:ffff:203.0.113.7", "0:0:0:0:0:FFFF:CB00:7107"]) {
    assert.equal(through(peer, null), "203.0.113.7", peer);
  }
  assert.equal(through("::ffff:10.0.0.1", "198.51.100.1"), "198.51.100.1");
  assert.equal(through("10.0.0.1", "::ffff:198.51.100.1, ::ffff:10.0.0.2"), "198.51.100.1");
});

// ---- what is counted --------------------------------------------------------------------------------------

Deno.test("an IPv4 address is counted alone", () => {
  assert.equal(limitSubject("203.0.113.7"), "203.0.113.7");
});

Deno.test("an IPv6 address is counted by its /64, in any spelling", () => {
  const cases: Readonly<Record<string, string>> = {
    "2001:db8::1": "2001:db8:0:0::/64",
    "2001:0DB8:0000:0000:ffff:ffff:ffff:ffff": "2001:db8:0:0::/64",
    "2001:db8:0:0:1::": "2001:db8:0:0::/64",
    "2001:db8::192.0.2.1": "2001:db8:0:0::/64",
    "2001:db8:0:1::1": "2001:db8:0:1::/64",
    "2001:db8:1:2:3:4:5:6": "2001:db8:1:2::/64",
    "2001:db8:1:2:3:4:192.0.2.1": "2001:db8:1:2::/64",
    "1:2:3:4:5:6:7::": "1:2:3:4::/64",
    "::2:3:4:5:6:7:8": "0:2:3:4::/64",
    "1::8": "1:0:0:0::/64",
    "1::": "1:0:0:0::/64",
    "::1": "0:0:0:0::/64",
    "::": "0:0:0:0::/64",
    "fe80::1%eth0": "fe80:0:0:0::/64",
    "fe80::1:2:3:4%25en0": "fe80:0:0:0::/64",
  };
  for (const [address, subject] of Object.entries(cases)) {
    assert.equal(limitSubject(address), subject, address);
  }
});

Deno.test("a peer that is not an address, such as the path of a socket, is counted as it is", () => {
  assert.equal(limitSubject("/run/jiss.sock"), "/run/jiss.sock");
});
