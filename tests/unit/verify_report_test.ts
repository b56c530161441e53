/**
 * The printed report of `jiss verify` on an outcome, to the letter, and the verdict that counts of several.
 */
import assert from "node:assert/strict";
import type { FileFinding } from "../../src/evidence/files.ts";
import { printable, printableLine } from "../../src/cli/printable.ts";
import { jsonReport } from "../../src/cli/verify_json.ts";
import {
  judge,
  judgeBundle,
  judgeDocument,
  type VerifiedBundle,
  type VerifiedDocument,
} from "../../src/cli/verify_outcome.ts";
import { reportText } from "../../src/cli/verify_report.ts";
import { EVIDENCE_FAULTS } from "../../src/evidence/document.ts";
import { sentenceOf } from "../../src/evidence/findings.ts";
import { type ExitCode, sentenceOfVerdict, type Verdict } from "../../src/evidence/report.ts";
import { bundle, checkpointOf, document, finding, ORIGIN, outcome } from "../outcomes.ts";

// ---- text -------------------------------------------------------------------------------------------------

Deno.test("an intact bundle: verdict, meaning, facts, and the checkpoint to keep", () => {
  assert.equal(
    reportText(outcome({ bundles: [bundle()] })),
    `INTACT
${sentenceOfVerdict(bundle())}
  log         jiss.test/01J/org/acme
  entries     7; the chain has 7
  checkpoint  of 7 entries, root ${"ab".repeat(32)}
  key         SHA256:key
  replayed    5 scores, decisions and labels computed anew
  parts       2 erased, 0 withheld

Keep this for the next visit, and pass it with --checkpoint (or let --state DIR keep it):

jiss.test/01J/org/acme
7
root 171

— jiss.test/01J/org/acme signature`,
  );
  const remembered = reportText(outcome({ bundles: [bundle()], rememberedIn: "memory" }));
  assert.ok(remembered.endsWith("\n\nKept in memory for the next visit."));
  assert.ok(!remembered.includes("signature"));
});

Deno.test("a changed bundle: each finding a sentence with its code and place, those of one kind counted, no checkpoint to keep", () => {
  const broken = finding({ file: "a.ndjson", line: 12, detail: "hash" });
  const pruned = finding({ code: "PRUNED_PREFIX", fatal: false, seq: null, range: [0, 1] });
  const changed = bundle({
    base: 2,
    entries: 5,
    verdict: "TAMPERED",
    exitCode: 1,
    firstBadSeq: 3,
    checkpoint: null,
    keyFingerprint: null,
    dropped: 9,
    counts: { LINK_BROKEN: 11, PRUNED_PREFIX: 1, MISSING: 2 },
    findings: [broken, pruned, finding({ seq: 5, line: 14 })],
  });
  assert.equal(
    reportText(outcome({ bundles: [changed], replay: false, rememberedIn: "memory" })),
    `TAMPERED
${sentenceOfVerdict(changed)}
  log         jiss.test/01J/org/acme
  entries     5, from 2 on; the chain has 7
  checkpoint  none that is reliable
  key         none
  replayed    nothing, as you asked
  parts       2 erased, 0 withheld
  first bad   entry 3
  findings (! is a fault, - is information)
  ! LINK_BROKEN: ${sentenceOf(broken)} (a.ndjson, line 12: hash)
    and 10 more of this kind: entries 5 and others
  - PRUNED_PREFIX: ${sentenceOf(pruned)}
  ! MISSING: 2 of this kind; the list of findings was full before the first of them`,
  );
});

Deno.test("the report names kept checkpoints that were not compared: without a trusted signature, and of other chains", () => {
  const doubtful = bundle({ untrustedKept: [checkpointOf(5, 1)], verdict: "NOT VERIFIABLE", exitCode: 2 });
  assert.match(
    reportText(outcome({ bundles: [doubtful] })),
    /\n {2}kept {8}a checkpoint of 5 entries, not compared: no key that you trust signed it$/,
  );
  const report = (unusedCheckpoints: number) =>
    reportText(outcome({ bundles: [bundle()], unusedCheckpoints }));
  assert.match(report(1), /\n\nOne checkpoint that you passed was not used, because /);
  assert.match(report(9), /\n\n9 checkpoints that you passed were not used, because /);
});

