/** Runs the verifier in tests: a file in, short words for the findings. */
import assert from "node:assert/strict";
import { utf8 } from "../src/evidence/crypto.ts";
import { type Finding, FINDINGS, sentenceOf } from "../src/evidence/findings.ts";
import { nodeCrypto } from "../src/evidence/node_crypto.ts";
import { type BundleReport, worstOf } from "../src/evidence/report.ts";
import { BundleVerifier, type VerifierOptions } from "../src/evidence/verifier.ts";
import { buildWorld } from "./bundle_builder.ts";

/** Verifies a file under the default world's first key, unless told otherwise; everything is replayed. */
export function verify(text: string, options: Partial<VerifierOptions> = {}): readonly BundleReport[] {
  const verifier = new BundleVerifier(nodeCrypto, {
    pins: [buildWorld().pin()],
    known: [],
    expected: [],
    replay: true,
    ...options,
  });
  verifier.push(utf8(text));
  return verifier.end();
}

/** `CODE@seq`, `CODE[first,last]`, or `CODE`. */
function brief({ code, seq, range }: Finding): string {
  if (range !== null) return `${code}[${range}]`;
  return seq === null ? code : `${code}@${seq}`;
}

/** The expected content of a report. */
export interface Expectation {
  readonly verdict: BundleReport["verdict"];
  readonly exit: BundleReport["exitCode"];
  readonly findings: readonly string[];
  readonly first?: number | null;
}

/** Compares a report with the expectation; every finding must have a sentence that can be printed. */
export function assertReport(report: BundleReport, { verdict, exit, findings, first }: Expectation): void {
  assert.deepEqual(
    {
      verdict: report.verdict,
      exit: report.exitCode,
      findings: report.findings.map(brief),
      ...(first === undefined ? {} : { first: report.firstBadSeq }),
    },
    { verdict, exit, findings, ...(first === undefined ? {} : { first }) },
  );
  for (const finding of report.findings) {
    assert.equal(finding.fatal, FINDINGS[finding.code].fatal);
    assert.match(sentenceOf(finding), /^[A-Z].*\.$/);
    assert.doesNotMatch(sentenceOf(finding), /undefined|null|NaN/);
  }
}

/** One file and its findings; several bundles have an expectation each. */
export interface Row extends Partial<VerifierOptions>, Expectation {
  /** The statement that the row proves. */
  readonly name: string;
  readonly text: string;
}

/** A test for each row. */
export function run(rows: readonly Row[]): void {
  for (const { name, text, verdict, exit, findings, first, ...options } of rows) {
    Deno.test(name, () => {
      const [report, ...others] = verify(text, options);
      assert.deepEqual(others, []);
      assertReport(report!, { verdict, exit, findings, first });
    });
  }
}

export const INTACT: Expectation = { verdict: "INTACT, UNANCHORED", exit: 0, findings: [], first: null };

/** Nothing is wrong, but what was kept could not be compared with it. */
export const NOT_COMPARED: Expectation = {
  verdict: "INTACT, NOT COMPARED",
  exit: 2,
  findings: [],
  first: null,
};

export function tampered(findings: readonly string[], first: number | null): Expectation {
  return { verdict: "TAMPERED", exit: 1, findings, first };
}

export function diverged(findings: readonly string[], first: number | null): Expectation {
  return { verdict: "DIVERGED", exit: 1, findings, first };
}

export function notVerifiable(findings: readonly string[], first: number | null = null): Expectation {
  return { verdict: "NOT VERIFIABLE", exit: 2, findings, first };
}

/** The verdict on several bundles. */
export function overallVerdict(reports: readonly BundleReport[]): Pick<BundleReport, "verdict" | "exitCode"> {
  const { verdict, exitCode } = worstOf(reports);
  return { verdict, exitCode };
}
