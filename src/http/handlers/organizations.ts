/** Handlers for master keys: create organizations, read usage, change their state, acknowledge alerts. */
import {
  acknowledgementBodySchema,
  alertPathSchema,
  confirmedBodySchema,
  emptyBodySchema,
} from "../../domain/administration.ts";
import { ServiceError } from "../../domain/errors.ts";
import { createOrganizationSchema, organizationPathSchema } from "../../domain/organization.ts";
import type { MasterScope } from "../../keys/master_keys.ts";
import { acknowledgeAlert } from "../../operations/organizations/alerts.ts";
import {
  forceRevoke,
  forceRotate,
  reactivateOrganization,
  rotateBilling,
  type StateOperation,
  suspendBilling,
  suspendOrganization,
} from "../../operations/organizations/organization_states.ts";
import { createOrganization } from "../../operations/organizations/organizations.ts";
import { organizationUsage } from "../../operations/organizations/usage.ts";
import type { AppContext, Handler, HandlerInput, Reply, Services } from "../exchange.ts";
import { idempotencyKeyOf, idempotentCall } from "../idempotency_key.ts";
import { parseWith, validationFailed } from "../parse.ts";

export async function postOrganization(
  { dependencies }: Services,
  { context, exchange, json }: HandlerInput,
): Promise<Reply> {
  const organization = parseWith(createOrganizationSchema, json);
  return await createOrganization(dependencies, { actor: "payment-worker", orgId: null, prefix: null }, {
    organization,
    call: exchange.call,
    scope: "ORG_CREATE",
    idempotency: idempotentCall(context),
    apiKey: null,
  });
}

export async function getUsage(
  { dependencies }: Services,
  { context, exchange }: HandlerInput,
): Promise<Reply> {
  const { org_id } = parseWith(organizationPathSchema, context.req.param());
  const body = await organizationUsage(dependencies, { orgId: org_id, now: exchange.call.now });
  return { status: 200, body };
}

/** An operation of the payment component: its body has no fields. */
function billing(scope: MasterScope, operation: StateOperation): Handler {
  return async ({ dependencies }, { context, exchange, json }) => {
    const { org_id } = parseWith(organizationPathSchema, context.req.param());
    parseWith(emptyBodySchema, json === undefined ? {} : json);
    return await operation(dependencies, { actor: "payment-worker" }, {
      orgId: org_id,
      call: exchange.call,
      scope,
      idempotency: idempotentCall(context),
      request: {},
    });
  };
}

/** An operation of the admin-dashboard component: its body repeats the org_id and the idempotency key. */
function confirmed(scope: MasterScope, operation: StateOperation): Handler {
  return async ({ dependencies }, { context, exchange, json }) => {
    const { org_id } = parseWith(organizationPathSchema, context.req.param());
    const { confirm_org_id, idempotency_key } = parseWith(confirmedBodySchema, json);
    if (confirm_org_id !== org_id) {
      throw validationFailed([{ path: "confirm_org_id", message: "must be the org_id of the path" }]);
    }
    requireSameKey(context, idempotency_key);
    return await operation(dependencies, { actor: "admin-worker" }, {
      orgId: org_id,
      call: exchange.call,
      scope,
      idempotency: idempotentCall(context),
      request: { confirm_org_id },
    });
  };
}

export const postBillingSuspension = billing("BILLING_SUSPEND", suspendBilling);
export const postBillingRotation = billing("BILLING_ROTATE", rotateBilling);
export const postSuspension = confirmed("ORG_SUSPEND", suspendOrganization);
export const postReactivation = confirmed("ORG_REACTIVATE", reactivateOrganization);
export const postForcedRotation = confirmed("ORG_FORCE_ROTATE", forceRotate);
export const postForcedRevocation = confirmed("ORG_FORCE_REVOKE", forceRevoke);

export async function postAcknowledgement(
  { dependencies }: Services,
  { context, exchange, json }: HandlerInput,
): Promise<Reply> {
  const path = alertPathSchema.safeParse(context.req.param());
  if (!path.success) {
    throw new ServiceError(
      "VALIDATION_FAILED",
      "Change alert_id: it must be 1 to 128 letters, digits, hyphens or underscores.",
      { status: 400 },
    );
  }
  const { idempotency_key } = parseWith(acknowledgementBodySchema, json);
  requireSameKey(context, idempotency_key);
  return await acknowledgeAlert(dependencies, { actor: "admin-worker" }, {
    alertId: path.data.alert_id,
    call: exchange.call,
    idempotency: idempotentCall(context)!,
  });
}

function requireSameKey(context: AppContext, idempotencyKey: string): void {
  if (idempotencyKey === idempotencyKeyOf(context.req.raw)) return;
  throw validationFailed([{
    path: "idempotency_key",
    message: "must be the same as the Idempotency-Key header",
  }]);
}
