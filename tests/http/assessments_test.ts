/**
 * POST /assessments and GET /assessments/{sessionId}: the public demo, which belongs to no organization.
 * Source: specification, Public demo and Errors; contract, section 5.
 */
import assert from "node:assert/strict";
import { embeddedTest } from "../database.ts";
import { ConfigError, readConfig } from "../../src/config/config.ts";
import { Upkeep } from "../../src/operations/installation/upkeep.ts";
import { readAssessment } from "../../src/operations/scoring/assessments.ts";
import { scoreInWords } from "../../src/scoring/wording.ts";
import { deleteAssessments } from "../../src/store/assessments.ts";
import { withDirectory } from "../auditing.ts";
import {
  type Answer,
  EPOCH,
  type Harness,
  openHarness,
  PEPPER,
  withHarness,
  writingAfterReads,
} from "../harness.ts";
import { JIS_2_0_0 } from "../models.ts";
import { refuses } from "../scenario.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

const CAREFUL = {
  ai_recommendation_presented: true,
  time_to_decision_ms: 14200,
  decision: "modified",
  modification_extent: 0.4,
  ai_available: true,
  scenario_type: "standard",
  outcome_correct: true,
  hover_events: 5,
  scroll_depth: 0.8,
  alternative_views_checked: 1,
};
const CARELESS = { time_to_decision_ms: 900, decision: "accepted", outcome_correct: false };
const PLANTED = { time_to_decision_ms: 7000, decision: "rejected", scenario_type: "error_injected" };

const run = (fields: Record<string, unknown> = {}) => ({
  sessionId: "visit-1",
  records: [CAREFUL, CARELESS, PLANTED],
  ...fields,
});

async function submit({ send }: Harness, body: unknown): Promise<Answer> {
  const answer = await send("/assessments", { body });
  assert.equal(answer.status, 200, answer.text);
  return answer;
}

/** Results without their explanations. */
function jisAndBands(results: readonly { readonly jis: number; readonly band: string }[]) {
  return results.map(({ jis, band }) => ({ jis, band }));
}

async function look({ send }: Harness, sessionId = "visit-1"): Promise<Answer> {
  return await send(`/assessments/${sessionId}`);
}

// ---- submission and page ----------------------------------------------------------------------------------

Deno.test(
  "a run is accepted without a key, and is shown with its records, explicit defaults and scores",
  withHarness(async (harness) => {
    const { body, headers } = await submit(harness, run({ ignored: 1 }));
    const { request_id, timestamp, ...submitted } = body;
    assert.deepEqual(submitted, {
      ok: true,
      sessionId: "visit-1",
      shareUrl: "http://jiss.test/assessments/visit-1",
    });
    assert.equal(headers.get("X-Request-Id"), request_id);
    assert.equal(timestamp, "2026-11-20T09:00:00.000Z");
    for (const [name] of headers) assert.doesNotMatch(name, /ratelimit|replayed/i);

    harness.clock.advance(HOUR);
    const { request_id: _id, timestamp: at, summary, results, ...shown } = (await look(harness)).body;
    assert.equal(at, "2026-11-20T10:00:00.000Z", "the timestamp is that of the second call");
    const unmeasured = { hover_events: null, scroll_depth: null, alternative_views_checked: null };
    const defaults = {
      ai_recommendation_presented: true,
      modification_extent: 0,
      ai_available: true,
      scenario_type: "standard",
    };
    assert.deepEqual(shown, {
      ok: true,
      sessionId: "visit-1",
      created_at: "2026-11-20T09:00:00.000Z",
      records: [
        CAREFUL,
        { ...defaults, ...CARELESS, ...unmeasured },
        { ...defaults, ...PLANTED, outcome_correct: null, ...unmeasured },
      ],
      initial_jis: 65,
      thresholds: { min_jis: 60, target_jis: 75 },
      shareUrl: "http://jiss.test/assessments/visit-1",
    });
    assert.deepEqual(jisAndBands(results), [
      { jis: 68.4, band: "adequate" },
      { jis: 62.4, band: "adequate" },
      { jis: 67.05, band: "adequate" },
    ]);
    assert.deepEqual(summary, {
      jis: 67.05,
      band: "adequate",
      dimensions: {
        deferral_resistance: 66,
        error_detection: 66,
        independent_performance: 66,
        deliberation_depth: 66,
        post_error_recalibration: 76,
        domain_confidence: 67,
        decision_autonomy: 66,
      },
    });
  }),
);

