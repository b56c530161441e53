/**
 * What happens once for a deployment, and at each start: its identity, its installation key, the system chain,
 * and the model in use.
 */
import { organizationOf } from "../evidence/chain_name.ts";
import { sql } from "kysely";
import { isUnavailable } from "../domain/errors.ts";
import { pepperId } from "../keys/api_key.ts";
import { unwrapWithAny, WRAP_IV_BYTES, wrapSecret } from "../keys/secrets.ts";
import { type Crypto, equalBytes, type Signer } from "../evidence/crypto.ts";
import { canonicalJson } from "../evidence/canonical.ts";
import { keyId, parseNote } from "../evidence/note.ts";
import type { Log } from "../observability/log.ts";
import type { Model } from "../scoring/model.ts";
import { newestCheckpoint } from "../store/chains.ts";
import { type Database, query, type Statement } from "../store/database.ts";
import type { CheckpointLock } from "../store/lock.ts";
import type { Writer } from "../store/writer.ts";
import { draftGenesis, headOf } from "./chains.ts";
import {
  adminChain,
  eventDraft,
  evidenceChain,
  type Installation,
  originOf,
  SYSTEM_CHAIN,
  type World,
} from "./dependencies.ts";
import { followLock, strangeLock } from "./restores.ts";
import { finishRotation, insertFirstKey, type SigningKeys } from "./signing.ts";
import { rewrapWebhookSecrets } from "./webhooks.ts";
import { StartError } from "./start_error.ts";

const PURPOSE = "installation key";
const INSTALLATION_KEY_BYTES = 32;

export interface InstallationOptions {
  readonly database: Database;
  readonly writer: Writer;
  readonly crypto: Crypto;
  readonly signing: SigningKeys;
  readonly lock: CheckpointLock;
  readonly log: Log;
  readonly world: World;
  readonly model: Model;
  readonly logName: string;
  readonly auditRetentionDays: number;
  /** null: evidence is kept. */
  readonly evidenceRetentionDays: number | null;
  readonly secretsKeys: readonly Uint8Array[];
  /** The one in use, then the one before it. */
  readonly peppers: readonly string[];
  /** Epoch milliseconds. */
  readonly now: number;
  /** Whether an installation that is there must be left as it is. */
  readonly readsOnly?: boolean;
}

export interface OpenedInstallation {
  readonly installation: Installation;
  /** False where it was left as it is, for one because the database is older than what was issued. */
  readonly current: boolean;
}

/** Whether the database holds a chain, so that a missing signing key must not be made anew. */
export async function holdsChains(database: Database): Promise<boolean> {
  const rows = await database.read(query.selectFrom("audit_chain").select("chain").limit(1).compile());
  return rows.length > 0;
}

/**
 * Opens the installation, making it on the first start. A database that is older than what was issued is opened too,
 * and nothing is recorded in it: reads and verification go on.
 * @throws {StartError} where the secrets key, the signing key or the lock is not the database's.
 */
export async function openInstallation(options: InstallationOptions): Promise<OpenedInstallation> {
  try {
    return await openOnce(options);
  } catch (error) {
    if (!isUnavailable(error)) throw error;
    // Another host that starts at the same time made the installation, or recorded the same change, first.
    return await openOnce(options);
  }
}

async function openOnce(options: InstallationOptions): Promise<OpenedInstallation> {
  const { database, signing } = options;
  const [row] = await database.read(query.selectFrom("installation").selectAll().compile());
  await signing.reload();
  if (row === undefined) return { installation: await createInstallation(options), current: true };

  await requireKnownSigner(options);
  const key = openInstallationKey(options, row.wrapped_key);
  const installation = { deploymentId: row.deployment_id, key };
  await requireSameLog({ ...options, installation });
  const isCurrent = (await followLock(options)).length === 0;
  if (!isCurrent || options.readsOnly === true) return { installation, current: false };

  await finishRotation({ ...options, installation });
  if (row.model_sha256 !== options.model.sha256) {
    await recordModelChange(options, row.model_sha256);
  }
  await recordAuditRetention(options, row.audit_retention_days);
  if (row.evidence_retention_days !== options.evidenceRetentionDays) {
    await recordRetentionChange(options, {
      policy: "evidence",
      recorded: row.evidence_retention_days,
      from: row.evidence_retention_days,
      to: options.evidenceRetentionDays,
    });
  }
  return { installation, current: true };
}

