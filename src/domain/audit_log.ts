/**
 * An organization's audit log: what was done to the organization and its keys, and a selection of events.
 * Source: specification, Audit event and Self-serve admin; contract, section 5.
 */
import * as z from "zod";
import { AUDIT_LOG_EVENTS } from "./audit_events.ts";
import { isoTimestamp } from "./instant.ts";
import { AUDIT_LOG_MAX } from "./limits.ts";
import { operatorIdSchema } from "./interaction.ts";
import { orgIdSchema } from "./organization.ts";
import { envelopeFields } from "./score.ts";

/** The type of an event of the log. */
export const auditLogEventSchema = z.enum(AUDIT_LOG_EVENTS, {
  error: `must be one of ${AUDIT_LOG_EVENTS.join(", ")}`,
}).meta({ id: "AuditLogEventType" });

/** A selection of events from the log; instants are epoch milliseconds. */
export interface AuditLogFilter {
  readonly eventType: string | null;
  /** Only what this user did; null for what everybody did. */
  readonly userId: string | null;
  /** Included. */
  readonly since: number | null;
  /** Excluded. */
  readonly until: number;
}

/** `actor` is the schema of the actor that an entry names. */
export function auditLogResponseSchema<Actor extends z.ZodType>(actor: Actor) {
  return z.object({
    events: z.array(auditEventSchema(actor)).meta({ description: "Newest first." }),
    count: z.int().min(0).max(AUDIT_LOG_MAX),
    filters: z.object({
      event_type: z.string().nullable(),
      user_id: z.string().nullable(),
      since: isoTimestamp.nullable(),
      until: isoTimestamp,
      limit: z.int(),
    }).meta({ description: "The filters as they were applied." }),
    ...envelopeFields,
  }).meta({ id: "AuditLog" });
}

function auditEventSchema<Actor extends z.ZodType>(actor: Actor) {
  return z.object({
    event_id: z.string(),
    event_type: auditLogEventSchema,
    timestamp: isoTimestamp,
    org_id: orgIdSchema,
    prefix: z.string().length(8).nullable().meta({
      description: "Prefix of the key that was used, or that the event is about.",
    }),
    actor,
    user_id: z.string().optional().meta({ description: "The user, if the actor is `user`." }),
    user_name: z.string().nullable().optional().meta({
      description: "The user's present name; null if the user was erased.",
    }),
    about_user_name: z.string().nullable().optional().meta({
      description: "The present name of the user whom `detail.user_id` names; null if the user was erased.",
    }),
    subject: z.string().optional().meta({
      description: "The pseudonym of the reviewer whom the event is about, if it is about one.",
    }),
    operator_id: operatorIdSchema.nullable().optional().meta({
      description: "The reviewer of `subject`; null if the reviewer was erased. Not in an export.",
    }),
    detail: z.record(z.string(), z.unknown()).nullable(),
  }).meta({ id: "AuditEvent" });
}

/** One event of the log. */
export interface AuditEvent {
  readonly event_id: string;
  readonly event_type: string;
  /** ISO 8601. */
  readonly timestamp: string;
  readonly org_id: string | null;
  readonly prefix: string | null;
  readonly actor: string;
  readonly user_id?: string;
  readonly user_name?: string | null;
  /** The present name of the user whom the detail names; null if the user was erased. */
  readonly about_user_name?: string | null;
  /** The pseudonym of the reviewer whom the event is about. */
  readonly subject?: string;
  readonly operator_id?: string | null;
  /** null if it is no longer stored. */
  readonly detail: Readonly<Record<string, unknown>> | null;
}
