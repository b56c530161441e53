/**
 * Compares a database's schema with the one that the migrations create in an empty database. A table without
 * one of its rules accepts what the rule refuses, and a foreign trigger writes what no program wrote.
 */
import { sql } from "kysely";
import { type Database, query } from "./database.ts";
import { openEmbedded } from "./embedded.ts";
import { migrate, type Migration, SchemaRefused } from "./migrate.ts";

/** The objects of a schema, by type and name. */
export type SchemaObjects = ReadonlyMap<string, SchemaObject>;

interface SchemaObject {
  readonly type: "table" | "index" | "trigger" | "view";
  readonly name: string;
  /** The table that it belongs to. */
  readonly table: string;
  /** The words of its definition, independent of the version of SQLite. */
  readonly words: string;
}

/** The schema that the migrations create in an empty database. */
export async function expectedSchema(migrations: readonly Migration[]): Promise<SchemaObjects> {
  const database = openEmbedded({ path: ":memory:", onFatal: () => {} });
  try {
    await migrate(database, { migrations, now: 0 });
    return await readSchema(database);
  } finally {
    await database.close();
  }
}

/** A schema as one text, whatever the order in which its objects were made. */
export function schemaText(objects: SchemaObjects): string {
  return [...objects].map(([key, { table, words }]) => `${key}\n${table}\n${words}`).sort().join("\n\n");
}

/** The differences of a schema, and how to mend them. */
export interface SchemaTrouble {
  readonly what: string;
  readonly mend: string;
}

/** null if the schema is the expected one; otherwise names each difference. */
export async function schemaTrouble(
  database: Database,
  expected: SchemaObjects,
): Promise<SchemaTrouble | null> {
  const found = await readSchema(database);
  const lost = lostFaults(found, expected);
  const foreign = [...found].filter(([key, object]) => !expected.has(key) && isRefused(object, expected))
    .map(([, object]) => object);
  const foreignFaults = foreign.map((object) =>
    object.type === "view"
      ? `${objectName(object)} is not this program's`
      : `${objectName(object)} on ${quoteName(object.table)} is not this program's`
  );
  const faults = [...lost, ...foreignFaults];
  if (faults.length === 0) return null;
  const drops = foreign.map(({ type, name }) => `DROP ${type.toUpperCase()} ${quoteName(name)}`);
  const mend = "put the database, or a backup of it, back";
  return {
    what: `the database's schema was altered (${firstFew(faults)})`,
    mend: lost.length === 0 ? `${mend}, or remove what is not this program's (${firstFew(drops)})` : mend,
  };
}

/** @throws {SchemaRefused} if there is a difference. */
export function requireNone(trouble: SchemaTrouble | null): void {
  if (trouble !== null) throw new SchemaRefused(`${trouble.what}: ${trouble.mend}`);
}

/**
 * Faults of missing or changed objects. If a table is missing, the objects that belong to it are not reported
 * too.
 */
function lostFaults(found: SchemaObjects, expected: SchemaObjects): readonly string[] {
  return [...expected].flatMap(([key, object]) => {
    const words = found.get(key)?.words;
    if (words === object.words) return [];
    if (object.type !== "table" && !found.has(keyOf("table", object.table))) return [];
    return [`${objectName(object)} ${words === undefined ? "is missing" : "was changed"}`];
  });
}

/**
 * Whether an unexpected object is refused. A trigger writes, a view answers in a table's name, and a unique
 * index refuses rows. Other tables and indexes belong to a replication or to SQLite, and change nothing.
 */
function isRefused({ type, table, words }: SchemaObject, expected: SchemaObjects): boolean {
  if (type === "trigger" || type === "view") return true;
  return words.startsWith("create unique index") && expected.has(keyOf("table", table));
}

function objectName({ type, name }: SchemaObject): string {
  return `the ${type} ${quoteName(name)}`;
}

const PLAIN_NAME = /^\w+$/;

/** A name in a form that fits on a line: somebody else may have chosen it. */
function quoteName(name: string): string {
  return PLAIN_NAME.test(name) ? name : JSON.stringify(name);
}

const SHOWN_FAULTS = 8;

function firstFew(texts: readonly string[]): string {
  const rest = texts.length - SHOWN_FAULTS;
  return texts.slice(0, SHOWN_FAULTS).join("; ") + (rest > 0 ? `; and ${rest} more` : "");
}

/** Reads the schema without SQLite's own objects, which have no text, or a name that nobody else may use. */
export async function readSchema(database: Database): Promise<SchemaObjects> {
  const rows = await database.read(
    sql<Pick<SchemaObject, "type" | "name"> & { readonly tbl_name: string; readonly sql: string }>`
      SELECT type, name, tbl_name, sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
      ORDER BY rowid`.compile(query),
  );
  return new Map(rows.map(({ type, name, tbl_name: table, sql: text }) => [
    keyOf(type, name),
    { type, name, table, words: wordsOf(text) },
  ]));
}

/** The key of an object. SQLite's names ignore case. */
function keyOf(type: SchemaObject["type"], name: string): string {
  return `${type} ${name.toLowerCase()}`;
}

/** A token: a space or a comment; a text; a quoted name; a word or number; any other character. */
const TOKEN =
  /\s+|--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|('(?:[^']|'')*')|"((?:[^"]|"")*)"|`([^`]*)`|\[([^\]]*)\]|([\w$]+)|([\s\S])/g;

/** A name that means the same without quotes. NULL and similar words would not. */
const NEEDS_NO_QUOTES = /^(?!(?:null|true|false|current_\w+)$)[a-z_]\w*$/i;

/**
 * The words of a definition, separated by single spaces. Versions of SQLite put different quotes around a
 * renamed name, and keep spaces, comments and case as they were written.
 */
function wordsOf(text: string): string {
  const words: string[] = [];
  for (const [, literal, double, backtick, bracket, word, sign] of text.matchAll(TOKEN)) {
    const name = double ?? backtick ?? bracket;
    if (name !== undefined) words.push(NEEDS_NO_QUOTES.test(name) ? name.toLowerCase() : `"${name}"`);
    else if (literal !== undefined) words.push(literal);
    else if (word !== undefined) words.push(word.toLowerCase());
    else if (sign !== undefined) words.push(sign);
  }
  return words.join(" ");
}
