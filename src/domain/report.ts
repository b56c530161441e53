/**
 * The compliance report: what a period's records say about human oversight, framework by framework. It is evidence
 * for a deployer's own assessment and declares nobody compliant with a law.
 * Source: specification, Compliance report; contract, section 4; scoring model, section 10.
 */
import * as z from "zod";
import { hash32 } from "./hash.ts";
import { VERDICT_STATUSES } from "./enums.ts";
import { isoTimestamp } from "./instant.ts";
import { domainNameSchema } from "./interaction.ts";
import { orgIdSchema } from "./organization.ts";
import { probeFiguresSchema } from "./probe.ts";
import { dimensionSchema, envelopeFields, modelReferenceSchema, points } from "./score.ts";

/** Statuses from worst to best; `not_applicable` stands outside the order. */
export const FINDING_STATUSES = [
  "non_compliant",
  "partial",
  "insufficient_data",
  "compliant",
  "not_applicable",
] as const;
export type FindingStatus = (typeof FINDING_STATUSES)[number];

const findingStatus = z.enum(FINDING_STATUSES);
const share = z.number().min(0).max(1);
const count = z.int().min(0);
const isoDate = z.iso.date().nullable();

/** A member of present reports that a report issued by an earlier version does not have. */
const SINCE_VERDICTS = "Absent in a report that was issued before there were verdicts.";

const findingVerdict = z.enum(VERDICT_STATUSES).nullable();

/** The verdict on an organization: that of the dashboard, and that of a report. */
export const organizationVerdictSchema = z.object({
  status: z.enum(VERDICT_STATUSES).meta({
    description:
      "`non_compliant` if the organization rule is broken even if all undetermined operators pass, `compliant` if it holds even if they all fail and it judges somebody, else `undetermined`.",
  }),
  reasons: z.array(z.string()).meta({
    description:
      "Sentences: one for each half of the rule, then what would settle an undetermined verdict, or that the formulas give none.",
  }),
}).meta({ id: "OrganizationVerdict" });

/** Number of operators by verdict. */
export const verdictCountsSchema = z.object({
  compliant: count,
  undetermined: count.meta({
    description: "Includes operators whom earlier formulas scored last: they have no verdict.",
  }),
  non_compliant: count,
});

/** The description of each count that may be withheld. */
export const WITHHELD_COUNT = "Null if withheld: fewer than five reviewers, under pseudonyms.";

/** One provision of one framework, judged over the population. */
const findingSchema = z.object({
  regulation: z.string().meta({ description: "The framework's name." }),
  provision: z.string(),
  citation: z.string(),
  requirement: z.string(),
  status: findingStatus,
  status_certain: z.boolean().meta({
    description:
      "False if the undetermined operators could change the status: those whose verdict is undetermined, or without verdicts those whose interval straddles the minimum JIS.",
  }),
  verdict: findingVerdict.optional().meta({
    description:
      `\`non_compliant\` if the share is below the threshold even if every undetermined operator passes, also if the status is \`partial\`; \`compliant\` if the status is even if none of them does; else \`undetermined\`, as if only \`capped\` keeps the status from \`compliant\`, or the data are insufficient; null if the provision does not apply. ${SINCE_VERDICTS}`,
  }),
  metric: z.string().meta({ description: "The condition for an operator to pass, in words." }),
  observed: share.nullable().meta({
    description: "Share of the population that passes; null if there is no population, or as `passing`.",
  }),
  threshold: share.meta({ description: "Share from which the status is compliant." }),
  operators: count.meta({ description: "The finding's population." }),
  passing: count.nullable().meta({ description: WITHHELD_COUNT }),
  undetermined: count.nullable().meta({
    description:
      `Operators of the finding's population whose verdict is undetermined; without verdicts, those whose interval straddles the minimum JIS. ${WITHHELD_COUNT}`,
  }),
  capped: z.string().nullable().meta({
    description:
      "The reason why the status cannot be better than partial, in one sentence; null if nothing caps it. A cap says that evidence is missing: it makes no verdict `non_compliant`.",
  }),
  in_force: z.boolean().meta({ description: "Whether the provision was in force on the period's last day." }),
  in_force_from: isoDate.meta({
    description: "The first day; null if the provision never applied, or if nobody knows since when it does.",
  }),
  in_force_until: isoDate.meta({ description: "The last day; null if no end is known." }),
  date_confidence: z.enum(["primary", "secondary"]).meta({
    description: "`primary`: text and dates were read in the official gazette. `secondary`: they were not.",
  }),
  status_note: z.string(),
  source: z.string().meta({
    description:
      "The official text that was read, or `not read at the source`: then verify the citation yourself.",
  }),
}).meta({ id: "Finding" });
export type Finding = z.infer<typeof findingSchema>;
/** Whether a law is in force on a day, and its dates. */
export const forceSchema = findingSchema.pick({ in_force: true, in_force_from: true, in_force_until: true });

