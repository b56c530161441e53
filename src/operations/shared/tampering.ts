/**
 * If a chain in the database is not what was signed, a HIGH alert is raised, once for each chain and UTC day,
 * and a state is set for the metrics and readiness. The state stays until the chain is found whole, or an
 * administrator has acknowledged the alert.
 * Source: evidence design, section 8; docs/understand/decisions.md, "Altered rows and chains".
 */
import {
  ALERT_SEVERITY,
  CHAIN_TAMPERED_KINDS,
  type ChainTampered,
  chainTamperedSchema,
  mustLeaveRotation,
} from "../../domain/alert.ts";
import { AlteredError, BehindIssued } from "../../domain/errors.ts";
import {
  adminChain,
  isEvidenceChain,
  organizationOf,
  parseChain,
  SYSTEM_CHAIN,
} from "../../evidence/chain_name.ts";
import { orNull } from "../../evidence/or_null.ts";
import { errorFields } from "../../observability/log.ts";
import { DAY_MS } from "../../domain/time.ts";
import { alertsOfKindsQuery } from "../../store/alerts.ts";
import { placesOfEvents } from "../../store/chains.ts";
import { readProven } from "../../store/proofs.ts";
import { alertDays, type AlertRow, alerts } from "../../store/records.ts";
import { AlteredRows } from "../../store/seals.ts";
import type { Logging, Proving, Reading, Writing } from "./capabilities.ts";
import { originOf } from "./deployment.ts";
import { eventDraft } from "./drafts.ts";

/** The first fault that was found in a chain. */
export type Tampering = Pick<ChainTampered, "chain" | "code" | "seq" | "what">;

/** The dependencies for raising an alert of an altered chain. */
export interface Watching extends Proving, Writing, Logging {
  /** null if no alert is to be raised. */
  readonly tampered: TamperedChains | null;
}

/** The fault that a read or a write met. */
export function tamperingOf(error: AlteredError | BehindIssued): Tampering {
  const { chain, what } = error;
  return { chain, code: error instanceof BehindIssued ? "ROLLBACK_DETECTED" : "ALTERED", seq: null, what };
}

/** Milliseconds after which an alert that could not be recorded is tried again. */
const RETRY_MS = 60_000;

interface OpenTampering {
  readonly tampering: Tampering;
  /** Instant at which raising the alert was tried last, epoch milliseconds. */
  readonly triedAt: number;
  /** Instant of the last alert, epoch milliseconds; null if it could not be recorded anywhere. */
  readonly raisedAt: number | null;
  readonly alertId: string | null;
}

/** The families of chains that this process knows to be altered. */
export class TamperedChains {
  readonly #open = new Map<string, OpenTampering>();
  /** The fault that an administrator has acknowledged, by family: the same fault raises no other alert. */
  readonly #accepted = new Map<string, string>();
  /** Ids of counted alerts: if their chain is found whole later, they are not counted again. */
  readonly #countedIds = new Set<string>();
  #raising: Promise<void> = Promise.resolve();

