/**
 * Scores one interaction: the operator's state moves, the score and its evidence are one durable write, and a
 * repeat of the request gets the stored answer.
 * Source: specification, POST /v1/score; contract, section 4; evidence design, sections 5 and 12.
 */
import type { Proving, Reading, Scoring, Writing } from "../shared/capabilities.ts";
import { DIMENSIONS, type Domain, type VerdictStatus } from "../../domain/enums.ts";
import { ServiceError } from "../../domain/errors.ts";
import type { ScoreRequest } from "../../domain/score.ts";
import { canonicalJson } from "../../evidence/canonical.ts";
import { equalBytes, hex } from "../../evidence/crypto.ts";
import type { EntryDraft } from "../../evidence/entry.ts";
import { computeScore, inputHead, scoreResultPart } from "../../evidence/record.ts";
import { requestDigest } from "../../keys/secrets.ts";
import type { ModelDocument } from "../../scoring/model.ts";
import { readState } from "../../scoring/reading.ts";
import { modeName, type Scored } from "../../scoring/score.ts";
import type { OperatorState } from "../../scoring/state.ts";
import {
  decisions,
  frozenOperators,
  interactions,
  type OperatorRow,
  operators,
  skippedInteractions,
  subjects,
} from "../../store/records.ts";
import type { Need, PlacedEntry, UnitOfWork } from "../../store/unit_of_work.ts";
import { addUsage } from "../../store/usage.ts";
import { currentOperator, operatorNeeds } from "./current_operator.ts";
import { drawSalt, makePart, signedBy } from "../shared/drafts.ts";
import type { Call, OrganizationCaller } from "../shared/call.ts";
import { evidenceChain } from "../../evidence/chain_name.ts";
import { answerOnce, type EvidencedAnswer, type StoredAnswer } from "../shared/answers.ts";
import { emitEvent, subscriptionNeed } from "../shared/events.ts";
import { frozenLink, lastFrozen } from "./frozen_calls.ts";
import { refuseGone, tombstoneNeed } from "../shared/gone.ts";
import type { IdempotentCall } from "../shared/idempotency.ts";
import { KeyedCall, pastRetentionError, requireSameId } from "../shared/keyed_calls.ts";
import {
  type DecidedProbe,
  findProbe,
  planOpening,
  probeNeeds,
  requireNoProbe,
  requireOpen,
} from "../probes/decide.ts";
import { drawEntry, type DrawnEntry } from "../probes/entries.ts";
import { drawPseudonym, pseudonymOf } from "../shared/subjects.ts";

/** The dependencies of planning a score. */
type Planning = Proving & Writing & Scoring;
/** The dependencies of these operations. */
type Needs = Planning & Pick<Reading, "seals">;

/**
 * Scores an interaction.
 * @throws {ServiceError} CONFLICT if the session was used for a different request; GONE; SERVICE_UNAVAILABLE.
 */
export async function scoreInteraction(
  dependencies: Needs,
  caller: OrganizationCaller,
  { request, ticket = null, beside = null, call, idempotency = null }: {
    readonly request: SentScore;
    /** The ticket of the probe that was decided; null if it was a live case. */
    readonly ticket?: string | null;
    /** An entry that is to follow in the same commit; default: none. */
    readonly beside?: EntryBeside | null;
    readonly call: Call;
    readonly idempotency?: IdempotentCall | null;
  },
): Promise<EvidencedAnswer> {
  const { installation, world } = dependencies;
  const sent = ticket === null ? request : { ...request, ticket };
  const keyed = new KeyedCall(installation, { orgId: caller.orgId, idempotency, request: sent, call });
  return await keyed.runUnderOneId(
    { given: request.session_id, draw: () => world.ulid(call.now) },
    (session_id) =>
      scoreUnderId(dependencies, caller, {
        request: { ...request, session_id },
        ticket,
        beside,
        call,
        keyed,
        drawn: request.session_id === null,
      }),
  );
}

/** An entry that follows the entry of a score. */
export interface EntryBeside {
  /** The pseudonym that the operator must still have: another one means that the operator was erased meanwhile. */
  readonly subject: string;
  readonly draft: EntryDraft;
}

