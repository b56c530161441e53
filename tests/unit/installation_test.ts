/**
 * Each start of a deployment: what the first one creates, what a start records if model or retention has
 * changed, and that a start without changes writes nothing.
 * Source: contract, section 5; evidence design, section 8.
 */
import assert from "node:assert/strict";
import { MIGRATIONS } from "../../migrations/mod.ts";
import { canonicalJson } from "../../src/evidence/canonical.ts";
import { modelSha256 } from "../../src/evidence/hashes.ts";
import { nodeCrypto, signerFromPem } from "../../src/evidence/node_crypto.ts";
import type { Installation } from "../../src/operations/shared/deployment.ts";
import { applySecrets, openInstallation } from "../../src/operations/installation/installation.ts";
import { lockedSeals } from "../../src/operations/installation/installation_seals.ts";
import { SigningKeys } from "../../src/operations/shared/signing.ts";
import { StartError } from "../../src/operations/shared/start_error.ts";
import { DEFAULT_MODEL_DOCUMENT, type Model, type ModelDocument } from "../../src/scoring/model.ts";
import { type Database, query } from "../../src/store/database.ts";
import { createLog } from "../../src/observability/log.ts";
import { openEmbedded } from "../../src/store/embedded.ts";
import { openLock } from "../../src/store/lock.ts";
import { migrate } from "../../src/store/migrate.ts";
import { Writer } from "../../src/store/writer.ts";
import { EPOCH, pemOf, PEPPER, seededWorld, signerFiles, SIGNING_KEY_PEM, withHarness } from "../harness.ts";
import { resealed } from "../resealed.ts";
import { verifyDatabase } from "../oracle.ts";

const SIGNER = signerFromPem(SIGNING_KEY_PEM);

const modelOf = (document: ModelDocument): Model => ({
  document,
  sha256: modelSha256(nodeCrypto, document),
});

const BUILT_IN = modelOf(DEFAULT_MODEL_DOCUMENT);
const CALIBRATED = modelOf({
  ...DEFAULT_MODEL_DOCUMENT,
  version: `${DEFAULT_MODEL_DOCUMENT.version}-acme`,
  uncertainty: { ...DEFAULT_MODEL_DOCUMENT.uncertainty, calibration_factor: 1.1 },
});

interface Start {
  readonly model?: Model;
  readonly auditRetentionDays?: number;
  readonly signer?: typeof SIGNER;
  readonly secretsKeys?: readonly Uint8Array[];
  /** True if the start comes to serve. */
  readonly serves?: boolean;
  readonly logName?: string;
}

interface Deployment {
  readonly database: Database;
  /** Starts the deployment, an hour after the start before. */
  start(options?: Start): Promise<Installation>;
  /** Every row of every table, as text. */
  contents(): Promise<string>;
}

function withDeployment(test: (deployment: Deployment) => Promise<void>): () => Promise<void> {
  return async () => {
    const database = openEmbedded({ path: ":memory:", onFatal: () => {} });
    await migrate(database, { migrations: MIGRATIONS, now: EPOCH });
    let starts = 0;
    await test({
      database,
      async start(
        {
          model = BUILT_IN,
          auditRetentionDays = 90,
          signer = SIGNER,
          secretsKeys,
          logName = "jiss.test",
          serves = true,
        } = {},
      ) {
        const world = startedWorld(starts);
        const log = createLog({
          format: "json",
          clock: () => EPOCH,
          write: () => {},
        });
        const signing = new SigningKeys({
          database,
          crypto: nodeCrypto,
          world,
          log,
          source: signerFiles([signer]),
        });
        const lock = openLock({ path: ":memory:", onTrouble: () => {} });
        const seals = lockedSeals();
        const writer = new Writer({
          database,
          crypto: nodeCrypto,
          seals,
          signing,
          lock,
          monotonic: () => 0,
          backoff: () => Promise.resolve(),
        });
        try {
          const { installation } = await openInstallation({
            database,
            writer,
            crypto: nodeCrypto,
            signing,
            seals,
            lock,
            log,
            world,
            model,
            logName,
            auditRetentionDays,
            evidenceRetentionDays: null,
            peppers: [PEPPER],
            secretsKeys: secretsKeys ?? [new Uint8Array(32).fill(7)],
            now: EPOCH + starts * 3_600_000,
          });
          if (serves) {
            await applySecrets({
              database,
              world,
              peppers: [PEPPER],
              secretsKeys: secretsKeys ?? [new Uint8Array(32).fill(7)],
            });
          }
          return installation;
        } finally {
          lock.close();
          starts += 1;
          await writer.close();
        }
      },
      contents: () => contentsOf(database),
    });
    await verifyDatabase(database, { publicKey: SIGNER.publicKey });
    await database.close();
  };
}

