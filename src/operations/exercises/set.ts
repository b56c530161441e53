/** Sets an exercise: chooses its cases, writes the entry, and makes the link. */
import type { Scoring } from "../shared/capabilities.ts";
import { type Domain, DOMAINS } from "../../domain/enums.ts";
import { type ErrorDetail, ServiceError } from "../../domain/errors.ts";
import type { World } from "../../domain/world.ts";
import { evidenceChain } from "../../evidence/chain_name.ts";
import { hex } from "../../evidence/crypto.ts";
import { type Evidence, evidenceOfAppended } from "../../evidence/envelope.ts";
import { caseSetSha256, type ExerciseSet, exerciseSetSchema } from "../../evidence/exercises.ts";
import { builtInCaseSet } from "../../exercises/built_in.ts";
import type { CaseSet, CaseSetLanguage } from "../../exercises/case_set.ts";
import { type CatalogueExercise, chooseCases, type Difficulty, formOf } from "../../exercises/form.ts";
import { linkToken } from "../../keys/exercise_links.ts";
import { DAY_MS, MINUTE_MS } from "../../domain/time.ts";
import { readEvidence } from "../../store/proofs.ts";
import { operators, subjects } from "../../store/records.ts";
import type { Call, Caller, OrganizationCaller } from "../shared/call.ts";
import { originOf, type RetentionDays } from "../shared/deployment.ts";
import { drawSalt, makePart } from "../shared/drafts.ts";
import type { IdempotentCall } from "../shared/idempotency.ts";
import { KeyedCall, type KnownCall, type RepeatableAnswer } from "../shared/keyed_calls.ts";
import { drawPseudonym, pseudonymOf } from "../shared/subjects.ts";
import { type AddedCaseSet, addedCaseSets, builtInCaseSets, caseSetDraft } from "./case_sets.ts";
import { earlierRuns, latestLiveDomain } from "./list.ts";
import { type Needs as RunNeeds, readRun, type Run } from "./runs.ts";

/** The dependencies of this operation. */
type Needs = RunNeeds & Scoring & RetentionDays;

/** An exercise to be set. */
export interface ExerciseRequest {
  readonly operator_id: string;
  readonly exercise_id: string;
  /** The name or the hash of a case set; null for the program's own set of the domain. */
  readonly case_set: string | null;
  /** Null for the domain of the operator's latest work. */
  readonly domain: Domain | null;
  /** Null for that of the case set if `case_set` is a hash, and else for English. */
  readonly language: CaseSetLanguage | null;
  readonly difficulty: Difficulty;
  readonly expires_hours: number;
}

/**
 * Sets an exercise for an operator. A call with an Idempotency-Key can be repeated.
 * @throws {ServiceError} VALIDATION_FAILED if the exercise, the set or the domain cannot be used; IDEMPOTENCY_KEY_REUSED;
 *   GONE; {AlteredError}.
 */
