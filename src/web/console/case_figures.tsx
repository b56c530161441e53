/** The figures of a case: the score at its opening and now, the exercise that is set, and what became of it. */
import { isOpenCase } from "../../domain/case_states.ts";
import { countInWords, dayInWords } from "../../pages/wording.ts";
import { Figure, Tile } from "./parts.tsx";
import { changeInWords, isSteady } from "./trend.ts";
import type { Case } from "./types.ts";

const APART = "the intervals are apart";
const OVERLAP = "the intervals overlap: it may be chance";

export function CaseFigures({ shown }: { readonly shown: Case }) {
  const { figures, state } = shown;
  const hasEffect = state === "done" && (shown.steps.at(-1)?.figures ?? null) !== null;
  const present = isOpenCase(state) ? shown.present ?? null : null;
  if (figures === null && present === null && !hasEffect) return null;
  return (
    <ul class="tiles">
      {figures !== null && <Score name="JIS when it was opened" of="figures" figures={figures} />}
      {present !== null && (
        <>
          <Score name="JIS now" of="present" figures={present} />
          {figures !== null && (
            <Tile
              name="Change since it was opened"
              more={isSteady(present.jis - figures.jis)
                ? "less than one point"
                : present.low > figures.high || present.high < figures.low
                ? APART
                : OVERLAP}
            >
              {changeInWords(present.jis - figures.jis)}
            </Tile>
          )}
          {present.exercise !== null && (
            <Tile
              name="Exercise"
              more={`“${present.exercise.title}”, until ${dayInWords(present.exercise.expires_at)}`}
            >
              <Figure of="present.exercise.decided" value={present.exercise.decided} /> of{" "}
              {countInWords(present.exercise.case_count, "case")}
            </Tile>
          )}
        </>
      )}
      {hasEffect && <Effect shown={shown} />}
    </ul>
  );
}

function Score({ name, of, figures: { jis, low, high } }: {
  readonly name: string;
  /** The place of the figures in the answer. */
  readonly of: string;
  readonly figures: NonNullable<Case["figures"]>;
}) {
  return (
    <Tile
      name={name}
      more={
        <>
          between <Figure of={`${of}.low`} value={low} /> and <Figure of={`${of}.high`} value={high} />
        </>
      }
    >
      <Figure of={`${of}.jis`} value={jis} />
    </Tile>
  );
}

/** The score at the end of a case, or what became of the one at its opening. */
function Effect({ shown: { effect, steps } }: { readonly shown: Case }) {
  const last = steps.length - 1;
  return (
    <Tile name="Effect" more={effect === null ? "nothing to compare with" : effect.clear ? APART : OVERLAP}>
      {effect === null ? <Figure of={`steps.${last}.figures.jis`} value={steps[last]!.figures!.jis} /> : (
        <>
          {effect.jis > 0 && "+"}
          <Figure of="effect.jis" value={effect.jis} />
        </>
      )}
    </Tile>
  );
}