/** Randomness of its own for each start, as each process has. */
function startedWorld(start: number) {
  const world = seededWorld(`start ${start}`);
  return { ...world, ulid: (at: number) => `${start}${world.ulid(at).slice(1)}` };
}

const select = (database: Database, sql: string) =>
  database.read<Record<string, unknown>>({ sql, parameters: [], query: {} as never, queryId: {} as never });

async function contentsOf(database: Database): Promise<string> {
  const tables = await select(database, "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name");
  const contents = [];
  for (const { name } of tables) contents.push([name, await select(database, `SELECT * FROM ${name}`)]);
  return JSON.stringify(contents, (_, value) => value instanceof Uint8Array ? value.toHex() : value);
}

/** The system chain's events, verified, each with its detail. */
async function eventsOf(database: Database) {
  const chains = await verifyDatabase(database, { publicKey: SIGNER.publicKey });
  assert.deepEqual(chains.map(({ chain }) => chain), ["sys"]);
  const { entries, parts } = chains[0]!;
  return entries.map(({ seq, event_type, actor, org_id, timestamp }) => ({
    event_type,
    actor,
    org_id,
    timestamp,
    detail: parts.get(`${seq}/detail`),
  }));
}

/** The installation's row, without its random values. */
async function recordedOf(database: Database) {
  const [row] = await select(database, "SELECT model_sha256, audit_retention_days FROM installation");
  return { ...row };
}

const event = (type: string, hour: string, detail: Record<string, unknown>) => ({
  event_type: type,
  actor: "system",
  org_id: null,
  timestamp: `2026-11-20T${hour}:00:00.000Z`,
  detail,
});

// ---- first and repeated starts ----------------------------------------------------------------------------

Deno.test(
  "the first start records model and retention, and opens the system chain with its genesis alone",
  withDeployment(async ({ database, start }) => {
    await start({ auditRetentionDays: 120 });
    assert.deepEqual(await recordedOf(database), {
      model_sha256: BUILT_IN.sha256,
      audit_retention_days: 120,
    });
    assert.deepEqual((await eventsOf(database)).map(({ event_type }) => event_type), ["CHAIN_GENESIS"]);
    const documents = await select(database, "SELECT * FROM model_document");
    assert.deepEqual(documents.map((row) => ({ ...row })), [
      { sha256: BUILT_IN.sha256, document: canonicalJson(BUILT_IN.document), first_used_at: EPOCH },
    ]);
  }),
);

Deno.test(
  "a start with the same model and retention writes nothing, however often, and is the same deployment",
  withDeployment(async ({ start, contents }) => {
    const first = await start();
    const before = await contents();
    for (let again = 0; again < 3; again += 1) assert.deepEqual(await start(), first);
    assert.equal(await contents(), before);
  }),
);

// ---- another model ----------------------------------------------------------------------------------------

Deno.test(
  "a start with another model document writes MODEL_CHANGED with both hashes, and keeps both documents",
  withDeployment(async ({ database, start, contents }) => {
    const first = await start();
    assert.deepEqual(await start({ model: CALIBRATED }), first);
    assert.notEqual(CALIBRATED.sha256, BUILT_IN.sha256);
    assert.deepEqual((await eventsOf(database)).slice(1), [
      event("MODEL_CHANGED", "10", {
        from_sha256: BUILT_IN.sha256,
        to_sha256: CALIBRATED.sha256,
        to_version: `${BUILT_IN.document.version}-acme`,
      }),
    ]);
    assert.equal((await recordedOf(database)).model_sha256, CALIBRATED.sha256);
    const documents = await select(database, "SELECT * FROM model_document ORDER BY first_used_at");
    assert.deepEqual(documents.map(({ sha256, document }) => [sha256, JSON.parse(String(document))]), [
      [BUILT_IN.sha256, BUILT_IN.document],
      [CALIBRATED.sha256, CALIBRATED.document],
    ]);
    const before = await contents();
    await start({ model: CALIBRATED });
    assert.equal(await contents(), before, "the same start again writes nothing");
  }),
);

