/** One destination of webhooks: how it fares, and its deliveries, attempt by attempt, with a button to send a failed one again. */
import { useEffect, useState } from "preact/hooks";
import { useLocation, useRoute } from "preact-iso";
import { DELIVERY_STATUSES } from "../../../domain/enums.ts";
import { countInWords } from "../../../pages/wording.ts";
import { DestinationActs, EventName, LastDelivery, TestOf } from "../destination.tsx";
import { Choice } from "../filters.tsx";
import { addressOf, Answered, Empty, Fact, Failure, Figure, Instant, View } from "../parts.tsx";
import { useCaller } from "../session.tsx";
import { type Column, Table } from "../table.tsx";
import type { Deliveries, Redelivered } from "../types.ts";
import { useAction, useAnswer } from "../use_answer.ts";
import { DELIVERY_WORDS, failureInWords, stateInWords, WEBHOOK_EVENT_WORDS } from "../webhook_words.ts";

type Destination = Deliveries["webhook"];
type Delivery = Deliveries["deliveries"][number];

const PAGE = 50;
const NEWEST = "-event_at";

export function WebhookView() {
  const { params } = useRoute();
  const { query, route } = useLocation();
  const id = params.id ?? "";
  const { status = "", sort = "" } = query;
  const path = `/console/webhooks/${id}`;
  const asked = useAnswer<Deliveries>({
    path: addressOf(`/v1/admin/webhook/${encodeURIComponent(id)}/deliveries`, {
      status,
      limit: String(PAGE),
    }),
  });
  // The destination stays while deliveries of another status are asked for.
  const [known, setKnown] = useState<Destination | null>(null);
  const { loaded } = asked;
  useEffect(() => {
    if (loaded.state === "ready") setKnown(loaded.body.webhook);
  }, [loaded]);
  return (
    <View title={known?.url ?? "Webhook"} within={{ path: "/console/webhooks", label: "Webhooks" }}>
      {known !== null && (
        <>
          <About
            destination={known}
            failed={status === "dead" ? null : addressOf(path, { status: "dead", sort })}
          />
          <DestinationActs
            id={id}
            url={known.url}
            isActive={known.active}
            onTested={asked.again}
            onRemoved={() => route("/console/webhooks")}
          />
        </>
      )}
      <h2>Deliveries</h2>
      <div class="filters">
        <Choice
          id="status"
          label="Status"
          value={status}
          options={[["", "All"], ...DELIVERY_STATUSES.map((name) => [name, DELIVERY_WORDS[name]] as const)]}
          onChosen={(chosen) => route(addressOf(path, { status: chosen, sort }))}
        />
        <button type="button" onClick={asked.again}>Look again</button>
      </div>
      <Answered asked={asked}>
        {({ deliveries }) =>
          deliveries.length === 0
            ? (
              <Empty>
                <p>
                  {status === ""
                    ? "Nothing was sent yet: the next event of a kind that it takes comes here."
                    : "No delivery has this status."}
                </p>
                {status === "" && known !== null && (
                  <TestOf id={id} isActive={known.active} label="Send a test" onTested={asked.again} />
                )}
              </Empty>
            )
            : (
              <Table
                label="Deliveries"
                rows={deliveries}
                keyOf={(row) => row.delivery_id}
                columns={[...COLUMNS, {
                  head: "Do",
                  cell: ({ status, delivery_id }) =>
                    status === "dead" && (
                      <Redeliver webhookId={id} deliveryId={delivery_id} onSent={asked.again} />
                    ),
                }]}
                csv={CSV}
                ordering={{
                  ...{ path, query: { status }, sort, first: NEWEST, served: NEWEST },
                  isWhole: deliveries.length < PAGE,
                }}
              />
            )}
      </Answered>
    </View>
  );
}

