/** Scores and decisions as rows, each a link to its replay. */
import { nameInWords } from "../../pages/wording.ts";
import { Band, Figure, Instant, Rows, VerdictMark } from "./parts.tsx";
import { Reviewer } from "./reviewers.tsx";
import type { Decisions } from "./types.ts";

export function DecisionRows({ label, decisions, withOperator = true }: {
  readonly label: string;
  readonly decisions: Decisions["decisions"];
  readonly withOperator?: boolean;
}) {
  const columns = [
    "Record",
    ...(withOperator ? ["Operator"] : []),
    "When",
    "Decision",
    "Domain",
    "Verdict",
    "#Score",
    "Status",
  ];
  return (
    <Rows label={label} columns={columns}>
      {decisions.map((row, index) => (
        <tr key={`${row.kind} ${row.id}`}>
          <th scope="row">
            <a href={`/console/decisions/${encodeURIComponent(row.id)}`}>{row.id}</a>
          </th>
          {withOperator && (
            <td>
              <Reviewer id={row.operator_id} />
            </td>
          )}
          <td>
            <Instant at={row.timestamp} />
          </td>
          <td>{nameInWords(row.decision)}</td>
          <td>{nameInWords(row.domain)}</td>
          <td>{row.kind === "score" && <VerdictMark status={row.verdict} />}</td>
          <td class="number">
            {row.kind === "score"
              ? (
                <>
                  JIS <Figure of={`decisions.${index}.jis`} value={row.jis} />
                </>
              )
              : (
                <>
                  risk{" "}
                  <Figure of={`decisions.${index}.decision_risk_score`} value={row.decision_risk_score} />
                </>
              )}
          </td>
          <td>{row.band === null ? nameInWords(row.routing_decision ?? "") : <Band band={row.band} />}</td>
        </tr>
      ))}
    </Rows>
  );
}
