/**
 * The webhook event of a case that is opened: by hand, by a rule and by a contest, to those alone who asked for it, without what
 * people wrote, and no longer once its operator is erased.
 */
import assert from "node:assert/strict";
import { Upkeep } from "../../src/operations/installation/upkeep.ts";
import { query } from "../../src/store/database.ts";
import { alter, select } from "../altering.ts";
import {
  deliveriesOf,
  FAILED,
  type Recording,
  recordingDeliverer,
  register,
  withDeliveries,
} from "../delivering.ts";
import { type Harness, type HarnessOptions, scoreRequest, withAlterations } from "../harness.ts";
import { signedInUser } from "../signing_in.ts";

const DAY = 86_400_000;
const STATEMENT = "Three complaints about last week.";

interface World {
  readonly key: string;
  readonly recording: Recording;
}

/** A test with two operators who were scored, and an officer who can work on cases. */
function caseEventTest(
  name: string,
  test: (harness: Harness, world: World) => Promise<void>,
  options: HarnessOptions = {},
): void {
  Deno.test(
    name,
    withDeliveries(async (harness, world) => {
      for (const operator_id of ["ada", "bruno"]) {
        const body = scoreRequest({ operator_id, session_id: `case-of-${operator_id}` });
        const answer = await harness.send("/v1/score", { key: world.key, body });
        assert.equal(answer.status, 200, answer.text);
      }
      await signedInUser(harness, { orgId: "acme", role: "officer" });
      await test(harness, world);
    }, options),
  );
}

async function open({ send }: Harness, key: string, operator_id: string) {
  const answer = await send("/v1/cases", { key, body: { operator_id, statement: STATEMENT } });
  assert.equal(answer.status, 201, answer.text);
  return answer.body;
}

/** Contests the whole record of an operator on the operator's own page. */
async function contest({ send }: Harness, key: string, operator: string, statement: string): Promise<void> {
  const link = await send(`/v1/operator/${operator}/page-link`, { key, body: {} });
  const path = `${new URL(link.body.link).pathname}/contests`;
  const answer = await send(path, { body: { statement } });
  assert.equal(answer.status, 201, answer.text);
}

function bodiesOf({ sent }: Recording): readonly Record<string, unknown>[] {
  return sent.map(({ text }) => JSON.parse(text));
}

caseEventTest(
  "a case that is opened by hand, by a contest or by a rule is sent once, as its entry has it, and without its statement",
  async (harness, { key, recording }) => {
    await register(harness, key, { events: ["case.opened", "score.committed"] });
    const byHand = await open(harness, key, "ada");
    await contest(harness, key, "bruno", "I was called away.");
    await contest(harness, key, "bruno", "I still say so.");
    const again = await harness.send("/v1/cases", {
      key,
      body: { operator_id: "ada", statement: "Once more." },
    });
    assert.equal(again.status, 409, "the case is open");
    assert.equal(await harness.deliver(), 2);
    harness.clock.advance(31 * DAY);
    await new Upkeep(harness.dependencies).run(harness.clock.now());
    assert.equal(await harness.deliver(), 2);

    const { body: { cases } } = await harness.send("/v1/cases?state=all", { key });
    const sent = bodiesOf(recording);
    assert.deepEqual(
      sent.map(({ cause, operator_id }) => `${cause} ${operator_id}`).sort(),
      ["away ada", "away bruno", "by_hand ada", "contest bruno"],
    );
    for (const [index, body] of sent.entries()) {
      const known = cases.find(({ case_id }: { case_id: string }) => case_id === body.case_id);
      const { case_id, operator_id, cause, opened_at, chain, seq, entry_hash } = known;
      const { delivery_id, request_id, ...told } = body;
      assert.deepEqual(told, {
        event: "case.opened",
        case_id,
        operator_id,
        cause,
        opened_at,
        chain,
        seq,
        entry_hash,
        timestamp: opened_at,
      });
      assert.equal(delivery_id, recording.sent[index]!.deliveryId);
      assert.match(String(request_id), /^[0-9A-Z]{26}$/);
    }
    assert.equal(
      sent.find(({ cause }) => cause === "by_hand")!.request_id,
      byHand.request_id,
      "the call that opened it",
    );
    assert.doesNotMatch(JSON.stringify(sent), /complaints|called away|No interaction/);
    assert.equal(await harness.deliver(), 0);
  },
);