Deno.test("a range is named if no single entry can be", () => {
  const fields = { verdict: "TAMPERED", exitCode: 1, firstBadSeq: 3, firstBadRange: [3, 6] } as const;
  const text = reportText(outcome({ bundles: [bundle(fields)] }));
  assert.match(text, /\n {2}first bad {3}somewhere in entries 3 to 6$/);
});

Deno.test("a contradiction shows both signed sides", () => {
  const text = reportText(outcome({
    bundles: [bundle({ verdict: "DIVERGED", exitCode: 1, contradicted: [checkpointOf(5, 1)] })],
  }));
  assert.ok(text.endsWith(`
What you kept:

jiss.test/01J/org/acme
5
root 1

— jiss.test/01J/org/acme signature

What the file says:

jiss.test/01J/org/acme
7
root 171

— jiss.test/01J/org/acme signature`));
});

Deno.test("withheld parts are in the verdict's words, and a key from the file itself is marked", () => {
  const withheld = reportText(outcome({ bundles: [bundle({ withheld: 4, exitCode: 2 })] }));
  assert.match(withheld, /^INTACT \(4 parts withheld, not replayed\)\n/);
  const own = bundle({ selfTrusted: true, verdict: "NOT VERIFIABLE", exitCode: 2 });
  assert.match(
    reportText(outcome({ bundles: [own] })),
    /\n {2}key {9}SHA256:key \(the key that the file carries\)\n/,
  );
  const none = bundle({
    origin: "",
    chain: "",
    verdict: "NOT VERIFIABLE",
    exitCode: 2,
    keyFingerprint: null,
  });
  assert.ok(
    !reportText(outcome({ bundles: [none] })).includes("entries"),
    "without a bundle there are no facts",
  );
});

Deno.test("a report on several begins with the worst verdict, then documents, then bundles, each with its own verdict", () => {
  const text = reportText(outcome({
    bundles: [bundle(), bundle({ origin: "jiss.test/01J/sys", verdict: "INTACT, UNANCHORED" })],
    documents: [document({ place: "held" })],
  }));
  const [summary, ...blocks] = text.split("\n\n");
  assert.equal(summary, "INTACT, UNANCHORED: the worst of 3, one by one below.");
  assert.deepEqual(blocks.slice(0, 3).map((block) => block.split("\n")[0]), [
    "INTACT",
    "INTACT",
    "INTACT, UNANCHORED",
  ]);
  assert.equal(
    blocks[0],
    `INTACT
The log recorded what its evidence covers, and the bundle contains the same.
  document    answer.json, one recorded result
  log         jiss.test/01J/org/acme
  entries     4
  checkpoint  of 5 entries
  key         SHA256:key`,
  );
});

Deno.test("many entries of a batch are counted", () => {
  const entries = Array.from(
    { length: 11 },
    (_, seq) => ({ seq, entryHash: "", sessionId: null, statedScore: null }),
  );
  const report = { ...document().report!, kind: "batch", entries } as const;
  const text = reportText(outcome({ documents: [document({ report })] }));
  assert.match(
    text,
    /\n {2}document {4}answer\.json, a batch: the places of its entries, not their contents\n/,
  );
  assert.match(text, /\n {2}entries {5}0, 1, 2, 3, 4, 5, 6, 7 and 3 more\n/);
});

Deno.test("no text of a file can move the cursor, hide a line or begin one", () => {
  assert.equal(
    printable("a\u0007b\u001b[1A\u009b2K\u202e\u2028é😀\n"),
    "a\\u{7}b\\u{1b}[1A\\u{9b}2K\\u{202e}\\u{2028}é😀\n",
  );
  assert.equal(printableLine("one\nINTACT"), "one\\nINTACT");
  const odd = "x\nINTACT\u001b[2J";
  const text = reportText(outcome({
    bundles: [bundle({
      origin: odd,
      verdict: "TAMPERED",
      exitCode: 1,
      keyFingerprint: odd,
      findings: [finding({ file: odd, detail: odd })],
    })],
    documents: [document({ file: odd, report: { ...document().report!, origin: odd } })],
  }));
  assert.ok(!text.includes("\u001b") && !/^INTACT\\u/m.test(text));
});

