/** One operator: the cause first, then the next step, the score, how it is judged, exercises, and the acts on its records. */
import { useEffect, useRef, useState } from "preact/hooks";
import { useLocation, useRoute } from "preact-iso";
import { crossingInWords, historyFigure, projectionFigure } from "../../../pages/operator_plots.ts";
import { dimensionsFigure, priorRemarks } from "../../../pages/jis_plot.ts";
import { forceInWords } from "../../../pages/force_words.ts";
import { dayOf, nameInWords, shareInWords } from "../../../pages/wording.ts";
import { Drawing } from "../../shared/drawing.tsx";
import { Cause, NextStep } from "../cause.tsx";
import { DecisionRows } from "../decision_rows.tsx";
import {
  addressOf,
  Answered,
  bandInWords,
  Empty,
  Figure,
  Instant,
  Tile,
  VerdictMark,
  View,
} from "../parts.tsx";
import { Recommendation, SetBefore, SetNow } from "../practice.tsx";
import { ErasedNotice, Records } from "../records.tsx";
import { longName } from "../long_name.ts";
import { reviewerInWords } from "../reviewers.tsx";
import { may, useSession } from "../session.tsx";
import type { ExerciseDefaults } from "../set_exercise.tsx";
import { SetTeam } from "../team.tsx";
import type { Decisions, Erased, Exercises, Maintenance, Profile } from "../types.ts";
import { type Asked, useAnswer } from "../use_answer.ts";
import { KnownCases, KnownEstimates, WorkRates } from "../work_rates.tsx";

export function OperatorView() {
  const { params } = useRoute();
  const id = params.id ?? "";
  const { signedIn } = useSession();
  const name = reviewerInWords(signedIn, id);
  const [erased, setErased] = useState<{ readonly id: string; readonly answer: Erased } | null>(null);
  return erased?.id === id
    ? (
      <View title={name}>
        <ErasedNotice name={name} erased={erased.answer} />
      </View>
    )
    : <Kept key={id} id={id} name={name} onErased={(answer) => setErased({ id, answer })} />;
}

/** The heading to which a case leads: it stands only after the answer, when the browser has looked for it in vain. */
function ExercisesHeading() {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    if (location.hash === "#exercises") heading.current!.scrollIntoView();
  }, []);
  return <h2 id="exercises" ref={heading}>Exercises</h2>;
}

/** An operator whose records are kept. */
function Kept({ id, name, onErased }: {
  readonly id: string;
  readonly name: string;
  readonly onErased: (erased: Erased) => void;
}) {
  const profile = useAnswer<Profile>({
    path: `/v1/operator/${encodeURIComponent(id)}/profile?include=projection`,
  });
  const maintenance = useAnswer<Maintenance>({
    method: "POST",
    path: "/v1/maintenance/recommend",
    body: { operator_id: id },
  });
  const exercises = useAnswer<Exercises>({ path: addressOf("/v1/exercises", { operator_id: id }) });
  const known = profile.loaded.state === "ready" ? profile.loaded.body.profile : null;
  return (
    <View
      title={name}
      within={{ path: "/console/operators", label: "Operators" }}
      mark={known !== null && <VerdictMark status={known.verdict?.status ?? null} />}
      line={known === null
        ? undefined
        : <Place id={id} team={known.team} domain={known.domain} onTeam={profile.again} />}
    >
      <Answered asked={profile}>
        {(body) => (
          <>
            <Cause {...body} />
            <Next id={id} body={body} maintenance={maintenance} exercises={exercises} />
            <OperatorSummary {...body} />
            <ExercisesHeading />
            <Answered asked={exercises}>
              {(set) => {
                const setting = { id, set, defaults: defaultsOf(maintenance, set), onSet: exercises.again };
                return (
                  <>
                    <SetNow set={set} />
                    <Recommendation asked={maintenance} {...setting} />
                    <SetBefore id={id} set={set} />
                  </>
                );
              }}
            </Answered>
          </>
        )}
      </Answered>
      <LatestDecisions id={id} name={name} />
      <Records id={id} onErased={onErased} />
    </View>
  );
}

/** The team of the operator, which an admin may set, and the domain of the work. */
function Place({ id, team, domain, onTeam }: {
  /** The operator. */
  readonly id: string;
  readonly team: string | null;
  readonly domain: string;
  readonly onTeam: () => void;
}) {
  const { signedIn: { privacy } } = useSession();
  return (
    <>
      <span>
        {team !== null
          ? (
            <>
              Team{" "}
              <a href={addressOf("/console/operators", { team })}>
                <bdi>
                  <Figure of="profile.team" value={team} />
                </bdi>
              </a>
              {" · "}
            </>
          )
          : privacy === "named" && "No team · "}
        {nameInWords(domain)}
      </span>
      <SetTeam key={team} id={id} team={team} onSet={onTeam} />
    </>
  );
}

/** The next step, once it is known what is recommended and what was set. A recommendation that failed is none. */
function Next({ id, body, maintenance, exercises }: {
  readonly id: string;
  readonly body: Profile;
  readonly maintenance: Asked<Maintenance>;
  readonly exercises: Asked<Exercises>;
}) {
  const { path, query, route } = useLocation();
  const isAsked = query.ask === "exercise";
  const { loaded: recommended } = maintenance;
  const { loaded: set, again } = exercises;
  // What failed says so in the section of the exercises.
  if (recommended.state === "loading" || set.state !== "ready") return null;
  return (
    <NextStep
      id={id}
      body={body}
      recommended={recommended.state === "ready" ? recommended.body.recommendation : null}
      set={set.body}
      defaults={defaultsOf(maintenance, set.body)}
      isAsked={isAsked}
      onSet={() => {
        // An act that is done is not asked again, nor when the page is loaded anew.
        if (isAsked) route(path, true);
        again();
      }}
    />
  );
}

