/**
 * A compliance report as a page to read, print and file, with the same findings, figures and hashes as its
 * JSON. The hash covers the JSON, and the page carries the JSON, so that a saved page can be verified. The
 * page is one document that runs no script and fetches nothing. Source: contract, section 4, Compliance
 * report.
 */
import type { Finding, FindingStatus, Report } from "../domain/report.ts";
import { headOf } from "./head.ts";
import { dataBlock, type Markup, markup } from "./markup.ts";
import { reportPlots } from "./plots.ts";
import { policyFor } from "./policy.ts";
import { PAGE_STYLE } from "./style.ts";
import { dataTable, definitionList } from "./tables.ts";
import {
  countInWords,
  instantInWords,
  nameInWords,
  pointsInWords,
  shareInWords,
  STATUS_WORDS,
} from "./wording.ts";

/** The chain entry by which the report was issued. */
export interface ReportEntry {
  readonly id: string;
  readonly seq: number;
  /** Lower-case hexadecimal. */
  readonly entry_hash: string;
  readonly chain: string;
  /** ISO 8601. */
  readonly timestamp: string;
}

/** The id of the element in which a page carries its signed JSON. */
export const SIGNED_REPORT_ID = "signed-report";

/** A report as it was issued, with the evidence for it. */
export interface SignedReport {
  readonly report: Report;
  /** SHA-256 of the report's canonical JSON, lower-case hexadecimal. */
  readonly report_sha256: string;
  readonly evidence: { readonly entry: Omit<ReportEntry, "entry_hash">; readonly entry_hash: string };
}

export interface ReportPage {
  readonly signed: SignedReport;
  /** Share from which a finding is partial, 0 to 1: drawn as a mark if it is known. */
  readonly partialShare?: number;
}

/** The policy to serve {@link reportPage} with. */
export const REPORT_PAGE_CSP: string = policyFor(PAGE_STYLE);

/** The whole HTML document. */
export function reportPage(page: ReportPage): string {
  const { signed } = page;
  const { report } = signed;
  const name = report.organization.name;
  const document = markup`${
    headOf({ title: `Compliance report: ${name}, ${periodInWords(report)}`, style: PAGE_STYLE })
  }
<body>
<main>
${header(signed)}
${findings(report)}
${organizationRule(report)}
${population(report)}
${plots(page)}
${caveats(report)}
${verification(signed)}
</main>
${
    dataBlock(SIGNED_REPORT_ID, {
      report,
      report_sha256: signed.report_sha256,
      evidence: signed.evidence,
    })
  }
</body>
</html>
`;
  return document.toString();
}

function header({ report, evidence: { entry: { timestamp: issuedAt } } }: SignedReport): Markup {
  const { organization, period, overall_status, population } = report;
  return markup`<header>
<h1>Compliance report: <bdi>${organization.name}</bdi></h1>
<p class="statement">${report.statement}</p>
<div class="verdict"><p>Overall status: ${status(overall_status)}</p>
${
    certainty(overall_status, {
      certain: report.status_certain,
      inDoubt: report.figures.against_minimum.undetermined,
      doubt: "operators whose interval straddles a threshold could turn it",
    })
  }</div>
${
    population.minimum_data_met > 0
      ? null
      : markup`<p class="statement"><strong>Insufficient data.</strong> ${nobodyInWords(report)}</p>`
  }
${
    definitionList([
      ["Organization", markup`<bdi>${organization.name}</bdi> (${code(organization.org_id)})`],
      ["Domain", nameInWords(organization.domain)],
      [
        "Period",
        `${instantInWords(period.start)} (included) to ${
          instantInWords(period.end)
        } (not included); days begin at midnight UTC`,
      ],
      [
        "Issued",
        `${instantInWords(issuedAt)}${issuedAt < period.end ? ", before the period had ended" : ""}`,
      ],
      ["Report", code(report.report_id)],
    ])
  }
</header>`;
}

function nobodyInWords({ population }: Report): string {
  const { operators } = population;
  const seen = operators === 0
    ? "No operator had an interaction in this period"
    : `${
      countInWords(operators, "operator")
    } had an interaction in this period, but none has a record long enough for a verdict`;
  return `${seen}. There is no share, no score and no plot to show; that is neither a pass nor a failure.`;
}

