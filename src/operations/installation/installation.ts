/**
 * Creates the installation once for a deployment, and opens it at each start: its identity, its installation
 * key, the system chain, and the model in use.
 */
import { isNewestKeyHeld } from "../chains/certified_keys.ts";
import { areKeysAltered, mendSigningKeys } from "../chains/own_keys.ts";
import {
  adminChain,
  evidenceChain,
  organizationOf,
  splitName,
  SYSTEM_CHAIN,
} from "../../evidence/chain_name.ts";
import { AlteredError, isUnavailable } from "../../domain/errors.ts";
import { pepperId } from "../../keys/api_key.ts";
import { unwrapWithAny, WRAP_IV_BYTES, wrapSecret } from "../../keys/secrets.ts";
import type { Crypto } from "../../evidence/crypto.ts";
import { canonicalJson } from "../../evidence/canonical.ts";
import type { Log } from "../../observability/log.ts";
import type { Model } from "../../scoring/model.ts";
import { retentionOfNewestLog } from "../../store/audit_log.ts";
import { holdsChains } from "../../store/chain_rows.ts";
import { newestCheckpoint, readFamilies } from "../../store/chains.ts";
import type { Database, Statement } from "../../store/database.ts";
import { readInstallation, replaceInstallationKey, setPepper } from "../../store/installation.ts";
import type { CheckpointLock } from "../../store/lock.ts";
import {
  INSTALLATION_KEY,
  type InstallationRow,
  installations,
  type ModelDocumentRow,
  modelDocuments,
} from "../../store/records.ts";
import { insertFirstKey } from "../../store/signing_keys.ts";
import type { Writer } from "../../store/writer.ts";
import { draftGenesis, headOf } from "../chains/chains.ts";
import { type Installation, originOf } from "../shared/deployment.ts";
import { eventDraft } from "../shared/drafts.ts";
import type { World } from "../../domain/world.ts";
import { matchesHeldSet, sealUnsealed } from "../restoring/resealing.ts";
import { compareWithLock, foreignLockError } from "../restoring/restores.ts";
import type { InstallationSeals } from "./installation_seals.ts";
import { finishRotation, type SigningKeys } from "../shared/signing.ts";
import { rewrapWebhookSecrets } from "../webhooks/webhooks.ts";
import { StartError } from "../shared/start_error.ts";

/** Purposes of the wrapped key: rows are sealed, or not yet. Changing the purpose needs a secrets key. */
const PURPOSE = "installation key, rows sealed";
const UNSEALED_PURPOSE = "installation key";
const INSTALLATION_KEY_BYTES = 32;

export interface InstallationOptions {
  readonly database: Database;
  readonly writer: Writer;
  readonly crypto: Crypto;
  readonly signing: SigningKeys;
  /** Opening the installation unlocks them with its key. */
  readonly seals: InstallationSeals;
  readonly lock: CheckpointLock;
  readonly log: Log;
  readonly world: World;
  readonly model: Model;
  readonly logName: string;
  readonly auditRetentionDays: number;
  /** null if evidence is kept without a limit. */
  readonly evidenceRetentionDays: number | null;
  readonly secretsKeys: readonly Uint8Array[];
  /** The pepper in use, then the one before it. */
  readonly peppers: readonly string[];
  /** Epoch milliseconds. */
  readonly now: number;
  /** Whether an existing installation must be left as it is. */
  readonly readsOnly?: boolean;
}

export interface OpenedInstallation {
  readonly installation: Installation;
  /** False if it was left as it is, for example because the database is older than what was issued. */
  readonly isCurrent: boolean;
}

/**
 * Opens the installation; the first start creates it. A database that is older than what was issued is also
 * opened, but nothing is recorded in it: reads and verification go on.
 * @throws {StartError} if the secrets key, the signing key or the lock does not belong to the database.
 */
export async function openInstallation(options: InstallationOptions): Promise<OpenedInstallation> {
  try {
    return await openOnce(options);
  } catch (error) {
    // Another host that started at the same time was first: it created the installation with its own key, or
    // recorded the same change.
    if (!isUnavailable(error) && !(error instanceof AlteredError)) throw error;
    return await openOnce(options);
  }
}