/** Says the destination's URL, events and state, and its last deliveries. */
function About({ destination, failed }: {
  readonly destination: Destination;
  /** The address of the list of failed deliveries; null if it is the one that is shown. */
  readonly failed: string | null;
}) {
  const { active, created_at, paused_since: paused, events, last_delivery, last_failure, waiting } =
    destination;
  return (
    <>
      {paused !== null && (
        <div class="notice fair">
          <p>
            Paused since{" "}
            <Instant at={paused} />: too many attempts in a row failed. It is tried once a minute, and its
            events wait. A test that is delivered ends the pause.
          </p>
        </div>
      )}
      <dl class="described">
        <Fact name="State">
          <span class={`status ${paused !== null ? "fair" : active ? "good" : "none"}`}>
            {paused === null ? stateInWords({ active }) : "Paused"}
          </span>{" "}
          {active && (
            <>
              since <Instant at={paused ?? created_at} />
            </>
          )}
        </Fact>
        <Fact name="Events">
          <ul class="in-line">
            {events.map((event) => (
              <li key={event}>
                <EventName event={event} />
              </li>
            ))}
          </ul>
        </Fact>
        <Fact name="Last delivery">
          <LastDelivery last={last_delivery} />
        </Fact>
        <Fact name="Last failure">
          <LastFailure failure={last_failure} />
          {last_failure !== null && failed !== null && <a href={failed}>Show the failed ones</a>}
        </Fact>
        <Fact name="Waiting">
          <Figure of="webhook.waiting" value={waiting} /> to be sent
        </Fact>
      </dl>
    </>
  );
}

function LastFailure({ failure }: { readonly failure: Destination["last_failure"] }) {
  if (failure === null) return <span class="muted">none kept</span>;
  const { event, at, error, response_status: status } = failure;
  return (
    <div>
      {WEBHOOK_EVENT_WORDS[event]} (<code>{event}</code>), <Instant at={at} />:{" "}
      {error === null ? "it waited too long" : failureInWords(error, status)}
    </div>
  );
}

const DELIVERY_TONES: Readonly<Record<Delivery["status"], string>> = {
  queued: "fair",
  delivered: "good",
  dead: "bad",
  cancelled: "none",
};

const COLUMNS: readonly Column<Delivery>[] = [{
  head: "Event",
  order: { name: "event", keyOf: (row) => row.event },
  cell: ({ event, delivery_id: id, redelivery_of: again }) => (
    <>
      <EventName event={event} />
      <div class="small muted">
        {id}
        {again !== null && ` again for ${again}`}
      </div>
    </>
  ),
}, {
  head: "Of",
  order: { name: "event_at", keyOf: (row) => row.event_at },
  cell: (row) => <Instant at={row.event_at} />,
}, {
  head: "Status",
  order: { name: "status", keyOf: (row) => row.status },
  cell: ({ status }) => <span class={`status ${DELIVERY_TONES[status]}`}>{DELIVERY_WORDS[status]}</span>,
}, {
  head: "Attempts",
  class: "small",
  order: { name: "attempts", keyOf: (row) => row.attempts.length },
  cell: ({ attempts }) =>
    attempts.length === 0 ? <span class="muted">none yet</span> : (
      <details>
        <summary>{countInWords(attempts.length, "attempt")}</summary>
        <ol>
          {attempts.map((attempt) => (
            <li key={attempt.at}>
              <Instant at={attempt.at} />, {attempt.duration_ms} ms: {attempt.error === null
                ? `delivered, ${attempt.response_status}`
                : failureInWords(attempt.error, attempt.response_status)}
            </li>
          ))}
        </ol>
      </details>
    ),
}];

const CSV = {
  delivery_id: (row: Delivery) => row.delivery_id,
  event: (row: Delivery) => row.event,
  event_request_id: (row: Delivery) => row.event_request_id,
  event_at: (row: Delivery) => row.event_at,
  status: (row: Delivery) => row.status,
  attempts: (row: Delivery) => row.attempts.length,
  last_attempt_at: (row: Delivery) => row.attempts.at(-1)?.at,
  last_error: (row: Delivery) => row.attempts.at(-1)?.error,
  last_response_status: (row: Delivery) => row.attempts.at(-1)?.response_status,
  next_attempt_at: (row: Delivery) => row.next_attempt_at,
  redelivery_of: (row: Delivery) => row.redelivery_of,
};

function Redeliver({ webhookId, deliveryId, onSent }: {
  readonly webhookId: string;
  readonly deliveryId: string;
  readonly onSent: () => void;
}) {
  const caller = useCaller();
  const { busy, error, run } = useAction<Redelivered>();
  const send = async () => {
    const path = `/v1/admin/webhook/${webhookId}/deliveries/${deliveryId}/redeliver`;
    const sent = await run((patience) => caller.json<Redelivered>({ method: "POST", path }, { patience }));
    if (sent !== null) onSent();
  };
  return (
    <>
      <button type="button" disabled={busy} onClick={send}>{busy ? "Queueing…" : "Send again"}</button>
      {error !== null && <Failure error={error} />}
    </>
  );
}
