/** The sign-in: of a user with a password or a passkey, or with an organization's key, which is tried on the dashboard. */
import { useRef, useState } from "preact/hooks";
import { ApiError, call } from "../shared/api.ts";
import { announceWait } from "../shared/waiting.tsx";
import { Field } from "./field.tsx";
import { Failure, View } from "./parts.tsx";
import { WithPasskey } from "./passkeys.tsx";
import { type SignedIn, signedInAs } from "./session.tsx";
import type { Dashboard, Me } from "./types.ts";
import { useAction } from "./use_answer.ts";

/** The page that sends the browser to the identity provider; undefined if there is none. */
const PROVIDER = document.querySelector<HTMLElement>("#app")!.dataset.provider;

interface SigningIn {
  readonly onSignedIn: (signedIn: SignedIn) => void;
}

export function SignIn({ reason, onSignedIn }: SigningIn & {
  /** Why the last session is over, if the user did not end it. */
  readonly reason: string | null;
}) {
  return (
    <View title="Sign in" isNarrow>
      {reason !== null && <p class="notice fair" role="alert">{reason}</p>}
      {PROVIDER !== undefined && (
        <p>
          <a class="button main" href={PROVIDER}>Sign in with your organization's account</a>
        </p>
      )}
      <h2>{PROVIDER === undefined ? "With your account" : "With a password of this service"}</h2>
      <WithPassword onSignedIn={onSignedIn} />
      <WithPasskey onSignedIn={onSignedIn} />
      <h2>With the key of your organization</h2>
      <WithKey onSignedIn={onSignedIn} />
      <p>
        Nobody needs to sign in to <a href="/console/verify">verify an exported bundle</a>.
      </p>
    </View>
  );
}

function WithPassword({ onSignedIn }: SigningIn) {
  const [email, setEmail] = useState("");
  const [password, setPassword] = useState("");
  const [organization, setOrganization] = useState("");
  const { busy, error, run } = useAction<Me>();
  const submit = async (event: Event) => {
    event.preventDefault();
    const body = {
      email,
      password,
      ...(organization.trim() === "" ? {} : { organization: organization.trim() }),
    };
    const request = { method: "POST", path: "/v1/sign-in", body, withSession: true } as const;
    const me = await run((patience) => call<Me>(request, { patience, mayWait: false }));
    if (me !== null) onSignedIn(signedInAs(me));
  };
  const isRefused = error instanceof ApiError && error.status === 401;
  return (
    <form onSubmit={submit}>
      <Field
        id="email"
        label="Email address"
        type="email"
        autocomplete="username"
        value={email}
        onInput={setEmail}
      />
      <Field
        id="password"
        label="Password"
        type="password"
        autocomplete="current-password"
        value={password}
        onInput={setPassword}
        wrong={isRefused
          ? "This address and password do not fit, or the user may not sign in. If this installation has several organizations, fill in the id of yours."
          : null}
      >
        <p class="hint">Forgot the password? Ask your administrator for a new link.</p>
      </Field>
      <Field
        id="organization"
        label="Organization id (only if the installation has several organizations)"
        type="text"
        autocomplete="organization"
        required={false}
        value={organization}
        onInput={setOrganization}
      />
      <p>
        {/* The provider's is the first button if there is one. */}
        <button class={PROVIDER === undefined ? "main" : undefined} type="submit" disabled={busy}>
          {busy ? "Signing in…" : "Continue"}
        </button>
      </p>
      {error !== null && !isRefused && <Failure error={error} />}
    </form>
  );
}

function WithKey({ onSignedIn }: SigningIn) {
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
    onSignedIn({
      key: key.trim(),
      user: null,
      orgId: id,
      organization: name,
      minimum: thresholds.min_jis,
      // A key sees the ids, whatever users see.
      privacy: "named",
    });
  };
  const isRefused = error instanceof ApiError && error.status === 401;
  return (
    <form onSubmit={submit}>
      <p>It stays in the memory of this page: leaving or reloading the page forgets it.</p>
      <Field
        id="key"
        label="API key"
        type="password"
        autocomplete="off"
        value={key}
        onInput={setKey}
        field={field}
        wrong={isRefused
          ? "The service does not take this key. Look whether it is whole, and whether it was rotated, revoked or belongs to another installation."
          : null}
      />
      <p>
        <button type="submit" disabled={busy}>{busy ? "Signing in…" : "Sign in"}</button>
      </p>
      {error !== null && !isRefused && <Failure error={error} />}
    </form>
  );
}
