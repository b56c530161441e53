/**
 * Keeps the answers of the engine with the default model, or with a document:
 *
 * deno run -A tests/vectors/scoring/keep.ts tests/vectors/scoring/jis-2.0.0.json
 * deno run -A tests/vectors/scoring/keep.ts tests/vectors/scoring/jis-1.1.0.json docs/understand/models/jis-1.1.0.json
 *
 * The cases are drawn with a fixed seed or are listed here, so that the same engine keeps the same bytes.
 * Kept vectors of a released model are never made again: an engine that answers otherwise is wrong.
 */
import {
  type Decision,
  DECISIONS,
  DIMENSIONS,
  type Domain,
  DOMAINS,
  DOUBTS,
  FIRST_DOMAINS,
  SCENARIO_TYPES,
  STAKES,
  VERDICT_STATUSES,
  type VerdictStatus,
} from "../../../src/domain/enums.ts";
import { type Interaction, recordedInteractionSchema } from "../../../src/domain/interaction.ts";
import { modelSha256 } from "../../../src/evidence/hashes.ts";
import { nodeCrypto } from "../../../src/evidence/node_crypto.ts";
import type { FullDimensions } from "../../../src/scoring/dimensions.ts";
import { DEFAULT_MODEL_DOCUMENT, type ModelDocument, modelSchema } from "../../../src/scoring/model.ts";
import type { PeriodRecord } from "../../../src/scoring/period.ts";
import type { Verdict } from "../../../src/scoring/verdict.ts";
import { answered, type Event, type GivenInteraction, type Golden, type History } from "../../golden.ts";
import { mulberry32, weighted } from "../../random_numbers.ts";

const EPOCH = Date.UTC(2027, 0, 4, 9);
const MINUTE = 60_000;
const HOUR = 3_600_000;
const DAY = 86_400_000;
const OUTCOMES = [true, false, null] as const;

type Fields = Partial<GivenInteraction>;

const interaction = (fields: Fields = {}): GivenInteraction => ({
  decision: "accepted",
  time_to_decision_ms: 14_000,
  ...fields,
});

/** Telemetry of a careful reviewer. */
const LOOKED = { hover_events: 4, scroll_depth: 0.6, alternative_views_checked: 1 } as const;
const NO_ACTIVITY = { hover_events: 0, scroll_depth: 0, alternative_views_checked: 0 } as const;

interface Given {
  readonly interaction: GivenInteraction;
  /** Milliseconds since the event before; default: an hour. */
  readonly gap?: number;
  readonly domain?: Domain;
  readonly lite?: true;
  readonly label?: Event["label"];
}

/** A history whose outputs are kept after the events whose count `isKept` picks, and after the last. */
function history(
  name: string,
  { domain, given, isKept, decisions = [] }: {
    readonly domain: Domain;
    readonly given: readonly Given[];
    readonly isKept: (count: number) => boolean;
    readonly decisions?: readonly (Pick<History["decisions"][number], "domain" | "stakes" | "interaction"> & {
      readonly gap?: number;
    })[];
  },
): History {
  let now = EPOCH;
  const events = given.map(({ interaction, gap = HOUR, domain: own = domain, ...rest }, index): Event => {
    now += gap;
    const kept = isKept(index + 1) || index === given.length - 1;
    return { now, domain: own, interaction, ...rest, ...(kept ? { after: null } : {}) };
  });
  return {
    name,
    events,
    decisions: decisions.map(({ gap = HOUR, ...rest }) => ({ now: now + gap, ...rest, result: null })),
  };
}

// ---- drawn histories --------------------------------------------------------------------------------------

const thousandths = (value: number) => Math.floor(value * 1000) / 1000;

/** A reviewer who is neither always careful nor always careless, with whatever telemetry there is. */
function drawn(random: () => number): GivenInteraction {
  const fields: Fields = {};
  const maybe = (share: number, set: () => void) => random() < share && set();
  const decision = weighted(random, DECISIONS, [10, 4, 2, 2, 1, 1]);
  if (decision === "modified") fields.modification_extent = thousandths(random() * 0.35);
  maybe(0.06, () => fields.ai_available = false);
  maybe(0.06, () => fields.ai_recommendation_presented = false);
  maybe(0.5, () => fields.scenario_type = weighted(random, SCENARIO_TYPES, [0, 2, 2, 3, 2, 1]));
  maybe(0.7, () => fields.outcome_correct = random() < 0.75);
  maybe(0.8, () => fields.hover_events = Math.floor(random() * 9));
  maybe(0.8, () => fields.scroll_depth = thousandths(random()));
  maybe(0.8, () => fields.alternative_views_checked = Math.floor(random() * 4));
  const time_to_decision_ms = Math.floor(Math.exp(random() * 5.5) * 800);
  return interaction({ decision, time_to_decision_ms, ...fields });
}