async function openOnce(options: InstallationOptions): Promise<OpenedInstallation> {
  const { database, signing } = options;
  // Read first: another host that creates the installation writes its row and its first chain at once.
  const hasChains = await holdsChains(database);
  const row = await readInstallation(database);
  await signing.reload();
  if (row === null) {
    if (hasChains) throw new StartError(MISSING_ROW);
    return { installation: await createInstallation(options), isCurrent: true };
  }

  await requireKnownSigner(options);
  const { plain: key, isSealed } = openInstallationKey(options, row.wrapped_key);
  const installation = { deploymentId: row.deployment_id, key, isSealed };
  options.seals.unlock(key);
  await requireSameLog({ ...options, installation });
  const isCurrent = (await compareWithLock(options)).length === 0;
  if (isSealed && isCurrent && !await isRowUnaltered(options)) return { installation, isCurrent: false };
  if (!isCurrent || options.readsOnly === true) return { installation, isCurrent: false };
  if (!isSealed) {
    await sealUnsealed({ ...options, installation });
    await database.batch([rewrapStatement(options, { wrapped: row.wrapped_key, plain: key })]);
  }

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
  return { installation: { ...installation, isSealed: true }, isCurrent: true };
}

/** The error message if there are chains, but no row of installation. */
export const MISSING_ROW =
  "the database was altered: the row of installation is missing, and without it no chain goes on: put the database, or a backup of it, back";

/** Name of the row in the system chain's set, as the subject of a sentence. */
const INSTALLATION_ROW = "the row of installation";

/**
 * Whether the installation's row is what was written; if not, marks its chain suspect: nothing is recorded.
 */
async function isRowUnaltered({ database, seals, lock, log }: InstallationOptions): Promise<boolean> {
  if (await matchesHeldSet({ database, seals }, SYSTEM_CHAIN)) return true;
  log.error("the row of installation in the database was altered: nothing is recorded", {
    audit: true,
    mend: "put the database back, or accept it as it is: jiss restore --acknowledge REASON",
  });
  const { epoch } = await headOf({ database }, SYSTEM_CHAIN);
  lock.suspect({ family: SYSTEM_CHAIN, epoch, altered: INSTALLATION_ROW });
  return false;
}

/**
 * Requires that the log's name and the deployment's id are those in the origin of the system chain. Both are
 * in every origin and in the certificates that prove a new key. No setting names the deployment's id.
 * @throws {StartError} if one of them is another.
 */
async function requireSameLog(
  { database, logName, installation }: InstallationOptions & { readonly installation: Installation },
): Promise<void> {
  const { origin } = await headOf({ database }, SYSTEM_CHAIN);
  if (origin.startsWith(originOf({ logName, installation }, SYSTEM_CHAIN))) return;
  const end = `/${installation.deploymentId}/`;
  const prefix = splitName(origin)?.prefix;
  if (!prefix?.endsWith(end)) {
    throw new StartError(
      "the database was altered: the row of installation and the origin of the system chain do not name the same deployment: put the database, or a backup of it, back",
    );
  }
  throw new StartError(
    `JISS_LOG_NAME is not the name under which this database's chains are signed; they begin with ${
      prefix.slice(0, -end.length)
    }: put it back`,
  );
}

async function createInstallation(options: InstallationOptions): Promise<Installation> {
  const { writer, world, model, signing, lock, secretsKeys, peppers, now } = options;
  if (lock.issued().length > 0) throw foreignLockError();
  const installation = {
    deploymentId: world.ulid(now),
    key: world.random(INSTALLATION_KEY_BYTES),
    isSealed: true,
  };
  options.seals.unlock(installation.key);
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
    needs: [{ kind: installations, key: INSTALLATION_KEY }],
    chains: [SYSTEM_CHAIN],
    plan(unit) {
      unit.put(modelDocuments, documentRow(model, now));
      unit.put(installations, {
        id: 1,
        deployment_id: installation.deploymentId,
        wrapped_key: wrapped,
        model_sha256: model.sha256,
        audit_retention_days: options.auditRetentionDays,
        evidence_retention_days: options.evidenceRetentionDays,
        pepper_id: pepperId(peppers[0]!),
        created_at: now,
      });
      unit.execute(insertFirstKey(signing.held[0]!.publicKey));
      genesis.open(unit);
      return () => undefined;
    },
  });
  await signing.reload();
  return installation;
}

