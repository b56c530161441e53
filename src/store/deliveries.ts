/** Reads over the log of deliveries. */
import type { CompiledQuery } from "kysely";
import { type Database, query } from "./database.ts";
import type { DeliveryRow, EventRow } from "./outbox.ts";

/** The newest deliveries of a destination, newest first; `status` selects those that are in it. */
export function newestDeliveriesQuery(
  webhookId: string,
  { status, limit }: { readonly status?: string | undefined; readonly limit: number },
): CompiledQuery<DeliveryRow> {
  const newest = query.selectFrom("webhook_delivery").selectAll().where("webhook_id", "=", webhookId)
    .orderBy("created_at", "desc").orderBy("delivery_id").limit(limit);
  return (status === undefined ? newest : newest.where("status", "=", status)).compile();
}

/** A delivery of a destination; null if the log does not hold it. */
export async function readDelivery(
  database: Database,
  { webhookId, deliveryId }: { readonly webhookId: string; readonly deliveryId: string },
): Promise<DeliveryRow | null> {
  const [row] = await database.read(
    query.selectFrom("webhook_delivery").selectAll().where("delivery_id", "=", deliveryId)
      .where("webhook_id", "=", webhookId).compile(),
  );
  return row ?? null;
}

/** The event of an organization that a delivery reports; null if the outbox does not hold it. */
export async function readEventOfDelivery(
  database: Database,
  { orgId, deliveryId }: { readonly orgId: string; readonly deliveryId: string },
): Promise<EventRow | null> {
  const [row] = await database.read(
    query.selectFrom("webhook_delivery as delivery")
      .innerJoin("webhook_event as event", "event.sequence", "delivery.sequence").selectAll("event")
      .where("delivery_id", "=", deliveryId).where("org_id", "=", orgId).compile(),
  );
  return row ?? null;
}
