/** The organization's key: rotated after a warning, the new one shown once. */
import { useState } from "preact/hooks";
import { Failure, Figure, Instant, Secret, View } from "../parts.tsx";
import { useCaller, useSession } from "../session.tsx";
import type { Rotated } from "../types.ts";
import { useAction } from "../use_answer.ts";

export function KeyView() {
  const { signedIn: { key }, takeKey } = useSession();
  const [understood, setUnderstood] = useState(false);
  const caller = useCaller();
  const { busy, error, result, run } = useAction<Rotated>();
  const rotate = async () => {
    const rotated = await run(() => caller.json<Rotated>({ method: "POST", path: "/v1/admin/key/rotate" }));
    if (rotated !== null) takeKey(rotated.new_api_key);
    setUnderstood(false);
  };
  return (
    <View title="Key">
      <p>
        You are signed in with the key that begins with <code>{key.slice(0, 8)}</code>.
      </p>
      {result !== null && (
        <div class="notice good" role="alert">
          <h2>The key was rotated</h2>
          <p>
            <Instant at={result.rotated_at} />, the new one begins with{" "}
            <code>
              <Figure of="prefix" value={result.prefix} />
            </code>. {result.warning}
          </p>
          <Secret label="The new key: this is the only time that it is shown." value={result.new_api_key} />
          <p>This page goes on with it.</p>
        </div>
      )}
      <h2>Rotate</h2>
      <div class="notice fair">
        <h2>The old key stops working at once</h2>
        <p>
          Every system that sends with it is refused from that moment: review pages, batch jobs, receivers
          that call back. There is no time in which both work. The new key is shown here once, and kept by the
          service only as a hash.
        </p>
      </div>
      <p>
        <label>
          <input
            type="checkbox"
            checked={understood}
            onChange={(event) => setUnderstood(event.currentTarget.checked)}
          />
          I can put the new key into every system that uses the old one, now.
        </label>
      </p>
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
              The answer was lost, and with it, perhaps, a new key. If the old key is refused now, the key was
              rotated: ask the service's administrator for another rotation.
            </p>
          )}
        </>
      )}
    </View>
  );
}