/**
 * The signing key must be the one that signed last, or the next one if a rotation was cut short: any other
 * key would start a second history.
 */
async function requireKnownSigner({ database, crypto, signing }: InstallationOptions): Promise<void> {
  const held = signing.held.map(({ publicKey }) => publicKey);
  if (signing.known.length === 0) {
    if (!await mendSigningKeys({ database, crypto }, held)) {
      if (await newestCheckpoint(database, SYSTEM_CHAIN) !== null) throw foreignSignerError();
      await database.batch([insertFirstKey(held[0]!)]);
    }
    await signing.reload();
    return;
  }
  if (isNewestKeyHeld(signing.known, held)) return;
  throw await areKeysAltered({ database, crypto }, held) ? alteredKeysError() : foreignSignerError();
}

function alteredKeysError(): StartError {
  return new StartError(
    "rows of signing_key in the database were altered: the key in JISS_SIGNING_KEY_FILE signed its chains. Put the database back, or make the rows anew: jiss restore --acknowledge REASON",
  );
}

function foreignSignerError(): StartError {
  return new StartError(
    "JISS_SIGNING_KEY_FILE holds another key than the one that signed this database's chains: put the right key back",
  );
}

/** An installation key as it was opened. */
export interface OpenedKey {
  readonly plain: Uint8Array;
  /** Index of the secrets key that opened it. */
  readonly index: number;
  /** Whether the database's rows have been sealed. */
  readonly isSealed: boolean;
}

/** Unwraps an installation key; null if no secrets key opens it. */
export function unwrapInstallationKey(
  wrapped: Uint8Array,
  secretsKeys: readonly Uint8Array[],
): OpenedKey | null {
  for (const [purpose, isSealed] of [[PURPOSE, true], [UNSEALED_PURPOSE, false]] as const) {
    const opened = unwrapWithAny(wrapped, { keys: secretsKeys, purpose });
    if (opened !== null) return { ...opened, isSealed };
  }
  return null;
}

/** @throws {StartError} if no secrets key opens it. */
function openInstallationKey({ secretsKeys }: InstallationOptions, wrapped: Uint8Array): OpenedKey {
  const opened = unwrapInstallationKey(wrapped, secretsKeys);
  if (opened !== null) return opened;
  throw new StartError(
    "JISS_SECRETS_KEY (or JISS_KEY_PEPPER, from which it is derived) is not the one that this database was made with: put it back, or set JISS_KEY_PEPPER_PREVIOUS",
  );
}

/** Wraps the key anew, under the secrets key in use and for sealed rows, unless another host did so first. */
function rewrapStatement(
  { world, secretsKeys }: Pick<InstallationOptions, "world" | "secretsKeys">,
  { wrapped, plain }: { readonly wrapped: Uint8Array; readonly plain: Uint8Array },
): Statement {
  const rewrappedKey = wrapSecret(plain, {
    key: secretsKeys[0]!,
    purpose: PURPOSE,
    iv: world.random(WRAP_IV_BYTES),
  });
  return replaceInstallationKey({ before: wrapped, after: rewrappedKey });
}

/**
 * Takes the present secrets into use, once the service serves: keys that older secrets wrapped are wrapped
 * anew, and the pepper for new key hashes is recorded. A start that fails before that changes nothing for
 * other processes.
 */
export async function applySecrets(
  { database, world, secretsKeys, peppers }: Pick<
    InstallationOptions,
    "database" | "world" | "secretsKeys" | "peppers"
  >,
): Promise<void> {
  const { wrapped_key: wrapped, pepper_id: recorded } = (await readInstallation(database))!;
  const opened = unwrapInstallationKey(wrapped, secretsKeys);
  if (opened !== null && opened.index > 0 && opened.isSealed) {
    await database.batch([rewrapStatement({ world, secretsKeys }, { wrapped, plain: opened.plain })]);
  }
  await rewrapWebhookSecrets({ database, world, secretsKeys });
  const pepper = pepperId(peppers[0]!);
  if (recorded !== pepper) await database.batch([setPepper(pepper)]);
}