// ---- verdicts ---------------------------------------------------------------------------------------------

Deno.test("each fault of a document has its verdict: proven ones are tampering, with a key and without", () => {
  const judged = (fault: (typeof EVIDENCE_FAULTS)[number]) => {
    const { verdict, exitCode, code } = judgeDocument(document({ report: { ...document().report!, fault } }));
    return [code, verdict, exitCode];
  };
  assert.deepEqual(EVIDENCE_FAULTS.map(judged), [
    ["MALFORMED", "NOT VERIFIABLE", 2],
    ["RESULT_MISMATCH", "TAMPERED", 1],
    ["ENTRY_HASH_MISMATCH", "TAMPERED", 1],
    ["INCLUSION_FAILED", "TAMPERED", 1],
    ["BAD_SIGNATURE", "TAMPERED", 1],
    ["UNTRUSTED_KEY", "NOT VERIFIABLE", 2],
    ["WRONG_ORIGIN", "TAMPERED", 1],
  ]);
});

Deno.test("the verdict on a whole document depends on what it was compared with", () => {
  const judged = (fields: Partial<VerifiedDocument>) => {
    const { verdict, exitCode, code, firstBadSeq } = judgeDocument(document(fields));
    return [verdict, exitCode, code, firstBadSeq];
  };
  assert.deepEqual(judged({ place: "held" }), ["INTACT", 0, null, null]);
  assert.deepEqual(judged({ place: "alone" }), ["INTACT, UNANCHORED", 0, null, null]);
  assert.deepEqual(judged({ place: "removed" }), ["INTACT, UNANCHORED", 0, null, null]);
  assert.deepEqual(judged({ place: "lost" }), ["INTACT, UNANCHORED", 0, null, null]);
  assert.deepEqual(judged({ place: "beyond" }), ["NOT VERIFIABLE", 2, null, null]);
  assert.deepEqual(judged({ place: "held", isForked: true }), ["DIVERGED", 1, "FORK_VS_KNOWN_CHECKPOINT", 4]);
  assert.deepEqual(judged({ report: null, unreadable: "not JSON" }), ["NOT VERIFIABLE", 2, null, null]);
});

Deno.test("a document that a restore lost and one beyond its bundle have different sentences", () => {
  const said = (place: VerifiedDocument["place"]) =>
    reportText(outcome({ documents: [document({ place })] })).split("\n").slice(0, 2);
  assert.deepEqual(said("lost"), [
    "INTACT, UNANCHORED",
    "The log recorded what its evidence covers. The database has since been restored from a backup that is older than its checkpoint: the next chain says so.",
  ]);
  assert.deepEqual(said("beyond"), [
    "NOT VERIFIABLE",
    "The log recorded what its evidence covers, but the bundle ends before it: the bundle was exported earlier, was cut off, or is of a chain that a restore has ended since. Ask for a new export of all epochs.",
  ]);
});

Deno.test("a proven fault counts before an open question, and that before intact", () => {
  const of = (verdict: Verdict, exitCode: ExitCode) => bundle({ verdict, exitCode });
  const fromWorst = [
    of("DIVERGED", 1),
    of("TAMPERED", 1),
    of("NOT VERIFIABLE", 2),
    of("INTACT, UNANCHORED", 2),
    of("INTACT", 2),
    of("INTACT, UNANCHORED", 0),
    of("INTACT", 0),
  ];
  for (const [index, worst] of fromWorst.entries()) {
    const rest = fromWorst.slice(index);
    for (const bundles of [rest, rest.toReversed()]) {
      const { verdict, exitCode } = judge(outcome({ bundles }));
      assert.deepEqual([verdict, exitCode], [worst.verdict, worst.exitCode]);
    }
  }
  const { verdict, exitCode } = judge({
    bundles: [bundle()],
    documents: [document({ report: { ...document().report!, fault: "RESULT_MISMATCH" } })],
  });
  assert.deepEqual([verdict, exitCode], ["TAMPERED", 1]);
});

