/** Why an operator's verdict is what it is, and what to do next, in sentences. */
import {
  ESTIMATE_LEVEL,
  type Estimates,
  type RateEstimate,
  type RatePair,
  type RatesBehind,
} from "../scoring/estimates.ts";
import { partInWords, verdictReason } from "../scoring/verdict_words.ts";
import type { Verdict } from "../scoring/verdict.ts";
import { rateInWords, SAYS_LITTLE, saysLittle } from "./estimates.ts";
import { countInWords, dayInWords, shareInWords } from "./wording.ts";

/**
 * How the operator judged the work that the verdict rests on: what both rates come to, if known cases settle it, then both with
 * their intervals. A part without rates of its own, such as a domain, is said by those of all live work.
 */
export function conductInWords({ part }: Pick<Verdict, "part">, estimates: Estimates): string {
  const own = part === "high_stakes" || part === "critical" ? estimates[part] : null;
  const { departs_when_wrong: wrong, departs_when_right: right }: RatePair = own ?? estimates;
  const where = own === null ? "In live work" : `On ${partInWords(part)}`;
  if (wrong.cases + right.cases === 0) {
    return `${where} it is not known yet how the operator judges: ${NO_CASE}.`;
  }
  const rate = ({ mean, low, high }: typeof wrong) =>
    `${rateInWords(mean)} (${rateInWords(low)} to ${rateInWords(high)})`;
  const habit = habitInWords({ wrong: mostlyOf(wrong), right: mostlyOf(right) });
  const beginning = habit === null
    ? `${where} the operator departs`
    : `${where} the operator ${habit}. The operator departs`;
  return `${beginning} from wrong advice in ${rate(wrong)} of the cases and from right advice in ${
    rate(right)
  }; each range holds its figure with ${shareInWords(ESTIMATE_LEVEL)}.${littleInWords({ wrong, right })}`;
}

/** The reason why nothing is said of an operator of whom the model knows only what is usual among people. */
const NO_CASE = "there is no known case of wrong or right advice";

/** A sentence about the rates that rest on few known cases, with a space before it; empty if there is none. */
function littleInWords({ wrong, right }: Readonly<Record<"wrong" | "right", RateEstimate>>): string {
  const cases = ({ cases }: RateEstimate) =>
    cases === 0 ? "no known case" : countInWords(cases, "known case");
  if (saysLittle(wrong) && saysLittle(right)) {
    return ` Both rates say little: they rest on ${cases(wrong)} of wrong advice and ${
      right.cases === 0 ? "none" : right.cases
    } of right advice.`;
  }
  const little = ([["wrong", wrong], ["right", right]] as const).find(([, rate]) => saysLittle(rate));
  if (little === undefined) return "";
  return ` The rate for ${little[0]} advice ${SAYS_LITTLE}: it rests on ${cases(little[1])}.`;
}

/**
 * Whether most advice of a kind is followed or departed from; null if the interval leaves both open, or if so few known cases gave
 * it that it is narrow by what is usual among people.
 */
function mostlyOf(rate: RateEstimate): "followed" | "departed from" | null {
  if (saysLittle(rate)) return null;
  const { low, high } = rate;
  if (high < 0.5) return "followed";
  return low > 0.5 ? "departed from" : null;
}

/** Says in words how an operator treats most advice; null if neither rate settles it. */
function habitInWords(
  { wrong, right }: Readonly<Record<"wrong" | "right", ReturnType<typeof mostlyOf>>>,
): string | null {
  const does = { "followed": "follows", "departed from": "turns down or changes" } as const;
  if (wrong !== null && wrong === right) return `${does[wrong]} most advice, right or wrong`;
  const said = [
    ...(wrong === null ? [] : [`${does[wrong]} most wrong advice`]),
    ...(right === null ? [] : [`${does[right]} most right advice`]),
  ];
  return said.length === 0 ? null : said.join(" and ");
}

/** How an operator judges, for a list: the habit, if the intervals settle one, and the sentence that begins with it. */
export interface ShortConduct {
  readonly habit: string;
  readonly sentence: string;
}

