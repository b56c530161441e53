/** GET /v1/organization/shadow: how a candidate model would score, and that it changes nothing. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { applyLabel, type LateLabel } from "../../src/scoring/label.ts";
import { type ModelDocument, modelSchema } from "../../src/scoring/model.ts";
import { score, type Scored } from "../../src/scoring/score.ts";
import type { OperatorState } from "../../src/scoring/state.ts";
import { modelSha256 } from "../../src/evidence/hashes.ts";
import { nodeCrypto } from "../../src/evidence/node_crypto.ts";
import { embeddedTest } from "../database.ts";
import { EPOCH, type Harness, type HarnessOptions, openHarness, scoreRequest } from "../harness.ts";
import { JIS_1_0_0 } from "../models.ts";

const PATH = "/v1/organization/shadow";
const FROZEN = "/v1/score?mode_override=incident_frozen";

/** A candidate with other priors, weights and bands: every score differs. */
const CANDIDATE = changed((document) => {
  document.version = "candidate-1";
  for (const bucket of ["H", "C", "P"]) document.buckets[bucket].prior_mean = 0.75;
  document.dimensions.error_detection.weight = 0.3;
  document.dimensions.deliberation_depth.weight = 0.05;
  document.updates.ownership.miss_weight = 1.1;
  document.scenario_weights.high_stakes = 1.2;
  document.bands.adequate = 65;
  document.bands.proficient = 71;
});

/**
 * A candidate that fails on every interaction: its decay rate becomes infinite when it is rounded. Such a
 * document is not valid.
 */
const FAILING = unchecked((document) => {
  document.version = "candidate-2";
  for (const row of Object.values<Record<string, number>>(document.domains)) row.decay_rate = 1e308;
});

function changed(change: Change): ModelDocument {
  return modelSchema.parse(unchecked(change));
}

// deno-lint-ignore no-explicit-any -- the document is changed by its names
type Change = (document: any) => void;

function unchecked(change: Change): ModelDocument {
  const document = structuredClone(JIS_1_0_0);
  change(document);
  return document;
}

async function withShadow(
  options: HarnessOptions,
  test: (harness: Harness, key: string) => Promise<void>,
): Promise<void> {
  const harness = await openHarness({ candidate: CANDIDATE, ...options });
  await test(harness, await harness.organization("acme"));
  await harness.close();
}

/** The report, after the shadow model has processed every record. */
async function reported(harness: Harness, key: string) {
  await harness.dependencies.shadow?.settled();
  const { status, body, text } = await harness.send(PATH, { key });
  assert.equal(status, 200, text);
  return body.shadow;
}

const CASES: readonly Record<string, unknown>[] = [
  {},
  { decision: "rejected", outcome_correct: false },
  { decision: "modified", modification_extent: 0.4, scenario_type: "high_stakes", outcome_correct: null },
  { decision: "accepted", scenario_type: "error_injected", outcome_correct: null, time_to_decision_ms: 1500 },
  { decision: "rejected", scenario_type: "error_injected", outcome_correct: true },
  { decision: "accepted", outcome_correct: null, hover_events: 0 },
];

interface Expected {
  readonly state: OperatorState;
  readonly scored: Scored;
}

/** The candidate's or the model's result of a case, from its own state. */
function scoredBy(
  model: ModelDocument,
  state: OperatorState | null,
  interaction: Record<string, unknown>,
  mode: "full" | "lite" = "full",
): Expected {
  const scored = score(
    model,
    state,
    { interaction: scoreRequest({}, interaction).interaction as never, domain: "general", now: EPOCH },
    { mode, modeOverride: "normal" },
  );
  return { state: scored.state, scored };
}

async function post(harness: Harness, key: string, body: unknown, path = "/v1/score") {
  const answer = await harness.send(path, { key, body });
  assert.equal(answer.status, 200, answer.text);
  return answer;
}

Deno.test("without a candidate the report is null", async () => {
  const harness = await openHarness();
  const key = await harness.organization("acme");
  await post(harness, key, scoreRequest());
  assert.equal(await reported(harness, key), null);
  await harness.close();
});

