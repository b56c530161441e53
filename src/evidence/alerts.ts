/** The entries of an organization's alerts on its audit log. Source: evidence-format.md, section 4. */
import * as z from "zod";
import {
  CHAIN_TAMPERED_KINDS,
  chainTamperedSchema,
  PROBE_LOST_ALERT,
  USAGE_ANOMALY,
  usageAnomalySchema,
} from "../domain/alert.ts";

/** The members that the `detail` of every entry about an alert has. */
export const alertNamingSchema = z.object({ alert_id: z.string() });

/** The `detail` of ALERT_RAISED. The lost probes of a day have one alert, and an entry for each. */
export const alertRaisedSchema = z.discriminatedUnion("kind", [
  alertNamingSchema.extend({ kind: z.literal(USAGE_ANOMALY), ...usageAnomalySchema.shape }),
  alertNamingSchema.extend({ kind: z.literal(PROBE_LOST_ALERT), probe_id: z.string() }),
  alertNamingSchema.extend({
    kind: z.enum([CHAIN_TAMPERED_KINDS.evidence, CHAIN_TAMPERED_KINDS.admin]),
    ...chainTamperedSchema.shape,
  }),
]);
export type AlertRaised = z.infer<typeof alertRaisedSchema>;
