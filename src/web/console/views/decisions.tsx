/** Scores and decisions, newest first, of all operators or of one. */
import { useLocation } from "preact-iso";
import { DecisionRows } from "../decision_rows.tsx";
import { addressOf, Answered, Empty, Pages, View } from "../parts.tsx";
import { useSession } from "../session.tsx";
import type { Decisions } from "../types.ts";
import { useAnswer } from "../use_answer.ts";

const PATH = "/console/decisions";
const PAGE = "50";

export function DecisionsView() {
  const { query, route } = useLocation();
  const { signedIn } = useSession();
  const { kind = "", operator_id: operator = "", cursor = "" } = query;
  const asked = useAnswer<Decisions>({
    path: addressOf("/v1/organization/decisions", { kind, operator_id: operator, cursor, limit: PAGE }),
  });
  const filter = (event: SubmitEvent & { readonly currentTarget: HTMLFormElement }) => {
    event.preventDefault();
    const id = String(new FormData(event.currentTarget).get("operator_id") ?? "").trim();
    route(addressOf(PATH, { kind, operator_id: id }));
  };
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
        <form class="filters" onSubmit={filter}>
          <div class="field">
            <label for="of-operator">{signedIn.privacy === "named" ? "Operator id" : "Pseudonym"}</label>
            <input
              id="of-operator"
              name="operator_id"
              key={operator}
              defaultValue={operator}
              autocomplete="off"
              spellcheck={false}
            />
          </div>
          <button type="submit">Show</button>
        </form>
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
