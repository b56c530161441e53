/**
 * Erases an operator: the parts of its entries with their salts, its rows, and the link between its id and
 * its pseudonym. The entries and all proofs stay; used names stay used.
 * Source: evidence design, "Read first", point 3; contract, section 4.
 */
import type { Logging, Proving, Reading, Writing } from "../shared/capabilities.ts";
import { unavailable } from "../../domain/errors.ts";
import { type Evidence, evidenceOfAppended } from "../../evidence/envelope.ts";
import { errorFields } from "../../observability/log.ts";
import type { Expunged, Statement } from "../../store/database.ts";
import { destroyParts } from "../../store/erased_parts.ts";
import { operatorRecords } from "../../store/operator_records.ts";
import { deleteEventsOf } from "../../store/outbox.ts";
import { openProbes, probes } from "../../store/probes.ts";
import { deleteRowsOfTables } from "../../store/record_rows.ts";
import { frozenOperators, operators, subjects, tombstones } from "../../store/records.ts";
import { deleteSubjects } from "../../store/subjects.ts";
import type { Need, PlacedEntry, UnitOfWork } from "../../store/unit_of_work.ts";
import { isUnopened, planRecall } from "../probes/close.ts";
import { drawEntry, serviceOf } from "../probes/entries.ts";
import { drawSalt, makePart, signedBy } from "../shared/drafts.ts";
import type { Call, Caller, OrganizationCaller } from "../shared/call.ts";
import { adminChain, evidenceChain } from "../../evidence/chain_name.ts";
import { type OperatorRecords, proveOperator } from "./operator_proof.ts";
import { requireNoOperator, unknownSubject } from "../shared/subjects.ts";
import { tombstoneName } from "../shared/gone.ts";
import { endKeyedCalls, operatorCallsNeed } from "../shared/keyed_calls.ts";

/** The dependencies of these operations. */
type Needs = Reading & Proving & Writing & Logging;

export interface Erasure {
  readonly erased: true;
  readonly operator_id: string;
  readonly erased_at: string;
  /** `pending` if the bytes are not overwritten yet, for example because a reader holds the log. */
  readonly physical: Expunged;
  /** The part that the evidence covers. */
  readonly detail: Record<string, unknown>;
  readonly evidence: Evidence;
}

/**
 * @throws {ServiceError} NOT_FOUND; SERVICE_UNAVAILABLE; {AlteredError} if the records that the database
 *   assigns to the operator are not what was recorded: nothing is erased then.
 */
export async function eraseOperator(
  dependencies: Needs,
  caller: OrganizationCaller,
  { operatorId, call }: { readonly operatorId: string; readonly call: Call },
): Promise<Erasure> {
  const { lock, installation } = dependencies;
  const { orgId } = caller;
  const request = { caller, orgId, operatorId, now: call.now, basis: "request" } as const;
  const answer = await submitErasure(dependencies, request);
  lock.recordErased({
    name: tombstoneName(installation, { kind: "operator", orgId, name: operatorId }),
    at: call.now,
  });
  await lock.sync();
  return {
    erased: true,
    operator_id: operatorId,
    erased_at: new Date(call.now).toISOString(),
    physical: await expungeErased(dependencies),
    ...answer,
  };
}

/** Attempts of an erasure: its proof is made again if the operator was erased, or came back, meanwhile. */
const ATTEMPTS = 5;

/**
 * Proves the operator's records, and erases them in a commit of their own.
 * @throws as {@link eraseOperator}.
 */
export async function submitErasure(
  dependencies: Needs,
  request: ErasureRequest,
): Promise<Pick<Erasure, "detail" | "evidence">> {
  const { orgId } = request;
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    const erasure = await prepareErasure(dependencies, request);
    const answer = await dependencies.writer.submit({
      needs: erasure.needs,
      chains: [evidenceChain(orgId), adminChain(orgId)],
      alone: true,
      plan(unit) {
        if (!erasure.isCurrent(unit)) return () => null;
        const { appended, detail } = erasure.plan(unit);
        return (receipts) => ({
          detail,
          evidence: evidenceOfAppended(appended, { covers: "detail", proof: receipts.proofOf(appended) }),
        });
      },
    });
    if (answer !== null) return answer;
  }
  throw unavailable("The operator's records kept changing; send this again.");
}

/** Overwrites the erased bytes. The erasure is valid even if that fails: it is tried again each minute. */
async function expungeErased({ database, log }: Needs): Promise<Expunged> {
  try {
    return await database.expunge();
  } catch (error) {
    log.error("the bytes of an erasure are not overwritten yet", errorFields(error));
    return "pending";
  }
}

export interface ErasureRequest {
  readonly caller: Caller;
  readonly orgId: string;
  readonly operatorId: string;
  /** Epoch milliseconds. */
  readonly now: number;
  /** Reason for the erasure. */
  readonly basis: "request" | "restore";
  /** Whether an administrator accepts the database as it is: see {@link proveOperator}. Default: false. */
  readonly isAccepted?: boolean;
}

