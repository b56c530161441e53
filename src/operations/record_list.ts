/**
 * Lists what an organization's record holds: scores and decisions as the chain has them, reports as they were issued.
 * A cursor is a position of the chain, so that what is appended meanwhile moves nothing.
 */
import type { Band, Route } from "../domain/enums.ts";
import type { RecordKind } from "../domain/record_list.ts";
import { loadEpochs } from "../store/chains.ts";
import { query } from "../store/database.ts";
import { reportsQuery, scoredEntriesQuery, type ScoredEntry } from "../store/record_list.ts";
import { type Dependencies, evidenceChain, type OrganizationCaller } from "./dependencies.ts";

const EVENT_TYPES: Readonly<Record<RecordKind, string>> = {
  score: "SCORE_COMPUTED",
  decision: "DRS_COMPUTED",
};

interface Page {
  readonly limit: number;
  /** Positions below it; null: from the newest. */
  readonly below: number | null;
}

/** A page of scores and decisions, newest first, and where the next one begins. */
export async function listDecisions(
  { database }: Dependencies,
  { orgId }: OrganizationCaller,
  { kind, operatorId, limit, below }: Page & {
    readonly kind: RecordKind | null;
    readonly operatorId: string | null;
  },
) {
  const pseudonym = operatorId === null ? null : await pseudonymOf(database, orgId, operatorId);
  const found: (ScoredEntry & { readonly position: number })[] = [];
  const epochs = pseudonym === undefined ? [] : await loadEpochs(database, evidenceChain(orgId));
  for (const { chain, firstPosition, frontier } of epochs.toReversed()) {
    const before = Math.min(frontier.size, (below ?? Infinity) - firstPosition);
    // One row more than asked for tells whether there is a next page.
    const missing = limit + 1 - found.length;
    if (before <= 0 || missing === 0) continue;
    const rows = await database.read(scoredEntriesQuery({
      chain,
      eventTypes: kind === null ? Object.values(EVENT_TYPES) : [EVENT_TYPES[kind]],
      pseudonym: pseudonym ?? null,
      below: before,
      limit: missing,
    }));
    found.push(...rows.map((row) => ({ ...row, position: firstPosition + row.seq })));
  }
  const page = found.slice(0, limit);
  // Entries whose content was erased still take their place in a page, but there is nothing to show of them.
  return {
    decisions: page.filter(({ id }) => id !== null).map(listed),
    next: found.length > limit ? page.at(-1)!.position : null,
  };
}

function listed(row: ScoredEntry) {
  return {
    id: row.id,
    kind: row.event_type === EVENT_TYPES.score ? "score" : "decision",
    timestamp: row.ts,
    operator_id: row.operator_id,
    domain: row.domain,
    decision: row.decision,
    jis: row.jis,
    band: row.band as Band | null,
    decision_risk_score: row.decision_risk_score,
    routing_decision: row.routing_decision as Route | null,
  };
}

/** undefined: nobody of that name was ever scored. */
async function pseudonymOf(
  database: Dependencies["database"],
  orgId: string,
  operatorId: string,
): Promise<string | undefined> {
  const [row] = await database.read(
    query.selectFrom("subject").select("pseudonym").where("org_id", "=", orgId)
      .where("operator_id", "=", operatorId).compile(),
  );
  return row?.pseudonym;
}

/** A page of the reports that were issued, newest first. */
export async function listReports(
  { database }: Dependencies,
  { orgId }: OrganizationCaller,
  { limit, below }: Page,
) {
  const rows = await database.read(
    reportsQuery(orgId, { family: evidenceChain(orgId), below, limit: limit + 1 }),
  );
  const page = rows.slice(0, limit);
  return {
    reports: page.map((row) => ({
      report_id: row.report_id,
      issued_at: row.issued_at,
      period: { start: row.start, end: row.end },
      overall_status: row.overall_status,
      status_certain: row.status_certain === 1,
    })),
    next: rows.length > limit ? page.at(-1)!.position : null,
  };
}
