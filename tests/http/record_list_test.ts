/**
 * The recorded decisions and reports, page by page: GET /v1/organization/decisions and GET
 * /v1/compliance/reports; and a profile with its projection.
 */
import assert from "node:assert/strict";
import { type Harness, scoreRequest, withHarness } from "../harness.ts";

const DAY = 86_400_000;

interface Scored {
  readonly session: string;
  readonly operator?: string;
}

async function score({ send }: Harness, key: string, { session, operator = "ada" }: Scored) {
  const { status, body, text } = await send("/v1/score", {
    key,
    body: scoreRequest({ session_id: session, operator_id: operator }),
  });
  assert.equal(status, 200, text);
  return body;
}

async function decide({ send }: Harness, key: string, { session, operator = "ada" }: Scored) {
  const { status, body, text } = await send("/v1/decision/score", {
    key,
    body: {
      decision_id: session,
      operator_id: operator,
      domain: "general",
      time_to_decision_ms: 900,
      decision: "accepted",
    },
  });
  assert.equal(status, 200, text);
  return body;
}

async function list({ send }: Harness, key: string, query = "") {
  const { status, body, text } = await send(`/v1/organization/decisions${query}`, { key });
  assert.equal(status, 200, text);
  return body;
}

const ids = (body: { readonly decisions: readonly { readonly id: string }[] }) =>
  body.decisions.map(({ id }) => id);

Deno.test(
  "scores and decisions are listed newest first with the figures of their answers",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    const other = await harness.organization("other");
    assert.deepEqual(
      await list(harness, key).then(({ decisions, count, next_cursor }) => ({
        decisions,
        count,
        next_cursor,
      })),
      { decisions: [], count: 0, next_cursor: null },
    );
    const first = await score(harness, key, { session: "s-1" });
    harness.clock.advance(60_000);
    const second = await decide(harness, key, { session: "d-1" });
    await score(harness, other, { session: "s-9" });
    const { decisions, count } = await list(harness, key);
    assert.equal(count, 2);
    assert.deepEqual(decisions, [{
      id: "d-1",
      kind: "decision",
      timestamp: second.timestamp,
      operator_id: "ada",
      domain: "general",
      decision: "accepted",
      jis: null,
      band: null,
      verdict: null,
      decision_risk_score: second.decision_risk_score,
      routing_decision: second.routing_decision,
    }, {
      id: "s-1",
      kind: "score",
      timestamp: first.timestamp,
      operator_id: "ada",
      domain: "general",
      decision: "accepted",
      jis: first.jis,
      band: first.band,
      verdict: null,
      decision_risk_score: null,
      routing_decision: null,
    }]);
  }),
);

Deno.test(
  "pages of decisions follow each other without a gap or a double, by kind and by operator, while others are appended",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    const all: string[] = [];
    for (let index = 0; index < 11; index += 1) {
      const session = `s-${index}`;
      const operator = index % 3 === 0 ? "ben" : "ada";
      await (index % 4 === 1 ? decide : score)(harness, key, { session, operator });
      all.unshift(session);
      // Several of one instant keep the order of the chain.
      if (index % 2 === 0) harness.clock.advance(1000);
    }
    const read = async (query: string) => {
      const found: string[] = [];
      let cursor: string | null = "";
      while (cursor !== null) {
        const page: Awaited<ReturnType<typeof list>> = await list(
          harness,
          key,
          `?limit=2${query}${cursor === "" ? "" : `&cursor=${cursor}`}`,
        );
        found.push(...ids(page));
        cursor = page.next_cursor;
        await score(harness, key, {
          session: `late-${found.length}-${query}`.replaceAll(/[&=]/g, "_"),
          operator: "zoe",
        });
      }
      return found;
    };
    const number = (session: string) => Number(session.slice(2));
    assert.deepEqual(await read(""), all);
    assert.deepEqual(
      (await read("&kind=score")).filter((id) => id.startsWith("s-")),
      all.filter((id) => number(id) % 4 !== 1),
    );
    assert.deepEqual(await read("&kind=decision"), all.filter((id) => number(id) % 4 === 1));
    assert.deepEqual(await read("&operator_id=ben"), all.filter((id) => number(id) % 3 === 0));
    assert.deepEqual(
      await read("&operator_id=ada&kind=decision"),
      all.filter((id) => number(id) % 3 !== 0 && number(id) % 4 === 1),
    );
    assert.deepEqual(await read("&operator_id=nobody"), []);
  }),
);

