/**
 * A case set: the cases of an exercise, each with advice that is right or wrong in a way that the case itself shows.
 * An organization can write its own; those of the program are in `case_sets/`. Source: case-sets.md.
 */
import * as z from "zod";
import { DECISIONS, DOMAINS } from "../domain/enums.ts";

export const CASE_SET_LANGUAGES = ["en", "de"] as const;
export type CaseSetLanguage = (typeof CASE_SET_LANGUAGES)[number];

/** A set has enough cases for a measurement, and not so many that nobody finishes. */
const CASES_MIN = 4;
const CASES_MAX = 60;

const nameSchema = z.string().regex(
  /^[a-z0-9_-]{1,40}$/,
  "must be 1 to 40 lower-case letters, digits, hyphens or underscores",
);
/** Control characters have no place on a page, and could hide what stands beside them. */
const CONTROLS = "\\u0000-\\u001f\\u007f-\\u009f";
const LINE = new RegExp(`^[^${CONTROLS}]*[^\\s${CONTROLS}][^${CONTROLS}]*$`);

/** One line of text that is not blank, of at most so many characters, which JSON Schema counts, and not UTF-16 units. */
const line = (longest: number) =>
  z.string().regex(LINE, "must be a line of text, without control characters").refine(
    (text) => text.isWellFormed(),
    "must be well-formed Unicode",
  )
    .refine((text) => Array.from(text).length <= longest, `must have at most ${longest} characters`)
    .meta({ override: { minLength: 1, maxLength: longest } });
const titleSchema = line(80);

/** A name and its value. Many generators know no tuples, so that the document says it as a list of two. */
const rowSchema = z.tuple([line(80), line(300)]).meta({
  override: {
    prefixItems: undefined,
    items: { type: "string", pattern: LINE.source, minLength: 1, maxLength: 300 },
    minItems: 2,
    maxItems: 2,
  },
});

const materialShape = {
  title: titleSchema,
  /** Names and their values. */
  rows: z.array(rowSchema).min(1).max(20).optional(),
  /** Paragraphs. */
  text: z.array(line(1200)).min(1).max(12).optional(),
};

function hasContent({ rows, text }: { readonly rows?: unknown; readonly text?: unknown }): boolean {
  return rows !== undefined || text !== undefined;
}

const EMPTY = "needs rows or text";
export const factSchema = z.strictObject(materialShape).refine(hasContent, EMPTY).meta({ id: "CaseFact" });
export const viewSchema = z.strictObject({ name: nameSchema, ...materialShape }).refine(hasContent, EMPTY)
  .meta({ id: "CaseView" });

const choiceSchema = z.discriminatedUnion("decision", [
  z.strictObject({
    decision: z.literal("modified"),
    label: line(120),
    extent: z.number().gt(0).max(1).meta({ description: "Share of the advice that is changed." }),
    correct: z.boolean().meta({ description: "Whether the facts support the changed advice." }),
  }),
  z.strictObject({
    decision: z.enum(DECISIONS.filter((decision) => decision !== "modified")),
    label: line(120),
  }),
]);

export const adviceSchema = z.strictObject({
  text: line(200),
  reason: line(400),
  confidence: z.int().min(50).max(99).meta({
    description: "What the AI says of itself, percent: no sign of whether it is right.",
  }),
}).meta({ id: "CaseAdvice" });

const caseSchema = z.strictObject({
  id: nameSchema,
  title: titleSchema,
  task: line(300).meta({ description: "The decision to be made." }),
  facts: z.array(factSchema).min(1).max(4).meta({ description: "What is on the screen at once." }),
  views: z.array(viewSchema).min(1).max(3).meta({ description: "What is folded away until it is opened." }),
  advice: adviceSchema,
  ai_correct: z.boolean(),
  choices: z.array(choiceSchema).min(3).max(6),
  explanation: line(600).meta({ description: "What was right and how the material shows it." }),
}).superRefine(({ choices, views, ai_correct }, context) => {
  const add = (path: string, message: string) => context.addIssue({ code: "custom", path: [path], message });
  const counts = (decisions: readonly string[]) =>
    choices.filter(({ decision }) => decisions.includes(decision)).length;
  if (counts(["accepted"]) !== 1) add("choices", "needs exactly one choice with the decision accepted");
  if (counts(["rejected", "overridden"]) === 0) add("choices", "needs a choice to reject or override");
  if (new Set(choices.map(({ label }) => label)).size < choices.length) add("choices", "has a label twice");
  if (new Set(views.map(({ name }) => name)).size < views.length) add("views", "has a name twice");
  if (ai_correct && choices.some((choice) => choice.decision === "modified" && choice.correct)) {
    add("choices", "cannot have a change that is correct if the advice is right");
  }
});

export const caseSetSchema = z.strictObject({
  v: z.literal("jis.case-set/1"),
  name: nameSchema,
  domain: z.enum(DOMAINS),
  language: z.enum(CASE_SET_LANGUAGES),
  title: titleSchema,
  cases: z.array(caseSchema).min(CASES_MIN).max(CASES_MAX),
}).superRefine(({ cases }, context) => {
  const add = (message: string) => context.addIssue({ code: "custom", path: ["cases"], message });
  if (new Set(cases.map(({ id }) => id)).size < cases.length) add("has an id twice");
  const wrong = cases.filter(({ ai_correct }) => !ai_correct).length;
  // With fewer of one kind, errors found or false alarms could not be told from luck.
  if (wrong < 2 || cases.length - wrong < 2) add("needs two cases with right and two with wrong advice");
}).meta({ id: "CaseSet" });

export type CaseSet = z.infer<typeof caseSetSchema>;
export type ExerciseCase = CaseSet["cases"][number];

/** A case as a person sees it before deciding: nothing in it tells whether the advice is right. */
export function shownCase({ id, title, task, facts, views, advice, choices }: ExerciseCase) {
  return {
    id,
    title,
    task,
    facts,
    views,
    advice,
    choices: choices.map(({ label }, number) => ({ number, label })),
  };
}

/** Whether a choice of a case is right: a modification says so, every other choice follows from the advice. */
export function isChoiceRight(
  { ai_correct }: ExerciseCase,
  choice: ExerciseCase["choices"][number],
): boolean {
  if (choice.decision === "modified") return choice.correct;
  return (choice.decision === "accepted") === ai_correct;
}
