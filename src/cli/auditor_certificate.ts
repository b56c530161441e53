/**
 * The auditor's certificate of `jiss verify --report FILE`: the outcome that is printed, as a page to file. It
 * verifies nothing itself. Text from files is neutralised as in the printed report, and escaped.
 */
import { isEvidenceChain, parseChain } from "../evidence/chain_name.ts";
import { hex } from "../evidence/crypto.ts";
import { type FindingCode, sentenceOf } from "../evidence/findings.ts";
import { placeOf } from "../evidence/other_deployments.ts";
import { type ExitCode, isWhole } from "../evidence/report.ts";
import { chooseReports } from "../evidence/shown_reports.ts";
import { type CertificateLook, certificatePage } from "../pages/certificate.ts";
import {
  type Block,
  code,
  drawn,
  type Fact,
  facts,
  heading,
  list,
  name,
  paragraph,
  type Text,
} from "../pages/document.ts";
import { markup } from "../pages/markup.ts";
import { countInWords, instantInWords, nameInWords } from "../pages/wording.ts";
import { GLOSSARY } from "./certificate_glossary.ts";
import { type JudgedCheckpoint, type KeptResult, keptResults } from "./certificate_kept.ts";
import { checksOf, gapsOf, isRead } from "./certificate_scope.ts";
import { requireAbsent, writeToNewFile } from "./output.ts";
import { printable, printableLine } from "./printable.ts";
import { CommandFailure, EXIT, type Shell } from "./shell.ts";
import { STANDARD_INPUT } from "./verify_input.ts";
import {
  isIntact,
  judge,
  judgeBundle,
  judgeDocument,
  type Judgment,
  type KeySource,
  type Outcome,
  type VerifiedBundle,
  type VerifiedDocument,
} from "./verify_outcome.ts";
import {
  bundleFacts,
  documentFacts,
  type LabelledFact,
  notesToKeep,
  placeAndDetail,
} from "./verify_report.ts";

// ---- the file ---------------------------------------------------------------------------------------------

/** @throws {CommandFailure} 2 if the path cannot be that of a new file. */
export function requireNewCertificate(path: string): void {
  if (path === "" || path === STANDARD_INPUT) {
    throw new CommandFailure(
      "--report needs the name of a file: standard output is for the verdict",
      EXIT.usage,
    );
  }
  try {
    requireAbsent(path);
  } catch (error) {
    throw new CommandFailure(`--report ${messageOf(error)}`, EXIT.usage);
  }
}

/** Writes the certificate. Returns the reason if it cannot be written; null if it was. */
export async function writeCertificate(
  { clock, version }: Pick<Shell, "clock" | "version">,
  outcome: Outcome,
  { path, isSilent }: { readonly path: string; readonly isSilent: boolean },
): Promise<CommandFailure | null> {
  const page = certificateOf(outcome, { version, verifiedAt: new Date(clock.now()).toISOString() });
  try {
    const bytes = await writeToNewFile([page], path);
    if (!isSilent) console.log(`\nWrote ${path}: ${bytes} bytes, readable only by their owner.`);
    return null;
  } catch (error) {
    return new CommandFailure(`the certificate was not written: --report ${messageOf(error)}`, EXIT.usage);
  }
}

/** The message of a refusal; another error is passed on. */
function messageOf(error: unknown): string {
  if (error instanceof CommandFailure || error instanceof Deno.errors.NotCapable) return error.message;
  throw error;
}

// ---- the page ---------------------------------------------------------------------------------------------

interface Made {
  /** The program's version. */
  readonly version: string;
  /** ISO 8601. */
  readonly verifiedAt: string;
}

const TITLE = "Auditor’s certificate";

/** The page as HTML. */
export function certificateOf(outcome: Outcome, made: Made): string {
  const kept = keptResults(outcome);
  const page = certificatePage({
    title: TITLE,
    verdict: headlineOf(outcome),
    facts: headFacts(outcome, made),
    sections: [
      { id: "findings", title: "What was found", blocks: foundBlocks(outcome, kept) },
      { id: "files", title: "Files", blocks: fileBlocks(outcome) },
      { id: "keys", title: "Signing keys", blocks: keyBlocks(outcome) },
      { id: "kept", title: "Checkpoints of earlier verifications", blocks: keptBlocks(kept, outcome) },
      { id: "next", title: "What to keep for the next verification", blocks: nextBlocks(outcome) },
      { id: "checked", title: "What was checked", blocks: checkedBlocks(checksOf(outcome, kept)) },
      {
        id: "unchecked",
        title: "What was not checked",
        blocks: [list(gapsOf(outcome, kept).map(printableLine))],
      },
      {
        id: "worth",
        title: "What this page is worth",
        blocks: [
          paragraph(
            "This page is not signed by a machine: it says what the program found, and proves nothing by itself. To confirm it, take the files with the SHA-256 named above, and verify them again with the same keys and kept checkpoints.",
          ),
        ],
      },
    ],
    appendix: [{
      id: "words",
      title: "Words",
      blocks: [facts(...GLOSSARY)],
    }],
  });
  // Nothing of unknown origin may hide text or reverse it, whichever part of the page it came into.
  return printable(page);
}

