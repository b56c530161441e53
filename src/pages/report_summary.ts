/**
 * The first page of a report: a summary in plain words, for a reader who knows the law and not the service. Every figure in it
 * is one of the signed report.
 */
import type { VerdictStatus } from "../domain/enums.ts";
import type { Finding, Report } from "../domain/report.ts";
import { lastDayOf } from "../scoring/period.ts";
import { joinWithAnd } from "../scoring/wording.ts";
import {
  type Block,
  code,
  drawn,
  facts,
  judged,
  list,
  paragraph,
  type Section,
  strong,
  type Text,
  verdict,
} from "./document.ts";
import { textMarkup } from "./document_markup.ts";
import { forceInWords } from "./force_words.ts";
import { type Markup, markup } from "./markup.ts";
import { periodInWords } from "./period_words.ts";
import { nobodyInWords, type SignedReport } from "./report_sections.ts";
import {
  countInWords,
  dayInWords,
  instantInWords,
  nameInWords,
  pointsInWords,
  shareInWords,
} from "./wording.ts";

/** A report that has what a summary says. */
export type JudgedReport = Report & {
  readonly verdict: NonNullable<Report["verdict"]>;
  readonly figures: { readonly verdicts: NonNullable<Report["figures"]["verdicts"]> };
};

/** Whether a report was issued with verdicts: earlier ones have nothing to sum up. */
export function isJudged(report: Report): report is JudgedReport {
  return report.verdict !== undefined && report.figures.verdicts !== undefined;
}

/** The last day of a report's period, ISO date: findings say of it whether a law is in force. */
export function lastDayOfReport({ period }: Report): string {
  return lastDayOf({ start: Date.parse(period.start), end: Date.parse(period.end) });
}

/** The facts below the title. */
export function summaryFacts({ report, evidence: { entry: { timestamp: issuedAt } } }: SignedReport): Block {
  const { organization, period } = report;
  const early = issuedAt < period.end ? ", before the period had ended" : "";
  return facts(
    ["Organization", [
      code(organization.org_id),
      `, domain ${nameInWords(organization.domain).toLowerCase()}`,
    ]],
    ["Period", `${periodInWords(report.period)}; days begin at midnight UTC`],
    ["Issued", [`${instantInWords(issuedAt)}${early}; report `, code(report.report_id)]],
  );
}

/** The sections of the first page. */
export function summarySections(report: JudgedReport): readonly Section[] {
  return [
    organizationVerdict(report),
    people(report),
    measured(report),
    operatorVerdicts(report),
    laws(report),
    unknown(report),
    limits(report),
  ];
}

/** The organization's verdict in one sentence. */
const ORGANIZATION_SENTENCES: Readonly<Record<VerdictStatus, string>> = {
  compliant:
    "By these records the organization meets the chosen threshold, even if every undetermined operator turned out to be below it.",
  undetermined: "These records do not settle whether the organization meets the chosen threshold.",
  non_compliant:
    "By these records the organization is below the chosen threshold, even if every undetermined operator turned out to meet it.",
};

function organizationVerdict({ verdict: held, thresholds }: JudgedReport): Section {
  return {
    id: "verdict",
    title: "The verdict on the organization",
    blocks: [
      verdict(
        [
          judged(held.status),
          ` (threshold: a score, the JIS, of ${pointsInWords(thresholds.min_jis)} of 100)`,
        ],
        null,
      ),
      paragraph(
        `${
          ORGANIZATION_SENTENCES[held.status]
        } The scoring model chooses the threshold: no law sets it, and no authority has approved it.`,
      ),
      list(held.reasons),
    ],
  };
}

function people(report: JudgedReport): Section {
  const { operators, minimum_data_met, insufficient_data, interactions } = report.population;
  return {
    id: "people",
    title: "On whom",
    blocks: [
      paragraph(
        minimum_data_met === 0
          ? [strong("Insufficient data."), ` ${nobodyInWords(report)}`]
          : `The operators are the people who decide cases with the advice of an AI. ${
            countInWords(operators, "operator")
          } had ${countInWords(interactions, "case")} in the period. ${
            insufficient_data === 0
              ? "Each of them has a record long enough to be judged."
              : `With a record long enough to be judged: ${minimum_data_met}. With too short a record, and in no figure below: ${insufficient_data}.`
          } ${
            withheldInWords(report)
          } The report names nobody. People whose records were erased are in no figure${
            report.probes === undefined ? "" : " but those of sealed probes"
          }; how many they are, it does not say.`,
      ),
    ],
  };
}