Deno.test(
  "a return to an earlier model is a change too, and its document keeps the instant of its first use",
  withDeployment(async ({ database, start }) => {
    await start();
    await start({ model: CALIBRATED });
    await start();
    const details = (await eventsOf(database)).slice(1).map(({ detail }) => [
      detail.from_sha256,
      detail.to_sha256,
      detail.to_version,
    ]);
    assert.deepEqual(details, [
      [BUILT_IN.sha256, CALIBRATED.sha256, `${BUILT_IN.document.version}-acme`],
      [CALIBRATED.sha256, BUILT_IN.sha256, BUILT_IN.document.version],
    ]);
    const documents = await select(
      database,
      "SELECT sha256, first_used_at FROM model_document ORDER BY first_used_at",
    );
    assert.deepEqual(documents.map((row) => ({ ...row })), [
      { sha256: BUILT_IN.sha256, first_used_at: EPOCH },
      { sha256: CALIBRATED.sha256, first_used_at: EPOCH + 3_600_000 },
    ]);
  }),
);

Deno.test(
  "a change of the smallest constant under the same version is another model",
  withDeployment(async ({ database, start }) => {
    await start();
    const { thresholds } = DEFAULT_MODEL_DOCUMENT;
    const other = modelOf({ ...DEFAULT_MODEL_DOCUMENT, thresholds: { ...thresholds, min_jis: 60.01 } });
    await start({ model: other });
    const [, change] = await eventsOf(database);
    assert.deepEqual(change!.detail, {
      from_sha256: BUILT_IN.sha256,
      to_sha256: other.sha256,
      to_version: BUILT_IN.document.version,
    });
  }),
);

// ---- another retention ------------------------------------------------------------------------------------

Deno.test(
  "a start with another audit retention writes RETENTION_POLICY with the days before and after",
  withDeployment(async ({ database, start, contents }) => {
    await start();
    await start({ auditRetentionDays: 365 });
    const changed = event("RETENTION_POLICY", "10", { policy: "audit_log", from_days: 90, to_days: 365 });
    assert.deepEqual((await eventsOf(database)).slice(1), [changed]);
    assert.equal((await recordedOf(database)).audit_retention_days, 365);
    const before = await contents();
    await start({ auditRetentionDays: 365 });
    assert.equal(await contents(), before, "the same start again writes nothing");
    await start({ auditRetentionDays: 30 });
    assert.deepEqual((await eventsOf(database)).slice(1), [
      changed,
      event("RETENTION_POLICY", "12", { policy: "audit_log", from_days: 365, to_days: 30 }),
    ]);
  }),
);

Deno.test(
  "a database without a recorded retention gets it recorded once, as a change from null",
  withDeployment(async ({ database, start, contents }) => {
    const { key } = await start();
    await database.batch([{ sql: "UPDATE installation SET audit_retention_days = NULL", parameters: [] }]);
    const seals = lockedSeals();
    seals.unlock(key);
    await resealed({ database, seals });
    await start();
    assert.deepEqual((await eventsOf(database)).slice(1), [
      event("RETENTION_POLICY", "10", { policy: "audit_log", from_days: null, to_days: 90 }),
    ]);
    const before = await contents();
    await start();
    assert.equal(await contents(), before);
  }),
);

Deno.test(
  "model and retention changed at one start are two events",
  withDeployment(async ({ database, start }) => {
    await start();
    await start({ model: CALIBRATED, auditRetentionDays: 91 });
    assert.deepEqual((await eventsOf(database)).slice(1).map(({ event_type }) => event_type), [
      "MODEL_CHANGED",
      "RETENTION_POLICY",
    ]);
    assert.deepEqual(await recordedOf(database), {
      model_sha256: CALIBRATED.sha256,
      audit_retention_days: 91,
    });
  }),
);

// ---- refused starts ---------------------------------------------------------------------------------------

Deno.test(
  "a start that is refused, for its signing key or its secrets key, records no change",
  withDeployment(async ({ start, contents }) => {
    await start();
    const before = await contents();
    const changes = { model: CALIBRATED, auditRetentionDays: 7 };
    await assert.rejects(
      () => start({ ...changes, signer: signerFromPem(pemOf("another signing key")) }),
      (error) => error instanceof StartError && /JISS_SIGNING_KEY_FILE/.test(error.message),
    );
    await assert.rejects(
      () => start({ ...changes, secretsKeys: [new Uint8Array(32).fill(8)] }),
      (error) => error instanceof StartError && /JISS_SECRETS_KEY/.test(error.message),
    );
    assert.equal(await contents(), before);
  }),
);

