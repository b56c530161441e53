/** A model document fitted to an organization's own labelled history. */
import { DOMAINS } from "../../domain/enums.ts";
import { type ModelDocument, modelSchema } from "../model.ts";
import type { LabelledCases } from "./labelled_cases.ts";
import { fitPrior, FITTED_BUCKETS, type PriorFit } from "./priors.ts";
import { fitTimes, type TimesFit } from "./times.ts";

export interface Calibration {
  /** Of the domains in which there are cases whose truth is known. */
  readonly times: readonly TimesFit[];
  readonly priors: readonly PriorFit[];
  /** Whether there was enough data for anything. */
  readonly isFitted: boolean;
  /** The model's document with what was fitted, and still its version; null where nothing in it would change. */
  readonly document: ModelDocument | null;
}

/** Fits what the cases allow; everything else stays as the model has it. */
export function calibrate(model: ModelDocument, cases: LabelledCases): Calibration {
  const times = DOMAINS.map((domain) => fitTimes(model, domain, cases)).filter(({ operators }) =>
    operators > 0
  );
  const priors = FITTED_BUCKETS.map((bucket) => fitPrior(model, bucket, cases));
  const isFitted = [...times, ...priors].some(({ result }) => result !== "kept");
  const isChanged =
    times.some(({ before, after }) =>
      before.fast_ms !== after.fast_ms || before.reference_ms !== after.reference_ms
    ) || priors.some(({ before, after }) => before !== after);
  return { times, priors, isFitted, document: isChanged ? documentOf(model, times, priors) : null };
}

function documentOf(
  model: ModelDocument,
  times: readonly TimesFit[],
  priors: readonly PriorFit[],
): ModelDocument {
  const document = structuredClone(model);
  for (const { domain, after } of times) Object.assign(document.domains[domain], after);
  for (const { bucket, after } of priors) document.buckets[bucket].prior_mean = after;
  return modelSchema.parse(document);
}

const MARK = "+cal.";
const NAMED_DIGITS = 12;
const VERSION_LENGTH = 64;

/**
 * The version of a calibrated document: that of the model that it was made from, and by which numbers it differs.
 * @param sha256 - the hash of the document while it still has the model's version, lower-case hex.
 */
export function calibratedVersion(version: string, sha256: string): string {
  const from = version.split(MARK)[0]!.slice(0, VERSION_LENGTH - MARK.length - NAMED_DIGITS);
  return `${from}${MARK}${sha256.slice(0, NAMED_DIGITS)}`;
}
