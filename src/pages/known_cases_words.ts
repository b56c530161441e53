/**
 * The known cases of somebody and their weight, in one sentence: two numbers for the same cases never stand without the words
 * that join them.
 */
import type { RatePair } from "../scoring/estimates.ts";
import { formatFigure } from "../scoring/wording.ts";

/** Says when a case is known; the sentence of {@link knownCasesInWords} follows it. */
export const KNOWN_CASE = "A case is known once it is clear whether the AI's advice was right.";

/** The members of a profile that say how much is known. */
export interface KnownOf {
  readonly uncertainty: { readonly effective_n: number };
  /** Null with the formulas before `jis-3`, which count no cases apart. */
  readonly estimates:
    | Readonly<Record<keyof RatePair, Pick<RatePair["departs_when_wrong"], "cases">>>
    | null;
}

/**
 * The sentence in pieces, for a page that marks each number: `figure` draws one, by its place in the profile.
 */
export function knownCasesPieces<Piece>(
  { uncertainty: { effective_n: weight }, estimates }: KnownOf,
  figure: (place: string, value: number) => Piece,
): readonly (Piece | string)[] {
  const weighed = [
    " count as ",
    figure("uncertainty.effective_n", weight),
    " today: older ones count less.",
  ];
  if (estimates === null) {
    return weight === 0 ? ["No case is known yet."] : ["All known cases together", ...weighed];
  }
  const { departs_when_wrong: { cases: wrong }, departs_when_right: { cases: right } } = estimates;
  if (wrong + right === 0) return ["In all live work no case is known yet."];
  return [
    "In all live work ",
    figure("estimates.departs_when_wrong.cases", wrong),
    ` known ${wrong === 1 ? "case" : "cases"} of wrong advice and `,
    figure("estimates.departs_when_right.cases", right),
    " of right advice",
    ...(weight === wrong + right ? [" count in full."] : weighed),
  ];
}

/** The sentence as plain text. */
export function knownCasesInWords(known: KnownOf): string {
  return knownCasesPieces(known, (_, value) => formatFigure(value, 1)).join("");
}