Deno.test(
  "a start under another log name is refused and names the one under which the chains are signed",
  withDeployment(async ({ start, contents }) => {
    await start();
    const before = await contents();
    await assert.rejects(
      () => start({ logName: "jiss.other" }),
      (error) =>
        error instanceof StartError &&
        /^JISS_LOG_NAME .* begin with jiss\.test: put it back$/.test(error.message),
    );
    assert.equal(await contents(), before);
  }),
);

Deno.test(
  "a start on an altered deployment id or origin names the database, not the log's name",
  withDeployment(async ({ database, start }) => {
    const { deploymentId } = await start();
    const other = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
    const changes = [
      ["installation", "deployment_id", other],
      ["audit_chain", "origin", `jiss.test/${other}/sys`],
      ["audit_chain", "origin", "nonsense"],
    ] as const;
    for (const [table, column, value] of changes) {
      const [before] = await select(database, `SELECT ${column} AS value FROM ${table}`);
      const set = (to: unknown) =>
        database.batch([{ sql: `UPDATE ${table} SET ${column} = ?`, parameters: [to] }]);
      await set(value);
      await assert.rejects(
        () => start(),
        (error) =>
          error instanceof StartError &&
          error.message ===
            "the database was altered: the row of installation and the origin of the system chain do not name the same deployment: put the database, or a backup of it, back",
        `${table}.${column} = ${value}`,
      );
      await set(before!.value);
    }
    assert.equal((await start()).deploymentId, deploymentId);
  }),
);

Deno.test(
  "a service with a new secrets key and the old one wraps the key anew and records no change; a start that does not serve leaves it",
  withDeployment(async ({ database, start, contents }) => {
    const [old, fresh] = [new Uint8Array(32).fill(7), new Uint8Array(32).fill(9)];
    const first = await start();
    const wrapped = await contents();
    assert.deepEqual(await start({ secretsKeys: [fresh, old], serves: false }), first);
    assert.equal(await contents(), wrapped);
    assert.deepEqual(await start({ secretsKeys: [fresh, old] }), first);
    assert.equal((await eventsOf(database)).length, 1);
    const before = await contents();
    assert.deepEqual(await start({ secretsKeys: [fresh] }), first);
    assert.equal(await contents(), before);
  }),
);

Deno.test(
  "a change of the audit retention is recorded in every organization's audit log, too",
  withHarness(async ({ database, dependencies, organization, clock }) => {
    await organization("acme");
    await organization("bank");
    await openInstallation({
      ...dependencies,
      auditRetentionDays: 400,
      secretsKeys: [new Uint8Array(32).fill(7)],
      now: clock.now(),
    });
    const rows = await database.read(
      query.selectFrom("audit_entry as e")
        .innerJoin(
          "audit_part as p",
          (join) => join.onRef("p.chain", "=", "e.chain").onRef("p.seq", "=", "e.seq"),
        )
        .select(["e.chain", "p.data"]).where("e.event_type", "=", "RETENTION_POLICY").orderBy("e.chain")
        .compile(),
    );
    const detail = { policy: "audit_log", from_days: 90, to_days: 400 };
    assert.deepEqual(rows.map(({ chain, data }) => [chain, JSON.parse(data!)]), [
      ["org/acme/admin", detail],
      ["org/bank/admin", detail],
      ["sys", detail],
    ]);
  }),
);

Deno.test(
  "an upgraded database whose audit logs began with the present retention records no change",
  withHarness(async ({ database, dependencies, organization, clock, rowCounts }) => {
    await organization("acme");
    const retentionIsUnknown = async () => {
      await database.batch([{ sql: "UPDATE installation SET audit_retention_days = NULL", parameters: [] }]);
      await resealed(dependencies);
    };
    await retentionIsUnknown();
    const before = await rowCounts();
    const start = (auditRetentionDays: number) =>
      openInstallation({
        ...dependencies,
        auditRetentionDays,
        secretsKeys: [new Uint8Array(32).fill(7)],
        now: clock.now(),
      });
    await start(90);
    assert.deepEqual(await rowCounts(), before);
    await retentionIsUnknown();
    await start(120);
    const rows = await database.read(
      query.selectFrom("audit_part").select("data").where("data", "like", '%"to_days"%').compile(),
    );
    assert.deepEqual(rows.map(({ data }) => JSON.parse(data!)), [
      { policy: "audit_log", from_days: 90, to_days: 120 },
      { policy: "audit_log", from_days: 90, to_days: 120 },
    ]);
  }),
);
