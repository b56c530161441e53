/** The model that a command works with, and the name under which a report tells it. */
import { readModel } from "../config/config.ts";
import type { Model, ModelDocument } from "../scoring/model.ts";
import { reportProblems } from "./run_service.ts";
import type { Shell } from "./shell.ts";

/** A model in a report. */
export interface ModelName {
  readonly version: string;
  /** Lower-case hex. */
  readonly sha256: string;
}

export function nameOf({ document: { version }, sha256 }: Model): ModelName {
  return { version, sha256 };
}

/**
 * The model of a file; without one, that of the environment or the built-in one.
 * @throws {CommandFailure} 78 if it is not valid.
 */
export function chosenModel(shell: Shell, file: string | undefined): ModelDocument {
  const chosen = file === undefined ? {} : { JISS_SCORING_MODEL_FILE: file };
  return reportProblems(() => readModel({ ...shell.readEnvironment(), ...chosen }, Deno.readTextFileSync));
}
