/** Opens cases: one for each operator and cause while it is open. */
import type { Proving, Reading, Scoring, Writing } from "../shared/capabilities.ts";
import type { CaseRequest, RecordedCase } from "../../domain/case.ts";
import { isOpenCase } from "../../domain/case_states.ts";
import { ServiceError } from "../../domain/errors.ts";
import { type CaseOpened, caseOpenedSchema } from "../../evidence/cases.ts";
import { evidenceChain } from "../../evidence/chain_name.ts";
import type { EntryDraft } from "../../evidence/entry.ts";
import { caseEntryCounts } from "../../store/cases.ts";
import { subjects } from "../../store/records.ts";
import type { Need, PlacedEntry, UnitOfWork } from "../../store/unit_of_work.ts";
import type { Call, Caller, OrganizationCaller } from "../shared/call.ts";
import { inputDraft } from "../shared/drafts.ts";
import { emitEvent, subscriptionNeed } from "../shared/events.ts";
import { pseudonymsOf } from "../shared/pseudonyms.ts";
import { missingSubjectError, unknownSubject } from "../shared/subjects.ts";
import { figuresOf } from "./figures.ts";
import { casesOfSubjects, OPENED, opening } from "./histories.ts";

type Needs = Reading & Proving & Scoring & Writing;

/** The entry that opens a case, what it records, and the call or the rule's run that opens it. */
export interface Opening {
  readonly draft: EntryDraft;
  readonly input: CaseOpened;
  readonly call: Call;
}

/** Draws the entry that opens a case. */
export function drawOpening(
  { world }: Writing,
  { caller, pseudonym, opened, call }: {
    readonly caller: Caller;
    readonly pseudonym: string;
    readonly opened: CaseOpened;
    readonly call: Call;
  },
): Opening {
  const input = caseOpenedSchema.parse(opened);
  const draft = inputDraft(world, { type: OPENED, caller, now: call.now, subject: pseudonym, input });
  return { draft, input, call };
}

/** Appends the entry that opens a case, and queues its event. The plan must declare {@link openingNeeds}. */
export function planOpening(
  unit: UnitOfWork,
  orgId: string,
  { draft, input: { operator_id: operatorId }, call }: Opening,
): PlacedEntry {
  const appended = unit.append(evidenceChain(orgId), draft);
  emitEvent(unit, { orgId, operatorId, event: "case.opened", position: appended.position, call });
  return appended;
}

/** The needs of a plan that opens a case of an operator. */
export function openingNeeds(orgId: string, operatorId: string, pseudonym: string): readonly Need[] {
  return [...caseNeeds(orgId, operatorId, pseudonym), subscriptionNeed(orgId)];
}

/** The needs of a plan that changes a case of an operator. */
export function caseNeeds(orgId: string, operatorId: string, pseudonym: string): readonly Need[] {
  return [
    { kind: subjects, key: [orgId, operatorId] },
    { kind: caseEntryCounts, key: [evidenceChain(orgId), pseudonym] },
  ];
}

/** Whether the operator has still as many entries about cases as were read; counts those that the plan adds if so. */
export function countEntries(
  unit: UnitOfWork,
  { orgId, pseudonym, entries, added }: {
    readonly orgId: string;
    readonly pseudonym: string;
    readonly entries: number;
    readonly added: number;
  },
): boolean {
  const present = unit.get(caseEntryCounts, [evidenceChain(orgId), pseudonym])!;
  if (present.count !== entries) return false;
  unit.put(caseEntryCounts, { ...present, count: entries + added });
  return true;
}

/**
 * Opens a case by hand.
 * @throws {ServiceError} NOT_FOUND if the operator has no records; CONFLICT if such a case is open; GONE; SERVICE_UNAVAILABLE;
 *   {AlteredError}.
 */
export async function openCase(
  dependencies: Needs,
  caller: OrganizationCaller,
  { request: { operator_id: operatorId, statement }, call }: {
    readonly request: CaseRequest;
    readonly call: Call;
  },
): Promise<RecordedCase> {
  const { orgId } = caller;
  const known = (await pseudonymsOf(dependencies, orgId, [operatorId])).get(operatorId);
  const figures = await figuresOf(dependencies, orgId, operatorId);
  if (known === undefined) {
    throw figures === null ? unknownSubject(operatorId) : missingSubjectError(orgId);
  }
  const opened: CaseOpened = { operator_id: operatorId, cause: "by_hand", statement, about: null, figures };
  const drawn = drawOpening(dependencies, { caller, pseudonym: known, opened, call });
  for (;;) {
    const { cases, entries } = (await casesOfSubjects(dependencies, orgId, [known])).get(known)!;
    const open = cases.find(({ cause, state }) => cause === "by_hand" && isOpenCase(state));
    if (open !== undefined) {
      throw new ServiceError(
        "CONFLICT",
        `The case ${open.case_id} of this operator is open: add a note to it, or end it first.`,
      );
    }
    const made = await appendOpening(dependencies, { orgId, pseudonym: known, entries, drawn });
    if (made !== null) return made;
  }
}

/** Appends the entry that opens a case; null if there are more entries about cases of the operator than were read. */
export async function appendOpening(
  { writer }: Writing,
  { orgId, pseudonym, entries, drawn }: {
    readonly orgId: string;
    readonly pseudonym: string;
    readonly entries: number;
    readonly drawn: Opening;
  },
): Promise<RecordedCase | null> {
  const { input } = drawn;
  const { operator_id: operatorId } = input;
  return await writer.submit<RecordedCase | null>({
    needs: openingNeeds(orgId, operatorId, pseudonym),
    chains: [evidenceChain(orgId)],
    plan(unit) {
      requireSubject(unit, { orgId, operatorId, pseudonym });
      if (!countEntries(unit, { orgId, pseudonym, entries, added: 1 })) return () => null;
      const appended = planOpening(unit, orgId, drawn);
      return () => opening(appended, input);
    },
  });
}

/** @throws {ServiceError} GONE if the operator was erased since. */
export function requireSubject(
  unit: UnitOfWork,
  { orgId, operatorId, pseudonym }: {
    readonly orgId: string;
    readonly operatorId: string;
    readonly pseudonym: string;
  },
): void {
  if (unit.get(subjects, [orgId, operatorId])?.pseudonym === pseudonym) return;
  throw new ServiceError("GONE", "The operator's personal data were erased meanwhile.");
}
