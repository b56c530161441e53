/**
 * Compares a chain that a restore ended with the chain that goes on from it: where it ends for good, and what
 * was lost. This is done after the whole input was read, because the earlier chain comes first in it.
 * Source: evidence design, section 10.
 */
import { accountsFor } from "./restored.ts";
import type { ClosedBundle } from "./closed_bundle.ts";
import { endsAsRestored } from "./family.ts";

/**
 * Compares a bundle with the bundle that a restore began after it, if the input has one. That one says where
 * the chain ends for good. Kept checkpoints beyond that end are no rollback if its record accounts for them.
 * @param next - the first later sound bundle that goes on from this one's chain; null if there is none.
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
  const isContinued = restored !== null && endsAsRestored({ size, root }, restored);
  if (restored?.size === size && root !== null && !isContinued) {
    next!.log.add("GENESIS_MISMATCH", { seq: 0, detail: "restored_root" });
  }
  if (isContinued) bundle.setRestore(restored);
  if (beyond === null) return;
  const detail = `you hold a signed checkpoint of size ${beyond.size}, bundle ends at ${size}`;
  const isAccountedFor = isContinued && accountsFor(restored, { origin: bundle.origin, beyond });
  if (!isAccountedFor && isCutShort) return bundle.log.add("LIMIT_EXCEEDED", { detail });
  bundle.log.add(isAccountedFor ? "RESTORED" : "ROLLBACK_VS_KNOWN_CHECKPOINT", { seq: size, detail });
}
