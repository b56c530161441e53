/** The organization's verdict with its reasons, its figures, and the operators to look at first. */
import { VERDICT_STATUSES } from "../../../domain/enums.ts";
import { bandsFigure } from "../../../pages/operator_plots.ts";
import { nameInWords, percentInWords } from "../../../pages/wording.ts";
import { VERDICT_WORDS } from "../../../scoring/verdict_words.ts";
import { Drawing } from "../../shared/drawing.tsx";
import { OperatorRows } from "../operator_rows.tsx";
import { Answered, Empty, Figure, Rows, Status, Tile, toneOf, VerdictMark, View } from "../parts.tsx";
import { CaseRows } from "../case_rows.tsx";
import { may, useSession } from "../session.tsx";
import type { Article14, Cases, Dashboard, Operators } from "../types.ts";
import { useAnswer } from "../use_answer.ts";

export function DashboardView() {
  const { signedIn } = useSession();
  const dashboard = useAnswer<Dashboard>({ path: "/v1/organization/dashboard" });
  const article14 = useAnswer<Article14>({ path: "/v1/compliance/article14" });
  return (
    <View title={signedIn.organization}>
      {may(signedIn, "followUp") && <NeedsAttention />}
      <Answered asked={dashboard}>{(body) => <OrganizationSummary {...body} />}</Answered>
      {!may(signedIn, "followUp") && <Weakest />}
      <h2>Article 14, EU AI Act: the last 90 days</h2>
      <Answered asked={article14}>{(body) => <Measures {...body} />}</Answered>
    </View>
  );
}

/** Cases that the first view shows; the queue has them all. */
const SHOWN_CASES = 8;

/** Who needs attention, and why: the open cases, the last opened first. */
function NeedsAttention() {
  const asked = useAnswer<Cases>({ path: `/v1/cases?limit=${SHOWN_CASES}` });
  return (
    <>
      <h2>What needs attention</h2>
      <Answered asked={asked}>
        {({ cases, next_cursor: next }) =>
          cases.length === 0
            ? (
              <Empty>
                <p>
                  No case is open. The service opens one by itself for whoever is below the threshold, misses
                  sealed probes at high stakes, is away for 30 days, or contests a record.
                </p>
              </Empty>
            )
            : (
              <>
                <CaseRows label="Cases that need somebody" cases={cases} />
                <p>
                  <a href="/console/cases">{next === null ? "All cases" : "More cases"}</a>
                </p>
              </>
            )}
      </Answered>
    </>
  );
}

/** The operators with the lowest scores, for whoever sees no cases. */
function Weakest() {
  const asked = useAnswer<Operators>({
    path: "/v1/organization/operators?sort=jis&limit=5&include=sparkline",
  });
  return (
    <>
      <h2>Lowest scores of all operators</h2>
      <Answered asked={asked}>
        {({ operators }) =>
          operators.length === 0
            ? (
              <Empty>
                <p>Nobody was scored yet.</p>
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
    </>
  );
}

function OrganizationSummary({ dashboard, domain, tier }: Dashboard) {
  const { verdict, verdicts, compliance_status: status, organization_rule: rule } = dashboard;
  return (
    <>
      <p class="muted">
        {nameInWords(domain)}, {tier} tier. Operators with an interaction in the last 90 days.
      </p>
      {dashboard.total_operators === 0 && (
        <Empty>
          <p>Nobody was scored in the last 90 days.</p>
          <p>
            <a href="/docs#postScore">Send a first interaction</a>, and it stands here.
          </p>
        </Empty>
      )}
      <div class={`notice ${toneOf(verdict.status)}`} data-verdict>
        <h2>
          Verdict on the organization: <VerdictMark status={verdict.status} />
        </h2>
        {verdict.reasons.map((reason, index) => (
          <p key={reason}>
            <Figure of={`dashboard.verdict.reasons.${index}`} value={reason} />
          </p>
        ))}
      </div>
      <h2>Operators by verdict</h2>
      <ul class="tiles">
        {VERDICT_STATUSES.map((name) => (
          <Tile
            key={name}
            name={VERDICT_WORDS[name]}
            more={<a href={`/console/operators?verdict=${name}`}>{VERDICT_LINKS[name]}</a>}
          >
            <Figure of={`dashboard.verdicts.${name}`} value={verdicts[name]} />
          </Tile>
        ))}
      </ul>
      {dashboard.probes !== null && <Probes probes={dashboard.probes} />}
      <h2>Scores alone</h2>
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
      <div class="notice">
        <h3>
          Compliance status of the specification: <Status status={status} />
        </h3>
        <p class="small">It takes each score as if it were exact, whatever the verdict.</p>
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

function Probes({ probes }: { readonly probes: NonNullable<Dashboard["dashboard"]["probes"]> }) {
  const { wrong, right, lost } = probes;
  const counted = (name: "wrong" | "right", { count, probes: all }: typeof wrong) => (
    <>
      <Figure of={`dashboard.probes.${name}.count`} value={count} /> of{" "}
      <Figure of={`dashboard.probes.${name}.probes`} value={all} />
    </>
  );
  return (
    <>
      <h2>Sealed probes</h2>
      <ul class="tiles">
        <Tile name="Errors found" more={intervalInWords(wrong)}>{counted("wrong", wrong)}</Tile>
        <Tile name="False alarms" more={intervalInWords(right)}>{counted("right", right)}</Tile>
        <Tile name="Lost">
          <Figure of="dashboard.probes.lost" value={lost} />
        </Tile>
      </ul>
    </>
  );
}

/** The exact interval of a share, in percent. */
function intervalInWords(
  { low, high }: { readonly low: number | null; readonly high: number | null },
): string {
  return low === null || high === null
    ? "none yet"
    : `${percentInWords(low)} to ${percentInWords(high)}, with 95 %`;
}

const VERDICT_LINKS: Readonly<Record<(typeof VERDICT_STATUSES)[number], string>> = {
  compliant: "List those who meet it",
  undetermined: "List those who need more known cases",
  non_compliant: "List those below it",
};

function Measures({ measures, overall_verdict, overall_status, statement }: Article14) {
  return (
    <>
      <p>
        Overall: <VerdictMark status={overall_verdict} />, status <Status status={overall_status} />
      </p>
      <Rows
        label="Measures of Article 14(4)"
        columns={["Measure", "Verdict", "Status", "What passes", "#Passing", "#Of"]}
      >
        {measures.map((measure, index) => (
          <tr key={measure.paragraph}>
            <th scope="row">
              {measure.paragraph}
              <div class="small muted">{measure.requirement}</div>
            </th>
            <td>
              <VerdictMark status={measure.verdict} />
            </td>
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
