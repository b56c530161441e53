/** Scores and decisions as rows, each a link to its replay. */
import { nameInWords } from "../../pages/wording.ts";
import { longName } from "./long_name.ts";
import { VERDICT_PLACES } from "./operator_rows.tsx";
import { bandInWords, Figure, Instant, VerdictMark } from "./parts.tsx";
import { Reviewer } from "./reviewers.tsx";
import { type Column, type Ordering, Table } from "./table.tsx";
import type { Decisions } from "./types.ts";

type Decision = Decisions["decisions"][number];

interface Placed {
  readonly row: Decision;
  /** The row's place in the answer. */
  readonly index: number;
}

/** The operator's verdict and score once this decision counted. */
function Scored({ row: { verdict, jis, band }, index }: Placed) {
  return (
    <>
      <span class="on-card">Operator afterwards</span> <VerdictMark status={verdict} />
      <span class="second less">
        JIS <Figure of={`decisions.${index}.jis`} value={jis} />
        {band !== null && `, ${bandInWords(band).toLowerCase()}`}
      </span>
    </>
  );
}

/** The risk of a decision that changes nothing about its operator. */
function Risk({ row: { routing_decision: routing, decision_risk_score: risk }, index }: Placed) {
  return (
    <>
      <span class="on-card">Operator afterwards</span> <span class="muted">Unchanged</span>
      <span class="second">
        Risk of this decision <Figure of={`decisions.${index}.decision_risk_score`} value={risk} />
        {routing !== null && `, ${nameInWords(routing).toLowerCase()}`}
      </span>
    </>
  );
}

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
      cell: (row) => (
        <a href={`/console/decisions/${encodeURIComponent(row.id)}`} {...longName(row.id)}>{row.id}</a>
      ),
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
      head: "Operator afterwards",
      class: "verdict-cell",
      onCard: "line",
      also: [
        { head: "Verdict", name: "verdict", keyOf: ({ verdict }) => verdict && VERDICT_PLACES[verdict] },
        { head: "JIS", name: "jis", keyOf: (row) => row.jis },
      ],
      cell: (row, index) =>
        row.kind === "score" ? <Scored row={row} index={index} /> : <Risk row={row} index={index} />,
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