function drawnEvents(count: number, seed: number): readonly Given[] {
  const random = mulberry32(seed);
  return Array.from({ length: count }, () => {
    const longest = weighted(random, [HOUR, 3 * DAY, 20 * DAY, 120 * DAY], [12, 4, 2, 1]);
    return { interaction: drawn(random), gap: Math.floor(random() * longest) };
  });
}

const ofEach = (domains: readonly Domain[]) =>
  domains.map((domain, index) =>
    history(`a mixed reviewer in ${domain}`, {
      domain,
      given: drawnEvents(18, 100 + index),
      isKept: () => false,
      decisions: [
        {
          domain,
          stakes: STAKES[index % STAKES.length]!,
          interaction: interaction({ ...LOOKED, time_to_decision_ms: 9_000 }),
        },
        {
          domain,
          stakes: null,
          interaction: interaction({ decision: "rejected", time_to_decision_ms: 5_000 }),
        },
        {
          domain,
          stakes: null,
          interaction: interaction({ scenario_type: "critical", time_to_decision_ms: 1_900 }),
          gap: 60 * DAY,
        },
        {
          domain: domains[(index + 3) % domains.length]!,
          stakes: "high",
          interaction: interaction({ decision: "modified", modification_extent: 0.22, scroll_depth: 0.4 }),
        },
      ],
    })
  );

const long = history("106 interactions, through every threshold of length", {
  domain: "financial",
  given: drawnEvents(106, 7).map((given, index) => ({
    ...given,
    // Far from the usual, around the count after which outliers are bounded.
    interaction: [9, 10, 11].includes(index)
      ? { ...given.interaction, time_to_decision_ms: 590_000 }
      : given.interaction,
    gap: Math.min(given.gap ?? HOUR, 3 * HOUR),
  })),
  isKept: (count) => [10, 11, 21, 49, 50, 80].includes(count),
  decisions: [{ domain: "financial", stakes: "high", interaction: interaction({ ...LOOKED }) }],
});

// ---- listed histories -------------------------------------------------------------------------------------

const EXTENTS = [0, 1e-300, 0.05, 0.1, 0.2, 0.2475, 0.25, 0.9];

const modifications = history("modifications of every extent, with every label, natural and injected", {
  domain: "insurance",
  given: EXTENTS.flatMap((modification_extent) =>
    (["standard", "error_injected"] as const).flatMap((scenario_type) =>
      OUTCOMES.map((outcome_correct): Given => ({
        interaction: interaction({
          decision: "modified",
          modification_extent,
          scenario_type,
          outcome_correct,
          scroll_depth: 0.6,
        }),
      }))
    )
  ),
  isKept: (count) => count % 12 === 0,
  decisions: [0.2, 0.25].map((modification_extent) => ({
    domain: "insurance",
    stakes: "medium",
    interaction: interaction({ decision: "modified", modification_extent }),
  })),
});

const everyDecision = history("every decision in every scenario, with every label", {
  domain: "general",
  given: SCENARIO_TYPES.flatMap((scenario_type) =>
    DECISIONS.flatMap((decision: Decision) =>
      OUTCOMES.map((outcome_correct): Given => ({
        interaction: interaction({
          decision,
          scenario_type,
          outcome_correct,
          time_to_decision_ms: 6_000,
          ...(decision === "modified" ? { modification_extent: 0.18 } : {}),
          scroll_depth: 0.7,
        }),
      }))
    )
  ),
  isKept: (count) => count % 27 === 0,
});