/** A score as it was requested; `session_id` is null if the service is to draw it. */
export type SentScore = Omit<ScoreRequest, "session_id"> & { readonly session_id: string | null };

async function scoreUnderId(
  dependencies: Needs,
  caller: OrganizationCaller,
  { request, ticket, beside, call, keyed, drawn }: {
    readonly request: ScoreRequest;
    readonly ticket: string | null;
    readonly beside: EntryBeside | null;
    readonly call: Call;
    readonly keyed: KeyedCall;
    /** True if the service drew the session's id. */
    readonly drawn: boolean;
  },
): Promise<EvidencedAnswer> {
  const { orgId } = caller;
  const { session_id, operator_id } = request;
  const probe = ticket === null ? null : await findProbe(dependencies, orgId, { request, ticket });
  const score = prepareScore(dependencies, { orgId, request, call, probe, beside });
  return await answerOnce(dependencies, orgId, {
    call,
    expected: {
      events: ["SCORE_COMPUTED", "SCORE_SKIPPED"],
      members: {
        session_id: request.session_id,
        operator_id: request.operator_id,
        mode_override: request.mode_override,
      },
    },
    needs: [...needsOf(orgId, score), ...keyed.needs],
    plan(unit) {
      const known = keyed.findEarlier(unit);
      requireSameId(known, session_id);
      const stored = findRepeated(unit, orgId, score);
      if (known === null) {
        keyed.remember(unit, { reference: drawn ? session_id : null, operatorId: operator_id });
      }
      if (stored !== null) return { stored, replayed: true };
      if (known !== null) throw pastRetentionError();
      const planned = planScore(unit, dependencies, { caller, score });
      if (planned.counted) addUsage(orgId, { at: call.now, count: 1 }).forEach((row) => unit.execute(row));
      return planned;
    },
  });
}

/**
 * A score to be planned. Its ids and salts are drawn once: a commit that is planned anew writes the same
 * ones.
 */
export interface PreparedScore {
  readonly request: ScoreRequest;
  readonly call: Call;
  readonly digest: Uint8Array;
  readonly entryId: string;
  readonly salts: { readonly input: Uint8Array; readonly result: Uint8Array };
  readonly pseudonym: string;
  /** The need for the tombstone of the session's id: it shows a name that is gone. */
  readonly tombstone: Need;
  /** The probe that was decided, and the entry that opens it; null if it was a live case. */
  readonly probe: { readonly decided: DecidedProbe; readonly drawn: DrawnEntry } | null;
  readonly beside: EntryBeside | null;
}

export function prepareScore(
  { world, installation }: Planning,
  { orgId, request: sent, call, probe = null, beside = null }: {
    readonly orgId: string;
    readonly request: ScoreRequest;
    readonly call: Call;
    /** The probe that was decided; default: it was a live case. */
    readonly probe?: DecidedProbe | null;
    readonly beside?: EntryBeside | null;
  },
): PreparedScore {
  const request = probe === null ? sent : { ...sent, interaction: probe.interaction };
  return {
    request,
    call,
    probe: probe && { decided: probe, drawn: drawEntry(world, call.now) },
    beside,
    digest: requestDigest(installation.key, canonicalJson({ kind: "score", ...request })),
    entryId: world.ulid(call.now),
    salts: { input: drawSalt(world), result: drawSalt(world) },
    pseudonym: drawPseudonym(world),
    tombstone: tombstoneNeed({ installation }, { kind: "record", orgId, name: request.session_id }),
  };
}

/** The rows that planning a score reads. */
export function needsOf(orgId: string, { request, tombstone, probe }: PreparedScore): readonly Need[] {
  const session = [orgId, request.session_id] as const;
  const operator = [orgId, request.operator_id] as const;
  return [
    { kind: interactions, key: session },
    { kind: skippedInteractions, key: session },
    { kind: decisions, key: session },
    ...probeNeeds(session, probe?.decided ?? null),
    ...operatorNeeds(operator),
    ...(request.mode_override === "incident_frozen" ? [{ kind: frozenOperators, key: operator }] : []),
    { kind: subjects, key: operator },
    subscriptionNeed(orgId),
    tombstone,
  ];
}

