/** The measures of Article 14 over the last 90 days. */
import { Article14Heading } from "./article14_heading.tsx";
import { passingInWords } from "../../pages/metric_words.ts";
import { barInWords } from "./measure_words.ts";
import { Answered, Figure, Rows } from "./parts.tsx";
import { ScoresAlone, Status, VerdictOrStatus } from "./scores_alone.tsx";
import type { Article14 } from "./types.ts";
import { useAnswer } from "./use_answer.ts";

export function Article14Measures() {
  const asked = useAnswer<Article14>({ path: "/v1/compliance/article14" });
  return (
    <section aria-labelledby="article-14">
      <Article14Heading id="article-14" asked={asked} />
      <Answered asked={asked}>{(body) => <Measures {...body} />}</Answered>
    </section>
  );
}

/** The operators in the list's own first order: those who do not meet the threshold stand first. */
const OPERATORS = "/console/operators";

function Measures({ measures, overall_verdict, overall_status, statement }: Article14) {
  const bar = barInWords(measures);
  return (
    <>
      <p>
        All measures together: <VerdictOrStatus verdict={overall_verdict} status={overall_status} />
      </p>
      {bar !== null && <p>{bar}</p>}
      <Rows
        label="Measures of Article 14(4)"
        columns={["Measure", "Verdict", "Who passes", "#Passing"]}
      >
        {measures.map((measure, index) => (
          <tr key={measure.paragraph}>
            <th scope="row">
              {measure.requirement}
              <span class="second">Article {measure.paragraph}</span>
            </th>
            <td>
              <VerdictOrStatus verdict={measure.verdict} status={measure.status} />
            </td>
            <td class="small">{passingInWords(measure.metric)}</td>
            <td class="number">
              <a href={OPERATORS} title="The operators, first those who do not meet the threshold">
                <Figure of={`measures.${index}.passing`} value={measure.passing} /> of{" "}
                <Figure of={`measures.${index}.operators`} value={measure.operators} />
              </a>
            </td>
          </tr>
        ))}
      </Rows>
      {overall_verdict !== null && (
        <ScoresAlone>
          <ul>
            <li>
              All measures together: <Status status={overall_status} />
            </li>
            {measures.map(({ paragraph, status }) => (
              <li key={paragraph}>
                Article {paragraph}: <Status status={status} />
              </li>
            ))}
          </ul>
        </ScoresAlone>
      )}
      {/* The words of a report, on a page that is none. */}
      <p class="note">{statement.replace(/^This report /, "A report ")}</p>
    </>
  );
}
