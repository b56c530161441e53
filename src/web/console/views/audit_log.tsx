/**
 * The audit log of the organization and its keys: what was done, by whom and when. Reading it is an event
 * too.
 */
import { useLocation } from "preact-iso";
import { AUDIT_LOG_EVENTS } from "../../../domain/audit_events.ts";
import { addressOf, Answered, Empty, Failure, Instant, Rows, View } from "../parts.tsx";
import { save } from "../../shared/save.ts";
import { Reviewer } from "../reviewers.tsx";
import { useCaller, useSession } from "../session.tsx";
import type { AuditLog } from "../types.ts";
import { useAction, useAnswer } from "../use_answer.ts";

const PATH = "/console/audit-log";
const PAGE = 100;

export function AuditLogView() {
  const { query, route } = useLocation();
  const { event_type: type = "", user_id: user = "", since = "", until = "" } = query;
  const filter = { event_type: type, user_id: user };
  const asked = useAnswer<AuditLog>({
    path: addressOf("/v1/admin/audit-log", { ...filter, since, until, limit: String(PAGE) }),
  });
  const named = asked.loaded.state === "ready"
    ? asked.loaded.body.events.find(({ user_id }) => user_id === user)?.user_name
    : null;
  const choose = (change: Readonly<Record<string, string>>) =>
    route(addressOf(PATH, { ...filter, since, until, ...change }));
  // A button sends the dates: a half-typed date is another date, and each reading of the log is an entry of
  // it.
  const narrow = (event: SubmitEvent & { readonly currentTarget: HTMLFormElement }) => {
    event.preventDefault();
    const days = new FormData(event.currentTarget);
    choose({ since: String(days.get("since") ?? ""), until: String(days.get("until") ?? "") });
  };
  return (
    <View title="Audit log">
      <div class="filters">
        <div class="field">
          <label for="event-type">Event</label>
          <select
            id="event-type"
            value={type}
            onChange={(event) => choose({ event_type: event.currentTarget.value })}
          >
            <option value="">All</option>
            {AUDIT_LOG_EVENTS.map((name) => <option key={name} value={name}>{name}</option>)}
          </select>
        </div>
        <form class="filters" onSubmit={narrow}>
          <Day id="since" label="From (UTC)" value={since} />
          <Day id="until" label="Until, excluded (UTC)" value={until} />
          <button type="submit">Show</button>
        </form>
        <Export query={{ ...filter, since, until }} />
      </div>
      {user !== "" && (
        <p>
          Only what {named ?? <code>{user}</code>} did.{" "}
          <a href={addressOf(PATH, { event_type: type, since, until })}>Show everybody</a>
        </p>
      )}
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
                <Events events={events} />
                <nav class="pages" aria-label="Pages">
                  {until.includes("T") && (
                    <a class="button" href={addressOf(PATH, { ...filter, since })}>Newest events</a>
                  )}
                  {events.length === PAGE && (
                    <a
                      class="button"
                      href={addressOf(PATH, { ...filter, since, until: justAfter(events) })}
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

/**
 * The excluded end of the next page: just after this page's last event, so that no event of its instant is
 * skipped. If all events of this page have one instant, the end is that instant.
 */
function justAfter(events: AuditLog["events"]): string {
  const last = events.at(-1)!.timestamp;
  return last === events[0]!.timestamp ? last : new Date(Date.parse(last) + 1).toISOString();
}

function Day({ id, label, value }: { readonly id: string; readonly label: string; readonly value: string }) {
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input id={id} name={id} type="date" key={value} defaultValue={value.slice(0, 10)} />
    </div>
  );
}

function Events({ events }: Pick<AuditLog, "events">) {
  return (
    <Rows label="Events" columns={["When", "Event", "By", "Key", "Detail"]}>
      {events.map((event) => (
        <tr key={event.event_id}>
          <th scope="row">
            <Instant at={event.timestamp} />
          </th>
          <td>{event.event_type}</td>
          <td>
            {event.user_id === undefined
              ? event.actor
              : (
                <a href={addressOf(PATH, { user_id: event.user_id })} title={event.user_id}>
                  <bdi>{event.user_name ?? "an erased user"}</bdi>
                </a>
              )}
          </td>
          <td>{event.prefix === null ? "" : <code>{event.prefix}</code>}</td>
          <td class="small">
            {event.subject !== undefined && (
              <div>
                {event.operator_id == null
                  ? <span class="muted">an erased reviewer</span>
                  : <Reviewer id={event.operator_id} />}
              </div>
            )}
            {event.about_user_name !== undefined && (
              <div>
                <bdi>{event.about_user_name ?? "an erased user"}</bdi>
              </div>
            )}
            {event.detail === null
              ? <span class="muted">not held any more</span>
              : Object.entries(event.detail).map(([name, value]) => (
                <div key={name}>
                  {name}: {typeof value === "string" ? value : JSON.stringify(value)}
                </div>
              ))}
          </td>
        </tr>
      ))}
    </Rows>
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
          ? "Export all of it"
          : "Export these events"}
      </button>
      {error !== null && <Failure error={error} />}
    </>
  );
}
