/** This view lists what reviewers contest, newest first. */
import { useLocation } from "preact-iso";
import { addressOf, Answered, Empty, Instant, Pages, Rows, View } from "../parts.tsx";
import { Reviewer } from "../reviewers.tsx";
import type { Contests } from "../types.ts";
import { useAnswer } from "../use_answer.ts";

const PATH = "/console/contests";
const PAGE = "50";

export function ContestsView() {
  const { query: { operator_id: operator = "", cursor = "" } } = useLocation();
  const asked = useAnswer<Contests>({
    path: addressOf("/v1/contests", { operator_id: operator, cursor, limit: PAGE }),
  });
  return (
    <View title="Contests">
      <p>
        Reviewers write them on their own pages. Each is an entry of the chain; a person must look at it. A
        link to such a page is issued in the reviewer's view.
      </p>
      {operator !== "" && (
        <p>
          Only those of <Reviewer id={operator} />. <a href={PATH}>Show all</a>
        </p>
      )}
      <Answered asked={asked}>
        {({ contests, next_cursor: next }) =>
          contests.length === 0 && next === null
            ? (
              <Empty>
                <p>
                  {cursor === ""
                    ? "Nobody has contested anything. Reviewers do it on their own page, for which the reviewer's view has the link."
                    : "That is all."}
                </p>
              </Empty>
            )
            : (
              <>
                <Rows label="Contests" columns={["When", "Reviewer", "What", "Statement", "#Entry"]}>
                  {contests.map(({ contest_id, contested_at, operator_id, record_id, statement, seq }) => (
                    <tr key={contest_id}>
                      <th scope="row">
                        <Instant at={contested_at} />
                      </th>
                      <td>
                        <Reviewer id={operator_id} />
                      </td>
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
                <Pages
                  path={PATH}
                  query={{ operator_id: operator, ...(cursor === "" ? {} : { cursor }) }}
                  next={next}
                />
              </>
            )}
      </Answered>
    </View>
  );
}
