/** The metrics of the catalogue over the decided cases of a run, as exercises.md defines them. */

/** A decided case. */
export interface DecidedCase {
  readonly decision: string;
  /** Whether the advice was right; null if the reviewer did not see it. */
  readonly ai_correct: boolean | null;
  readonly correct: boolean;
}

/** Cases over which `accuracy_next_5` is computed. */
const NEXT_CASES = 5;

/** The value of a metric over the decided cases, 0 to 1; null if the cases do not give it. */
export function metricValue(metric: string, cases: readonly DecidedCase[]): number | null {
  const shareOf = (some: readonly DecidedCase[], fits: (one: DecidedCase) => boolean) =>
    some.length === 0 ? null : some.filter(fits).length / some.length;
  const correct = ({ correct }: DecidedCase) => correct;
  const advised = (isRight: boolean) => cases.filter(({ ai_correct }) => ai_correct === isRight);
  switch (metric) {
    case "accuracy":
      return shareOf(cases, correct);
    case "accuracy_next_5":
      return shareOf(cases.slice(0, NEXT_CASES), correct);
    case "hit_rate":
    case "over_reliance_avoided":
      return shareOf(advised(false), correct);
    case "balanced_accuracy":
      return both(
        shareOf(advised(true), correct),
        shareOf(advised(false), correct),
        (right, wrong) => (right + wrong) / 2,
      );
    case "accuracy_gap": {
      const alone = cases.filter(({ ai_correct }) => ai_correct === null);
      const helped = cases.filter(({ ai_correct }) => ai_correct !== null);
      return both(
        shareOf(helped, correct),
        shareOf(alone, correct),
        (with_, without) => Math.min(1, 1 - (with_ - without)),
      );
    }
    case "justified_override_rate": {
      const overridden = cases.filter(({ decision }) => decision === "overridden");
      const missed = advised(false).filter(({ decision }) => decision !== "overridden").length;
      const all = overridden.length + missed;
      return all === 0 ? null : overridden.filter(correct).length / all;
    }
    default:
      return null;
  }
}

function both(one: number | null, other: number | null, join: (one: number, other: number) => number) {
  return one === null || other === null ? null : join(one, other);
}
