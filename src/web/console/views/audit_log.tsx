/**
 * The audit log of the organization and its keys: what was done, by whom and when. Reading it is an event
 * too.
 */
import { useEffect, useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { AUDIT_LOG_EVENTS } from "../../../domain/audit_events.ts";
import { EventDetail } from "../event_detail.tsx";
import { actorInWords, EVENT_KINDS, eventInWords, type EventKind, isOfKind } from "../event_words.ts";
import { Folded } from "../folded.tsx";
import { Choice, ChosenOnPaper, Days, daysInWords } from "../filters.tsx";
import { countInWords } from "../../../pages/wording.ts";
import { addressOf, Answered, Empty, Failure, Instant, View } from "../parts.tsx";
import { save } from "../../shared/save.ts";
import { Reviewer } from "../reviewers.tsx";
import { useCaller, useSession } from "../session.tsx";
import { type Column, type Ordering, Table } from "../table.tsx";
import type { AuditLog } from "../types.ts";
import { UnknownChoices } from "../unknown.tsx";
import { useAction, useAnswer } from "../use_answer.ts";

const PATH = "/console/audit-log";
const PAGE = 100;
const NEWEST = "-timestamp";

/** The events by which the log is filtered, in the order of their words. */
const EVENTS = AUDIT_LOG_EVENTS.map((name) => [name, `${eventInWords(name)} (${name})`] as const)
  .toSorted(([, one], [, other]) => one < other ? -1 : 1);

type Event = AuditLog["events"][number];

export function AuditLogView() {
  const { query, route } = useLocation();
  const { event_type: type = "", user_id: user = "", since = "", until = "", sort = "" } = query;
  const kind = Object.hasOwn(EVENT_KINDS, query.kind ?? "") ? query.kind as EventKind : "";
  const filter = { event_type: type, user_id: user };
  const kept = { ...filter, kind };
  const asked = useAnswer<AuditLog>({
    path: addressOf("/v1/admin/audit-log", { ...filter, since, until, limit: String(PAGE) }),
  });
  const users = useSeenUsers(asked.loaded.state === "ready" ? asked.loaded.body.events : NONE);
  const named = users.get(user);
  const choose = (change: Readonly<Record<string, string>>) =>
    route(addressOf(PATH, { ...kept, since, until, sort, ...change }));
  const choices = [
    ["Show", kind === "" ? "" : EVENT_KINDS[kind]],
    ["Event", type === "" ? "" : `${eventInWords(type)} (${type})`],
    ["User", user === "" ? "" : named ?? user],
    ...daysInWords(since, until),
  ] as const;
  return (
    <View title="Audit log">
      <p>
        What was done to the organization, by whom and when, refusals and reads included. Scores are not in
        it: see{" "}
        <a href="/console/decisions">Decisions</a>. Entries are signed; an administrator sets how long they
        stay.
      </p>
      <ChosenOnPaper choices={choices} />
      <Folded summary="Filter or export" choices={choices}>
        <div class="filters">
          <Choice
            id="kind"
            label="Show"
            value={kind}
            options={[["", "All"], ...Object.entries(EVENT_KINDS)]}
            onChosen={(chosen) => choose({ kind: chosen })}
          />
          <Choice
            id="event-type"
            label="Event"
            value={type}
            options={[["", "All"], ...EVENTS]}
            onChosen={(chosen) => choose({ event_type: chosen })}
          />
          <Choice
            id="user"
            label="User"
            value={user}
            options={[["", "All"], ...usersInWords(users, user)]}
            onChosen={(chosen) => choose({ user_id: chosen })}
          />
          <Days since={since} until={until} onSent={choose} />
          <Export query={{ ...filter, since, until }} />
        </div>
      </Folded>
      {user !== "" && (
        <p>
          Only what {named ?? <code>{user}</code>} did.{" "}
          <a href={addressOf(PATH, { event_type: type, kind, since, until })}>Show everybody</a>
        </p>
      )}
      {kind === "" && (query.kind ?? "") !== "" && <UnknownChoices names={["kind"]} />}
      <Answered asked={asked}>
        {({ events }) =>
          events.length === 0
            ? (
              <Empty>
                <p>No event is of this kind and time.</p>
                <p>Choose another kind, or a longer time.</p>
              </Empty>
            )
            : (
              <>
                <Part
                  events={events}
                  kind={kind}
                  ordering={{
                    ...{ path: PATH, query: { ...kept, since, until }, sort, first: NEWEST, served: NEWEST },
                    // A page that begins before an instant is not the newest one.
                    isWhole: events.length < PAGE && !until.includes("T"),
                  }}
                />
                <nav class="pages" aria-label="Pages">
                  {until.includes("T") && (
                    <a class="button" href={addressOf(PATH, { ...kept, since, sort })}>Newest events</a>
                  )}
                  {events.length === PAGE && (
                    <a
                      class="button"
                      href={addressOf(PATH, { ...kept, since, sort, until: justAfter(events) })}
                    >
                      Older events
                    </a>
                  )}
                </nav>
              </>
            )}
      </Answered>
    </View>
  );
}

const NONE: AuditLog["events"] = [];

/** The users by whom the events that were shown so far are; a choice of one keeps the others. Null is the name of an erased one. */
function useSeenUsers(events: AuditLog["events"]): ReadonlyMap<string, string | null> {
  const [seen, setSeen] = useState<ReadonlyMap<string, string | null>>(new Map());
  useEffect(() => {
    const here = events.flatMap(({ user_id: id, user_name: name }) =>
      id === undefined ? [] : [[id, name ?? null] as const]
    );
    setSeen((before) => here.every(([id]) => before.has(id)) ? before : new Map([...before, ...here]));
  }, [events]);
  return seen;
}

/** Users for a choice, in the order of their names; the chosen one is there before an event names it. */
function usersInWords(
  users: ReadonlyMap<string, string | null>,
  chosen: string,
): readonly (readonly [id: string, words: string])[] {
  const all = chosen === "" || users.has(chosen) ? [...users] : [...users, [chosen, chosen] as const];
  return all.map(([id, name]) => [id, name ?? `an erased user (${id})`] as const)
    .toSorted(([, one], [, other]) => one < other ? -1 : 1);
}

/** The events of a page that are of the chosen kind: the service knows single events, and pages of all of them. */
function Part({ events, kind, ordering }: {
  readonly events: AuditLog["events"];
  readonly kind: EventKind | "";
  readonly ordering: Ordering;
}) {
  if (kind === "") return <Events events={events} ordering={ordering} />;
  const shown = events.filter(({ event_type }) => isOfKind(event_type, kind));
  return (
    <>
      <p class="muted">
        {EVENT_KINDS[kind]} alone: {shown.length} of the {countInWords(events.length, "event")} of this page.
      </p>
      {shown.length > 0 && <Events events={shown} ordering={ordering} />}
    </>
  );
}

/**
 * The excluded end of the next page: just after this page's last event, so that no event of its instant is
 * skipped. If all events of this page have one instant, the end is that instant.
 */
function justAfter(events: AuditLog["events"]): string {
  const last = events.at(-1)!.timestamp;
  return last === events[0]!.timestamp ? last : new Date(Date.parse(last) + 1).toISOString();
}

const COLUMNS: readonly Column<Event>[] = [{
  head: "When",
  order: { name: "timestamp", keyOf: (row) => row.timestamp },
  cell: (row) => <Instant at={row.timestamp} toSecond />,
}, {
  head: "Event",
  onCard: "line",
  order: { name: "event_type", keyOf: (row) => row.event_type },
  cell: (row) => (
    <>
      {eventInWords(row.event_type)}
      <code class="second less">{row.event_type}</code>
    </>
  ),
}, {
  head: "By",
  onCard: "line",
  order: { name: "by", keyOf: (row) => row.user_id === undefined ? row.actor : row.user_name ?? null },
  also: [{ head: "Key", name: "prefix", keyOf: (row) => row.prefix }],
  cell: (row) => (
    <>
      {row.user_id === undefined
        ? actorInWords(row.actor)
        : (
          <a href={addressOf(PATH, { user_id: row.user_id })} title={row.user_id}>
            <bdi>{row.user_name ?? "an erased user"}</bdi>
          </a>
        )}
      {row.prefix !== null && <code class="second">{row.prefix}</code>}
    </>
  ),
}, {
  head: "Detail",
  class: "small",
  onCard: "line",
  cell: (row) => <Detail event={row} />,
}];

function Detail({ event: { subject, operator_id: operator, about_user_name: about, detail } }: {
  readonly event: Event;
}) {
  // The name stands for the id of a user who has one.
  const { user_id: user, ...others } = detail ?? {};
  return (
    <div class="event-facts">
      {subject !== undefined && (
        <span class="event-fact">
          {operator == null ? <span class="muted">an erased operator</span> : <Reviewer id={operator} />}
        </span>
      )}
      {about != null && (
        <span class="event-fact" title={String(user)}>
          <bdi>{about}</bdi>
        </span>
      )}
      {about === null && <span class="event-fact muted">an erased user</span>}
      {detail === null
        ? <span class="muted">not held any more</span>
        : <EventDetail detail={about == null ? detail : others} />}
    </div>
  );
}

const CSV = {
  event_id: (row: Event) => row.event_id,
  timestamp: (row: Event) => row.timestamp,
  event_type: (row: Event) => row.event_type,
  actor: (row: Event) => row.actor,
  user_id: (row: Event) => row.user_id,
  user_name: (row: Event) => row.user_name,
  prefix: (row: Event) => row.prefix,
  operator_id: (row: Event) => row.operator_id,
  about_user_name: (row: Event) => row.about_user_name,
  detail: (row: Event) => row.detail && JSON.stringify(row.detail),
};

function Events({ events, ordering }: Pick<AuditLog, "events"> & { readonly ordering: Ordering }) {
  return (
    <Table
      label="Events"
      rows={events}
      keyOf={(row) => row.event_id}
      columns={COLUMNS}
      csv={CSV}
      saves="CSV of these rows"
      ordering={ordering}
    />
  );
}

function Export({ query }: { readonly query: Readonly<Record<string, string>> }) {
  const caller = useCaller();
  const { signedIn: { orgId } } = useSession();
  const { busy, error, run } = useAction<true>();
  const path = addressOf("/v1/admin/audit-log/export", query);
  const take = () =>
    run(async (patience) => {
      save(`${orgId}-audit-log.ndjson`, "application/x-ndjson", await caller.text({ path }, { patience }));
      return true;
    });
  return (
    <>
      <button type="button" disabled={busy} onClick={take}>
        {busy
          ? "Exporting…"
          : Object.values(query).every((value) => value === "")
          ? "Export the whole log"
          : "Export all that match"}
      </button>
      {error !== null && <Failure error={error} />}
    </>
  );
}
