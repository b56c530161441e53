/**
 * Changes of an organization by its own key, a master key or the administrator: whether it is active, and its
 * key.
 * Source: specification, States and transitions; contract, section 8.11.
 */
import type { Proving, Secrets, Writing } from "../shared/capabilities.ts";
import { ServiceError, unauthorized } from "../../domain/errors.ts";
import { type OrganizationRow, organizations } from "../../store/records.ts";
import type { UnitOfWork } from "../../store/unit_of_work.ts";
import { eventDraft } from "../shared/drafts.ts";
import { type Call, type Caller, type OrganizationCaller, selfServing } from "../shared/call.ts";
import { adminChain } from "../../evidence/chain_name.ts";
import type { IdempotentCall, MasterAnswer } from "../shared/idempotency.ts";
import { destroyedKey, KEY_WARNING, KeyIssue, NoKeyMinted } from "./key_issue.ts";
import { KeyedCall } from "../shared/keyed_calls.ts";
import {
  type Change,
  changeState,
  directCall,
  type InactiveReason,
  type Inactivity,
  inactivityColumns,
  inactivityOf,
  type StateCall,
  withoutReasons,
} from "./organization_change.ts";

/** The dependencies of these operations. */
type Needs = Pick<Proving, "database" | "installation"> & Writing & Pick<Secrets, "peppers" | "mintKey">;

// ---- the organization's own key ---------------------------------------------------------------------------

/**
 * Mints a new key; the caller's key stops working with the commit.
 * @throws {ServiceError} UNAUTHORIZED if the caller's key stopped working before; SERVICE_UNAVAILABLE.
 */
export async function rotateOwnKey(
  dependencies: Needs,
  caller: OrganizationCaller,
  { call, idempotency = null }: OwnCall,
): Promise<MasterAnswer> {
  const issue = new KeyIssue(dependencies);
  return await changeState(dependencies, selfServing(caller), {
    ...directCall(caller.orgId, call),
    transition: {
      event: "KEY_ROTATED",
      issue,
      remembered: {
        keyed: ownKeyedCall(dependencies, caller, { call, idempotency }),
        referenceOf: ({ prefix }) => prefix ?? null,
        repeated: ({ reference }) => ({ prefix: reference, already_provisioned: true }),
      },
      change(row, { unit, now }) {
        requireKeyInUse(row, caller);
        const { apiKey, prefix, stored } = issue.take(unit);
        return {
          row: { ...row, ...stored, ...nextVersion(row, now) },
          body: { new_api_key: apiKey, prefix, rotated_at: iso(now), warning: KEY_WARNING },
          detail: { new_prefix: prefix },
        };
      },
    },
  });
}

/**
 * Ends the key and the organization's access, until a payment or the administrator restores it.
 * @throws as {@link rotateOwnKey}.
 */
export async function revokeOwnKey(
  dependencies: Needs,
  caller: OrganizationCaller,
  { call, idempotency = null }: OwnCall,
): Promise<MasterAnswer> {
  return await changeState(dependencies, selfServing(caller), {
    ...directCall(caller.orgId, call),
    transition: {
      event: "KEY_REVOKED",
      remembered: {
        keyed: ownKeyedCall(dependencies, caller, { call, idempotency }),
        referenceOf: () => null,
        repeated: (known) => ({ revoked: true, org_id: caller.orgId, revoked_at: iso(known.call.now) }),
      },
      change(row, { now }) {
        requireKeyInUse(row, caller);
        return {
          row: { ...row, ...destroyedKey(now), ...deactivated(row, { self_revoked: now }) },
          body: { revoked: true, org_id: row.org_id, revoked_at: iso(now) },
        };
      },
    },
  });
}

/** A call of an organization on its own key. */
export interface OwnCall {
  readonly call: Call;
  readonly idempotency?: IdempotentCall | null;
}

function ownKeyedCall(
  { installation }: Needs,
  { orgId }: OrganizationCaller,
  { call, idempotency = null }: OwnCall,
): KeyedCall {
  return new KeyedCall(installation, { orgId, idempotency, request: {}, call });
}

/** Another call with the same key may have come first. A user has none. @throws {ServiceError} UNAUTHORIZED. */
function requireKeyInUse({ prefix, inactive_reasons }: OrganizationRow, caller: OrganizationCaller): void {
  const isOver = caller.actor !== "user" && prefix !== caller.prefix;
  if (isOver || inactive_reasons !== "[]") throw unauthorized();
}

// ---- master keys, and the administrator's commands --------------------------------------------------------

/** An operation on an organization's state. */
export type StateOperation = (
  dependencies: Needs,
  caller: Pick<Caller, "actor">,
  call: StateCall,
) => Promise<MasterAnswer>;

