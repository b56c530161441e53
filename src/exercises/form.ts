/**
 * Says whether the service can hold an exercise of the catalogue by itself, and how it shows the cases. It shows cases with
 * or without advice and takes decisions; an exercise that needs more, such as a written reason or a stated chance, is held
 * in the organization's own tool. Source: oversight loop, section 2; exercises.md.
 */
import type { Presentation } from "../evidence/exercises.ts";
import type { ModelDocument } from "../scoring/model.ts";

export type CatalogueExercise = ModelDocument["maintenance"]["exercises"][number];
export const DIFFICULTIES = ["easy", "moderate", "hard"] as const;
export type Difficulty = (typeof DIFFICULTIES)[number];

export interface ExerciseForm {
  readonly presentation: Presentation;
  /** Milliseconds before the advice is shown; null unless it is delayed. */
  readonly delay_ms: number | null;
  /** Cases in which the advice may be asked for; null unless it is shown on request. */
  readonly requests: number | null;
}

/** Parameters that ask nothing of the page: what the cases are like, or how they are counted. */
const ONLY_ABOUT_CASES: readonly string[] = [
  "error_kinds",
  "window",
  "edge_case",
  "domain",
  "must_substitute",
];

/** How the service shows the cases of an exercise; null if it cannot hold it. */
export function formOf(
  { scenario_type, params }: CatalogueExercise,
  difficulty: Difficulty,
): ExerciseForm | null {
  const own = params[difficulty];
  const [[name, value] = [], ...more] = Object.entries(own).filter(([name]) =>
    !ONLY_ABOUT_CASES.includes(name)
  );
  if (more.length > 0) return null;
  const form = (presentation: Presentation): ExerciseForm => ({
    presentation,
    delay_ms: null,
    requests: null,
  });
  if (scenario_type === "ai_withheld") {
    if (name === "ai_available" && value === false) return form("withheld");
    return name === "pattern" && value === "ABAB" ? form("alternating") : null;
  }
  if (scenario_type !== "calibration") return null;
  switch (name) {
    // A quiz about the tool has a domain and nothing else, and is no set of cases.
    case undefined:
      return Object.keys(own).join() === "domain" ? null : form("shown");
    case "commit_before_reveal":
      return value === true ? form("after_decision") : null;
    case "reveal_delay_ms":
      return isCount(value) ? { ...form("delayed"), delay_ms: value } : null;
    case "advice_budget":
      return isCount(value) ? { ...form("on_request"), requests: value } : null;
    default:
      return null;
  }
}

/** An exercise that the service can hold, and the difficulties at which it can. */
export interface HeldExercise extends Pick<CatalogueExercise, "title" | "dimension"> {
  readonly exercise_id: string;
  readonly difficulties: Difficulty[];
}

/** The exercises of a catalogue that the service can hold, in the catalogue's order. */
export function heldExercises(catalogue: readonly CatalogueExercise[]): HeldExercise[] {
  return catalogue.map((row) => ({
    exercise_id: row.id,
    title: row.title,
    dimension: row.dimension,
    difficulties: DIFFICULTIES.filter((difficulty) => formOf(row, difficulty) !== null),
  })).filter(({ difficulties }) => difficulties.length > 0);
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}

/** Whether the advice of a case can be seen at all; `number` counts from 1. */
export function isAdvised(presentation: Presentation, number: number): boolean {
  return presentation === "alternating" ? number % 2 === 1 : presentation !== "withheld";
}
