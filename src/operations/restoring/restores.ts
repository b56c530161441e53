/**
 * Detects a database that is older than what this installation has issued, and goes on from it once an
 * administrator has given the reason: every chain starts its next epoch, and the record of it is part of the
 * evidence.
 * Source: evidence design, section 10 and "Read first", point 4.
 */
import type { Reading, Scoring } from "../shared/capabilities.ts";
import { AlteredError, ServiceError } from "../../domain/errors.ts";
import { equalBytes, hex } from "../../evidence/crypto.ts";
import {
  adminChain,
  isEvidenceChain,
  organizationOf,
  splitName,
  SYSTEM_CHAIN,
} from "../../evidence/chain_name.ts";
import { frontierFrom, frontierNodeIndexes } from "../../evidence/consistency.ts";
import { rootOf } from "../../evidence/merkle.ts";
import type { Log } from "../../observability/log.ts";
import { organizationsWithUsersQuery } from "../../store/users.ts";
import { newestHeads, notesOfHeads, readNodes, type StoredHead } from "../../store/chains.ts";
import type { Database } from "../../store/database.ts";
import { type CheckpointLock, isBehind } from "../../store/lock.ts";
import type { IssuedCheckpoint, SuspectFamily } from "../../store/issued.ts";
import { chunksOf } from "../../store/paging.ts";
import type { ProofSource } from "../../store/proofs.ts";
import type { SubjectRow } from "../../store/records.ts";
import { findUnsignedHeads } from "../../store/signed_head.ts";
import { readAllSubjects } from "../../store/subjects.ts";
import { readGoneSince } from "../../store/tombstones.ts";
import { nextTurn } from "../../store/turn.ts";
import { draftGenesis, type Genesis } from "../chains/chains.ts";
import { prepareRecalls } from "../probes/close.ts";
import { type RetentionDays, retentionOf } from "../shared/deployment.ts";
import { type PreparedErasure, prepareErasure, submitErasure } from "../subjects/erasure.ts";
import { tombstoneName } from "../shared/gone.ts";
import { matchesHeldSet, mendModel, sealFamily } from "./resealing.ts";
import { sealedRowFindings } from "../verification/sealed_rows.ts";
import { mendCheckpoints, mendFirstPositions, ownOrigin, signedEnd } from "../chains/signed_ends.ts";
import { StartError } from "../shared/start_error.ts";
import { raiseTampering, tamperingOf, type Watching } from "../shared/tampering.ts";

/** The dependencies of these operations. */
type Needs = Watching & Reading & Scoring & RetentionDays;

interface LockDependencies extends ProofSource {
  readonly lock: CheckpointLock;
  readonly log: Log;
}

/**
 * Compares the database with the lock, and brings the lock up to the database if the lock lags.
 * @returns the families whose chain is behind what was issued, was altered, or is another history.
 * @throws {StartError} if the lock belongs to another database.
 */
export async function compareWithLock(follower: LockDependencies): Promise<readonly string[]> {
  const { database, lock, log } = follower;
  // The lock is read first: it never leads, so writes of another process meanwhile make nothing look old.
  const issued = lock.issued();
  const heads = await newestHeads(database);
  // A host that joins others has no issued checkpoints yet.
  if (issued.length === 0 && heads.size > 0 && !database.isShared) {
    log.warn("lock.db is new, but the database is not: this machine does not know what was issued before", {
      mend:
        "if lock.db was lost, compare the database with checkpoints that are kept elsewhere (jiss verify)",
    });
  }
  const behind: SuspectFamily[] = [];
  const reportBehind = (
    family: string,
    checkpoint: IssuedCheckpoint | undefined,
    head: StoredHead | undefined,
  ) => {
    behind.push({ family, epoch: Math.max(head?.epoch ?? 0, checkpoint?.epoch ?? 0) });
    log.error(
      "ROLLBACK_DETECTED: the database is older than what was issued, was altered, or is another history",
      {
        audit: true,
        chain: family,
        issued_size: checkpoint?.size ?? null,
        size: head?.frontier.size ?? 0,
        mend: "put the newer database back, or run: jiss restore --acknowledge REASON",
      },
    );
  };
  for (const piece of chunksOf(issued, COMPARED_TOGETHER)) {
    const isCurrent = await Promise.all(piece.map(async (checkpoint) => {
      const head = heads.get(checkpoint.family);
      if (head !== undefined && isOfAnotherDeployment(head, checkpoint)) {
        throw foreignLockError();
      }
      return head !== undefined && !isBehind(head, checkpoint) &&
        await isContinuation(follower, head, checkpoint);
    }));
    for (const [index, checkpoint] of piece.entries()) {
      if (!isCurrent[index]) reportBehind(checkpoint.family, checkpoint, heads.get(checkpoint.family));
    }
  }
  const reported = new Set(behind.map(({ family }) => family));
  const others = [...heads.values()].filter(({ family }) => !reported.has(family));
  const places = new Map(issued.map((checkpoint) => [checkpoint.family, checkpoint]));
  for (const head of await findUnsignedHeads(follower, others)) {
    reportBehind(head.family, places.get(head.family), head);
  }
  lock.suspect(behind[0] ?? null);
  if (behind.length === 0) await recordHeads(follower, [...heads.values()]);
  return behind.map(({ family }) => family);
}

