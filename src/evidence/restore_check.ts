/**
 * A chain that a restore ended, beside the chain that goes on from it: where it ends for good, and what was lost.
 * Settled when the whole input is read, since the one comes before the other.
 * Source: evidence design, section 10.
 */
import { parseChain, splitName } from "./chain_name.ts";
import type { ClosedBundle } from "./closed_bundle.ts";
import { equalBytes } from "./crypto.ts";
import { endsAsRestored } from "./family.ts";
import type { KnownCheckpoint } from "./kept.ts";
import type { Beyond } from "./kept_check.ts";

/** What a chain that a restore began says of the one before it. */
export interface Restored {
  /** The origin of the chain that says it. */
  readonly origin: string;
  readonly previousOrigin: string;
  /** The size at which that chain ended for good. */
  readonly size: number;
  /** Its root at that size, hexadecimal; null where nothing was left. */
  readonly root: string | null;
  /** The newest checkpoint that the installation knew it gave out; null where it says none. */
  readonly lastKnown: { readonly origin: string; readonly size: number; readonly root: Uint8Array } | null;
}

/**
 * Holds a bundle against the one that a restore began after it, where a later one of the input is that: the chain
 * ends for good where it says. What the auditor kept beyond that end is then no rollback, as far as it tells of it.
 * @param next - the first later bundle that goes on from this one's chain and in which nothing is wrong; null: none.
 * @param isCutShort - whether later bundles of the input were not read.
 */
export function settleRestore(
  bundle: ClosedBundle,
  { next, isCutShort }: { readonly next: ClosedBundle | null; readonly isCutShort: boolean },
): void {
  const { size, root, beyond } = bundle;
  const restored = next?.restored ?? null;
  if (restored !== null && size < restored.size && !bundle.isIncomplete) {
    const detail = `the next chain says that it ended at ${restored.size}`;
    bundle.log.add("TRUNCATED", { seq: size, detail });
  }
  const goesOn = restored !== null && endsAsRestored({ size, root }, restored);
  if (restored?.size === size && root !== null && !goesOn) {
    next!.log.add("GENESIS_MISMATCH", { seq: 0, detail: "restored_root" });
  }
  if (goesOn) bundle.endedBy(restored);
  if (beyond === null) return;
  const detail = `you hold a signed checkpoint of size ${beyond.size}, bundle ends at ${size}`;
  const isTold = goesOn && tellsOf(restored, { origin: bundle.origin, beyond });
  if (!isTold && isCutShort) return bundle.log.add("LIMIT_EXCEEDED", { detail });
  bundle.log.add(isTold ? "RESTORED" : "ROLLBACK_VS_KNOWN_CHECKPOINT", { seq: size, detail });
}

/** Whether a restore's record tells of all that the auditor kept. */
export function tellsOf(
  { lastKnown: last }: Restored,
  { origin, beyond }: { readonly origin: string; readonly beyond: Beyond },
): boolean {
  if (last === null) return false;
  // A later epoch was lost with it, which had begun where this one ended.
  if (isLaterEpoch(last.origin, origin)) return true;
  if (last.origin !== origin) return false;
  return last.size > beyond.size ||
    (last.size === beyond.size && beyond.roots.every((root) => equalBytes(root, last.root)));
}

/**
 * Whether a restore's record tells that a checkpoint is of entries that it lost: beyond the end of the chain from which
 * it went on, or of an epoch between that chain and the new one, which a second restore of an older backup loses whole.
 */
export function hasLost(
  restored: Restored,
  { origin, size, root }: Pick<KnownCheckpoint, "origin" | "size" | "root">,
): boolean {
  const { previousOrigin, origin: next } = restored;
  const isLost = origin === previousOrigin
    ? size > restored.size
    : isLaterEpoch(origin, previousOrigin) && isLaterEpoch(next, origin);
  return isLost && tellsOf(restored, { origin, beyond: { size, roots: [root] } });
}

/** Whether an origin is that of a later epoch of the same family as another. */
function isLaterEpoch(origin: string, than: string): boolean {
  const [later, earlier] = [splitName(origin), splitName(than)];
  if (later === null || earlier === null || later.prefix !== earlier.prefix) return false;
  const [a, b] = [parseChain(later.rest), parseChain(earlier.rest)];
  return a !== null && b !== null && a.family === b.family && a.epoch > b.epoch;
}
