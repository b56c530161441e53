/**
 * Retention: entries older than a chain's retention are cut off at the end of a day, and an entry records the
 * cut. The rest can still be proven: the tree's hashes and the checkpoint at the cut stay. Entries are
 * removed only after they were proven, and only if the entry of a cut covers them.
 * Source: evidence design, section 9.
 */
import { AlteredError } from "../../domain/errors.ts";
import { isEvidenceChain, organizationOf } from "../../evidence/chain_name.ts";
import { hex } from "../../evidence/crypto.ts";
import { DAY_MS } from "../../domain/time.ts";
import { moveCut } from "../../store/chain_rows.ts";
import {
  type CutPoint,
  deleteEntriesBelow,
  insertCut,
  loadChains,
  newestCut,
  type StoredChain,
} from "../../store/chains.ts";
import { ownCheckpointOfCommit, readProven } from "../../store/proofs.ts";
import { type CauseOfCut, readPrunedSeqs } from "../../store/pruning.ts";
import { originOf, type RetentionDays, retentionOf } from "../shared/deployment.ts";
import { eventDraft } from "../shared/drafts.ts";
import { causeOfCut, provenMinIndex } from "../shared/gone.ts";
import { requireNamed } from "../shared/proven_records.ts";
import { removalStatements } from "./pruned_records.ts";
import { raiseTampering, tamperingOf, type Watching } from "../shared/tampering.ts";

/** The dependencies of these operations. */
type Needs = Watching & RetentionDays;

/** Most entries that one write removes, so that no other write waits long for it. */
const ENTRIES_IN_WRITE = 500;

/**
 * Cuts every chain at its retention, and removes the entries below each cut, including those of an
 * interrupted run. An epoch that a restore ended takes no more entries: the newest chain of its family
 * records its cut.
 */
export async function pruneChains(dependencies: Needs, now: number): Promise<void> {
  const { database } = dependencies;
  for (const chain of await loadChains(database)) {
    try {
      requireNamed(dependencies, chain);
      const minIndex = await cutChain(dependencies, { chain, now }) ?? chain.minIndex;
      if (minIndex > 0) await removeBelow(dependencies, { chain, minIndex });
    } catch (error) {
      // An altered chain is left as it is; the other chains are still cut.
      if (!(error instanceof AlteredError)) throw error;
      await raiseTampering(dependencies, tamperingOf(error), now);
    }
  }
  await database.expunge();
}

/** @returns the index of the chain's cut, or null if nothing more is past its retention. */
async function cutChain(
  dependencies: Needs,
  { chain, now }: { readonly chain: StoredChain; readonly now: number },
): Promise<number | null> {
  const { writer, world } = dependencies;
  const days = retentionOf(dependencies, chain.family);
  if (days === null) return null;
  const cutoff = new Date(now - days * DAY_MS).toISOString();
  const cut = await findCut(dependencies, { chain, cutoff });
  if (cut === null || cut.size <= chain.minIndex) return null;
  // Another process may have cut the chain since its row was read. The new entry repeats the old index, so it
  // is proven.
  const from = await provenMinIndex(dependencies, chain.chain);
  if (cut.size <= from) return from;
  const root = await rootOfCut(dependencies, { chain, cut });
  const draft = eventDraft(world, {
    type: "RETENTION_PRUNED",
    caller: { actor: "system", orgId: organizationOf(chain.family), prefix: null },
    now,
    detail: {
      origin: chain.origin,
      from,
      to: cut.size,
      root: hex(root),
      last_ts: cut.ts,
      cutoff,
      policy_days: days,
    },
  });
  await writer.submit({
    needs: [],
    chains: [chain.family],
    alone: true,
    plan(unit) {
      unit.append(chain.family, draft);
      // Another process may have cut the chain meanwhile: it is not cut twice.
      unit.execute(moveCut(chain.chain, { from, to: cut.size }));
      // The next entry of an open chain marks the end of the day; a chain that has ended gets no next entry.
      unit.execute(insertCut(chain.chain, cut));
      return () => undefined;
    },
  });
  return cut.size;
}

/**
 * The root of the tree at a cut, which an entry is about to record for good.
 * @throws {AlteredError} if the tree was not signed at this size, or its last entry has another timestamp.
 */
async function rootOfCut(
  dependencies: Needs,
  { chain: { chain }, cut: { size, ts } }: { readonly chain: StoredChain; readonly cut: CutPoint },
): Promise<Uint8Array> {
  const place = { chain, origin: originOf(dependencies, chain), seq: size - 1 };
  const checkpoint = await ownCheckpointOfCommit(dependencies, place);
  const last = await readProven(dependencies, place);
  if (checkpoint.size === size && last?.stored.entry.timestamp === ts) return checkpoint.root;
  throw new AlteredError(chain, `the step of ${size} entries of ${chain} is not one that was signed`);
}

/** The last end of a day before the cutoff; the end of the chain if its last entry is before the cutoff. */
async function findCut(
  { database }: Needs,
  { chain, cutoff }: { readonly chain: StoredChain; readonly cutoff: string },
): Promise<CutPoint | null> {
  const { frontier: { size }, lastTimestamp } = chain;
  if (lastTimestamp < cutoff) return { size, ts: lastTimestamp };
  return await newestCut(database, { chain: chain.chain, before: cutoff });
}

/** Removes entries, parts and rows below the cut; their names stay used. @throws {AlteredError} */
async function removeBelow(
  dependencies: Needs,
  { chain, minIndex }: { readonly chain: StoredChain; readonly minIndex: number },
): Promise<void> {
  const { database } = dependencies;
  const orgId = isEvidenceChain(chain.family) ? organizationOf(chain.family) : null;
  let cause: CauseOfCut | null = null;
  for (;;) {
    const page = { chain: chain.chain, below: minIndex, limit: ENTRIES_IN_WRITE };
    const seqs = await readPrunedSeqs(database, page);
    if (seqs.length === 0) return;
    cause ??= await causeOfCut(dependencies, { chain: chain.chain, seq: minIndex - 1 });
    await database.batch([
      ...await removalStatements(dependencies, { orgId, chain, seqs, cause }),
      ...deleteEntriesBelow(chain.chain, { index: seqs.at(-1)! + 1, minIndex }),
    ]);
  }
}
