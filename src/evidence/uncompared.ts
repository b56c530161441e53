/** Kept checkpoints that could not be compared, and kept entries that a restore lost. */
import type { KnownCheckpoint } from "./kept.ts";

/**
 * The reason why a kept checkpoint was not compared. `unlinkable`: the entries up to it were removed, and no
 * proof leads over the cut. `restore`: it covers entries that a restore lost, and nothing older was compared.
 * `epoch`: it is of another epoch, from which the bundles do not lead here. `deployment`: it is of another
 * deployment. `system`: it is of the system chain, which pins this chain and was not given in full before it.
 * `behind`: the bundle ends before a root of it that is known.
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
  readonly reason: UncomparedReason;
  readonly checkpoint: KnownCheckpoint;
  /** The root that the kept checkpoint of the system chain pins; null if `checkpoint` itself is the root. */
  readonly anchor: NamedRoot | null;
}

/** The kept entries that a restore lost, and the root with which the rest was compared. */
export interface Lost {
  /** The number of lost entries that kept checkpoints cover. */
  readonly entries: number;
  readonly newest: NamedRoot;
  /** The newest kept root before the lost ones that agrees. */
  readonly agreed: NamedRoot;
}
