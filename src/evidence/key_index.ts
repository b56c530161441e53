/**
 * The trusted keys of an origin by what a signature line names, so that a note is held against the few keys that it
 * names, however many are trusted; and what each kept checkpoint's signatures say, remembered from bundle to bundle.
 */
import { type Crypto, hex, utf8 } from "./crypto.ts";
import type { KnownCheckpoint } from "./kept.ts";
import { distinct, keyId, type Note, parseNote, type VerifierKey } from "./note.ts";
import type { TrustedKeys } from "./trust.ts";

interface IndexedKey extends VerifierKey {
  /** In which keys came to be trusted. */
  readonly order: number;
}

/** What a note's signatures by trusted keys say. */
export interface NoteSigners {
  /** The first trusted key whose signature is false; null where none is. */
  readonly forged: VerifierKey | null;
  /** Those whose signatures are good, in the order in which they came to be trusted. */
  readonly signers: readonly VerifierKey[];
}

/** Verdicts on signatures of kept checkpoints, by key: the same for every bundle of an input. */
export type SignatureMemory = WeakMap<KnownCheckpoint, Map<string, boolean>>;

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

  /** Holds a note against the keys that are trusted now. */
  signersOf(note: Note): NoteSigners {
    return this.#judge(
      note,
      (key, message, signature) => this.#crypto.verifyEd25519(key.publicKey, message, signature),
    );
  }

  /** The same of what an auditor kept; each signature is checked once for all bundles. */
  signersOfKept(checkpoint: KnownCheckpoint, memory: SignatureMemory): NoteSigners {
    let known = memory.get(checkpoint);
    if (known === undefined) memory.set(checkpoint, known = new Map());
    return this.#judge(parseNote(checkpoint.note), (key, message, signature) => {
      const name = `${hex(key.publicKey)} ${hex(signature)}`;
      let isGood = known.get(name);
      if (isGood === undefined) {
        known.set(name, isGood = this.#crypto.verifyEd25519(key.publicKey, message, signature));
      }
      return isGood;
    });
  }

  #judge(
    note: Note,
    isGood: (key: VerifierKey, message: Uint8Array, signature: Uint8Array) => boolean,
  ): NoteSigners {
    this.#index();
    const message = utf8(note.text);
    const [good, forged] = [new Set<IndexedKey>(), new Set<IndexedKey>()];
    for (const { name, keyId: id, signature } of distinct(note.signatures)) {
      if (name !== this.#origin) continue;
      for (const key of this.#byId.get(hex(id)) ?? []) {
        (isGood(key, message, signature) ? good : forged).add(key);
      }
    }
    const inOrder = (keys: Set<IndexedKey>) => [...keys].sort((a, b) => a.order - b.order);
    return { forged: inOrder(forged)[0] ?? null, signers: inOrder(good) };
  }

  /** Takes up the keys that came to be trusted since. */
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
