/** All operators, page by page, with a choice of the verdict, the band and the order. */
import { useLocation } from "preact-iso";
import { BANDS, VERDICT_STATUSES } from "../../../domain/enums.ts";
import { nameInWords } from "../../../pages/wording.ts";
import { VERDICT_WORDS } from "../../../scoring/verdict_words.ts";
import { OperatorRows } from "../operator_rows.tsx";
import { addressOf, Answered, Empty, Pages, View } from "../parts.tsx";
import { FindByName } from "../reviewers.tsx";
import { useSession } from "../session.tsx";
import type { Operators } from "../types.ts";
import { useAnswer } from "../use_answer.ts";

const PATH = "/console/operators";
const PAGE = "50";

const SORTS = [
  ["operator_id", "Name"],
  ["jis", "Lowest JIS first"],
  ["-jis", "Highest JIS first"],
  ["last_interaction_at", "Longest away first"],
] as const;

export function OperatorsView() {
  const { query, route } = useLocation();
  const isNamed = useSession().signedIn.privacy === "named";
  const { verdict = "", band = "", sort = "operator_id", cursor = "" } = query;
  const asked = useAnswer<Operators>({
    path: addressOf("/v1/organization/operators", {
      verdict,
      band,
      sort,
      cursor,
      limit: PAGE,
      include: "sparkline",
    }),
  });
  const choose = (change: Readonly<Record<string, string>>) =>
    route(addressOf(PATH, { verdict, band, sort, ...change }));
  const find = (event: SubmitEvent & { readonly currentTarget: HTMLFormElement }) => {
    event.preventDefault();
    const id = String(new FormData(event.currentTarget).get("operator_id") ?? "").trim();
    if (id !== "") route(`${PATH}/${encodeURIComponent(id)}`);
  };
  return (
    <View title="Operators">
      <div class="filters">
        <div class="field">
          <label for="verdict">Verdict</label>
          <select
            id="verdict"
            value={verdict}
            onChange={(event) => choose({ verdict: event.currentTarget.value })}
          >
            <option value="">All</option>
            {VERDICT_STATUSES.map((name) => <option key={name} value={name}>{VERDICT_WORDS[name]}</option>)}
          </select>
        </div>
        <div class="field">
          <label for="band">Band</label>
          <select id="band" value={band} onChange={(event) => choose({ band: event.currentTarget.value })}>
            <option value="">All</option>
            {BANDS.map((name) => <option key={name} value={name}>{nameInWords(name)}</option>)}
          </select>
        </div>
        <div class="field">
          <label for="sort">Order</label>
          <select id="sort" value={sort} onChange={(event) => choose({ sort: event.currentTarget.value })}>
            {SORTS.map(([value, label]) => (
              <option key={value} value={value}>
                {value === "operator_id" && !isNamed ? "Pseudonym" : label}
              </option>
            ))}
          </select>
        </div>
        <form class="filters" onSubmit={find}>
          <div class="field">
            <label for="operator-id">{isNamed ? "Operator id" : "Pseudonym"}</label>
            <input id="operator-id" name="operator_id" autocomplete="off" spellcheck={false} />
          </div>
          <button type="submit">Open</button>
        </form>
      </div>
      <FindByName />
      <Answered asked={asked}>
        {({ operators, next_cursor: next }) =>
          operators.length === 0
            ? (
              <Empty>
                <p>{emptyInWords({ verdict, band })}</p>
              </Empty>
            )
            : (
              <>
                <OperatorRows label="Operators" operators={operators} />
                <Pages
                  path={PATH}
                  query={{ verdict, band, sort, ...(cursor === "" ? {} : { cursor }) }}
                  next={next}
                />
              </>
            )}
      </Answered>
    </View>
  );
}

function emptyInWords({ verdict, band }: { readonly verdict: string; readonly band: string }): string {
  if (verdict === "") return band === "" ? "Nobody was scored yet." : "No operator is in this band.";
  return band === "" ? "No operator has this verdict." : "No operator has this verdict in this band.";
}
