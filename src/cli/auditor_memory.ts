/**
 * An auditor's directory: the checkpoints and keys of earlier visits. The next visit is compared with them.
 *
 * A visit locks it from reading to writing, so that two visits at once see each other's findings. It never
 * forgets a checkpoint, and on the disk it is always whole.
 */
import { fromHex } from "../evidence/crypto.ts";
import {
  emptyMemory,
  type KnownCheckpoint,
  type Memory,
  memorySchema,
  recallCheckpoints,
  remember,
} from "../evidence/kept.ts";
import { exists } from "./init.ts";
import { CommandFailure, EXIT, isSystemError } from "./shell.ts";
import { renameDurably, writeDurably } from "../store/durable_file.ts";

const MEMORY_FILE = "jiss-memory.json";
const LOCK_FILE = "lock";
const PRIVATE_FILE = 0o600;
const PRIVATE_DIRECTORY = 0o700;

export class AuditorMemory implements Disposable {
  readonly directory: string;
  readonly #lock: Deno.FsFile;
  #memory: Memory;

  private constructor(
    directory: string,
    { lock, memory }: { readonly lock: Deno.FsFile; readonly memory: Memory },
  ) {
    this.directory = directory;
    this.#lock = lock;
    this.#memory = memory;
  }

  /**
   * Opens the directory, and waits while another visit has it. Makes it if it is missing and `create` is set.
   * @throws {CommandFailure} 2 if it cannot be used.
   */
  static async open(directory: string, { create }: { readonly create: boolean }): Promise<AuditorMemory> {
    if (directory === "") throw new CommandFailure("--state needs the path of a directory", EXIT.usage);
    if (!create && !exists(`${directory}/${MEMORY_FILE}`)) {
      throw new CommandFailure(
        `--state ${directory} contains nothing yet: give --key at the first visit`,
        EXIT.usage,
      );
    }
    let lock: Deno.FsFile;
    try {
      Deno.mkdirSync(directory, { recursive: true, mode: PRIVATE_DIRECTORY });
      lock = Deno.openSync(`${directory}/${LOCK_FILE}`, { create: true, write: true, mode: PRIVATE_FILE });
    } catch (error) {
      throw new CommandFailure(
        `--state ${directory} cannot be created or written: ${whyRefused(error)}`,
        EXIT.usage,
      );
    }
    await lock.lock(true);
    try {
      return new AuditorMemory(directory, { lock, memory: readMemory(`${directory}/${MEMORY_FILE}`) });
    } catch (error) {
      lock.close();
      throw error;
    }
  }

  /** Raw public keys that earlier visits trusted. */
  get keys(): readonly Uint8Array[] {
    return this.#memory.keys.map(fromHex);
  }

  /** Sets of raw public keys from earlier visits; all keys of a set have one holder. */
  get holders(): readonly (readonly Uint8Array[])[] {
    return (this.#memory.holders ?? []).map((keys) => keys.map(fromHex));
  }

  get checkpoints(): readonly KnownCheckpoint[] {
    return recallCheckpoints(this.#memory);
  }

  /**
   * Adds findings to the memory; they are on the disk when this returns.
   * @throws {CommandFailure} 2 if they cannot be written; the memory on the disk is then the one before.
   */
  remember(found: Parameters<typeof remember>[1]): void {
    const memory = remember(this.#memory, found);
    const path = `${this.directory}/${MEMORY_FILE}`;
    const next = `${path}.next`;
    try {
      writeDurably(next, `${JSON.stringify(memory, null, 2)}\n`, { mustBeNew: false });
      renameDurably(next, path);
    } catch (error) {
      if (!isSystemError(error)) throw error;
      removeIfThere(next);
      throw new CommandFailure(
        `this visit was not kept: --state ${this.directory} cannot be written: ${whyRefused(error)}`,
        EXIT.usage,
      );
    }
    this.#memory = memory;
  }

  [Symbol.dispose](): void {
    this.#lock.close();
  }
}

/** The reason why the system refused a directory or a file, in words. */
function whyRefused(error: unknown): string {
  if (error instanceof Deno.errors.NotCapable) return "this program may not write there";
  if (error instanceof Deno.errors.AlreadyExists) return "it is a file, not a directory";
  return (error as Error).message;
}

function removeIfThere(path: string): void {
  try {
    Deno.removeSync(path);
  } catch (error) {
    if (!isSystemError(error)) throw error;
  }
}

/** @throws {CommandFailure} 2 if the file is not a memory. */
function readMemory(path: string): Memory {
  if (!exists(path)) return emptyMemory();
  try {
    const memory = memorySchema.parse(JSON.parse(Deno.readTextFileSync(path)));
    recallCheckpoints(memory);
    return memory;
  } catch (error) {
    const reason = error instanceof SyntaxError
      ? `It is not JSON (${error.message}).`
      : "It was not written by this program.";
    throw new CommandFailure(
      `${path} cannot be used. ${reason} Replace it with a copy; if you have none, start again in another directory.`,
      EXIT.usage,
    );
  }
}
