/**
 * Databases as the program of an earlier schema step left them: the rows of today's service without what
 * later steps added, under the column names of that time.
 */
import assert from "node:assert/strict";
import { MIGRATIONS } from "../migrations/mod.ts";
import type { Database, Statement } from "../src/store/database.ts";
import { openEmbedded } from "../src/store/embedded.ts";
import { migrate } from "../src/store/migrate.ts";
import { WRAP_IV_BYTES, wrapSecret } from "../src/keys/secrets.ts";
import { unwrapInstallationKey } from "../src/operations/installation/installation.ts";
import { EPOCH, SECRETS_KEY } from "./harness.ts";

export type Row = Readonly<Record<string, unknown>>;

/** Rows as the database returns them; a row of node:sqlite has no prototype. */
export async function rowsOf(database: Database, sql: string): Promise<readonly Row[]> {
  const rows = await database.read<Row>({ sql, parameters: [], query: {} as never, queryId: {} as never });
  return rows.map((row) => ({ ...row }));
}

/** Each table after those that it refers to; the trigger of hours wants them before instants. */
const TABLES = [
  "model_document",
  "installation",
  "organization",
  "organization_origin",
  "named_key",
  "user_account",
  "passkey",
  "user_session",
  "subject",
  "operator",
  "interaction",
  "operator_day",
  "skipped_interaction",
  "frozen_operator",
  "probe_programme",
  "probe",
  "probe_draw",
  "score_commit",
  "outcome_label",
  "score_batch",
  "decision",
  "compliance_report",
  "usage_hour",
  "usage_instant",
  "idempotency",
  "keyed_call",
  "alert",
  "assessment",
  "breach_window",
  "webhook",
  "webhook_event",
  "webhook_delivery",
  "audit_chain",
  "audit_entry",
  "audit_part",
  "audit_node",
  "audit_checkpoint",
  "audit_ladder",
  "signing_key",
  "tombstone",
] as const;

/** Tables that only triggers fill; today's schema has none of them. */
const COUNTED: readonly string[] = ["operator_day"];

/** The present names of columns of steps 1 and 2. */
const RENAMED: Readonly<Record<string, string>> = { seq: "position", first_seq: "first_position" };

/** The tables of a step, in the order in which they are filled. */
export async function tablesOf(database: Database): Promise<readonly string[]> {
  const rows = await rowsOf(database, "SELECT name FROM sqlite_schema WHERE type = 'table'");
  // A server's sessions belong to the backend, not to a schema step.
  const names = rows.map(({ name }) => String(name)).filter((name) => name !== "write_session")
    .filter((name) => name !== "schema_migration" && name !== "sqlite_sequence");
  assert.deepEqual(names.filter((name) => !TABLES.some((known) => known === name)), []);
  return TABLES.filter((name) => names.includes(name));
}

/** The columns that are written, not generated. */
async function columnsOf(database: Database, table: string): Promise<readonly string[]> {
  const rows = await rowsOf(database, `SELECT name FROM pragma_table_xinfo('${table}') WHERE hidden = 0`);
  return rows.map(({ name }) => String(name));
}

/** A query of a table's present rows, under the column names of an earlier database. */
export async function earlierRowsQuery(
  table: string,
  { earlier, today }: { readonly earlier: Database; readonly today: Database },
): Promise<string> {
  const known = await columnsOf(today, table);
  const columns = (await columnsOf(earlier, table)).map((name) =>
    known.includes(name) ? name : `${RENAMED[name]} AS ${name}`
  );
  return `SELECT ${columns.join(", ")} FROM ${table}`;
}

async function insertsOf(source: Database, target: Database, table: string): Promise<readonly Statement[]> {
  const text = await earlierRowsQuery(table, { earlier: target, today: source });
  const rows = await rowsOf(source, table === "audit_entry" ? `${text} ORDER BY chain, seq` : text);
  return rows.map((row) => ({
    sql: `INSERT INTO ${table} (${Object.keys(row).join(", ")}) VALUES (${
      Object.keys(row).map(() => "?").join(", ")
    })`,
    parameters: Object.values(row),
  }));
}

/** Entries must continue their chain's head; each moves it forward to its stored place. */
async function rewindHeads(source: Database, target: Database): Promise<void> {
  await target.batch([{ sql: "UPDATE audit_chain SET size = min_index, last_ts = ''", parameters: [] }]);
  const first =
    "SELECT e.chain, prev_hash FROM audit_entry AS e JOIN audit_chain USING (chain) WHERE seq = min_index";
  for (const { chain, prev_hash } of await rowsOf(source, first)) {
    await target.batch([
      { sql: "UPDATE audit_chain SET head = ? WHERE chain = ?", parameters: [prev_hash, chain] },
    ]);
  }
}

/** The step from which on rows are sealed. */
const SEALS_STEP = 10;

/**
 * How the installation's key is wrapped says that rows are sealed; an earlier database has another wrapping.
 */
async function wrapForUnsealedRows(target: Database): Promise<void> {
  const [row] = await rowsOf(target, "SELECT wrapped_key FROM installation");
  if (row === undefined) return;
  const wrapped = row.wrapped_key as Uint8Array;
  const { plain } = unwrapInstallationKey(wrapped, [SECRETS_KEY])!;
  const iv = wrapped.slice(0, WRAP_IV_BYTES);
  const anew = wrapSecret(plain, { key: SECRETS_KEY, purpose: "installation key", iv });
  await target.batch([{ sql: "UPDATE installation SET wrapped_key = ?", parameters: [anew] }]);
}

/** Copies a database of today into one of an earlier step. */
export async function earlierDatabase(
  source: Database,
  { version, path = ":memory:" }: { readonly version: number; readonly path?: string },
): Promise<Database> {
  const target = openEmbedded({ path, onFatal: () => {} });
  await migrate(target, { migrations: MIGRATIONS.slice(0, version), now: EPOCH });
  for (const table of await tablesOf(target)) {
    if (!COUNTED.includes(table)) await target.batch(await insertsOf(source, target, table));
    if (table === "audit_chain") await rewindHeads(source, target);
  }
  for (const table of (await tablesOf(target)).filter((name) => !COUNTED.includes(name))) {
    const text = await earlierRowsQuery(table, { earlier: target, today: source });
    const own = await rowsOf(target, await earlierRowsQuery(table, { earlier: target, today: target }));
    assert.deepEqual(own, await rowsOf(source, text), `${table} is copied whole`);
  }
  if (version < SEALS_STEP) await wrapForUnsealedRows(target);
  return target;
}
