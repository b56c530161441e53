/**
 * The records on which an administrator's acceptance may rely: inputs that are proven to be what was
 * recorded. Records that were put back after their erasure are destroyed again, and a row without a held
 * input is removed.
 */
import type { Logging, Proving, Reading } from "../shared/capabilities.ts";
import { AlteredError } from "../../domain/errors.ts";
import { organizationOf } from "../../evidence/chain_name.ts";
import { hex } from "../../evidence/crypto.ts";
import { type Entry, entrySchema, isCommitted } from "../../evidence/entry.ts";
import { entryHash, type PartName } from "../../evidence/hashes.ts";
import type { KnownCheckpoint } from "../../evidence/kept.ts";
import { orNull } from "../../evidence/or_null.ts";
import { loadEpochs, placesOfEvents, type StoredChain } from "../../store/chains.ts";
import type { Statement } from "../../store/database.ts";
import { destroyParts, readHeldEntries } from "../../store/erased_parts.ts";
import { readEntriesAt, type RecordTable } from "../../store/operator_records.ts";
import { chunksOf } from "../../store/paging.ts";
import { requireUnder } from "../../store/proven_pages.ts";
import { type AnyKind, deleteRowsOfTables, readRecordRows, type RecordRow } from "../../store/record_rows.ts";
import { probeDraws } from "../../store/probes.ts";
import { decisions, interactions, skippedInteractions } from "../../store/records.ts";
import { shareOf } from "../../store/seals.ts";
import { insertTombstone } from "../../store/tombstones.ts";
import { tombstoneName } from "../shared/gone.ts";
import { ownOrigin, signedEnd } from "../chains/signed_ends.ts";

export type AcceptanceDependencies = Pick<Reading, "database" | "seals"> & Proving & Logging;

/** The stored text of an entry, with one of its stored parts. */
interface StoredPart {
  readonly seq: number;
  readonly body: string;
  readonly salt: Uint8Array;
  readonly data: string;
}

/** The entries of one chain that its newest checkpoint by this deployment proves. */
export class AcceptedChain {
  private constructor(
    private readonly dependencies: AcceptanceDependencies,
    private readonly chain: string,
    private readonly checkpoint: KnownCheckpoint | null,
  ) {}

  static async open(dependencies: AcceptanceDependencies, chain: StoredChain): Promise<AcceptedChain> {
    const place = { ...chain, origin: ownOrigin(dependencies, chain) };
    return new AcceptedChain(dependencies, chain.chain, await signedEnd(dependencies, place, null));
  }

  /** The proven entries of a page, by seq; the part of each must be the `name` that the entry commits to. */
  async parts(page: readonly StoredPart[], name: PartName): Promise<ReadonlyMap<number, Entry>> {
    const { crypto } = this.dependencies;
    return await this.entries(page.map(({ seq, body: text }) => ({ seq, text })), (entry) => {
      const { salt, data: text } = page.find(({ seq }) => seq === entry.seq)!;
      return isCommitted(crypto, entry, { name, salt, text });
    });
  }

