/**
 * The deployment's signing keys, and the faults of their table. The table is held to what the keys at hand
 * and the system chain prove ({@link readCertifiedKeys}). Source: evidence design, section 11.
 */
import type { Proving } from "../shared/capabilities.ts";
import { raiseTampering, tamperingOf, type Watching } from "../shared/tampering.ts";
import { AlteredError } from "../../domain/errors.ts";
import { SYSTEM_CHAIN } from "../../evidence/chain_name.ts";
import { equalBytes } from "../../evidence/crypto.ts";
import { jwkOf, type PinnedKey } from "../../evidence/trust.ts";
import type { SigningKeyRow } from "../../store/records.ts";
import { AlteredRows } from "../../store/seals.ts";
import { readSigningKeys, replaceSigningKeys } from "../../store/signing_keys.ts";
import { type KeySource, readCertifiedKeys } from "./certified_keys.ts";

export interface OwnKeys {
  /** The proven keys, oldest first; none if no key at hand signed the system chain. */
  readonly keys: readonly SigningKeyRow[];
  /** The faults of the table, as clauses. */
  readonly faults: readonly string[];
}

/**
 * Reads the keys that sign or have signed, and holds the table to them.
 * @param held raw public keys whose private keys are at hand, the key in use first.
 */
export async function readOwnKeys(source: KeySource, held: readonly Uint8Array[]): Promise<OwnKeys> {
  const found = await compareKeys(source, held);
  // Another process may record a rotation between the two reads: a second comparison then finds no fault.
  return found.faults.length === 0 ? found : await compareKeys(source, held);
}

async function compareKeys(source: KeySource, held: readonly Uint8Array[]): Promise<OwnKeys> {
  const table = await readSigningKeys(source.database);
  const { rows } = await readCertifiedKeys(source, held);
  if (table.length === 0) return { keys: rows, faults: ["the signing keys are missing"] };
  const missing = rows.filter(({ ordinal }) => !table.some((row) => row.ordinal === ordinal));
  return {
    keys: rows,
    faults: [
      ...table.flatMap((row) => faultOf(row, rows.find(({ ordinal }) => ordinal === row.ordinal)) ?? []),
      ...missing.map(({ ordinal }) => `signing key ${ordinal} is missing`),
    ],
  };
}

function faultOf(row: SigningKeyRow, proven: SigningKeyRow | undefined): string | null {
  const isProven = proven !== undefined && equalBytes(row.public_key, proven.public_key) &&
    row.certificate === proven.certificate;
  if (!isProven) return `nothing certifies signing key ${row.ordinal}`;
  return row.from_size === proven.from_size && row.until_size === proven.until_size
    ? null
    : `the sizes that signing key ${row.ordinal} signs are not those of its rotations`;
}

/** True if the table is not what the keys at hand prove; false if none of them signed the system chain. */
export async function areKeysAltered(source: KeySource, held: readonly Uint8Array[]): Promise<boolean> {
  const { keys, faults } = await readOwnKeys(source, held);
  return keys.length > 0 && faults.length > 0;
}

/**
 * Writes the table anew if it is not what the keys at hand prove.
 * @returns true if it was not.
 */
export async function mendSigningKeys(source: KeySource, held: readonly Uint8Array[]): Promise<boolean> {
  const { keys, faults } = await readOwnKeys(source, held);
  if (keys.length === 0 || faults.length === 0) return false;
  await source.database.batch(replaceSigningKeys(keys));
  return true;
}

/** Raises the alert if the table is not what the keys at hand prove. */
export async function raiseAlteredKeys(dependencies: Watching, now: number): Promise<void> {
  if (!await areKeysAltered(dependencies, heldKeys(dependencies))) return;
  await raiseTampering(dependencies, tamperingOf(new AlteredRows(SYSTEM_CHAIN, "a row of signing_key")), now);
}

/** Raw public keys of the private keys that the process holds, the key in use first. */
export function heldKeys({ signing }: Pick<Proving, "signing">): readonly Uint8Array[] {
  return signing.held.map(({ publicKey }) => publicKey);
}

/** The keys that the deployment's own verifier trusts from the start: the proven keys, and the held keys. */
export function ownPins(dependencies: Pick<Proving, "signing">, { keys }: OwnKeys): readonly PinnedKey[] {
  const unknown = heldKeys(dependencies).filter((held) =>
    !keys.some(({ public_key }) => equalBytes(public_key, held))
  );
  return [
    ...keys.map(pinOf),
    ...unknown.map((publicKey) => ({ publicKey, prefix: null, from: null, until: null })),
  ];
}

/** The key with the sizes of the system chain that it signs. */
export function pinOf({ public_key, from_size, until_size }: SigningKeyRow): PinnedKey {
  return { publicKey: public_key, prefix: null, from: from_size, until: until_size };
}

/**
 * The public keys with the ranges in which they sign, newest first, as a JSON Web Key Set (RFC 7517).
 * @throws {AlteredError} if the table has a fault.
 */
export async function publicKeys(dependencies: Proving) {
  const { keys, faults } = await readOwnKeys(dependencies, heldKeys(dependencies));
  if (faults.length > 0) throw new AlteredError(SYSTEM_CHAIN, faults[0]!);
  return { keys: keys.toReversed().map((key) => jwkOf(dependencies.crypto, pinOf(key))) };
}
