/** The organization's keys: named ones, and its own, which is rotated after a warning; new ones are shown once. */
import { useState } from "preact/hooks";
import { localInWords } from "../../shared/local_time.ts";
import { Failure, View } from "../parts.tsx";
import { useCaller, useSession } from "../session.tsx";
import { NamedKeys } from "./named_keys.tsx";
import type { Rotated } from "../types.ts";
import { useAction } from "../use_answer.ts";

export function KeyView() {
  const { signedIn: { key }, takeKey, obtain } = useSession();
  const [understood, setUnderstood] = useState(false);
  const caller = useCaller();
  const { busy, error, run } = useAction<void>();
  const rotate = () => {
    setUnderstood(false);
    return run((patience) =>
      obtain(async () => {
        const path = "/v1/admin/key/rotate";
        const rotated = await caller.json<Rotated>({ method: "POST", path }, { patience });
        if (key !== null) takeKey(rotated.new_api_key, key);
        return {
          title: "The key was rotated",
          note: `${localInWords(rotated.rotated_at)}. ${rotated.warning}${
            key === null ? "" : " A page that is signed in with the old one goes on with it."
          }`,
          label: "The new key: this is the only time that it is shown.",
          value: rotated.new_api_key,
        };
      })
    );
  };
  return (
    <View title="Keys">
      {key !== null && (
        <p>
          You are signed in with the key that begins with <code>{key.slice(0, 8)}</code>.
        </p>
      )}
      <NamedKeys />
      <section class="acts" aria-labelledby="rotate">
        <h2 id="rotate">Rotate the organization's own key</h2>
        <div class="notice fair">
          <h2>The old key stops working at once</h2>
          <p>
            Every system that sends with it is refused from that moment: review pages, batch jobs, receivers
            that call back. There is no time in which both work. The new key is shown here once, and kept by
            the service only as a hash.
          </p>
        </div>
        <div class="explained">
          <input
            id="understood"
            type="checkbox"
            checked={understood}
            disabled={busy}
            onChange={(event) => setUnderstood(event.currentTarget.checked)}
          />
          <label for="understood">I can put the new key into every system that uses the old one, now.</label>
        </div>
        <p>
          <button class="grave" type="button" disabled={!understood || busy} onClick={rotate}>
            {busy ? "Rotating…" : "Rotate the key"}
          </button>
        </p>
        {error !== null && (
          <>
            <Failure error={error} />
            {error.status === 0 && (
              <p class="notice bad">
                The answer was lost, and with it, perhaps, a new key. If the old key is refused now, the key
                was rotated: ask the service's administrator for another rotation.
              </p>
            )}
          </>
        )}
      </section>
    </View>
  );
}
