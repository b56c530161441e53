/**
 * Verdicts by what the people of HAS said of themselves (tests/people/README.md). The program knows no group: this is
 * computed here alone, and compared with the section "By group, in HAS".
 */
import assert from "node:assert/strict";
import { VERDICT_STATUSES } from "../../src/domain/enums.ts";
import type { EvaluatedOperator } from "../../src/scoring/evaluation/evaluation.ts";
import { fraction, PageSection, percent } from "../model_page.ts";
import { persons, wholeOf } from "../people_evaluations.ts";
import { peopleOf, STATED_COLUMNS, type StatedColumn } from "../people.ts";
import { mulberry32 } from "../random_numbers.ts";

const FEWEST = 20;
const SHUFFLES = 10_000;
const SEED = 1;
/** Normal quantiles of a two-sided test at 5 %, and of being found in four of five studies. */
const QUANTILES = { test: 1.96, power: 0.8416 } as const;

const section = new PageSection("By group, in HAS");
const [groups] = section.tables(
  "group",
  "people",
  ...VERDICT_STATUSES.map((status) => status === "non_compliant" ? "at risk" : status),
  "mean JIS",
  "right decisions",
);
const [chance] = section.tables("groups by", "at risk", "mean JIS", "right decisions");
const said = {
  people: section.figures(/The (\d+) people of HAS who are not kept back/),
  fewest: section.figures(/A group has (\d+) people or more\./),
  shuffles: section.figures(/in this share of ([\d,]+) shuffles:/),
  ranges: section.figures(
    /From (\d+) % to (\d+) % of a group are certainly at risk, and (\d+) % to (\d+) % of a group's decisions are right\./,
  ),
  leftOut: section.figures(
    /The largest of them is (\d+) people with a (\w+): (\d+) are certainly at risk, and shuffled people differ as much in (\S+) of shuffles\./,
  ),
  power: section.figures(/Two groups of (\d+) would have to differ by (\d+) percentage points/),
  decisions: section.figures(/each verdict rests on (\d+) decisions/),
};

interface Person {
  readonly stated: Readonly<Record<StatedColumn, string>>;
  readonly status: EvaluatedOperator["status"];
  readonly jis: number;
  /** Share of final decisions that proved right. */
  readonly right: number;
}

const verdictOf = new Map(wholeOf("has").operators.map((operator) => [operator.operator_id, operator]));
const people: readonly Person[] = persons(peopleOf("has")).map((own) => {
  const { status, jis } = verdictOf.get(own[0]!.person)!;
  return {
    stated: own[0]!.stated,
    status,
    jis,
    right: own.filter(({ finalCorrect }) => finalCorrect).length / own.length,
  };
});

const MEASURES = {
  atRisk: ({ status }: Person) => Number(status === "non_compliant"),
  jis: ({ jis }: Person) => jis,
  right: ({ right }: Person) => right,
} as const;

const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

type Group = readonly [name: string, members: readonly Person[]];

/** The groups of a column that have enough people, the largest first. */
function groupsBy(column: StatedColumn): readonly Group[] {
  return allGroupsBy(column).filter(([, members]) => members.length >= FEWEST);
}

function allGroupsBy(column: StatedColumn): readonly Group[] {
  return [...Map.groupBy(people, ({ stated }) => stated[column])]
    .sort(([one, of], [other, than]) => than.length - of.length || (one < other ? -1 : 1));
}

/** How far the groups' means lie from the mean of all, squared, for each person. Groups stand one after the other. */
function spread(values: readonly number[], sizes: readonly number[]): number {
  const all = mean(values);
  let [sum, start] = [0, 0];
  for (const size of sizes) {
    sum += size * (mean(values.slice(start, start + size)) - all) ** 2;
    start += size;
  }
  return sum;
}

