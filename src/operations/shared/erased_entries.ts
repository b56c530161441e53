/** Entries whose content was erased with their operator. */
import { AlteredError } from "../../domain/errors.ts";
import { parseChain } from "../../evidence/chain_name.ts";
import type { Entry } from "../../evidence/entry.ts";
import { erasuresQuery } from "../../store/events.ts";
import { readProvenPage } from "../../store/proven_pages.ts";
import type { Proving } from "./capabilities.ts";
import { originOf } from "./deployment.ts";

/**
 * Requires that the operator of an entry without content was erased.
 * @throws {AlteredError} if no entry of the chain's family records it.
 */
export async function requireErased(dependencies: Proving, { chain, seq, subject }: Entry): Promise<void> {
  const family = parseChain(chain)!.family;
  for (const place of subject === null ? [] : await dependencies.database.read(erasuresQuery(subject))) {
    if (parseChain(place.chain)?.family !== family) continue;
    const origin = originOf(dependencies, place.chain);
    const page = await readProvenPage(dependencies, { chain: place.chain, origin, seqs: [place.seq] });
    const found = page.get(place.seq)?.entry;
    const isErasure = found?.event_type === "SUBJECT_ERASED" && found.actor === "system";
    if (isErasure && found.subject === subject) return;
  }
  throw new AlteredError(chain, `a part of entry ${seq} of ${chain} is missing`);
}
