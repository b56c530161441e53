/**
 * Opens the service without a listener, for an administrator's commands beside a running service.
 *
 * A start would record settings that have changed. Here they are taken from the database instead: the command
 * may not have the whole environment of the service, and must not change the service because of that.
 */
import { nodeCrypto } from "../evidence/node_crypto.ts";
import { verifiedModel } from "../operations/shared/stored_models.ts";
import type { Service } from "../service/compose.ts";
import type { Config } from "../config/config.ts";
import { ServiceError } from "../domain/errors.ts";
import { parseChain, splitName, SYSTEM_CHAIN } from "../evidence/chain_name.ts";
import { pepperId } from "../keys/api_key.ts";
import type { Log, LogFields } from "../observability/log.ts";
import { CLOCK_RULES, type ClockRule } from "../operations/installation/clock_watch.ts";
import { MISSING_ROW } from "../operations/installation/installation.ts";
import { StartError } from "../operations/shared/start_error.ts";
import type { ModelDocument } from "../scoring/model.ts";
import { loadEpochs } from "../store/chains.ts";
import { type Database, DatabaseBusy, DatabaseUnavailable } from "../store/database.ts";
import type { StorageFailure } from "../store/faults.ts";
import { readInstallation } from "../store/installation.ts";
import { SchemaRefused } from "../store/migrate.ts";
import { readModelDocument } from "../store/model_documents.ts";
import { loadConfig } from "./run_service.ts";
import { CommandFailure, EXIT, type Shell } from "./shell.ts";
import { withStored } from "./stored.ts";

type RecordedSettings = Pick<
  Config,
  "logName" | "model" | "auditRetentionDays" | "evidenceRetentionDays" | "peppers"
>;

interface RunOptions {
  /**
   * Whether this is a restore: the database may be older than the pepper, or an interrupted restore may have
   * left it.
   */
  readonly isRestore?: boolean;
  /** Default: the rule of a command. */
  readonly clockRule?: ClockRule;
}

/**
 * Opens the service, passes it to `run` and closes it.
 * @throws {CommandFailure} 78 if it cannot be opened, 74 if its database does not answer at the moment, 1 if
 *   it refuses with a {ServiceError}.
 */
export async function administer<Result>(
  shell: Shell,
  run: (service: Service, config: Config) => Promise<Result>,
  { isRestore = false, clockRule = CLOCK_RULES.command }: RunOptions = {},
): Promise<Result> {
  const config = loadConfig(shell.readEnvironment());
  const recorded = await withStored(
    shell,
    config,
    (database) => recordedSettings(database, { config, isRestore }),
  );
  const log = standardErrorLog();
  let fatal: StorageFailure | null = null;
  const service = await open(shell, {
    config: { ...config, ...recorded, bootstrapOrganization: null },
    log,
    clockRule,
    onFatal: (error) => fatal = error,
    isRestore,
  });
  try {
    return await run(service, config);
  } catch (error) {
    if (fatal !== null) {
      throw new CommandFailure(`storage failed: ${(fatal as StorageFailure).message}`, EXIT.ioError);
    }
    if (error instanceof ServiceError || error instanceof StartError) {
      throw new CommandFailure(error.message, EXIT.failure);
    }
    throw error;
  } finally {
    await service.close();
  }
}

async function open(
  shell: Shell,
  options: Pick<
    Parameters<Shell["openService"]>[0],
    "config" | "log" | "clockRule" | "onFatal" | "isRestore"
  >,
): Promise<Service> {
  try {
    return await shell.openService({ ...options, clock: shell.clock, world: shell.realWorld() });
  } catch (error) {
    if (error instanceof DatabaseUnavailable || (error instanceof StartError && error.isTemporary)) {
      throw new CommandFailure(error.message, EXIT.ioError);
    }
    if (error instanceof StartError || error instanceof SchemaRefused || error instanceof ServiceError) {
      throw new CommandFailure(error.message, EXIT.configuration);
    }
    if (error instanceof DatabaseBusy) {
      throw new CommandFailure("another process holds the database: try again", EXIT.failure);
    }
    throw error;
  }
}

async function recordedSettings(
  database: Database,
  { config, isRestore }: { readonly config: Config; readonly isRestore: boolean },
): Promise<RecordedSettings> {
  const row = await readInstallation(database);
  const system = (await loadEpochs(database, SYSTEM_CHAIN)).at(-1);
  if (row === null || system === undefined) {
    const isMissing = row === null && system !== undefined;
    throw new CommandFailure(
      isMissing ? MISSING_ROW : "the database contains no installation yet: start the service once",
      EXIT.configuration,
    );
  }
  return {
    logName: logNameOf(system.origin),
    // A restore uses the configured model if the recorded one cannot be read.
    model: await recordedModel(database, row.model_sha256) ?? modelForRestore(config, isRestore),
    auditRetentionDays: row.audit_retention_days ?? config.auditRetentionDays,
    evidenceRetentionDays: row.evidence_retention_days,
    peppers: isRestore ? config.peppers : recordedPepperFirst(config.peppers, row.pepper_id),
  };
}

/** The model with this hash; null if it is missing, or was altered. */
async function recordedModel(database: Database, sha256: string): Promise<ModelDocument | null> {
  const document = await readModelDocument(database, sha256);
  return document === null ? null : verifiedModel(nodeCrypto, { sha256, document });
}

/** The configured model. @throws {CommandFailure} 1 if this is not a restore. */
function modelForRestore({ model }: Config, isRestore: boolean): ModelDocument {
  if (isRestore) return model;
  throw new CommandFailure(
    "the database was altered: the scoring model that it names is missing or was altered. Put the database back, or accept it as it is: jiss restore --acknowledge REASON",
    EXIT.failure,
  );
}

/**
 * The peppers, with the recorded one first: a running service verifies keys by the pepper that it started
 * with, also during a rotation.
 * @throws {CommandFailure} 78 if the recorded pepper is none of these: a key minted here would never verify.
 */
function recordedPepperFirst(peppers: readonly string[], recorded: string | null): readonly string[] {
  const index = recorded === null ? 0 : peppers.findIndex((pepper) => pepperId(pepper) === recorded);
  if (index >= 0) return [peppers[index]!, ...peppers.toSpliced(index, 1)];
  throw new CommandFailure(
    "JISS_KEY_PEPPER is not the pepper with which the service last started: set it to the service's pepper, or first start the service with this one",
    EXIT.configuration,
  );
}

/** The part of an origin before the deployment's id. */
function logNameOf(origin: string): string {
  const { prefix, rest } = splitName(origin)!;
  if (parseChain(rest)?.family !== SYSTEM_CHAIN) throw new Error(`${origin} is not the system chain's`);
  return prefix.split("/").slice(0, -2).join("/");
}

/** Prints warnings and errors as text on standard error, each once: standard output is for the command. */
function standardErrorLog(): Log {
  const printed = new Set<string>();
  // `mend` is left out: the command itself says how to mend it.
  const printOnce = (message: string, { stack: _s, audit: _a, mend: _m, ...fields }: LogFields = {}) => {
    const tail = Object.entries(fields).map(([name, value]) => ` ${name}=${value}`).join("");
    const line = `jiss: ${message}${tail}`;
    if (!printed.has(line)) console.error(line);
    printed.add(line);
  };
  return { info: () => {}, warn: printOnce, error: printOnce };
}