const TELEMETRY: readonly Fields[] = [
  {},
  { hover_events: 3 },
  { scroll_depth: 0.5 },
  { alternative_views_checked: 1 },
  { hover_events: 3, scroll_depth: 0.5 },
  { hover_events: 3, alternative_views_checked: 1 },
  { scroll_depth: 0.5, alternative_views_checked: 1 },
  { hover_events: 3, scroll_depth: 0.5, alternative_views_checked: 1 },
  { hover_events: 50, scroll_depth: 1, alternative_views_checked: 12 },
  NO_ACTIVITY,
];

const telemetry = history("every set of telemetry that was measured, at every pace", {
  domain: "healthcare",
  given: [0, 2_600, 9_000, 240_000, 86_400_000].flatMap((time_to_decision_ms) =>
    TELEMETRY.map((fields): Given => ({ interaction: interaction({ time_to_decision_ms, ...fields }) }))
  ),
  isKept: (count) => count % 10 === 0,
  decisions: TELEMETRY.map((fields) => ({
    domain: "healthcare",
    stakes: "low",
    interaction: interaction({ time_to_decision_ms: 3_500, ...fields }),
  })),
});

const wrong = interaction({ outcome_correct: false, time_to_decision_ms: 9_000, ...LOOKED });
const needless = interaction({ decision: "rejected", outcome_correct: false, ...LOOKED });
const right = interaction({ outcome_correct: true, ...LOOKED });
const ownError = interaction({ ai_available: false, outcome_correct: false });

const afterErrors = history("what is done after an error of each kind", {
  domain: "legal",
  given: [wrong, needless, ownError].flatMap((error): readonly Given[] => [
    { interaction: error },
    { interaction: interaction({ ...LOOKED, time_to_decision_ms: 30_000 }) },
    { interaction: interaction({ ...NO_ACTIVITY, time_to_decision_ms: 3_000 }) },
    { interaction: interaction({ time_to_decision_ms: 16_000 }) },
    { interaction: right },
    { interaction: interaction({ scenario_type: "ai_withheld", outcome_correct: true }) },
    { interaction: interaction({ decision: "overridden", outcome_correct: true, ...LOOKED }) },
    { interaction: error },
    { interaction: needless },
    { interaction: ownError },
    { interaction: interaction({ ...LOOKED, time_to_decision_ms: 19_000 }), gap: 13 * DAY },
  ]),
  isKept: (count) => count % 8 === 0,
});

const gaps = history("gaps from hours to years, and a clock that goes back", {
  domain: "public_sector",
  given: [HOUR, DAY, 1.5 * DAY, 3 * DAY, 14 * DAY, 30 * DAY, 90 * DAY, 180 * DAY, 400 * DAY, -2 * DAY].map(
    (gap, index): Given => ({
      gap,
      interaction: index % 2 === 0
        ? right
        : interaction({ decision: "rejected", outcome_correct: true, ...LOOKED }),
    }),
  ),
  isKept: (count) => count % 2 === 0,
});

const lateLabels = history("lite mode, and truths that come late", {
  domain: "education",
  given: DECISIONS.flatMap((decision, index): readonly Given[] => [
    {
      interaction: interaction({
        decision,
        modification_extent: decision === "modified" ? 0.23 : 0,
        ...LOOKED,
      }),
    },
    {
      interaction: interaction({ ...LOOKED, scenario_type: "high_stakes" }),
      lite: true,
      label: { of: 3 * index, outcome_correct: true },
    },
    {
      interaction: interaction({ ai_recommendation_presented: false }),
      label: { of: 3 * index + 1, outcome_correct: false },
    },
  ]),
  isKept: (count) => count % 6 === 2,
});

const RIGHT_BY_ONESELF = interaction({ ai_available: false, outcome_correct: true, ...LOOKED });
const CAUGHT = interaction({ decision: "overridden", scenario_type: "error_injected", ...LOOKED });

const PROVEN: readonly Given[] = Array.from({ length: 60 }, (_, index) => ({
  interaction: [right, CAUGHT, RIGHT_BY_ONESELF][index % 3]!,
}));

const proven = history("a reviewer who proves right for long", {
  domain: "critical_infrastructure",
  given: PROVEN,
  isKept: (count) => count === 30,
  decisions: FIRST_DOMAINS.map((domain, index) => ({
    domain,
    stakes: index % 2 === 0 ? "low" as const : "high" as const,
    interaction: interaction({ ...LOOKED }),
  })),
});

