/** Alerts of the installation, by a master key. */
import * as z from "zod";
import { ServiceError } from "../../domain/errors.ts";
import { isoTimestamp } from "../../domain/instant.ts";
import { BODY_LIMIT_BYTES } from "../../domain/limits.ts";
import { envelopeFields } from "../../domain/score.ts";
import { acknowledgeAlert } from "../../operations/organizations/alerts.ts";
import type { Route } from "../exchange.ts";
import { idempotentCall, requireSameKey } from "../idempotency_key.ts";
import { parseWith } from "../parse.ts";
import { EXAMPLE_IDEMPOTENCY_KEY, idempotencyKeySchema, MASTER_POST } from "./shared.ts";

const alertPathSchema = z.object({
  alert_id: z.string().regex(
    /^[A-Za-z0-9_-]{1,128}$/,
    "must be 1 to 128 letters, digits, hyphens or underscores",
  ),
});

const acknowledgementBodySchema = z.object({ idempotency_key: idempotencyKeySchema }).meta({
  id: "Acknowledgement",
});

const alertAcknowledgedSchema = z.object({
  acknowledged: z.literal(true),
  alert_id: z.string(),
  acknowledged_at: isoTimestamp,
  ...envelopeFields,
}).meta({ id: "AlertAcknowledged" });

const postAcknowledgement: Route = {
  ...MASTER_POST,
  dashboard: true,
  path: "/v1/admin/alerts/{alert_id}/ack",
  operationId: "postAcknowledgement",
  summary: "Acknowledge an alert",
  description:
    "Marks the alert as seen. A repeated call changes nothing. `jiss alerts list` shows the open alerts.",
  auth: { kind: "master", scope: "ALERT_ACK" },
  pathParameters: alertPathSchema,
  body: { schema: acknowledgementBodySchema, limitBytes: BODY_LIMIT_BYTES },
  examples: [{
    summary: "An alert about an unusual rate",
    path: { alert_id: "alert-of-the-example" },
    body: { idempotency_key: EXAMPLE_IDEMPOTENCY_KEY },
  }],
  success: { status: 200, description: "Acknowledged.", schema: alertAcknowledgedSchema },
  errors: ["NOT_FOUND", "IDEMPOTENCY_KEY_REUSED", "NOT_IMPLEMENTED"],
  async handler({ dependencies }, { context, exchange, json, path }) {
    const named = alertPathSchema.safeParse(path);
    if (!named.success) {
      throw new ServiceError(
        "VALIDATION_FAILED",
        "Change alert_id: it must be 1 to 128 letters, digits, hyphens or underscores.",
        { status: 400 },
      );
    }
    const { idempotency_key } = parseWith(acknowledgementBodySchema, json);
    requireSameKey(context, idempotency_key);
    return await acknowledgeAlert(dependencies, { actor: "admin-worker" }, {
      alertId: named.data.alert_id,
      call: exchange.call,
      idempotency: idempotentCall(context)!,
    });
  },
};

export const ALERT_ROUTES: readonly Route[] = [postAcknowledgement];