// ---- JSON -------------------------------------------------------------------------------------------------

Deno.test("the JSON report has a program's first questions about the worst, and everything of each", () => {
  const changed = finding({ code: "COMMITMENT_MISMATCH", part: "result", line: 9 });
  const bad = bundle({
    verdict: "TAMPERED",
    exitCode: 1,
    firstBadSeq: 3,
    firstBadRange: [3, 6],
    findings: [
      finding({ code: "PRUNED_PREFIX", fatal: false, seq: null, range: [0, 1] }),
      changed,
    ],
  });
  const report = jsonReport(outcome({ bundles: [bundle(), bad], documents: [document()] }));
  const { bundles, documents, ...head } = report;
  assert.deepEqual(head, {
    v: "jis.verify/1",
    verdict: "TAMPERED",
    exit_code: 1,
    first_bad_seq: 3,
    first_bad_range: [3, 6],
    code: "COMMITMENT_MISMATCH",
    sentence: sentenceOfVerdict(bad),
    unused_checkpoints: 0,
  });
  assert.deepEqual(bundles[1]!.findings[1], {
    code: "COMMITMENT_MISMATCH",
    fatal: true,
    seq: 3,
    range: null,
    file: null,
    line: 9,
    part: "result",
    detail: null,
    sentence: sentenceOf(changed),
  });
  assert.deepEqual(bundles[0]!.checkpoint, {
    origin: ORIGIN,
    size: 7,
    root: "ab".repeat(32),
    note: checkpointOf(7, 0xab).note,
  });
  assert.deepEqual(documents[0], {
    verdict: "INTACT, UNANCHORED",
    exit_code: 0,
    first_bad_seq: null,
    first_bad_range: null,
    code: null,
    sentence:
      "The log recorded what its evidence covers. The document was verified by itself: only an intact bundle of its log can show whether the log was rewritten since.",
    file: "answer.json",
    kind: "result",
    origin: ORIGIN,
    checkpoint: {
      origin: ORIGIN,
      size: 5,
      root: "cd".repeat(32),
      note: checkpointOf(5, 0xcd).note,
    },
    key_fingerprint: "SHA256:key",
    entries: [{ seq: 4, entry_hash: "ef".repeat(32), session_id: "s-1" }],
    place: "alone",
    uncompared: null,
    page: null,
  });
  const kept = checkpointOf(5, 0xcd);
  const anchor = checkpointOf(3, 0xab);
  const open = bundle({
    verdict: "INTACT, NOT COMPARED",
    uncompared: [{ reason: "epoch", checkpoint: kept, anchor: null }, {
      reason: "behind",
      checkpoint: kept,
      anchor,
    }],
  });
  const checkpoint = { origin: ORIGIN, size: 5, root: "cd".repeat(32), note: kept.note };
  assert.deepEqual(jsonReport(outcome({ bundles: [open] })).bundles[0]!.uncompared, [
    { why: "epoch", checkpoint, anchor: null },
    { why: "behind", checkpoint, anchor: { origin: ORIGIN, size: 3, root: "ab".repeat(32) } },
  ]);
  const lost = bundle({ lost: { entries: 2, newest: kept, agreed: anchor } });
  assert.deepEqual(jsonReport(outcome({ bundles: [lost] })).bundles[0]!.lost, {
    entries: 2,
    newest: { origin: ORIGIN, size: 5, root: "cd".repeat(32) },
    agreed: { origin: ORIGIN, size: 3, root: "ab".repeat(32) },
  });
});

Deno.test("only signatures prove a fork: a damaged file or an older one that contradicts a kept checkpoint is named as such", () => {
  const [fork, rollback, damage] = ([
    "FORK_VS_KNOWN_CHECKPOINT",
    "ROLLBACK_VS_KNOWN_CHECKPOINT",
    "NON_CANONICAL_LINE",
  ] as const).map((code) => ({
    code,
    fatal: true,
    seq: 5,
    range: null,
    line: null,
    detail: null,
    file: null,
  }));
  const sentence = (findings: readonly (typeof fork)[], provesFork: boolean) =>
    sentenceOfVerdict(
      bundle({ verdict: "DIVERGED", exitCode: 1, findings: findings as FileFinding[], provesFork }),
    );
  assert.match(sentence([fork], true), /history was rewritten\. Keep both, together they prove it\.$/);
  assert.match(sentence([fork, damage], false), /alone does not prove that history was rewritten/);
  assert.match(sentence([fork], false), /alone does not prove that history was rewritten/);
  assert.match(
    sentence([rollback], true),
    /exported before that, or history was cut off\. Ask for a new export/,
  );
});

