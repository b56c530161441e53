/**
 * `jiss calibrate`: fits a model document to an organization's own labelled history, and shows what it would
 * change for its operators. Reads the database, also of a running service, and changes nothing in it; or reads a file
 * (calibrate_history.ts).
 */
import { orgIdSchema } from "../domain/organization.ts";
import { nodeCrypto } from "../evidence/node_crypto.ts";
import { lateLabelOf } from "../evidence/record.ts";
import { modelDocument } from "../operations/scoring/replay.ts";
import {
  AlteredRecord,
  type EventOf,
  type HistoryEvent,
  ScoredHistory,
} from "../operations/scoring/scored_history.ts";
import { calibrate as fit } from "../scoring/calibration/calibrate.ts";
import { ENOUGH_CASES, LabelledCases } from "../scoring/calibration/labelled_cases.ts";
import { PRIOR_RULES } from "../scoring/calibration/priors.ts";
import { compareScores, type Comparison, Recomputation } from "../scoring/calibration/recomputation.ts";
import { TIME_RULES } from "../scoring/calibration/times.ts";
import { DEFAULT_MODEL_DOCUMENT, type Model } from "../scoring/model.ts";
import type { Database } from "../store/database.ts";
import { readInstallation } from "../store/installation.ts";
import { organizationDetailsQuery } from "../store/organizations.ts";
import { calibrateHistory, PEOPLE_NEEDED } from "./calibrate_history.ts";
import { type HistoryReport, type Report, textOf } from "./calibrate_report.ts";
import { type Calibrated, withOwnVersion } from "./calibrated.ts";
import { nameOf } from "./chosen_model.ts";
import { unknownOrganization } from "./organizations.ts";
import { requireAbsent, writeToNewFile } from "./output.ts";
import { Progress } from "./progress.ts";
import { CommandFailure, EXIT, type Shell } from "./shell.ts";
import { storageOf, withStored } from "./stored.ts";

export interface CalibrateOptions {
  /** The organization whose stored history is used; this or `history`. */
  readonly org?: string;
  /** A table of decisions. */
  readonly history?: string;
  /** A model document, for `history`; without it, that of the environment or the built-in one. */
  readonly model?: string;
  /** A file that does not exist yet; without it nothing is written. */
  readonly output?: string;
  readonly json: boolean;
}

/** The most operators whose scores are shown one by one. */
const SHOWN_OPERATORS = 10;
const TOO_LITTLE_HISTORY = "there is too little labelled history to fit anything: " +
  `a domain's times need ${TIME_RULES.operators} operators who judge, each with ${ENOUGH_CASES.wrongAdvice} cases of wrong ` +
  `advice, ${ENOUGH_CASES.rightAdvice} of right advice and ${TIME_RULES.reviews} good reviews; a prior needs ` +
  `${PRIOR_RULES.operators} operators with so many cases, or with ${PRIOR_RULES.unaidedCases} decided without the AI; ` +
  `with jis-3 ${PEOPLE_NEEDED}. docs/operate/models.md says what counts`;

export async function calibrate(shell: Shell, options: CalibrateOptions): Promise<number> {
  const { output, json } = options;
  const run = sourceOf(shell, options);
  if (output === "-") {
    throw new CommandFailure(
      "-o needs the name of a file, because the report goes to standard output",
      EXIT.usage,
    );
  }
  if (output !== undefined) requireAbsent(output);
  const { report, text, isFitted, model, tooLittle } = await run();
  console.log(json ? JSON.stringify(report) : text);
  if (!isFitted) throw new CommandFailure(tooLittle, EXIT.failure);
  if (model === null) {
    printUnlessJson(json, "The model in use already has these values: there is nothing to write.");
  } else if (output === undefined) {
    printUnlessJson(json, "Nothing was written: to write the document, use -o FILE.");
  } else {
    await writeToNewFile(documentText(model), output);
    printUnlessJson(
      json,
      `Wrote ${output}, readable only by its owner. It changes nothing by itself: it applies to every\norganization of an installation that is started with\n` +
        `JISS_SCORING_MODEL_FILE=${output}`,
    );
  }
  return EXIT.ok;
}

/**
 * The calibration that the options ask for.
 * @throws {CommandFailure} 2 unless they name one history.
 */
function sourceOf(
  shell: Shell,
  { org, history, model }: CalibrateOptions,
): () => Promise<Calibrated<Report | HistoryReport>> {
  if ((org === undefined) === (history === undefined)) {
    throw new CommandFailure("calibrate needs either --org ORG or --history FILE", EXIT.usage);
  }
  if (history !== undefined) return () => calibrateHistory(shell, { history, model });
  if (model !== undefined) {
    throw new CommandFailure(
      "--model is for --history: with --org, the model of the service's last start is used",
      EXIT.usage,
    );
  }
  return () => withStored(shell, storageOf(shell), (database) => calibrateFrom(shell, database, org!));
}

