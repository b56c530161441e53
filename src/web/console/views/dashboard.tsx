/** The organization's figures, its status with the reason, and the operators to look at first. */
import { bandsFigure } from "../../../pages/operator_plots.ts";
import { nameInWords } from "../../../pages/wording.ts";
import { Drawing } from "../../shared/drawing.tsx";
import { OperatorRows } from "../operator_rows.tsx";
import { Answered, Empty, Figure, Rows, Status, Tile, View } from "../parts.tsx";
import { useSession } from "../session.tsx";
import type { Article14, Dashboard, Operators } from "../types.ts";
import { useAnswer } from "../use_answer.ts";

export function DashboardView() {
  const { signedIn: { organization } } = useSession();
  const dashboard = useAnswer<Dashboard>({ path: "/v1/organization/dashboard" });
  const weakest = useAnswer<Operators>({
    path: "/v1/organization/operators?sort=jis&limit=5&include=sparkline",
  });
  const article14 = useAnswer<Article14>({ path: "/v1/compliance/article14" });
  return (
    <View title={organization}>
      <Answered asked={dashboard}>{(body) => <OrganizationSummary {...body} />}</Answered>
      <h2>Lowest scores of all operators</h2>
      <Answered asked={weakest}>
        {({ operators }) =>
          operators.length === 0
            ? (
              <Empty>
                <p>Nobody was scored yet.</p>
                <p>
                  <a href="/docs#postScore">Send a first interaction</a>, and it stands here.
                </p>
              </Empty>
            )
            : (
              <>
                <OperatorRows label="Operators with the lowest scores" operators={operators} />
                <p>
                  <a href="/console/operators?sort=jis">All operators</a>
                </p>
              </>
            )}
      </Answered>
      <h2>Article 14, EU AI Act: the last 90 days</h2>
      <Answered asked={article14}>{(body) => <Measures {...body} />}</Answered>
    </View>
  );
}

function OrganizationSummary({ dashboard, domain, tier }: Dashboard) {
  const { compliance_status: status, organization_rule: rule } = dashboard;
  return (
    <>
      <p class="muted">
        {nameInWords(domain)}, {tier} tier. Operators with an interaction in the last 90 days.
      </p>
      <ul class="tiles">
        <Tile name="Operators">
          <Figure of="dashboard.total_operators" value={dashboard.total_operators} />
        </Tile>
        <Tile name="Mean JIS">
          <Figure of="dashboard.mean_jis" value={dashboard.mean_jis} />
        </Tile>
        <Tile name="Median JIS">
          <Figure of="dashboard.median_jis" value={dashboard.median_jis} />
        </Tile>
        <Tile name="At risk">
          <Figure of="dashboard.at_risk_count" value={dashboard.at_risk_count} />
        </Tile>
      </ul>
      <div class={`notice ${status === "compliant" ? "good" : "bad"}`}>
        <h2>
          Organization rule: <Status status={status} />
        </h2>
        {rule.reasons.map((reason, index) => (
          <p key={reason}>
            <Figure of={`dashboard.organization_rule.reasons.${index}`} value={reason} />
          </p>
        ))}
      </div>
      <Drawing of={bandsFigure(dashboard.band_distribution)} />
    </>
  );
}

function Measures({ measures, overall_status, statement }: Article14) {
  return (
    <>
      <p>
        Overall: <Status status={overall_status} />
      </p>
      <Rows
        label="Measures of Article 14(4)"
        columns={["Measure", "Status", "What passes", "#Passing", "#Of"]}
      >
        {measures.map((measure, index) => (
          <tr key={measure.paragraph}>
            <th scope="row">
              {measure.paragraph}
              <div class="small muted">{measure.requirement}</div>
            </th>
            <td>
              <Status status={measure.status} />
            </td>
            <td class="small">{measure.metric.replaceAll("_", " ")}</td>
            <td class="number">
              <Figure of={`measures.${index}.passing`} value={measure.passing} />
            </td>
            <td class="number">
              <Figure of={`measures.${index}.operators`} value={measure.operators} />
            </td>
          </tr>
        ))}
      </Rows>
      <p class="note">{statement}</p>
    </>
  );
}
