/**
 * Hand-written checks of entries and parts, the two kinds of line that make up nearly all of a bundle. They
 * are as strict as {@link entrySchema} and {@link partLineSchema}, and many times faster.
 */
import { HASH32 } from "../domain/hash.ts";
import { PART_ABSENCES, type PartAbsence } from "./bundle.ts";
import { type Actor, ACTORS, type Entry, isSignedConsistently, isTimestamp } from "./entry.ts";
import { PART_NAMES, type PartName } from "./hashes.ts";

type Members = Readonly<Record<string, unknown>>;

const SUBJECT = /^[0-9a-f]{32}$/;
const ENTRY_MEMBERS = 12;

export function isMembers(value: unknown): value is Members {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Whether a parsed line is an entry: its twelve members, the user's id if a user made it, and nothing else. */
export function isEntry(value: Members): value is Members & Entry {
  return isText(value.id) && isText(value.chain) && isText(value.event_type) &&
    isTextOrNull(value.org_id) && isTextOrNull(value.prefix) &&
    isSequenceNumber(value.seq) && isHash(value.prev) &&
    isText(value.timestamp) && isTimestamp(value.timestamp) &&
    (value.subject === null || (isText(value.subject) && SUBJECT.test(value.subject))) &&
    ACTORS.includes(value.actor as Actor) &&
    isSignedConsistently({ v: value.v, actor: value.actor, user_id: value.user_id }) &&
    isCommitment(value.commit) &&
    countMembers(value) === (value.user_id === undefined ? ENTRY_MEMBERS : ENTRY_MEMBERS + 1);
}

/** A part line as it was parsed. */
export interface ParsedPart {
  readonly seq: number;
  readonly name: PartName;
  /** Hexadecimal; absent if the content is absent. */
  readonly salt?: string;
  readonly data?: unknown;
}

/** A given part has the members kind, seq, name, salt, data; an absent one kind, seq, name, the reason. */
const GIVEN_MEMBERS = 5;
const ABSENT_MEMBERS = 4;

/** Whether a parsed line of kind `jis.part/1` is a part: given, or absent for one reason. */
export function isPart(value: Members): value is Members & ParsedPart {
  if (!isSequenceNumber(value.seq) || !PART_NAMES.includes(value.name as PartName)) return false;
  const members = countMembers(value);
  if (Object.hasOwn(value, "data")) return isHash(value.salt) && members === GIVEN_MEMBERS;
  return absenceOf(value) !== null && members === ABSENT_MEMBERS;
}

/** The reason for a part's absence; null if it is given. */
export function absenceOf(value: Members): PartAbsence | null {
  for (const absence of PART_ABSENCES) if (value[absence] === true) return absence;
  return null;
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

function isTextOrNull(value: unknown): value is string | null {
  return value === null || isText(value);
}

function isHash(value: unknown): value is string {
  return isText(value) && HASH32.test(value);
}

function isSequenceNumber(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function isCommitment(value: unknown): boolean {
  if (!isMembers(value)) return false;
  for (const name in value) {
    if (!PART_NAMES.includes(name as PartName) || !isHash(value[name])) return false;
  }
  return true;
}

function countMembers(value: Members): number {
  let count = 0;
  for (const _ in value) count += 1;
  return count;
}
