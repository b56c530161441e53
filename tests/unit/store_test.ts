/**
 * The store: the embedded backend, migrations and guard rails, the unit of work, and the writer that commits
 * jobs together. Every test that writes evidence ends with the oracle.
 */
import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { DatabaseSync } from "node:sqlite";
import { MIGRATIONS } from "../../migrations/mod.ts";
import { ServiceError, unavailable } from "../../src/domain/errors.ts";
import { WRITE_QUEUE_LIMIT } from "../../src/domain/limits.ts";
import { OPERATOR_SORTS } from "../../src/domain/enums.ts";
import { canonicalJson } from "../../src/evidence/canonical.ts";
import { fromHex, type Signer, utf8 } from "../../src/evidence/crypto.ts";
import type { AppendedEntry, EntryDraft } from "../../src/evidence/entry.ts";
import { verifyDocument } from "../../src/evidence/document.ts";
import { evidenceOfAppended, type InclusionProof } from "../../src/evidence/envelope.ts";
import { rootFromInclusion } from "../../src/evidence/merkle.ts";
import { nodeCrypto, signerFromPem } from "../../src/evidence/node_crypto.ts";
import { parseCheckpoint, parseNote, verifyNote } from "../../src/evidence/note.ts";
import {
  checkpointOfCommit,
  loadHeads,
  newestCheckpoint,
  newestCut,
  placeOf,
  placeOfHead,
  updatePeaks,
} from "../../src/store/chains.ts";
import { readEvidence, requireOwnCheckpoint, signaturesBy } from "../../src/store/proofs.ts";
import {
  type Database,
  DatabaseBusy,
  DatabaseUnavailable,
  query,
  type Statement,
  WriteConflict,
} from "../../src/store/database.ts";
import { openEmbedded } from "../../src/store/embedded.ts";
import { recentRunsQuery } from "../../src/store/exercises.ts";
import {
  daysQuery,
  edgeQuery,
  historyQuery,
  operatorNamed,
  PERIOD_EDGES,
} from "../../src/store/interactions.ts";
import { openLock } from "../../src/store/lock.ts";
import { movedOperatorsQuery, operatorFiguresQuery, operatorsPageQuery } from "../../src/store/operators.ts";
import { migrate, SchemaRefused } from "../../src/store/migrate.ts";
import {
  decisions,
  frozenOperators,
  idempotencyRecords,
  interactions,
  operators,
  type OrganizationRow,
  organizations,
  outcomeLabels,
  type RecordKind,
  scoreBatches,
  scoreCommits,
  skippedInteractions,
  subjects,
  takenPrefixes,
  tombstones,
} from "../../src/store/records.ts";
import { operatorRecords } from "../../src/store/operator_records.ts";
import { readPrunedSeqs } from "../../src/store/pruning.ts";
import { setOf, shareOf } from "../../src/store/seals.ts";
import { type Need, needKey, UnitOfWork } from "../../src/store/unit_of_work.ts";
import {
  type Receipts,
  type Signing,
  type SigningSource,
  type WriteJob,
  Writer,
} from "../../src/store/writer.ts";
import { verifyDatabase } from "../oracle.ts";
import { bringToSchema } from "../schema.ts";
import { fixedSeals } from "../seals.ts";

const EPOCH = 1_795_165_200_000;
const SEALS = fixedSeals();
const TOOLS = { crypto: nodeCrypto, seals: SEALS };

function throwAwaySigner(label: string): Signer {
  const pkcs8 = [...fromHex("302e020100300506032b657004220420"), ...nodeCrypto.sha256(utf8(label))];
  const text = Uint8Array.from(pkcs8).toBase64();
  return signerFromPem(`-----BEGIN PRIVATE KEY-----\n${text}\n-----END PRIVATE KEY-----\n`);
}

const signer = throwAwaySigner("jiss test signing key");
const nextSigner = throwAwaySigner("jiss test signing key, the next one");

// ---- fixtures ---------------------------------------------------------------------------------------------

type Row = Readonly<Record<string, unknown>>;

function select(database: Database, sql: string, ...parameters: unknown[]): Promise<readonly Row[]> {
  return database.read<Row>({ sql, parameters, query: {} as never, queryId: {} as never });
}

async function count(database: Database, table: string): Promise<unknown> {
  const [row] = await select(database, `SELECT count(*) AS n FROM ${table}`);
  return row!.n;
}

function statement(sql: string, ...parameters: unknown[]): Statement {
  return { sql, parameters };
}

interface Store {
  readonly database: Database;
  readonly writer: Writer;
  /** The statements of every batch that was tried. */
  readonly batches: (readonly Statement[])[];
  /** The attempt numbers of every wait before a retry. */
  readonly waits: number[];
}

interface StoreOptions {
  readonly path?: string;
  /** Runs before a batch of the writer, by its number; `undefined` runs nothing. */
  readonly before?: (database: Database, attempt: number) => Promise<void> | undefined;
  /** Runs before a read of the writer, by its number; `undefined` runs nothing. */
  readonly beforeRead?: (database: Database, read: number) => Promise<void> | undefined;
  readonly signers?: readonly Signer[];
}

function memory(onFatal: (error: unknown) => void = () => {}): Database {
  return openEmbedded({ path: ":memory:", onFatal });
}

/** Opens a migrated store with a writer, runs the test, then verifies every chain and closes. */
function withStore(test: (store: Store) => Promise<void>, options: StoreOptions = {}): () => Promise<void> {
  return async () => {
    const database = openEmbedded({ path: options.path ?? ":memory:", onFatal: () => {} });
    await bringToSchema(database, EPOCH);
    const batches: (readonly Statement[])[] = [];
    const waits: number[] = [];
    let reads = 0;
    const watched: Database = {
      ...database,
      async read(compiled) {
        reads += 1;
        await options.beforeRead?.(database, reads);
        return await database.read(compiled);
      },
      async snapshot(queries) {
        reads += 1;
        await options.beforeRead?.(database, reads);
        return await database.snapshot(queries);
      },
      async batch(statements) {
        batches.push(statements);
        await options.before?.(database, batches.length);
        return await database.batch(statements);
      },
    };
    const writer = new Writer({
      database: watched,
      crypto: nodeCrypto,
      seals: SEALS,
      signing: always(signedBy(options.signers ?? [signer])),
      lock: openLock({ path: ":memory:", onTrouble: () => {} }),
      monotonic: () => 0,
      backoff({ attempt }) {
        waits.push(attempt);
        return Promise.resolve();
      },
    });
    try {
      await test({ database, writer, batches, waits });
      await writer.close();
      await verifyDatabase(database, { publicKey: signer.publicKey });
    } finally {
      await database.close();
    }
  };
}

function draft(id: string, at = EPOCH): EntryDraft {
  return {
    id,
    actor: "system",
    eventType: "TEST_EVENT",
    orgId: null,
    prefix: null,
    subject: null,
    at,
    parts: [{
      name: "result",
      salt: new Uint8Array(hash("sha256", id, "buffer")),
      text: canonicalJson({ id }),
    }],
  };
}

const originOf = (chain: string) => `jiss.test/01DEPLOYMENT/${chain}`;
const newChain = (chain: string) => ({
  chain,
  family: chain,
  origin: originOf(chain),
  epoch: 1,
  firstPosition: 0,
  keyOrdinal: 1,
});
/** Keys that do not come from the database. */
const proving = (database: Database) => ({
  database,
  crypto: nodeCrypto,
  signing: signaturesBy(nodeCrypto, [signer.publicKey]),
});
const always = (signing: Signing): SigningSource => ({
  ...signaturesBy(nodeCrypto, signing.signers.map(({ publicKey }) => publicKey)),
  rows: query.selectFrom("signing_key").selectAll().compile(),
  update: () => signing,
});

const signedBy = (signers: readonly Signer[]) => ({ signers, ordinal: 1, rotations: () => [] });

interface Receipt {
  readonly appended: AppendedEntry;
  readonly proof: InclusionProof;
}

/** Appends entries to a chain, and opens it if it does not exist. */
function appending(chain: string, ids: readonly string[], at = EPOCH): WriteJob<readonly Receipt[]> {
  return {
    needs: [],
    chains: [chain],
    plan(unit) {
      if (unit.head(chain) === null) unit.openChain(newChain(chain));
      const appended = ids.map((id) => unit.append(chain, draft(id, at)));
      return (receipts) => appended.map((entry) => ({ appended: entry, proof: receipts.proofOf(entry) }));
    },
  };
}

function executing(sql: string, ...parameters: unknown[]): WriteJob<string> {
  return {
    needs: [],
    chains: [],
    plan(unit) {
      unit.execute(statement(sql, ...parameters));
      return () => "done";
    },
  };
}

function assertProves({ appended, proof }: Receipt, chain: string): void {
  const signed = parseNote(proof.note);
  const { origin, size, root } = parseCheckpoint(signed.text);
  assert.equal(origin, originOf(chain));
  assert.equal(proof.index, appended.entry.seq);
  const computed = rootFromInclusion(nodeCrypto, {
    leaf: proof.index,
    size,
    leafHash: appended.hash,
    path: proof.path,
  });
  assert.deepEqual(computed, root, `${chain} ${proof.index} of ${size}`);
  const key = { name: origin, publicKey: signer.publicKey };
  assert.equal(verifyNote(nodeCrypto, signed, [key]), "verified");
}

function organization(orgId: string, fields: Partial<OrganizationRow> = {}): OrganizationRow {
  return {
    org_id: orgId,
    name: `Organization ${orgId}`,
    domain: "financial",
    tier: "standard",
    allowed_origins: "",
    inactive_reasons: "[]",
    prefix: null,
    key_hash: null,
    api_key_version: 1,
    api_key_rotated_at: null,
    created_at: EPOCH,
    ...fields,
  };
}

