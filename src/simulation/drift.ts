/** How long it takes until a change of behaviour shows, and how often something shows without one. */
import { DEFAULT_ENVIRONMENT } from "./archetypes.ts";
import { type ScoreSnapshot, stepsOf } from "./histories.ts";
import { drawFrom } from "./populations.ts";
import { seeded } from "./random.ts";
import type { Measured, Run } from "./samples.ts";
import { quantile, shareOf } from "./statistics.ts";

/** Interactions before behaviour changes, and most interactions after the change. */
const BEFORE = 100;
const AFTER = 300;
/** Interactions until the first look at the score, and from one to the next: a delay is known to so many. */
const FIRST_LOOK = 50;
const LOOK_EVERY = 5;
/** Stands for a sign that did not show: one look more than there were. */
const NEVER = AFTER + LOOK_EVERY;
/** θ after the change: hardly any case is evaluated. */
const THETA_AFTER = 0.05;

type Look = Pick<ScoreSnapshot, "after" | "jis" | "status">;

/** Something that a change should cause, in a look at a score after the one before. */
interface Sign {
  readonly name: string;
  readonly shows: (look: Look, before: Look) => boolean;
  /** Whether it can show in an operator, by the look when behaviour changes; in everybody if absent. */
  readonly isPossible?: (look: Look) => boolean;
}

/** Measures independent reviewers who from one interaction to the next begin to approve nearly everything. */
export function changes(run: Run): readonly Measured[] {
  const { min_jis: bound } = run.model.thresholds;
  const signs: readonly Sign[] = [
    { name: "JIS below the minimum", shows: ({ jis }) => jis < bound },
    ...(run.model.discrimination === undefined ? [] : VERDICT_SIGNS),
  ];
  const courses = Array.from({ length: run.operators }, (_, index) => looksOf(run, index));
  return signs.flatMap((sign) => {
    const { isPossible = () => true } = sign;
    const possible = courses.filter((looks) => isPossible(looks.find(({ after }) => after === BEFORE)!));
    const waits = possible.map((looks) => {
      const first = showing(looks, sign).find(({ after }) => after > BEFORE);
      return first === undefined ? NEVER : first.after - BEFORE;
    });
    const isEarly = (looks: readonly Look[]) => showing(looks, sign).some(({ after }) => after <= BEFORE);
    const figure = (measure: string, value: number) => ({ measure, of: sign.name, after: null, value });
    return [
      figure("a change can show", possible.length / courses.length),
      ...(possible.length === 0 ? [] : [
        figure("interactions until a change shows, median", quantile(waits, 0.5)),
        figure("interactions until a change shows, nine in ten", quantile(waits, 0.9)),
        figure(`no change shows within ${AFTER}`, shareOf(waits, (wait) => wait === NEVER)),
      ]),
      figure("false alarm before any change", shareOf(courses, isEarly)),
    ];
  });
}

const VERDICT_SIGNS: readonly Sign[] = [
  {
    name: "no longer certainly compliant",
    shows: ({ status }, before) => before.status === "compliant" && status !== "compliant",
    isPossible: ({ status }) => status === "compliant",
  },
  { name: "certainly at risk", shows: ({ status }) => status === "non_compliant" },
];

/** The looks in which a sign shows; the first look has none before it. */
function showing(looks: readonly Look[], { shows }: Sign): readonly Look[] {
  return looks.filter((look, index) => index > 0 && shows(look, looks[index - 1]!));
}

function looksOf({ model, seed }: Run, index: number): readonly Look[] {
  const name = `${seed}/change/${index}`;
  const before = drawFrom("independent", seeded(name));
  const after = { ...before, theta: { from: THETA_AFTER, to: THETA_AFTER, over: 0 } };
  const steps = stepsOf((at) => at < BEFORE ? before : after, {
    model,
    environment: DEFAULT_ENVIRONMENT,
    random: seeded(`${name}/history`),
  });
  const looks: Look[] = [];
  for (let at = 1; at <= BEFORE + AFTER; at += 1) {
    const step = steps.next().value;
    if (at >= FIRST_LOOK && at % LOOK_EVERY === 0) looks.push(step.read());
  }
  return looks;
}
