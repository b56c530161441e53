/** Compares the frozen calls of an organization with one another, in the order of the chain. */
import type { Database } from "../../store/database.ts";
import { edgeQuery, frozenOperatorsQuery } from "../../store/interactions.ts";
import type { SkippedInteractionRow } from "../../store/records.ts";
import { frozenLink, type LastFrozen, lastFrozen } from "../scoring/frozen_calls.ts";

/** A frozen call's row, and the place of its entry. */
export interface FrozenCall<Place> {
  readonly row: SkippedInteractionRow;
  readonly place: Place;
}

export class FrozenCheck<Place> {
  /** By operator, the last frozen call seen so far. */
  readonly #last = new Map<string, FrozenCall<Place>>();

  /** @param isHeld whether an entry's record still exists: an erasure deletes it with the operator's rows. */
  constructor(
    private readonly database: Database,
    private readonly orgId: string,
    private readonly isHeld: (place: Place) => Promise<boolean>,
  ) {}

  /**
   * Takes the next frozen call, whose row has a valid seal.
   * @returns whether it goes on from the one before it.
   */
  async follows(call: FrozenCall<Place>): Promise<boolean> {
    const { row } = call;
    const before = this.#last.get(row.operator_id);
    this.#last.set(row.operator_id, call);
    // The calls before the first record that is held may have been pruned.
    if (before === undefined) return true;
    const { previous, ...expected } = frozenLink(before.row, row);
    return row.previous === previous && isSame(row, expected) || !await this.isHeld(before.place);
  }

  /** Call it if a frozen call's row is wrong, which is a separate finding: the next call follows nothing. */
  forget(operatorId: string): void {
    this.#last.delete(operatorId);
  }

  /** The places of those last frozen calls with which the operator's row does not agree. */
  async findContradicted(): Promise<readonly Place[]> {
    const { database, orgId } = this;
    const everything = { start: Number.MAX_SAFE_INTEGER, end: Number.MAX_SAFE_INTEGER };
    const [operators, newest] = await database.snapshot([
      frozenOperatorsQuery(orgId),
      edgeQuery("skipped_interaction", { orgId, period: everything, edge: "before" }),
    ]);
    const rows = new Map(newest.map((row) => [row.operator_id, row]));
    const sound = new Set(
      operators.filter((row) => isSame(row, rows.get(row.operator_id))).map((row) => row.operator_id),
    );
    const findContradicted: Place[] = [];
    for (const [operatorId, { place }] of this.#last) {
      if (!sound.has(operatorId) && await this.isHeld(place)) findContradicted.push(place);
    }
    return findContradicted;
  }
}

function isSame(row: LastFrozen, other: LastFrozen | undefined): boolean {
  if (other === undefined) return false;
  const [actual, expected] = [lastFrozen(row), lastFrozen(other)];
  return Object.entries(actual).every(([column, value]) => expected[column as keyof LastFrozen] === value);
}
