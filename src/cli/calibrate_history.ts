/**
 * `jiss calibrate --history`: fits the prior over people to a table of decisions, for an organization that starts from a
 * file. Needs no service, database or secret.
 */
import { calibratePeople } from "../scoring/calibration/calibrate.ts";
import { LabelledCases } from "../scoring/calibration/labelled_cases.ts";
import { PEOPLE_RULES } from "../scoring/calibration/people_prior.ts";
import type { ModelDocument } from "../scoring/model.ts";
import { type Calibrated, withOwnVersion } from "./calibrated.ts";
import { type HistoryReport, historyText } from "./calibrate_report.ts";
import { chosenModel, nameOf } from "./chosen_model.ts";
import { openDecisionTable } from "./decision_table.ts";
import { Progress } from "./progress.ts";
import { CommandFailure, EXIT, type Shell } from "./shell.ts";

/** How many cases the prior over people needs. */
export const PEOPLE_NEEDED =
  `the prior over people needs ${PEOPLE_RULES.people} people, each with ${PEOPLE_RULES.wrongAdvice} cases of wrong advice ` +
  `and ${PEOPLE_RULES.rightAdvice} of right advice whose truth is known`;

/**
 * Reads a table and fits a model to its rows of the fold `fit`.
 * @throws {CommandFailure} 2 for a file that is no table, or for a model without such a prior; 78 for an invalid one.
 */
export async function calibrateHistory(
  shell: Shell,
  { history, model: modelFile }: { readonly history: string; readonly model: string | undefined },
): Promise<Calibrated<HistoryReport>> {
  const document = chosenModel(shell, modelFile);
  if (document.discrimination === undefined) {
    throw new CommandFailure(
      `the model ${document.version} has the formulas ${document.formulas}, which have no prior over people: ` +
        "name a model of jis-3 with --model",
      EXIT.usage,
    );
  }
  using progress = new Progress(shell.clock);
  const { cases, decisions, ignoredColumns } = await readCases(history, { model: document, progress });
  const fitted = calibratePeople(document, cases, (step) => progress.show(() => `fit: step ${step}`));
  const model = fitted.document && withOwnVersion(shell, fitted.document);
  const report: HistoryReport = {
    history,
    decisions,
    ignored_columns: ignoredColumns,
    from: nameOf(shell.modelOf(document)),
    to: model && nameOf(model),
    discrimination: fitted.discrimination,
  };
  return {
    report,
    text: historyText(report),
    isFitted: fitted.isFitted,
    model,
    tooLittle: `there is too little labelled history to fit anything: ${PEOPLE_NEEDED}`,
  };
}

async function readCases(
  history: string,
  { model, progress }: { readonly model: ModelDocument; readonly progress: Progress },
): Promise<{
  readonly cases: LabelledCases;
  readonly decisions: HistoryReport["decisions"];
  readonly ignoredColumns: readonly string[];
}> {
  const table = await openDecisionTable(history);
  const cases = new LabelledCases(model);
  const decisions = { fit: 0, test: 0 };
  try {
    for await (const { operatorId, domain, interaction, fold } of table.rows(model)) {
      decisions[fold] += 1;
      if (fold === "fit") cases.add(operatorId, domain, interaction);
      progress.show(() => `${decisions.fit + decisions.test} decisions`);
    }
  } finally {
    table.close();
  }
  return { cases, decisions, ignoredColumns: table.ignoredColumns };
}
