/** Links that need no key: each leads to one entry, and its secret is derived, so that nothing of the link is stored. */
import { organizationOf, parseChain } from "../../evidence/chain_name.ts";
import { equalBytes, utf8 } from "../../evidence/crypto.ts";
import { placeOfEntry } from "../../store/events.ts";
import { type ProvenRecord, readProvenPage } from "../../store/proven_pages.ts";
import type { Proving, Reading } from "./capabilities.ts";
import { originOf } from "./deployment.ts";

/** A token: the id of the link's entry, and the proof that this service made the link. */
const TOKEN = /^([0-9A-Z]{26})\.([A-Za-z0-9_-]{22})$/;

/** The token of a link. `secret`: 22 characters of base64url. */
export function tokenOf(entryId: string, secret: string): string {
  return `${entryId}.${secret}`;
}

/** The id of the entry to which a token leads; null if this service did not give the token. */
export function entryIdIn(token: string, secretOf: (entryId: string) => string): string | null {
  const [, id = "", secret = ""] = TOKEN.exec(token) ?? [];
  return equalBytes(utf8(secretOf(id)), utf8(secret)) ? id : null;
}

/** An entry of an organization. */
interface OwnedRecord {
  readonly orgId: string;
  readonly record: ProvenRecord;
}

/**
 * Reads and proves the entry of an id, which anybody may have made up.
 * @param options.familyOf the family of an organization to which the entry must belong.
 * @returns null if there is no such entry, or it is of another family or type.
 * @throws {AlteredError}.
 */
export async function entryById(
  dependencies: Reading & Proving,
  id: string,
  { familyOf, eventType }: { readonly familyOf: (orgId: string) => string; readonly eventType: string },
): Promise<OwnedRecord | null> {
  const place = await placeOfEntry(dependencies.database, id);
  const family = place === null ? undefined : parseChain(place.chain)?.family;
  const orgId = family === undefined ? null : organizationOf(family);
  if (place === null || orgId === null || family !== familyOf(orgId)) return null;
  const { chain, seq } = place;
  const origin = originOf(dependencies, chain);
  const record = (await readProvenPage(dependencies, { chain, origin, seqs: [seq] })).get(seq);
  return record?.entry.id === id && record.entry.event_type === eventType ? { orgId, record } : null;
}
