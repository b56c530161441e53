/** An operator's figures as a case records them. */
import type { Reading, Scoring } from "../shared/capabilities.ts";
import type { CaseFigures } from "../../domain/case.ts";
import { newestQuery, operatorNamed } from "../../store/interactions.ts";
import { operatorQuery } from "../../store/operators.ts";
import { currentFigures } from "../reporting/operators.ts";
import { requireCurrentOperators } from "../scoring/current_operator.ts";

/** Null if the operator was never scored. @throws {AlteredRows}. */
export async function figuresOf(
  dependencies: Reading & Scoring,
  orgId: string,
  operatorId: string,
): Promise<CaseFigures | null> {
  const { database, model: { document } } = dependencies;
  const [rows, newest] = await database.snapshot([
    operatorQuery(orgId, operatorId),
    newestQuery(orgId, operatorNamed(operatorId)),
  ]);
  requireCurrentOperators(dependencies, orgId, { rows, newest });
  const [row] = rows;
  if (row === undefined) return null;
  const { jis, uncertainty: { low, high }, verdict } = currentFigures(document, row);
  return { jis, low, high, verdict: verdict?.status ?? null };
}
