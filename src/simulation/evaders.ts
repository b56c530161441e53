/**
 * Reviewers who wave live work through and defeat sealed probes, each as data, with what it does in one sentence; and
 * the same reviewer without any trick, to hold them against. No published figures are known for the numbers: they
 * were chosen once, as people could be, and stand here so that they can be changed.
 */
import type { Environment, Operator } from "./archetypes.ts";
import { drawFrom } from "./populations.ts";
import { drawProbe, type ProbePolicy } from "./probe_policy.ts";
import { type Work, type WorkedCase, workLive, workProbe } from "./programmes.ts";
import { type Random, seeded } from "./random.ts";

/** Probes of the same content that a team had so far, by content. */
export type ContentUses = Map<string, number>;

/** A reviewer's two ways of working, and chance. */
interface Self {
  /** How the reviewer works on what is not suspected. */
  readonly blind: Operator;
  /** How the same reviewer works with care. */
  readonly careful: Operator;
  readonly chance: Random;
}

/** Decides how a reviewer works on each case. It may remember: one is made for each reviewer. */
interface Habit {
  onLive(): Operator;
  /** `uses` is how often the team, the reviewer included, had a probe of this content before. */
  onProbe(uses: number): Operator;
}

interface Evader {
  readonly does: string;
  /** Contents of wrong and of right advice each from which a team's probes are taken. */
  readonly contents: number;
  readonly habit: (self: Self) => Habit;
}

/** Contents of each kind where nothing else is said: far more than a team meets. */
const MANY_CONTENTS = 10_000;
const FEW_CONTENTS = 50;
/** Chance, 0..1, with which one earlier use of a content is told to a reviewer. */
const TOLD = 0.1;
/** Probes that were debriefed before a learner spots some, and the chance of spotting the next, 0..1. */
const LEARNED_AFTER = 5;
const SPOTTED = 0.8;
/** Live cases for which a warned reviewer is careful, and those over which the care is lost in a straight line. */
export const WARY_CASES = 20;
const DRIFT_CASES = 20;

/** Decides as the advice deserves: the answer is known. */
const KNOWS_ANSWER = { goesAlong: { whenRight: 1, whenWrong: 0 } } as const;

const unsuspecting = ({ blind }: Self): Habit => ({ onLive: () => blind, onProbe: () => blind });

export const EVADERS = {
  blind: {
    does: "Waves nearly everything through, probes as well as live cases.",
    contents: MANY_CONTENTS,
    habit: unsuspecting,
  },
  careful: {
    does: "Judges nearly every case, probes as well as live cases.",
    contents: MANY_CONTENTS,
    habit: ({ careful }) => ({ onLive: () => careful, onProbe: () => careful }),
  },
  talkers: {
    does:
      `Does as blind, in a team that talks: each earlier use of a probe's content is told with a chance of ${TOLD}, and a known probe is answered rightly. There are ${FEW_CONTENTS} contents of each kind.`,
    contents: FEW_CONTENTS,
    habit: ({ blind, chance }) => ({
      onLive: () => blind,
      onProbe: (uses) => chance.bernoulli(1 - (1 - TOLD) ** uses) ? { ...blind, ...KNOWS_ANSWER } : blind,
    }),
  },
  learners: {
    does:
      `Does as blind, spots each probe with a chance of ${SPOTTED} after ${LEARNED_AFTER} that were debriefed, and judges it with care.`,
    contents: MANY_CONTENTS,
    habit({ blind, careful, chance }) {
      let debriefed = 0;
      return {
        onLive: () => blind,
        onProbe() {
          const isSpotted = chance.bernoulli(SPOTTED) && debriefed >= LEARNED_AFTER;
          debriefed += 1;
          return isSpotted ? careful : blind;
        },
      };
    },
  },
  warned: {
    does:
      `Does as blind, and after each probe, which is debriefed, judges ${WARY_CASES} cases with care and time, and loses the care over ${DRIFT_CASES} more.`,
    contents: MANY_CONTENTS,
    habit(self) {
      let since = Infinity;
      const now = () => withCare(self, careAfter(since));
      return {
        onLive() {
          const operator = now();
          since += 1;
          return operator;
        },
        onProbe() {
          const operator = now();
          since = 0;
          return operator;
        },
      };
    },
  },
} as const satisfies Record<string, Evader>;
export type EvaderName = keyof typeof EVADERS;
export const EVADER_NAMES = Object.keys(EVADERS) as readonly EvaderName[];

/** The care, 0..1, of a warned reviewer, so many live cases after a probe. */
export function careAfter(cases: number): number {
  return Math.max(0, Math.min(1, 1 - (cases - WARY_CASES) / DRIFT_CASES));
}

/** A reviewer between both ways of working; the one who takes any care takes the time of a careful one. */
function withCare({ blind, careful }: Self, care: number): Operator {
  if (care === 0) return blind;
  const theta = blind.theta.to + care * (careful.theta.to - blind.theta.to);
  return { ...careful, theta: { from: theta, to: theta, over: 0 } };
}

/**
 * A reviewer of a kind at work in a team. `uses` is the team's, and is written to: ask for the cases of its members in
 * the order in which they are decided. Cases are drawn when they are asked for, and are not kept.
 */
export function evaderWork(
  evader: EvaderName,
  { environment, policy, name, uses }: {
    readonly environment: Environment;
    readonly policy: ProbePolicy;
    /** Name of the seeds. */
    readonly name: string;
    readonly uses: ContentUses;
  },
): Work {
  const { contents, habit: habitOf }: Evader = EVADERS[evader];
  const [cases, labels] = [seeded(`${name}/live`), seeded(`${name}/labels`)];
  const habit = habitOf({
    blind: drawFrom("rubber_stamper", seeded(`${name}/blind`)),
    careful: drawFrom("independent", seeded(`${name}/careful`)),
    chance: seeded(`${name}/habit`),
  });
  return {
    live: (index) => workLive(habit.onLive(), index, { environment, cases, labels }),
    probe(ordinal, index): WorkedCase {
      const random = seeded(`${name}/probe/${ordinal}`);
      const probe = drawProbe(policy, random);
      const content = `${probe.isWrong}/${Math.floor(random.uniform(0, contents))}`;
      const before = uses.get(content) ?? 0;
      uses.set(content, before + 1);
      const operator = habit.onProbe(before);
      return { ...workProbe(operator, probe, { environment, index, random }), isFresh: before === 0 };
    },
  };
}
