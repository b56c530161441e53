/**
 * Lists an organization's records: scores and decisions from the chain, reports as they were issued. A cursor
 * is a position in the chain, so that entries appended meanwhile do not move it. Each item is made of an
 * entry that is proven at that moment, and of parts that the entry commits to.
 */
import type { Proving, Reading } from "../shared/capabilities.ts";
import type { Band, Decision, Domain, Route, VerdictStatus } from "../../domain/enums.ts";
import { AlteredError } from "../../domain/errors.ts";
import type { RecordKind } from "../../domain/record_list.ts";
import type { Report } from "../../domain/report.ts";
import { hex, utf8 } from "../../evidence/crypto.ts";
import type { PartName } from "../../evidence/hashes.ts";
import { type ProvenRecord, readProvenPage } from "../../store/proven_pages.ts";
import { scoredEntriesQuery } from "../../store/record_list.ts";
import { reportsQuery, type StoredReport } from "../../store/reports.ts";
import { operatorQuery } from "../../store/operators.ts";
import { subjects } from "../../store/records.ts";
import { subjectsOfPseudonymsQuery } from "../../store/subjects.ts";
import { originOf } from "../shared/deployment.ts";
import type { OrganizationCaller } from "../shared/call.ts";
import { evidenceChain } from "../../evidence/chain_name.ts";
import { ownEpochs, readAtPositions } from "../shared/proven_records.ts";
import { requireSealed } from "../shared/sealed_reads.ts";
import { missingSubjectError } from "../shared/subjects.ts";

/** The dependencies of these operations. */
type Needs = Reading & Proving;

export const EVENT_TYPES: Readonly<Record<RecordKind, string>> = {
  score: "SCORE_COMPUTED",
  decision: "DRS_COMPUTED",
};

interface Page {
  readonly limit: number;
  /** The page has only positions below this one; null to begin at the newest. */
  readonly below: number | null;
}

/** The conditions that the records of a list must meet. */
export interface RecordQuery {
  readonly eventTypes: readonly string[];
  /** The requested operator, with the pseudonym in the entries; null for all operators. */
  readonly operator: { readonly id: string; readonly pseudonym: string } | null;
  /** Bounds of the entries' instants, ISO 8601 in UTC with milliseconds: included and excluded; null if open. */
  readonly since?: string | null;
  readonly until?: string | null;
}

/** A page of scores and decisions, newest first, and where the next one begins. @throws {AlteredError} */
export async function listDecisions(
  dependencies: Needs,
  { orgId }: OrganizationCaller,
  { kind, operatorId, since = null, until = null, limit, below }: Page & {
    readonly kind: RecordKind | null;
    readonly operatorId: string | null;
    /** Bounds as in {@link RecordQuery}. */
    readonly since?: string | null;
    readonly until?: string | null;
  },
) {
  const pseudonym = operatorId === null ? null : await pseudonymOf(dependencies, orgId, operatorId);
  if (pseudonym === undefined) return { decisions: [], next: null };
  const recordQuery: RecordQuery = {
    eventTypes: kind === null ? Object.values(EVENT_TYPES) : [EVENT_TYPES[kind]],
    operator: operatorId === null || pseudonym === null ? null : { id: operatorId, pseudonym },
    since,
    until,
  };
  const found: { readonly position: number; readonly record: ProvenRecord }[] = [];
  const epochs = await ownEpochs(dependencies, evidenceChain(orgId));
  for (const { chain, firstPosition, frontier } of epochs.toReversed()) {
    const before = Math.min(frontier.size, (below ?? Infinity) - firstPosition);
    // One extra row shows whether there is a next page.
    const missing = limit + 1 - found.length;
    if (before <= 0 || missing === 0) continue;
    const places = await dependencies.database.read(scoredEntriesQuery({
      chain,
      eventTypes: recordQuery.eventTypes,
      pseudonym,
      since,
      until,
      below: before,
      limit: missing,
    }));
    const seqs = places.map(({ seq }) => seq);
    const origin = originOf(dependencies, chain);
    const proven = await readProvenPage(dependencies, { chain, origin, seqs, names: LISTED_PARTS });
    for (const [seq, record] of [...proven].toReversed()) {
      found.push({ position: firstPosition + seq, record });
    }
  }
  const page = found.slice(0, limit);
  await requireErased(dependencies, orgId, page.map(({ record }) => record));
  // Entries whose content was erased keep their place in a page, but have nothing to show.
  return {
    decisions: page.flatMap(({ record }) => {
      const shown = listItem(record, recordQuery);
      return shown === null ? [] : [shown];
    }),
    next: found.length > limit ? page.at(-1)!.position : null,
  };
}

const LISTED_PARTS: readonly PartName[] = ["input", "result"];

/** Entries without any held part must be those of erased operators. @throws {AlteredError} if one is not. */
export async function requireErased(
  { database }: Needs,
  orgId: string,
  records: readonly ProvenRecord[],
): Promise<void> {
  const withoutParts = records.filter(({ parts }) => parts.size === 0);
  const pseudonyms = new Set(withoutParts.flatMap(({ entry: { subject } }) => subject ?? []));
  if (pseudonyms.size === 0) return;
  const [known] = await database.read(subjectsOfPseudonymsQuery(orgId, [...pseudonyms]));
  const altered = withoutParts.find(({ entry }) => entry.subject === known?.pseudonym);
  if (altered !== undefined) throw partsMissing(altered);
}