/** Checkpoints that are compared with the database at once. */
const COMPARED_TOGETHER = 256;

/** Whether a chain belongs to another installation than the issued checkpoint. */
export function isOfAnotherDeployment(
  head: Pick<StoredHead, "origin">,
  issued: Pick<IssuedCheckpoint, "origin">,
): boolean {
  return deploymentOf(head.origin) !== deploymentOf(issued.origin);
}

/** The deployment's id in an origin; the name before it may change. */
function deploymentOf(origin: string): string | undefined {
  return splitName(origin)?.prefix.split("/").at(-2);
}

export function foreignLockError(): StartError {
  return new StartError(
    "lock.db in JISS_DATA_DIR belongs to another database: put back the database that belongs to it; or, if this directory was given a new database, move lock.db away",
  );
}

/** Whether a chain goes on from the checkpoint that was issued for it. */
async function isContinuation(
  { database, crypto }: LockDependencies,
  head: StoredHead,
  { epoch, size, root }: IssuedCheckpoint,
): Promise<boolean> {
  if (head.epoch > epoch) return true;
  const indexes = frontierNodeIndexes(size);
  const nodes = await readNodes(database, { chain: head.chain, indexes });
  if (indexes.some((index) => !nodes.has(index))) return false;
  const { peaks } = frontierFrom(size, (index) => nodes.get(index));
  return equalBytes(rootOf(crypto, peaks), root);
}

/**
 * Shares the knowledge of hosts, so that none is lost with a host. This host's lock takes in what others have
 * issued. Once a restore was acknowledged on any host, operators that this host erased and the restore
 * brought back are erased again.
 * @param from the epoch of the system chain at the last run; null if it has not run since the start.
 * @returns the epoch of the system chain now; `from` if an erasure found an altered chain.
 */
export async function followOtherHosts(
  dependencies: Needs,
  { from, now }: { readonly from: number | null; readonly now: number },
): Promise<number | null> {
  const { database, lock } = dependencies;
  const issued = new Map(lock.issued().map((checkpoint) => [checkpoint.family, checkpoint]));
  const heads = await newestHeads(database);
  const ahead = [...heads.values()].filter((head) => isAhead(head, issued.get(head.family)));
  const unsigned = await findUnsignedHeads(dependencies, ahead);
  if (unsigned.length === 0) await recordHeads(dependencies, ahead);
  const { epoch } = heads.get(SYSTEM_CHAIN)!;
  if (epoch === 1 || epoch === from) return epoch;
  let isWhole = true;
  for (const { org_id: orgId, operator_id: operatorId } of await forgottenErasures(dependencies)) {
    const caller = { actor: "system", orgId, prefix: null } as const;
    try {
      await submitErasure(dependencies, { caller, orgId, operatorId, now, basis: "restore" });
    } catch (error) {
      // One organization's altered chain must not stop the erasures of others. The next run tries it again.
      if (!(error instanceof AlteredError)) throw error;
      await raiseTampering(dependencies, tamperingOf(error), now);
      isWhole = false;
    }
  }
  return isWhole ? epoch : from;
}

function isAhead(head: StoredHead, issued: IssuedCheckpoint | undefined): boolean {
  return issued === undefined || head.epoch > issued.epoch ||
    (head.epoch === issued.epoch && head.frontier.size > issued.size);
}

/** Records heads in the lock. All of them must be signed. */
async function recordHeads(
  { database, crypto, lock }: Pick<LockDependencies, "database" | "crypto" | "lock">,
  heads: readonly StoredHead[],
): Promise<void> {
  const notes = await notesOfHeads(database, heads);
  lock.record(heads.map(({ family, epoch, chain, origin, frontier: { size, peaks } }) => ({
    family,
    epoch,
    origin,
    size,
    root: rootOf(crypto, peaks),
    note: notes.get(chain)!,
  })));
}

