/**
 * The golden vectors of the default model: what its engine answers to histories of interactions, to decisions, to
 * states of maintenance, to organizations and to reports, each to the last digit.
 *
 * A vector is its inputs with the outputs beside them; {@link answered} fills in the outputs that a document leads to,
 * which is how `vectors/scoring/keep.ts` makes the file and how a test holds it.
 */
import type { Domain, Stakes } from "../src/domain/enums.ts";
import { type Interaction, recordedInteractionSchema } from "../src/domain/interaction.ts";
import { type DrsResult, scoreDecision } from "../src/scoring/drs.ts";
import { explainDecision, explainLabel, explainScore } from "../src/scoring/explain.ts";
import { applyLabel, type LateLabel } from "../src/scoring/label.ts";
import { type ExercisePlan, type MaintenanceInput, recommendExercises } from "../src/scoring/maintenance.ts";
import type { FullDimensions } from "../src/scoring/dimensions.ts";
import type { ModelDocument } from "../src/scoring/model.ts";
import { type OperatorRow, organizationFigures } from "../src/scoring/organization.ts";
import type { PeriodData } from "../src/scoring/period.ts";
import type { EventWeights } from "../src/scoring/reducer.ts";
import { reportOf } from "../src/scoring/report.ts";
import { score, type Scored } from "../src/scoring/score.ts";
import type { OperatorState } from "../src/scoring/state.ts";

/** An interaction without the fields that have their default. */
export type GivenInteraction = Pick<Interaction, "decision" | "time_to_decision_ms"> & Partial<Interaction>;

/** One event of a history. */
export interface Event {
  /** Epoch milliseconds. */
  readonly now: number;
  readonly domain: Domain;
  readonly interaction: GivenInteraction;
  readonly lite?: true;
  /** The truth of an earlier event, by its index, which becomes known after this one. */
  readonly label?: { readonly of: number; readonly outcome_correct: boolean };
  /** The event's result; absent if only later events show it. */
  readonly after?: {
    readonly state: OperatorState;
    readonly weights: EventWeights;
    readonly result: Readonly<Record<string, unknown>>;
  } | null;
}

export interface History {
  readonly name: string;
  readonly events: readonly Event[];
  /** Decisions of the operator after the events. */
  readonly decisions: readonly {
    readonly now: number;
    readonly domain: Domain;
    readonly stakes: Stakes | null;
    readonly interaction: GivenInteraction;
    /** The triggered policies alone. */
    readonly result: DrsResult | null;
  }[];
}

/** A row of which the vectors may leave the verdict out: formulas before `jis-3` give none. */
export type MaybeJudged<Row extends { readonly verdict: unknown }> =
  & Omit<Row, "verdict">
  & Partial<Pick<Row, "verdict">>;

export interface Golden {
  readonly model: { readonly version: string; readonly sha256: string };
  /** The values of an interaction's absent fields. */
  readonly defaults: Partial<Interaction>;
  readonly histories: readonly History[];
  readonly maintenance: readonly {
    readonly input: MaintenanceInput & { readonly dimensions: FullDimensions; readonly domain: Domain };
    /** The exercises' names, and the first of them without its texts. */
    readonly plan: unknown;
  }[];
  readonly organizations: readonly {
    readonly now: number;
    readonly rows: readonly MaybeJudged<OperatorRow>[];
    readonly figures: unknown;
  }[];
  readonly reports: readonly {
    readonly domain: Domain;
    readonly period: { readonly start: number; readonly end: number };
    readonly data: Omit<PeriodData, "records"> & {
      readonly records: readonly MaybeJudged<PeriodData["records"][number]>[];
    };
    /** Without the texts of the law. */
    readonly report: unknown;
  }[];
}

/** The members that hold cases. */
export type Section = "histories" | "maintenance" | "organizations" | "reports";

type Answer<Name extends Section> = (
  model: ModelDocument,
  of: Golden[Name][number],
) => Golden[Name][number];

/** A case with the outputs of `model` in place of its own, by section. */
export const ANSWER: { readonly [Name in Section]: Answer<Name> } = {
  histories: answeredHistory,
  maintenance: (model, { input }) => ({ input, plan: withoutTexts(recommendExercises(model, input)) }),
  organizations: (model, { now, rows }) => ({
    now,
    rows,
    figures: organizationFigures(model, rows.map((row) => withVerdict<OperatorRow>(row)), now),
  }),
  reports: answeredReport,
};

function withVerdict<Row extends { readonly verdict: unknown }>(row: MaybeJudged<Row>): Row {
  return { verdict: null, ...row } as unknown as Row;
}

