/**
 * An organization's webhook destinations: registers, lists and removes them, and keeps their secrets wrapped
 * under the secrets key in use.
 * Source: specification, Self-serve admin and Events; contract, sections 5 and 8.14.
 */
import type { Proving, Reading, Secrets, Sending, Writing } from "../shared/capabilities.ts";
import { ServiceError } from "../../domain/errors.ts";
import { DEFAULT_WEBHOOK_EVENTS } from "../../domain/enums.ts";
import type { LastDelivery, WebhookRequest } from "../../domain/webhook.ts";
import { WEBHOOKS_MAX } from "../../domain/limits.ts";
import { WRAP_IV_BYTES } from "../../keys/secrets.ts";
import {
  deriveSigningSecret,
  formatSigningSecret,
  unwrapSigningSecret,
  wrapSigningSecret,
} from "../../keys/webhook_secret.ts";
import { startAtNewestEvent } from "../../store/outbox.ts";
import { webhookCounts, type WebhookRow, webhooks } from "../../store/records.ts";
import type { UnitOfWork } from "../../store/unit_of_work.ts";
import { readWebhooks, replaceWebhookSecret } from "../../store/webhooks.ts";
import { allowedAddresses, TargetRefused } from "../../webhooks/target.ts";
import { eventDraft } from "../shared/drafts.ts";
import type { Call, OrganizationCaller } from "../shared/call.ts";
import { adminChain } from "../../evidence/chain_name.ts";
import type { World } from "../../domain/world.ts";
import { readRegistered, type Remembering } from "../organizations/registered.ts";
import type { IdempotentCall } from "../shared/idempotency.ts";
import { KeyedCall, type KnownCall, type RepeatableAnswer, repeatedAnswer } from "../shared/keyed_calls.ts";

/** The dependencies of these operations. */
type Needs =
  & Reading
  & Pick<Proving, "installation">
  & Writing
  & Pick<Secrets, "secretsKeys">
  & Sending
  & Remembering;

/** Registers a destination. Its signing secret is only in this answer, and not in that of a repeated call. */
export async function registerWebhook(
  dependencies: Needs,
  caller: OrganizationCaller,
  { request, call, idempotency = null }: {
    readonly request: WebhookRequest;
    readonly call: Call;
    readonly idempotency?: IdempotentCall | null;
  },
): Promise<RepeatableAnswer> {
  const { installation, secretsKeys, world, writer } = dependencies;
  const { orgId } = caller;
  const { now } = call;
  const { url, secret: sharedSecret, events = DEFAULT_WEBHOOK_EVENTS } = request;
  const keyed = new KeyedCall(installation, { orgId, idempotency, request: { ...request, events }, call });
  const repeatedRegistration = (known: KnownCall): RepeatableAnswer =>
    repeatedAnswer(known, {
      id: known.reference,
      url,
      events: [...events],
      active: true,
      created_at: new Date(known.call.now).toISOString(),
      already_provisioned: true,
    });
  const before = await keyed.lookUp(dependencies);
  // A repeated call gets its answer, even if the host would be refused by now.
  if (before !== null) return repeatedRegistration(before);
  await requireAllowed(dependencies, url);
  const id = world.ulid(now);
  const secret = deriveSigningSecret(sharedSecret, { installationKey: installation.key, webhookId: id });
  const row: WebhookRow = {
    webhook_id: id,
    org_id: orgId,
    url,
    events: events.join(" "),
    active: 1,
    wrapped_secret: wrap(secret, { webhookId: id, secretsKeys, world }),
    created_at: now,
    cursor: 0,
    failures: 0,
    failing_since: null,
    paused_at: null,
    probe_at: null,
    last_delivery: null,
  };
  const draft = eventDraft(world, {
    type: "WEBHOOK_REGISTERED",
    caller,
    now,
    detail: { id, host: new URL(url).host, events: [...events] },
  });
  return await writer.submit({
    needs: [{ kind: webhookCounts, key: [orgId] }, { kind: webhooks, key: [id] }, ...keyed.needs],
    chains: [adminChain(orgId)],
    plan(unit) {
      const known = keyed.findEarlier(unit);
      if (known !== null) return () => repeatedRegistration(known);
      const count = unit.get(webhookCounts, [orgId])?.count ?? 0;
      if (count >= WEBHOOKS_MAX) {
        throw new ServiceError(
          "CONFLICT",
          `There are ${count} webhooks, and an organization has at most ${WEBHOOKS_MAX}: remove one first.`,
        );
      }
      unit.put(webhookCounts, { org_id: orgId, count: count + 1 });
      unit.put(webhooks, row);
      unit.execute(startAtNewestEvent(id));
      unit.append(adminChain(orgId), draft);
      keyed.remember(unit, { reference: id });
      return () => ({
        body: { ...webhookBody(row), signing_secret: formatSigningSecret(secret) },
        call,
        replayed: false,
      });
    },
  });
}

