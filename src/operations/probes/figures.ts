/** The figures that the probes of a span of time give: for the summary, the dashboard, the report and Article 14. */
import type { Proving, Reading } from "../shared/capabilities.ts";
import { PROBE_STATES, type ProbeState } from "../../domain/enums.ts";
import {
  type ProbeDecision,
  type ProbeFigures,
  probeRates,
  type ProbeSummary,
  summaryOf,
  type UndecidedProbes,
} from "../../domain/probe.ts";
import type { Period } from "../../domain/period.ts";
import { evidenceChain } from "../../evidence/chain_name.ts";
import { drawCountsQuery, type ProbeRow } from "../../store/probes.ts";
import { AlteredRows } from "../../store/seals.ts";
import type { OrganizationCaller } from "../shared/call.ts";
import { ownEpochs, readAtPositions } from "../shared/proven_records.ts";
import { drawsOf, readHeldProbes } from "./held.ts";

type Needs = Reading & Proving;

/** The summary of a period. @throws {AlteredRows} if a row was altered or is missing, or an old one was put back. */
export async function probeSummary(
  dependencies: Needs,
  { orgId }: OrganizationCaller,
  period: Period,
) {
  const probes = await readHeldProbes(dependencies, orgId);
  const draws = await dependencies.database.read(drawCountsQuery(orgId));
  const closed = closedIn(probes, period);
  const countOf = (wanted: ProbeState) => probes.filter(({ state }) => state === wanted).length;
  return {
    period: { start: new Date(period.start).toISOString(), end: new Date(period.end).toISOString() },
    states: Object.fromEntries(PROBE_STATES.map((state) => [state, countOf(state)])) as Record<
      ProbeState,
      number
    >,
    stock: stockOf(probes),
    draws: draws[0]!,
    undecided: undecidedOf(closed),
    ...await summaryOfClosed(dependencies, orgId, closed),
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

/** How many probes of each stratum that has any can be drawn. */
function stockOf(probes: readonly ProbeRow[]): Record<string, unknown>[] {
  const strata = new Map<string, { domain: string; stakes: string; sealed: number }>();
  for (const { domain, stakes, state } of probes) {
    const name = `${domain} ${stakes}`;
    const stratum = strata.get(name) ?? { domain, stakes, sealed: 0 };
    if (state === "sealed") stratum.sealed += 1;
    strata.set(name, stratum);
  }
  return [...strata].sort(([one], [other]) => one < other ? -1 : 1).map(([, stratum]) => stratum);
}

/** The figures of a period; null if no probe was opened in it. @param probes all of an organization. */
export function probeFigures(probes: readonly ProbeRow[], period: Period): ProbeFigures | null {
  const closed = closedIn(probes, period);
  if (closed.length === 0) return null;
  const decided = closed.filter(isKnownDecision).map((row) => decisionOf(row, null));
  return { ...probeRates(decided), ...undecidedOf(closed) };
}

/** The number of operators with a decided or lost probe in a period. @throws as {@link probeSummary}. */
export async function probedOperators(
  dependencies: Needs,
  { orgId }: OrganizationCaller,
  period: Period,
): Promise<number> {
  const closed = closedIn(await readHeldProbes(dependencies, orgId), period);
  return (await summaryOfClosed(dependencies, orgId, closed)).by_operator.length;
}

/** The probes that an entry of a span of time opened; one that a restore ended without an entry is in none. */
export function closedIn(probes: readonly ProbeRow[], { start, end }: Period): readonly ProbeRow[] {
  return probes.filter(({ closed_position, closed_at }) =>
    closed_position !== null && closed_at !== null && closed_at >= start && closed_at < end
  );
}

/** A restore can leave a decision unknown: if its row was altered, and its score is erased. */
function isKnownDecision({ state, departed }: ProbeRow): boolean {
  return state === "decided" && departed !== null;
}

async function summaryOfClosed(
  dependencies: Needs,
  orgId: string,
  closed: readonly ProbeRow[],
): Promise<ProbeSummary> {
  const decided = closed.filter(isKnownDecision);
  const lost = closed.filter(({ state }) => state === "lost");
  const draws = await drawsOf(dependencies, orgId, [...decided, ...lost]);
  await requireUnnamed(dependencies, orgId, decided.filter(({ probe_id }) => !draws.has(probe_id)));
  const operatorOf = ({ probe_id }: ProbeRow) => draws.get(probe_id)?.operator_id ?? null;
  return summaryOf(
    decided.map((row) => decisionOf(row, operatorOf(row))),
    lost.map((row) => operatorOf(row)),
  );
}

/**
 * Requires that the operators of decided probes without a draw were erased: the content of their scores is gone.
 * @throws {AlteredRows} if one is not; {AlteredError}.
 */
async function requireUnnamed(
  dependencies: Needs,
  orgId: string,
  probes: readonly ProbeRow[],
): Promise<void> {
  if (probes.length === 0) return;
  const family = evidenceChain(orgId);
  const epochs = await ownEpochs(dependencies, family);
  // A cut can have taken the draw and left the score.
  if (epochs.some(({ minIndex }) => minIndex > 0)) return;
  // The score is the entry before the one that opens its probe.
  const positions = probes.map(({ closed_position }) => closed_position! - 1);
  for (const { parts } of (await readAtPositions(dependencies, epochs, positions)).values()) {
    if (parts.has("input")) throw new AlteredRows(family, "a row of probe_draw");
  }
}

function decisionOf(
  { domain, stakes, ai_correct, departed }: ProbeRow,
  operatorId: string | null,
): ProbeDecision {
  return { domain, stakes, operatorId, aiCorrect: ai_correct === 1, departed: departed === 1 };
}
