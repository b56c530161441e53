/**
 * Compares the entries of an organization's evidence with the rows beside them, both ways: each record has
 * its row, each row has its record, no two records are of one session or decision, and each part that is held
 * of an entry is about a known operator.
 */
import { organizationOf } from "../../evidence/chain_name.ts";
import { loadEpochs, type StoredChain } from "../../store/chains.ts";
import {
  type AnyKind,
  countRecordRows,
  type HeldPart,
  readHeldParts,
  type RecordRow,
  ROW_KINDS,
} from "../../store/record_rows.ts";
import {
  type InteractionRow,
  interactions,
  outcomeLabels,
  scoreCommits,
  type SkippedInteractionRow,
  skippedInteractions,
  type SubjectRow,
  subjects,
} from "../../store/records.ts";
import { shareOf } from "../../store/seals.ts";
import { subjectsOfPseudonymsQuery } from "../../store/subjects.ts";
import { FrozenCheck } from "./frozen_check.ts";
import type { RowReading, SealedRowFinding } from "./sealed_row_finding.ts";

/** Findings about the records of a family and the rows that stand for them. */
export async function* recordFindings(
  dependencies: RowReading,
  family: string,
  rest: () => Promise<void>,
): AsyncGenerator<SealedRowFinding> {
  const { database } = dependencies;
  const orgId = organizationOf(family)!;
  const epochs = await loadEpochs(database, family);
  const check = new RecordCheck(dependencies, orgId, epochs);
  for (const { chain, firstPosition } of epochs) {
    for await (const parts of readHeldParts(database, { chain, first: 0 })) {
      for (const { part, detail } of await check.check(parts, { chain, firstPosition })) {
        // An erasure deletes record and row together: if the record still exists now, its row should have
        // existed, too.
        if (await isHeld(database, chain, part)) yield { chain, seq: part.seq, detail };
      }
      await rest();
    }
  }
  for (const { chain, part: { seq } } of await check.frozen.findContradicted()) {
    const detail = "a row of frozen_operator does not say what the operator's last frozen call says";
    yield { chain, seq, detail };
  }
  // `writtenSince` allows for rows that were written while the entries were read: the next check covers
  // those.
  const found = await countRecordRows(database, orgId);
  if (found > check.expected + (await writtenSince(database, family, epochs))) {
    yield { chain: epochs.at(-1)!.chain, seq: null, detail: "there is a row that no entry stands for" };
  }
}

/** By event type, the fault of two entries for one session or decision. */
const DUPLICATE_FAULTS: Readonly<Record<string, string>> = {
  SCORE_COMPUTED: "two entries score one session",
  SCORE_SKIPPED: "two entries freeze one session",
  DRS_COMPUTED: "two entries decide under one id",
  SCORE_COMMITTED: "two entries commit one score",
  OUTCOME_LABELLED: "two entries label one score",
  PROBE_ASSIGNED: "two entries draw for one session",
};

/** By kind of following record, the column of the score's row that holds the position of that record. */
const POSITION_COLUMNS: ReadonlyMap<AnyKind, "commit_position" | "label_position"> = new Map<
  AnyKind,
  "commit_position" | "label_position"
>([[scoreCommits, "commit_position"], [outcomeLabels, "label_position"]]);

/** A fault of the row of a part's entry, or of the operator whom the part is about. */
interface FaultyPart {
  readonly part: HeldPart;
  readonly detail: string;
}

/** A part and the chain of its entry. */
interface PlacedPart {
  readonly chain: string;
  readonly part: HeldPart;
}

class RecordCheck {
  /** Number of rows that the records read so far account for. */
  expected = 0;
  readonly frozen: FrozenCheck<PlacedPart>;
  readonly #dependencies: RowReading;
  readonly #orgId: string;
  readonly #epochs: readonly StoredChain[];
  /** By operator, the pseudonym; only of known operators. */
  readonly #pseudonyms = new Map<string, string>();
  readonly #known = new Set<string>();

  constructor(dependencies: RowReading, orgId: string, epochs: readonly StoredChain[]) {
    this.#dependencies = dependencies;
    this.#orgId = orgId;
    this.#epochs = epochs;
    const { database } = dependencies;
    this.frozen = new FrozenCheck(database, orgId, ({ chain, part }) => isHeld(database, chain, part));
  }

  /** @param parts in the order of their chain. */
  async check(
    parts: readonly HeldPart[],
    { chain, firstPosition }: Pick<StoredChain, "chain" | "firstPosition">,
  ): Promise<readonly FaultyPart[]> {
    const rows = await this.#rowsOf(parts);
    const altered = await this.#loadSubjects(parts);
    const faulty: FaultyPart[] = [];
    for (const part of parts) {
      const row = isRecord(part) ? await this.#rowFault(part, { rows, firstPosition }) : null;
      const detail = row ?? await this.#freezeFault({ chain, part }, rows) ??
        this.#subjectFault(part, altered);
      if (row !== null && isFreeze(part)) this.frozen.forget(part.operator_id!);
      if (detail !== null) faulty.push({ part, detail });
    }
    return faulty;
  }

