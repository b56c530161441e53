/** The first view: who needs attention, the verdict on the organization with its reasons, and its last weeks in short. */
import { bandsFigure } from "../../../pages/operator_plots.ts";
import { Drawing } from "../../shared/drawing.tsx";
import { NeedsAttention } from "../attention.tsx";
import { InShort } from "../in_short.tsx";
import { Nearest } from "../nearest.tsx";
import { OrganizationVerdict } from "../organization_verdict.tsx";
import { addressOf, Answered, Empty, Figure, Tile, View } from "../parts.tsx";
import { ScoresAlone, Status } from "../scores_alone.tsx";
import { may, useSession } from "../session.tsx";
import { StateLine } from "../state_line.tsx";
import type { Dashboard, Weeks } from "../types.ts";
import { useAnswer } from "../use_answer.ts";

export function HomeView() {
  const { signedIn } = useSession();
  const dashboard = useAnswer<Dashboard>({ path: "/v1/organization/dashboard" });
  const known = dashboard.loaded.state === "ready" ? dashboard.loaded.body : null;
  return (
    <View
      title={signedIn.organization}
      // The line keeps its place, so that nothing moves once it is known.
      line={known === null ? "\u00a0" : <StateLine {...known} />}
    >
      {may(signedIn, "followUp") && <NeedsAttention below={known?.dashboard.verdicts.non_compliant ?? 0} />}
      {known !== null && <Nearest undetermined={known.dashboard.verdicts.undetermined} />}
      <Answered asked={dashboard}>{(body) => <OrganizationSummary {...body} />}</Answered>
      <LastWeeks />
      {known !== null && <FiguresOfScores {...known} />}
    </View>
  );
}

/** Operators in the small map. */
const MAP_ROWS = "15";

/** The organization over the last weeks in a few figures; Trends has the charts, the teams and the comparison. */
function LastWeeks() {
  const asked = useAnswer<Weeks>({ path: addressOf("/v1/organization/weeks", { limit: MAP_ROWS }) });
  return (
    <section aria-labelledby="in-short">
      <h2 id="in-short">In short, the last weeks</h2>
      <Answered asked={asked}>{(body) => <InShort body={body} />}</Answered>
      <p class="actions">
        <a href="/console/trends">The weeks as charts, of all or of a team</a>
        <a href="/console/trends?compare=1">Compare two periods or two teams</a>
      </p>
    </section>
  );
}

function OrganizationSummary(body: Dashboard) {
  const { dashboard } = body;
  return (
    <>
      {dashboard.total_operators === 0 && (
        <Empty>
          <p>Nobody was scored in the last 90 days.</p>
          <p>
            <a href="/docs#postScore">Send a first interaction</a>, and it stands here.
          </p>
        </Empty>
      )}
      <OrganizationVerdict {...body} />
    </>
  );
}

/** The figures of the specification, which take each score as if it were exact. */
function FiguresOfScores({ dashboard }: Dashboard) {
  const { compliance_status: status, organization_rule: rule } = dashboard;
  return (
    <ScoresAlone>
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
    </ScoresAlone>
  );
}