Deno.test(
  "with jis-3 a run has its verdict and says which numbers are the prior's; its page says so first, and kindly",
  withHarness(async (harness) => {
    await submit(harness, run());
    const { summary, initial_jis } = (await look(harness)).body;
    assert.equal(summary.verdict.status, "undetermined");
    assert.equal(summary.verdict.doubt, "too_few_wrong_cases");
    assert.ok(summary.prior_dimensions.includes("error_detection"));
    assert.equal(typeof initial_jis, "number");
    const { text } = await harness.send("/assessments/visit-1", { headers: { Accept: "text/html" } });
    const [verdict, score] = [text.indexOf("Verdict: "), text.indexOf("Judgment Independence Score: ")];
    assert.ok(verdict > 0 && verdict < score);
    const { wrong_cases_needed: needed } = summary.verdict;
    assert.ok(text.includes(`That is usual after 3 cases, and no fault of yours: ${needed} more known case`));
    const { low, high } = summary.verdict;
    assert.ok(
      text.includes(
        `On all cases the score lies between ${scoreInWords(low)} and ${scoreInWords(high)}, with `,
      ),
    );
    assert.ok(text.includes(`Case 1: JIS from ${scoreInWords(initial_jis)} to `));
    assert.ok(text.includes("unknown: nothing was decided without the AI"));
    assert.ok(text.includes("from the prior: too few known cases"));
  }, { model: JIS_2_0_0 }),
);

Deno.test(
  "a case decided without the AI makes independent performance known",
  withHarness(async (harness) => {
    const unaided = { ...CAREFUL, ai_recommendation_presented: false, scenario_type: "ai_withheld" };
    const pageOf = async (sessionId: string, last: Record<string, unknown>) => {
      await submit(harness, run({ sessionId, records: [CARELESS, last] }));
      return (await harness.send(`/assessments/${sessionId}`, { headers: { Accept: "text/html" } })).text;
    };
    assert.doesNotMatch(
      await pageOf("visit-1", { ...unaided, decision: "accepted" }),
      /nothing was decided without/,
    );
    // To pass a case on is no decision.
    assert.match(
      await pageOf("visit-2", { ...unaided, decision: "escalated" }),
      /nothing was decided without/,
    );
  }, { model: JIS_2_0_0 }),
);

Deno.test(
  "the scores of a run are those of a new reviewer in the domain general who sends the same records one by one",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    const records = Array.from({ length: 100 }, (_, index) => [CAREFUL, CARELESS, PLANTED][index % 3]!);
    await submit(harness, run({ records }));
    const { summary, results } = (await look(harness)).body;
    assert.equal(results.length, 100);
    let last: Record<string, unknown> = {};
    for (const [index, interaction] of records.entries()) {
      const { body } = await harness.send("/v1/score", {
        key,
        body: { session_id: `s-${index}`, operator_id: "visitor", domain: "general", interaction },
      });
      const { explanation, ...figures } = results[index];
      assert.deepEqual(figures, { jis: body.jis, band: body.band }, `record ${index}`);
      if (index % 10 < 3) {
        const replay = await harness.send(`/v1/decision/replay/s-${index}`, { key });
        assert.deepEqual(explanation, replay.body.explanation, `record ${index}`);
      }
      last = body;
    }
    assert.deepEqual(summary, { jis: last.jis, band: last.band, dimensions: last.dimensions });
  }),
);

