/**
 * A running service that gets no more file descriptors: calls that need one are refused or put off, and the
 * service continues.
 */
import assert from "node:assert/strict";
import { command, succeeds } from "../disks.ts";
import { createOrganization, freshDeployment, startService } from "../program.ts";

/** The number that the next opened file would get. */
async function nextDescriptor(pid: number): Promise<number> {
  let least = Infinity;
  // One that is open for a moment would be free at the erasure: the least of several looks is taken.
  for (let look = 0; look < 10; look += 1) {
    const open = new Set([...Deno.readDirSync(`/proc/${pid}/fd`)].map(({ name }) => Number(name)));
    let next = 0;
    while (open.has(next)) next += 1;
    least = Math.min(least, next);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return least;
}

Deno.test({
  name:
    "an erasure of 300 records counts though no file can be opened, and its bytes are reported as pending [needs prlimit]",
  ignore: !succeeds("prlimit", ["--version"]),
  async fn() {
    const deployment = await freshDeployment();
    const service = await startService(["serve"], deployment);
    const key = await createOrganization(service, deployment.env);
    for (const part of ["a", "b", "c"]) {
      const { status } = await service.send("/v1/score/batch", {
        key,
        body: {
          operator_id: "operator-1",
          domain: "general",
          interactions: Array.from({ length: 100 }, (_, index) => ({
            session_id: `${part}-${index}`,
            time_to_decision_ms: 5_000,
            decision: "accepted",
          })),
        },
      });
      assert.equal(status, 200);
    }
    const limit = (count: number) => command("prlimit", "--pid", String(service.pid), `--nofile=${count}:`);
    // The request uses the connection that is already open.
    await limit(await nextDescriptor(service.pid));
    const erased = await service.send("/v1/operator/operator-1", { key, method: "DELETE" });
    assert.deepEqual([erased.status, erased.body.physical], [200, "pending"], JSON.stringify(erased.body));
    assert.equal((await service.send("/v1/organization/dashboard", { key })).status, 200);
    await limit(4_096);
    const gone = await service.send("/v1/decision/replay/a-0", { key });
    assert.equal(gone.status, 410);
    const other = await service.send("/v1/operator/operator-2", { key, method: "DELETE" });
    assert.equal(other.status, 404);
    assert.equal(await service.stop(), 0);
    assert.equal(service.errors(), "");
    await deployment.remove();
  },
});
