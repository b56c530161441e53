/** The sign-in with an organization's key, which is tried on the dashboard. */
import { useRef, useState } from "preact/hooks";
import { ApiError, call } from "../shared/api.ts";
import { announceWait } from "../shared/waiting.tsx";
import { Failure, View } from "./parts.tsx";
import type { SignedIn } from "./session.tsx";
import type { Dashboard } from "./types.ts";
import { useAction } from "./use_answer.ts";

export function SignIn({ reason, onSignedIn }: {
  /** Why the last session is over, if the user did not end it. */
  readonly reason: string | null;
  readonly onSignedIn: (signedIn: SignedIn) => void;
}) {
  const [key, setKey] = useState("");
  const field = useRef<HTMLInputElement>(null);
  const { busy, error, run } = useAction<Dashboard>();
  const submit = async (event: Event) => {
    event.preventDefault();
    const request = { path: "/v1/organization/dashboard", key: key.trim() };
    const dashboard = await run((patience) => call<Dashboard>(request, { onWait: announceWait, patience }));
    if (dashboard === null) {
      field.current?.focus();
      return;
    }
    const { organization: { id, name }, dashboard: { organization_rule: { thresholds } } } = dashboard;
    onSignedIn({ key: key.trim(), orgId: id, organization: name, minimum: thresholds.min_jis });
  };
  const isRefused = error instanceof ApiError && error.status === 401;
  return (
    <View title="Sign in">
      <p>
        With the key of your organization. It stays in the memory of this page: leaving or reloading the page
        forgets it.
      </p>
      {reason !== null && <p class="notice fair" role="alert">{reason}</p>}
      <form onSubmit={submit}>
        <div class="field">
          <label for="key">API key</label>
          <input
            id="key"
            ref={field}
            type="password"
            autocomplete="off"
            spellcheck={false}
            required
            value={key}
            aria-invalid={isRefused}
            aria-describedby={isRefused ? "key-wrong" : undefined}
            onInput={(event) => setKey(event.currentTarget.value)}
          />
          {isRefused && (
            <p class="wrong" id="key-wrong" role="alert">
              The service does not take this key. Look whether it is whole, and whether it was rotated,
              revoked or belongs to another installation.
            </p>
          )}
        </div>
        <p>
          <button class="main" type="submit" disabled={busy}>{busy ? "Signing in…" : "Sign in"}</button>
        </p>
      </form>
      {error !== null && !isRefused && <Failure error={error} />}
      <p>
        No key is needed to <a href="/console/verify">verify an exported bundle</a>.
      </p>
    </View>
  );
}