const lettingGo = history("one who then lets everything pass", {
  domain: "critical_infrastructure",
  given: [
    ...PROVEN.slice(0, 20),
    ...Array.from({ length: 40 }, () => ({
      interaction: { ...wrong, ...NO_ACTIVITY, time_to_decision_ms: 900 },
    })),
  ],
  isKept: (count) => [26, 32].includes(count),
  decisions: (["general", "critical_infrastructure"] as const).map((domain) => ({
    domain,
    stakes: null,
    interaction: interaction(),
  })),
});

const contrarian = history("one who departs from whatever is right", {
  domain: "employment",
  given: Array.from({ length: 16 }, () => ({ interaction: needless })),
  isKept: () => false,
  decisions: (["rejected", "modified"] as const).map((decision) => ({
    domain: "employment",
    stakes: "low" as const,
    interaction: interaction({ decision, modification_extent: decision === "modified" ? 0.24 : 0 }),
  })),
});

const newcomers = history("nobody yet: decisions of an operator of whom nothing is known", {
  domain: "general",
  given: [],
  isKept: () => false,
  decisions: FIRST_DOMAINS.flatMap((domain, index) => [
    { domain, stakes: STAKES[index % STAKES.length]!, interaction: interaction({ ...LOOKED }) },
    {
      domain,
      stakes: null,
      interaction: interaction({ decision: "deferred", scenario_type: "high_stakes" }),
    },
  ]),
});

const referrals = history("everything handed on or refused while nobody knows the truth", {
  domain: "law_enforcement",
  given: [
    ...Array.from({ length: 20 }, () => ({ interaction: CAUGHT })),
    ...Array.from({ length: 70 }, (_, index) => ({
      interaction: interaction({ decision: index % 2 === 0 ? "escalated" : "rejected", scroll_depth: 0.5 }),
    })),
  ],
  isKept: (count) => [40, 75].includes(count),
  decisions: [{
    domain: "law_enforcement",
    stakes: null,
    interaction: interaction({ decision: "escalated" }),
  }],
});

// ---- maintenance, organizations, reports ------------------------------------------------------------------

const every = (value: number): FullDimensions =>
  Object.fromEntries(DIMENSIONS.map((name) => [name, value])) as FullDimensions;

const maintenance: Golden["maintenance"] = [88, 72, 66, 52, 45, 38, 29].flatMap((value, index) =>
  DIMENSIONS.map((name, position) => ({
    input: {
      jis: value,
      dimensions: { ...every(value), [name]: Math.max(0, value - 10) },
      mode: "full",
      decay: {
        current_jis: value,
        current_trend: [-6, -3, 0, 3][(index + position) % 4]!,
        domain: FIRST_DOMAINS[position]!,
        decay_rate: 0.003,
        decay_acceleration: 0.00001,
        floor: 30,
        recovery_rate: 0.05,
        days_to_non_compliance: value < 60 ? 0 : [9, 20, 44, 200][(index + position + 1) % 4]!,
        projections: [],
      },
      minimumDataMet: position % 3 !== 0,
      groundTruth: 4 + position,
      now: EPOCH,
      domain: FIRST_DOMAINS[position]!,
    },
    plan: null,
  }))
);

/** The verdicts that a score of `jis-3` can have. */
const VERDICTS: readonly Verdict[] = [
  ...DOUBTS.map((doubt): Verdict => ({
    status: "undetermined",
    part: doubt === "part_not_measured" ? "high_stakes" : "all",
    low: 41.3,
    high: 77.9,
    wrong_cases: 3,
    right_cases: 9,
    doubt,
    wrong_cases_needed: doubt === "interval_spans_minimum" || doubt === "too_few_right_cases" ? null : 2,
    right_cases_needed: doubt === "too_few_right_cases" ? 3 : null,
  })),
  ...([["compliant", "all"], ["non_compliant", "legal"]] as const).map(([status, part]): Verdict => ({
    status,
    part,
    low: 30.1,
    high: 88.4,
    wrong_cases: 21,
    right_cases: 64,
    doubt: null,
    wrong_cases_needed: null,
    right_cases_needed: null,
  })),
];

/** With `jis-3` there is always a verdict. */
const maintained: Golden["maintenance"] = maintenance.map(({ input, plan }, index) => ({
  input: { ...input, verdict: VERDICTS[index % VERDICTS.length]! },
  plan,
}));

