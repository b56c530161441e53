/** Sets the team of an operator, which an admin may. */
import { useState } from "preact/hooks";
import { Confirmed } from "./confirmed.tsx";
import { Field, problemOf } from "./field.tsx";
import { may, useCaller, useSession } from "./session.tsx";
import type { TeamsSet } from "./types.ts";
import { useAction } from "./use_answer.ts";

export function SetTeam({ id, team, onSet }: {
  /** The operator. */
  readonly id: string;
  /** Null without one, and where operators are pseudonyms. */
  readonly team: string | null;
  readonly onSet: () => void;
}) {
  const { signedIn } = useSession();
  const [name, setName] = useState(team ?? "");
  const caller = useCaller();
  const { busy, error, run } = useAction<TeamsSet>();
  const problem = problemOf(error, "assignments.0.team");
  if (!may(signedIn, "team") || signedIn.privacy !== "named") return null;
  const set = async (next: string | null) => {
    const body = { assignments: [{ operator_id: id, team: next }] };
    const request = { method: "POST", path: "/v1/organization/teams", body } as const;
    const done = await run((patience) => caller.json(request, { patience })) !== null;
    if (done) onSet();
    return done;
  };
  return (
    <Confirmed
      button="Set the team"
      isQuiet
      title="Set the team"
      choices={
        <Field
          id="team-name"
          label="Name of the team"
          type="text"
          autocomplete="off"
          value={name}
          onInput={setName}
          wrong={problem === null ? null : `The name ${problem}.`}
        />
      }
      happens={[
        "The operator is listed and compared with this team, in earlier weeks, too.",
        "The chain records the team and who set it (TEAM_SET); it is erased with the operator's data.",
      ]}
      stays={["No score and no verdict changes."]}
      ways={[
        { label: "Set it", act: () => set(name) },
        ...(team === null ? [] : [{ label: "Take the team away", act: () => set(null) }]),
      ]}
      ready={name.trim() !== ""}
      busy={busy}
      error={problem === null ? error : null}
    />
  );
}