Deno.test("if kept checkpoints could not be compared, the sentence does not say that nothing was kept", () => {
  const sentenceFor = (keptCount: number) =>
    sentenceOfVerdict(bundle({ verdict: "INTACT, UNANCHORED", keptCount }));
  assert.match(
    sentenceFor(0),
    /You kept nothing of this chain to hold it against, so keep its checkpoint now\.$/,
  );
  assert.match(
    sentenceFor(1),
    /What you kept of this chain could not be compared with it, so keep its checkpoint now\.$/,
  );
  assert.match(
    sentenceOfVerdict(bundle({ verdict: "INTACT, UNANCHORED", isOfKeptFamily: true })),
    /^Nothing was changed .* another epoch of its chain, which agrees with what you kept\./,
  );
  assert.match(
    sentenceOfVerdict(bundle({ verdict: "INTACT, UNANCHORED", isOfKeptSystem: true })),
    /^Nothing was changed .* agrees with what the system chain recorded of it up to what you kept of that\./,
  );
});

Deno.test("entries that a restore removed beyond a kept checkpoint are named, even if the rest agrees", () => {
  const [newest, agreed] = [checkpointOf(31, 1), checkpointOf(1, 2)];
  const sentenceFor = (entries: number, more: Partial<VerifiedBundle> = {}) =>
    sentenceOfVerdict(bundle({ lost: { entries, newest, agreed }, ...more }));
  assert.match(
    sentenceFor(29),
    /^Nothing was changed, and the file goes on from .* But a restore took away 29 entries that you had a checkpoint of, up to 31 entries of jiss\.test\/01J\/org\/acme, as the chain after it says\. Of what is left you had kept 1 entry of jiss\.test\/01J\/org\/acme: .* make sure that there was such a restore\.$/,
  );
  assert.match(
    sentenceFor(1, { verdict: "INTACT, UNANCHORED", isOfKeptFamily: true }),
    /took away an entry that you had a checkpoint of, up to/,
  );
});

