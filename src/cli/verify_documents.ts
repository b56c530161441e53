/** Verifies the saved documents among the files of `jiss verify`: each by itself, then against the rest. */
import { hasTooManyValues } from "../evidence/answer_size.ts";
import { equalBytes } from "../evidence/crypto.ts";
import { type DocumentReport, verifyDocument } from "../evidence/document.ts";
import { hasDuplicateMembers } from "../evidence/duplicate_members.ts";
import { type OtherDeployments, placeOf } from "../evidence/other_deployments.ts";
import { checkpointsIn, identityOf, type KeptCheckpoint, type KnownCheckpoint } from "../evidence/kept.ts";
import { isMembers } from "../evidence/line_shapes.ts";
import { nodeCrypto } from "../evidence/node_crypto.ts";
import { orNull } from "../evidence/or_null.ts";
import { type BundleReport, isWhole } from "../evidence/report.ts";
import { hasLost } from "../evidence/restored.ts";
import { fingerprint } from "../evidence/trust.ts";
import type { AuditorTrust } from "./auditor_trust.ts";
import { signedReportIn } from "../pages/signed_report.ts";
import { isDrawnFrom, isPage } from "./report_page.ts";
import { type Input, textOf } from "./verify_input.ts";
import type { DocumentPage, DocumentPlace, VerifiedDocument } from "./verify_outcome.ts";

/** The largest size of a document. */
const DOCUMENT_LIMIT_BYTES = 16_777_216;

/** Verifies each document by the evidence that it carries. */
export async function readDocuments(
  inputs: readonly Input[],
  { trust, hasPins }: { readonly trust: AuditorTrust; readonly hasPins: boolean },
): Promise<readonly VerifiedDocument[]> {
  const documents: VerifiedDocument[] = [];
  for (const input of inputs) {
    const { report, unreadable, page }: ReadDocument = input.form !== null
      ? { report: null, unreadable: input.form, page: null }
      : readDocument(await textOf(input, DOCUMENT_LIMIT_BYTES), trust);
    documents.push({
      file: input.name,
      report,
      unreadable,
      page,
      hasPins,
      place: "alone",
      isForked: false,
      uncompared: null,
      isCompared: false,
      isFormer: isFormerOnly(report, trust),
      keyFingerprint: signerOf(report, trust),
    });
  }
  return documents;
}

/** Whether only former keys signed a document's checkpoint, and no key in use. */
function isFormerOnly(report: DocumentReport | null, trust: AuditorTrust): boolean {
  return report?.fault === null && trust.currentSignersOf(report.checkpoint!).length === 0;
}

/** The fingerprint of a trusted key that signed a document's checkpoint; null if none did. */
function signerOf(report: DocumentReport | null, trust: AuditorTrust): string | null {
  const [signer] = report?.checkpoint ? trust.signersOf(report.checkpoint) : [];
  return signer === undefined ? null : fingerprint(nodeCrypto, signer);
}

type ReadDocument = Pick<VerifiedDocument, "report" | "unreadable" | "page">;

function readDocument(text: string | null, trust: AuditorTrust): ReadDocument {
  if (text === null) return { report: null, unreadable: "too large", page: null };
  if (!isPage(text)) return { ...readAnswer(text, trust), page: null };
  const signed = signedReportIn(text);
  if (signed === null) return { report: null, unreadable: "a page", page: null };
  const answer = readAnswer(signed, trust);
  // A page is drawn only from a report that verifies.
  const page = answer.report?.fault === null ? comparePage(text, JSON.parse(signed)) : "other";
  return { ...answer, page };
}

function comparePage(text: string, answer: Readonly<Record<string, unknown>>): DocumentPage {
  if (isDrawnFrom(text, answer)) return "drawn";
  return text.includes("\r\n") && isDrawnFrom(text.replaceAll("\r\n", "\n"), answer) ? "line ends" : "other";
}

function readAnswer(text: string, trust: AuditorTrust): Omit<ReadDocument, "page"> {
  if (hasTooManyValues(text)) return { report: null, unreadable: "too large" };
  const value: unknown = orNull(() => JSON.parse(text));
  // If a member is there twice, another reader might take the other one.
  const body = isMembers(value) && !hasDuplicateMembers(text) ? value : null;
  const report = body && verifyDocument(nodeCrypto, body, trust);
  if (report !== null && report.fault !== "MALFORMED") return { report, unreadable: null };
  // A damaged answer contains a checkpoint too, but is not a checkpoint.
  const isAnswer = isMembers(value) && value.evidence !== undefined;
  const isCheckpoint = !isAnswer && orNull(() => checkpointsIn(text)) !== null;
  if (isCheckpoint) return { report: null, unreadable: "a checkpoint" };
  if (body === null) return { report, unreadable: "not JSON" };
  if (isAnswer) return { report, unreadable: null };
  return { report, unreadable: isMembers(body.error) ? "an error" : "no evidence" };
}

