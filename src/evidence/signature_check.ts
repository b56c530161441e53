/**
 * Whose signatures a bundle's checkpoints carry, and whether each key signed only while it was in use.
 *
 * Keys follow one another by certificates, which the header hands over and SIGNING_KEY_ROTATED entries bring in.
 * After such an entry every checkpoint needs the very key that it brought in, whatever certificates the file has
 * besides: whoever holds a retired key can make any number of them. Before it the new key counts for nothing alone.
 * Source: evidence design, sections 8 and 11.
 */
import { type ChainName, splitName } from "./chain_name.ts";
import { type Crypto, equalBytes, hex } from "./crypto.ts";
import type { FindingLog } from "./finding_log.ts";
import type { FindingCode } from "./findings.ts";
import { type KnownCheckpoint, knownCheckpointOrNull } from "./kept.ts";
import { keyId, type Note, parseNote, parseVerifierKey, type VerifierKey, verifyNote } from "./note.ts";
import { orNull } from "./or_null.ts";
import { parseRotationCertificate, type Rotation } from "./rotation.ts";
import { fingerprint, type PinnedKey, TrustedKeys } from "./trust.ts";

/** A checkpoint with what its signatures say. */
export interface SignedCheckpoint {
  readonly checkpoint: KnownCheckpoint;
  /** Why no trusted key vouches for it; null where one does. */
  readonly fault: SignatureFault | null;
}

export interface SignatureFault {
  readonly code: Extract<FindingCode, "UNTRUSTED_KEY" | "BAD_SIGNATURE" | "RETIRED_KEY">;
  /** The key that it is about: name and id, as in a signature line. */
  readonly detail: string;
}

/** What a file says of its keys, oldest first. */
type KeyCandidates = readonly { readonly vkey: string; readonly cert: string | null }[];

export interface SignatureCheckOptions {
  readonly origin: string;
  readonly chain: ChainName | null;
  /** null: nothing is pinned, and the first of the file's own keys is taken. */
  readonly pins: readonly PinnedKey[] | null;
  readonly keys: KeyCandidates;
}

/** The first checkpoint that a set of keys signed before any rotation was told. */
interface FirstSigned {
  readonly keys: readonly VerifierKey[];
  readonly size: number;
  readonly line: number;
}

export class SignatureCheck {
  readonly #crypto: Crypto;
  readonly #log: FindingLog;
  readonly #origin: string;
  /** Of the origin: certificates of other logs say nothing here. */
  readonly #prefix: string;
  readonly #bindsRanges: boolean;
  readonly #trust: TrustedKeys;
  readonly #ownKey: Uint8Array | null;
  /** The key that must sign, as the newest rotation says; null until one is told. */
  #current: Uint8Array | null = null;
  /** Keys that had to sign before it, in hexadecimal. */
  readonly #earlier = new Set<string>();
  readonly #retired = new Set<string>();
  readonly #firstSigned = new Map<string, FirstSigned>();
  readonly #signers = new Map<string, Uint8Array>();
  #newest: Uint8Array | null = null;
  /** Largest sizes signed by a key in use, and by keys from before alone. */
  #currentSize = 0;
  #former: { readonly size: number; readonly line: number; readonly key: VerifierKey } | null = null;

