/** Sets an exercise that the service holds, and shows its link once. */
import type { ComponentChildren } from "preact";
import { useId, useRef, useState } from "preact/hooks";
import { DOMAINS } from "../../domain/enums.ts";
import { EXERCISE_LINK_HOURS_DEFAULT } from "../../domain/limits.ts";
import { nameInWords } from "../../pages/wording.ts";
import { localInWords } from "../shared/local_time.ts";
import { randomHex } from "../shared/random_hex.ts";
import { Confirmed } from "./confirmed.tsx";
import { reviewerInWords } from "./reviewers.tsx";
import { useCaller, useSession } from "./session.tsx";
import type { Exercises, ExerciseSet } from "./types.ts";
import { useAction } from "./use_answer.ts";

type Held = Exercises["can_be_set"][number];
type Run = Exercises["exercises"][number];
type Difficulty = Held["difficulties"][number];

const LANGUAGES: Readonly<Record<Run["language"], string>> = { en: "English", de: "German" };

/** A language in words. */
export function languageInWords(language: Run["language"]): string {
  return LANGUAGES[language];
}

const LINK_DAYS = EXERCISE_LINK_HOURS_DEFAULT / 24;

/** The first choice of each field. */
export interface ExerciseDefaults {
  /** One of those that can be set; null for the first that can be. */
  readonly exerciseId: string | null;
  /** The dimension whose exercises are offered first; null if none is recommended. */
  readonly dimension: string | null;
  readonly difficulty: Difficulty;
  readonly language: Run["language"];
}

export function SetExercise({ id, button, isMain = false, isOpenAtFirst = false, held, defaults, onSet }: {
  /** The operator. */
  readonly id: string;
  readonly button: string;
  /** Whether it is the view's first button. */
  readonly isMain?: boolean;
  /** Whether the user has asked for it already, in another view. */
  readonly isOpenAtFirst?: boolean;
  readonly held: readonly Held[];
  readonly defaults: ExerciseDefaults;
  readonly onSet: () => void;
}) {
  const { signedIn, obtain } = useSession();
  const caller = useCaller();
  const { busy, error, run } = useAction<true>();
  const isAimed = ({ dimension }: Held) => dimension === defaults.dimension;
  const offered = [...held.filter(isAimed), ...held.filter((one) => !isAimed(one))];
  const [exerciseId, setExerciseId] = useState(defaults.exerciseId ?? offered[0]?.exercise_id ?? "");
  const chosen = held.find(({ exercise_id }) => exercise_id === exerciseId);
  const [difficulty, setDifficulty] = useState(defaults.difficulty);
  const [domain, setDomain] = useState("");
  const [language, setLanguage] = useState(defaults.language);
  // A repeated click after a lost answer sets nothing twice: the answer is the first one's.
  const repeatable = useRef({ body: "", key: "" });
  const name = reviewerInWords(signedIn, id);
  if (offered.length === 0) return null;
  const set = async () => {
    const body = {
      operator_id: id,
      exercise_id: exerciseId,
      difficulty,
      language,
      ...(domain === "" ? {} : { domain }),
    };
    const text = JSON.stringify(body);
    if (repeatable.current.body !== text) repeatable.current = { body: text, key: randomHex(16) };
    const headers = { "Idempotency-Key": repeatable.current.key };
    const done = await run(async (patience) => {
      await obtain(async () => {
        const { link, case_count, input } = await caller.json<ExerciseSet>(
          { method: "POST", path: "/v1/exercises", body, headers },
          { patience },
        );
        return {
          title: `A link to an exercise for ${name}`,
          note:
            `Pass it on to ${name} alone: whoever has it can decide the ${case_count} cases, each once. It works until ${
              localInWords(input.expires_at)
            }.`,
          label: "The link: this is the only time that it is shown.",
          value: link,
        };
      });
      repeatable.current = { body: "", key: "" };
      return true;
    });
    if (done === null) return false;
    onSet();
    return true;
  };
  const groups = [
    ["For what is recommended", offered.filter(isAimed)],
    ["Others", offered.filter((one) => !isAimed(one))],
  ] as const;
  const choices = (
    <div class="choose">
      <Choice label="Exercise" value={exerciseId} onChoose={setExerciseId}>
        {groups.filter(([, rows]) => rows.length > 0).map(([label, rows]) => (
          <optgroup key={label} label={label}>
            {rows.map(({ exercise_id, title, dimension }) => (
              <option key={exercise_id} value={exercise_id}>{title} ({nameInWords(dimension)})</option>
            ))}
          </optgroup>
        ))}
      </Choice>
      <Choice
        label="Difficulty"
        value={difficulty}
        onChoose={(value) => setDifficulty(value as Difficulty)}
      >
        {(chosen?.difficulties ?? []).map((one) => <option key={one} value={one}>{nameInWords(one)}</option>)}
      </Choice>
      <Choice label="Domain of the cases" value={domain} onChoose={setDomain}>
        <option value="">That of the latest live work</option>
        {DOMAINS.map((one) => <option key={one} value={one}>{nameInWords(one)}</option>)}
      </Choice>
      <Choice
        label="Language"
        value={language}
        onChoose={(value) => setLanguage(value as Run["language"])}
      >
        {Object.entries(LANGUAGES).map(([code, words]) => <option key={code} value={code}>{words}</option>)}
      </Choice>
    </div>
  );
  return (
    <Confirmed
      button={button}
      isMain={isMain}
      isOpenAtFirst={isOpenAtFirst}
      choices={choices}
      title={`Set an exercise for ${name}`}
      happens={[
        `The service draws cases and makes a link, which is shown once and works for ${LINK_DAYS} days. Pass it on yourself: nothing is sent.`,
        "The evidence chain gets an entry that the exercise was set, by whom and when, and one for each decision.",
        "Its result stands on this page, and its effect on live work after 30 more live cases.",
      ]}
      stays={[
        "No score and no verdict moves: an exercise is an announced test.",
        "It cannot be taken back: a link that nobody uses ends by itself.",
      ]}
      ways={[{ label: busy ? "Setting it…" : "Set this exercise", act: set }]}
      ready={chosen !== undefined && chosen.difficulties.includes(difficulty)}
      busy={busy}
      error={error}
    />
  );
}

function Choice({ label, value, onChoose, children }: {
  readonly label: string;
  readonly value: string;
  readonly onChoose: (value: string) => void;
  readonly children: ComponentChildren;
}) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <select id={id} value={value} onChange={(event) => onChoose(event.currentTarget.value)}>
        {children}
      </select>
    </div>
  );
}
