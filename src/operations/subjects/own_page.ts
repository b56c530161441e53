/**
 * A reviewer's own page: an officer issues a link, and whoever has it sees the reviewer's record, takes the whole copy, and
 * contests it. A link is an entry of the audit log and nothing else: its secret is derived, a newer link ends it, and so
 * does an erasure. Source: oversight loop, section 6.
 */
import type { Logging, Proving, Reading, Scoring, Writing } from "../shared/capabilities.ts";
import { AlteredError, ServiceError } from "../../domain/errors.ts";
import { CONTESTS_OF_LINK_MAX, OWN_PAGE_RECORDS, type OwnPage } from "../../domain/own_page.ts";
import type { SubjectCopy, SubjectFormat } from "../../domain/subject.ts";
import { adminChain } from "../../evidence/chain_name.ts";
import { ownPageSecret } from "../../keys/own_page_links.ts";
import { operators, subjects } from "../../store/records.ts";
import { listExercises } from "../exercises/list.ts";
import { isOpen } from "../organizations/authentication.ts";
import { readRegistered, type Remembering } from "../organizations/registered.ts";
import { listDecisions } from "../reporting/record_list.ts";
import { replay } from "../scoring/replay.ts";
import { type Call, type OrganizationCaller, selfServing } from "../shared/call.ts";
import type { RetentionDays } from "../shared/deployment.ts";
import { eventDraft } from "../shared/drafts.ts";
import { entryById, entryIdIn, tokenOf } from "../shared/links.ts";
import { newestRecords } from "../shared/newest_records.ts";
import { operatorOf } from "../shared/pseudonyms.ts";
import { requireNoOperator, unknownSubject } from "../shared/subjects.ts";
import type { Watching } from "../shared/tampering.ts";
import { contestsOf, ownContest } from "./contests.ts";
import { openSubjectAccess, readSubjectHead } from "./subject_access.ts";

type Needs = Watching & Reading & Proving & Writing & Scoring & Logging & Remembering & RetentionDays;

const ISSUED = "SUBJECT_LINK_ISSUED";

/** Issues a link to an operator's own page; earlier ones end. @throws {ServiceError} NOT_FOUND; SERVICE_UNAVAILABLE. */
export async function issuePageLink(
  { writer, world, installation }: Needs,
  caller: OrganizationCaller,
  { operatorId, reason, expiresHours, call }: {
    readonly operatorId: string;
    readonly reason: string | null;
    readonly expiresHours: number;
    readonly call: Call;
  },
): Promise<{ readonly token: string; readonly expiresAt: string }> {
  const { orgId } = caller;
  const operator = [orgId, operatorId] as const;
  const expiresAt = new Date(call.now + expiresHours * 3_600_000).toISOString();
  const draft = eventDraft(world, {
    type: ISSUED,
    caller: selfServing(caller),
    now: call.now,
    detail: { expires_at: expiresAt, reason },
  });
  await writer.submit({
    needs: [{ kind: subjects, key: operator }, { kind: operators, key: operator }],
    chains: [adminChain(orgId)],
    plan(unit) {
      const known = unit.get(subjects, operator);
      if (known === null) {
        requireNoOperator(unit, operator);
        throw unknownSubject(operatorId);
      }
      unit.append(adminChain(orgId), { ...draft, subject: known.pseudonym });
      return () => undefined;
    },
  });
  return { token: tokenOf(draft.id, ownPageSecret(installation.key, draft.id)), expiresAt };
}

/** The reviewer of a link. */
export interface LinkedReviewer {
  readonly caller: OrganizationCaller;
  readonly organization: string;
  readonly operatorId: string;
  readonly pseudonym: string;
  /** ISO 8601. */
  readonly issuedAt: string;
  readonly expiresAt: string;
}

/**
 * @throws {ServiceError} NOT_FOUND for a token that this service did not give, or while the organization is inactive;
 *   GONE if the link is over or was replaced, or the reviewer was erased; {AlteredError}.
 */