/** The conduct of {@link conductInWords} in one sentence. Without a settled habit the first rate stands in its place. */
export function conductInShort(
  { work, departs_when_wrong: wrong, departs_when_right: right }: RatesBehind,
): ShortConduct {
  const where = work === "live" ? "" : ` on ${partInWords(work)}`;
  if (wrong.cases + right.cases === 0) {
    return {
      habit: `Not known yet${where}`,
      sentence: `How advice is treated${where} is not known yet: ${NO_CASE}.`,
    };
  }
  const does = habitInWords({ wrong: mostlyOf(wrong), right: mostlyOf(right) });
  const known = countInWords(wrong.cases, "known case");
  const rates = `from wrong advice in ${rateInWords(wrong.mean)} (${rateInWords(wrong.low)} to ${
    rateInWords(wrong.high)
  }, ${known}), from right advice in ${rateInWords(right.mean)}.`;
  if (does === null && wrong.cases === 0) {
    return {
      habit: `Not known yet${where}: no known case of wrong advice`,
      sentence:
        `How wrong advice is treated${where} is not known yet: there is no known case of it. Departs from right advice in ${
          rateInWords(right.mean)
        }.`,
    };
  }
  if (does === null) {
    return {
      habit: `Departs from wrong advice in ${rateInWords(wrong.mean)}${where}`,
      sentence: `Departs${where} ${rates}`,
    };
  }
  // The habit in both kinds of advice ends with a clause of its own.
  const comma = where !== "" && does.includes(",") ? "," : "";
  const habit = does.charAt(0).toUpperCase() + does.slice(1);
  return { habit: `${habit}${comma}${where}`, sentence: `${habit}${comma}${where}: departs ${rates}` };
}

/** An exercise that is set and not over. */
export interface OpenExercise {
  readonly title: string;
  readonly decided: number;
  readonly case_count: number;
  /** ISO 8601. */
  readonly expires_at: string;
}

/** The next step while an exercise is set and not over: the same on an operator's page and in the cases. */
export function waitInWords({ title, decided, case_count, expires_at }: OpenExercise): string {
  return `Wait for “${title}”: ${decided} of ${countInWords(case_count, "case")} decided, until ${
    dayInWords(expires_at)
  }.`;
}

export interface NextStep {
  /**
   * What the button does: `wait` leads to the exercise that is set, `label` to decisions whose outcome may be known by now,
   * `exercise` sets one; `nothing` has no button.
   */
  readonly act: "wait" | "label" | "exercise" | "nothing";
  readonly sentence: string;
}

/** The next step about an operator: the first of these that applies. */
export function nextStep({ verdict, open, isNotHeardOf, daysAway, aim, fallsOn }: {
  /** Null with the formulas before `jis-3`. */
  readonly verdict: Verdict | null;
  /** The newest exercise that is set and not over; null if there is none. */
  readonly open: OpenExercise | null;
  readonly isNotHeardOf: boolean;
  /** Days since the last interaction. */
  readonly daysAway: number;
  /** The aim of the recommended exercise, in words; null if none is recommended. */
  readonly aim: string | null;
  /** The day of ISO 8601 on which the projection falls below the minimum, if that is still to come; else null. */
  readonly fallsOn: string | null;
}): NextStep {
  if (open !== null) return { act: "wait", sentence: waitInWords(open) };
  if (verdict?.status === "undetermined") {
    return {
      act: "label",
      sentence:
        `Say of decisions whose outcome is known by now whether they were right, or let sealed probes run: ${
          verdictReason(verdict)
        }.`,
    };
  }
  if (verdict?.status === "non_compliant" || aim !== null) {
    return {
      act: "exercise",
      sentence: `Set an exercise${
        aim === null ? "" : ` that trains ${aim}`
      }, and look at its effect after 30 more live cases.`,
    };
  }
  if (isNotHeardOf) {
    return {
      act: "nothing",
      sentence: `Find out why there was no interaction for ${
        countInWords(daysAway, "day")
      }: a leave, another task, or a system that sends nothing.`,
    };
  }
  return {
    act: "nothing",
    sentence: fallsOn === null
      ? "Nothing needs to be done now."
      : `Nothing needs to be done now. Without new work the projection falls below the minimum around ${
        dayInWords(fallsOn)
      }.`,
  };
}
