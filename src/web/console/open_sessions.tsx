/** Open sessions, to end one or all of them. */
import { Answered, Failure, Instant, Rows } from "./parts.tsx";
import { SIGNED_OUT, useCaller, useSession } from "./session.tsx";
import type { Sessions } from "./types.ts";
import { useAction, useAnswer } from "./use_answer.ts";

/** The open sessions of a user. `path`: of the calls about them. */
export function OpenSessions({ path, isOwn }: { readonly path: string; readonly isOwn: boolean }) {
  const asked = useAnswer<Sessions>({ path });
  const caller = useCaller();
  const { refuse } = useSession();
  const { busy, error, run } = useAction<unknown>();
  const end = async (which: string, isThisOne: boolean) => {
    const done = await run((patience) => caller.json({ method: "DELETE", path: path + which }, { patience }));
    if (done === null) return;
    if (isThisOne) refuse(null, SIGNED_OUT);
    else asked.again();
  };
  return (
    <>
      <Answered asked={asked}>
        {({ sessions }) =>
          sessions.length === 0
            ? <p>None is open.</p>
            : (
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
                        onClick={() => end(`/${session.session_id}`, session.is_current)}
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
        <button type="button" disabled={busy} onClick={() => end("", isOwn)}>
          {isOwn ? "Sign out everywhere" : "End all sessions"}
        </button>
      </p>
      {error !== null && <Failure error={error} />}
    </>
  );
}
