/**
 * Checks the header's base, which stands for the entries before the bundle: it is empty, or the tree of a
 * removed prefix, which a trusted key must have signed.
 */
import type { BundleHeader } from "./bundle.ts";
import { type Crypto, equalBytes, fromHex } from "./crypto.ts";
import type { FindingLog } from "./finding_log.ts";
import type { KnownCheckpoint } from "./kept.ts";
import { type Frontier, rootFromInclusion, rootOf } from "./merkle.ts";
import type { SignatureCheck } from "./signature_check.ts";

/**
 * The tree before a bundle's first entry; null if the number of peaks in the header does not fit the size.
 */
export function baseFrontier({ size, peaks }: BundleHeader["base"]): Frontier | null {
  return peaks.length === countBits(size) ? { size, peaks: peaks.map(fromHex) } : null;
}

/** The checkpoint of a removed prefix. If it does not prove the peaks, returns null and adds a finding. */
export function provePrefix(
  crypto: Crypto,
  { origin, base }: Pick<BundleHeader, "origin" | "base">,
  { log, signatures, line }: {
    readonly log: FindingLog;
    readonly signatures: SignatureCheck;
    /** Line number of the header. */
    readonly line: number;
  },
): KnownCheckpoint | null {
  const { size } = base;
  const unproven = (detail: string) => {
    log.add("PRUNED_PREFIX_UNPROVEN", { range: [0, size - 1], detail });
    return null;
  };
  if (base.checkpoint === null) return unproven("no base checkpoint");
  const signed = signatures.open(base.checkpoint, line);
  if (signed === null) return unproven("the base checkpoint is not a signed checkpoint");
  const { checkpoint, fault } = signed;
  if (fault !== null) return unproven(`the base checkpoint: ${fault.code}, ${fault.detail}`);
  if (checkpoint.origin !== origin || checkpoint.size !== size) {
    return unproven("the base checkpoint is of another size or another log");
  }
  const frontier = baseFrontier(base);
  if (frontier === null || !equalBytes(rootOf(crypto, frontier.peaks), checkpoint.root)) {
    return unproven("peaks do not fold to the signed root");
  }
  return checkpoint;
}

/** Whether a path leads from the first entry's hash to the root of a removed prefix. */
export function isFirstOf(
  crypto: Crypto,
  { size, root }: KnownCheckpoint,
  { hash, path }: { readonly hash: Uint8Array; readonly path: readonly string[] },
): boolean {
  const reached = rootFromInclusion(crypto, { leaf: 0, size, leafHash: hash, path: path.map(fromHex) });
  return reached !== null && equalBytes(reached, root);
}

/** The number of complete subtrees of a tree of `size` leaves. */
function countBits(size: number): number {
  let count = 0;
  for (let rest = size; rest > 0; rest = Math.floor(rest / 2)) count += rest % 2;
  return count;
}