Deno.test(
  "decisions can be limited to a time, start included and end excluded, by kind, by operator and page by page",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    const times: number[] = [];
    for (let index = 0; index < 9; index += 1) {
      const operator = index % 3 === 0 ? "ben" : "ada";
      times.push(harness.clock.now());
      await (index % 4 === 1 ? decide : score)(harness, key, { session: `s-${index}`, operator });
      // Two of one instant stay together.
      if (index !== 4) harness.clock.advance(1000);
    }
    const at = (index: number, shift = 0) => new Date(times[index]! + shift).toISOString();
    const read = async (query: string) => {
      const found: string[] = [];
      let cursor: string | null = "";
      while (cursor !== null) {
        const page: Awaited<ReturnType<typeof list>> = await list(
          harness,
          key,
          `?limit=2${query}${cursor === "" ? "" : `&cursor=${cursor}`}`,
        );
        found.push(...ids(page));
        cursor = page.next_cursor;
      }
      return found.map((id) => Number(id.slice(2)));
    };
    assert.deepEqual(await read(`&since=${at(6)}`), [8, 7, 6]);
    assert.deepEqual(await read(`&since=${at(6, 1)}`), [8, 7]);
    assert.deepEqual(await read(`&until=${at(2)}`), [1, 0]);
    assert.deepEqual(await read(`&until=${at(2, 1)}`), [2, 1, 0]);
    assert.deepEqual(await read(`&since=${at(2)}&until=${at(6)}`), [5, 4, 3, 2]);
    assert.deepEqual(await read(`&until=${at(5)}`), [3, 2, 1, 0], "4 and 5 are of one instant");
    assert.deepEqual(await read(`&since=${at(5)}&until=${at(5, 1)}`), [5, 4]);
    assert.deepEqual(await read(`&since=${at(2)}&until=${at(7)}&operator_id=ben`), [6, 3]);
    assert.deepEqual(await read(`&since=${at(1)}&until=${at(6)}&kind=decision`), [5, 1]);
    assert.deepEqual(await read(`&since=${at(1)}&until=${at(6)}&kind=decision&operator_id=ben`), []);
    assert.deepEqual(await read(`&since=${at(8, 1)}`), []);
    assert.deepEqual(await read(`&until=${at(0)}`), []);
    assert.deepEqual(await read(`&since=${at(6)}&until=${at(6)}`), [], "an empty span");
    for (const unlabelled of ["", "&unlabelled=true"]) {
      const { status, body } = await harness.send(
        `/v1/organization/decisions?since=${at(6)}&until=${at(2)}${unlabelled}`,
        { key },
      );
      assert.deepEqual([status, body.error.code, body.error.details], [
        422,
        "VALIDATION_FAILED",
        [{ path: "until", message: "must not be before since" }],
      ]);
    }
    const day = at(0).slice(0, 10);
    assert.equal((await read(`&since=${day}`)).length, 9, "a date begins at midnight UTC");
    assert.deepEqual(await read(`&until=${day}`), []);
  }),
);

Deno.test(
  "erased records are not listed, and every other row can be replayed",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    for (let index = 0; index < 4; index += 1) {
      await score(harness, key, { session: `s-${index}`, operator: index % 2 === 0 ? "ada" : "ben" });
    }
    assert.equal((await harness.send("/v1/operator/ada", { method: "DELETE", key })).status, 200);
    const body = await list(harness, key);
    assert.deepEqual(ids(body), ["s-3", "s-1"]);
    assert.deepEqual(ids(await list(harness, key, "?operator_id=ada")), []);
    for (const id of ids(body)) {
      assert.equal((await harness.send(`/v1/decision/replay/${id}`, { key })).body.match, true);
    }
  }),
);