Deno.test("each interaction is compared with the candidate's result, from the candidate's own state", () =>
  withShadow({}, async (harness, key) => {
    let state: OperatorState | null = null;
    const differences: number[] = [];
    let last: { readonly real: Record<string, unknown>; readonly own: Scored } | null = null;
    for (const [index, interaction] of CASES.entries()) {
      const mode = index === 1 ? "lite" : "full";
      const { body } = await post(
        harness,
        key,
        scoreRequest({ session_id: `s${index}` }, interaction),
        `/v1/score?mode=${mode}`,
      );
      const own = scoredBy(CANDIDATE, state, interaction, mode);
      state = own.state;
      differences.push(Math.round((own.scored.result.jis - body.jis) * 100) / 100);
      last = { real: body, own: own.scored };
    }
    assert.ok(new Set(differences).size > 3 && !differences.includes(0), `${differences}`);
    const shadow = await reported(harness, key);
    assert.deepEqual(shadow.candidate, {
      version: "candidate-1",
      sha256: modelSha256(nodeCrypto, CANDIDATE),
    });
    assert.equal(shadow.model.version, "jis-1.0.0");
    assert.equal(shadow.since, new Date(EPOCH).toISOString());
    assert.deepEqual(shadow.interactions, { compared: CASES.length, failed: 0, missed: 0, restarts: 0 });
    const mean = differences.reduce((sum, value) => sum + value, 0) / differences.length;
    assert.ok(Math.abs(shadow.difference.mean - mean) < 0.0051);
    assert.ok(Math.abs(shadow.difference.max - Math.max(...differences)) <= 0.0501);
    const { real, own } = last!;
    assert.deepEqual(shadow.most_different, [{
      operator_id: "operator-1",
      interactions: CASES.length,
      difference: differences.at(-1),
      model: {
        jis: real.jis,
        band: real.band,
        compliance_status: (real.compliance as { status: string }).status,
      },
      candidate: {
        jis: own.result.jis,
        band: own.result.band,
        compliance_status: own.result.compliance.status,
      },
    }]);
    assert.equal(shadow.operators.compared, 1);
  }));

Deno.test("a batch counts each of its interactions, and a frozen call none", () =>
  withShadow({}, async (harness, key) => {
    const interactions = CASES.map((fields, index) => ({
      session_id: `b${index}`,
      ...scoreRequest({}, fields).interaction,
    }));
    await post(
      harness,
      key,
      { operator_id: "operator-1", domain: "general", interactions },
      "/v1/score/batch",
    );
    await post(harness, key, scoreRequest({ session_id: "frozen" }), FROZEN);
    const shadow = await reported(harness, key);
    assert.equal(shadow.interactions.compared, CASES.length);
    const state = CASES.reduce<Expected | null>(
      (before, fields) => scoredBy(CANDIDATE, before?.state ?? null, fields),
      null,
    )!;
    assert.equal(shadow.most_different[0].candidate.jis, state.scored.result.jis);
    // A repeated call gets its stored answer and counts nothing.
    await post(
      harness,
      key,
      { operator_id: "operator-1", domain: "general", interactions },
      "/v1/score/batch",
    );
    assert.equal((await reported(harness, key)).interactions.compared, CASES.length);
  }));

/**
 * Scores a case, labels it late and scores another. Returns the last one's JIS under the candidate, and the
 * JIS with each kind of weights.
 */
async function labelledLate(options: HarnessOptions) {
  const harness = await openHarness({ candidate: CANDIDATE, ...options });
  const key = await harness.organization("acme");
  const missed = { decision: "accepted", scenario_type: "high_stakes", outcome_correct: null };
  await post(harness, key, scoreRequest({ session_id: "labelled" }, missed));
  await post(harness, key, scoreRequest({ session_id: "other", operator_id: "operator-2" }, missed));
  await post(harness, key, { outcome_correct: false }, "/v1/score/labelled/commit");
  assert.equal((await reported(harness, key)).interactions.compared, 2);
  await post(harness, key, scoreRequest({ session_id: "after" }));
  const shadow = await reported(harness, key);
  assert.deepEqual(shadow.interactions, { compared: 3, failed: 0, missed: 0, restarts: 0 });
  await harness.close();

  const first = scoredBy(CANDIDATE, null, missed);
  const after = (weights: LateLabel["weights"]) => {
    const label = { decision: "accepted", scenario_type: "high_stakes", outcome_correct: false } as const;
    return scoredBy(CANDIDATE, applyLabel(CANDIDATE, first.state, { ...label, weights }), {}).scored.result
      .jis;
  };
  const outcomes = {
    own: after(first.scored.weights),
    recorded: after(scoredBy(JIS_1_0_0, null, missed).scored.weights),
    unlabelled: scoredBy(CANDIDATE, first.state, {}).scored.result.jis,
  };
  assert.equal(new Set(Object.values(outcomes)).size, 3);
  const row = shadow.most_different.find((found: { operator_id: string }) =>
    found.operator_id === "operator-1"
  );
  return { jis: row.candidate.jis, ...outcomes };
}

