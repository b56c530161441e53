/** The report of `jiss calibrate`, for people and for programs. */
import type { Calibration } from "../scoring/calibration/calibrate.ts";
import type { Comparison } from "../scoring/calibration/recomputation.ts";
import type { DiscriminationFit, PeopleFit } from "../scoring/calibration/people_prior.ts";
import type { ModelName } from "./chosen_model.ts";
import { columns } from "./table.ts";

/** The report on a stored history as `--json` prints it. */
export interface Report extends Pick<Calibration, "times" | "priors" | "discrimination"> {
  readonly org_id: string;
  readonly from: ModelName;
  /** The new document; null if there is none. */
  readonly to: ModelName | null;
  readonly scores: Comparison | null;
}

/** The report on a table of decisions as `--json` prints it. */
export interface HistoryReport {
  /** The name of the table. */
  readonly history: string;
  /** Rows that were used, and rows of the fold `test`, which were not. */
  readonly decisions: { readonly fit: number; readonly test: number };
  readonly ignored_columns: readonly string[];
  readonly from: ModelName;
  readonly to: ModelName | null;
  readonly discrimination: DiscriminationFit;
}

/** The report on a stored history as text for people. */
export function textOf({ org_id, from, to, times, priors, discrimination, scores }: Report): string {
  return [
    columns([["organization", org_id], ["model in use", modelText(from)], ["new document", modelText(to)]]),
    "",
    times.length === 0 ? "No case whose truth is known." : columns(timesTable(times)),
    "",
    columns(priorsTable(priors)),
    ...(discrimination === null ? [] : ["", discriminationText(discrimination)]),
    ...(scores === null ? [] : ["", scoresText(scores)]),
  ].join("\n");
}

/** The report on a table of decisions as text for people. */
export function historyText(
  { history, decisions, ignored_columns, from, to, discrimination }: HistoryReport,
): string {
  return [
    columns([
      ["table", history],
      ["decisions", `${decisions.fit} used, ${decisions.test} held back`],
      ...(ignored_columns.length === 0 ? [] : [["columns not read", ignored_columns.join(", ")]]),
      ["model", modelText(from)],
      ["new document", modelText(to)],
    ]),
    "",
    discriminationText(discrimination),
  ].join("\n");
}

function modelText(model: ModelName | null): string {
  return model === null ? "none" : `${model.version}, SHA-256 ${model.sha256}`;
}

function discriminationText({ prior, error_rate }: DiscriminationFit): string {
  const { people, enough_cases, wrong_cases, right_cases, before, after } = prior;
  const rate = (of: PeopleFit["before"], kind: keyof PeopleFit["before"]["new_person"]) => {
    const { mean, low, high } = of.new_person[kind];
    return `${percent(mean)} (${percent(low)} to ${percent(high)})`;
  };
  const leaning = ({ leaning: { mean, sd } }: PeopleFit["before"]) => `mean ${mean}, sd ${sd}`;
  const sensitivity = (of: PeopleFit["before"]) =>
    of.sensitivity.map(({ weight, mean, sd, correlation }) =>
      `${weight}: mean ${mean}, sd ${sd}${correlation === 0 ? "" : `, correlation ${correlation}`}`
    );
  const [old, now] = [sensitivity(before), sensitivity(after)];
  const rows = Array.from({ length: Math.max(old.length, now.length) }, (_, index) => [
    index === 0 ? "sensitivity, share: logits" : "",
    old[index] ?? "",
    now[index] ?? "",
    index === 0 ? prior.result : "",
  ]);
  return [
    `${people} people with ${wrong_cases} cases of wrong and ${right_cases} of right advice; ${enough_cases} of them have enough of both.`,
    "",
    columns([
      ["PRIOR OVER PEOPLE", "BEFORE", "AFTER", "RESULT"],
      [
        "departs if wrong",
        rate(before, "departs_when_wrong"),
        rate(after, "departs_when_wrong"),
        prior.result,
      ],
      [
        "departs if right",
        rate(before, "departs_when_right"),
        rate(after, "departs_when_right"),
        prior.result,
      ],
      ["leaning, logits", leaning(before), leaning(after), prior.result],
      ...rows,
      ["how often the AI is wrong", String(error_rate.before), String(error_rate.after), error_rate.result],
    ]),
  ].join("\n");
}

function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}

function timesTable(times: Report["times"]): readonly (readonly string[])[] {
  return [
    [
      "DOMAIN",
      "OPERATORS",
      "ENOUGH CASES",
      "JUDGING",
      "COUNTED",
      "REVIEWS",
      "MEDIANS ms",
      "FAST ms",
      "REFERENCE ms",
      "RESULT",
    ],
    ...times.map((row) => [
      row.domain,
      ...[row.operators, row.enough_cases, row.judging, row.counted, row.reviews].map(String),
      row.medians_ms === null ? "" : row.medians_ms.join(" "),
      changeText(row.before.fast_ms, row.after.fast_ms),
      changeText(row.before.reference_ms, row.after.reference_ms),
      row.result,
    ]),
  ];
}

function priorsTable(priors: Report["priors"]): readonly (readonly string[])[] {
  return [
    ["PRIOR", "OPERATORS", "CASES", "RATE", "ESTIMATED STRENGTH", "MEAN", "RESULT"],
    ...priors.map((row) => [
      row.bucket,
      String(row.operators),
      String(row.cases),
      row.rate === null ? "" : String(row.rate),
      row.strength === null ? "" : String(row.strength),
      changeText(row.before, row.after),
      row.result,
    ]),
  ];
}

function changeText(before: number, after: number): string {
  return before === after ? String(before) : `${before} -> ${after}`;
}

function scoresText({ operators, mean_change, bands, largest }: Comparison): string {
  if (mean_change === null) return "No operator has a score.";
  const count = bands.reduce((sum, row) => sum + row.operators, 0);
  const moves = bands.map(({ from, to, operators }) => `, ${from} to ${to} ${operators}`).join("");
  return [
    `${operators} operators scored anew from their recorded interactions, under the model in use and the new one:`,
    `mean change ${withSign(mean_change)} points; another band: ${count}${moves}`,
    "",
    columns([
      ["OPERATOR", "INTERACTIONS", "BEFORE", "AFTER", "CHANGE", "BAND"],
      ...largest.map((row) => [
        row.operator_id,
        String(row.interactions),
        String(row.before),
        String(row.after),
        withSign(row.after - row.before),
        row.band_before === row.band_after ? row.band_after : `${row.band_before} -> ${row.band_after}`,
      ]),
    ]),
  ].join("\n");
}

function withSign(points: number): string {
  const text = points.toFixed(2);
  return points > 0 ? `+${text}` : text;
}