/** The share of shuffles in which the groups differ at least as much as they do: a permutation test. */
function shareOfShuffles(members: readonly (readonly number[])[]): number {
  const sizes = members.map(({ length }) => length);
  const values = members.flat();
  // Sums of the same numbers in another order differ in their last digits.
  const found = spread(values, sizes) * (1 - 1e-9);
  const random = mulberry32(SEED);
  let asFar = 0;
  for (let shuffle = 0; shuffle < SHUFFLES; shuffle += 1) {
    for (let index = values.length - 1; index > 0; index -= 1) {
      const other = Math.floor(random() * (index + 1));
      [values[index], values[other]] = [values[other]!, values[index]!];
    }
    if (spread(values, sizes) >= found) asFar += 1;
  }
  return asFar / SHUFFLES;
}

const all = STATED_COLUMNS.flatMap(groupsBy).map(([name, members]) => ({
  name,
  members,
  atRisk: mean(members.map(MEASURES.atRisk)),
  right: mean(members.map(MEASURES.right)),
}));

Deno.test("every figure of the section is read", () => {
  assert.deepEqual(section.unread(), []);
});

Deno.test("the verdicts by group are as documented", () => {
  const row = (name: string, members: readonly Person[]) => [
    name,
    String(members.length),
    ...VERDICT_STATUSES.map((verdict) => String(members.filter(({ status }) => status === verdict).length)),
    mean(members.map(MEASURES.jis)).toFixed(1),
    `${(100 * mean(members.map(MEASURES.right))).toFixed(1)} %`,
  ];
  assert.deepEqual(groups, [row("all", people), ...all.map(({ name, members }) => row(name, members))]);
  assert.deepEqual([said.people, said.fewest], [[String(people.length)], [String(FEWEST)]]);
  const [decisions] = new Set(persons(peopleOf("has")).map((own) => String(own.length)));
  assert.deepEqual(said.decisions, [decisions]);
  const range = (of: "atRisk" | "right") => {
    const shares = all.map((group) => group[of]);
    return [Math.min(...shares), Math.max(...shares)].map(percent);
  };
  assert.deepEqual(said.ranges, [...range("atRisk"), ...range("right")]);
});

Deno.test("shuffled groups differ as often as documented, and too often for any difference to be more than chance", () => {
  const NAME = { age_group: "age", gender: "gender", degree: "education" } as const;
  const shares = STATED_COLUMNS.map((column) =>
    Object.values(MEASURES).map((measure) =>
      shareOfShuffles(groupsBy(column).map(([, members]) => members.map(measure)))
    )
  );
  assert.deepEqual(
    chance,
    STATED_COLUMNS.map((column, index) => [
      NAME[column],
      ...shares[index]!.map((share) => fraction(share, 2)),
    ]),
  );
  assert.deepEqual(said.shuffles, [SHUFFLES.toLocaleString("en-US")]);
  assert.ok(shares.flat().every((share) => share > 0.05));
});

Deno.test("the largest group that is left out is as documented", () => {
  const [largest] = STATED_COLUMNS.flatMap(allGroupsBy).filter(([, { length }]) => length < FEWEST)
    .sort(([, one], [, other]) => other.length - one.length);
  const [name, members] = largest!;
  const atRisk = members.map(MEASURES.atRisk);
  const others = people.filter((person) => !members.includes(person)).map(MEASURES.atRisk);
  assert.deepEqual(said.leftOut, [
    String(members.length),
    name.replace(" degree", "").toLowerCase(),
    String(atRisk.filter((is) => is === 1).length),
    fraction(shareOfShuffles([atRisk, others]), 2),
  ]);
});

Deno.test("shuffling finds groups that do differ", () => {
  const low = Array.from({ length: 30 }, (_, index) => index);
  assert.ok(shareOfShuffles([low, low.map((value) => value + 15)]) < 0.001);
  assert.equal(shareOfShuffles([[1, 1], [1, 1]]), 1);
});

Deno.test("two groups have to differ as much as documented to be found", () => {
  const sizes = groupsBy("gender").map(([, members]) => members.length);
  assert.equal(new Set(sizes).size, 1, "the groups are of one size");
  const share = mean(people.map(MEASURES.atRisk));
  const least = (QUANTILES.test + QUANTILES.power) * Math.sqrt(2 * share * (1 - share) / sizes[0]!);
  assert.deepEqual(said.power, [String(sizes[0]), percent(least)]);
});
