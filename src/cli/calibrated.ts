/** The result of a calibration from either history: a report, and a model with a version of its own. */
import { calibratedVersion } from "../scoring/calibration/calibrate.ts";
import type { Model, ModelDocument } from "../scoring/model.ts";
import type { Shell } from "./shell.ts";

export interface Calibrated<Report> {
  /** The report as `--json` prints it, and for people. */
  readonly report: Report;
  readonly text: string;
  readonly isFitted: boolean;
  /** The new model; null if nothing in the model would change. */
  readonly model: Model | null;
  /** Says how much more history is needed, if nothing was fitted. */
  readonly tooLittle: string;
}

/** The document with a version of its own. */
export function withOwnVersion(shell: Shell, document: ModelDocument): Model {
  const version = calibratedVersion(document.version, shell.modelOf(document).sha256);
  return shell.modelOf({ ...document, version });
}
