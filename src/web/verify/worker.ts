/**
 * The verifier of the console, in a thread of its own so that the page stays alive: the code of `src/evidence` over files
 * that never leave the browser.
 */
import { type FileReport, FilesVerifier } from "../../evidence/files.ts";
import { sentenceOf } from "../../evidence/findings.ts";
import { isMembers } from "../../evidence/line_shapes.ts";
import { checkpointsIn } from "../../evidence/kept.ts";
import { sentenceOfVerdict, verdictWords } from "../../evidence/report.ts";
import { parsePins } from "../../evidence/trust.ts";
import { browserCrypto } from "./browser_crypto.ts";
import type { Question, Told, Unusable, VerifiedBundle } from "./messages.ts";

/** Bytes between two tellings of how far it is. */
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

async function verify({ files, keys, kept }: Question): Promise<void> {
  const pins = read("keys", keys, (text) => parsePins(browserCrypto, text));
  if ("kind" in pins) return tell(pins);
  const known = read("kept", kept, checkpointsIn);
  if ("kind" in known) return tell(known);
  for (const file of files) {
    if (await isAnswer(file)) {
      return tell({ kind: "unusable", field: "files", message: NO_BUNDLE(file.name) });
    }
  }
  const verifier = new FilesVerifier(browserCrypto, {
    pins: keys.trim() === "" ? null : pins.items,
    known: known.items,
    expected: [],
    replay: true,
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
  tell({ kind: "verified", bundles: verifier.end().map(shown) });
}

/** The largest that is looked into. */
const ANSWER_LIMIT_BYTES = 16_777_216;

const NO_BUNDLE = (name: string) =>
  `${name} is a saved answer of the service, not a bundle. Here bundles are verified; jiss verify reads saved answers too.`;

/** Whether a file is one JSON object with evidence, as the service answers with. */
async function isAnswer(file: File): Promise<boolean> {
  if (file.size > ANSWER_LIMIT_BYTES) return false;
  try {
    return isMembers(JSON.parse(await file.text()).evidence);
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError) return false;
    throw error;
  }
}

/** What a field of text holds; nothing where it is empty. */
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
  const { origin, verdict, entries, replayed, erased, withheld, keyFingerprint, checkpoint, dropped } =
    report;
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
    checkpoint: checkpoint?.note ?? null,
    findings: report.findings.map((finding) => ({
      code: finding.code,
      fatal: finding.fatal,
      sentence: sentenceOf(finding),
      detail: finding.detail,
      file: finding.file,
      line: finding.line,
    })),
    dropped,
  };
}