Deno.test("a late label counts with the candidate's own weights, and adds no comparison", async () => {
  const { jis, own } = await labelledLate({});
  assert.equal(jis, own);
});

Deno.test("a late label counts with the recorded weights if the candidate's are not kept any more", async () => {
  const { jis, recorded } = await labelledLate({ shadowBounds: { operators: 10, queue: 10, weights: 1 } });
  assert.equal(jis, recorded);
});

Deno.test("an operator who was scored before starts from the state of the model in use", async () => {
  const directory = await Deno.makeTempDir();
  const path = `${directory}/jiss.db`;
  const before = await openHarness({ path });
  const key = await before.organization("acme");
  const first = scoredBy(JIS_1_0_0, null, CASES[2]!);
  await post(before, key, scoreRequest({ session_id: "before" }, CASES[2]));
  await before.close();

  const harness = await openHarness({ path, run: 1, candidate: CANDIDATE });
  // The candidate has not scored this case, so the recorded weights count.
  await post(harness, key, { outcome_correct: true }, "/v1/score/before/commit");
  await post(harness, key, scoreRequest({ session_id: "after" }));
  const labelled = applyLabel(CANDIDATE, first.state, {
    weights: first.scored.weights,
    decision: "modified",
    scenario_type: "high_stakes",
    outcome_correct: true,
  });
  const shadow = await reported(harness, key);
  assert.equal(shadow.most_different[0].candidate.jis, scoredBy(CANDIDATE, labelled, {}).scored.result.jis);
  assert.deepEqual(shadow.interactions, { compared: 1, failed: 0, missed: 0, restarts: 0 });
  await harness.close();
  await Deno.remove(directory, { recursive: true });
});

Deno.test("answers and evidence are byte for byte those without a candidate, also with one that fails", async () => {
  const run = async (options: HarnessOptions) => {
    const harness = await openHarness(options);
    const key = await harness.organization("acme");
    const said: string[] = [];
    for (const [index, fields] of CASES.entries()) {
      said.push((await post(harness, key, scoreRequest({ session_id: `s${index}` }, fields))).text);
    }
    said.push((await post(harness, key, { outcome_correct: true }, "/v1/score/s5/commit")).text);
    said.push((await post(harness, key, scoreRequest({ session_id: "frozen" }), FROZEN)).text);
    await harness.dependencies.shadow?.settled();
    for (
      const path of [
        "/v1/decision/replay/s2",
        "/v1/operator/operator-1/profile",
        "/v1/audit/chain/export",
        "/v1/operator/operator-1/export",
      ]
    ) said.push((await harness.send(path, { key })).text);
    const { heads, ...rows } = await harness.rowCounts();
    const counts = harness.dependencies.shadow?.counts;
    const failures = harness.log.filter(({ level }) => level === "error");
    await harness.close();
    return { said: [...said, JSON.stringify([heads, rows])], counts, failures };
  };
  const plain = await run({});
  const shadowed = await run({ candidate: CANDIDATE });
  const failing = await run({ candidate: FAILING });
  assert.deepEqual(shadowed.said, plain.said);
  assert.deepEqual(failing.said, plain.said);
  assert.deepEqual([shadowed.counts!.failed, shadowed.failures], [0, []]);
  // The label is accepted: it needs no decay rate.
  assert.equal(failing.counts!.failed, CASES.length);
  assert.deepEqual(failing.failures.map(({ msg }) => msg), [
    "the candidate model failed on an interaction; real scores go on without it",
  ]);
});

Deno.test("a failing candidate is counted in the report, which has no figures", () =>
  withShadow({ candidate: FAILING }, async (harness, key) => {
    await post(harness, key, scoreRequest());
    await post(harness, key, scoreRequest({ session_id: "second" }));
    const shadow = await reported(harness, key);
    assert.deepEqual(shadow.interactions, { compared: 0, failed: 2, missed: 0, restarts: 0 });
    assert.deepEqual([shadow.difference, shadow.operators.compared, shadow.most_different], [null, 0, []]);
    harness.clock.advance(60_000);
    await post(harness, key, scoreRequest({ session_id: "third" }));
    await reported(harness, key);
    assert.equal(harness.log.filter(({ level }) => level === "error").length, 2);
  }));

