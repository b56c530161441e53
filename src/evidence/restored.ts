/** What a chain that a restore began says of the one before it. Source: evidence design, section 10. */
import { parseChain, splitName } from "./chain_name.ts";
import { equalBytes } from "./crypto.ts";
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
export function isLaterEpoch(origin: string, than: string): boolean {
  const [later, earlier] = [splitName(origin), splitName(than)];
  if (later === null || earlier === null || later.prefix !== earlier.prefix) return false;
  const [a, b] = [parseChain(later.rest), parseChain(earlier.rest)];
  return a !== null && b !== null && a.family === b.family && a.epoch > b.epoch;
}
