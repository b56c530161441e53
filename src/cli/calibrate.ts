/**
 * `jiss calibrate`: fits a model document to an organization's own labelled history, and shows what it would
 * change for its operators. Reads the database, also of a running service, and changes nothing in it.
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
import { calibrate as fit, calibratedVersion } from "../scoring/calibration/calibrate.ts";
import { ENOUGH_CASES, LabelledCases } from "../scoring/calibration/labelled_cases.ts";
import { PRIOR_RULES } from "../scoring/calibration/priors.ts";
import { compareScores, type Comparison, Recomputation } from "../scoring/calibration/recomputation.ts";
import { TIME_RULES } from "../scoring/calibration/times.ts";
import { DEFAULT_MODEL_DOCUMENT, type Model } from "../scoring/model.ts";
import type { Database } from "../store/database.ts";
import { readInstallation } from "../store/installation.ts";
import { organizationDetailsQuery } from "../store/organizations.ts";
import { type Report, textOf } from "./calibrate_report.ts";
import { unknownOrganization } from "./organizations.ts";
import { requireAbsent, writeToNewFile } from "./output.ts";
import { Progress } from "./progress.ts";
import { CommandFailure, EXIT, type Shell } from "./shell.ts";
import { storageOf, withStored } from "./stored.ts";

export interface CalibrateOptions {
  readonly org: string;
  /** A file that does not exist yet; without it nothing is written. */
  readonly output?: string;
  readonly json: boolean;
}

/** The most operators whose scores are shown one by one. */
const SHOWN_OPERATORS = 10;
const TOO_LITTLE_HISTORY = "there is too little labelled history to fit anything: " +
  `a domain's times need ${TIME_RULES.operators} operators who judge, each with ${ENOUGH_CASES.wrongAdvice} cases of wrong ` +
  `advice, ${ENOUGH_CASES.rightAdvice} of right advice and ${TIME_RULES.reviews} good reviews; a prior needs ` +
  `${PRIOR_RULES.operators} operators with so many cases, or with ${PRIOR_RULES.unaidedCases} decided without the AI. ` +
  "docs/understand/scoring-model.md says what counts";

export async function calibrate(
  shell: Shell,
  { org, output, json }: CalibrateOptions,
): Promise<number> {
  if (output === "-") {
    throw new CommandFailure(
      "-o needs the name of a file, because the report goes to standard output",
      EXIT.usage,
    );
  }
  if (output !== undefined) requireAbsent(output);
  const { report, isFitted, model } = await withStored(
    shell,
    storageOf(shell),
    (database) => calibrateFrom(shell, database, org),
  );
  console.log(json ? JSON.stringify(report) : textOf(report));
  if (!isFitted) throw new CommandFailure(TOO_LITTLE_HISTORY, EXIT.failure);
  if (model === null) {
    printUnlessJson(json, "The model in use already has these values: there is nothing to write.");
  } else if (output === undefined) {
    printUnlessJson(json, "Nothing was written: to write the document, use -o FILE.");
  } else {
    await writeToNewFile(documentText(model), output);
    printUnlessJson(
      json,
      `Wrote ${output}, readable only by its owner. It applies to every organization of an installation that is started with\n` +
        `JISS_SCORING_MODEL_FILE=${output}`,
    );
  }
  return EXIT.ok;
}

/** Prints a text, but not with `--json`: then standard output has only the report. */
function printUnlessJson(json: boolean, words: string): void {
  if (!json) console.log(`\n${words}`);
}

async function* documentText({ document }: Model): AsyncGenerator<string> {
  yield `${JSON.stringify(document, null, 2)}\n`;
}

async function calibrateFrom(
  shell: Shell,
  database: Database,
  org: string,
): Promise<{ readonly report: Report; readonly isFitted: boolean; readonly model: Model | null }> {
  await requireOrganization(database, org);
  const from = await modelInUse(shell, database);
  const history = await ScoredHistory.of({ database, crypto: nodeCrypto }, org);
  using reader = new Reader(shell, history);

  const labels = new Map<string, boolean>();
  await reader.forEachEvent(["label"], ({ input }) => labels.set(input.session_id, input.label));
  const cases = new LabelledCases(from.document);
  await reader.forEachEvent(["score"], ({ input }) => {
    const { operator_id, domain, interaction, session_id } = input;
    const outcome_correct = interaction.outcome_correct ?? labels.get(session_id) ?? null;
    cases.add(operator_id, domain, { ...interaction, outcome_correct });
  });

  const { document, times, priors, isFitted } = fit(from.document, cases);
  const model = document && withOwnVersion(shell, document);
  const scores = model && await compareModels(reader, { from, to: model, labels });
  return {
    report: { org_id: org, from: nameOf(from), to: model && nameOf(model), times, priors, scores },
    isFitted,
    model,
  };
}

function nameOf({ document: { version }, sha256 }: Model) {
  return { version, sha256 };
}

/** The document with a version of its own. */
function withOwnVersion(shell: Shell, document: Model["document"]): Model {
  const version = calibratedVersion(document.version, shell.modelOf(document).sha256);
  return shell.modelOf({ ...document, version });
}

async function compareModels(
  reader: Reader,
  { from, to, labels }: {
    readonly from: Model;
    readonly to: Model;
    readonly labels: ReadonlyMap<string, boolean>;
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
