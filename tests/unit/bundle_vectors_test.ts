/**
 * The verifier against the published bundle and its table of tamperings. The vectors test hashing, notes,
 * proofs and findings only: they run without replay, without a record of pruning, and with the header of
 * their time.
 */
import assert from "node:assert/strict";
import { utf8 } from "../../src/evidence/crypto.ts";
import { type KnownCheckpoint, knownCheckpointOrNull } from "../../src/evidence/kept.ts";
import { nodeCrypto } from "../../src/evidence/node_crypto.ts";
import { BundleVerifier } from "../../src/evidence/verifier.ts";
import { VECTOR_CASES, VECTOR_PINS } from "../vector_cases.ts";
import matrix from "../vectors/evidence/tamper_matrix.json" with { type: "json" };

function held(notes: readonly string[]): readonly KnownCheckpoint[] {
  return notes.map((note) => knownCheckpointOrNull(note)!);
}

interface Row {
  readonly code: string;
  readonly fatal: boolean;
  readonly seq?: number;
  readonly range?: readonly number[];
  readonly line?: number;
}

for (const [index, { case: name, ok, findings }] of matrix.entries()) {
  Deno.test(`the published table's row "${name}" has its finding`, () => {
    const { text, known = [] } = VECTOR_CASES[index]!;
    const verifier = new BundleVerifier(nodeCrypto, {
      pins: VECTOR_PINS,
      known: held(known),
      expected: [],
      replay: false,
      requirePruneRecord: false,
      lenientHeader: true,
    });
    verifier.push(utf8(text));
    const [report] = verifier.end();
    const expected = findings as readonly Row[];
    assert.deepEqual(
      report!.findings.map(({ code, fatal, seq, range, line }, at) => ({
        code,
        fatal,
        ...(seq === null ? {} : { seq }),
        ...(range === null ? {} : { range }),
        ...(expected[at]?.line === undefined ? {} : { line }),
      })),
      expected.map(({ code, fatal, seq, range, line }) => ({
        code,
        fatal,
        ...(seq === undefined ? {} : { seq }),
        ...(range === undefined ? {} : { range }),
        ...(line === undefined ? {} : { line }),
      })),
    );
    assert.equal(report!.verdict.startsWith("INTACT"), ok);
  });
}

Deno.test("every row of the published table is run", () => {
  assert.equal(VECTOR_CASES.length, matrix.length);
});
