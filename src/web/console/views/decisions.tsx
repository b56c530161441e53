/** Scores and decisions, newest first, of all operators or of one. */
import { useLocation } from "preact-iso";
import { DecisionRows } from "../decision_rows.tsx";
import { OfOperator } from "../of_operator.tsx";
import { addressOf, Answered, Empty, Pages, View } from "../parts.tsx";
import type { Decisions } from "../types.ts";
import { useAnswer } from "../use_answer.ts";

const PATH = "/console/decisions";
const PAGE = "50";

export function DecisionsView() {
  const { query, route } = useLocation();
  const { kind = "", operator_id: operator = "", cursor = "" } = query;
  const asked = useAnswer<Decisions>({
    path: addressOf("/v1/organization/decisions", { kind, operator_id: operator, cursor, limit: PAGE }),
  });
  const open = (event: SubmitEvent & { readonly currentTarget: HTMLFormElement }) => {
    event.preventDefault();
    const id = String(new FormData(event.currentTarget).get("id") ?? "").trim();
    if (id !== "") route(`${PATH}/${encodeURIComponent(id)}`);
  };
  return (
    <View title="Decisions">
      <div class="filters">
        <div class="field">
          <label for="kind">Kind</label>
          <select
            id="kind"
            value={kind}
            onChange={(event) =>
              route(addressOf(PATH, { kind: event.currentTarget.value, operator_id: operator }))}
          >
            <option value="">Scores and decisions</option>
            <option value="score">Scores</option>
            <option value="decision">Decision risk scores</option>
          </select>
        </div>
        <OfOperator
          operator={operator}
          onChosen={(id) => route(addressOf(PATH, { kind, operator_id: id }))}
        />
        <form class="filters" onSubmit={open}>
          <div class="field">
            <label for="record">Session or decision id</label>
            <input id="record" name="id" autocomplete="off" spellcheck={false} />
          </div>
          <button type="submit">Replay</button>
        </form>
      </div>
      <Answered asked={asked}>
        {({ decisions, next_cursor: next }) =>
          decisions.length === 0 && next === null
            ? (
              <Empty>
                <p>Nothing was scored, or nothing of it is left.</p>
                <p>
                  <a href="/docs#postScore">Send a first interaction</a>, or take the filters away.
                </p>
              </Empty>
            )
            : (
              <>
                <DecisionRows label="Decisions" decisions={decisions} />
                <Pages
                  path={PATH}
                  query={{ kind, operator_id: operator, ...(cursor === "" ? {} : { cursor }) }}
                  next={next}
                />
              </>
            )}
      </Answered>
    </View>
  );
}