/** The document with the results of its comparison with the bundles and the kept checkpoints. */
export function compareDocument(
  document: VerifiedDocument,
  { reports, known, kept, otherDeployments, trust }: {
    readonly reports: readonly BundleReport[];
    /** Checkpoints that trusted keys signed, those of other documents too. */
    readonly known: readonly KnownCheckpoint[];
    /** The checkpoints that were kept in earlier visits, signed by any key. */
    readonly kept: readonly KeptCheckpoint[];
    /** The kept checkpoints of other deployments. */
    readonly otherDeployments: OtherDeployments;
    readonly trust: AuditorTrust;
  },
): VerifiedDocument {
  if (document.report?.fault !== null) return document;
  const { origin, checkpoint, entries } = document.report;
  const { size, root } = checkpoint!;
  const compared = reports.filter((report) => report.origin === origin).flatMap((report) =>
    report.comparedScores
  );
  const comparisons = entries.map(({ seq, statedScore: says }) =>
    compared.filter((one) => one.seq === seq && one.statedScore === says)
  );
  // The bundle has another entry: a document that only a former key signed does not contradict it.
  const isRefuted = reports.some((report) =>
    report.origin === origin && isWhole(report) &&
    entries.some(({ entryHash }) => report.refuted.includes(entryHash))
  );
  const family = placeOf(origin!)?.family;
  const whole = reports.filter((report) => isWhole(report) && placeOf(report.origin)?.family === family);
  const place = isRefuted ? "alone" : findPlace(whole, { checkpoint: checkpoint!, entries });
  const isFalse = comparisons.some((verdicts) => verdicts.some(({ isTrue }) => !isTrue));
  return {
    ...document,
    report: isFalse ? { ...document.report, fault: "RESULT_MISMATCH" } : document.report,
    isCompared: comparisons.every((verdicts) => verdicts.length > 0),
    place,
    uncompared: uncomparedOf(place, { checkpoint: checkpoint!, whole, kept, otherDeployments, trust }),
    isForked: known.some((other) =>
      other.origin === origin && other.size === size && !equalBytes(other.root, root)
    ),
  };
}

/** A kept checkpoint that the document was not compared with; null if there is none. */
function uncomparedOf(
  place: DocumentPlace,
  { checkpoint, whole, kept, otherDeployments, trust }: {
    readonly checkpoint: KnownCheckpoint;
    /** The bundles of its family. */
    readonly whole: readonly BundleReport[];
    readonly kept: readonly KeptCheckpoint[];
    readonly otherDeployments: OtherDeployments;
    readonly trust: AuditorTrust;
  },
): KnownCheckpoint | null {
  if (place === "removed" || place === "lost") {
    // The bundles must account for its checkpoint, as for the kept ones.
    const isAnswered = whole.some(({ verdict }) => verdict !== "INTACT, NOT COMPARED");
    return isAnswered ? null : whole.flatMap(({ uncompared }) => uncompared)[0]?.checkpoint ?? checkpoint;
  }
  const own = placeOf(checkpoint.origin);
  if (place !== "alone" || own === null) return null;
  const family = kept.filter((one) => placeOf(one.origin)?.family === own.family);
  const other = otherDeployments.find({ place: own, keys: trust.signersOf(checkpoint) });
  if (other !== null) return other;
  if (family.length === 0) return otherDeployments.systemOf(own.prefix);
  const isSame = family.some((one) => identityOf(one) === identityOf(checkpoint));
  return isSame ? null : family.at(-1)!;
}

/** The place of entries, and of the checkpoint that covers them, in the bundles of their family. */
function findPlace(
  family: readonly BundleReport[],
  { checkpoint, entries }: {
    readonly checkpoint: KnownCheckpoint;
    readonly entries: DocumentReport["entries"];
  },
): DocumentPlace {
  const sameChain = family.filter(({ origin }) => origin === checkpoint.origin);
  // A bundle that ends before the checkpoint was not compared with it, even if it has the entries.
  const covering = sameChain.filter(({ size }) => checkpoint.size <= size);
  if (covering.some(({ base }) => entries.every(({ seq }) => seq >= base))) return "held";
  if (covering.length > 0) return "removed";
  if (family.some(({ restore }) => restore !== null && hasLost(restore, checkpoint))) return "lost";
  return sameChain.length === 0 ? "alone" : "beyond";
}