function withheldInWords({ findings, organization_rule: rule, smallest_group }: Report): string {
  if (smallest_group === undefined) return "No figure is withheld.";
  const provisions = findings.filter(({ passing }) => passing === null).length;
  const halves = [rule.high_risk_below_minimum, rule.critical_below_critical]
    .filter((count) => count === null).length;
  const kept = [
    ...(provisions === 0 ? [] : [`those of ${countInWords(provisions, "provision")}`]),
    ...(halves === 0 ? [] : [`${countInWords(halves, "count")} of the organization rule`]),
  ];
  const why = `Figures about fewer than ${smallest_group} people are withheld`;
  return kept.length === 0 ? `${why}: here none of the provisions'.` : `${why}: ${joinWithAnd(kept)}.`;
}

function measured({ population, probes }: JudgedReport): Section {
  const { departures, referrals, incident_freezes } = population;
  const acts = `In the period ${countInWords(departures, "decision")} departed from the advice, and ${
    countInWords(referrals, "case")
  } ${referrals === 1 ? "was" : "were"} passed on to somebody else.`;
  const freezes = incident_freezes === 0
    ? ""
    : ` ${countInWords(incident_freezes, "case")} came during an incident and ${
      incident_freezes === 1 ? "has" : "have"
    } no score.`;
  const found = probes === undefined
    ? ""
    : ` Of ${countInWords(probes.wrong.probes, "sealed probe")} with wrong advice ${probes.wrong.count} ${
      probes.wrong.count === 1 ? "was" : "were"
    } found; of ${probes.right.probes} with right advice ${probes.right.count} ${
      probes.right.count === 1 ? "was" : "were"
    } turned down.`;
  return {
    id: "measured",
    title: "What was measured, and how",
    blocks: [
      paragraph(
        `The Judgment Independence Score (JIS), 0 to 100, says how independently a person judges while an AI advises: above all whether the person turns down wrong advice and follows right advice. That needs cases of which it is known whether the advice was right: because the outcome came out, because an error was planted, or because the case was a sealed probe, whose truth was fixed before anybody saw it. Each score has a range in which it may lie. An operator is judged by the score after the last decision in the period. ${acts}${freezes}${found}`,
      ),
    ],
  };
}

function operatorVerdicts({ figures: { verdicts }, thresholds }: JudgedReport): Section {
  const minimum = pointsInWords(thresholds.min_jis);
  return {
    id: "verdicts",
    title: "The verdicts on the operators",
    blocks: [
      drawn(verdictTable([
        [
          { judged: "compliant" },
          `JIS of at least ${minimum}, even with all doubt counted against the operator`,
          verdicts.compliant,
        ],
        [
          { judged: "undetermined" },
          `JIS of at least ${minimum} or below ${minimum}: the records do not say which`,
          verdicts.undetermined,
        ],
        [
          { judged: "non_compliant" },
          `JIS below ${minimum}, even with all doubt counted for the operator`,
          verdicts.non_compliant,
        ],
        [{ status: "insufficient_data" }, "not judged: the record is too short", verdicts.insufficient_data],
      ])),
    ],
  };
}

function verdictTable(rows: readonly (readonly [mark: Text, meaning: string, count: number])[]): Markup {
  return markup`<table class="verdicts">
<thead><tr><th scope="col">Verdict</th><th scope="col">Against the threshold</th><th scope="col">Operators</th></tr></thead>
<tbody>
${
    rows.map(([mark, meaning, count]) =>
      markup`<tr><th scope="row">${textMarkup(mark)}</th><td>${meaning}</td><td>${count}</td></tr>
`
    )
  }</tbody>
</table>`;
}

