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
import { CommandFailure, EXIT } from "./shell.ts";
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
        `--state ${directory} cannot be created or written: ${(error as Error).message}`,
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

  /** Adds findings to the memory; they are on the disk when this returns. */
  remember(found: Parameters<typeof remember>[1]): void {
    this.#memory = remember(this.#memory, found);
    const path = `${this.directory}/${MEMORY_FILE}`;
    const next = `${path}.next`;
    writeDurably(next, `${JSON.stringify(this.#memory, null, 2)}\n`, { mustBeNew: false });
    renameDurably(next, path);
  }

  [Symbol.dispose](): void {
    this.#lock.close();
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
    const reason = error instanceof SyntaxError ? error.message : "It was not written by this program.";
    throw new CommandFailure(
      `${path} cannot be used. ${reason} Replace it with a copy; if you have none, start again in another directory.`,
      EXIT.usage,
    );
  }
}
