/** One destination of webhooks: its last delivery, and what can be done with it. */
import { useState } from "preact/hooks";
import { Failure, Instant } from "./parts.tsx";
import { useCaller } from "./session.tsx";
import type { Webhooks, WebhookTested } from "./types.ts";
import { useAction } from "./use_answer.ts";
import { failureInWords, WEBHOOK_EVENT_WORDS } from "./webhook_words.ts";

/** An event in words, and below it the name that the API has for it. */
export function EventName({ event }: { readonly event: keyof typeof WEBHOOK_EVENT_WORDS }) {
  return (
    <>
      {WEBHOOK_EVENT_WORDS[event]} <code class="second less">{event}</code>
    </>
  );
}

/** The attempt that ended last, with its outcome. */
export function LastDelivery({ last }: { readonly last: Webhooks["webhooks"][number]["last_delivery"] }) {
  if (last === null) return <span class="muted">none yet</span>;
  return (
    <>
      <span class={`status ${last.error === null ? "good" : "bad"}`}>
        {last.error === null ? "Delivered" : "Failed"}
      </span>
      <div class="small">
        {WEBHOOK_EVENT_WORDS[last.event]} (<code>{last.event}</code>), <Instant at={last.at} />
        {last.error !== null && <>: {failureInWords(last.error, last.response_status)}</>}
      </div>
    </>
  );
}

/** Sends a test to a destination, and says how it went. */
export function TestOf({ id, url, isActive, label = "Test", onTested }: {
  readonly id: string;
  /** Names the destination beside others; left out if there is one alone. */
  readonly url?: string;
  readonly isActive: boolean;
  readonly label?: string;
  readonly onTested?: (() => void) | undefined;
}) {
  const caller = useCaller();
  const { busy, result, error, run } = useAction<WebhookTested>();
  const send = async () => {
    const tested = await run((patience) =>
      caller.json<WebhookTested>({ method: "POST", path: `/v1/admin/webhook/${id}/test` }, { patience })
    );
    if (tested !== null) onTested?.();
  };
  return (
    <>
      <button
        type="button"
        disabled={busy || !isActive}
        onClick={send}
        aria-label={url === undefined ? undefined : `${label} ${url}`}
      >
        {busy ? "Testing…" : label}
      </button>
      <span role="status" class="small">{result !== null && outcomeInWords(result)}</span>
      {error !== null && <Failure error={error} />}
    </>
  );
}

/** Tests a destination, and removes it. */
export function DestinationActs({ id, url, isActive, onTested, onRemoved }: {
  readonly id: string;
  readonly url: string;
  readonly isActive: boolean;
  readonly onTested?: () => void;
  readonly onRemoved: () => void;
}) {
  const caller = useCaller();
  const removal = useAction<unknown>();
  const [isRemoving, setRemoving] = useState(false);
  const remove = async () => {
    const done = await removal.run((patience) =>
      caller.json({ method: "DELETE", path: `/v1/admin/webhook/${id}` }, { patience })
    );
    if (done !== null) onRemoved();
  };
  return (
    <div class="actions">
      <TestOf id={id} url={url} isActive={isActive} onTested={onTested} />
      {isRemoving
        ? (
          <>
            <button class="grave" type="button" ref={takeFocus} disabled={removal.busy} onClick={remove}>
              Really remove
            </button>
            <button type="button" onClick={() => setRemoving(false)}>Keep</button>
          </>
        )
        : (
          <button class="grave" type="button" onClick={() => setRemoving(true)} aria-label={`Remove ${url}`}>
            Remove
          </button>
        )}
      {removal.error !== null && <Failure error={removal.error} />}
    </div>
  );
}

/** Gives the focus to the button that replaces the one that was pressed. */
function takeFocus(button: HTMLButtonElement | null): void {
  button?.focus();
}

function outcomeInWords(
  { delivered, response_status: status, error, duration_ms: ms }: WebhookTested,
): string {
  if (delivered) return `Delivered: ${status}, ${ms} ms`;
  return `Failed: ${failureInWords(error!, status)}, ${ms} ms`;
}