function rowsOf(count: number, seed: number): readonly Omit<PeriodRecord, "verdict">[] {
  const random = mulberry32(seed);
  return Array.from({ length: count }, () => {
    const jis = Math.floor((35 + random() * 60) * 20) / 20;
    const at = EPOCH - Math.floor(random() * 85 * DAY);
    return {
      at,
      domain: FIRST_DOMAINS[Math.floor(random() * FIRST_DOMAINS.length)]!,
      jis,
      low: Math.floor((jis - random() * 9) * 10) / 10,
      high: Math.ceil((jis + random() * 5) * 10) / 10,
      dimensions: Object.fromEntries(
        DIMENSIONS.map((name) => [name, Math.floor(48 + random() * 45)]),
      ) as FullDimensions,
      meanCorrectAcceptance: thousandths(0.5 + random() * 0.4),
      n: Math.floor(40 + random() * 60),
      t0: at - Math.floor(random() * 30 * DAY),
      groundTruth: Math.floor(random() * 9),
      tcrit: random() < 0.3 ? at - Math.floor(random() * 120 * DAY) : null,
      critCount: Math.floor(random() * 6),
      shareHs: thousandths(random() * 0.2),
      shareCrit: thousandths(random() * 0.04),
      interactions: Math.floor(1 + random() * 40),
      departures: Math.floor(random() * 4),
      referrals: Math.floor(random() * 3),
    };
  });
}

const organizations: Golden["organizations"] = [0, 5, 24].map((count, index) => ({
  now: EPOCH,
  rows: rowsOf(count, 40 + index).map((row) => ({
    jis: row.jis,
    n: row.n,
    t0: row.t0,
    t1: row.at,
    domain: row.domain,
    tcrit: row.tcrit,
    shareHs: row.shareHs,
    shareCrit: row.shareCrit,
    critCount: row.critCount,
  })),
  figures: null,
}));

const reports: Golden["reports"] = [0, 8, 30].map((count, index) => ({
  domain: (["financial", "employment", "education"] as const)[index]!,
  period: { start: EPOCH - 90 * DAY, end: EPOCH + MINUTE },
  data: { records: rowsOf(count, 50 + index), incidentFreezes: index },
  report: null,
}));

/** The same rows, each with a verdict in turn, or with none as earlier formulas left it. */
function judged<Row>(rows: readonly Row[]): readonly (Row & { readonly verdict: VerdictStatus | null })[] {
  const verdicts = [...VERDICT_STATUSES, null];
  return rows.map((row, index) => ({ ...row, verdict: verdicts[index % verdicts.length]! }));
}

const judgedOrganizations: Golden["organizations"] = organizations.map(({ rows, ...rest }) => ({
  ...rest,
  rows: judged(rows),
}));

const judgedReports: Golden["reports"] = reports.map(({ data, ...rest }) => ({
  ...rest,
  data: { ...data, records: judged(data.records) },
}));

// ---- parts of the work, for `jis-3` -----------------------------------------------------------------------

interface Case {
  readonly domain: Domain;
  readonly scenario_type: Interaction["scenario_type"];
}

/** Reviewers of many cases in two domains, who judge some cases and otherwise do what `otherwise` says. */
const REVIEWERS: readonly {
  readonly name: string;
  readonly judges: (of: Case) => boolean;
  readonly otherwise?: Decision;
  /** The decision by which a judged case with wrong advice departs from it. */
  readonly departsBy?: Decision;
  /** True if the truth of a case becomes known only if the advice was wrong. */
  readonly isErrorAloneKnown?: true;
}[] = [
  { name: "judges every case", judges: () => true },
  { name: "judges no case", judges: () => false },
  { name: "turns everything down", judges: () => false, otherwise: "rejected" },
  { name: "refers everything", judges: () => false, otherwise: "escalated" },
  {
    name: "judges cases of low stakes alone",
    judges: ({ scenario_type: type }) => type !== "high_stakes" && type !== "critical",
  },
  { name: "judges cases of one domain alone", judges: ({ domain }) => domain === "legal" },
  {
    name: "judges planted and announced cases alone",
    judges: ({ scenario_type: type }) => type === "error_injected" || type === "calibration",
  },
  {
    name: "turns everything down, and errors alone become known",
    judges: () => false,
    otherwise: "rejected",
    isErrorAloneKnown: true,
  },
  {
    name: "judges every case but the natural ones of one domain",
    judges: ({ domain, scenario_type: type }) => domain === "legal" || type === "error_injected",
  },
  { name: "rewords everything, and says nothing more", judges: () => false, otherwise: "modified" },
  { name: "judges every case, and corrects by rewording", judges: () => true, departsBy: "modified" },
];

