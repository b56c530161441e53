/**
 * The decision of a probe: it is scored as any other case is, with the truth that its seal holds in place of what the
 * caller could say, and opened in the same commit.
 */
import type { Proving, Reading } from "../shared/capabilities.ts";
import { refusedAt, ServiceError } from "../../domain/errors.ts";
import type { ScenarioType } from "../../domain/enums.ts";
import type { Interaction } from "../../domain/interaction.ts";
import { departsFromAdvice } from "../../domain/probe.ts";
import type { ScoreRequest } from "../../domain/score.ts";
import { evidenceChain } from "../../evidence/chain_name.ts";
import { equalBytes, utf8 } from "../../evidence/crypto.ts";
import { probeTicket } from "../../keys/probe_secrets.ts";
import { probeDraws, type ProbeRow, probes, probeSessions } from "../../store/probes.ts";
import { AlteredRows } from "../../store/seals.ts";
import type { Need, UnitOfWork } from "../../store/unit_of_work.ts";
import type { OrganizationCaller } from "../shared/call.ts";
import { requireNotGone } from "../shared/gone.ts";
import { readSealed } from "../shared/sealed_reads.ts";
import { planClosing } from "./close.ts";
import { type DrawnEntry, probeEntry } from "./entries.ts";
import { type OpenedSeal, openSeal } from "./seal.ts";

/** A probe whose decision is to be scored. */
export interface DecidedProbe {
  readonly probeId: string;
  readonly seal: OpenedSeal;
  /** The interaction as it is scored and recorded. */
  readonly interaction: Interaction;
}

/** A score whose session may be a probe's. */
type SentScore = Omit<ScoreRequest, "mode" | "role_tier">;

/**
 * The probe of a score with a ticket.
 * @throws {ServiceError} VALIDATION_FAILED if the ticket is not that of the session, or if something in the request
 *   contradicts the probe; GONE if its score was erased or pruned; CONFLICT; {AlteredRows}.
 */
export async function findProbe(
  dependencies: Pick<Reading, "seals"> & Proving,
  orgId: string,
  { request, ticket }: { readonly request: SentScore; readonly ticket: string },
): Promise<DecidedProbe> {
  const { database, installation } = dependencies;
  const { session_id, operator_id, domain, interaction, mode_override } = request;
  const [named] = await database.read(probeSessions.load(JSON.stringify([[orgId, session_id]])));
  const [draw] = await readSealed(
    dependencies,
    probeDraws,
    named === undefined ? [] : [[orgId, named.session_id]],
  );
  const probeId = draw?.probe_id ?? null;
  const expected = probeId === null
    ? ""
    : probeTicket(installation.key, orgId, { probeId, sessionId: session_id });
  if (draw === undefined) await requireNotGone(dependencies, { kind: "record", orgId, name: session_id });
  if (
    draw?.probe_session_id !== session_id || probeId === null || !equalBytes(utf8(expected), utf8(ticket))
  ) {
    throw refusedAt("interaction.probe_ticket", "must be the ticket that the draw of this session gave");
  }
  const [probe] = await readSealed(dependencies, probes, [[orgId, probeId]]);
  if (probe === undefined) throw new AlteredRows(evidenceChain(orgId), "a row of probe");
  // An accepted restore ended it, and nobody can tell any more what its seal hid.
  if (probe.state === "recalled" && probe.ai_correct === null) {
    throw new ServiceError(
      "CONFLICT",
      "The probe of this session cannot be decided any more: it is recalled.",
    );
  }
  const seal = openSeal(dependencies, probe);
  if (draw.operator_id !== operator_id) {
    throw refusedAt("operator_id", "must be the operator for whom the probe was drawn");
  }
  if (probe.domain !== domain) throw refusedAt("domain", "must be the domain of the probe");
  if (mode_override === "incident_frozen") {
    throw refusedAt("interaction.probe_ticket", "cannot be sent with a frozen call: recall the probe");
  }
  return { probeId, seal, interaction: decidedInteraction(interaction, { ...probe, seal }) };
}

