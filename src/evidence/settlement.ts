/**
 * Settles, after all of an input was read, what its bundles say about one another: restores, removals, keys,
 * erasures. The last bundle is settled first: a bundle may decide where an earlier chain ends only if it is
 * sound itself.
 */
import type { ClosedBundle } from "./closed_bundle.ts";
import type { Family } from "./family.ts";
import { settleRestore } from "./restore_check.ts";
import type { UnrecordedPrefix } from "./retention_check.ts";

/** Settles bundles, given in the order of the input. `isCutShort` is true if later bundles were not read. */
export function settle(
  bundles: readonly ClosedBundle[],
  { isCutShort }: { readonly isCutShort: boolean },
): void {
  const later = new LaterBundles();
  for (const bundle of bundles.toReversed()) {
    settleRestore(bundle, { next: later.successorOf(bundle.origin), isCutShort });
    settlePrefix(bundle, later.records(bundle), isCutShort);
    bundle.settleKeys();
    if (bundle.isSound) later.add(bundle);
  }
  settleErasures(bundles, isCutShort);
}

/** The sound bundles after the one that is being settled. */
class LaterBundles {
  /** Bundles by the origin of the chain from which they go on; the earliest bundle is last. */
  readonly #successors = new Map<string, ClosedBundle[]>();
  readonly #recorders = new Map<UnrecordedPrefix | Family, ClosedBundle[]>();

  add(bundle: ClosedBundle): void {
    const { restored, records, family } = bundle;
    if (restored !== null) push(this.#successors, restored.previousOrigin, bundle);
    for (const prefix of records.prefixes) push(this.#recorders, prefix, bundle);
    if (records.isAny) push(this.#recorders, family, bundle);
  }

  /** The first bundle that a restore began after this chain; null if there is none. */
  successorOf(origin: string): ClosedBundle | null {
    return firstSound(this.#successors.get(origin));
  }

  /** Whether one of them records the removal of a bundle's prefix, or its family has a withheld record. */
  records({ unrecorded, family }: ClosedBundle): boolean {
    if (unrecorded === null) return false;
    return [unrecorded, family].some((what) => firstSound(this.#recorders.get(what)) !== null);
  }
}

function push<Key>(lists: Map<Key, ClosedBundle[]>, key: Key, bundle: ClosedBundle): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [bundle]);
  else list.push(bundle);
}

/** The earliest bundle that is still sound; earlier ones that no longer are get dropped from the list. */
function firstSound(list: ClosedBundle[] = []): ClosedBundle | null {
  while (list.length > 0 && !list.at(-1)!.isSound) list.pop();
  return list.at(-1) ?? null;
}

function settlePrefix({ unrecorded, log }: ClosedBundle, isOnRecord: boolean, isCutShort: boolean): void {
  if (unrecorded === null) return;
  const range = [0, unrecorded.size - 1] as const;
  const detail = "no RETENTION_PRUNED for it";
  if (isOnRecord) log.add("PRUNED_PREFIX", { range });
  else if (isCutShort) log.add("LIMIT_EXCEEDED", { detail });
  else log.add("PRUNED_PREFIX_UNPROVEN", { range, detail });
}

/** Reports parts that are marked as erased, of operators whose erasure is not on record. */
function settleErasures(bundles: readonly ClosedBundle[], isCutShort: boolean): void {
  const byPlace = new Map(bundles.map((bundle) => [bundle.place, bundle]));
  const incomplete = new Set(bundles.filter(({ isIncomplete }) => isIncomplete).map(({ family }) => family));
  for (const family of new Set(bundles.map((bundle) => bundle.family))) {
    if (incomplete.has(family)) continue;
    for (const [place, { firstSeqs, count }] of family.subjects.unrecordedErasures()) {
      const { log } = byPlace.get(place)!;
      if (isCutShort) {
        log.add("LIMIT_EXCEEDED", { detail: "no record of an erasure in the bundles that were read" });
        continue;
      }
      for (const seq of firstSeqs) {
        log.add("ERASURE_UNPROVEN", { seq, detail: "no SUBJECT_ERASED for its operator" });
      }
      log.drop("ERASURE_UNPROVEN", count - firstSeqs.length);
    }
  }
}