/**
 * The stored answer that this request repeats, or null if it is new.
 * A frozen call does not use up its session: a later normal call scores it.
 * @throws {ServiceError} CONFLICT, GONE.
 */
function findRepeated(
  unit: UnitOfWork,
  orgId: string,
  { request, digest, tombstone }: PreparedScore,
): StoredAnswer | null {
  const session = [orgId, request.session_id] as const;
  const frozen = request.mode_override === "incident_frozen";
  const used = [
    unit.get(interactions, session),
    frozen ? unit.get(skippedInteractions, session) : null,
  ].filter((row) => row !== null);
  const same = used.find((row) => equalBytes(row.request_digest, digest));
  if (same !== undefined) return same;
  if (used.length > 0 || unit.get(decisions, session) !== null) throw usedSession(request.session_id);
  refuseGone(unit, tombstone);
  return null;
}

export function usedSession(sessionId: string): ServiceError {
  return new ServiceError(
    "CONFLICT",
    `session_id ${sessionId} was used for a different request: send the same request again to get its answer, or use a new session_id.`,
  );
}

export interface PlannedScore {
  readonly appended: PlacedEntry;
  readonly result: Record<string, unknown>;
  /** True if the call counts as usage: a skipped call does not. */
  readonly counted: boolean;
}

/** Plans the rows and the entry of a score; its session must be free. */
export function planScore(
  unit: UnitOfWork,
  dependencies: Planning,
  { caller, score }: { readonly caller: OrganizationCaller; readonly score: PreparedScore },
): PlannedScore {
  const { request, call, salts, probe, beside } = score;
  const { orgId } = caller;
  const operator = [orgId, request.operator_id] as const;
  if (probe === null) requireNoProbe(unit, [orgId, request.session_id]);
  else requireOpen(unit, orgId, probe.decided, call.now);
  const subject = pseudonymOf(unit, operator, score.pseudonym);
  if (beside !== null && beside.subject !== subject) {
    throw new ServiceError("GONE", "The operator of this call was erased.");
  }
  const isFrozen = request.mode_override === "incident_frozen";
  const before = isFrozen ? null : currentOperator(unit, operator);
  const planned = isFrozen ? planSkipped(dependencies, score) : planScored(dependencies, score, before);
  const appended = unit.append(evidenceChain(orgId), {
    id: score.entryId,
    ...signedBy(caller),
    eventType: planned.scored === null ? "SCORE_SKIPPED" : "SCORE_COMPUTED",
    subject,
    at: call.now,
    parts: [makePart("input", salts.input, planned.input), makePart("result", salts.result, planned.result)],
  });
  const { position } = appended;
  if (beside !== null) unit.append(evidenceChain(orgId), beside.draft);
  if (probe !== null) planOpening(unit, caller, { probe: probe.decided, now: call.now, drawn: probe.drawn });
  if (planned.scored === null) {
    const link = frozenLink(unit.get(frozenOperators, operator), { at: call.now, position });
    unit.put(frozenOperators, { org_id: orgId, operator_id: request.operator_id, ...lastFrozen(link) });
    unit.put(skippedInteractions, { ...identityOf(orgId, score), ...link });
  } else {
    unit.put(operators, {
      org_id: orgId,
      operator_id: request.operator_id,
      domain: request.domain,
      position,
      team: before?.team ?? null,
      ...stateColumns(planned.scored.state, appended, planned.scored.fullVerdict?.status ?? null),
    });
    unit.put(interactions, {
      ...identityOf(orgId, score),
      position,
      previous: before?.position ?? null,
      ...scoredColumns(request, planned.scored),
      commit_position: null,
      label_position: null,
    });
    if (planned.scored.result.committed) {
      emitEvent(unit, { orgId, operatorId: request.operator_id, event: "score.committed", position, call });
    }
  }
  return { appended, result: planned.result, counted: planned.scored !== null };
}

interface Planned {
  readonly input: Record<string, unknown>;
  readonly result: Record<string, unknown>;
  readonly scored: Scored | null;
}

