/**
 * Reads an operator's row. The row must not be older than the operator's newest interaction: this detects a
 * row that was deleted, and an old row that was put back.
 */
import type { Reading } from "../shared/capabilities.ts";
import {
  type NewestInteraction,
  newestInteractions,
  type OperatorFigures,
  type OperatorRow,
  operators,
} from "../../store/records.ts";
import type { StoredOperator } from "../../store/operators.ts";
import { AlteredRows } from "../../store/seals.ts";
import type { Need, UnitOfWork } from "../../store/unit_of_work.ts";
import { evidenceChain } from "../../evidence/chain_name.ts";
import { requireSealed } from "../shared/sealed_reads.ts";

type OperatorKey = readonly [orgId: string, operatorId: string];

/** The rows that {@link currentOperator} reads. */
export function operatorNeeds(key: OperatorKey): readonly Need[] {
  return [{ kind: operators, key }, { kind: newestInteractions, key }];
}

/**
 * An operator's row; null if the operator has no interactions.
 * @throws {AlteredRows} if it is not what this installation wrote, or is older than the newest interaction.
 */
export function currentOperator(unit: UnitOfWork, key: OperatorKey): OperatorRow | null {
  const row = unit.get(operators, key);
  const newest = unit.get(newestInteractions, key);
  requireCurrent(key[0], { row, newest: newest?.position ?? null });
  return row;
}

/**
 * Requires that operators' rows, from which an answer is made, are sealed and not older than the newest
 * interactions.
 * @throws {AlteredRows} as {@link currentOperator}.
 */
export function requireCurrentOperators(
  dependencies: Pick<Reading, "seals">,
  orgId: string,
  { rows, newest }: {
    readonly rows: readonly StoredOperator[];
    readonly newest: readonly Pick<NewestInteraction, "operator_id" | "position">[];
  },
): void {
  requireSealed(dependencies, operators, rows);
  const byName = new Map(rows.map((row) => [row.operator_id, row]));
  for (const { operator_id, position } of newest) {
    requireCurrent(orgId, { row: byName.get(operator_id) ?? null, newest: position });
  }
}

function requireCurrent(
  orgId: string,
  { row, newest }: {
    readonly row: Pick<OperatorFigures, "position"> | null;
    readonly newest: NewestInteraction["position"];
  },
): void {
  // A row that another job of the same commit has written is newer than the database's newest interaction.
  if (newest === null || (row !== null && row.position >= newest)) return;
  throw new AlteredRows(evidenceChain(orgId), "a row of operator");
}
