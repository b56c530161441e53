/**
 * Alerts about an organization: its usage raises them, and an administrator acknowledges them. They throttle
 * nothing.
 * Source: specification, Alert and Limits (quota breach); contract, section 5.
 */
import { ALERT_SEVERITY, USAGE_ANOMALY, type UsageAnomaly, usageAnomaly } from "../../domain/alert.ts";
import { ServiceError } from "../../domain/errors.ts";
import { ANOMALY_DAYS } from "../../domain/limits.ts";
import { DAY_MS } from "../../domain/time.ts";
import { readAlert } from "../../store/alerts.ts";
import { alertDays, type AlertRow, alerts } from "../../store/records.ts";
import { nextTurn } from "../../store/turn.ts";
import { busyOrganizationsQuery, dailyUsage } from "../../store/usage.ts";
import { eventDraft } from "../shared/drafts.ts";
import type { Call, Caller } from "../shared/call.ts";
import { adminChain, SYSTEM_CHAIN } from "../../evidence/chain_name.ts";
import { followTampering, systemAlerts, type Watching } from "../shared/tampering.ts";
import { IdempotencyRecord, type IdempotentCall, type MasterAnswer } from "../shared/idempotency.ts";

export interface AcknowledgeOptions {
  readonly alertId: string;
  readonly call: Call;
  readonly idempotency: IdempotentCall;
}

/** Acknowledges an alert; a repeat changes nothing. @throws {ServiceError} NOT_FOUND; IDEMPOTENCY_KEY_REUSED. */
export async function acknowledgeAlert(
  dependencies: Watching,
  { actor }: Pick<Caller, "actor">,
  { alertId, call: { now }, idempotency }: AcknowledgeOptions,
): Promise<MasterAnswer> {
  const { database, installation, writer, world } = dependencies;
  const record = new IdempotencyRecord(installation, { call: idempotency, request: {}, now });
  const known = await readAlert(database, alertId);
  // An alert about the system chain belongs to no organization: it is recorded in that chain alone.
  const system = known === null
    ? (await systemAlerts(dependencies)).find((alert) => alert.alert_id === alertId)
    : undefined;
  if (known === null && system === undefined) {
    throw new ServiceError(
      "NOT_FOUND",
      `There is no alert ${alertId}: \`jiss alerts list\` lists the alerts.`,
    );
  }
  const orgId = known?.org_id ?? null;
  const chain = orgId === null ? SYSTEM_CHAIN : adminChain(orgId);
  const draft = eventDraft(world, {
    type: "ADMIN_ALERT_ACK",
    caller: { actor, orgId, prefix: null },
    now,
    detail: { scope: "ALERT_ACK", alert_id: alertId },
  });
  const answer = await writer.submit<MasterAnswer>({
    needs: [...(orgId === null ? [] : [{ kind: alerts, key: [alertId] }]), record.need],
    chains: [chain],
    plan(unit) {
      const repeated = record.findAnswer(unit);
      if (repeated !== null) return () => repeated;
      const row = orgId === null ? null : unit.get(alerts, [alertId])!;
      const before = row === null ? system!.acknowledged_at : row.acknowledged_at;
      const at = before ?? now;
      if (before === null) {
        if (row !== null) unit.put(alerts, { ...row, acknowledged: 1, acknowledged_at: at });
        unit.append(chain, draft);
      }
      const body = { acknowledged: true, alert_id: alertId, acknowledged_at: new Date(at).toISOString() };
      record.remember(unit, { status: 200, body });
      return () => ({ status: 200, body, replayed: false });
    },
  });
  await followTampering(dependencies);
  return answer;
}

/** Raises an alert for each organization whose usage of the last 24 hours is unusual, once on a UTC day. */
export async function raiseUsageAlerts(dependencies: Watching, now: number): Promise<void> {
  const { database } = dependencies;
  const day = Math.floor(now / DAY_MS);
  const busy = await database.read(busyOrganizationsQuery({ now, kind: USAGE_ANOMALY, day }));
  for (const { org_id: orgId } of busy) {
    const [last, ...before] = await dailyUsage(database, orgId, { to: now, days: 1 + ANOMALY_DAYS });
    const anomaly = usageAnomaly({ last: last!, before });
    if (anomaly !== null) await raise(dependencies, anomaly, { orgId, day, now });
    // Requests do not wait until all organizations are checked.
    await nextTurn();
  }
}

/** @throws {ServiceError} SERVICE_UNAVAILABLE. */
async function raise(
  { log, writer, world }: Watching,
  anomaly: UsageAnomaly,
  { orgId, day, now }: { readonly orgId: string; readonly day: number; readonly now: number },
): Promise<void> {
  const row: AlertRow = {
    alert_id: world.ulid(now),
    org_id: orgId,
    severity: ALERT_SEVERITY,
    kind: USAGE_ANOMALY,
    day,
    detail: JSON.stringify(anomaly),
    created_at: now,
    acknowledged: 0,
    acknowledged_at: null,
  };
  const { alert_id, severity, kind } = row;
  const draft = eventDraft(world, {
    type: "ALERT_RAISED",
    caller: { actor: "system", orgId, prefix: null },
    now,
    detail: { alert_id, severity, kind, ...anomaly },
  });
  const isRaised = await writer.submit({
    needs: [{ kind: alertDays, key: alertDays.keyOf(row) }],
    chains: [adminChain(orgId)],
    plan(unit) {
      // Another process that shares the database raised it first.
      if (unit.get(alertDays, alertDays.keyOf(row)) !== null) return () => false;
      unit.put(alertDays, row);
      unit.put(alerts, row);
      unit.append(adminChain(orgId), draft);
      return () => true;
    },
  });
  if (isRaised) log.warn("usage anomaly", { org_id: orgId, alert_id, severity, ...anomaly });
}
