/** The user's own account: sessions, each of which can be ended, passkeys, and the password. */
import { useState } from "preact/hooks";
import { PASSWORD_MIN_LENGTH } from "../../../domain/limits.ts";
import { OpenSessions } from "../open_sessions.tsx";
import { Empty, Fact, Failure, View } from "../parts.tsx";
import { OwnPasskeys } from "../passkeys.tsx";
import { useCaller, useSession } from "../session.tsx";
import { Field } from "../field.tsx";
import type { Me } from "../types.ts";
import { useAction } from "../use_answer.ts";

export function AccountView() {
  const { signedIn: { user, orgId, organization } } = useSession();
  if (user === null) {
    return (
      <View title="Account">
        <Empty>
          <p>You are signed in with the organization's key, which is nobody's account.</p>
        </Empty>
      </View>
    );
  }
  return (
    <View title="Account">
      <dl class="described">
        <Fact name="Name">
          <bdi>{user.name}</bdi>
        </Fact>
        <Fact name="Email address">{user.email}</Fact>
        <Fact name="Role">{user.role}</Fact>
        <Fact name="Organization">
          <span>
            <bdi>{organization}</bdi> (<code>{orgId}</code>)
          </span>
        </Fact>
      </dl>
      <h2>Sessions</h2>
      <OpenSessions path="/v1/me/sessions" isOwn />
      <h2>Passkeys</h2>
      <OwnPasskeys hasPassword={user.has_password} />
      {user.has_password && (
        <>
          <h2>Password</h2>
          <Password />
        </>
      )}
    </View>
  );
}

function Password() {
  const [current, setCurrent] = useState("");
  const [next, setNext] = useState("");
  const caller = useCaller();
  const { busy, error, result, run } = useAction<Me>();
  const submit = async (event: Event) => {
    event.preventDefault();
    const body = { current_password: current, new_password: next };
    const done = await run((patience) =>
      caller.json<Me>({ method: "POST", path: "/v1/me/password", body }, { patience, mayWait: false })
    );
    if (done === null) return;
    setCurrent("");
    setNext("");
  };
  return (
    <form onSubmit={submit}>
      <Field
        id="current-password"
        label="Present password"
        type="password"
        autocomplete="current-password"
        value={current}
        onInput={setCurrent}
      />
      <Field
        id="next-password"
        label={`New password, at least ${PASSWORD_MIN_LENGTH} characters`}
        type="password"
        autocomplete="new-password"
        value={next}
        onInput={setNext}
      />
      <p>
        <button type="submit" disabled={busy}>{busy ? "Changing…" : "Change the password"}</button>
      </p>
      <p role="status">{result !== null && "The password was changed. All other sessions have ended."}</p>
      {error !== null && <Failure error={error} />}
    </form>
  );
}
