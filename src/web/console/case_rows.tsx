/** Cases as rows: who, how the operator is judged now, why, what comes next, and who looks after it. */
import { CASE_STATES, isOpenCase } from "../../domain/case_states.ts";
import { dayInWords } from "../../pages/wording.ts";
import {
  CAUSE_WORDS,
  conductOf,
  isSaidByVerdict,
  nextInWords,
  reasonInWords,
  STATE_WORDS,
} from "./case_words.ts";
import { Figure, Instant, VerdictMark } from "./parts.tsx";
import { Reviewer } from "./reviewers.tsx";
import { type Column, type Ordering, Table } from "./table.tsx";
import type { Cases } from "./types.ts";

type Case = Cases["cases"][number];

const COLUMNS: readonly Column<Case>[] = [{
  head: "Operator",
  order: { name: "operator_id", keyOf: (row) => row.operator_id },
  also: [{ head: "Opened", name: "opened_at", keyOf: ({ opened_at }) => opened_at }],
  cell: ({ operator_id, opened_at }) => (
    <>
      <Reviewer id={operator_id} />
      <span class="second">
        <Instant at={opened_at} />
      </span>
    </>
  ),
}, {
  head: "Verdict",
  class: "verdict-cell",
  onCard: "corner",
  order: { name: "need", keyOf: needOf },
  cell: ({ present = null }, index) =>
    present !== null && (
      <>
        <VerdictMark status={present.verdict} />
        <span class="second">
          JIS <Figure of={`cases.${index}.present.jis`} value={present.jis} />,{" "}
          <Figure of={`cases.${index}.present.low`} value={present.low} /> to{" "}
          <Figure of={`cases.${index}.present.high`} value={present.high} />
        </span>
      </>
    ),
}, {
  head: "Cause",
  class: "cause",
  onCard: "line",
  order: { name: "cause", keyOf: ({ cause }) => CAUSE_WORDS[cause] },
  cell: (row) => {
    const isSaid = isSaidByVerdict(row);
    const conduct = isSaid ? conductOf(row) : null;
    return (
      <div class="three-lines">
        <a href={`/console/cases/${row.case_id}`} title={conduct?.sentence}>
          {conduct?.habit ?? CAUSE_WORDS[row.cause]}
        </a>
        {!isSaid && (
          <span class="second" title={reasonInWords(row)}>
            <bdi>{reasonInWords(row)}</bdi>
          </span>
        )}
      </div>
    );
  },
}, {
  head: "Next step",
  cell: (row) =>
    isOpenCase(row.state) && <div class="small three-lines" title={nextInWords(row)}>{nextInWords(row)}</div>,
}, {
  head: "Owner",
  class: "quiet",
  onCard: "line",
  order: { name: "owner", keyOf: ({ owner_name }) => owner_name },
  also: [
    { head: "State", name: "state", keyOf: ({ state }) => CASE_STATES.indexOf(state) },
    { head: "Due", name: "due_on", keyOf: ({ due_on }) => due_on },
  ],
  cell: ({ state, owner, owner_name, due_on }) => {
    // An open case that nobody has is the usual one: "Unassigned" says both.
    const stage = [
      ...(state === "open" ? [] : [STATE_WORDS[state]]),
      ...(due_on === null ? [] : [`due ${dayInWords(due_on)}`]),
    ];
    return (
      <>
        {owner === null ? isOpenCase(state) && "Unassigned" : <bdi>{owner_name ?? "an erased user"}</bdi>}
        {stage.length > 0 && <span class="second">{stage.join(", ")}</span>}
      </>
    );
  },
}];

/** The score of somebody who is below the threshold: the lowest one needs somebody first. Null for all others. */
function needOf({ present }: Case): number | null {
  return present?.verdict === "non_compliant" ? present.jis : null;
}

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
