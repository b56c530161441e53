/** Decisions of real people with advice (tests/people/README.md), as rows of `jiss evaluate`. */
import { createHash } from "node:crypto";
import type { TableDecision } from "../src/scoring/evaluation/evaluation.ts";
import { DEFAULT_MODEL_DOCUMENT } from "../src/scoring/model.ts";

/** The studies whose data is here. */
export const STUDIES = ["has", "dots"] as const;
export type Study = (typeof STUDIES)[number];

export interface PersonDecision {
  readonly person: string;
  /** From 1. */
  readonly trial: number;
  readonly followsAi: boolean;
  readonly aiCorrect: boolean;
  readonly ownFirstCorrect: boolean;
  readonly finalCorrect: boolean;
  /** What the person stated of age, gender and education; empty except in HAS. */
  readonly stated: Readonly<Record<StatedColumn, string>>;
}

/** Columns that put people in groups. No score reads them. */
export const STATED_COLUMNS = ["age_group", "gender", "degree"] as const;
export type StatedColumn = (typeof STATED_COLUMNS)[number];

/** The decisions of the people that the model may be looked at by: attention checks passed, not kept back. */
export function peopleOf(study: Study): readonly PersonDecision[] {
  const text = Deno.readTextFileSync(`${import.meta.dirname}/people/${study}.csv`);
  const [header, ...lines] = text.trimEnd().split("\n").map((line) => line.split(","));
  const at = (name: string) => header!.indexOf(name);
  const flag = (line: readonly string[], name: string) => line[at(name)] === "1";
  return lines
    .filter((line) => flag(line, "passed_checks") && !isKeptBack(line[at("person")]!))
    .map((line) => ({
      person: line[at("person")]!,
      trial: Number(line[at("trial")]),
      followsAi: flag(line, "final_follows_ai"),
      aiCorrect: flag(line, "ai_correct"),
      ownFirstCorrect: flag(line, "own_first_correct"),
      finalCorrect: flag(line, "final_correct"),
      stated: {
        age_group: line[at("age_group")]!,
        gender: line[at("gender")]!,
        degree: line[at("degree")]!,
      },
    }));
}

function isKeptBack(person: string): boolean {
  return quarterOf(person) === 0;
}

/** The three parts of the people who are not kept back; each can be measured with a model fitted to the others. */
export const PARTS = [1, 2, 3] as const;

/** The part that somebody belongs to, by the name alone. */
export function partOf(person: string): (typeof PARTS)[number] {
  return quarterOf(person) as (typeof PARTS)[number];
}

function quarterOf(person: string): number {
  return Number(BigInt(`0x${createHash("sha256").update(`jis-3 ${person}`).digest("hex")}`) % 4n);
}

/** A decision as a row; `fold` says whether it is scored. */
export function rowOf(of: PersonDecision, fold: TableDecision["fold"]): TableDecision {
  return {
    operatorId: of.person,
    domain: "general",
    fold,
    interaction: {
      ai_recommendation_presented: true,
      ai_available: true,
      time_to_decision_ms: DEFAULT_MODEL_DOCUMENT.domains.general.reference_ms,
      decision: of.followsAi ? "accepted" : "overridden",
      modification_extent: 0,
      scenario_type: "standard",
      outcome_correct: of.finalCorrect,
      ai_correct: of.aiCorrect,
      hover_events: null,
      scroll_depth: null,
      alternative_views_checked: null,
    },
  };
}
