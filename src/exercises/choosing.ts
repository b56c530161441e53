/** Chooses the cases of a run from a case set. Source: oversight loop, section 2; exercises.md. */

/** Fewest cases of a run with right and with wrong advice: with fewer, skill could not be told from luck. */
const FEWEST_OF_A_KIND = 2;

interface Choosing {
  /** How many cases the run is to have; a smaller set gives fewer. */
  readonly items: number;
  /** Share of cases whose advice is to be wrong; 0 to 1. */
  readonly errorShare: number;
  /** How often the operator was set a case before, by its id. */
  readonly seen: ReadonlyMap<string, number>;
  /** Uniform numbers from 0 to below 1. */
  readonly random: () => number;
}

/**
 * Chooses cases and their order. Those that the operator was set least often come first. Wrong advice comes in the share
 * asked for, rounded up, as far as the set has enough cases of both kinds.
 */
export function chooseCases(
  cases: readonly { readonly id: string; readonly ai_correct: boolean }[],
  { items, errorShare, seen, random }: Choosing,
): readonly string[] {
  const ofKind = (isRight: boolean) =>
    cases.filter(({ ai_correct }) => ai_correct === isRight)
      .map(({ id }) => ({ id, seen: seen.get(id) ?? 0, place: random() }))
      .sort((one, other) => one.seen - other.seen || one.place - other.place);
  const [right, wrong] = [ofKind(true), ofKind(false)];
  const count = Math.min(cases.length, Math.max(items, 2 * FEWEST_OF_A_KIND));
  const wished = Math.max(FEWEST_OF_A_KIND, Math.ceil(count * errorShare));
  const fromWrong = Math.min(wrong.length, count - FEWEST_OF_A_KIND, Math.max(wished, count - right.length));
  return [...wrong.slice(0, fromWrong), ...right.slice(0, count - fromWrong)]
    .map(({ id }) => ({ id, place: random() })).sort((one, other) => one.place - other.place).map(({ id }) =>
      id
    );
}
