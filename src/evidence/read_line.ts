/** The lines of a bundle as they are read, and the finding on a line that cannot be used. */
import type { z } from "zod";
import { isCanonicalText } from "./canonical_text.ts";
import type { FindingLog } from "./finding_log.ts";
import { isMembers } from "./line_shapes.ts";

/** A line that is a JSON object. */
export interface ReadLine {
  /** Line number in the file, from 1. */
  readonly number: number;
  /** Valid only while the line is handled: the buffer is used again. */
  readonly bytes: Uint8Array;
  readonly value: Readonly<Record<string, unknown>>;
  readonly isCanonical: boolean;
}

const OBJECT_START = /^[ \t\r]*\{/;

/** A line as a JSON object, or the reason why it is none. */
export function readLine(text: string, at: Pick<ReadLine, "number" | "bytes">): ReadLine | string {
  // This check of the first character makes millions of short lines that are no objects cost little.
  if (!OBJECT_START.test(text)) return "not an object";
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return "not JSON";
  }
  if (!isMembers(value)) return "not an object";
  return { ...at, value, isCanonical: isCanonicalText(text, value) };
}

/** The seq that a line of any kind names; null if it is not a safe integer. */
export function seqOf({ seq }: ReadLine["value"]): number | null {
  return Number.isSafeInteger(seq) ? seq as number : null;
}

/** The line as a record of its kind. If it is none, returns null and adds a finding. */
export function parseLine<Line>(
  log: FindingLog,
  { number, value }: ReadLine,
  schema: z.ZodType<Line>,
): Line | null {
  const parsed = schema.safeParse(value);
  if (!parsed.success) malformed(log, number, `${value.kind}: ${parsed.error.issues[0]!.path.join(".")}`);
  return parsed.data ?? null;
}

/** Adds the finding on a line that cannot be used: `seq` is that of its entry, if one is known. */
export function malformed(log: FindingLog, line: number, detail: string, seq: number | null = null): void {
  log.add("MALFORMED_LINE", { line, seq, detail });
}
