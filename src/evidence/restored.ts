/** The record of a restore, and the checkpoints that it accounts for. Source: evidence design, section 10. */
import { parseChain, splitName } from "./chain_name.ts";
import { equalBytes } from "./crypto.ts";
import type { KnownCheckpoint } from "./kept.ts";
import type { Beyond } from "./kept_check.ts";

/** The statement of a chain that a restore began about the chain before it. */
export interface Restored {
  /** The origin of the chain that makes the statement. */
  readonly origin: string;
  readonly previousOrigin: string;
  /** The size at which the previous chain ended for good. */
  readonly size: number;
  /** The previous chain's root at that size, hexadecimal; null if nothing was left. */
  readonly root: string | null;
  /** The newest checkpoint that the installation knew it gave out; null if the statement names none. */
  readonly lastKnown: { readonly origin: string; readonly size: number; readonly root: Uint8Array } | null;
}

/** Whether a restore's record accounts for the kept checkpoints beyond its chain's end. */
export function accountsFor(
  { lastKnown: last }: Restored,
  { origin, beyond }: { readonly origin: string; readonly beyond: Beyond },
): boolean {
  if (last === null) return false;
  // A later epoch, which had begun at the end of this one, was lost too.
  if (isLaterEpoch(last.origin, origin)) return true;
  if (last.origin !== origin) return false;
  return last.size > beyond.size ||
    (last.size === beyond.size && beyond.roots.every((root) => equalBytes(root, last.root)));
}

/**
 * Whether a restore's record accounts for a checkpoint of lost entries. They are beyond the end of the chain
 * from which it went on, or of an epoch between that chain and the new one: a second restore, of an older
 * backup, loses the whole epoch.
 */
export function hasLost(
  restored: Restored,
  { origin, size, root }: Pick<KnownCheckpoint, "origin" | "size" | "root">,
): boolean {
  const { previousOrigin, origin: next } = restored;
  const isLost = origin === previousOrigin
    ? size > restored.size
    : isLaterEpoch(origin, previousOrigin) && isLaterEpoch(next, origin);
  return isLost && accountsFor(restored, { origin, beyond: { size, roots: [root] } });
}

/** Whether an origin names a later epoch of the same family than another origin. */
function isLaterEpoch(origin: string, other: string): boolean {
  const [later, earlier] = [splitName(origin), splitName(other)];
  if (later === null || earlier === null || later.prefix !== earlier.prefix) return false;
  const [a, b] = [parseChain(later.rest), parseChain(earlier.rest)];
  return a !== null && b !== null && a.family === b.family && a.epoch > b.epoch;
}
