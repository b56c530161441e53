/** Scores and decisions, newest first, of all operators or of one, and of a time. */
import { useLocation } from "preact-iso";
import { DecisionRows } from "../decision_rows.tsx";
import { Choice, ChosenOnPaper, Days, daysInWords, Fold } from "../filters.tsx";
import { OfOperator } from "../of_operator.tsx";
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

export function DecisionsView() {
  const { query, route } = useLocation();
  const { signedIn } = useSession();
  const { kind = "", operator_id = "", since = "", until = "", sort = "", cursor = "" } = query;
  const filters = { kind, operator_id, since, until };
  const asked = useAnswer<Decisions>({
    path: addressOf("/v1/organization/decisions", { ...filters, cursor, limit: PAGE }),
  });
  const choose = (change: Readonly<Record<string, string>>) =>
    route(addressOf(PATH, { ...filters, sort, ...change }));
  const open = (event: SubmitEvent & { readonly currentTarget: HTMLFormElement }) => {
    event.preventDefault();
    const id = String(new FormData(event.currentTarget).get("id") ?? "").trim();
    if (id !== "") route(`${PATH}/${encodeURIComponent(id)}`);
  };
  return (
    <View title="Decisions">
      <ChosenOnPaper
        choices={[
          ["Kind", kind === "" ? "" : KINDS.find(([name]) => name === kind)?.[1] ?? kind],
          ["Operator", operator_id === "" ? "" : reviewerInWords(signedIn, operator_id)],
          ...daysInWords(since, until),
        ]}
      />
      <Fold label="Filter, or replay one" isUsed={kind + operator_id + since + until !== ""}>
        <div class="filters">
          <Choice
            id="kind"
            label="Kind"
            value={kind}
            options={KINDS}
            onChosen={(chosen) => choose({ kind: chosen })}
          />
          <OfOperator operator={operator_id} onChosen={(id) => choose({ operator_id: id })} />
          <Days since={since} until={until} onSent={choose} />
        </div>
        <form class="filters apart" onSubmit={open}>
          <div class="field">
            <label for="record">Session or decision id</label>
            <input id="record" name="id" autocomplete="off" spellcheck={false} />
          </div>
          <button type="submit">Replay</button>
        </form>
      </Fold>
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
