/**
 * Scoring one interaction: the operator's state moves, the score and its evidence are one durable write, and
 * the same request again gets the stored answer.
 * Source: specification, POST /v1/score; contract, section 4; evidence design, sections 5 and 12.
 */
import { DIMENSIONS } from "../domain/enums.ts";
import { ServiceError } from "../domain/errors.ts";
import type { ScoreRequest } from "../domain/score.ts";
import { canonicalJson } from "../evidence/canonical.ts";
import { equalBytes, hex } from "../evidence/crypto.ts";
import type { EntryDraft } from "../evidence/entry.ts";
import { type Evidence, evidenceOfAppended } from "../evidence/envelope.ts";
import { requestDigest } from "../keys/secrets.ts";
import { modeName, score, type Scored } from "../scoring/score.ts";
import type { OperatorState } from "../scoring/state.ts";
import { checkpointOfCommit, readEvidence } from "../store/chains.ts";
import {
  interactions,
  type OperatorRow,
  operators,
  skippedInteractions,
  subjects,
} from "../store/records.ts";
import type { UnitOfWork } from "../store/unit_of_work.ts";
import type { WriteJob } from "../store/writer.ts";
import {
  type Call,
  type Dependencies,
  drawSalt,
  evidenceChain,
  makePart,
  type OrganizationCaller,
} from "./dependencies.ts";

const PSEUDONYM_BYTES = 16;

/** An answer to a score call, and the call's id and instant that it carries. */
export interface ScoreAnswer {
  readonly body: Record<string, unknown> & { readonly evidence: Evidence };
  /** Of the call that was answered first, where this one repeats it. */
  readonly call: Call;
  readonly replayed: boolean;
}

/** Where a stored answer lies. */
interface StoredAnswer {
  readonly seq: number;
  readonly at: number;
  readonly request_id: string;
  readonly request_digest: Uint8Array;
}

type Outcome =
  | { readonly kind: "scored"; readonly body: ScoreAnswer["body"] }
  | { readonly kind: "repeated"; readonly stored: StoredAnswer };

/**
 * Scores an interaction.
 * @throws {ServiceError} CONFLICT where the session was used for a different request; SERVICE_UNAVAILABLE.
 */
export async function scoreInteraction(
  dependencies: Dependencies,
  caller: OrganizationCaller,
  { request, call }: { readonly request: ScoreRequest; readonly call: Call },
): Promise<ScoreAnswer> {
  const digest = requestDigest(dependencies.installation.key, canonicalJson({ kind: "score", ...request }));
  const job = scoreJob(dependencies, caller, { request, call, digest });
  const outcome = await dependencies.writer.submit(job);
  if (outcome.kind === "scored") return { body: outcome.body, call, replayed: false };
  return await storedAnswer(dependencies, caller.orgId, outcome.stored);
}

interface Context {
  readonly request: ScoreRequest;
  readonly call: Call;
  readonly digest: Uint8Array;
}

/** The write of one score, to be submitted as it is or beside others. */
function scoreJob(
  dependencies: Dependencies,
  caller: OrganizationCaller,
  context: Context,
): WriteJob<Outcome> {
  const { world } = dependencies;
  const { request, call } = context;
  const { orgId } = caller;
  const session = [orgId, request.session_id] as const;
  const operator = [orgId, request.operator_id] as const;
  // Drawn once: a commit that is planned anew writes the same ids and salts.
  const newPseudonym = hex(world.random(PSEUDONYM_BYTES));
  const entryId = world.ulid(call.now);
  const salts = { input: drawSalt(world), result: drawSalt(world) };
  const chain = evidenceChain(orgId);

  return {
    needs: [
      { kind: interactions, key: session },
      { kind: skippedInteractions, key: session },
      { kind: operators, key: operator },
      { kind: subjects, key: operator },
    ],
    chains: [chain],
    plan(unit) {
      const repeated = findRepeated(unit, session, context);
      if (repeated !== null) return () => ({ kind: "repeated", stored: repeated });

      let subject = unit.get(subjects, operator);
      if (subject === null) {
        subject = { org_id: orgId, operator_id: request.operator_id, pseudonym: newPseudonym };
        unit.put(subjects, subject);
      }
      const row = unit.get(operators, operator);
      const planned = request.mode_override === "incident_frozen"
        ? planSkipped(dependencies, context)
        : planScored(dependencies, context, row);
      const draft: EntryDraft = {
        id: entryId,
        actor: caller.actor,
        eventType: planned.scored === null ? "SCORE_SKIPPED" : "SCORE_COMPUTED",
        orgId,
        prefix: caller.prefix,
        subject: subject.pseudonym,
        at: call.now,
        parts: [
          makePart("input", salts.input, planned.input),
          makePart("result", salts.result, planned.result),
        ],
      };
      const appended = unit.append(chain, draft);
      const { seq } = appended.entry;
      if (planned.scored === null) {
        unit.put(skippedInteractions, { ...identityOf(orgId, context), seq });
      } else {
        unit.put(operators, {
          org_id: orgId,
          operator_id: request.operator_id,
          state: canonicalJson(planned.scored.state),
          domain: request.domain,
          prior_seq: seq,
          prior_hash: appended.hash,
        });
        unit.put(interactions, interactionRow({ orgId, seq, context, scored: planned.scored }));
      }
      return (receipts) => ({
        kind: "scored",
        body: {
          ...planned.result,
          evidence: evidenceOfAppended(appended, { covers: "result", proof: receipts.proofOf(appended) }),
        },
      });
    },
  };
}

