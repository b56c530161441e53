/**
 * Subject access: a copy of everything that is kept about one reviewer, with an explanation of each score. It
 * is read page by page while it is sent, so that a long copy neither takes memory nor delays others. The
 * access itself is recorded. A record that was altered is marked as altered and raises the alert. If another
 * row of the copy was altered, there is no copy.
 * Source: contract, section 4; Regulation (EU) 2016/679 (GDPR), Article 15.
 */
import type { RetentionDays } from "../shared/deployment.ts";
import type { Reading, Scoring } from "../shared/capabilities.ts";
import type { SubjectCopy, SubjectFormat, SubjectHead, SubjectRecord } from "../../domain/subject.ts";
import { HISTORY_POINTS } from "../../domain/limits.ts";
import { AlteredError } from "../../domain/errors.ts";
import { adminChain, evidenceChain, parseChain } from "../../evidence/chain_name.ts";
import { newestQuery, newestRowsQuery, operatorNamed } from "../../store/interactions.ts";
import { operatorQuery, type StoredOperator } from "../../store/operators.ts";
import type { StoredOrganization } from "../../store/organizations.ts";
import {
  type InteractionRow,
  interactions,
  operators,
  type SubjectRow,
  subjects,
  type WebhookRow,
} from "../../store/records.ts";
import { openAssignmentsQuery } from "../../store/probes.ts";
import { shareOf } from "../../store/seals.ts";
import {
  readSubjectEntries,
  type SubjectChain,
  subjectChainsQuery,
  type SubjectName,
} from "../../store/subjects.ts";
import { nextTurn } from "../../store/turn.ts";
import { eventDraft } from "../shared/drafts.ts";
import type { Call, OrganizationCaller } from "../shared/call.ts";
import { requireCurrentOperators } from "../scoring/current_operator.ts";
import { registeredQueries, requireRegistered } from "../organizations/registered.ts";
import { operatorProfile } from "../reporting/operators.ts";
import { requireSealed, snapshotWithHead } from "../shared/sealed_reads.ts";
import { missingSubjectError, requireNoOperator, unknownSubject } from "../shared/subjects.ts";
import { subjectNotice } from "./subject_notice.ts";
import {
  Documents,
  readRecords,
  readWithRows,
  type RecordWithRow,
  toSubjectRecord,
} from "./subject_records.ts";
import { reportAlteredRecord, type Watching } from "../shared/tampering.ts";

/** The dependencies of these operations. */
type Needs = Watching & Reading & Scoring & RetentionDays;

/** Entries that are read at once: a few hundred kilobytes. */
const PAGE = 32;

/** Records that are made before other work gets its turn: a few milliseconds. */
const RECORDS_IN_SLICE = 8;

/** A request for the copy of an operator. */
interface AccessRequest {
  readonly operatorId: string;
  readonly format: SubjectFormat;
  readonly call: Call;
}

/** Records the access and begins the copy. @throws {ServiceError} NOT_FOUND; SERVICE_UNAVAILABLE; {AlteredError}. */
export async function openSubjectAccess(
  dependencies: Needs,
  caller: OrganizationCaller,
  access: AccessRequest,
): Promise<SubjectCopy> {
  const { operatorId, call } = access;
  const name = { orgId: caller.orgId, operatorId };
  await recordAccess(dependencies, caller, access);
  const rows = await readRows(dependencies, name);
  const { subject: { pseudonym }, chains, hidden } = rows;
  return {
    head: await headFrom(dependencies, caller, { rows, operatorId, call }),
    records: recordsOf(dependencies, { ...name, pseudonym, chains, hidden }, call.now),
    requestId: call.requestId,
    madeAt: new Date(call.now).toISOString(),
  };
}

/** Reads the part of a copy before its records; nothing is recorded. @throws {ServiceError} NOT_FOUND; {AlteredError}. */
export async function readSubjectHead(
  dependencies: Needs,
  caller: OrganizationCaller,
  { operatorId, call }: Omit<AccessRequest, "format">,
): Promise<SubjectHead> {
  const rows = await readRows(dependencies, { orgId: caller.orgId, operatorId });
  return await headFrom(dependencies, caller, { rows, operatorId, call });
}

async function headFrom(
  dependencies: Needs,
  caller: OrganizationCaller,
  { rows, operatorId, call }: Omit<AccessRequest, "format"> & { readonly rows: Rows },
): Promise<SubjectHead> {
  const answer = rows.operator === null
    ? null
    : await operatorProfile(dependencies, caller, { operatorId, projection: false, now: call.now });
  return headOf(dependencies, rows, { operatorId, profile: answer?.profile ?? null, call });
}

/** The rows of one state of the database from which a copy is made. */
interface Rows {
  readonly subject: SubjectRow;
  readonly organization: StoredOrganization;
  /** null if the operator was never scored. */
  readonly operator: StoredOperator | null;
  readonly webhooks: readonly WebhookRow[];
  readonly scores: readonly InteractionRow[];
  readonly chains: readonly SubjectChain[];
  /** Positions of the assignments of probes that wait for their decision: the copy must not show which they are. */
  readonly hidden: ReadonlySet<number>;
}

