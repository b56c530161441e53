/**
 * No false alarm: whatever an honest deployment lives through, the files that it hands out are intact, here and in the
 * independent verifier, and what was kept of earlier visits agrees with them.
 *
 * A history that fails names its seed: the same seed makes the same files.
 */
import assert from "node:assert/strict";
import { utf8 } from "../../src/evidence/crypto.ts";
import { nodeCrypto } from "../../src/evidence/node_crypto.ts";
import { type BundleReport, verdictWords } from "../../src/evidence/report.ts";
import { parsePins } from "../../src/evidence/trust.ts";
import { BundleVerifier } from "../../src/evidence/verifier.ts";
import { askIndependently, type IndependentAnswer, pythonIsMissing } from "../independent_verifier.ts";
import { type Foretold, type HandedOut, randomHistory } from "../random_worlds.ts";

const BUNDLES = 1_000;
const INDEPENDENT_BUNDLES = 100;
/** One history in so many is of a database in a file, which can be put back. */
const FILED = 3;

/** Files of one history after another, without end. */
async function* filesOf(seed: string): AsyncGenerator<HandedOut, never> {
  for (let number = 1;; number += 1) {
    const directory = number % FILED === 0 ? await Deno.makeTempDir({ prefix: "jiss-history-" }) : null;
    try {
      yield* randomHistory(`${seed} ${number}`, { directory });
    } finally {
      if (directory !== null) await Deno.remove(directory, { recursive: true });
    }
  }
}

function verified({ text, key, known, expected, replay }: HandedOut): readonly BundleReport[] {
  const verifier = new BundleVerifier(nodeCrypto, {
    pins: parsePins(nodeCrypto, key),
    known,
    expected,
    replay,
  });
  verifier.push(utf8(text));
  return verifier.end();
}

/** The codes of findings, each once, but for those that may be told or not. */
function codesOf(findings: readonly { readonly code: string }[], { mayTell }: Foretold): readonly string[] {
  return [...new Set(findings.map(({ code }) => code))].filter((code) => !mayTell.includes(code)).sort();
}

const wordsOf = ({ verdict, withheld }: Foretold): string => {
  if (withheld === 0) return verdict;
  const intact = verdict === "INTACT, NOT COMPARED" ? verdict : "INTACT";
  return `${intact} (${withheld} ${withheld === 1 ? "part" : "parts"} withheld, not replayed)`;
};

// ---- what the histories must hold -------------------------------------------------------------------------------

const WITNESSES = {
  anchored: ({ bundles }) => bundles.some(({ verdict }) => verdict === "INTACT"),
  unanchored: ({ bundles }) => bundles.some(({ verdict }) => verdict === "INTACT, UNANCHORED"),
  pruned: ({ bundles }) => bundles.some(({ base }) => base > 0),
  linkedOverLadder: ({ text, bundles }) =>
    text.includes('"kind":"jis.ladder/1"') &&
    bundles.some(({ base, verdict }) => base > 0 && verdict === "INTACT"),
  unlinkable: ({ bundles }) => bundles.some(({ told }) => told.includes("KNOWN_CHECKPOINT_UNLINKABLE")),
  otherEpoch: ({ bundles }) => bundles.some(({ told }) => told.includes("KNOWN_EPOCH_UNLINKED")),
  erased: ({ text }) => text.includes('\n{"erased":true,'),
  labelled: ({ text }) => text.includes('"event_type":"OUTCOME_LABELLED"'),
  committed: ({ text }) => text.includes('"event_type":"SCORE_COMMITTED"'),
  frozen: ({ text }) => text.includes('"event_type":"SCORE_SKIPPED"'),
  decided: ({ text }) => text.includes('"event_type":"DRS_COMPUTED"'),
  anchors: ({ text }) => text.includes('"event_type":"ORG_CHECKPOINTS"'),
  retentionChanged: ({ text }) => text.includes('"event_type":"RETENTION_POLICY"'),
  rotatedInOverlap: ({ text }) => text.includes('"overlap":true') && !text.includes('"overlap":false'),
  oldKeyDropped: ({ text }) => text.includes('"overlap":false'),
  restored: ({ bundles }) => isOfTwoEpochs(bundles),
  lostWithRestore: ({ bundles }) => bundles.some(({ told }) => told.includes("RESTORED")),
  withheldAndNotReplayed: ({ bundles, replay }) => !replay && bundles.some(({ withheld }) => withheld > 0),
  withheldAndReplayed: ({ bundles, replay }) => replay && bundles.some(({ withheld }) => withheld > 0),
} as const satisfies Record<string, (file: HandedOut) => boolean>;

