/** The cases: a queue of those that need somebody, with filters that the address keeps. */
import { useLocation } from "preact-iso";
import { CASE_CAUSES } from "../../../domain/case_states.ts";
import { addressOf, Answered, Empty, Pages, View } from "../parts.tsx";
import { CAUSE_WORDS } from "../case_words.ts";
import { CaseRows } from "../case_rows.tsx";
import { OpenAlerts } from "../open_alerts.tsx";
import { Reviewer } from "../reviewers.tsx";
import { useSession } from "../session.tsx";
import type { Cases } from "../types.ts";
import { useAnswer } from "../use_answer.ts";

const PATH = "/console/cases";
const PAGE = "50";

export function CasesView() {
  const { query, route } = useLocation();
  const { signedIn: { user } } = useSession();
  const { state = "", cause = "", owner = "", operator_id: operator = "", cursor = "" } = query;
  const filters = { state, cause, owner, operator_id: operator };
  const asked = useAnswer<Cases>({ path: addressOf("/v1/cases", { ...filters, cursor, limit: PAGE }) });
  const choose = (change: Readonly<Record<string, string>>) =>
    route(addressOf(PATH, { ...filters, ...change }));
  return (
    <View title="Cases">
      <OpenAlerts />
      <div class="filters">
        <div class="field">
          <label for="case-state">Show</label>
          <select
            id="case-state"
            value={state}
            onChange={(event) => choose({ state: event.currentTarget.value })}
          >
            <option value="">Those that need somebody</option>
            <option value="all">All, with those that ended</option>
          </select>
        </div>
        <div class="field">
          <label for="case-cause">Cause</label>
          <select
            id="case-cause"
            value={cause}
            onChange={(event) => choose({ cause: event.currentTarget.value })}
          >
            <option value="">All</option>
            {CASE_CAUSES.map((name) => <option key={name} value={name}>{CAUSE_WORDS[name]}</option>)}
          </select>
        </div>
        {user !== null && (
          <div class="field">
            <label for="case-owner">Owner</label>
            <select
              id="case-owner"
              value={owner}
              onChange={(event) => choose({ owner: event.currentTarget.value })}
            >
              <option value="">Anybody or nobody</option>
              <option value={user.user_id}>Mine</option>
            </select>
          </div>
        )}
      </div>
      {operator !== "" && (
        <p>
          Only those of <Reviewer id={operator} />.{" "}
          <a href={addressOf(PATH, { state, cause, owner })}>Show all</a>
        </p>
      )}
      <Answered asked={asked}>
        {({ cases, next_cursor: next }) =>
          cases.length === 0 && next === null
            ? (
              <Empty>
                <p>{state === "all" ? "There is no such case." : "Nobody needs attention."}</p>
              </Empty>
            )
            : (
              <>
                <CaseRows label="Cases" cases={cases} />
                <Pages path={PATH} query={{ ...filters, ...(cursor === "" ? {} : { cursor }) }} next={next} />
              </>
            )}
      </Answered>
    </View>
  );
}