Deno.test(
  "a run writes one row and leaves no trace in any organization, operator, usage figure or chain",
  withHarness(async (harness) => {
    await harness.organization("acme");
    const before = await harness.rowCounts();
    await submit(harness, run());
    await look(harness);
    assert.deepEqual(await harness.rowCounts(), { ...before, assessment: 1 });
  }),
);

// ---- repeated submissions ---------------------------------------------------------------------------------

Deno.test(
  "the same run again gets the same bytes, however it is written; other records under its sessionId are 409",
  withHarness(async (harness) => {
    const first = await submit(harness, run());
    const shown = (await look(harness)).body;
    harness.clock.advance(HOUR);
    const explicit = { ...CARELESS, ai_available: true, hover_events: null, unknown: "ignored" };
    for (const body of [run(), { ...run({ records: [CAREFUL, explicit, PLANTED] }), api_key: "x" }]) {
      const again = await submit(harness, body);
      assert.equal(again.text, first.text);
      assert.equal(again.headers.get("Idempotency-Replayed"), "true");
      assert.equal(again.headers.get("X-Request-Id"), first.body.request_id);
    }
    const others = [
      [CAREFUL, CARELESS],
      [CARELESS, CAREFUL, PLANTED],
      [CAREFUL, CARELESS, { ...PLANTED, hover_events: 0 }],
    ];
    for (const records of others) {
      await refuses(harness, {
        name: JSON.stringify(records),
        path: "/assessments",
        request: { body: run({ records }) },
        status: 409,
        code: "CONFLICT",
        names: "visit-1",
      });
    }
    const { request_id: _one, timestamp: _two, ...present } = (await look(harness)).body;
    const { request_id: _three, timestamp: _four, ...former } = shown;
    assert.deepEqual(present, former);
    assert.equal(
      (await submit(harness, run({ sessionId: "visit-2" }))).headers.get("Idempotency-Replayed"),
      null,
    );
  }),
);

Deno.test(
  "if different runs are sent at once under one sessionId, one is kept: its repetitions get its answer, the others 409",
  withHarness(async (harness) => {
    const bodies = [run(), run({ records: [CARELESS] }), run(), run({ records: [CARELESS] }), run()];
    const answers = await Promise.all(bodies.map((body) => harness.send("/assessments", { body })));
    const stands = answers[0]!.status === 200 ? [200, 409, 200, 409, 200] : [409, 200, 409, 200, 409];
    assert.deepEqual(answers.map(({ status }) => status), stands);
    const taken = answers.filter(({ status }) => status === 200);
    const replayed = taken.filter(({ headers }) => headers.get("Idempotency-Replayed") === "true");
    assert.equal(replayed.length, taken.length - 1);
    assert.equal(new Set(taken.map(({ text }) => text)).size, 1);
    assert.equal((await look(harness)).body.records.length, taken.length === 3 ? 3 : 1);
  }),
);

Deno.test("a run that another process stores between a submission's reads is kept", () =>
  withDirectory(async (directory) => {
    const over = { path: `${directory}/jiss.db`, lockPath: `${directory}/lock.db` };
    const first = await openHarness(over);
    let readsUntilWrite = 0;
    let sessionId = "";
    const second = await openHarness({
      ...over,
      run: 1,
      wrap: (database) =>
        writingAfterReads(database, async () => {
          readsUntilWrite -= 1;
          if (readsUntilWrite === 0) await submit(first, run({ sessionId }));
        }),
    });
    // It is stored after the submission's own look-up, then after each read of its commit.
    let taken = 0;
    for (const reads of [1, 2, 3, 4]) {
      for (const [name, records, status] of [["same", undefined, 200], ["other", [CARELESS], 409]] as const) {
        [sessionId, readsUntilWrite] = [`${name}-${reads}`, reads];
        const body = run({ sessionId, ...(records === undefined ? {} : { records }) });
        const answer = await second.send("/assessments", { body });
        if (readsUntilWrite > 0) continue;
        taken += 1;
        assert.equal(answer.status, status, sessionId);
        if (status === 200) assert.equal(answer.headers.get("Idempotency-Replayed"), "true");
        assert.equal((await look(first, sessionId)).body.records.length, 3);
      }
    }
    assert.ok(taken >= 4, `${taken}`);
    await second.close();
    await first.close();
  }));

