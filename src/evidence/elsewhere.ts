/**
 * What an auditor kept of another deployment for the same organization, signed by a key that signs here too: who holds
 * that key may have begun anew. Source: docs/verify/evidence-format.md, section 9, "What could not be compared".
 */
import { organizationOf, parseChain, splitName } from "./chain_name.ts";
import { type Crypto, fromHex, hex } from "./crypto.ts";
import type { KnownCheckpoint } from "./kept.ts";
import type { Holder, KeyHolders } from "./key_holders.ts";
import { KEY_LIMIT } from "./limits.ts";
import { keyId, type Note, parseNote, verifyNote } from "./note.ts";

/** Where a chain belongs. */
export interface Place {
  /** `<log name>/<deployment id>/` */
  readonly prefix: string;
  /** Names the family among those of all deployments. */
  readonly family: string;
  /** null: the system's. */
  readonly organization: string | null;
  readonly epoch: number;
}

/** A kept checkpoint, and where its chain belongs. */
export interface Concerned extends Pick<Place, "prefix" | "organization"> {
  readonly checkpoint: KnownCheckpoint;
}

/** Where the chain of an origin belongs; null where it is no chain of such a log. */
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

/** What was kept, each with its place; what is of no chain of such a log is left out. */
function placed(kept: readonly KnownCheckpoint[]): readonly (Place & Concerned)[] {
  return kept.flatMap((checkpoint) => {
    const place = placeOf(checkpoint.origin);
    return place === null ? [] : [{ ...place, checkpoint }];
  });
}

interface KeptNote {
  readonly kept: Concerned;
  readonly note: Note;
}

/** By what a signature line under the note's own name says of its key, in hexadecimal. */
type ByKeyId = Map<string, Set<KeptNote>>;

function byKeyId(kept: readonly Concerned[]): ByKeyId {
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

/** What a holder signed of the checkpoints that were kept, by their origins. */
type Signed = Map<string, ReadonlySet<Concerned>>;

export class KeptElsewhere {
  readonly #crypto: Crypto;
  readonly #holders: KeyHolders;
  readonly #kept: readonly Concerned[];
  readonly #byOrigin: ReadonlyMap<string, ByKeyId>;
  readonly #signed = new Map<Holder, Signed>();

  /**
   * `kept` is what the auditor kept, and no document: whoever shows a bundle can hand over documents of it. `holders` is
   * asked when all of the input is read, so that it does not matter where a certificate stands.
   */
  static of(
    crypto: Crypto,
    { kept, holders }: { readonly kept: readonly KnownCheckpoint[]; readonly holders: KeyHolders },
  ): KeptElsewhere {
    return new KeptElsewhere(crypto, placed(kept), holders);
  }

  private constructor(crypto: Crypto, kept: readonly Concerned[], holders: KeyHolders) {
    this.#crypto = crypto;
    this.#holders = holders;
    this.#kept = kept;
    const byOrigin = Map.groupBy(kept, ({ checkpoint }) => checkpoint.origin);
    this.#byOrigin = new Map([...byOrigin].map(([origin, ones]) => [origin, byKeyId(ones)]));
  }

  /** The last one that was kept of a deployment's system chain, which pins all its chains; null where there is none. */
  systemOf(prefix: string): KnownCheckpoint | null {
    const found = this.#kept.findLast((one) => one.prefix === prefix && one.organization === null);
    return found?.checkpoint ?? null;
  }

  /**
   * The last one that was kept of another deployment for the same organization, signed by one of these keys or by another
   * one of its holder; null where there is none, or where this deployment is known for the organization too. The system's
   * chain stands for every organization.
   */
  find(
    { place: { prefix, organization }, keys }: {
      readonly place: Pick<Place, "prefix" | "organization">;
      readonly keys: readonly Uint8Array[];
    },
  ): KnownCheckpoint | null {
    const concerned = this.#kept.filter((one) =>
      organization === null || one.organization === null || one.organization === organization
    );
    if (concerned.some((one) => one.prefix === prefix && one.organization === organization)) return null;
    const others = concerned.filter((one) => one.prefix !== prefix);
    if (others.length === 0) return null;
    const signed = this.#holders.of(keys).map((holder) => ({ holder, by: this.#signedBy(holder) }));
    const found = others.findLast((one) =>
      signed.some(({ holder, by }) => this.#isSigned(one, { holder, by }))
    );
    return found?.checkpoint ?? null;
  }

  #signedBy(holder: Holder): Signed {
    const known = this.#signed.get(holder);
    if (known !== undefined) return known;
    const signed: Signed = new Map();
    // Where nothing is pinned, each bundle can bring a key of its own.
    if (this.#signed.size < KEY_LIMIT) this.#signed.set(holder, signed);
    return signed;
  }

  #isSigned(kept: Concerned, { holder, by }: { readonly holder: Holder; readonly by: Signed }): boolean {
    const { origin } = kept.checkpoint;
    let signed = by.get(origin);
    if (signed === undefined) by.set(origin, signed = this.#signedUnder(origin, holder));
    return signed.has(kept);
  }

  /** Each key by itself: a false signature of one, which nobody knew when it was kept, takes back none that is good. */
  #signedUnder(origin: string, holder: Holder): ReadonlySet<Concerned> {
    const signed = new Set<Concerned>();
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
