/**
 * Contests: a reviewer says that a score, a decision or the whole record is wrong. A contest has no row of its own: it is an
 * entry of the evidence chain, beside what it contests. Source: oversight loop, section 6.
 */
import type { Proving, Reading, Scoring, Writing } from "../shared/capabilities.ts";
import type { CaseFigures } from "../../domain/case.ts";
import { isOpenCase } from "../../domain/case_states.ts";
import { refusedAt, ServiceError } from "../../domain/errors.ts";
import {
  type Contest,
  type ContestRequest,
  CONTESTS_OF_LINK_MAX,
  type OwnContest,
} from "../../domain/own_page.ts";
import { evidenceChain } from "../../evidence/chain_name.ts";
import { scoreContestedSchema } from "../../evidence/contests.ts";
import { hex } from "../../evidence/crypto.ts";
import { contestCounts } from "../../store/events.ts";
import type { ProvenRecord } from "../../store/proven_pages.ts";
import { decisions, interactions, skippedInteractions, subjects } from "../../store/records.ts";
import { figuresOf } from "../cases/figures.ts";
import { casesOfSubjects } from "../cases/histories.ts";
import { countEntries, drawOpening, openingNeeds, planOpening } from "../cases/open.ts";
import type { Call, OrganizationCaller } from "../shared/call.ts";
import { inputDraft } from "../shared/drafts.ts";
import { requireErased } from "../shared/erased_entries.ts";
import { type NewestPage, newestRecords } from "../shared/newest_records.ts";
import { readSealed } from "../shared/sealed_reads.ts";

type Needs = Reading & Proving & Writing & Scoring;

const CONTESTED = "SCORE_CONTESTED";

/**
 * A page of contests, newest first; `next` is the position below which the next page begins. A page has fewer than its
 * limit if reviewers on it were erased.
 * @throws {AlteredError}.
 */
export async function contestsOf(
  dependencies: Needs,
  orgId: string,
  page: NewestPage,
): Promise<{ readonly contests: readonly Contest[]; readonly next: number | null }> {
  const { records, next } = await newestRecords(
    dependencies,
    { family: evidenceChain(orgId), eventType: CONTESTED },
    page,
  );
  const contests: Contest[] = [];
  for (const record of records) {
    const contest = await contestIn(dependencies, record);
    if (contest !== null) contests.push(contest);
  }
  return { contests, next };
}

/** The contests of an organization, or of one operator. As {@link contestsOf}. */
export async function listContests(
  dependencies: Needs,
  { orgId }: OrganizationCaller,
  { operatorId, ...page }: Omit<NewestPage, "subject"> & { readonly operatorId: string | null },
): Promise<{ readonly contests: readonly Contest[]; readonly next: number | null }> {
  if (operatorId === null) return await contestsOf(dependencies, orgId, { subject: null, ...page });
  const [known] = await readSealed(dependencies, subjects, [[orgId, operatorId]]);
  if (known === undefined) return { contests: [], next: null };
  return await contestsOf(dependencies, orgId, { subject: known.pseudonym, ...page });
}

/** The contest of an entry; null if its reviewer was erased, or it is an event that the organization itself made. */
async function contestIn(
  dependencies: Needs,
  { entry, hash, parts }: ProvenRecord,
): Promise<Contest | null> {
  if (entry.actor !== "system" || entry.event_type !== CONTESTED) return null;
  const text = parts.get("input")?.text;
  if (text === undefined) {
    await requireErased(dependencies, entry);
    return null;
  }
  const { operator_id, record_id, statement } = scoreContestedSchema.parse(JSON.parse(text));
  const { id, timestamp, chain, seq } = entry;
  return {
    contest_id: id,
    contested_at: timestamp,
    operator_id,
    record_id,
    statement,
    chain,
    seq,
    entry_hash: hex(hash),
  };
}

/** The reviewer who contests, by a link. */
interface Contesting {
  readonly caller: OrganizationCaller;
  readonly operatorId: string;
  readonly pseudonym: string;
  /** The instant at which the link was issued, ISO 8601. */
  readonly issuedAt: string;
}

/**
 * Records a contest, and opens a case about contests of the reviewer if none is open. The same one again changes nothing.
 * @throws {ServiceError} VALIDATION_FAILED if the record is not the reviewer's; CONFLICT if the link took too many; GONE;
 *   SERVICE_UNAVAILABLE; {AlteredError}.
 */
