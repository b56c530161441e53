/**
 * What happens once for a deployment, and at each start: its identity, its installation key, the system chain,
 * and the model in use.
 */
import { sql } from "kysely";
import { unwrapSecret, WRAP_IV_BYTES, wrapSecret } from "../keys/secrets.ts";
import { type Crypto, equalBytes, type Signer } from "../evidence/crypto.ts";
import { canonicalJson } from "../evidence/canonical.ts";
import { keyId, parseNote } from "../evidence/note.ts";
import type { Model } from "../scoring/model.ts";
import { newestCheckpoint } from "../store/chains.ts";
import { type Database, query, type Statement } from "../store/database.ts";
import type { Writer } from "../store/writer.ts";
import { draftGenesis } from "./chains.ts";
import { adminChain, eventDraft, type Installation, SYSTEM_CHAIN, type World } from "./dependencies.ts";

const PURPOSE = "installation key";
const INSTALLATION_KEY_BYTES = 32;

/** The start cannot go on; the message says how to mend it. */
export class StartError extends Error {
  override readonly name = "StartError";
}

export interface InstallationOptions {
  readonly database: Database;
  readonly writer: Writer;
  readonly crypto: Crypto;
  readonly signers: () => readonly Signer[];
  readonly world: World;
  readonly model: Model;
  readonly logName: string;
  readonly auditRetentionDays: number;
  readonly secretsKeys: readonly Uint8Array[];
  /** Epoch milliseconds. */
  readonly now: number;
}

/** Whether the database holds a chain, so that a missing signing key must not be made anew. */
export async function holdsChains(database: Database): Promise<boolean> {
  const rows = await database.read(query.selectFrom("audit_chain").select("chain").limit(1).compile());
  return rows.length > 0;
}

/**
 * Opens the installation, making it on the first start.
 * @throws {StartError} where the secrets key or the signing key is not the database's.
 */
export async function openInstallation(options: InstallationOptions): Promise<Installation> {
  const { database } = options;
  const [row] = await database.read(query.selectFrom("installation").selectAll().compile());
  if (row === undefined) return await createInstallation(options);

  await requireKnownSigner(options);
  const key = await openInstallationKey(options, row.wrapped_key);
  const installation = { deploymentId: row.deployment_id, key };
  if (row.model_sha256 !== options.model.sha256) {
    await recordModelChange(options, row.model_sha256);
  }
  const retentionDays = row.audit_retention_days ?? await retentionOfGenesis(database);
  if (retentionDays !== options.auditRetentionDays) await recordRetentionChange(options, retentionDays);
  else if (row.audit_retention_days === null) await database.batch([setRetention(retentionDays)]);
  return installation;
}

async function createInstallation(options: InstallationOptions): Promise<Installation> {
  const { writer, world, model, secretsKeys, now } = options;
  const installation = { deploymentId: world.ulid(now), key: world.random(INSTALLATION_KEY_BYTES) };
  const wrapped = wrapSecret(installation.key, {
    key: secretsKeys[0]!,
    purpose: PURPOSE,
    iv: world.random(WRAP_IV_BYTES),
  });
  const genesis = draftGenesis({ ...options, installation }, {
    chain: SYSTEM_CHAIN,
    orgId: null,
    retentionDays: null,
    now,
  });
  await writer.submit({
    needs: [],
    chains: [SYSTEM_CHAIN],
    plan(unit) {
      unit.execute(insertModel(model, now));
      unit.execute(
        query.insertInto("installation").values({
          id: 1,
          deployment_id: installation.deploymentId,
          wrapped_key: wrapped,
          model_sha256: model.sha256,
          audit_retention_days: options.auditRetentionDays,
          created_at: now,
        }).compile(),
      );
      genesis.open(unit);
      return () => undefined;
    },
  });
  return installation;
}

/** The key that signs must be the one that signed last: another one would start a second history. */
async function requireKnownSigner({ database, crypto, signers }: InstallationOptions): Promise<void> {
  const checkpoint = await newestCheckpoint(database, SYSTEM_CHAIN);
  if (checkpoint === null) return;
  const [signer] = signers();
  const known = parseNote(checkpoint.note).signatures.some(({ name, keyId: id }) =>
    equalBytes(keyId(crypto, { name, publicKey: signer!.publicKey }), id)
  );
  if (!known) {
    throw new StartError(
      "JISS_SIGNING_KEY_FILE holds another key than the one that signed this database's chains: put the right key back",
    );
  }
}

