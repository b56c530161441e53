/** The user's own account: sessions, each of which can be ended, passkeys, and the password. */
import { useState } from "preact/hooks";
import { PASSWORD_MIN_LENGTH } from "../../../domain/limits.ts";
import { Answered, Empty, Failure, Instant, Rows, View } from "../parts.tsx";
import { OwnPasskeys } from "../passkeys.tsx";
import { SESSION_OVER, useCaller, useSession } from "../session.tsx";
import { Field } from "../field.tsx";
import type { Me, Sessions } from "../types.ts";
import { useAction, useAnswer } from "../use_answer.ts";

export function AccountView() {
  const { signedIn: { user } } = useSession();
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
      <p>
        <bdi>{user.name}</bdi>, {user.email}, {user.role}
      </p>
      <h2>Sessions</h2>
      <OpenSessions />
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

function OpenSessions() {
  const asked = useAnswer<Sessions>({ path: "/v1/me/sessions" });
  const caller = useCaller();
  const { refuse } = useSession();
  const { busy, error, run } = useAction<unknown>();
  const end = async (path: string, isOwn: boolean) => {
    const done = await run((patience) => caller.json({ method: "DELETE", path }, { patience }));
    if (done === null) return;
    if (isOwn) refuse(null);
    else asked.again();
  };
  return (
    <>
      <Answered asked={asked}>
        {({ sessions }) => (
          <Rows label="Sessions" columns={["Browser", "Signed in", "Last used", "Ends", "Do"]}>
            {sessions.map((session) => (
              <tr key={session.session_id}>
                <th scope="row">
                  {session.agent === "" ? "Unknown" : session.agent}
                  {session.is_current && <div class="small">this one</div>}
                </th>
                <td>
                  <Instant at={session.created_at} />
                </td>
                <td>
                  <Instant at={session.seen_at} />
                </td>
                <td>
                  <Instant at={session.expires_at} />
                </td>
                <td>
                  <button
                    type="button"
                    disabled={busy}
                    onClick={() => end(`/v1/me/sessions/${session.session_id}`, session.is_current)}
                  >
                    End
                  </button>
                </td>
              </tr>
            ))}
          </Rows>
        )}
      </Answered>
      <p>
        <button type="button" disabled={busy} onClick={() => end("/v1/me/sessions", true)}>
          Sign out everywhere
        </button>
      </p>
      {error !== null && error.message !== SESSION_OVER && <Failure error={error} />}
    </>
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
      caller.json<Me>({ method: "POST", path: "/v1/me/password", body }, { patience })
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
