/**
 * Checks which keys signed a bundle's checkpoints, and whether each key signed only while it was in use.
 *
 * Keys follow one another by certificates, which stand in the header and in SIGNING_KEY_ROTATED entries.
 * After such an entry every checkpoint needs the key that it brought in, even if the file has other
 * certificates: anybody who holds a retired key can make any number of them. Before the entry, a signature by
 * the new key alone does not count.
 * Source: evidence design, sections 8 and 11.
 */
import { type ChainName, splitName } from "./chain_name.ts";
import { type Crypto, equalBytes, hex } from "./crypto.ts";
import type { FindingLog } from "./finding_log.ts";
import type { FindingCode } from "./findings.ts";
import { type KnownCheckpoint, knownCheckpointOrNull } from "./kept.ts";
import type { KeyHolders } from "./key_holders.ts";
import { KeyIndex, type SignatureMemory } from "./key_index.ts";
import { SIGNER_SET_LIMIT } from "./limits.ts";
import { keyId, type Note, parseNote, parseVerifierKey, type VerifierKey } from "./note.ts";
import { orNull } from "./or_null.ts";
import { parseRotationCertificate, type Rotation } from "./rotation.ts";
import { fingerprint, type PinnedKey, TrustedKeys } from "./trust.ts";

/** A checkpoint with the verdict on its signatures. */
export interface SignedCheckpoint {
  readonly checkpoint: KnownCheckpoint;
  /** The reason why its signatures do not count; null if they do. */
  readonly fault: SignatureFault | null;
}

interface SignatureFault {
  readonly code: Extract<FindingCode, "UNTRUSTED_KEY" | "BAD_SIGNATURE" | "RETIRED_KEY">;
  /** The key that causes the fault: name and id, as in a signature line. */
  readonly detail: string;
}

/** The keys that a file's header lists, oldest first. */
type KeyCandidates = readonly { readonly vkey: string; readonly cert: string | null }[];

export interface SignatureCheckOptions {
  readonly origin: string;
  readonly chain: ChainName | null;
  /** null if nothing is pinned: then the first of the file's own keys is trusted. */
  readonly pins: readonly PinnedKey[] | null;
  readonly keys: KeyCandidates;
  /** Line number of the header. */
  readonly line: number;
  readonly memory: SignatureMemory;
  /** Holders of keys in the whole input: every valid certificate is added. */
  readonly holders: KeyHolders;
}

/** Facts about a bundle's signatures that are needed at the end of the input. */
export interface SignatureFacts {
  /** Fingerprint of the newest key in use that signed; null if none did. */
  readonly newest: string | null;
  /** Fingerprint of the first of the file's own keys; null if that cannot be read. */
  readonly own: string | null;
  /** The newest checkpoint, if only earlier keys signed it: its size, its line, and the key; else null. */
  readonly former: {
    readonly size: number;
    readonly line: number;
    readonly name: string;
    readonly fingerprint: string;
  } | null;
}

/** The first checkpoint that a set of keys signed before any SIGNING_KEY_ROTATED entry was read. */
interface FirstSigned {
  readonly keys: readonly VerifierKey[];
  readonly size: number;
  readonly line: number;
}

export class SignatureCheck {
  readonly #crypto: Crypto;
  readonly #log: FindingLog;
  readonly #origin: string;
  /** Prefix of the origin: certificates of other logs make no key trusted here. */
  readonly #prefix: string;
  readonly #bindsRanges: boolean;
  readonly #trust: TrustedKeys;
  readonly #index: KeyIndex;
  readonly #memory: SignatureMemory;
  readonly #holders: KeyHolders;
  readonly #ownKey: Uint8Array | null;
  /** The key that must sign, by the newest rotation entry; null before the first one. */
  #current: Uint8Array | null = null;
  /** Keys that had to sign before `#current`, in hexadecimal. */
  readonly #earlier = new Set<string>();
  readonly #retired = new Set<string>();
  readonly #firstSigned = new Map<string, FirstSigned>();
  readonly #signers = new Map<string, Uint8Array>();
  #newest: Uint8Array | null = null;
  /**
   * The largest size that a key in use signed. `#former` has the largest size that only earlier keys signed.
   */
  #currentSize = 0;
  #former: { readonly size: number; readonly line: number; readonly key: VerifierKey } | null = null;

  #hasLostSigners = false;
  #hasLostCertificates = false;

