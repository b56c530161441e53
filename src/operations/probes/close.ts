/**
 * Ends probes that nobody decided: an organization recalls one, an operator with an open one is erased, or its time is
 * over. A probe that was shown and never decided may have been taken for a live case. It must not happen unnoticed, so
 * it is an entry and an alert.
 */
import type { Logging, Proving, Reading, Writing } from "../shared/capabilities.ts";
import { isUnavailable, ServiceError } from "../../domain/errors.ts";
import { ALERT_SEVERITY, PROBE_LOST_ALERT, type ProbesLost } from "../../domain/alert.ts";
import { DAY_MS } from "../../domain/time.ts";
import { adminChain, evidenceChain } from "../../evidence/chain_name.ts";
import type { EntryDraft } from "../../evidence/entry.ts";
import type { ProbeDetail } from "../../evidence/probes.ts";
import {
  overdueOrganizationsQuery,
  type ProbeRow,
  probes,
  probeStocks,
  readOverdueProbes,
  readUnopenedProbes,
} from "../../store/probes.ts";
import { alertDays, type AlertRow, alerts } from "../../store/records.ts";
import type { Need, UnitOfWork } from "../../store/unit_of_work.ts";
import type { Call, OrganizationCaller } from "../shared/call.ts";
import { makePart } from "../shared/drafts.ts";
import type { Watching } from "../shared/tampering.ts";
import { drawEntry, type DrawnEntry, probeEntry, serviceOf } from "./entries.ts";
import { forOneOf } from "./for_one_of.ts";
import { type OpenedSeal, openSeal } from "./seal.ts";

/** The dependencies of these operations. */
type Needs = Reading & Proving & Writing;

/** The probe of a call. @throws {ServiceError} NOT_FOUND. */
function requireProbe(unit: UnitOfWork, orgId: string, probeId: string): ProbeRow {
  const row = unit.get(probes, [orgId, probeId]);
  if (row !== null) return row;
  throw new ServiceError("NOT_FOUND", `There is no probe ${probeId}: GET /v1/probes lists the probes.`);
}

/**
 * Withdraws a probe that was not decided yet. A repeat changes nothing.
 * @throws {ServiceError} NOT_FOUND; CONFLICT if it was decided or is lost.
 */
export async function recallProbe(
  dependencies: Needs,
  caller: OrganizationCaller,
  { probeId, call: { now } }: { readonly probeId: string; readonly call: Call },
): Promise<Record<string, unknown>> {
  const { database, world, writer } = dependencies;
  const { orgId } = caller;
  const drawn = drawEntry(world, now);
  const [found] = await database.read(probes.load(JSON.stringify([[orgId, probeId]])));
  const stratum = found === undefined ? [] : [{ kind: probeStocks, key: stratumOf(found) }];
  return await writer.submit({
    needs: [{ kind: probes, key: [orgId, probeId] }, ...stratum],
    chains: [evidenceChain(orgId)],
    plan(unit) {
      const row = requireProbe(unit, orgId, probeId);
      const recalled = row.state === "recalled"
        ? row
        : planRecall(unit, dependencies, { row, caller, now, drawn, reason: "request" });
      return () => ({
        probe_id: probeId,
        state: "recalled",
        recalled_at: new Date(recalled.closed_at!).toISOString(),
      });
    },
  });
}

function stratumOf({ org_id, domain, stakes }: ProbeRow): readonly [string, string, string] {
  return [org_id, domain, stakes];
}

/** Whether a probe still waits for its draw or its decision. */
export function isUnopened({ state }: ProbeRow): boolean {
  return state === "sealed" || state === "drawn";
}

