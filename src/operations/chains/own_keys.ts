/**
 * The deployment's verified signing keys. Each row of the table is checked against the keys that the process
 * holds, by the certificates between them. Its range is checked against the entries of the rotations.
 * Source: evidence design, section 11.
 */
import type { Proving } from "../shared/capabilities.ts";
import { AlteredError } from "../../domain/errors.ts";
import { equalBytes } from "../../evidence/crypto.ts";
import { parseRotationCertificate } from "../../evidence/rotation.ts";
import { signingKeyRotatedSchema } from "../../evidence/structural.ts";
import { jwkOf, type PinnedKey } from "../../evidence/trust.ts";
import { placesOfEvents } from "../../store/chains.ts";
import { readProven } from "../../store/proofs.ts";
import type { SigningKeyRow } from "../../store/records.ts";
import { originOf } from "../shared/deployment.ts";
import { SYSTEM_CHAIN } from "../../evidence/chain_name.ts";

/** A key of the deployment's own. */
export interface OwnKey {
  /** 1, 2, 3 … */
  readonly ordinal: number;
  readonly publicKey: Uint8Array;
  /** First and last size of the system chain that the key signs; `until` is null while it still signs. */
  readonly from: number;
  readonly until: number | null;
}

export interface OwnKeys {
  /** Oldest first. */
  readonly keys: readonly OwnKey[];
  /** The faults of the table, which nothing certifies, as clauses. */
  readonly faults: readonly string[];
}

/** The keys that sign or have signed, and the faults of their table. */
export async function readOwnKeys(dependencies: Proving): Promise<OwnKeys> {
  const { signing } = dependencies;
  await signing.reload();
  const rows = signing.known;
  const prefix = originOf(dependencies, "");
  const faults: string[] = [];
  if (rows.length === 0) faults.push("the signing keys are missing");
  const own = rows.filter((row, index) => {
    const isOwn = signing.isOwnKey(row.public_key, prefix) && row.ordinal === index + 1 &&
      isCertified(dependencies, row, { before: rows[index - 1], prefix });
    if (!isOwn) faults.push(`nothing certifies signing key ${row.ordinal}`);
    return isOwn;
  });
  const ranges = await rangesOf(dependencies, faults);
  const keys = own.map((row) => {
    const { from, until } = rangeIn(ranges, row.ordinal);
    if (row.from_size !== from || row.until_size !== until) {
      faults.push(`the sizes that signing key ${row.ordinal} signs are not those of its rotations`);
    }
    return { ordinal: row.ordinal, publicKey: row.public_key, from, until };
  });
  return { keys, faults };
}

/**
 * The keys that the deployment's own verifier trusts from the start: the given keys, and the held keys that
 * are not among them, whatever the table says.
 */
export function ownPins({ signing }: Pick<Proving, "signing">, { keys }: OwnKeys): readonly PinnedKey[] {
  const unknown = signing.held.filter(({ publicKey }) =>
    !keys.some((key) => equalBytes(key.publicKey, publicKey))
  );
  return [
    ...keys.map(({ publicKey, from, until }) => ({ publicKey, prefix: null, from, until })),
    ...unknown.map(({ publicKey }) => ({ publicKey, prefix: null, from: null, until: null })),
  ];
}

/** True if a key is the first one, or if its certificate joins it to the key before it. */
function isCertified(
  { crypto }: Proving,
  { ordinal, public_key, certificate }: SigningKeyRow,
  { before, prefix }: { readonly before: SigningKeyRow | undefined; readonly prefix: string },
): boolean {
  if (before === undefined) return certificate === null;
  const rotation = certificate === null ? null : parseRotationCertificate(crypto, certificate);
  return rotation !== null && rotation.prefix === prefix && rotation.ordinal === ordinal &&
    equalBytes(rotation.oldKey, before.public_key) && equalBytes(rotation.newKey, public_key);
}

/** A step of a rotation, as an entry of the system chain records it. */
interface Turn {
  /** Ordinal of the new key. */
  readonly ordinal: number;
  /** True if the key was taken in; false if the keys before it were retired. */
  readonly overlap: boolean;
  /** Counted over all epochs. */
  readonly position: number;
}

async function rangesOf(dependencies: Proving, faults: string[]): Promise<readonly Turn[]> {
  const { database, crypto } = dependencies;
  const eventType = "SIGNING_KEY_ROTATED";
  const places = await placesOfEvents(database, { family: SYSTEM_CHAIN, eventType });
  const turns: Turn[] = [];
  for (const { chain, seq, position } of places) {
    const origin = originOf(dependencies, chain);
    try {
      const proven = await readProven(dependencies, { chain, origin, seq });
      const detail = signingKeyRotatedSchema.safeParse(
        JSON.parse(proven?.stored.parts.get("detail")?.text ?? "null"),
      ).data;
      const rotation = detail && parseRotationCertificate(crypto, detail.cert);
      if (!rotation || proven?.stored.entry.event_type !== eventType) {
        throw new AlteredError(chain, `entry ${seq} of ${chain} tells of no rotation`);
      }
      turns.push({ ordinal: rotation.ordinal, overlap: detail.overlap, position });
    } catch (error) {
      if (!(error instanceof AlteredError)) throw error;
      faults.push(error.what);
    }
  }
  return turns;
}

function rangeIn(turns: readonly Turn[], ordinal: number): Pick<OwnKey, "from" | "until"> {
  const came = turns.find((turn) => turn.overlap && turn.ordinal === ordinal);
  const retired = turns.find((turn) => !turn.overlap && turn.ordinal > ordinal);
  return { from: came === undefined ? 0 : came.position + 1, until: retired?.position ?? null };
}

/**
 * The public keys with the ranges in which they sign, newest first, as a JSON Web Key Set (RFC 7517).
 * @throws {AlteredError} if the table has a fault.
 */
export async function publicKeys(dependencies: Proving) {
  const { keys, faults } = await readOwnKeys(dependencies);
  if (faults.length > 0) throw new AlteredError(SYSTEM_CHAIN, faults[0]!);
  return {
    keys: keys.toReversed().map(({ publicKey, from, until }) =>
      jwkOf(dependencies.crypto, { publicKey, from, until })
    ),
  };
}