export type ErasureDependencies = Pick<Reading, "database" | "seals"> & Proving & Pick<Writing, "world">;

export interface PreparedErasure {
  readonly needs: readonly Need[];
  /** Whether the proof still is of this operator; if not, the erasure must be prepared anew. */
  isCurrent(unit: UnitOfWork): boolean;
  /**
   * Call it in a job that is alone in its commit, if `isCurrent`.
   * @throws {ServiceError} NOT_FOUND; {AlteredError}.
   */
  plan(unit: UnitOfWork): { readonly appended: PlacedEntry; readonly detail: Record<string, unknown> };
}

/**
 * Prepares an erasure: draws its ids and salts once, and proves the records that it will destroy.
 * @throws {AlteredError} if the records that the database assigns to the operator are not what was recorded.
 */
export async function prepareErasure(
  dependencies: ErasureDependencies,
  { caller, orgId, operatorId, now, basis, isAccepted = false }: ErasureRequest,
): Promise<PreparedErasure> {
  const { database, world, installation, seals } = dependencies;
  const operator = [orgId, operatorId] as const;
  const namedCaller = { ...caller, orgId };
  const proof = await proveOperator(dependencies, operator, { isAccepted });
  const [open] = await database.read(openProbes.load(JSON.stringify([operator])));
  const probeIds: readonly string[] = JSON.parse(open!.ids);
  const recalls = probeIds.map(() => drawEntry(world, now));
  const ids = [world.ulid(now), world.ulid(now)] as const;
  const salts = [drawSalt(world), drawSalt(world)] as const;
  return {
    needs: [
      { kind: subjects, key: operator },
      { kind: operatorRecords, key: operator },
      { kind: operators, key: operator },
      { kind: frozenOperators, key: operator },
      operatorCallsNeed(operator),
      { kind: openProbes, key: operator },
      ...probeIds.map((id): Need => ({ kind: probes, key: [orgId, id] })),
      ...proof?.needs ?? [],
    ],
    isCurrent(unit) {
      const subject = unit.get(subjects, operator)?.pseudonym;
      return subject === undefined ||
        (proof?.isOf(unit, subject) === true && unit.get(openProbes, operator)?.ids === open!.ids);
    },
    plan(unit) {
      const subject = unit.get(subjects, operator)?.pseudonym;
      if (subject === undefined || proof === null) {
        requireNoOperator(unit, operator);
        throw unknownSubject(operatorId);
      }
      const records = proof.recordsIn(unit);
      for (const kind of [operators, frozenOperators] as const) {
        if (unit.get<unknown>(kind, operator) !== null) unit.remove<unknown>(kind, operator);
      }
      for (const [index, id] of probeIds.entries()) {
        const row = unit.get(probes, [orgId, id])!;
        // A restore recalls every probe in the same commit, before it repeats the erasure.
        if (!isUnopened(row)) continue;
        planRecall(unit, dependencies, {
          row,
          caller: serviceOf(orgId),
          now,
          drawn: recalls[index]!,
          reason: "erasure",
        });
      }
      const detail = { requested_at: new Date(now).toISOString(), basis, entries: records.entries };
      const draft = { prefix: namedCaller.prefix, orgId, subject, at: now };
      for (const statement of deletions(operator, records)) unit.execute(statement);
      const appended = unit.append(evidenceChain(orgId), {
        ...draft,
        id: ids[0],
        // The evidence names the service as the actor, whoever asked for the erasure.
        actor: "system",
        eventType: "SUBJECT_ERASED",
        parts: [makePart("detail", salts[0], detail)],
      });
      unit.append(adminChain(orgId), {
        ...draft,
        ...signedBy(namedCaller),
        id: ids[1],
        eventType: "OPERATOR_ERASED",
        parts: [makePart("detail", salts[1], detail)],
      });
      const { entry: { chain, seq }, hash } = appended;
      endKeyedCalls(unit, { seals }, { operator, erasure: appended });
      const tombstone = { reason: "erased", chain, seq, entry_hash: hash };
      for (const name of records.names) {
        unit.put(tombstones, {
          ...tombstone,
          name: tombstoneName(installation, { kind: "record", orgId, name }),
        });
      }
      unit.put(tombstones, {
        ...tombstone,
        name: tombstoneName(installation, { kind: "operator", orgId, name: operatorId }),
      });
      return { appended, detail };
    },
  };
}

/** Statements of an erasure. They use only the ids and places that were proven, not the rows' values. */
function deletions(
  operator: readonly [orgId: string, operatorId: string],
  { destroyed, rows }: OperatorRecords,
): readonly Statement[] {
  const [orgId, operatorId] = operator;
  return [
    ...deleteEventsOf(operator),
    ...[...destroyed].map(([chain, seqs]) => destroyParts(chain, seqs)),
    ...deleteRowsOfTables(orgId, rows),
    deleteSubjects(orgId, [operatorId]),
  ];
}
