/** `jiss simulate`: scores simulated reviewers in memory. Does the score measure what it claims? */
import { readModel } from "../config/config.ts";
import {
  CHECK_OPERATORS,
  CHECK_SEEDS,
  type Figure,
  missesOf,
  validate,
  type Validation,
} from "../simulation/validation.ts";
import { Progress } from "./progress.ts";
import { reportProblems } from "./run_service.ts";
import { EXIT, type Shell } from "./shell.ts";
import { columns } from "./table.ts";

export interface SimulateOptions {
  readonly seed?: readonly number[];
  readonly operators?: number;
  readonly json: boolean;
  /** Whether a missed target is a failure. */
  readonly check: boolean;
}

export function simulate(
  shell: Shell,
  { seed = CHECK_SEEDS, operators = CHECK_OPERATORS, json, check }: SimulateOptions,
): number {
  const model = reportProblems(() => readModel(shell.readEnvironment(), Deno.readTextFileSync));
  const validation = run(shell, validate({ model, seeds: seed, operators }));
  const misses = missesOf(validation);
  const { sha256 } = shell.modelOf(model);
  if (json) {
    const missed = misses.map(({ figure: { measure, of, after }, by }) => ({ measure, of, after, by }));
    console.log(JSON.stringify({ ...validation, model_sha256: sha256, missed }));
  } else {
    console.log(textOf(validation, sha256));
    for (const { figure, by } of misses) {
      console.log(`missed by ${formatValue(by)}: ${figure.measure}, ${figure.of}${afterOf(figure)}`);
    }
    if (misses.length === 0) console.log("every target is met");
  }
  return check && misses.length > 0 ? EXIT.failure : EXIT.ok;
}

function run({ clock }: Shell, steps: Generator<number, Validation>): Validation {
  const progress = new Progress(clock);
  try {
    for (;;) {
      const step = steps.next();
      if (step.done) return step.value;
      progress.show(() => `${Math.floor(100 * step.value)} %`);
    }
  } finally {
    progress[Symbol.dispose]();
  }
}

function textOf({ model, seeds, operators, figures, legend }: Validation, sha256: string): string {
  const untold = new Map(Object.entries(legend));
  const sections = [...Map.groupBy(figures, ({ section }) => section)].map(([section, own]) => {
    const named = [...new Set(own.map(({ of }) => of))].filter((name) => untold.has(name));
    const notes = named.map((name) => `${name}: ${untold.get(name)}`);
    for (const name of named) untold.delete(name);
    return [
      `== ${section}`,
      "",
      columns([HEAD, ...own.map(rowOf)]),
      "",
      ...notes,
      ...(notes.length > 0 ? [""] : []),
    ];
  });
  return [
    `model ${model}, SHA-256 ${sha256}; ${operators} simulated operators of each kind, seeds ${
      seeds.join(", ")
    }`,
    "",
    ...sections.flat(),
  ].join("\n");
}

const HEAD = ["measure", "of", "after", "mean", "seeds", "target"];

function rowOf(figure: Figure): readonly string[] {
  const { measure, of, after, value, by_seed } = figure;
  return [
    measure,
    of,
    after === null ? "" : String(after),
    formatValue(value),
    by_seed.length < 2 ? "" : `${formatValue(Math.min(...by_seed))} to ${formatValue(Math.max(...by_seed))}`,
    targetOf(figure),
  ];
}

function afterOf({ after }: Figure): string {
  return after === null ? "" : `, after ${after} interactions`;
}

/** The target of a figure in words; empty if it has none. */
function targetOf({ target, error }: Figure): string {
  if (target === null) return "";
  const { least, most, errors = 0 } = target;
  const bounds = [["at least", least], ["at most", most]] as const;
  const words = bounds.filter(([, bound]) => bound !== undefined).map((pair) => pair.join(" ")).join(", ");
  return errors === 0
    ? words
    : `${words}, give or take ${errors} standard errors of ${formatValue(error ?? 0)}`;
}

function formatValue(value: number): string {
  return value.toFixed(Math.abs(value) >= 10 ? 1 : 4);
}
