/** The parts of a report's page that never change, and the words that its sections share. */
import type { VerdictStatus } from "../domain/enums.ts";
import type { ProbeFigures, ProbeRates } from "../domain/probe.ts";
import type { Finding, FindingStatus, Report } from "../domain/report.ts";
import {
  type Block,
  code,
  columns,
  drawn,
  facts,
  judged,
  list,
  numberedList,
  paragraph,
  prose,
  type Section,
  status,
  table,
  verdict,
} from "./document.ts";
import { markup } from "./markup.ts";
import { type PassWords, reportPlots, type WritePoints } from "./plots.ts";
import type { TableRow } from "./tables.ts";
import { countInWords, instantInWords, pointsInWords, shareInWords, STATUS_WORDS } from "./wording.ts";

/** A report as it was issued, with the evidence for it. */
export interface SignedReport {
  readonly report: Report;
  /** SHA-256 of the report's canonical JSON, lower-case hexadecimal. */
  readonly report_sha256: string;
  readonly evidence: {
    /** The chain entry by which the report was issued. */
    readonly entry: {
      readonly id: string;
      readonly seq: number;
      readonly chain: string;
      /** ISO 8601. */
      readonly timestamp: string;
    };
    /** Lower-case hexadecimal. */
    readonly entry_hash: string;
  };
}

export interface ReportPage {
  readonly signed: SignedReport;
  /** Share from which a finding is partial, 0 to 1: drawn as a mark if it is known. */
  readonly partialShare?: number;
}

/** Stands for the count of a small group. */
const WITHHELD_WORD = "withheld";

/**
 * A status with its remark; with a verdict, that comes first and the status beside it.
 * @param labels before a status alone, and before a verdict.
 */
function statusBlock(
  [ofStatus, ofVerdict]: readonly [string, string],
  { held, by, remark }: {
    readonly held: FindingStatus;
    /** Absent in a report that was issued before there were verdicts. */
    readonly by: VerdictStatus | null | undefined;
    readonly remark: string | null;
  },
): Block {
  if (by == null) return verdict([ofStatus, status(held)], remark);
  const words = `by the scores alone: ${STATUS_WORDS[held]}`;
  return verdict([ofVerdict, judged(by)], remark === null ? words : `${words}; ${remark}`);
}

/** The overall status of findings and rule, with the verdict first if there is one. */
export function overallBlock(report: Report): Block {
  const { overall_status } = report;
  return statusBlock(["Overall status: ", "Findings and rule overall: "], {
    held: overall_status,
    by: report.overall_verdict,
    remark: certainty(overall_status, {
      certain: report.status_certain,
      inDoubt: report.figures.against_minimum.undetermined,
      doubt: `${doubtful(report, "a threshold")} could turn it`,
    }),
  });
}

/** A remark on whether the operators in doubt could turn a finding's status; null if none is in doubt. */
export function findingCertainty(finding: Finding): string | null {
  const { status, undetermined, operators } = finding;
  const counted = countInWords(operators, "operator");
  return certainty(status, {
    certain: finding.status_certain,
    inDoubt: undetermined ?? 0,
    doubt: undetermined === null
      ? "how many of these are undetermined is withheld"
      : finding.verdict === undefined
      ? `the interval of ${undetermined} of these ${counted} straddles the minimum`
      : `${undetermined} of these ${counted} ${undetermined === 1 ? "is" : "are"} undetermined`,
  });
}

/** The operators in doubt, as the subject of a sentence; `mark` is what an interval straddles. */
function doubtful({ verdict: held }: Report, mark: string): string {
  return held === undefined ? `operators whose interval straddles ${mark}` : "undetermined operators";
}

/** That nobody has a record long enough for a verdict, in whole sentences. */
export function nobodyInWords({ population }: Report): string {
  const { operators } = population;
  const seen = operators === 0
    ? "No operator had an interaction in this period"
    : `${
      countInWords(operators, "operator")
    } had an interaction in this period, but none has a record long enough for a verdict`;
  return `${seen}. There is no share, no score and no plot to show; that is neither a pass nor a failure.`;
}

/** A remark on whether the operators in doubt could turn a status; null if no operator is in doubt. */
function certainty(
  held: FindingStatus,
  { certain, inDoubt, doubt }: {
    readonly certain: boolean;
    /** Operators whose interval straddles the minimum. */
    readonly inDoubt: number;
    readonly doubt: string;
  },
): string | null {
  if (!certain) return `uncertain: ${doubt}`;
  const isVerdict = held !== "insufficient_data" && held !== "not_applicable";
  return isVerdict && inDoubt > 0 ? "certain: the operators in doubt could not turn it" : null;
}

/** The organization rule with its counts. */
export function organizationRuleSection(report: Report): Section {
  const { organization_rule: rule, thresholds } = report;
  const [minimum, critical] = [pointsInWords(thresholds.min_jis), pointsInWords(thresholds.critical_jis)];
  return {
    id: "organization-rule",
    title: "Organization rule",
    blocks: [
      paragraph(markup`The rule of the dashboard, over the period's last records.`),
      statusBlock(["", "Verdict: "], {
        held: rule.status,
        by: report.verdict?.status,
        remark: certainty(rule.status, {
          certain: rule.status_certain,
          inDoubt: report.figures.against_minimum.undetermined,
          doubt: `${doubtful(report, "their mark")} could turn it`,
        }),
      }),
      table({
        columns: ["Operators", "All", "Below their mark"],
        rows: [
          [
            `High-risk, by domain or by share of grave cases; mark: minimum JIS ${minimum}`,
            rule.high_risk_operators,
            rule.high_risk_below_minimum ?? WITHHELD_WORD,
          ],
          [
            `With critical decisions; mark: critical JIS ${critical}`,
            rule.critical_operators,
            rule.critical_below_critical ?? WITHHELD_WORD,
          ],
        ],
      }),
    ],
  };
}

