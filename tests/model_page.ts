/**
 * docs/understand/scoring-model.md as tests read it. A test compares what the page says with what the test computes.
 * A section knows which of its figures were read, so that no figure stays without a test.
 */
import assert from "node:assert/strict";
import { cellsIn } from "../scripts/validation_rows.ts";

const PAGE = Deno.readTextFileSync(`${import.meta.dirname}/../docs/understand/scoring-model.md`);
const TABLE = /(?:^\|.*\n)+/gm;

type Row = readonly string[];

interface PageTable {
  readonly head: Row;
  readonly rows: readonly Row[];
  isRead: boolean;
}

/** One section of a page, without the sections below it. */
export class PageSection {
  readonly #tables: readonly PageTable[];
  /** The text between the tables, in one line. What was read is blank. */
  #text: string;

  /** @param page - the Markdown text; the model's file if it is left out. */
  constructor(heading: string, page = PAGE) {
    const sections = page.split(/^(?=#+ )/m).filter((section) =>
      new RegExp(`^#+ ${RegExp.escape(heading)}\n`).test(section)
    );
    assert.equal(sections.length, 1, `the page has ${sections.length} sections "${heading}"`);
    this.#tables = [...sections[0]!.matchAll(TABLE)].map(([text]) => {
      const [head, ...rows] = cellsIn(text);
      return { head: head!, rows, isRead: false };
    });
    this.#text = sections[0]!.replaceAll(TABLE, "").replaceAll(/\s+/g, " ");
  }

  /** The rows of each table with this head. */
  tables(...head: Row): readonly (readonly Row[])[] {
    const found = this.#tables.filter((table) => table.head.join("|") === head.join("|"));
    assert.ok(found.length > 0, `the section has no table "${head.join(" | ")}"`);
    for (const table of found) table.isRead = true;
    return found.map(({ rows }) => rows);
  }

  /** What the groups of the expression hold. It must match once: spaces in it stand for line breaks, too. */
  figures(sentence: RegExp): Row {
    const found = [...this.#text.matchAll(new RegExp(sentence, "g"))];
    assert.equal(found.length, 1, `the section says ${found.length} times ${sentence}`);
    const [match] = found;
    const end = match!.index + match![0].length;
    this.#text = this.#text.slice(0, match!.index) + " ".repeat(match![0].length) + this.#text.slice(end);
    return match!.slice(1);
  }

  /** Words with a digit that nothing has read, and heads of tables that nothing has read. */
  unread(): readonly string[] {
    return [
      ...this.#text.match(/\S*\d\S*/g) ?? [],
      ...this.#tables.filter(({ isRead }) => !isRead).map(({ head }) => head.join(" | ")),
    ];
  }
}

/** A number from 0 to 1 as the page writes it: `.5109`. */
export function fraction(value: number, decimals: number): string {
  return value.toFixed(decimals).replace(/^0/, "");
}

/** A share from 0 to 1 in whole percent, without the sign. */
export function percent(share: number): string {
  return (100 * share).toFixed(0);
}

/** A number up to ten in words. */
export function spelled(number: number): string {
  return ["none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"][number]!;
}