/** Writes the entry that opens the seal of a probe, and ends its row with it. */
export function planClosing(
  unit: UnitOfWork,
  { row, state, seal, entry: draft, departed = null }: {
    readonly row: ProbeRow;
    readonly state: "decided" | "recalled" | "lost";
    readonly seal: OpenedSeal;
    readonly entry: EntryDraft;
    /** Whether the reviewer departed from the advice; null without a decision. */
    readonly departed?: boolean | null;
  },
): ProbeRow {
  const { position, entry } = unit.append(evidenceChain(row.org_id), draft);
  const after: ProbeRow = {
    ...row,
    state,
    closed_position: position,
    closed_at: Date.parse(entry.timestamp),
    ai_correct: seal.ai_correct ? 1 : 0,
    departed: departed === null ? null : departed ? 1 : 0,
  };
  unit.put(probes, after);
  return after;
}

/** Opens a probe that nobody decided. @throws {ServiceError} CONFLICT if it is opened already. */
export function planRecall(
  unit: UnitOfWork,
  dependencies: Pick<Proving, "crypto" | "installation">,
  { row, caller, now, drawn, reason }: {
    readonly row: ProbeRow;
    readonly caller: OrganizationCaller;
    readonly now: number;
    readonly drawn: DrawnEntry;
    readonly reason: ProbeDetail<"PROBE_RECALLED">["reason"];
  },
): ProbeRow {
  const { probe_id, state } = row;
  if (!isUnopened(row)) {
    throw new ServiceError(
      "CONFLICT",
      `Probe ${probe_id} is ${state}: only a probe that nobody decided can be recalled.`,
    );
  }
  const seal = openSeal(dependencies, row);
  const entry = probeEntry(drawn, {
    event: "PROBE_RECALLED",
    caller,
    now,
    content: { probe_id, reason, ...seal },
  });
  const after = planClosing(unit, { row, state: "recalled", seal, entry });
  // After a restore all of a stratum are recalled, and nothing is drawn in the same commit.
  if (state === "sealed" && reason !== "restore") {
    const stock = unit.get(probeStocks, stratumOf(row))!;
    const ids: readonly string[] = JSON.parse(stock.ids);
    unit.put(probeStocks, { ...stock, ids: JSON.stringify(ids.filter((id) => id !== probe_id)) });
  }
  return after;
}

/** Recalls of all probes of all organizations that are not opened. */
export interface PreparedRecalls {
  readonly needs: readonly Need[];
  plan(unit: UnitOfWork): void;
}

/**
 * Prepares the end of every probe that is not opened: after a restore nobody knows who has seen it.
 * Source: evidence-format.md, section 11.
 */
export async function prepareRecalls(dependencies: Needs, now: number): Promise<PreparedRecalls> {
  const { database, world } = dependencies;
  const keys: (readonly [orgId: string, probeId: string])[] = [];
  for await (const page of readUnopenedProbes(database)) {
    keys.push(...page.map(({ org_id, probe_id }) => [org_id, probe_id] as const));
  }
  const drawn = keys.map(() => drawEntry(world, now));
  return {
    needs: keys.map((key) => ({ kind: probes, key })),
    plan(unit) {
      for (const [index, key] of keys.entries()) {
        planRecall(unit, dependencies, {
          row: unit.get(probes, key)!,
          caller: serviceOf(key[0]),
          now,
          drawn: drawn[index]!,
          reason: "restore",
        });
      }
    },
  };
}

/** Ends every probe of every organization whose time is over, each with its entry and its alert. */
export async function endOverdueProbes(dependencies: Needs & Watching, now: number): Promise<void> {
  for (const { org_id } of await dependencies.database.read(overdueOrganizationsQuery(now))) {
    await forOneOf(dependencies, {
      orgId: org_id,
      now,
      failure: "lost probes could not be recorded",
      run: () => endOverdueProbesOf(dependencies, { orgId: org_id, now }),
    });
  }
}

/**
 * Ends every probe of an organization whose time is over.
 * @throws what prevented the first that could not be ended; the others are.
 */
