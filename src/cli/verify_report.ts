/**
 * The output of `jiss verify` for people: the verdict, its meaning, and one sentence for each finding. Pure.
 */
import { hex } from "../evidence/crypto.ts";
import type { DocumentReport } from "../evidence/document.ts";
import type { FileFinding } from "../evidence/files.ts";
import { groupFindings } from "../evidence/finding_groups.ts";
import { type EntryRange, sentenceOf } from "../evidence/findings.ts";
import { chooseReports } from "../evidence/shown_reports.ts";
import { printable, printableLine } from "./printable.ts";
import {
  isIntact,
  judge,
  judgeBundle,
  judgeDocument,
  type Judgment,
  type Outcome,
  type VerifiedBundle,
  type VerifiedDocument,
} from "./verify_outcome.ts";

/** The most entries of a document that are named. */
const NAMED_ENTRIES = 8;

/** The whole report, without a line feed at its end. */
export function reportText(outcome: Outcome): string {
  const { bundles, documents, replay } = outcome;
  const { shown: told, others } = chooseReports(bundles);
  const blocks = [
    ...documents.map((document) => block(judgeDocument(document), documentFacts(document).map(detail))),
    ...told.map((bundle) => block(judgeBundle(bundle), bundleDetails(bundle, replay))),
  ];
  const all = documents.length + bundles.length;
  const summary = all === 1 ? [] : [`${judge(outcome).words}: the worst of ${all}, one by one below.`];
  return [
    ...summary,
    ...blocks,
    ...(others === null ? [] : [`${others} --json lists each of them.`]),
    ...unusedLines(outcome),
    ...nextVisitLines(outcome),
  ].map(
    printable,
  ).join("\n\n");
}

function block({ words, sentence }: Judgment, details: readonly string[]): string {
  return [words, sentence, ...details].join("\n");
}

/** A fact with its label. */
export type LabelledFact = readonly [label: string, text: string];

function detail([label, text]: LabelledFact): string {
  return `  ${label.padEnd(11)} ${printableLine(text)}`;
}

// ---- a bundle ---------------------------------------------------------------------------------------------

function bundleDetails(bundle: VerifiedBundle, replay: boolean): readonly string[] {
  return [
    ...bundleFacts(bundle, replay).map(detail),
    ...findingLines(bundle),
    ...contradictionLines(bundle),
  ];
}

/** The facts about a bundle that was read; none about an input that is no bundle. */
export function bundleFacts(bundle: VerifiedBundle, replay: boolean): readonly LabelledFact[] {
  if (bundle.origin === "") return [];
  const { origin, base, size, entries, checkpoint, keyFingerprint, selfTrusted } = bundle;
  const { replayed, erased, withheld, untrustedKept, firstBadSeq, firstBadRange } = bundle;
  const removed = base === 0 ? "" : `, from ${base} on`;
  const owner = selfTrusted ? " (the key that the file carries)" : "";
  const signed = checkpoint === null
    ? "none that is reliable"
    : `of ${checkpoint.size} entries, root ${hex(checkpoint.root)}`;
  const recomputed = replay
    ? `${replayed} scores, decisions and labels computed anew`
    : "nothing, as you asked";
  return [
    ["log", origin],
    ["entries", `${entries}${removed}; the chain has ${size}`],
    ["checkpoint", signed],
    ["key", keyFingerprint === null ? "none" : `${keyFingerprint}${owner}`],
    ["replayed", recomputed],
    ["parts", `${erased} erased, ${withheld} withheld`],
    ...untrustedKept.map(({ size }): LabelledFact => [
      "kept",
      `a checkpoint of ${size} entries, not compared: no key that you trust signed it`,
    ]),
    ...(firstBadSeq === null ? [] : [["first bad", placeOf(firstBadSeq, firstBadRange)] as const]),
  ];
}

function placeOf(seq: number, range: EntryRange | null): string {
  return range === null ? `entry ${seq}` : `somewhere in entries ${range[0]} to ${range[1]}`;
}

