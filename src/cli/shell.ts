/** What a subcommand is handed: the outside world, and the composition that `serve` and `dev` run. */
import type { Config, StorageConfig } from "../config/config.ts";
import type { Environment } from "../config/environment.ts";
import type { ComposeOptions, OpenStoredOptions, Service } from "../service/compose.ts";
import type { Bounds } from "../http/connections.ts";
import type { Clock } from "../domain/world.ts";
import type { ProcessLog } from "../observability/log.ts";
import type { World } from "../domain/world.ts";
import type { Model } from "../scoring/model.ts";
import type { Database } from "../store/database.ts";
import type { SchemaTrouble } from "../store/schema_check.ts";

export interface Shell {
  readonly version: string;
  /** Of the database's schema, as this program knows it. */
  readonly schemaVersion: number;
  readonly clock: Clock;
  readEnvironment(): Environment;
  /** A command of this program as whoever started it can run it, in a shell. */
  commandLine(args: string): string;
  realWorld(): World;
  generateSecret(): string;
  generateSigningKey(): string;
  modelOf(document: Config["model"]): Model;
  standardLog(format: Config["logFormat"]): ProcessLog;
  /** Waits until no other process starts or changes files there, and holds it so until disposed of. */
  lockDirectory(directory: string): Promise<Disposable>;
  /** Keeps processes from working with what is in the directory until disposed of; null where one does. */
  keepStopped(directory: string): Promise<Disposable | null>;
  /** Brings a database's file to the schema of this program. @throws {SchemaRefused}. */
  bringUpToDate(path: string): Promise<void>;
  /** In what the schema of a database of this program's version is another one; null if in nothing. */
  schemaTroubleOf(database: Database): Promise<SchemaTrouble | null>;
  /** The key in an organization's key file, which is called `name`; one that is minted is written there first. */
  keyInFile(path: string, options: { readonly name: string; readonly mint: () => string }): string;
  /** The database as it stands, for reading. @throws where it cannot be opened. */
  openStored(storage: StorageConfig, options: OpenStoredOptions): Database;
  /** Of the listeners, where they are not those of the program. */
  readonly bounds?: Partial<Bounds>;
  openService(options: ComposeOptions): Promise<Service>;
}

/** Exit codes of sysexits.h where one fits. */
export const EXIT = {
  ok: 0,
  failure: 1,
  usage: 2,
  ioError: 74,
  configuration: 78,
  interrupted: 130,
} as const;

/** Ends the command with a message on standard error and an exit code. */
export class CommandFailure extends Error {
  override readonly name = "CommandFailure";

  constructor(message: string, readonly exitCode: number) {
    super(message);
  }
}

/** A file, an address or a write that the system refused: its message says which, and a stack would only hide it. */
export function isSystemError(error: unknown): error is Error {
  return Object.values(Deno.errors).some((kind) => error instanceof kind) ||
    (error instanceof Error && /\(os error \d+\)/.test(error.message));
}