/** @throws {ServiceError} NOT_FOUND; {AlteredError}, {AlteredRows} if a row was altered. */
async function readRows(dependencies: Needs, name: SubjectName): Promise<Rows> {
  const { orgId, operatorId } = name;
  const families = [evidenceChain(orgId), adminChain(orgId)];
  const { head, found: [known, rows, newest, chains, scores, open, ...registeredRows] } =
    await snapshotWithHead(
      dependencies,
      adminChain(orgId),
      [
        subjects.load(JSON.stringify([[orgId, operatorId]])),
        operatorQuery(orgId, operatorId),
        newestQuery(orgId, operatorNamed(operatorId)),
        subjectChainsQuery(name, families),
        newestRowsQuery(orgId, { operatorId, limit: HISTORY_POINTS }),
        openAssignmentsQuery(orgId, operatorId),
        ...registeredQueries(orgId),
      ] as const,
    );
  requireSealed(dependencies, subjects, known);
  const { organization, webhooks } = requireRegistered(dependencies, head, registeredRows);
  requireCurrentOperators(dependencies, orgId, { rows, newest });
  for (const { chain } of chains) {
    if (families.includes(parseChain(chain)?.family ?? "")) continue;
    throw new AlteredError(families[0]!, `${chain} is said to be a chain of ${orgId}`);
  }
  const [[subject], [operator]] = [known, rows];
  if (subject === undefined) {
    throw operator === undefined ? unknownSubject(operatorId) : missingSubjectError(orgId);
  }
  return {
    subject,
    organization: organization!,
    operator: operator ?? null,
    webhooks,
    scores,
    chains,
    hidden: new Set(open.map(({ position }) => position)),
  };
}

function headOf(
  dependencies: Needs,
  { subject: { pseudonym }, organization: { org_id, name }, operator, webhooks, scores, chains, hidden }:
    Rows,
  { operatorId, profile, call }: {
    readonly operatorId: string;
    readonly profile: SubjectHead["profile"];
    readonly call: Call;
  },
): SubjectHead {
  return {
    operator_id: operatorId,
    organization: { id: org_id, name },
    pseudonym,
    notice: subjectNotice(dependencies, {
      organization: name,
      receivers: [...new Set(webhooks.map(({ url }) => new URL(url).host))],
      quote: { operator_id: operatorId, pseudonym, request_id: call.requestId },
    }),
    profile,
    // A score whose row was altered is marked among the records.
    jis_history: scores.filter((row) => shareOf(dependencies.seals, interactions, row) !== null)
      .map(({ t1, jis }) => ({ timestamp: new Date(t1).toISOString(), jis })).toReversed(),
    state: operator === null ? null : JSON.parse(operator.state),
    record_count: chains.reduce((sum, { entries }) => sum + entries, 0) - hidden.size,
  };
}

/** Appends the entry that records the access; it holds the pseudonym and not the id. */
async function recordAccess(
  { writer, world }: Needs,
  caller: OrganizationCaller,
  { operatorId, format, call }: AccessRequest,
): Promise<void> {
  const operator = [caller.orgId, operatorId] as const;
  const draft = eventDraft(world, { type: "SUBJECT_ACCESS", caller, now: call.now, detail: { format } });
  await writer.submit({
    needs: [{ kind: subjects, key: operator }, { kind: operators, key: operator }],
    chains: [adminChain(caller.orgId)],
    plan(unit) {
      const known = unit.get(subjects, operator);
      if (known === null) {
        requireNoOperator(unit, operator);
        throw unknownSubject(operatorId);
      }
      unit.append(adminChain(caller.orgId), { ...draft, subject: known.pseudonym });
      return () => undefined;
    },
  });
}

interface Subject extends SubjectName {
  readonly pseudonym: string;
  readonly chains: readonly SubjectChain[];
  readonly hidden: ReadonlySet<number>;
}

async function* recordsOf(
  dependencies: Needs,
  subject: Subject,
  now: number,
): AsyncGenerator<SubjectRecord> {
  const documents = new Documents(dependencies);
  let isReported = false;
  for (const { chain, first_position: firstPosition, last_seq: last } of subject.chains) {
    for (let after = -1; after < last;) {
      const records = await readPage(dependencies, subject, { chain, firstPosition, after, last });
      for (const [index, record] of records.entries()) {
        if (index % RECORDS_IN_SLICE === 0) await nextTurn();
        const { eventType, seq } = record.record.entry;
        if (eventType === "PROBE_ASSIGNED" && subject.hidden.has(firstPosition + seq)) continue;
        const shown = await toSubjectRecord(record, documents);
        // One copy raises one alert, even if several of its records were altered.
        if (shown.altered && !isReported) {
          reportAlteredRecord(dependencies, { chain, seq: shown.seq, shown: "a person's copy", now });
        }
        isReported ||= shown.altered;
        yield shown;
      }
      after = records.at(-1)?.record.entry.seq ?? last;
    }
  }
}

async function readPage(
  dependencies: Needs,
  subject: Subject,
  { chain, firstPosition, after, last }: {
    readonly chain: string;
    readonly firstPosition: number;
    readonly after: number;
    readonly last: number;
  },
): Promise<readonly RecordWithRow[]> {
  const { database } = dependencies;
  const page = { chain, pseudonym: subject.pseudonym, after, last, limit: PAGE };
  const entries = await readSubjectEntries(database, subject, page);
  const records = entries && await readRecords(dependencies, chain, entries);
  const found = records && await readWithRows(dependencies, subject, { chain, firstPosition, records });
  // The operator was erased since the lookup.
  if (found === null) throw unknownSubject(subject.operatorId);
  return found;
}
