/**
 * Rows of subjects, which join operators to their pseudonyms, and the records of a pseudonym. These are read
 * page by page: no read is held open while a copy of them is made.
 */
import { type CompiledQuery, type Selectable, sql } from "kysely";
import type { PartName } from "../evidence/hashes.ts";
import { type Database, query, type Statement } from "./database.ts";
import { listed } from "./value_list.ts";
import { readPages } from "./paging.ts";
import type { SubjectRow } from "./records.ts";
import type { AuditPartTable, SubjectTable } from "./schema.ts";

/** The operator whose records are read. */
export interface SubjectName {
  readonly orgId: string;
  readonly operatorId: string;
}

function pseudonymOf({ orgId, operatorId }: SubjectName) {
  return query.selectFrom("subject").select("pseudonym").where("org_id", "=", orgId)
    .where("operator_id", "=", operatorId);
}

export function pseudonymQuery(name: SubjectName): CompiledQuery<{ readonly pseudonym: string }> {
  return pseudonymOf(name).compile();
}

/** The subjects of all organizations, page by page. */
export function readAllSubjects(database: Database): AsyncGenerator<readonly SubjectRow[]> {
  const rows = query.selectFrom("subject").selectAll().orderBy("org_id").orderBy("operator_id");
  return readPages<SubjectRow>(
    database,
    (after, limit) =>
      (after === null
        ? rows
        : rows.where(sql<boolean>`(org_id, operator_id) > (${after.org_id}, ${after.operator_id})`))
        .limit(limit).compile(),
  );
}

/** The query for all subjects of an organization. */
export function subjectsQuery(orgId: string): CompiledQuery<Selectable<SubjectTable>> {
  return query.selectFrom("subject").selectAll().where("org_id", "=", orgId).compile();
}

/** Inserts a subject, or replaces its pseudonym and its seal. */
export function replaceSubject(row: SubjectRow & { readonly seal: Uint8Array }): Statement {
  const { pseudonym, seal } = row;
  return query.insertInto("subject").values(row)
    .onConflict((conflict) => conflict.columns(["org_id", "operator_id"]).doUpdateSet({ pseudonym, seal }))
    .compile();
}

/** Deletes the subjects of some operators of an organization. */
export function deleteSubjects(orgId: string, operatorIds: readonly string[]): Statement {
  return query.deleteFrom("subject").where("org_id", "=", orgId)
    .where("operator_id", "in", listed<string>(operatorIds)).compile();
}

/** The subjects of an organization, in the order of their operators, page by page. */
export function readSubjects(database: Database, orgId: string): AsyncGenerator<readonly SubjectRow[]> {
  const rows = query.selectFrom("subject").selectAll().where("org_id", "=", orgId).orderBy("operator_id");
  return readPages<SubjectRow>(
    database,
    (after, limit) =>
      (after === null ? rows : rows.where("operator_id", ">", after.operator_id)).limit(limit).compile(),
  );
}

/** The query for the subjects of an organization that still have one of these pseudonyms. */
export function subjectsOfPseudonymsQuery(
  orgId: string,
  pseudonyms: readonly string[],
): CompiledQuery<SubjectRow> {
  return query.selectFrom("subject").selectAll().where("org_id", "=", orgId)
    .where("pseudonym", "in", listed<string>(pseudonyms)).compile();
}

/** The pseudonyms that entries of the given families report as erased. */
export async function readErased(
  database: Database,
  families: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await database.read(
    query.selectFrom("audit_chain as c").innerJoin("audit_entry as e", "e.chain", "c.chain").select(
      "e.subject",
    )
      .where("c.family", "in", families).where("e.event_type", "in", ["SUBJECT_ERASED", "OPERATOR_ERASED"])
      .compile(),
  );
  return new Set(rows.flatMap(({ subject }) => (subject === null ? [] : [subject])));
}

/** Whether an organization has an operator's row without a row for the operator's pseudonym. */
export async function hasNamelessOperator(database: Database, orgId: string): Promise<boolean> {
  const rows = await database.read(
    sql<{ one: number }>`select 1 as one from operator as o where org_id = ${orgId} and not exists (
        select 1 from subject as s where s.org_id = o.org_id and s.operator_id = o.operator_id
      ) limit 1`.compile(query),
  );
  return rows.length > 0;
}

