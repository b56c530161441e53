/** The people who need attention: the open cases by need, each with its cause, its trend and one next step. */
import { dayInWords } from "../../pages/wording.ts";
import { VERDICT_WORDS } from "../../scoring/verdict_words.ts";
import { CAUSE_WORDS, conductOf, nextInWords, reasonInWords } from "./case_words.ts";
import { Answered, Empty, Figure, VerdictMark } from "./parts.tsx";
import { Reviewer, reviewerInWords } from "./reviewers.tsx";
import { useSession } from "./session.tsx";
import { Trend } from "./trend_mark.tsx";
import type { Cases } from "./types.ts";
import { useAnswer } from "./use_answer.ts";
import { WaitForCases } from "./wait_for_cases.tsx";

/** Cases that the first view shows, of those that it looks at; the queue has them all. */
const SHOWN_CASES = 8;
const LOOKED_AT = 50;

export function NeedsAttention({ below }: {
  /** Operators who are certainly below the threshold; 0 until it is known. */
  readonly below: number;
}) {
  const asked = useAnswer<Cases>({ path: `/v1/cases?include=present&limit=${LOOKED_AT}` });
  return (
    <section aria-labelledby="attention">
      <h2 id="attention">What needs attention</h2>
      <Answered asked={asked}>
        {({ cases, next_cursor: next }) =>
          cases.length === 0
            ? (
              <Empty>
                {below > 0 && <WaitForCases below={below} />}
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
  const verdict = present?.verdict ?? null;
  // The mark beside it says the same.
  const isSaid = verdict !== null && VERDICT_WORDS[verdict] === CAUSE_WORDS[cause];
  const conduct = conductOf(one);
  return (
    <li>
      <div class="person">
        <strong>
          <Reviewer id={operator} />
        </strong>
        {present !== null && (
          <>
            <VerdictMark status={verdict} />
            <span>
              JIS <Figure of={`cases.${index}.present.jis`} value={present.jis} />
            </span>
            {present.change_30_days !== null && <Trend points={present.change_30_days} />}
          </>
        )}
      </div>
      <div class="why">
        {!isSaid && <strong>{CAUSE_WORDS[cause]}</strong>}
        {conduct !== null && <p>{conduct.sentence}</p>}
        <p class={conduct === null ? undefined : "small muted"}>
          <bdi>{reasonInWords({ cause, statement })}</bdi>
        </p>
      </div>
      <div class="then">
        <p>
          {state === "open" ? nextInWords(one) : (
            <>
              {state === "waiting" ? "Waits" : "In work"}
              {owner !== null && (
                <>
                  {" "}
                  with <bdi>{owner}</bdi>
                </>
              )}
              {due !== null && `, due ${dayInWords(due)}`}.
            </>
          )}
        </p>
        <a
          class="button"
          href={`/console/cases/${id}`}
          aria-label={`Open case of ${reviewerInWords(signedIn, operator)}`}
        >
          Open case
        </a>
      </div>
    </li>
  );
}
