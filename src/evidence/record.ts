/**
 * The contents of the entries of scores, decisions and late labels, and the functions that compute their
 * results from their inputs. The service makes its answers with these functions; a replay and an auditor
 * recompute them with the same ones.
 *
 * An input holds everything that the result depends on, the operator's state before it included; nothing is
 * looked up. Source: evidence design, section 12; scoring model, section 15, point 6.
 */
import * as z from "zod";
import { hash32 } from "../domain/hash.ts";
import {
  DECISIONS,
  DOMAINS,
  FORMULAS,
  MODE_OVERRIDES,
  MODES,
  ROLE_TIERS,
  SCENARIO_TYPES,
  STAKES,
} from "../domain/enums.ts";
import { recordedInteractionSchema } from "../domain/interaction.ts";
import { type DrsResult, scoreDecision } from "../scoring/drs.ts";
import { applyLabel, type LateLabel } from "../scoring/label.ts";
import type { Model, ModelDocument } from "../scoring/model.ts";
import { score, type Scored, type ScoreResult } from "../scoring/score.ts";
import { type OperatorState, stateSchema } from "../scoring/state.ts";

const priorSchema = z.strictObject({ seq: z.int(), entry_hash: hash32 }).nullable();

const weightsSchema = z.strictObject({
  omega: z.number(),
  s: z.number(),
  r: z.number(),
  kappa: z.number(),
  wP: z.number(),
  inert: z.boolean(),
  domain: z.enum(DOMAINS),
  presented: z.boolean(),
});

const common = {
  v: z.literal("jis.input/1"),
  algo: z.strictObject({ formulas: z.enum(FORMULAS), model_version: z.string(), model_sha256: hash32 }),
  /** The request's instant. */
  as_of: z.iso.datetime(),
  operator_id: z.string(),
  /** The operator's last entry that changed the state, and the state after it. */
  prior: priorSchema,
  state: stateSchema.nullable(),
};

/** The input of a SCORE_COMPUTED entry. */
export const scoreInputSchema = z.strictObject({
  ...common,
  session_id: z.string(),
  domain: z.enum(DOMAINS),
  interaction: recordedInteractionSchema,
  mode: z.enum(MODES),
  role_tier: z.enum(ROLE_TIERS),
  mode_override: z.enum(MODE_OVERRIDES),
  weights: weightsSchema,
});
export type ScoreInput = z.infer<typeof scoreInputSchema>;

/** The input of a DRS_COMPUTED entry. */
export const decisionInputSchema = z.strictObject({
  ...common,
  decision_id: z.string(),
  domain: z.enum(DOMAINS),
  interaction: recordedInteractionSchema,
  ai_confidence: z.number().nullable(),
  stakes: z.enum(STAKES).nullable(),
});
export type DecisionInput = z.infer<typeof decisionInputSchema>;

/**
 * The input of an OUTCOME_LABELLED entry: the late label of a score, and the weights that its entry recorded.
 */
export const labelInputSchema = z.strictObject({
  ...common,
  state: stateSchema,
  session_id: z.string(),
  ref_id: z.string(),
  ref_seq: z.int(),
  ref_entry_hash: hash32,
  decision: z.enum(DECISIONS),
  scenario_type: z.enum(SCENARIO_TYPES),
  label: z.boolean(),
  /** Whether the recommendation was right, as the label says; absent if it says nothing about it. */
  ai_correct: z.boolean().optional(),
  /** The same, as the interaction said at scoring. At most one of both is there. */
  ai_correct_at_scoring: z.boolean().optional(),
  weights: weightsSchema,
});
export type LabelInput = z.infer<typeof labelInputSchema>;

/** The members that every input begins with. */
export function inputHead({ document, sha256 }: Model, now: number) {
  return {
    v: "jis.input/1",
    algo: { formulas: document.formulas, model_version: document.version, model_sha256: sha256 },
    as_of: new Date(now).toISOString(),
  } as const;
}

/** The version and hash of the model document that an input names. */
export function modelReference({ algo }: Pick<ScoreInput, "algo">) {
  return { version: algo.model_version, sha256: algo.model_sha256 };
}

/** The members of a frozen call's result, without those that repeat its input. */
interface SkippedPart {
  readonly skipped: true;
  readonly reason: "incident_frozen";
  readonly jis: null;
  readonly mode: "standard" | "lite";
}

/** The `result` part of a score, or of a call that was skipped. */
export function scoreResultPart(
  input: Omit<ScoreInput, "weights" | "prior" | "state">,
  result: ScoreResult | SkippedPart,
): Record<string, unknown> {
  return {
    ...result,
    session_id: input.session_id,
    operator_id: input.operator_id,
    role_tier: input.role_tier,
    mode_override: input.mode_override,
    model: modelReference(input),
  };
}

/** The `result` part of a decision; `auditId` is its entry's id. */
export function decisionResultPart(
  input: DecisionInput,
  { result, auditId }: { readonly result: DrsResult; readonly auditId: string },
): Record<string, unknown> {
  return {
    decision_id: input.decision_id,
    operator_id: input.operator_id,
    domain: input.domain,
    ...result,
    audit_id: auditId,
    model: modelReference(input),
  };
}

/** Computes the score of an input. */
export function computeScore(
  document: ModelDocument,
  input: Pick<ScoreInput, "as_of" | "interaction" | "domain" | "mode" | "state">,
): Scored {
  return score(
    document,
    input.state,
    { interaction: input.interaction, domain: input.domain, now: Date.parse(input.as_of) },
    { mode: input.mode, modeOverride: "normal" },
  );
}

/** Computes the decision score of an input. */
export function computeDecision(document: ModelDocument, input: DecisionInput): DrsResult {
  return scoreDecision(document, input.state, {
    interaction: input.interaction,
    domain: input.domain,
    stakes: input.stakes,
    now: Date.parse(input.as_of),
  });
}

/** Computes the state after a late label. */
export function computeLabel(document: ModelDocument, input: LabelInput): OperatorState {
  return applyLabel(document, input.state, lateLabelOf(input));
}

/** The late label of an input, in the form that the model takes. */
export function lateLabelOf(input: LabelInput): LateLabel {
  const { weights, decision, scenario_type, label, ai_correct, ai_correct_at_scoring } = input;
  return {
    weights,
    decision,
    scenario_type,
    outcome_correct: label,
    ai_correct: ai_correct ?? ai_correct_at_scoring,
    // The score of a modification waited for its outcome.
    isAdviceCounted: ai_correct_at_scoring !== undefined && decision !== "modified",
  };
}

/** One place where a recomputed value differs from the recorded one. */
export interface Difference {
  /** Member names and indexes, joined by dots. */
  readonly path: string;
  /** null if the member is absent; the same for `replayed`. */
  readonly recorded: unknown;
  readonly replayed: unknown;
}

/** Every place where two JSON values differ, in the order of the first one's members. */
export function differencesOf(recorded: unknown, replayed: unknown, path = ""): readonly Difference[] {
  if (isContainer(recorded) && isContainer(replayed) && Array.isArray(recorded) === Array.isArray(replayed)) {
    const names = new Set([...Object.keys(recorded), ...Object.keys(replayed)]);
    return [...names].flatMap((name) =>
      differencesOf(
        memberOf(recorded, name),
        memberOf(replayed, name),
        path === "" ? name : `${path}.${name}`,
      )
    );
  }
  if (recorded === replayed) return [];
  return [{ path, recorded: recorded ?? null, replayed: replayed ?? null }];
}

function isContainer(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}

function memberOf(container: Record<string, unknown>, name: string): unknown {
  return Object.hasOwn(container, name) ? container[name] : undefined;
}
