/** Scores and decisions as rows, each a link to its replay. */
import { nameInWords } from "../../pages/wording.ts";
import { VERDICT_PLACES } from "./operator_rows.tsx";
import { bandInWords, Figure, Instant, VerdictMark } from "./parts.tsx";
import { Reviewer } from "./reviewers.tsx";
import { type Column, type Ordering, Table } from "./table.tsx";
import type { Decisions } from "./types.ts";

type Decision = Decisions["decisions"][number];

const OPERATOR: Column<Decision> = {
  head: "Operator",
  onCard: "line",
  order: { name: "operator_id", keyOf: (row) => row.operator_id },
  cell: (row) => <Reviewer id={row.operator_id} />,
};

function columnsOf({ withOperator }: { readonly withOperator: boolean }): readonly Column<Decision>[] {
  return [
    {
      head: "Record",
      order: { name: "id", keyOf: (row) => row.id },
      cell: (row) => <a href={`/console/decisions/${encodeURIComponent(row.id)}`}>{row.id}</a>,
    },
    ...(withOperator ? [OPERATOR] : []),
    {
      head: "When",
      onCard: "line",
      order: { name: "timestamp", keyOf: (row) => row.timestamp },
      cell: (row) => <Instant at={row.timestamp} />,
    },
    {
      head: "Decision",
      onCard: "line",
      order: { name: "decision", keyOf: (row) => row.decision },
      also: [{ head: "Domain", name: "domain", keyOf: (row) => row.domain }],
      cell: (row) => (
        <>
          {nameInWords(row.decision)}
          <span class="second">{nameInWords(row.domain)}</span>
        </>
      ),
    },
    {
      head: "Score",
      isNumber: true,
      onCard: "line",
      order: { name: "jis", keyOf: (row) => row.jis },
      cell: (row, index) =>
        row.kind === "score"
          ? (
            <>
              <Figure of={`decisions.${index}.jis`} value={row.jis} />
              {row.band !== null && <span class="second less">{bandInWords(row.band)}</span>}
            </>
          )
          : (
            <>
              <Figure of={`decisions.${index}.decision_risk_score`} value={row.decision_risk_score} />
              <span class="second">Risk</span>
            </>
          ),
    },
    {
      head: "Verdict",
      onCard: "corner",
      order: { name: "verdict", keyOf: ({ verdict }) => verdict && VERDICT_PLACES[verdict] },
      cell: (row) =>
        row.kind === "score"
          ? <VerdictMark status={row.verdict} />
          : <span class="muted">{nameInWords(row.routing_decision ?? "")}</span>,
    },
  ];
}

const CSV = {
  id: (row: Decision) => row.id,
  kind: (row: Decision) => row.kind,
  timestamp: (row: Decision) => row.timestamp,
  operator_id: (row: Decision) => row.operator_id,
  domain: (row: Decision) => row.domain,
  decision: (row: Decision) => row.decision,
  verdict: (row: Decision) => row.verdict,
  jis: (row: Decision) => row.jis,
  band: (row: Decision) => row.band,
  decision_risk_score: (row: Decision) => row.decision_risk_score,
  routing_decision: (row: Decision) => row.routing_decision,
};

export function DecisionRows({ label, decisions, withOperator = true, ordering }: {
  readonly label: string;
  readonly decisions: Decisions["decisions"];
  readonly withOperator?: boolean;
  readonly ordering?: Ordering;
}) {
  return (
    <Table
      label={label}
      rows={decisions}
      keyOf={(row) => `${row.kind} ${row.id}`}
      columns={columnsOf({ withOperator })}
      csv={CSV}
      ordering={ordering}
    />
  );
}