export async function setExercise(
  dependencies: Needs,
  caller: OrganizationCaller,
  { request, call, idempotency }: {
    readonly request: ExerciseRequest;
    readonly call: Call;
    readonly idempotency: IdempotentCall | null;
  },
): Promise<RepeatableAnswer> {
  const { installation, model, world, writer } = dependencies;
  const { orgId } = caller;
  const keyed = new KeyedCall(installation, { orgId, idempotency, request, call });
  const earlier = await keyed.lookUp(dependencies);
  if (earlier !== null) return await repeated(dependencies, earlier);

  const { exercise, form } = heldExercise(model.document.maintenance.exercises, request);
  const { evidenceRetentionDays: days } = dependencies;
  // Nothing of the run is left after its retention.
  const hours = Math.min(request.expires_hours, days === null ? Infinity : 24 * days);
  const expiresAt = call.now + hours * 60 * MINUTE_MS;
  const { set, added, isOwn } = await chosenSet(dependencies, caller, { request, expiresAt });
  const scale = model.document.maintenance.difficulties[request.difficulty];
  const cases = chooseCases(set.cases, {
    items: scale.items,
    errorShare: scale.ai_error_share,
    seen: await seenCases(dependencies, orgId, { operatorId: request.operator_id, set: set.name }),
    random: () => uniform(world),
  });
  const content = {
    operator_id: request.operator_id,
    exercise: {
      id: exercise.id,
      title: exercise.title,
      instructions: exercise.instructions,
      debrief: exercise.debrief,
      metric: exercise.metric,
      success_threshold: exercise.success_thresholds?.[request.difficulty] ?? scale.success_threshold,
    },
    domain: set.domain,
    language: set.language,
    cases,
    ...form,
    feedback: scale.feedback,
    expires_at: new Date(expiresAt).toISOString(),
  };
  const runId = world.ulid(call.now);
  const salt = drawSalt(world);
  const pseudonym = drawPseudonym(world);
  const chain = evidenceChain(orgId);
  // The organization added nothing if it is one of the program; its own that would be pruned stays its own.
  const adder: Caller = isOwn ? caller : { actor: "system", orgId, prefix: null };
  const setDraft = added === null ? caseSetDraft(dependencies, { caller: adder, set, now: call.now }) : null;
  const operator = [orgId, request.operator_id] as const;
  const outcome = await writer.submit<
    { readonly run: Run; readonly evidence: Evidence } | { readonly known: KnownCall }
  >({
    needs: [{ kind: subjects, key: operator }, { kind: operators, key: operator }, ...keyed.needs],
    chains: [chain],
    plan(unit) {
      const known = keyed.findEarlier(unit);
      if (known !== null) return () => ({ known });
      const subject = pseudonymOf(unit, operator, pseudonym);
      const place = added ?? (({ entry: { chain, seq } }) => ({ chain, seq }))(unit.append(chain, setDraft!));
      const input: ExerciseSet = exerciseSetSchema.parse({
        ...content,
        case_set: {
          name: set.name,
          sha256: caseSetSha256(dependencies.crypto, set),
          chain: place.chain,
          seq: place.seq,
        },
      });
      const appended = unit.append(chain, {
        id: runId,
        actor: caller.actor,
        eventType: "EXERCISE_SET",
        orgId,
        prefix: caller.prefix,
        subject,
        at: call.now,
        parts: [makePart("input", salt, input)],
      });
      keyed.remember(unit, { reference: runId, operatorId: request.operator_id });
      const { entry, hash } = appended;
      return (receipts) => ({
        run: {
          orgId,
          runId,
          subject,
          place: { chain: entry.chain, seq: entry.seq, entry_hash: hex(hash) },
          setAt: entry.timestamp,
          input,
        },
        evidence: evidenceOfAppended(appended, { covers: "input", proof: receipts.proofOf(appended) }),
      });
    },
  });
  if ("known" in outcome) return await repeated(dependencies, outcome.known);
  return { body: answerOf(dependencies, outcome), call, replayed: false };
}

async function repeated(dependencies: Needs, { reference, call }: KnownCall): Promise<RepeatableAnswer> {
  const run = await readRun(dependencies, reference!);
  const { chain, seq } = run.place;
  const origin = originOf(dependencies, chain);
  const { evidence } = (await readEvidence(dependencies, { chain, seq, origin, covers: "input" }))!;
  return { body: answerOf(dependencies, { run, evidence }), call, replayed: true };
}

/** The answer to the call that set a run: what its entry records, and the secret of its link. */
function answerOf(
  { installation }: Needs,
  { run: { runId, setAt, input }, evidence }: { readonly run: Run; readonly evidence: Evidence },
) {
  const token = `${runId}.${linkToken(installation.key, runId)}`;
  return { run_id: runId, set_at: setAt, case_count: input.cases.length, input, token, evidence };
}

function heldExercise(
  catalogue: readonly CatalogueExercise[],
  { exercise_id, difficulty }: ExerciseRequest,
) {
  const exercise = catalogue.find(({ id }) => id === exercise_id);
  const form = exercise && formOf(exercise, difficulty);
  if (exercise !== undefined && form) return { exercise, form };
  const held = catalogue.filter((row) => formOf(row, difficulty) !== null).map(({ id }) => id).join(", ");
  throw refused(
    "exercise_id",
    exercise === undefined
      ? `names no exercise of the catalogue; the service can hold ${held}`
      : `names an exercise that the service cannot hold, because its page takes decisions and nothing else: hold it in your own tool, or choose one of ${held}`,
  );
}