/** @throws {ServiceError} VALIDATION_FAILED if nothing may be sent there. */
async function requireAllowed({ targets }: Needs, url: string): Promise<void> {
  try {
    await allowedAddresses(new URL(url), targets);
  } catch (error) {
    if (!(error instanceof TargetRefused)) throw error;
    throw new ServiceError("VALIDATION_FAILED", `Change url: ${error.message}.`, {
      details: [{ path: "url", message: error.message }],
    });
  }
}

/** The destinations, the oldest first, without their secrets. The access is recorded first. */
export async function listWebhooks(
  dependencies: Needs,
  caller: OrganizationCaller,
  { now }: Call,
): Promise<Record<string, unknown>> {
  const { world, writer } = dependencies;
  const { orgId } = caller;
  const draft = eventDraft(world, { type: "WEBHOOK_LISTED", caller, now, detail: {} });
  await writer.submit({
    needs: [],
    chains: [adminChain(orgId)],
    plan(unit) {
      unit.append(adminChain(orgId), draft);
      return () => undefined;
    },
  });
  const { webhooks: rows } = await readRegistered(dependencies, orgId);
  return {
    webhooks: rows.map(listedWebhook),
    count: rows.length,
  };
}

/** A destination as the lists of destinations and of deliveries show it. */
export function listedWebhook(row: WebhookRow): Record<string, unknown> {
  const last: LastDelivery | null = row.last_delivery === null ? null : JSON.parse(row.last_delivery);
  return { ...webhookBody(row), last_delivery: last };
}

/** @throws {ServiceError} NOT_FOUND if the organization has no such destination. */
export async function removeWebhook(
  { world, writer }: Needs,
  caller: OrganizationCaller,
  { id, call: { now } }: { readonly id: string; readonly call: Call },
): Promise<Record<string, unknown>> {
  const { orgId } = caller;
  const draft = eventDraft(world, { type: "WEBHOOK_REMOVED", caller, now, detail: { id } });
  return await writer.submit({
    needs: [{ kind: webhooks, key: [id] }],
    chains: [adminChain(orgId)],
    plan(unit) {
      requireWebhook(unit, { orgId, id });
      unit.remove(webhooks, [id]);
      unit.append(adminChain(orgId), draft);
      return () => ({ deleted: true, id });
    },
  });
}

/** @throws {ServiceError} NOT_FOUND if the organization has no such destination. */
export function requireWebhook(
  unit: UnitOfWork,
  { orgId, id }: { readonly orgId: string; readonly id: string },
): WebhookRow {
  const row = unit.get(webhooks, [id]);
  if (row?.org_id === orgId) return row;
  throw new ServiceError(
    "NOT_FOUND",
    "There is no such webhook: GET /v1/admin/webhook/list lists the webhooks.",
  );
}

function webhookBody(
  { webhook_id: id, url, events, active, created_at }: WebhookRow,
): Record<string, unknown> {
  return {
    id,
    url,
    events: events.split(" "),
    active: active === 1,
    created_at: new Date(created_at).toISOString(),
  };
}

// ---- secrets at rest --------------------------------------------------------------------------------------

type Wrapping = Pick<Secrets, "secretsKeys"> & { readonly world: Pick<World, "random"> };

function wrap(
  secret: Uint8Array,
  { webhookId, secretsKeys, world }: Wrapping & { readonly webhookId: string },
): Uint8Array {
  return wrapSigningSecret(secret, { key: secretsKeys[0]!, webhookId, iv: world.random(WRAP_IV_BYTES) });
}

/** All destinations with their opened secrets; `index` 0 is the secrets key in use; null if none opens it. */
export async function webhookWrappings(
  { database, secretsKeys }: Pick<Reading, "database"> & Pick<Secrets, "secretsKeys">,
): Promise<
  readonly { readonly row: WebhookRow; readonly opened: { plain: Uint8Array; index: number } | null }[]
> {
  const rows = await readWebhooks(database);
  return rows.map((row) => ({
    row,
    opened: unwrapSigningSecret(row.wrapped_secret, { keys: secretsKeys, webhookId: row.webhook_id }),
  }));
}

/** Wraps secrets that an older secrets key wrapped anew, under the key in use. */
export async function rewrapWebhookSecrets(
  { database, ...wrapping }: Pick<Reading, "database"> & Wrapping,
): Promise<void> {
  const old = (await webhookWrappings({ database, ...wrapping })).filter(({ opened }) =>
    opened !== null && opened.index > 0
  );
  if (old.length === 0) return;
  await database.batch(
    old.map(({ row, opened }) =>
      replaceWebhookSecret(row, wrap(opened!.plain, { webhookId: row.webhook_id, ...wrapping }))
    ),
  );
}