// ---- refusals ---------------------------------------------------------------------------------------------

const BAD: readonly (readonly [name: string, body: unknown, names: string])[] = [
  ["nothing", {}, "sessionId"],
  ["no records", { sessionId: "x" }, "records"],
  ["an empty array", run({ records: [] }), "records"],
  ["101 records", run({ records: Array.from({ length: 101 }, () => CARELESS) }), "records"],
  ["records that are none", run({ records: "many" }), "records"],
  ["a record that is none", run({ records: [CAREFUL, null] }), "records.1"],
  ["no time", run({ records: [CAREFUL, { decision: "accepted" }] }), "records.1.time_to_decision_ms"],
  [
    "text for a number",
    run({ records: [{ ...CARELESS, time_to_decision_ms: "900" }] }),
    "time_to_decision_ms",
  ],
  ["an unknown decision", run({ records: [{ ...CARELESS, decision: "maybe" }] }), "records.0.decision"],
  ["an extent above 1", run({ records: [{ ...CAREFUL, modification_extent: 1.1 }] }), "modification_extent"],
  ["a sessionId with a space", run({ sessionId: "no id" }), "sessionId"],
  ["a sessionId of 257 characters", run({ sessionId: "a".repeat(257) }), "sessionId"],
  ["an empty sessionId", run({ sessionId: "" }), "sessionId"],
  ["a sessionId that is a number", run({ sessionId: 7 }), "sessionId"],
  ["an array", [], "object"],
];

for (const [name, body, names] of BAD) {
  Deno.test(
    `${name} is 422 and names ${names}`,
    withHarness((harness) =>
      refuses(harness, {
        name,
        path: "/assessments",
        request: { body },
        status: 422,
        code: "VALIDATION_FAILED",
        names,
      })
    ),
  );
}

Deno.test(
  "a body of exactly 1 MB with 100 records and a sessionId of 256 characters is accepted, a byte more is 413",
  withHarness(async (harness) => {
    const whole = run({
      sessionId: "a".repeat(256),
      records: Array.from({ length: 100 }, () => CARELESS),
      padding: "",
    });
    const padding = "x".repeat(1_048_576 - JSON.stringify(whole).length);
    await refuses(harness, {
      name: "too large",
      path: "/assessments",
      request: { body: { ...whole, padding: `${padding}x` } },
      status: 413,
      code: "PAYLOAD_TOO_LARGE",
      names: "1048576",
    });
    await submit(harness, { ...whole, padding });
    assert.equal((await look(harness, "a".repeat(256))).body.results.length, 100);
  }),
);

Deno.test(
  "a body that is not JSON is 400, another content type 415, an unknown run 404, a malformed sessionId 422, another method 405",
  withHarness(async (harness) => {
    const scenarios = [
      ["/assessments", { body: "{" }, 400, "INVALID_JSON", "JSON"],
      [
        "/assessments",
        { body: "x", headers: { "Content-Type": "text/plain" } },
        415,
        "UNSUPPORTED_MEDIA_TYPE",
        "JSON",
      ],
      ["/assessments/unknown", {}, 404, "NOT_FOUND", "unknown"],
      ["/assessments/no%20id", {}, 422, "VALIDATION_FAILED", "sessionId"],
      [`/assessments/${"a".repeat(257)}`, {}, 422, "VALIDATION_FAILED", "sessionId"],
      ["/assessments", {}, 405, "METHOD_NOT_ALLOWED", "POST"],
      ["/assessments/visit-1", { method: "DELETE" }, 405, "METHOD_NOT_ALLOWED", "GET"],
    ] as const;
    for (const [path, request, status, code, names] of scenarios) {
      await refuses(harness, { name: `${path} ${status}`, path, request, status, code, names });
    }
  }),
);

