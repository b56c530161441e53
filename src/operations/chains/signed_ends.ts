/**
 * The beginnings and ends of a family's epochs, from signed data: the notes of the deployment's own keys, and
 * the first entry of each epoch that a restore began. Unsigned columns count only if no signed data is left,
 * and for first positions that earlier programs counted.
 */
import type { Logging, Proving } from "../shared/capabilities.ts";
import { chainPrefix } from "../../evidence/chain_name.ts";
import { equalBytes } from "../../evidence/crypto.ts";
import { entrySchema } from "../../evidence/entry.ts";
import { frontierFrom, frontierNodeIndexes } from "../../evidence/consistency.ts";
import type { KnownCheckpoint } from "../../evidence/kept.ts";
import { rootOf } from "../../evidence/merkle.ts";
import { orNull } from "../../evidence/or_null.ts";
import { chainRestoredSchema, restoredGenesisSchema } from "../../evidence/structural.ts";
import { AlteredError } from "../../domain/errors.ts";
import { endOfEntries } from "../../store/bundles.ts";
import { setFirstPosition } from "../../store/chain_rows.ts";
import { loadEpochs, readNodes, type StoredChain, type StoredHead } from "../../store/chains.ts";
import { endWithCheckpoint, readEndRows, readNewestCheckpoints } from "../../store/checkpoints.ts";
import type { IssuedCheckpoint } from "../../store/issued.ts";
import { newestOwnCheckpoint, readProven } from "../../store/proofs.ts";
import { originOf } from "../shared/deployment.ts";

export type EndDependencies = Proving;

/**
 * The newest signed checkpoint of a chain, from the database's notes; or the issued checkpoint, if it is
 * newer and the chain's tree leads to it.
 * @param issued the newest checkpoint of the family that this installation knows; null if there is none.
 * @returns null if none of the notes is the deployment's own.
 */
export async function signedEnd(
  dependencies: EndDependencies,
  { chain, origin, epoch }: Pick<StoredHead, "chain" | "origin" | "epoch">,
  issued: IssuedCheckpoint | null,
): Promise<KnownCheckpoint | null> {
  const { database, signing } = dependencies;
  const own = ownOrigin(dependencies, { chain, origin });
  let newest: KnownCheckpoint | null = null;
  // The newest own note of a page counts.
  for await (const page of readNewestCheckpoints(database, chain)) {
    for (const { size, note } of page) {
      const known = await signing.openOwn(note, own);
      if (known !== null && known.size > (newest?.size ?? 0)) newest = known;
      // The row's size is the signed one, as the service wrote it: the rows after it are older.
      if (known?.size === size) break;
    }
    if (newest !== null) break;
  }
  if (issued === null || issued.epoch !== epoch || issued.size <= (newest?.size ?? 0)) return newest;
  const known = await signing.openOwn(issued.note, own);
  return known !== null && await treeLeadsTo(dependencies, chain, known) ? known : newest;
}

/** The origin in a chain's row, if it fits the chain's name; else the origin that the chain would get now. */
export function ownOrigin(
  dependencies: Pick<Proving, "logName" | "installation">,
  { chain, origin }: Pick<StoredHead, "chain" | "origin">,
): string {
  return chainPrefix(origin, chain) === null ? originOf(dependencies, chain) : origin;
}

async function treeLeadsTo(
  { database, crypto }: EndDependencies,
  chain: string,
  { size, root }: KnownCheckpoint,
): Promise<boolean> {
  const indexes = frontierNodeIndexes(size);
  const nodes = await readNodes(database, { chain, indexes });
  if (indexes.some((index) => !nodes.has(index))) return false;
  return equalBytes(rootOf(crypto, frontierFrom(size, (index) => nodes.get(index)).peaks), root);
}

/**
 * The size at which the epoch before a chain ended, from the chain's first entry; null if the entry does not
 * say it.
 */
export async function restoredSize(dependencies: EndDependencies, chain: string): Promise<number | null> {
  const origin = originOf(dependencies, chain);
  try {
    const checkpoint = await newestOwnCheckpoint(dependencies, { chain, origin });
    const proven = await readProven(dependencies, { chain, origin, seq: 0, checkpoint });
    const detail: unknown = orNull(() => JSON.parse(proven?.stored.parts.get("detail")?.text ?? "null"));
    const restored = restoredGenesisSchema.safeParse(detail).data ??
      chainRestoredSchema.safeParse(detail).data;
    return restored?.restored_size ?? null;
  } catch (error) {
    if (error instanceof AlteredError) return null;
    throw error;
  }
}

/**
 * Corrects the first positions in a family's rows: an epoch begins at the signed end of the epoch before it.
 * A first position stays if it also counts the entries beyond that end, as earlier programs did.
 * @returns true if a position was wrong.
 */
export async function mendFirstPositions(dependencies: EndDependencies, family: string): Promise<boolean> {
  const { database } = dependencies;
  let before: (StoredChain & { readonly correctedFirst: number }) | null = null;
  let isWrong = false;
  for (const epoch of await loadEpochs(database, family)) {
    const first: number = before === null ? 0 : before.correctedFirst +
      (await restoredSize(dependencies, epoch.chain) ??
        (await signedEnd(dependencies, before, null))?.size ?? before.frontier.size);
    const counted: number = before === null
      ? 0
      : before.correctedFirst + await endOfEntries(database, before.chain);
    const isRight = epoch.firstPosition === first || epoch.firstPosition === counted;
    if (!isRight) {
      isWrong = true;
      await database.batch([setFirstPosition(epoch.chain, first)]);
    }
    before = { ...epoch, correctedFirst: isRight ? epoch.firstPosition : first };
  }
  return isWrong;
}

/**
 * Corrects the last checkpoints of a chain: removes rows beyond the signed end, and stores the checkpoint of
 * that end.
 * @returns true if something was wrong.
 */
export async function mendCheckpoints(
  dependencies: EndDependencies & Logging,
  head: StoredHead,
  issued: IssuedCheckpoint | null,
): Promise<boolean> {
  const { database, log } = dependencies;
  const { chain } = head;
  const signed = await signedEnd(dependencies, head, issued);
  if (signed === null) return false;
  const { size, note } = signed;
  const { beyond, note: stored, body } = await readEndRows(database, { chain, size });
  if (beyond === 0 && stored === note) return false;
  const entry = entrySchema.safeParse(orNull(() => JSON.parse(body ?? "null"))).data;
  const ts = entry?.timestamp ?? head.lastTimestamp;
  await database.batch(endWithCheckpoint({ chain, size, ts, note }));
  log.error("checkpoints that this service did not sign were removed", {
    audit: true,
    chain,
    rows: beyond,
    size,
  });
  return true;
}