const WORDS: Readonly<Record<ExitCode, { readonly word: string; readonly look: CertificateLook }>> = {
  0: { word: "VERIFIED", look: "good" },
  1: { word: "NOT VERIFIED", look: "bad" },
  2: { word: "NOT VERIFIABLE", look: "unsure" },
};

function headlineOf(outcome: Outcome) {
  const judgment = judge(outcome);
  const all = outcome.bundles.length + outcome.documents.length;
  const which = all === 1 ? "" : `, the worst of ${all}, which stand one by one below`;
  const own = `${judgment.words}${which}: ${judgment.sentence}`;
  return { ...WORDS[judgment.exitCode], meaning: [meaningOf(judgment), printableLine(own)] };
}

function meaningOf(judgment: Judgment): string {
  switch (judgment.exitCode) {
    case 0:
      return "No fault was found: nothing in the files was changed since it was signed, as far as this verification reaches.";
    case 1:
      return "A fault was found: something was changed, or contradicts what was kept.";
    case 2:
      return isWhole(judgment)
        ? "No fault was found, but the verification is not complete. It does not show what it should."
        : "At least one file could be neither verified nor refuted.";
  }
}

function headFacts(outcome: Outcome, { version, verifiedAt }: Made): readonly Fact[] {
  const read = outcome.bundles.filter(isRead);
  const origins = [
    ...read.map(({ origin }) => origin),
    ...outcome.documents.map(({ report }) => report?.origin),
  ]
    .filter((origin) => typeof origin === "string");
  const organizations = [
    ...new Set(origins.flatMap((origin) => placeOf(origin)?.organization ?? [])),
  ];
  const named = read.filter(({ census }) => (census?.operators ?? 0) > 0);
  return [
    ["Verified", `${instantInWords(verifiedAt)}, by the clock of the computer that verified`],
    ["Program", `jiss ${version}`],
    ["Files", String(outcome.given?.files.length ?? 0)],
    ["Organization", organizations.length === 0 ? "none named" : organizations.join(", ")],
    [
      "Chains",
      read.length === 0 ? "none read" : countInWords(new Set(read.map(({ origin }) => origin)).size, "chain"),
    ],
    ["Period", periodOf(read)],
    [
      "Operators",
      named.length === 0 ? "none named" : named.length === 1 ? operatorsOf(named[0]!) : "see each chain",
    ],
  ];
}

/** The time from the first to the last entry of the bundles, in words. */
function periodOf(bundles: readonly VerifiedBundle[]): string {
  const firsts = bundles.flatMap(({ census }) => census?.first ?? []).sort();
  const lasts = bundles.flatMap(({ census }) => census?.last ?? []).sort();
  if (firsts.length === 0) return "no entry of a bundle was read";
  return `${instantInWords(firsts[0]!)} to ${instantInWords(lasts.at(-1)!)}, as the entries state`;
}

function operatorsOf({ census }: VerifiedBundle): string {
  if (census === null || census.operators === 0) return "none named";
  const { operators, erasedOperators } = census;
  return `${countInWords(operators, "operator")} named, ${erasedOperators} of them erased`;
}

// ---- what was found ---------------------------------------------------------------------------------------

function foundBlocks(outcome: Outcome, kept: readonly JudgedCheckpoint[]): readonly Block[] {
  const { shown, others } = chooseReports(outcome.bundles);
  return [
    ...outcome.documents.flatMap((document) => documentBlocks(document, outcome)),
    ...shown.flatMap((bundle) => bundleBlocks(bundle, { outcome, kept })),
    ...(others === null ? [] : [paragraph(`${others} jiss verify --json lists each of them.`)]),
  ];
}

function documentBlocks(document: VerifiedDocument, outcome: Outcome): readonly Block[] {
  const judgment = judgeDocument(document);
  const trust: readonly LabelledFact[] = document.keyFingerprint === null
    ? []
    : [["trust", trustIn(document.keyFingerprint, outcome)]];
  return [
    ...judgmentBlocks(nameOfFile(document.file), judgment),
    labelled([...documentFacts(document), ...trust]),
    ...(judgment.code === null ? [] : [paragraph(["Fault: ", code(judgment.code)])]),
  ];
}