Deno.test(
  "an address has one limit for both calls together, and its 429 carries Retry-After",
  withHarness(async (harness) => {
    await submit(harness, run());
    assert.equal((await look(harness)).status, 200);
    for (const request of [{ body: run({ sessionId: "visit-2" }) }, {}]) {
      const path = request.body === undefined ? "/assessments/visit-1" : "/assessments";
      const { status, headers, body } = await harness.send(path, request);
      assert.deepEqual([status, body.error.code, headers.get("Retry-After")], [429, "RATE_LIMITED", "60"]);
    }
    const other = await harness.send("/assessments/visit-1", { peer: "203.0.113.8" });
    assert.equal(other.status, 200);
    assert.equal((await harness.rowCounts()).assessment, 1);
  }, { rateLimitIp: 2 }),
);

// ---- as a page --------------------------------------------------------------------------------------------

Deno.test(
  "a client that prefers HTML gets the run as a page with the same figures, any other client gets JSON",
  withHarness(async (harness) => {
    await submit(harness, run());
    const ask = (accept: string) => harness.send("/assessments/visit-1", { headers: { Accept: accept } });
    const json = await ask("application/json");
    for (const accept of ["*/*", "application/json, text/html;q=0.9", "image/png", "text/html;q=0", ""]) {
      const { headers, text } = await ask(accept);
      assert.equal(headers.get("Content-Type"), "application/json", accept);
      assert.equal(headers.get("Vary"), "Accept");
      assert.equal(text.replace(/"request_id":"[^"]*"/, ""), json.text.replace(/"request_id":"[^"]*"/, ""));
    }
    const browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
    for (const accept of ["text/html", browser, "text/html, application/json;q=0.9"]) {
      const { status, headers, text } = await ask(accept);
      assert.deepEqual(
        [status, headers.get("Content-Type"), headers.get("Vary")],
        [200, "text/html; charset=utf-8", "Accept"],
      );
      assert.match(headers.get("Content-Security-Policy")!, /^default-src 'none'/);
      const { summary, results, shareUrl } = json.body;
      for (
        const figure of [
          `${scoreInWords(summary.jis)}, Adequate`,
          shareUrl,
          ...results.map(({ jis }: { jis: number }) => `>${scoreInWords(jis)}<`),
          ...Object.values(summary.dimensions).map((points) => `<td>${points}</td>`),
        ]
      ) assert.ok(text.includes(figure), figure);
    }
  }),
);

Deno.test(
  "no cache stores a run and no search engine lists it, as JSON and as a page, errors included",
  withHarness(async (harness) => {
    await submit(harness, run());
    for (const [path, status] of [["visit-1", 200], ["nobody", 404], ["no%20id", 422], ["visit-1", 429]]) {
      for (const accept of ["application/json", "text/html"]) {
        // Each address has its own limit. The submission used one call of the first.
        const peer = accept === "text/html" ? "203.0.113.8" : "203.0.113.9";
        const answer = await harness.send(`/assessments/${path}`, { peer, headers: { Accept: accept } });
        assert.deepEqual(
          [
            answer.status,
            answer.headers.get("Cache-Control"),
            answer.headers.get("X-Robots-Tag"),
            answer.headers.get("Vary"),
          ],
          [status, "no-store", "noindex", "Accept"],
          `${path} ${accept}`,
        );
      }
    }
  }, { rateLimitIp: 3 }),
);

Deno.test(
  "the page shows a case without advice as decided without it, whatever decision was sent, and an escalation as one",
  withHarness(async (harness) => {
    const alone = { time_to_decision_ms: 9000, ai_recommendation_presented: false, outcome_correct: true };
    const decisions = ["accepted", "overridden", "escalated"];
    const records = [
      ...decisions.map((decision) => ({ ...alone, decision })),
      { time_to_decision_ms: 9000, decision: "overridden", scenario_type: "ai_withheld" },
      { time_to_decision_ms: 9000, decision: "overridden" },
    ];
    await submit(harness, run({ records }));
    const { text } = await harness.send("/assessments/visit-1", { headers: { Accept: "text/html" } });
    const shownDecisions = [...text.matchAll(/<td>9\.000<\/td><td>([^<]*)</g)].map(([, decision]) =>
      decision
    );
    assert.deepEqual(shownDecisions, [
      "Decided without advice",
      "Decided without advice",
      "Escalated, without advice",
      "Decided without advice",
      "Overridden",
    ]);
  }),
);

