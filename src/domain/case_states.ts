/** The causes, states and steps of cases, without their schemas: the console uses them. Source: oversight-loop design, section 4. */

/** Why a case is opened. */
export const CASE_CAUSES = [
  /** The verdict is certainly below the threshold. */
  "at_risk",
  /** A sealed probe with wrong advice was followed at high stakes. */
  "probe_missed",
  /** The projection falls below the threshold soon. */
  "projected_below",
  /** There was no interaction for long. */
  "away",
  /** Probes were shown and never decided. */
  "probes_lost",
  /** The reviewer contests a record. */
  "contest",
  /** Somebody of the organization sees a reason. */
  "by_hand",
] as const;
export type CaseCause = (typeof CASE_CAUSES)[number];

export const CASE_STATES = ["open", "assigned", "waiting", "done", "dismissed"] as const;
export type CaseState = (typeof CASE_STATES)[number];

/** The states in which a case still needs somebody. */
export const OPEN_CASE_STATES = ["open", "assigned", "waiting"] as const satisfies readonly CaseState[];

export function isOpenCase(state: CaseState): boolean {
  return (OPEN_CASE_STATES as readonly CaseState[]).includes(state);
}

/** The kinds of steps. */
export const CASE_STEPS = ["assign", "note", "exercise", "wait", "done", "dismiss"] as const;
export type CaseStep = (typeof CASE_STEPS)[number];

/** The state after a step; a note and an exercise leave it as it is. `hasOwner` is that after the step. */
export function stateAfter(
  state: CaseState,
  { step, hasOwner }: { readonly step: CaseStep; readonly hasOwner: boolean },
): CaseState {
  switch (step) {
    case "assign":
      return hasOwner ? "assigned" : "open";
    case "note":
    case "exercise":
      return state;
    case "wait":
      return "waiting";
    case "done":
      return "done";
    case "dismiss":
      return "dismissed";
  }
}
