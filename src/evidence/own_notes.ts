/**
 * Recognises the notes that a deployment signed itself. Its own keys are those that its process holds, and
 * those that certificates join to them; other keys in the database do not count. Source: evidence design,
 * section 11.
 */
import { splitName } from "./chain_name.ts";
import { type Crypto, hex } from "./crypto.ts";
import { type KnownCheckpoint, knownCheckpointOrNull } from "./kept.ts";
import { formatNote, parseNote, verifyNote } from "./note.ts";
import { TrustedKeys } from "./trust.ts";

/** The most good notes that are remembered. Each takes some hundred bytes, and saves a check of 0.1 ms. */
const REMEMBERED_NOTES = 2_048;

/** The keys with which trust begins, and the certificates that hand it on. */
export interface KeySources {
  /** Raw Ed25519 public keys whose private keys the process holds. */
  readonly held: readonly Uint8Array[];
  /** Rotation certificates from any source: one counts only if it joins a key to a trusted key. */
  readonly certificates: readonly string[];
}

export class OwnNotes {
  readonly #crypto: Crypto;
  #sources: KeySources = { held: [], certificates: [] };
  #sourcesName = "";
  /** Trusted keys for the log of the last call: a process has one log. */
  #trust: { readonly prefix: string; readonly keys: TrustedKeys } | null = null;
  /** Notes that are known to be good, each as its origin, a line feed, and the note. */
  readonly #good = new Set<string>();

  constructor(crypto: Crypto) {
    this.#crypto = crypto;
  }

  /** Sets the keys and certificates; setting the same again changes nothing. */
  setSources(sources: KeySources): void {
    const name = [...sources.held.map(hex), ...sources.certificates].join("\n");
    if (name === this.#sourcesName) return;
    this.#sources = sources;
    this.#sourcesName = name;
    this.#trust = null;
    this.#good.clear();
  }

  /** Whether a key is held, or joined by certificates to one that is held; `prefix` is the log's. */
  has(publicKey: Uint8Array, prefix: string): boolean {
    return this.#trustIn(prefix).has(publicKey);
  }

  /** The checkpoint in a note; null if it is not one of this origin that a key of the deployment signed. */
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

  /** The note without signature lines of other keys; null as in {@link open}. */
  ownPart(note: string, origin: string): string | null {
    const prefix = splitName(origin)?.prefix;
    if (prefix === undefined || this.open(note, origin) === null) return null;
    const keys = this.#trustIn(prefix).verifierKeys(origin);
    const { text, signatures } = parseNote(note);
    const own = signatures.filter((signature) =>
      verifyNote(this.#crypto, { text, signatures: [signature] }, keys) === "verified"
    );
    return formatNote({ text, signatures: own });
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
