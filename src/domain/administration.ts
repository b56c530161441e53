/**
 * Requests and answers of administration: an organization's keys, and the operations of master keys on
 * organizations. Source: specification, Self-serve admin and Master-key admin; contract, sections 5 and 8.
 */
import * as z from "zod";
import { isoTimestamp as instant } from "./instant.ts";
import { IDEMPOTENCY_KEY_MAX_LENGTH } from "./limits.ts";
import { orgIdSchema } from "./organization.ts";
import { envelopeFields } from "./score.ts";

const newKey = z.string().meta({ description: "Shown once, never again." });
const prefix = z.string().length(8);

export const keyRotatedSchema = z.object({
  new_api_key: newKey,
  prefix,
  rotated_at: instant,
  warning: z.string(),
  ...envelopeFields,
}).meta({ id: "KeyRotated" });

export const keyRevokedSchema = z.object({
  revoked: z.literal(true),
  org_id: orgIdSchema,
  revoked_at: instant,
  ...envelopeFields,
}).meta({ id: "KeyRevoked" });

/** No field is required, and any field is ignored. */
export const emptyBodySchema = z.object({}).meta({ id: "EmptyBody" });

const idempotencyKey = z.string().min(1).max(IDEMPOTENCY_KEY_MAX_LENGTH).meta({
  description: "The same as the Idempotency-Key header.",
});

export const confirmedBodySchema = z.object({
  confirm_org_id: orgIdSchema.meta({ description: "The organization of the path, once more." }),
  idempotency_key: idempotencyKey,
}).meta({ id: "ConfirmedCall" });

export const acknowledgementBodySchema = z.object({ idempotency_key: idempotencyKey }).meta({
  id: "Acknowledgement",
});

export const alreadyProvisionedSchema = z.object({
  prefix,
  already_provisioned: z.literal(true),
  ...envelopeFields,
}).meta({ id: "AlreadyProvisioned", description: "The answer to a repeated call: without the key." });

export const billingSuspendedSchema = z.object({
  suspended: z.literal(true),
  org_id: orgIdSchema,
  suspended_at: instant,
  note: z.string(),
  ...envelopeFields,
}).meta({ id: "BillingSuspended" });

export const organizationRotatedSchema = z.object({
  rotated: z.literal(true),
  org_id: orgIdSchema,
  new_api_key: newKey,
  prefix,
  rotated_at: instant,
  warning: z.string(),
  ...envelopeFields,
}).meta({ id: "OrganizationRotated" });

export const organizationSuspendedSchema = z.object({
  suspended: z.literal(true),
  org_id: orgIdSchema,
  suspended_at: instant,
  ...envelopeFields,
}).meta({ id: "OrganizationSuspended" });

export const organizationReactivatedSchema = z.object({
  reactivated: z.literal(true),
  org_id: orgIdSchema,
  reactivated_at: instant,
  remaining: z.array(z.string()).optional().meta({
    description: "Why the organization stays inactive, where there are other reasons.",
  }),
  ...envelopeFields,
}).meta({ id: "OrganizationReactivated" });

export const alertPathSchema = z.object({
  alert_id: z.string().regex(
    /^[A-Za-z0-9_-]{1,128}$/,
    "must be 1 to 128 letters, digits, hyphens or underscores",
  ),
});

export const alertAcknowledgedSchema = z.object({
  acknowledged: z.literal(true),
  alert_id: z.string(),
  acknowledged_at: instant,
  ...envelopeFields,
}).meta({ id: "AlertAcknowledged" });
