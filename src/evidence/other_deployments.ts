/**
 * Finds checkpoints that an auditor kept of another deployment for the same organization, and that a key
 * signed which signs here too: the holder of that key may have begun a new history.
 * Source: docs/verify/evidence-format.md, section 9, "What could not be compared".
 */
import { organizationOf, parseChain, splitName } from "./chain_name.ts";
import { type Crypto, fromHex, hex } from "./crypto.ts";
import type { KeptCheckpoint, KnownCheckpoint } from "./kept.ts";
import type { Holder, KeyHolders } from "./key_holders.ts";
import { KEY_LIMIT } from "./limits.ts";
import { keyId, type Note, parseNote, verifyNote } from "./note.ts";

/** The deployment, the family and the epoch to which a chain belongs. */
export interface Place {
  /** `<log name>/<deployment id>/` */
  readonly prefix: string;
  /** Name of the family, unique among all deployments. */
  readonly family: string;
  /** null for the system's chain. */
  readonly organization: string | null;
  readonly epoch: number;
}

/** A kept checkpoint, with the place of its chain. */
export interface PlacedCheckpoint extends Pick<Place, "prefix" | "organization"> {
  readonly checkpoint: KeptCheckpoint;
}

/** A chain, and the raw public keys with a good signature under it. */
interface SignedChain {
  readonly place: Pick<Place, "prefix" | "organization">;
  readonly keys: readonly Uint8Array[];
}

/** The place of an origin's chain; null if the origin names no chain of such a log. */
export function placeOf(origin: string): Place | null {
  const name = splitName(origin);
  const chain = name && parseChain(name.rest);
  if (!name || !chain) return null;
  return {
    prefix: name.prefix,
    family: `${name.prefix}${chain.family}`,
    organization: organizationOf(chain.family),
    epoch: chain.epoch,
  };
}

/**
 * The kept checkpoints, each with its place. Those whose origin names no chain of such a log are left out.
 */
function withPlaces(kept: readonly KeptCheckpoint[]): readonly (Place & PlacedCheckpoint)[] {
  return kept.flatMap((checkpoint) => {
    const place = placeOf(checkpoint.origin);
    return place === null ? [] : [{ ...place, checkpoint }];
  });
}

interface KeptNote {
  readonly kept: PlacedCheckpoint;
  readonly note: Note;
}

/** Kept notes by the key id, in hexadecimal, of each signature line under the note's own origin. */
type ByKeyId = Map<string, Set<KeptNote>>;

function notesByKeyId(kept: readonly PlacedCheckpoint[]): ByKeyId {
  const found: ByKeyId = new Map();
  for (const one of kept) {
    const keptNote = { kept: one, note: parseNote(one.checkpoint.note) };
    for (const { name, keyId: bytes } of keptNote.note.signatures) {
      if (name !== one.checkpoint.origin) continue;
      const id = hex(bytes);
      const notes = found.get(id);
      if (notes === undefined) found.set(id, new Set([keptNote]));
      else notes.add(keptNote);
    }
  }
  return found;
}

/** The kept checkpoints that a holder signed, by their origins. */
type SignedByOrigin = Map<string, ReadonlySet<PlacedCheckpoint>>;

export class OtherDeployments {
  readonly #crypto: Crypto;
  readonly #holders: KeyHolders;
  readonly #kept: readonly PlacedCheckpoint[];
  readonly #byOrigin: ReadonlyMap<string, ByKeyId>;
  readonly #signed = new Map<Holder, SignedByOrigin>();

  /**
   * `kept` are checkpoints that the auditor kept, never those of documents: a person who shows a bundle can
   * hand over documents of it. `holders` is asked after all of the input is read, so the place of a
   * certificate does not matter.
   */
  static of(
    crypto: Crypto,
    { kept, holders }: { readonly kept: readonly KeptCheckpoint[]; readonly holders: KeyHolders },
  ): OtherDeployments {
    return new OtherDeployments(crypto, withPlaces(kept), holders);
  }

