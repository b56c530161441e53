/** Usage of an organization over a rolling window. Source: specification, Usage record; contract, section 5. */
import * as z from "zod";
import { TIERS } from "./enums.ts";
import { isoTimestamp } from "./instant.ts";
import { orgIdSchema } from "./organization.ts";
import { USAGE_WINDOW_DAYS } from "./limits.ts";
import { envelopeFields } from "./score.ts";

export const usageResponseSchema = z.object({
  org_id: orgIdSchema,
  tier: z.enum(TIERS),
  active: z.boolean(),
  interaction_count_current_period: z.int().min(0).meta({
    description: "Scores in the period, batch items included; counted exactly at each call.",
  }),
  period_start: isoTimestamp,
  period_end: isoTimestamp.meta({ description: `${USAGE_WINDOW_DAYS} days after period_start: now.` }),
  tier_limit: z.int(),
  utilization_ratio: z.number().min(0),
  threshold_crossed: z.boolean(),
  ...envelopeFields,
}).meta({ id: "Usage" });
