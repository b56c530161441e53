/** Webhook destinations: each with its last delivery and a test, and a form for a new one. */
import { useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { DEFAULT_WEBHOOK_EVENTS, WEBHOOK_EVENTS, type WebhookEvent } from "../../../domain/enums.ts";
import { WEBHOOK_SECRET_MAX_LENGTH, WEBHOOK_SECRET_MIN_LENGTH } from "../../../domain/limits.ts";
import { problemOf } from "../field.tsx";
import { DestinationActs, EventName, LastDelivery } from "../destination.tsx";
import { Answered, Empty, Failure, View } from "../parts.tsx";
import { useCaller, useSession } from "../session.tsx";
import { type Column, Table } from "../table.tsx";
import type { WebhookRegistered, Webhooks } from "../types.ts";
import { useAction, useAnswer } from "../use_answer.ts";
import { stateInWords, WEBHOOK_EVENT_WORDS } from "../webhook_words.ts";
import { randomHex } from "../../shared/random_hex.ts";

export function WebhooksView() {
  const asked = useAnswer<Webhooks>({ path: "/v1/admin/webhook/list" });
  const [isAdding, setAdding] = useState(false);
  return (
    <View title="Webhooks">
      <Answered asked={asked}>
        {({ webhooks }) =>
          webhooks.length === 0
            ? (
              <Empty>
                <p>
                  No destination is registered: nobody is told of scores, decisions and cases. Register one
                  below.
                </p>
              </Empty>
            )
            : <Destinations webhooks={webhooks} onChanged={asked.again} />}
      </Answered>
      <h2>New destination</h2>
      {isAdding
        ? <Register onDone={asked.again} />
        : <button class="main" type="button" onClick={() => setAdding(true)}>Register a destination</button>}
    </View>
  );
}

type Destination = Webhooks["webhooks"][number];

const COLUMNS: readonly Column<Destination>[] = [{
  head: "Destination",
  order: { name: "url", keyOf: (row) => row.url },
  cell: (row) => <a href={`/console/webhooks/${row.id}`}>{row.url}</a>,
}, {
  head: "Events",
  class: "small",
  cell: (row) =>
    row.events.map((event) => (
      <div key={event}>
        <EventName event={event} />
      </div>
    )),
}, {
  head: "State",
  order: { name: "active", keyOf: (row) => stateInWords(row) },
  cell: stateInWords,
}, {
  head: "Last delivery",
  order: { name: "last_delivery_at", keyOf: (row) => row.last_delivery?.at ?? null },
  cell: (row) => <LastDelivery last={row.last_delivery} />,
}];

const CSV = {
  id: (row: Destination) => row.id,
  url: (row: Destination) => row.url,
  events: (row: Destination) => row.events.join(" "),
  active: (row: Destination) => row.active,
  created_at: (row: Destination) => row.created_at,
  last_delivery_event: (row: Destination) => row.last_delivery?.event,
  last_delivery_at: (row: Destination) => row.last_delivery?.at,
  last_delivery_status: (row: Destination) => row.last_delivery?.response_status,
  last_delivery_error: (row: Destination) => row.last_delivery?.error,
};

function Destinations({ webhooks, onChanged }: {
  readonly webhooks: Webhooks["webhooks"];
  readonly onChanged: () => void;
}) {
  const { query: { sort = "" } } = useLocation();
  const acts: Column<Destination> = {
    head: "Actions",
    cell: (row) => <DestinationActs id={row.id} url={row.url} isActive={row.active} onRemoved={onChanged} />,
  };
  return (
    <Table
      label="Destinations"
      rows={webhooks}
      keyOf={(row) => row.id}
      columns={[...COLUMNS, acts]}
      csv={CSV}
      ordering={{ path: "/console/webhooks", query: {}, sort, first: "", served: "", isWhole: true }}
    />
  );
}

function Register({ onDone }: { readonly onDone: () => void }) {
  const [url, setUrl] = useState("");
  const [secret, setSecret] = useState("");
  const [events, setEvents] = useState<readonly WebhookEvent[]>(DEFAULT_WEBHOOK_EVENTS);
  const caller = useCaller();
  const { obtain } = useSession();
  const { busy, error, run } = useAction<true>();
  const submit = async (event: Event) => {
    event.preventDefault();
    const request = {
      method: "POST",
      path: "/v1/admin/webhook/register",
      body: { url, secret, events },
    } as const;
    const done = await run(async (patience) => {
      await obtain(async () => {
        const registered = await caller.json<WebhookRegistered>(request, { patience });
        return {
          title: `Registered: ${registered.url}`,
          note: "The receiver verifies with it who calls.",
          label: "Its signing secret: this is the only time that it is shown.",
          value: registered.signing_secret,
        };
      });
      return true;
    });
    if (done === null) return;
    setUrl("");
    setSecret("");
    onDone();
  };
  const isOfField = (problemOf(error, "url") ?? problemOf(error, "secret")) !== null;
  return (
    <form onSubmit={submit}>
      <UrlField value={url} problem={problemOf(error, "url")} onChange={setUrl} />
      <SecretField value={secret} problem={problemOf(error, "secret")} onChange={setSecret} />
      <EventChoice chosen={events} onChange={setEvents} />
      <p>
        <button class="main" type="submit" disabled={busy || events.length === 0}>
          {busy ? "Registering…" : "Register"}
        </button>
      </p>
      {events.length === 0 && <p class="small">Choose an event: one at least.</p>}
      {error !== null && !isOfField && <Failure error={error} />}
      {error?.status === 0 && (
        <p class="notice fair">
          The answer was lost: the destination may be registered. Look at the list; remove what stands there
          without its signing secret, and register it again.
        </p>
      )}
    </form>
  );
}

interface FieldProps {
  readonly value: string;
  readonly problem: string | null;
  readonly onChange: (value: string) => void;
}

function UrlField({ value, problem, onChange }: FieldProps) {
  return (
    <div class="field">
      <label for="url">URL</label>
      <input
        id="url"
        type="url"
        required
        placeholder="https://"
        value={value}
        aria-invalid={problem !== null}
        aria-describedby="url-wrong"
        onInput={(event) => onChange(event.currentTarget.value)}
      />
      <p class="wrong" id="url-wrong">{problem}</p>
    </div>
  );
}

function SecretField({ value, problem, onChange }: FieldProps) {
  return (
    <div class="field">
      <label for="secret">Shared secret</label>
      <p class="hint" id="secret-hint">
        {WEBHOOK_SECRET_MIN_LENGTH} to {WEBHOOK_SECRET_MAX_LENGTH}{" "}
        characters that only you know; the service answers with a signing secret of its own.
      </p>
      <input
        id="secret"
        type="password"
        autocomplete="off"
        required
        minLength={WEBHOOK_SECRET_MIN_LENGTH}
        maxLength={WEBHOOK_SECRET_MAX_LENGTH}
        value={value}
        aria-invalid={problem !== null}
        aria-describedby="secret-hint secret-wrong"
        onInput={(event) => onChange(event.currentTarget.value)}
      />
      <p class="wrong" id="secret-wrong">{problem}</p>
      <button type="button" class="link" onClick={() => onChange(drawSecret())}>Draw one</button>
    </div>
  );
}

interface EventChoiceProps {
  readonly chosen: readonly WebhookEvent[];
  readonly onChange: (events: readonly WebhookEvent[]) => void;
}

function EventChoice({ chosen, onChange }: EventChoiceProps) {
  return (
    <fieldset>
      <legend>Events</legend>
      {WEBHOOK_EVENTS.map((name) => (
        <label key={name}>
          <input
            type="checkbox"
            checked={chosen.includes(name)}
            onChange={(change) =>
              onChange(
                WEBHOOK_EVENTS.filter((other) =>
                  other === name ? change.currentTarget.checked : chosen.includes(other)
                ),
              )}
          />
          {WEBHOOK_EVENT_WORDS[name]} <code>{name}</code>
        </label>
      ))}
    </fieldset>
  );
}

/** A secret of 256 random bits, in characters that every form and file accepts. */
function drawSecret(): string {
  return randomHex(32);
}
