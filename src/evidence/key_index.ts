/**
 * An index of an origin's trusted keys by the key id in a signature line: a note is checked with only the few
 * keys that it names, however many are trusted. Verdicts on the signatures of kept checkpoints are remembered
 * from bundle to bundle.
 */
import { type Crypto, hex, utf8 } from "./crypto.ts";
import type { KnownCheckpoint } from "./kept.ts";
import { distinct, keyId, type Note, parseNote, type VerifierKey } from "./note.ts";
import type { TrustedKeys } from "./trust.ts";

interface IndexedKey extends VerifierKey {
  /** Position in the order in which keys came to be trusted. */
  readonly order: number;
}

/** The verdicts on a note's signatures by trusted keys. */
export interface NoteSigners {
  /** The first trusted key whose signature is bad; null if there is none. */
  readonly forged: VerifierKey | null;
  /** The keys whose signatures are good, in the order in which they came to be trusted. */
  readonly signers: readonly VerifierKey[];
}

/** A parsed note, ready to be checked with keys. */
interface ReadNote {
  readonly message: Uint8Array;
  /** Each different signature, with its key id in hexadecimal. */
  readonly signatures: readonly {
    readonly name: string;
    readonly id: string;
    readonly signature: Uint8Array;
  }[];
}

interface RememberedNote extends ReadNote {
  /** Verdicts by key and signature. */
  readonly verdicts: Map<string, boolean>;
}

/** Parsed kept checkpoints and the verdicts on their signatures, shared by all bundles of an input. */
export type SignatureMemory = WeakMap<KnownCheckpoint, RememberedNote>;

function readNote(note: Note): ReadNote {
  const signatures = distinct(note.signatures).map(({ name, keyId: id, signature }) => ({
    name,
    id: hex(id),
    signature,
  }));
  return { message: utf8(note.text), signatures };
}

export class KeyIndex {
  readonly #crypto: Crypto;
  readonly #origin: string;
  readonly #trust: TrustedKeys;
  readonly #byId = new Map<string, IndexedKey[]>();
  #indexed = 0;

  constructor(crypto: Crypto, origin: string, trust: TrustedKeys) {
    this.#crypto = crypto;
    this.#origin = origin;
    this.#trust = trust;
  }

  /** Checks a note with the keys that are trusted now. */
  signersOf(note: Note): NoteSigners {
    return this.#judge(
      readNote(note),
      (key, message, signature) => this.#crypto.verifyEd25519(key.publicKey, message, signature),
    );
  }

  /** Checks a kept checkpoint in the same way; each signature is checked once for all bundles. */
  signersOfKept(checkpoint: KnownCheckpoint, memory: SignatureMemory): NoteSigners {
    let known = memory.get(checkpoint);
    if (known === undefined) {
      memory.set(checkpoint, known = { ...readNote(parseNote(checkpoint.note)), verdicts: new Map() });
    }
    const { verdicts } = known;
    return this.#judge(known, (key, message, signature) => {
      const name = `${hex(key.publicKey)} ${hex(signature)}`;
      let isGood = verdicts.get(name);
      if (isGood === undefined) {
        verdicts.set(name, isGood = this.#crypto.verifyEd25519(key.publicKey, message, signature));
      }
      return isGood;
    });
  }

  #judge(
    { message, signatures }: ReadNote,
    isGood: (key: VerifierKey, message: Uint8Array, signature: Uint8Array) => boolean,
  ): NoteSigners {
    this.#index();
    const [good, forged] = [new Set<IndexedKey>(), new Set<IndexedKey>()];
    for (const { name, id, signature } of signatures) {
      if (name !== this.#origin) continue;
      for (const key of this.#byId.get(id) ?? []) {
        (isGood(key, message, signature) ? good : forged).add(key);
      }
    }
    const sortByOrder = (keys: Set<IndexedKey>) => [...keys].sort((a, b) => a.order - b.order);
    return { forged: sortByOrder(forged)[0] ?? null, signers: sortByOrder(good) };
  }

  /** Adds the keys that came to be trusted since the last call. */
  #index(): void {
    if (this.#indexed === this.#trust.size) return;
    for (const key of this.#trust.verifierKeys(this.#origin).slice(this.#indexed)) {
      const id = hex(keyId(this.#crypto, key));
      this.#byId.set(id, [...this.#byId.get(id) ?? [], { ...key, order: this.#indexed }]);
      this.#indexed += 1;
    }
    this.#indexed = this.#trust.size;
  }
}
