/**
 * Retention: what is older than a chain's retention is cut off at the end of a day, by an entry that says so. What
 * is left still proves itself: the tree's hashes stay, and the checkpoint at the cut.
 * Source: evidence design, section 9.
 */
import { AlteredError } from "../domain/errors.ts";
import { organizationOf } from "../evidence/chain_name.ts";
import { hex } from "../evidence/crypto.ts";
import { DAY_MS } from "../scoring/state.ts";
import {
  type CutPoint,
  deleteEntriesBelow,
  insertCut,
  loadChains,
  newestCut,
  type StoredChain,
} from "../store/chains.ts";
import { query, type Statement } from "../store/database.ts";
import { ownCheckpointOfCommit, readProven } from "../store/proofs.ts";
import { type PrunedRecord, readPrunedRecords } from "../store/pruning.ts";
import { type Dependencies, eventDraft, evidenceChain, originOf, retentionOf } from "./dependencies.ts";
import { tombstoneName } from "./gone.ts";
import { raiseTampering, tamperingOf } from "./tampering.ts";

/** Entries that one write removes at most, so that no other write waits long for it. */
const ENTRIES_IN_WRITE = 500;

/**
 * Cuts every chain at its retention, and removes what is below a cut, also of one that was interrupted. An epoch that
 * a restore ended takes no entry any more: the chain that goes on records its cut.
 */
export async function pruneChains(dependencies: Dependencies, now: number): Promise<void> {
  const { database } = dependencies;
  for (const chain of await loadChains(database)) {
    try {
      const minIndex = await cutChain(dependencies, { chain, now }) ?? chain.minIndex;
      if (minIndex > 0) await removeBelow(dependencies, { chain, minIndex });
    } catch (error) {
      // An altered chain is left as it is, and keeps no other from being cut.
      if (!(error instanceof AlteredError)) throw error;
      await raiseTampering(dependencies, tamperingOf(error), now);
    }
  }
  await database.expunge();
}

/** @returns the new least index, or null where nothing is past its retention. */
async function cutChain(
  dependencies: Dependencies,
  { chain, now }: { readonly chain: StoredChain; readonly now: number },
): Promise<number | null> {
  const { writer, world } = dependencies;
  const days = retentionOf(dependencies, chain.family);
  if (days === null) return null;
  const cutoff = new Date(now - days * DAY_MS).toISOString();
  const cut = await cutBefore(dependencies, { chain, cutoff });
  if (cut === null || cut.size <= chain.minIndex) return null;
  const root = await rootOfCut(dependencies, { chain, cut });
  const draft = eventDraft(world, {
    type: "RETENTION_PRUNED",
    caller: { actor: "system", orgId: organizationOf(chain.family), prefix: null },
    now,
    detail: {
      origin: chain.origin,
      from: chain.minIndex,
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
      const moved = query.updateTable("audit_chain").set({ min_index: cut.size })
        .where("chain", "=", chain.chain).where("min_index", "=", chain.minIndex).compile();
      // Another process may have cut it meanwhile: it is not cut twice.
      unit.execute({ ...moved, mustChange: 1 });
      // Of a chain that goes on, its next entry marks the step; one that has ended gets none.
      unit.execute(insertCut(chain.chain, cut));
      return () => undefined;
    },
  });
  return cut.size;
}

/**
 * The root of the tree at a cut, which an entry is about to tell for good.
 * @throws {AlteredError} where the step is not one that was signed, or another entry ends there.
 */
async function rootOfCut(
  dependencies: Dependencies,
  { chain: { chain }, cut: { size, ts } }: { readonly chain: StoredChain; readonly cut: CutPoint },
): Promise<Uint8Array> {
  const place = { chain, origin: originOf(dependencies, chain), seq: size - 1 };
  const checkpoint = await ownCheckpointOfCommit(dependencies, place);
  const last = await readProven(dependencies, place);
  if (checkpoint.size === size && last?.stored.entry.timestamp === ts) return checkpoint.root;
  throw new AlteredError(chain, `the step of ${size} entries of ${chain} is not one that was signed`);
}

/** The last end of a day before the cutoff. The end of the chain is one where its last entry is of an earlier day. */
async function cutBefore(
  { database }: Dependencies,
  { chain, cutoff }: { readonly chain: StoredChain; readonly cutoff: string },
): Promise<CutPoint | null> {
  const { frontier: { size }, lastTimestamp } = chain;
  if (lastTimestamp < cutoff) return { size, ts: lastTimestamp };
  return await newestCut(database, { chain: chain.chain, before: cutoff });
}

/** Removes entries, parts and rows below the cut; the names that they used stay used. */
async function removeBelow(
  dependencies: Dependencies,
  { chain, minIndex }: { readonly chain: StoredChain; readonly minIndex: number },
): Promise<void> {
  const { database } = dependencies;
  for (;;) {
    const records = await readPrunedRecords(database, {
      chain: chain.chain,
      below: minIndex,
      limit: ENTRIES_IN_WRITE,
    });
    if (records.length === 0) return;
    const last = records.at(-1)!.seq;
    await database.batch([
      ...removalsOf(dependencies, { chain, records }),
      ...deleteEntriesBelow(chain.chain, { index: last + 1, minIndex }),
    ]);
  }
}

/** The rows of an organization's evidence, each before the entry that it stands for. */
function removalsOf(
  { installation }: Pick<Dependencies, "installation">,
  { chain, records }: { readonly chain: StoredChain; readonly records: readonly PrunedRecord[] },
): readonly Statement[] {
  const orgId = organizationOf(chain.family);
  if (orgId === null || chain.family !== evidenceChain(orgId)) return [];
  const [first, last] = [chain.firstPosition, chain.firstPosition + records.at(-1)!.seq];
  return [
    ...records.flatMap((record) =>
      removalsOfRecord(record, {
        orgId,
        name: (kind, name) => tombstoneName(installation, { kind, orgId, name }),
      })
    ),
    query.deleteFrom("score_batch").where("org_id", "=", orgId)
      .where("first_position", ">=", first).where("first_position", "<=", last).compile(),
    // Frozen calls: they used no name up, so that none is left behind.
    query.deleteFrom("skipped_interaction").where("org_id", "=", orgId)
      .where("position", ">=", first).where("position", "<=", last).compile(),
  ];
}

function removalsOfRecord(
  { session_id, decision_id, report_id, cause }: PrunedRecord,
  { orgId, name }: {
    readonly orgId: string;
    readonly name: (kind: "record" | "report", name: string) => Uint8Array;
  },
): readonly Statement[] {
  const tombstone = (kind: "record" | "report", id: string) =>
    query.insertInto("tombstone").values({
      name: name(kind, id),
      reason: "pruned",
      ...cause,
    }).onConflict((conflict) => conflict.column("name").doNothing()).compile();
  if (session_id !== null) {
    return [
      ...(["outcome_label", "score_commit", "interaction"] as const).map((table) =>
        query.deleteFrom(table).where("org_id", "=", orgId).where("session_id", "=", session_id).compile()
      ),
      tombstone("record", session_id),
    ];
  }
  if (decision_id !== null) {
    return [
      query.deleteFrom("decision").where("org_id", "=", orgId).where("decision_id", "=", decision_id)
        .compile(),
      tombstone("record", decision_id),
    ];
  }
  if (report_id !== null) {
    return [
      query.deleteFrom("compliance_report").where("org_id", "=", orgId).where("report_id", "=", report_id)
        .compile(),
      tombstone("report", report_id),
    ];
  }
  return [];
}
