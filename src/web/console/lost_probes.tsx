/** The operators to whom lost probes were shown, each with the case that follows up, or with the step that comes first. */
import { isOpenCase } from "../../domain/case_states.ts";
import { STATE_WORDS } from "./case_words.ts";
import { addressOf, Failure, Instant } from "./parts.tsx";
import { Reviewer, reviewerInWords } from "./reviewers.tsx";
import { useSession } from "./session.tsx";
import type { Alerts, Cases } from "./types.ts";
import { type Asked, useAnswer } from "./use_answer.ts";

type Alert = Alerts["alerts"][number];
type Case = Cases["cases"][number];

/** The most that one page of cases holds. */
const ASKED_FOR = "100";

/** Asks for the cases about lost probes: the open ones and those that ended, the last opened first. */
export function useProbeCases(): Asked<Cases> {
  return useAnswer<Cases>({
    path: addressOf("/v1/cases", { cause: "probes_lost", state: "all", limit: ASKED_FOR }),
  });
}

export function LostProbes({ alert: { probes, created_at }, asked: { loaded, again } }: {
  readonly alert: Alert;
  readonly asked: Asked<Cases>;
}) {
  const byReviewer = Map.groupBy(probes, ({ operator_id }) => operator_id);
  return (
    <>
      <ul class="lost">
        {[...byReviewer].map(([operator, own]) => (
          <li key={operator}>
            <span>
              {operator === null ? "An erased operator" : <Reviewer id={operator} />}
              {own.map(({ probe_id }) => (
                <span key={probe_id}>
                  {", "}
                  <code>{probe_id}</code>
                </span>
              ))}
            </span>
            {operator !== null && loaded.state === "ready" && (
              <FollowUp operator={operator} since={created_at} answer={loaded.body} />
            )}
          </li>
        ))}
      </ul>
      {loaded.state === "failed" && <Failure error={loaded.error} again={again} />}
    </>
  );
}

/** The case of one operator, with the one button that leads on. */
function FollowUp({ operator, since, answer: { cases, next_cursor: next } }: {
  readonly operator: string;
  /** When the alert was raised first: a case that had ended by then is about other probes. */
  readonly since: string;
  readonly answer: Cases;
}) {
  const { signedIn } = useSession();
  const name = reviewerInWords(signedIn, operator);
  const own = cases.filter(({ operator_id }) => operator_id === operator);
  const found = own.find(({ state }) => isOpenCase(state)) ??
    own.find(({ changed_at }) => Date.parse(changed_at) >= Date.parse(since));
  if (found !== undefined) {
    return (
      <>
        <span>
          <CaseInWords found={found} />
        </span>
        <a class="button" href={`/console/cases/${found.case_id}`} aria-label={`Open the case of ${name}`}>
          Open the case
        </a>
      </>
    );
  }
  return (
    <>
      <span>
        {next === null
          ? "No case follows it up. The service opens one within the hour for whoever has scored work of late."
          : "None of the last cases follows it up."}
      </span>
      <a
        class="button"
        href={`/console/operators/${encodeURIComponent(operator)}`}
        aria-label={`Look at the operator ${name}`}
      >
        Look at the operator
      </a>
    </>
  );
}

function CaseInWords({ found: { state, owner, owner_name: name, opened_at, changed_at } }: {
  readonly found: Case;
}) {
  if (!isOpenCase(state)) {
    return (
      <>
        Its case has ended: {STATE_WORDS[state].toLowerCase()}, <Instant at={changed_at} />.
      </>
    );
  }
  return (
    <>
      A case is open, {owner === null ? "unassigned" : (
        <>
          with <bdi>{name ?? "an erased user"}</bdi>
        </>
      )}, since <Instant at={opened_at} />.
    </>
  );
}
