/**
 * `jiss evaluate`: scores a table of decisions in memory, and says how well the score foretells the decisions that
 * were held back. Needs no service, database or secret.
 */
import {
  type EvaluatedOperator,
  Evaluation,
  type EvaluationResult,
  type LogLosses,
} from "../scoring/evaluation/evaluation.ts";
import { LONG_HISTORY } from "../scoring/evaluation/coverage.ts";
import { evaluationPage } from "../pages/evaluation.ts";
import { chosenModel, type ModelName, nameOf } from "./chosen_model.ts";
import { openDecisionTable } from "./decision_table.ts";
import { requireAbsent, writeToNewFile } from "./output.ts";
import { printableLine } from "./printable.ts";
import { Progress } from "./progress.ts";
import { EXIT, type Shell } from "./shell.ts";
import { columns } from "./table.ts";

export interface EvaluateOptions {
  /** A model document; without it, that of the environment or the built-in one. */
  readonly model?: string;
  /** A file that does not exist yet, for the report as a page. */
  readonly html?: string;
  readonly json: boolean;
}

/** What the command prints. */
interface EvaluationReport extends EvaluationResult {
  readonly model: ModelName;
  readonly ignored_columns: readonly string[];
}

export async function evaluate(
  shell: Shell,
  file: string,
  { model: modelFile, html, json }: EvaluateOptions,
): Promise<number> {
  if (html !== undefined) requireAbsent(html);
  const model = chosenModel(shell, modelFile);
  const table = await openDecisionTable(file);
  const evaluation = new Evaluation(model);
  try {
    using progress = new Progress(shell.clock);
    let read = 0;
    for await (const decision of table.rows(model)) {
      evaluation.add(decision);
      read += 1;
      progress.show(() => `${read} decisions`);
    }
  } finally {
    table.close();
  }
  const result = evaluation.result();
  const named = nameOf(shell.modelOf(model));
  const report: EvaluationReport = { model: named, ignored_columns: table.ignoredColumns, ...result };
  if (html !== undefined) {
    const page = evaluationPage({
      file,
      createdAt: new Date(shell.clock.now()).toISOString(),
      model: named,
      ignoredColumns: table.ignoredColumns,
      minimum: model.thresholds.min_jis,
      result,
    });
    await writeToNewFile([page], html);
  }
  console.log(json ? JSON.stringify(report) : textOf(report));
  return EXIT.ok;
}

function textOf(report: EvaluationReport): string {
  const { model, decisions, operators, certain_verdicts, ignored_columns } = report;
  const head = [
    ["model", `${model.version}, SHA-256 ${model.sha256}`],
    ["decisions", `${decisions.fit} scored, ${decisions.test} held back`],
    ["operators", String(operators.length)],
    ["certain verdicts", String(certain_verdicts)],
    ...(ignored_columns.length === 0
      ? []
      : [["columns not read", printableLine(ignored_columns.join(", "))]]),
  ];
  return [
    columns(head),
    "",
    columns([OPERATOR_HEAD, ...operators.map(operatorRow)]),
    ...(decisions.test === 0 ? [] : [
      "",
      columns(lossTable(report)),
      "",
      columns(calibrationTable(report)),
      "",
      columns(coverageTable(report)),
    ]),
  ].join("\n");
}

const OPERATOR_HEAD = [
  "OPERATOR",
  "JIS",
  "INTERVAL",
  "STATUS",
  "RESTS ON",
  "BAND",
  "N",
  "DEPARTS IF WRONG",
  "FOLLOWS IF RIGHT",
];

function operatorRow(
  { operator_id, jis, low, high, status, part, band, n, predicted }: EvaluatedOperator,
) {
  const rate = (of: keyof NonNullable<typeof predicted>) => {
    if (predicted === null) return "";
    const { mean, low, high } = predicted[of];
    return `${percent(mean)} (${percent(low)} to ${percent(high)})`;
  };
  return [
    operator_id,
    String(jis),
    `${low} to ${high}`,
    status,
    part ?? "",
    band,
    String(n),
    rate("departs_when_wrong"),
    rate("follows_when_right"),
  ];
}

function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}

function lossTable({ log_loss }: EvaluationReport) {
  const shown = (loss: number | null) => loss === null ? "" : loss.toFixed(4);
  const row = (of: string, { decisions, model, everybody, own_rate, empirical_bayes }: LogLosses) => [
    of,
    String(decisions),
    ...[model, everybody, own_rate, empirical_bayes].map(shown),
  ];
  return [
    ["LOG LOSS", "DECISIONS", "MODEL", "EVERYBODY", "OWN RATE", "EMPIRICAL BAYES"],
    row("departs if wrong", log_loss.departs_when_wrong),
    row("follows if right", log_loss.follows_when_right),
  ];
}

function calibrationTable({ calibration }: EvaluationReport) {
  const rows = (of: string, bins: EvaluationResult["calibration"]["departs_when_wrong"]) =>
    bins.map(({ from, to, decisions, foretold, came }) => [
      of,
      `${from} to ${to}`,
      String(decisions),
      percent(foretold),
      percent(came),
    ]);
  return [
    ["CALIBRATION", "FORETOLD RATES", "DECISIONS", "MEAN FORETOLD", "CAME"],
    ...rows("departs if wrong", calibration.departs_when_wrong),
    ...rows("follows if right", calibration.follows_when_right),
  ];
}

function coverageTable({ coverage }: EvaluationReport) {
  const shown = (share: number | null) => share === null ? "" : percent(share);
  const row = (of: string, found: EvaluationResult["coverage"]["departs_when_wrong"]) => {
    if (found === null) return [of, "", "", "", "", ""];
    const { next_counts: counts, long_run_rates: rates } = found;
    return [
      of,
      String(counts.people),
      shown(counts.foretold),
      shown(counts.came),
      String(rates.people),
      shown(rates.came),
    ];
  };
  return [
    [
      "COVERAGE OF 90 % INTERVALS",
      "PEOPLE",
      "COUNTS FORETOLD INSIDE",
      "COUNTS INSIDE",
      `PEOPLE WITH ${LONG_HISTORY} HELD BACK`,
      "RATES INSIDE",
    ],
    row("departs if wrong", coverage.departs_when_wrong),
    row("follows if right", coverage.follows_when_right),
  ];
}
