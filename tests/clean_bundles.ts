/**
 * Files that honest deployments export, and the check that a verifier raises no alarm for any. Together they
 * must hold everything that can happen to a deployment, so that no test passes because it saw too little.
 */
import assert from "node:assert/strict";
import { utf8 } from "../src/evidence/crypto.ts";
import { nodeCrypto } from "../src/evidence/node_crypto.ts";
import { type BundleReport, verdictWords } from "../src/evidence/report.ts";
import { parsePins } from "../src/evidence/trust.ts";
import { BundleVerifier } from "../src/evidence/verifier.ts";
import { makeQuickDir } from "./database.ts";
import { type ExpectedReport, type ExportedFile, randomHistory } from "./random_worlds.ts";

/** One of this many histories has its database in a file, which can be restored. */
const FILED = 3;

/**
 * Files of one history after another, without end. A failure names the seed of its history: it makes the same
 * files.
 */
export async function* filesOf(seed: string): AsyncGenerator<ExportedFile, never> {
  for (let number = 1;; number += 1) {
    const directory = number % FILED === 0 ? await makeQuickDir("jiss-history-") : null;
    try {
      yield* randomHistory(`${seed} ${number}`, { directory });
    } finally {
      if (directory !== null) await Deno.remove(directory, { recursive: true });
    }
  }
}

function verified({ text, key, known, expected, replay }: ExportedFile): readonly BundleReport[] {
  const verifier = new BundleVerifier(nodeCrypto, {
    pins: parsePins(nodeCrypto, key),
    known,
    expected,
    replay,
  });
  verifier.push(utf8(text));
  return verifier.end();
}

/** The codes of findings, each once, without those that may be reported or not. */
export function codesOf(
  findings: readonly { readonly code: string }[],
  { mayReport }: ExpectedReport,
): readonly string[] {
  return [...new Set(findings.map(({ code }) => code))].filter((code) => !mayReport.includes(code)).sort();
}

const wordsOf = ({ verdict, withheld }: ExpectedReport): string => {
  if (withheld === 0) return verdict;
  const intact = verdict === "INTACT, NOT COMPARED" ? verdict : "INTACT";
  return `${intact} (${withheld} ${withheld === 1 ? "part" : "parts"} withheld, not replayed)`;
};

// ---- required events --------------------------------------------------------------------------------------------

const WITNESSES = {
  anchored: ({ bundles }) => bundles.some(({ verdict }) => verdict === "INTACT"),
  unanchored: ({ bundles }) => bundles.some(({ verdict }) => verdict === "INTACT, UNANCHORED"),
  pruned: ({ bundles }) => bundles.some(({ base }) => base > 0),
  linkedOverLadder: ({ text, bundles }) =>
    text.includes('"kind":"jis.ladder/1"') &&
    bundles.some(({ base, verdict }) => base > 0 && verdict === "INTACT"),
  unlinkable: ({ bundles }) =>
    bundles.some(({ reported }) => reported.includes("KNOWN_CHECKPOINT_UNLINKABLE")),
  otherEpoch: ({ bundles }) => bundles.some(({ reported }) => reported.includes("KNOWN_EPOCH_UNLINKED")),
  erased: ({ text }) => text.includes('\n{"erased":true,'),
  labelled: ({ text }) => text.includes('"event_type":"OUTCOME_LABELLED"'),
  committed: ({ text }) => text.includes('"event_type":"SCORE_COMMITTED"'),
  frozen: ({ text }) => text.includes('"event_type":"SCORE_SKIPPED"'),
  decided: ({ text }) => text.includes('"event_type":"DRS_COMPUTED"'),
  anchors: ({ text }) => text.includes('"event_type":"ORG_CHECKPOINTS"'),
  exercised: ({ text }) =>
    text.includes('"event_type":"EXERCISE_SET"') && text.includes('"session_id":"exercise-'),
  retentionChanged: ({ text }) => text.includes('"event_type":"RETENTION_POLICY"'),
  rotatedInOverlap: ({ text }) => text.includes('"overlap":true') && !text.includes('"overlap":false'),
  oldKeyDropped: ({ text }) => text.includes('"overlap":false'),
  restored: ({ bundles }) => isOfTwoEpochs(bundles),
  lostWithRestore: ({ bundles }) => bundles.some(({ reported }) => reported.includes("RESTORED")),
  withheldAndNotReplayed: ({ bundles, replay }) => !replay && bundles.some(({ withheld }) => withheld > 0),
  withheldAndReplayed: ({ bundles, replay }) => replay && bundles.some(({ withheld }) => withheld > 0),
} as const satisfies Record<string, (file: ExportedFile) => boolean>;

const NAMES = Object.keys(WITNESSES) as (keyof typeof WITNESSES)[];

function isOfTwoEpochs(bundles: readonly ExpectedReport[]): boolean {
  return bundles.some(({ origin }) => bundles.some((other) => other.origin === `${origin}/e2`));
}

/**
 * The features that the histories have shown so far, of those that they must have: a test that misses one of
 * them would show nothing.
 */
export class Seen {
  readonly #lacking = new Set(NAMES);
  #bundles = 0;

  get bundles(): number {
    return this.#bundles;
  }

  get isComplete(): boolean {
    return this.#lacking.size === 0;
  }

  /** Whether a file holds something that none before it did. */
  isNews(file: ExportedFile): boolean {
    return [...this.#lacking].some((name) => WITNESSES[name](file));
  }

  take(file: ExportedFile): void {
    for (const name of [...this.#lacking]) if (WITNESSES[name](file)) this.#lacking.delete(name);
    this.#bundles += file.bundles.length;
  }
}

// ---- verification -------------------------------------------------------------------------------------------------

/** Counts of the checks. */
export interface CleanFigures {
  readonly bundles: number;
  readonly files: number;
}

/**
 * Verifies at least this many bundles, and as many more as it takes to see everything. @throws at the first
 * alarm.
 */
export async function verifyClean(
  seed: string,
  { bundles }: { readonly bundles: number },
): Promise<CleanFigures> {
  const seen = new Seen();
  let files = 0;
  for await (const file of filesOf(seed)) {
    const reports = verified(file);
    assert.deepEqual(
      reports.map((report, index) => ({
        ...{ origin: report.origin, base: report.base, size: report.size },
        ...{ words: verdictWords(report), exit: report.exitCode },
        reported: codesOf(report.findings, file.bundles[index]!),
      })),
      file.bundles.map((expected) => ({
        ...{ origin: expected.origin, base: expected.base, size: expected.size },
        ...{ words: wordsOf(expected), exit: expected.exit },
        reported: expected.reported,
      })),
      file.name,
    );
    seen.take(file);
    files += 1;
    if (seen.bundles >= bundles && seen.isComplete) break;
  }
  return { bundles: seen.bundles, files };
}
