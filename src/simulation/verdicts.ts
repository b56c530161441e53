/**
 * The measures of the verdicts of `jis-3`: who is certainly compliant and certainly at risk, whether the interval holds
 * the value that is estimated, and what is said without truth. A verdict is certain if its status is not
 * `undetermined`; "certainly at risk" is the status `non_compliant`.
 */
import { VERDICT_STATUSES, type VerdictStatus } from "../domain/enums.ts";
import { readState } from "../scoring/reading.ts";
import { initialState } from "../scoring/state.ts";
import { DEFAULT_ENVIRONMENT, type Environment, type Operator } from "./archetypes.ts";
import { FIELD_NAMES } from "./field.ts";
import { runHistory } from "./histories.ts";
import { ALL_ARCHETYPES, BAD, drawFrom, environmentOf, HONEST, type PopulationName } from "./populations.ts";
import { seeded } from "./random.ts";
import {
  fittedName,
  fittedRun,
  type Measured,
  type Run,
  type Scored,
  scoredOf,
  snapshotAfter,
  statusShare,
  type Target,
} from "./samples.ts";
import { mean, shareOf } from "./statistics.ts";
import { trueScore } from "./truth.ts";

/** Every population whose operators have a true value. */
const KINDS = [...ALL_ARCHETYPES, "spectrum", "mixed", ...FIELD_NAMES] as const;
const LENGTHS = [50, 200] as const;

const STATUS_NAMES = {
  compliant: "certainly compliant",
  undetermined: "undetermined",
  non_compliant: "certainly at risk",
} as const;

/** The word of the figures for each status. */
export function statusName(status: VerdictStatus): string {
  return STATUS_NAMES[status];
}

/** Measures the verdicts of each kind, and how often a certain one is wrong. */
export function verdicts(run: Run): readonly Measured[] {
  return LENGTHS.flatMap((after) => [
    ...KINDS.flatMap((of) => {
      const scored = scoredOf(run, of);
      return VERDICT_STATUSES.map((status): Measured => ({
        measure: statusName(status),
        of,
        after,
        value: statusShare(scored, after, status),
        ...targetOf({ of, status, after }),
      }));
    }),
    ...wrongVerdicts(run, after),
  ]);
}

function targetOf(
  { of, status, after }: {
    readonly of: PopulationName;
    readonly status: VerdictStatus;
    readonly after: (typeof LENGTHS)[number];
  },
): { readonly target?: Target } {
  const isIn = (names: readonly PopulationName[]) => names.includes(of);
  if (status === "non_compliant" && isIn(BAD)) return { target: { least: after === 50 ? 0.8 : 0.95 } };
  if (status === "compliant" && isIn(HONEST) && after === 200) return { target: { least: 0.8 } };
  return {};
}

/** An operator's true value after some interactions, points. */
function valueOf({ model }: Run, of: PopulationName, { operator }: Scored, after: number): number {
  return trueScore(model, operator, { environment: environmentOf(of), index: after - 1 });
}

/**
 * The field where no outcome becomes known. Nothing says there how often the AI is wrong, so that a verdict rests on
 * the model's own rate.
 */
const UNTOLD_RATE = "field, planted errors alone";
/** The field with priors fitted to its people: it shows how much is the prior's, and has no target. */
const FITTED = "field, fitted priors";

/** An operator's verdict beside the true value. */
interface Judged {
  readonly isAbove: boolean;
  readonly status: VerdictStatus | null;
}

/** The verdicts of a population, in its own environment but for what is given. */
function judgedOf(
  run: Run,
  { name, after, environment }: {
    readonly name: PopulationName;
    readonly after: number;
    readonly environment?: Partial<Environment>;
  },
): readonly Judged[] {
  const { min_jis: minimum } = run.model.thresholds;
  const options = environment && {
    environment: { ...environmentOf(name), ...environment },
    lengths: [after],
  };
  return scoredOf(run, name, options).map((one) => ({
    isAbove: valueOf(run, name, one, after) >= minimum,
    status: snapshotAfter(one, after).status,
  }));
}

/** Certain verdicts that contradict the true value, among the operators who could get such a one. */
function wrongVerdicts(run: Run, after: number): readonly Measured[] {
  const judged = (names: readonly PopulationName[], environment?: Partial<Environment>) =>
    names.flatMap((name) => judgedOf(run, { name, after, ...(environment && { environment }) }));
  // A drifting reviewer's record is of other work than the present: there is no one value to be wrong about.
  const groups = {
    "honest archetypes": judged(HONEST),
    "spectrum and mixed": judged(["spectrum", "mixed"]),
    "field": judged(FIELD_NAMES),
    [FITTED]: FIELD_NAMES.flatMap((name) => judgedOf(fittedRun(run, name), { name, after })),
    [UNTOLD_RATE]: judged(FIELD_NAMES, { labelledShare: 0 }),
  };
  return Object.entries(groups).flatMap(([of, everybody]): Measured[] => {
    const above = everybody.filter(({ isAbove }) => isAbove);
    const below = everybody.filter(({ isAbove }) => !isAbove);
    const share = (people: readonly Judged[], status: VerdictStatus) =>
      shareOf(people, (one) => one.status === status);
    return [
      { measure: "true value above the minimum", of, after, value: above.length / everybody.length },
      ...(above.length === 0 ? [] : [{
        measure: "certainly at risk, true value above the minimum",
        of,
        after,
        value: share(above, "non_compliant"),
        ...(of === FITTED ? {} : { target: { most: 0.05 } }),
      }]),
      ...(below.length === 0 ? [] : [{
        measure: "certainly compliant, true value below the minimum",
        of,
        after,
        value: share(below, "compliant"),
      }]),
    ];
  });
}

