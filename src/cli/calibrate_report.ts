/** The report of `jiss calibrate`, for people and for programs. */
import type { Calibration } from "../scoring/calibration/calibrate.ts";
import type { Comparison } from "../scoring/calibration/recomputation.ts";
import { columns } from "./table.ts";

/** The report as `--json` prints it. */
export interface Report extends Pick<Calibration, "times" | "priors"> {
  readonly org_id: string;
  readonly from: ModelName;
  /** The new document; null if there is none. */
  readonly to: ModelName | null;
  readonly scores: Comparison | null;
}

interface ModelName {
  readonly version: string;
  readonly sha256: string;
}

/** The report as text for people. */
export function textOf({ org_id, from, to, times, priors, scores }: Report): string {
  const head = [
    ["organization", org_id],
    ["model in use", `${from.version}, SHA-256 ${from.sha256}`],
    ["new document", to === null ? "none" : `${to.version}, SHA-256 ${to.sha256}`],
  ];
  return [
    columns(head),
    "",
    times.length === 0 ? "No case whose truth is known." : columns(timesTable(times)),
    "",
    columns(priorsTable(priors)),
    ...(scores === null ? [] : ["", scoresText(scores)]),
  ].join("\n");
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
