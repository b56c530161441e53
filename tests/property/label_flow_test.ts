/**
 * The late label over HTTP, after random histories: it moves the operator's stored record exactly as section
 * 15, point 6 of the scoring model names, once, and every score and decision before and after it still
 * replays.
 */
import assert from "node:assert/strict";
import fc from "fast-check";
import { DECISIONS, type Domain, SCENARIO_TYPES } from "../../src/domain/enums.ts";
import type { Interaction } from "../../src/domain/interaction.ts";
import { BUCKETS } from "../../src/scoring/model.ts";
import type { OperatorState } from "../../src/scoring/state.ts";
import { query } from "../../src/store/database.ts";
import { type Harness, openHarness } from "../harness.ts";

const SEED = 20_261_120;
const RUNS = 100;
const DAY_MS = 86_400_000;
const OPERATOR = "operator-1";

// ---- arbitraries ------------------------------------------------------------------------------------------

/** Shares in steps of a hundredth: a step is never lost when stored evidence is rounded to 1e-9. */
const share = fc.integer({ min: 0, max: 100 }).map((hundredths) => hundredths / 100);
const mostly = fc.oneof({ weight: 9, arbitrary: fc.constant(true) }, {
  weight: 1,
  arbitrary: fc.constant(false),
});

const interactions: fc.Arbitrary<Interaction> = fc.record({
  ai_recommendation_presented: mostly,
  ai_available: mostly,
  time_to_decision_ms: fc.oneof(fc.integer({ min: 0, max: 3_000 }), fc.integer({ min: 0, max: 300_000 })),
  decision: fc.constantFrom(...DECISIONS),
  modification_extent: fc.oneof(fc.constant(0), share.map((value) => value / 4), share),
  scenario_type: fc.constantFrom(...SCENARIO_TYPES),
  outcome_correct: fc.constantFrom(true, false, null, null),
  hover_events: fc.option(fc.nat(12)),
  scroll_depth: fc.option(share),
  alternative_views_checked: fc.option(fc.nat(4)),
});

interface Step {
  readonly kind: "score" | "lite" | "decision";
  readonly interaction: Interaction;
  readonly domain: Domain;
  readonly gapMs: number;
}

const steps: fc.Arbitrary<Step> = fc.record({
  kind: fc.constantFrom("score", "score", "score", "lite", "decision"),
  interaction: interactions,
  domain: fc.constantFrom<Domain>("general", "financial", "healthcare"),
  gapMs: fc.oneof(fc.nat(DAY_MS / 24), fc.nat(4 * DAY_MS), fc.nat(60 * DAY_MS)),
});

/** Whether a score takes a late label. */
function takesLabel({ kind, interaction }: Step): boolean {
  return kind !== "decision" && interaction.outcome_correct === null &&
    interaction.scenario_type !== "error_injected";
}

interface Case {
  readonly history: readonly Step[];
  /** Index of the score that is labelled. */
  readonly target: number;
  readonly label: boolean;
  /** If true, the score is committed before its label comes. */
  readonly committedFirst: boolean;
  readonly gapMs: number;
  readonly after: Step;
}

const cases: fc.Arbitrary<Case> = fc.record({
  history: fc.array(steps, { minLength: 1, maxLength: 7 }),
  pick: fc.nat(),
  label: fc.boolean(),
  committedFirst: fc.boolean(),
  gapMs: fc.nat(30 * DAY_MS),
  after: steps,
}).filter(({ history }) => history.some(takesLabel)).map(({ history, pick, ...rest }) => {
  const candidates = history.flatMap((step, index) => (takesLabel(step) ? [index] : []));
  return { history, target: candidates[pick % candidates.length]!, ...rest };
});

// ---- the changes of section 15, point 6 -------------------------------------------------------------------

/** The fields of its score that the part `input` records for a later label. */
interface Recorded {
  readonly weights: {
    readonly s: number;
    readonly r: number;
    readonly inert: boolean;
    readonly domain: Domain;
    readonly presented: boolean;
  };
}

/** The cells of section 2.3 that a label fills, for a case that was presented and not injected. */
function cellsOf(
  decision: Interaction["decision"],
  { s, right }: { readonly s: number; readonly right: boolean },
) {
  const referred = decision === "deferred" || decision === "escalated";
  if (referred) return { hit: right ? 0.75 : 0, miss: 0, cr: 0, fa: right ? 0 : 0.5 };
  switch (decision) {
    case "accepted":
      return { hit: 0, miss: right ? 0 : 1, cr: right ? 1 : 0, fa: 0 };
    case "modified":
      return right ? { hit: s, miss: 0, cr: 1 - s, fa: 0 } : { hit: 0, miss: 1 - s, cr: 0, fa: 0.5 * s };
    default:
      return { hit: right ? 1 : 0, miss: 0, cr: 0, fa: right ? 0 : 1 };
  }
}

/** The buckets that the lines H, C, labelled A, U and K of section 4.6 add to. */
function bucketsMoved(
  { weights }: Recorded,
  decision: Interaction["decision"],
  right: boolean,
): readonly string[] {
  const { s, r, inert, domain, presented } = weights;
  const K = `K.${domain}`;
  if (!presented) return ["U", K];
  const { hit, miss, cr, fa } = cellsOf(decision, { s, right });
  const proxied = (hit > 0 && right) || miss > 0 || fa > 0;
  const credited = hit > 0 || miss > 0 || fa > 0 || (cr > 0 && r > 0 && !inert);
  return [
    ...(hit + miss > 0 ? ["H"] : []),
    ...(cr + fa > 0 ? ["C"] : []),
    "A",
    ...(proxied ? ["U"] : []),
    ...(credited ? [K] : []),
  ];
}