export interface RestoreRecord {
  /** Number of chains that started their next epoch. */
  readonly chains: number;
  /** Pseudonyms whose erasure the database did not know. */
  readonly erased: readonly string[];
  /** Origins of chains that were issued and are not in the database. */
  readonly lost: readonly string[];
}

/** It says what was checked: a verification checks more, and finds damage that no acknowledgement repairs. */
const NOTHING_TO_ACKNOWLEDGE =
  'There is nothing to acknowledge: the database is not older than what was issued, its chains end as they were signed, and the sealed rows beside them are those that were written. Entries, their parts, reports, older models and retention\'s columns were not checked: jiss alerts list and GET /v1/audit/chain/verify report their faults. Put back from a backup what they report, or acknowledge the alert if there is no backup (docs/operate/troubleshooting.md, "A chain was altered", step 5).';

/** The database is not behind anything, and no row that an acknowledgement accepts was altered. */
export class NothingToAcknowledge extends ServiceError {
  constructor() {
    super("CONFLICT", NOTHING_TO_ACKNOWLEDGE);
  }
}

/**
 * The audit logs of organizations with users, besides those that were altered. Sessions and links that were ended since may
 * stand in the database that is accepted: all are ended.
 */
async function headsWithUsers(
  { database }: Pick<Needs, "database">,
  altered: readonly StoredHead[],
): Promise<readonly StoredHead[]> {
  const rows = await database.read(organizationsWithUsersQuery());
  const families = new Set(rows.map(({ org_id }) => adminChain(org_id)));
  for (const { family } of altered) families.delete(family);
  return [...(await newestHeads(database)).values()].filter(({ family }) => families.has(family));
}

export interface RestoreOptions {
  readonly reason: string;
  /** Epoch milliseconds. */
  readonly now: number;
  /** True if the database was just restored from a file: what was issued after it may be unknown here. */
  readonly isPutBack?: boolean;
}

/**
 * Accepts the database as it is. In one commit the next epoch of every chain begins, its first entry holds
 * the reason and what was known of the epoch before it, and erasures that the database does not know are run
 * again.
 * @throws {ServiceError} CONFLICT if there is nothing to acknowledge, or if the database was written to
 *   meanwhile.
 */
export async function acknowledgeRestore(
  dependencies: Needs,
  { reason, now, isPutBack = false }: RestoreOptions,
): Promise<RestoreRecord> {
  const { database, writer, lock } = dependencies;
  const behind = await compareWithLock(dependencies);
  const altered = await readAlteredHeads(dependencies);
  const isModelMended = await mendModel(dependencies, now);
  if (behind.length === 0 && altered.length === 0 && !isPutBack && !isModelMended) {
    throw new NothingToAcknowledge();
  }
  const isUpgrade = !dependencies.installation.isSealed;
  for (const head of [...altered, ...await headsWithUsers(dependencies, altered)]) {
    await sealFamily(dependencies, head, { isUpgrade });
  }
  // The lock was just brought in line with the database: it is read back.
  await lock.sync();
  const issued = new Map(lock.issued().map((checkpoint) => [checkpoint.family, checkpoint]));
  const heads = await newestHeads(database);
  const families = [...new Set([...heads.keys(), ...issued.keys()])].sort();
  const lost = [...issued.values()].filter(({ family }) => !heads.has(family));
  const forgotten = await forgottenErasures(dependencies);
  const caller = { actor: "system", orgId: null, prefix: null } as const;
  const erasures: PreparedErasure[] = [];
  for (const { org_id: orgId, operator_id: operatorId } of forgotten) {
    const request = { caller, orgId, operatorId, now, basis: "restore", isAccepted: true } as const;
    erasures.push(await prepareErasure(dependencies, request));
  }
  const recalls = await prepareRecalls(dependencies, now);
  const erased = forgotten.map(({ pseudonym }) => pseudonym);
  const record = { erased, lost: lost.map(({ origin, note }) => ({ origin, checkpoint: note })) };
  const geneses: Genesis[] = [];
  for (const family of families) {
    const head = heads.get(family) ?? null;
    geneses.push(
      nextEpoch(dependencies, {
        family,
        end: head === null ? null : await readEnd(dependencies, head, issued.get(family) ?? null),
        issued: issued.get(family) ?? null,
        reason,
        now,
        record,
      }),
    );
  }
  await writer.submit({
    needs: [...erasures.flatMap(({ needs }) => needs), ...recalls.needs],
    chains: families,
    restores: true,
    plan(unit) {
      for (const family of families) {
        if (unit.head(family)?.frontier.size !== heads.get(family)?.frontier.size) {
          throw writtenMeanwhileError();
        }
      }
      if (!erasures.every((erasure) => erasure.isCurrent(unit))) throw writtenMeanwhileError();
      for (const genesis of geneses) genesis.open(unit);
      recalls.plan(unit);
      for (const erasure of erasures) erasure.plan(unit);
      return () => undefined;
    },
  });
  await database.expunge();
  return { chains: families.length, erased, lost: lost.map(({ origin }) => origin) };
}

