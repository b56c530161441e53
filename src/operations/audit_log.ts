/**
 * An organization's own audit log, read and exported; that it was is itself in the log.
 * Source: specification, Self-serve admin; contract, section 5.
 */
import type { AuditEvent, AuditLogFilter } from "../domain/audit_log.ts";
import { firstSeqAt, type LoggedEntry, readLogPage } from "../store/audit_log.ts";
import { loadEpochs } from "../store/chains.ts";
import { nextTurn } from "../store/turn.ts";
import {
  adminChain,
  type Call,
  type Dependencies,
  eventDraft,
  type OrganizationCaller,
} from "./dependencies.ts";

/** Events that are read at once. */
const PAGE = 100;

export interface AuditLogQuery extends AuditLogFilter {
  readonly call: Call;
}

/** The newest events, newest first. @throws {ServiceError} SERVICE_UNAVAILABLE where the reading cannot be recorded. */
export async function readAuditLog(
  dependencies: Dependencies,
  caller: OrganizationCaller,
  { limit, ...asked }: AuditLogQuery & { readonly limit: number },
): Promise<readonly AuditEvent[]> {
  const end = await recordAccess(dependencies, caller, { ...asked, type: "AUDIT_LOG_READ", limit });
  const events: AuditEvent[] = [];
  for await (
    const event of eventsOf(dependencies, caller.orgId, { ...asked, end, page: Math.min(limit, PAGE) })
  ) {
    events.push(event);
    if (events.length === limit) break;
  }
  return events;
}

/** Every event, newest first, as it is read. @throws {ServiceError} as {@link readAuditLog}. */
export async function exportAuditLog(
  dependencies: Dependencies,
  caller: OrganizationCaller,
  asked: AuditLogQuery,
): Promise<AsyncGenerator<AuditEvent>> {
  const end = await recordAccess(dependencies, caller, { ...asked, type: "AUDIT_LOG_EXPORTED", limit: null });
  return eventsOf(dependencies, caller.orgId, { ...asked, end, page: PAGE });
}

/** Records that the log was asked for; the position of that entry, before which everything is told. */
async function recordAccess(
  { world, writer }: Dependencies,
  caller: OrganizationCaller,
  { type, eventType, since, until, limit, call: { now } }: AuditLogQuery & {
    readonly type: string;
    readonly limit: number | null;
  },
): Promise<number> {
  const detail = {
    event_type: eventType,
    since: since === null ? null : iso(since),
    until: iso(until),
    ...(limit === null ? {} : { limit }),
  };
  const draft = eventDraft(world, { type, caller, now, detail });
  return await writer.submit({
    needs: [],
    chains: [adminChain(caller.orgId)],
    plan(unit) {
      const { position } = unit.append(adminChain(caller.orgId), draft);
      return () => position;
    },
  });
}

interface Range extends Pick<AuditLogFilter, "eventType" | "since" | "until"> {
  /** Over all epochs; excluded. */
  readonly end: number;
  readonly page: number;
}

async function* eventsOf(
  { database }: Dependencies,
  orgId: string,
  { eventType, since, until, end, page }: Range,
): AsyncGenerator<AuditEvent> {
  const epochs = await loadEpochs(database, adminChain(orgId));
  for (const { chain, firstPosition, minIndex, frontier: { size } } of epochs.toReversed()) {
    const held = { chain, from: minIndex, size: Math.min(size, Math.max(minIndex, end - firstPosition)) };
    const from = since === null ? minIndex : await firstSeqAt(database, { ...held, instant: iso(since) });
    let before = await firstSeqAt(database, { ...held, instant: iso(until) });
    while (before > from) {
      const entries = await readLogPage(database, { chain, from, before, eventType, limit: page });
      for (const logged of entries) yield shownEvent(logged);
      before = entries.length < page ? from : entries.at(-1)!.seq;
      await nextTurn();
    }
  }
}

function shownEvent({ entry, detail }: LoggedEntry): AuditEvent {
  const { id, event_type, timestamp, org_id, prefix, actor } = entry;
  return { event_id: id, event_type, timestamp, org_id, prefix, actor, detail };
}

function iso(at: number): string {
  return new Date(at).toISOString();
}
