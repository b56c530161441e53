/** Rows of webhooks: an organization's destinations. */
import type { CompiledQuery } from "kysely";
import { type Database, query, type Statement } from "./database.ts";
import type { WebhookRow } from "./records.ts";

/** An organization's destinations, the oldest first. */
export function webhooksQuery(orgId: string): CompiledQuery<WebhookRow> {
  return query.selectFrom("webhook").selectAll().where("org_id", "=", orgId)
    .orderBy("created_at").orderBy("webhook_id").compile();
}

/** The query for one destination. */
export function webhookQuery(webhookId: string): CompiledQuery<WebhookRow> {
  return query.selectFrom("webhook").selectAll().where("webhook_id", "=", webhookId).compile();
}

/** The destinations of all organizations. */
export function readWebhooks(database: Database): Promise<readonly WebhookRow[]> {
  return database.read(query.selectFrom("webhook").selectAll().compile());
}

/** Replaces the wrapped secret of a destination, unless another process has replaced it since it was read. */
export function replaceWebhookSecret(
  { webhook_id, wrapped_secret: before }: Pick<WebhookRow, "webhook_id" | "wrapped_secret">,
  after: Uint8Array,
): Statement {
  return query.updateTable("webhook").set({ wrapped_secret: after })
    .where("webhook_id", "=", webhook_id).where("wrapped_secret", "=", before).compile();
}

/**
 * Sets the instant of a paused destination's next attempt, epoch milliseconds. It is a conflict if another
 * process set it first.
 */
export function setProbe(
  { webhook_id, probe_at: before }: Pick<WebhookRow, "webhook_id" | "probe_at">,
  probeAt: number,
): Statement {
  return {
    ...query.updateTable("webhook").set({ probe_at: probeAt })
      .where("webhook_id", "=", webhook_id).where("probe_at", "is", before).compile(),
    mustChange: 1,
  };
}

/** Stores whether a destination is active, with the seal of its row. */
export function setWebhookSeal(
  { webhook_id, active, seal }: Pick<WebhookRow, "webhook_id" | "active"> & { readonly seal: Uint8Array },
): Statement {
  return query.updateTable("webhook").set({ active, seal }).where("webhook_id", "=", webhook_id).compile();
}
