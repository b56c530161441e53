/**
 * The verifier of the console: the code of `src/evidence`, for files that never leave the browser. It runs in
 * a thread of its own, so that the page stays responsive.
 */
// First, since the modules below make schemas.
import "../shared/no_eval.ts";
import { hasTooManyValues } from "../../evidence/answer_size.ts";
import { type FileReport, FilesVerifier } from "../../evidence/files.ts";
import { groupFindings } from "../../evidence/finding_groups.ts";
import { sentenceOf } from "../../evidence/findings.ts";
import { isMembers } from "../../evidence/line_shapes.ts";
import { checkpointsIn } from "../../evidence/kept.ts";
import { seedOf } from "../../evidence/keyed_hash.ts";
import { sentenceOfVerdict, verdictWords } from "../../evidence/report.ts";
import { chooseReports } from "../../evidence/shown_reports.ts";
import { parsePins } from "../../evidence/trust.ts";
import { browserCrypto } from "./browser_crypto.ts";
import type { Question, Told, Unusable, VerifiedBundle } from "./messages.ts";

/** Bytes between two reports of progress. */
const PROGRESS_BYTES = 1_048_576;

const tell = (told: Told) => self.postMessage(told);

self.onmessage = async ({ data }: MessageEvent<Question>) => {
  try {
    await verify(data);
  } catch (error) {
    if (!(error instanceof DOMException)) throw error;
    tell({ kind: "unusable", field: "files", message: `The file cannot be read any more: ${error.message}` });
  }
};

async function verify({ files: given, keys, kept }: Question): Promise<void> {
  const pins = read("keys", keys, (text) => parsePins(browserCrypto, text));
  if ("kind" in pins) return tell(pins);
  const known = read("kept", kept, checkpointsIn);
  if ("kind" in known) return tell(known);
  for (const file of given) {
    const form = await otherForm(file);
    if (form !== null) {
      return tell({ kind: "unusable", field: "files", message: `${file.name} ${OTHER_FORMS[form]}` });
    }
  }
  const files = await inOrder(given);
  const verifier = new FilesVerifier(browserCrypto, {
    pins: keys.trim() === "" ? null : pins.items,
    // The field counts as one key file.
    holderKeys: [pins.items.map(({ publicKey }) => publicKey)],
    known: known.items,
    expected: [],
    replay: true,
    seed: seedOf(crypto.getRandomValues(new Uint8Array(8))),
  });
  const total = files.reduce((sum, { size }) => sum + size, 0);
  let bytes = 0;
  let told = 0;
  for (const file of files) {
    verifier.open(file.name);
    const pieces = file.stream().getReader();
    for (let piece = await pieces.read(); !piece.done; piece = await pieces.read()) {
      verifier.push(piece.value);
      bytes += piece.value.length;
      if (bytes - told < PROGRESS_BYTES) continue;
      told = bytes;
      tell({ kind: "progress", entries: verifier.entries, bytes, total });
    }
  }
  const { shown: reports, others } = chooseReports(verifier.end());
  tell({ kind: "verified", bundles: reports.map(shown), others });
}

/**
 * Bytes of a file in which its chain is named: a system chain is never cut, so little stands before the name.
 */
const HEAD_BYTES = 4_096;
const SYSTEM_HEADER = /^\{"base":[^\n]*"chain":"sys(?:\/e\d+)?"/;

/**
 * The files with system chains first: the files after them are checked against them. People choose any order.
 */
async function inOrder(files: readonly File[]): Promise<readonly File[]> {
  const heads = await Promise.all(files.map((file) => file.slice(0, HEAD_BYTES).text()));
  const isSystem = heads.map((head) => SYSTEM_HEADER.test(head));
  return [...files.filter((_, at) => isSystem[at]), ...files.filter((_, at) => !isSystem[at])];
}

/** Largest file that is examined as a saved answer. */
const ANSWER_LIMIT_BYTES = 4_194_304;
/** The beginning of a bundle: its header's members are in order. */
const BUNDLE_START = '{"base":';

const OTHER_FORMS = {
  empty: "is empty, because the export or the copy was interrupted: export or copy it again.",
  page:
    "is a page, not a bundle. Here bundles are verified; jiss verify reads a report that was saved as a page too.",
  error:
    "is an error that the service answered in place of what was asked for: read its message, and ask again.",
  answer:
    "is a saved answer of the service, not a bundle. Here bundles are verified; jiss verify reads saved answers too.",
} as const;

/** The form of a file that is no bundle, if it has a form of the service; null if it may be a bundle. */
async function otherForm(file: File): Promise<keyof typeof OTHER_FORMS | null> {
  if (file.size === 0) return "empty";
  const start = await file.slice(0, BUNDLE_START.length).text();
  if (start === BUNDLE_START || file.size > ANSWER_LIMIT_BYTES) return null;
  if (/^\s*<!/.test(start)) return "page";
  try {
    const text = await file.text();
    if (hasTooManyValues(text)) return null;
    const { evidence, error } = JSON.parse(text);
    return isMembers(evidence) ? "answer" : isMembers(error) ? "error" : null;
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError) return null;
    throw error;
  }
}

/** The items in a field of text; none if it is empty. */
function read<Item>(
  field: Unusable["field"],
  text: string,
  parse: (text: string) => readonly Item[],
): { readonly items: readonly Item[] } | Unusable {
  if (text.trim() === "") return { items: [] };
  try {
    return { items: parse(text) };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return { kind: "unusable", field, message: error.message };
  }
}

function shown(report: FileReport): VerifiedBundle {
  const { origin, verdict, entries, replayed, erased, withheld, keyFingerprint, checkpoint } = report;
  const isIntact = verdict === "INTACT" || verdict === "INTACT, UNANCHORED";
  return {
    origin,
    verdict,
    words: verdictWords(report),
    sentence: sentenceOfVerdict(report),
    entries,
    replayed,
    erased,
    withheld,
    keyFingerprint,
    // A checkpoint that is kept from a changed file would contradict the true file later.
    checkpoint: isIntact ? checkpoint?.note ?? null : null,
    findings: groupFindings(report).map(({ code, first, others }) => ({
      code,
      sentence: first === null ? null : sentenceOf(first),
      detail: first?.detail ?? null,
      file: first?.file ?? null,
      line: first?.line ?? null,
      others,
    })),
  };
}