/** Prints a text, but not with `--json`: then standard output has only the report. */
function printUnlessJson(json: boolean, words: string): void {
  if (!json) console.log(`\n${words}`);
}

async function* documentText({ document }: Model): AsyncGenerator<string> {
  yield `${JSON.stringify(document, null, 2)}\n`;
}

async function calibrateFrom(shell: Shell, database: Database, org: string): Promise<Calibrated<Report>> {
  await requireOrganization(database, org);
  const from = await modelInUse(shell, database);
  const history = await ScoredHistory.of({ database, crypto: nodeCrypto }, org);
  using reader = new Reader(shell, history);

  const labels = new Map<string, Truth>();
  await reader.forEachEvent(
    ["label"],
    ({ input }) =>
      labels.set(input.session_id, { outcome_correct: input.label, ai_correct: input.ai_correct }),
  );
  const cases = new LabelledCases(from.document);
  await reader.forEachEvent(["score"], ({ input }) => {
    const { operator_id, domain, interaction, session_id } = input;
    const late = labels.get(session_id);
    const outcome_correct = interaction.outcome_correct ?? late?.outcome_correct ?? null;
    const ai_correct = interaction.ai_correct ?? late?.ai_correct;
    cases.add(operator_id, domain, { ...interaction, outcome_correct, ai_correct });
  });

  const { document, times, priors, discrimination, isFitted } = fit(from.document, cases, reader.watch);
  const model = document && withOwnVersion(shell, document);
  const scores = model && await compareModels(reader, { from, to: model, labels });
  const report: Report = {
    org_id: org,
    from: nameOf(from),
    to: model && nameOf(model),
    times,
    priors,
    discrimination,
    scores,
  };
  return { report, text: textOf(report), isFitted, model, tooLittle: TOO_LITTLE_HISTORY };
}

/** The truth of a case that came with a late label. */
interface Truth {
  readonly outcome_correct: boolean;
  readonly ai_correct: boolean | undefined;
}

async function compareModels(
  reader: Reader,
  { from, to, labels }: {
    readonly from: Model;
    readonly to: Model;
    readonly labels: ReadonlyMap<string, Truth>;
  },
): Promise<Comparison> {
  const [before, after] = [from, to].map(({ document }) =>
    new Recomputation(document, (sessionId) => labels.has(sessionId))
  ) as [Recomputation, Recomputation];
  await reader.forEachEvent(["score", "label"], (event) => {
    const { operator_id: operatorId, session_id: sessionId, state } = event.input;
    for (const recomputation of [before, after]) {
      if (event.kind === "label") {
        recomputation.label({ operatorId, sessionId, state }, lateLabelOf(event.input));
      } else {
        const { interaction, domain, as_of } = event.input;
        recomputation.score({ operatorId, sessionId, state }, {
          interaction,
          domain,
          now: Date.parse(as_of),
        });
      }
    }
  });
  return compareScores(before, after, SHOWN_OPERATORS);
}

/** Reads a history any number of times, and shows its progress. */
class Reader implements Disposable {
  readonly #history: ScoredHistory;
  readonly #progress: Progress;

  constructor({ clock }: Shell, history: ScoredHistory) {
    this.#history = history;
    this.#progress = new Progress(clock);
  }

  /** @throws {CommandFailure} 1 if a record was altered. */
  async forEachEvent<Kind extends HistoryEvent["kind"]>(
    kinds: readonly Kind[],
    handle: (event: EventOf<Kind>) => void,
  ): Promise<void> {
    let read = 0;
    try {
      for await (const event of this.#history.events(kinds)) {
        handle(event);
        read += 1;
        this.#progress.show(() => `${kinds.join(", ")}: ${read} of at most ${this.#history.entries}`);
      }
    } catch (error) {
      if (!(error instanceof AlteredRecord)) throw error;
      throw new CommandFailure(
        `nothing was fitted because ${error.message}: run jiss export and jiss verify for details`,
        EXIT.failure,
      );
    }
  }

  /** Shows how far a fit is. */
  readonly watch = (step: number): void => this.#progress.show(() => `fit: step ${step}`);

  [Symbol.dispose](): void {
    this.#progress[Symbol.dispose]();
  }
}

/** @throws {CommandFailure} 1 if there is no such organization. */
async function requireOrganization(database: Database, org: string): Promise<void> {
  // An invalid name could be that of another chain.
  const rows = orgIdSchema.safeParse(org).success ? await database.read(organizationDetailsQuery(org)) : [];
  if (rows.length === 0) throw unknownOrganization(org);
}

/** The model that the last start recorded: the command may not have the service's environment. */
async function modelInUse(shell: Shell, database: Database): Promise<Model> {
  const { model_sha256: sha256 } = (await readInstallation(database))!;
  const source = { database, crypto: nodeCrypto, model: shell.modelOf(DEFAULT_MODEL_DOCUMENT) };
  return { document: await modelDocument(source, sha256), sha256 };
}
