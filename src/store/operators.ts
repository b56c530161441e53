/**
 * Rows of operators: one with its state, a page of them, and the figures of all for the organization rule.
 */
import { type CompiledQuery, type Selectable, sql } from "kysely";
import type { OperatorSort, VerdictStatus } from "../domain/enums.ts";
import { query, type Statement } from "./database.ts";
import type { OperatorNames } from "./interactions.ts";
import { listed } from "./value_list.ts";
import type { OperatorFigures } from "./records.ts";
import type { OperatorTable } from "./schema.ts";

export type StoredOperator = Selectable<OperatorTable>;

export function operatorQuery(orgId: string, operatorId: string): CompiledQuery<StoredOperator> {
  return query.selectFrom("operator").selectAll().where("org_id", "=", orgId)
    .where("operator_id", "=", operatorId).compile();
}

/** The query for all operators of an organization, with their states. */
export function operatorsQuery(orgId: string): CompiledQuery<StoredOperator> {
  return query.selectFrom("operator").selectAll().where("org_id", "=", orgId).compile();
}

/** Deletes some operators of an organization. */
export function deleteOperators(orgId: string, operatorIds: readonly string[]): Statement {
  return query.deleteFrom("operator").where("org_id", "=", orgId)
    .where("operator_id", "in", listed<string>(operatorIds)).compile();
}

/** Columns that one index holds completely, so that a pass over an organization does not read the table. */
const FIGURE_COLUMNS = [
  "org_id",
  "operator_id",
  "domain",
  "position",
  "jis",
  "n",
  "t0",
  "t1",
  "tcrit",
  "crit_count",
  "share_hs",
  "share_crit",
  "verdict",
  "digest",
  "seal",
  "team",
] as const;

/** The operators of an organization with an interaction since an instant, epoch milliseconds, by name. */
export function activeOperatorsQuery(
  orgId: string,
  since: number,
): CompiledQuery<{ readonly operator_id: string }> {
  return query.selectFrom("operator").select("operator_id").where("org_id", "=", orgId)
    .where("t1", ">=", since).orderBy("operator_id").compile();
}

/** The figures of every operator of an organization, for the organization rule. */
export function operatorFiguresQuery(orgId: string): CompiledQuery<OperatorFigures> {
  return query.selectFrom("operator").select(FIGURE_COLUMNS).where("org_id", "=", orgId).compile();
}

/**
 * The query for the operators whose score or verdict is no longer that of their latest interaction, because a label
 * came after it; with their states. `unjudged` asks for those without a verdict, too. Takes one index look-up for
 * each operator.
 */
export function movedOperatorsQuery(
  orgId: string,
  { unjudged }: { readonly unjudged: boolean },
): CompiledQuery<StoredOperator> {
  const isMoved = sql<boolean>`(latest.jis <> operator.jis or latest.verdict is not operator.verdict${
    unjudged ? sql` or operator.verdict is null` : sql``
  })`;
  // The index is named: the planner prefers the whole table, because the verdict is not in the index.
  return sql<StoredOperator>`select operator.* from operator
    cross join interaction as latest indexed by interaction_operator
      on latest.org_id = operator.org_id and latest.operator_id = operator.operator_id
        and latest.t1 = operator.t1 and latest.position = operator.position
    where operator.org_id = ${orgId} and ${isMoved}`.compile(query);
}

/** The start of a page: the row before it in the page's order. */
export interface PageStart {
  /** Value of the column that the order uses; the name if the order uses the name only. */
  readonly value: number | string;
  /** The operator's id, or the pseudonym if the page is in the order of pseudonyms. */
  readonly name: string;
}

export interface PageOptions {
  readonly sort: OperatorSort;
  /** JIS range: lower bound (inclusive) and upper bound (exclusive); null if open. */
  readonly jis: readonly [from: number | null, below: number | null];
  /** Only operators with this verdict; a row without one counts as undetermined. Null for all. */
  readonly verdict: VerdictStatus | null;
  /** Only operators in this team; null for all. */
  readonly team: string | null;
  /** Only operators whose name, as the order has it, contains this text in upper or lower case; null for all. */
  readonly part: string | null;
  readonly after: PageStart | null;
  readonly limit: number;
  /** Whether pseudonyms take the place of ids in the order, so that it tells nothing of the ids. */
  readonly byPseudonym: boolean;
}

