/**
 * An organization's alerts as its audit log records them: which were raised, and who acknowledged them. The rows of alerts count
 * for nothing, because anybody with the database can change them.
 */
import {
  ALERT_SEVERITY,
  chainTamperedSchema,
  PROBE_LOST_ALERT,
  USAGE_ANOMALY,
  usageAnomalySchema,
} from "../../domain/alert.ts";
import { AlteredError } from "../../domain/errors.ts";
import { alertNamingSchema, type AlertRaised, alertRaisedSchema } from "../../evidence/alerts.ts";
import { adminChain } from "../../evidence/chain_name.ts";
import { type RecordedAlertPlace, recordedAlertsQuery } from "../../store/alerts.ts";
import type { ProvenRecord } from "../../store/proven_pages.ts";
import type { Proving } from "../shared/capabilities.ts";
import { ownEpochs, readAtPositions } from "../shared/proven_records.ts";
import type { AlertContent } from "./words.ts";

const RAISED = "ALERT_RAISED";
/** The acknowledgement by somebody of the organization. */
export const ACKNOWLEDGED = "ALERT_ACKNOWLEDGED";
/** The acknowledgement by the administrator of the service. */
const ACKNOWLEDGED_BY_ADMINISTRATOR = "ADMIN_ALERT_ACK";

const ENTRY_TYPES: readonly string[] = [RAISED, ACKNOWLEDGED, ACKNOWLEDGED_BY_ADMINISTRATOR];

/** An entry that acknowledges an alert. */
export interface Acknowledgement {
  readonly entryId: string;
  /** ISO 8601, UTC. */
  readonly at: string;
  readonly actor: string;
  readonly userId: string | null;
}

/** An alert, as its entries have it. */
export interface RecordedAlert {
  readonly alertId: string;
  readonly severity: string;
  readonly content: AlertContent;
  /** ISO 8601, UTC. */
  readonly createdAt: string;
  /** When it was raised last. */
  readonly raisedAt: string;
  /** The first entry that raised it. */
  readonly first: Pick<ProvenRecord, "entry" | "hash">;
  /** The acknowledgement since it was raised last; null while it is open. */
  readonly acknowledgement: Acknowledgement | null;
  /** All that were ever recorded, oldest first. */
  readonly acknowledgements: readonly Acknowledgement[];
  /** How many entries it has. */
  readonly entries: number;
}

/**
 * A page of an organization's alerts, the last created first; `next` is the position below which the next page begins, null on the
 * last page.
 * @throws {AlteredError} if an entry is not what was signed, or is about another alert than its columns say.
 */
export async function recordedAlerts(
  dependencies: Proving,
  orgId: string,
  { isOpen, below, limit }: {
    readonly isOpen: boolean;
    readonly below: number | null;
    readonly limit: number;
  },
): Promise<{ readonly alerts: readonly RecordedAlert[]; readonly next: number | null }> {
  const places = await dependencies.database.read(
    recordedAlertsQuery({ family: adminChain(orgId), isOpen, alertId: null, below, limit: limit + 1 }),
  );
  const shown = places.slice(0, limit);
  const alerts = await alertsAt(dependencies, orgId, shown);
  return {
    // Somebody may have acknowledged one since it was found.
    alerts: isOpen ? alerts.filter(({ acknowledgement }) => acknowledgement === null) : alerts,
    next: places.length > limit ? shown.at(-1)!.first : null,
  };
}

/** The alert of an id; null if the organization has none. @throws as {@link recordedAlerts}. */
export async function recordedAlert(
  dependencies: Proving,
  orgId: string,
  alertId: string,
): Promise<RecordedAlert | null> {
  const places = await dependencies.database.read(
    recordedAlertsQuery({ family: adminChain(orgId), isOpen: false, alertId, below: null, limit: 1 }),
  );
  const [alert] = await alertsAt(dependencies, orgId, places);
  return alert ?? null;
}

async function alertsAt(
  dependencies: Proving,
  orgId: string,
  places: readonly RecordedAlertPlace[],
): Promise<readonly RecordedAlert[]> {
  if (places.length === 0) return [];
  const positionsOf = new Map(
    places.map((place) => [place, (JSON.parse(place.positions) as number[]).toSorted((a, b) => a - b)]),
  );
  const positions = [...positionsOf.values()].flat().toSorted((a, b) => a - b);
  const epochs = await ownEpochs(dependencies, adminChain(orgId));
  const records = await readAtPositions(dependencies, epochs, positions);
  return places.flatMap((place) => {
    // Retention may have removed one during the look-up.
    const own = positionsOf.get(place)!.flatMap((position) => records.get(position) ?? []);
    return alertOf(place.alert_id, own) ?? [];
  });
}

/** The alert of its entries, which are in their order; null if none of them raises it. */
function alertOf(alertId: string | null, records: readonly ProvenRecord[]): RecordedAlert | null {
  const raised: { readonly record: ProvenRecord; readonly detail: AlertRaised }[] = [];
  const acknowledgements: Acknowledgement[] = [];
  let acknowledgement: Acknowledgement | null = null;
  for (const record of records) {
    const { entry } = record;
    const detail = detailOf(record);
    if (
      alertId === null || !ENTRY_TYPES.includes(entry.event_type) ||
      alertNamingSchema.safeParse(detail).data?.alert_id !== alertId
    ) {
      throw new AlteredError(
        entry.chain,
        `entry ${entry.seq} of ${entry.chain} is another than its row says`,
      );
    }
    if (entry.event_type === RAISED) {
      raised.push({ record, detail: alertRaisedSchema.parse(detail) });
      acknowledgement = null;
    } else {
      const { id, timestamp, actor, user_id = null } = entry;
      const recorded = { entryId: id, at: timestamp, actor, userId: user_id };
      acknowledgements.push(recorded);
      acknowledgement ??= recorded;
    }
  }
  const [first, last] = [raised[0], raised.at(-1)];
  if (first === undefined || last === undefined) return null;
  return {
    alertId: alertId!,
    severity: ALERT_SEVERITY,
    content: contentOf(raised.map(({ detail }) => detail)),
    createdAt: first.record.entry.timestamp,
    raisedAt: last.record.entry.timestamp,
    first: first.record,
    acknowledgement,
    acknowledgements,
    entries: records.length,
  };
}

/** @throws {AlteredError} if it is missing: a detail of the audit log is never erased. */
function detailOf({ entry: { chain, seq }, parts }: ProvenRecord): unknown {
  const text = parts.get("detail")?.text;
  if (text === undefined) throw new AlteredError(chain, `a part of entry ${seq} of ${chain} is missing`);
  return JSON.parse(text);
}

/** The content of an alert: the lost probes of a day are one. */
function contentOf(raised: readonly AlertRaised[]): AlertContent {
  const first = raised[0]!;
  switch (first.kind) {
    case USAGE_ANOMALY:
      return { kind: first.kind, usage: usageAnomalySchema.parse(first) };
    case PROBE_LOST_ALERT:
      return {
        kind: first.kind,
        probeIds: raised.flatMap((one) => one.kind === PROBE_LOST_ALERT ? one.probe_id : []),
      };
    default:
      return { kind: first.kind, fault: chainTamperedSchema.parse(first) };
  }
}