/** The name stands in every origin, and in the certificates by which a new key is believed. */
async function requireSameLog(
  { database, logName, installation }: InstallationOptions & { readonly installation: Installation },
): Promise<void> {
  const { origin } = await headOf({ database }, SYSTEM_CHAIN);
  if (origin.startsWith(originOf({ logName, installation }, SYSTEM_CHAIN))) return;
  throw new StartError(
    `JISS_LOG_NAME is not the name that this database's chains are signed under, which begin with ${
      origin.slice(0, origin.indexOf(`/${installation.deploymentId}/`))
    }: put it back`,
  );
}

async function createInstallation(options: InstallationOptions): Promise<Installation> {
  const { writer, world, model, signing, lock, secretsKeys, peppers, now } = options;
  if (lock.issued().length > 0) throw strangeLock();
  const installation = { deploymentId: world.ulid(now), key: world.random(INSTALLATION_KEY_BYTES) };
  const wrapped = wrapSecret(installation.key, {
    key: secretsKeys[0]!,
    purpose: PURPOSE,
    iv: world.random(WRAP_IV_BYTES),
  });
  const genesis = draftGenesis({ ...options, installation }, {
    family: SYSTEM_CHAIN,
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
          evidence_retention_days: options.evidenceRetentionDays,
          pepper_id: pepperId(peppers[0]!),
          created_at: now,
        }).compile(),
      );
      unit.execute(insertFirstKey(signing.held[0]!.publicKey));
      genesis.open(unit);
      return () => undefined;
    },
  });
  await signing.reload();
  return installation;
}

/**
 * The key that signs must be the one that signed last, or the one after it where a rotation was cut short: another
 * one would start a second history.
 */
async function requireKnownSigner({ database, crypto, signing }: InstallationOptions): Promise<void> {
  if (signing.known.length === 0) {
    const checkpoint = await newestCheckpoint(database, SYSTEM_CHAIN);
    if (checkpoint !== null && !isSignedBy(crypto, checkpoint.note, signing.held[0]!)) throw strangeSigner();
    await database.batch([insertFirstKey(signing.held[0]!.publicKey)]);
    await signing.reload();
    return;
  }
  const ordinals = signing.held.map(({ publicKey }) =>
    signing.known.find((row) => equalBytes(row.public_key, publicKey))?.ordinal
  );
  // The key in use; or, before the rotation is recorded, one that is not known yet and the one before it.
  const inUse = ordinals[0] ?? ordinals[1];
  if (inUse !== signing.known.at(-1)!.ordinal) throw strangeSigner();
}

function isSignedBy(crypto: Crypto, note: string, { publicKey }: Signer): boolean {
  return parseNote(note).signatures.some(({ name, keyId: id }) =>
    equalBytes(keyId(crypto, { name, publicKey }), id)
  );
}

function strangeSigner(): StartError {
  return new StartError(
    "JISS_SIGNING_KEY_FILE holds another key than the one that signed this database's chains: put the right key back",
  );
}

/** The key, and which of the secrets opened it; null where none does. */
export function unwrapInstallationKey(
  wrapped: Uint8Array,
  secretsKeys: readonly Uint8Array[],
): { readonly plain: Uint8Array; readonly index: number } | null {
  return unwrapWithAny(wrapped, { keys: secretsKeys, purpose: PURPOSE });
}

/** @throws {StartError} where no secret opens it. */
function openInstallationKey({ secretsKeys }: InstallationOptions, wrapped: Uint8Array): Uint8Array {
  const opened = unwrapInstallationKey(wrapped, secretsKeys);
  if (opened !== null) return opened.plain;
  throw new StartError(
    "JISS_SECRETS_KEY (or JISS_KEY_PEPPER, from which it is derived) is not the one that this database was made with: put it back, or set JISS_KEY_PEPPER_PREVIOUS",
  );
}