Deno.test("for kept checkpoints that were not compared the sentence says why, and what to ask for", () => {
  const judgmentOf = (
    chain: string,
    uncompared: VerifiedBundle["uncompared"],
    more: Partial<VerifiedBundle> = {},
  ) => judgeBundle(bundle({ chain, verdict: "INTACT, NOT COMPARED", exitCode: 2, uncompared, ...more }));
  const below = (...sizes: readonly number[]) =>
    sizes.map((size) => ({ reason: "unlinkable", checkpoint: checkpointOf(size, 1), anchor: null }) as const);
  const begin =
    /^Nothing in the file was changed after signing, but it was not held against what you kept of an earlier visit, so history may have been rewritten since\. /;
  const asked = {
    "org/acme":
      /Your checkpoint of 3 entries is older .* by jiss export --org acme --link 3, or .* GET \/v1\/audit\/chain\/export\?link=3\.$/,
    "org/acme/admin":
      / by jiss export --org acme --chain admin --link 3, or .*\/export\?chain=admin&link=3\.$/,
    "org/acme/e2": / by jiss export --org acme --link 3, or /,
    "sys": / by jiss export --chain system --link 3\.$/,
  };
  for (const [chain, words] of Object.entries(asked)) {
    const { sentence } = judgmentOf(chain, below(3));
    assert.match(sentence, begin);
    assert.match(sentence, words);
  }
  assert.match(
    judgmentOf("org/acme", below(3, 5, 3)).sentence,
    /Your checkpoints of 3, 5 entries are .* --link 3,5, or/,
  );
  const other = checkpointOf(3, 1);
  assert.match(
    judgmentOf("org/acme/e2", [{ reason: "epoch", checkpoint: other, anchor: null }]).sentence,
    /Your checkpoint of 3 entries is of jiss\.test\/01J\/org\/acme, another epoch .* a new export of all epochs/,
  );
  assert.match(
    judgmentOf("org/acme", [{ reason: "restore", checkpoint: other, anchor: null }]).sentence,
    /Your checkpoint of 3 entries of .* is of entries that a restore lost, .* make sure that there was such a restore/,
  );
  assert.match(
    judgmentOf("org/acme", [{ reason: "deployment", checkpoint: other, anchor: null }]).sentence,
    /The key that signed it, or one that certificates or a common key file join to it, also signed your checkpoint of 3 entries of .*, in another deployment, .* \(another --state directory\)/,
  );
  const system = { ...checkpointOf(9, 3), origin: "jiss.test/01J/sys" };
  assert.match(
    judgmentOf("org/acme", [{ reason: "system", checkpoint: system, anchor: null }]).sentence,
    /Your checkpoint of 9 entries of jiss\.test\/01J\/sys pins this chain too, .*: give the system chain with it, whole and before it\. .* jiss export --chain system\.$/,
  );
  const pinned = (why: "unlinkable" | "restore" | "epoch" | "behind") =>
    judgmentOf("org/acme", [{ reason: why, checkpoint: system, anchor: other }]).sentence;
  assert.match(
    pinned("unlinkable"),
    /What the system chain pins of it by what you kept of that, at 3 entries, is older than its first entry, .* jiss export --org acme --link 3, or/,
  );
  assert.match(
    judgmentOf("org/acme", [...below(5), { reason: "unlinkable", checkpoint: system, anchor: other }])
      .sentence,
    /What you kept of it, and what the system chain pins of it by what you kept of that, at 5, 3 entries, is older .* --link 5,3, or/,
  );
  assert.match(
    pinned("behind"),
    /The system chain, up to your checkpoint of 9 entries of it, says that this chain had 3 entries, and the file ends before them/,
  );
  for (const why of ["restore", "epoch"] as const) {
    assert.match(
      pinned(why),
      /What your checkpoint of 9 entries of jiss\.test\/01J\/sys pins, 3 entries,.* of jiss\.test\/01J\/org\/acme/,
    );
  }
  const withheld = judgmentOf("org/acme", below(3), { withheld: 2 });
  assert.equal(withheld.words, "INTACT, NOT COMPARED (2 parts withheld, not replayed)");
  assert.match(withheld.sentence, /The file withholds 2 contents/);
});

Deno.test("a bundle that was not compared is not kept for the next visit, and counts before an unanchored one", () => {
  const uncompared = bundle({ verdict: "INTACT, NOT COMPARED", exitCode: 2 });
  assert.equal(judge(outcome({ bundles: [bundle(), uncompared] })).verdict, "INTACT, NOT COMPARED");
  const worse = bundle({ verdict: "NOT VERIFIABLE", exitCode: 2 });
  assert.equal(judge(outcome({ bundles: [worse, uncompared] })).verdict, "NOT VERIFIABLE");
  assert.doesNotMatch(reportText(outcome({ bundles: [uncompared] })), /Keep this/);
  assert.doesNotMatch(reportText(outcome({ bundles: [uncompared], rememberedIn: "/memory" })), /Kept in/);
});

Deno.test("a document that was not compared with what was kept of its log says so, with 2", () => {
  const judged = judgeDocument(document({ uncompared: checkpointOf(3, 1) }));
  assert.deepEqual([judged.verdict, judged.exitCode], ["INTACT, NOT COMPARED", 2]);
  assert.match(
    judged.sentence,
    /The document was not compared with your checkpoint of 3 entries of jiss\.test/,
  );
  const lost = judgeDocument(document({ place: "lost", uncompared: checkpointOf(3, 1) }));
  assert.deepEqual([lost.verdict, lost.exitCode], ["INTACT, NOT COMPARED", 2]);
  assert.match(
    lost.sentence,
    /a restore from a backup lost it, and nothing older that you kept agrees .* with --checkpoint\.$/,
  );
});
