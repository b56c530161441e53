/**
 * Whom programmes of sealed probes find: the verdicts by share of probes, and how many probes settle a verdict. Each
 * figure's `after` is a number of live cases.
 */
import { NO_PARTS } from "../scoring/known_cases.ts";
import type { ModelDocument } from "../scoring/model.ts";
import { PLAIN_POLICY } from "./probe_policy.ts";
import {
  KIND_NAMES,
  KINDS,
  KNOWN_SHARES,
  LONGEST,
  type Look,
  looksAfter,
  NATURAL_RATES,
  percent,
  type Reviewer,
  reviewersOf,
  type Setting,
  statusShares,
  USUAL_RATE,
  USUAL_SHARE,
} from "./programme_samples.ts";
import { liveEnvironment, programme, recorded, statusAt } from "./programmes.ts";
import { seeded } from "./random.ts";
import type { Measured, Run } from "./samples.ts";
import { quantile, shareOf } from "./statistics.ts";
import { statusName } from "./verdicts.ts";

/** Shares of live cases before which a probe comes, 0..0.1, and numbers of live cases after which is looked. */
export const PROBE_SHARES = [0, 0.005, 0.01, 0.02, 0.05, 0.1] as const;
export const PROGRAMME_LENGTHS = [100, 250, 500, LONGEST] as const;

/** Names a cell of {@link detection}; without any live outcome the AI's rate of errors changes nothing. */
export function detectionSetting(share: number, known: number, aiErrorRate: number): string {
  const natural = known === 0 ? "" : `, AI wrong ${percent(aiErrorRate)}`;
  return `probes ${percent(share)}, outcomes known ${percent(known)}${natural}`;
}

/**
 * Measures the verdicts of blind and of careful reviewers by share of probes, by natural error rate of the AI and by
 * share of live outcomes that become known.
 */
export function detection(run: Run): readonly Measured[] {
  return KIND_NAMES.flatMap((of) =>
    NATURAL_RATES.flatMap((aiErrorRate, at) => {
      const environment = liveEnvironment(aiErrorRate);
      const reviewers = reviewersOf(run, KINDS[of], { environment, policy: PLAIN_POLICY });
      const shares = at === 0 ? KNOWN_SHARES : KNOWN_SHARES.filter((known) => known > 0);
      return shares.flatMap((known) =>
        PROBE_SHARES.flatMap((rate) => {
          const terms = { policy: { ...PLAIN_POLICY, rate }, known };
          const looks = reviewers.map((one) => looksAfter(run.model, one, terms, PROGRAMME_LENGTHS));
          return PROGRAMME_LENGTHS.flatMap((after, index) =>
            statusShares(looks.map((own) => own[index]!.status), {
              setting: detectionSetting(rate, known, aiErrorRate),
              of,
              after,
            })
          );
        })
      );
    })
  );
}

// ---- how many probes settle a verdict -----------------------------------------------------------------------

/** Most probes that are looked at; one more stands for a verdict that did not come. */
export const MOST_PROBES = 100;
const WRONG_SHARES = [0.15, 0.5, 0.8] as const;

/** Measures after how many probes the first certain verdict comes: by probes alone, and with live outcomes. */
export function probesToSettle(run: Run): readonly Measured[] {
  const settings = [
    ...WRONG_SHARES.map((wrongShare) => ({ wrongShare, known: 0, aiErrorRate: USUAL_RATE })),
    ...NATURAL_RATES.map((aiErrorRate) => ({ wrongShare: 0.5, known: 0.1, aiErrorRate })),
  ];
  return settings.flatMap(({ wrongShare, known, aiErrorRate }) => {
    const natural = known === 0 ? "" : `, AI wrong ${percent(aiErrorRate)}`;
    const policy = { ...PLAIN_POLICY, rate: USUAL_SHARE, wrongShare };
    const setting = `${percent(wrongShare)} of probes wrong, outcomes known ${percent(known)}${natural}`;
    return KIND_NAMES.flatMap((of): readonly Measured[] => {
      const environment = liveEnvironment(aiErrorRate);
      const settled = reviewersOf(run, KINDS[of], { environment, policy }).map((one) =>
        firstVerdict(run.model, one, { policy, known })
      );
      const counts = settled.map(({ probes }) => probes);
      const figure = (name: string, value: number) => ({
        measure: `${setting}: ${name}`,
        of,
        after: null,
        value,
      });
      return [
        figure("probes until a verdict, median", quantile(counts, 0.5)),
        figure("probes until a verdict, nine in ten", quantile(counts, 0.9)),
        figure(`no verdict within ${MOST_PROBES} probes`, shareOf(counts, (count) => count > MOST_PROBES)),
        ...(["compliant", "non_compliant"] as const).map((status) =>
          figure(`first verdict ${statusName(status)}`, shareOf(settled, (one) => one.status === status))
        ),
      ];
    });
  });
}

/** The first certain verdict, looked for after each probe. */
function firstVerdict(
  model: ModelDocument,
  { name, work }: Reviewer,
  { policy, ...terms }: Setting,
): Look {
  let [parts, probes] = [NO_PARTS, 0];
  for (const step of programme(work, policy, { due: seeded(`${name}/due`) })) {
    parts = recorded(model, parts, step, terms);
    if (!step.worked.isProbe) continue;
    probes += 1;
    const status = statusAt(model, parts, step.now);
    if (status !== "undetermined") return { probes, status };
    if (probes === MOST_PROBES) break;
  }
  return { probes: MOST_PROBES + 1, status: "undetermined" };
}
