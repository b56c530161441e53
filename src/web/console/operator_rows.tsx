/** Operators as rows, each with its line of the last 30 days. */
import type { VerdictStatus } from "../../domain/enums.ts";
import { sparkInWords, sparkPath } from "../../pages/operator_plots.ts";
import { nameInWords } from "../../pages/wording.ts";
import { verdictReason } from "../../scoring/verdict_words.ts";
import { Drawing } from "../shared/drawing.tsx";
import { addressOf, Band, Figure, Instant, VerdictMark } from "./parts.tsx";
import { Reviewer } from "./reviewers.tsx";
import { useSession } from "./session.tsx";
import { type Column, type Ordering, Table } from "./table.tsx";
import type { Operators } from "./types.ts";

type Operator = Operators["operators"][number];

/** Verdicts from the worst on: those who need somebody come first. */
export const VERDICT_PLACES: Readonly<Record<VerdictStatus, number>> = {
  non_compliant: 0,
  undetermined: 1,
  compliant: 2,
};

const CSV = {
  operator_id: (row: Operator) => row.operator_id,
  team: (row: Operator) => row.team,
  verdict: (row: Operator) => row.verdict?.status,
  jis: (row: Operator) => row.jis,
  low: (row: Operator) => row.uncertainty.low,
  high: (row: Operator) => row.uncertainty.high,
  band: (row: Operator) => row.band,
  minimum_data_met: (row: Operator) => row.minimum_data_met,
  domain: (row: Operator) => row.domain,
  high_risk: (row: Operator) => row.high_risk,
  critical_decision: (row: Operator) => row.critical_decision,
  total_interactions: (row: Operator) => row.total_interactions,
  last_interaction_at: (row: Operator) => row.last_interaction_at,
};

const TEAM: Column<Operator> = {
  head: "Team",
  order: { name: "team", keyOf: (row) => row.team },
  cell: ({ team }) =>
    team !== null && (
      <a href={addressOf("/console/operators", { team })}>
        <bdi>{team}</bdi>
      </a>
    ),
};

export function OperatorRows({ label, operators, ordering }: {
  readonly label: string;
  readonly operators: Operators["operators"];
  readonly ordering?: Ordering;
}) {
  const { signedIn: { minimum } } = useSession();
  const hasTeams = operators.some(({ team }) => team !== null);
  const columns: readonly Column<Operator>[] = [
    {
      head: "Operator",
      order: { name: "operator_id", keyOf: (row) => row.operator_id },
      cell: (row) => <Reviewer id={row.operator_id} />,
    },
    ...(hasTeams ? [TEAM] : []),
    {
      head: "Verdict",
      class: "verdict-cell",
      order: { name: "verdict", keyOf: ({ verdict }) => verdict && VERDICT_PLACES[verdict.status] },
      cell: ({ verdict }) => (
        <>
          <VerdictMark status={verdict?.status ?? null} />
          {verdict?.status === "undetermined" && <div class="small muted">{verdictReason(verdict)}</div>}
        </>
      ),
    },
    {
      head: "JIS",
      isNumber: true,
      order: { name: "jis", keyOf: (row) => row.jis },
      cell: (row, index) => <Figure of={`operators.${index}.jis`} value={row.jis} />,
    },
    {
      head: "Interval",
      isNumber: true,
      order: { name: "low", keyOf: (row) => row.uncertainty.low },
      cell: ({ uncertainty: { low, high } }, index) => (
        <>
          <Figure of={`operators.${index}.uncertainty.low`} value={low} /> to{" "}
          <Figure of={`operators.${index}.uncertainty.high`} value={high} />
        </>
      ),
    },
    {
      head: "Band",
      cell: (row) => (
        <>
          <Band band={row.band} />
          {!row.minimum_data_met && <div class="small muted">short record</div>}
        </>
      ),
    },
    {
      head: "Last 30 days",
      class: "drawn",
      cell: ({ sparkline = [] }) => (
        <Drawing of={sparkPath(sparkline, { label: sparkInWords(sparkline), minimum })} />
      ),
    },
    {
      head: "Domain",
      order: { name: "domain", keyOf: (row) => row.domain },
      cell: (row) => (
        <>
          {nameInWords(row.domain)}
          {row.critical_decision
            ? <div class="small muted">critical decisions</div>
            : row.high_risk && <div class="small muted">high risk</div>}
        </>
      ),
    },
    {
      head: "Latest",
      order: { name: "last_interaction_at", keyOf: (row) => row.last_interaction_at },
      cell: ({ last_interaction_at: at, total_interactions: total }, index) => (
        <>
          <Instant at={at} />
          <div class="small muted">
            <Figure of={`operators.${index}.total_interactions`} value={total} />
            {total === 1 ? " interaction" : " interactions"}
          </div>
        </>
      ),
    },
  ];
  return (
    <Table
      label={label}
      rows={operators}
      keyOf={(row) => row.operator_id}
      columns={columns}
      csv={CSV}
      ordering={ordering}
    />
  );
}