  get families(): readonly string[] {
    return [...this.#open.keys()];
  }

  /** True if requests should go to another host, or wait: see docs/understand/decisions.md. */
  get mustLeaveRotation(): boolean {
    return mustLeaveRotation(this.families);
  }

  get(family: string): OpenTampering | undefined {
    return this.#open.get(family);
  }

  isAccepted(family: string, tampering: Tampering): boolean {
    return this.#accepted.get(family) === nameOf(tampering);
  }

  add(family: string, open: OpenTampering): void {
    this.#open.set(family, open);
    if (open.alertId !== null) this.#countedIds.add(open.alertId);
  }

  /** True if this process has not counted the alert yet. */
  isNewAlert(alertId: string): boolean {
    return !this.#countedIds.has(alertId);
  }

  /** Clears a family after its chain was verified as a whole without a fault. */
  clear(family: string): void {
    this.#open.delete(family);
    this.#accepted.delete(family);
  }

  accept(family: string, tampering: Tampering): void {
    this.#accepted.set(family, nameOf(tampering));
    this.#open.delete(family);
  }

  /** Runs one after another, so that many requests that meet the same row raise one alert. */
  inTurn(run: () => Promise<void>): Promise<void> {
    this.#raising = this.#raising.then(run);
    return this.#raising;
  }
}

function nameOf({ chain, code, seq, what }: Tampering): string {
  return `${chain} ${code} ${seq} ${what}`;
}

/** The family of a chain; the system's if the name is no chain's. */
function familyOfChain(chain: string): string {
  return parseChain(chain)?.family ?? SYSTEM_CHAIN;
}

/**
 * Raises the alert of a chain that is not what was signed, whether a verification or a read found it. Never
 * throws: if nothing can be recorded, the log and this process's state still hold it.
 */
export function raiseTampering(dependencies: Watching, tampering: Tampering, now: number): Promise<void> {
  const { tampered, log } = dependencies;
  if (tampered === null) return Promise.resolve();
  return tampered.inTurn(async () => {
    try {
      await raiseInTurn(dependencies, tampered, { tampering, now });
    } catch (error) {
      log.error("an alert of an altered chain could not be raised", { audit: true, ...errorFields(error) });
    }
  });
}

/** Raises the alert of rows that the start found altered, because of which nothing is recorded. */
export async function raiseSuspicion(
  dependencies: Watching & Pick<Reading, "lock">,
  now: number,
): Promise<void> {
  const { family, altered } = dependencies.lock.suspected() ?? {};
  if (family === undefined || altered === undefined) return;
  await raiseTampering(dependencies, tamperingOf(new AlteredRows(family, altered)), now);
}

/**
 * Raises the alert of an entry that is shown although a part of it, or its row, is not what was recorded.
 * @param options.shown the answer that shows the entry.
 */
export function reportAlteredRecord(
  dependencies: Watching,
  { chain, seq, shown, now }: {
    readonly chain: string;
    readonly seq: number;
    readonly shown: string;
    readonly now: number;
  },
): void {
  const error = new AlteredError(
    chain,
    `entry ${seq} of ${chain}, a part of it or its row is not what was recorded`,
  );
  void raiseTampering(dependencies, tamperingOf(error), now);
  dependencies.log.error(`${shown} shows a record that was altered`, { audit: true, chain, seq });
}

async function raiseInTurn(
  dependencies: Watching,
  tampered: TamperedChains,
  { tampering, now }: { readonly tampering: Tampering; readonly now: number },
): Promise<void> {
  const family = familyOfChain(tampering.chain);
  const day = dayOf(now);
  const known = tampered.get(family);
  if (known?.raisedAt != null && dayOf(known.raisedAt) === day) return;
  // An alert that nothing can record is tried again, but not with each request that meets the fault.
  if (known !== undefined && known.raisedAt === null && now - known.triedAt < RETRY_MS) return;
  if (tampered.isAccepted(family, tampering)) return;
  tampered.add(family, { tampering, triedAt: now, raisedAt: null, alertId: null });
  const row = rowOf(dependencies, { family, tampering, now });
  const alertId = await recordAlert(dependencies, { family, row });
  tampered.add(family, { tampering, triedAt: now, raisedAt: alertId === null ? null : now, alertId });
  dependencies.log.error("alert: a chain in the database is not what was signed", {
    audit: true,
    alert_id: alertId,
    severity: ALERT_SEVERITY,
    kind: row.kind,
    ...tampering,
  });
}

function dayOf(at: number): number {
  return Math.floor(at / DAY_MS);
}

/**
 * An alert's row, before it is known which chain takes it. An alert about the system chain has no
 * organization.
 */
type AlertDraft = Omit<AlertRow, "org_id"> & { readonly org_id: string | null };

function rowOf(
  { world }: Pick<Writing, "world">,
  { family, tampering, now }: {
    readonly family: string;
    readonly tampering: Tampering;
    readonly now: number;
  },
): AlertDraft {
  return {
    alert_id: world.ulid(now),
    org_id: organizationOf(family),
    severity: ALERT_SEVERITY,
    kind: kindOf(family),
    day: dayOf(now),
    detail: JSON.stringify({ family, ...tampering }),
    created_at: now,
    acknowledged: 0,
    acknowledged_at: null,
  };
}

function kindOf(family: string): string {
  if (family === SYSTEM_CHAIN) return CHAIN_TAMPERED_KINDS.system;
  return isEvidenceChain(family) ? CHAIN_TAMPERED_KINDS.evidence : CHAIN_TAMPERED_KINDS.admin;
}

/**
 * Writes the alert with its event on the organization's audit log, else on the system chain. If neither can
 * be written, the row is written alone.
 * @returns the id of the alert of this day; null if nothing can be written.
 */
async function recordAlert(
  dependencies: Watching,
  { family, row }: { readonly family: string; readonly row: AlertDraft },
): Promise<string | null> {
  const { org_id: orgId } = row;
  const chains = orgId === null ? [SYSTEM_CHAIN] : [adminChain(orgId), SYSTEM_CHAIN, null];
  if (orgId === null) {
    const earlier = (await systemAlerts(dependencies)).find(({ day }) => day === row.day);
    if (earlier !== undefined) return earlier.alert_id;
  }
  for (const chain of chains) {
    try {
      return await writeAlert(dependencies, { row, chain });
    } catch (error) {
      dependencies.log.warn("an alert cannot be recorded in this chain", {
        chain,
        of: family,
        ...errorFields(error),
      });
    }
  }
  return null;
}

/** @returns the id of the alert of this day. */
async function writeAlert(
  dependencies: Watching,
  { row, chain }: { readonly row: AlertDraft; readonly chain: string | null },
): Promise<string> {
  const { writer, world } = dependencies;
  const { alert_id, org_id: orgId, severity, kind, detail, created_at: now } = row;
  const earlier = orgId === null ? null : await findAlertOfDay(dependencies, { ...row, org_id: orgId });
  if (earlier?.isRaised === true) return earlier.alertId;
  const draft = eventDraft(world, {
    type: "ALERT_RAISED",
    caller: { actor: "system", orgId: chain === null ? null : organizationOf(chain), prefix: null },
    now,
    detail: { alert_id, severity, kind, ...JSON.parse(detail) },
  });
  const own = orgId === null ? null : { ...row, org_id: orgId };
  return await writer.submit({
    needs: own === null ? [] : [
      { kind: alertDays, key: alertDays.keyOf(own) },
      ...(earlier === null ? [] : [{ kind: alerts, key: [earlier.alertId] }]),
    ],
    chains: chain === null ? [] : [chain],
    plan(unit) {
      if (own !== null) {
        const known = unit.get(alertDays, alertDays.keyOf(own));
        // Another process raised it first, or another alert was acknowledged today.
        if (known !== null && known.alert_id !== earlier?.alertId) return () => known.alert_id;
        if (known !== null) unit.remove(alerts, [known.alert_id]);
        unit.put(alertDays, own);
        unit.put(alerts, own);
      }
      if (chain !== null) unit.append(chain, draft);
      return () => alert_id;
    },
  });
}

/** The stored alert of a chain and day; `isRaised` is true if a signed entry says that it was raised. */
async function findAlertOfDay(
  dependencies: Watching,
  { org_id, kind, day }: AlertRow,
): Promise<{ readonly alertId: string; readonly isRaised: boolean } | null> {
  const [row] = await dependencies.database.read(
    alertDays.load(JSON.stringify([[org_id, kind, String(day)]])),
  );
  if (row === undefined) return null;
  for (const family of [adminChain(org_id), SYSTEM_CHAIN]) {
    const raised = await provenDetails(dependencies, { family, eventType: "ALERT_RAISED" });
    const isOwn = raised.some(({ detail }) => detail.alert_id === row.alert_id && detail.kind === kind);
    if (isOwn) return { alertId: row.alert_id, isRaised: true };
  }
  return { alertId: row.alert_id, isRaised: false };
}

// ---- alerts about the system chain --------------------------------------------------------------------------

/** An alert about the system chain: it has no row, and is recorded in that chain alone. */
export interface SystemAlert {
  readonly alert_id: string;
  readonly kind: string;
  readonly severity: string;
  readonly day: number;
  readonly created_at: number;
  readonly detail: ChainTampered;
  readonly acknowledged_at: number | null;
}

/** Alerts about the system chain, newest first; entries that cannot be read are left out. */
export async function systemAlerts(dependencies: Proving): Promise<readonly SystemAlert[]> {
  const acknowledged = await acknowledgements(dependencies, SYSTEM_CHAIN);
  const raised = await provenDetails(dependencies, { family: SYSTEM_CHAIN, eventType: "ALERT_RAISED" });
  return raised.flatMap(({ detail, at }) => {
    const tampered = chainTamperedSchema.safeParse(detail).data;
    if (tampered === undefined || detail.kind !== CHAIN_TAMPERED_KINDS.system) return [];
    const alert_id = String(detail.alert_id);
    return [{
      alert_id,
      kind: CHAIN_TAMPERED_KINDS.system,
      severity: ALERT_SEVERITY,
      day: dayOf(at),
      created_at: at,
      detail: tampered,
      acknowledged_at: acknowledged.get(alert_id) ?? null,
    }];
  }).toReversed();
}

/** Instant of each acknowledgement by alert, from signed entries: a column alone counts for nothing. */
async function acknowledgements(
  dependencies: Proving,
  family: string,
): Promise<ReadonlyMap<string, number>> {
  const found = await provenDetails(dependencies, { family, eventType: "ADMIN_ALERT_ACK" });
  return new Map(found.map(({ detail, at }) => [String(detail.alert_id), at]));
}

async function provenDetails(
  dependencies: Proving,
  event: { readonly family: string; readonly eventType: string },
): Promise<readonly { readonly detail: Record<string, unknown>; readonly at: number }[]> {
  const found = [];
  for (const { chain, seq } of await placesOfEvents(dependencies.database, event)) {
    const origin = originOf(dependencies, chain);
    const proven = await readProven(dependencies, { chain, origin, seq }).catch(() => null);
    const text = proven?.stored.parts.get("detail")?.text;
    // The column by which the entry was found is not signed.
    if (proven?.stored.entry.event_type !== event.eventType || text === undefined) continue;
    found.push({ detail: JSON.parse(text), at: Date.parse(proven.stored.entry.timestamp) });
  }
  return found;
}

// ---- alerts of other processes and earlier starts --------------------------------------------------------

/**
 * Counts the alerts of other processes and of earlier starts, and applies their acknowledgements. An alert
 * that is open counts. So does one whose acknowledgement is in no signed entry.
 */
export async function followTampering(dependencies: Proving & Pick<Watching, "tampered">): Promise<void> {
  const { tampered, database } = dependencies;
  if (tampered === null) return;
  const kinds = Object.values(CHAIN_TAMPERED_KINDS);
  const rows = await database.read(alertsOfKindsQuery(kinds));
  for (const row of rows) {
    const tampering = chainTamperedSchema.safeParse(orNull(() => JSON.parse(row.detail))).data;
    if (tampering === undefined) continue;
    if (tampered.isAccepted(tampering.family, tampering)) continue;
    const isAcknowledged = row.acknowledged === 1 &&
      (await acknowledgements(dependencies, adminChain(row.org_id))).has(row.alert_id);
    countAlert(tampered, { ...row, tampering, isAcknowledged });
  }
  const [system] = await systemAlerts(dependencies);
  if (system === undefined) return;
  const isAcknowledged = system.acknowledged_at !== null;
  countAlert(tampered, { ...system, tampering: system.detail, isAcknowledged });
}

/**
 * Counts one alert. An alert that this process already counts is not counted again: the chain may be found
 * whole since.
 */
function countAlert(
  tampered: TamperedChains,
  { alert_id: alertId, created_at: raisedAt, tampering, isAcknowledged }:
    & Pick<AlertRow, "alert_id" | "created_at">
    & { readonly tampering: ChainTampered; readonly isAcknowledged: boolean },
): void {
  const { family } = tampering;
  const known = tampered.get(family);
  if (isAcknowledged) {
    if (known === undefined || known.alertId === alertId) tampered.accept(family, tampering);
  } else if (tampered.isNewAlert(alertId)) {
    tampered.add(family, { tampering, triedAt: raisedAt, raisedAt, alertId });
  }
}
