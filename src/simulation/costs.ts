/** How the verdicts move with the costs of the model document: of a review, and of a false alarm. */
import { DIMENSIONS, VERDICT_STATUSES } from "../domain/enums.ts";
import { requireDiscrimination } from "../scoring/discrimination.ts";
import type { ModelDocument } from "../scoring/model.ts";
import { readState } from "../scoring/reading.ts";
import { BAD, environmentOf, type PopulationName } from "./populations.ts";
import { type Measured, type Run, scoredOf, snapshotAfter } from "./samples.ts";
import { shareOf } from "./statistics.ts";
import { statusName } from "./verdicts.ts";

/** Other costs than a document's own, as factors. */
interface Factors {
  readonly review?: number;
  readonly falseAlarm?: number;
}

export const OTHER_COSTS = {
  "the model's costs": {},
  "half the review cost": { review: 0.5 },
  "one and a half times the review cost": { review: 1.5 },
  "half the false alarm cost": { falseAlarm: 0.5 },
  "twice the false alarm cost": { falseAlarm: 2 },
} as const satisfies Record<string, Factors>;
export type Costs = keyof typeof OTHER_COSTS;
export const COSTS = Object.keys(OTHER_COSTS) as readonly Costs[];

/** The model with other costs; null if no reviewer could be worth such a review. */
export function withCosts(model: ModelDocument, costs: Costs): ModelDocument | null {
  const { review = 1, falseAlarm = 1 }: Factors = OTHER_COSTS[costs];
  const section = requireDiscrimination(model);
  const review_cost = section.review_cost * review;
  if (review_cost >= section.error_rate.least) return null;
  const dimensions = Object.fromEntries(DIMENSIONS.map((name) => {
    const row = model.dimensions[name];
    const { false_alarm_cost: cost } = row;
    return [name, cost === undefined ? row : { ...row, false_alarm_cost: cost * falseAlarm }];
  })) as ModelDocument["dimensions"];
  return { ...model, dimensions, discrimination: { ...section, review_cost } };
}

const AFTER = 200;
const GROUPS: Readonly<Record<string, readonly PopulationName[]>> = {
  independent: ["independent"],
  spectrum: ["spectrum"],
  "those who do not judge": BAD,
};

/** Measures the verdicts after 200 interactions: a state does not depend on the costs, and is read again with others. */
export function atOtherCosts(run: Run): readonly Measured[] {
  const mode = "full" as const;
  return COSTS.flatMap((costs) => {
    const model = withCosts(run.model, costs);
    if (model === null) return [];
    return Object.entries(GROUPS).flatMap(([of, names]) => {
      const statuses = names.flatMap((name) => {
        const { domain } = environmentOf(name);
        return scoredOf(run, name).map((scored) =>
          readState(model, snapshotAfter(scored, AFTER).state, { domain, mode }).judgment!.verdict.status
        );
      });
      return VERDICT_STATUSES.map((status): Measured => ({
        measure: `${costs}: ${statusName(status)}`,
        of,
        after: AFTER,
        value: shareOf(statuses, (one) => one === status),
      }));
    });
  });
}