Deno.test("an erased operator leaves the report with all figures, and can return as a new one", () =>
  withShadow({}, async (harness, key) => {
    for (const operator_id of ["operator-1", "operator-2"]) {
      for (const [index, fields] of CASES.entries()) {
        await post(
          harness,
          key,
          scoreRequest({ session_id: `${operator_id}-${index}`, operator_id }, fields),
        );
      }
    }
    const one = await reported(harness, key);
    assert.equal(one.interactions.compared, 2 * CASES.length);
    const erased = await harness.send("/v1/operator/operator-1", { method: "DELETE", key });
    assert.equal(erased.status, 200);
    const { shadow } = harness.dependencies;
    await shadow!.settled();
    const unlabelled = CASES.filter((fields) => fields.outcome_correct === null).length - 1;
    assert.deepEqual([shadow!.counts.operators, shadow!.counts.weights], [1, unlabelled]);
    const after = await reported(harness, key);
    assert.equal(after.interactions.compared, CASES.length);
    assert.deepEqual(after.most_different.map((row: { operator_id: string }) => row.operator_id), [
      "operator-2",
    ]);
    await post(harness, key, scoreRequest({ session_id: "again" }));
    const back = await reported(harness, key);
    assert.deepEqual(
      back.most_different.map((row: Record<string, unknown>) => [row.operator_id, row.interactions])
        .toSorted(),
      [["operator-1", 1], ["operator-2", CASES.length]],
    );
  }));

embeddedTest(
  "a score by another process is a gap, and an operator erased by it leaves the report",
  async () => {
    const directory = await Deno.makeTempDir();
    const path = `${directory}/jiss.db`;
    const harness = await openHarness({ path, candidate: CANDIDATE });
    const key = await harness.organization("acme");
    const other = await openHarness({ path, run: 1 });
    await post(harness, key, scoreRequest({ session_id: "here" }, CASES[0]));
    await harness.dependencies.shadow!.settled();
    await post(other, key, scoreRequest({ session_id: "there" }, CASES[1]));
    await post(harness, key, scoreRequest({ session_id: "here-again" }, CASES[2]));
    const stored = [CASES[0]!, CASES[1]!].reduce<OperatorState | null>(
      (state, fields) => scoredBy(JIS_1_0_0, state, fields).state,
      null,
    );
    const gap = await reported(harness, key);
    assert.deepEqual(gap.interactions, { compared: 2, failed: 0, missed: 0, restarts: 1 });
    assert.equal(
      gap.most_different[0].candidate.jis,
      scoredBy(CANDIDATE, stored, CASES[2]!).scored.result.jis,
    );

    assert.equal((await other.send("/v1/operator/operator-1", { method: "DELETE", key })).status, 200);
    const shadow = await reported(harness, key);
    assert.deepEqual([shadow.interactions.compared, shadow.most_different], [0, []]);
    assert.equal(harness.dependencies.shadow!.counts.operators, 0);
    await other.close();
    await harness.close();
    await Deno.remove(directory, { recursive: true });
  },
);

Deno.test("interactions beyond the queue are missed and counted, and the operator starts again from the stored state", () =>
  withShadow({ shadowBounds: { operators: 10, queue: 2, weights: 10 } }, async (harness, key) => {
    const interactions = CASES.map((fields, index) => ({
      session_id: `b${index}`,
      ...scoreRequest({}, fields).interaction,
    }));
    await post(
      harness,
      key,
      { operator_id: "operator-1", domain: "general", interactions },
      "/v1/score/batch",
    );
    const gap = await reported(harness, key);
    assert.deepEqual(gap.interactions, { compared: 2, failed: 0, missed: CASES.length - 2, restarts: 0 });
    await post(harness, key, scoreRequest({ session_id: "after" }));
    const stored = CASES.reduce<OperatorState | null>(
      (state, fields) => scoredBy(JIS_1_0_0, state, fields).state,
      null,
    );
    const shadow = await reported(harness, key);
    assert.equal(shadow.interactions.restarts, 1);
    assert.equal(shadow.most_different[0].candidate.jis, scoredBy(CANDIDATE, stored, {}).scored.result.jis);
  }));

Deno.test("no more operators are followed than the bound allows, and an erasure frees a place", () =>
  withShadow({ shadowBounds: { operators: 1, queue: 100, weights: 1 } }, async (harness, key) => {
    const unlabelled = { outcome_correct: null };
    for (const [index, operator_id] of ["one", "two", "one"].entries()) {
      await post(harness, key, scoreRequest({ session_id: `s${index}`, operator_id }, unlabelled));
    }
    const full = await reported(harness, key);
    assert.deepEqual(full.interactions, { compared: 2, failed: 0, missed: 1, restarts: 0 });
    assert.equal((await harness.send("/v1/operator/one", { method: "DELETE", key })).status, 200);
    await post(harness, key, scoreRequest({ session_id: "s3", operator_id: "two" }));
    const after = await reported(harness, key);
    assert.deepEqual(after.most_different.map((row: { operator_id: string }) => row.operator_id), ["two"]);
  }));

