/** Sensitivity of the validation's figures to the weights of the dimensions and to the environment. */
import { type Dimension, DIMENSIONS } from "../domain/enums.ts";
import { jisOf } from "../scoring/dimensions.ts";
import type { ModelDocument } from "../scoring/model.ts";
import { readState } from "../scoring/reading.ts";
import { DEFAULT_ENVIRONMENT, type Environment, type Operator } from "./archetypes.ts";
import { discrimination } from "./histories.ts";
import { BAD, type PopulationName } from "./populations.ts";
import { simpleSpearmans } from "./measures.ts";
import {
  jisAfter,
  type Measured,
  type Run,
  type Scored,
  scoredOf,
  snapshotAfter,
  statusShare,
} from "./samples.ts";
import { auc, shareOf, spearman } from "./statistics.ts";

const WEIGHT_FACTORS = [0.75, 1.25] as const;

/**
 * The change in the order of the scores if one dimension weighs a quarter more or less, the others in
 * proportion.
 */
export function weights(run: Run): readonly Measured[] {
  const { model } = run;
  const scored = scoredOf(run, "spectrum");
  const latent = scored.map(({ operator }) => discrimination(operator, 0));
  const { domain } = DEFAULT_ENVIRONMENT;
  const dimensions = scored.map((one) =>
    readState(model, snapshotAfter(one, 200).state, { domain, mode: "full" }).dimensions
  );
  const correlationWith = (weighed: ModelDocument) =>
    spearman(dimensions.map((own) => jisOf(weighed, own, "full")), latent);
  const baseline = correlationWith(model);
  return DIMENSIONS.flatMap((name) =>
    WEIGHT_FACTORS.map((factor) => ({
      measure: `Spearman with J*, its weight times ${factor}, less the usual`,
      of: name,
      after: 200,
      value: correlationWith(reweighed(model, name, factor)) - baseline,
    }))
  );
}

function reweighed(model: ModelDocument, name: Dimension, factor: number): ModelDocument {
  const weightOf = (one: Dimension) => model.dimensions[one].weight * (one === name ? factor : 1);
  const sum = DIMENSIONS.reduce((total, one) => total + weightOf(one), 0);
  const rows = DIMENSIONS.map((one) =>
    [one, { ...model.dimensions[one], weight: weightOf(one) / sum }] as const
  );
  return { ...model, dimensions: Object.fromEntries(rows) as ModelDocument["dimensions"] };
}

interface OtherEnvironment {
  readonly environment?: Partial<Environment>;
  readonly change?: (operator: Operator) => Operator;
}

const ENVIRONMENTS: Readonly<Record<string, OtherEnvironment>> = {
  "as above": {},
  "30 % labelled": { environment: { labelledShare: 0.3 } },
  "all labelled": { environment: { labelledShare: 1 } },
  "injected errors, no labels": { environment: { labelledShare: 0 } },
  "no labels, no injected errors": { environment: { labelledShare: 0, injectedShare: 0, withheldShare: 0 } },
  "AI wrong in 5 %": { environment: { aiErrorRate: 0.05 } },
  "AI wrong in 30 %": { environment: { aiErrorRate: 0.3 } },
  "no telemetry": { change: (operator) => ({ ...operator, telemetry: "unmeasured" }) },
  "healthcare": { environment: { domain: "healthcare" } },
  "general": { environment: { domain: "general" } },
};

/** The main measures in other environments; none has a target. */
export function environments(run: Run): readonly Measured[] {
  const { min_jis: bound } = run.model.thresholds;
  return Object.entries(ENVIRONMENTS).flatMap(([of, { environment, change }]) => {
    const options = {
      environment: { ...DEFAULT_ENVIRONMENT, ...environment },
      ...(change === undefined ? {} : { change }),
      lengths: [50, 200],
    };
    const scored = (name: PopulationName) => scoredOf(run, name, options);
    const [independent, fast, spectrum] = (["independent", "fast_expert", "spectrum"] as const).map(scored);
    const bad = BAD.map(scored);
    const atRisk = (one: readonly Scored[], after: number) =>
      shareOf(jisAfter(one, after), (jis) => jis < bound);
    const figure = (measure: string, after: number, value: number) => ({ measure, of, after, value });
    const latent = spectrum!.map(({ operator }) => discrimination(operator, 0));
    return [
      figure("where: fast experts at risk", 50, atRisk(fast!, 50)),
      figure("where: fast experts at risk", 200, atRisk(fast!, 200)),
      figure(
        "where: the lowest AUC, independent above a bad one",
        50,
        Math.min(...bad.map((one) => auc(jisAfter(independent!, 50), jisAfter(one, 50)))),
      ),
      figure("where: the bad archetype least at risk", 200, Math.min(...bad.map((one) => atRisk(one, 200)))),
      figure(
        "where: Spearman with J*, spectrum",
        200,
        spearman(jisAfter(spectrum!, 200), latent),
      ),
      ...simpleSpearmans(spectrum!, { after: 200, latent }).map(({ name, value }) =>
        figure(`where: Spearman with J*, spectrum, ${name}`, 200, value)
      ),
      ...(run.model.discrimination === undefined ? [] : [
        figure("where: fast experts certainly compliant", 200, statusShare(fast!, 200, "compliant")),
        figure(
          "where: the bad archetype least often certainly at risk",
          200,
          Math.min(...bad.map((one) => statusShare(one, 200, "non_compliant"))),
        ),
      ]),
    ];
  });
}
