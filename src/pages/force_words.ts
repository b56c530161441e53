/**
 * Whether a law is in force, in words. The dates are those of the signed finding, which has them from the one table of rules in
 * the model document (`law.rules`).
 */
import type { Finding } from "../domain/report.ts";
import { dayInWords } from "./wording.ts";

/** Whether a provision is in force, and what is known of its dates. */
export interface ForceWords {
  /** `Not yet in force`. */
  readonly state: string;
  /** `applies from 2 December 2027`. */
  readonly dates: string;
  /** Both as one phrase: `Not yet in force: applies from 2 December 2027`. */
  readonly phrase: string;
}

/**
 * Whether a finding's provision is in force on a day, in words.
 * @param day ISO date: the last day of the report's period, of which the finding says it.
 */
export function forceInWords(
  { in_force: isInForce, in_force_from: from, in_force_until: until }: Pick<
    Finding,
    "in_force" | "in_force_from" | "in_force_until"
  >,
  day: string,
): ForceWords {
  const [first, last] = [from, until].map((date) => date === null ? null : dayInWords(date));
  const words = (state: string, dates: string) => ({
    state,
    dates,
    phrase: isInForce ? `${state} ${dates}` : `${state}: ${dates}`,
  });
  if (isInForce) {
    const since = first === null ? "since a day that is not known" : `since ${first}`;
    return words("In force", last === null ? since : `${since}, until ${last}`);
  }
  if (from !== null && from > day) return words("Not yet in force", `applies from ${first}`);
  if (until !== null && until < day) {
    return words(
      "No longer in force",
      first === null ? `ended on ${last}` : `ended on ${last}, applied from ${first}`,
    );
  }
  const unknown = first === null ? "no day is known from which it applies" : `its dates begin on ${first}`;
  return words("Not in force", last === null ? unknown : `${unknown}; ends on ${last}`);
}
