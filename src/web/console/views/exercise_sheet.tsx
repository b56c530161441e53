/** A recommended exercise as a sheet: somebody holds it by hand and writes the results on paper. */
import { useRoute } from "preact-iso";
import { type ExerciseSheet, exerciseSheet } from "../../../pages/exercise_words.ts";
import { countInWords } from "../../../pages/wording.ts";
import { Answered, Empty, Rows, View } from "../parts.tsx";
import { longName } from "../long_name.ts";
import { reviewerInWords } from "../reviewers.tsx";
import { useSession } from "../session.tsx";
import type { Maintenance } from "../types.ts";
import { useAnswer } from "../use_answer.ts";

export function ExerciseSheetView() {
  const { params } = useRoute();
  const id = params.id ?? "";
  const { signedIn } = useSession();
  const name = reviewerInWords(signedIn, id);
  const asked = useAnswer<Maintenance>({
    method: "POST",
    path: "/v1/maintenance/recommend",
    body: { operator_id: id },
  });
  const back = <a href={`/console/operators/${encodeURIComponent(id)}`} {...longName(name)}>Back to {name}
  </a>;
  const { loaded } = asked;
  const exercise = loaded.state === "ready"
    ? loaded.body.exercises.find((one) => one.id === params.exercise)
    : undefined;
  return (
    <View
      title={exercise?.title ?? "Sheet of an exercise"}
      within={{ path: `/console/operators/${encodeURIComponent(id)}`, label: name }}
    >
      <Answered asked={asked}>
        {() =>
          exercise === undefined
            ? (
              <Empty>
                <p>This exercise is not recommended now: that changes with the reviewer's work. {back}</p>
              </Empty>
            )
            : (
              <>
                <div class="actions">
                  <button class="main" type="button" onClick={() => print()}>Print</button>
                </div>
                <Sheet sheet={exerciseSheet(exercise)} name={name} />
              </>
            )}
      </Answered>
    </View>
  );
}

function Sheet({ sheet, name }: { readonly sheet: ExerciseSheet; readonly name: string }) {
  const { cases, minutes, difficulty, sample } = sheet;
  return (
    <div class="sheet">
      <p>{sheet.purpose}</p>
      <dl>
        <div>
          <dt>Reviewer</dt>
          <dd>{name}</dd>
        </div>
        <div>
          <dt>Size</dt>
          <dd>
            {countInWords(cases, "case")}, about {countInWords(minutes, "minute")}, {difficulty}
          </dd>
        </div>
        {["Held by", "On"].map((blank) => (
          <div key={blank}>
            <dt>{blank}</dt>
            <dd class="blank"></dd>
          </div>
        ))}
      </dl>
      <h2>For the trainer: prepare</h2>
      <ol>{sheet.setup.map((step) => <li key={step}>{step}</li>)}</ol>
      <h3>Conditions</h3>
      <ul>{sheet.conditions.map((step) => <li key={step}>{step}</li>)}</ul>
      {sample !== null && (
        <>
          <h3>A worked case, with its solution</h3>
          <p>{sample.text}</p>
          {sample.advice !== "" && (
            <p>
              The AI's advice: {sample.advice}
            </p>
          )}
          <p>
            {sample.isAdviceRight !== null && `The advice is ${sample.isAdviceRight ? "right" : "wrong"}. `}
            {sample.lookFor}
          </p>
        </>
      )}
      <h3>Passed or not</h3>
      <p>{sheet.passed}</p>
      <p>A result is a reason for the next exercise, not for a sanction.</p>
      {sheet.sending.length > 0 && (
        <>
          <h3>For your integration: send the results back</h3>
          <ol>{sheet.sending.map((step) => <li key={step}>{step}</li>)}</ol>
        </>
      )}
      <section class="page" aria-labelledby="for-reviewer">
        <h2 id="for-reviewer">For the reviewer: what to do</h2>
        <ol>{sheet.instructions.map((step) => <li key={step}>{step}</li>)}</ol>
        <p class="instead-of-form">The form for {countInWords(cases, "case")} is on the printed sheet.</p>
        <Rows label="Decisions" columns={["#Case", "Decision", "Reason in a few words", "Right?"]}>
          {Array.from({ length: cases }, (_, index) => (
            <tr key={index} class="blank">
              <th scope="row" class="number">{index + 1}</th>
              <td></td>
              <td></td>
              <td></td>
            </tr>
          ))}
        </Rows>
        <h2>Afterwards, together</h2>
        <ol>
          {sheet.debrief.map((question) => (
            <li key={question}>
              {question}
              <div class="blank"></div>
            </li>
          ))}
        </ol>
      </section>
    </div>
  );
}