/** A chain that holds entries of a pseudonym. */
export interface SubjectChain {
  readonly chain: string;
  readonly entries: number;
  /** The seq of the newest of these entries. */
  readonly last_seq: number;
  /** The position of the chain's first entry, counted over all epochs of its family. */
  readonly first_position: number;
}

/**
 * The chains of the given families that hold entries of an operator, ordered by family and epoch. Takes one
 * pass over an index.
 */
export function subjectChainsQuery(
  name: SubjectName,
  families: readonly string[],
): CompiledQuery<SubjectChain> {
  return query.selectFrom("audit_entry as e").innerJoin("audit_chain as c", "c.chain", "e.chain")
    .select(({ fn }) => [
      "e.chain",
      "c.first_position",
      fn.countAll<number>().as("entries"),
      fn.max("e.seq").as("last_seq"),
    ])
    .where("e.subject", "=", pseudonymOf(name)).where("c.family", "in", families)
    .groupBy("e.chain").orderBy("c.family").orderBy("c.epoch").compile();
}

/** An entry as it is stored, with its held parts. It is not checked whether it is intact. */
export interface SubjectEntry {
  readonly chain: string;
  readonly seq: number;
  readonly id: string;
  readonly hash: Uint8Array;
  readonly eventType: string;
  readonly timestamp: string;
  /** The text that was hashed. */
  readonly text: string;
  readonly parts: ReadonlyMap<PartName, { readonly salt: Uint8Array; readonly text: string }>;
}

export interface SubjectPage {
  readonly chain: string;
  readonly pseudonym: string;
  /** Only entries with a greater seq; -1 to start with the first. */
  readonly after: number;
  /** The seq of the last entry to read. */
  readonly last: number;
  readonly limit: number;
}

/**
 * The next entries of a pseudonym in one chain, all of one state of the database.
 * @returns null if the operator does not have this pseudonym any more.
 */
export async function readSubjectEntries(
  database: Database,
  name: SubjectName,
  { chain, pseudonym, after, last, limit }: SubjectPage,
): Promise<readonly SubjectEntry[] | null> {
  const entries = query.selectFrom("audit_entry").where("chain", "=", chain).where("subject", "=", pseudonym)
    .where("seq", ">", after).where("seq", "<=", last).orderBy("seq").limit(limit);
  const [[known], rows, parts] = await database.snapshot([
    pseudonymQuery(name),
    entries.select(["chain", "seq", "id", "entry_hash", "event_type", "ts", "body"]).compile(),
    query.selectFrom("audit_part").select(["seq", "name", "salt", "data"]).where("chain", "=", chain)
      .where("seq", "in", query.selectFrom(entries.select("seq").as("page")).select("seq"))
      .orderBy("seq").orderBy("name").compile(),
  ]);
  if (known?.pseudonym !== pseudonym) return null;
  const partsOf = Map.groupBy(parts, ({ seq }) => seq);
  return rows.map(({ chain, seq, id, entry_hash, event_type, ts, body }) => ({
    chain,
    seq,
    id,
    hash: entry_hash,
    eventType: event_type,
    timestamp: ts,
    text: body,
    parts: heldParts(partsOf.get(seq) ?? []),
  }));
}

/** Query for the given entries that are still stored. */
export function storedSeqsQuery(
  chain: string,
  seqs: readonly number[],
): CompiledQuery<{ readonly seq: number }> {
  return query.selectFrom("audit_entry").select("seq").where("chain", "=", chain)
    .where("seq", "in", listed<number>(seqs)).compile();
}

type PartRow = Pick<Selectable<AuditPartTable>, "name" | "salt" | "data">;

function heldParts(parts: readonly PartRow[]): SubjectEntry["parts"] {
  return new Map(
    parts.flatMap(({ name, salt, data }) =>
      salt === null || data === null ? [] : [[name as PartName, { salt, text: data }] as const]
    ),
  );
}
