/**
 * The reviewer's side of an exercise: who has the link sees the next case and decides it. Each decision is scored at once
 * by the service itself, as an announced test. The truth is told only when the decision is durable.
 */
import type { Logging, Proving, Reading, Scoring, Writing } from "../shared/capabilities.ts";
import { AlteredError, refusedAt, ServiceError } from "../../domain/errors.ts";
import type { ExerciseCaseResult, ExerciseDecision, ExercisePage } from "../../exercises/answers.ts";
import type { Interaction } from "../../domain/interaction.ts";
import type { EntryDraft } from "../../evidence/entry.ts";
import {
  caseSetAddedSchema,
  caseSetSha256,
  type ExerciseDecided,
  exerciseDecidedSchema,
} from "../../evidence/exercises.ts";
import {
  type CaseSet,
  caseSetSchema,
  type ExerciseCase,
  isChoiceRight,
  shownCase,
} from "../../exercises/case_set.ts";
import { isAdvised } from "../../exercises/form.ts";
import { linkToken } from "../../keys/exercise_links.ts";
import { readProvenPage } from "../../store/proven_pages.ts";
import { isOpen } from "../organizations/authentication.ts";
import { readRegistered, type Remembering } from "../organizations/registered.ts";
import type { Call, OrganizationCaller } from "../shared/call.ts";
import { originOf } from "../shared/deployment.ts";
import { drawSalt, makePart, signedBy } from "../shared/drafts.ts";
import { requireCutOff } from "../shared/gone.ts";
import { entryIdIn } from "../shared/links.ts";
import { scoreInteraction } from "../scoring/score.ts";
import { readRun, resultsOf, type Run, sessionsOf } from "./runs.ts";

/** The dependencies of these operations. */
type Needs = Reading & Proving & Writing & Scoring & Logging & Remembering;

/** The run of a link, with its cases. */
interface LinkedRun {
  /** The name of the organization. */
  readonly organization: string;
  readonly run: Run;
  readonly cases: readonly ExerciseCase[];
}

/**
 * @throws {ServiceError} NOT_FOUND for a token that this service did not give, or while the organization is inactive;
 *   GONE if the link is over, or the operator was erased; {AlteredError}.
 */
async function openLink(dependencies: Needs, token: string, { now }: Call): Promise<LinkedRun> {
  const { installation } = dependencies;
  const runId = entryIdIn(token, (id) => linkToken(installation.key, id));
  if (runId === null) throw unknownLink();
  const run = await readRun(dependencies, runId);
  const { organization } = await readRegistered(dependencies, run.orgId);
  if (!isOpen(organization)) throw unknownLink();
  if (now > Date.parse(run.input.expires_at)) {
    throw new ServiceError("GONE", "This link is over: ask for a new one if you were to decide more cases.");
  }
  return { organization: organization.name, run, cases: await casesOf(dependencies, run) };
}

function unknownLink(): ServiceError {
  return new ServiceError("NOT_FOUND", "There is no exercise at this link: check that it is whole.");
}

/** The cases of a run, from the entry of their set. */
async function casesOf(dependencies: Needs, { input }: Run): Promise<readonly ExerciseCase[]> {
  const { chain, seq, sha256 } = input.case_set;
  const origin = originOf(dependencies, chain);
  const record = (await readProvenPage(dependencies, { chain, origin, seqs: [seq] })).get(seq);
  if (record === undefined) {
    await requireCutOff(dependencies, { chain, seq });
    throw new ServiceError("GONE", "The cases of this exercise are past their retention.");
  }
  const text = record.parts.get("detail")?.text;
  if (text === undefined) throw new AlteredError(chain, `a part of entry ${seq} of ${chain} is missing`);
  const set: CaseSet = caseSetSchema.parse(caseSetAddedSchema.parse(JSON.parse(text)).case_set);
  if (caseSetSha256(dependencies.crypto, set) !== sha256) {
    throw new AlteredError(chain, `entry ${seq} of ${chain} is not the case set of an exercise`);
  }
  const byId = new Map(set.cases.map((one) => [one.id, one]));
  return input.cases.map((id) => byId.get(id)!);
}

/** The present state of a link's page. @throws as {@link openLink}. */
export async function readExercisePage(
  dependencies: Needs,
  token: string,
  call: Call,
): Promise<ExercisePage> {
  const linked = await openLink(dependencies, token, call);
  return pageOf(linked, await resultsIn(dependencies, linked.run));
}

async function resultsIn(dependencies: Needs, run: Run): Promise<readonly ExerciseCaseResult[]> {
  return (await resultsOf(dependencies, run.orgId, [run])).get(run.runId)!;
}

function pageOf(
  { organization, run, cases }: LinkedRun,
  results: readonly ExerciseCaseResult[],
): ExercisePage {
  const { exercise, language, presentation, delay_ms, feedback, expires_at } = run.input;
  const decided = results.length;
  const next = cases[decided];
  const left = requestsLeft(run, results);
  const told = feedback === "immediate" || next === undefined ? results : [];
  return {
    organization,
    title: exercise.title,
    instructions: exercise.instructions,
    debrief: exercise.debrief,
    language: language as ExercisePage["language"],
    cases: cases.length,
    decided,
    presentation,
    delay_ms,
    requests_left: left,
    feedback,
    expires_at,
    next: next === undefined ? null : {
      ...shownCase(next),
      number: decided + 1,
      advice: isAdvised(presentation, decided + 1) && left !== 0 ? next.advice : null,
    },
    solved: told.map(({ number, correct, advised }) => {
      const { title, ai_correct, advice, explanation } = cases[number - 1]!;
      return { number, title, correct, ai_correct, advice: advised ? advice.text : null, explanation };
    }),
  };
}

