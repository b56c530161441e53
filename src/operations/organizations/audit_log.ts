/**
 * Reads and exports an organization's own audit log; each access is itself recorded in the log. Entries are
 * proven as they are read, page by page, and each event is made from a proven entry.
 * Source: specification, Self-serve admin; contract, section 5.
 */
import type { Proving, Reading, Writing } from "../shared/capabilities.ts";
import type { AuditEvent, AuditLogFilter } from "../../domain/audit_log.ts";
import { AlteredError } from "../../domain/errors.ts";
import { firstSeqAt, readLogPage } from "../../store/audit_log.ts";
import { type ProvenRecord, readProvenPage } from "../../store/proven_pages.ts";
import { nextTurn } from "../../store/turn.ts";
import { originOf } from "../shared/deployment.ts";
import { eventDraft } from "../shared/drafts.ts";
import type { Call, OrganizationCaller } from "../shared/call.ts";
import { adminChain } from "../../evidence/chain_name.ts";
import { readRegistered, type Remembering } from "./registered.ts";
import { operatorsOf } from "../shared/pseudonyms.ts";
import { ownEpochs } from "../shared/proven_records.ts";

/** The dependencies of these operations. */
type Needs = Proving & Reading & Writing & Remembering;

/** Number of events that are read at once. */
const PAGE = 100;

export interface AuditLogQuery extends AuditLogFilter {
  readonly call: Call;
}

/**
 * The newest events, newest first.
 * @throws {ServiceError} SERVICE_UNAVAILABLE if the access cannot be recorded; {AlteredError}.
 */
export async function readAuditLog(
  dependencies: Needs,
  caller: OrganizationCaller,
  { limit, ...query }: AuditLogQuery & { readonly limit: number },
): Promise<readonly AuditEvent[]> {
  const end = await recordAccess(dependencies, caller, { ...query, type: "AUDIT_LOG_READ", limit });
  const events: AuditEvent[] = [];
  for await (
    const event of eventsOf(dependencies, caller.orgId, { ...query, end, page: Math.min(limit, PAGE) })
  ) {
    events.push(event);
    if (events.length === limit) break;
  }
  return await withOperators(dependencies, caller.orgId, events);
}

/** Adds to events about reviewers who these are now. */
async function withOperators(
  dependencies: Needs,
  orgId: string,
  events: readonly AuditEvent[],
): Promise<readonly AuditEvent[]> {
  const pseudonyms = [...new Set(events.flatMap(({ subject }) => subject ?? []))];
  if (pseudonyms.length === 0) return events;
  const known = await operatorsOf(dependencies, orgId, pseudonyms);
  return events.map((event) =>
    event.subject === undefined ? event : { ...event, operator_id: known.get(event.subject) ?? null }
  );
}

/** Every event, newest first, as it is read. @throws as {@link readAuditLog}. */
export async function exportAuditLog(
  dependencies: Needs,
  caller: OrganizationCaller,
  query: AuditLogQuery,
): Promise<AsyncGenerator<AuditEvent>> {
  const end = await recordAccess(dependencies, caller, { ...query, type: "AUDIT_LOG_EXPORTED", limit: null });
  return eventsOf(dependencies, caller.orgId, { ...query, end, page: PAGE });
}

/** Records the access. @returns the position of its entry: the events before it are given. */
async function recordAccess(
  { world, writer }: Needs,
  caller: OrganizationCaller,
  { type, eventType, userId, since, until, limit, call: { now } }: AuditLogQuery & {
    readonly type: string;
    readonly limit: number | null;
  },
): Promise<number> {
  const detail = {
    event_type: eventType,
    ...(userId === null ? {} : { user_id: userId }),
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

interface Range extends Pick<AuditLogFilter, "eventType" | "userId" | "since" | "until"> {
  /** Position over all epochs at which the range ends; excluded. */
  readonly end: number;
  readonly page: number;
}

async function* eventsOf(
  dependencies: Needs,
  orgId: string,
  { page, end, ...range }: Range,
): AsyncGenerator<AuditEvent> {
  const { database } = dependencies;
  const { eventType, userId, since, until } = range;
  const { users } = await readRegistered(dependencies, orgId);
  const names = new Map(users.map(({ user_id, name }) => [user_id, name]));
  const epochs = await ownEpochs(dependencies, adminChain(orgId));
  for (const { chain, firstPosition, minIndex, frontier: { size } } of epochs.toReversed()) {
    const span = { chain, from: minIndex, size: Math.min(size, Math.max(minIndex, end - firstPosition)) };
    const from = since === null ? minIndex : await firstSeqAt(database, { ...span, instant: iso(since) });
    let before = await firstSeqAt(database, { ...span, instant: iso(until) });
    while (before > from) {
      const seqs = await readLogPage(database, { chain, from, before, eventType, userId, limit: page });
      requireOrder(chain, seqs, { before, isWhole: eventType === null && userId === null });
      const proven = await readProvenPage(dependencies, {
        chain,
        origin: originOf(dependencies, chain),
        seqs,
        names: ["detail"],
      });
      for (const [, record] of [...proven].toReversed()) yield toEvent(record, range, names);
      before = seqs.length < page ? from : seqs.at(-1)!;
      await nextTurn();
    }
  }
}

/**
 * Requires that a page goes back along the chain, and that it has no gap if it is not filtered by event type.
 * It may end early: the chain may have been cut meanwhile.
 * @throws {AlteredError} if the columns by which the page was found say something else.
 */
function requireOrder(
  chain: string,
  seqs: readonly number[],
  { before, isWhole }: { readonly before: number; readonly isWhole: boolean },
): void {
  let next = before;
  for (const seq of seqs) {
    if (seq >= next || (isWhole && seq !== next - 1)) {
      throw new AlteredError(
        chain,
        `an entry before entry ${next} of ${chain} is missing, or not in its place`,
      );
    }
    next = seq;
  }
}

/**
 * @throws {AlteredError} if the entry is not in the requested range, or its detail is missing: none is ever
 *   erased.
 */
function toEvent(
  { entry, parts }: ProvenRecord,
  { eventType, userId, since, until }: AuditLogFilter,
  names: ReadonlyMap<string, string | null>,
): AuditEvent {
  const { id, event_type, timestamp, org_id, prefix, actor, chain, seq, user_id, subject } = entry;
  const at = Date.parse(timestamp);
  const isInRange = (eventType === null || event_type === eventType) &&
    (userId === null || user_id === userId) && (since === null || at >= since) && at < until;
  if (!isInRange) throw new AlteredError(chain, `entry ${seq} of ${chain} is another than its row says`);
  const text = parts.get("detail")?.text;
  if (text === undefined && Object.hasOwn(entry.commit, "detail")) {
    throw new AlteredError(chain, `a part of entry ${seq} of ${chain} is missing`);
  }
  const detail: Record<string, unknown> | null = text === undefined ? null : JSON.parse(text);
  const about = detail?.user_id;
  return {
    event_id: id,
    event_type,
    timestamp,
    org_id,
    prefix,
    actor,
    ...(user_id === undefined ? {} : { user_id, user_name: names.get(user_id) ?? null }),
    ...(typeof about === "string" ? { about_user_name: names.get(about) ?? null } : {}),
    ...(subject === null ? {} : { subject }),
    detail,
  };
}

function iso(at: number): string {
  return new Date(at).toISOString();
}