/** The first choice for an exercise: the recommended one, in the language of the last one. */
function defaultsOf({ loaded }: Asked<Maintenance>, { exercises: [latest] }: Exercises): ExerciseDefaults {
  const recommendation = loaded.state === "ready" ? loaded.body.recommendation : null;
  return {
    exerciseId: null,
    dimension: recommendation?.target_dimension ?? null,
    difficulty: recommendation?.difficulty ?? "moderate",
    language: latest?.language ?? "en",
  };
}

/** The latest decisions, on demand: the view asks for three answers when it opens. */
function LatestDecisions({ id, name }: { readonly id: string; readonly name: string }) {
  const { signedIn } = useSession();
  const [isAsked, setAsked] = useState(false);
  const ofOperator = { operator_id: id };
  return (
    <>
      <h2>Latest decisions</h2>
      {isAsked && <Decided id={id} name={name} />}
      <div class="actions">
        {!isAsked && <button type="button" onClick={() => setAsked(true)}>Show the latest decisions</button>}
        <a href={addressOf("/console/decisions", ofOperator)} {...longName(name)}>All decisions of {name}</a>
        {may(signedIn, "followUp") && (
          <>
            <a href={addressOf("/console/cases", { ...ofOperator, state: "all" })} {...longName(name)}>
              Cases of {name}
            </a>
            <a href={addressOf("/console/contests", ofOperator)} {...longName(name)}>Contests of {name}</a>
          </>
        )}
      </div>
    </>
  );
}

function Decided({ id, name }: { readonly id: string; readonly name: string }) {
  const decisions = useAnswer<Decisions>({
    path: addressOf("/v1/organization/decisions", { operator_id: id, limit: "10" }),
  });
  return (
    <Answered asked={decisions}>
      {({ decisions: rows }) =>
        rows.length === 0
          ? (
            <Empty>
              <p>There is no record of this operator, or nothing of it is left.</p>
            </Empty>
          )
          : <DecisionRows label={`Latest decisions of ${name}`} decisions={rows} withOperator={false} />}
    </Answered>
  );
}

function OperatorSummary(
  { profile, jis_history: history, decay_projection: projection, compliance, article14, timestamp }: Profile,
) {
  const { uncertainty } = profile;
  const thresholds = compliance!.thresholds;
  return (
    <>
      <ul class="tiles">
        <Tile name="JIS" more={bandInWords(profile.band)}>
          <Figure of="profile.jis" value={profile.jis} />
        </Tile>
        <Tile
          name={`${shareInWords(uncertainty.level)} interval`}
          more="from the known cases"
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
              name="Measure for Article 14"
              more={article14 == null
                ? "the model does not have this law"
                : forceInWords(article14, dayOf(timestamp)).phrase}
            >
              {articleInWords(compliance!)}
            </Tile>
          )
          : <Tile name="Measure for Article 14" more="too few interactions for it">Open</Tile>}
      </ul>
      {!profile.minimum_data_met && (
        <p class="notice fair">
          Too few interactions, over too few days, for the organization rule: the score is shown, and decides
          nothing there yet.
        </p>
      )}
      <h2>How the operator judges</h2>
      <KnownCases profile={profile} />
      {profile.estimates !== null && <WorkRates estimates={profile.estimates} />}
      <div class="panels">
        {profile.estimates !== null && <KnownEstimates estimates={profile.estimates} />}
        <Drawing
          of={dimensionsFigure(profile.dimensions, {
            caption: "Dimensions",
            numbers: "folded",
            isNarrow: true,
            remarks: priorRemarks(profile.prior_dimensions),
            levels: [{ at: thresholds.min_jis, name: "minimum" }],
          })}
        />
      </div>
      <h2>From today</h2>
      {projection!.remarks.map((remark, index) =>
        // The last one, that nobody has heard of the operator, stands at the top of the page.
        projection!.not_heard_of && index === projection!.remarks.length - 1
          ? null
          : (
            <p class="notice fair" key={remark}>
              <Figure of={`decay_projection.remarks.${index}`} value={remark} />
            </p>
          )
      )}
      <p>
        {crossingInWords(projection!, thresholds)} Today the projection stands at{" "}
        <Figure of="decay_projection.projected_today" value={projection!.projected_today} />, if nothing
        renews the score. It fades faster if recent cases scored below the longer run, and slower if above it:
        the difference is <Figure of="decay_projection.current_trend" value={projection!.current_trend} />
        {" "}
        points.
        {uncertainty.low < thresholds.min_jis && profile.jis >= thresholds.min_jis &&
          ` The lower end of its interval is below ${thresholds.min_jis} already.`}
      </p>
      <div class="panels">
        <Drawing of={projectionFigure({ projection: projection!, uncertainty, thresholds })} />
        <Drawing of={historyFigure({ history, thresholds })} />
      </div>
    </>
  );
}

/** Whether the threshold is met that stands for Article 14: with a verdict in three kinds, what is not known is not called "not met". */
function articleInWords({ article14_met: isMet, status }: NonNullable<Profile["compliance"]>): string {
  if (isMet) return "Met";
  return status === "undetermined" ? "Undetermined" : "Not met";
}
