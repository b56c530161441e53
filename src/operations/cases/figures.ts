/** An operator's figures as a case records them. */
import type { Proving, Reading, Scoring, Writing } from "../shared/capabilities.ts";
import type { CaseFigures, PresentState } from "../../domain/case.ts";
import { currentTrend } from "../../scoring/decay.ts";
import { ratesBehind } from "../../scoring/estimates.ts";
import { newestQuery, operatorNamed } from "../../store/interactions.ts";
import { operatorQuery } from "../../store/operators.ts";
import { type OpenRun, openRunsOf } from "../exercises/list.ts";
import { currentFigures, recentChanges } from "../reporting/operators.ts";
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

/**
 * The figures of some operators now with their trend, their change in 30 days and the rates behind the verdict, and the exercise that each is set and that is not over, by operator; without
 * those who were never scored.
 * @throws {AlteredError}; {AlteredRows}.
 */
export async function presentOf(
  dependencies: Reading & Proving & Scoring & Writing,
  orgId: string,
  { operatorIds, now }: { readonly operatorIds: Iterable<string>; readonly now: number },
): Promise<ReadonlyMap<string, PresentState>> {
  const { model: { document } } = dependencies;
  const ids = [...new Set(operatorIds)];
  const found = await Promise.all(
    ids.map(async (id) => [id, await readCurrent(dependencies, orgId, id)] as const),
  );
  const runs = await openRunsOf(dependencies, { orgId, operatorIds: ids, now });
  const changes = await recentChanges(dependencies, orgId, { operatorIds: ids, now });
  return new Map(
    found.flatMap(([id, current]) =>
      current === null ? [] : [[id, {
        ...current.figures,
        trend: currentTrend(document, current.state),
        change_30_days: changes.get(id) ?? null,
        rates: ratesBehind(document, current.state, current.verdict?.part ?? "all"),
        exercise: runs.has(id) ? openExercise(runs.get(id)!) : null,
      }]]
    ),
  );
}

function openExercise(run: OpenRun): PresentState["exercise"] {
  const { run_id, exercise_id, title, state, decided, case_count, expires_at } = run;
  return { run_id, exercise_id, title, state, decided, case_count, expires_at };
}

/** The figures that a case records; null if the operator was never scored. @throws {AlteredRows}. */
export async function figuresOf(
  dependencies: Reading & Scoring,
  orgId: string,
  operatorId: string,
): Promise<CaseFigures | null> {
  return (await readCurrent(dependencies, orgId, operatorId))?.figures ?? null;
}
