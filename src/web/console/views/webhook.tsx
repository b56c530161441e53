/** The deliveries to one destination, attempt by attempt, with a button to send a dead one again. */
import { useLocation, useRoute } from "preact-iso";
import { DELIVERY_STATUSES } from "../../../domain/enums.ts";
import { countInWords, nameInWords } from "../../../pages/wording.ts";
import { addressOf, Answered, Empty, Failure, Figure, Instant, Rows, Tile, View } from "../parts.tsx";
import { useCaller } from "../session.tsx";
import type { Deliveries, Redelivered } from "../types.ts";
import { useAction, useAnswer } from "../use_answer.ts";

type Delivery = Deliveries["deliveries"][number];

const PAGE = "50";

export function WebhookView() {
  const { params } = useRoute();
  const { query, route } = useLocation();
  const id = params.id ?? "";
  const { status = "" } = query;
  const asked = useAnswer<Deliveries>({
    path: addressOf(`/v1/admin/webhook/${encodeURIComponent(id)}/deliveries`, { status, limit: PAGE }),
  });
  return (
    <View title="Deliveries">
      <p>
        <a href="/console/webhooks">All destinations</a>
      </p>
      <div class="filters">
        <div class="field">
          <label for="status">Status</label>
          <select
            id="status"
            value={status}
            onChange={(event) =>
              route(addressOf(`/console/webhooks/${id}`, { status: event.currentTarget.value }))}
          >
            <option value="">All</option>
            {DELIVERY_STATUSES.map((name) => <option key={name} value={name}>{nameInWords(name)}</option>)}
          </select>
        </div>
        <button type="button" onClick={asked.again}>Look again</button>
      </div>
      <Answered asked={asked}>
        {({ webhook, deliveries }) => (
          <>
            <ul class="tiles">
              <Tile name="Destination" more={<code>{webhook.id}</code>}>
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
                <Rows label="Deliveries" columns={["Event", "Of", "Status", "Attempts", "Do"]}>
                  {deliveries.map((delivery) => (
                    <Row key={delivery.delivery_id} delivery={delivery} webhookId={id} onSent={asked.again} />
                  ))}
                </Rows>
              )}
          </>
        )}
      </Answered>
    </View>
  );
}

function Row({ delivery, webhookId, onSent }: {
  readonly delivery: Delivery;
  readonly webhookId: string;
  readonly onSent: () => void;
}) {
  const { delivery_id: id, event, event_at: at, status, attempts, redelivery_of: again } = delivery;
  return (
    <tr>
      <th scope="row">
        {event}
        <div class="small muted">
          {id}
          {again !== null && ` again for ${again}`}
        </div>
      </th>
      <td>
        <Instant at={at} />
      </td>
      <td>{nameInWords(status)}</td>
      <td class="small">
        {attempts.length === 0 ? <span class="muted">none yet</span> : (
          <details>
            <summary>{countInWords(attempts.length, "attempt")}</summary>
            <ol>
              {attempts.map((attempt) => (
                <li key={attempt.at}>
                  <Instant at={attempt.at} />, {attempt.duration_ms} ms:{" "}
                  {attempt.error === null ? `delivered, ${attempt.response_status}` : attempt.error}
                  {attempt.error !== null && attempt.response_status !== null &&
                    ` ${attempt.response_status}`}
                </li>
              ))}
            </ol>
          </details>
        )}
      </td>
      <td>{status === "dead" && <Redeliver webhookId={webhookId} deliveryId={id} onSent={onSent} />}</td>
    </tr>
  );
}

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