/**
 * The stored answer that this request repeats, or null where it is new.
 * A frozen post does not use up its session: a later normal post scores it.
 * @throws {ServiceError} CONFLICT.
 */
function findRepeated(
  unit: UnitOfWork,
  session: readonly [string, string],
  { request, digest }: Context,
): StoredAnswer | null {
  const frozen = request.mode_override === "incident_frozen";
  const used = [
    unit.get(interactions, session),
    frozen ? unit.get(skippedInteractions, session) : null,
  ].filter((row) => row !== null);
  if (used.length === 0) return null;
  const same = used.find((row) => equalBytes(row.request_digest, digest));
  if (same !== undefined) return same;
  throw new ServiceError(
    "CONFLICT",
    `session_id ${request.session_id} was used for a different request: send the same request again to get its answer, or use a new session_id.`,
  );
}

interface Planned {
  readonly input: Record<string, unknown>;
  readonly result: Record<string, unknown>;
  readonly scored: Scored | null;
}

/** What every input part says of its request (evidence design, section 12). */
function inputOf({ model }: Dependencies, { request, call }: Context) {
  return {
    v: "jis.input/1",
    algo: {
      formulas: model.document.formulas,
      model_version: model.document.version,
      model_sha256: model.sha256,
    },
    as_of: new Date(call.now).toISOString(),
    mode: request.mode,
    role_tier: request.role_tier,
    mode_override: request.mode_override,
    operator_id: request.operator_id,
    session_id: request.session_id,
    domain: request.domain,
    interaction: request.interaction,
  };
}

/** What every result says of its request. */
function echoOf({ model }: Dependencies, { request }: Context) {
  return {
    session_id: request.session_id,
    operator_id: request.operator_id,
    role_tier: request.role_tier,
    mode_override: request.mode_override,
    model: { version: model.document.version, sha256: model.sha256 },
  };
}

function planSkipped(dependencies: Dependencies, context: Context): Planned {
  return {
    input: { ...inputOf(dependencies, context), prior: null, weights: null, state: null },
    result: {
      skipped: true,
      reason: "incident_frozen",
      jis: null,
      mode: modeName(context.request.mode),
      ...echoOf(dependencies, context),
    },
    scored: null,
  };
}

function planScored(dependencies: Dependencies, context: Context, row: OperatorRow | null): Planned {
  const { request, call } = context;
  const before: OperatorState | null = row === null ? null : JSON.parse(row.state);
  const scored = score(
    dependencies.model.document,
    before,
    { interaction: request.interaction, domain: request.domain, now: call.now },
    { mode: request.mode, modeOverride: "normal" },
  );
  return {
    input: {
      ...inputOf(dependencies, context),
      prior: row === null ? null : { seq: row.prior_seq, entry_hash: hex(row.prior_hash) },
      weights: scored.weights,
      state: before,
    },
    result: { ...scored.result, ...echoOf(dependencies, context) },
    scored,
  };
}

function identityOf(orgId: string, { request, call, digest }: Context) {
  return {
    org_id: orgId,
    session_id: request.session_id,
    operator_id: request.operator_id,
    request_digest: digest,
    request_id: call.requestId,
    at: call.now,
  };
}

/** The row that reports and histories read: full-mode values, in lite mode too. */
function interactionRow(
  { orgId, seq, context, scored }: {
    readonly orgId: string;
    readonly seq: number;
    readonly context: Context;
    readonly scored: Scored;
  },
) {
  const { request } = context;
  const [d1, d2, d3, d4, d5, d6, d7] = DIMENSIONS.map((name) => scored.fullDimensions[name]);
  return {
    ...identityOf(orgId, context),
    domain: request.domain,
    decision: request.interaction.decision,
    scenario_type: request.interaction.scenario_type,
    mode: request.mode,
    seq,
    committed: scored.result.committed ? 1 : 0,
    jis: scored.state.jis!,
    d1: d1!,
    d2: d2!,
    d3: d3!,
    d4: d4!,
    d5: d5!,
    d6: d6!,
    d7: d7!,
    mean_c: scored.meanCorrectAcceptance,
  };
}

/** The answer that was given first, its evidence against the checkpoint of its own commit. */
async function storedAnswer(
  { database, crypto }: Dependencies,
  orgId: string,
  { seq, at, request_id }: StoredAnswer,
): Promise<ScoreAnswer> {
  const chain = evidenceChain(orgId);
  const checkpoint = await checkpointOfCommit(database, { chain, seq });
  const stored = checkpoint &&
    await readEvidence(database, crypto, { chain, seq, covers: "result", checkpoint });
  if (stored === null) throw new Error(`entry ${seq} of ${chain} has no stored answer`);
  return {
    body: { ...stored.data, evidence: stored.evidence },
    call: { now: at, requestId: request_id },
    replayed: true,
  };
}
