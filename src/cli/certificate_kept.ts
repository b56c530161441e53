/** Finds the result of a verification for each kept checkpoint, for the auditor's certificate. Pure. */
import { identityOf, type KnownCheckpoint } from "../evidence/kept.ts";
import type { GivenCheckpoint, Outcome } from "./verify_outcome.ts";

/**
 * The result for one kept checkpoint:
 * - `agrees`: a file has the same root at its size. The verification starts from it.
 * - `contradicts`: a file contradicts it.
 * - `untrusted`: no trusted key signed it, so that it was compared with nothing.
 * - `not compared`: no file answers for it.
 * - `no file`: no file of its chain was given.
 * - `not reached`: it was not compared by itself, because a newer one stands for it or the file has a fault.
 */
export type KeptResult = "agrees" | "contradicts" | "untrusted" | "not compared" | "no file" | "not reached";

export interface JudgedCheckpoint extends GivenCheckpoint {
  readonly result: KeptResult;
  /** Timestamp of the last entry that it covers, as a file has it; null if no file has that entry. */
  readonly at: string | null;
}

/** The kept checkpoints in their order, each with its result. Empty if none was given. */
export function keptResults({ bundles, documents, given }: Outcome): readonly JudgedCheckpoint[] {
  const proven = documents.flatMap(({ report, isFormer, isForked }) =>
    report?.fault === null ? [{ ...report.checkpoint!, isFormer, isForked }] : []
  );
  const found: Readonly<Record<Exclude<KeptResult, "no file" | "not reached">, ReadonlySet<string>>> = {
    contradicts: identitiesOf(bundles.flatMap(({ contradicted }) => contradicted)),
    untrusted: identitiesOf(bundles.flatMap(({ untrustedKept }) => untrustedKept)),
    "not compared": identitiesOf([
      ...bundles.flatMap(({ uncompared }) => uncompared.map(({ checkpoint }) => checkpoint)),
      ...documents.flatMap(({ uncompared }) => uncompared ?? []),
    ]),
    agrees: identitiesOf([
      ...bundles.flatMap(({ origin, agreed }) => agreed.map((root) => ({ origin, ...root }))),
      ...proven.filter(({ isFormer }) => !isFormer),
    ]),
  };
  const forks = Map.groupBy(proven.filter(({ isForked }) => isForked), placeIn);
  const chains = new Set([...bundles, ...proven].map(({ origin }) => origin));
  const times = new Map(
    bundles.flatMap(({ origin, census }) =>
      [...census?.keptAt ?? []].map(([size, at]) => [placeIn({ origin, size }), at] as const)
    ),
  );
  const resultOf = (checkpoint: KnownCheckpoint): KeptResult => {
    const identity = identityOf(checkpoint);
    const isForked = forks.get(placeIn(checkpoint))?.some((other) => identityOf(other) !== identity) ?? false;
    if (isForked || found.contradicts.has(identity)) return "contradicts";
    for (const result of ["untrusted", "not compared", "agrees"] as const) {
      if (found[result].has(identity)) return result;
    }
    return chains.has(checkpoint.origin) ? "not reached" : "no file";
  };
  return (given?.checkpoints ?? []).map((one) => ({
    ...one,
    result: resultOf(one.checkpoint),
    at: times.get(placeIn(one.checkpoint)) ?? null,
  }));
}

function identitiesOf(checkpoints: readonly Parameters<typeof identityOf>[0][]): ReadonlySet<string> {
  return new Set(checkpoints.map(identityOf));
}

/** A chain and a size of it. */
function placeIn({ origin, size }: { readonly origin: string; readonly size: number }): string {
  return `${origin}\n${size}`;
}
