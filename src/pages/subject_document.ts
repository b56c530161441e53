/** The parts of a person's copy in words: what stands before the records, each record, what stands after. */
import type { SubjectHead, SubjectRecord } from "../domain/subject.ts";
import { formatQuantity } from "../scoring/wording.ts";
import {
  type Block,
  code,
  data,
  drawn,
  facts,
  folded,
  heading,
  link,
  list,
  name,
  numberedList,
  paragraph,
  type Section,
  strong,
  table,
} from "./document.ts";
import { markup } from "./markup.ts";
import { KNOWN_CASE, knownCasesInWords } from "./known_cases_words.ts";
import { movesTable } from "./moves.ts";
import { factsOf, titleOf } from "./subject_words.ts";
import { verdictInWords } from "../scoring/verdict_words.ts";
import { instantInWords, nameInWords, pointsInWords, shareInWords } from "./wording.ts";

type Profile = NonNullable<SubjectHead["profile"]>;

/** The sections before the records. */
export function sectionsBefore(head: SubjectHead): readonly Section[] {
  return [summary(head), aboutTheScore(head)];
}

/** The section of the records; the records themselves follow its blocks. */
export function recordsSection({ record_count }: SubjectHead): Section {
  const count = formatQuantity(String(record_count), "record");
  return {
    id: "records",
    title: "Every record",
    blocks: [paragraph(`${count}, the oldest first. Raw data are folded away under each of them.`)],
  };
}

/** The blocks of one record below its title. `number` counts from 1. */
export function recordBlocks(record: SubjectRecord, number: number): readonly Block[] {
  const { timestamp, altered } = record;
  return [
    paragraph(instantInWords(timestamp), "note"),
    altered
      ? paragraph([
        strong("Altered."),
        " What is stored under this record is not what was recorded: nothing is said here in words, as nothing in it can be relied on. It is folded below as it is stored.",
      ], "statement")
      : null,
    altered ? null : facts(...factsOf(record)),
    ...moves(record),
    folded(
      `Raw data of record ${number}, and what to quote`,
      data({
        entry: record.seq,
        chain: record.chain,
        entry_hash: record.entry_hash,
        event_id: record.event_id,
        event_type: record.event_type,
        request_id: record.request_id,
        full_mode: record.full_mode,
        input: record.input,
        result: record.result,
        detail: record.detail,
      }),
    ),
  ];
}

/** The title of a record. `number` counts from 1. */
export function recordTitle(record: SubjectRecord, number: number): string {
  return `${number}. ${titleOf(record)}`;
}

/** The sections after the records. */
export function sectionsAfter(head: SubjectHead): readonly Section[] {
  return [keeping(head), contesting(head)];
}

/** The last line of the copy. `count` is the number of records that it has. */
export function wholeInWords(count: number): string {
  return `This copy is whole: it has ${
    formatQuantity(String(count), "record")
  }. One that ends before this line was cut short.`;
}

function summary(head: SubjectHead): Section {
  const { profile, operator_id, organization, pseudonym, notice, state } = head;
  return {
    id: "summary",
    title: "In short",
    blocks: [
      ...(profile === null
        ? [
          paragraph(
            "You were never scored. What is kept are cases that were not scored, or scores of how risky single decisions were.",
          ),
        ]
        : scoreNow(profile)),
      facts(
        ["You are called", [code(operator_id), " by the organization, ", code(pseudonym), " in the log"]],
        ["Organization", [name(organization.name), " (", code(organization.id), ")"]],
        ["Kept for", notice.retention.statement],
        ["Passed on to", notice.recipients.statement],
        ["If you disagree", [notice.contest.steps[0]!, " ", link("All steps", "#contest")]],
      ),
      profile === null
        ? null
        : folded("Your record as the next score starts from it (raw data)", data({ profile, state })),
    ],
  };
}

function scoreNow(profile: Profile): readonly (Block | null)[] {
  const { jis, band, uncertainty, verdict, total_interactions, minimum_data_met, last_interaction_at } =
    profile;
  const { low, high, level } = uncertainty;
  const cases = formatQuantity(String(total_interactions), "case");
  const shortfall = minimum_data_met
    ? ""
    : verdict === null
    ? " That is too little for a verdict."
    : " That is too little to count in a report.";
  return [
    verdict === null ? null : paragraph([
      "The verdict on your judgment: ",
      strong(verdictInWords(verdict)),
    ]),
    paragraph([
      "Your score is ",
      strong(`${pointsInWords(jis)} of 100`),
      ` (${band.toLowerCase()}). What your cases show lies between `,
      strong(`${pointsInWords(low)} and ${pointsInWords(high)}`),
      `, with a probability of ${shareInWords(level)}`,
      markup` by the service's own reckoning.`,
    ]),
    paragraph(
      `You decided ${cases}, the last of ${instantInWords(last_interaction_at)}.${shortfall} ${KNOWN_CASE} ${
        knownCasesInWords(profile)
      }`,
    ),
    table({
      columns: ["Of this score", "0 to 100"],
      rows: Object.entries(profile.dimensions).map(([dimension, value]) =>
        [nameInWords(dimension), value] as const
      ),
    }),
  ];
}

function aboutTheScore({ notice }: SubjectHead): Section {
  return {
    id: "score",
    title: "What the score is, and what it is not",
    blocks: [
      paragraph(notice.purpose),
      paragraph(notice.recorded),
      heading("How it is made"),
      list(notice.logic),
      heading("What it must not be used for, and what it cannot say"),
      list(notice.limits),
      heading("Decisions made by a program alone"),
      paragraph(notice.automated_decisions),
    ],
  };
}

/** The causes for each dimension: first those that changed, then, folded, why the rest did not. */
function moves({ event_type, explanation }: SubjectRecord): readonly Block[] {
  if (explanation === null) return [null];
  const changed = explanation.filter(({ before, after }) => before !== after);
  const unchanged = explanation.filter(({ before, after }) => before === after);
  // A decision score reads the record and does not move it.
  const isRead = event_type === "DRS_COMPUTED";
  const whyChanged = isRead ? "What had faded since:" : "What moved it:";
  const whyUnchanged = isRead
    ? "What was read as it stood"
    : changed.length === 0
    ? "Why nothing moved"
    : "Why the rest did not move";
  return [
    ...(changed.length === 0 ? [null] : [paragraph(whyChanged), drawn(movesTable(changed))]),
    unchanged.length === 0 ? null : folded(whyUnchanged, drawn(movesTable(unchanged))),
  ];
}

function keeping({ notice: { retention, recipients, source } }: SubjectHead): Section {
  return {
    id: "keeping",
    title: "How long it is kept, where it comes from, who gets it",
    blocks: [
      paragraph(retention.statement),
      paragraph(source),
      paragraph(`Recipients: ${recipients.statement}`),
    ],
  };
}

function contesting({ notice: { contest, law }, organization }: SubjectHead): Section {
  return {
    id: "contest",
    title: "How to contest",
    blocks: [
      numberedList(contest.steps),
      paragraph(["To ", name(organization.name), ", quote:"]),
      facts(
        ["Your id", code(contest.quote.operator_id)],
        ["Your pseudonym", code(contest.quote.pseudonym)],
        ["This copy", code(contest.quote.request_id)],
        ["The record", "Its case or decision id, its entry number and its hash, from its raw data"],
      ),
      paragraph(law, "note"),
    ],
  };
}