/**
 * The interaction with the truth of the seal; what a request may say beside a ticket does not depend on it.
 * @throws {ServiceError} VALIDATION_FAILED if it is not shown as a probe of these stakes is.
 */
function decidedInteraction(
  interaction: Interaction,
  { stakes, seal: { ai_correct } }: Pick<ProbeRow, "stakes"> & { readonly seal: OpenedSeal },
): Interaction {
  if (!interaction.ai_recommendation_presented || !interaction.ai_available) {
    throw refusedAt("interaction.ai_recommendation_presented", "must be true for a probe");
  }
  if (interaction.scenario_type !== "standard" && interaction.scenario_type !== stakes) {
    throw refusedAt(
      "interaction.scenario_type",
      `must be left out, or the stakes of the probe: ${stakes}`,
    );
  }
  return {
    ...interaction,
    scenario_type: stakes as ScenarioType,
    ai_correct,
    outcome_correct: outcomeOf(interaction.decision, ai_correct) ?? interaction.outcome_correct,
    sealed_probe: true,
  };
}

/**
 * The outcome that follows from the truth of the recommendation; null for a modification, which may have mended wrong
 * advice or not.
 */
function outcomeOf(decision: Interaction["decision"], aiCorrect: boolean): boolean | null {
  if (decision === "modified") return null;
  return decision === "accepted" ? aiCorrect : !aiCorrect;
}

/** The rows that planning a score reads to know whether its session is a probe's. */
export function probeNeeds(
  [orgId, sessionId]: readonly [orgId: string, sessionId: string],
  probe: DecidedProbe | null,
): readonly Need[] {
  return [
    { kind: probeSessions, key: [orgId, sessionId] },
    ...(probe === null ? [] : [{ kind: probes, key: [orgId, probe.probeId] }]),
  ];
}

/** The refusal of a call that names the session of a probe and must not. */
export interface ProbeRefusal {
  readonly path: string;
  /** The end of "Change path: it …". */
  readonly message: string;
}

/** The refusal of a score without a ticket. */
const TICKET_MISSING: ProbeRefusal = {
  path: "interaction.probe_ticket",
  message: "is missing: the session is a probe's, and its draw gave a ticket",
};

/** @throws {ServiceError} VALIDATION_FAILED if a session is a probe's, which the call cannot have. */
export function requireNoProbe(
  unit: UnitOfWork,
  session: readonly [orgId: string, sessionId: string],
  { path, message }: ProbeRefusal = TICKET_MISSING,
): void {
  if (unit.get(probeSessions, session) !== null) throw refusedAt(path, message);
}

/** Opens a probe beside its score, in the same commit; it must be open ({@link requireOpen}), and the score's entry the newest. */
export function planOpening(
  unit: UnitOfWork,
  caller: OrganizationCaller,
  { probe: { probeId, seal, interaction }, now, drawn }: {
    readonly probe: DecidedProbe;
    readonly now: number;
    readonly drawn: DrawnEntry;
  },
): void {
  const row = unit.get(probes, [caller.orgId, probeId])!;
  const content = { probe_id: probeId, ...seal };
  const entry = probeEntry(drawn, { event: "PROBE_OPENED", caller, now, content });
  planClosing(unit, { row, state: "decided", seal, entry, departed: departsFromAdvice(interaction) });
}

/** @throws {ServiceError} CONFLICT unless the probe waits for its decision. */
export function requireOpen(unit: UnitOfWork, orgId: string, { probeId }: DecidedProbe, now: number): void {
  const { state, expires_at } = unit.get(probes, [orgId, probeId])!;
  // The entry's own instant counts: it is never before that of the entry before it.
  const at = Math.max(now, Date.parse(unit.head(evidenceChain(orgId))!.lastTimestamp));
  if (state === "drawn" && at <= expires_at!) return;
  const why = state === "drawn" || state === "lost" ? "its time is over" : `it is ${state}`;
  throw new ServiceError("CONFLICT", `The probe of this session cannot be decided any more: ${why}.`);
}