/**
 * Decides the next case of a link. The same decision again changes nothing.
 * @returns what the page shows then.
 * @throws {ServiceError} CONFLICT if the case was decided otherwise, or is not the next one; VALIDATION_FAILED;
 *   SERVICE_UNAVAILABLE; as {@link openLink}.
 */
export async function decideExercise(
  dependencies: Needs,
  { token, decision, call }: {
    readonly token: string;
    readonly decision: ExerciseDecision;
    readonly call: Call;
  },
): Promise<ExercisePage> {
  const linked = await openLink(dependencies, token, call);
  const { run, cases } = linked;
  const { number } = decision;
  const before = await resultsIn(dependencies, run);
  const one = cases[number - 1];
  if (one === undefined || number > before.length + 1) {
    throw new ServiceError(
      "CONFLICT",
      before.length === cases.length
        ? "All cases of this exercise are decided."
        : `The next case is number ${before.length + 1}: load the page again.`,
    );
  }
  const interaction = interactionOf(run, one, {
    decision,
    requestsLeft: requestsLeft(run, before.slice(0, number - 1)),
  });
  if (number > before.length) await score(dependencies, { run, one, decision, interaction, call });
  // Another window may have decided it, even while this call did.
  const results = await resultsIn(dependencies, run);
  if (!isSame(results[number - 1]!, decision)) {
    throw new ServiceError(
      "CONFLICT",
      `Case ${number} was decided otherwise before, and that decision stands.`,
    );
  }
  return pageOf(linked, results);
}

/** Records a decision, unless another one of the same case came first. */
async function score(
  dependencies: Needs,
  { run, one, decision: { number, choice, first_choice }, interaction, call }: {
    readonly run: Run;
    readonly one: ExerciseCase;
    readonly decision: ExerciseDecision;
    readonly interaction: Interaction;
    readonly call: Call;
  },
): Promise<void> {
  const { world } = dependencies;
  const { orgId, runId, subject, input: { operator_id, domain } } = run;
  const caller: OrganizationCaller = { actor: "system", orgId, prefix: null };
  const decided: ExerciseDecided = {
    operator_id,
    run_id: runId,
    number,
    case_id: one.id,
    choice,
    first_choice,
  };
  const draft: EntryDraft = {
    id: world.ulid(call.now),
    ...signedBy(caller),
    eventType: "EXERCISE_DECIDED",
    subject,
    at: call.now,
    parts: [makePart("input", drawSalt(world), exerciseDecidedSchema.parse(decided))],
  };
  const request = {
    session_id: sessionsOf(dependencies, run)[number - 1]!,
    operator_id,
    domain,
    interaction,
    mode: "full",
    role_tier: "tier_1",
    mode_override: "normal",
  } as const;
  try {
    await scoreInteraction(dependencies, caller, { request, beside: { subject, draft }, call });
  } catch (error) {
    if (!(error instanceof ServiceError) || error.code !== "CONFLICT") throw error;
  }
}

function isSame(result: ExerciseCaseResult, decision: ExerciseDecision): boolean {
  return result.choice === decision.choice && result.first_choice === decision.first_choice &&
    result.advised === decision.advised && result.time_to_decision_ms === decision.time_to_decision_ms;
}

/** How often the advice can still be asked for after these results; null unless it is shown on request. */
function requestsLeft({ input: { requests } }: Run, results: readonly ExerciseCaseResult[]): number | null {
  return requests === null ? null : Math.max(0, requests - results.filter(({ advised }) => advised).length);
}

/** The decision as it is scored. @throws {ServiceError} VALIDATION_FAILED */
function interactionOf(
  { input: { presentation } }: Run,
  one: ExerciseCase,
  { decision: { number, choice: chosen, first_choice, advised, ...measured }, requestsLeft }: {
    readonly decision: ExerciseDecision;
    readonly requestsLeft: number | null;
  },
): Interaction {
  const choice = one.choices[chosen];
  if (choice === undefined) {
    throw refusedAt("choice", `must be the number of one of the ${one.choices.length} choices`);
  }
  const hasFirst = first_choice !== null && one.choices[first_choice] !== undefined;
  if (presentation === "after_decision" ? !hasFirst : first_choice !== null) {
    throw refusedAt(
      "first_choice",
      "must be the number of a choice if the advice comes after it, and else be left out",
    );
  }
  const mayChoose = presentation === "on_request" && requestsLeft !== 0;
  if (!mayChoose && advised !== (presentation !== "on_request" && isAdvised(presentation, number))) {
    throw refusedAt("advised", "must say whether this exercise shows the advice of this case");
  }
  const common = {
    ai_available: true,
    scenario_type: "calibration" as const,
    outcome_correct: isChoiceRight(one, choice),
    ...measured,
  };
  // Without advice there is nothing to accept or to refuse: the outcome alone counts.
  if (!advised) {
    return { ...common, ai_recommendation_presented: false, decision: "accepted", modification_extent: 0 };
  }
  return {
    ...common,
    ai_recommendation_presented: true,
    decision: choice.decision,
    modification_extent: choice.decision === "modified" ? choice.extent : 0,
    ai_correct: one.ai_correct,
  };
}
