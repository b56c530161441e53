/** The top of an operator's page: why the verdict is what it is, and the next step with its one button. */
import { conductInWords, nextStep } from "../../pages/operator_cause.ts";
import { nameInWords } from "../../pages/wording.ts";
import { verdictInWords } from "../../scoring/verdict_words.ts";
import { addressOf, Figure, toneOf } from "./parts.tsx";
import { isRunOpen } from "./practice.tsx";
import { may, useSession } from "./session.tsx";
import { type ExerciseDefaults, SetExercise } from "./set_exercise.tsx";
import type { Exercises, Maintenance, Profile } from "./types.ts";

/** The view in which decisions get their labels. */
const LABELS_VIEW = "/console/labels";

export function Cause(
  { profile: { verdict, estimates }, decay_projection: projection, compliance }: Profile,
) {
  const remarks = projection!.remarks;
  const last = remarks.length - 1;
  return (
    <div class={`notice ${toneOf(verdict?.status ?? null)}`} data-verdict>
      <h2>Verdict and cause</h2>
      <p>
        {verdict === null
          ? "There is no verdict: the formulas of the model in use give a score alone."
          : verdictInWords(verdict)}
      </p>
      {verdict !== null && estimates !== null && (
        <p>
          {conductInWords(verdict, estimates)} The threshold is a score of{" "}
          <Figure of="compliance.thresholds.min_jis" value={compliance!.thresholds.min_jis} />.
        </p>
      )}
      {projection!.not_heard_of && (
        <p>
          <Figure of={`decay_projection.remarks.${last}`} value={remarks[last]!} />
        </p>
      )}
    </div>
  );
}

export function NextStep({ id, body, recommended, set, defaults, isAsked, onSet }: {
  /** The operator. */
  readonly id: string;
  readonly body: Profile;
  /** Null if the record is too short for a recommendation. */
  readonly recommended: Maintenance["recommendation"] | null;
  /** The exercises that were set, and those that can be. */
  readonly set: Exercises;
  readonly defaults: ExerciseDefaults;
  /** Whether the user came to set an exercise, whatever the next step is. */
  readonly isAsked: boolean;
  readonly onSet: () => void;
}) {
  const { signedIn } = useSession();
  const { profile: { verdict }, decay_projection: projection } = body;
  const days = projection!.days_to_non_compliance;
  const { act, sentence } = nextStep({
    verdict,
    open: set.exercises.find(isRunOpen) ?? null,
    isNotHeardOf: projection!.not_heard_of,
    daysAway: projection!.days_since_last_interaction,
    aim: recommended === null || recommended.intervention_type === "none"
      ? null
      : nameInWords(recommended.target_dimension).toLowerCase(),
    fallsOn: days === null || days === 0 ? null : projection!.non_compliant_on,
  });
  return (
    <section class="next" aria-labelledby="next">
      <h2 id="next">Next step</h2>
      <p>{sentence}</p>
      {act === "wait" && (
        <p>
          <a class="button main" href="#exercises">See the exercise</a>
        </p>
      )}
      {act === "label" && may(signedIn, "label") && (
        <p>
          <a class="button main" href={addressOf(LABELS_VIEW, { operator_id: id })}>Label decisions</a>
        </p>
      )}
      {(act === "exercise" || isAsked) && may(signedIn, "act") && (
        <SetExercise
          id={id}
          button="Set an exercise"
          isMain={act === "exercise"}
          isOpenAtFirst={isAsked}
          held={set.can_be_set}
          defaults={defaults}
          onSet={onSet}
        />
      )}
    </section>
  );
}