/** Each law that the findings name, with its dates once. */
function laws(report: JudgedReport): Section {
  const day = lastDayOfReport(report);
  const { findings, rules_version } = report;
  const groups = Map.groupBy(
    findings,
    (finding) => JSON.stringify([finding.regulation, forceInWords(finding, day).phrase]),
  );
  const thresholds = new Set(findings.map(({ threshold }) => shareInWords(threshold)));
  return {
    id: "laws",
    title: `The laws and guidance that the findings name, on ${dayInWords(day)}`,
    blocks: [
      list([...groups.values()].map((group) => lawInWords(group, { findings, day }))),
      paragraph(
        `The threshold of a finding is ${
          joinWithAnd([...thresholds])
        } of the operators. The dates are those of the rules ${rules_version}${
          sourcesInWords(findings)
        }. Legislators move such dates: let counsel check them, and whether a law applies to you at all.`,
      ),
    ],
  };
}

function sourcesInWords(findings: readonly Finding[]): string {
  const secondary = findings.filter(({ date_confidence }) => date_confidence === "secondary").length;
  if (secondary === 0) return "";
  return secondary === findings.length ? ", from secondary sources" : ", in part from secondary sources";
}

function lawInWords(
  group: readonly Finding[],
  { findings, day }: { readonly findings: readonly Finding[]; readonly day: string },
): Text {
  const { regulation } = group[0]!;
  const isWhole = findings.filter((finding) => finding.regulation === regulation).length === group.length;
  const provisions = isWhole ? "" : `, ${joinWithAnd(group.map(({ provision }) => provision))}`;
  const { state, phrase } = forceInWords(group[0]!, day);
  const counts = VERDICT_COUNTS.flatMap(([held, words]) => {
    const count = group.filter((finding) => (finding.verdict ?? null) === held).length;
    return count === 0 ? [] : [`${count} ${words}`];
  });
  return [
    `${regulation}${provisions}: `,
    strong(state),
    `${phrase.slice(state.length)}. Findings: ${counts.join(", ")}.`,
  ];
}

const VERDICT_COUNTS: readonly (readonly [VerdictStatus | null, string])[] = [
  ["compliant", "at or above the threshold"],
  ["non_compliant", "below the threshold"],
  ["undetermined", "undetermined"],
  [null, "not applicable"],
];

function unknown(report: JudgedReport): Section {
  const { population, figures: { verdicts: { undetermined } }, thresholds } = report;
  const { without_ground_truth, minimum_data_met } = population;
  const minimum = pointsInWords(thresholds.min_jis);
  return {
    id: "unknown",
    title: "What is not known",
    blocks: [
      list([
        ...(undetermined === 0 ? [] : [
          `Whether ${undetermined} of ${minimum_data_met} operators meet the threshold. Either too little is known of their cases, or the range of their score spans ${minimum}. As a rule it is settled by more cases of which somebody records whether the advice was right: by labels of outcomes, planted errors, or sealed probes.`,
        ]),
        ...(without_ground_truth === 0 ? [] : [
          `Whether the score of ${without_ground_truth} of ${minimum_data_met} operators shows care or a good imitation of it: hardly any of their cases has a known truth, and the score is provisional.`,
        ]),
        "How decisions without a label turned out: nobody recorded whether the advice was right, and the report does not count them.",
        probesInWords(report),
      ]),
    ],
  };
}

function probesInWords({ probes, smallest_group }: Report): string {
  if (probes === undefined) {
    return smallest_group === undefined
      ? "What sealed probes would show: none was opened in the period."
      : `What sealed probes show: none was opened in the period, or fewer than ${smallest_group} people had one.`;
  }
  const { lost, recalled, recalled_after_draw } = probes;
  return `How ${
    countInWords(lost, "sealed probe")
  } would have ended that nobody decided in time (lost), and ${recalled_after_draw} of ${recalled} withdrawn ones that had been shown.`;
}

function limits({ statement }: JudgedReport): Section {
  return {
    id: "limits",
    title: "What this report is not",
    blocks: [
      paragraph(statement, "statement"),
      paragraph(
        "By itself a verdict is no ground for a decision about a person. The report's own caveats follow the findings; its last page tells how to verify it.",
      ),
    ],
  };
}
