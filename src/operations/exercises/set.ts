/** Sets an exercise: chooses its cases, writes the entry, and makes the link. */
import type { Scoring } from "../shared/capabilities.ts";
import { refusedAt } from "../../domain/errors.ts";
import { DAY_MS, MINUTE_MS } from "../../domain/time.ts";
import type { World } from "../../domain/world.ts";
import { evidenceChain } from "../../evidence/chain_name.ts";
import { hex } from "../../evidence/crypto.ts";
import { type Evidence, evidenceOfAppended } from "../../evidence/envelope.ts";
import { type ExerciseSet, exerciseSetSchema } from "../../evidence/exercises.ts";
import type { CaseSet } from "../../exercises/case_set.ts";
import { chooseCases } from "../../exercises/choosing.ts";
import { type CatalogueExercise, type Difficulty, formOf } from "../../exercises/form.ts";
import { linkToken } from "../../keys/exercise_links.ts";
import { readEvidence } from "../../store/proofs.ts";
import { operators, subjects } from "../../store/records.ts";
import type { Call, Caller, OrganizationCaller } from "../shared/call.ts";
import { originOf, type RetentionDays } from "../shared/deployment.ts";
import { drawSalt, makePart, signedBy } from "../shared/drafts.ts";
import type { IdempotentCall } from "../shared/idempotency.ts";
import { KeyedCall, type KnownCall, type RepeatableAnswer } from "../shared/keyed_calls.ts";
import { tokenOf } from "../shared/links.ts";
import { drawPseudonym, pseudonymOf } from "../shared/subjects.ts";
import { caseSetDraft } from "./case_sets.ts";
import { chooseSet, type SetRequest } from "./chosen_set.ts";
import { earlierRuns } from "./list.ts";
import { type Needs as RunNeeds, readRun, type Run } from "./runs.ts";

/** The dependencies of this operation. */
type Needs = RunNeeds & Scoring & RetentionDays;

/** An exercise to be set. */
export interface ExerciseRequest extends SetRequest {
  readonly exercise_id: string;
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

  const held = heldExercise(model.document.maintenance.exercises, request);
  const expiresAt = expiryOf(dependencies, request, call.now);
  const chosen = await chooseSet(dependencies, orgId, { request, expiresAt });
  const content = await contentOf(dependencies, orgId, { request, held, set: chosen.set, expiresAt });
  const runId = world.ulid(call.now);
  const salt = drawSalt(world);
  const pseudonym = drawPseudonym(world);
  const chain = evidenceChain(orgId);
  // The organization added nothing if it is one of the program; its own that would be pruned stays its own.
  const adder: Caller = chosen.isOwn ? caller : { actor: "system", orgId, prefix: null };
  const setDraft = chosen.place === null
    ? caseSetDraft(dependencies, { caller: adder, set: chosen.set, now: call.now })
    : null;
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
      const place = chosen.place ?? unit.append(chain, setDraft!).entry;
      const input: ExerciseSet = exerciseSetSchema.parse({
        ...content,
        case_set: { name: chosen.set.name, sha256: chosen.sha256, chain: place.chain, seq: place.seq },
      });
      const appended = unit.append(chain, {
        id: runId,
        ...signedBy(caller),
        eventType: "EXERCISE_SET",
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

/** The end of the link, milliseconds since the epoch: nothing of the run is left after its retention. */
function expiryOf(
  { evidenceRetentionDays: days }: RetentionDays,
  { expires_hours }: ExerciseRequest,
  now: number,
): number {
  return now + Math.min(expires_hours * 60 * MINUTE_MS, days === null ? Infinity : days * DAY_MS);
}

/** The input of a run without the place of its case set; its cases are chosen at random. */
async function contentOf(
  dependencies: Needs,
  orgId: string,
  { request: { operator_id, difficulty }, held: { exercise, form }, set, expiresAt }: {
    readonly request: ExerciseRequest;
    readonly held: ReturnType<typeof heldExercise>;
    readonly set: CaseSet;
    readonly expiresAt: number;
  },
): Promise<Omit<ExerciseSet, "case_set">> {
  const { model, world } = dependencies;
  const { id, title, instructions, debrief, metric, success_thresholds } = exercise;
  const scale = model.document.maintenance.difficulties[difficulty];
  const cases = chooseCases(set.cases, {
    items: scale.items,
    errorShare: scale.ai_error_share,
    seen: await seenCases(dependencies, orgId, { operatorId: operator_id, set: set.name }),
    random: () => uniform(world),
  });
  return {
    operator_id,
    exercise: {
      ...{ id, title, instructions: [...instructions], debrief: [...debrief], metric },
      success_threshold: success_thresholds?.[difficulty] ?? scale.success_threshold,
    },
    domain: set.domain,
    language: set.language,
    cases: [...cases],
    ...form,
    feedback: scale.feedback,
    expires_at: new Date(expiresAt).toISOString(),
  };
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
  const token = tokenOf(runId, linkToken(installation.key, runId));
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
  throw refusedAt(
    "exercise_id",
    exercise === undefined
      ? `names no exercise of the catalogue; the service can hold ${held}`
      : `names an exercise that the service cannot hold, because its page takes decisions and nothing else: hold it in your own tool, or choose one of ${held}`,
  );
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
