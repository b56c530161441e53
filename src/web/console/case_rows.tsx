/** Cases as rows: who, why, how far, and until when. */
import { CAUSE_WORDS, STATE_WORDS } from "./case_words.ts";
import { Instant, Rows } from "./parts.tsx";
import { Reviewer } from "./reviewers.tsx";
import type { Cases } from "./types.ts";

export function CaseRows({ label, cases }: { readonly label: string; readonly cases: Cases["cases"] }) {
  return (
    <Rows label={label} columns={["Reviewer", "Cause", "State", "Owner", "Due", "Opened"]}>
      {cases.map((
        { case_id, operator_id, cause, statement, state, owner, owner_name, due_on, opened_at },
      ) => (
        <tr key={case_id}>
          <th scope="row">
            <Reviewer id={operator_id} />
          </th>
          <td class="cause-cell">
            <a href={`/console/cases/${case_id}`}>{CAUSE_WORDS[cause]}</a>
            <div class="small">
              <bdi>{statement}</bdi>
            </div>
          </td>
          <td>{STATE_WORDS[state]}</td>
          <td>
            {owner === null ? <span class="muted">nobody</span> : <bdi>{owner_name ?? "an erased user"}</bdi>}
          </td>
          <td>{due_on ?? <span class="muted">no day</span>}</td>
          <td>
            <Instant at={opened_at} />
          </td>
        </tr>
      ))}
    </Rows>
  );
}
