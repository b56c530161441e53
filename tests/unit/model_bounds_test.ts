/** With every document that the schema accepts the formulas give numbers. */
import assert from "node:assert/strict";
import { type Domain, DOMAINS } from "../../src/domain/enums.ts";
import { recordedInteractionSchema } from "../../src/domain/interaction.ts";
import { applyLabel } from "../../src/scoring/label.ts";
import { scoreDecision } from "../../src/scoring/drs.ts";
import { DEFAULT_MODEL_DOCUMENT, type ModelDocument, modelSchema } from "../../src/scoring/model.ts";
import { score, type Scored } from "../../src/scoring/score.ts";
import { type OperatorState } from "../../src/scoring/state.ts";
import { DAY_MS } from "../../src/domain/time.ts";
import { numbersOf } from "../model_mutations.ts";

const EXTREMES = [0, 5e-324, 1e-300, 1e-9, 1e-3, 1, 100, 1e6, 1e9, 1e300, -1e300, -1];
const START = 1_780_304_400_000;

const CASES = [
  {
    time_to_decision_ms: 900,
    decision: "accepted",
    outcome_correct: false,
    hover_events: 0,
    scroll_depth: 0,
  },
  {
    time_to_decision_ms: 15_000,
    decision: "rejected",
    outcome_correct: true,
    hover_events: 9,
    scroll_depth: 1,
  },
  { time_to_decision_ms: 4_000, decision: "rejected", outcome_correct: false },
  { time_to_decision_ms: 9_000, decision: "modified", modification_extent: 1e-300 },
  { time_to_decision_ms: 9_000, decision: "modified", modification_extent: 0.1, outcome_correct: true },
  { time_to_decision_ms: 30_000, decision: "accepted", outcome_correct: true, alternative_views_checked: 3 },
  { time_to_decision_ms: 600_000, decision: "escalated", scenario_type: "critical" },
  { time_to_decision_ms: 20_000, decision: "accepted", scenario_type: "ai_withheld", outcome_correct: false },
  { time_to_decision_ms: 0, decision: "overridden", scenario_type: "error_injected" },
].map((fields) => recordedInteractionSchema.parse(fields));

/** The domains that a number of the document can bear on: all cases come in the first one, more of them in others. */
function domainsFor(path: readonly (string | number)[]): readonly Domain[] {
  const [first, second, third, ...others] = DOMAINS;
  return [first, second, third, ...others.filter((name) => path.includes(name))];
}

/**
 * Scores a history in some domains by a document, with a late label and a decision. @throws if a result is
 * not a number.
 */
function exercise(model: ModelDocument, domains: readonly Domain[]): void {
  let state: OperatorState | null = null;
  let now = START;
  for (const [index, domain] of domains.entries()) {
    for (const interaction of index === 0 ? CASES : CASES.filter((_, at) => at % 3 === index % 3)) {
      now += 40 * DAY_MS;
      const scored: Scored = score(model, state, { interaction, domain, now }, {
        mode: "full",
        modeOverride: "normal",
      });
      const risk = scoreDecision(model, state, { interaction, domain, stakes: "critical", now });
      state = scored.state;
      if (interaction.outcome_correct === null && interaction.scenario_type !== "error_injected") {
        const { weights } = scored;
        const { decision, scenario_type } = interaction;
        state = applyLabel(model, state, { weights, decision, scenario_type, outcome_correct: true });
      }
      assertNumbers({ scored, risk, state });
    }
  }
}

/** Calls `assert` only for a wrong value: there are twenty million numbers. */
function assertNumbers(value: unknown): void {
  if (typeof value === "number") {
    if (!Number.isFinite(value)) assert.fail(`${value} is no number`);
  } else if (typeof value === "object" && value !== null) {
    const members = value as Readonly<Record<string, unknown>>;
    for (const name in members) assertNumbers(members[name]);
  }
}

const TEXT = JSON.stringify(DEFAULT_MODEL_DOCUMENT);

function withNumber(path: readonly (string | number)[], value: number): unknown {
  const document = JSON.parse(TEXT);
  // deno-lint-ignore no-explicit-any -- walked by names
  const parent = path.slice(0, -1).reduce((inner: any, name) => inner[name], document);
  parent[path.at(-1)!] = value;
  return document;
}

Deno.test("a document that the schema accepts can score, with an extreme value in any place", () => {
  let taken = 0;
  for (const { path } of numbersOf(DEFAULT_MODEL_DOCUMENT)) {
    if (path[0] === "law") continue;
    for (const extreme of EXTREMES) {
      const parsed = modelSchema.safeParse(withNumber(path, extreme));
      if (!parsed.success) continue;
      taken += 1;
      try {
        exercise(parsed.data, domainsFor(path));
      } catch (error) {
        throw new Error(`${path.join(".")} = ${extreme}`, { cause: error });
      }
    }
  }
  assert.ok(taken > 500, `${taken}`);
});
