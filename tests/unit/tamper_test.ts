/**
 * Every tampering with a bundle, and the verifier's findings: the rows of tests/tamper_rows.ts, and the
 * sentences of findings and verdicts.
 */
import assert from "node:assert/strict";
import { type FindingCode, FINDINGS, sentenceOf } from "../../src/evidence/findings.ts";
import { knownCheckpointOrNull } from "../../src/evidence/kept.ts";
import { type BundleReport, sentenceOfVerdict, verdictWords } from "../../src/evidence/report.ts";
import { JIS_1_0_0 } from "../models.ts";
import { buildWorld, modelOf } from "../bundle_builder.ts";
import { checkpointAt, forged } from "../bundle_tampering.ts";
import {
  chain,
  END_ROWS,
  ENTRY_ROWS,
  GENUINE_ROWS,
  GOOD,
  KEPT,
  LINE_ROWS,
  lineOfEntry,
  part,
  PART_ROWS,
  rename,
  REPLAY_ROWS,
  rewritten,
  SIGNATURE_ROWS,
  strangers,
  WITH_KEY,
  withLine,
  WITHOUT_KEY,
} from "../tamper_rows.ts";
import { assertReport, INTACT, overallVerdict, run, tampered, verify } from "../verification.ts";

// ---- genuine bundles ------------------------------------------------------------------------------------------

Deno.test("a genuine bundle is intact, and the report counts recomputed, erased and signed entries", () => {
  const [report] = verify(GOOD);
  assertReport(report!, INTACT);
  const { origin, chain: name, base, size, entries, withheld, erased, replayed, selfTrusted } = report!;
  assert.deepEqual(
    { origin, name, base, size, entries, withheld, erased, replayed, selfTrusted },
    {
      origin: "jiss.test/01TESTDEPLOYMENT/org/acme",
      name: "org/acme",
      base: 0,
      size: 12,
      entries: 12,
      withheld: 0,
      erased: 4,
      // Scores of ada (3) and cyd (2), the decision, the commit and the label.
      replayed: 8,
      selfTrusted: false,
    },
  );
  assert.deepEqual(report!.checkpoint, chain.checkpoint());
});

run(GENUINE_ROWS);

// ---- entries --------------------------------------------------------------------------------------------------

run(ENTRY_ROWS);

// ---- the end of the file ----------------------------------------------------------------------------------------

run(END_ROWS);

// ---- signatures -------------------------------------------------------------------------------------------------

run(SIGNATURE_ROWS);

// ---- parts and erasure ------------------------------------------------------------------------------------------

run(PART_ROWS);

for (const [parts, withheld] of [["structural", 15], ["none", 17]] as const) {
  Deno.test(`a genuine bundle with parts=${parts} is intact as far as it goes, and says how many are withheld`, () => {
    const text = chain.bundle({ every: 4, parts });
    const [report] = verify(text);
    assertReport(report!, { ...INTACT, exit: 2 });
    assert.deepEqual([report!.withheld, report!.replayed], [withheld, 0]);
    assert.equal(verdictWords(report!), `INTACT (${withheld} parts withheld, not replayed)`);
    assertReport(verify(text, { replay: false })[0]!, INTACT);
  });
}

Deno.test("after a withheld part the operator's next entry is STATE_UNANCHORED", () => {
  const text = forged(GOOD, ({ groups }) => {
    groups[3]!.parts = groups[3]!.parts.map(({ seq, name }) => ({
      kind: "jis.part/1",
      seq,
      name,
      withheld: true,
    }));
  });
  const [report] = verify(text);
  assertReport(report!, { ...INTACT, exit: 2, findings: ["STATE_UNANCHORED@4"] });
});

// ---- replay -----------------------------------------------------------------------------------------------------

run(REPLAY_ROWS);

Deno.test("a false score is reported with its part, the stored and the computed value", () => {
  const [report] = verify(rewritten((open) => part(open, 3, "result").data.jis = 7));
  assert.equal(report!.findings[0]!.part, "result");
  assert.match(report!.findings[0]!.detail!, /^jis: recorded 7, computed [\d.]+$/);
});

