/**
 * The evidence block of a response: an offline proof of its content, and a commitment to all history before it.
 * Source: evidence design, section 5; proofs are C2SP tlog-proof@v1.
 */
import * as z from "zod";
import { hash32 } from "../domain/hash.ts";
import { base64, fromBase64, hex } from "./crypto.ts";
import { type AppendedEntry, type Entry, entrySchema, type Part } from "./entry.ts";
import { PART_NAMES, type PartName } from "./hashes.ts";

const PROOF_HEADER = "c2sp.org/tlog-proof@v1";

/** Top-level members of a body that its `result` part does not hold. */
const OUTSIDE_RESULT = new Set(["evidence", "request_id", "timestamp", "event", "delivery_id"]);

export const evidenceSchema = z.strictObject({
  v: z.literal("jis.evidence/1"),
  covers: z.enum(PART_NAMES).meta({ description: "Which part of the entry the commitment covers." }),
  sha256: hash32.meta({
    description:
      "SHA-256 of `jis.commit/1\\n`, the part's name, `\\n`, the salt's 32 bytes and the part's canonical JSON (RFC 8785). The `result` part is the body without evidence, request_id, timestamp, event and delivery_id.",
  }),
  salt: hash32,
  entry: entrySchema,
  entry_hash: hash32.meta({ description: "SHA-256 of a zero byte and the entry's canonical JSON." }),
  proof: z.string().meta({ description: "C2SP tlog-proof@v1: inclusion path and signed checkpoint." }),
}).meta({
  id: "Evidence",
  description: "An offline proof that this answer stands in the organization's chain.",
});

export type Evidence = z.infer<typeof evidenceSchema>;

/** The `result` part of a response body. */
export function resultPart(body: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(body).filter(([key]) => !OUTSIDE_RESULT.has(key)));
}

export interface InclusionProof {
  readonly index: number;
  /** Hashes from the leaf up. */
  readonly path: readonly Uint8Array[];
  /** The signed checkpoint. */
  readonly note: string;
}

export function formatProof({ index, path, note }: InclusionProof): string {
  const hashes = path.map((hash) => `${base64(hash)}\n`).join("");
  return `${PROOF_HEADER}\nindex ${index}\n${hashes}\n${note}`;
}

/** Reads a proof. @throws {SyntaxError} if the text is not a tlog-proof without `extra` line. */
export function parseProof(text: string): InclusionProof {
  const blank = text.indexOf("\n\n");
  if (blank < 0) throw new SyntaxError("a proof without checkpoint");
  const [header, index, ...hashes] = text.slice(0, blank).split("\n");
  const match = /^index (0|[1-9][0-9]{0,15})$/.exec(index ?? "");
  if (header !== PROOF_HEADER || match === null) throw new SyntaxError("not a tlog-proof");
  const path = hashes.map(fromBase64);
  if (path.length > 63 || path.some((hash) => hash.length !== 32)) throw new SyntaxError("a bad proof hash");
  return { index: Number(match[1]), path, note: text.slice(blank + 2) };
}

/** The evidence block for one part of an entry. */
export function evidenceOf(
  { entry, hash, part, proof }: {
    readonly entry: Entry;
    readonly hash: Uint8Array;
    readonly part: Part;
    readonly proof: InclusionProof;
  },
): Evidence {
  return {
    v: "jis.evidence/1",
    covers: part.name,
    sha256: entry.commit[part.name]!,
    salt: hex(part.salt),
    entry,
    entry_hash: hex(hash),
    proof: formatProof(proof),
  };
}

/** The evidence block of a fresh entry. */
export function evidenceOfAppended(
  { entry, hash, parts }: AppendedEntry,
  { covers, proof }: { readonly covers: PartName; readonly proof: InclusionProof },
): Evidence {
  return evidenceOf({ entry, hash, part: parts.find((part) => part.name === covers)!, proof });
}

export const batchEvidenceSchema = z.strictObject({
  v: z.literal("jis.evidence-batch/1"),
  checkpoint: z.string().meta({ description: "The signed checkpoint of the batch's commit." }),
  items: z.array(z.strictObject({
    session_id: z.string(),
    index: z.int().meta({ description: "The entry's place in the tree." }),
    entry_hash: hash32,
    path: z.array(z.string()).meta({ description: "Hashes from the leaf to the root, base64." }),
  })),
}).meta({
  id: "BatchEvidence",
  description:
    "Proof that each item's entry stands in the organization's chain; an item's full evidence comes from its replay.",
});

export type BatchEvidence = z.infer<typeof batchEvidenceSchema>;

export interface BatchItemProof {
  readonly sessionId: string;
  readonly entryHash: Uint8Array;
  readonly proof: InclusionProof;
}

/** The compact evidence of a batch, whose entries all came with one commit. */
export function batchEvidenceOf(items: readonly BatchItemProof[]): BatchEvidence {
  return {
    v: "jis.evidence-batch/1",
    checkpoint: items[0]!.proof.note,
    items: items.map(({ sessionId, entryHash: hash, proof: { index, path } }) => ({
      session_id: sessionId,
      index,
      entry_hash: hex(hash),
      path: path.map(base64),
    })),
  };
}
