/** Alerts for the people of an organization: they see what happened, and acknowledge that they have seen it. */
import { PROBE_LOST_ALERT, USAGE_ANOMALY } from "../../domain/alert.ts";
import { ServiceError } from "../../domain/errors.ts";
import {
  ALERT_PROBES_MAX,
  type OrganizationAlert,
  type OwnAcknowledgement,
} from "../../domain/organization_alert.ts";
import { adminChain } from "../../evidence/chain_name.ts";
import { hex } from "../../evidence/crypto.ts";
import { alertEntryCounts } from "../../store/alerts.ts";
import { readRegistered, type Remembering } from "../organizations/registered.ts";
import { drawsOf } from "../probes/held.ts";
import type { Call, OrganizationCaller } from "../shared/call.ts";
import type { Proving, Reading, Writing } from "../shared/capabilities.ts";
import { eventDraft } from "../shared/drafts.ts";
import type { IdempotentCall } from "../shared/idempotency.ts";
import {
  KeyedCall,
  type KnownCall,
  pastRetentionError,
  type RepeatableAnswer,
  repeatedAnswer,
} from "../shared/keyed_calls.ts";
import {
  ACKNOWLEDGED,
  type Acknowledgement,
  type RecordedAlert,
  recordedAlert,
  recordedAlerts,
} from "./recorded.ts";
import { alertNextStep, alertStatement } from "./words.ts";

type Needs = Reading & Proving & Remembering;

/**
 * A page of the organization's alerts, the last created first.
 * @throws {AlteredError}; as {@link readRegistered}.
 */
export async function listAlerts(
  dependencies: Needs,
  { orgId }: OrganizationCaller,
  page: { readonly isOpen: boolean; readonly below: number | null; readonly limit: number },
): Promise<{ readonly alerts: readonly OrganizationAlert[]; readonly next: number | null }> {
  const { alerts, next } = await recordedAlerts(dependencies, orgId, page);
  const names = await namesOf(dependencies, orgId);
  const operators = await operatorsOfProbes(dependencies, orgId, alerts.flatMap(probesNamedBy));
  return { alerts: alerts.map((alert) => shown(alert, { names, operators })), next };
}

/** By user, the present name. */
type Names = ReadonlyMap<string, string | null>;

async function namesOf(dependencies: Needs, orgId: string): Promise<Names> {
  const { users } = await readRegistered(dependencies, orgId);
  return new Map(users.map(({ user_id, name }) => [user_id, name]));
}

/** The lost probes that an alert names. */
function probesNamedBy({ content }: RecordedAlert): readonly string[] {
  return content.kind === PROBE_LOST_ALERT ? content.probeIds.slice(-ALERT_PROBES_MAX) : [];
}

/** By probe, the operator to whom it was shown; without operators who were erased. @throws {AlteredRows}. */
async function operatorsOfProbes(
  dependencies: Needs,
  orgId: string,
  probeIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const draws = await drawsOf(dependencies, orgId, probeIds.map((probe_id) => ({ probe_id })));
  return new Map([...draws].map(([probeId, { operator_id }]) => [probeId, operator_id]));
}

function shown(
  alert: RecordedAlert,
  { names, operators }: { readonly names: Names; readonly operators: ReadonlyMap<string, string> },
): OrganizationAlert {
  const { alertId, severity, content, createdAt, raisedAt, first, acknowledgement } = alert;
  const { chain, seq } = first.entry;
  return {
    alert_id: alertId,
    kind: content.kind,
    severity,
    statement: alertStatement(content),
    next_step: alertNextStep(content.kind),
    created_at: createdAt,
    raised_at: raisedAt,
    usage: content.kind === USAGE_ANOMALY ? content.usage : null,
    probe_count: content.kind === PROBE_LOST_ALERT ? content.probeIds.length : 0,
    probes: probesNamedBy(alert).map((probe_id) => ({
      probe_id,
      operator_id: operators.get(probe_id) ?? null,
    })),
    fault: "fault" in content ? content.fault : null,
    acknowledged_at: acknowledgement?.at ?? null,
    acknowledged_by: acknowledgement === null ? null : acknowledgedBy(acknowledgement, names),
    chain,
    seq,
    entry_hash: hex(first.hash),
  };
}

function acknowledgedBy({ actor, userId }: Acknowledgement, names: Names) {
  return { actor, user_id: userId, user_name: userId === null ? null : names.get(userId) ?? null };
}

/**
 * Records that somebody of the organization has seen an alert. A repeat changes nothing. The administrator's own list keeps the
 * alert, and so does the state of alarm of an altered chain: whoever has an account cannot silence them.
 * @throws {ServiceError} NOT_FOUND; IDEMPOTENCY_KEY_REUSED; GONE; {AlteredError}.
 */
export async function acknowledgeOwnAlert(
  dependencies: Needs & Writing,
  caller: OrganizationCaller,
  { alertId, call, idempotency = null }: {
    readonly alertId: string;
    readonly call: Call;
    readonly idempotency?: IdempotentCall | null;
  },
): Promise<RepeatableAnswer> {
  const { installation, world, writer } = dependencies;
  const { orgId } = caller;
  const family = adminChain(orgId);
  const keyed = new KeyedCall(installation, { orgId, idempotency, request: {}, call });
  const draft = eventDraft(world, {
    type: ACKNOWLEDGED,
    caller,
    now: call.now,
    detail: { alert_id: alertId },
  });
  const names = await namesOf(dependencies, orgId);
  const bodyOf = (acknowledgement: Acknowledgement): OwnAcknowledgement => ({
    acknowledged: true,
    alert_id: alertId,
    acknowledged_at: acknowledgement.at,
    acknowledged_by: acknowledgedBy(acknowledgement, names),
  });
  for (;;) {
    const alert = await recordedAlert(dependencies, orgId, alertId);
    if (alert === null) {
      throw new ServiceError(
        "NOT_FOUND",
        `There is no alert ${alertId}: GET /v1/organization/alerts lists the alerts.`,
      );
    }
    const repeated = (known: KnownCall): RepeatableAnswer => {
      const made = alert.acknowledgements.find(({ entryId }) => entryId === known.reference);
      if (made === undefined) throw pastRetentionError();
      return repeatedAnswer(known, bodyOf(made));
    };
    const counted = [family, alertId] as const;
    const outcome = await writer.submit<RepeatableAnswer | KnownCall | null>({
      needs: [{ kind: alertEntryCounts, key: counted }, ...keyed.needs],
      chains: [family],
      plan(unit) {
        const present = unit.get(alertEntryCounts, counted)!;
        // It was raised again, or acknowledged, since it was read.
        if (present.count !== alert.entries) return () => null;
        const known = keyed.findEarlier(unit);
        if (known !== null) return () => known;
        const before = alert.acknowledgement;
        if (before !== null) {
          keyed.remember(unit, { reference: before.entryId });
          return () => ({ body: { ...bodyOf(before) }, call, replayed: false });
        }
        unit.put(alertEntryCounts, { ...present, count: present.count + 1 });
        const { entry: { id, timestamp, actor, user_id = null } } = unit.append(family, draft);
        keyed.remember(unit, { reference: id });
        const made = { entryId: id, at: timestamp, actor, userId: user_id };
        return () => ({ body: { ...bodyOf(made) }, call, replayed: false });
      },
    });
    if (outcome === null) continue;
    return "body" in outcome ? outcome : repeated(outcome);
  }
}
