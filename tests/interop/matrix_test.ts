/**
 * Two verifiers, one judgment: for every row of the tables of tampering, and of the published one, verify.py
 * and the product's verifier give the same exit code, verdicts, fatal findings and first bad places. They
 * share nothing but the documents.
 */
import assert from "node:assert/strict";
import { knownCheckpointOrNull } from "../../src/evidence/kept.ts";
import { nodeCrypto } from "../../src/evidence/node_crypto.ts";
import { formatVerifierKey } from "../../src/evidence/note.ts";
import type { BundleReport } from "../../src/evidence/report.ts";
import { jwkOf, type PinnedKey } from "../../src/evidence/trust.ts";
import type { VerifierOptions } from "../../src/evidence/verifier.ts";
import { buildWorld } from "../bundle_builder.ts";
import {
  askIndependently,
  type IndependentAnswer,
  type IndependentReport,
  pythonIsMissing,
  type Question,
} from "../independent_verifier.ts";
import { MODEL_ROWS } from "../model_rows.ts";
import { PROBE_ROWS } from "../probe_rows.ts";
import { REMOVED_EPOCH_ROWS } from "../removed_epoch_rows.ts";
import { REPEAT_ROWS, RESTORED_REPEAT_ROWS } from "../repeat_rows.ts";
import { SIDESTEP_ROWS } from "../sidestep_rows.ts";
import { CHAIN_ROWS, SEVERAL_ROWS } from "../tamper_chain_rows.ts";
import { TAMPER_ROWS } from "../tamper_rows.ts";
import { inPresentForm, VECTOR_CASES, VECTOR_PINS } from "../vector_cases.ts";
import { overallVerdict, verify } from "../verification.ts";
import matrix from "../vectors/evidence/tamper_matrix.json" with { type: "json" };

/** A file and what its auditor has besides it. */
interface Case {
  readonly name: string;
  readonly text: string;
  readonly options: Partial<VerifierOptions>;
}

const CASES: readonly Case[] = [
  ...[...TAMPER_ROWS, ...CHAIN_ROWS, ...REPEAT_ROWS, ...MODEL_ROWS, ...PROBE_ROWS].map((
    { name, text, pins, known, expected, replay },
  ) => ({
    name,
    text,
    options: given({ pins, known, expected, replay }),
  })),
  ...[...SEVERAL_ROWS, ...SIDESTEP_ROWS, ...RESTORED_REPEAT_ROWS].filter(({ isOfMemory = false }) =>
    !isOfMemory
  ).map((
    { name, text, options = {} },
  ) => ({
    name,
    text,
    options,
  })),
  ...REMOVED_EPOCH_ROWS.map(({ name, text, options = {} }) => ({ name, text, options })),
  ...VECTOR_CASES.map(({ text, known = [] }, index) => ({
    name: `the published row "${matrix[index]!.case}"`,
    text: inPresentForm(text),
    options: { pins: VECTOR_PINS, known: known.map((note) => knownCheckpointOrNull(note)!), replay: false },
  })),
];

/** Leaves out the options that are undefined. */
function given(options: Partial<VerifierOptions>): Partial<VerifierOptions> {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
}

function questionOf(
  { text, options: { pins, holderKeys: together = [], known = [], expected = [], replay } }: Case,
): Question {
  return {
    files: [text],
    keys: pins === null ? null : [...(pins ?? [buildWorld().pin()]).map(keyText), ...together.map(fileText)],
    checkpoints: known.map(({ note }) => note),
    entries: expected,
    replay,
  };
}

/** A key file that holds these keys. */
function fileText(keys: readonly Uint8Array[]): string {
  return JSON.stringify({
    keys: keys.map((publicKey) => jwkOf(nodeCrypto, { publicKey, from: null, until: null })),
  });
}

function keyText(pin: PinnedKey): string {
  const { publicKey, prefix } = pin;
  return prefix === null
    ? JSON.stringify({ keys: [jwkOf(nodeCrypto, pin)] })
    : formatVerifierKey(nodeCrypto, { name: `${prefix}keys`, publicKey });
}

// ---- the verdicts of both -----------------------------------------------------------------------------------------

interface Judgment {
  readonly verdict: string;
  readonly exit: number;
  readonly bundles: readonly BundleJudgment[];
}

interface BundleJudgment {
  readonly verdict: string;
  /** The codes of fatal findings, each once, in alphabetical order. */
  readonly fatal: readonly string[];
  readonly first: number | null;
  readonly range: readonly [number, number] | null;
}

const fatalOf = (findings: readonly { readonly code: string; readonly fatal: boolean }[]) =>
  [...new Set(findings.filter(({ fatal }) => fatal).map(({ code }) => code))].sort();

function judgmentOf(reports: readonly BundleReport[]): Judgment {
  const { verdict, exitCode } = overallVerdict(reports);
  return {
    verdict,
    exit: exitCode,
    bundles: reports.map((report) => ({
      verdict: report.verdict,
      fatal: fatalOf(report.findings),
      first: report.firstBadSeq,
      range: report.firstBadRange,
    })),
  };
}

function independentJudgmentOf({ verdict, exit_code, bundles }: IndependentAnswer): Judgment {
  return { verdict, exit: exit_code, bundles: bundles.map(independentBundleJudgmentOf) };
}

function independentBundleJudgmentOf(
  { verdict, findings, first_bad_seq, first_bad_range }: IndependentReport,
): BundleJudgment {
  return { verdict, fatal: fatalOf(findings), first: first_bad_seq, range: first_bad_range };
}

Deno.test({
  name: "two verifiers that share no code judge every tampering alike [needs python3 with cryptography]",
  ignore: pythonIsMissing(),
  async fn(test) {
    const answers = await askIndependently(CASES.map(questionOf));
    for (const [index, row] of CASES.entries()) {
      await test.step(row.name, () => {
        assert.deepEqual(independentJudgmentOf(answers[index]!), judgmentOf(verify(row.text, row.options)));
      });
    }
  },
});
