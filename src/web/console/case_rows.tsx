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
import { Failure, Figure, Instant, VerdictMark } from "./parts.tsx";
import { Reviewer, reviewerInWords } from "./reviewers.tsx";
import { may, useCaller, useSession } from "./session.tsx";
import { type Column, type Ordering, Table } from "./table.tsx";
import { Trend } from "./trend_mark.tsx";
import type { Cases } from "./types.ts";
import { useAction } from "./use_answer.ts";

type Case = Cases["cases"][number];

/** The acts of a row. */
interface Acts {
  readonly busy: boolean;
  /** Null for whoever cannot own a case. */
  readonly take: ((row: Case) => void) | null;
}

function columnsWith({ busy, take }: Acts, nameOf: (operator: string) => string): readonly Column<Case>[] {
  return [...COLUMNS, {
    head: "Actions",
    class: "acts-cell",
    onCard: "line",
    cell: (row) => {
      const name = nameOf(row.operator_id);
      return (
        <>
          <a href={`/console/cases/${row.case_id}`} aria-label={`Open case of ${name}`}>Open case</a>
          {take !== null && row.owner === null && isOpenCase(row.state) && (
            <button
              type="button"
              disabled={busy}
              aria-label={`Take it: case of ${name}`}
              onClick={() => take(row)}
            >
              Take it
            </button>
          )}
        </>
      );
    },
  }];
}

const COLUMNS: readonly Column<Case>[] = [{
  head: "Operator",
  order: { name: "operator_id", keyOf: (row) => row.operator_id },
  also: [{ head: "Opened", name: "opened_at", keyOf: ({ opened_at }) => opened_at }],
  cell: ({ operator_id, opened_at }) => (
    <>
      <Reviewer id={operator_id} />
      <span class="second">
        <span class="on-card">Opened</span> <Instant at={opened_at} />
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
          <Figure of={`cases.${index}.present.high`} value={present.high} />{" "}
          {present.change_30_days !== null && <Trend points={present.change_30_days} />}
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
  class: "next-step",
  cell: (row) => isOpenCase(row.state) && <div class="small">{nextInWords(row)}</div>,
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
    const day = due_on === null
      ? "no day set"
      : `${state === "waiting" ? "until" : "due"} ${dayInWords(due_on)}`;
    const stage = isOpenCase(state) ? `${STATE_WORDS[state]}, ${day}` : STATE_WORDS[state];
    return (
      <>
        {owner === null ? isOpenCase(state) && "Unassigned" : <bdi>{owner_name ?? "an erased user"}</bdi>}
        <span class="second">{stage}</span>
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
  verdict: ({ present }: Case) => present?.verdict,
  jis: ({ present }: Case) => present?.jis,
  low: ({ present }: Case) => present?.low,
  high: ({ present }: Case) => present?.high,
  change_30_days: ({ present }: Case) => present?.change_30_days,
  cause: (row: Case) => row.cause,
  how_the_operator_judges: (row: Case) => conductOf(row)?.habit,
  statement: (row: Case) => row.statement,
  next_step: (row: Case) => isOpenCase(row.state) ? nextInWords(row) : null,
  state: (row: Case) => row.state,
  owner: (row: Case) => row.owner,
  owner_name: (row: Case) => row.owner_name,
  due_on: (row: Case) => row.due_on,
  opened_at: (row: Case) => row.opened_at,
  changed_at: (row: Case) => row.changed_at,
};

export function CaseRows({ label, cases, ordering, again }: {
  readonly label: string;
  readonly cases: Cases["cases"];
  readonly ordering?: Ordering;
  /** Asks for the cases anew. */
  readonly again: () => void;
}) {
  const { signedIn } = useSession();
  const caller = useCaller();
  const { busy, error, run } = useAction<unknown>();
  const { user } = signedIn;
  const take = async ({ case_id: id, due_on, steps }: Case) => {
    const body = { step: "assign", owner: user!.user_id, due_on, note: null, seen: steps.length };
    const request = { method: "POST", path: `/v1/cases/${id}/events`, body } as const;
    if (await run((patience) => caller.json(request, { patience })) !== null) again();
  };
  const acts = { busy, take: user !== null && may(signedIn, "act") ? take : null };
  return (
    <>
      {error !== null && <Failure error={error} again={again} />}
      <Table
        label={label}
        rows={cases}
        keyOf={(row) => row.case_id}
        columns={columnsWith(acts, (id) => reviewerInWords(signedIn, id))}
        csv={CSV}
        ordering={ordering}
      />
    </>
  );
}