  constructor(crypto: Crypto, log: FindingLog, { origin, chain, pins, keys }: SignatureCheckOptions) {
    this.#crypto = crypto;
    this.#log = log;
    this.#origin = origin;
    this.#prefix = splitName(origin)?.prefix ?? "";
    // The sizes are counted over all epochs of `sys`: of a later one alone they cannot be told.
    this.#bindsRanges = chain?.family === "sys" && chain.epoch === 1;
    this.#ownKey = keyOf(crypto, keys[0]?.vkey);
    this.#trust = new TrustedKeys(crypto, {
      pins: pins ?? pinsOf(this.#ownKey),
      prefix: this.#prefix,
    });
    for (const { cert } of keys) if (cert !== null) this.#admit(cert);
  }

  /** Whether a checkpoint of the bundle carries a good signature by a key that is in use, or is proven by another. */
  get sawTrusted(): boolean {
    return this.#newest !== null;
  }

  /** The trusted keys whose good signatures it carries. */
  get signers(): readonly Uint8Array[] {
    return [...this.#signers.values()];
  }

  /**
   * The bundle is over. Where its newest checkpoint is signed by keys from before alone, whoever has come to hold one
   * of them could have made all of it, unless a root that is known from elsewhere, of this size or more, agrees.
   */
  finish(knownSize: number): void {
    if (this.#former === null || this.#former.size <= this.#currentSize) return;
    const { size, line, key } = this.#former;
    if (size <= knownSize) this.#newest ??= key.publicKey;
    else this.#log.add("EARLIER_KEY_ONLY", { seq: size - 1, line, detail: this.#describe(key) });
  }

  /** Whether a key that is in use signed what the auditor kept. */
  isByCurrentKey({ note }: KnownCheckpoint): boolean {
    const current = this.#trust.verifierKeys(this.#origin).filter(({ publicKey }) =>
      this.#trust.isCurrent(publicKey)
    );
    return verifyNote(this.#crypto, parseNote(note), current) === "verified";
  }

  /** Of the newest trusted key that signed, or, where none did, of the file's own. */
  get keyFingerprint(): string | null {
    const key = this.#newest ?? this.#ownKey;
    return key === null ? null : fingerprint(this.#crypto, key);
  }

  /** Reads a signed checkpoint of this bundle's origin or another's; null where the text is none. */
  open(text: string, line: number): SignedCheckpoint | null {
    const checkpoint = knownCheckpointOrNull(text);
    if (checkpoint === null) return null;
    return { checkpoint, fault: this.#faultOf(parseNote(text), { size: checkpoint.size, line }) };
  }

  /** Whether a key that is trusted, as far as the header tells, signed what the auditor kept. */
  vouchesFor({ note }: KnownCheckpoint): boolean {
    const keys = this.#trust.verifierKeys(this.#origin);
    return verifyNote(this.#crypto, parseNote(note), keys) === "verified";
  }

  /**
   * A SIGNING_KEY_ROTATED entry: with `overlap` the certificate's new key comes in, without it the old one is
   * retired. False where the certificate is none, or hands on from another key than the one in use.
   */
  rotate({ cert, overlap }: { readonly cert: string; readonly overlap: boolean }): boolean {
    const rotation = this.#admit(cert);
    if (rotation === null) return false;
    if (!this.#trust.has(rotation.newKey)) return true;
    if (!overlap) this.#retired.add(hex(rotation.oldKey));
    else return this.#bringIn(rotation);
    return true;
  }

  /** A SIGNING_KEY_ROTATED entry whose certificate is withheld: any trusted key may have its turn from here on. */
  loseTrack(): void {
    this.#current = null;
    this.#earlier.clear();
    this.#firstSigned.clear();
  }

  /** What a certificate of this log says; null where it is none. */
  #admit(cert: string): Rotation | null {
    const rotation = parseRotationCertificate(this.#crypto, cert);
    if (rotation === null || rotation.prefix !== this.#prefix) return null;
    this.#trust.admit(cert);
    return rotation;
  }

  /** From here on the new key must sign; what was signed before without the old one counts for nothing. */
  #bringIn({ oldKey, newKey }: Rotation): boolean {
    if (this.#current !== null && !equalBytes(this.#current, oldKey)) return false;
    this.#current = newKey;
    this.#earlier.add(hex(oldKey));
    for (const { keys, size, line } of this.#firstSigned.values()) {
      if (keys.some(({ publicKey }) => equalBytes(publicKey, oldKey))) continue;
      this.#log.add("UNTRUSTED_KEY", {
        seq: size - 1,
        line,
        detail: `${this.#describe(keys[0]!)} was not in use yet`,
      });
    }
    this.#firstSigned.clear();
    return true;
  }

  #faultOf(note: Note, at: { readonly size: number; readonly line: number }): SignatureFault | null {
    const signers: VerifierKey[] = [];
    for (const key of this.#trust.verifierKeys(this.#origin)) {
      const verdict = verifyNote(this.#crypto, note, [key]);
      if (verdict === "bad_signature") return { code: "BAD_SIGNATURE", detail: this.#describe(key) };
      if (verdict === "verified") signers.push(key);
    }
    const fault = signers.length === 0 ? untrusted(note) : this.#faultOfSigners(signers, at.size);
    if (fault === null) this.#noteSigners(signers, at);
    return fault;
  }

  /** Whether keys whose signatures are good were in use at this size. */
  #faultOfSigners(signers: readonly VerifierKey[], size: number): SignatureFault | null {
    for (const key of signers) {
      if (this.#retired.has(hex(key.publicKey))) return { code: "RETIRED_KEY", detail: this.#describe(key) };
      const { from, until } = this.#bindsRanges
        ? this.#trust.rangeOf(key.publicKey)
        : { from: null, until: null };
      if (from !== null && size < from) return { code: "UNTRUSTED_KEY", detail: this.#describe(key) };
      if (until !== null && size > until) return { code: "RETIRED_KEY", detail: this.#describe(key) };
    }
    const current = this.#current;
    if (current === null || signers.some(({ publicKey }) => equalBytes(publicKey, current))) return null;
    const late = signers.find(({ publicKey }) => this.#earlier.has(hex(publicKey)));
    return late === undefined
      ? { code: "UNTRUSTED_KEY", detail: this.#describe(signers[0]!) }
      : { code: "RETIRED_KEY", detail: this.#describe(late) };
  }

  #noteSigners(keys: readonly VerifierKey[], at: { readonly size: number; readonly line: number }): void {
    const name = keys.map((key) => hex(key.publicKey)).join(" ");
    for (const { publicKey } of keys) this.#signers.set(hex(publicKey), publicKey);
    if (this.#current === null && !this.#firstSigned.has(name)) this.#firstSigned.set(name, { keys, ...at });
    const current = keys.find(({ publicKey }) => this.#trust.isCurrent(publicKey));
    if (current === undefined) {
      if (at.size > (this.#former?.size ?? 0)) this.#former = { ...at, key: keys[0]! };
      return;
    }
    this.#currentSize = Math.max(this.#currentSize, at.size);
    this.#newest = this.#current ?? current.publicKey;
  }

  #describe(key: VerifierKey): string {
    return `${key.name}+${hex(keyId(this.#crypto, key))}`;
  }
}

function untrusted({ signatures: [first] }: Note): SignatureFault {
  return { code: "UNTRUSTED_KEY", detail: `${first!.name}+${hex(first!.keyId)}` };
}

function keyOf(crypto: Crypto, vkey: string | undefined): Uint8Array | null {
  return vkey === undefined ? null : orNull(() => parseVerifierKey(crypto, vkey).publicKey);
}

function pinsOf(publicKey: Uint8Array | null): readonly PinnedKey[] {
  return publicKey === null ? [] : [{ publicKey, prefix: null, from: null, until: null }];
}