function findings(report: Report): Markup {
  return markup`<section aria-labelledby="findings">
<h2 id="findings">Findings</h2>
<p>Each provision is held against the population: the operators with an interaction in the period whose record is long enough for a verdict. Observed is the share of them who show what is measured. In force tells of the period's last day.</p>
<div class="scroll" role="region" aria-labelledby="findings" tabindex="0">
<table class="findings">
<thead><tr><th scope="col">Provision</th><th scope="col">Requirement and metric</th><th scope="col">Observed against threshold</th><th scope="col">Status</th><th scope="col">In force</th></tr></thead>
${report.findings.map(findingRows)}
</table>
</div>
</section>`;
}

/** One finding as a group of two rows that a page break never splits: the result, and the notes on it. */
function findingRows(finding: Finding): Markup {
  return markup`<tbody>
<tr>
<th scope="rowgroup" rowspan="2"><p><strong>${finding.regulation}</strong></p><p><strong>${finding.provision}</strong></p><p class="small">${finding.citation}</p></th>
<td><p>${finding.requirement}</p><p class="small">Measured: ${finding.metric}</p></td>
<td>${observation(finding)}</td>
<td><p>${status(finding.status)}</p>${
    certainty(finding.status, {
      certain: finding.status_certain,
      inDoubt: finding.undetermined,
      doubt: `the interval of ${finding.undetermined} of these ${
        countInWords(finding.operators, "operator")
      } straddles the minimum`,
    })
  }</td>
<td>${force(finding)}</td>
</tr>
<tr><td colspan="4" class="small">
${finding.capped === null ? null : markup`<p><strong>Not better than partial:</strong> ${finding.capped}</p>`}
${finding.status_note === "" ? null : markup`<p>${finding.status_note}</p>`}
<p>Source: ${finding.source}</p>
</td></tr>
</tbody>
`;
}

function observation({ observed, threshold, operators, passing }: Finding): Markup {
  if (observed === null) {
    return markup`<p>No population</p><p class="small">threshold ${shareInWords(threshold)}</p>`;
  }
  return markup`<p><strong>${shareInWords(observed)}</strong><br>against ${shareInWords(threshold)}</p>
<p class="small">passing: ${passing} of ${countInWords(operators, "operator")}</p>`;
}

function force({ in_force, in_force_from, in_force_until, date_confidence }: Finding): Markup {
  const dates = [
    in_force_from === null ? null : `from ${in_force_from}`,
    in_force_until === null ? null : `until ${in_force_until}`,
  ].filter((date) => date !== null).join(" ");
  return markup`<p>${in_force ? "In force" : "Not in force"}</p>
<p class="small">${dates === "" ? "no date recorded" : `${dates} (${date_confidence} source)`}</p>`;
}

function status(value: FindingStatus): Markup {
  return markup`<strong class="status ${value}">${STATUS_WORDS[value]}</strong>`;
}

/** A note that says if the operators in doubt could turn a status; null if no operator is in doubt. */
function certainty(
  held: FindingStatus,
  { certain, inDoubt, doubt }: {
    readonly certain: boolean;
    /** Operators whose interval straddles the minimum. */
    readonly inDoubt: number;
    readonly doubt: string;
  },
): Markup | null {
  if (!certain) return markup`<p class="small">uncertain: ${doubt}</p>`;
  const isVerdict = held !== "insufficient_data" && held !== "not_applicable";
  return isVerdict && inDoubt > 0
    ? markup`<p class="small">certain: the operators in doubt could not turn it</p>`
    : null;
}

function organizationRule(report: Report): Markup {
  const { organization_rule: rule, thresholds } = report;
  const [minimum, critical] = [pointsInWords(thresholds.min_jis), pointsInWords(thresholds.critical_jis)];
  return markup`<section aria-labelledby="organization-rule">
<h2 id="organization-rule">Organization rule</h2>
<p>The rule of the dashboard, over the period's last records.</p>
<div class="verdict"><p>${status(rule.status)}</p>
${
    certainty(rule.status, {
      certain: rule.status_certain,
      inDoubt: report.figures.against_minimum.undetermined,
      doubt: "operators whose interval straddles their mark could turn it",
    })
  }</div>
${
    dataTable({
      columns: ["Operators", "All", "Below their mark"],
      rows: [
        [
          `High-risk, by domain or by share of grave cases; mark: minimum JIS ${minimum}`,
          rule.high_risk_operators,
          rule.high_risk_below_minimum,
        ],
        [
          `With critical decisions; mark: critical JIS ${critical}`,
          rule.critical_operators,
          rule.critical_below_critical,
        ],
      ],
    })
  }
</section>`;
}

