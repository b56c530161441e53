/**
 * Erasing an operator: the parts of its entries with their salts, its rows, and the tie between its id and its
 * pseudonym. The entries stay, and every proof with them; used names stay used.
 * Source: evidence design, "Read first", point 3; contract, section 4.
 */
import { type Evidence, evidenceOfAppended } from "../evidence/envelope.ts";
import { errorFields } from "../observability/log.ts";
import { type Expunged, query, type Statement } from "../store/database.ts";
import { frozenOperators, operatorNames, operators, subjects, tombstones } from "../store/records.ts";
import { AlteredRows } from "../store/seals.ts";
import type { Need, PlacedEntry, UnitOfWork } from "../store/unit_of_work.ts";
import {
  adminChain,
  type Call,
  type Caller,
  type Dependencies,
  drawSalt,
  evidenceChain,
  makePart,
  type OrganizationCaller,
} from "./dependencies.ts";
import { requireNoOperator, unknownSubject } from "./subjects.ts";
import { tombstoneName } from "./gone.ts";
import { endKeyedCalls, operatorCallsNeed } from "./keyed_calls.ts";

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

/** @throws {ServiceError} NOT_FOUND; SERVICE_UNAVAILABLE. */
export async function eraseOperator(
  dependencies: Dependencies,
  caller: OrganizationCaller,
  { operatorId, call }: { readonly operatorId: string; readonly call: Call },
): Promise<Erasure> {
  const { writer, lock, installation } = dependencies;
  const { orgId } = caller;
  const erasure = prepareErasure(dependencies, {
    caller,
    orgId,
    operatorId,
    now: call.now,
    basis: "request",
  });
  const answer = await writer.submit({
    needs: erasure.needs,
    chains: [evidenceChain(orgId), adminChain(orgId)],
    alone: true,
    plan(unit) {
      const { appended, detail } = erasure.plan(unit);
      return (receipts) => ({
        detail,
        evidence: evidenceOfAppended(appended, { covers: "detail", proof: receipts.proofOf(appended) }),
      });
    },
  });
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

/** The erasure stands, whatever becomes of the bytes now: what is not done is done again each minute. */
async function expunged({ database, log }: Dependencies): Promise<Expunged> {
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
}

export interface PreparedErasure {
  readonly needs: readonly Need[];
  /** For a job that is alone in its commit. @throws {ServiceError} NOT_FOUND. */
  plan(unit: UnitOfWork): { readonly appended: PlacedEntry; readonly detail: Record<string, unknown> };
}

/** An erasure on its way, with what is drawn once. */
export function prepareErasure(
  { world, installation, seals }: Pick<Dependencies, "world" | "installation" | "seals">,
  { caller, orgId, operatorId, now, basis }: ErasureRequest,
): PreparedErasure {
  const operator = [orgId, operatorId] as const;
  const from = { ...caller, orgId };
  const ids = [world.ulid(now), world.ulid(now)] as const;
  const salts = [drawSalt(world), drawSalt(world)] as const;
  return {
    needs: [
      { kind: subjects, key: operator },
      { kind: operatorNames, key: operator },
      { kind: operators, key: operator },
      { kind: frozenOperators, key: operator },
      operatorCallsNeed(operator),
    ],
    plan(unit) {
      const subject = unit.get(subjects, operator)?.pseudonym;
      if (subject === undefined) {
        requireNoOperator(unit, operator);
        throw unknownSubject(operatorId);
      }
      const held = unit.get(operatorNames, operator)!;
      // Else the parts of somebody else would be destroyed, and the operator's own would stay.
      if (held.strangers > 0) throw new AlteredRows(evidenceChain(orgId), "a row of subject");
      for (const kind of [operators, frozenOperators] as const) {
        if (unit.get<unknown>(kind, operator) !== null) unit.remove<unknown>(kind, operator);
      }
      const names: readonly string[] = JSON.parse(held.names);
      const detail = { requested_at: new Date(now).toISOString(), basis, entries: held.entries };
      const draft = { prefix: from.prefix, orgId, subject, at: now };
      for (const statement of deletions(operator, subject)) unit.execute(statement);
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
      for (const name of names) {
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

function deletions(
  [orgId, operatorId]: readonly [orgId: string, operatorId: string],
  subject: string,
): readonly Statement[] {
  const sessions = query.selectFrom("interaction").select("session_id").where("org_id", "=", orgId)
    .where("operator_id", "=", operatorId);
  // The audit log's entries about an operator name the pseudonym and hold nothing personal: their parts stay.
  const chains = query.selectFrom("audit_chain").select("chain").where("family", "=", evidenceChain(orgId));
  const entries = query.selectFrom("audit_entry").select(["chain", "seq"]).where("subject", "=", subject)
    .where("chain", "in", chains);
  const events = query.selectFrom("webhook_event").select("sequence").where("org_id", "=", orgId)
    .where("operator_id", "=", operatorId);
  return [
    // The log of deliveries keeps that something was sent, of which nobody can tell any more what.
    query.updateTable("webhook_delivery")
      .set((row) => ({
        sequence: null,
        status: row.case().when("status", "=", "queued").then("cancelled").else(row.ref("status")).end(),
      })).where("sequence", "in", events).compile(),
    query.updateTable("audit_part").set({ salt: null, data: null })
      .where(({ eb, refTuple }) => eb(refTuple("chain", "seq"), "in", entries.$asTuple("chain", "seq")))
      .compile(),
    ...(["outcome_label", "score_commit"] as const).map((table) =>
      query.deleteFrom(table).where("org_id", "=", orgId).where("session_id", "in", sessions).compile()
    ),
    ...([
      "webhook_event",
      "interaction",
      "skipped_interaction",
      "decision",
      "score_batch",
      "subject",
    ] as const)
      .map(
        (table) =>
          query.deleteFrom(table).where("org_id", "=", orgId).where("operator_id", "=", operatorId).compile(),
      ),
  ];
}
