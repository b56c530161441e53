/**
 * Labelling after the fact: which scores teach most by a label, which answers a label may hold, and who must not give one.
 * Source: oversight-loop design, section 5.
 */
import type { Decision, ScenarioType } from "./enums.ts";
import { contradictionOf } from "./truth.ts";

/** A case as far as the order of the queue depends on it. */
export interface QueuedCase {
  readonly decision: Decision;
  readonly scenario_type: ScenarioType;
}

/**
 * How much a label teaches, 0 to 2: one for a decision that is no plain acceptance, one for high or critical stakes. In such a
 * decision the reviewer took the advice for wrong or doubtful, and wrong advice is what verdicts lack; the stakes have a verdict of their own.
 */
export function teachingRank({ decision, scenario_type }: QueuedCase): number {
  return Number(decision !== "accepted") +
    Number(scenario_type === "high_stakes" || scenario_type === "critical");
}

/** The two answers of a label. */
export interface LabelAnswer {
  /** Whether the advice was right; null if nobody can say. */
  readonly ai_correct: boolean | null;
  /** Whether the decision was right. */
  readonly outcome_correct: boolean;
}

/** A case as far as its questions depend on it. */
export interface AskedCase extends QueuedCase {
  /** Whether the advice was on the screen when the reviewer decided. */
  readonly ai_recommendation_presented: boolean;
}

/** The labels that a decision may get, given what was said of the advice. Empty if none fits. */
export function possibleLabels(
  { decision, scenario_type, ai_recommendation_presented }: AskedCase,
  ai_correct: boolean | null,
): readonly LabelAnswer[] {
  // If nobody can judge accepted advice, nobody can judge its acceptance: both are the same question.
  if (ai_recommendation_presented && decision === "accepted" && ai_correct === null) return [];
  return [true, false].map((outcome_correct) => ({ ai_correct, outcome_correct })).filter((answer) =>
    contradictionOf({
      decision,
      scenario_type,
      outcome_correct: answer.outcome_correct,
      ai_correct: ai_correct ?? undefined,
    }) === null
  );
}

/** The members of an account that name its person. */
export interface AccountOfPerson {
  readonly user_id: string;
  /** Null once the user is erased, or if the identity provider gave none. */
  readonly email: string | null;
  readonly name: string | null;
  /** The identity provider's name for the person; null or absent if there is none. */
  readonly issuer_subject?: string | null;
}

/**
 * Whether a user is known to be an operator: the operator's id is the user's email address, the part of it before the `@`, the
 * name, the user_id or the identity provider's subject. Only letters and digits count, without case and accents, since an id has
 * nothing else but hyphens and underscores: `ada-ruiz` is ada.ruiz@acme.example, and is Ada Ruiz.
 */
export function isKnownAsOperator(account: AccountOfPerson, operatorId: string): boolean {
  const { user_id, email, name, issuer_subject = null } = account;
  const own = plain(operatorId);
  if (own === "") return false;
  const names = [user_id, email, email?.slice(0, email.lastIndexOf("@")), name, issuer_subject];
  return names.some((text) => typeof text === "string" && plain(text) === own);
}

function plain(text: string): string {
  return text.normalize("NFKD").toLowerCase().replaceAll(/[^a-z0-9]/g, "");
}