Deno.test("each entry is replayed with the model of its time", () => {
  const other = buildWorld({ seed: "models" });
  const writer = other.chain("org/acme");
  writer.score("ada");
  const early = other.model;
  const document = structuredClone(JIS_1_0_0);
  other.model = modelOf({
    ...document,
    version: "jis-1.0.1",
    thresholds: { ...document.thresholds, min_jis: 41 },
  });
  writer.score("ada");
  const text = writer.bundle();
  const [report] = verify(text, { pins: [other.pin()] });
  assertReport(report!, tampered(["MODEL_MISSING@1"], 1));
  const both = forged(text, ({ preamble }) => {
    preamble.push({ kind: "jis.model/1", sha256: early.sha256, document: early.document });
  });
  assertReport(verify(both, { pins: [other.pin()] })[0]!, INTACT);
});

// ---- lines ------------------------------------------------------------------------------------------------------

run(LINE_ROWS);

Deno.test("at most 64 findings are kept, and the others are counted", () => {
  const text = withLine(lineOfEntry(5), (line) => [...Array.from({ length: 100 }, () => "?"), line]);
  const [report] = verify(text);
  assert.deepEqual([report!.findings.length, report!.dropped, report!.verdict], [64, 36, "TAMPERED"]);
});

// ---- the words of findings --------------------------------------------------------------------------------------

const SOME = { fatal: true, seq: 5, range: null, line: 12, detail: null } as const;