/**
 * What a service does with its secrets once it serves: what older ones had wrapped is wrapped anew, and which pepper
 * keys are hashed with from now on is recorded. A start that fails before that leaves others as they were.
 */
export async function takeUpSecrets(
  { database, world, secretsKeys, peppers }: Pick<
    InstallationOptions,
    "database" | "world" | "secretsKeys" | "peppers"
  >,
): Promise<void> {
  const [row] = await database.read(
    query.selectFrom("installation").select(["wrapped_key", "pepper_id"]).compile(),
  );
  const { wrapped_key: wrapped, pepper_id: recorded } = row!;
  const opened = unwrapInstallationKey(wrapped, secretsKeys);
  const update = query.updateTable("installation");
  if (opened !== null && opened.index > 0) {
    const anew = wrapSecret(opened.plain, {
      key: secretsKeys[0]!,
      purpose: PURPOSE,
      iv: world.random(WRAP_IV_BYTES),
    });
    await database.batch([update.set({ wrapped_key: anew }).where("wrapped_key", "=", wrapped).compile()]);
  }
  await rewrapWebhookSecrets({ database, world, secretsKeys });
  const pepper = pepperId(peppers[0]!);
  if (recorded !== pepper) await database.batch([update.set({ pepper_id: pepper }).compile()]);
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
    families: [],
    statements: [
      insertModel(model, now),
      {
        ...query.updateTable("installation").set({ model_sha256: model.sha256 })
          .where("model_sha256", "=", previous).compile(),
        mustChange: 1,
      },
    ],
  });
}

type RetentionPolicy = "audit_log" | "evidence";

/** A conflict where `recorded` is not what stands there any more. */
function setRetention(
  policy: RetentionPolicy,
  { recorded, days }: { readonly recorded: number | null; readonly days: number | null },
): Statement {
  const column = policy === "evidence" ? "evidence_retention_days" : "audit_retention_days";
  const update = query.updateTable("installation").set({ [column]: days }).where(column, "is", recorded);
  return { ...update.compile(), mustChange: 1 };
}

/** `recorded` is null where no start has recorded it yet. */
async function recordAuditRetention(options: InstallationOptions, recorded: number | null): Promise<void> {
  const { database, auditRetentionDays: days } = options;
  const previous = recorded ?? await retentionOfGenesis(database);
  if (previous !== days) {
    await recordRetentionChange(options, { policy: "audit_log", recorded, from: previous, to: days });
  } else if (recorded === null) await database.batch([setRetention("audit_log", { recorded, days })]);
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

/** So is a retention, which each chain that it rules learns too (evidence design, section 8). */
async function recordRetentionChange(
  options: InstallationOptions,
  { policy, recorded, from, to }: {
    readonly policy: RetentionPolicy;
    readonly recorded: number | null;
    readonly from: number | null;
    readonly to: number | null;
  },
): Promise<void> {
  const rows = await options.database.read(
    query.selectFrom("audit_chain").select("family").distinct().orderBy("family").compile(),
  );
  const chainOf = policy === "evidence" ? evidenceChain : adminChain;
  // Also of an organization of which a restore left nothing but its chains.
  const ruled = rows.filter(({ family }) =>
    family !== SYSTEM_CHAIN && family === chainOf(organizationOf(family)!)
  );
  await recordChange(options, {
    type: "RETENTION_POLICY",
    detail: { policy, from_days: from, to_days: to },
    families: ruled.map(({ family }) => family),
    statements: [setRetention(policy, { recorded, days: to })],
  });
}

interface Change {
  readonly type: string;
  readonly detail: Record<string, unknown>;
  /** The chains that it is written to beside the system chain. */
  readonly families: readonly string[];
  readonly statements: readonly Statement[];
}

async function recordChange(
  { writer, world, now }: InstallationOptions,
  { type, detail, families, statements }: Change,
): Promise<void> {
  const entries = [SYSTEM_CHAIN, ...families].map((chain) => {
    const caller = { actor: "system", orgId: organizationOf(chain), prefix: null } as const;
    return { chain, draft: eventDraft(world, { type, caller, now, detail }) };
  });
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