/** The members of every input part that come from its request (evidence design, section 12). */
function inputOf({ model }: Planning, { request, call }: PreparedScore) {
  return {
    ...inputHead(model, call.now),
    mode: request.mode,
    role_tier: request.role_tier,
    mode_override: request.mode_override,
    operator_id: request.operator_id,
    session_id: request.session_id,
    domain: request.domain,
    interaction: request.interaction,
  };
}

function planSkipped(dependencies: Planning, score: PreparedScore): Planned {
  const input = inputOf(dependencies, score);
  return {
    input: { ...input, prior: null, weights: null, state: null },
    result: scoreResultPart(input, {
      skipped: true,
      reason: "incident_frozen",
      jis: null,
      mode: modeName(input.mode),
    }),
    scored: null,
  };
}

function planScored(dependencies: Planning, score: PreparedScore, row: OperatorRow | null): Planned {
  const input = { ...inputOf(dependencies, score), ...priorOf(row) };
  const scored = computeScore(dependencies.model.document, input);
  return {
    input: { ...input, weights: scored.weights },
    result: scoreResultPart(input, scored.result),
    scored,
  };
}

/** The operator's state, and the entry that left it. */
export function priorOf(row: OperatorRow | null): {
  readonly prior: { readonly seq: number; readonly entry_hash: string } | null;
  readonly state: OperatorState | null;
} {
  if (row === null) return { prior: null, state: null };
  return { prior: { seq: row.prior_seq, entry_hash: hex(row.prior_hash) }, state: JSON.parse(row.state) };
}

function identityOf(orgId: string, { request, call, digest }: PreparedScore) {
  return {
    org_id: orgId,
    session_id: request.session_id,
    operator_id: request.operator_id,
    request_digest: digest,
    request_id: call.requestId,
    at: call.now,
  };
}

/** The columns of an operator's row for its state with its verdict, and for the entry that left that state. */
export function stateColumns(
  state: OperatorState,
  { entry, hash }: { readonly entry: { readonly seq: number }; readonly hash: Uint8Array },
  verdict: string | null,
) {
  return {
    state: canonicalJson(state),
    prior_seq: entry.seq,
    prior_hash: hash,
    jis: state.jis!,
    n: state.n,
    t0: state.t0!,
    t1: state.t1!,
    tcrit: state.tcrit,
    crit_count: state.cnt.crit,
    share_hs: state.share.hs,
    share_crit: state.share.crit,
    verdict,
  };
}

/** The verdict column of a state: its full-mode verdict; null with the formulas before `jis-3`. */
export function verdictColumn(
  model: ModelDocument,
  state: OperatorState,
  domain: Domain,
): VerdictStatus | null {
  return readState(model, state, { domain, mode: "full" }).judgment?.verdict.status ?? null;
}

/** The columns of a score that reports and histories read: full-mode values, in lite mode too. */
export function scoredColumns(
  { domain, interaction, mode }: Pick<ScoreRequest, "domain" | "interaction" | "mode">,
  {
    state,
    result,
    weights,
    fullDimensions,
    fullUncertainty,
    fullVerdict,
    groundTruth,
    meanCorrectAcceptance,
  }: Scored,
) {
  const [d1, d2, d3, d4, d5, d6, d7] = DIMENSIONS.map((name) => fullDimensions[name]);
  return {
    domain,
    decision: interaction.decision,
    scenario_type: interaction.scenario_type,
    mode,
    departure: weights.s,
    committed: result.committed ? 1 : 0,
    jis: state.jis!,
    low: fullUncertainty.low,
    high: fullUncertainty.high,
    d1: d1!,
    d2: d2!,
    d3: d3!,
    d4: d4!,
    d5: d5!,
    d6: d6!,
    d7: d7!,
    mean_c: meanCorrectAcceptance,
    n: state.n,
    t0: state.t0!,
    t1: state.t1!,
    departed: state.cnt.dep,
    referred: state.cnt.ref,
    ground_truth: groundTruth,
    tcrit: state.tcrit,
    crit_count: state.cnt.crit,
    share_hs: state.share.hs,
    share_crit: state.share.crit,
    verdict: fullVerdict?.status ?? null,
  };
}
