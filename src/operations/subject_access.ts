/**
 * Subject access: everything that is kept about one reviewer, each score with what moved it. It is read page by page
 * while it is sent, so that its length costs neither memory nor other people's time, and that it was asked for is
 * itself on record.
 * Source: contract, section 4; Regulation (EU) 2016/679 (GDPR), Article 15.
 */
import type { SubjectFormat, SubjectHead, SubjectRecord } from "../domain/subject.ts";
import { query } from "../store/database.ts";
import { operatorQuery } from "../store/operators.ts";
import { organizationQuery } from "../store/organizations.ts";
import { subjects } from "../store/records.ts";
import {
  pseudonymQuery,
  readSubjectEntries,
  type SubjectChain,
  subjectChainsQuery,
} from "../store/subjects.ts";
import { nextTurn } from "../store/turn.ts";
import {
  adminChain,
  type Call,
  type Dependencies,
  eventDraft,
  evidenceChain,
  type OrganizationCaller,
} from "./dependencies.ts";
import { operatorProfile } from "./operators.ts";
import { unknownSubject } from "./subjects.ts";
import { subjectNotice } from "./subject_notice.ts";
import { Documents, readRecord, readRows, shownRecord } from "./subject_records.ts";

/** Entries that are read at once: a few hundred kilobytes. */
const PAGE = 32;

/** Records that are made before others get their turn: a few milliseconds of work. */
const RECORDS_IN_SLICE = 8;

export interface SubjectAccess {
  readonly head: SubjectHead;
  /** Oldest first. @throws {Error} where the operator is erased meanwhile: what was made until then is no copy. */
  readonly records: AsyncGenerator<SubjectRecord>;
}

/** Records the access and begins the copy. @throws {ServiceError} NOT_FOUND; SERVICE_UNAVAILABLE. */
export async function openSubjectAccess(
  dependencies: Dependencies,
  caller: OrganizationCaller,
  { operatorId, format, call }: {
    readonly operatorId: string;
    readonly format: SubjectFormat;
    readonly call: Call;
  },
): Promise<SubjectAccess> {
  const { database } = dependencies;
  const { orgId } = caller;
  const name = { orgId, operatorId };
  await recordAccess(dependencies, caller, { operatorId, format, call });
  const [[known], [organization], [operator], chains, webhooks] = await database.snapshot([
    pseudonymQuery(name),
    organizationQuery(orgId),
    operatorQuery(orgId, operatorId),
    subjectChainsQuery(name, [evidenceChain(orgId), adminChain(orgId)]),
    query.selectFrom("webhook").select("url").where("org_id", "=", orgId).orderBy("created_at").compile(),
  ]);
  if (known === undefined) throw unknownSubject(operatorId);
  const shown = operator === undefined
    ? { profile: null, jis_history: [] }
    : await operatorProfile(dependencies, caller, { operatorId, projection: false, now: call.now });
  const { pseudonym } = known;
  return {
    head: {
      operator_id: operatorId,
      organization: { id: orgId, name: organization!.name },
      pseudonym,
      notice: subjectNotice(dependencies, {
        organization: organization!.name,
        receivers: [...new Set(webhooks.map(({ url }) => new URL(url).host))],
        quote: { operator_id: operatorId, pseudonym, request_id: call.requestId },
      }),
      ...shown,
      state: operator === undefined ? null : JSON.parse(operator.state),
      record_count: chains.reduce((sum, { entries }) => sum + entries, 0),
    },
    records: recordsOf(dependencies, { ...name, pseudonym, chains }),
  };
}

/** The entry that tells of the access, and of nobody's id. */
async function recordAccess(
  { writer, world }: Dependencies,
  caller: OrganizationCaller,
  { operatorId, format, call }: {
    readonly operatorId: string;
    readonly format: SubjectFormat;
    readonly call: Call;
  },
): Promise<void> {
  const operator = [caller.orgId, operatorId] as const;
  const draft = eventDraft(world, { type: "SUBJECT_ACCESS", caller, now: call.now, detail: { format } });
  await writer.submit({
    needs: [{ kind: subjects, key: operator }],
    chains: [adminChain(caller.orgId)],
    plan(unit) {
      const known = unit.get(subjects, operator);
      if (known === null) throw unknownSubject(operatorId);
      unit.append(adminChain(caller.orgId), { ...draft, subject: known.pseudonym });
      return () => undefined;
    },
  });
}

interface Subject {
  readonly orgId: string;
  readonly operatorId: string;
  readonly pseudonym: string;
  readonly chains: readonly SubjectChain[];
}

async function* recordsOf(dependencies: Dependencies, subject: Subject): AsyncGenerator<SubjectRecord> {
  const { database } = dependencies;
  const documents = new Documents(dependencies);
  for (const { chain, last_seq: last } of subject.chains) {
    for (let after = -1; after < last;) {
      const page = { chain, pseudonym: subject.pseudonym, after, last, limit: PAGE };
      const entries = await readSubjectEntries(database, subject, page);
      if (entries === null) throw new Error("the operator was erased while its records were read");
      const records = entries.map((entry) => readRecord(dependencies.crypto, entry));
      const rows = await readRows(database, subject.orgId, records);
      for (const [index, record] of records.entries()) {
        if (index % RECORDS_IN_SLICE === 0) await nextTurn();
        yield await shownRecord(record, { row: rows[index]!, documents });
      }
      after = entries.at(-1)?.seq ?? last;
    }
  }
}
