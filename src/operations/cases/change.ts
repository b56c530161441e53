/** Changes a case by one more step. */
import type { Proving, Reading, Scoring, Writing } from "../shared/capabilities.ts";
import { CASE_STEPS_MAX, type CaseStepRequest, type RecordedCase } from "../../domain/case.ts";
import { isOpenCase } from "../../domain/case_states.ts";
import { refusedAt, ServiceError } from "../../domain/errors.ts";
import { caseChangedSchema } from "../../evidence/cases.ts";
import { formatQuantity } from "../../scoring/wording.ts";
import { evidenceChain } from "../../evidence/chain_name.ts";
import { userAccounts } from "../../store/users.ts";
import type { UnitOfWork } from "../../store/unit_of_work.ts";
import { readRun } from "../exercises/runs.ts";
import type { Call, OrganizationCaller } from "../shared/call.ts";
import { inputDraft } from "../shared/drafts.ts";
import { figuresOf } from "./figures.ts";
import { CHANGED, changed, stepOf } from "./histories.ts";
import { type KnownCase, readCase } from "./list.ts";
import { canOwn } from "./names.ts";
import { caseNeeds, countEntries, requireSubject } from "./open.ts";

type Needs = Reading & Proving & Scoring & Writing;

/**
 * Records a step of a case.
 * @throws {ServiceError} NOT_FOUND; CONFLICT if the case ended or has other steps than were seen; VALIDATION_FAILED if the owner
 *   or the exercise is none; GONE; SERVICE_UNAVAILABLE; {AlteredError}.
 */
export async function changeCase(
  dependencies: Needs,
  caller: OrganizationCaller,
  { caseId, request, call }: {
    readonly caseId: string;
    readonly request: CaseStepRequest;
    readonly call: Call;
  },
): Promise<RecordedCase> {
  for (;;) {
    const known = await readCase(dependencies, caller.orgId, caseId);
    requireChangeable(known.recorded, request.seen);
    const made = await append(dependencies, caller, { known, request, call });
    if (made !== null) return made;
  }
}

function requireChangeable({ state, steps }: RecordedCase, seen: number | null): void {
  if (!isOpenCase(state)) {
    throw new ServiceError("CONFLICT", `The case is ${state}, and takes no more steps: open a new one.`);
  }
  if (seen !== null && seen !== steps.length) {
    throw new ServiceError(
      "CONFLICT",
      `The case has ${
        formatQuantity(String(steps.length), "step")
      }, and you have seen ${seen}: read it again, then repeat the step if it is still right.`,
    );
  }
  if (steps.length >= CASE_STEPS_MAX) {
    throw new ServiceError(
      "CONFLICT",
      `The case has ${CASE_STEPS_MAX} steps, the most that it takes: end it.`,
    );
  }
}

/** Appends the entry; null if there are more entries about cases of the operator than were read. */
async function append(
  dependencies: Needs,
  caller: OrganizationCaller,
  { known: { recorded, pseudonym, entries }, request, call }: {
    readonly known: KnownCase;
    readonly request: CaseStepRequest;
    readonly call: Call;
  },
): Promise<RecordedCase | null> {
  const { world, writer } = dependencies;
  const { orgId } = caller;
  const { case_id, operator_id: operatorId } = recorded;
  const { owner, due_on, note, run_id } = { owner: null, due_on: null, run_id: null, ...request };
  if (run_id !== null) await requireOwnRun(dependencies, { orgId, runId: run_id, pseudonym });
  const input = caseChangedSchema.parse({
    operator_id: operatorId,
    case_id,
    number: recorded.steps.length + 1,
    step: request.step,
    owner,
    due_on,
    note,
    run_id,
    figures: request.step === "done" ? await figuresOf(dependencies, orgId, operatorId) : null,
  });
  const draft = inputDraft(world, { type: CHANGED, caller, now: call.now, subject: pseudonym, input });
  return await writer.submit<RecordedCase | null>({
    needs: [
      ...caseNeeds(orgId, operatorId, pseudonym),
      ...(owner === null ? [] : [{ kind: userAccounts, key: [owner] }]),
    ],
    chains: [evidenceChain(orgId)],
    plan(unit) {
      requireSubject(unit, { orgId, operatorId, pseudonym });
      if (owner !== null) requireOwner(unit, { orgId, owner });
      if (!countEntries(unit, { orgId, pseudonym, entries, added: 1 })) return () => null;
      const appended = unit.append(evidenceChain(orgId), draft);
      return () => changed(recorded, stepOf(appended, input));
    },
  });
}

function requireOwner(
  unit: UnitOfWork,
  { orgId, owner }: { readonly orgId: string; readonly owner: string },
): void {
  const user = unit.get(userAccounts, [owner]);
  if (user?.org_id !== orgId || !canOwn(user)) {
    throw refusedAt("owner", "must be the user_id of an active officer or admin");
  }
}

async function requireOwnRun(
  dependencies: Needs,
  { orgId, runId, pseudonym }: {
    readonly orgId: string;
    readonly runId: string;
    readonly pseudonym: string;
  },
): Promise<void> {
  try {
    const run = await readRun(dependencies, runId);
    if (run.orgId === orgId && run.subject === pseudonym) return;
  } catch (error) {
    if (!(error instanceof ServiceError) || error.code !== "NOT_FOUND") throw error;
  }
  throw refusedAt("run_id", "must be the run_id of an exercise that this operator was set");
}
