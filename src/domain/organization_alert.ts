/** Alerts as the people of an organization see them: what happened, what to do next, and who has seen it. */
import * as z from "zod";
import {
  CHAIN_TAMPERED_KINDS,
  chainTamperedSchema,
  PROBE_LOST_ALERT,
  USAGE_ANOMALY,
  usageAnomalySchema,
} from "./alert.ts";
import { hash32 } from "./hash.ts";
import { isoTimestamp } from "./instant.ts";
import { operatorIdSchema } from "./interaction.ts";
import { envelopeFields } from "./score.ts";

/** Page sizes of the list of alerts. */
export const ALERTS_PAGE_MAX = 100;
export const ALERTS_PAGE_DEFAULT = 25;
/** Most lost probes that an alert names. */
export const ALERT_PROBES_MAX = 100;

/** The kinds of alerts about an organization. One about the system chain belongs to none. */
export const ORGANIZATION_ALERT_KINDS = [
  USAGE_ANOMALY,
  PROBE_LOST_ALERT,
  CHAIN_TAMPERED_KINDS.evidence,
  CHAIN_TAMPERED_KINDS.admin,
] as const;
export type OrganizationAlertKind = (typeof ORGANIZATION_ALERT_KINDS)[number];

const acknowledgedBySchema = z.object({
  actor: z.string().meta({
    description: "`user`, `self_serve` for a key, or `admin-worker` for the administrator of the service.",
  }),
  user_id: z.string().nullable(),
  user_name: z.string().nullable().meta({
    description: "The user's name now; null if there is none, or the user was erased.",
  }),
}).meta({ id: "AlertAcknowledgedBy" });

const alertSchema = z.object({
  alert_id: z.string(),
  kind: z.enum(ORGANIZATION_ALERT_KINDS),
  severity: z.string(),
  statement: z.string().meta({ description: "What happened, in words." }),
  next_step: z.string().meta({ description: "What to do next." }),
  created_at: isoTimestamp,
  raised_at: isoTimestamp.meta({
    description: "When it was raised last: each lost probe of a day raises the day's alert again.",
  }),
  usage: usageAnomalySchema.nullable().meta({
    description: "The figures of `USAGE_ANOMALY`, in scores; null for other kinds.",
  }),
  probe_count: z.int().min(0).meta({ description: "How many probes `PROBE_LOST` is about; else 0." }),
  probes: z.array(z.object({
    probe_id: z.string(),
    operator_id: operatorIdSchema.nullable().meta({
      description: "To whom it was shown; null if the operator was erased since.",
    }),
  })).meta({
    description:
      `The last ${ALERT_PROBES_MAX} of these probes at most, in the order in which they were lost.`,
  }),
  fault: chainTamperedSchema.nullable().meta({
    description: "The first fault of an altered chain; null for other kinds.",
  }),
  acknowledged_at: isoTimestamp.nullable().meta({ description: "Null while the alert is open." }),
  acknowledged_by: acknowledgedBySchema.nullable(),
  chain: z.string(),
  seq: z.int().min(0).meta({ description: "The place of the entry `ALERT_RAISED`, the first of them." }),
  entry_hash: hash32,
}).meta({ id: "OrganizationAlert" });
export type OrganizationAlert = z.output<typeof alertSchema>;

export const alertsResponseSchema = z.object({
  alerts: z.array(alertSchema).meta({ description: "The last created first." }),
  count: z.int().min(0),
  next_cursor: z.string().nullable(),
  ...envelopeFields,
}).meta({ id: "OrganizationAlerts" });

export const ownAcknowledgementSchema = z.object({
  acknowledged: z.literal(true),
  alert_id: z.string(),
  acknowledged_at: isoTimestamp,
  acknowledged_by: acknowledgedBySchema,
  ...envelopeFields,
}).meta({ id: "OwnAlertAcknowledged" });
export type OwnAcknowledgement = Omit<z.output<typeof ownAcknowledgementSchema>, keyof typeof envelopeFields>;
