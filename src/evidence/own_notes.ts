/**
 * What a deployment signed itself, told by the keys that its process holds: they, and those that certificates join to
 * them, whatever else the database names as a key. Source: evidence design, section 11.
 */
import { splitName } from "./chain_name.ts";
import { type Crypto, hex } from "./crypto.ts";
import { type KnownCheckpoint, knownCheckpointOrNull } from "./kept.ts";
import { parseNote, verifyNote } from "./note.ts";
import { TrustedKeys } from "./trust.ts";

/** Notes that are known to be good; each takes some hundred bytes, and spares the tenth of a millisecond of a signature. */
const REMEMBERED_NOTES = 2_048;

/** What trust begins with, and what it is handed on by. */
export interface KeySources {
  /** Raw Ed25519 public keys that the process holds the private keys of. */
  readonly held: readonly Uint8Array[];
  /** Rotation certificates, from wherever: one counts only where it joins a key to one that is trusted. */
  readonly certificates: readonly string[];
}

export class OwnNotes {
  readonly #crypto: Crypto;
  #sources: KeySources = { held: [], certificates: [] };
  #sourcesName = "";
  /** For the log that was asked for last: a process has one. */
  #trust: { readonly prefix: string; readonly keys: TrustedKeys } | null = null;
  /** `origin`, a line feed, and the note. */
  readonly #good = new Set<string>();

  constructor(crypto: Crypto) {
    this.#crypto = crypto;
  }

  /** Takes other keys and certificates; the same again change nothing. */
  use(sources: KeySources): void {
    const name = [...sources.held.map(hex), ...sources.certificates].join("\n");
    if (name === this.#sourcesName) return;
    this.#sources = sources;
    this.#sourcesName = name;
    this.#trust = null;
    this.#good.clear();
  }

  /** Whether a key is held, or joined by certificates to one that is; `prefix` is the log's. */
  has(publicKey: Uint8Array, prefix: string): boolean {
    return this.#trustIn(prefix).has(publicKey);
  }

  /** The checkpoint that a note is, of this origin and signed by a key of the deployment's own; null where it is none. */
  open(note: string, origin: string): KnownCheckpoint | null {
    const checkpoint = knownCheckpointOrNull(note);
    if (checkpoint === null || checkpoint.origin !== origin) return null;
    const name = `${origin}\n${note}`;
    if (this.#good.has(name)) return checkpoint;
    const prefix = splitName(origin)?.prefix;
    if (prefix === undefined) return null;
    const keys = this.#trustIn(prefix).verifierKeys(origin);
    if (verifyNote(this.#crypto, parseNote(note), keys) !== "verified") return null;
    if (this.#good.size >= REMEMBERED_NOTES) this.#good.clear();
    this.#good.add(name);
    return checkpoint;
  }

  #trustIn(prefix: string): TrustedKeys {
    if (this.#trust?.prefix === prefix) return this.#trust.keys;
    const { held, certificates } = this.#sources;
    const pins = held.map((publicKey) => ({ publicKey, prefix: null, from: null, until: null }));
    const keys = new TrustedKeys(this.#crypto, { pins, prefix });
    for (const certificate of certificates) keys.admit(certificate);
    this.#trust = { prefix, keys };
    return keys;
  }
}
