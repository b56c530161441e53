/** One operator: the verdict, the score, its history, its projection, and the recommended practice. */
import { useRoute } from "preact-iso";
import { crossingInWords, historyFigure, projectionFigure } from "../../../pages/operator_plots.ts";
import { estimateRows } from "../../../pages/estimates.ts";
import { dimensionsFigure, priorRemarks } from "../../../pages/jis_plot.ts";
import { nameInWords, shareInWords } from "../../../pages/wording.ts";
import { verdictInWords } from "../../../scoring/verdict_words.ts";
import { Drawing } from "../../shared/drawing.tsx";
import { DecisionRows } from "../decision_rows.tsx";
import { addressOf, Answered, Band, Empty, Figure, Instant, Rows, Tile, toneOf, View } from "../parts.tsx";
import { IssuePageLink } from "../page_link.tsx";
import { reviewerInWords, WhoIs } from "../reviewers.tsx";
import { may, useSession } from "../session.tsx";
import type { Decisions, Maintenance, Profile } from "../types.ts";
import { type Asked, useAnswer } from "../use_answer.ts";

export function OperatorView() {
  const { params } = useRoute();
  const id = params.id ?? "";
  const { signedIn } = useSession();
  const name = reviewerInWords(signedIn, id);
  const profile = useAnswer<Profile>({
    path: `/v1/operator/${encodeURIComponent(id)}/profile?include=projection`,
  });
  const maintenance = useAnswer<Maintenance>({
    method: "POST",
    path: "/v1/maintenance/recommend",
    body: { operator_id: id },
  });
  const decisions = useAnswer<Decisions>({
    path: addressOf("/v1/organization/decisions", { operator_id: id, limit: "10" }),
  });
  return (
    <View title={name}>
      <WhoIs key={`name ${id}`} pseudonym={id} />
      <IssuePageLink key={`link ${id}`} id={id} />
      <Answered asked={profile}>
        {(body) => (
          <>
            <OperatorSummary {...body} />
            <h2>What to do</h2>
            <Recommendation asked={maintenance} />
          </>
        )}
      </Answered>
      {may(signedIn, "followUp") && (
        <p>
          <a href={addressOf("/console/contests", { operator_id: id })}>What {name} contests</a>
        </p>
      )}
      <h2>Latest decisions</h2>
      <Answered asked={decisions}>
        {({ decisions: rows, next_cursor: next }) =>
          rows.length === 0
            ? (
              <Empty>
                <p>There is no record of this operator, or nothing of it is left.</p>
              </Empty>
            )
            : (
              <>
                <DecisionRows label={`Latest decisions of ${name}`} decisions={rows} withOperator={false} />
                {next !== null && (
                  <p>
                    <a href={addressOf("/console/decisions", { operator_id: id })}>All of {name}</a>
                  </p>
                )}
              </>
            )}
      </Answered>
    </View>
  );
}