Deno.test("every code has a sentence for a reader who does not program", () => {
  const sentences = Object.fromEntries(
    (Object.keys(FINDINGS) as FindingCode[]).map((
      code,
    ) => [code, sentenceOf({ ...SOME, code, part: "result" })]),
  );
  assert.deepEqual(sentences, {
    LINK_BROKEN:
      "Entry 5 was changed after it was written: the chain from each entry to the next is broken there.",
    MISSING: "Entry 5 is missing: somebody took it out.",
    COMMIT_UNCOMPARED:
      "From entry 5 on, some final scores cannot be compared: the scores to which they refer are too far back, or not in the file.",
    DUPLICATE_SEQ: "There is a second entry 5: somebody put one in.",
    REORDERED: "Entry 5 stands in the wrong place.",
    CLOCK_ROLLBACK: "Time goes backwards at entry 5: it claims to be older than the entry before it.",
    WRONG_CHAIN: "Entry 5 was taken from another chain.",
    GENESIS_MISMATCH:
      "The chain does not begin as a chain of this log does: its first entry belongs to another log, or was changed.",
    TRUNCATED: "The file is cut off after entry 4.",
    UNSIGNED_TAIL: "Entry 5 is not covered by any signature.",
    TRAILER_SIZE_MISMATCH:
      "The number of entries in the last line of the file is not the number of entries in the file.",
    BUNDLE_DIGEST_MISMATCH:
      "The file was changed after it was exported: its fingerprint is not the one in its last line.",
    NON_CANONICAL_LINE:
      "Line 12 of the file was changed in its form: it is not in the canonical form in which every line is written.",
    MALFORMED_LINE: "Line 12 of the file is damaged, or does not belong there.",
    UNSUPPORTED_VERSION:
      "Line 12 of the file is of a version that this program does not know: use a newer one.",
    LIMIT_EXCEEDED: "Line 12 of the file is beyond a limit of this program: its content was not checked.",
    ROOT_MISMATCH: "Something in entry 5 was changed: it is not what was signed.",
    UNTRUSTED_KEY: "The signature over everything up to entry 5 is by a key that you do not trust for it.",
    RETIRED_KEY: "The signature over everything up to entry 5 is by a key that was no longer in use.",
    BAD_SIGNATURE:
      "The signature over everything up to entry 5 is false: the signature was changed, or an entry that it covers.",
    WRONG_ORIGIN: "Line 12 of the file belongs to another log: it names another origin.",
    FORK_VS_KNOWN_CHECKPOINT: "Entry 5 is not what you were shown before.",
    ROLLBACK_VS_KNOWN_CHECKPOINT: "You were shown entry 5 before, and the file does not have it.",
    COMMITMENT_MISMATCH: "The content of entry 5 was changed: its result is not the one that was recorded.",
    PART_MISSING: "The result of entry 5 is missing, and the file gives no reason.",
    EARLIER_KEY_ONLY:
      "The newest signature, over everything up to entry 5, is by an earlier key than the one that you trust: anybody who has that key by now could have made the file. Verify it together with the system chain's bundle, or against a checkpoint that you kept.",
    ERASURE_UNPROVEN:
      "The content of entry 5 is said to be destroyed by rule, but there is no record of that.",
    PRUNED_PREFIX_UNPROVEN: "Entry 5 is not in the file, and nothing signed proves a removal by rule.",
    PRUNE_POLICY_VIOLATION:
      "Entry 5 records a removal that the retention rule does not allow: the removed entries were too young.",
    SCORE_MISMATCH: "The result in entry 5 is false: computed anew from the recorded input, it is different.",
    STATE_MISMATCH:
      "Entry 5 does not start from the state in which the operator's entry before it ended: one of the two is false.",
    RECORD_MALFORMED: "The record in entry 5 does not have the form of its kind, so it cannot be checked.",
    RECORD_REPEATED:
      "Entry 5 records a second time an event that can happen only once: a session is scored, committed and labelled at most once, and a decision is scored once.",
    MODEL_MISSING: "Entry 5 was scored by a model that is not in the file, so it cannot be computed anew.",
    MODEL_MISMATCH:
      "A scoring model in the file was changed: its fingerprint is not the one that entries name.",
    PROBE_LEFT_OUT:
      "From entry 5 on, cases were decided before which a probe was due on that day, and none was drawn: the review application did not ask, or asked on an earlier day.",
    PROBE_MISMATCH:
      "The record of a probe in entry 5 is false: it was not sealed, drawn or opened as the entries around it and the day's seed say.",
    PROBE_SELECTION:
      "From entry 5 on, the organization can have chosen among draws of probes: drawn ones were recalled or not decided in their time, or their cases were never scored, or were scored as others than was said.",
    PROBE_UNCOMPARED:
      "From entry 5 on, some records of probes cannot be compared: the seed of their day is not opened yet, or what they refer to is not in the file.",
    PRUNED_PREFIX: "Entry 5 was removed by the retention rule; a signed record says so.",
    STATE_UNANCHORED:
      "From entry 5 on, the file has operators whose earlier entries are not in the file, or cannot be read.",
    KNOWN_CHECKPOINT_UNLINKABLE:
      "A checkpoint that you kept is older than the entries in the file, and cannot be compared with them.",
    KNOWN_EPOCH_UNLINKED:
      "A checkpoint that you kept is of another epoch of this chain, and no file that was given leads from that epoch to this one.",
    KNOWN_DEPLOYMENT_OTHER:
      "The same key, or another key of its holder, signed, in another deployment, a checkpoint that you kept, for the same organization or for all organizations.",
    ANCHOR_AHEAD:
      "The file holds fewer entries of this chain than are known from elsewhere: it was exported earlier.",
    RESTORED:
      "The database was restored from a backup: entries from 5 on were lost, and the next chain says so.",
  });
});

Deno.test("a sentence about several entries names the first and the last", () => {
  assert.equal(
    sentenceOf({ ...SOME, code: "MISSING", range: [4, 7] }),
    "Entries 4 to 7 are missing: somebody took them out.",
  );
  assert.equal(
    sentenceOf({ ...SOME, code: "ROOT_MISMATCH", range: [4, 7] }),
    "Something in entries 4 to 7 was changed: it is not what was signed.",
  );
});