function reviewed(index: number, labelled: number): History {
  const {
    name,
    judges,
    otherwise = "accepted",
    departsBy = "overridden",
    isErrorAloneKnown = false,
  } = REVIEWERS[index]!;
  const random = mulberry32(700 + index);
  const given = Array.from({ length: 80 }, (_, count): Given => {
    const domain = weighted(random, ["legal", "education"] as const, [2, 1]);
    const scenario_type = weighted(random, SCENARIO_TYPES, [12, 3, 1, 3, 2, 1]);
    const isWrong = scenario_type === "error_injected" || random() < 0.25;
    const judged = judges({ domain, scenario_type }) && random() < 0.95;
    const decision = judged ? (isWrong ? departsBy : "accepted") : otherwise;
    const isKnown = random() < labelled && (isWrong || !isErrorAloneKnown);
    return {
      domain,
      gap: count === 60 ? 40 * DAY : HOUR,
      interaction: interaction({
        decision,
        scenario_type,
        ...(decision === "modified" ? { modification_extent: count % 3 === 0 ? 0.2 : 0.4 } : {}),
        ...(isKnown ? { outcome_correct: (decision !== "accepted") === isWrong } : {}),
        // Zero until the fortieth case: unmeasured, not idle.
        ...(count % 2 === 0 ? { hover_events: count < 40 ? 0 : count % 3 } : {}),
      }),
    };
  });
  return history(`${name}, ${labelled === 0 ? "with no labels" : "with labels"}`, {
    domain: "legal",
    given,
    isKept: (count) => [12, 61].includes(count),
    decisions: [{ domain: "education", stakes: "high", interaction: interaction({ hover_events: 0 }) }],
  });
}

const partsOfWork = REVIEWERS.flatMap((_, index) => [0.8, 0].map((labelled) => reviewed(index, labelled)));

const FOUND = interaction({ decision: "overridden", outcome_correct: true, ai_correct: false, ...LOOKED });

const saidOfAdvice = history("every decision, with whether the advice was right", {
  domain: "pharmaceutical",
  given: [true, false].flatMap((ai_correct) =>
    DECISIONS.flatMap((decision: Decision) =>
      OUTCOMES.filter((outcome) => decision !== "accepted" || outcome === null || outcome === ai_correct).map(
        (
          outcome_correct,
        ): Given => ({
          interaction: interaction({
            decision,
            ai_correct,
            outcome_correct,
            ...(decision === "modified" ? { modification_extent: 0.21 } : {}),
            ...LOOKED,
          }),
        }),
      )
    )
  ),
  isKept: (count) => count % 10 === 0,
});

/**
 * Enough is known of one domain. Nothing is known of another one, nor of high stakes, which each get more and more
 * of the decisions, through the limits at which a part needs truth of its own.
 */
const unmeasuredPart = history("parts of the work of which nothing is known, from few decisions to many", {
  domain: "aviation",
  given: [
    ...Array.from({ length: 160 }, (_, index): Given => ({ interaction: index % 2 === 0 ? FOUND : right })),
    ...Array.from(
      { length: 22 },
      (): Given => ({ domain: "housing", interaction: interaction({ ...LOOKED }) }),
    ),
    ...Array.from({ length: 22 }, (): Given => ({
      interaction: interaction({ scenario_type: "high_stakes", ...LOOKED }),
    })),
  ],
  isKept: (count) => [160, 179, 180, 202, 203].includes(count),
});

/** Every planted error of a domain is found, its natural ones are let pass, and work in another domain is good. */
const recognizedProbes = history("planted errors of one domain that are recognized", {
  domain: "general",
  given: [
    ...Array.from({ length: 120 }, (_, index): Given => ({ interaction: index % 3 === 0 ? FOUND : right })),
    ...Array.from({ length: 120 }, (_, index): Given => ({
      domain: "insurance",
      interaction: index % 3 === 0
        ? interaction({ decision: "rejected", scenario_type: "error_injected", ...LOOKED })
        : index % 10 === 1
        ? interaction({ outcome_correct: false, ...LOOKED })
        : right,
    })),
  ],
  isKept: (count) => [150, 200, 239].includes(count),
});