function OperatorSummary(
  { profile, jis_history: history, decay_projection: projection, compliance }: Profile,
) {
  const { uncertainty, verdict } = profile;
  const thresholds = compliance!.thresholds;
  return (
    <>
      {verdict !== null && (
        <div class={`notice ${toneOf(verdict.status)}`} data-verdict>
          <h2>Verdict</h2>
          <p>{verdictInWords(verdict)}</p>
        </div>
      )}
      <ul class="tiles">
        <Tile name="JIS" more={<Band band={profile.band} />}>
          <Figure of="profile.jis" value={profile.jis} />
        </Tile>
        <Tile
          name={`${shareInWords(uncertainty.level)} interval`}
          more={
            <>
              on the weight of <Figure of="profile.uncertainty.effective_n" value={uncertainty.effective_n} />
              {uncertainty.effective_n === 1 ? " case " : " cases "}
              whose truth is known
            </>
          }
        >
          <Figure of="profile.uncertainty.low" value={uncertainty.low} /> to{" "}
          <Figure of="profile.uncertainty.high" value={uncertainty.high} />
        </Tile>
        <Tile
          name="Interactions"
          more={
            <>
              latest <Instant at={profile.last_interaction_at} />
            </>
          }
        >
          <Figure of="profile.total_interactions" value={profile.total_interactions} />
        </Tile>
        {profile.minimum_data_met
          ? (
            <Tile
              name="Article 14"
              more={compliance!.action_required ? "action required" : "no action required"}
            >
              {articleInWords(compliance!)}
            </Tile>
          )
          : <Tile name="Article 14" more="too few interactions for a verdict">Open</Tile>}
      </ul>
      {!profile.minimum_data_met && (
        <p class="notice fair">
          Too few interactions, over too few days, for the organization rule: the score is shown, and decides
          nothing there yet.
        </p>
      )}
      {projection!.remarks.map((remark, index) => (
        <p class="notice fair" key={remark}>
          <Figure of={`decay_projection.remarks.${index}`} value={remark} />
        </p>
      ))}
      <p>
        {nameInWords(profile.domain)}. Trend{" "}
        <Figure of="decay_projection.current_trend" value={projection!.current_trend} />{" "}
        points (recent against longer-run score). Today the projection stands at{" "}
        <Figure of="decay_projection.projected_today" value={projection!.projected_today} />.{" "}
        {crossingInWords(projection!, thresholds)}
        {uncertainty.low < thresholds.min_jis && profile.jis >= thresholds.min_jis &&
          ` The lower end of its interval is below ${thresholds.min_jis} already.`}
      </p>
      <Drawing of={projectionFigure({ projection: projection!, uncertainty, thresholds })} />
      <Drawing of={historyFigure({ history, thresholds })} />
      <Drawing
        of={dimensionsFigure(profile.dimensions, {
          caption: "Dimensions",
          remarks: priorRemarks(profile.prior_dimensions),
        })}
      />
      <HowJudged estimates={profile.estimates} level={uncertainty.level} />
    </>
  );
}

/** Shows the estimates of how the operator judges, beside the score. */
function HowJudged({ estimates, level }: {
  readonly estimates: Profile["profile"]["estimates"];
  readonly level: number;
}) {
  if (estimates === null) return null;
  return (
    <>
      <h2>How the operator judges</h2>
      <Rows
        label="Estimates from the known cases"
        columns={["Quantity", "#Estimate", `#${shareInWords(level)} interval`, "What it says"]}
      >
        {estimateRows(estimates).map(({ name, estimate, interval, meaning }) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            <td class="number">{estimate}</td>
            <td class="number">{interval}</td>
            <td class="small">{meaning}</td>
          </tr>
        ))}
      </Rows>
    </>
  );
}

/** The recommended practice. A record that is too short has none, which is no failure. */
function Recommendation({ asked }: { readonly asked: Asked<Maintenance> }) {
  const { loaded } = asked;
  if (loaded.state === "failed" && loaded.error.code === "INSUFFICIENT_DATA") {
    return (
      <Empty>
        <p>{loaded.error.message}</p>
      </Empty>
    );
  }
  return (
    <Answered asked={asked}>
      {({ recommendation, exercises }) => (
        <>
          <ul class="tiles">
            <Tile name="Intervention">{nameInWords(recommendation.intervention_type)}</Tile>
            <Tile name="Aims at">{nameInWords(recommendation.target_dimension)}</Tile>
            <Tile name="Difficulty">{nameInWords(recommendation.difficulty)}</Tile>
            <Tile name="Share of interactions" more="1 is every interaction">
              <Figure of="recommendation.frequency_ratio" value={recommendation.frequency_ratio} />
            </Tile>
          </ul>
          <h3>Exercises</h3>
          {exercises.map(({ id, title, payload }) => (
            <details key={id}>
              <summary>{title}</summary>
              <dl>
                {Object.entries(payload).map(([name, value]) => (
                  <div key={name}>
                    <dt>{nameInWords(name)}</dt>
                    <dd>{typeof value === "string" ? value : JSON.stringify(value)}</dd>
                  </div>
                ))}
              </dl>
            </details>
          ))}
        </>
      )}
    </Answered>
  );
}

/** The status under Article 14: with a verdict in three kinds, what is not known is not called "not met". */
function articleInWords({ article14_met: isMet, status }: NonNullable<Profile["compliance"]>): string {
  if (isMet) return "Met";
  return status === "undetermined" ? "Undetermined" : "Not met";
}