/** Unwraps the installation key, and wraps it anew where an older secret had wrapped it. */
async function openInstallationKey(
  { database, world, secretsKeys }: InstallationOptions,
  wrapped: Uint8Array,
): Promise<Uint8Array> {
  for (const [index, key] of secretsKeys.entries()) {
    const plain = unwrapSecret(wrapped, { key, purpose: PURPOSE });
    if (plain === null) continue;
    if (index > 0) {
      const anew = wrapSecret(plain, {
        key: secretsKeys[0]!,
        purpose: PURPOSE,
        iv: world.random(WRAP_IV_BYTES),
      });
      await database.batch([query.updateTable("installation").set({ wrapped_key: anew }).compile()]);
    }
    return plain;
  }
  throw new StartError(
    "JISS_SECRETS_KEY (or JISS_KEY_PEPPER, from which it is derived) is not the one that this database was made with: put it back, or set JISS_KEY_PEPPER_PREVIOUS",
  );
}

function insertModel({ sha256, document }: Model, now: number) {
  return query.insertInto("model_document")
    .values({ sha256, document: canonicalJson(document), first_used_at: now })
    .onConflict((conflict) => conflict.column("sha256").doNothing()).compile();
}

/** A model that bears on judgments from now on is an entry of the system chain, with the old and the new hash. */
async function recordModelChange(options: InstallationOptions, previous: string): Promise<void> {
  const { model, now } = options;
  await recordChange(options, {
    type: "MODEL_CHANGED",
    detail: { from_sha256: previous, to_sha256: model.sha256, to_version: model.document.version },
    organizations: [],
    statements: [
      insertModel(model, now),
      query.updateTable("installation").set({ model_sha256: model.sha256 }).compile(),
    ],
  });
}

function setRetention(days: number): Statement {
  return query.updateTable("installation").set({ audit_retention_days: days }).compile();
}

/** What the newest audit log began with, for a database that an earlier program kept; null where there is none. */
async function retentionOfGenesis(database: Database): Promise<number | null> {
  const [row] = await database.read(
    query.selectFrom("audit_entry as e")
      .innerJoin(
        "audit_part as p",
        (join) => join.onRef("p.chain", "=", "e.chain").onRef("p.seq", "=", "e.seq"),
      )
      .select(sql<number | null>`p.data ->> '$.retention_days'`.as("days"))
      .where("e.seq", "=", 0).where("e.chain", "like", "org/%/admin").where("p.name", "=", "detail")
      .orderBy("e.ts", "desc").limit(1).compile(),
  );
  return row?.days ?? null;
}

/**
 * So is the retention of the audit logs, which each of them learns too (evidence design, section 8); `previous` is
 * null where no start has recorded it yet.
 */
async function recordRetentionChange(options: InstallationOptions, previous: number | null): Promise<void> {
  const { database, auditRetentionDays: days } = options;
  const rows = await database.read(query.selectFrom("organization").select("org_id").compile());
  await recordChange(options, {
    type: "RETENTION_POLICY",
    detail: { policy: "audit_log", from_days: previous, to_days: days },
    organizations: rows.map((row) => row.org_id),
    statements: [setRetention(days)],
  });
}

interface Change {
  readonly type: string;
  readonly detail: Record<string, unknown>;
  /** Whose audit logs it is written to, beside the system chain. */
  readonly organizations: readonly string[];
  readonly statements: readonly Statement[];
}

async function recordChange(
  { writer, world, now }: InstallationOptions,
  { type, detail, organizations, statements }: Change,
): Promise<void> {
  const entries = [null, ...organizations].map((orgId) => ({
    chain: orgId === null ? SYSTEM_CHAIN : adminChain(orgId),
    draft: eventDraft(world, { type, caller: { actor: "system", orgId, prefix: null }, now, detail }),
  }));
  await writer.submit({
    needs: [],
    chains: entries.map(({ chain }) => chain),
    plan(unit) {
      for (const statement of statements) unit.execute(statement);
      for (const { chain, draft } of entries) unit.append(chain, draft);
      return () => undefined;
    },
  });
}