caseEventTest(
  "a webhook that names no events is not told of cases, and nothing is queued for it",
  async (harness, { key, recording }) => {
    await register(harness, key);
    await register(harness, key, { url: "https://review.acme.example/risk", events: ["drs.escalation"] });
    await open(harness, key, "ada");
    await contest(harness, key, "bruno", "I was called away.");
    assert.equal(await harness.deliver(), 0);
    assert.deepEqual(recording.sent, []);
    const rows = await harness.database.read(query.selectFrom("webhook_event").selectAll().compile());
    assert.deepEqual(rows, []);
  },
);

caseEventTest(
  "where people see pseudonyms, the webhook is told of the operator's id, as by the other events",
  async (harness, { key, recording }) => {
    await register(harness, key, { events: ["case.opened"] });
    await open(harness, key, "ada");
    assert.equal(await harness.deliver(), 1);
    assert.equal(bodiesOf(recording)[0]!.operator_id, "ada");
  },
  { privacy: "pseudonymous" },
);

caseEventTest(
  "an erasure takes back what is still queued about the operator's cases, and what was sent cannot be sent again",
  async (harness, { key, recording }) => {
    const { id } = await register(harness, key, { events: ["case.opened"] });
    await open(harness, key, "ada");
    await harness.deliver();
    await contest(harness, key, "ada", "I was called away.");
    recording.answer = () => FAILED;
    await harness.deliver();
    const before = (await deliveriesOf(harness, key, id)).deliveries;
    const [tried, delivered] = ["queued", "delivered"].map((wanted) =>
      before.find(({ status }: { status: string }) => status === wanted)
    );
    const redeliver = ({ delivery_id }: { delivery_id: string }) =>
      harness.send(`/v1/admin/webhook/${id}/deliveries/${delivery_id}/redeliver`, { key, method: "POST" });
    assert.equal((await redeliver(delivered)).status, 200);
    await open(harness, key, "bruno");
    const erased = await harness.send("/v1/operator/ada", { key, method: "DELETE" });
    assert.equal(erased.status, 200, erased.text);

    recording.answer = () => ({ status: 204 });
    const already = recording.sent.length;
    harness.clock.advance(3_600_000);
    await harness.deliver();
    assert.deepEqual(bodiesOf(recording).slice(already).map(({ operator_id }) => operator_id), ["bruno"]);
    const { deliveries } = await deliveriesOf(harness, key, id);
    const statusOf = (wanted: string) =>
      deliveries.find(({ delivery_id }: { delivery_id: string }) => delivery_id === wanted).status;
    assert.deepEqual([statusOf(tried.delivery_id), statusOf(delivered.delivery_id)], [
      "cancelled",
      "delivered",
    ]);
    assert.equal((await redeliver(delivered)).status, 410);
  },
);

for (
  const [name, change] of [
    ["its row leads to another record", "UPDATE webhook_event SET position = position - 1"],
    [
      "its case has another cause than was signed",
      "UPDATE audit_part SET data = replace(data, 'by_hand', 'at_risk') WHERE data LIKE '%complaints%'",
    ],
  ] as const
) {
  Deno.test(`an event is not sent if ${name}, and that raises the alert`, async () => {
    const recording = recordingDeliverer();
    await withAlterations(async (harness) => {
      const key = await harness.organization("acme");
      assert.equal((await harness.send("/v1/score", { key, body: scoreRequest() })).status, 200);
      await register(harness, key, { events: ["case.opened"] });
      await open(harness, key, "operator-1");
      await alter(harness.database, change);
      assert.equal(await harness.deliver(), 1, "the event is due");
      assert.deepEqual(recording.sent, []);
      const alerts = await select(harness.database, "SELECT kind FROM alert");
      assert.deepEqual(alerts.map(({ kind }) => kind), ["CHAIN_TAMPERED"]);
    }, { deliverer: recording, raisesTampering: true })();
  });
}