  constructor(
    crypto: Crypto,
    log: FindingLog,
    { origin, chain, pins, keys, line, memory, holders }: SignatureCheckOptions,
  ) {
    this.#crypto = crypto;
    this.#log = log;
    this.#origin = origin;
    this.#prefix = splitName(origin)?.prefix ?? "";
    // The sizes count entries over all epochs of `sys`: the bundle of a later epoch alone does not give them.
    this.#bindsRanges = chain?.family === "sys" && chain.epoch === 1;
    this.#ownKey = keyOf(crypto, keys[0]?.vkey);
    this.#trust = new TrustedKeys(crypto, {
      pins: pins ?? pinsOf(this.#ownKey),
      prefix: this.#prefix,
    });
    this.#index = new KeyIndex(crypto, origin, this.#trust);
    this.#memory = memory;
    this.#holders = holders;
    for (const { cert } of keys) if (cert !== null) this.#admit(cert, { line });
  }

  /** The trusted keys with good signatures in the bundle, one of each holder. */
  get signers(): readonly Uint8Array[] {
    return this.#holders.oneOfEach([...this.#signers.values()]);
  }

  /** The facts that are needed after the bundle is over. */
  get facts(): SignatureFacts {
    const fingerprintOf = (key: Uint8Array | null) => key === null ? null : fingerprint(this.#crypto, key);
    const former = this.#former !== null && this.#former.size > this.#currentSize ? this.#former : null;
    return {
      newest: fingerprintOf(this.#newest),
      own: fingerprintOf(this.#ownKey),
      former: former && {
        size: former.size,
        line: former.line,
        name: this.#describe(former.key),
        fingerprint: fingerprint(this.#crypto, former.key.publicKey),
      },
    };
  }

  /** Whether a key that is in use signed a kept checkpoint. */
  isByCurrentKey(checkpoint: KnownCheckpoint): boolean {
    const { signers } = this.#index.signersOfKept(checkpoint, this.#memory);
    return signers.some(({ publicKey }) => this.#trust.isCurrent(publicKey));
  }

  /** Reads a signed checkpoint, which may name another origin; null if the text is none. */
  open(text: string, line: number): SignedCheckpoint | null {
    const checkpoint = knownCheckpointOrNull(text);
    if (checkpoint === null) return null;
    return { checkpoint, fault: this.#faultOf(parseNote(text), { size: checkpoint.size, line }) };
  }

  /** Whether a key that is trusted so far signed a kept checkpoint, and no signature by such a key is bad. */
  isSignedByTrusted(checkpoint: KnownCheckpoint): boolean {
    const { forged, signers } = this.#index.signersOfKept(checkpoint, this.#memory);
    return forged === null && signers.length > 0;
  }

  /**
   * Takes a SIGNING_KEY_ROTATED entry. If `overlap` is true, the certificate's new key comes in; if not, the
   * old key is retired. Returns false if the certificate is not valid for this log, or brings in a key but
   * its old key is not the one in use.
   */
  rotate({ cert, overlap }: { readonly cert: string; readonly overlap: boolean }, seq: number): boolean {
    const rotation = this.#admit(cert, { seq });
    if (rotation === null) return false;
    if (!this.#trust.has(rotation.newKey)) return true;
    if (!overlap) this.#retired.add(hex(rotation.oldKey));
    else return this.#takeIntoUse(rotation);
    return true;
  }

  /**
   * Takes a SIGNING_KEY_ROTATED entry whose certificate is withheld: from here on any trusted key may sign.
   */
  forgetKeyInUse(): void {
    this.#current = null;
    this.#earlier.clear();
    this.#firstSigned.clear();
  }

  /** Takes a certificate. Returns its content; null if it is not a valid certificate of this log. */
  #admit(cert: string, place: { readonly line?: number; readonly seq?: number }): Rotation | null {
    const rotation = parseRotationCertificate(this.#crypto, cert);
    if (rotation === null) return null;
    const isJoined = this.#holders.certify(rotation);
    // A certificate of another log shows who holds its keys, but makes no key trusted here.
    const isOwn = rotation.prefix === this.#prefix;
    const isTaken = !isOwn || this.#trust.add(rotation);
    if (!(isJoined && isTaken) && !this.#hasLostCertificates) {
      this.#hasLostCertificates = true;
      this.#log.add("LIMIT_EXCEEDED", { ...place, detail: "one certificate too many" });
    }
    return isOwn ? rotation : null;
  }

  /** From here on the new key must sign. Reports earlier checkpoints that the old key did not sign. */
  #takeIntoUse({ oldKey, newKey }: Rotation): boolean {
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
    const { forged, signers } = this.#index.signersOf(note);
    if (forged !== null) return { code: "BAD_SIGNATURE", detail: this.#describe(forged) };
    const fault = signers.length === 0 ? untrustedKeyFault(note) : this.#faultOfSigners(signers, at.size);
    if (fault === null) this.#noteSigners(signers, at);
    return fault;
  }

  /** The fault if the keys with good signatures were not in use at this size; null if they were. */
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
    if (this.#current === null && !this.#firstSigned.has(name)) this.#noteFirst(name, { keys, ...at });
    const current = keys.find(({ publicKey }) => this.#trust.isCurrent(publicKey));
    if (current === undefined) {
      if (at.size > (this.#former?.size ?? 0)) this.#former = { ...at, key: keys[0]! };
      return;
    }
    this.#currentSize = Math.max(this.#currentSize, at.size);
    this.#newest = this.#current ?? current.publicKey;
  }

  #noteFirst(name: string, first: FirstSigned): void {
    if (this.#firstSigned.size < SIGNER_SET_LIMIT) {
      this.#firstSigned.set(name, first);
    } else if (!this.#hasLostSigners) {
      this.#hasLostSigners = true;
      const detail = `checkpoints by more than ${SIGNER_SET_LIMIT} different sets of keys`;
      this.#log.add("LIMIT_EXCEEDED", { line: first.line, detail });
    }
  }

  #describe(key: VerifierKey): string {
    return `${key.name}+${hex(keyId(this.#crypto, key))}`;
  }
}

function untrustedKeyFault({ signatures: [first] }: Note): SignatureFault {
  return { code: "UNTRUSTED_KEY", detail: `${first!.name}+${hex(first!.keyId)}` };
}

function keyOf(crypto: Crypto, vkey: string | undefined): Uint8Array | null {
  return vkey === undefined ? null : orNull(() => parseVerifierKey(crypto, vkey).publicKey);
}

function pinsOf(publicKey: Uint8Array | null): readonly PinnedKey[] {
  return publicKey === null ? [] : [{ publicKey, prefix: null, from: null, until: null }];
}
