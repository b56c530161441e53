/** The secret of a link to a reviewer's own page. It is derived from the installation key, so that nothing of it is stored. */
import { derivedKey } from "./derived_key.ts";
import { hmacSha256 } from "./hmac.ts";

const TOKEN_BYTES = 16;

const linkKey = derivedKey("jiss own pages v1");

/** The secret of the link that an entry records, 22 characters of base64url: who has it sees the reviewer's record. */
export function ownPageSecret(installationKey: Uint8Array, entryId: string): string {
  return hmacSha256(linkKey(installationKey), entryId).slice(0, TOKEN_BYTES)
    .toBase64({ alphabet: "base64url", omitPadding: true });
}
