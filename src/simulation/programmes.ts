/**
 * Programmes of sealed probes: a reviewer's live cases with the probes among them, the decisions on both, and how the
 * model counts them. Pure and seeded; the same names of seeds give the same history.
 * Source: design of the oversight loop, section 1.
 */
import type { Domain, VerdictStatus } from "../domain/enums.ts";
import type { Interaction } from "../domain/interaction.ts";
import { classify, departureShare, isLabelled, isUnclear } from "../scoring/classify.ts";
import { daysSinceLive, fadedTo, type PartsOfWork, withDecision } from "../scoring/known_cases.ts";
import type { ModelDocument } from "../scoring/model.ts";
import { judge } from "../scoring/verdict.ts";
import { DEFAULT_ENVIRONMENT, drawCase, type Environment, type Operator } from "./archetypes.ts";
import { instantOf } from "./clock.ts";
import { drawProbe, dueShare, type Probe, type ProbePolicy, WINDOW_MS } from "./probe_policy.ts";
import { type Random, seeded } from "./random.ts";

/** A case, live or probe, with the reviewer's decision on it. Its truth is always told here: {@link recorded} hides it. */
export interface WorkedCase {
  readonly isProbe: boolean;
  /** Whether the advice is wrong. */
  readonly isWrong: boolean;
  /** Whether the decision is right: wrong advice was not let pass, or right advice was followed. */
  readonly isDecidedWell: boolean;
  readonly domain: Domain;
  readonly interaction: Interaction;
  /** 0..1: the truth of a live case becomes known where more than this share does. */
  readonly label: number;
  /** Whether nobody in the team had a probe of the same content before; true of a live case. */
  readonly isFresh: boolean;
}

/** A reviewer at work. Cases are asked for in the order in which they are decided. */
export interface Work {
  /** The decision on live case `index`, from 0. */
  live(index: number): WorkedCase;
  /** The decision on the reviewer's probe `ordinal`, from 0, which comes before live case `index`. */
  probe(ordinal: number, index: number): WorkedCase;
}

/** Live work without planted errors and with every truth told. Rates and shares are 0..1. */
export function liveEnvironment(
  aiErrorRate: number,
  differences: Partial<Environment> = {},
): Environment {
  return {
    ...DEFAULT_ENVIRONMENT,
    injectedShare: 0,
    withheldShare: 0,
    ...differences,
    aiErrorRate,
    labelledShare: 1,
    saysAiCorrect: true,
  };
}

/** Draws an operator's decision on live case `index`, from 0, of a {@link liveEnvironment}. */
export function workLive(
  operator: Operator,
  index: number,
  { environment, cases, labels }: {
    readonly environment: Environment;
    /** Source of the case and of the decision. */
    readonly cases: Random;
    /** Source of the labels, apart, so that it changes no case. */
    readonly labels: Random;
  },
): WorkedCase {
  const { domain, interaction } = drawCase(operator, index, environment, cases);
  return { ...worked(interaction, domain), isProbe: false, label: labels.uniform(), isFresh: true };
}

/** Draws an operator's decision on a probe: the decision is drawn as on a live case of the same advice and stakes. */
export function workProbe(
  operator: Operator,
  { isWrong, stakes }: Probe,
  { environment, index, random }: {
    readonly environment: Environment;
    readonly index: number;
    readonly random: Random;
  },
): WorkedCase {
  const { domain, interaction } = drawCase(operator, index, {
    ...environment,
    aiErrorRate: isWrong ? 1 : 0,
    highStakesShare: stakes === "high_stakes" ? 1 : 0,
    criticalShare: stakes === "critical" ? 1 : 0,
  }, random);
  return { ...worked(interaction, domain), isProbe: true, label: 0, isFresh: true };
}

function worked(interaction: Interaction, domain: Domain) {
  return {
    isWrong: interaction.ai_correct === false,
    isDecidedWell: interaction.outcome_correct === true,
    domain,
    interaction,
  };
}