// ---- readings ---------------------------------------------------------------------------------------------

async function operatorRow({ database }: Harness, orgId: string) {
  const [row] = await database.read(
    query.selectFrom("operator").selectAll().where("org_id", "=", orgId).compile(),
  );
  return row!;
}

async function recordedInput({ database }: Harness, orgId: string, sessionId: string): Promise<Recorded> {
  const [row] = await database.read(
    query.selectFrom("interaction as i").innerJoin(
      "audit_part as p",
      (join) => join.onRef("p.seq", "=", "i.position"),
    )
      .select("p.data").where("i.org_id", "=", orgId).where("i.session_id", "=", sessionId)
      .where("p.chain", "=", `org/${orgId}`).where("p.name", "=", "input").compile(),
  );
  return JSON.parse(row!.data!);
}

/** Names of the buckets that differ, `K` with its domain. */
function bucketsThatDiffer(before: OperatorState, after: OperatorState): readonly string[] {
  const differs = (a: unknown, b: unknown) => JSON.stringify(a) !== JSON.stringify(b);
  return [
    ...BUCKETS.filter((name) => differs(before.b[name], after.b[name])),
    ...Object.keys(before.K).filter((name) => differs(before.K[name as Domain], after.K[name as Domain]))
      .map((name) => `K.${name}`),
  ];
}

// ---- the laws ---------------------------------------------------------------------------------------------

/** One organization and one operator, whose history is sent step by step. */
async function play(harness: Harness, orgId: string) {
  const { send, clock, organization } = harness;
  const key = await organization(orgId);
  return {
    async take({ kind, interaction, domain, gapMs }: Step, id: string): Promise<void> {
      clock.advance(gapMs);
      const head = { operator_id: OPERATOR, domain };
      const { status, text } = kind === "decision"
        ? await send("/v1/decision/score", { key, body: { ...head, decision_id: id, ...interaction } })
        : await send(`/v1/score?mode=${kind === "lite" ? "lite" : "full"}`, {
          key,
          body: { ...head, session_id: id, interaction },
        });
      assert.equal(status, 200, text);
    },
    commit: (id: string, body: Record<string, unknown> = {}) => send(`/v1/score/${id}/commit`, { key, body }),
    async assertReplays(ids: readonly string[]): Promise<void> {
      for (const id of ids) {
        const { status, body, text } = await send(`/v1/decision/replay/${id}`, { key });
        assert.equal(status, 200, text);
        assert.deepEqual([body.match, body.differences], [true, []], id);
      }
    },
  };
}

async function labelMovesWhatItNames(
  harness: Harness,
  { orgId, of }: { orgId: string; of: Case },
): Promise<void> {
  const { take, commit, assertReplays } = await play(harness, orgId);
  const ids = of.history.map((_, index) => `step-${index}`);
  for (const [index, step] of of.history.entries()) await take(step, ids[index]!);
  const target = ids[of.target]!;
  const { interaction } = of.history[of.target]!;
  if (of.committedFirst) assert.equal((await commit(target)).status, 200);
  harness.clock.advance(of.gapMs);

  const rowBefore = await operatorRow(harness, orgId);
  const labelled = await commit(target, { outcome_correct: of.label });
  assert.equal(labelled.status, 200, labelled.text);
  const rowAfter = await operatorRow(harness, orgId);
  const recorded = await recordedInput(harness, orgId, target);
  const before: OperatorState = JSON.parse(rowBefore.state);
  const after: OperatorState = JSON.parse(rowAfter.state);

  assert.deepEqual(
    [...bucketsThatDiffer(before, after)].sort(),
    [...bucketsMoved(recorded, interaction.decision, of.label)].sort(),
  );
  const lab = before.cnt.lab + (recorded.weights.presented ? 1 : 0);
  assert.deepEqual(after.cnt, { ...before.cnt, truth: before.cnt.truth + 1, lab });
  assert.deepEqual({ ...after, b: before.b, K: before.K, cnt: before.cnt }, before);
  // Besides the state, the row names only the entry that it follows from; it is sealed anew.
  const { state: _before, prior_seq, prior_hash: _hashBefore, digest, seal, ...restBefore } = rowBefore;
  const {
    state: _after,
    prior_seq: labelSeq,
    prior_hash: _hashAfter,
    digest: digestAfter,
    seal: sealAfter,
    ...restAfter
  } = rowAfter;
  assert.deepEqual(restAfter, restBefore);
  assert.ok(labelSeq > prior_seq);
  assert.notDeepEqual([digestAfter, sealAfter], [digest, seal]);

  const counts = await harness.rowCounts();
  assert.equal((await commit(target, { outcome_correct: of.label })).status, 200);
  assert.equal((await commit(target, { outcome_correct: !of.label })).status, 409);
  assert.deepEqual(
    await operatorRow(harness, orgId),
    rowAfter,
    "the same label again is the same answer, and another label is refused",
  );
  assert.deepEqual(await harness.rowCounts(), counts);

  await take(of.after, "after");
  await assertReplays([...ids, "after"]);
}

Deno.test("a late label changes exactly the buckets and counters that the model names, once, and replay still matches", async () => {
  const harness = await openHarness();
  let runs = 0;
  try {
    await fc.assert(
      fc.asyncProperty(cases, async (of) => {
        runs += 1;
        await labelMovesWhatItNames(harness, { orgId: `org-${runs}`, of });
      }),
      { seed: SEED, numRuns: RUNS },
    );
  } finally {
    await harness.close();
  }
});
