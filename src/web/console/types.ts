/** The API's answers to the console, typed by the service's own schemas. */
import type * as z from "zod";
import type { Dimension } from "../../domain/enums.ts";
import type { auditLogResponseSchema } from "../../domain/audit_log.ts";
import type {
  dashboardResponseSchema,
  maintenanceResponseSchema,
  operatorsResponseSchema,
  profileResponseSchema,
} from "../../domain/operator.ts";
import type { decisionsResponseSchema, reportsResponseSchema } from "../../domain/record_list.ts";
import type { replayResponseSchema } from "../../domain/replay.ts";
import type { article14ResponseSchema, reportResponseSchema } from "../../domain/report.ts";
import type {
  deliveriesSchema,
  redeliveredSchema,
  webhookListSchema,
  webhookRegisteredSchema,
  webhookTestedSchema,
} from "../../domain/webhook.ts";
import type { Estimates } from "../../scoring/estimates.ts";
import type { evidenceSchema } from "../../evidence/envelope.ts";

export type Dashboard = z.infer<typeof dashboardResponseSchema>;
export type Operators = z.infer<typeof operatorsResponseSchema>;
type ProfileAnswer = z.infer<typeof profileResponseSchema>;
/** A service may answer without the estimates: its model need not have them. */
export type Profile = Omit<ProfileAnswer, "profile"> & {
  readonly profile: ProfileAnswer["profile"] & {
    readonly estimates?: Estimates | null;
    readonly prior_dimensions?: readonly Dimension[] | null;
  };
};
export type Maintenance = z.infer<typeof maintenanceResponseSchema>;
export type Decisions = z.infer<typeof decisionsResponseSchema>;
export type Replay = z.infer<ReturnType<typeof replayResponseSchema<typeof evidenceSchema>>>;
export type Article14 = z.infer<typeof article14ResponseSchema>;
export type Reports = z.infer<typeof reportsResponseSchema>;
export type ReportAnswer = z.infer<ReturnType<typeof reportResponseSchema<typeof evidenceSchema>>>;
export type AuditLog = z.infer<ReturnType<typeof auditLogResponseSchema<z.ZodString>>>;
export type Webhooks = z.infer<typeof webhookListSchema>;
export type WebhookRegistered = z.infer<typeof webhookRegisteredSchema>;
export type WebhookTested = z.infer<typeof webhookTestedSchema>;
export type Deliveries = z.infer<typeof deliveriesSchema>;
export type Redelivered = z.infer<typeof redeliveredSchema>;

/** The answer to a rotation; only this one answer holds the key. */
export interface Rotated {
  readonly new_api_key: string;
  readonly prefix: string;
  readonly rotated_at: string;
  readonly warning: string;
}
