/** Cases as rows: who, why, how far, and until when. */
import { CASE_STATES, isOpenCase } from "../../domain/case_states.ts";
import { dayInWords } from "../../pages/wording.ts";
import { CAUSE_WORDS, nextInWords, reasonInWords, STATE_WORDS } from "./case_words.ts";
import { Instant } from "./parts.tsx";
import { Reviewer } from "./reviewers.tsx";
import { type Column, type Ordering, Table } from "./table.tsx";
import type { Cases } from "./types.ts";

type Case = Cases["cases"][number];

const COLUMNS: readonly Column<Case>[] = [{
  head: "Reviewer",
  order: { name: "operator_id", keyOf: (row) => row.operator_id },
  cell: (row) => <Reviewer id={row.operator_id} />,
}, {
  head: "Cause",
  order: { name: "cause", keyOf: ({ cause }) => CAUSE_WORDS[cause] },
  cell: ({ case_id, cause, statement }) => (
    <>
      <a href={`/console/cases/${case_id}`}>{CAUSE_WORDS[cause]}</a>
      <div class="small">
        <bdi>{reasonInWords({ cause, statement })}</bdi>
      </div>
    </>
  ),
}, {
  head: "Next step",
  cell: (row) => isOpenCase(row.state) && <div class="small">{nextInWords(row)}</div>,
}, {
  head: "State",
  order: { name: "state", keyOf: ({ state }) => CASE_STATES.indexOf(state) },
  cell: ({ state }) => STATE_WORDS[state],
}, {
  head: "Owner",
  order: { name: "owner", keyOf: ({ owner_name }) => owner_name },
  cell: ({ owner, owner_name }) =>
    owner === null ? <span class="muted">nobody</span> : <bdi>{owner_name ?? "an erased user"}</bdi>,
}, {
  head: "Due",
  order: { name: "due_on", keyOf: ({ due_on }) => due_on },
  cell: ({ due_on }) => due_on === null ? <span class="muted whole">no day</span> : dayInWords(due_on),
}, {
  head: "Opened",
  class: "wraps",
  order: { name: "opened_at", keyOf: ({ opened_at }) => opened_at },
  cell: ({ opened_at }) => <Instant at={opened_at} />,
}];

const CSV = {
  case_id: (row: Case) => row.case_id,
  operator_id: (row: Case) => row.operator_id,
  cause: (row: Case) => row.cause,
  statement: (row: Case) => row.statement,
  state: (row: Case) => row.state,
  owner: (row: Case) => row.owner,
  owner_name: (row: Case) => row.owner_name,
  due_on: (row: Case) => row.due_on,
  opened_at: (row: Case) => row.opened_at,
  changed_at: (row: Case) => row.changed_at,
};

export function CaseRows({ label, cases, ordering }: {
  readonly label: string;
  readonly cases: Cases["cases"];
  readonly ordering?: Ordering;
}) {
  return (
    <Table
      label={label}
      rows={cases}
      keyOf={(row) => row.case_id}
      columns={COLUMNS}
      csv={CSV}
      ordering={ordering}
    />
  );
}
