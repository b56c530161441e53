/** The first view: who needs attention, the verdict on the organization with its reasons, and the weeks. */
import { useLocation } from "preact-iso";
import { VERDICT_STATUSES } from "../../../domain/enums.ts";
import { bandsFigure } from "../../../pages/operator_plots.ts";
import { nameInWords } from "../../../pages/wording.ts";
import { VERDICT_WORDS } from "../../../scoring/verdict_words.ts";
import { Drawing } from "../../shared/drawing.tsx";
import { NeedsAttention } from "../attention.tsx";
import { addressOf, Answered, Empty, Figure, Tile, toneOf, VerdictMark, View } from "../parts.tsx";
import { ScoresAlone, Status } from "../scores_alone.tsx";
import { may, useSession } from "../session.tsx";
import type { Dashboard, Weeks } from "../types.ts";
import { useAnswer } from "../use_answer.ts";
import { ChooseWeeks, HeatMap, WeekCharts } from "../weeks.tsx";

export function HomeView() {
  const { signedIn } = useSession();
  const dashboard = useAnswer<Dashboard>({ path: "/v1/organization/dashboard" });
  return (
    <View title={signedIn.organization}>
      {may(signedIn, "followUp") && <NeedsAttention />}
      <Answered asked={dashboard}>{(body) => <OrganizationSummary {...body} />}</Answered>
      <LastWeeks />
      {dashboard.loaded.state === "ready" && <FiguresOfScores {...dashboard.loaded.body} />}
    </View>
  );
}

/** Operators whose weeks the first view shows. */
const MAP_ROWS = "15";

/** The organization or a team over the weeks that the address names. */
function LastWeeks() {
  const { query, route } = useLocation();
  const { from = "", to = "", team = "" } = query;
  const choice = { from, to, team };
  const asked = useAnswer<Weeks>({
    path: addressOf("/v1/organization/weeks", { ...choice, limit: MAP_ROWS }),
  });
  return (
    <section aria-labelledby="weeks">
      <h2 id="weeks">Week by week</h2>
      <ChooseWeeks
        id="weeks-of"
        label="Weeks and team"
        choice={choice}
        shown={asked.loaded.state === "ready" ? asked.loaded.body : null}
        onChoose={(chosen) => route(addressOf("/console", { ...chosen }))}
      />
      <Answered asked={asked}>
        {(body) => (
          <>
            <WeekCharts id="weeks-of" body={body} />
            <HeatMap body={body} />
          </>
        )}
      </Answered>
      <p class="actions">
        <a href={addressOf("/console/trends", { ...choice, compare: "1" })}>
          Compare two periods or two teams
        </a>
      </p>
    </section>
  );
}

function OrganizationSummary({ dashboard, domain, tier }: Dashboard) {
  const { verdict, verdicts } = dashboard;
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

const VERDICT_LINKS: Readonly<Record<(typeof VERDICT_STATUSES)[number], string>> = {
  compliant: "List those who meet it",
  undetermined: "List those who need more known cases",
  non_compliant: "List those below it",
};