/** The family of an organization's audit log, whose head holds the digest of the organization's row. */
const logOf = (orgId: string) => `org/${orgId}/admin`;

/** Puts an organization and starts its audit log. @throws if the organization exists. */
function creating(orgId: string): WriteJob<string> {
  return {
    needs: [{ kind: organizations, key: [orgId] }],
    chains: [logOf(orgId)],
    plan(unit) {
      if (unit.get(organizations, [orgId]) !== null) throw new ServiceError("CONFLICT", `${orgId} exists`);
      unit.put(organizations, organization(orgId));
      unit.openChain(newChain(logOf(orgId)));
      unit.append(logOf(orgId), draft(`01CREATED-${orgId}`));
      return () => orgId;
    },
  };
}

const isUnavailable = (error: unknown) =>
  error instanceof ServiceError && error.code === "SERVICE_UNAVAILABLE" && error.status === 503 &&
  /^[1-9][0-9]*$/.test(error.headers["Retry-After"] ?? "");

// ---- the embedded backend ---------------------------------------------------------------------------------

async function withTemporaryFile(test: (path: string) => Promise<void>): Promise<void> {
  const directory = await Deno.makeTempDir();
  try {
    await test(`${directory}/jiss.db`);
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}

/** SQLite's own page size. */
const PAGE_BYTES = 4_096;

async function pragma(database: Database, name: string): Promise<unknown> {
  const [row] = await select(database, `PRAGMA ${name}`);
  return Object.values(row!)[0];
}

Deno.test("a file is opened with a write-ahead log, full syncs, references, and no trusted schema", () =>
  withTemporaryFile(async (path) => {
    const database = openEmbedded({ path, onFatal: () => {} });
    assert.equal(await pragma(database, "journal_mode"), "wal");
    assert.equal(await pragma(database, "synchronous"), 2);
    assert.equal(await pragma(database, "foreign_keys"), 1);
    assert.equal(await pragma(database, "trusted_schema"), 0);
    assert.equal(await pragma(database, "secure_delete"), 1);
    assert.equal(await pragma(database, "busy_timeout"), 100);
    await database.close();
  }));

Deno.test("the rows of a batch are there when the file is opened again", () =>
  withTemporaryFile(async (path) => {
    await withStore(async ({ writer }) => {
      await writer.submit(appending("sys", ["01A", "01B"]));
    }, { path })();
    const again = openEmbedded({ path, onFatal: () => {} });
    const [verified] = await verifyDatabase(again, { publicKey: signer.publicKey });
    assert.deepEqual(verified!.entries.map(({ id }) => id), ["01A", "01B"]);
    await again.close();
  }));

Deno.test("a file that is not a database is refused, and is not changed", () =>
  withTemporaryFile(async (path) => {
    const text = "this is not a database, and long enough to be asked for its header ".repeat(20);
    await Deno.writeTextFile(path, text);
    assert.throws(() => openEmbedded({ path, onFatal: () => {} }), /file is not a database/);
    assert.equal(await Deno.readTextFile(path), text);
  }));

Deno.test("a batch that fails at any of its statements leaves nothing", async () => {
  const database = memory();
  await database.batch([statement("CREATE TABLE t (n INTEGER PRIMARY KEY CHECK (n < 10)) STRICT")]);
  const insert = (n: unknown) => statement("INSERT INTO t VALUES (?)", n);
  const bad = [insert(10), insert("text"), insert(1), statement("INSERT INTO nowhere VALUES (1)")];
  for (const failing of bad) {
    await assert.rejects(database.batch([insert(1), insert(2), failing, insert(3)]));
    assert.equal(await count(database, "t"), 0);
  }
  await database.batch([insert(1), insert(2)]);
  assert.equal(await count(database, "t"), 2);
  await database.close();
});

Deno.test("a statement that changes another number of rows than it must is a conflict and leaves nothing", async () => {
  const database = memory();
  await database.batch([
    statement("CREATE TABLE t (n INTEGER PRIMARY KEY, m INTEGER) STRICT"),
    statement("INSERT INTO t VALUES (1, 0), (2, 0)"),
  ]);
  const update = (where: string, mustChange: number): Statement => ({
    ...statement(`UPDATE t SET m = m + 1 WHERE ${where}`),
    mustChange,
  });
  await database.batch([update("n = 1", 1), update("n > 0", 2), update("n > 2", 0)]);
  for (const failing of [update("n = 3", 1), update("n > 0", 1), update("n = 1", 0)]) {
    await assert.rejects(database.batch([update("n = 1", 1), failing]), WriteConflict);
  }
  assert.deepEqual((await select(database, "SELECT m FROM t ORDER BY n")).map(({ m }) => m), [2, 1]);
  await database.close();
});

Deno.test("a key that exists is a conflict; a reference or a check that fails is not", async () => {
  const database = memory();
  await database.batch([
    statement("CREATE TABLE t (n INTEGER PRIMARY KEY, u TEXT UNIQUE, c INTEGER CHECK (c = 1)) STRICT"),
    statement("CREATE TABLE child (n INTEGER REFERENCES t (n)) STRICT"),
    statement("INSERT INTO t VALUES (1, 'a', 1)"),
  ]);
  await assert.rejects(database.batch([statement("INSERT INTO t VALUES (1, 'b', 1)")]), WriteConflict);
  await assert.rejects(database.batch([statement("INSERT INTO t VALUES (2, 'a', 1)")]), WriteConflict);
  const isOther = (error: unknown) => !(error instanceof WriteConflict) && !(error instanceof ServiceError);
  await assert.rejects(database.batch([statement("INSERT INTO t VALUES (2, 'b', 2)")]), isOther);
  await assert.rejects(database.batch([statement("INSERT INTO child VALUES (7)")]), isOther);
  await database.close();
});

Deno.test("a full database answers 503 with Retry-After, and can still be read", async () => {
  const fatal: unknown[] = [];
  const database = memory((error) => fatal.push(error));
  await database.batch([statement("CREATE TABLE t (text TEXT) STRICT")]);
  await select(database, "PRAGMA max_page_count = 2");
  await assert.rejects(
    database.batch([statement("INSERT INTO t VALUES (?)", "x".repeat(100_000))]),
    isUnavailable,
  );
  assert.equal(await count(database, "t"), 0);
  assert.deepEqual(fatal, []);
  await database.close();
});

Deno.test("a database that is read-only answers 503 with Retry-After", async () => {
  const database = memory();
  await select(database, "PRAGMA query_only = ON");
  await assert.rejects(database.batch([statement("CREATE TABLE t (n INTEGER)")]), isUnavailable);
  await database.close();
});

Deno.test("a database that another process locks is busy, at the begin and at the commit of a batch", () =>
  withTemporaryFile(async (path) => {
    const database = openEmbedded({ path, onFatal: () => {} });
    await database.batch([statement("CREATE TABLE t (n INTEGER) STRICT")]);
    await select(database, "PRAGMA journal_mode = DELETE");
    await select(database, "PRAGMA busy_timeout = 0");
    const other = new DatabaseSync(path);
    const insert = statement("INSERT INTO t VALUES (1)");
    // With a rollback journal a writer blocks the begin, and a reader the commit.
    for (const lock of ["BEGIN IMMEDIATE", "BEGIN; SELECT count(*) FROM t"]) {
      other.exec(lock);
      await assert.rejects(database.batch([insert]), DatabaseBusy, lock);
      other.exec("ROLLBACK");
      assert.equal(await count(database, "t"), 0, lock);
    }
    await database.batch([insert]);
    assert.equal(await count(database, "t"), 1);
    other.close();
    await database.close();
  }));

Deno.test("a corrupt database is reported as fatal once, and nothing is written after it", () =>
  withTemporaryFile(async (path) => {
    const healthy = openEmbedded({ path, onFatal: () => {} });
    await healthy.batch([
      statement("CREATE TABLE t (n INTEGER PRIMARY KEY, text TEXT) STRICT"),
      statement("INSERT INTO t VALUES (1, ?)", "x".repeat(20_000)),
    ]);
    await healthy.close();
    const bytes = await Deno.readFile(path);
    assert.ok(bytes.length > 3 * PAGE_BYTES);
    bytes.fill(0xff, PAGE_BYTES);
    await Deno.writeFile(path, bytes);

    const fatal: unknown[] = [];
    const database = openEmbedded({ path, onFatal: (error) => fatal.push(error) });
    const insert = statement("INSERT INTO t VALUES (2, 'y')");
    await assert.rejects(database.batch([insert]), isUnavailable);
    await assert.rejects(database.batch([insert]), isUnavailable);
    await assert.rejects(database.batch([statement("CREATE TABLE other (n INTEGER) STRICT")]), isUnavailable);
    await assert.rejects(count(database, "t"), isUnavailable);
    assert.equal(fatal.length, 1);
    await database.close();
  }));

// ---- migrations -------------------------------------------------------------------------------------------

Deno.test("migrating applies every step, and migrating again does nothing", async () => {
  const database = memory();
  assert.deepEqual(await migrate(database, { migrations: MIGRATIONS, now: EPOCH }), [
    "initial",
    "surface",
    "evidence",
    "administration",
    "processes",
    "webhooks",
    "deliveries",
    "departures",
    "days",
    "seals",
    "keyed_calls",
    "erased_subjects",
    "verdicts",
    "probes",
    "users",
    "user_entries",
    "cases",
    "teams",
  ]);
  const schema = await select(database, "SELECT type, name, sql FROM sqlite_schema ORDER BY name");
  assert.deepEqual(await migrate(database, { migrations: MIGRATIONS, now: EPOCH + 1 }), []);
  assert.deepEqual(await select(database, "SELECT type, name, sql FROM sqlite_schema ORDER BY name"), schema);
  const steps = await select(database, "SELECT version, name, applied_at FROM schema_migration");
  assert.deepEqual(steps.map((step) => ({ ...step })), [
    { version: 1, name: "initial", applied_at: EPOCH },
    { version: 2, name: "surface", applied_at: EPOCH },
    { version: 3, name: "evidence", applied_at: EPOCH },
    { version: 4, name: "administration", applied_at: EPOCH },
    { version: 5, name: "processes", applied_at: EPOCH },
    { version: 6, name: "webhooks", applied_at: EPOCH },
    { version: 7, name: "deliveries", applied_at: EPOCH },
    { version: 8, name: "departures", applied_at: EPOCH },
    { version: 9, name: "days", applied_at: EPOCH },
    { version: 10, name: "seals", applied_at: EPOCH },
    { version: 11, name: "keyed_calls", applied_at: EPOCH },
    { version: 12, name: "erased_subjects", applied_at: EPOCH },
    { version: 13, name: "verdicts", applied_at: EPOCH },
    { version: 14, name: "probes", applied_at: EPOCH },
    { version: 15, name: "users", applied_at: EPOCH },
    { version: 16, name: "user_entries", applied_at: EPOCH },
    { version: 17, name: "cases", applied_at: EPOCH },
    { version: 18, name: "teams", applied_at: EPOCH },
  ]);
  await database.close();
});

Deno.test("steps are numbered 1, 2, 3 … without a gap", () => {
  assert.deepEqual(MIGRATIONS.map(({ version }) => version), MIGRATIONS.map((_, index) => index + 1));
});

Deno.test("a database that is ahead of the program is refused and left as it is", async () => {
  const database = memory();
  const newer = {
    version: MIGRATIONS.length + 1,
    name: "later",
    statements: ["CREATE TABLE later (n INTEGER)"],
  };
  await migrate(database, { migrations: [...MIGRATIONS, newer], now: EPOCH });
  const schema = await select(database, "SELECT name, sql FROM sqlite_schema ORDER BY name");
  await assert.rejects(
    migrate(database, { migrations: MIGRATIONS, now: EPOCH }),
    (error: unknown) =>
      error instanceof SchemaRefused &&
      error.message.includes(
        `schema version ${newer.version}, but this program knows versions up to ${MIGRATIONS.length}`,
      ),
  );
  assert.deepEqual(await select(database, "SELECT name, sql FROM sqlite_schema ORDER BY name"), schema);
  await database.close();
});

Deno.test("a database without its record of steps is refused, and left as it is", async () => {
  const database = memory();
  await migrate(database, { migrations: MIGRATIONS, now: EPOCH });
  await database.batch([{ sql: "DELETE FROM schema_migration WHERE version > 4", parameters: [] }]);
  const schema = await select(database, "SELECT name, sql FROM sqlite_schema ORDER BY name");
  await assert.rejects(
    migrate(database, { migrations: MIGRATIONS, now: EPOCH }),
    (error: unknown) =>
      error instanceof SchemaRefused &&
      /names its schema version 4, .* Put the database, or a backup of it, back$/.test(error.message),
  );
  assert.deepEqual(await select(database, "SELECT name, sql FROM sqlite_schema ORDER BY name"), schema);
  await database.close();
});

Deno.test("a step that fails leaves nothing of itself, and the steps before it stay", async () => {
  const database = memory();
  const broken = {
    version: MIGRATIONS.length + 1,
    name: "broken",
    statements: ["CREATE TABLE half (n INTEGER)", "NOT SQL"],
  };
  await assert.rejects(
    migrate(database, { migrations: [...MIGRATIONS, broken], now: EPOCH }),
    /the step to version \d+ fails \(.*NOT.*\): its tables are not those of that version/,
  );
  assert.deepEqual(await select(database, "SELECT name FROM sqlite_schema WHERE name = 'half'"), []);
  assert.equal(await count(database, "schema_migration"), MIGRATIONS.length);
  const mended = { ...broken, statements: ["CREATE TABLE whole (n INTEGER)"] };
  assert.deepEqual(await migrate(database, { migrations: [...MIGRATIONS, mended], now: EPOCH }), ["broken"]);
  await database.close();
});

Deno.test(
  "every table is STRICT",
  withStore(async ({ database }) => {
    const tables = await select(database, "SELECT name, strict FROM pragma_table_list WHERE schema = 'main'");
    const own = tables.filter(({ name }) => !String(name).startsWith("sqlite_"));
    assert.equal(own.length, 40);
    assert.deepEqual(own.filter(({ strict }) => strict !== 1), []);
  }),
);

// ---- guard rails ------------------------------------------------------------------------------------------

/** The row of a chain's next entry. */
async function nextEntry(database: Database, chain: string): Promise<Record<string, unknown>> {
  const [head] = await loadHeads(database, [chain]);
  return {
    chain,
    seq: head!.frontier.size,
    id: "01NEXT",
    entry_hash: new Uint8Array(32).fill(9),
    prev_hash: head!.previous,
    event_type: "TEST_EVENT",
    ts: head!.lastTimestamp,
    body: "{}",
  };
}

function insertRow(row: Record<string, unknown>): Statement {
  const names = Object.keys(row);
  return statement(
    `INSERT INTO audit_entry (${names.join(", ")}) VALUES (${names.map(() => "?").join(", ")})`,
    ...Object.values(row),
  );
}

Deno.test(
  "an entry that does not continue its chain's head is refused: position, link, time or chain",
  withStore(async ({ database, writer }) => {
    await writer.submit(appending("sys", ["01A", "01B"], EPOCH));
    const next = await nextEntry(database, "sys");
    const bad: Record<string, Record<string, unknown>> = {
      "a gap": { ...next, seq: 3 },
      "a used position": { ...next, seq: 1 },
      "another link": { ...next, prev_hash: new Uint8Array(32) },
      "an earlier time": { ...next, ts: "2026-11-20T08:59:59.999Z" },
      "a chain that does not exist": { ...next, chain: "org/nobody" },
    };
    for (const [what, row] of Object.entries(bad)) {
      await assert.rejects(database.batch([insertRow(row)]), WriteConflict, what);
    }
    assert.equal(await count(database, "audit_entry"), 2);
    const [head] = await loadHeads(database, ["sys"]);
    assert.equal(head!.frontier.size, 2);
    // The unchanged row is accepted, so each of the others was refused for its fault alone.
    const rollback = [insertRow(next), statement("NOT SQL")];
    await assert.rejects(database.batch(rollback), /near "NOT"/);
  }),
);

Deno.test(
  "an entry updates its chain's head by itself",
  withStore(async ({ database, writer }) => {
    const [receipt] = await writer.submit(appending("sys", ["01A"]));
    const [row] = await select(database, "SELECT size, head, last_ts FROM audit_chain WHERE chain = 'sys'");
    assert.deepEqual({ ...row }, {
      size: 1,
      head: receipt!.appended.hash,
      last_ts: "2026-11-20T09:00:00.000Z",
    });
  }),
);

Deno.test(
  "an entry cannot be changed or deleted, and a checkpoint cannot be changed",
  withStore(async ({ database, writer }) => {
    await writer.submit(appending("sys", ["01A", "01B"]));
    const refused = [
      "UPDATE audit_entry SET body = '{}' WHERE seq = 1",
      "UPDATE audit_entry SET seq = 7 WHERE seq = 1",
      "DELETE FROM audit_entry WHERE seq = 1",
      "DELETE FROM audit_entry",
      "UPDATE audit_checkpoint SET note = ''",
    ];
    for (const sql of refused) await assert.rejects(database.batch([statement(sql)]), /immutable/, sql);
    assert.equal(await count(database, "audit_entry"), 2);
  }),
);

Deno.test("entries below min_index can be deleted, and no others", async () => {
  const database = memory();
  await migrate(database, { migrations: MIGRATIONS, now: EPOCH });
  const writer = new Writer({
    database,
    crypto: nodeCrypto,
    seals: SEALS,
    signing: always(signedBy([signer])),
    lock: openLock({ path: ":memory:", onTrouble: () => {} }),
    monotonic: () => 0,
    backoff: () => Promise.resolve(),
  });
  await writer.submit(appending("sys", ["01A", "01B", "01C"]));
  await database.batch([statement("UPDATE audit_chain SET min_index = 2")]);
  await assert.rejects(database.batch([statement("DELETE FROM audit_entry WHERE seq = 2")]), /immutable/);
  await database.batch([statement("DELETE FROM audit_entry WHERE seq < 2")]);
  assert.deepEqual((await select(database, "SELECT seq FROM audit_entry")).map(({ seq }) => seq), [2]);
  await database.close();
});

Deno.test(
  "peaks are written only to the size to which they belong",
  withStore(async ({ database, writer }) => {
    await writer.submit(appending("sys", ["01A"]));
    const [stale] = await loadHeads(database, ["sys"]);
    const before = { size: stale!.frontier.size, held: stale!.held };
    await database.batch([updatePeaks(stale!, before)]);
    await writer.submit(appending("sys", ["01B"]));
    await assert.rejects(database.batch([updatePeaks(stale!, before)]), WriteConflict);
    const [head] = await loadHeads(database, ["sys"]);
    assert.notDeepEqual(head!.frontier.peaks, stale!.frontier.peaks);
  }),
);

Deno.test(
  "no two organizations have the same key prefix, and one has a prefix if and only if it has a key",
  withStore(async ({ database }) => {
    const put = (row: OrganizationRow) => {
      const { sql, parameters } = organizations.save!(row);
      return database.batch([{ sql, parameters }]);
    };
    const key = { prefix: "jis_ABCD", key_hash: new Uint8Array(32) };
    await put(organization("acme", key));
    await put(organization("none"));
    await assert.rejects(put(organization("other", key)), WriteConflict);
    await assert.rejects(put(organization("half", { prefix: "jis_EFGH" })), /CHECK/);
    await assert.rejects(put(organization("half", { key_hash: new Uint8Array(32) })), /CHECK/);
    await assert.rejects(put(organization("long", { ...key, prefix: "jis_ABCDE" })), /CHECK/);
    assert.equal(await count(database, "organization"), 2);
  }),
);

// ---- records ----------------------------------------------------------------------------------------------

// deno-lint-ignore no-explicit-any -- rows of every kind
const KINDS: readonly RecordKind<any>[] = [
  organizations,
  subjects,
  operators,
  interactions,
  skippedInteractions,
  frozenOperators,
  scoreCommits,
  outcomeLabels,
  scoreBatches,
  decisions,
  idempotencyRecords,
  tombstones,
];

async function planOf(database: Database, sql: string, parameters: readonly unknown[]): Promise<string[]> {
  return (await select(database, `EXPLAIN QUERY PLAN ${sql}`, ...parameters)).map(({ detail }) =>
    String(detail)
  );
}

for (const kind of KINDS) {
  Deno.test(
    `rows of ${kind.name} are loaded through the primary key's index`,
    withStore(async ({ database }) => {
      const { sql, parameters } = kind.load('[["a","b"]]');
      const plan = await planOf(database, sql, parameters);
      assert.ok(
        /^SEARCH \w+ USING (?:PRIMARY KEY|INDEX sqlite_autoindex_\w+_1) \(/.test(plan[0]!),
        plan.join("\n"),
      );
      assert.deepEqual(plan.filter((step) => step.startsWith(`SCAN ${kind.name}`)), []);
    }),
  );
}

/** The plans of the queries that a read sends, one step on a line. */
async function plansOf(
  database: Database,
  read: (spy: Database) => Promise<unknown>,
): Promise<readonly string[]> {
  const asked: { sql: string; parameters: readonly unknown[] }[] = [];
  await read({
    ...database,
    read(compiled) {
      asked.push(compiled);
      return Promise.resolve([]);
    },
  });
  const plans: string[] = [];
  for (const { sql, parameters } of asked) plans.push(...await planOf(database, sql, parameters));
  return plans;
}

/** The tables that a query scans, without its list of parameters. */
const scansOf = (plan: readonly string[]) => plan.filter((step) => /^SCAN (?!json_each)\w/.test(step));

Deno.test(
  "used prefixes are found in their unique index, and heads in theirs, however many chains there are",
  withStore(async ({ database }) => {
    const prefixes = takenPrefixes.load('[["jis_ABCD"]]');
    const steps = await planOf(database, prefixes.sql, prefixes.parameters);
    for (const table of ["organization", "named_key"]) {
      const search = new RegExp(`^SEARCH ${table} USING (?:COVERING )?INDEX \\S+ \\(prefix=\\?\\)$`);
      assert.ok(steps.some((step) => search.test(step)), steps.join("\n"));
    }

    const plan = await plansOf(database, (spy) => loadHeads(spy, ["sys"]));
    assert.equal(plan[0], "SEARCH c USING INDEX audit_chain_epoch (family=?)");
    assert.deepEqual(scansOf(plan), []);
    assert.ok(
      plan.includes("SEARCH audit_chain USING COVERING INDEX audit_chain_epoch (family=?)"),
      plan.join("\n"),
    );
  }),
);

Deno.test(
  "the edges of a period are found in an index alone, one look-up for each operator",
  withStore(async ({ database }) => {
    const period = { start: EPOCH, end: EPOCH + 90 * 86_400_000 };
    const bounds = { before: "t1<?", first: "t1>? AND t1<?", last: "t1>? AND t1<?", after: "t1>?" };
    const operators = {
      interaction: "COVERING INDEX operator_last",
      skipped_interaction: "PRIMARY KEY",
    };
    for (const table of ["interaction", "skipped_interaction"] as const) {
      for (const edge of PERIOD_EDGES) {
        const { sql, parameters } = edgeQuery(table, { orgId: "acme", period, edge });
        const plan = await planOf(database, sql, parameters);
        assert.deepEqual(plan.filter((step) => !step.startsWith("CORRELATED")).sort(), [
          "SEARCH history USING PRIMARY KEY (org_id=? AND session_id=?)",
          `SEARCH operator USING ${operators[table]} (org_id=?)`,
          `SEARCH own USING COVERING INDEX ${table}_operator (org_id=? AND operator_id=? AND ${
            bounds[edge]
          })`,
        ], `${table} ${edge}`);
      }
    }
  }),
);

Deno.test(
  "the figures of all operators for the organization rule, and their seals, are read from an index alone",
  withStore(async ({ database }) => {
    const { sql, parameters } = operatorFiguresQuery("acme");
    assert.deepEqual(await planOf(database, sql, parameters), [
      "SEARCH operator USING COVERING INDEX operator_jis (org_id=?)",
    ]);
  }),
);

Deno.test(
  "the operators whom a label moved take one index look-up each",
  withStore(async ({ database }) => {
    for (const unjudged of [false, true]) {
      const { sql, parameters } = movedOperatorsQuery("acme", { unjudged });
      const plan = await planOf(database, sql, parameters);
      assert.ok(
        plan.some((step) =>
          step.endsWith("interaction_operator (org_id=? AND operator_id=? AND t1=? AND position=?)")
        ),
        plan.join("\n"),
      );
    }
  }),
);

/** The orders of operators that an index has. */
const INDEXED_SORTS = OPERATOR_SORTS.filter((sort) => !sort.endsWith("verdict"));

Deno.test(
  "a page of operators by verdict passes over an index alone, and reads the states of its own rows only",
  withStore(async ({ database }) => {
    for (const sort of ["verdict", "-verdict"] as const) {
      for (const after of [null, { value: 1_042, name: "anna" }]) {
        const { sql, parameters } = operatorsPageQuery("acme", {
          jis: [null, null],
          verdict: null,
          team: null,
          part: null,
          after,
          limit: 10,
          byPseudonym: false,
          sort,
        });
        const plan = await planOf(database, sql, parameters);
        assert.deepEqual(plan.filter((step) => step.startsWith("SEARCH") || step.startsWith("SCAN")), [
          "SEARCH operator USING INDEX sqlite_autoindex_operator_1 (org_id=? AND operator_id=?)",
          "SEARCH operator USING COVERING INDEX operator_jis (org_id=?)",
        ]);
      }
    }
  }),
);

Deno.test(
  "the exercises that many operators were set lately are found by their kind and time, not among all entries of each",
  withStore(async ({ database }) => {
    const pseudonyms = Array.from({ length: 100 }, (_, index) => String(index).padStart(32, "0"));
    const since = "2026-10-01T00:00:00.000Z";
    const { sql, parameters } = recentRunsQuery({ family: "org/acme", pseudonyms, since, limit: 20 });
    const plan = await planOf(database, sql, parameters);
    assert.ok(
      plan.includes("SEARCH e USING INDEX audit_entry_event (chain=? AND event_type=? AND ts>?)"),
      plan.join("\n"),
    );
    assert.deepEqual(scansOf(plan).filter((step) => !step.startsWith("SCAN (subquery")), []);
  }),
);

Deno.test(
  "a page of operators and a point of a history are read in the order of an index",
  withStore(async ({ database }) => {
    const page = {
      jis: [null, null],
      verdict: null,
      team: null,
      part: null,
      after: null,
      limit: 10,
    } as const;
    const days = { first: 20_000, end: 20_030 };
    const queries = [
      ...INDEXED_SORTS.map((sort) => operatorsPageQuery("acme", { ...page, byPseudonym: false, sort })),
      // A part of a name is looked for along the order, not in a sorted copy.
      ...INDEXED_SORTS.map((sort) =>
        operatorsPageQuery("acme", { ...page, byPseudonym: false, sort, part: "nn" })
      ),
      historyQuery("acme", { operatorId: "anna", limit: 10 }),
      daysQuery("acme", { operators: operatorNamed("anna"), days }),
    ];
    const plans = await Promise.all(queries.map(({ sql, parameters }) => planOf(database, sql, parameters)));
    const ofHistory = "(org_id=? AND operator_id=?";
    const searches = plans.map((plan) => [...new Set(plan.filter((step) => step.startsWith("SEARCH")))]);
    const ofOperators = ["sqlite_autoindex_operator_1", "operator_jis", "operator_last"].flatMap((index) => {
      const walk = [`SEARCH operator USING INDEX ${index} (org_id=?)`];
      return [walk, walk];
    });
    assert.deepEqual(searches, [
      ...ofOperators,
      ...ofOperators,
      [`SEARCH interaction USING COVERING INDEX interaction_operator ${ofHistory})`],
      [`SEARCH interaction USING COVERING INDEX interaction_operator ${ofHistory} AND t1>? AND t1<?)`],
    ]);
    const sorted = plans.slice(0, -1).flat().filter((step) => step.includes("TEMP B-TREE"));
    assert.deepEqual(sorted, []);
  }),
);

Deno.test(
  "an operator's records to erase, a record's position and the last cut are found without scanning a table",
  withStore(async ({ database }) => {
    const records = operatorRecords.load('[["acme","a"]]');
    const plan = await planOf(database, records.sql, records.parameters);
    const ofOperator =
      /^SEARCH (\w+) USING (COVERING INDEX|INDEX|PRIMARY KEY)[ \w]* \(org_id=\? AND operator_id=\?\)$/;
    assert.deepEqual(
      plan.flatMap((step) => {
        const [, table, by] = ofOperator.exec(step) ?? [];
        return table === undefined ? [] : [[table, by]];
      }),
      [
        ["subject", "PRIMARY KEY"],
        ["interaction", "COVERING INDEX"],
        ["skipped_interaction", "COVERING INDEX"],
        ["decision", "INDEX"],
        ["score_batch", "INDEX"],
        ["probe_draw", "INDEX"],
        // Labels and commits, by their sessions.
        ["i", "COVERING INDEX"],
        ["i", "COVERING INDEX"],
      ],
    );
    const wholeOrganizations = plan.filter((step) => / \(org_id=\?\)$/.test(step));
    assert.deepEqual(wholeOrganizations, []);
    assert.deepEqual(scansOf(plan), []);
    for (
      const read of [
        (spy: Database) => placeOf(spy, { family: "org/acme", position: 7 }).catch(() => {}),
        (spy: Database) => newestCut(spy, { chain: "org/acme", before: "2026-11-20T09:00:00.000Z" }),
        (spy: Database) => checkpointOfCommit(spy, { chain: "org/acme", seq: 7 }),
        (spy: Database) => readPrunedSeqs(spy, { chain: "org/acme", below: 7, limit: 9 }),
      ]
    ) {
      const asked = await plansOf(database, read);
      assert.ok(asked.length > 0);
      assert.deepEqual(scansOf(asked), []);
      assert.deepEqual(asked.filter((step) => step.includes("TEMP B-TREE")), []);
    }
  }),
);

Deno.test(
  "a key is matched as text, whatever it looks like",
  withStore(async ({ database, writer }) => {
    const names = [
      "1",
      "01",
      "1e0",
      "null",
      "true",
      '"',
      "'",
      "\\",
      "[]",
      '{"a":1}',
      "é",
      "e\u0301",
      "😀",
      "",
    ];
    for (const name of names) await writer.submit(creating(name));
    for (const name of names) {
      const rows = await database.read(organizations.load(JSON.stringify([[name]])));
      assert.deepEqual(rows.map(({ org_id }) => org_id), [name], JSON.stringify(name));
    }
    const all = await database.read(organizations.load(JSON.stringify(names.map((name) => [name]))));
    assert.equal(all.length, names.length);
  }),
);

Deno.test(
  "a row is replaced as a whole if its kind says so, except for its creation time",
  withStore(async ({ database, writer }) => {
    await writer.submit(creating("acme"));
    await writer.submit({
      needs: [{ kind: organizations, key: ["acme"] }],
      chains: [logOf("acme")],
      plan(unit) {
        const row = unit.get(organizations, ["acme"])!;
        unit.put(organizations, {
          ...row,
          name: "Acme",
          inactive_reasons: '["manual"]',
          api_key_version: 2,
          created_at: 0,
        });
        return () => undefined;
      },
    });
    const [row] = await database.read(organizations.load('[["acme"]]'));
    assert.equal(row!.name, "Acme");
    assert.equal(row!.api_key_version, 2);
    assert.equal(row!.created_at, EPOCH);
    const [active] = await select(database, "SELECT active FROM organization");
    assert.equal(active!.active, 0);
  }),
);

// ---- the unit of work -------------------------------------------------------------------------------------

const NEED: Need = { kind: organizations, key: ["acme"] };

/** A job's own unit, with {@link NEED} and the system chain as its needs. */
function ownUnit(parent: UnitOfWork): UnitOfWork {
  return new UnitOfWork(TOOLS, { parent, needs: new Set([needKey(NEED)]), families: new Set(["sys"]) });
}

Deno.test("reading a row that was not declared as a need throws, on a job's own unit too", () => {
  const unit = new UnitOfWork(TOOLS);
  unit.setLoaded(NEED, null);
  unit.setLoadedHead("sys", null);
  for (const reader of [unit, ownUnit(unit)]) {
    assert.equal(reader.get(organizations, ["acme"]), null);
    assert.equal(reader.head("sys"), null);
    assert.throws(
      () => reader.get(organizations, ["other"]),
      /organization\s+5:other was not declared as a need/,
    );
    assert.throws(() => reader.get(subjects, ["acme", "x"]), /was not declared as a need/);
    assert.throws(() => reader.head("org/acme"), /chain org\/acme was not declared as a need/);
    assert.throws(() => reader.append("org/acme", draft("01A")), /was not declared as a need/);
    assert.throws(() => reader.append("sys", draft("01A")), /chain sys does not exist/);
  }
});

Deno.test("a row that only another job of the same commit declared cannot be read", () => {
  const unit = new UnitOfWork(TOOLS);
  unit.setLoaded(NEED, null);
  unit.setLoaded({ kind: organizations, key: ["other"] }, organization("other"));
  unit.setLoadedHead("sys", null);
  unit.setLoadedHead("org/other", null);
  const own = ownUnit(unit);
  assert.throws(() => own.get(organizations, ["other"]), /organization\s+5:other was not declared as a need/);
  assert.throws(() => own.head("org/other"), /chain org\/other was not declared as a need/);
});

Deno.test("keys of two kinds, and keys that are equal when joined, are kept apart", () => {
  const unit = new UnitOfWork(TOOLS);
  unit.setLoaded({ kind: subjects, key: ["a", "b,c"] }, { pseudonym: "1" });
  unit.setLoaded({ kind: subjects, key: ["a,b", "c"] }, { pseudonym: "2" });
  unit.setLoaded({ kind: operators, key: ["a", "b,c"] }, { state: "3" });
  assert.equal(unit.get(subjects, ["a", "b,c"])!.pseudonym, "1");
  assert.equal(unit.get(subjects, ["a,b", "c"])!.pseudonym, "2");
  assert.equal(unit.get(operators, ["a", "b,c"])!.state, "3");
});

Deno.test("the plan of a unit belongs to it alone until it is merged, and to its parent from then on", () => {
  const parent = new UnitOfWork(TOOLS);
  parent.setLoaded(NEED, null);
  parent.setLoadedHead("sys", null);
  const failed = ownUnit(parent);
  failed.put(organizations, organization("acme"));
  failed.openChain(newChain("sys"));
  failed.append("sys", draft("01A"));
  failed.execute(statement("SELECT 1"));
  assert.equal(failed.get(organizations, ["acme"])!.org_id, "acme");
  assert.equal(failed.head("sys")!.frontier.size, 1);
  assert.equal(parent.get(organizations, ["acme"]), null);
  assert.equal(parent.head("sys"), null);
  assert.deepEqual(parent.statements(), []);
  assert.equal(parent.appended.length, 0);

  const merged = ownUnit(parent);
  merged.put(organizations, organization("acme", { name: "Merged" }));
  merged.openChain(newChain("sys"));
  merged.append("sys", draft("01B"));
  merged.merge();
  const later = ownUnit(parent);
  assert.equal(later.get(organizations, ["acme"])!.name, "Merged");
  assert.equal(later.append("sys", draft("01C")).entry.seq, 1);
  assert.deepEqual(parent.appended.map(({ entry }) => entry.id), ["01B"]);
  // The row, the chain, then the entry with its part and its node.
  assert.equal(parent.statements().length, 1 + 1 + 3);
});

Deno.test("a row that was put twice is written once, with its last values", () => {
  const unit = new UnitOfWork(TOOLS);
  unit.setLoaded(NEED, null);
  unit.put(organizations, organization("acme", { name: "First" }));
  unit.put(organizations, organization("acme", { name: "Second" }));
  const statements = unit.statements();
  assert.equal(statements.length, 1);
  assert.ok(statements[0]!.parameters.includes("Second"));
  assert.ok(!statements[0]!.parameters.includes("First"));
});

Deno.test("a kind without a save, which only lists used values, writes nothing", () => {
  const unit = new UnitOfWork(TOOLS);
  unit.put(takenPrefixes, { prefix: "jis_ABCD" });
  assert.deepEqual(unit.get(takenPrefixes, ["jis_ABCD"]), { prefix: "jis_ABCD" });
  assert.deepEqual(unit.statements(), []);
});

// ---- the writer -------------------------------------------------------------------------------------------

Deno.test(
  "jobs submitted together commit in one batch, with one checkpoint for each chain",
  withStore(async ({ database, writer, batches }) => {
    const chains = ["sys", "org/acme", "org/acme", "org/acme/admin", "sys"];
    const receipts = await Promise.all(
      chains.map((chain, index) => writer.submit(appending(chain, [`01A${index}`, `01B${index}`]))),
    );
    assert.equal(batches.length, 1);
    const checkpoints = await select(database, "SELECT chain, size FROM audit_checkpoint ORDER BY chain");
    assert.deepEqual(checkpoints.map((row) => ({ ...row })), [
      { chain: "org/acme", size: 4 },
      { chain: "org/acme/admin", size: 2 },
      { chain: "sys", size: 4 },
    ]);
    for (const [index, list] of receipts.entries()) {
      for (const receipt of list) assertProves(receipt, chains[index]!);
    }
    assert.deepEqual(
      receipts.map((list) => list.map(({ appended }) => appended.entry.seq)),
      [[0, 1], [0, 1], [2, 3], [0, 1], [2, 3]],
      "in the order in which they were submitted",
    );
  }),
);

Deno.test(
  "300 jobs at once are two commits, of 256 and 44",
  withStore(async ({ database, writer, batches }) => {
    const jobs = Array.from({ length: 300 }, (_, index) => appending("sys", [`01A${index}`]));
    await Promise.all(jobs.map((job) => writer.submit(job)));
    assert.equal(batches.length, 2);
    const sizes = await select(database, "SELECT size FROM audit_checkpoint ORDER BY size");
    assert.deepEqual(sizes.map(({ size }) => size), [256, 300]);
  }),
);

for (const fails of ["load", "commit"] as const) {
  const away = () => Promise.reject(new DatabaseUnavailable("away"));
  Deno.test(
    `if the database does not answer a ${fails}, all waiting jobs are refused at once, and none is written`,
    withStore(async ({ database, writer, batches }) => {
      const jobs = Array.from({ length: 600 }, (_, index) => appending("sys", [`01A${index}`]));
      const alone = { ...appending("sys", ["01B"]), alone: true };
      const outcomes = await Promise.allSettled([...jobs, alone].map((job) => writer.submit(job)));
      for (const outcome of outcomes) {
        assert.ok(outcome.status === "rejected" && outcome.reason instanceof DatabaseUnavailable);
      }
      assert.equal(batches.length, fails === "load" ? 0 : 1);
      assert.equal(await count(database, "audit_entry"), 0);
      await writer.submit(appending("sys", ["01C"]));
    }, {
      beforeRead: (_, read) => fails === "load" && read === 1 ? away() : Promise.resolve(),
      before: (_, batch) => fails === "commit" && batch === 1 ? away() : Promise.resolve(),
    }),
  );
}

Deno.test(
  "if the database stops answering while the jobs of a failed commit are tried alone, the rest is refused at once",
  withStore(async ({ database, writer, batches }) => {
    const jobs = [
      executing("INSERT INTO nowhere VALUES (1)"),
      appending("sys", ["01A"]),
      appending("sys", ["01B"]),
      appending("sys", ["01C"]),
    ];
    const outcomes = await Promise.allSettled(jobs.map((job) => writer.submit<unknown>(job)));
    assert.deepEqual(outcomes.map(({ status }) => status), ["rejected", "fulfilled", "rejected", "rejected"]);
    assert.ok((outcomes[3] as PromiseRejectedResult).reason instanceof DatabaseUnavailable);
    assert.equal(batches.length, 4, "together, and three of them alone");
    assert.equal(await count(database, "audit_entry"), 1);
  }, {
    before: (_, batch) => batch === 4 ? Promise.reject(new DatabaseUnavailable("away")) : Promise.resolve(),
  }),
);

Deno.test(
  "a job that must be alone is alone in its commit, and those before and after it keep their order",
  withStore(async ({ writer, batches }) => {
    const alone = (id: string) => ({ ...appending("sys", [id]), alone: true });
    const receipts = await Promise.all(
      [
        alone("01A"),
        appending("sys", ["01B"]),
        appending("sys", ["01C"]),
        alone("01D"),
        alone("01E"),
        appending("sys", ["01F"]),
        { ...appending("sys", ["01G"]), signing: signedBy([signer]) },
        { ...appending("sys", ["01H"]), restores: true },
      ].map((job) => writer.submit(job)),
    );
    assert.deepEqual(receipts.map(([receipt]) => receipt!.appended.entry.id), [
      "01A",
      "01B",
      "01C",
      "01D",
      "01E",
      "01F",
      "01G",
      "01H",
    ]);
    const entries = batches.map((batch) => batch.find(({ sql }) => sql.includes('"audit_entry"'))!);
    assert.deepEqual(entries.map(({ sql }) => sql.match(/\(\?/g)!.length), [1, 2, 1, 1, 1, 1, 1]);
  }),
);

Deno.test(
  "the size that a chain had before the first commit of a day is on its ladder, once, and no other size",
  withStore(async ({ database, writer }) => {
    const DAY = 86_400_000;
    await writer.submit(appending("sys", ["01A", "01B"], EPOCH));
    await writer.submit(appending("org/acme", ["01C"], EPOCH));
    await writer.submit(appending("sys", ["01D"], EPOCH + 1));
    // At the last millisecond of the day, after it, three days later, and back.
    await writer.submit(appending("sys", ["01E"], EPOCH + 15 * 3_600_000 - 1));
    await writer.submit(appending("sys", ["01F", "01G"], EPOCH + 15 * 3_600_000));
    await writer.submit(appending("sys", ["01H"], EPOCH + 4 * DAY));
    await writer.submit(appending("sys", ["01I"], EPOCH));
    assert.deepEqual((await select(database, "SELECT * FROM audit_ladder")).map((row) => ({ ...row })), [
      { chain: "sys", size: 4, ts: "2026-11-20T23:59:59.999Z" },
      { chain: "sys", size: 6, ts: "2026-11-21T00:00:00.000Z" },
    ]);
  }),
);

Deno.test(
  "every proof of commits of 1 to 20 entries verifies against its own commit's note",
  withStore(async ({ database, writer }) => {
    let size = 0;
    for (let entries = 1; entries <= 20; entries += 1) {
      const ids = Array.from({ length: entries }, (_, index) => `01A${entries}-${index}`);
      const receipts = await writer.submit(appending("sys", ids));
      size += entries;
      for (const receipt of receipts) {
        assert.equal(parseCheckpoint(parseNote(receipt.proof.note).text).size, size);
        assertProves(receipt, "sys");
      }
    }
    assert.equal(size, 210);
    assert.equal(await count(database, "audit_checkpoint"), 20);
  }),
);

Deno.test(
  "the tree in the database is complete: every node once, in order, and the peaks of its size",
  withStore(async ({ database, writer }) => {
    for (const entries of [1, 2, 5, 11]) {
      await writer.submit(appending("sys", Array.from({ length: entries }, (_, i) => `01A${entries}-${i}`)));
    }
    const nodes = await select(database, "SELECT idx FROM audit_node ORDER BY idx");
    // 19 leaves: 19 + 9 + 4 + 2 + 1 complete subtrees
    assert.deepEqual(nodes.map(({ idx }) => idx), Array.from({ length: 35 }, (_, index) => index));
    const [head] = await loadHeads(database, ["sys"]);
    assert.equal(head!.frontier.size, 19);
    assert.equal(head!.frontier.peaks.length, 3);
  }),
);

Deno.test(
  "a later job of a commit sees the rows and the chains of an earlier one",
  withStore(async ({ writer, batches }) => {
    const [first, second] = await Promise.allSettled([
      writer.submit(creating("acme")),
      writer.submit(creating("acme")),
    ]);
    assert.equal(batches.length, 1);
    assert.deepEqual(first, { status: "fulfilled", value: "acme" });
    assert.equal(second.status, "rejected");
    assert.equal((second as PromiseRejectedResult).reason.code, "CONFLICT");
  }),
);

Deno.test(
  "rows are written before statements, so that a statement may refer to a row of its job",
  withStore(async ({ database, writer }) => {
    const { plan, ...job } = creating("acme");
    await writer.submit({
      ...job,
      plan(unit) {
        unit.execute(statement("INSERT INTO organization_origin VALUES ('https://a.example', 'acme')"));
        plan(unit);
        unit.put(subjects, { org_id: "acme", operator_id: "x", pseudonym: "0".repeat(32) });
        return () => undefined;
      },
    });
    assert.equal(await count(database, "organization_origin"), 1);
    assert.equal(await count(database, "subject"), 1);
  }),
);

Deno.test(
  "a job that throws fails alone and leaves nothing, at every place in the commit",
  withStore(async ({ database, writer, batches }) => {
    const throwing: WriteJob<never> = {
      needs: [{ kind: organizations, key: ["nothing"] }],
      chains: ["sys", "org/nothing"],
      plan(unit) {
        unit.put(organizations, organization("nothing"));
        unit.openChain(newChain("org/nothing"));
        unit.append("org/nothing", draft("01NOTHING"));
        if (unit.head("sys") !== null) unit.append("sys", draft("01NOTHING-SYS"));
        unit.execute(statement("INSERT INTO nowhere VALUES (1)"));
        throw new ServiceError("NOT_FOUND", "nothing");
      },
    };
    const answers = await Promise.allSettled([
      writer.submit(throwing),
      writer.submit(appending("sys", ["01A"])),
      writer.submit(throwing),
      writer.submit(creating("acme")),
      writer.submit(appending("sys", ["01B"])),
      writer.submit(throwing),
    ]);
    assert.equal(batches.length, 1);
    assert.deepEqual(answers.map(({ status }) => status), [
      "rejected",
      "fulfilled",
      "rejected",
      "fulfilled",
      "fulfilled",
      "rejected",
    ]);
    for (const answer of answers) {
      if (answer.status === "rejected") assert.equal(answer.reason.code, "NOT_FOUND");
    }
    assert.deepEqual(
      (await select(database, "SELECT chain, id FROM audit_entry ORDER BY chain, seq")).map((row) => ({
        ...row,
      })),
      [
        { chain: "org/acme/admin", id: "01CREATED-acme" },
        { chain: "sys", id: "01A" },
        { chain: "sys", id: "01B" },
      ],
    );
    assert.equal(await count(database, "audit_chain"), 2);
    assert.equal(await count(database, "organization"), 1);
  }),
);

Deno.test(
  "a job whose answer cannot be made fails alone and leaves nothing",
  withStore(async ({ database, writer }) => {
    const speechless: WriteJob<never> = {
      needs: [],
      chains: ["sys"],
      plan(unit) {
        unit.append("sys", draft("01NOTHING"));
        return () => {
          throw new TypeError("speechless");
        };
      },
    };
    const answers = await Promise.allSettled([
      writer.submit(appending("sys", ["01A"])),
      writer.submit(speechless),
      writer.submit(appending("sys", ["01B"])),
    ]);
    assert.deepEqual(answers.map(({ status }) => status), ["fulfilled", "rejected", "fulfilled"]);
    const ids = await select(database, "SELECT id FROM audit_entry ORDER BY seq");
    assert.deepEqual(ids.map(({ id }) => id), ["01A", "01B"]);
  }),
);

Deno.test(
  "a job with an invalid statement does not make others fail",
  withStore(async ({ database, writer }) => {
    const answers = await Promise.allSettled([
      writer.submit(appending("sys", ["01A"])),
      writer.submit(executing("INSERT INTO nowhere VALUES (1)")),
      writer.submit(executing("INSERT INTO organization_origin VALUES ('https://a.example', 'nobody')")),
      writer.submit(creating("acme")),
      writer.submit(appending("sys", ["01B"])),
    ]);
    assert.deepEqual(answers.map(({ status }) => status), [
      "fulfilled",
      "rejected",
      "rejected",
      "fulfilled",
      "fulfilled",
    ]);
    const [first, , , , last] = answers as PromiseFulfilledResult<readonly Receipt[]>[];
    assertProves(first!.value[0]!, "sys");
    assertProves(last!.value[0]!, "sys");
    assert.equal(await count(database, "audit_entry"), 3);
  }),
);

Deno.test(
  "a job that reads a row that it did not declare fails alone",
  withStore(async ({ writer }) => {
    const [bad, good] = await Promise.allSettled([
      writer.submit<unknown>({ ...creating("acme"), needs: [] }),
      writer.submit(creating("other")),
    ]);
    assert.match((bad as PromiseRejectedResult).reason.message, /was not declared as a need/);
    assert.equal(good.status, "fulfilled");
  }),
);

Deno.test(
  "while another process locks the database, all waiting jobs get 503 together, after ten tries in total",
  withStore(async ({ writer, batches }) => {
    const jobs = Array.from({ length: 20 }, (_, index) => appending("sys", [`01BUSY${index}`]));
    const answers = await Promise.allSettled(jobs.map((job) => writer.submit(job)));
    for (const answer of answers) assert.ok(answer.status === "rejected" && isUnavailable(answer.reason));
    assert.equal(batches.length, 10);
  }, { before: () => Promise.reject(new DatabaseBusy("held by the test")) }),
);

Deno.test(
  "a stop does not wait for a database that another process locks",
  withStore(async ({ writer, batches }) => {
    const answer = writer.submit(appending("sys", ["01BUSY"]));
    const closed = writer.close();
    await assert.rejects(answer, isUnavailable);
    await closed;
    assert.equal(batches.length, 1);
  }, { before: () => Promise.reject(new DatabaseBusy("held by the test")) }),
);

Deno.test(
  "a commit without statements does not use the database, and answers",
  withStore(async ({ writer, batches }) => {
    assert.equal(
      await writer.submit({ needs: [], chains: [], plan: () => () => "nothing to write" }),
      "nothing to write",
    );
    assert.equal(batches.length, 0);
  }),
);

Deno.test(
  "a commit that lost a race is planned again from new data, with the same ids, and its first note is not used",
  withStore(
    async ({ database, writer, batches, waits }) => {
      const planned: AppendedEntry[] = [];
      const notes: string[] = [];
      const job: WriteJob<string> = {
        needs: [{ kind: organizations, key: ["acme"] }],
        chains: ["sys"],
        plan(unit) {
          const known = unit.get(organizations, ["acme"]);
          if (unit.head("sys") === null) unit.openChain(newChain("sys"));
          const appended = unit.append("sys", draft("01MINE"));
          planned.push(appended);
          return (receipts: Receipts) => {
            notes.push(receipts.proofOf(appended).note);
            return known?.name ?? "nobody";
          };
        },
      };
      assert.equal(
        await writer.submit(job),
        "Organization acme",
        "the other writer's row is seen",
      );
      assert.equal(batches.length, 2);
      assert.deepEqual(waits, [1]);
      assert.deepEqual(planned.map(({ entry }) => [entry.id, entry.seq]), [["01MINE", 0], ["01MINE", 1]]);
      assert.deepEqual(planned[1]!.parts, planned[0]!.parts);
      const stored = await select(
        database,
        "SELECT size, note FROM audit_checkpoint WHERE chain = 'sys' ORDER BY size",
      );
      assert.deepEqual(stored.map(({ size }) => size), [1, 2]);
      assert.equal(stored[1]!.note, notes[1]);
      assert.ok(!stored.some(({ note }) => note === notes[0]), "a note of a lost attempt is not stored");
    },
    {
      // Another process commits between the load and the batch. So the chain exists when this commit would
      // open it.
      before(database, attempt) {
        if (attempt > 1) return undefined;
        const other = otherWriter(database);
        return Promise.all([
          other.submit(appending("sys", ["01THEIRS"])),
          other.submit(creating("acme")),
        ]).then(() => undefined);
      },
    },
  ),
);

/** A writer of another process on the same database. */
function otherWriter(database: Database): Writer {
  return new Writer({
    database,
    crypto: nodeCrypto,
    seals: SEALS,
    signing: always(signedBy([signer])),
    lock: openLock({ path: ":memory:", onTrouble: () => {} }),
    monotonic: () => 0,
    backoff: () => Promise.resolve(),
  });
}

/** Renames acme, with an entry of it or without one, as when a key is hashed anew. */
function naming(name: string, { tells }: { readonly tells: boolean }): WriteJob<void> {
  return {
    needs: [{ kind: organizations, key: ["acme"] }],
    chains: [logOf("acme")],
    plan(unit) {
      unit.put(organizations, { ...unit.get(organizations, ["acme"])!, name });
      if (tells) unit.append(logOf("acme"), draft(`01${name}`));
      return () => undefined;
    },
  };
}

/** Asserts that the head of acme's audit log has the digest of the present row alone. */
async function holdsItsRow(database: Database, name: string): Promise<void> {
  const [head] = await loadHeads(database, [logOf("acme")]);
  const rows = await database.read(organizations.load('[["acme"]]'));
  assert.deepEqual(rows.map((row) => row.name), [name]);
  assert.deepEqual(
    SEALS.openSet(placeOfHead(head!), head!.held!),
    setOf(rows.map((row) => shareOf(SEALS, organizations, row)!)),
  );
}

for (const tells of [true, false]) {
  const how = tells ? "with an entry" : "without an entry";
  Deno.test(
    `the set digest of a head continues from a row that another process wrote ${how}`,
    withStore(async ({ database, writer }) => {
      await writer.submit(creating("acme"));
      await otherWriter(database).submit(naming("THEIRS", { tells }));
      await holdsItsRow(database, "THEIRS");
      await writer.submit(naming("MINE", { tells: false }));
      await holdsItsRow(database, "MINE");
      await writer.submit(naming("AGAIN", { tells: true }));
      await holdsItsRow(database, "AGAIN");
    }),
  );

  Deno.test(
    `a commit that changes the set is planned again if another process changed it ${how} meanwhile`,
    withStore(async ({ database, writer, waits }) => {
      await writer.submit(creating("acme"));
      await writer.submit(naming("MINE", { tells }));
      await holdsItsRow(database, "MINE");
      assert.deepEqual(waits, [1]);
    }, {
      before: (database, attempt) =>
        attempt === 2 ? otherWriter(database).submit(naming("THEIRS", { tells: !tells })) : undefined,
    }),
  );
}

Deno.test(
  "if two processes change the set at once without an entry, both changes are in it",
  withStore(async ({ database, writer, waits }) => {
    await writer.submit(creating("acme"));
    await writer.submit(naming("MINE", { tells: false }));
    await holdsItsRow(database, "MINE");
    assert.deepEqual(waits, [1]);
  }, {
    before: (database, attempt) =>
      attempt === 2 ? otherWriter(database).submit(naming("THEIRS", { tells: false })) : undefined,
  }),
);

/** Writes as another process at the same time: a row, and an entry of it. */
function renaming(database: Database, name: string): Promise<void> {
  return otherWriter(database).submit({
    needs: [{ kind: organizations, key: ["acme"] }],
    chains: [logOf("acme")],
    plan(unit) {
      if (unit.head(logOf("acme")) === null) unit.openChain(newChain(logOf("acme")));
      unit.put(organizations, organization("acme", { name }));
      unit.append(logOf("acme"), draft(`01${name}`));
      return () => undefined;
    },
  });
}

for (const between of [1, 2]) {
  Deno.test(
    `a commit plans on a row that another process wrote before its read ${between}, and never overwrites it`,
    withStore(
      async ({ database, writer }) => {
        await renaming(database, "FIRST");
        const seen: unknown[] = [];
        await writer.submit({
          needs: [{ kind: organizations, key: ["acme"] }, { kind: subjects, key: ["acme", "x"] }],
          chains: [logOf("acme")],
          plan(unit) {
            const row = unit.get(organizations, ["acme"])!;
            seen.push(row.name);
            unit.put(organizations, { ...row, api_key_version: row.api_key_version + 1 });
            unit.append(logOf("acme"), draft("01MINE"));
            return () => undefined;
          },
        });
        assert.equal(seen.at(-1), "SECOND");
        const [row] = await database.read(organizations.load('[["acme"]]'));
        assert.equal(row!.name, "SECOND");
        assert.equal(row!.api_key_version, 2);
      },
      { beforeRead: (database, read) => read === between ? renaming(database, "SECOND") : undefined },
    ),
  );
}

Deno.test(
  "after a passing conflict the whole commit is retried, and each job is written once",
  withStore(
    async ({ database, writer, batches, waits }) => {
      const receipts = await Promise.all([
        writer.submit(appending("sys", ["01A"])),
        writer.submit(appending("sys", ["01B"])),
        writer.submit(creating("acme")),
      ]);
      assert.equal(batches.length, 4);
      assert.deepEqual(waits, [1, 2, 3]);
      assertProves(receipts[0][0]!, "sys");
      assertProves(receipts[1][0]!, "sys");
      assert.equal(await count(database, "audit_entry"), 3);
      assert.equal(await count(database, "audit_checkpoint"), 2);
    },
    { before: (_, attempt) => attempt < 4 ? Promise.reject(new WriteConflict("lost")) : undefined },
  ),
);

Deno.test(
  "a commit that loses 20 times is answered with 503, and the next one is written",
  withStore(
    async ({ writer, batches, waits }) => {
      await assert.rejects(writer.submit(appending("sys", ["01A"])), isUnavailable);
      assert.equal(batches.length, 20);
      assert.deepEqual(waits.slice(0, 3), [1, 2, 3]);
      const [receipt] = await writer.submit(appending("sys", ["01B"]));
      assert.equal(receipt!.appended.entry.seq, 0);
    },
    { before: (_, attempt) => attempt <= 20 ? Promise.reject(new WriteConflict("lost")) : undefined },
  ),
);

Deno.test(
  "a job that conflicts on every try does not make others fail",
  withStore(async ({ database, writer }) => {
    await writer.submit(creating("acme"));
    const { sql, parameters } = query.insertInto("organization").values(organization("acme")).compile();
    const [before, doomed, after] = await Promise.allSettled([
      writer.submit(appending("sys", ["01A"])),
      writer.submit(executing(sql, ...parameters)),
      writer.submit(appending("sys", ["01B"])),
    ]);
    assert.equal(before.status, "fulfilled");
    assert.ok(doomed.status === "rejected" && isUnavailable(doomed.reason));
    assert.equal(after.status, "fulfilled");
    assert.equal(await count(database, "audit_entry"), 3);
  }),
);

Deno.test(
  "a database that refuses writes answers every job of the commit with 503, without a retry",
  withStore(
    async ({ database, writer, batches }) => {
      const answers = await Promise.allSettled([
        writer.submit(appending("sys", ["01A"])),
        writer.submit(creating("acme")),
      ]);
      for (const answer of answers) {
        assert.ok(answer.status === "rejected" && isUnavailable(answer.reason));
      }
      assert.equal(batches.length, 1);
      assert.equal(await count(database, "audit_entry"), 0);
      await writer.submit(appending("sys", ["01B"]));
    },
    { before: (_, attempt) => attempt === 1 ? Promise.reject(unavailable("away")) : undefined },
  ),
);

Deno.test(
  "nothing is answered before the batch is written",
  async () => {
    const gate = Promise.withResolvers<void>();
    const reached = Promise.withResolvers<void>();
    await withStore(async ({ writer }) => {
      let answered = false;
      const answer = writer.submit(appending("sys", ["01A"])).then(() => answered = true);
      await reached.promise;
      assert.equal(answered, false);
      gate.resolve();
      await answer;
    }, {
      before() {
        reached.resolve();
        return gate.promise;
      },
    })();
  },
);

Deno.test(
  "10,000 jobs may wait for a slow batch, more are 503 at once; the waiting ones are written, and later ones after them",
  async () => {
    const gate = Promise.withResolvers<void>();
    const reached = Promise.withResolvers<void>();
    await withStore(async ({ database, writer }) => {
      let next = 0;
      const submit = () => writer.submit(executing("INSERT INTO taken (id) VALUES (?)", next++));
      const first = writer.submit(executing("CREATE TABLE taken (id INTEGER PRIMARY KEY) STRICT"));
      await reached.promise;
      const accepted = Array.from({ length: WRITE_QUEUE_LIMIT }, submit);
      for (let beyond = 0; beyond < 500; beyond += 1) {
        await assert.rejects(
          submit(),
          (error: Error) => isUnavailable(error) && /Too many/.test(error.message),
        );
      }
      assert.equal(await Promise.race([first, ...accepted, Promise.resolve("nothing yet")]), "nothing yet");
      gate.resolve();
      assert.deepEqual(new Set(await Promise.all([first, ...accepted])), new Set(["done"]));
      assert.equal(await submit(), "done");
      const ids = (await select(database, "SELECT id FROM taken ORDER BY id")).map(({ id }) => id);
      assert.deepEqual(ids, [...Array.from({ length: WRITE_QUEUE_LIMIT }, (_, id) => id), next - 1]);
    }, {
      before() {
        reached.resolve();
        return gate.promise;
      },
    })();
  },
);

Deno.test(
  "closing answers all accepted jobs, in as many commits as needed, and refuses later ones",
  withStore(async ({ database, writer, batches }) => {
    const accepted = Array.from(
      { length: 260 },
      (_, index) => writer.submit(appending("sys", [`01A${index}`])),
    );
    const closed = writer.close();
    await assert.rejects(writer.submit(appending("sys", ["01LATE"])), isUnavailable);
    await closed;
    assert.equal(batches.length, 2);
    assert.equal(await count(database, "audit_entry"), 260);
    const receipts = await Promise.all(accepted);
    assertProves(receipts[259]![0]!, "sys");
    await writer.close();
  }),
);

Deno.test(
  "an idle writer closes at once",
  withStore(async ({ writer, batches }) => {
    await writer.close();
    assert.equal(batches.length, 0);
  }),
);

Deno.test(
  "a job that comes while a commit is written is in the next one",
  withStore(async ({ writer, batches }) => {
    const second: Promise<unknown>[] = [];
    await writer.submit({
      needs: [],
      chains: [],
      plan(unit) {
        unit.execute(statement("SELECT 1"));
        return () => second.push(writer.submit(creating("acme")));
      },
    });
    assert.deepEqual(await Promise.all(second), ["acme"]);
    assert.equal(batches.length, 2);
  }),
);

Deno.test(
  "with two signers every checkpoint has both signatures",
  withStore(async ({ writer }) => {
    const [receipt] = await writer.submit(appending("sys", ["01A"]));
    assertProves(receipt!, "sys");
    const note = parseNote(receipt!.proof.note);
    assert.equal(note.signatures.length, 2);
    const key = { name: originOf("sys"), publicKey: nextSigner.publicKey };
    assert.equal(verifyNote(nodeCrypto, note, [key]), "verified");
  }, { signers: [signer, nextSigner] }),
);

Deno.test(
  "a chain's time never goes back across commits",
  withStore(async ({ writer }) => {
    await writer.submit(appending("sys", ["01A"], EPOCH + 5_000));
    const [receipt] = await writer.submit(appending("sys", ["01B"], EPOCH));
    assert.equal(receipt!.appended.entry.timestamp, "2026-11-20T09:00:05.000Z");
  }),
);

// ---- reading evidence -------------------------------------------------------------------------------------

Deno.test(
  "evidence that is read back equals the answered one, byte for byte, with its own commit's checkpoint",
  withStore(async ({ database, writer }) => {
    const answered: Receipt[] = [];
    for (const [index, entries] of [1, 3, 1, 4].entries()) {
      const ids = Array.from({ length: entries }, (_, place) => `01A${index}-${place}`);
      answered.push(...await writer.submit(appending("org/acme", ids)));
    }
    const keys = [{ name: originOf("org/acme"), publicKey: signer.publicKey }];
    for (const { appended, proof } of answered) {
      const { seq } = appended.entry;
      const checkpoint = (await checkpointOfCommit(database, { chain: "org/acme", seq }))!;
      assert.equal(checkpoint.note, proof.note);
      const stored = await readEvidence(proving(database), {
        chain: "org/acme",
        origin: originOf("org/acme"),
        seq,
        covers: "result",
      });
      assert.deepEqual(stored!.evidence, evidenceOfAppended(appended, { covers: "result", proof }));
      assert.equal(
        verifyDocument(nodeCrypto, { ...JSON.parse(stored!.text), evidence: stored!.evidence }, {
          keysFor: () => keys,
        })
          .fault,
        null,
      );
    }
  }),
);

Deno.test(
  "an old entry has a proof for every later checkpoint of its chain",
  withStore(async ({ database, writer }) => {
    for (let n = 0; n < 12; n += 1) await writer.submit(appending("org/acme", [`01A${n}`]));
    const keys = [{ name: originOf("org/acme"), publicKey: signer.publicKey }];
    const checkpoints = await select(database, "SELECT size, note FROM audit_checkpoint ORDER BY size");
    for (const { size, note } of checkpoints) {
      for (let seq = 0; seq < Number(size); seq += 1) {
        const place = { chain: "org/acme", origin: originOf("org/acme") };
        const source = proving(database);
        const held = { size: Number(size), note: String(note) };
        const checkpoint = await requireOwnCheckpoint(source, place, held);
        const stored = await readEvidence(source, { ...place, seq, covers: "result", checkpoint });
        assert.equal(
          verifyDocument(nodeCrypto, { ...JSON.parse(stored!.text), evidence: stored!.evidence }, {
            keysFor: () => keys,
          })
            .fault,
          null,
          `${seq} of ${size}`,
        );
      }
    }
    assert.equal((await newestCheckpoint(database, "org/acme"))!.note, checkpoints.at(-1)!.note);
  }),
);

Deno.test(
  "there is no evidence of an entry, a part or a chain that does not exist",
  withStore(async ({ database, writer }) => {
    await writer.submit(appending("org/acme", ["01A"]));
    const read = (chain: string, seq: number, covers: "result" | "detail") =>
      readEvidence(proving(database), { chain, origin: originOf(chain), seq, covers });
    assert.equal(await read("org/acme", 1, "result"), null);
    assert.equal(await read("org/acme", 0, "detail"), null);
    assert.equal(await read("org/other", 0, "result"), null);
    assert.equal(await checkpointOfCommit(database, { chain: "org/acme", seq: 1 }), null);
    assert.equal(await newestCheckpoint(database, "org/other"), null);
    assert.deepEqual(await loadHeads(database, ["org/other"]), []);
    assert.deepEqual(await loadHeads(database, []), []);
  }),
);

Deno.test("an erased part has no evidence", async () => {
  const database = memory();
  await migrate(database, { migrations: MIGRATIONS, now: EPOCH });
  const writer = new Writer({
    database,
    crypto: nodeCrypto,
    seals: SEALS,
    signing: always(signedBy([signer])),
    lock: openLock({ path: ":memory:", onTrouble: () => {} }),
    monotonic: () => 0,
    backoff: () => Promise.resolve(),
  });
  await writer.submit(appending("org/acme", ["01A"]));
  await database.batch([statement("UPDATE audit_part SET salt = NULL, data = NULL")]);
  const place = { chain: "org/acme", origin: originOf("org/acme"), seq: 0, covers: "result" } as const;
  assert.equal(await readEvidence(proving(database), place), null);
  await database.close();
});