function documentRow({ sha256, document }: Model, now: number): ModelDocumentRow {
  return { sha256, document: canonicalJson(document), first_used_at: now };
}

/** Records a change of the model in use as an entry of the system chain, with the old and the new hash. */
async function recordModelChange(options: InstallationOptions, previous: string): Promise<void> {
  const { model, now } = options;
  await recordChange(options, {
    type: "MODEL_CHANGED",
    detail: { from_sha256: previous, to_sha256: model.sha256, to_version: model.document.version },
    families: [],
    isStillPending: (row) => row.model_sha256 === previous,
    set: { model_sha256: model.sha256 },
    document: documentRow(model, now),
  });
}

type RetentionPolicy = "audit_log" | "evidence";

/** @param recorded null if no start has recorded the retention yet. */
async function recordAuditRetention(options: InstallationOptions, recorded: number | null): Promise<void> {
  const { database, writer, auditRetentionDays: days } = options;
  // An earlier program recorded it in the first entry of each log only.
  const previous = recorded ?? await retentionOfNewestLog(database);
  if (previous !== days) {
    await recordRetentionChange(options, { policy: "audit_log", recorded, from: previous, to: days });
  } else if (recorded === null) {
    await writer.submit({
      needs: [{ kind: installations, key: INSTALLATION_KEY }],
      chains: [SYSTEM_CHAIN],
      plan(unit) {
        const row = unit.get(installations, INSTALLATION_KEY)!;
        unit.put(installations, { ...row, audit_retention_days: row.audit_retention_days ?? days });
        return () => undefined;
      },
    });
  }
}

/** Records a change of retention in the system chain and each chain under it (evidence design, section 8). */
async function recordRetentionChange(
  options: InstallationOptions,
  { policy, recorded, from, to }: {
    readonly policy: RetentionPolicy;
    readonly recorded: number | null;
    readonly from: number | null;
    readonly to: number | null;
  },
): Promise<void> {
  const chainOf = policy === "evidence" ? evidenceChain : adminChain;
  // This includes the chains of an organization of which a restore left nothing else.
  const families = (await readFamilies(options.database)).filter((family) =>
    family !== SYSTEM_CHAIN && family === chainOf(organizationOf(family)!)
  );
  const column = policy === "evidence" ? "evidence_retention_days" : "audit_retention_days";
  await recordChange(options, {
    type: "RETENTION_POLICY",
    detail: { policy, from_days: from, to_days: to },
    families,
    isStillPending: (row) => (row[column] ?? null) === recorded,
    set: { [column]: to },
  });
}

interface Change {
  readonly type: string;
  readonly detail: Record<string, unknown>;
  /** The families to which it is written besides the system chain. */
  readonly families: readonly string[];
  /** Whether the value to change is still there: another host may have recorded the same change first. */
  isStillPending(row: InstallationRow): boolean;
  readonly set: Partial<InstallationRow>;
  readonly document?: ModelDocumentRow;
}

async function recordChange(
  { writer, world, now }: InstallationOptions,
  { type, detail, families, isStillPending, set, document }: Change,
): Promise<void> {
  const entries = [SYSTEM_CHAIN, ...families].map((chain) => {
    const caller = { actor: "system", orgId: organizationOf(chain), prefix: null } as const;
    return { chain, draft: eventDraft(world, { type, caller, now, detail }) };
  });
  await writer.submit({
    needs: [{ kind: installations, key: INSTALLATION_KEY }],
    chains: entries.map(({ chain }) => chain),
    plan(unit) {
      const row = unit.get(installations, INSTALLATION_KEY)!;
      if (isStillPending(row)) {
        if (document !== undefined) unit.put(modelDocuments, document);
        unit.put(installations, { ...row, ...set });
        for (const { chain, draft } of entries) unit.append(chain, draft);
      }
      return () => undefined;
    },
  });
}