  /** The fault of a frozen call with a sound row that does not go on from the one before it; else null. */
  async #freezeFault(place: PlacedPart, rows: PageRows): Promise<string | null> {
    if (!isFreeze(place.part)) return null;
    const { name } = skippedInteractions;
    const row = rows.get(`${name} ${place.part.id}`) as SkippedInteractionRow;
    return await this.frozen.follows({ row, place })
      ? null
      : `a row of ${name} does not go on from the one before it`;
  }

  async #rowFault(
    record: HeldPart,
    { rows, firstPosition }: { readonly rows: PageRows; readonly firstPosition: number },
  ): Promise<string | null> {
    const { kind } = ROW_KINDS.get(record.event_type)!;
    const row = rows.get(`${kind.name} ${record.id}`) as RecordRow | undefined;
    const column = POSITION_COLUMNS.get(kind);
    const score = rows.get(`${interactions.name} ${record.id}`) as InteractionRow | undefined;
    // A score's retention ends before that of the records that follow it, and all its rows are deleted
    // together.
    if (column !== undefined && score === undefined) {
      return row === undefined ? null : `a row of ${kind.name} was put back`;
    }
    this.expected += 1;
    if (row === undefined) return `a row of ${kind.name} is missing`;
    const position = firstPosition + record.seq;
    const isSealed = shareOf(this.#dependencies.seals, kind, row) !== null;
    if (isSealed && row.position !== position && await this.#hasRecord(record, row.position)) {
      return DUPLICATE_FAULTS[record.event_type]!;
    }
    const isOwn = row.position === position &&
      (row.operator_id ?? record.operator_id) === record.operator_id &&
      (kind !== outcomeLabels || row.outcome_correct === record.label);
    if (!isSealed || !isOwn) return `a row of ${kind.name} was altered`;
    const isOfScore = column === undefined ||
      (score![column] === position && score!.operator_id === record.operator_id);
    return isOfScore ? null : `a row of ${interactions.name} was altered`;
  }

  /** Whether an entry of this type and id is at a position. */
  async #hasRecord({ event_type, id }: HeldPart, position: number): Promise<boolean> {
    const epoch = this.#epochs.findLast(({ firstPosition }) => firstPosition <= position);
    if (epoch === undefined) return false;
    const { chain, firstPosition } = epoch;
    const seq = position - firstPosition;
    for await (const parts of readHeldParts(this.#dependencies.database, { chain, first: seq })) {
      return parts.some((part) => part.seq === seq && part.event_type === event_type && part.id === id);
    }
    return false;
  }

  #subjectFault({ subject, operator_id }: HeldPart, altered: ReadonlySet<string>): string | null {
    if (operator_id !== null && altered.has(operator_id)) return `a row of ${subjects.name} was altered`;
    const isKnown = operator_id === null
      ? this.#known.has(subject)
      : this.#pseudonyms.get(operator_id) === subject;
    return isKnown ? null : "a part of an entry outlived its operator";
  }

  /**
   * Reads the rows of the parts' operators who are not known yet.
   * @returns the operators whose row was altered.
   */
  async #loadSubjects(parts: readonly HeldPart[]): Promise<ReadonlySet<string>> {
    const { database, seals } = this.#dependencies;
    const names = parts.flatMap(({ operator_id, subject }) =>
      operator_id === null || this.#pseudonyms.get(operator_id) === subject ? [] : [operator_id]
    );
    const found: SubjectRow[] = [];
    if (names.length > 0) {
      const keys = [...new Set(names)].map((name) => [this.#orgId, name]);
      found.push(...await database.read(subjects.load(JSON.stringify(keys))));
    }
    const altered = found.filter((row) => shareOf(seals, subjects, row) === null);
    for (const row of found) if (!altered.includes(row)) this.#addKnown(row);
    const unknownPseudonyms = parts.filter(({ operator_id, subject }) =>
      operator_id === null && !this.#known.has(subject)
    ).map(({ subject }) => subject);
    if (unknownPseudonyms.length > 0) {
      const others = await database.read(
        subjectsOfPseudonymsQuery(this.#orgId, [...new Set(unknownPseudonyms)]),
      );
      for (const row of others) if (shareOf(seals, subjects, row) !== null) this.#addKnown(row);
    }
    return new Set(altered.map(({ operator_id }) => operator_id));
  }

  #addKnown({ operator_id, pseudonym }: SubjectRow): void {
    this.#pseudonyms.set(operator_id, pseudonym);
    this.#known.add(pseudonym);
  }

  /** The rows of records, and of the scores that they follow, all from one snapshot. */
  async #rowsOf(parts: readonly HeldPart[]): Promise<PageRows> {
    const ids = new Set(parts.filter(isRecord).map(({ id }) => id));
    const keys = JSON.stringify([...ids].map((id) => [this.#orgId, id]));
    const kinds = [...ROW_KINDS.values()].map(({ kind }) => kind);
    const found = await this.#dependencies.database.snapshot(kinds.map((kind) => kind.load(keys)));
    return new Map(
      kinds.flatMap((kind, index) =>
        found[index]!.map((row) => [`${kind.name} ${kind.keyOf(row)[1]}`, row] as const)
      ),
    );
  }
}

/** Rows by the name of their kind and their id. */
type PageRows = ReadonlyMap<string, unknown>;

/** Whether a part is the one for which its entry has a row. */
function isRecord({ event_type, name }: HeldPart): boolean {
  return ROW_KINDS.get(event_type)?.part === name;
}

function isFreeze(part: HeldPart): boolean {
  return isRecord(part) && ROW_KINDS.get(part.event_type)!.kind === skippedInteractions;
}

async function isHeld(
  database: RowReading["database"],
  chain: string,
  { seq, name }: HeldPart,
): Promise<boolean> {
  for await (const parts of readHeldParts(database, { chain, first: seq })) {
    return parts.some((part) => part.seq === seq && part.name === name);
  }
  return false;
}

/** Number of entries that a family has gained since its epochs were read. */
async function writtenSince(
  database: RowReading["database"],
  family: string,
  before: readonly StoredChain[],
): Promise<number> {
  const after = await loadEpochs(database, family);
  const sizeOf = (epochs: readonly StoredChain[]) =>
    epochs.reduce((sum, { frontier }) => sum + frontier.size, 0);
  return sizeOf(after) - sizeOf(before);
}
