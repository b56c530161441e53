/** Open sessions, to end one or all of them. */
import { browserInWords } from "./browser_words.ts";
import { Answered, Failure, Instant } from "./parts.tsx";
import { SIGNED_OUT, useCaller, useSession } from "./session.tsx";
import { type Column, Table } from "./table.tsx";
import type { Sessions } from "./types.ts";
import { useAction, useAnswer } from "./use_answer.ts";

type Session = Sessions["sessions"][number];

const COLUMNS: readonly Column<Session>[] = [{
  head: "Browser",
  cell: ({ agent, is_current }) => (
    <>
      {agent === "" ? "Unknown" : <span title={agent}>{browserInWords(agent)}</span>}
      {is_current && <div class="small">this one</div>}
    </>
  ),
}, {
  head: "Signed in",
  cell: (row) => <Instant at={row.created_at} />,
}, {
  head: "Last used",
  cell: (row) => <Instant at={row.seen_at} />,
}, {
  head: "Ends",
  cell: (row) => <Instant at={row.expires_at} />,
}];

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
          sessions.length === 0 ? <p>None is open.</p> : (
            <Table
              label="Sessions"
              rows={sessions}
              keyOf={(row) => row.session_id}
              columns={[...COLUMNS, {
                head: "Actions",
                cell: (row) => (
                  <button
                    type="button"
                    disabled={busy}
                    onClick={() => end(`/${row.session_id}`, row.is_current)}
                  >
                    End
                  </button>
                ),
              }]}
            />
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