Deno.test("operators are counted by direction, the most different come first, and each organization sees its own", () =>
  withShadow({}, async (harness, key) => {
    const careless = {
      decision: "accepted",
      outcome_correct: false,
      time_to_decision_ms: 900,
      hover_events: 0,
    };
    for (let index = 0; index < 22; index += 1) {
      const operator_id = `operator-${index}`;
      await post(
        harness,
        key,
        scoreRequest({ session_id: `first-${index}`, operator_id }, index % 2 ? careless : {}),
      );
    }
    const shadow = await reported(harness, key);
    const rows: { difference: number }[] = shadow.most_different;
    assert.equal(rows.length, 20);
    const sizes = rows.map(({ difference }) => Math.abs(difference));
    assert.deepEqual(sizes, sizes.toSorted((one, other) => other - one));
    const { compared, band, compliance_status } = shadow.operators;
    assert.equal(compared, 22);
    // 66.3 and 71.65: a band higher. 58.05 and 63.05: above the minimum.
    assert.deepEqual(band, { higher: 11, lower: 0, same: 11 });
    assert.deepEqual(compliance_status, { higher: 11, lower: 0, same: 11 });
    const other = await harness.organization("other");
    const theirs = await reported(harness, other);
    assert.deepEqual([theirs.interactions.compared, theirs.most_different], [0, []]);
  }));

/** One event of one of two operators; `kind` names it. */
const happening = fc.record({
  operator: fc.constantFrom("operator-1", "operator-2"),
  kind: fc.constantFrom(
    "score",
    "score",
    "score",
    "lite",
    "batch",
    "frozen",
    "label",
    "label",
    "wait",
    "erase",
  ),
  fields: fc.constantFrom(...CASES),
});

Deno.test("a candidate with the same numbers never differs, fails or restarts, in any sequence of events", async () => {
  const same = changed((document) => document.version = "the-same-1");
  await fc.assert(
    fc.asyncProperty(fc.array(happening, { minLength: 1, maxLength: 30 }), async (happenings) => {
      const harness = await openHarness({ candidate: same });
      const key = await harness.organization("acme");
      /** By operator: number of scores since the last erasure, and the sessions that can be labelled. */
      const counts = new Map<string, number>();
      const unlabelled = new Map<string, string[]>();
      for (const [index, { operator, kind, fields }] of happenings.entries()) {
        const session_id = `s${index}`;
        const request = scoreRequest({ session_id, operator_id: operator }, fields);
        const isOpen = fields.outcome_correct === null && fields.scenario_type !== "error_injected";
        const scored = (count: number, sessions: readonly string[]) => {
          counts.set(operator, (counts.get(operator) ?? 0) + count);
          if (isOpen) unlabelled.set(operator, [...(unlabelled.get(operator) ?? []), ...sessions]);
        };
        if (kind === "score" || kind === "lite") {
          await post(harness, key, request, `/v1/score?mode=${kind === "lite" ? "lite" : "full"}`);
          scored(1, [session_id]);
        } else if (kind === "batch") {
          const sessions = [`${session_id}-a`, `${session_id}-b`];
          const interactions = sessions.map((name) => ({ session_id: name, ...request.interaction }));
          await post(
            harness,
            key,
            { operator_id: operator, domain: "general", interactions },
            "/v1/score/batch",
          );
          scored(2, sessions);
        } else if (kind === "frozen") await post(harness, key, request, FROZEN);
        else if (kind === "label") {
          const session = unlabelled.get(operator)?.shift();
          if (session === undefined) continue;
          await post(harness, key, { outcome_correct: index % 2 === 0 }, `/v1/score/${session}/commit`);
        } else if (kind === "wait") harness.clock.advance(40 * 86_400_000);
        else {
          await harness.send(`/v1/operator/${operator}`, { method: "DELETE", key });
          counts.delete(operator);
          unlabelled.delete(operator);
        }
      }
      const shadow = await reported(harness, key);
      const compared = [...counts.values()].reduce((sum, count) => sum + count, 0);
      assert.deepEqual(shadow.interactions, { compared, failed: 0, missed: 0, restarts: 0 });
      assert.equal(shadow.operators.compared, counts.size);
      for (const value of Object.values(shadow.difference ?? {})) assert.equal(value, 0);
      for (const row of shadow.most_different) {
        assert.equal(row.interactions, counts.get(row.operator_id));
        assert.deepEqual(row.candidate, row.model);
      }
      await harness.close();
    }),
    { numRuns: 25 },
  );
});