function bundleBlocks(
  bundle: VerifiedBundle,
  { outcome, kept }: { readonly outcome: Outcome; readonly kept: readonly JudgedCheckpoint[] },
): readonly Block[] {
  return [
    ...judgmentBlocks(titleOf(bundle), judgeBundle(bundle)),
    ...(isRead(bundle)
      ? [
        labelled([
          ...bundleFacts(bundle, outcome.replay),
          ["trust", trustInBundle(bundle, outcome)],
          ["period", periodOf([bundle])],
          ["operators", operatorsOf(bundle)],
          ["starts from", startOf(bundle, kept)],
        ]),
      ]
      : []),
    ...findingBlocks(bundle),
    ...contradictionBlocks(bundle),
  ];
}

function judgmentBlocks(title: string, { words, sentence }: Judgment): readonly Block[] {
  return [
    heading(name(printableLine(title))),
    paragraph([{ strong: words }, `: ${printableLine(sentence)}`]),
  ];
}

/** Facts whose values are of unknown origin. */
function labelled(items: readonly LabelledFact[]): Block {
  return facts(...items.map(([label, text]): Fact => [nameInWords(label), name(printableLine(text))]));
}

/** Names the chain of a bundle in words. */
function titleOf(bundle: VerifiedBundle): string {
  if (!isRead(bundle)) return "A file that is no bundle";
  const place = placeOf(bundle.origin);
  const family = parseChain(bundle.chain)?.family;
  if (place === null || family === undefined) return "A chain of no known name";
  const { organization, epoch } = place;
  const kind = organization === null
    ? "System chain"
    : isEvidenceChain(family)
    ? `Scores and decisions of ${organization}`
    : `Audit log of ${organization}`;
  return epoch === 1 ? kind : `${kind}, epoch ${epoch}`;
}

function trustInBundle(
  { keyFingerprint, isKeyTrusted, selfTrusted }: VerifiedBundle,
  outcome: Outcome,
): string {
  if (keyFingerprint === null) return "no key could be read";
  if (selfTrusted) return "none: the file carries this key itself, and no key was given";
  if (!isKeyTrusted) return "none: no key that was given signed the file. It names this key itself";
  return trustIn(keyFingerprint, outcome);
}

/** How a key that counts came to be trusted. */
function trustIn(fingerprint: string, { given }: Outcome): string {
  const pinned = given?.keys.find((key) => key.fingerprint === fingerprint);
  return pinned === undefined
    ? "rotation certificates join this key to one of the keys below"
    : sourceOf(pinned.source, given!.directory);
}

function sourceOf(source: KeySource, directory: string | null): string {
  if (source === "memory") return `an earlier verification trusted it and kept it in ${directory}`;
  return source === "text" ? "given as a text (--key)" : `given in the file ${source.file} (--key)`;
}

/** Says in words which kept checkpoint agrees with a bundle. */
function startOf(
  { origin, isOfKeptFamily, isOfKeptSystem }: VerifiedBundle,
  kept: readonly JudgedCheckpoint[],
): string {
  const ofChain = kept.filter(({ checkpoint }) => checkpoint.origin === origin);
  const [newest] = ofChain.filter(({ result }) => result === "agrees").toSorted((a, b) =>
    b.checkpoint.size - a.checkpoint.size
  );
  if (newest === undefined && isOfKeptFamily) return "what you kept of another epoch of this chain";
  if (newest === undefined && isOfKeptSystem) return "what you kept of the system chain";
  if (newest === undefined) {
    return ofChain.length === 0
      ? "nothing: no checkpoint of this chain was given"
      : "nothing: no checkpoint that was given was found to agree";
  }
  return `your kept checkpoint of ${newest.checkpoint.size} entries${dateOf(newest)}`;
}

function findingBlocks({ findings, counts }: VerifiedBundle): readonly Block[] {
  if (Object.keys(counts).length === 0) return [];
  const items = findings.map((finding): Text => [
    { strong: finding.fatal ? "Fault " : "Information " },
    code(finding.code),
    `: ${printableLine(`${sentenceOf(finding)}${placeAndDetail(finding)}`)}`,
  ]);
  const listed = Map.groupBy(findings, ({ code }) => code);
  const unlisted = (Object.entries(counts) as [FindingCode, number][]).flatMap(([code, count]): Text[] => {
    const more = count - (listed.get(code)?.length ?? 0);
    return more > 0 ? [[{ code }, `: ${more} more, which the program counted and did not keep.`]] : [];
  });
  return [paragraph("Findings:"), list([...items, ...unlisted])];
}

function contradictionBlocks({ contradicted, checkpoint }: VerifiedBundle): readonly Block[] {
  if (contradicted.length === 0) return [];
  return [
    paragraph("Both sides of the contradiction follow. Each is signed, so that together they prove it."),
    ...contradicted.flatMap(({ note }) => [paragraph("What was kept:"), noteBlock(note)]),
    ...(checkpoint === null ? [] : [paragraph("What the file says:"), noteBlock(checkpoint.note)]),
  ];
}