const ORDERS = {
  "operator_id": ["operator_id", "asc"],
  "-operator_id": ["operator_id", "desc"],
  "jis": ["jis", "asc"],
  "-jis": ["jis", "desc"],
  "last_interaction_at": ["t1", "asc"],
  "-last_interaction_at": ["t1", "desc"],
  "verdict": ["verdict", "asc"],
  "-verdict": ["verdict", "desc"],
} as const satisfies Record<
  OperatorSort,
  readonly ["operator_id" | "jis" | "t1" | "verdict", "asc" | "desc"]
>;

/** More than the JIS of two operators can differ: it keeps the verdicts apart in one number. */
const VERDICT_STEP = 1_000;
const VERDICT_STEPS: Readonly<Record<VerdictStatus, number>> = {
  non_compliant: 0,
  undetermined: VERDICT_STEP,
  compliant: 2 * VERDICT_STEP,
};

/** The order by verdict compares this number: the verdict, from the worst on, then the JIS. A row without a verdict counts as undetermined. */
const byVerdict = sql<number>`operator.jis + case operator.verdict
  when 'non_compliant' then ${sql.lit(VERDICT_STEPS.non_compliant)}
  when 'compliant' then ${sql.lit(VERDICT_STEPS.compliant)}
  else ${sql.lit(VERDICT_STEPS.undetermined)} end`;

/** An operator on a page. */
type OperatorOnPage = StoredOperator & {
  /** The pseudonym or the id, whichever the order uses; null for an operator whose pseudonym is in no row. */
  readonly name: string | null;
};

/** The start of the page that begins after a row, which has a name. */
export function startAfter(row: OperatorOnPage, { sort }: Pick<PageOptions, "sort">): PageStart {
  const [column, name] = [ORDERS[sort][0], row.name!];
  switch (column) {
    case "operator_id":
      return { value: name, name };
    case "verdict":
      return { value: row.jis + VERDICT_STEPS[(row.verdict ?? "undetermined") as VerdictStatus], name };
    default:
      return { value: row[column], name };
  }
}

/**
 * The query for a page of an organization's operators. Equal values are sorted by id in the same direction,
 * so that one index serves the order. The orders of pseudonyms and of verdicts have no index. A part of a name is looked
 * for along the order: a part that few have takes a pass over all operators.
 */
export function operatorsPageQuery(orgId: string, options: PageOptions): CompiledQuery<OperatorOnPage> {
  return operatorsPage(orgId, options).compile();
}

/** The ids of the operators on the same page, as a table expression for another query. */
export function namesOnPage(orgId: string, options: PageOptions): OperatorNames {
  return sql`(select operator_id as value from ${operatorsPage(orgId, options)})`;
}

function operatorsPage(
  orgId: string,
  { sort, jis: [from, below], verdict, team, part, after, limit, byPseudonym }: PageOptions,
) {
  const [sorted, direction] = ORDERS[sort];
  const name = sql.ref<string | null>(byPseudonym ? "subject.pseudonym" : "operator.operator_id");
  const column = sorted === "operator_id"
    ? name
    : sorted === "verdict"
    ? byVerdict
    : sql.ref<number>(`operator.${sorted}`);
  const all = query.selectFrom("operator").where("operator.org_id", "=", orgId)
    .$if(
      byPseudonym,
      (operators) =>
        operators.leftJoin("subject", (join) =>
          join.onRef("subject.org_id", "=", "operator.org_id")
            .onRef("subject.operator_id", "=", "operator.operator_id")),
    );
  let page = all;
  if (from !== null) page = page.where("jis", ">=", from);
  if (below !== null) page = page.where("jis", "<", below);
  if (verdict === "undetermined") {
    page = page.where(sql<boolean>`ifnull(verdict, 'undetermined') = ${verdict}`);
  } else if (verdict !== null) page = page.where("verdict", "=", verdict);
  if (team !== null) page = page.where("team", "=", team);
  // Names have no letters beyond ASCII, whose case alone `lower` knows. `like` would give `_` a meaning.
  if (part !== null) page = page.where(sql<boolean>`instr(lower(${name}), lower(${part})) > 0`);
  if (after !== null) {
    const comparison = sql.raw(direction === "asc" ? ">" : "<");
    page = page.where(sql<boolean>`(${column}, ${name}) ${comparison} (${after.value}, ${after.name})`);
  }
  const first = page.orderBy(column, direction).orderBy(name, direction).limit(limit);
  if (sorted !== "verdict") return first.selectAll("operator").select(name.as("name"));
  // No index has this order: an index alone is passed over, and the states are read of this page only.
  return all.where("operator.operator_id", "in", first.select("operator.operator_id"))
    .orderBy(column, direction).orderBy(name, direction).selectAll("operator").select(name.as("name"));
}
