/**
 * The keys that an auditor trusts and the checkpoints that the auditor kept, from `--key` and `--checkpoint`.
 */
import { splitName } from "../evidence/chain_name.ts";
import { checkpointsIn, type KnownCheckpoint } from "../evidence/kept.ts";
import { nodeCrypto } from "../evidence/node_crypto.ts";
import { parseNote, type VerifierKey, verifyNote } from "../evidence/note.ts";
import { parsePins, type PinnedKey, TrustedKeys } from "../evidence/trust.ts";
import { CommandFailure, EXIT } from "./shell.ts";
import { openInput, STANDARD_INPUT, textOf } from "./verify_input.ts";

const FILE_LIMIT_BYTES = 16_777_216;
/** The text of a key, not a path: `name+8 hexadecimal digits+base64`, or the text of another kind of key. */
const KEY_TEXT = /^[^\s+]+\+[0-9a-f]{8}\+[A-Za-z0-9+/=]+$|^PRIVATE\+KEY\+|-----BEGIN /;

/** The keys of one `--key`. */
export interface KeyFile {
  /** The path of the file; null if the text of a key was given. */
  readonly path: string | null;
  readonly keys: readonly PinnedKey[];
}

/**
 * The keys of each `--key` separately: those in a file, or the text of a verifier key.
 * @throws {CommandFailure} 2 if one is no key.
 */
export async function readPins(given: readonly string[]): Promise<readonly KeyFile[]> {
  const files: KeyFile[] = [];
  for (const value of given) {
    if (value === "") throw new CommandFailure("--key is empty: give a file or a key", EXIT.usage);
    const isText = KEY_TEXT.test(value);
    // A text that may be a key is not repeated in messages.
    const text = isText ? value : await readText(value);
    const keys = parseInput(`--key ${isText ? "TEXT" : value}`, () => parsePins(nodeCrypto, text));
    files.push({ path: isText ? null : value, keys });
  }
  return files;
}

/** The checkpoints of one `--checkpoint`. */
export interface CheckpointFile {
  readonly path: string;
  readonly checkpoints: readonly KnownCheckpoint[];
}

/** The checkpoints of each `--checkpoint` file. @throws {CommandFailure} 2 if a file contains none. */
export async function readCheckpoints(paths: readonly string[]): Promise<readonly CheckpointFile[]> {
  const files: CheckpointFile[] = [];
  for (const path of paths) {
    const text = await readText(path);
    files.push({ path, checkpoints: parseInput(`--checkpoint ${path}`, () => checkpointsIn(text)) });
  }
  return files;
}

async function readText(file: string): Promise<string> {
  // Standard input is for the files to verify: the trusted keys must not come with them.
  if (file === STANDARD_INPUT) {
    throw new CommandFailure(
      "keys and checkpoints cannot be read from standard input: name a file",
      EXIT.usage,
    );
  }
  const input = await openInput(file);
  try {
    const text = await textOf(input, FILE_LIMIT_BYTES);
    if (text !== null) return text;
    throw new CommandFailure(
      `${file} is not a text file, or is too large for a key or a checkpoint`,
      EXIT.usage,
    );
  } finally {
    input.close();
  }
}

function parseInput<Value>(what: string, parse: () => Value): Value {
  try {
    return parse();
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new CommandFailure(`${what}: ${error.message}`, EXIT.usage);
  }
}

/** For any log: the pinned keys, and the keys that certificates add to them. */
export class AuditorTrust {
  readonly #pins: readonly PinnedKey[];
  readonly #certificates: readonly string[];
  readonly #logs = new Map<string, TrustedKeys>();

  /** @param certificates - certificates from bundles; not proven yet. */
  constructor(pins: readonly PinnedKey[], certificates: readonly string[]) {
    this.#pins = pins;
    this.#certificates = certificates;
  }

  /** The keys by which signatures of an origin are verified. */
  readonly keysFor = (origin: string): readonly VerifierKey[] => this.#logOf(origin).verifierKeys(origin);

  #logOf(origin: string): TrustedKeys {
    const prefix = splitName(origin)?.prefix ?? "";
    let keys = this.#logs.get(prefix);
    if (keys === undefined) {
      keys = new TrustedKeys(nodeCrypto, { pins: this.#pins, prefix });
      for (const certificate of this.#certificates) keys.admit(certificate);
      this.#logs.set(prefix, keys);
    }
    return keys;
  }

  /** Whether a trusted key signed the checkpoint, and no signature of a trusted key is false. */
  isSigned({ origin, note }: KnownCheckpoint): boolean {
    return verifyNote(nodeCrypto, parseNote(note), this.keysFor(origin)) === "verified";
  }

  /** The trusted keys that signed the checkpoint. */
  signersOf({ origin, note }: KnownCheckpoint): readonly Uint8Array[] {
    const signed = parseNote(note);
    return this.keysFor(origin).filter((key) => verifyNote(nodeCrypto, signed, [key]) === "verified")
      .map(({ publicKey }) => publicKey);
  }

  /** The trusted keys in use that signed the checkpoint. A former key may be in anybody's hands by now. */
  currentSignersOf(checkpoint: KnownCheckpoint): readonly Uint8Array[] {
    const log = this.#logOf(checkpoint.origin);
    return this.signersOf(checkpoint).filter((key) => log.isCurrent(key));
  }

  /** The keys of a log that any of `publicKeys` superseded. */
  supersededBy(origin: string, publicKeys: readonly Uint8Array[]): readonly Uint8Array[] {
    return this.#logOf(origin).supersededBy(publicKeys);
  }
}
