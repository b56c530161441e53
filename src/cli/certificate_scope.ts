/**
 * What a verification checked and what it did not check, for the auditor's certificate: it follows from the
 * outcome alone. Pure.
 */
import { placeOf } from "../evidence/other_deployments.ts";
import { type FindingCode, sentenceOf } from "../evidence/findings.ts";
import { countInWords } from "../pages/wording.ts";
import type { JudgedCheckpoint } from "./certificate_kept.ts";
import type { Outcome, VerifiedBundle, VerifiedDocument } from "./verify_outcome.ts";

/** The checks that were made. Their results are the findings. Empty if nothing could be read. */
export function checksOf(outcome: Outcome, kept: readonly JudgedCheckpoint[]): readonly string[] {
  const { bundles, documents } = outcome;
  const isAnyDocument = documents.some(isAnswer);
  return [
    ...bundleChecks(outcome, kept),
    ...(isAnyDocument
      ? [
        "Saved answers: whether the entry of each stands under the root of a checkpoint, whether a key that you trust signed that checkpoint, and whether the answer says what the entry recorded.",
      ]
      : []),
    ...(documents.some(({ page }) => page !== null)
      ? [
        "Saved pages: whether each is, to the letter, the page that this program draws from the signed report in it.",
      ]
      : []),
    ...(isAnyDocument && bundles.some(isRead)
      ? ["Saved answers against bundles: whether the bundle of its log has each answer's entry in its place."]
      : []),
  ];
}

function bundleChecks(
  { bundles, replay }: Outcome,
  kept: readonly JudgedCheckpoint[],
): readonly string[] {
  const read = bundles.filter(isRead);
  if (read.length === 0) return [];
  const replayed = sumOf(read, ({ replayed }) => replayed);
  const compared = kept.filter(wasCompared).length;
  return [
    "Form: whether each line of a bundle is in the one form in which the service writes it, in its order, up to the last line.",
    "Links: whether each entry names the hash of the entry before it, no entry is missing or doubled, and time never runs backwards.",
    "Root: whether the hash tree over all entries has the root that the checkpoints name.",
    read.some(({ selfTrusted }) => selfTrusted)
      ? "Signatures: whether the checkpoints are signed by the key that the file itself carries. That is no proof of who signed."
      : "Signatures: whether the checkpoints are signed by a key that you trust, while that key was in use.",
    "Contents: whether each content that a bundle has is the one to which its entry is committed, and whether a content is absent only for a reason: erased, removed by the retention rule, or withheld from this export.",
    "Erasure and retention: whether signed records stand behind what was erased or removed, and whether the retention rule allowed it.",
    "Records: whether no session and no decision was recorded twice, and whether sealed probes were drawn and opened as sealed.",
    ...(replay
      ? [
        `Replay: ${replayed} scores, decisions and labels were computed anew from the recorded inputs by the recorded models, and compared with the recorded results.`,
      ]
      : []),
    ...(compared === 0 ? [] : [
      `Earlier verifications: ${
        countInWords(compared, "kept checkpoint")
      } compared with the files, with the results above.`,
    ]),
    ...(read.some(isOfSystem)
      ? ["System chain: whether the other chains that were given agree with what it recorded of them."]
      : []),
  ];
}

/** Information of the verifier that something could not be compared, or was not read. */
const GAPS: readonly FindingCode[] = [
  "UNSUPPORTED_VERSION",
  "LIMIT_EXCEEDED",
  "STATE_UNANCHORED",
  "COMMIT_UNCOMPARED",
  "PROBE_UNCOMPARED",
  "KNOWN_CHECKPOINT_UNLINKABLE",
  "KNOWN_EPOCH_UNLINKED",
  "ANCHOR_AHEAD",
];

/** The gaps of a verification: first what this run left out, then what no run of this program can check. */
export function gapsOf(outcome: Outcome, kept: readonly JudgedCheckpoint[]): readonly string[] {
  return [...gapsOfRun(outcome, kept), ...GAPS_OF_PROGRAM];
}

