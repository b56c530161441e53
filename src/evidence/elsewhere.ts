/**
 * What an auditor kept of another deployment for the same organization, signed by a key that signs here too: who holds
 * that key may have begun anew. Source: docs/verify/evidence-format.md, section 9, "What could not be compared".
 */
import { organizationOf, parseChain, splitName } from "./chain_name.ts";
import { type Crypto, equalBytes, hex } from "./crypto.ts";
import type { KnownCheckpoint } from "./kept.ts";
import { KEY_LIMIT } from "./limits.ts";
import { keyId, type Note, type NoteVerdict, parseNote, verifyNote } from "./note.ts";

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

export class KeptElsewhere {
  readonly #crypto: Crypto;
  readonly #kept: readonly Concerned[];
  readonly #byOrigin: ReadonlyMap<string, readonly KeptNote[]>;
  /** By key, in hexadecimal: what it says of the notes that name it. */
  readonly #said = new Map<string, ReadonlyMap<Concerned, NoteVerdict>>();

  /** `kept` is what the auditor kept, and no document: whoever shows a bundle can hand over documents of it. */
  static of(crypto: Crypto, kept: readonly KnownCheckpoint[]): KeptElsewhere {
    return new KeptElsewhere(crypto, placed(kept));
  }

  private constructor(crypto: Crypto, kept: readonly Concerned[]) {
    this.#crypto = crypto;
    this.#kept = kept;
    const notes = kept.map((one) => ({ kept: one, note: parseNote(one.checkpoint.note) }));
    this.#byOrigin = Map.groupBy(notes, ({ kept: { checkpoint } }) => checkpoint.origin);
  }

  /** The last one that was kept of a deployment's system chain, which pins all its chains; null where there is none. */
  systemOf(prefix: string): KnownCheckpoint | null {
    const found = this.#kept.findLast((one) => one.prefix === prefix && one.organization === null);
    return found?.checkpoint ?? null;
  }

  /**
   * The last one that was kept of another deployment for the same organization, signed by one of these keys; null where
   * there is none, or where this deployment is known for the organization too. The system's chain stands for every
   * organization.
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
    const said = keys.map((key) => this.#saidBy(key));
    // A false signature of another of these keys, which nobody knew when it was kept, takes back none that is good.
    const found = others.findLast((one) => said.some((verdicts) => verdicts.get(one) === "verified"));
    return found?.checkpoint ?? null;
  }

  #saidBy(publicKey: Uint8Array): ReadonlyMap<Concerned, NoteVerdict> {
    const name = hex(publicKey);
    const known = this.#said.get(name);
    if (known !== undefined) return known;
    const said = new Map<Concerned, NoteVerdict>();
    for (const [origin, notes] of this.#byOrigin) {
      const key = { name: origin, publicKey };
      const id = keyId(this.#crypto, key);
      for (const { kept, note } of notes) {
        const isNamed = note.signatures.some((one) => one.name === origin && equalBytes(one.keyId, id));
        if (isNamed) said.set(kept, verifyNote(this.#crypto, note, [key]));
      }
    }
    // A file can bring any number of keys.
    if (this.#said.size < KEY_LIMIT) this.#said.set(name, said);
    return said;
  }
}
