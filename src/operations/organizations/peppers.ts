/**
 * Groups the organizations' keys by pepper. A key under the previous pepper is hashed with the present one
 * when it is used; a key under a pepper that is not configured can never be verified.
 * Source: contract, section 1.
 */
import type { Reading, Secrets } from "../shared/capabilities.ts";
import { pepperId } from "../../keys/api_key.ts";
import { type KeyPepper, keyPeppersQuery } from "../../store/organizations.ts";

export interface KeysByPepper {
  readonly present: readonly KeyPepper[];
  readonly previous: readonly KeyPepper[];
  /** Keys that were stored before their pepper was recorded; their next use records it. */
  readonly unrecorded: readonly KeyPepper[];
  /** Keys under a pepper that is not configured. */
  readonly lost: readonly KeyPepper[];
}

export async function keysByPepper(
  { database, peppers }: Pick<Reading, "database"> & Pick<Secrets, "peppers">,
): Promise<KeysByPepper> {
  const [present, ...previous] = peppers.map(pepperId);
  const keys = await database.read(keyPeppersQuery());
  const keysWhose = (accepts: (id: string | null) => boolean) =>
    keys.filter(({ pepper_id }) => accepts(pepper_id));
  return {
    present: keysWhose((id) => id === present),
    previous: keysWhose((id) => id !== null && previous.includes(id)),
    unrecorded: keysWhose((id) => id === null),
    lost: keysWhose((id) => id !== null && id !== present && !previous.includes(id)),
  };
}
