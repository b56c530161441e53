/** A model document fitted to an organization's own labelled history. */
import { DOMAINS } from "../../domain/enums.ts";
import { domainRules, type ModelDocument, modelSchema } from "../model.ts";
import type { LabelledCases } from "./labelled_cases.ts";
import {
  type DiscriminationFit,
  fitDiscrimination,
  isChanged as isPriorChanged,
  isFitted as isPriorFitted,
  withFit,
} from "./people_prior.ts";
import { fitPrior, FITTED_BUCKETS, type PriorFit } from "./priors.ts";
import { fitTimes, type TimesFit } from "./times.ts";

export interface Calibration {
  /** One fit for each domain with a case whose truth is known. */
  readonly times: readonly TimesFit[];
  readonly priors: readonly PriorFit[];
  /** Null with the formulas before `jis-3`. */
  readonly discrimination: DiscriminationFit | null;
  /** True if there was enough data for at least one fit. */
  readonly isFitted: boolean;
  /**
   * The model's document with the fitted values, still under its version; null if nothing in it would change.
   */
  readonly document: ModelDocument | null;
}

/**
 * Fits the values for which there are enough cases; all others stay as they are in the model.
 * @param watch - is told the number of steps of the longest fit so far.
 */
export function calibrate(
  model: ModelDocument,
  cases: LabelledCases,
  watch?: (step: number) => void,
): Calibration {
  const times = DOMAINS.map((domain) => fitTimes(model, domain, cases)).filter(({ operators }) =>
    operators > 0
  );
  const isThird = model.discrimination !== undefined;
  // No dimension with a weight reads H or C in `jis-3`: its prior takes their place.
  const priors = FITTED_BUCKETS.filter((bucket) => !isThird || bucket === "U")
    .map((bucket) => fitPrior(model, bucket, cases));
  const discrimination = isThird ? fitDiscrimination(model, cases, watch) : null;
  const isFitted = [...times, ...priors].some(({ result }) => result !== "kept") ||
    (discrimination !== null && isPriorFitted(discrimination));
  const isChanged =
    times.some(({ before, after }) =>
      before.fast_ms !== after.fast_ms || before.reference_ms !== after.reference_ms
    ) || priors.some(({ before, after }) => before !== after) ||
    (discrimination !== null && isPriorChanged(discrimination));
  const document = isChanged ? documentOf(model, { times, priors, discrimination }) : null;
  return { times, priors, discrimination, isFitted, document };
}

/**
 * Fits only what a table of decisions without measured times can tell: the prior over people and the error rate.
 * @param watch - is told the number of steps of the fit so far.
 * @throws {TypeError} if the model has formulas before `jis-3`.
 */
export function calibratePeople(
  model: ModelDocument,
  cases: LabelledCases,
  watch?: (step: number) => void,
): Pick<Calibration, "isFitted" | "document"> & { readonly discrimination: DiscriminationFit } {
  const discrimination = fitDiscrimination(model, cases, watch);
  const document = isPriorChanged(discrimination)
    ? documentOf(model, { times: [], priors: [], discrimination })
    : null;
  return { discrimination, isFitted: isPriorFitted(discrimination), document };
}

function documentOf(
  model: ModelDocument,
  { times, priors, discrimination }: Pick<Calibration, "times" | "priors" | "discrimination">,
): ModelDocument {
  const document = structuredClone(model);
  for (const { domain, after } of times) {
    document.domains[domain] = { ...domainRules(model, domain), ...after };
  }
  for (const { bucket, after } of priors) document.buckets[bucket].prior_mean = after;
  if (discrimination !== null) document.discrimination = withFit(model, discrimination);
  return modelSchema.parse(document);
}

const MARK = "+cal.";
const NAMED_DIGITS = 12;
const VERSION_LENGTH = 64;

/**
 * The version of a calibrated document: the version of its source model and the first digits of a hash of its
 * numbers.
 * @param sha256 - the hash of the document while it still has the model's version, lower-case hex.
 */
export function calibratedVersion(version: string, sha256: string): string {
  const from = version.split(MARK)[0]!.slice(0, VERSION_LENGTH - MARK.length - NAMED_DIGITS);
  return `${from}${MARK}${sha256.slice(0, NAMED_DIGITS)}`;
}
