/** Destroys parts of erased operators, and finds those that somebody put back. */
import { sql } from "kysely";
import { type Database, query, type Statement } from "./database.ts";
import { listed } from "./value_list.ts";
import type { EntryPlace } from "./operator_records.ts";
import { chunksOf, readPages } from "./paging.ts";

/** Destroys the parts of some entries of a chain, with their salts. The entries stay. */
export function destroyParts(chain: string, seqs: readonly number[]): Statement {
  return query.updateTable("audit_part").set({ salt: null, data: null }).where("chain", "=", chain)
    .where("seq", "in", listed<number>(seqs)).compile();
}

/** Number of pseudonyms that are looked up together, and of entries in a page. */
const PSEUDONYMS_TOGETHER = 50;
const ENTRIES_IN_PAGE = 200;

interface HeldEntry {
  readonly chain: string;
  readonly seq: number;
}

/**
 * The entries of a family that bear one of these pseudonyms and of which a part is held. Entries of the
 * erasure itself are left out: their parts stay. Does not check whether the entries are intact.
 */
export async function* readHeldEntries(
  database: Database,
  { family, pseudonyms }: { readonly family: string; readonly pseudonyms: readonly string[] },
): AsyncGenerator<readonly EntryPlace[]> {
  for (const chunk of chunksOf(pseudonyms, PSEUDONYMS_TOGETHER)) {
    const list = JSON.stringify(chunk);
    const pages = readPages<HeldEntry>(
      database,
      (after, limit) =>
        sql<HeldEntry>`select e.chain, e.seq from json_each(${list}) as erased
          cross join audit_entry as e indexed by audit_entry_subject on e.subject = erased.value
          where e.chain in (select chain from audit_chain where family = ${family})
            and e.event_type <> 'SUBJECT_ERASED' and (e.chain, e.seq) > (${after?.chain ?? ""}, ${
          after?.seq ?? -1
        })
            and exists (select 1 from audit_part as p where p.chain = e.chain and p.seq = e.seq and p.data is not null)
          order by e.chain, e.seq limit ${limit}`.compile(query),
      ENTRIES_IN_PAGE,
    );
    for await (const page of pages) yield page.map(({ chain, seq }) => [chain, seq]);
  }
}