/** Bad work in a domain, then good work in another one for longer than a half-life, then a case in the first. */
const leftDomain = history("a domain that the operator leaves and comes back to", {
  domain: "education",
  given: [
    ...Array.from({ length: 24 }, (_, index): Given => ({
      interaction: index % 2 === 0 ? interaction({ outcome_correct: false, ...LOOKED }) : right,
    })),
    ...Array.from({ length: 102 }, (_, index): Given => ({
      domain: "legal",
      gap: 2 * DAY,
      interaction: index % 2 === 0 ? FOUND : right,
    })),
    { interaction: right },
  ],
  isKept: (count) => [23, 80, 120, 121, 122, 125, 126].includes(count),
});

/** Small domains of which too little is known alone, then work in another one, then one case in each again. */
const SMALL_DOMAINS = ["general", "healthcare", "legal", "education"] as const;
const smallDomains = history("small domains that are left together and come back one by one", {
  domain: "general",
  given: [
    ...SMALL_DOMAINS.flatMap((domain, at) =>
      Array.from({ length: 8 }, (_, index): Given => ({
        domain,
        interaction: index < 2
          ? at === 0 ? interaction({ outcome_correct: false, ...LOOKED }) : FOUND
          : right,
      }))
    ),
    ...Array.from({ length: 60 }, (_, index): Given => ({
      domain: "insurance",
      gap: 2 * DAY,
      interaction: index % 2 === 0 ? FOUND : right,
    })),
    ...SMALL_DOMAINS.map((domain): Given => ({
      domain,
      gap: 60 * DAY,
      interaction: interaction({ ...LOOKED }),
    })),
  ],
  isKept: (count) => [31, 91, 92, 93, 94, 95].includes(count),
});

/** Everything to keep of a model. */
export function kept(document: ModelDocument = DEFAULT_MODEL_DOCUMENT): Golden {
  const { decision: _decision, time_to_decision_ms: _time, ...defaults } = recordedInteractionSchema.parse({
    decision: "accepted",
    time_to_decision_ms: 0,
  });
  return answered(document, {
    model: { version: document.version, sha256: modelSha256(nodeCrypto, document) },
    defaults,
    histories: [
      ...ofEach(document.discrimination === undefined ? FIRST_DOMAINS : DOMAINS),
      long,
      modifications,
      everyDecision,
      telemetry,
      afterErrors,
      gaps,
      lateLabels,
      proven,
      lettingGo,
      contrarian,
      newcomers,
      referrals,
      ...(document.discrimination === undefined
        ? []
        : [...partsOfWork, saidOfAdvice, unmeasuredPart, recognizedProbes, leftDomain, smallDomains]),
    ],
    maintenance: document.discrimination === undefined ? maintenance : maintained,
    organizations: document.discrimination === undefined ? organizations : judgedOrganizations,
    reports: document.discrimination === undefined ? reports : judgedReports,
  });
}

/** The file's text: one line for each event, decision and case, so that a difference shows its place. */
export function keptText(golden: Golden): string {
  const lines = (values: readonly unknown[]) => values.map((value) => `\n${JSON.stringify(value)}`).join(",");
  const members = Object.entries(golden).map(([name, value]) => {
    if (!Array.isArray(value)) return `"${name}": ${JSON.stringify(value)}`;
    if (name !== "histories") return `"${name}": [${lines(value)}\n]`;
    const histories = (value as readonly History[]).map(({ name, events, decisions }) =>
      `{"name": ${JSON.stringify(name)}, "events": [${lines(events)}\n], "decisions": [${
        lines(decisions)
      }\n]}`
    );
    return `"${name}": [\n${histories.join(",\n")}\n]`;
  });
  return `{\n${members.join(",\n")}\n}\n`;
}

if (import.meta.main) {
  const [output, document] = Deno.args;
  const text = document === undefined ? null : await Deno.readTextFile(document);
  await Deno.writeTextFile(
    output!,
    keptText(kept(text === null ? undefined : modelSchema.parse(JSON.parse(text)))),
  );
}
