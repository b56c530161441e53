/**
 * A chain that a restore ended, beside the chain that goes on from it: where it ends for good, and what was lost.
 * Settled when the whole input is read, since the one comes before the other.
 * Source: evidence design, section 10.
 */
import { tellsOf } from "./restored.ts";
import type { ClosedBundle } from "./closed_bundle.ts";
import { endsAsRestored } from "./family.ts";

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
