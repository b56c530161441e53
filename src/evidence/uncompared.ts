/** What the auditor kept and could not compare, and what a restore took away of it. */
import type { KnownCheckpoint } from "./kept.ts";

/**
 * Why a kept checkpoint was not compared: the entries up to it were removed and no proof leads over the cut; it is of
 * entries that a restore lost, and nothing older was compared; it is of another epoch, from which the bundles do not
 * lead here; it is of another deployment; it is of the system chain, which pins this one, and which was not given in
 * full before it; the bundle ends before what that anchored.
 */
export const UNCOMPARED_REASONS = [
  "unlinkable",
  "restore",
  "epoch",
  "deployment",
  "system",
  "behind",
] as const;

export type UncomparedReason = (typeof UNCOMPARED_REASONS)[number];

/** A chain's root at a size. */
export type NamedRoot = Pick<KnownCheckpoint, "origin" | "size" | "root">;

/** A kept checkpoint that a bundle does not answer for. */
export interface Uncompared {
  readonly why: UncomparedReason;
  readonly checkpoint: KnownCheckpoint;
  /** What a kept checkpoint of the system chain pins of the bundle's family; null where that itself was not compared. */
  readonly anchor: NamedRoot | null;
}

/** What a restore took away of what the auditor had been shown, and what the rest was held against. */
export interface Lost {
  /** How many entries of which a checkpoint was kept. */
  readonly entries: number;
  readonly newest: NamedRoot;
  /** The newest that was kept before it and agrees. */
  readonly agreed: NamedRoot;
}
