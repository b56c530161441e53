/** What is held of operators who were erased: somebody put it back. */
import { sql } from "kysely";
import { type Database, query } from "./database.ts";
import type { EntryPlace } from "./operator_records.ts";
import { piecesOf, readPages } from "./paging.ts";

/** Pseudonyms that are looked up together, and entries that are told together. */
const PSEUDONYMS_TOGETHER = 50;
const ENTRIES_IN_PAGE = 200;

/** The pseudonyms of whom an entry of a family tells that they were erased. Whether the entries are intact is not looked at. */
export async function readErasedPseudonyms(database: Database, family: string): Promise<readonly string[]> {
  const rows = await database.read(
    query.selectFrom("audit_chain as c").innerJoin("audit_entry as e", "e.chain", "c.chain")
      .select("e.subject").distinct().where("c.family", "=", family)
      .where("e.event_type", "=", "SUBJECT_ERASED").where("e.subject", "is not", null).compile(),
  );
  return rows.map(({ subject }) => subject!);
}

interface HeldEntry {
  readonly chain: string;
  readonly seq: number;
}

/**
 * The entries of a family that bear one of these pseudonyms, and of which a part is held. What an erasure says of itself is
 * held. Whether the entries are intact is not looked at.
 */
export async function* readHeldEntries(
  database: Database,
  { family, pseudonyms }: { readonly family: string; readonly pseudonyms: readonly string[] },
): AsyncGenerator<readonly EntryPlace[]> {
  for (const piece of piecesOf(pseudonyms, PSEUDONYMS_TOGETHER)) {
    const list = JSON.stringify(piece);
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
    // Nothing is held, unless somebody put it back: whoever looks at all of them is to be told of each step.
    yield [];
  }
}

/** How many operators of an organization have one of these pseudonyms. */
export async function countSubjects(
  database: Database,
  { orgId, pseudonyms }: { readonly orgId: string; readonly pseudonyms: readonly string[] },
): Promise<number> {
  const list = JSON.stringify(pseudonyms);
  const [row] = await database.read(
    query.selectFrom("subject").select(({ fn }) => fn.countAll<number>().as("count"))
      .where("org_id", "=", orgId).where(sql<boolean>`pseudonym in (select value from json_each(${list}))`)
      .compile(),
  );
  return row!.count;
}
