/**
 * Mints an organization's key within a commit: candidates are drawn before it, and one with a free prefix is
 * chosen.
 * Source: specification, Organization; contract, section 3.
 */
import type { Secrets } from "../shared/capabilities.ts";
import { ServiceError } from "../../domain/errors.ts";
import { apiKeyPrefix, hashApiKey, mayBeHeld, pepperId } from "../../keys/api_key.ts";
import { type OrganizationRow, takenPrefixes } from "../../store/records.ts";
import type { Need, UnitOfWork } from "../../store/unit_of_work.ts";

/**
 * Number of candidates. Prefixes have 20 random bits: one of the candidates is free unless nearly all are
 * taken.
 */
const KEY_CANDIDATES = 16;

export const KEY_WARNING =
  "Store this key now: it is shown only once and cannot be recovered, only replaced by rotation.";

export const NAMED_KEY_WARNING =
  "Store this key now: it is shown only once and cannot be recovered. If it is lost, make another one and remove this one.";

/** Thrown if the function that mints keys gave a value that is no key. */
export class NoKeyMinted extends Error {
  override readonly name = "NoKeyMinted";

  constructor() {
    super("the mint gave no key");
  }
}

/** The columns of an organization's row for its key. */
export type StoredKey = Pick<OrganizationRow, "prefix" | "key_hash" | "pepper_id">;

export const NO_KEY: StoredKey = { prefix: null, key_hash: null, pepper_id: null };

/** The columns of an organization whose key is destroyed at an instant; its named keys and sessions end with it. */
export function destroyedKey(now: number): StoredKey & Pick<OrganizationRow, "access_from"> {
  return { ...NO_KEY, access_from: now };
}

export interface IssuedKey {
  /** The key itself, for the one answer that shows it. */
  readonly apiKey: string;
  readonly prefix: string;
  readonly stored: StoredKey;
}

/** A key to be issued. It is drawn once: a commit that is planned anew issues the same key. */
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
   * @param own the prefix of the key that is replaced; its organization may keep it.
   * @throws {ServiceError} CONFLICT if no candidate's prefix is free; {NoKeyMinted}.
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
