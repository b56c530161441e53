/**
 * Reads and exports an organization's own audit log; each access is itself recorded in the log. Entries are
 * proven as they are read, page by page, and each event is made from a proven entry.
 * Source: specification, Self-serve admin; contract, section 5.
 */
import type { Proving, Reading, Writing } from "../shared/capabilities.ts";
import type { AuditEvent, AuditLogFilter } from "../../domain/audit_log.ts";
import { USER_RECORD_EVENTS } from "../../domain/audit_events.ts";
import { AlteredError } from "../../domain/errors.ts";
import { firstSeqAt, readLogPage, readUserEntries, type UserEntryPlace } from "../../store/audit_log.ts";
import { type ProvenRecord, readProvenPage } from "../../store/proven_pages.ts";
import { nextTurn } from "../../store/turn.ts";
import { originOf } from "../shared/deployment.ts";
import { eventDraft } from "../shared/drafts.ts";
import type { Call, OrganizationCaller } from "../shared/call.ts";
import { adminChain, evidenceChain } from "../../evidence/chain_name.ts";
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

/** The events of the log and what users did on the evidence chain, newest first. */
async function* eventsOf(dependencies: Needs, orgId: string, range: Range): AsyncGenerator<AuditEvent> {
  const { users } = await readRegistered(dependencies, orgId);
  const names = new Map(users.map(({ user_id, name }) => [user_id, name]));
  const [logged, recorded] = [
    loggedEvents(dependencies, orgId, { names, ...range }),
    recordedEvents(dependencies, orgId, { names, ...range }),
  ];
  let [next, beside] = [await logged.next(), await recorded.next()];
  while (!next.done || !beside.done) {
    if (!next.done && (beside.done || next.value.timestamp >= beside.value.timestamp)) {
      yield next.value;
      next = await logged.next();
    } else if (!beside.done) {
      yield beside.value;
      beside = await recorded.next();
    }
  }
}

interface NamedRange extends Range {
  /** By user, the present name. */
  readonly names: ReadonlyMap<string, string | null>;
}

async function* loggedEvents(
  dependencies: Needs,
  orgId: string,
  { page, end, names, ...range }: NamedRange,
): AsyncGenerator<AuditEvent> {
  const { database } = dependencies;
  const { eventType, userId, since, until } = range;
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

/** Reads what users did on the evidence chain. An event shows the ids of its entry alone: the content is that of the record. */
async function* recordedEvents(
  dependencies: Needs,
  orgId: string,
  { page, names, ...range }: NamedRange,
): AsyncGenerator<AuditEvent> {
  const { eventType, userId, since, until } = range;
  const eventTypes = USER_RECORD_EVENTS.filter((type) => eventType === null || type === eventType);
  if (eventTypes.length === 0) return;
  const epochs = await ownEpochs(dependencies, evidenceChain(orgId));
  for (let before: UserEntryPlace | null = null;;) {
    const places: readonly UserEntryPlace[] = await readUserEntries(dependencies.database, {
      chains: epochs.map(({ chain }) => chain),
      eventTypes,
      userId,
      since: since === null ? null : iso(since),
      until: iso(until),
      before,
      limit: page,
    });
    const proven = new Map<string, ReadonlyMap<number, ProvenRecord>>();
    for (const [chain, own] of Map.groupBy(places, ({ chain }) => chain)) {
      const origin = originOf(dependencies, chain);
      const seqs = own.map(({ seq }) => seq);
      proven.set(chain, await readProvenPage(dependencies, { chain, origin, seqs }));
    }
    for (const { chain, seq } of places) {
      const record = proven.get(chain)!.get(seq);
      // Retention may have removed it during the look-up.
      if (record !== undefined) yield toRecordedEvent(record, range, names);
    }
    if (places.length < page) return;
    before = places.at(-1)!;
    await nextTurn();
  }
}

/** Members of a record's parts that name what was done, and no reviewer. */
const SHOWN_MEMBERS = ["session_id", "probe_id", "report_id", "sha256", "label"] as const;

function toRecordedEvent(
  record: ProvenRecord,
  range: AuditLogFilter,
  names: ReadonlyMap<string, string | null>,
): AuditEvent {
  const held = [...record.parts.values()].map(({ text }): Record<string, unknown> => JSON.parse(text));
  const shown = held.flatMap((part) => [
    ...SHOWN_MEMBERS.flatMap((name) => Object.hasOwn(part, name) ? [[name, part[name]] as const] : []),
    ...Object.hasOwn(part, "exercise")
      ? [["exercise_id", (part.exercise as { id: unknown }).id] as const]
      : [],
  ]);
  return {
    ...commonOf(record, range, names),
    // Null once the content was erased with its reviewer.
    detail: held.length === 0 ? null : Object.fromEntries(shown),
  };
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
  record: ProvenRecord,
  range: AuditLogFilter,
  names: ReadonlyMap<string, string | null>,
): AuditEvent {
  const { entry: { chain, seq, commit }, parts } = record;
  const event = commonOf(record, range, names);
  const text = parts.get("detail")?.text;
  if (text === undefined && Object.hasOwn(commit, "detail")) {
    throw new AlteredError(chain, `a part of entry ${seq} of ${chain} is missing`);
  }
  const detail: Record<string, unknown> | null = text === undefined ? null : JSON.parse(text);
  const about = detail?.user_id;
  return {
    ...event,
    ...(typeof about === "string" ? { about_user_name: names.get(about) ?? null } : {}),
    detail,
  };
}

/** Takes from an entry the members that each event has. @throws {AlteredError} if the entry is not in the requested range. */
function commonOf(
  { entry }: ProvenRecord,
  { eventType, userId, since, until }: AuditLogFilter,
  names: ReadonlyMap<string, string | null>,
): Omit<AuditEvent, "detail"> {
  const { id, event_type, timestamp, org_id, prefix, actor, chain, seq, user_id, subject } = entry;
  const at = Date.parse(timestamp);
  const isInRange = (eventType === null || event_type === eventType) &&
    (userId === null || user_id === userId) && (since === null || at >= since) && at < until;
  if (!isInRange) throw new AlteredError(chain, `entry ${seq} of ${chain} is another than its row says`);
  return {
    event_id: id,
    event_type,
    timestamp,
    org_id,
    prefix,
    actor,
    ...(user_id === undefined ? {} : { user_id, user_name: names.get(user_id) ?? null }),
    ...(subject === null ? {} : { subject }),
  };
}

function iso(at: number): string {
  return new Date(at).toISOString();
}
