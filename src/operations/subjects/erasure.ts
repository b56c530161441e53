/**
 * Erasing an operator: the parts of its entries with their salts, its rows, and the tie between its id and its
 * pseudonym. The entries stay, and every proof with them; used names stay used.
 * Source: evidence design, "Read first", point 3; contract, section 4.
 */
import type { Logging, Proving, Reading, Writing } from "../shared/capabilities.ts";
import { sql } from "kysely";
import { unavailable } from "../../domain/errors.ts";
import { type Evidence, evidenceOfAppended } from "../../evidence/envelope.ts";
import { errorFields } from "../../observability/log.ts";
import { type Expunged, query, type Statement } from "../../store/database.ts";
import { operatorRecords, type RecordTable } from "../../store/operator_records.ts";
import { frozenOperators, operators, subjects, tombstones } from "../../store/records.ts";
import type { Need, PlacedEntry, UnitOfWork } from "../../store/unit_of_work.ts";
import { drawSalt, makePart } from "../shared/drafts.ts";
import type { Call, Caller, OrganizationCaller } from "../shared/call.ts";
import { adminChain, evidenceChain } from "../../evidence/chain_name.ts";
import { type OperatorRecords, proveOperator } from "./operator_proof.ts";
import { requireNoOperator, unknownSubject } from "../shared/subjects.ts";
import { tombstoneName } from "../shared/gone.ts";
import { endKeyedCalls, operatorCallsNeed } from "../shared/keyed_calls.ts";

/** What these operations need. */
type Needs = Reading & Proving & Writing & Logging;

export interface Erasure {
  readonly erased: true;
  readonly operator_id: string;
  readonly erased_at: string;
  /** `pending`: a reader still holds the log that the bytes stood in; it is emptied as soon as it lets go. */
  readonly physical: Expunged;
  /** What the evidence covers. */
  readonly detail: Record<string, unknown>;
  readonly evidence: Evidence;
}

/**
 * @throws {ServiceError} NOT_FOUND; SERVICE_UNAVAILABLE; {AlteredError} if what the database calls the operator's is not
 *   what was recorded of the operator: nothing is erased then.
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
    physical: await expunged(dependencies),
    ...answer,
  };
}

/** How often an erasure is proven anew of an operator who was erased, or came back, meanwhile. */
const ATTEMPTS = 5;

/** Proves what is the operator's, and erases it in a commit of its own. @throws as {@link eraseOperator}. */
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

/** The erasure stands, whatever becomes of the bytes now: what is not done is done again each minute. */
async function expunged({ database, log }: Needs): Promise<Expunged> {
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
  /** What it rests on. */
  readonly basis: "request" | "restore";
  /** Whether an administrator accepts the database as it stands with this: see {@link proveOperator}. Default: not. */
  readonly isAccepted?: boolean;
}

export type ErasureDependencies = Pick<Reading, "database" | "seals"> & Proving & Pick<Writing, "world">;

export interface PreparedErasure {
  readonly needs: readonly Need[];
  /** Whether what was proven is the operator's still: if not, it must be prepared anew. */
  isCurrent(unit: UnitOfWork): boolean;
  /** For a job that is alone in its commit, once it is known to be current. @throws {ServiceError} NOT_FOUND; {AlteredError}. */
  plan(unit: UnitOfWork): { readonly appended: PlacedEntry; readonly detail: Record<string, unknown> };
}

/**
 * An erasure on its way: what is drawn once, and the proof of what will be destroyed.
 * @throws {AlteredError} if what the database calls the operator's is not what was recorded of the operator.
 */
export async function prepareErasure(
  dependencies: ErasureDependencies,
  { caller, orgId, operatorId, now, basis, isAccepted = false }: ErasureRequest,
): Promise<PreparedErasure> {
  const { world, installation, seals } = dependencies;
  const operator = [orgId, operatorId] as const;
  const from = { ...caller, orgId };
  const proof = await proveOperator(dependencies, operator, { isAccepted });
  const ids = [world.ulid(now), world.ulid(now)] as const;
  const salts = [drawSalt(world), drawSalt(world)] as const;
  return {
    needs: [
      { kind: subjects, key: operator },
      { kind: operatorRecords, key: operator },
      { kind: operators, key: operator },
      { kind: frozenOperators, key: operator },
      operatorCallsNeed(operator),
      ...proof?.needs ?? [],
    ],
    isCurrent(unit) {
      const subject = unit.get(subjects, operator)?.pseudonym;
      return subject === undefined || proof?.isOf(unit, subject) === true;
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
      const detail = { requested_at: new Date(now).toISOString(), basis, entries: records.entries };
      const draft = { prefix: from.prefix, orgId, subject, at: now };
      for (const statement of deletions(operator, records)) unit.execute(statement);
      const appended = unit.append(evidenceChain(orgId), {
        ...draft,
        id: ids[0],
        // What gives an entry its meaning is the service's own word, whoever asked for it.
        actor: "system",
        eventType: "SUBJECT_ERASED",
        parts: [makePart("detail", salts[0], detail)],
      });
      unit.append(adminChain(orgId), {
        ...draft,
        id: ids[1],
        actor: from.actor,
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

/** What an erasure destroys, by the ids and places that were proven and by nothing that stands in the rows now. */
function deletions(
  [orgId, operatorId]: readonly [orgId: string, operatorId: string],
  { destroyed, rows }: OperatorRecords,
): readonly Statement[] {
  const events = query.selectFrom("webhook_event").select("sequence").where("org_id", "=", orgId)
    .where("operator_id", "=", operatorId);
  const isAmong = (column: string, values: readonly (string | number)[]) =>
    sql<boolean>`${sql.ref(column)} in (select value from json_each(${JSON.stringify(values)}))`;
  return [
    // The log of deliveries keeps that something was sent, of which nobody can tell any more what.
    query.updateTable("webhook_delivery")
      .set((row) => ({
        sequence: null,
        status: row.case().when("status", "=", "queued").then("cancelled").else(row.ref("status")).end(),
      })).where("sequence", "in", events).compile(),
    query.deleteFrom("webhook_event").where("org_id", "=", orgId).where("operator_id", "=", operatorId)
      .compile(),
    ...[...destroyed].map(([chain, seqs]) =>
      query.updateTable("audit_part").set({ salt: null, data: null }).where("chain", "=", chain)
        .where(isAmong("seq", seqs)).compile()
    ),
    ...ID_OF_TABLE.flatMap(([table, id]) => {
      const ids = rows.get(table);
      return ids === undefined ? [] : [
        query.deleteFrom(table as "interaction").where("org_id", "=", orgId).where(isAmong(id, ids))
          .compile(),
      ];
    }),
    query.deleteFrom("subject").where("org_id", "=", orgId).where("operator_id", "=", operatorId).compile(),
  ];
}

/** Each table after those whose rows refer to its own. */
const ID_OF_TABLE: readonly (readonly [RecordTable, string])[] = [
  ["outcome_label", "session_id"],
  ["score_commit", "session_id"],
  ["interaction", "session_id"],
  ["skipped_interaction", "session_id"],
  ["decision", "decision_id"],
  ["score_batch", "request_digest"],
];