/** The operators on each side of the minimum, certainly; with their verdicts if the report has them. */
function sideRows({ verdict: held, figures, thresholds }: Report): readonly (readonly [string, number])[] {
  const minimum = pointsInWords(thresholds.min_jis);
  const { above, below, undetermined } = figures.against_minimum;
  if (held === undefined || figures.verdicts === undefined) {
    return [
      [`Operators with their whole interval at or above ${minimum}`, above],
      [`Operators with their whole interval below ${minimum}`, below],
      [`Operators whose interval straddles ${minimum}`, undetermined],
    ];
  }
  const { verdicts } = figures;
  const isSame = above === verdicts.compliant && below === verdicts.non_compliant;
  const rows: readonly (readonly [string, number])[] = [
    [`Operators whose verdict is that they meet ${minimum}`, verdicts.compliant],
    [`Operators whose verdict is that they are below ${minimum}`, verdicts.non_compliant],
    ["Operators whose verdict is undetermined", verdicts.undetermined],
  ];
  // Operators without a verdict count as undetermined above, but their intervals may say more.
  return isSame ? rows : [
    ...rows,
    [`Operators certainly at or above ${minimum}, by verdict or interval`, above],
    [`Operators certainly below ${minimum}, by verdict or interval`, below],
    ["Operators of whom neither is certain", undetermined],
  ];
}

/** The population, its figures and the thresholds. `points` writes the scores. */
export function populationSection(report: Report, points: WritePoints): Section {
  const { population, figures, thresholds } = report;
  const minimum = pointsInWords(thresholds.min_jis);
  return {
    id: "population",
    title: "Population and figures",
    blocks: [columns(
      table({
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
      }),
      table({
        columns: ["Of the population", "JIS or count"],
        rows: [
          ["Mean JIS", points(figures.jis.mean)],
          ["Median JIS", points(figures.jis.median)],
          ...sideRows(report),
          ["Minimum JIS", minimum],
          ["Target JIS", pointsInWords(thresholds.target_jis)],
          ["Critical JIS", pointsInWords(thresholds.critical_jis)],
        ],
        note: "JIS: Judgment Independence Score, 0 to 100.",
      }),
    )],
  };
}

/** The sealed probes that were opened in the period. */
export function probesSection(probes: ProbeFigures): Section {
  const row = (what: string, { probes, count, share, low, high }: ProbeRates["wrong"]): TableRow => [
    what,
    probes,
    count,
    share === null ? "–" : shareInWords(share),
    low === null || high === null ? "–" : `${shareInWords(low)} to ${shareInWords(high)}`,
  ];
  return {
    id: "probes",
    title: "Sealed probes",
    blocks: [
      table({
        columns: ["Opened in the period", "Probes", "Departures", "Share", "Exact interval, 95 %"],
        rows: [
          row("Wrong advice: errors found", probes.wrong),
          row("Right advice: false alarms", probes.right),
        ],
        note:
          `Probes are cases whose truth was sealed before anybody saw them, shown among live ones. Lost: ${probes.lost}. Recalled: ${probes.recalled}, of which after they were shown: ${probes.recalled_after_draw}.`,
      }),
    ],
  };
}

/** The plots. `words` are those of the shares. */
export function plotsSection({ signed: { report }, partialShare }: ReportPage, words: PassWords): Section {
  const figures = reportPlots(report, { words, partialShare });
  return {
    id: "plots",
    title: "Plots",
    blocks: [
      figures.length === 0
        ? paragraph("Nothing is drawn: there is no population to draw.")
        : drawn(markup`${figures}`),
    ],
  };
}

/** What a reader must know before relying on the figures. */
export function caveatsSection({ caveats }: Report): Section {
  return { id: "caveats", title: "Caveats", blocks: [list(caveats)] };
}

/** The hashes, and how to verify them. */
export function evidenceSection(
  { report, report_sha256: reportSha256, evidence: { entry, entry_hash } }: SignedReport,
): Section {
  const request = code(`GET /v1/compliance/report/${report.report_id}`);
  return {
    id: "evidence",
    title: "Evidence, and how to verify it",
    blocks: [
      facts(
        ["Report id", code(report.report_id)],
        ["Report SHA-256", code(reportSha256)],
        ["Chain", code(entry.chain)],
        ["Chain entry", [`number ${entry.seq}, id `, code(entry.id)]],
        ["Entry hash", code(entry_hash)],
        ["Entry written", instantInWords(entry.timestamp)],
        ["Rules", code(report.rules_version)],
        ["Model", code(report.model.version)],
        ["Model SHA-256", code(report.model.sha256)],
      ),
      paragraph(
        prose(
          "Save this page: it carries the signed JSON from which it is drawn. `jiss verify report.html --key jwks.json` verifies that, and tells whether the page shows what it says. By hand:",
        ),
      ),
      numberedList([
        ["Ask for the JSON: ", request, ". This page is drawn from its ", code("report"), " member."],
        prose(
          "Write that member as canonical JSON (RFC 8785) in UTF-8. Its `sha256` is the report SHA-256 above.",
        ),
        prose(
          "The `evidence` beside it covers `report_id` and `report_sha256`: they are the `detail` part to which the chain entry above commits.",
        ),
        markup`SHA-256 of a zero byte and the entry's canonical JSON is the entry hash. The inclusion proof leads from it to a checkpoint that the service signed; check the signature with a public key that you had before.`,
      ]),
    ],
  };
}