// ---- files, keys, checkpoints -----------------------------------------------------------------------------

function fileBlocks({ given }: Outcome): readonly Block[] {
  return (given?.files ?? []).flatMap(({ name: file, size, sha256 }) => [
    heading(name(printableLine(nameOfFile(file)))),
    facts(["Size", countInWords(size, "byte")], ["SHA-256", code(sha256)]),
  ]);
}

function nameOfFile(file: string): string {
  return file === STANDARD_INPUT ? "standard input" : file;
}

function keyBlocks({ given }: Outcome): readonly Block[] {
  const keys = given?.keys ?? [];
  if (keys.length === 0) {
    return [paragraph(
      "No key was given. Each bundle was checked with the key that it carries itself, which shows nothing about who signed.",
    )];
  }
  return [
    paragraph(
      "These keys were trusted from the start. Compare each fingerprint with one that you got from the service’s administrator another way: a key that came together with the files proves nothing.",
    ),
    facts(...keys.map(({ fingerprint, source, isRetired }): Fact => [
      isRetired ? "Retired key" : "Key",
      [code(fingerprint), ", ", name(printableLine(sourceOf(source, given!.directory)))],
    ])),
  ];
}

const RESULTS: Readonly<Record<KeptResult, string>> = {
  agrees: "agrees: this verification starts from it",
  contradicts: "contradicted: the files have another history",
  untrusted: "not compared: no key that was trusted signed it",
  "not compared": "not compared: what was given does not lead from it to the files",
  "no file": "not used: no file of its chain was given",
  "not reached":
    "not compared by itself: a newer one stands for it, or the file has a fault. See the verdict on its chain",
};

function keptBlocks(results: readonly JudgedCheckpoint[], { given }: Outcome): readonly Block[] {
  if (results.length === 0) {
    return [paragraph(
      "None was given. This verification starts from nothing that was known before: it shows that the files agree with themselves and with the key, not that history was the same a year ago.",
    )];
  }
  const directory = given!.directory;
  // A memory has a checkpoint of each visit: of those with the same result the newest is shown.
  const groups = [
    ...Map.groupBy(
      results,
      ({ checkpoint: { origin }, result, file }) => JSON.stringify([origin, result, file]),
    )
      .values(),
  ];
  return [facts(...groups.map((group): Fact => {
    const [newest, ...older] = group.toSorted((a, b) => b.checkpoint.size - a.checkpoint.size);
    const { checkpoint: { origin, size, root }, file, result } = newest!;
    const source = file === null ? `kept in ${directory}` : `from the file ${file} (--checkpoint)`;
    return [
      size === 1 ? "1 entry" : `${size} entries`,
      [
        "of ",
        name(printableLine(origin)),
        `${dateOf(newest!)}, root `,
        code(hex(root)),
        ", ",
        name(printableLine(source)),
        `: ${RESULTS[result]}.`,
        older.length === 0 ? "" : ` The same is true of ${older.length} smaller.`,
      ],
    ];
  }))];
}

/** The date of the last entry that a kept checkpoint covers, in words that follow its name. */
function dateOf({ at }: JudgedCheckpoint): string {
  return at === null ? ", its date is in no file" : `, the last of ${instantInWords(at)}`;
}

function nextBlocks(outcome: Outcome): readonly Block[] {
  if (!isIntact(judge(outcome))) {
    return [paragraph(
      "Nothing of these files is to be trusted later. Keep the files as they are, with this page, and keep what you kept before.",
    )];
  }
  const notes = notesToKeep(outcome);
  const { rememberedIn } = outcome;
  return [
    ...(rememberedIn === null
      ? []
      : [paragraph(["It is kept in ", name(printableLine(rememberedIn)), ". Pass that with --state."])]),
    notes.length === 0 ? paragraph("No checkpoint of a bundle: a saved answer is no bundle.") : paragraph(
      "These signed checkpoints pin what was verified today. Keep them apart from the service, and pass them with --checkpoint; this page will do as well.",
    ),
    ...notes.map(noteBlock),
  ];
}

/** A signed note. It has lines of its own, so that --checkpoint reads it from the page too. */
function noteBlock(note: string): Block {
  return drawn(markup`<pre>
${note.trimEnd()}
</pre>`);
}

function checkedBlocks(checks: readonly string[]): readonly Block[] {
  if (checks.length === 0) return [paragraph("Nothing: no file could be read.")];
  return [
    paragraph(
      "The program asked the following of everything that it could read. The findings are the answers.",
    ),
    list(checks),
  ];
}
