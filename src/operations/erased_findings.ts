/** Verifying that what an erasure destroyed is gone still: parts and names that somebody put back. */
import { organizationOf } from "../evidence/chain_name.ts";
import { countSubjects, readErasedPseudonyms, readHeldEntries } from "../store/erased_parts.ts";
import { type Dependencies, isEvidenceChain } from "./dependencies.ts";
import type { SealedRowFinding } from "./sealed_rows.ts";

/**
 * What is held of operators whose erasure the chain tells of. Entries must have been found whole before.
 * @param rest called between pages, so that others get their turn.
 */
export async function* erasedFindings(
  { database }: Pick<Dependencies, "database">,
  family: string,
  rest: () => Promise<void>,
): AsyncGenerator<SealedRowFinding> {
  if (!isEvidenceChain(family)) return;
  const pseudonyms = await readErasedPseudonyms(database, family);
  if (pseudonyms.length === 0) return;
  for await (const page of readHeldEntries(database, { family, pseudonyms })) {
    for (const [chain, seq] of page) {
      yield { chain, seq, detail: "a part of an operator who was erased is there again" };
    }
    await rest();
  }
  if (await countSubjects(database, { orgId: organizationOf(family)!, pseudonyms }) === 0) return;
  yield { chain: family, seq: null, detail: "the name of an operator who was erased is there again" };
}
