/** All operators, page by page: searched by a part of a name, by verdict and band, in an order. */
import { useLocation } from "preact-iso";
import { BANDS, OPERATOR_SORTS, VERDICT_STATUSES } from "../../../domain/enums.ts";
import { nameInWords } from "../../../pages/wording.ts";
import { VERDICT_WORDS } from "../../../scoring/verdict_words.ts";
import { Choice, Search } from "../filters.tsx";
import { Folded } from "../folded.tsx";
import { OperatorRows } from "../operator_rows.tsx";
import { addressOf, Answered, Empty, Figure, Pages, View } from "../parts.tsx";
import { FindByName } from "../reviewers.tsx";
import { useSession } from "../session.tsx";
import type { Operators } from "../types.ts";
import { useAnswer } from "../use_answer.ts";

const PATH = "/console/operators";
const PAGE = "50";
/** The list begins with the operators who need somebody. */
const FIRST = "verdict";

export function OperatorsView() {
  const { query, route } = useLocation();
  const isNamed = useSession().signedIn.privacy === "named";
  const { verdict = "", band = "", team = "", q = "", sort = "", cursor = "" } = query;
  const filters = { q, verdict, band, team };
  const served = OPERATOR_SORTS.find((name) => name === sort) ?? FIRST;
  const asked = useAnswer<Operators>({
    path: addressOf("/v1/organization/operators", {
      ...filters,
      sort: served,
      cursor,
      limit: PAGE,
      include: "sparkline",
    }),
  });
  const choose = (change: Readonly<Record<string, string>>) =>
    route(addressOf(PATH, { ...filters, sort, ...change }));
  const choices = [
    ["Name", q],
    [
      "Verdict",
      VERDICT_STATUSES.filter((name) => name === verdict).map((name) => VERDICT_WORDS[name]).join(),
    ],
    ["Band", band === "" ? "" : nameInWords(band)],
  ] as const;
  return (
    <View title="Operators">
      <Folded summary="Filter" choices={choices}>
        <div class="filters">
          <Search
            label={isNamed ? "Part of the name" : "Part of the pseudonym"}
            value={q}
            onSent={(part) => choose({ q: part })}
          />
          <Choice
            id="verdict"
            label="Verdict"
            value={verdict}
            options={[["", "All"], ...VERDICT_STATUSES.map((name) => [name, VERDICT_WORDS[name]] as const)]}
            onChosen={(chosen) => choose({ verdict: chosen })}
          />
          <Choice
            id="band"
            label="Band"
            value={band}
            options={[["", "All"], ...BANDS.map((name) => [name, nameInWords(name)] as const)]}
            onChosen={(chosen) => choose({ band: chosen })}
          />
        </div>
      </Folded>
      {team !== "" && (
        <p>
          Team <bdi>{team}</bdi> alone.{" "}
          <a href={addressOf(PATH, { ...filters, team: "", sort })}>Show all teams</a>
        </p>
      )}
      <FindByName />
      <p role="status" class="small">
        {asked.loaded.state === "ready" && <Found {...asked.loaded.body} isFirst={cursor === ""} />}
      </p>
      <Answered asked={asked}>
        {({ operators, next_cursor: next }) =>
          operators.length === 0
            ? (
              <Empty>
                <p>{emptyInWords({ ...filters, name: isNamed ? "name" : "pseudonym" })}</p>
              </Empty>
            )
            : (
              <>
                <OperatorRows
                  label="Operators"
                  operators={operators}
                  ordering={{
                    ...{ path: PATH, query: filters, sort, first: FIRST, served, offered: OPERATOR_SORTS },
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

/** The number of operators in the answer, and whether they are all. */
function Found({ count, next_cursor: next, isFirst }: Operators & { readonly isFirst: boolean }) {
  return (
    <>
      <Figure of="count" value={count} /> {count === 1 ? "operator" : "operators"}
      {isFirst && next === null ? "" : " on this page"}
      {next === null ? "." : "; more follow."}
    </>
  );
}

function emptyInWords({ q, verdict, band, team, name }: {
  readonly q: string;
  readonly verdict: string;
  readonly band: string;
  readonly team: string;
  /** The word for what the search looks in. */
  readonly name: string;
}): string {
  if (team !== "") {
    return q + verdict + band === ""
      ? "No operator is in this team."
      : "No operator of this team passes these filters.";
  }
  if (q !== "") {
    return verdict === "" && band === ""
      ? `No operator has a ${name} with “${q}” in it.`
      : `No operator with “${q}” in the ${name} passes these filters.`;
  }
  if (verdict === "") return band === "" ? "Nobody was scored yet." : "No operator is in this band.";
  return band === "" ? "No operator has this verdict." : "No operator has this verdict in this band.";
}