/** Heads of the families whose rows were altered; an acknowledgement accepts these rows. */
async function readAlteredHeads(dependencies: Needs): Promise<readonly StoredHead[]> {
  const issued = new Map(dependencies.lock.issued().map((checkpoint) => [checkpoint.family, checkpoint]));
  const altered: StoredHead[] = [];
  for (const head of (await newestHeads(dependencies.database)).values()) {
    const { family } = head;
    const isMended = [
      await mendCheckpoints(dependencies, head, issued.get(family) ?? null),
      await mendFirstPositions(dependencies, family),
    ].includes(true);
    if (
      isMended || !await matchesHeldSet(dependencies, family) || await hasAlteredRow(dependencies, family)
    ) {
      altered.push(head);
    }
  }
  return altered;
}

/** Whether a row beside an organization's evidence was altered, or put back after an erasure. */
async function hasAlteredRow(dependencies: Needs, family: string): Promise<boolean> {
  if (!isEvidenceChain(family)) return false;
  for await (const _finding of sealedRowFindings(dependencies, family, nextTurn)) return true;
  return false;
}

function writtenMeanwhileError(): ServiceError {
  return new ServiceError("CONFLICT", "The database was written to meanwhile: run this again.");
}

/** The signed end of a chain. */
interface ChainEnd extends Pick<StoredHead, "origin" | "epoch"> {
  /** The size in its newest checkpoint by this deployment: entries beyond it were never signed. */
  readonly size: number;
  readonly root: Uint8Array | null;
  /** The first position that no entry of it has. */
  readonly nextPosition: number;
}

async function readEnd(
  dependencies: Needs,
  head: StoredHead,
  issued: IssuedCheckpoint | null,
): Promise<ChainEnd> {
  const signed = await signedEnd(dependencies, head, issued);
  const size = signed?.size ?? 0;
  return {
    origin: ownOrigin(dependencies, head),
    epoch: head.epoch,
    size,
    root: signed?.root ?? null,
    nextPosition: head.firstPosition + size,
  };
}

function nextEpoch(
  dependencies: Needs,
  { family, end, issued, reason, now, record }: {
    readonly family: string;
    readonly end: ChainEnd | null;
    readonly issued: IssuedCheckpoint | null;
    readonly reason: string;
    readonly now: number;
    readonly record: Record<string, unknown>;
  },
): Genesis {
  return draftGenesis(dependencies, {
    family,
    orgId: organizationOf(family),
    retentionDays: retentionOf(dependencies, family),
    now,
    restored: {
      epoch: Math.max(end?.epoch ?? 0, issued?.epoch ?? 0) + 1,
      firstPosition: end?.nextPosition ?? 0,
      eventType: family === SYSTEM_CHAIN ? "CHAIN_RESTORED" : "CHAIN_GENESIS",
      detail: {
        previous_origin: end?.origin ?? issued!.origin,
        last_known_checkpoint: issued?.note ?? null,
        restored_size: end?.size ?? 0,
        restored_root: end === null || end.root === null ? null : hex(end.root),
        reason,
        ...(family === SYSTEM_CHAIN ? record : {}),
      },
    },
  });
}

/** Operators that were erased and are back because the database is older than their erasure. */
async function forgottenErasures(
  { database, lock, installation }: Needs,
): Promise<readonly SubjectRow[]> {
  const erased = new Map(lock.erased().map(({ name, at }) => [hex(name), at]));
  if (erased.size === 0) return [];
  const forgotten: SubjectRow[] = [];
  for await (const rows of readAllSubjects(database)) {
    for (const row of rows) {
      const name = tombstoneName(installation, {
        kind: "operator",
        orgId: row.org_id,
        name: row.operator_id,
      });
      const at = erased.get(hex(name));
      if (at !== undefined && !await knowsErasure(database, name, at)) forgotten.push(row);
    }
  }
  return forgotten;
}

/** Whether the database holds an erasure of this name no older than `at`: the operator came back later. */
async function knowsErasure(database: Database, name: Uint8Array, at: number): Promise<boolean> {
  const known = await readGoneSince(database, name);
  // If the entry was cut off, the database knows everything up to the cut, and so this erasure.
  return known !== null && Date.parse(known) >= at;
}