Deno.test(
  "the page explains what each case changed, in the sentences of the JSON",
  withHarness(async (harness) => {
    await submit(harness, run());
    const { results } = (await look(harness)).body;
    const { text } = await harness.send("/assessments/visit-1", { headers: { Accept: "text/html" } });
    for (const { explanation } of results) {
      const moved = explanation.filter(({ before, after }: Moved) => before !== after);
      assert.ok(moved.length > 0);
      for (const { before, after, rules } of moved as Moved[]) {
        assert.ok(text.includes(`<td>${before}</td><td>${after}</td>`));
        for (const rule of rules) assert.ok(text.includes(escaped(rule)), rule);
      }
    }
  }),
);

interface Moved {
  readonly before: number;
  readonly after: number;
  readonly rules: readonly string[];
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("'", "&#39;");
}

Deno.test(
  "a run is explained by the model that scored it: the one in use, an earlier one, or not at all if its document is gone",
  withHarness(async (harness) => {
    await submit(harness, run());
    const before = (await look(harness)).body.results;
    const { database, model } = harness.dependencies;
    const document = structuredClone(model.document);
    document.buckets.H.prior_mean = 0.5;
    const changed = { sha256: "0".repeat(64), document, version: "other" } as unknown as typeof model;
    const read = (over: Partial<typeof harness.dependencies>) =>
      readAssessment({ ...harness.dependencies, ...over }, {
        sessionId: "visit-1",
        now: harness.clock.now(),
      });
    assert.deepEqual(
      (await read({ model: changed })).results,
      before,
      "the document of the run's model is kept",
    );

    const forgetful = Object.create(database, {
      read: {
        value: (query: { sql: string }) =>
          /model_document/.test(query.sql) ? [] : database.read(query as never),
      },
    });
    const unexplained = await read({ model: changed, database: forgetful });
    assert.deepEqual(unexplained.results, before.map((result: object) => ({ ...result, explanation: null })));
  }),
);

