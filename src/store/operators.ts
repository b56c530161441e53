/** Reads over operators: one with its state, a page of them, and what the organization rule reads of all. */
import { type CompiledQuery, type Selectable, sql } from "kysely";
import type { OperatorSort } from "../domain/operator.ts";
import { query } from "./database.ts";
import type { OperatorNames } from "./interactions.ts";
import type { OperatorFigures } from "./records.ts";
import type { OperatorTable } from "./schema.ts";

export type StoredOperator = Selectable<OperatorTable>;

export function operatorQuery(orgId: string, operatorId: string): CompiledQuery<StoredOperator> {
  return query.selectFrom("operator").selectAll().where("org_id", "=", orgId)
    .where("operator_id", "=", operatorId).compile();
}

/** The columns that an index holds in whole, so that the pass over an organization reads no table. */
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
  "digest",
  "seal",
] as const;

/** Every operator of an organization, as the organization rule reads it. */
export function operatorFiguresQuery(orgId: string): CompiledQuery<OperatorFigures> {
  return query.selectFrom("operator").select(FIGURE_COLUMNS).where("org_id", "=", orgId).compile();
}

/** Where a page begins: after this row in the page's order. */
export interface PageStart {
  /** Of the column that the order goes by; the operator's id where it goes by that alone. */
  readonly value: number | string;
  readonly operatorId: string;
}

export interface PageOptions {
  readonly sort: OperatorSort;
  /** JIS from, and below; null is open. */
  readonly jis: readonly [from: number | null, below: number | null];
  readonly after: PageStart | null;
  readonly limit: number;
}

const ORDERS = {
  "operator_id": ["operator_id", "asc"],
  "jis": ["jis", "asc"],
  "-jis": ["jis", "desc"],
  "last_interaction_at": ["t1", "asc"],
} as const satisfies Record<OperatorSort, readonly ["operator_id" | "jis" | "t1", "asc" | "desc"]>;

/** The value by which an order places a row. */
export function orderValue(sort: OperatorSort, row: StoredOperator): number | string {
  return row[ORDERS[sort][0]];
}

/** A page of an organization's operators, to be read; equal values go by the id, in the same direction, as one index has them. */
export function operatorsPageQuery(orgId: string, options: PageOptions): CompiledQuery<StoredOperator> {
  return operatorsPage(orgId, options).compile();
}

/** The names on the same page, for a query beside it. */
export function namesOnPage(orgId: string, options: PageOptions): OperatorNames {
  return sql`(select operator_id as value from ${operatorsPage(orgId, options)})`;
}

function operatorsPage(orgId: string, { sort, jis: [from, below], after, limit }: PageOptions) {
  const [column, direction] = ORDERS[sort];
  let page = query.selectFrom("operator").selectAll().where("org_id", "=", orgId);
  if (from !== null) page = page.where("jis", ">=", from);
  if (below !== null) page = page.where("jis", "<", below);
  if (after !== null) {
    const { value, operatorId } = after;
    const comparison = sql.raw(direction === "asc" ? ">" : "<");
    page = page.where(
      sql<boolean>`(${sql.ref(column)}, operator_id) ${comparison} (${value}, ${operatorId})`,
    );
  }
  return page.orderBy(column, direction).orderBy("operator_id", direction).limit(limit);
}