/** All cases with the outputs of `model`. */
export function answered(model: ModelDocument, golden: Golden): Golden {
  return {
    ...golden,
    histories: golden.histories.map((one) => ANSWER.histories(model, one)),
    maintenance: golden.maintenance.map((one) => ANSWER.maintenance(model, one)),
    organizations: golden.organizations.map((one) => ANSWER.organizations(model, one)),
    reports: golden.reports.map((one) => ANSWER.reports(model, one)),
  };
}

function answeredHistory(model: ModelDocument, { name, events, decisions }: History): History {
  let state: OperatorState | null = null;
  const weights: EventWeights[] = [];
  const outputs = events.map((event): Event => {
    const { now, domain } = event;
    const interaction = recordedInteractionSchema.parse(event.interaction);
    const mode = event.lite ? "lite" : "full";
    const scored = score(model, state, { interaction, domain, now }, { mode, modeOverride: "normal" });
    state = scored.state;
    weights.push(scored.weights);
    const label = labelOf(events, event, weights);
    if (label !== null) state = applyLabel(model, state, label);
    if (event.after === undefined) return event;
    return { ...event, after: { state, weights: scored.weights, result: { ...scored.result } } };
  });
  return {
    name,
    events: outputs,
    decisions: decisions.map((decision) => {
      const interaction = recordedInteractionSchema.parse(decision.interaction);
      const { domain, stakes, now } = decision;
      const result = scoreDecision(model, state, { interaction, domain, stakes, now });
      return { ...decision, result: { ...result, policy_triggers: firedOf(result) } };
    }),
  };
}

/** The explanation of each event, label and decision of a history. */
export function explained(model: ModelDocument, { events, decisions }: History): readonly unknown[] {
  let state: OperatorState | null = null;
  const weights: EventWeights[] = [];
  const told: unknown[] = [];
  for (const event of events) {
    const { now, domain } = event;
    const interaction = recordedInteractionSchema.parse(event.interaction);
    told.push(explainScore(model, state, { interaction, domain, now }));
    const scored: Scored = score(model, state, { interaction, domain, now }, {
      mode: "full",
      modeOverride: "normal",
    });
    weights.push(scored.weights);
    state = scored.state;
    const label = labelOf(events, event, weights);
    if (label === null) continue;
    told.push(explainLabel(model, state, label));
    state = applyLabel(model, state, label);
  }
  return [...told, ...decisions.map((decision) => explainDecision(model, state, decision))];
}

/** The label that becomes known after an event; null if there is none. */
function labelOf(
  events: readonly Event[],
  { label }: Event,
  weights: readonly EventWeights[],
): LateLabel | null {
  if (label === undefined) return null;
  const { decision, scenario_type = "standard" } = events[label.of]!.interaction;
  const { outcome_correct } = label;
  return { weights: weights[label.of]!, decision, scenario_type, outcome_correct };
}

const firedOf = ({ policy_triggers }: DrsResult) => policy_triggers.filter(({ triggered }) => triggered);

const TEXTS = ["purpose", "setup", "instructions", "debrief", "sample_case"];

function withoutTexts(plan: ExercisePlan) {
  return {
    ...plan,
    exercises: plan.exercises.map(({ id }) => id),
    first: Object.fromEntries(
      Object.entries(plan.exercises[0]!.payload).filter(([name]) => !TEXTS.includes(name)),
    ),
  };
}

function answeredReport(model: ModelDocument, given: Golden["reports"][number]): Golden["reports"][number] {
  const { domain, period, data } = given;
  const organization = { org_id: "acme", name: "Acme", domain };
  const { overall_status, status_certain, findings, organization_rule, population, figures } = reportOf(
    { document: model, sha256: "" },
    {
      organization,
      period,
      data: { ...data, records: data.records.map((row) => withVerdict<PeriodData["records"][number]>(row)) },
    },
  );
  const { verdicts: _, ...shown } = figures;
  const report = {
    overall_status,
    status_certain,
    findings: findings.map((finding) => ({
      provision: finding.provision,
      status: finding.status,
      status_certain: finding.status_certain,
      observed: finding.observed,
      threshold: finding.threshold,
      operators: finding.operators,
      passing: finding.passing,
      undetermined: finding.undetermined,
      capped: finding.capped !== null,
    })),
    organization_rule,
    population,
    figures: { ...shown, histogram: figures.histogram.map(({ operators }) => operators) },
  };
  return { ...given, report };
}