const bandCounts = z.object({
  exemplary: count,
  proficient: count,
  adequate: count,
  at_risk: count,
  undetermined: count.meta({
    description:
      "Operators whose verdict is undetermined; without verdicts, those whose interval reaches into another band. A report counts them in no band.",
  }),
});

const reportFiguresSchema = z.object({
  jis: z.object({ mean: points.nullable(), median: points.nullable() }),
  verdicts: verdictCountsSchema.extend({
    insufficient_data: count.meta({
      description: "Operators of the period whose record is too short; they are in none of the other counts.",
    }),
  }).optional().meta({ description: `Operators of the population by verdict. ${SINCE_VERDICTS}` }),
  histogram: z.array(z.object({ from: points, to: points, operators: count })).meta({
    description: "Operators by JIS, in steps of 5 points; `from` included, `to` excluded but for 100.",
  }),
  bands: bandCounts,
  against_minimum: z.object({ above: count, below: count, undetermined: count }).meta({
    description:
      "Operators whose verdict is compliant, non-compliant or undetermined; without verdicts, those whose whole interval lies at or above the minimum JIS, below it, or neither.",
  }),
  dimensions: z.array(z.object({
    dimension: dimensionSchema,
    mean: points.nullable(),
    lower_quartile: points.nullable(),
    median: points.nullable(),
    upper_quartile: points.nullable(),
  })).meta({ description: "Means to one decimal; median and quartiles by nearest rank." }),
}).meta({ id: "ReportFigures" });

const thresholdsSchema = z.object({ min_jis: points, target_jis: points, critical_jis: points });

export const reportSchema = z.object({
  report_id: z.string().meta({ description: "Stable and citable." }),
  organization: z.object({ org_id: orgIdSchema, name: z.string(), domain: domainNameSchema }),
  overall_status: findingStatus,
  status_certain: z.boolean(),
  overall_verdict: findingVerdict.optional().meta({
    description:
      `\`non_compliant\` if a finding's verdict or the organization's is; else \`undetermined\` if a finding's verdict is, or if undetermined operators could break the organization rule; else \`compliant\`. ${SINCE_VERDICTS}`,
  }),
  verdict: organizationVerdictSchema.optional().meta({
    description:
      `The verdict by the organization rule over the population, as on the dashboard. ${SINCE_VERDICTS}`,
  }),
  period: z.object({ start: isoTimestamp, end: isoTimestamp }).meta({
    description: "Includes its start, excludes its end.",
  }),
  findings: z.array(findingSchema),
  organization_rule: z.object({
    status: z.enum(["compliant", "non_compliant", "insufficient_data"]),
    status_certain: z.boolean(),
    high_risk_operators: count,
    high_risk_below_minimum: count.nullable().meta({ description: WITHHELD_COUNT }),
    critical_operators: count,
    critical_below_critical: count.nullable().meta({ description: WITHHELD_COUNT }),
  }).meta({ description: "The rule of the dashboard over the period's last records." }),
  population: z.object({
    operators: count.meta({ description: "Operators with an interaction in the period." }),
    minimum_data_met: count.meta({
      description: "Those of these operators whose record is long enough for a verdict.",
    }),
    insufficient_data: count,
    without_ground_truth: count.meta({
      description:
        "Operators of the population of whose cases hardly any truth is known: the score cannot tell their careful review from a good imitation of it.",
    }),
    interactions: count,
    departures: count,
    referrals: count,
    incident_freezes: count,
  }),
  figures: reportFiguresSchema,
  probes: probeFiguresSchema.optional().meta({
    description: "What the sealed probes say that were opened in the period; absent if there was none.",
  }),
  thresholds: thresholdsSchema,
  rules_version: z.string(),
  model: modelReferenceSchema,
  statement: z.string(),
  caveats: z.array(z.string()),
  smallest_group: count.optional().meta({
    description:
      "The fewest reviewers of whom figures are shown; absent if the report was issued where users see names: then none are withheld.",
  }),
}).meta({ id: "Report" });
export type Report = z.infer<typeof reportSchema>;
/** A report without its id. */
export type ReportContent = Omit<Report, "report_id">;