function population({ population, figures, thresholds }: Report): Markup {
  const minimum = pointsInWords(thresholds.min_jis);
  const { above, below, undetermined } = figures.against_minimum;
  return markup`<section aria-labelledby="population">
<h2 id="population">Population and figures</h2>
<div class="columns">
${
    dataTable({
      columns: ["In the period", "Count"],
      rows: [
        ["Operators with an interaction", population.operators],
        ["of these, record long enough for a verdict", population.minimum_data_met],
        ["of these, insufficient data", population.insufficient_data],
        ["Operators without ground truth", population.without_ground_truth],
        ["Interactions", population.interactions],
        ["Departures (rejected, overridden, modified)", population.departures],
        ["Referrals (deferred, escalated)", population.referrals],
        ["Incident freezes", population.incident_freezes],
      ],
      note:
        "Without ground truth: hardly any case's truth is known, so the score cannot tell careful review from a good imitation of it.",
    })
  }
${
    dataTable({
      columns: ["Of the population", "JIS or count"],
      rows: [
        ["Mean JIS", pointsInWords(figures.jis.mean)],
        ["Median JIS", pointsInWords(figures.jis.median)],
        [`Operators with their whole interval at or above ${minimum}`, above],
        [`Operators with their whole interval below ${minimum}`, below],
        [`Operators whose interval straddles ${minimum}`, undetermined],
        ["Minimum JIS", minimum],
        ["Target JIS", pointsInWords(thresholds.target_jis)],
        ["Critical JIS", pointsInWords(thresholds.critical_jis)],
      ],
      note: "JIS: Judgment Independence Score, 0 to 100.",
    })
  }
</div>
</section>`;
}

function plots({ signed: { report }, partialShare }: ReportPage): Markup {
  const drawn = reportPlots(report, partialShare);
  return markup`<section aria-labelledby="plots">
<h2 id="plots">Plots</h2>
${drawn.length === 0 ? markup`<p>Nothing is drawn: there is no population to draw.</p>` : drawn}
</section>`;
}

function caveats({ caveats }: Report): Markup | null {
  if (caveats.length === 0) return null;
  return markup`<section aria-labelledby="caveats">
<h2 id="caveats">Caveats</h2>
<ul>
${
    caveats.map((caveat) =>
      markup`<li>${caveat}</li>
`
    )
  }</ul>
</section>`;
}

function verification(
  { report, report_sha256: reportSha256, evidence: { entry, entry_hash } }: SignedReport,
): Markup {
  return markup`<section aria-labelledby="evidence">
<h2 id="evidence">Evidence, and how to verify it</h2>
${
    definitionList([
      ["Report id", code(report.report_id)],
      ["Report SHA-256", code(reportSha256)],
      ["Chain", code(entry.chain)],
      ["Chain entry", markup`number ${entry.seq}, id ${code(entry.id)}`],
      ["Entry hash", code(entry_hash)],
      ["Entry written", instantInWords(entry.timestamp)],
      ["Rules", code(report.rules_version)],
      ["Model", code(report.model.version)],
      ["Model SHA-256", code(report.model.sha256)],
    ])
  }
<p>Save this page: it carries the signed JSON from which it is drawn. ${
    code("jiss verify report.html --key jwks.json")
  } verifies that, and tells whether the page shows what it says. By hand:</p>
<ol>
<li>Ask for the JSON: ${code(`GET /v1/compliance/report/${report.report_id}`)}. This page is drawn from its ${
    code("report")
  } member.</li>
<li>Write that member as canonical JSON (RFC 8785) in UTF-8. Its ${
    code("sha256")
  } is the report SHA-256 above.</li>
<li>The ${code("evidence")} beside it covers ${code("report_id")} and ${
    code("report_sha256")
  }: they are the ${code("detail")} part to which the chain entry above commits.</li>
<li>SHA-256 of a zero byte and the entry's canonical JSON is the entry hash. The inclusion proof leads from it to a checkpoint that the service signed; check the signature with a public key that you had before.</li>
</ol>
</section>`;
}

function code(text: string): Markup {
  return markup`<code>${text}</code>`;
}

function periodInWords({ period }: Report): string {
  return `${instantInWords(period.start)} to ${instantInWords(period.end)}`;
}