export async function endOverdueProbesOf(
  dependencies: Needs & Logging,
  { orgId, now }: { readonly orgId: string; readonly now: number },
): Promise<void> {
  const failures: unknown[] = [];
  for await (const page of readOverdueProbes(dependencies.database, { orgId, now })) {
    for (const { probe_id } of page) {
      try {
        for (let isEnded = false; !isEnded;) {
          isEnded = await endOverdue(dependencies, { orgId, probeId: probe_id, now });
        }
      } catch (error) {
        if (isUnavailable(error)) throw error;
        failures.push(error);
      }
    }
  }
  if (failures.length > 0) throw failures[0];
}

/** @returns false if another commit raised the day's alert meanwhile: it is to be tried again. */
async function endOverdue(
  dependencies: Needs & Logging,
  { orgId, probeId, now }: { readonly orgId: string; readonly probeId: string; readonly now: number },
): Promise<boolean> {
  const { log, world, writer } = dependencies;
  const drawn = { entry: drawEntry(world, now), alert: drawEntry(world, now) };
  const day = Math.floor(now / DAY_MS);
  const told = alertDays.keyOf({ org_id: orgId, kind: PROBE_LOST_ALERT, day, alert_id: "" });
  const [known] = await dependencies.database.read(alertDays.load(JSON.stringify([told])));
  const alertId = known?.alert_id ?? world.ulid(now);
  const caller = serviceOf(orgId);
  const outcome = await writer.submit<"lost" | "ended before" | "overtaken">({
    needs: [
      { kind: probes, key: [orgId, probeId] },
      { kind: alertDays, key: told },
      { kind: alerts, key: [alertId] },
    ] satisfies readonly Need[],
    chains: [evidenceChain(orgId), adminChain(orgId)],
    plan(unit) {
      const row = unit.get(probes, [orgId, probeId]);
      if (row?.state !== "drawn" || row.expires_at! > now) return () => "ended before";
      const day = unit.get(alertDays, told);
      if (day !== null && day.alert_id !== alertId) return () => "overtaken";
      const seal = openSeal(dependencies, row);
      const content = { probe_id: probeId, ...seal };
      const entry = probeEntry(drawn.entry, { event: "PROBE_LOST", caller, now, content });
      planClosing(unit, { row, state: "lost", seal, entry });
      planAlert(unit, { orgId, alertId, now, probeId, drawn: drawn.alert });
      return () => "lost";
    },
  });
  if (outcome === "lost") {
    log.error("a probe was shown and never decided: make sure that nobody acts on its case", {
      audit: true,
      org_id: orgId,
      alert_id: alertId,
      probe_id: probeId,
    });
  }
  return outcome !== "overtaken";
}

/** Raises the day's alert about lost probes, or adds a probe to it and opens it again. */
function planAlert(
  unit: UnitOfWork,
  { orgId, alertId, now, probeId, drawn }: {
    readonly orgId: string;
    readonly alertId: string;
    readonly now: number;
    readonly probeId: string;
    readonly drawn: DrawnEntry;
  },
): void {
  const before = unit.get(alerts, [alertId]);
  const earlier: ProbesLost = before === null ? { probes: [] } : JSON.parse(before.detail);
  const day = Math.floor(now / DAY_MS);
  const row: AlertRow = {
    ...(before ?? {
      alert_id: alertId,
      org_id: orgId,
      severity: ALERT_SEVERITY,
      kind: PROBE_LOST_ALERT,
      day,
      created_at: now,
    }),
    detail: JSON.stringify({ probes: [...earlier.probes, probeId] } satisfies ProbesLost),
    acknowledged: 0,
    acknowledged_at: null,
  };
  unit.put(alerts, row);
  unit.put(alertDays, { alert_id: alertId, org_id: orgId, kind: PROBE_LOST_ALERT, day });
  const { severity, kind } = row;
  unit.append(adminChain(orgId), {
    id: drawn.id,
    actor: "system",
    eventType: "ALERT_RAISED",
    orgId,
    prefix: null,
    subject: null,
    at: now,
    parts: [makePart("detail", drawn.salt, { alert_id: alertId, severity, kind, probe_id: probeId })],
  });
}