export async function contest(
  dependencies: Needs,
  contesting: Contesting,
  { request, call }: { readonly request: ContestRequest; readonly call: Call },
): Promise<OwnContest> {
  const { caller: { orgId }, operatorId, pseudonym, issuedAt } = contesting;
  const { record_id, statement } = request;
  if (record_id !== null) await requireOwnRecord(dependencies, [orgId, record_id], operatorId);
  for (;;) {
    const { contests } = await contestsOf(dependencies, orgId, {
      subject: pseudonym,
      below: null,
      limit: CONTESTS_OF_LINK_MAX,
    });
    const known = contests.find((one) => one.record_id === record_id && one.statement === statement);
    if (known !== undefined) return ownContest(known);
    const own = contests.filter(({ contested_at }) => contested_at >= issuedAt);
    if (own.length >= CONTESTS_OF_LINK_MAX) {
      throw new ServiceError(
        "CONFLICT",
        `This link took ${CONTESTS_OF_LINK_MAX} contests already: ask the organization for a new one.`,
      );
    }
    const followUp = await caseOfContests(dependencies, contesting);
    const made = await record(dependencies, contesting, { request, call, before: own.length, followUp });
    // Another call of the link came between: it may have said the same, or have been the last that the link takes.
    if (made !== null) return made;
  }
}

/** The case about a reviewer's contests, as it was read. */
interface FollowUp {
  readonly isOpen: boolean;
  /** Entries about all cases of the reviewer. */
  readonly entries: number;
  readonly figures: CaseFigures | null;
}

async function caseOfContests(
  dependencies: Needs,
  { caller: { orgId }, operatorId, pseudonym }: Contesting,
): Promise<FollowUp> {
  const { cases, entries } = (await casesOfSubjects(dependencies, orgId, [pseudonym])).get(pseudonym)!;
  const isOpen = cases.some(({ cause, state }) => cause === "contest" && isOpenCase(state));
  return { isOpen, entries, figures: isOpen ? null : await figuresOf(dependencies, orgId, operatorId) };
}

/**
 * Appends the entry of a contest, and that of its case if none is open; null if the link took another one since `before` were
 * counted, or the reviewer's cases changed.
 * @throws {ServiceError} GONE; SERVICE_UNAVAILABLE.
 */
async function record(
  dependencies: Needs,
  { caller, operatorId, pseudonym, issuedAt }: Contesting,
  { request: { record_id, statement }, call, before, followUp: { isOpen, entries, figures } }: {
    readonly request: ContestRequest;
    readonly call: Call;
    readonly before: number;
    readonly followUp: FollowUp;
  },
): Promise<OwnContest | null> {
  const { writer, world } = dependencies;
  const { orgId } = caller;
  const family = evidenceChain(orgId);
  const input = scoreContestedSchema.parse({ operator_id: operatorId, record_id, statement });
  const draft = inputDraft(world, { type: CONTESTED, caller, now: call.now, subject: pseudonym, input });
  const followUpCase = drawOpening(dependencies, {
    caller,
    pseudonym,
    opened: {
      operator_id: operatorId,
      cause: "contest",
      statement: record_id === null
        ? "The reviewer contests the record as a whole."
        : `The reviewer contests the record ${record_id}.`,
      about: draft.id,
      figures,
    },
    call,
  });
  const counted = [family, pseudonym, issuedAt] as const;
  return await writer.submit<OwnContest | null>({
    needs: [...openingNeeds(orgId, operatorId, pseudonym), { kind: contestCounts, key: counted }],
    chains: [family],
    plan(unit) {
      if (unit.get(subjects, [orgId, operatorId])?.pseudonym !== pseudonym) {
        throw new ServiceError("GONE", "The records to which this link led were erased.");
      }
      const present = unit.get(contestCounts, counted)!;
      if (present.count !== before) return () => null;
      if (!countEntries(unit, { orgId, pseudonym, entries, added: isOpen ? 0 : 1 })) return () => null;
      unit.put(contestCounts, { ...present, count: before + 1 });
      const { entry: { chain, seq, timestamp }, hash } = unit.append(family, draft);
      const made = {
        contest_id: draft.id,
        contested_at: timestamp,
        record_id,
        statement,
        chain,
        seq,
        entry_hash: hex(hash),
      };
      if (!isOpen) planOpening(unit, orgId, followUpCase);
      return () => made;
    },
  });
}

/** A contest as the reviewer sees it. */
export function ownContest({ operator_id: _own, ...shown }: Contest): OwnContest {
  return shown;
}

/** @throws {ServiceError} VALIDATION_FAILED if an id is not that of a score, a frozen call or a decision of the operator. */
async function requireOwnRecord(
  dependencies: Needs,
  key: readonly [orgId: string, id: string],
  operatorId: string,
): Promise<void> {
  for (const kind of [interactions, decisions, skippedInteractions] as const) {
    const rows: readonly { readonly operator_id: string }[] = await readSealed(
      dependencies,
      kind as typeof interactions,
      [key],
    );
    if (rows.some(({ operator_id }) => operator_id === operatorId)) return;
  }
  throw refusedAt("record_id", "must be the session_id or decision_id of one of your records");
}
