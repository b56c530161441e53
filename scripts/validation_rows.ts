/**
 * The tables of docs/understand/scoring-model.md that hold figures of `jiss simulate --json`. A table stands between
 * `<!-- table: name -->` and `<!-- end -->`.
 */
import { COSTS } from "../src/simulation/costs.ts";
import { detectionSetting, PROBE_SHARES } from "../src/simulation/detection.ts";
import { BAD } from "../src/simulation/populations.ts";
import { percent } from "../src/simulation/programme_samples.ts";
import type { Figure, Validation } from "../src/simulation/validation.ts";

type Cells = readonly string[];

const FIELD = ["field_has", "field_dots", "field_logic", "field_pathologists"];
const KINDS = ["independent", "fast_expert", "novice_learning", "fatigued", ...BAD, "spectrum", ...FIELD];
const SIMPLE = ["1 − acceptance rate", "accuracy", "d′", "J", "two shrunken rates"];
const STRATEGIES = [
  ...[
    "tests_only",
    "high_stakes_blind",
    "one_domain",
    "mornings_only",
    "probes_only",
    "probes_in_one_domain",
  ],
  ...[
    "colluding_labels",
    "colluding_labels_unprobed",
    "rejects_all",
    "blind_modifier",
    "blind_modifier_told",
    "blind_escalator",
    "rotating_ids",
    "second_ai",
    "second_ai_weak",
    "screen_reader",
    "every_third_day",
  ],
  ...["many_answers", "many_answers_told", "more_answers", "more_answers_told", "outcome_luck"],
];
const COSTLY = ["independent", "spectrum", "those who do not judge"];
const GROUPS = ["independent", "bad archetypes", "spectrum", "field"];
/** Share of live outcomes known, and natural error rate of the AI, of the columns on probes. */
const PROBED = [[0, 0.05], [0.1, 0.02], [0.1, 0.15]] as const;
const EVADED = ["blind", "talkers", "learners", "warned", "careful"];
/** The comparison that each kind of reviewer who defeats probes is best revealed by. */
const REVEALED = [
  ["probes against live", "outcomes known 10 %, probes against live cases"],
  ["repeated contents", "repeated contents against fresh ones"],
  ["soon after a probe", "outcomes known 10 %, live cases soon after a probe against later ones"],
] as const;

