/** This view lists what operators contest, newest first. */
import { useLocation } from "preact-iso";
import { addressOf, Answered, Empty, Instant, Pages, View } from "../parts.tsx";
import { Reviewer } from "../reviewers.tsx";
import { type Column, Table } from "../table.tsx";
import type { Contests } from "../types.ts";
import { useAnswer } from "../use_answer.ts";

const PATH = "/console/contests";
const PAGE = "50";
const NEWEST = "-contested_at";

type Contest = Contests["contests"][number];

const COLUMNS: readonly Column<Contest>[] = [{
  head: "When",
  order: { name: "contested_at", keyOf: (row) => row.contested_at },
  cell: (row) => <Instant at={row.contested_at} />,
}, {
  head: "Operator",
  order: { name: "operator_id", keyOf: (row) => row.operator_id },
  cell: (row) => <Reviewer id={row.operator_id} />,
}, {
  head: "What",
  order: { name: "record_id", keyOf: (row) => row.record_id },
  cell: ({ record_id: id }) =>
    id === null ? "the whole record" : <a href={`/console/decisions/${encodeURIComponent(id)}`}>{id}</a>,
}, {
  head: "Statement",
  cell: (row) => <bdi>{row.statement}</bdi>,
}, {
  head: "Entry",
  isNumber: true,
  cell: (row) => row.seq,
}];

const CSV = {
  contest_id: (row: Contest) => row.contest_id,
  contested_at: (row: Contest) => row.contested_at,
  operator_id: (row: Contest) => row.operator_id,
  record_id: (row: Contest) => row.record_id,
  statement: (row: Contest) => row.statement,
  seq: (row: Contest) => row.seq,
};

export function ContestsView() {
  const { query: { operator_id: operator = "", sort = "", cursor = "" } } = useLocation();
  const asked = useAnswer<Contests>({
    path: addressOf("/v1/contests", { operator_id: operator, cursor, limit: PAGE }),
  });
  return (
    <View title="Contests">
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
                {cursor === ""
                  ? (
                    <>
                      <p>Nobody has contested anything.</p>
                      <p>
                        Operators contest on their own page. To issue its link,{" "}
                        <a href="/console/operators">open an operator</a>.
                      </p>
                    </>
                  )
                  : <p>That is all.</p>}
              </Empty>
            )
            : (
              <>
                <p>
                  Operators write them on their own pages. Each is an entry of the chain; a person must look
                  at it. A link to such a page is issued in the operator's view.
                </p>
                <Table
                  label="Contests"
                  rows={contests}
                  keyOf={(row) => row.contest_id}
                  columns={COLUMNS}
                  csv={CSV}
                  ordering={{
                    ...{ path: PATH, query: { operator_id: operator }, sort, first: NEWEST, served: NEWEST },
                    isWhole: cursor === "" && next === null,
                  }}
                />
                <Pages
                  path={PATH}
                  query={{ operator_id: operator, sort, ...(cursor === "" ? {} : { cursor }) }}
                  next={next}
                />
              </>
            )}
      </Answered>
    </View>
  );
}
