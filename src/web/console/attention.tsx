/** The people who need attention: the open cases by need, each with its cause, its trend and one next step. */
import { CAUSE_WORDS, NEXT_WORDS, reasonInWords } from "./case_words.ts";
import { Answered, Empty, Figure, VerdictMark } from "./parts.tsx";
import { Reviewer, reviewerInWords } from "./reviewers.tsx";
import { useSession } from "./session.tsx";
import type { Cases } from "./types.ts";
import { useAnswer } from "./use_answer.ts";

/** Cases that the first view shows, of those that it looks at; the queue has them all. */
const SHOWN_CASES = 8;
const LOOKED_AT = 50;

/** Points below which a score neither rises nor falls. */
const STEADY = 1;

export function NeedsAttention() {
  const asked = useAnswer<Cases>({ path: `/v1/cases?include=present&limit=${LOOKED_AT}` });
  return (
    <section aria-labelledby="attention">
      <h2 id="attention">What needs attention</h2>
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
                <ul class="attention">
                  {byNeed(cases).map(({ one, index }) => <Item key={one.case_id} one={one} index={index} />)}
                </ul>
                <p>
                  <a href="/console/cases">
                    {next === null && cases.length <= SHOWN_CASES ? "All cases" : "More cases"}
                  </a>
                </p>
              </>
            )}
      </Answered>
    </section>
  );
}

/** Cases with their places in the answer: those who are below the threshold first, the lowest score first; then the last opened. */
function byNeed(cases: Cases["cases"]) {
  const need = ({ present }: Cases["cases"][number]) =>
    present?.verdict === "non_compliant" ? present.jis : Infinity;
  return cases.map((one, index) => ({ one, index }))
    .toSorted((one, other) => need(one.one) - need(other.one) || one.index - other.index)
    .slice(0, SHOWN_CASES);
}

function Item({ one, index }: { readonly one: Cases["cases"][number]; readonly index: number }) {
  const { signedIn } = useSession();
  const { case_id: id, operator_id: operator, cause, statement, state, owner_name: owner, due_on: due } = one;
  const present = one.present ?? null;
  return (
    <li>
      <div class="person">
        <strong>
          <Reviewer id={operator} />
        </strong>
        {present !== null && (
          <>
            <VerdictMark status={present.verdict} />
            <span>
              JIS <Figure of={`cases.${index}.present.jis`} value={present.jis} />
            </span>
            <Trend points={present.trend} />
          </>
        )}
      </div>
      <div class="why">
        <a href={`/console/cases/${id}`}>{CAUSE_WORDS[cause]}</a>
        <p>
          <bdi>{reasonInWords({ cause, statement })}</bdi>
        </p>
      </div>
      <div class="then">
        <p>
          {state === "open" ? NEXT_WORDS[cause] : (
            <>
              {state === "waiting" ? "Waits" : "In work"}
              {owner !== null && (
                <>
                  {" "}
                  with <bdi>{owner}</bdi>
                </>
              )}
              {due !== null && `, due ${due}`}.
            </>
          )}
        </p>
        <a class="button" href={`/console/cases/${id}`}>
          Open case
          <span class="hidden">: the case of {reviewerInWords(signedIn, operator)}</span>
        </a>
      </div>
    </li>
  );
}

/** The course of a score: an arrow with the points, and the same in words. */
function Trend({ points }: { readonly points: number }) {
  const size = Math.abs(points).toFixed(1);
  const [arrow, words] = Math.abs(points) < STEADY
    ? ["→", "steady"]
    : points > 0
    ? ["↗", `rising: recent cases are ${size} points above the long-term score`]
    : ["↘", `falling: recent cases are ${size} points below the long-term score`];
  return (
    <span class="trend" title={words}>
      <span aria-hidden="true">{arrow}{Math.abs(points) < STEADY ? " steady" : ` ${size}`}</span>
      <span class="hidden">{words}</span>
    </span>
  );
}