/** Each table by its name: its head, then its rows. @throws {Error} if a figure is missing. */
export function tablesOf({ figures }: Pick<Validation, "figures">): ReadonlyMap<string, readonly Cells[]> {
  const known = new Map(
    figures.map((figure) => [JSON.stringify([figure.measure, figure.of, figure.after]), figure]),
  );
  const figure = (measure: string, of: string, after: number | null): Figure => {
    const found = known.get(JSON.stringify([measure, of, after]));
    if (found === undefined) throw new Error(`the validation lacks ${measure}, ${of}, ${after}`);
    return found;
  };
  const share = (measure: string, of: string, after: number | null) =>
    `${(100 * figure(measure, of, after).value).toFixed(1)} %`;
  const number = (measure: string, of: string, after: number | null, decimals: number) =>
    figure(measure, of, after).value.toFixed(decimals);
  const verdicts = (prefix: string, of: string, after: number) =>
    ["certainly compliant", "undetermined", "certainly at risk"].map((measure) =>
      share(`${prefix}${measure}`, of, after)
    );
  const supplied = (name: string, values: readonly number[]): readonly Cells[] => [
    [name, ...values.map(String)],
    ...GROUPS.map((
      of,
    ) => [of, ...values.map((value) => share(`certain verdicts, ${name} ${value}`, of, 200))]),
  ];
  return new Map<string, readonly Cells[]>([
    ["order", [
      ["population", "JIS", ...SIMPLE],
      ...["spectrum", "mixed", ...FIELD, ...FIELD.map((name) => `${name}, fitted prior`)].map((of) => [
        of,
        number("Spearman with J*", of, 200, 2),
        ...SIMPLE.map((measure) => number(`Spearman with J*, ${measure}`, of, 200, 2)),
      ]),
    ]],
    ["verdicts", [
      [
        "kind",
        ...[50, 200].flatMap((after) =>
          ["compliant", "undetermined", "at risk"].map((word) => `${word}, ${after}`)
        ),
      ],
      ...KINDS.map((of) => [of, ...[50, 200].flatMap((after) => verdicts("", of, after))]),
    ]],
    ["costs", [
      ["costs", ...COSTLY],
      ...COSTS.map((costs) => [
        costs,
        ...COSTLY.map((of) => verdicts(`${costs}: `, of, 200).join(" / ")),
      ]),
    ]],
    ["equal-error", [
      ["kind", "JIS", ...SIMPLE, "any test of the two rates", "enough is known"],
      ...BAD.map((of) => [
        of,
        ...["JIS", ...SIMPLE, "any test of the two rates"].map((name) =>
          share(`at risk at equal error, ${name}`, of, 50)
        ),
        share("enough wrong advice is known for a verdict", of, 50),
      ]),
    ]],
    ["errors", [
      ["people", "after", "truly above 60", "of these certainly at risk"],
      ...[
        "honest archetypes",
        "spectrum and mixed",
        "field",
        "field, fitted priors",
        "field, planted errors alone",
      ].flatMap(
        (of) =>
          [50, 200].map((after) => [
            of,
            String(after),
            share("true value above the minimum", of, after),
            share("certainly at risk, true value above the minimum", of, after),
          ]),
      ),
    ]],
    ["coverage", [
      ["kind", "after 25", "after 50", "after 200", "width, 50", "width, 200"],
      ...[...KINDS, ...FIELD.map((name) => `${name}, fitted prior`)].map((of) => [
        of,
        ...[25, 50, 200].map((after) => share("interval holds the true value", of, after)),
        ...[50, 200].map((after) => number("width of the interval, points", of, after, 1)),
      ]),
    ]],
    ["reliability", [
      [
        "population",
        "after",
        "two histories correlate",
        "J",
        "two shrunken rates",
        "standard error",
        "smallest detectable change",
        "another band",
      ],
      ...["spectrum", ...FIELD].flatMap((of) =>
        [50, 200].map((after) => [
          of,
          String(after),
          number("reliability, two histories", of, after, 2),
          number("reliability, two histories, J", of, after, 2),
          number("reliability, two histories, two shrunken rates", of, after, 2),
          number("standard error of measurement, points", of, after, 1),
          number("smallest detectable change, points", of, after, 1),
          share("other band in another history", of, after),
        ])
      ),
    ]],
    ["strategies", [
      ["strategy", "mean JIS", "compliant", "undetermined", "at risk"],
      ...STRATEGIES.map((of) => {
        // A rotating id is judged after its last case.
        const after = of === "rotating_ids" ? 20 : 200;
        return [of, number("strategy: mean JIS", of, after, 1), ...verdicts("strategy: ", of, after)];
      }),
    ]],
    ["strategies-apart", [
      ["strategy", "JIS", ...SIMPLE],
      ...STRATEGIES.filter((of) => of !== "rotating_ids").map((of) => [
        of,
        ...["JIS", ...SIMPLE].map((name) => number(`strategy: AUC, independent above, ${name}`, of, 200, 2)),
      ]),
    ]],
    ["separation", [
      ["kind", "JIS", ...SIMPLE],
      ...BAD.map((of) => [
        of,
        ...["", ...SIMPLE.map((name) => `, ${name}`)].map((name) =>
          number(`AUC, independent above${name}`, of, 10, 2)
        ),
      ]),
    ]],
    ["interactions", [
      ["interactions", ...[25, 50, 100, 200, 400].map(String)],
      ...GROUPS.map((of) => [
        of,
        ...[25, 50, 100, 200, 400].map((after) => share("certain verdicts, by interactions", of, after)),
      ]),
    ]],
    ["labels", supplied("share of outcomes known", [0, 0.1, 0.3, 0.7, 1])],
    ["planted", supplied("share of planted errors", [0, 0.02, 0.05, 0.1])],
    ["planted-alone", supplied("share of planted errors, no outcome known", [0, 0.02, 0.05, 0.1])],
    ["probes", [
      [
        "probes",
        ...PROBED.flatMap(([known, natural]) => {
          const setting = known === 0
            ? "nothing known"
            : `${percent(known)} known, AI wrong ${percent(natural)}`;
          return [`blind at risk, ${setting}`, `careful compliant, ${setting}`];
        }),
      ],
      ...PROBE_SHARES.map((rate) => [
        percent(rate),
        ...PROBED.flatMap(([known, natural]) => {
          const setting = detectionSetting(rate, known, natural);
          return [["certainly at risk", "blind"], ["certainly compliant", "careful"]].map(([status, of]) =>
            [250, 1_000].map((after) => share(`${setting}: ${status}`, of!, after)).join(" / ")
          );
        }),
      ]),
    ]],
    ["probes-counted", [
      ["counted as", "outcomes known", "blind", "careful", "truly below 60", "truly above 60"],
      ...["probe", "live", "planted"].flatMap((countedAs) =>
        [0, 0.1].map((known) => [
          countedAs,
          percent(known),
          ...["blind", "careful", "spectrum, truly below the minimum", "spectrum, truly above the minimum"]
            .map((of) => {
              const setting = `counted as ${countedAs}, 50 % of probes wrong, outcomes known ${
                percent(known)
              }`;
              return verdicts(`${setting}: `, of, 1_000).join(" / ");
            }),
        ])
      ),
    ]],
    ["probes-evaded", [
      [
        "reviewer",
        "probes",
        "found live",
        "found in probes",
        "verdict, nothing known",
        "verdict, 10 % known",
        ...REVEALED.map(([word]) => word),
      ],
      ...EVADED.flatMap((of) =>
        [0.02, 0.05].map((rate) => {
          const at = `probes ${percent(rate)}: `;
          return [
            of,
            percent(rate),
            ...["live work", "probes"].map((where) => share(`${at}errors found in ${where}`, of, 1_000)),
            ...[0, 0.1].map((known) =>
              verdicts(`${at}counted as probe, outcomes known ${percent(known)}, `, of, 1_000).join(" / ")
            ),
            ...REVEALED.map(([, name]) => share(`${at}${name} reveals a team of 10`, of, 1_000)),
          ];
        })
      ),
    ]],
    ["drift", [
      ["sign", "median delay", "nine in ten", "not within 300", "false alarm before any change"],
      ...["JIS below the minimum", "no longer certainly compliant", "certainly at risk"].map((of) => [
        of,
        number("interactions until a change shows, median", of, null, 0),
        number("interactions until a change shows, nine in ten", of, null, 0),
        share("no change shows within 300", of, null),
        share("false alarm before any change", of, null),
      ]),
    ]],
  ]);
}

const TABLE = /(<!-- table: ([\w-]+) -->\n)((?:(?!<!-- ).*\n)*)(<!-- end -->)/g;

/** The page with its tables made anew. */
export function withTables(page: string, tables: ReadonlyMap<string, readonly Cells[]>): string {
  return page.replaceAll(TABLE, (_, begin: string, name: string, _rows: string, end: string) => {
    const [head, ...rows] = tables.get(name)!;
    const line = (cells: Cells) => `| ${cells.join(" | ")} |`;
    const lines = [line(head!), line(head!.map(() => "---")), ...rows.map(line)];
    return `${begin}\n${lines.join("\n")}\n\n${end}`;
  });
}

/** The tables of a page, by name: the cells of each line but the one below the head. */
export function tablesIn(page: string): ReadonlyMap<string, readonly Cells[]> {
  return new Map([...page.matchAll(TABLE)].map(([text, , name]) => [name!, cellsIn(text)]));
}

/** The cells of a text's one table: of each line but the one below the head. */
export function cellsIn(text: string): readonly Cells[] {
  const [head, , ...rows] = text.split("\n").filter((line) => line.startsWith("|"));
  return [head!, ...rows].map((line) => line.split("|").slice(1, -1).map((cell) => cell.trim()));
}
