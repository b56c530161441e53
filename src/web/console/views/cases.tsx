/** The cases: a queue of those that need somebody, with filters that the address keeps. */
import { useLocation } from "preact-iso";
import { CASE_CAUSES } from "../../../domain/case_states.ts";
import { CaseRows } from "../case_rows.tsx";
import { OpenAlerts } from "../open_alerts.tsx";
import { CAUSE_WORDS } from "../case_words.ts";
import { Choice } from "../filters.tsx";
import { Folded } from "../folded.tsx";
import { addressOf, Answered, Empty, Pages, View } from "../parts.tsx";
import { Reviewer } from "../reviewers.tsx";
import { useSession } from "../session.tsx";
import { BELOW_PATH } from "../state_line.tsx";
import type { Cases } from "../types.ts";
import { useAnswer } from "../use_answer.ts";

const PATH = "/console/cases";
const PAGE = "50";
/** As on the first view: those who are below the threshold first, then the last opened. */
const FIRST = "need";
const NEWEST = "-opened_at";

export function CasesView() {
  const { query, route } = useLocation();
  const { signedIn: { user } } = useSession();
  const { state = "", cause = "", owner = "", operator_id: operator = "", sort = "", cursor = "" } = query;
  const filters = { state, cause, owner, operator_id: operator };
  const asked = useAnswer<Cases>({
    path: addressOf("/v1/cases", { include: "present", ...filters, cursor, limit: PAGE }),
  });
  const choose = (change: Readonly<Record<string, string>>) =>
    route(addressOf(PATH, { ...filters, sort, ...change }));
  const choices = [
    ["Show", state],
    ["Cause", CASE_CAUSES.filter((name) => name === cause).map((name) => CAUSE_WORDS[name]).join()],
    ["Owner", owner !== "" && owner === user?.user_id ? "mine" : owner],
  ] as const;
  return (
    <View title="Cases">
      <OpenAlerts />
      <Folded summary="Filter" choices={choices}>
        <div class="filters">
          <Choice
            id="case-state"
            label="Show"
            value={state}
            options={[["", "Those that need somebody"], ["all", "All, with those that ended"]]}
            onChosen={(chosen) => choose({ state: chosen })}
          />
          <Choice
            id="case-cause"
            label="Cause"
            value={cause}
            options={[["", "All"], ...CASE_CAUSES.map((name) => [name, CAUSE_WORDS[name]] as const)]}
            onChosen={(chosen) => choose({ cause: chosen })}
          />
          {user !== null && (
            <Choice
              id="case-owner"
              label="Owner"
              value={owner}
              options={[["", "Anybody or nobody"], [user.user_id, "Mine"]]}
              onChosen={(chosen) => choose({ owner: chosen })}
            />
          )}
        </div>
      </Folded>
      {operator !== "" && (
        <p>
          Only those of <Reviewer id={operator} />.{" "}
          <a href={addressOf(PATH, { state, cause, owner, sort })}>Show all</a>
        </p>
      )}
      <Answered asked={asked}>
        {({ cases, next_cursor: next }) =>
          cases.length === 0 && next === null
            ? (
              <Empty>
                <p>
                  {state === "all" || cause !== "" || owner !== "" || operator !== ""
                    ? "There is no such case."
                    : "No case is open."} The service looks once an hour for whom to open one;{" "}
                  <a href={BELOW_PATH}>who is below the threshold</a> stands in Operators at once.
                </p>
              </Empty>
            )
            : (
              <>
                <CaseRows
                  label="Cases"
                  cases={cases}
                  again={asked.again}
                  ordering={{
                    ...{ path: PATH, query: filters, sort, first: FIRST, served: NEWEST },
                    isWhole: cursor === "" && next === null,
                  }}
                />
                <Pages
                  path={PATH}
                  query={{ ...filters, sort, ...(cursor === "" ? {} : { cursor }) }}
                  next={next}
                />
              </>
            )}
      </Answered>
    </View>
  );
}
