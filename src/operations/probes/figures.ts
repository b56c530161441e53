/** What the probes of a span of time say: for the summary, the dashboard, the report and Article 14. */
import type { Reading } from "../shared/capabilities.ts";
import { PROBE_STATES, type ProbeState } from "../../domain/enums.ts";
import {
  type ProbeDecision,
  type ProbeFigures,
  probeRates,
  summaryOf,
  type UndecidedProbes,
} from "../../domain/probe.ts";
import type { Period } from "../../domain/report.ts";
import {
  closedProbesQuery,
  drawCountsQuery,
  probeDraws,
  probeDrawsQuery,
  type ProbeRow,
  probes,
  probeStatesQuery,
  stockQuery,
} from "../../store/probes.ts";
import { chunksOf } from "../../store/paging.ts";
import type { OrganizationCaller } from "../shared/call.ts";
import { requireSealed } from "../shared/sealed_reads.ts";

type Needs = Pick<Reading, "database" | "seals">;

/** Draws that are read together. */
const DRAWS_TOGETHER = 500;

/** The summary of a period. @throws {AlteredRows} if a row was altered. */
export async function probeSummary(
  dependencies: Needs,
  { orgId }: OrganizationCaller,
  period: Period,
): Promise<Record<string, unknown>> {
  const closed = await readClosed(dependencies, orgId, period);
  const [states, stock, draws] = await dependencies.database.snapshot([
    probeStatesQuery(orgId),
    stockQuery(orgId),
    drawCountsQuery(orgId),
  ]);
  const counts = new Map(states.map(({ state, count }) => [state, count]));
  return {
    period: { start: new Date(period.start).toISOString(), end: new Date(period.end).toISOString() },
    states: Object.fromEntries(PROBE_STATES.map((state) => [state, counts.get(state) ?? 0])) as Record<
      ProbeState,
      number
    >,
    stock,
    draws: draws[0]!,
    undecided: undecidedOf(closed),
    ...summaryOf(await decisionsOf(dependencies, orgId, closed)),
  };
}

/** The probes that were opened without a decision. */
function undecidedOf(closed: readonly ProbeRow[]): UndecidedProbes {
  const recalled = closed.filter(({ state }) => state === "recalled");
  return {
    lost: closed.filter(({ state }) => state === "lost").length,
    recalled: recalled.length,
    recalled_after_draw: recalled.filter(({ drawn_at }) => drawn_at !== null).length,
  };
}

/** The figures of a period; null if no probe was opened in it. @throws {AlteredRows} if a row was altered. */
export async function probeFigures(
  dependencies: Needs,
  orgId: string,
  period: Period,
): Promise<ProbeFigures | null> {
  const closed = await readClosed(dependencies, orgId, period);
  if (closed.length === 0) return null;
  const decided = closed.filter(({ state }) => state === "decided").map((row) => decisionOf(row, null));
  return { ...probeRates(decided), ...undecidedOf(closed) };
}

async function readClosed(
  dependencies: Needs,
  orgId: string,
  { start, end }: Period,
): Promise<readonly ProbeRow[]> {
  const rows = await dependencies.database.read(closedProbesQuery(orgId, { from: start, to: end }));
  requireSealed(dependencies, probes, rows);
  return rows;
}

async function decisionsOf(
  dependencies: Needs,
  orgId: string,
  closed: readonly ProbeRow[],
): Promise<readonly ProbeDecision[]> {
  const decided = closed.filter(({ state }) => state === "decided");
  const operators = new Map<string, string>();
  for (const piece of chunksOf(decided, DRAWS_TOGETHER)) {
    const draws = await dependencies.database.read(
      probeDrawsQuery(orgId, piece.map(({ probe_id }) => probe_id)),
    );
    requireSealed(dependencies, probeDraws, draws);
    for (const { probe_id, operator_id } of draws) operators.set(probe_id!, operator_id);
  }
  return decided.map((row) => decisionOf(row, operators.get(row.probe_id) ?? null));
}

function decisionOf(
  { domain, stakes, ai_correct, departed }: ProbeRow,
  operatorId: string | null,
): ProbeDecision {
  return { domain, stakes, operatorId, aiCorrect: ai_correct === 1, departed: departed === 1 };
}