/** Populations whose true values vary, in which the interval must hold as many of them as it claims. */
const COVERED: readonly PopulationName[] = ["spectrum", ...FIELD_NAMES];

/**
 * Measures how often the interval holds the true value, by kind of reviewer; the field once more with priors fitted to
 * its people.
 */
export function coverage(run: Run): readonly Measured[] {
  const samples = [
    ...KINDS.map((name) => ({ of: name as string, name, within: run, isTarget: COVERED.includes(name) })),
    ...FIELD_NAMES.map((name) => ({
      of: fittedName(name),
      name,
      within: fittedRun(run, name),
      isTarget: false,
    })),
  ];
  return ([25, 50, 200] as const).flatMap((after) =>
    samples.flatMap(({ of, name, within, isTarget }): Measured[] => {
      const snapshots = scoredOf(within, name).map((one) => ({
        value: valueOf(within, name, one, after),
        ...snapshotAfter(one, after),
      }));
      return [
        {
          measure: "interval holds the true value",
          of,
          after,
          value: shareOf(snapshots, ({ value, low, high }) => low <= value && value <= high),
          ...(isTarget ? { target: { least: 0.85, most: 0.95 } } : {}),
        },
        {
          measure: "width of the interval, points",
          of,
          after,
          value: mean(snapshots.map(({ low, high }) => high - low)),
        },
        { measure: "true value, mean", of, after, value: mean(snapshots.map(({ value }) => value)) },
      ];
    })
  );
}

/** No outcome becomes known, and no error is planted. */
const WITHOUT_TRUTH = { labelledShare: 0, injectedShare: 0, withheldShare: 0 } as const;

/** Measures whether anything is said of reviewers of whom no truth is known. */
export function withoutTruth(run: Run): readonly Measured[] {
  const environment = { ...DEFAULT_ENVIRONMENT, ...WITHOUT_TRUTH };
  const { domain } = environment;
  const prior = readState(run.model, initialState(run.model), { domain, mode: "full" }).jis;
  const scored = ALL_ARCHETYPES.flatMap((name) => scoredOf(run, name, { environment, lengths: LENGTHS }));
  return LENGTHS.flatMap((after): Measured[] => {
    const snapshots = scored.map((one) => snapshotAfter(one, after));
    const at = { of: "every archetype", after };
    return [
      {
        measure: "without truth: farthest from the prior, points",
        ...at,
        value: Math.max(...snapshots.map(({ jis }) => Math.abs(jis - prior))),
        target: { most: 1 },
      },
      {
        measure: "without truth: undetermined",
        ...at,
        value: shareOf(snapshots, ({ status }) => status === "undetermined"),
        target: { least: 1 },
      },
    ];
  });
}

// ---- measured zeros -----------------------------------------------------------------------------------------

/** Environments in which a page that sends zeros was found to harm honest reviewers. */
const ZERO_ENVIRONMENTS: Readonly<Record<string, Environment>> = {
  "default": DEFAULT_ENVIRONMENT,
  "10 % labelled, 2 % planted": { ...DEFAULT_ENVIRONMENT, labelledShare: 0.1, injectedShare: 0.02 },
  "no truth": { ...DEFAULT_ENVIRONMENT, ...WITHOUT_TRUTH },
};

/**
 * Measures the harm of telemetry that is measured as zero in every case, as with a screen reader, against the same
 * histories with telemetry that is not measured. At risk: by the verdict, and by the score alone.
 */
export function measuredZeros(run: Run): readonly Measured[] {
  const { min_jis: minimum } = run.model.thresholds;
  const after = 200;
  return HONEST.flatMap((name) =>
    Object.entries(ZERO_ENVIRONMENTS).flatMap(([where, environment]) => {
      const [zeros, nulls] = (["zeros", "unmeasured"] as const).map((telemetry) =>
        Array.from({ length: run.operators }, (_, index) => {
          const seed = `${run.seed}/${name}/${index}`;
          const operator: Operator = { ...drawFrom(name, seeded(seed)), telemetry };
          const options = {
            model: run.model,
            environment,
            random: seeded(`${seed}/zeros`),
            lengths: [after],
          };
          return runHistory(operator, options)[0]!;
        })
      );
      const rise = (isAtRisk: (one: { jis: number; status: string | null }) => boolean) =>
        shareOf(zeros!, isAtRisk) - shareOf(nulls!, isAtRisk);
      const at = { of: `${name}, ${where}`, after };
      const target = run.model.discrimination === undefined ? {} : { target: { most: 0.02 } };
      return [
        {
          measure: "measured zeros raise: JIS below the minimum",
          ...at,
          value: rise(({ jis }) => jis < minimum),
          ...target,
        },
        {
          measure: "measured zeros raise: certainly at risk",
          ...at,
          value: rise(({ status }) => status === "non_compliant"),
          ...target,
        },
      ];
    })
  );
}