Deno.test("the table says which findings are fatal, and which need a trusted signature", () => {
  const codes = Object.keys(FINDINGS) as FindingCode[];
  assert.deepEqual(codes.filter((code) => !FINDINGS[code].fatal), [
    "PRUNED_PREFIX",
    "STATE_UNANCHORED",
    "KNOWN_CHECKPOINT_UNLINKABLE",
    "KNOWN_EPOCH_UNLINKED",
    "KNOWN_DEPLOYMENT_OTHER",
    "COMMIT_UNCOMPARED",
    "PROBE_LEFT_OUT",
    "PROBE_SELECTION",
    "PROBE_UNCOMPARED",
    "ANCHOR_AHEAD",
    "RESTORED",
  ]);
  assert.deepEqual(codes.filter((code) => FINDINGS[code].needsTrustedRoot), [
    "ROOT_MISMATCH",
    "UNTRUSTED_KEY",
    "RETIRED_KEY",
    "EARLIER_KEY_ONLY",
    "PRUNED_PREFIX_UNPROVEN",
  ]);
});

Deno.test("each verdict has a plain sentence", () => {
  const sentence = (text: string, options: Parameters<typeof verify>[1] = {}) =>
    sentenceOfVerdict(verify(text, options)[0]!);
  assert.equal(
    sentence(GOOD),
    "Nothing was changed after signing. You kept nothing of this chain to hold it against, so keep its checkpoint now.",
  );
  assert.equal(
    sentence(GOOD, { known: KEPT }),
    "Nothing was changed, and the file goes on from what you kept of an earlier visit.",
  );
  assert.equal(
    sentence(chain.bundle({ parts: "none" })),
    "Nothing was changed after signing. You kept nothing of this chain to hold it against, so keep its checkpoint now. The file withholds 17 contents, so not every score could be computed anew.",
  );
  assert.equal(
    sentence(forged(GOOD, rename(5))),
    "The file was changed after its entries were written; the first bad one is entry 5.",
  );
  assert.equal(
    sentence(forged(GOOD, rename(5), WITHOUT_KEY)),
    "The file was changed after its entries were written, somewhere in entries 4 to 7.",
  );
  assert.equal(
    sentence(forged(GOOD, rename(5), WITH_KEY), { known: KEPT }),
    "The file contradicts a checkpoint or a document that you kept: history was rewritten. Keep both, together they prove it.",
  );
  assert.equal(
    sentence(GOOD, { known: [knownCheckpointOrNull(checkpointAt(GOOD, 8, strangers))!] }),
    "The file is sound by itself, but a checkpoint that you kept of it is signed by no key that you trust: either that key or that checkpoint is not of this log.",
  );
  assert.equal(
    sentence(""),
    "Nothing can be said of the file: it is not signed by a key that you trust, or not a file that this program reads.",
  );
  assert.equal(
    sentence(GOOD, { pins: null }),
    "The file agrees with the key that it carries itself, SHA256:IlBd3aPQtEg19wKhQ+XAkYAuEn4i1DxblFTWVqG9c3A. That proves nothing until you compare this fingerprint with one that you got another way, and pass that key.",
  );
});

Deno.test("the worst verdict counts: exit code 1 before 2 before 0", () => {
  const worst = (...verdicts: (readonly [BundleReport["verdict"], BundleReport["exitCode"]])[]) => {
    const [report] = verify(GOOD);
    return overallVerdict(verdicts.map(([verdict, exitCode]) => ({ ...report!, verdict, exitCode })));
  };
  assert.deepEqual(worst(["INTACT", 0], ["INTACT, UNANCHORED", 0]), {
    verdict: "INTACT, UNANCHORED",
    exitCode: 0,
  });
  assert.deepEqual(worst(["INTACT, UNANCHORED", 0], ["INTACT", 2]), { verdict: "INTACT", exitCode: 2 });
  assert.deepEqual(worst(["INTACT", 2], ["NOT VERIFIABLE", 2]), { verdict: "NOT VERIFIABLE", exitCode: 2 });
  assert.deepEqual(worst(["NOT VERIFIABLE", 2], ["TAMPERED", 1]), { verdict: "TAMPERED", exitCode: 1 });
  assert.deepEqual(worst(["TAMPERED", 1], ["DIVERGED", 1], ["INTACT", 0]), {
    verdict: "DIVERGED",
    exitCode: 1,
  });
});