/**
 * The case set of a run, and its place on the chain; null if it is not there, or would be pruned before the link ends.
 * An organization's own set goes before one of the program with the same name.
 */
async function chosenSet(
  dependencies: Needs,
  { orgId }: OrganizationCaller,
  { request, expiresAt }: { readonly request: ExerciseRequest; readonly expiresAt: number },
): Promise<{ readonly set: CaseSet; readonly added: AddedCaseSet | null; readonly isOwn: boolean }> {
  const sets = await addedCaseSets(dependencies, orgId);
  const set = await findSet(dependencies, orgId, { request, sets });
  for (const name of ["domain", "language"] as const) {
    if (request[name] === null || request[name] === set[name]) continue;
    throw refused(name, `must be that of the case set, ${set[name]}, or be left out`);
  }
  const sha256 = caseSetSha256(dependencies.crypto, set);
  const added = sets.find((each) => each.sha256 === sha256) ?? null;
  const days = dependencies.evidenceRetentionDays;
  const isKept = added !== null && (days === null || Date.parse(added.addedAt) + days * DAY_MS > expiresAt);
  return { set, added: isKept ? added : null, isOwn: added?.isOwn === true };
}

async function findSet(
  dependencies: Needs,
  orgId: string,
  { request, sets }: { readonly request: ExerciseRequest; readonly sets: readonly AddedCaseSet[] },
): Promise<CaseSet> {
  const { case_set: wanted } = request;
  const language = request.language ?? "en";
  if (wanted === null) {
    return await builtInCaseSet(request.domain ?? await latestDomain(dependencies, orgId, request), language);
  }
  if (HASH.test(wanted)) {
    const known = sets.find(({ sha256 }) => sha256 === wanted)?.set;
    const set = known ?? (await builtInCaseSets(dependencies)).get(wanted);
    if (set !== undefined) return set;
  }
  const own = sets.findLast(({ set, isOwn }) => isOwn && set.name === wanted && set.language === language);
  if (own !== undefined) return own.set;
  // The program's own set of a domain bears its name.
  if (isDomain(wanted)) return await builtInCaseSet(wanted, language);
  throw refused("case_set", `names no case set in ${language}: GET /v1/case-sets lists them`);
}

const HASH = /^[0-9a-f]{64}$/;

function isDomain(name: string): name is Domain {
  return (DOMAINS as readonly string[]).includes(name);
}

/** The domain of an operator's latest live work. @throws {ServiceError} VALIDATION_FAILED if there is none. */
async function latestDomain(
  dependencies: Needs,
  orgId: string,
  { operator_id }: ExerciseRequest,
): Promise<Domain> {
  const domain = await latestLiveDomain(dependencies, { orgId, operatorId: operator_id });
  if (domain !== null) return domain as Domain;
  throw refused("domain", "is needed for an operator without live work, unless case_set is given");
}

function refused(path: string, message: string): ServiceError {
  const details: readonly ErrorDetail[] = [{ path, message }];
  return new ServiceError("VALIDATION_FAILED", `Change ${path}: it ${message}.`, { details });
}

/** How often an operator was set each case of the sets of a name, in any version or language. */
async function seenCases(
  dependencies: Needs,
  orgId: string,
  { operatorId, set }: { readonly operatorId: string; readonly set: string },
): Promise<ReadonlyMap<string, number>> {
  const seen = new Map<string, number>();
  for (const { input } of await earlierRuns(dependencies, { orgId, operatorId })) {
    if (input.case_set.name !== set) continue;
    for (const id of input.cases) seen.set(id, (seen.get(id) ?? 0) + 1);
  }
  return seen;
}

/** Bytes of a random number: 48 bits, which a double holds exactly. */
const RANDOM_BYTES = 6;

function uniform(world: World): number {
  return world.random(RANDOM_BYTES).reduce((value, byte) => 256 * value + byte, 0) / 2 ** (8 * RANDOM_BYTES);
}
