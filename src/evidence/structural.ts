/**
 * The `detail` of structural entries: how a chain began, what was removed from it and by which rule, which
 * keys sign it, what it anchors. Such entries count only if their actor is `system`.
 * Source: evidence design, sections 9 to 11.
 */
import * as z from "zod";
import { hash32 } from "../domain/hash.ts";
import { timestampSchema } from "./entry.ts";
import { listOf } from "./list.ts";

/** The most checkpoints in one ORG_CHECKPOINTS entry. */
const ANCHOR_LIMIT = 500;

const size = z.int().min(0);
const days = z.int().min(0);
const note = z.string();

const genesis = {
  deployment: z.string(),
  origin: z.string(),
  /** null if entries are kept. */
  retention_days: days.nullable(),
  vkey: z.string(),
};

/** CHAIN_GENESIS of a family's first chain. */
export const genesisSchema = z.strictObject(genesis);

const restored = {
  ...genesis,
  /** The chain that ended for good at `restored_size` with `restored_root`. */
  previous_origin: z.string(),
  /** The newest checkpoint that the installation knows it gave out; null if it knows none. */
  last_known_checkpoint: note.nullable(),
  restored_size: size,
  /** null if nothing of the chain was left. */
  restored_root: hash32.nullable(),
  reason: z.string(),
};

/** CHAIN_GENESIS of a chain that a restore began. */
export const restoredGenesisSchema = z.strictObject(restored);
export type RestoredGenesis = z.infer<typeof restoredGenesisSchema>;

/** CHAIN_RESTORED, the first entry of `sys` after a restore: the record of the restore itself. */
export const chainRestoredSchema = z.strictObject({
  ...restored,
  /** Pseudonyms of operators whose erasure was not in the restored data. */
  erased: listOf(z.string().regex(/^[0-9a-f]{32}$/)),
  /** Chains that were not in the restored data at all. */
  lost: listOf(z.strictObject({ origin: z.string(), checkpoint: note })),
});

/** The chains to which a retention applies: admin chains (`audit_log`), or evidence chains. */
const RETENTION_POLICIES = ["audit_log", "evidence"] as const;
export type RetentionPolicyName = (typeof RETENTION_POLICIES)[number];

/** RETENTION_POLICY: how long entries are kept, from now on. */
export const retentionPolicySchema = z.strictObject({
  policy: z.enum(RETENTION_POLICIES),
  /** null if entries were kept, or if no retention was recorded before. */
  from_days: days.nullable(),
  to_days: days.nullable(),
});

/** RETENTION_PRUNED: entries `from` to `to` − 1 of a chain were removed. */
export const retentionPrunedSchema = z.strictObject({
  /** Origin of the chain that was cut: the entry's own, or one of its family that a restore ended. */
  origin: z.string(),
  from: size,
  to: size,
  /** The tree's root at size `to`. */
  root: hash32,
  /** Timestamp of entry `to` − 1. */
  last_ts: timestampSchema,
  /** Entries before this instant were removed. */
  cutoff: timestampSchema,
  policy_days: days,
});

/** SIGNING_KEY_ROTATED: `overlap` is true if a key comes in, false if the key before it is retired. */
export const signingKeyRotatedSchema = z.strictObject({ cert: note, overlap: z.boolean() });

/** ORG_CHECKPOINTS, on `sys`: one checkpoint of `sys` pins all these chains. */
export const orgCheckpointsSchema = z.strictObject({
  checkpoints: listOf(z.strictObject({ origin: z.string(), size, root: hash32 }), ANCHOR_LIMIT),
});