  /** The proven entries among those that `accepts` accepts, by seq. */
  async entries(
    stored: readonly { readonly seq: number; readonly text: string }[],
    accepts: (entry: Entry) => boolean,
  ): Promise<ReadonlyMap<number, Entry>> {
    const { crypto } = this.dependencies;
    const entries = new Map<number, Entry>();
    const hashes = new Map<number, Uint8Array>();
    for (const { seq, text } of stored) {
      const entry = entrySchema.safeParse(orNull(() => JSON.parse(text))).data;
      if (entry === undefined || entry.chain !== this.chain || entry.seq !== seq || !accepts(entry)) continue;
      entries.set(seq, entry);
      hashes.set(seq, entryHash(crypto, text));
    }
    if (await this.#areProven(hashes)) return entries;
    // One of them is not proven: each is checked alone.
    for (const [seq, hash] of hashes) {
      if (!await this.#areProven(new Map([[seq, hash]]))) entries.delete(seq);
    }
    return entries;
  }

  async #areProven(hashes: ReadonlyMap<number, Uint8Array>): Promise<boolean> {
    if (this.checkpoint === null) return hashes.size === 0;
    try {
      await requireUnder(this.dependencies, { chain: this.chain, hashes, checkpoint: this.checkpoint });
      return true;
    } catch (error) {
      if (error instanceof AlteredError) return false;
      throw error;
    }
  }
}

/** Erasures that are read and proven together. */
const ERASURES_TOGETHER = 200;

/**
 * Destroys again the parts that an erasure had destroyed: they are held although a proven entry records the
 * erasure.
 * @returns the pseudonyms whose erasure is recorded.
 */
export async function destroyErased(
  dependencies: AcceptanceDependencies,
  family: string,
): Promise<ReadonlySet<string>> {
  const { database, log } = dependencies;
  const orgId = organizationOf(family)!;
  const chains = new Map<string, AcceptedChain>();
  for (const epoch of await loadEpochs(database, family)) {
    chains.set(epoch.chain, await AcceptedChain.open(dependencies, epoch));
  }
  const erasures = await provenErasures(dependencies, family, chains);
  let destroyed = 0;
  const pseudonyms = [...erasures.keys()];
  for await (const page of readHeldEntries(database, { family, pseudonyms })) {
    for (const [chain, places] of Map.groupBy(page, ([chain]) => chain)) {
      const stored = await readEntriesAt(database, { chain, seqs: places.map(([, seq]) => seq) });
      const proven = await chains.get(chain)!.entries(stored, ({ subject }) => erasures.has(subject ?? ""));
      const held = stored.filter(({ seq }) => proven.has(seq));
      if (held.length === 0) continue;
      destroyed += held.length;
      await database.batch([
        destroyParts(chain, held.map(({ seq }) => seq)),
        ...held.flatMap((entry) =>
          tombstoneStatements(dependencies, orgId, {
            texts: entry.parts.map(({ text }) => text),
            cause: erasures.get(proven.get(entry.seq)!.subject!)!,
          })
        ),
      ]);
    }
  }
  if (destroyed > 0) {
    log.error("records of erased operators were put back: they are destroyed again", {
      audit: true,
      chain: family,
      entries: destroyed,
    });
  }
  return new Set(erasures.keys());
}

/** The entry that records why a name is gone. */
interface Cause {
  readonly chain: string;
  readonly seq: number;
  readonly entry_hash: Uint8Array;
}

/** By pseudonym, the entry that records the erasure. */
async function provenErasures(
  { database, crypto }: AcceptanceDependencies,
  family: string,
  chains: ReadonlyMap<string, AcceptedChain>,
): Promise<ReadonlyMap<string, Cause>> {
  const places = await placesOfEvents(database, { family, eventType: "SUBJECT_ERASED" });
  const erasures = new Map<string, Cause>();
  for (const [chain, own] of Map.groupBy(places, ({ chain }) => chain)) {
    for (const piece of chunksOf(own, ERASURES_TOGETHER)) {
      const stored = await readEntriesAt(database, { chain, seqs: piece.map(({ seq }) => seq) });
      const proven = await chains.get(chain)?.entries(
        stored,
        (entry) => entry.event_type === "SUBJECT_ERASED",
      );
      for (const { seq, text } of stored) {
        const subject = proven?.get(seq)?.subject;
        if (subject == null) continue;
        erasures.set(subject, { chain, seq, entry_hash: entryHash(crypto, text) });
      }
    }
  }
  return erasures;
}

/** Statements that write the tombstones of an erased record's names, if they are missing. */
function tombstoneStatements(
  { installation }: AcceptanceDependencies,
  orgId: string,
  { texts, cause }: { readonly texts: readonly string[]; readonly cause: Cause },
): readonly Statement[] {
  const names = new Map<string, Uint8Array>();
  for (const text of texts) {
    const data = orNull(() => JSON.parse(text)) as Readonly<Record<string, unknown>> | null;
    const namesOfRecord = [
      ["record", data?.session_id ?? data?.decision_id],
      ["record", data?.probe_session_id],
      ["operator", data?.operator_id],
    ] as const;
    for (const [kind, name] of namesOfRecord) {
      if (typeof name !== "string") continue;
      const tombstone = tombstoneName(installation, { kind, orgId, name });
      names.set(hex(tombstone), tombstone);
    }
  }
  return [...names.values()].map((name) => insertTombstone({ name, reason: "erased", ...cause }));
}

/** Tables whose rows refer to a score's row. */
const FOLLOWING_A_SCORE = ["outcome_label", "score_commit"] as const;

/** Removes an organization's rows without a valid seal, or whose position holds no input that names them. */
export async function removeStrayRows(dependencies: AcceptanceDependencies, family: string): Promise<void> {
  const { database, seals, log } = dependencies;
  const orgId = organizationOf(family)!;
  const epochs = await loadEpochs(database, family);
  for (const kind of [interactions, skippedInteractions, decisions, probeDraws] as readonly AnyKind[]) {
    let removed = 0;
    for await (const page of readRecordRows(database, kind, orgId)) {
      const held = await readNames(dependencies, epochs, page);
      const stray = page.filter((row) => {
        const name = held.get(row.position);
        return shareOf(seals, kind, row) === null || name?.id !== kind.keyOf(row)[1] ||
          name?.operatorId !== row.operator_id;
      }).map((row) => kind.keyOf(row)[1]!);
      if (stray.length === 0) continue;
      removed += stray.length;
      const tables = kind === interactions ? [...FOLLOWING_A_SCORE, kind.name] : [kind.name];
      const idsOf = new Map(tables.map((table) => [table as RecordTable, stray]));
      await database.batch(deleteRowsOfTables(orgId, idsOf));
    }
    if (removed === 0) continue;
    log.error("rows without a record were removed", {
      audit: true,
      chain: family,
      table: kind.name,
      rows: removed,
    });
  }
}

/** By position, the record and the operator that the input there names. */
async function readNames(
  { database }: AcceptanceDependencies,
  epochs: readonly StoredChain[],
  rows: readonly RecordRow[],
): Promise<ReadonlyMap<number, { readonly id: unknown; readonly operatorId: unknown }>> {
  const places = rows.map(({ position }) => ({
    position,
    epoch: epochs.findLast(({ firstPosition }) => firstPosition <= position),
  }));
  const names = new Map<number, { readonly id: unknown; readonly operatorId: unknown }>();
  for (const [epoch, own] of Map.groupBy(places, ({ epoch }) => epoch)) {
    if (epoch === undefined) continue;
    const { chain, firstPosition } = epoch;
    const stored = await readEntriesAt(database, {
      chain,
      seqs: own.map(({ position }) => position - firstPosition),
    });
    for (const { seq, parts } of stored) {
      const text = parts.find(({ name }) => name === "input")?.text ?? "null";
      const data = orNull(() => JSON.parse(text)) as Readonly<Record<string, unknown>> | null;
      names.set(firstPosition + seq, {
        id: data?.session_id ?? data?.decision_id,
        operatorId: data?.operator_id,
      });
    }
  }
  return names;
}
