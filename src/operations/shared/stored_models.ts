/** Model documents as the database stores them, each held to the hash under which it stands. */
import type { Crypto } from "../../evidence/crypto.ts";
import { modelTextSha256 } from "../../evidence/hashes.ts";
import type { ModelDocument } from "../../scoring/model.ts";
import type { ModelDocumentRow } from "../../store/records.ts";

/**
 * The model in a row, which holds it as canonical JSON; null if the row was altered. The schema of its time
 * validated it when it came into use. Today's schema may require more, so it is not validated again.
 */
export function verifiedModel(
  crypto: Crypto,
  { sha256, document }: Pick<ModelDocumentRow, "sha256" | "document">,
): ModelDocument | null {
  return modelTextSha256(crypto, document) === sha256 ? JSON.parse(document) : null;
}