function gapsOfRun(
  { bundles, documents, replay, given }: Outcome,
  kept: readonly JudgedCheckpoint[],
): readonly string[] {
  const read = bundles.filter(isRead);
  const unread = bundles.length - read.length + documents.filter((document) => !isAnswer(document)).length;
  const hasKey = (given?.keys.length ?? 0) > 0;
  const withheld = sumOf(read, (bundle) => bundle.withheld);
  const erased = sumOf(read, (bundle) => bundle.erased);
  const isFaulty = read.some(({ findings }) => findings.some(({ fatal }) => fatal));
  const uncompared = kept.filter((one) => !wasCompared(one)).length;
  const unpinned = unpinnedChains(read, kept);
  const cut = read.filter(({ base }) => base > 0);
  return [
    ...(unread === 0
      ? []
      : [`${countInWords(unread, "file")} that this program cannot read: the findings say why.`]),
    ...(hasKey
      ? []
      : ["Who signed: no key was given. Anybody can make a file that agrees with the key inside it."]),
    ...(read.length === 0 || replay ? [] : [
      "Scores, decisions and labels: they were not computed anew, because this run was asked not to (--no-replay).",
    ]),
    ...(withheld === 0 ? [] : [
      `${countInWords(withheld, "content")} withheld from the export: what ${
        withheld === 1 ? "it says was" : "they say was"
      } not examined, and no score that follows from it was computed anew.`,
    ]),
    ...(erased === 0 ? [] : [
      `${countInWords(erased, "erased content")}: nobody can read ${
        erased === 1 ? "it" : "them"
      } any more. The entries and the records of the erasure were checked.`,
    ]),
    ...cut.slice(0, NAMED_CHAINS).map(({ base, origin }) =>
      `${
        base === 1 ? "Entry 0" : `Entries 0 to ${base - 1}`
      } of ${origin}: only the last part of this chain is in the file.`
    ),
    ...(cut.length <= NAMED_CHAINS ? [] : [
      `The first entries of ${
        countInWords(cut.length - NAMED_CHAINS, "other chain")
      }: only the last part is in the file.`,
    ]),
    ...(isFaulty
      ? [
        "What follows a fault: some checks cannot go on from there, so that there may be more faults than those found.",
      ]
      : []),
    ...(unpinned.length === 0 ? [] : [
      `Whether history was rewritten before this verification: no kept checkpoint was found to agree, so that the holder of the signing key could have made another history. This is true of ${
        namesOf(unpinned)
      }.`,
    ]),
    ...(uncompared === 0
      ? []
      : [`${countInWords(uncompared, "kept checkpoint")} not compared, for the reasons above.`]),
    ...documents.filter(({ report, place }) => report?.fault === null && place !== "held").map(({ file }) =>
      `The chain around the entry of ${file}: no intact bundle that was given has it.`
    ),
    ...documents.filter(({ report, isCompared }) => report?.kind === "batch" && !isCompared).map(({ file }) =>
      `The numbers in ${file}: its evidence proves its entries alone.`
    ),
    ...documents.filter(({ page }) => page === "other").map(({ file }) =>
      `The words and figures of the page ${file}: only the signed report in it was verified.`
    ),
    ...GAPS.flatMap((code) => gapOf(code, read)),
    ...(read.length === 0 || read.some(isOfSystem)
      ? []
      : ["Other chains of the service: the system chain, which names all of them, was not given."]),
  ];
}

const GAPS_OF_PROGRAM: readonly string[] = [
  "What was recorded after the last entry of each file, and chains of which no file was given.",
  "Whether the recorded inputs are true and complete: decisions, times and advice are as the organization’s application sent them, and nothing shows what it did not send.",
  "Labels: whether advice and outcome were right is the organization’s own statement.",
  "Time: the entries have the time of the service’s own clock. No independent time stamp confirms it.",
  "Persons: an entry names an operator by a pseudonym. Nothing shows which person worked under an operator’s name.",
  "Meaning: a replay shows that the recorded model gives the recorded score, not that the model measures what it claims.",
  "The rest of the database: its other rows are in no bundle. The service verifies them itself.",
  "The signing key: its holder can sign anything, and no file shows whether a stranger has it.",
  "This program and this computer. If you need certainty about them, repeat the verification with another verifier on another machine.",
];

/** Most chains that are named in one sentence. */
const NAMED_CHAINS = 8;

function namesOf(origins: readonly string[]): string {
  const more = origins.length - NAMED_CHAINS;
  return `${origins.slice(0, NAMED_CHAINS).join(", ")}${
    more > 0 ? ` and ${countInWords(more, "other chain")}` : ""
  }`;
}

/** The first finding of a code with its chain, and the number of other chains that have one. */
function gapOf(code: FindingCode, bundles: readonly VerifiedBundle[]): readonly string[] {
  const found = bundles.flatMap(({ origin, findings }) => {
    const first = findings.find((finding) => finding.code === code);
    return first === undefined ? [] : [`${origin}: ${sentenceOf(first)}`];
  });
  if (found.length < 2) return found;
  return [`${found[0]} The same kind is found in ${countInWords(found.length - 1, "other chain")}.`];
}

/** The chains that agree with nothing that was kept, and contradict nothing of it. */
function unpinnedChains(
  bundles: readonly VerifiedBundle[],
  kept: readonly JudgedCheckpoint[],
): readonly string[] {
  const agreeing = new Set(
    kept.filter(({ result }) => result === "agrees").map(({ checkpoint }) => checkpoint.origin),
  );
  const unpinned = bundles.filter(({ verdict, isOfKeptFamily, isOfKeptSystem, origin }) =>
    verdict !== "DIVERGED" && !isOfKeptFamily && !isOfKeptSystem && !agreeing.has(origin)
  );
  return [...new Set(unpinned.map(({ origin }) => origin))];
}

/** Whether a kept checkpoint was held against a file of its chain. */
function wasCompared({ result }: JudgedCheckpoint): boolean {
  return result === "agrees" || result === "contradicts";
}

/** Whether anything of a bundle was read; if not, the input is no bundle. */
export function isRead({ origin }: VerifiedBundle): boolean {
  return origin !== "";
}

/** Whether a document has the form of an answer with its evidence. */
function isAnswer({ report, unreadable }: VerifiedDocument): boolean {
  return unreadable === null && report !== null && report.fault !== "MALFORMED";
}

function isOfSystem({ origin }: VerifiedBundle): boolean {
  const place = placeOf(origin);
  return place !== null && place.organization === null;
}

function sumOf(bundles: readonly VerifiedBundle[], count: (bundle: VerifiedBundle) => number): number {
  return bundles.reduce((sum, bundle) => sum + count(bundle), 0);
}
