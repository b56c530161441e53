/**
 * The history of an organization's operators, from the recorded inputs of their scores and late labels:
 * oldest first, over all epochs, without records that were erased or pruned.
 */
import type { Proving } from "../shared/capabilities.ts";
import { entrySchema, isCommitted } from "../../evidence/entry.ts";
import {
  type LabelInput,
  labelInputSchema,
  type ScoreInput,
  scoreInputSchema,
} from "../../evidence/record.ts";
import { loadEpochs, type StoredChain } from "../../store/chains.ts";
import { readInputs, type RecordedInput } from "../../store/recorded_inputs.ts";
import { evidenceChain } from "../../evidence/chain_name.ts";

/** Thrown if a record is not what was recorded: no result may be drawn from it. */
export class AlteredRecord extends Error {
  override readonly name = "AlteredRecord";
}

export type HistoryEvent =
  | { readonly kind: "score"; readonly input: ScoreInput }
  | { readonly kind: "label"; readonly input: LabelInput };

export type EventOf<Kind extends HistoryEvent["kind"]> = Extract<HistoryEvent, { readonly kind: Kind }>;

const EVENT_TYPES = { score: "SCORE_COMPUTED", label: "OUTCOME_LABELLED" } as const;

/** A history up to the moment it was opened: every reading of it has the same end. */
export class ScoredHistory {
  readonly #source: Pick<Proving, "database" | "crypto">;
  readonly #epochs: readonly StoredChain[];

  private constructor(source: Pick<Proving, "database" | "crypto">, epochs: readonly StoredChain[]) {
    this.#source = source;
    this.#epochs = epochs;
  }

  static async of(source: Pick<Proving, "database" | "crypto">, orgId: string): Promise<ScoredHistory> {
    return new ScoredHistory(source, await loadEpochs(source.database, evidenceChain(orgId)));
  }

  /** Number of entries of every kind, without pruned ones. */
  get entries(): number {
    return this.#epochs.reduce((sum, { frontier, minIndex }) => sum + frontier.size - minIndex, 0);
  }

  /** @throws {AlteredRecord} if a record is not what its entry commits to, or cannot be read. */
  async *events<Kind extends HistoryEvent["kind"]>(kinds: readonly Kind[]): AsyncGenerator<EventOf<Kind>> {
    const { database, crypto } = this.#source;
    const eventTypes = kinds.map((kind) => EVENT_TYPES[kind]);
    for (const { chain, minIndex, frontier } of this.#epochs) {
      const span = { chain, first: minIndex, end: frontier.size, eventTypes };
      for await (const page of readInputs(database, span)) {
        for (const row of page) yield eventOf(crypto, chain, row) as EventOf<Kind>;
      }
    }
  }
}

function eventOf(crypto: Proving["crypto"], chain: string, row: RecordedInput): HistoryEvent {
  const altered = () => new AlteredRecord(`entry ${row.seq} of ${chain} is not what was recorded`);
  const [entry, input] = [jsonOf(row.body), jsonOf(row.data)];
  const { data: known } = entrySchema.safeParse(entry);
  const part = { name: "input", salt: row.salt, text: row.data } as const;
  if (known?.event_type !== row.event_type || !isCommitted(crypto, known, part)) throw altered();
  if (row.event_type === EVENT_TYPES.score) {
    const { data } = scoreInputSchema.safeParse(input);
    if (data === undefined) throw altered();
    return { kind: "score", input: data };
  }
  const { data } = labelInputSchema.safeParse(input);
  if (data === undefined) throw altered();
  return { kind: "label", input: data };
}

/** The parsed text; undefined if it is no JSON. */
function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
