/** The service's behaviour while a slow disk syncs a batch. Source: contract, section 6. */
import assert from "node:assert/strict";
import { scoreRequest } from "../harness.ts";
import { createOrganization, freshDeployment, startService, syncingPid } from "../program.ts";
import { straceIsMissing, tamperWith } from "../traced.ts";

/** The delay of each sync, microseconds. */
const SYNC_US = 1_500_000;

Deno.test({
  name:
    "while a batch is synced, requests are read, authenticated, validated and answered, and new writes wait as one batch [needs strace]",
  ignore: straceIsMissing(),
  async fn() {
    const deployment = await freshDeployment();
    const service = await startService(["serve"], deployment);
    const key = await createOrganization(service, deployment.env);
    const score = (session: string) =>
      service.send("/v1/score", { key, body: scoreRequest({ session_id: session }) });
    assert.equal((await score("before")).status, 200);
    const slowness = await tamperWith(syncingPid(deployment.env.JISS_DATA_DIR!, service), {
      inject: `fsync,fdatasync:delay_exit=${SYNC_US}`,
    });

    const order: string[] = [];
    const slow = score("slow").then(({ status }) => order.push(`slow ${status}`));
    // Sent before the others.
    await new Promise((resolve) => setTimeout(resolve, 200));
    const waiting = ["a", "b", "c", "d"].map((session) =>
      score(session).then(({ status }) => order.push(`${session} ${status}`))
    );
    const read = await service.send("/v1/organization/dashboard", { key });
    const invalid = await service.send("/v1/score", { key, body: scoreRequest({ domain: "nowhere" }) });
    const refused = await service.send("/v1/organization/dashboard", { key: "jis_nobody" });
    assert.deepEqual([read.status, invalid.status, refused.status], [200, 422, 401]);
    assert.deepEqual(order, [], "nothing is acknowledged before it is synced");
    await Promise.all([slow, ...waiting]);
    assert.equal(order[0], "slow 200");
    assert.deepEqual(order.slice(1).sort(), ["a 200", "b 200", "c 200", "d 200"]);

    await slowness.end();
    const { body } = await service.send("/v1/audit/checkpoint", { key });
    assert.ok(body !== null);
    assert.equal(await service.stop(), 0);
    await deployment.remove();
  },
});

Deno.test({
  name: "the thread that answers requests waits for no disk, not even for lock.db's [needs strace]",
  ignore: straceIsMissing(),
  async fn() {
    const deployment = await freshDeployment();
    const service = await startService(["serve"], deployment);
    const key = await createOrganization(service, deployment.env);
    const trace = `${deployment.directory}/syncs`;
    const strace = new Deno.Command("strace", {
      args: ["-f", "-y", "-p", String(service.pid), "-o", trace, "-e", "trace=fsync,fdatasync"],
      stdin: "null",
      stdout: "null",
      stderr: "piped",
    }).spawn();
    const reader = strace.stderr.getReader();
    await reader.read();
    reader.releaseLock();
    /** Syncs of lock.db so far, with their threads. */
    const lockSyncs =
      () => [...Deno.readTextFileSync(trace).matchAll(/^(\d+) +f\w*sync\(\d+<[^>]*lock\.db/gm)];
    for (let count = 0; lockSyncs().length < 4; count += 1) {
      const body = scoreRequest({ session_id: `session-${count}` });
      assert.equal((await service.send("/v1/score", { key, body })).status, 200);
    }
    strace.kill("SIGINT");
    await strace.stderr.cancel();
    await strace.status;
    const threads = [...Deno.readTextFileSync(trace).matchAll(/^(\d+) +f\w*sync\(/gm)].map(([, id]) =>
      Number(id)
    );
    assert.ok(threads.length >= 4);
    // A process's first thread has the process's id.
    assert.ok(!threads.includes(service.pid), `${threads}`);
    assert.equal(await service.stop(), 0);
    await deployment.remove();
  },
});
