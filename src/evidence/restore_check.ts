/**
 * A chain that a restore ended, beside the chain that goes on from it: where it ends for good, and what was lost.
 * Settled when the whole input is read, since the one comes before the other.
 * Source: evidence design, section 10.
 */
import type { BundleCheck } from "./bundle_check.ts";
import { parseChain, splitName } from "./chain_name.ts";
import { equalBytes } from "./crypto.ts";
import { endsAsRestored } from "./family.ts";
import { knownCheckpointOrNull } from "./kept.ts";
import type { Beyond } from "./kept_check.ts";
import type { RestoredGenesis } from "./structural.ts";

/**
 * Holds a bundle against the one that a restore began after it, where a later one of the input is that: the chain
 * ends for good where it says. What the auditor kept beyond that end is then no rollback, as far as it tells of it.
 */
export function settleRestore(bundle: BundleCheck, later: readonly BundleCheck[]): void {
  const { chain: { next: size, root }, checkpoints: { beyond } } = bundle;
  const next = later.find((check) => isNext(check, bundle));
  const restored = next?.structure.restored ?? null;
  if (restored !== null && size < restored.restored_size && !bundle.isIncomplete) {
    const detail = `the next chain says that it ended at ${restored.restored_size}`;
    bundle.log.add("TRUNCATED", { seq: size, detail });
  }
  const goesOn = restored !== null && endsAsRestored({ size, root }, restored);
  if (restored?.restored_size === size && root !== null && !goesOn) {
    next!.log.add("GENESIS_MISMATCH", { seq: 0, detail: "restored_root" });
  }
  if (goesOn) bundle.endedBy(restored);
  if (beyond === null) return;
  const detail = `you hold a signed checkpoint of size ${beyond.size}, bundle ends at ${size}`;
  const isTold = goesOn && tellsOf(restored, { origin: bundle.origin, beyond });
  bundle.log.add(isTold ? "RESTORED" : "ROLLBACK_VS_KNOWN_CHECKPOINT", { seq: size, detail });
}

/** Whether a bundle is of the chain that a restore began after another one's, and nothing in it is wrong. */
function isNext(check: BundleCheck, bundle: BundleCheck): boolean {
  return check.isSound && check.structure.restored?.previous_origin === bundle.origin;
}

/** Whether a restore's record tells of all that the auditor kept. */
export function tellsOf(
  { last_known_checkpoint: note }: RestoredGenesis,
  { origin, beyond }: { readonly origin: string; readonly beyond: Beyond },
): boolean {
  const last = note === null ? null : knownCheckpointOrNull(note);
  if (last === null) return false;
  // A later epoch was lost with it, which had begun where this one ended.
  if (isLaterEpoch(last.origin, origin)) return true;
  if (last.origin !== origin) return false;
  return last.size > beyond.size ||
    (last.size === beyond.size && beyond.roots.every((root) => equalBytes(root, last.root)));
}

/** Whether an origin is that of a later epoch of the same family as another. */
function isLaterEpoch(origin: string, than: string): boolean {
  const [later, earlier] = [splitName(origin), splitName(than)];
  if (later === null || earlier === null || later.prefix !== earlier.prefix) return false;
  const [a, b] = [parseChain(later.rest), parseChain(earlier.rest)];
  return a !== null && b !== null && a.family === b.family && a.epoch > b.epoch;
}
