/**
 * The hashes of entries and parts, computed from the bytes of a file without decoding them first. They equal
 * those of `hashes.ts`. A verifier spends most of its time on them.
 */
import { type Crypto, utf8 } from "./crypto.ts";
import { PART_NAMES, type PartName } from "./hashes.ts";

const LEAF = Uint8Array.of(0x00);
const SALT_BYTES = 32;

/** The bytes hashed before a part's content, by the part's name: a fixed text, then room for the salt. */
const HEADS = Object.fromEntries(
  PART_NAMES.map((name) => {
    const start = utf8(`jis.commit/1\n${name}\n`);
    const head = new Uint8Array(start.length + SALT_BYTES);
    head.set(start);
    return [name, { head, salt: head.subarray(start.length) }];
  }),
) as Readonly<Record<PartName, { readonly head: Uint8Array; readonly salt: Uint8Array }>>;

/** entry_hash of an entry's line. */
export function entryHashOfBytes(crypto: Crypto, line: Uint8Array): Uint8Array {
  return crypto.sha256(LEAF, line);
}

/** The commitment to a part's canonical bytes; `salt` is 64 hexadecimal digits. */
export function partCommitmentOfBytes(
  crypto: Crypto,
  { name, salt, bytes }: { readonly name: PartName; readonly salt: string; readonly bytes: Uint8Array },
): Uint8Array {
  const room = HEADS[name];
  room.salt.setFromHex(salt);
  return crypto.sha256(room.head, bytes);
}
