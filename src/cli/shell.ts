/** The argument of every subcommand: the outside world, and the composition that `serve` and `dev` run. */
import type { Config, StorageConfig } from "../config/config.ts";
import type { Environment } from "../config/environment.ts";
import type { ComposeOptions, OpenStoredOptions, Service } from "../service/compose.ts";
import type { Bounds } from "../http/connections.ts";
import type { Clock, World } from "../domain/world.ts";
import type { ProcessLog } from "../observability/log.ts";
import type { Model } from "../scoring/model.ts";
import type { Database } from "../store/database.ts";
import type { SchemaTrouble } from "../store/schema_check.ts";

export interface Shell {
  readonly version: string;
  /** The schema version of the database that this program works with. */
  readonly schemaVersion: number;
  readonly clock: Clock;
  readEnvironment(): Environment;
  /** A command line of this program that its user can run in a shell. */
  commandLine(args: string): string;
  realWorld(): World;
  generateSecret(): string;
  generateSigningKey(): string;
  modelOf(document: Config["model"]): Model;
  standardLog(format: Config["logFormat"]): ProcessLog;
  /**
   * Waits until no other process starts or changes files in the directory, and locks it until disposed of.
   */
  lockDirectory(directory: string): Promise<Disposable>;
  /** Keeps other processes from using the directory's data until disposed of; null if one uses it already. */
  reserveData(directory: string): Promise<Disposable | null>;
  /** Brings a database's file to the schema of this program. @throws {SchemaRefused}. */
  bringUpToDate(path: string): Promise<void>;
  /**
   * How the schema of a database of this program's version differs from this program's; null if it does not.
   */
  schemaTroubleOf(database: Database): Promise<SchemaTrouble | null>;
  /**
   * The key in an organization's key file; if there is none, mints one and writes it. Errors name it `name`.
   */
  keyInFile(path: string, options: { readonly name: string; readonly mint: () => string }): string;
  /** Opens the database unchanged, for reading. @throws if it cannot be opened. */
  openStored(storage: StorageConfig, options: OpenStoredOptions): Database;
  /** Bounds of the listeners that differ from the program's own. */
  readonly bounds?: Partial<Bounds>;
  openService(options: ComposeOptions): Promise<Service>;
}

/** Exit codes: those of sysexits.h if one fits. */
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

/** Whether the system refused a file, an address or a write. The message is enough: a stack would hide it. */
export function isSystemError(error: unknown): error is Error {
  return Object.values(Deno.errors).some((kind) => error instanceof kind) ||
    (error instanceof Error && /\(os error \d+\)/.test(error.message));
}
