/**
 * Two processes on one database. An append is a compare-and-swap, so that there is no fork, gap or double
 * entry.
 */
import assert from "node:assert/strict";
import { signerFromPem } from "../../src/evidence/node_crypto.ts";
import { scoreRequest } from "../harness.ts";
import { verifyDatabase } from "../oracle.ts";
import { createOrganization, freshDeployment, startService, withDatabaseOf } from "../program.ts";

const SESSIONS = 120;

Deno.test("two processes scoring the same operators at once leave one whole chain with each score once", async () => {
  const deployment = await freshDeployment();
  const first = await startService(["serve"], deployment);
  const key = await createOrganization(first, deployment.env);
  const second = await startService(["serve"], deployment);
  // Every session is sent to both: one of them scores it, the other repeats its answer.
  const answers = await Promise.all(
    Array.from({ length: SESSIONS }, (_, index) => index).flatMap((index) =>
      [first, second].map((service) =>
        service.send("/v1/score", {
          key,
          body: scoreRequest({ session_id: `s-${index}`, operator_id: `operator-${index % 3}` }),
        })
      )
    ),
  );
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
  const repeated = answers.filter(({ headers }) => headers.get("Idempotency-Replayed") === "true");
  assert.equal(repeated.length, SESSIONS);
  for (let index = 0; index < SESSIONS; index += 1) {
    const [one, other] = [answers[2 * index]!.body, answers[2 * index + 1]!.body];
    assert.deepEqual(one, other);
  }
  assert.deepEqual([await first.stop(), await second.stop()], [0, 0]);

  const data = `${deployment.directory}/data`;
  const { publicKey } = signerFromPem(await Deno.readTextFile(`${data}/signing-key.pem`));
  const chains = await withDatabaseOf(data, (database) => verifyDatabase(database, { publicKey }));
  const { entries } = chains.find(({ chain }) => chain === "org/acme")!;
  assert.equal(entries.length, SESSIONS + 1);
  await deployment.remove();
});

Deno.test("one Idempotency-Key sent to two processes at once gives one decision, and another body under it is 422", async () => {
  const deployment = await freshDeployment();
  const first = await startService(["serve"], deployment);
  const key = await createOrganization(first, deployment.env);
  const second = await startService(["serve"], deployment);
  // The first service gets another body under every third key. The body that comes first is used, the other
  // is refused.
  const bodyOf = (index: number, isOther: boolean) => ({
    operator_id: "ada",
    domain: "general",
    time_to_decision_ms: 5000 + index,
    decision: isOther ? "rejected" : "accepted",
  });
  const isContested = (index: number) => index % 3 === 0;
  const send = (service: typeof first, index: number, isOther: boolean) =>
    service.send("/v1/decision/score", {
      key,
      headers: { "Idempotency-Key": `call-${index}` },
      body: bodyOf(index, isOther),
    });
  const pairs = await Promise.all(
    Array.from({ length: SESSIONS }, async (_, index) => ({
      index,
      answers: await Promise.all([send(first, index, isContested(index)), send(second, index, false)]),
    })),
  );
  for (const { index, answers: [one, other] } of pairs) {
    if (isContested(index)) {
      assert.deepEqual([one.status, other.status].sort(), [200, 422], `${index}`);
    } else {
      assert.deepEqual([one.status, other.status], [200, 200]);
      assert.deepEqual(one.body, other.body);
    }
  }
  assert.deepEqual([await first.stop(), await second.stop()], [0, 0]);
  const data = `${deployment.directory}/data`;
  const { publicKey } = signerFromPem(await Deno.readTextFile(`${data}/signing-key.pem`));
  const chains = await withDatabaseOf(data, (database) => verifyDatabase(database, { publicKey }));
  assert.equal(chains.find(({ chain }) => chain === "org/acme")!.entries.length, SESSIONS + 1);
  await deployment.remove();
});

Deno.test("processes that start at once on an empty directory agree on one key, one schema and one installation", async () => {
  const deployment = await freshDeployment();
  const data = `${deployment.directory}/data`;
  await Deno.remove(`${data}/signing-key.pem`);
  const services = await Promise.all([1, 2, 3, 4].map(() => startService(["serve"], deployment)));
  const key = await createOrganization(services[0]!, deployment.env);
  const answers = await Promise.all(
    services.map((service, index) =>
      service.send("/v1/score", { key, body: scoreRequest({ session_id: `s-${index}` }) })
    ),
  );
  assert.deepEqual(answers.map(({ status }) => status), [200, 200, 200, 200]);
  for (const service of services) assert.equal(await service.stop(), 0);
  const { publicKey } = signerFromPem(await Deno.readTextFile(`${data}/signing-key.pem`));
  const chains = await withDatabaseOf(data, (database) => verifyDatabase(database, { publicKey }));
  assert.equal(chains.length, 3);
  await deployment.remove();
});
