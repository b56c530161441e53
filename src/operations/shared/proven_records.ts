/**
 * The epochs of a chain family, and proven entries at positions in them. Each chain must be the family's own.
 */
import type { Proving } from "./capabilities.ts";
import { AlteredError } from "../../domain/errors.ts";
import { parseChain } from "../../evidence/chain_name.ts";
import { loadEpochs, type StoredChain } from "../../store/chains.ts";
import { type ProvenRecord, readProvenPage } from "../../store/proven_pages.ts";
import { originOf } from "./deployment.ts";

export type ProvingDependencies = Proving;

/** Requires that a chain's row agrees with the chain's name. @throws {AlteredError} */
export function requireNamed(
  dependencies: Pick<Proving, "logName" | "installation">,
  { chain, family, epoch, origin }: Pick<StoredChain, "chain" | "family" | "epoch" | "origin">,
): void {
  const name = parseChain(chain);
  if (name?.family === family && name.epoch === epoch && origin === originOf(dependencies, chain)) return;
  throw new AlteredError(family, `the row of ${chain} says that it is epoch ${epoch} of ${family}`);
}

/**
 * The epochs of a family, oldest first.
 * @throws {AlteredError} if there is none, or one is of another family.
 */
export async function ownEpochs(
  dependencies: ProvingDependencies,
  family: string,
): Promise<readonly StoredChain[]> {
  const epochs = await loadEpochs(dependencies.database, family);
  if (epochs.length === 0) throw new AlteredError(family, `${family} has no chain`);
  for (const epoch of epochs) requireNamed(dependencies, epoch);
  return epochs;
}

/**
 * Reads and proves the entries at positions, which are counted over the epochs.
 * @returns the entries that are stored, by position.
 * @throws {AlteredError} if one of them is not what was signed.
 */
export async function readAtPositions(
  dependencies: ProvingDependencies,
  epochs: readonly StoredChain[],
  positions: readonly number[],
): Promise<ReadonlyMap<number, ProvenRecord>> {
  const found = new Map<number, ProvenRecord>();
  for (const [index, { chain, firstPosition }] of epochs.entries()) {
    const end = epochs[index + 1]?.firstPosition ?? Infinity;
    const seqs = positions.filter((position) => position >= firstPosition && position < end)
      .map((position) => position - firstPosition);
    const page = await readProvenPage(dependencies, { chain, origin: originOf(dependencies, chain), seqs });
    for (const [seq, record] of page) found.set(firstPosition + seq, record);
  }
  return found;
}
