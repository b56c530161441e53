/** The API's answers to the console, typed by the service's own schemas. */
import type * as z from "zod";
import type { auditLogResponseSchema } from "../../domain/audit_log.ts";
import type { caseResponseSchema, casesResponseSchema } from "../../domain/case.ts";
import type {
  dashboardResponseSchema,
  maintenanceResponseSchema,
  operatorsResponseSchema,
  profileResponseSchema,
} from "../../domain/operator.ts";
import type { exerciseResponseSchema, exercisesResponseSchema } from "../../exercises/answers.ts";
import type { alertsResponseSchema, ownAcknowledgementSchema } from "../../domain/organization_alert.ts";
import type { contestsSchema, pageLinkSchema } from "../../domain/own_page.ts";
import type { decisionsResponseSchema, reportsResponseSchema } from "../../domain/record_list.ts";
import type { teamsResponseSchema } from "../../domain/team.ts";
import type { weeksResponseSchema } from "../../domain/week.ts";
import type { unmaskedSchema } from "../../domain/subject.ts";
import type { replayResponseSchema } from "../../domain/replay.ts";
import type { article14ResponseSchema, reportResponseSchema } from "../../domain/report.ts";
import type {
  deliveriesSchema,
  redeliveredSchema,
  webhookListSchema,
  webhookRegisteredSchema,
  webhookTestedSchema,
} from "../../domain/webhook.ts";
import type { namedKeyCreatedSchema, namedKeysSchema } from "../../domain/named_key.ts";
import type {
  linkSchema,
  meSchema,
  newPasskeySchema,
  passkeyAddedSchema,
  passkeyCreationSchema,
  passkeyRequestSchema,
  passkeysSchema,
  sessionsSchema,
  signedOutSchema,
  userInvitedSchema,
  userLinkSchema,
  usersSchema,
} from "../../domain/user.ts";
import type { evidenceSchema } from "../../evidence/envelope.ts";

export type Dashboard = z.infer<typeof dashboardResponseSchema>;
export type Operators = z.infer<typeof operatorsResponseSchema>;
export type TeamsSet = z.infer<typeof teamsResponseSchema>;
export type Weeks = z.infer<typeof weeksResponseSchema>;
export type Profile = z.infer<typeof profileResponseSchema>;
export type Maintenance = z.infer<typeof maintenanceResponseSchema>;
export type Exercises = z.infer<typeof exercisesResponseSchema>;
export type ExerciseResult = z.infer<typeof exerciseResponseSchema>;
export type Decisions = z.infer<typeof decisionsResponseSchema>;
export type Replay = z.infer<ReturnType<typeof replayResponseSchema<typeof evidenceSchema>>>;
export type Article14 = z.infer<typeof article14ResponseSchema>;
export type Reports = z.infer<typeof reportsResponseSchema>;
export type ReportAnswer = z.infer<ReturnType<typeof reportResponseSchema<typeof evidenceSchema>>>;
export type AuditLog = z.infer<ReturnType<typeof auditLogResponseSchema<z.ZodString>>>;
export type Me = z.infer<typeof meSchema>;
export type SignedOut = z.infer<typeof signedOutSchema>;
export type OpenedLink = z.infer<typeof linkSchema>;
export type Users = z.infer<typeof usersSchema>;
export type UserInvited = z.infer<typeof userInvitedSchema>;
export type UserLink = z.infer<typeof userLinkSchema>;
export type PageLink = z.infer<typeof pageLinkSchema>;
export type Contests = z.infer<typeof contestsSchema>;
export type Cases = z.infer<typeof casesResponseSchema>;
export type Case = z.infer<typeof caseResponseSchema>;
export type Alerts = z.infer<typeof alertsResponseSchema>;
export type AlertAcknowledged = z.infer<typeof ownAcknowledgementSchema>;
export type Unmasked = z.infer<typeof unmaskedSchema>;
export type Sessions = z.infer<typeof sessionsSchema>;
export type Passkeys = z.infer<typeof passkeysSchema>;
export type PasskeyAdded = z.infer<typeof passkeyAddedSchema>;
export type PasskeyCreation = z.infer<typeof passkeyCreationSchema>;
export type PasskeyRequest = z.infer<typeof passkeyRequestSchema>;
export type NewPasskey = z.input<typeof newPasskeySchema>;
export type NamedKeys = z.infer<typeof namedKeysSchema>;
export type NamedKeyCreated = z.infer<typeof namedKeyCreatedSchema>;
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

/** The answer to an exercise that was set; only this one answer holds the link. */
export interface ExerciseSet {
  readonly link: string;
  readonly case_count: number;
  readonly input: { readonly expires_at: string };
}

/** The answer to an erasure. */
export interface Erased {
  readonly erased_at: string;
  readonly physical: "done" | "pending" | "server";
}