/** A reviewer who works on every case alike, and whose cases are kept, so that other policies meet the same ones. */
export function steadyWork(
  operator: Operator,
  { environment, policy, name }: {
    readonly environment: Environment;
    /** Kinds of the probes; the rate may differ between programmes that share the work. */
    readonly policy: ProbePolicy;
    /** Name of the seeds. */
    readonly name: string;
  },
): Work {
  const [cases, labels] = [seeded(`${name}/live`), seeded(`${name}/labels`)];
  const [live, probes]: [WorkedCase[], WorkedCase[]] = [[], []];
  return {
    live(index) {
      while (live.length <= index) {
        live.push(workLive(operator, live.length, { environment, cases, labels }));
      }
      return live[index]!;
    },
    probe(ordinal, index) {
      while (probes.length <= ordinal) {
        const random = seeded(`${name}/probe/${probes.length}`);
        probes.push(workProbe(operator, drawProbe(policy, random), { environment, index, random }));
      }
      return probes[ordinal]!;
    },
  };
}

/** A case in a programme. */
export interface Step {
  readonly worked: WorkedCase;
  /** Live cases before this one. */
  readonly index: number;
  /** Epoch milliseconds. */
  readonly now: number;
}

/**
 * An endless programme: before each live case a probe is due with the policy's share. `due` gives one draw for each
 * live case, so that with a higher rate every probe of a lower one comes, too.
 */
export function* programme(
  work: Work,
  policy: ProbePolicy,
  { due, daysBetween }: { readonly due: Random; readonly daysBetween?: number | undefined },
): Generator<Step, never> {
  /** Instants of the probes in the window, the oldest first. */
  const shown: number[] = [];
  for (let index = 0, ordinal = 0;; index += 1) {
    const now = instantOf(index, daysBetween);
    const since = now - WINDOW_MS;
    while (shown.length > 0 && shown[0]! <= since) shown.shift();
    if (due.uniform() < dueShare(policy, shown.length)) {
      shown.push(now);
      yield { worked: work.probe(ordinal, index), index, now };
      ordinal += 1;
    }
    yield { worked: work.live(index), index, now };
  }
}

/**
 * How a probe is counted. `probe`: as the model does, in every part of the work, and not for how often the AI is wrong.
 * `live`: as a live case of known truth, which says how often the AI is wrong, too. `planted`: as a planted error if its
 * advice is wrong, and as a live case otherwise.
 */
export type CountedAs = "probe" | "live" | "planted";

/** The truths that become known in a programme, and how they are counted. */
export interface Terms {
  /** Share of live cases whose truth becomes known, 0..1. */
  readonly known: number;
  /** `probe` if absent. */
  readonly countedAs?: CountedAs;
}

/**
 * The known cases with one case more, as the engine counts it. The truth of a live case is known where the share of
 * known ones is above its label; that of a probe is always known. A live case of standard stakes whose truth is not known
 * is left out: in work of one domain no verdict depends on it but by the day, which {@link statusAt} adds. @throws {TypeError} if the model is not of `jis-3`.
 */
export function recorded(
  model: ModelDocument,
  parts: PartsOfWork,
  { worked: { isProbe, isWrong, label, domain, interaction }, now }: Step,
  { known, countedAs = "probe" }: Terms,
): PartsOfWork {
  const isPlanted = isProbe && isWrong && countedAs === "planted";
  const scenario_type = isPlanted ? "error_injected" : interaction.scenario_type;
  const isKnown = isProbe || label < known;
  if (!isKnown && scenario_type === "standard") return parts;
  const decided = { ...interaction, scenario_type, departure: departureShare(model, interaction) };
  const evidence = classify(model, decided);
  return withDecision(model, fadedToday(model, parts, now), {
    domain,
    scenario_type,
    isProbe: isProbe && countedAs === "probe",
    isNew: true,
    evidence: isKnown && isLabelled(evidence) ? evidence : null,
    isUnclear: isUnclear(decided),
  });
}

/** The verdict at an instant, epoch milliseconds, at which a live case was decided. */
export function statusAt(model: ModelDocument, parts: PartsOfWork, now: number): VerdictStatus {
  return judge(model, fadedToday(model, parts, now), "full").verdict.status;
}

/** Fading to the day to which the cases have already faded changes nothing, and would take much of the time. */
function fadedToday(model: ModelDocument, parts: PartsOfWork, now: number): PartsOfWork {
  return parts.t !== null && daysSinceLive(parts, now) === 0 ? parts : fadedTo(model, parts, now);
}
