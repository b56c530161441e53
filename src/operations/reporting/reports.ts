/**
 * Compliance reports: computed from one snapshot of the records, kept until their retention ends, cited by
 * id. The same period over unchanged records gives the same report.
 * Source: specification, GET /v1/compliance/report; contract, section 4; scoring model, section 10.
 */
import type { Naming, Proving, Reading, Scoring, Writing } from "../shared/capabilities.ts";
import type { Domain } from "../../domain/enums.ts";
import { AlteredError, ServiceError } from "../../domain/errors.ts";
import type { Period } from "../../domain/period.ts";
import type { Report } from "../../domain/report.ts";
import { canonicalJson } from "../../evidence/canonical.ts";
import { hex, utf8 } from "../../evidence/crypto.ts";
import { type Evidence, evidenceOfAppended } from "../../evidence/envelope.ts";
import { article14Of, reportOf } from "../../scoring/report.ts";
import { reportOfGroups } from "../../domain/small_groups.ts";
import { DAY_MS } from "../../domain/time.ts";
import { prunedUntil } from "../../store/chains.ts";
import { readEvidence } from "../../store/proofs.ts";
import { type ComplianceReportRow, complianceReports } from "../../store/records.ts";
import { AlteredRows } from "../../store/seals.ts";
import { hasReportEntry, readReport } from "../../store/reports.ts";
import { originOf } from "../shared/deployment.ts";
import { drawSalt, makePart, signedBy } from "../shared/drafts.ts";
import type { Call, OrganizationCaller } from "../shared/call.ts";
import { evidenceChain } from "../../evidence/chain_name.ts";
import { requireExpected } from "../shared/answers.ts";
import { placeOfRecord, requireCutOff, requireNotGone } from "../shared/gone.ts";
import { probedOperators } from "../probes/figures.ts";
import { readPeriod, type VerifiedPeriod } from "./period_rows.ts";

/** The dependencies of these operations. */
type Needs = Reading & Proving & Writing & Scoring;

/** A report as it was issued. */
export interface IssuedReport {
  readonly report: Report;
  /** SHA-256 of the report's canonical JSON, hexadecimal. */
  readonly report_sha256: string;
  /** Evidence over `{report_id, report_sha256}` in its REPORT_ISSUED entry. */
  readonly evidence: Evidence;
}

type Outcome =
  | { readonly kind: "issued"; readonly issued: IssuedReport }
  | { readonly kind: "known"; readonly stored: ComplianceReportRow };

/**
 * The report of a period: the one that was issued before if the content is the same, else a new one.
 * If reviewers are pseudonyms, it is issued without the figures of small groups.
 * @throws {ServiceError} VALIDATION_FAILED if records of the period are past their retention; INSUFFICIENT_DATA if all
 *   its reviewers are a small group; SERVICE_UNAVAILABLE.
 */
export async function complianceReport(
  dependencies: Needs & Naming,
  caller: OrganizationCaller,
  { period, call }: { readonly period: Period; readonly call: Call },
): Promise<IssuedReport> {
  const { world, writer } = dependencies;
  const { orgId } = caller;
  await requireUnpruned(dependencies, orgId, period);
  const { organization: { org_id, name, domain }, data } = await readVerifiedPeriod(
    dependencies,
    orgId,
    period,
  );
  const organization = { org_id, name, domain: domain as Domain };
  const whole = reportOf(dependencies.model, { organization, period, data });
  const content = dependencies.privacy === "named"
    ? whole
    : reportOfGroups(whole, await probedOperators(dependencies, caller, period));
  const contentSha256 = sha256(dependencies, canonicalJson(content));
  const reportId = world.ulid(call.now);
  const entryId = world.ulid(call.now);
  const salt = drawSalt(world);
  const text = canonicalJson({ ...content, report_id: reportId });
  const detail = { report_id: reportId, report_sha256: sha256(dependencies, text) };
  const key = [orgId, contentSha256] as const;

  const outcome = await writer.submit<Outcome>({
    needs: [{ kind: complianceReports, key }],
    chains: [evidenceChain(orgId)],
    plan(unit) {
      const stored = unit.get(complianceReports, key);
      if (stored !== null) return () => ({ kind: "known", stored });
      const appended = unit.append(evidenceChain(orgId), {
        id: entryId,
        ...signedBy(caller),
        eventType: "REPORT_ISSUED",
        subject: null,
        at: call.now,
        parts: [makePart("detail", salt, detail)],
      });
      unit.put(complianceReports, {
        report_id: reportId,
        org_id: orgId,
        content_sha256: contentSha256,
        position: appended.position,
        report: text,
      });
      return (receipts) => ({
        kind: "issued",
        issued: {
          report: JSON.parse(text),
          report_sha256: detail.report_sha256,
          evidence: evidenceOfAppended(appended, { covers: "detail", proof: receipts.proofOf(appended) }),
        },
      });
    },
  });
  return outcome.kind === "issued" ? outcome.issued : await issuedReport(dependencies, outcome.stored);
}