function partsMissing({ entry: { chain, seq } }: ProvenRecord): AlteredError {
  return new AlteredError(chain, `a part of entry ${seq} of ${chain} is missing`);
}

/**
 * An item; null if its content was erased.
 * @throws {AlteredError} if it is of another operator, another kind or another time.
 */
export function listItem(
  record: ProvenRecord,
  { eventTypes, operator, since = null, until = null }: RecordQuery,
) {
  const { entry: { chain, seq, event_type, subject, timestamp }, parts } = record;
  const isOfTime = (since === null || since <= timestamp) && (until === null || timestamp < until);
  if (
    !isOfTime || !eventTypes.includes(event_type) || (operator !== null && subject !== operator.pseudonym)
  ) {
    throw new AlteredError(chain, `entry ${seq} of ${chain} is another than its row says`);
  }
  if (parts.size === 0) return null;
  if (parts.size < LISTED_PARTS.length) throw partsMissing(record);
  const { domain, interaction }: RecordedInput = JSON.parse(parts.get("input")!.text);
  const result: RecordedResult = JSON.parse(parts.get("result")!.text);
  if (operator !== null && result.operator_id !== operator.id) {
    throw new AlteredError(chain, `entry ${seq} of ${chain} is of another operator than its pseudonym's`);
  }
  const isScore = event_type === EVENT_TYPES.score;
  return {
    id: isScore ? result.session_id! : result.decision_id!,
    kind: isScore ? "score" as const : "decision" as const,
    timestamp,
    operator_id: result.operator_id,
    domain,
    decision: interaction.decision,
    jis: result.jis ?? null,
    band: result.band ?? null,
    verdict: result.compliance?.verdict?.status ?? null,
    decision_risk_score: result.decision_risk_score ?? null,
    routing_decision: result.routing_decision ?? null,
  };
}

/** The members of an input that are listed. */
interface RecordedInput {
  readonly domain: Domain;
  readonly interaction: { readonly decision: Decision };
}

/** The members of a score's or a decision's result that are listed. */
interface RecordedResult {
  readonly operator_id: string;
  readonly session_id?: string;
  readonly decision_id?: string;
  readonly jis?: number;
  readonly band?: Band;
  readonly compliance?: { readonly verdict?: { readonly status: VerdictStatus } };
  readonly decision_risk_score?: number;
  readonly routing_decision?: Route;
}

/** The pseudonym of an operator; undefined if the operator is unknown. @throws {AlteredRows} */
export async function pseudonymOf(
  dependencies: Needs,
  orgId: string,
  operatorId: string,
): Promise<string | undefined> {
  const [rows, known] = await dependencies.database.snapshot([
    subjects.load(JSON.stringify([[orgId, operatorId]])),
    operatorQuery(orgId, operatorId),
  ]);
  requireSealed(dependencies, subjects, rows);
  if (rows.length === 0 && known.length > 0) throw missingSubjectError(orgId);
  return rows[0]?.pseudonym;
}

/** A page of the reports that were issued, newest first. @throws {AlteredError} */
export async function listReports(
  dependencies: Needs,
  { orgId }: OrganizationCaller,
  { limit, below }: Page,
) {
  const family = evidenceChain(orgId);
  const rows = await dependencies.database.read(reportsQuery(orgId, { below, limit: limit + 1 }));
  const page = rows.slice(0, limit);
  const epochs = await ownEpochs(dependencies, family);
  const entries = await readAtPositions(dependencies, epochs, page.map(({ position }) => position));
  const isCutOff = (position: number) => {
    const epoch = epochs.findLast(({ firstPosition }) => firstPosition <= position);
    return epoch !== undefined && position - epoch.firstPosition < epoch.minIndex;
  };
  return {
    reports: page.flatMap((row) => {
      const entry = entries.get(row.position);
      if (entry !== undefined) return [reportItem(dependencies, row, entry)];
      // Retention removed its entry during the lookup.
      if (isCutOff(row.position)) return [];
      throw new AlteredError(family, `a row of compliance_report leads to no entry of ${family}`);
    }),
    next: rows.length > limit ? page.at(-1)!.position : null,
  };
}

/** @throws {AlteredError} if the report is not the one that the entry records. */
function reportItem({ crypto }: Needs, { report_id, report: text }: StoredReport, record: ProvenRecord) {
  const { entry: { chain, seq, event_type, timestamp }, parts } = record;
  const detail: Record<string, unknown> = JSON.parse(parts.get("detail")?.text ?? "{}");
  const isIssued = event_type === "REPORT_ISSUED" && detail.report_id === report_id &&
    detail.report_sha256 === hex(crypto.sha256(utf8(text)));
  if (!isIssued) {
    throw new AlteredError(chain, `the report of entry ${seq} of ${chain} is not what was issued`);
  }
  // Its hash was signed, so it is the text that this service wrote: it can be parsed without a check.
  const { period: { start, end }, overall_status, status_certain, verdict }: Report = JSON.parse(text);
  return {
    report_id,
    issued_at: timestamp,
    period: { start, end },
    overall_status,
    status_certain,
    verdict: verdict?.status ?? null,
  };
}
