/**
 * The output and the exit code of a start if the database server is not as it must be. Source: contract,
 * section 6.
 */
import assert from "node:assert/strict";
import { type Front, openFront } from "../front.ts";
import { createOrganization, runProgram, startService } from "../program.ts";
import { sharedDeployment } from "../replicas.ts";
import { scoreRequest } from "../harness.ts";
import { configure, HAS_SQLD, type Sqld } from "../sqld.ts";

interface Started {
  readonly sqld: Sqld;
  readonly front: Front;
  readonly env: Readonly<Record<string, string>>;
}

function startTest(name: string, test: (started: Started) => Promise<void>): void {
  Deno.test({
    name: `${name} [needs sqld]`,
    ignore: !HAS_SQLD,
    async fn() {
      const fronts: Front[] = [];
      const deployment = await sharedDeployment(1, {
        url(sqld) {
          fronts.push(openFront(sqld.url));
          return fronts[0]!.url;
        },
      });
      try {
        await test({ sqld: deployment.sqld, front: fronts[0]!, env: deployment.hosts[0]!.env });
      } finally {
        await fronts[0]!.close();
        await deployment.remove();
      }
    },
  });
}

const cut = () =>
  new Response(new ReadableStream({ start: (stream) => stream.error(new Error("cut by the test")) }));

startTest(
  "if the server fails at any request of a start, the request is sent again and the start succeeds",
  async ({ front, env }) => {
    const stumbles: readonly (() => Response)[] = [
      () => new Response("bad gateway", { status: 502 }),
      cut,
      () => new Response("Received an invalid baton", { status: 400 }),
    ];
    // The first run makes the schema; later runs do not.
    let startRequests = 0;
    for (let run = 0; run < 2; run += 1) {
      const before = front.requests;
      const service = await startService(["serve"], { env });
      startRequests = front.requests - before;
      assert.equal(await service.stop(), 0);
    }
    for (const [index, stumble] of stumbles.entries()) {
      // At the first request, in the middle, and near the end.
      const at = front.requests + 1 + Math.floor(startRequests * index / stumbles.length);
      front.answer = (request) => request === at || request === at + 1 ? stumble() : undefined;
      const service = await startService(["serve"], { env });
      front.answer = null;
      const key = await createOrganization(service, env, `org-${index}`);
      assert.equal((await service.send("/v1/score", { key, body: scoreRequest() })).status, 200);
      assert.equal(await service.stop(), 0);
    }
  },
);

startTest(
  "a start waits some seconds for a server that is away and continues if it comes, else ends with 74",
  async ({ sqld, env }) => {
    await sqld.stop();
    const { code, stderr, stdout } = await runProgram(["serve"], { env });
    assert.equal(code, 74, stderr);
    assert.match(
      stderr,
      /cannot start at the moment: JISS_DATABASE_URL cannot be used .*that the server runs/,
    );
    assert.match(stdout, /asked again for some seconds/);
    const starting = startService(["serve"], { env });
    await sqld.start();
    const service = await starting;
    assert.equal(await service.stop(), 0);
    await sqld.stop();
    const command = await runProgram(["org", "list"], { env });
    assert.deepEqual([command.code, /does not answer/.test(command.stderr)], [1, true], command.stderr);
  },
);

startTest("a server's refusal ends the start with 78 at once", async ({ sqld, front, env }) => {
  for (const status of [401, 404]) {
    front.answer = () => new Response('{"error":"no"}', { status });
    const before = front.requests;
    const { code, stderr } = await runProgram(["serve"], { env });
    assert.equal(code, 78, stderr);
    assert.match(stderr, new RegExp(`${status}.*JISS_DATABASE_AUTH_TOKEN`));
    assert.ok(front.requests - before <= 3, "asked once");
  }
  front.answer = null;
  await configure(sqld, { durability_mode: "relaxed" });
  const { JISS_DATABASE_ADMIN_URL: _, ...unable } = env;
  const { code, stderr } = await runProgram(["serve"], { env: unable });
  assert.equal(code, 78, stderr);
  assert.match(stderr, /durability_mode/);
});

startTest(
  "a durability lost while the service runs is logged once, with how to mend it, and once that it is back",
  async ({ sqld, env }) => {
    await configure(sqld, { durability_mode: "strong" });
    const { JISS_DATABASE_ADMIN_URL: _, ...unable } = env;
    const service = await startService(["serve"], { env: unable });
    const key = await createOrganization(service, env);
    const score = async () => (await service.send("/v1/score", { key, body: scoreRequest() })).status;
    await configure(sqld, { durability_mode: "relaxed" });
    assert.deepEqual([await score(), await score()], [503, 503]);
    await configure(sqld, { durability_mode: "strong" });
    assert.equal(await score(), 200);
    assert.equal(await service.stop(), 0);
    const lines = service.log().filter(({ msg }) => /^the database server/.test(String(msg)));
    assert.deepEqual(lines.map(({ level }) => level), ["error", "info"]);
    assert.match(String(lines[0]!.msg), /lost its durability/);
    assert.match(String(lines[0]!.mend), /durability_mode.*JISS_DATABASE_ADMIN_URL/);
    assert.match(String(lines[1]!.msg), /as it must be again/);
  },
);