/** Suspends an organization whose payment stopped, and destroys its key. */
export const suspendBilling: StateOperation = suspension({
  event: "ADMIN_BILLING_SUSPEND",
  reason: "billing",
  destroysKey: true,
  bodyOf: (org_id, at) => ({
    suspended: true,
    org_id,
    suspended_at: at,
    note:
      "The organization's key is revoked for good; billing rotate mints a new one, unless an administrator stopped the organization too.",
  }),
});

/** Suspends an organization for an administrator; its key works again after a reactivation. */
export const suspendOrganization: StateOperation = suspension({
  event: "ADMIN_ORG_SUSPEND",
  reason: "manual",
  destroysKey: false,
  bodyOf: (org_id, at) => ({ suspended: true, org_id, suspended_at: at }),
});

/** Ends an organization's access for an administrator, and destroys its key. */
export const forceRevoke: StateOperation = suspension({
  event: "ADMIN_ORG_FORCE_REVOKE",
  reason: "force_revoked",
  destroysKey: true,
  bodyOf: (org_id, at) => ({ revoked: true, org_id, revoked_at: at }),
});

/**
 * Mints a new key after a payment.
 * @throws {ServiceError} CONFLICT if an administrator stopped the organization.
 */
export const rotateBilling: StateOperation = (dependencies, caller, call) => {
  const issue = new KeyIssue(dependencies);
  return changeState(dependencies, caller, {
    ...call,
    transition: {
      event: "ADMIN_BILLING_ROTATE",
      issue,
      change(row, { unit, now }) {
        const inactivity = inactivityOf(row);
        if (inactivity.manual !== undefined || inactivity.force_revoked !== undefined) {
          throw new ServiceError(
            "CONFLICT",
            `${row.org_id} was stopped by an administrator, which a payment does not lift: ${
              stepsToReactivate(inactivity)
            }.`,
          );
        }
        return rotated(row, { unit, now, issue, lifts: ["billing", "self_revoked"] });
      },
    },
  });
};

/**
 * Replaces the key of an active organization.
 * @throws {ServiceError} CONFLICT if it is inactive; upstream_protocol_violation if no key was minted.
 */
export const forceRotate: StateOperation = async (dependencies, caller, call) => {
  const issue = new KeyIssue(dependencies);
  try {
    return await changeState(dependencies, caller, {
      ...call,
      transition: {
        event: "ADMIN_ORG_FORCE_ROTATE",
        issue,
        change(row, { unit, now }) {
          if (row.inactive_reasons !== "[]") {
            throw new ServiceError("CONFLICT", inactiveMessage(row));
          }
          return rotated(row, { unit, now, issue, lifts: [] });
        },
      },
    });
  } catch (error) {
    if (!(error instanceof NoKeyMinted)) throw error;
    await recordViolation(dependencies, caller, call);
    throw new ServiceError(
      "upstream_protocol_violation",
      "No new key was minted; the present key still works. Repeat the call with the same Idempotency-Key.",
    );
  }
};

/**
 * Lifts an administrator's suspension; the key stays the one from before it.
 * @throws {ServiceError} CONFLICT if there is no such suspension.
 */
export const reactivateOrganization: StateOperation = (dependencies, caller, call) =>
  changeState(dependencies, caller, {
    ...call,
    transition: {
      event: "ADMIN_ORG_REACTIVATE",
      change(row, { now }) {
        const inactivity = inactivityOf(row);
        if (inactivity.manual === undefined) {
          throw new ServiceError(
            "CONFLICT",
            row.inactive_reasons === "[]" ? `${row.org_id} is active.` : inactiveMessage(row),
          );
        }
        return reactivated(row, { now, left: withoutReasons(inactivity, ["manual"]) });
      },
    },
  });

/**
 * Lifts every reason, for support. An organization whose key was destroyed then needs a new key.
 * @throws {ServiceError} CONFLICT if it is active.
 */
export const reactivateFully: StateOperation = (dependencies, caller, call) =>
  changeState(dependencies, caller, {
    ...call,
    transition: {
      event: "ADMIN_ORG_REACTIVATE",
      change(row, { now }) {
        if (row.inactive_reasons === "[]") {
          throw new ServiceError("CONFLICT", `${row.org_id} is active.`);
        }
        return reactivated(row, { now, left: {} });
      },
    },
  });

/** Mints a key for the administrator's own command, whether or not the organization has one. */
export const rotateByHand: StateOperation = (dependencies, caller, call) =>
  rotateByHandTo(null)(dependencies, caller, call);

