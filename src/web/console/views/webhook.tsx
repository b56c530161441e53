/** The deliveries to one destination, attempt by attempt, with a button to send a dead one again. */
import { useLocation, useRoute } from "preact-iso";
import { DELIVERY_STATUSES } from "../../../domain/enums.ts";
import { countInWords, nameInWords } from "../../../pages/wording.ts";
import { Choice } from "../filters.tsx";
import { addressOf, Answered, Empty, Failure, Figure, Instant, Tile, View } from "../parts.tsx";
import { useCaller } from "../session.tsx";
import { type Column, Table } from "../table.tsx";
import type { Deliveries, Redelivered } from "../types.ts";
import { useAction, useAnswer } from "../use_answer.ts";

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
  return (
    <View
      title="Deliveries"
      within={{ path: "/console/webhooks", label: "Webhooks" }}
      line={<code>{id}</code>}
    >
      <div class="filters">
        <Choice
          id="status"
          label="Status"
          value={status}
          options={[["", "All"], ...DELIVERY_STATUSES.map((name) => [name, nameInWords(name)] as const)]}
          onChosen={(chosen) => route(addressOf(path, { status: chosen, sort }))}
        />
        <button type="button" onClick={asked.again}>Look again</button>
      </div>
      <Answered asked={asked}>
        {({ webhook, deliveries }) => (
          <>
            <ul class="tiles">
              <Tile name="Destination">
                {webhook.active ? "Active" : "Off"}
              </Tile>
              <Tile name="Waiting">
                <Figure of="webhook.waiting" value={webhook.waiting} />
              </Tile>
              {webhook.paused_since !== null && (
                <Tile name="Paused since">
                  <Instant at={webhook.paused_since} />
                </Tile>
              )}
            </ul>
            {deliveries.length === 0
              ? (
                <Empty>
                  <p>Nothing was sent yet: the next event of a kind that it takes comes here.</p>
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
          </>
        )}
      </Answered>
    </View>
  );
}

const COLUMNS: readonly Column<Delivery>[] = [{
  head: "Event",
  order: { name: "event", keyOf: (row) => row.event },
  cell: ({ event, delivery_id: id, redelivery_of: again }) => (
    <>
      {event}
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
  cell: (row) => nameInWords(row.status),
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
              <Instant at={attempt.at} />, {attempt.duration_ms} ms:{" "}
              {attempt.error === null ? `delivered, ${attempt.response_status}` : attempt.error}
              {attempt.error !== null && attempt.response_status !== null && ` ${attempt.response_status}`}
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
