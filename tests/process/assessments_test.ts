/** The public demo in the running program: its links work, and the administrator sets its retention. */
import assert from "node:assert/strict";
import { freshDeployment, startService } from "../program.ts";

const RUN = { sessionId: "visit-1", records: [{ time_to_decision_ms: 900, decision: "accepted" }] };

Deno.test("the shareUrl works at the service's address, also after a kill and a restart, or begins with JISS_BASE_URL", async () => {
  const { env, remove } = await freshDeployment();
  const first = await startService(["serve"], { env });
  const submitted = await first.send("/assessments", { body: RUN });
  assert.deepEqual([submitted.status, submitted.body.shareUrl], [200, `${first.url}/assessments/visit-1`]);
  const shared = await (await fetch(submitted.body.shareUrl)).json();
  const [{ explanation, ...result }] = shared.results;
  assert.deepEqual(result, { jis: shared.summary.jis, band: shared.summary.band });
  assert.equal(explanation.length, 7);
  first.kill("SIGKILL");
  await first.status;

  const second = await startService(["serve"], {
    env: { ...env, JISS_BASE_URL: "https://jiss.example.com/", JISS_ASSESSMENT_RETENTION_DAYS: "7" },
  });
  const again = await second.send("/assessments/visit-1");
  assert.deepEqual(again.body.results, shared.results);
  assert.equal(again.body.shareUrl, "https://jiss.example.com/assessments/visit-1");
  await second.stop();
  await remove();
});
