/** An operator's figures as a case records them. */
import type { Reading, Scoring } from "../shared/capabilities.ts";
import type { CaseFigures, PresentFigures } from "../../domain/case.ts";
import { currentTrend } from "../../scoring/decay.ts";
import { newestQuery, operatorNamed } from "../../store/interactions.ts";
import { operatorQuery } from "../../store/operators.ts";
import { currentFigures } from "../reporting/operators.ts";
import { requireCurrentOperators } from "../scoring/current_operator.ts";

/** An operator's figures and state now; null if the operator was never scored. @throws {AlteredRows}. */
export async function readCurrent(dependencies: Reading & Scoring, orgId: string, operatorId: string) {
  const { database, model: { document } } = dependencies;
  const [rows, newest] = await database.snapshot([
    operatorQuery(orgId, operatorId),
    newestQuery(orgId, operatorNamed(operatorId)),
  ]);
  requireCurrentOperators(dependencies, orgId, { rows, newest });
  const [row] = rows;
  if (row === undefined) return null;
  const current = currentFigures(document, row);
  const { jis, uncertainty: { low, high }, verdict } = current;
  const figures: CaseFigures = { jis, low, high, verdict: verdict?.status ?? null };
  return { ...current, figures, lastAt: row.t1 };
}

/** The figures of some operators now with their trends, by operator; without those who were never scored. @throws {AlteredRows}. */
export async function presentFiguresOf(
  dependencies: Reading & Scoring,
  orgId: string,
  operatorIds: Iterable<string>,
): Promise<ReadonlyMap<string, PresentFigures>> {
  const { model: { document } } = dependencies;
  const found = await Promise.all(
    [...new Set(operatorIds)].map(async (id) => [id, await readCurrent(dependencies, orgId, id)] as const),
  );
  return new Map(
    found.flatMap(([id, current]) =>
      current === null ? [] : [[id, { ...current.figures, trend: currentTrend(document, current.state) }]]
    ),
  );
}

/** The figures that a case records; null if the operator was never scored. @throws {AlteredRows}. */
export async function figuresOf(
  dependencies: Reading & Scoring,
  orgId: string,
  operatorId: string,
): Promise<CaseFigures | null> {
  return (await readCurrent(dependencies, orgId, operatorId))?.figures ?? null;
}
