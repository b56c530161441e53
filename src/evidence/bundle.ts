/**
 * The lines of a bundle. A bundle is a chain, or the rest of one after removals, as a file: an auditor who
 * pinned its key can verify it.
 *
 * Each kind of line has one schema and one writer. Every line is canonical JSON. An entry's line is the exact
 * text that was hashed, so it has neither wrapper nor writer here. Source: evidence design, section 8.
 */
import * as z from "zod";
import { hash32 } from "../domain/hash.ts";
import { canonicalJson } from "./canonical.ts";
import { timestampSchema } from "./entry.ts";
import { PART_NAMES, type PartName } from "./hashes.ts";
import { listOf } from "./list.ts";

/** Length of the longest line, without its line feed, in bytes. */
export const LINE_LIMIT_BYTES = 1_048_576;

/** A bundle holds the first stored checkpoint that comes at least this many entries after the one before. */
export const CHECKPOINT_EVERY = 256;

/** Events whose `detail` stays in a bundle of structure alone: they record how the chain itself was made. */
export const STRUCTURAL_EVENTS = [
  "CHAIN_GENESIS",
  "CHAIN_RESTORED",
  "RETENTION_POLICY",
  "RETENTION_PRUNED",
  "SIGNING_KEY_ROTATED",
  "SIGNING_KEY_COMPROMISED",
  "SUBJECT_ERASED",
  "ORG_CHECKPOINTS",
  "MODEL_CHANGED",
] as const;

/** The most peaks of a tree: one for each bit of its size. */
const PEAK_LIMIT = 53;
/** The most hashes in a consistency proof. */
const PROOF_LIMIT = 64;

const size = z.int().min(0);
const note = z.string();

/** The beginning of a bundle: the chain's first entry (size 0), or the entry after a removed prefix. */
const baseSchema = z.strictObject({
  size,
  /** Hash of the entry before the first; hash of the origin if there is no such entry. */
  prev: hash32,
  peaks: listOf(hash32, PEAK_LIMIT),
  checkpoint: note.nullable(),
}).refine(
  (base) => base.size > 0 || (base.peaks.length === 0 && base.checkpoint === null),
  "an untouched chain has neither peaks nor a base checkpoint",
);

/** The header. Only `origin` and `base` affect a verdict, and both are compared with signed data. */
export const headerSchema = z.strictObject({
  kind: z.literal("jis.bundle/1"),
  origin: z.string(),
  chain: z.string(),
  base: baseSchema,
  /**
   * Candidate keys, oldest first. A key is trusted if it is pinned, or if certificates lead to it from a
   * pinned key.
   */
  keys: listOf(z.strictObject({ vkey: z.string(), cert: note.nullable() })),
  retention_days: z.int().min(0).nullable(),
  exported_at: timestampSchema,
  software: z.string(),
});
export type BundleHeader = z.infer<typeof headerSchema>;

/** The header of the published vectors, which were made before headers held certificates and dates. */
export const lenientHeaderSchema = headerSchema.extend({
  keys: z.array(z.strictObject({ vkey: z.string(), cert: note.nullable().default(null) })),
  exported_at: timestampSchema.default("1970-01-01T00:00:00.000Z"),
});

export const modelLineSchema = z.strictObject({
  kind: z.literal("jis.model/1"),
  sha256: hash32,
  document: z.record(z.string(), z.unknown()),
});
export type ModelLine = z.infer<typeof modelLineSchema>;

export const ladderLineSchema = z.strictObject({
  kind: z.literal("jis.ladder/1"),
  from: z.int().min(1),
  to: z.int().min(1),
  proof: listOf(hash32, PROOF_LIMIT),
});
export type LadderLine = z.infer<typeof ladderLineSchema>;

/**
 * The first entry of a chain that a restore began, with its detail. It stands in a bundle that begins after a
 * removed prefix. The entry is in the tree of the base, and names the end of the chain before.
 */
export const beginningLineSchema = z.strictObject({
  kind: z.literal("jis.beginning/1"),
  entry: z.record(z.string(), z.unknown()),
  /** The salt of its detail, as in the line of a part. */
  salt: hash32,
  data: z.record(z.string(), z.unknown()),
  /** Inclusion path from the leaf up to the root of the base. */
  path: listOf(hash32, PROOF_LIMIT),
});
export type BeginningLine = z.infer<typeof beginningLineSchema>;

/** The reasons for which a part's content is not in a bundle. */
export const PART_ABSENCES = ["erased", "pruned", "withheld"] as const;
export type PartAbsence = (typeof PART_ABSENCES)[number];

const partHead = { kind: z.literal("jis.part/1"), seq: size, name: z.enum(PART_NAMES) };

export const partLineSchema = z.union([
  z.strictObject({ ...partHead, salt: hash32, data: z.json() }),
  z.strictObject({ ...partHead, erased: z.literal(true) }),
  z.strictObject({ ...partHead, pruned: z.literal(true) }),
  z.strictObject({ ...partHead, withheld: z.literal(true) }),
]);

export const checkpointLineSchema = z.strictObject({ kind: z.literal("jis.checkpoint/1"), note });

export const trailerSchema = z.strictObject({
  kind: z.literal("jis.trailer/1"),
  checkpoint: note,
  size,
  /** SHA-256 of all bytes of the bundle before the trailer's line. */
  bundle_sha256: hash32,
});
export type BundleTrailer = z.infer<typeof trailerSchema>;

/** The text of a header line, without its line feed. The functions below do the same for the other kinds. */
export function headerLine(header: Omit<BundleHeader, "kind">): string {
  return canonicalJson({ ...header, kind: "jis.bundle/1" });
}

export function modelLine(model: Omit<ModelLine, "kind">): string {
  return canonicalJson({ ...model, kind: "jis.model/1" });
}

export function ladderLine(ladder: Omit<LadderLine, "kind">): string {
  return canonicalJson({ ...ladder, kind: "jis.ladder/1" });
}

export function beginningLine(beginning: Omit<BeginningLine, "kind">): string {
  return canonicalJson({ ...beginning, kind: "jis.beginning/1" });
}

/** A part as it is stored, or the reason for its absence. */
export type PartContent =
  | { readonly seq: number; readonly name: PartName; readonly salt: string; readonly text: string }
  | { readonly seq: number; readonly name: PartName; readonly absent: PartAbsence };

/**
 * The text of a part's line. `text` is the part's canonical JSON, used as it is; `salt` is in hexadecimal.
 */
export function partLine(part: PartContent): string {
  const { seq, name } = part;
  if ("absent" in part) return canonicalJson({ kind: "jis.part/1", seq, name, [part.absent]: true });
  return `${PART_LINE_START}${part.text}${partLineEnd({ seq, name, salt: part.salt })}`;
}

/** The text before the data of a part whose content is given. */
export const PART_LINE_START = '{"data":';

/** The text after the data: the other members, in the order of canonical JSON. */
export function partLineEnd(
  { seq, name, salt }: { readonly seq: number; readonly name: PartName; readonly salt: string },
): string {
  return `,"kind":"jis.part/1","name":"${name}","salt":"${salt}","seq":${seq}}`;
}

export function checkpointLine(signed: string): string {
  return canonicalJson({ kind: "jis.checkpoint/1", note: signed });
}

export function trailerLine(trailer: Omit<BundleTrailer, "kind">): string {
  return canonicalJson({ ...trailer, kind: "jis.trailer/1" });
}
