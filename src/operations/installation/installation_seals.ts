/** The seals of an installation. Their key is known once the installation is open. */
import { hash } from "node:crypto";
import { hmacSha256 } from "../../keys/hmac.ts";
import { deriveSealKey } from "../../keys/secrets.ts";
import { createSeals, type Seals } from "../../store/seals.ts";

export interface InstallationSeals extends Seals {
  /** Sets the key with which rows are sealed and checked: it is derived from the installation key. */
  unlock(installationKey: Uint8Array): void;
}

/** Seals that throw until they are unlocked: no row is read or written before the installation is open. */
export function lockedSeals(): InstallationSeals {
  let key: Uint8Array | null = null;
  const seals = createSeals({
    mac(...texts) {
      if (key === null) throw new Error("the installation is not open yet");
      return hmacSha256(key, ...texts);
    },
    sha256: (text) => Uint8Array.fromHex(hash("sha256", text)),
  });
  return {
    ...seals,
    unlock(installationKey) {
      key = deriveSealKey(installationKey);
    },
  };
}