/** The measures of Article 14(4) on their own. */
export const article14Schema = z.object({
  article: z.literal("14"),
  overall_status: findingStatus.meta({ description: "The worst of the measures." }),
  status_certain: z.boolean(),
  overall_verdict: findingVerdict.meta({
    description:
      "`non_compliant` if a measure's verdict is; else `undetermined` if a measure's verdict is; else `compliant`.",
  }),
  measures: z.array(
    z.object({
      paragraph: z.string().meta({ examples: ["14(4)(a)"] }),
      verdict: findingVerdict.meta({
        description:
          "The verdict of the finding: `non_compliant` also if the status is `partial`; `undetermined` if undetermined operators or a cap decide it, or the data are insufficient; null if the measure does not apply.",
      }),
      ...findingSchema.pick({
        requirement: true,
        status: true,
        status_certain: true,
        metric: true,
        observed: true,
        threshold: true,
        operators: true,
        passing: true,
        undetermined: true,
        capped: true,
        citation: true,
        in_force: true,
        in_force_from: true,
        in_force_until: true,
      }).shape,
    }).meta({ id: "Article14Measure" }),
  ),
  operators: z.object({
    total: count.meta({ description: "Operators with an interaction in the period." }),
    minimum_data_met: count.meta({
      description: "Those of these operators whose record is long enough for a verdict.",
    }),
    below_min: count.meta({
      description:
        "Operators with a long enough record whose JIS is below the minimum, whatever their verdict, which also rests on the parts of their work.",
    }),
    below_critical: count,
    verdicts: verdictCountsSchema.meta({
      description:
        "Operators with a long enough record by their verdict; one without a verdict counts as undetermined.",
    }),
  }),
  probes: probeFiguresSchema.nullable().meta({
    description: "What the sealed probes say that were opened in the period; null if there was none.",
  }),
  thresholds: thresholdsSchema,
  rules_version: z.string(),
  model: modelReferenceSchema,
  statement: z.string(),
}).meta({ id: "Article14" });
/** The body without `request_id` and `timestamp`. */
export type Article14 = z.infer<typeof article14Schema>;

export function reportResponseSchema<Evidence extends z.ZodType>(evidence: Evidence) {
  return z.object({
    report: reportSchema.meta({ description: "Canonical JSON (RFC 8785)." }),
    report_sha256: hash32.meta({
      description: "SHA-256 of the bytes of `report`.",
    }),
    evidence: evidence.meta({
      description: "Over `{report_id, report_sha256}`, the detail of the report's REPORT_ISSUED entry.",
    }),
    ...envelopeFields,
  }).meta({ id: "ReportResponse" });
}

export const article14ResponseSchema = article14Schema.extend(envelopeFields).meta({
  id: "Article14Response",
});
