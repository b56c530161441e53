/** Checks whether the key in JISS_SIGNING_KEY_FILE is in use, and whether the previous key still signs. */
import type { Config } from "../../config/config.ts";
import { equalBytes } from "../../evidence/crypto.ts";
import { nodeCrypto } from "../../evidence/node_crypto.ts";
import { fingerprint } from "../../evidence/trust.ts";
import { areKeysAltered } from "../../operations/chains/own_keys.ts";
import { exists } from "../init.ts";
import { publicKeyIn } from "../key_files.ts";
import { type CheckInput, type Finding, ok } from "./check.ts";
import { readSigningKeys } from "../../store/signing_keys.ts";

export async function signingKey({ config, database }: CheckInput): Promise<Finding> {
  const rows = await readSigningKeys(database);
  const present = publicKeyIn(config.signingKeyFile);
  const held = [present, publicKeyIn(config.previousSigningKeyFile)].filter((key) => key !== null);
  if (await areKeysAltered({ database, crypto: nodeCrypto }, held)) {
    return {
      state: "wrong",
      what: "rows of signing_key were altered: they contradict the keys and the system chain",
      mend: "put the database back, or write the rows again: jiss restore --acknowledge REASON",
    };
  }
  const inUse = rows.at(-1)?.public_key;
  if (inUse === undefined) return ok("no key has signed yet");
  const isInUse = (publicKey: Uint8Array | null) => publicKey !== null && equalBytes(publicKey, inUse);
  if (!isReadable(config.signingKeyFile)) {
    return {
      state: "wrong",
      what:
        `${config.signingKeyFile} exists but may not be read: the service cannot start, or records nothing`,
      mend: "run this as the user of the service; if you do already, make that user the file's owner (chown)",
    };
  }
  if (!isInUse(present)) {
    return findingOnUnusedKey(present, isInUse(publicKeyIn(config.previousSigningKeyFile)));
  }
  return findingOnOverlap(
    config,
    rows.filter(({ until_size }) => until_size === null).map((row) => row.public_key),
  );
}

/** False if there is a file, but this user may not read it. */
function isReadable(path: string): boolean {
  try {
    Deno.openSync(path).close();
    return true;
  } catch (error) {
    return error instanceof Deno.errors.NotFound;
  }
}

function findingOnUnusedKey(present: Uint8Array | null, previousIsInUse: boolean): Finding {
  if (present !== null && previousIsInUse) {
    return {
      state: "note",
      what: "a rotation of the signing key was interrupted before it was recorded",
      mend: "run jiss rotate-signing-key again or restart the service: both complete the rotation",
    };
  }
  return {
    state: "wrong",
    what: present === null
      ? "JISS_SIGNING_KEY_FILE cannot be read or contains no Ed25519 key: the service cannot start"
      : "JISS_SIGNING_KEY_FILE contains another key than the one that signed last: the service cannot start",
    mend: "put the right key back from its backup",
  };
}

/** @param active - the keys that sign, the one in use last. */
function findingOnOverlap({ previousSigningKeyFile }: Config, active: readonly Uint8Array[]): Finding {
  const [before, ...rest] = active;
  if (rest.length > 0) {
    return {
      state: "note",
      what: `the previous key still signs beside the present one: ${fingerprint(nodeCrypto, before!)}`,
      mend: "once every auditor has verified with the new key, run jiss rotate-signing-key --drop-old",
    };
  }
  if (exists(previousSigningKeyFile)) {
    return {
      state: "note",
      what: `${previousSigningKeyFile} contains a key that no longer signs`,
      mend: "destroy it: run jiss rotate-signing-key --drop-old",
    };
  }
  return ok("one key signs");
}
