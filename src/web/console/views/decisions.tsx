/** Scores and decisions, newest first, of all operators or of one, and of a time. */
import { useLocation } from "preact-iso";
import { DecisionRows } from "../decision_rows.tsx";
import { ChosenOnPaper, DayFields, daysInWords } from "../filters.tsx";
import { Folded } from "../folded.tsx";
import { OperatorField } from "../of_operator.tsx";
import { addressOf, Answered, Empty, Pages, View } from "../parts.tsx";
import { reviewerInWords } from "../reviewers.tsx";
import { useSession } from "../session.tsx";
import type { Decisions } from "../types.ts";
import { useAnswer } from "../use_answer.ts";

const PATH = "/console/decisions";
const PAGE = "50";
const NEWEST = "-timestamp";

const KINDS = [
  ["", "Scores and decisions"],
  ["score", "Scores"],
  ["decision", "Decision risk scores"],
] as const;

type Sent = SubmitEvent & { readonly currentTarget: HTMLFormElement };

export function DecisionsView() {
  const { query, route } = useLocation();
  const { signedIn } = useSession();
  const { kind = "", operator_id = "", since = "", until = "", sort = "", cursor = "" } = query;
  const filters = { kind, operator_id, since, until };
  const asked = useAnswer<Decisions>({
    path: addressOf("/v1/organization/decisions", { ...filters, cursor, limit: PAGE }),
  });
  const choose = (event: Sent) => {
    event.preventDefault();
    const fields = new FormData(event.currentTarget);
    const chosen = Object.keys(filters).map((name) => [name, String(fields.get(name) ?? "").trim()] as const);
    route(addressOf(PATH, { ...Object.fromEntries(chosen), sort }));
  };
  const open = (event: Sent) => {
    event.preventDefault();
    const id = String(new FormData(event.currentTarget).get("id") ?? "").trim();
    if (id !== "") route(`${PATH}/${encodeURIComponent(id)}`);
  };
  const choices = [
    ["Kind", kind === "" ? "" : KINDS.find(([name]) => name === kind)?.[1] ?? kind],
    ["Operator", operator_id === "" ? "" : reviewerInWords(signedIn, operator_id)],
    ...daysInWords(since, until),
  ] as const;
  return (
    <View title="Decisions">
      <ChosenOnPaper choices={choices} />
      <Folded summary="Filter" choices={choices}>
        <form class="filters" onSubmit={choose}>
          <div class="field">
            <label for="kind">Kind</label>
            <select id="kind" name="kind" key={kind}>
              {KINDS.map(([name, words]) => (
                <option key={name} value={name} selected={name === kind}>{words}</option>
              ))}
            </select>
          </div>
          <OperatorField operator={operator_id} />
          <DayFields since={since} until={until} />
          <button type="submit">Show</button>
        </form>
      </Folded>
      <Folded summary="Replay one by its id">
        <form class="filters apart" onSubmit={open}>
          <div class="field">
            <label for="record">Session or decision id</label>
            <input id="record" name="id" autocomplete="off" spellcheck={false} />
          </div>
          <button type="submit">Replay</button>
        </form>
      </Folded>
      <Answered asked={asked}>
        {({ decisions, next_cursor: next }) =>
          decisions.length === 0 && next === null
            ? (
              <Empty>
                <p>
                  {since === "" && until === ""
                    ? "Nothing was scored, or nothing of it is left."
                    : "Nothing was scored in this time, or nothing of it is left."}
                </p>
                <p>
                  <a href="/docs#postScore">Send a first interaction</a>, or take the filters away.
                </p>
              </Empty>
            )
            : (
              <>
                <DecisionRows
                  label="Decisions"
                  decisions={decisions}
                  ordering={{
                    ...{ path: PATH, query: filters, sort, first: NEWEST, served: NEWEST },
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
