/** The operators who are nearest to a verdict, asked for on demand: few known cases would settle theirs. */
import { useState } from "preact/hooks";
import { verdictWait } from "../../scoring/verdict_words.ts";
import { addressOf, Answered, Empty, VerdictMark } from "./parts.tsx";
import { Reviewer, reviewerInWords } from "./reviewers.tsx";
import { may, useSession } from "./session.tsx";
import type { Operators } from "./types.ts";
import { useAnswer } from "./use_answer.ts";

/** The first operators without a verdict that are looked at, and how many of them are shown. */
const LOOKED_AT = "200";
const SHOWN = 3;
const ID = "nearest";

export function Nearest({ undetermined }: { readonly undetermined: number }) {
  const { signedIn } = useSession();
  const [isOpen, setOpen] = useState(false);
  if (undetermined === 0 || !may(signedIn, "label")) return null;
  return (
    <section aria-label="Nearest to a verdict">
      <p class="actions">
        <span>{undetermined} {undetermined === 1 ? "is" : "are"} undetermined.</span>
        <button type="button" aria-expanded={isOpen} aria-controls={ID} onClick={() => setOpen(!isOpen)}>
          Who is nearest to a verdict?
        </button>
      </p>
      <div id={ID}>{isOpen && <List />}</div>
    </section>
  );
}

function List() {
  const { signedIn } = useSession();
  const query = { verdict: "undetermined", limit: LOOKED_AT };
  const asked = useAnswer<Operators>({ path: addressOf("/v1/organization/operators", query) });
  return (
    <Answered asked={asked}>
      {({ operators }) => {
        const nearest = nearestOf(operators);
        return nearest.length === 0
          ? (
            <Empty>
              <p>Of none it can be said how many known cases would settle the verdict.</p>
            </Empty>
          )
          : (
            <ul class="attention nearest">
              {nearest.map(({ operator_id: id, verdict }) => (
                <li key={id}>
                  <div class="person">
                    <strong>
                      <Reviewer id={id} />
                    </strong>
                    <VerdictMark status={verdict!.status} />
                  </div>
                  <p class="why">{verdictWait(verdict!)}</p>
                  <div class="then">
                    <a
                      class="button"
                      href={addressOf("/console/labels", { operator_id: id })}
                      aria-label={`Label the cases of ${reviewerInWords(signedIn, id)}`}
                    >
                      Label the cases
                    </a>
                  </div>
                </li>
              ))}
            </ul>
          );
      }}
    </Answered>
  );
}

/** Picks the operators whose verdict the fewest more known cases would settle, the fewest first. */
function nearestOf(operators: Operators["operators"]): Operators["operators"] {
  return operators.flatMap((one) => {
    const needed = one.verdict?.wrong_cases_needed ?? one.verdict?.right_cases_needed ?? null;
    return needed === null ? [] : [{ one, needed }];
  }).toSorted((a, b) => a.needed - b.needed).slice(0, SHOWN).map(({ one }) => one);
}
