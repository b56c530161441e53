/** Pages of the newest entries of one kind. */
import { newestEventsQuery } from "../../store/events.ts";
import type { ProvenRecord } from "../../store/proven_pages.ts";
import type { Proving } from "./capabilities.ts";
import { ownEpochs, readAtPositions } from "./proven_records.ts";

/** A page of entries. */
export interface NewestPage {
  /** A pseudonym; null for the entries of all operators. */
  readonly subject: string | null;
  /** Only entries before this position; null begins with the newest. */
  readonly below: number | null;
  readonly limit: number;
}

/** An entry of a page, with its position over all epochs. */
export interface PlacedRecord extends ProvenRecord {
  readonly position: number;
}

/**
 * The newest entries of a type, proven, newest first. `next` is the position below which the next page begins; null on the last
 * page.
 * @throws {AlteredError}.
 */
export async function newestRecords(
  dependencies: Proving,
  of: { readonly family: string; readonly eventType: string },
  { subject, below, limit }: NewestPage,
): Promise<{ readonly records: readonly PlacedRecord[]; readonly next: number | null }> {
  const places = await dependencies.database.read(
    newestEventsQuery({ ...of, subject, below, limit: limit + 1 }),
  );
  const positions = places.slice(0, limit).map(({ position }) => position);
  const epochs = positions.length === 0 ? [] : await ownEpochs(dependencies, of.family);
  const records = await readAtPositions(dependencies, epochs, positions);
  return {
    // Retention may have removed one during the look-up.
    records: positions.flatMap((position) => {
      const record = records.get(position);
      return record === undefined ? [] : [{ ...record, position }];
    }),
    next: places.length > limit ? positions.at(-1)! : null,
  };
}