/** Refuses a period with pruned records: a report over the rest would pass for a report over the period. */
async function requireUnpruned({ database }: Needs, orgId: string, { start }: Period): Promise<void> {
  const until = await prunedUntil(database, evidenceChain(orgId));
  if (until === null || Date.parse(until) < start) return;
  throw new ServiceError(
    "VALIDATION_FAILED",
    `Change period_start: records up to ${until} are past their retention and were pruned.`,
    { details: [{ path: "period_start", message: `must be after ${until}` }] },
  );
}

/**
 * A report that was issued before.
 * @throws {ServiceError} NOT_FOUND, GONE; {AlteredError} if its row is missing or altered.
 */
export async function storedReport(
  dependencies: Needs,
  { orgId }: OrganizationCaller,
  reportId: string,
): Promise<IssuedReport> {
  const row = await readReport(dependencies.database, { orgId, reportId });
  if (row === null) {
    await requireNotGone(dependencies, { kind: "report", orgId, name: reportId });
    const family = evidenceChain(orgId);
    if (await hasReportEntry(dependencies.database, { family, reportId })) {
      throw new AlteredRows(family, "a row of compliance_report");
    }
    throw new ServiceError("NOT_FOUND", `There is no report ${reportId}: check the report_id.`);
  }
  return await issuedReport(dependencies, row);
}

/** The days up to `now`, epoch milliseconds, over which the dashboard and Article 14 count. */
export function activePeriod({ model: { document } }: Scoring, now: number): Period {
  return { start: now - document.organization.active_days * DAY_MS, end: now + 1 };
}

/** The Article 14 figures of the model's `active_days` (90 by default) up to `now`, epoch milliseconds. */
export async function article14(
  dependencies: Needs,
  { orgId }: OrganizationCaller,
  now: number,
) {
  const { model } = dependencies;
  const period = activePeriod(dependencies, now);
  const { organization, data } = await readVerifiedPeriod(dependencies, orgId, period);
  return article14Of(model, { period, data, organizationDomain: organization.domain as Domain });
}

/** @throws {AlteredError} if a row was altered, or is missing without a cut that explains it. */
async function readVerifiedPeriod(
  dependencies: Needs,
  orgId: string,
  period: Period,
): Promise<VerifiedPeriod> {
  const held = await readPeriod(dependencies, orgId, period);
  for (const place of held.cutOff) await requireCutOff(dependencies, place);
  return held;
}

/** @throws {ServiceError} GONE; {AlteredError} if it is not the report that was issued under this id. */
export async function issuedReport(
  dependencies: Needs,
  { org_id: orgId, report_id, content_sha256, position, report: text }: ComplianceReportRow,
): Promise<IssuedReport> {
  const { chain, seq } = await placeOfRecord(dependencies, { orgId, position });
  const origin = originOf(dependencies, chain);
  const found = await readEvidence(dependencies, { chain, origin, seq, covers: "detail" });
  const report_sha256 = sha256(dependencies, text);
  if (found === null) throw new AlteredError(chain, `entry ${seq} of ${chain} has no stored record`);
  requireExpected(found, { events: ["REPORT_ISSUED"], members: { report_id, report_sha256 } });
  // Its hash was signed, so it is the text that this service wrote: it can be parsed without a check.
  const report: Report = JSON.parse(text);
  const { report_id: idInText, ...content } = report;
  if (idInText !== report_id || sha256(dependencies, canonicalJson(content)) !== content_sha256) {
    throw new AlteredError(chain, `the row of the report of entry ${seq} of ${chain} names another`);
  }
  return { report, report_sha256, evidence: found.evidence };
}

function sha256({ crypto }: Needs, text: string): string {
  return hex(crypto.sha256(utf8(text)));
}
