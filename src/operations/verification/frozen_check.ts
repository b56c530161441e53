/** Holding the frozen calls of an organization to one another, as their records tell of them in the order of the chain. */
import type { Database } from "../../store/database.ts";
import { edgeQuery, frozenOperatorsQuery } from "../../store/interactions.ts";
import type { SkippedInteractionRow } from "../../store/records.ts";
import { frozenLink, type LastFrozen, lastFrozen } from "../scoring/frozen_calls.ts";

/** A frozen call's row, and the entry that it stands for. */
export interface FrozenCall<Place> {
  readonly row: SkippedInteractionRow;
  readonly place: Place;
}

export class FrozenCheck<Place> {
  /** By operator, the last frozen call so far. */
  readonly #last = new Map<string, FrozenCall<Place>>();

  /** @param isHeld whether the record of an entry is still there: an erasure takes it and all rows of the operator at once. */
  constructor(
    private readonly database: Database,
    private readonly orgId: string,
    private readonly isHeld: (place: Place) => Promise<boolean>,
  ) {}

  /** Takes the next frozen call, whose row carries its seal. @returns whether it goes on from the one before it. */
  async follows(call: FrozenCall<Place>): Promise<boolean> {
    const { row } = call;
    const before = this.#last.get(row.operator_id);
    this.#last.set(row.operator_id, call);
    // What came before the first record that is held may have been pruned.
    if (before === undefined) return true;
    const { previous, ...expected } = frozenLink(before.row, row);
    return row.previous === previous && isSame(row, expected) || !await this.isHeld(before.place);
  }

  /** A frozen call of this operator has no row that could be followed: that is told by itself. */
  lost(operatorId: string): void {
    this.#last.delete(operatorId);
  }

  /** The places of last frozen calls whose operator's row does not say what they say. */
  async unheld(): Promise<readonly Place[]> {
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
    const unheld: Place[] = [];
    for (const [operatorId, { place }] of this.#last) {
      if (!sound.has(operatorId) && await this.isHeld(place)) unheld.push(place);
    }
    return unheld;
  }
}

function isSame(row: LastFrozen, other: LastFrozen | undefined): boolean {
  if (other === undefined) return false;
  const [one, expected] = [lastFrozen(row), lastFrozen(other)];
  return Object.entries(one).every(([column, value]) => expected[column as keyof LastFrozen] === value);
}
