/**
 * Cases as their entries have them. A case has no row of its own: its opening and each step are entries of the evidence chain.
 * Source: oversight-loop design, section 4; evidence-format.md, section 13.
 */
import type { Proving, Reading } from "../shared/capabilities.ts";
import type { CaseFigures, RecordedCase, RecordedStep } from "../../domain/case.ts";
import { isOpenCase, stateAfter } from "../../domain/case_states.ts";
import { AlteredError } from "../../domain/errors.ts";
import { caseChangedSchema, caseOpenedSchema } from "../../evidence/cases.ts";
import { evidenceChain } from "../../evidence/chain_name.ts";
import { hex } from "../../evidence/crypto.ts";
import { caseEntriesQuery } from "../../store/cases.ts";
import type { ProvenRecord } from "../../store/proven_pages.ts";
import { requireErased } from "../shared/erased_entries.ts";
import { ownEpochs, readAtPositions } from "../shared/proven_records.ts";

type Needs = Reading & Proving;

export const OPENED = "CASE_OPENED";
export const CHANGED = "CASE_CHANGED";

/** The cases of one operator. */
export interface CasesOfOperator {
  /** Oldest first. */
  readonly cases: readonly RecordedCase[];
  /** How many entries they have. */
  readonly entries: number;
}

/**
 * The cases of the operators of some pseudonyms, by pseudonym. An erased operator has none.
 * @throws {AlteredError} if an entry is not what was signed, or a step of a case is missing.
 */
export async function casesOfSubjects(
  dependencies: Needs,
  orgId: string,
  pseudonyms: readonly string[],
): Promise<ReadonlyMap<string, CasesOfOperator>> {
  const family = evidenceChain(orgId);
  const places = await dependencies.database.read(caseEntriesQuery(family, pseudonyms));
  const positions = places.map(({ position }) => position);
  const epochs = positions.length === 0 ? [] : await ownEpochs(dependencies, family);
  const records = await readAtPositions(dependencies, epochs, positions);
  // Retention may have removed one during the look-up.
  const found = positions.flatMap((position) => records.get(position) ?? []);
  const grouped = Map.groupBy(found, ({ entry }) => entry.subject!);
  const result = new Map<string, CasesOfOperator>();
  for (const pseudonym of pseudonyms) {
    const own = grouped.get(pseudonym) ?? [];
    result.set(pseudonym, { cases: await casesIn(dependencies, own), entries: own.length });
  }
  return result;
}

/** The cases of the entries of one operator, which are in their order. */
async function casesIn(
  dependencies: Needs,
  records: readonly ProvenRecord[],
): Promise<readonly RecordedCase[]> {
  const cases = new Map<string, RecordedCase>();
  for (const record of records) {
    const { entry, parts } = record;
    const text = parts.get("input")?.text;
    if (text === undefined) {
      await requireErased(dependencies, entry);
      continue;
    }
    const input = JSON.parse(text);
    if (entry.event_type === OPENED) {
      const opened = opening(record, input);
      cases.set(opened.case_id, opened);
      continue;
    }
    const { case_id } = caseChangedSchema.parse(input);
    const before = cases.get(case_id);
    // Retention cuts the opening before its steps.
    if (before !== undefined) cases.set(case_id, changed(before, stepOf(record, input)));
  }
  return [...cases.values()];
}

function placeOf({ entry: { chain, seq }, hash }: ProvenRecord) {
  return { chain, seq, entry_hash: hex(hash) };
}

/** A case as its first entry has it. */
export function opening(record: Pick<ProvenRecord, "entry" | "hash">, input: unknown): RecordedCase {
  const { id, timestamp, actor, user_id = null } = record.entry;
  const { operator_id, cause, statement, about, figures } = caseOpenedSchema.parse(input);
  return {
    case_id: id,
    operator_id,
    cause,
    statement,
    about,
    state: "open",
    owner: null,
    due_on: null,
    opened_at: timestamp,
    changed_at: timestamp,
    actor,
    user_id,
    figures,
    effect: null,
    steps: [],
    ...placeOf(record as ProvenRecord),
  };
}

export function stepOf(record: Pick<ProvenRecord, "entry" | "hash">, input: unknown): RecordedStep {
  const { timestamp, actor, user_id = null } = record.entry;
  const { operator_id: _operator, case_id: _case, ...step } = caseChangedSchema.parse(input);
  return { ...step, at: timestamp, actor, user_id, ...placeOf(record as ProvenRecord) };
}

/** A case after one more step. @throws {AlteredError} if a step before it is missing. */
export function changed(before: RecordedCase, step: RecordedStep): RecordedCase {
  const { chain, seq } = step;
  if (step.number !== before.steps.length + 1 || !isOpenCase(before.state)) {
    throw new AlteredError(chain, `entry ${seq} of ${chain} is no next step of its case`);
  }
  const owner = step.step === "assign" ? step.owner : before.owner;
  const setsDay = step.step === "assign" || step.step === "wait";
  return {
    ...before,
    state: stateAfter(before.state, { step: step.step, hasOwner: owner !== null }),
    owner,
    due_on: setsDay ? step.due_on : before.due_on,
    changed_at: step.at,
    effect: step.step === "done" ? effectOf(before.figures, step.figures) : null,
    steps: [...before.steps, step],
  };
}

function effectOf(first: CaseFigures | null, last: CaseFigures | null): RecordedCase["effect"] {
  if (first === null || last === null) return null;
  return {
    jis: Math.round(100 * (last.jis - first.jis)) / 100,
    clear: last.low > first.high || last.high < first.low,
  };
}
