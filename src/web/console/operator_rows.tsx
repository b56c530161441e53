/** Operators as rows, each with its line of the last 30 days. */
import { sparkInWords, sparkPath } from "../../pages/operator_plots.ts";
import { nameInWords } from "../../pages/wording.ts";
import { verdictReason } from "../../scoring/verdict_words.ts";
import { Drawing } from "../shared/drawing.tsx";
import { Band, Figure, Instant, Rows, VerdictMark } from "./parts.tsx";
import { Reviewer } from "./reviewers.tsx";
import { useSession } from "./session.tsx";
import type { Operators } from "./types.ts";

export function OperatorRows({ label, operators }: {
  readonly label: string;
  readonly operators: Operators["operators"];
}) {
  const { signedIn: { minimum } } = useSession();
  return (
    <Rows
      label={label}
      columns={[
        "Operator",
        "Verdict",
        "#JIS",
        "#Interval",
        "Band",
        "Last 30 days",
        "Domain",
        "Latest",
      ]}
    >
      {operators.map((operator, index) => (
        <tr key={operator.operator_id}>
          <th scope="row">
            <Reviewer id={operator.operator_id} />
          </th>
          <td class="verdict-cell">
            <VerdictMark status={operator.verdict?.status ?? null} />
            {operator.verdict?.status === "undetermined" && (
              <div class="small muted">{verdictReason(operator.verdict)}</div>
            )}
          </td>
          <td class="number">
            <Figure of={`operators.${index}.jis`} value={operator.jis} />
          </td>
          <td class="number">
            <Figure of={`operators.${index}.uncertainty.low`} value={operator.uncertainty.low} /> to{" "}
            <Figure of={`operators.${index}.uncertainty.high`} value={operator.uncertainty.high} />
          </td>
          <td>
            <Band band={operator.band} />
            {!operator.minimum_data_met && <div class="small muted">short record</div>}
          </td>
          <td class="drawn">
            <Drawing
              of={sparkPath(operator.sparkline ?? [], {
                label: sparkInWords(operator.sparkline ?? []),
                minimum,
              })}
            />
          </td>
          <td>
            {nameInWords(operator.domain)}
            {operator.critical_decision
              ? <div class="small muted">critical decisions</div>
              : operator.high_risk && <div class="small muted">high risk</div>}
          </td>
          <td>
            <Instant at={operator.last_interaction_at} />
            <div class="small muted">
              <Figure of={`operators.${index}.total_interactions`} value={operator.total_interactions} />
              {operator.total_interactions === 1 ? " interaction" : " interactions"}
            </div>
          </td>
        </tr>
      ))}
    </Rows>
  );
}
