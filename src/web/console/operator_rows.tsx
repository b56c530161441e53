/** Operators as rows, each with its line of the last 30 days. */
import type { VerdictStatus } from "../../domain/enums.ts";
import { sparkInWords, sparkPath } from "../../pages/operator_plots.ts";
import { nameInWords } from "../../pages/wording.ts";
import { verdictWait } from "../../scoring/verdict_words.ts";
import { Drawing } from "../shared/drawing.tsx";
import { addressOf, bandInWords, Figure, Instant, VerdictMark } from "./parts.tsx";
import { Reviewer } from "./reviewers.tsx";
import { may, useSession } from "./session.tsx";
import { type Column, type Ordering, Table } from "./table.tsx";
import { Trend } from "./trend_mark.tsx";
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
  change_30_days: (row: Operator) => row.change_30_days,
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
  onCard: "line",
  order: { name: "team", keyOf: (row) => row.team },
  cell: ({ team }) =>
    team !== null && (
      <a href={addressOf("/console/operators", { team })}>
        <bdi>{team}</bdi>
      </a>
    ),
};

/** The domain and the stakes of an operator's work. */
function workInWords({ domain, critical_decision: isCritical, high_risk: isHighRisk }: Operator): string {
  const stakes = isCritical ? ", critical decisions" : isHighRisk ? ", high risk" : "";
  return nameInWords(domain) + stakes;
}

export function OperatorRows({ label, operators, ordering }: {
  readonly label: string;
  readonly operators: Operators["operators"];
  readonly ordering?: Ordering;
}) {
  const { signedIn } = useSession();
  const { minimum } = signedIn;
  const hasTeams = operators.some(({ team }) => team !== null);
  const columns: readonly Column<Operator>[] = [
    {
      head: "Operator",
      order: { name: "operator_id", keyOf: (row) => row.operator_id },
      also: [{ head: "Domain", name: "domain", keyOf: (row) => row.domain }],
      cell: (row) => (
        <>
          <Reviewer id={row.operator_id} />
          <span class="second">{workInWords(row)}</span>
        </>
      ),
    },
    ...(hasTeams ? [TEAM] : []),
    {
      head: "Verdict",
      class: "verdict-cell",
      onCard: "corner",
      order: { name: "verdict", keyOf: ({ verdict }) => verdict && VERDICT_PLACES[verdict.status] },
      cell: ({ operator_id: id, verdict }) => {
        const hasLabels = verdict !== null &&
          (verdict.wrong_cases_needed ?? verdict.right_cases_needed ?? null) !== null;
        const wait = verdict === null ? null : verdictWait(verdict);
        return (
          <>
            <VerdictMark status={verdict?.status ?? null} />
            {wait !== null && hasLabels && may(signedIn, "label") && (
              <a
                class="second two-lines"
                href={addressOf("/console/labels", { operator_id: id })}
                title="Label the cases"
              >
                {wait}
              </a>
            )}
            {wait !== null && !(hasLabels && may(signedIn, "label")) && (
              <span class="second two-lines">{wait}</span>
            )}
          </>
        );
      },
    },
    {
      head: "JIS",
      isNumber: true,
      onCard: "line",
      order: { name: "jis", keyOf: (row) => row.jis },
      also: [{ head: "Interval", name: "low", keyOf: (row) => row.uncertainty.low }],
      cell: ({ jis, band, minimum_data_met: isLong, uncertainty: { low, high } }, index) => (
        <>
          <Figure of={`operators.${index}.jis`} value={jis} />
          <span class="second">
            <Figure of={`operators.${index}.uncertainty.low`} value={low} /> to{" "}
            <Figure of={`operators.${index}.uncertainty.high`} value={high} />
          </span>
          <span class="second">{isLong ? bandInWords(band) : `${bandInWords(band)}, short record`}</span>
        </>
      ),
    },
    {
      head: "Last 30 days",
      onCard: "line",
      cell: ({ sparkline = [], change_30_days: change = null }) => (
        <div class="course">
          <span class="on-card">30 days</span>
          {sparkline.length > 0 && (
            <Drawing of={sparkPath(sparkline, { label: sparkInWords(sparkline), minimum })} />
          )}
          {change === null
            ? <span class="trend">{sparkline.length === 0 ? "no interaction" : "new"}</span>
            : <Trend points={change} />}
        </div>
      ),
    },
    {
      head: "Latest",
      onCard: "line",
      order: { name: "last_interaction_at", keyOf: (row) => row.last_interaction_at },
      cell: ({ last_interaction_at: at, total_interactions: total }, index) => (
        <>
          <span class="on-card">Latest</span> <Instant at={at} />
          <span class="second less">
            <Figure of={`operators.${index}.total_interactions`} value={total} />
            {total === 1 ? " interaction" : " interactions"}
          </span>
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