/** Like {@link rotateByHand}, with a key that the administrator brings; null mints one. */
export const rotateByHandTo = (given: string | null): StateOperation => (dependencies, caller, call) => {
  const issue = new KeyIssue(dependencies, given);
  return changeState(dependencies, caller, {
    ...call,
    transition: {
      event: "KEY_ROTATED",
      issue,
      change: (row, { unit, now }) => rotated(row, { unit, now, issue, lifts: [] }),
    },
  });
};

interface Suspension {
  readonly event: string;
  readonly reason: InactiveReason;
  readonly destroysKey: boolean;
  bodyOf(orgId: string, at: string): Readonly<Record<string, unknown>>;
}

/**
 * An operation that makes an organization inactive. A repeat answers with the instant of the first call and
 * changes nothing. Only if the operation destroys keys, and the administrator minted one meanwhile, the
 * repeat destroys that too.
 */
function suspension({ event, reason, destroysKey, bodyOf }: Suspension): StateOperation {
  return (dependencies, caller, call) =>
    changeState(dependencies, caller, {
      ...call,
      transition: {
        event,
        change(row, { now }) {
          const earlierSince = inactivityOf(row)[reason];
          const since = earlierSince ?? now;
          const isDone = earlierSince !== undefined && !(destroysKey && row.prefix !== null);
          return {
            row: isDone ? null : {
              ...row,
              ...(destroysKey ? destroyedKey(now) : {}),
              ...deactivated(row, { [reason]: since }),
            },
            body: bodyOf(row.org_id, iso(since)),
          };
        },
      },
    });
}

function inactiveMessage(row: OrganizationRow): string {
  const inactivity = inactivityOf(row);
  return `${row.org_id} is inactive (${Object.keys(inactivity).join(", ")}): ${
    stepsToReactivate(inactivity)
  }.`;
}

/** The steps that make an organization active again. */
function stepsToReactivate(inactivity: Inactivity): string {
  if (inactivity.force_revoked !== undefined) {
    return "only `jiss org reactivate`, the administrator's own command, lifts a forced revocation";
  }
  const steps = [
    ...(inactivity.manual === undefined ? [] : ["reactivate lifts the suspension"]),
    ...(inactivity.billing === undefined && inactivity.self_revoked === undefined
      ? []
      : ["billing rotate mints a new key"]),
  ];
  return steps.join(", then ");
}

function rotated(
  row: OrganizationRow,
  { unit, now, issue, lifts }: {
    readonly unit: UnitOfWork;
    readonly now: number;
    readonly issue: KeyIssue;
    readonly lifts: readonly InactiveReason[];
  },
): Change {
  const { apiKey, prefix, stored } = issue.take(unit, row.prefix);
  const inactivity = withoutReasons(inactivityOf(row), lifts);
  return {
    row: { ...row, ...stored, ...nextVersion(row, now), ...inactivityColumns(inactivity) },
    body: {
      rotated: true,
      org_id: row.org_id,
      new_api_key: apiKey,
      prefix,
      rotated_at: iso(now),
      warning: KEY_WARNING,
    },
    sanitized: { prefix, already_provisioned: true },
    detail: { new_prefix: prefix },
  };
}

function reactivated(
  row: OrganizationRow,
  { now, left }: { readonly now: number; readonly left: Inactivity },
): Change {
  const remainingReasons = Object.keys(left).sort();
  const isStillInactive = remainingReasons.length > 0;
  return {
    row: { ...row, ...inactivityColumns(left) },
    body: {
      reactivated: true,
      org_id: row.org_id,
      reactivated_at: iso(now),
      ...(isStillInactive ? { remaining: remainingReasons } : {}),
    },
    detail: { remaining: remainingReasons },
  };
}

function deactivated(row: OrganizationRow, added: Inactivity) {
  return inactivityColumns({ ...inactivityOf(row), ...added });
}

function nextVersion({ api_key_version }: OrganizationRow, now: number) {
  return { api_key_version: api_key_version + 1, api_key_rotated_at: now };
}

/** Records that no key was minted; writes nothing else. @throws {ServiceError} SERVICE_UNAVAILABLE. */
async function recordViolation(
  { world, writer }: Needs,
  { actor }: Pick<Caller, "actor">,
  { orgId, call: { now }, scope }: StateCall,
): Promise<void> {
  const caller = { actor, orgId, prefix: null };
  const detail = { scope, reason: "protocol_violation" };
  const draft = eventDraft(world, { type: "PROTOCOL_VIOLATION", caller, now, detail });
  await writer.submit({
    needs: [{ kind: organizations, key: [orgId] }],
    chains: [adminChain(orgId)],
    plan(unit) {
      const prefix = unit.get(organizations, [orgId])?.prefix ?? null;
      unit.append(adminChain(orgId), { ...draft, prefix });
      return () => undefined;
    },
  });
}

function iso(at: number): string {
  return new Date(at).toISOString();
}
