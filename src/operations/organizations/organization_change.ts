/**
 * Changes an organization's state, in one commit with its audit event; a change is safe to repeat.
 *
 * The reasons for being inactive are a set, each with the instant at which it began; an organization is
 * active if the set is empty. Source: specification, States and transitions; contract, section 8.11.
 */
import type { Proving, Writing } from "../shared/capabilities.ts";
import { ServiceError } from "../../domain/errors.ts";
import { type OrganizationRow, organizations } from "../../store/records.ts";
import type { UnitOfWork } from "../../store/unit_of_work.ts";
import { drawSalt, makePart, signedBy } from "../shared/drafts.ts";
import type { Call, Caller } from "../shared/call.ts";
import { adminChain } from "../../evidence/chain_name.ts";
import { IdempotencyRecord, type IdempotentCall, type MasterAnswer } from "../shared/idempotency.ts";
import type { KeyIssue } from "./key_issue.ts";
import { type KeyedCall, type KnownCall, repeatedAnswer } from "../shared/keyed_calls.ts";

/** The dependencies of these operations. */
type Needs = Pick<Proving, "installation"> & Writing;

/** The reasons for which an organization is inactive, in the order in which they are stored. */
const INACTIVE_REASONS = ["billing", "force_revoked", "manual", "self_revoked"] as const;
export type InactiveReason = (typeof INACTIVE_REASONS)[number];

/** The present reasons, each with the instant at which it began, epoch milliseconds. */
export type Inactivity = Readonly<Partial<Record<InactiveReason, number>>>;

export function inactivityOf(
  { inactive_reasons, inactive_since }: Pick<OrganizationRow, "inactive_reasons" | "inactive_since">,
): Inactivity {
  const since: Inactivity = JSON.parse(inactive_since ?? "{}");
  const reasons: readonly InactiveReason[] = JSON.parse(inactive_reasons);
  return Object.fromEntries(reasons.map((reason) => [reason, since[reason] ?? 0]));
}

export function inactivityColumns(
  inactivity: Inactivity,
): Pick<OrganizationRow, "inactive_reasons" | "inactive_since"> {
  const reasons = INACTIVE_REASONS.filter((reason) => inactivity[reason] !== undefined);
  return { inactive_reasons: JSON.stringify(reasons), inactive_since: JSON.stringify(inactivity) };
}

export function withoutReasons(inactivity: Inactivity, lifted: readonly InactiveReason[]): Inactivity {
  return Object.fromEntries(
    Object.entries(inactivity).filter(([reason]) => !lifted.includes(reason as InactiveReason)),
  );
}

/** The result of a change of an organization. */
export interface Change {
  /** The new row; null if nothing changes. */
  readonly row: OrganizationRow | null;
  readonly body: Readonly<Record<string, unknown>>;
  /** The answer to a repeated call, if it differs: the body without its key. */
  readonly sanitized?: Readonly<Record<string, unknown>>;
  /** The detail of the audit event besides the scope. */
  readonly detail?: Readonly<Record<string, unknown>>;
}

/** The record of a call by the organization itself. */
interface RememberedChange {
  readonly keyed: KeyedCall;
  /** The reference that is kept, from the row that the change left. */
  referenceOf(row: OrganizationRow): string | null;
  /** The answer to a repeated call, without the key. */
  repeated(known: KnownCall): Record<string, unknown>;
}

export interface Transition {
  readonly event: string;
  readonly remembered?: RememberedChange;
  /** Present if the change may mint a key. */
  readonly issue?: KeyIssue;
  /** Computes the change; pure. @throws {ServiceError} if the state does not allow it. */
  change(row: OrganizationRow, context: { readonly unit: UnitOfWork; readonly now: number }): Change;
}

/** A call without a master key, and without the Idempotency-Key of a master call. */
export function directCall(orgId: string, call: Call): StateCall {
  return { orgId, call, scope: null, idempotency: null, request: null };
}

export interface StateCall {
  readonly orgId: string;
  readonly call: Call;
  /** The master scope, for the audit detail; null if no master key is used. */
  readonly scope: string | null;
  readonly idempotency: IdempotentCall | null;
  /** The request: two different requests under one Idempotency-Key are refused. */
  readonly request: unknown;
}

/** @throws {ServiceError} NOT_FOUND; CONFLICT; IDEMPOTENCY_KEY_REUSED; SERVICE_UNAVAILABLE. */
export async function changeState(
  { installation, writer, world }: Needs,
  caller: Pick<Caller, "actor" | "userId">,
  { orgId, call: { now }, scope, idempotency, request, transition: { event, issue, change, remembered } }:
    & StateCall
    & {
      readonly transition: Transition;
    },
): Promise<MasterAnswer> {
  const record = idempotency && new IdempotencyRecord(installation, { call: idempotency, request, now });
  const [id, salt] = [world.ulid(now), drawSalt(world)];
  return await writer.submit<MasterAnswer>({
    needs: [
      { kind: organizations, key: [orgId] },
      ...(issue?.needs ?? []),
      ...(record === null ? [] : [record.need]),
      ...(remembered?.keyed.needs ?? []),
    ],
    chains: [adminChain(orgId)],
    plan(unit) {
      const known = remembered?.keyed.findEarlier(unit) ?? null;
      if (known !== null) {
        return () => ({ status: 200, ...repeatedAnswer(known, remembered!.repeated(known)) });
      }
      const repeated = record?.findAnswer(unit) ?? null;
      if (repeated !== null) return () => repeated;
      const before = unit.get(organizations, [orgId]);
      if (before === null) throw unknownOrganization(orgId);
      const { row, body, sanitized = body, detail = {} } = change(before, { unit, now });
      if (row !== null) {
        unit.put(organizations, row);
        unit.append(adminChain(orgId), {
          id,
          ...signedBy({ ...caller, orgId, prefix: before.prefix ?? row.prefix ?? null }),
          eventType: event,
          subject: null,
          at: now,
          parts: [makePart("detail", salt, { ...(scope === null ? {} : { scope }), ...detail })],
        });
      }
      record?.remember(unit, { status: 200, body: sanitized });
      remembered?.keyed.remember(unit, { reference: remembered.referenceOf(row ?? before) });
      return () => ({ status: 200, body: { ...body }, replayed: false });
    },
  });
}

export function unknownOrganization(orgId: string): ServiceError {
  return new ServiceError("NOT_FOUND", `There is no organization ${orgId}: check the org_id.`);
}