const NAMES = Object.keys(WITNESSES) as (keyof typeof WITNESSES)[];

function isOfTwoEpochs(bundles: readonly Foretold[]): boolean {
  return bundles.some(({ origin }) => bundles.some((other) => other.origin === `${origin}/e2`));
}

/** What has been seen of all that the histories must hold: a test without some of it would pass for nothing. */
class Seen {
  readonly #lacking = new Set(NAMES);
  #bundles = 0;

  get bundles(): number {
    return this.#bundles;
  }

  get isComplete(): boolean {
    return this.#lacking.size === 0;
  }

  /** Whether a file holds what none before it did. */
  isNews(file: HandedOut): boolean {
    return [...this.#lacking].some((name) => WITNESSES[name](file));
  }

  take(file: HandedOut): void {
    for (const name of [...this.#lacking]) if (WITNESSES[name](file)) this.#lacking.delete(name);
    this.#bundles += file.bundles.length;
  }
}

// ---- no alarm -----------------------------------------------------------------------------------------------------

Deno.test("a thousand bundles that an honest deployment hands out raise no alarm", async () => {
  const seen = new Seen();
  for await (const file of filesOf("clean")) {
    const reports = verified(file);
    assert.deepEqual(
      reports.map((report, index) => ({
        ...{ origin: report.origin, base: report.base, size: report.size },
        ...{ words: verdictWords(report), exit: report.exitCode },
        told: codesOf(report.findings, file.bundles[index]!),
      })),
      file.bundles.map((foretold) => ({
        ...{ origin: foretold.origin, base: foretold.base, size: foretold.size },
        ...{ words: wordsOf(foretold), exit: foretold.exit },
        told: foretold.told,
      })),
      file.name,
    );
    seen.take(file);
    if (seen.bundles >= BUNDLES && seen.isComplete) return;
  }
});

Deno.test({
  name:
    "a hundred bundles that an honest deployment hands out raise no alarm in the independent verifier [needs python3 with cryptography]",
  ignore: pythonIsMissing(),
  async fn() {
    const files = await chosenFiles();
    const answers = await askIndependently(files.map(({ text, key, known, expected, replay }) => ({
      files: [text],
      keys: [key],
      checkpoints: known.map(({ note }) => note),
      entries: expected,
      replay,
    })));
    for (const [index, file] of files.entries()) assertNoAlarm(answers[index]!, file);
  },
});

/** So many bundles, and as many more as it takes to hold everything. */
async function chosenFiles(): Promise<readonly HandedOut[]> {
  const seen = new Seen();
  const files: HandedOut[] = [];
  for await (const file of filesOf("independent")) {
    if (seen.bundles >= INDEPENDENT_BUNDLES && !seen.isNews(file)) continue;
    files.push(file);
    seen.take(file);
    if (seen.bundles >= INDEPENDENT_BUNDLES && seen.isComplete) break;
  }
  return files;
}

function assertNoAlarm({ exit_code, bundles }: IndependentAnswer, file: HandedOut): void {
  assert.deepEqual(
    bundles.map(({ origin, verdict, withheld, findings }, index) => ({
      ...{ origin, verdict, withheld },
      told: codesOf(findings, file.bundles[index]!),
    })),
    file.bundles.map(({ origin, verdict, withheld, told }) => ({ origin, verdict, withheld, told })),
    file.name,
  );
  assert.equal(exit_code, Math.max(...file.bundles.map(({ exit }) => exit)), file.name);
}
