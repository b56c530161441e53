/**
 * Minting an organization's key within a commit: drawn before, chosen by the prefix that is free.
 * Source: specification, Organization; contract, section 3.
 */
import type { Secrets } from "../shared/capabilities.ts";
import { ServiceError } from "../../domain/errors.ts";
import { apiKeyPrefix, hashApiKey, mayBeHeld, pepperId } from "../../keys/api_key.ts";
import { type OrganizationRow, takenPrefixes } from "../../store/records.ts";
import type { Need, UnitOfWork } from "../../store/unit_of_work.ts";

/** Prefixes have 20 random bits; one of so many is free unless nearly all are taken. */
const KEY_CANDIDATES = 16;

export const KEY_WARNING =
  "Store this key now: it is shown only once and cannot be recovered, only replaced by rotation.";

/** What mints keys gave something that is none. */
export class NoKeyMinted extends Error {
  override readonly name = "NoKeyMinted";

  constructor() {
    super("the mint gave no key");
  }
}

/** The columns of an organization that its key makes. */
export type StoredKey = Pick<OrganizationRow, "prefix" | "key_hash" | "pepper_id">;

export const NO_KEY: StoredKey = { prefix: null, key_hash: null, pepper_id: null };

export interface IssuedKey {
  /** The key itself, for the one answer that shows it. */
  readonly apiKey: string;
  readonly prefix: string;
  readonly stored: StoredKey;
}

/** A key on its way, drawn once: a commit that is planned anew issues the same. */
export class KeyIssue {
  readonly needs: readonly Need[];
  readonly #candidates: readonly string[];
  readonly #pepper: string;

  /** `given` is a key that the administrator brought; null mints one. */
  constructor({ mintKey, peppers }: Pick<Secrets, "peppers" | "mintKey">, given: string | null = null) {
    this.#candidates = given === null ? Array.from({ length: KEY_CANDIDATES }, () => mintKey()) : [given];
    this.#pepper = peppers[0]!;
    this.needs = this.#candidates.filter(mayBeHeld).map((key) => ({
      kind: takenPrefixes,
      key: [apiKeyPrefix(key)],
    }));
  }

  /**
   * @param own - the prefix of the key that is replaced, which its organization may keep.
   * @throws {ServiceError} CONFLICT where no candidate's prefix is free; {NoKeyMinted}.
   */
  take(unit: UnitOfWork, own: string | null = null): IssuedKey {
    if (!this.#candidates.every(mayBeHeld)) throw new NoKeyMinted();
    const isFree = (prefix: string) => prefix === own || unit.get(takenPrefixes, [prefix]) === null;
    const apiKey = this.#candidates.find((key) => isFree(apiKeyPrefix(key)));
    if (apiKey === undefined) {
      throw new ServiceError(
        "CONFLICT",
        "The key's first 8 characters are another organization's: use another key.",
      );
    }
    const prefix = apiKeyPrefix(apiKey);
    unit.put(takenPrefixes, { prefix });
    return { apiKey, prefix, stored: storedKey(apiKey, this.#pepper) };
  }
}

/** A key as it is stored: hashed with a pepper. */
export function storedKey(apiKey: string, pepper: string): StoredKey {
  return {
    prefix: apiKeyPrefix(apiKey),
    key_hash: hashApiKey(apiKey, pepper),
    pepper_id: pepperId(pepper),
  };
}