  private constructor(crypto: Crypto, kept: readonly PlacedCheckpoint[], holders: KeyHolders) {
    this.#crypto = crypto;
    this.#holders = holders;
    this.#kept = kept;
    const byOrigin = Map.groupBy(kept, ({ checkpoint }) => checkpoint.origin);
    this.#byOrigin = new Map([...byOrigin].map(([origin, ones]) => [origin, notesByKeyId(ones)]));
  }

  /** The last kept checkpoint of a deployment's system chain, which pins all its chains; null if none. */
  systemOf(prefix: string): KnownCheckpoint | null {
    const found = this.#kept.findLast((one) => one.prefix === prefix && one.organization === null);
    return found?.checkpoint ?? null;
  }

  /**
   * The last kept checkpoint of another deployment for the same organization that one of these keys, or
   * another key of the same holder, signed. null if there is none, if a checkpoint of this deployment was
   * passed for the organization too, or if earlier visits accepted the two deployments beside each other. The
   * system's chain counts for every organization.
   */
  find(chain: SignedChain): KnownCheckpoint | null {
    const { prefix, organization } = chain.place;
    const own = this.#kept.filter((one) => one.prefix === prefix && one.organization === organization);
    if (own.some(({ checkpoint: { beside } }) => beside === undefined)) return null;
    const accepted = new Set(own.flatMap(({ checkpoint: { beside } }) => [...beside!]));
    return this.#others(chain, accepted).next().value?.checkpoint ?? null;
  }

  /** Prefixes of the other deployments for the same organization of which one holder signed kept checkpoints. */
  prefixesBeside(chain: SignedChain): ReadonlySet<string> {
    return new Set(this.#others(chain, new Set()).map(({ prefix }) => prefix));
  }

  /** The kept checkpoints of other deployments, but of the accepted ones, that the holder signed; last first. */
  *#others(
    { place: { prefix, organization }, keys }: SignedChain,
    accepted: ReadonlySet<string>,
  ): IteratorObject<PlacedCheckpoint, undefined> {
    const others = this.#kept.filter((one) =>
      one.prefix !== prefix && !accepted.has(one.prefix) &&
      (organization === null || one.organization === null || one.organization === organization)
    );
    if (others.length === 0) return;
    const signed = this.#holders.of(keys).map((holder) => ({ holder, by: this.#signedBy(holder) }));
    for (const one of others.reverse()) {
      if (signed.some(({ holder, by }) => this.#isSigned(one, { holder, by }))) yield one;
    }
  }

  #signedBy(holder: Holder): SignedByOrigin {
    const known = this.#signed.get(holder);
    if (known !== undefined) return known;
    const signed: SignedByOrigin = new Map();
    // If nothing is pinned, each bundle can bring a key of its own.
    if (this.#signed.size < KEY_LIMIT) this.#signed.set(holder, signed);
    return signed;
  }

  #isSigned(
    kept: PlacedCheckpoint,
    { holder, by }: { readonly holder: Holder; readonly by: SignedByOrigin },
  ): boolean {
    const { origin } = kept.checkpoint;
    let signed = by.get(origin);
    if (signed === undefined) by.set(origin, signed = this.#signedUnder(origin, holder));
    return signed.has(kept);
  }

  /**
   * Tries each key by itself: a bad signature by a key that was unknown at the time does not void a good one.
   */
  #signedUnder(origin: string, holder: Holder): ReadonlySet<PlacedCheckpoint> {
    const signed = new Set<PlacedCheckpoint>();
    const notes = this.#byOrigin.get(origin);
    for (const name of holder) {
      const key = { name: origin, publicKey: fromHex(name) };
      for (const { kept, note } of notes?.get(hex(keyId(this.#crypto, key))) ?? []) {
        if (verifyNote(this.#crypto, note, [key]) === "verified") signed.add(kept);
      }
    }
    return signed;
  }
}
