/** The list of an organization's probes. What a seal hides is shown only once it is opened on the chain. */
import type { Reading } from "../shared/capabilities.ts";
import type { ProbeState } from "../../domain/enums.ts";
import {
  type ProbeDrawRow,
  probeDraws,
  probeDrawsQuery,
  probePageQuery,
  type ProbeRow,
  probes,
} from "../../store/probes.ts";
import type { OrganizationCaller } from "../shared/call.ts";
import { requireSealed } from "../shared/sealed_reads.ts";

/** A page of the probes, the last sealed first; `next` is the position below which the next page begins. */
export async function listProbes(
  dependencies: Pick<Reading, "database" | "seals">,
  { orgId }: OrganizationCaller,
  { state, limit, below }: {
    readonly state: ProbeState | null;
    readonly limit: number;
    /** Only probes sealed before this position; null begins with the newest. */
    readonly below: number | null;
  },
): Promise<{ readonly probes: readonly Record<string, unknown>[]; readonly next: number | null }> {
  const { database } = dependencies;
  const rows = await database.read(probePageQuery(orgId, { state, below, limit: limit + 1 }));
  requireSealed(dependencies, probes, rows);
  const page = rows.slice(0, limit);
  const draws = await database.read(probeDrawsQuery(orgId, page.map(({ probe_id }) => probe_id)));
  requireSealed(dependencies, probeDraws, draws);
  const drawOf = new Map(draws.map((draw) => [draw.probe_id, draw]));
  return {
    probes: page.map((row) => listed(row, drawOf.get(row.probe_id) ?? null)),
    next: rows.length > limit ? page.at(-1)!.position : null,
  };
}

function listed(row: ProbeRow, draw: ProbeDrawRow | null): Record<string, unknown> {
  const flag = (value: number | null) => value === null ? null : value === 1;
  return {
    probe_id: row.probe_id,
    domain: row.domain,
    stakes: row.stakes,
    state: row.state,
    sealed_at: instant(row.at),
    commitment: row.commitment,
    reference: row.reference,
    drawn_at: instant(row.drawn_at),
    expires_at: instant(row.expires_at),
    closed_at: instant(row.closed_at),
    ai_correct: flag(row.ai_correct),
    departed: flag(row.departed),
    operator_id: draw?.operator_id ?? null,
    probe_session_id: draw?.probe_session_id ?? null,
    case_session_id: draw?.session_id ?? null,
  };
}

function instant(at: number | null): string | null {
  return at === null ? null : new Date(at).toISOString();
}
