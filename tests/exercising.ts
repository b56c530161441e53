/** Sets exercises and decides their cases over HTTP, as an officer and a reviewer do. */
import assert from "node:assert/strict";
import { builtInCaseSet } from "../src/exercises/built_in.ts";
import { type CaseSet, isChoiceRight } from "../src/exercises/case_set.ts";
import type { Domain } from "../src/domain/enums.ts";
import type { ExercisePage } from "../src/exercises/answers.ts";
import type { Answer, RequestOptions } from "./harness.ts";

export interface Setting {
  readonly send: (path: string, options?: RequestOptions) => Promise<Answer>;
  readonly key: string;
}

export const EXERCISE = {
  operator_id: "reviewer-ada",
  exercise_id: "ex_error_detection_1",
  domain: "financial",
  difficulty: "easy",
} as const;

/** A run that was set. */
export interface SetRun {
  // deno-lint-ignore no-explicit-any -- an answer is whatever the service said
  readonly run: any;
  /** The path of the page, `/exercise/{token}`. */
  readonly path: string;
}

export async function setRun(
  { send, key }: Setting,
  fields: Readonly<Record<string, unknown>> = {},
): Promise<SetRun> {
  const { status, body, text } = await send("/v1/exercises", { key, body: { ...EXERCISE, ...fields } });
  assert.equal(status, 201, text);
  return { run: body, path: new URL(body.link, "http://loopback.invalid").pathname };
}

export const MEASURED = {
  time_to_decision_ms: 30_000,
  hover_events: 4,
  scroll_depth: 1,
  alternative_views_checked: 1,
};

/** The number of a choice of a case that is right, or that is wrong. */
export function choiceOf(set: CaseSet, id: string, isRight: boolean): number {
  const one = set.cases.find((each) => each.id === id)!;
  return one.choices.findIndex((choice) => isChoiceRight(one, choice) === isRight);
}

/** Decides the next case; `fields` change what is sent. */
export function decideNext(
  { send }: Setting,
  path: string,
  { number, choice, advised = true, ...fields }: {
    readonly number: number;
    readonly choice: number;
    readonly first_choice?: number | null;
    readonly advised?: boolean;
    readonly time_to_decision_ms?: number;
  },
): Promise<Answer> {
  return send(`${path}/decisions`, { body: { number, choice, advised, ...MEASURED, ...fields } });
}

/** Decides all cases that are left; `isRight` says for each number how. @returns the last page. */
export async function decideAll(
  setting: Setting,
  path: string,
  isRight: (number: number) => boolean,
  domain: Domain = "financial",
): Promise<ExercisePage> {
  const set = await builtInCaseSet(domain, "en");
  let page: ExercisePage = (await setting.send(`${path}/state`)).body;
  while (page.next !== null) {
    const { number, id, advice } = page.next;
    const answer = await decideNext(setting, path, {
      number,
      choice: choiceOf(set, id, isRight(number)),
      first_choice: page.presentation === "after_decision" ? 0 : null,
      advised: advice !== null && page.presentation !== "on_request",
    });
    assert.equal(answer.status, 200, answer.text);
    page = answer.body;
  }
  return page;
}
