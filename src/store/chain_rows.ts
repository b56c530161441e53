/** Queries and changes of a chain's row, apart from the commits of its entries. */
import { type Database, query, type Statement } from "./database.ts";

/** Whether the database holds a chain: it does from the first start on. */
export async function holdsChains(database: Database): Promise<boolean> {
  const rows = await database.read(query.selectFrom("audit_chain").select("chain").limit(1).compile());
  return rows.length > 0;
}

/** Records the size of the newest checkpoint that the system chain holds of a chain. It never decreases. */
export function raiseAnchoredSize(chain: string, size: number): Statement {
  return query.updateTable("audit_chain").set({ anchored_size: size }).where("chain", "=", chain)
    .where("anchored_size", "<", size).compile();
}

/** Moves the index at which a chain is cut. It is a conflict if another process moved it first. */
export function moveCut(
  chain: string,
  { from, to }: { readonly from: number; readonly to: number },
): Statement {
  const moved = query.updateTable("audit_chain").set({ min_index: to })
    .where("chain", "=", chain).where("min_index", "=", from).compile();
  return { ...moved, mustChange: 1 };
}

/** Sets the position of a chain's first entry, counted over all epochs. */
export function setFirstPosition(chain: string, position: number): Statement {
  return query.updateTable("audit_chain").set({ first_position: position }).where("chain", "=", chain)
    .compile();
}