Deno.test(
  "a list refuses unknown values of its parameters",
  withHarness(async ({ send, organization }) => {
    const key = await organization("acme");
    for (
      const query of [
        "kind=both",
        "limit=0",
        "limit=201",
        "cursor=x",
        "cursor=-1",
        "cursor=1e3",
        "cursor=9007199254740993",
        "operator_id=a%20b",
        "since=yesterday",
        "until=2026-13-01",
      ]
    ) {
      const { status, body } = await send(`/v1/organization/decisions?${query}`, { key });
      assert.deepEqual([status, body.error.code], [422, "VALIDATION_FAILED"], query);
    }
    assert.equal((await send("/v1/compliance/reports?limit=201", { key })).status, 422);
  }),
);

Deno.test(
  "reports are listed newest first, with their findings and their time of issue",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    const report = async (start: string) => {
      const { status, body, text } = await harness.send(
        `/v1/compliance/report?period_start=${start}&period_end=2026-12-01`,
        { key },
      );
      assert.equal(status, 200, text);
      harness.clock.advance(1000);
      return body;
    };
    const issued = [await report("2026-11-01"), await report("2026-11-02"), await report("2026-11-03")];
    // The same report again adds none.
    await report("2026-11-02");
    const read = async (query: string) =>
      (await harness.send(`/v1/compliance/reports${query}`, { key })).body;
    const { reports, count, next_cursor } = await read("");
    assert.deepEqual([count, next_cursor], [3, null]);
    assert.deepEqual(
      reports,
      issued.toReversed().map(({ report, evidence }) => ({
        report_id: report.report_id,
        issued_at: evidence.entry.timestamp,
        period: report.period,
        overall_status: report.overall_status,
        status_certain: report.status_certain,
        verdict: report.verdict.status,
      })),
    );
    const first = await read("?limit=2");
    const second = await read(`?limit=2&cursor=${first.next_cursor}`);
    assert.deepEqual([...first.reports, ...second.reports], reports);
    assert.equal(second.next_cursor, null);
    const other = await harness.organization("other");
    assert.equal((await harness.send("/v1/compliance/reports", { key: other })).body.count, 0);
  }),
);

Deno.test(
  "a profile's projection is that of the operator's latest score, read today; its compliance is that score's",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    for (let index = 0; index < 5; index += 1) {
      await score(harness, key, { session: `s-${index}` });
      harness.clock.advance(DAY);
    }
    const { decay_projection, compliance } = await score(harness, key, { session: "last" });
    harness.clock.advance(3 * DAY);
    const plain = await harness.send("/v1/operator/ada/profile", { key });
    assert.equal("decay_projection" in plain.body, false);
    const { status, body } = await harness.send("/v1/operator/ada/profile?include=projection", { key });
    assert.equal(status, 200);
    const { current_jis, decay_rate, floor, days_to_non_compliance: days } = decay_projection;
    const read = body.decay_projection;
    assert.deepEqual([read.current_jis, read.decay_rate, read.floor], [current_jis, decay_rate, floor]);
    assert.equal(read.days_since_last_interaction, 3);
    assert.equal(read.as_of, body.timestamp);
    assert.equal(read.days_to_non_compliance, days === null ? null : Math.max(0, days - 3));
    assert.ok(read.projected_today < current_jis);
    assert.equal(read.not_heard_of, false);
    const week = new Date(harness.clock.now() + 7 * DAY).toISOString().slice(0, 10);
    assert.deepEqual([read.projections[0].day, read.projections[0].date], [7, week]);
    assert.deepEqual(body.compliance, compliance);
    assert.deepEqual(body.profile, plain.body.profile);
    assert.equal((await harness.send("/v1/operator/ada/profile?include=all", { key })).status, 422);
    harness.clock.advance(40 * DAY);
    const later = (await harness.send("/v1/operator/ada/profile?include=projection", { key })).body;
    assert.equal(later.decay_projection.not_heard_of, true);
    assert.match(later.decay_projection.remarks.at(-1), /has not been heard of for 43 days/);
    assert.equal(later.profile.jis, current_jis, "nothing fades before the next interaction");
  }),
);
