/** The page of a one-time link: it sets a password or a passkey, or only signs in. Its token is in the fragment, which no server sees. */
import { useEffect, useState } from "preact/hooks";
import { PASSWORD_MAX_LENGTH, PASSWORD_MIN_LENGTH } from "../../domain/limits.ts";
import { ApiError, call } from "../shared/api.ts";
import { announceWait } from "../shared/waiting.tsx";
import { Failure, View } from "./parts.tsx";
import { PasskeyByLink } from "./passkeys.tsx";
import { type SignedIn, signedInAs } from "./session.tsx";
import { Field } from "./field.tsx";
import type { Me, OpenedLink } from "./types.ts";
import { useAction } from "./use_answer.ts";

/** The token of the link that was opened last. It outlives a session in which the link could not be used. */
let opened = "";

/** The token of the link that is open, empty if there is none. It must not stay in the address, nor in the history. */
export function takeLinkToken(): string {
  if (location.hash.length > 1) {
    opened = location.hash.slice(1);
    history.replaceState(null, "", location.pathname);
  }
  return opened;
}

export function LinkView({ onSignedIn }: { readonly onSignedIn: (signedIn: SignedIn) => void }) {
  const [token] = useState(takeLinkToken);
  const [link, setLink] = useState<OpenedLink | null>(null);
  const [failure, setFailure] = useState<ApiError | null>(null);
  useEffect(() => {
    call<OpenedLink>({ method: "POST", path: "/v1/sign-in/link", body: { token } }, { onWait: announceWait })
      .then(setLink, (error) => {
        if (!(error instanceof ApiError)) throw error;
        setFailure(error);
      });
  }, [token]);
  const proceed = (me: Me) => {
    opened = "";
    history.replaceState(null, "", "/console");
    onSignedIn(signedInAs(me));
    dispatchEvent(new PopStateEvent("popstate"));
  };
  if (failure !== null) {
    return (
      <View title="This link does not work" isNarrow>
        <p role="alert">{failure.message}</p>
        <p>
          If you have a password already, <a href="/console">sign in</a> with it.
        </p>
      </View>
    );
  }
  if (link === null) return <p class="loading" role="status">Loading…</p>;
  return link.purpose === "sign_in"
    ? <OnlySignIn link={link} token={token} onDone={proceed} />
    : <SetPassword link={link} token={token} onDone={proceed} />;
}

interface Use {
  readonly link: OpenedLink;
  readonly token: string;
  readonly onDone: (me: Me) => void;
}

function useLink(token: string, onDone: (me: Me) => void) {
  const { busy, error, run } = useAction<Me>();
  const use = async (password?: string) => {
    const body = { token, ...(password === undefined ? {} : { password }) };
    const request = { method: "POST", path: "/v1/sign-in/link/use", body, withSession: true } as const;
    const me = await run((patience) => call<Me>(request, { patience, mayWait: false }));
    if (me !== null) onDone(me);
  };
  return { busy, error, use };
}

function OnlySignIn({ link, token, onDone }: Use) {
  const { busy, error, use } = useLink(token, onDone);
  return (
    <View title={`Sign in to ${link.organization.name}`} isNarrow>
      <p>
        As <bdi>{link.name}</bdi>, {link.email}. The link works once.
      </p>
      <p>
        <button class="main" type="button" disabled={busy} onClick={() => use()}>
          {busy ? "Signing in…" : "Sign in"}
        </button>
      </p>
      {error !== null && <Failure error={error} />}
    </View>
  );
}

function SetPassword({ link, token, onDone }: Use) {
  const [password, setPassword] = useState("");
  const { busy, error, use } = useLink(token, onDone);
  const submit = (event: Event) => {
    event.preventDefault();
    return use(password);
  };
  return (
    <View title={`Welcome to ${link.organization.name}`} isNarrow>
      <p>
        Choose a password, <bdi>{link.name}</bdi>. You sign in with it and the address{" "}
        {link.email}. If the installation has several organizations, the sign-in asks for the id of yours:
        {" "}
        <code>{link.organization.id}</code>.
      </p>
      <form onSubmit={submit}>
        <input type="email" autocomplete="username" value={link.email} hidden readOnly />
        <Field
          id="new-password"
          label={`Password, ${PASSWORD_MIN_LENGTH} to ${PASSWORD_MAX_LENGTH} characters`}
          type="password"
          autocomplete="new-password"
          value={password}
          onInput={setPassword}
          wrong={password !== "" && password.length < PASSWORD_MIN_LENGTH
            ? `At least ${PASSWORD_MIN_LENGTH} characters are needed.`
            : null}
        />
        <p>
          <button class="main" type="submit" disabled={busy || password.length < PASSWORD_MIN_LENGTH}>
            {busy ? "Setting it…" : "Set the password and sign in"}
          </button>
        </p>
      </form>
      {error !== null && <Failure error={error} />}
      <PasskeyByLink token={token} onDone={onDone} />
    </View>
  );
}