function findingLines(bundle: VerifiedBundle): readonly string[] {
  if (bundle.findings.length === 0) return [];
  const lines = groupFindings(bundle).flatMap(({ code, fatal, first, others }) => {
    const mark = fatal ? "!" : "-";
    if (first === null) return [`  ${mark} ${code}: ${others}`];
    const line = printableLine(`  ${mark} ${code}: ${sentenceOf(first)}${placeAndDetail(first)}`);
    return others === null ? [line] : [line, `    ${others}`];
  });
  return ["  findings (! is a fault, - is information)", ...lines];
}

/** The place of a finding, and its details for an expert, in brackets; empty if there are none. */
export function placeAndDetail({ file, line, detail }: FileFinding): string {
  const at = [file ?? "", line === null ? "" : `line ${line}`].filter((text) => text !== "").join(", ");
  const more = [at, detail ?? ""].filter((text) => text !== "").join(": ");
  return more === "" ? "" : ` (${more})`;
}

/** Both sides of a contradiction. Each is signed, so together they prove it to anybody. */
function contradictionLines({ contradicted, checkpoint }: VerifiedBundle): readonly string[] {
  if (contradicted.length === 0) return [];
  const kept = contradicted.flatMap(({ note }) => ["", "What you kept:", "", note.trimEnd()]);
  return checkpoint === null ? kept : [...kept, "", "What the file says:", "", checkpoint.note.trimEnd()];
}

// ---- a document -------------------------------------------------------------------------------------------

const KINDS: Readonly<Record<DocumentReport["kind"], string>> = {
  result: "one recorded result",
  detail: "one recorded event",
  input: "one exercise that was set",
  batch: "a batch: the places of its entries, not their contents",
};

/** The facts about a document; of one that cannot be read only its name. */
export function documentFacts(
  { file, report, page, keyFingerprint }: VerifiedDocument,
): readonly LabelledFact[] {
  if (report === null || report.fault === "MALFORMED") return [["document", file]];
  const seqs = report.entries.map(({ seq }) => seq);
  const more = seqs.length > NAMED_ENTRIES ? ` and ${seqs.length - NAMED_ENTRIES} more` : "";
  return [
    ["document", `${file}, ${KINDS[report.kind]}${page === null ? "" : ", inside a page"}`],
    ["log", report.origin ?? "unknown"],
    ["entries", `${seqs.slice(0, NAMED_ENTRIES).join(", ")}${more}`],
    ["checkpoint", report.checkpoint === null ? "none" : `of ${report.checkpoint.size} entries`],
    ["key", keyFingerprint ?? "none that you trust"],
  ];
}

// ---- the next visit ---------------------------------------------------------------------------------------

function unusedLines({ unusedCheckpoints: count }: Outcome): readonly string[] {
  if (count === 0) return [];
  return [
    count === 1
      ? "One checkpoint that you passed was not used, because no file of its chain was given."
      : `${count} checkpoints that you passed were not used, because no file of their chains was given.`,
  ];
}

/** The signed checkpoints to keep for the next visit; none if not intact. */
export function notesToKeep(outcome: Outcome): readonly string[] {
  if (!isIntact(judge(outcome))) return [];
  return outcome.bundles.flatMap(({ checkpoint }) => checkpoint === null ? [] : [checkpoint.note.trimEnd()]);
}

/** The checkpoints to keep for the next visit, or the directory that keeps them; empty if not intact. */
function nextVisitLines(outcome: Outcome): readonly string[] {
  if (!isIntact(judge(outcome))) return [];
  if (outcome.rememberedIn !== null) return [`Kept in ${outcome.rememberedIn} for the next visit.`];
  const notes = notesToKeep(outcome);
  if (notes.length === 0) return [];
  return [
    "Keep this for the next visit, and pass it with --checkpoint (or let --state DIR keep it):",
    ...notes,
  ];
}
