/**
 * The data behind the figures that pictures show: the spread of the scores, and a score for each operator.
 */
import { roundTo } from "../scoring/arithmetic.ts";
import type { ArchetypeName } from "./archetypes.ts";
import { discrimination } from "./histories.ts";
import { ALL_ARCHETYPES } from "./populations.ts";
import { jisAfter, type Run, scoredOf } from "./samples.ts";
import { quantile } from "./statistics.ts";

/** Scores of one archetype after `after` interactions: the 5th, 50th and 95th percentile, 0..100. */
interface Spread {
  readonly of: ArchetypeName;
  readonly after: number;
  readonly low: number;
  readonly median: number;
  readonly high: number;
}

/** The distributions of one seed. */
export interface Distributions {
  readonly seed: number;
  readonly spreads: readonly Spread[];
  /** One entry for each operator of `spectrum`: J*, and the JIS after 200 interactions. */
  readonly spectrum: readonly { readonly latent: number; readonly jis: number }[];
}

export function distributions(run: Run): Distributions {
  const spectrum = scoredOf(run, "spectrum");
  const jis = jisAfter(spectrum, 200);
  return {
    seed: run.seed,
    spreads: ALL_ARCHETYPES.flatMap((name) => {
      const scored = scoredOf(run, name);
      return [50, 200].map((after) => {
        const at = (share: number) => roundTo(quantile(jisAfter(scored, after), share), 2);
        return { of: name, after, low: at(0.05), median: at(0.5), high: at(0.95) };
      });
    }),
    spectrum: spectrum.map(({ operator }, index) => ({
      latent: roundTo(discrimination(operator, 0), 4),
      jis: roundTo(jis[index]!, 2),
    })),
  };
}
