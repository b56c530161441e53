/**
 * Lists of an organization's records, newest first: its scores and decisions, and its reports. Each row has
 * the id by which the whole record can be read. Source: contract, section 7 (pages that a console shows in at
 * most three requests).
 */
import * as z from "zod";
import { BANDS, DECISIONS, ROUTES, SCENARIO_TYPES, VERDICT_STATUSES } from "./enums.ts";
import { isoTimestamp } from "./instant.ts";
import { domainNameSchema, operatorIdSchema } from "./interaction.ts";
import { FINDING_STATUSES } from "./report.ts";
import { envelopeFields, points } from "./score.ts";

export const RECORD_KINDS = ["score", "decision"] as const;
export type RecordKind = (typeof RECORD_KINDS)[number];

const listFields = {
  count: z.int().min(0).meta({ description: "Number of items in this answer." }),
  next_cursor: z.string().nullable(),
  ...envelopeFields,
};

export const decisionsResponseSchema = z.object({
  decisions: z.array(
    z.object({
      id: z.string().meta({ description: "A `session_id` or a `decision_id`; a replay takes either." }),
      kind: z.enum(RECORD_KINDS),
      timestamp: isoTimestamp,
      operator_id: operatorIdSchema,
      domain: domainNameSchema,
      decision: z.enum(DECISIONS).meta({ description: "The reviewer's decision." }),
      jis: points.nullable().meta({ description: "Null for a decision, and with `unlabelled`." }),
      band: z.enum(BANDS).nullable(),
      verdict: z.enum(VERDICT_STATUSES).nullable().meta({
        description:
          "The verdict as it was recorded with the score; null where jis is, and if the formulas had none.",
      }),
      decision_risk_score: z.number().min(0).max(1).nullable().meta({ description: "Null for a score." }),
      routing_decision: z.enum(ROUTES).nullable(),
      scenario_type: z.enum(SCENARIO_TYPES).optional().meta({ description: "Only with `unlabelled`." }),
      ai_recommendation_presented: z.boolean().optional().meta({
        description: "Only with `unlabelled`.",
      }),
    }).meta({ id: "ListedDecision" }),
  ).meta({ description: "Newest first, without erased and pruned records." }),
  ...listFields,
}).meta({ id: "Decisions" });

export const reportsResponseSchema = z.object({
  reports: z.array(z.object({
    report_id: z.string(),
    issued_at: isoTimestamp,
    period: z.object({ start: isoTimestamp, end: isoTimestamp }),
    overall_status: z.enum(FINDING_STATUSES),
    status_certain: z.boolean(),
    verdict: z.enum(VERDICT_STATUSES).nullable().meta({
      description: "The organization's verdict; null if the report was issued before there were verdicts.",
    }),
  })).meta({ description: "Newest first." }),
  ...listFields,
}).meta({ id: "Reports" });
