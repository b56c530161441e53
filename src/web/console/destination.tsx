/** One destination of webhooks: its last delivery, and what can be done with it. */
import { useState } from "preact/hooks";
import type { ApiError } from "../shared/api.ts";
import { Failure, Instant } from "./parts.tsx";
import { useCaller } from "./session.tsx";
import type { Webhooks, WebhookTested } from "./types.ts";
import { useAction } from "./use_answer.ts";
import { failureInWords } from "./webhook_words.ts";

/** The attempt that ended last, with its outcome. */
export function LastDelivery({ last }: { readonly last: Webhooks["webhooks"][number]["last_delivery"] }) {
  if (last === null) return <span class="muted">none yet</span>;
  return (
    <>
      <span class={`status ${last.error === null ? "good" : "bad"}`}>
        {last.error === null ? "Delivered" : "Failed"}
      </span>
      <div class="small">
        {last.event}, <Instant at={last.at} />
        {last.error !== null && <>: {failureInWords(last.error, last.response_status)}</>}
      </div>
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
  const test = useAction<WebhookTested>();
  const removal = useAction<unknown>();
  const [isRemoving, setRemoving] = useState(false);
  const remove = async () => {
    const done = await removal.run((patience) =>
      caller.json({ method: "DELETE", path: `/v1/admin/webhook/${id}` }, { patience })
    );
    if (done !== null) onRemoved();
  };
  const send = async () => {
    const tested = await test.run((patience) =>
      caller.json<WebhookTested>({ method: "POST", path: `/v1/admin/webhook/${id}/test` }, { patience })
    );
    if (tested !== null) onTested?.();
  };
  return (
    <div class="actions">
      <button type="button" disabled={test.busy || !isActive} onClick={send} aria-label={`Test ${url}`}>
        {test.busy ? "Testing…" : "Test"}
      </button>
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
          <button type="button" onClick={() => setRemoving(true)} aria-label={`Remove ${url}`}>
            Remove
          </button>
        )}
      <span role="status" class="small">{test.result !== null && outcomeInWords(test.result)}</span>
      {[test.error, removal.error].filter((error): error is ApiError => error !== null)
        .map((error) => <Failure key={error.message} error={error} />)}
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