Deno.test(
  "a client that prefers HTML gets errors as pages with the same status and a policy of their own",
  withHarness(async (harness) => {
    const ask = (path: string, accept: string) => harness.send(path, { headers: { Accept: accept } });
    const scenarios = [
      ["/assessments/nobody", 404, "There is no run nobody"],
      ["/assessments/no%20id", 422, "sessionId"],
      ["/assessments/nobody", 429, "Try again</a> in 60 seconds"],
    ] as const;
    for (const [path, status, says] of scenarios) {
      const { status: answered, headers, text } = await ask(path, "text/html");
      assert.deepEqual(
        [answered, headers.get("Content-Type"), headers.get("Vary")],
        [status, "text/html; charset=utf-8", "Accept"],
      );
      assert.match(headers.get("Content-Security-Policy")!, /^default-src 'none'; style-src 'sha256-/);
      assert.ok(text.includes(says), text);
      assert.ok(text.includes(headers.get("X-Request-Id")!));
      assert.equal(headers.get("Retry-After"), status === 429 ? "60" : null);
    }
    const json = await harness.send("/assessments/nobody", { peer: "203.0.113.8" });
    assert.deepEqual([json.status, json.body.error.code, json.headers.get("Vary")], [
      404,
      "NOT_FOUND",
      "Accept",
    ]);
    const elsewhere = await harness.send("/v1/organization/dashboard", {
      peer: "203.0.113.8",
      headers: { Accept: "text/html" },
    });
    assert.equal(elsewhere.body.error.code, "UNAUTHORIZED", "another route answers JSON");
  }, { rateLimitIp: 2 }),
);

// ---- the end of a run -------------------------------------------------------------------------------------

Deno.test(
  "the daily upkeep deletes a run once its retention is over, and its sessionId is free again",
  withHarness(async (harness) => {
    const { clock } = harness;
    clock.advance(-9 * HOUR);
    await submit(harness, run());
    clock.advance(1);
    await submit(harness, run({ sessionId: "visit-2" }));
    const dependencies = { ...harness.dependencies, assessmentRetentionDays: 3 };
    clock.advance(3 * DAY - 2);
    await new Upkeep(dependencies).run(clock.now());
    assert.equal((await harness.rowCounts()).assessment, 2, "a millisecond before the end");
    clock.advance(1);
    await new Upkeep(dependencies).run(clock.now());
    assert.equal((await look(harness)).status, 404);
    assert.equal((await look(harness, "visit-2")).status, 200);
    await submit(harness, run({ records: [CARELESS] }));
    assert.equal((await look(harness)).body.records.length, 1);
  }),
);

Deno.test(
  "a run past its retention is not shown and its sessionId is free, even before it is deleted",
  withHarness(async (harness) => {
    const { clock } = harness;
    await submit(harness, run());
    clock.advance(30 * DAY - 1);
    assert.equal((await look(harness)).status, 200);
    clock.advance(1);
    assert.equal((await look(harness)).status, 404);
    await submit(harness, run({ records: [CARELESS] }));
    assert.equal((await look(harness)).body.records.length, 1);
    assert.equal((await harness.rowCounts()).assessment, 1);
  }),
);

Deno.test(
  "a sessionId that was used again before its old run was deleted keeps the new run",
  withHarness(async (harness) => {
    const { clock, database } = harness;
    await submit(harness, run());
    await submit(harness, run({ sessionId: "visit-2" }));
    await database.batch([deleteAssessments(["visit-1", "visit-2"], clock.now() - 1)]);
    assert.equal((await harness.rowCounts()).assessment, 2);
    await database.batch([deleteAssessments(["visit-1"], clock.now())]);
    assert.deepEqual([(await look(harness)).status, (await look(harness, "visit-2")).status], [404, 200]);
  }),
);

Deno.test("by default a run is kept for 30 days", () => {
  const env = (days?: string) => ({ JISS_KEY_PEPPER: PEPPER, JISS_ASSESSMENT_RETENTION_DAYS: days });
  const read = (days?: string) => readConfig(env(days), () => "").assessmentRetentionDays;
  assert.deepEqual([read(), read("1"), read("365"), read("36500")], [30, 1, 365, 36_500]);
  for (const days of ["0", "36501", "-1", "1.5", "keep"]) {
    assert.throws(
      () => read(days),
      (error) => {
        assert.ok(error instanceof ConfigError);
        assert.deepEqual(error.problems, [
          "JISS_ASSESSMENT_RETENTION_DAYS must be a whole number from 1 to 36500",
        ]);
        return true;
      },
    );
  }
});

embeddedTest(
  "after a run is deleted, no byte of it is left in the database's files",
  () =>
    withDirectory(async (directory) => {
      const path = `${directory}/jiss.db`;
      const harness = await openHarness({ path, lockPath: `${directory}/lock.db` });
      const marker = "visitor-0123456789-marker";
      const ids = Array.from({ length: 1_100 }, (_, index) => `${marker}-${index}`);
      await Promise.all(ids.map((sessionId) => submit(harness, run({ sessionId, records: [CARELESS] }))));
      const holds = async () => {
        const files = [path, `${path}-wal`].map((file) => Deno.readFile(file).catch(() => new Uint8Array()));
        return (await Promise.all(files)).some((bytes) =>
          new TextDecoder("latin1").decode(bytes).includes(marker)
        );
      };
      assert.equal(await holds(), true);
      await new Upkeep(harness.dependencies).run(EPOCH + 30 * DAY);
      assert.equal((await harness.rowCounts()).assessment, 0);
      assert.equal(await holds(), false);
      await harness.close();
    }),
);
