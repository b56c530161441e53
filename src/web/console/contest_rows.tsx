/** Contests as rows, each with a link to what it contests. */
import { Instant, Rows } from "./parts.tsx";
import { Reviewer } from "./reviewers.tsx";
import type { Contests } from "./types.ts";

export function ContestRows({ contests, withReviewer = true }: {
  readonly contests: Contests["contests"];
  readonly withReviewer?: boolean;
}) {
  const columns = ["When", ...(withReviewer ? ["Reviewer"] : []), "What", "Statement", "#Entry"];
  return (
    <Rows label="Contests" columns={columns}>
      {contests.map(({ contest_id, contested_at, operator_id, record_id, statement, seq }) => (
        <tr key={contest_id}>
          <th scope="row">
            <Instant at={contested_at} />
          </th>
          {withReviewer && (
            <td>
              <Reviewer id={operator_id} />
            </td>
          )}
          <td>
            {record_id === null
              ? "the whole record"
              : <a href={`/console/decisions/${encodeURIComponent(record_id)}`}>{record_id}</a>}
          </td>
          <td>
            <bdi>{statement}</bdi>
          </td>
          <td class="number">{seq}</td>
        </tr>
      ))}
    </Rows>
  );
}