export async function openPageLink(
  dependencies: Needs,
  token: string,
  { now }: Pick<Call, "now">,
): Promise<LinkedReviewer> {
  const { installation } = dependencies;
  const id = entryIdIn(token, (entryId) => ownPageSecret(installation.key, entryId));
  if (id === null) throw unknownLink();
  const found = await entryById(dependencies, id, { familyOf: adminChain, eventType: ISSUED });
  if (found === null) throw unknownLink();
  const { orgId, record: { entry, parts } } = found;
  const { organization } = await readRegistered(dependencies, orgId);
  const { chain, seq, subject: pseudonym } = entry;
  if (!isOpen(organization) || pseudonym === null) throw unknownLink();
  const operatorId = await operatorOf(dependencies, orgId, pseudonym);
  if (operatorId === null) throw over("The records to which this link led were erased.");
  const text = parts.get("detail")?.text;
  if (text === undefined) throw new AlteredError(chain, `a part of entry ${seq} of ${chain} is missing`);
  const { expires_at: expiresAt }: { readonly expires_at: string } = JSON.parse(text);
  const isReplaced = await newestLink(dependencies, { family: adminChain(orgId), pseudonym }) !== id;
  if (isReplaced || now > Date.parse(expiresAt)) throw over("This link is over: ask for a new one.");
  return {
    // The service itself acts for whoever has the link: it knows nobody else.
    caller: { actor: "system", orgId, prefix: null },
    organization: organization.name,
    operatorId,
    pseudonym,
    issuedAt: entry.timestamp,
    expiresAt,
  };
}

/** The id of the newest link of a reviewer. @throws {AlteredError} */
async function newestLink(
  dependencies: Needs,
  { family, pseudonym }: { readonly family: string; readonly pseudonym: string },
): Promise<string | undefined> {
  const { records } = await newestRecords(
    dependencies,
    { family, eventType: ISSUED },
    { subject: pseudonym, below: null, limit: 1 },
  );
  return records[0]?.entry.id;
}

function unknownLink(): ServiceError {
  return new ServiceError("NOT_FOUND", "There is no page at this link: check that it is whole.");
}

function over(message: string): ServiceError {
  return new ServiceError("GONE", message);
}

/** Exercises that the page shows. */
const SHOWN_EXERCISES = 20;

/** Reads everything that the page shows now. @throws as {@link openPageLink}; {AlteredError}. */
export async function readOwnPage(dependencies: Needs, token: string, call: Call): Promise<OwnPage> {
  const { caller, organization, operatorId, pseudonym, expiresAt } = await openPageLink(
    dependencies,
    token,
    call,
  );
  const { orgId } = caller;
  const { now } = call;
  const { min_jis, target_jis } = dependencies.model.document.thresholds;
  const head = await readSubjectHead(dependencies, caller, { operatorId, call });
  const { decisions } = await listDecisions(dependencies, caller, {
    kind: null,
    operatorId,
    limit: OWN_PAGE_RECORDS,
    below: null,
  });
  const records: OwnPage["records"] = [];
  for (const one of decisions) {
    const { explanation } = await replay(dependencies, caller, { id: one.id, now });
    const moved = explanation.filter(({ before, after }) => before !== after);
    records.push({ ...one, explanation: moved.map((move) => ({ ...move, rules: [...move.rules] })) });
  }
  const { runs } = await listExercises(dependencies, caller, {
    operatorId,
    limit: SHOWN_EXERCISES,
    below: null,
    now,
  });
  const { contests } = await contestsOf(dependencies, orgId, {
    subject: pseudonym,
    below: null,
    limit: CONTESTS_OF_LINK_MAX,
  });
  return {
    organization: { id: orgId, name: organization },
    operator_id: operatorId,
    pseudonym,
    expires_at: expiresAt,
    thresholds: { min_jis, target_jis },
    profile: head.profile,
    jis_history: head.jis_history,
    record_count: head.record_count,
    records,
    exercises: runs.map(({ title, state, set_at, case_count, decided }) => ({
      title,
      state,
      set_at,
      case_count,
      decided,
    })),
    contests: contests.map(ownContest),
    notice: head.notice,
  };
}

/** The copy of the reviewer of a link, which the audit log records. @throws as {@link openPageLink}; {AlteredError}. */
export async function openOwnCopy(
  dependencies: Needs,
  { token, format, call }: { readonly token: string; readonly format: SubjectFormat; readonly call: Call },
): Promise<SubjectCopy> {
  const { caller, operatorId } = await openPageLink(dependencies, token, call);
  return await openSubjectAccess(dependencies, caller, { operatorId, format, call });
}
