/** Reads cases: one, or a page of them. */
import type { Proving, Reading } from "../shared/capabilities.ts";
import type { RecordedCase } from "../../domain/case.ts";
import { type CaseCause, isOpenCase } from "../../domain/case_states.ts";
import { ServiceError } from "../../domain/errors.ts";
import { evidenceChain } from "../../evidence/chain_name.ts";
import { subjects } from "../../store/records.ts";
import type { OrganizationCaller } from "../shared/call.ts";
import { entryById } from "../shared/links.ts";
import { newestRecords } from "../shared/newest_records.ts";
import { readSealed } from "../shared/sealed_reads.ts";
import { casesOfSubjects, OPENED } from "./histories.ts";

type Needs = Reading & Proving;

/** Cases that are looked at for one page: a filter that few pass gives a short page, and a cursor. */
const LOOKED_AT_MAX = 500;
const LOOKED_AT_ONCE = 100;

/** The cases that a page asks for. */
export interface CaseFilter {
  /** Null for all operators. */
  readonly operatorId: string | null;
  /** Whether only cases that still need somebody. */
  readonly isOpen: boolean;
  /** A user's id; null for any owner and none. */
  readonly owner: string | null;
  readonly cause: CaseCause | null;
}

/**
 * A page of cases, the last opened first; `next` is the position below which the next page begins. A page is shorter, or empty, if
 * many cases do not pass the filter.
 * @throws {AlteredError}.
 */
export async function listCases(
  dependencies: Needs,
  { orgId }: OrganizationCaller,
  { filter, limit, below }: {
    readonly filter: CaseFilter;
    readonly limit: number;
    readonly below: number | null;
  },
): Promise<{ readonly cases: readonly RecordedCase[]; readonly next: number | null }> {
  const { operatorId } = filter;
  let subject: string | null = null;
  if (operatorId !== null) {
    const [known] = await readSealed(dependencies, subjects, [[orgId, operatorId]]);
    if (known === undefined) return { cases: [], next: null };
    subject = known.pseudonym;
  }
  const family = evidenceChain(orgId);
  const cases: RecordedCase[] = [];
  let [looked, from] = [0, below];
  for (;;) {
    const of = { family, eventType: OPENED };
    const { records, next } = await newestRecords(dependencies, of, {
      subject,
      below: from,
      limit: LOOKED_AT_ONCE,
    });
    const pseudonyms = new Set(records.map(({ entry }) => entry.subject!));
    const histories = await casesOfSubjects(dependencies, orgId, [...pseudonyms]);
    const byId = new Map(
      [...histories.values()].flatMap((own) => own.cases.map((one) => [one.case_id, one] as const)),
    );
    for (const [index, { entry: { id }, position }] of records.entries()) {
      const found = byId.get(id);
      if (found === undefined || !passes(filter, found)) continue;
      cases.push(found);
      const isLast = next === null && index === records.length - 1;
      if (cases.length === limit) return { cases, next: isLast ? null : position };
    }
    looked += records.length;
    if (next === null || looked >= LOOKED_AT_MAX) return { cases, next };
    from = next;
  }
}

function passes({ isOpen, owner, cause }: CaseFilter, one: RecordedCase): boolean {
  return (!isOpen || isOpenCase(one.state)) && (owner === null || one.owner === owner) &&
    (cause === null || one.cause === cause);
}

/** A case with what a change of it must find unchanged. */
export interface KnownCase {
  readonly recorded: RecordedCase;
  readonly pseudonym: string;
  /** Entries about all cases of the operator. */
  readonly entries: number;
}

/** @throws {ServiceError} NOT_FOUND; GONE if its operator was erased; {AlteredError}. */
export async function readCase(dependencies: Needs, orgId: string, caseId: string): Promise<KnownCase> {
  const found = await entryById(dependencies, caseId, { familyOf: evidenceChain, eventType: OPENED });
  if (found?.orgId !== orgId) {
    throw new ServiceError("NOT_FOUND", `There is no case ${caseId}: GET /v1/cases lists the cases.`);
  }
  const pseudonym = found.record.entry.subject!;
  const { cases, entries } = (await casesOfSubjects(dependencies, orgId, [pseudonym])).get(pseudonym)!;
  const recorded = cases.find(({ case_id }) => case_id === caseId);
  if (recorded !== undefined) return { recorded, pseudonym, entries };
  throw new ServiceError("GONE", "This case was erased with its operator's personal data.");
}
