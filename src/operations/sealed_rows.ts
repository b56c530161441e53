/**
 * Holding all rows beside a chain to it, which no single read can do: that none is missing, none was put back, and none
 * is there that no entry stands for. An answer is refused by its own rows; this tells of the others.
 */
import { organizationOf } from "../evidence/chain_name.ts";
import { equalBytes } from "../evidence/crypto.ts";
import { loadEpochs, placeOfHead } from "../store/chains.ts";
import { query } from "../store/database.ts";
import {
  type AnyKind,
  countRecordRows,
  type NamedRecord,
  readHeld,
  readNamedRecords,
  type RecordRow,
  ROW_KINDS,
} from "../store/record_rows.ts";
import { type SkippedInteractionRow, skippedInteractions, subjects } from "../store/records.ts";
import { type Sealed, setOf, shareOf } from "../store/seals.ts";
import { type Dependencies, isEvidenceChain } from "./dependencies.ts";
import { FrozenCheck } from "./frozen_check.ts";

type Reading = Pick<Dependencies, "database" | "seals">;

/** Something that is wrong with the rows beside a chain. */
export interface SealedRowFinding {
  readonly chain: string;
  /** The entry whose row it is; null where it is no single one. */
  readonly seq: number | null;
  /** What is wrong, for a sentence. */
  readonly detail: string;
}

/**
 * What is wrong with the rows that belong to a family of chains, as far as its entries are those that were recorded.
 * @param rest called between pages of a hundred rows, so that others get their turn.
 */
export async function* sealedRowFindings(
  dependencies: Reading,
  family: string,
  rest: () => Promise<void>,
): AsyncGenerator<SealedRowFinding> {
  yield* setFindings(dependencies, family);
  yield* originFindings(dependencies, family);
  if (isEvidenceChain(family)) yield* recordFindings(dependencies, family, rest);
}

async function* setFindings({ database, seals }: Reading, family: string): AsyncGenerator<SealedRowFinding> {
  const { head, kinds, rows } = await readHeld(database, family);
  const held = head.held && seals.openSet(placeOfHead(head), head.held);
  const shares = rows.map(([kind, row]) => shareOf(seals, kind, row));
  const altered = rows[shares.indexOf(null)];
  const { chain } = head;
  if (altered !== undefined) {
    yield { chain, seq: null, detail: `a row of ${altered[0].name} was altered` };
  } else if (held === null) {
    yield { chain, seq: null, detail: "what the chain's head says of its rows was altered" };
  } else if (!equalBytes(held, setOf(shares as readonly Uint8Array[]))) {
    const names = kinds.map(({ name }) => name).join(" or ");
    yield { chain, seq: null, detail: `a row of ${names} is missing, or an old one was put back` };
  }
}

/** Which origins are let in is looked up in a table of its own, which must say what the organization's row says. */
async function* originFindings({ database }: Reading, family: string): AsyncGenerator<SealedRowFinding> {
  const orgId = organizationOf(family);
  if (orgId === null || isEvidenceChain(family)) return;
  const [origins, [organization]] = await database.snapshot([
    query.selectFrom("organization_origin").select("origin").where("org_id", "=", orgId).orderBy("origin")
      .compile(),
    query.selectFrom("organization").select("allowed_origins").where("org_id", "=", orgId).compile(),
  ]);
  const listed = organization?.allowed_origins.split(" ").filter((origin) => origin !== "").sort() ?? [];
  if (origins.map(({ origin }) => origin).join(" ") === listed.join(" ")) return;
  yield { chain: family, seq: null, detail: "rows of organization_origin were altered" };
}

async function* recordFindings(
  { database, seals }: Reading,
  family: string,
  rest: () => Promise<void>,
): AsyncGenerator<SealedRowFinding> {
  const orgId = organizationOf(family)!;
  const pseudonyms = new Map<string, string>();
  const frozen = new FrozenCheck(database, orgId, (place: EntryPlace) => isHeld(database, place));
  let expected = 0;
  const epochs = await loadEpochs(database, family);
  for (const { chain, firstPosition } of epochs) {
    for await (const page of readNamedRecords(database, { chain, first: 0 })) {
      const rows = await rowsOf(database, orgId, page);
      const known = await database.read(
        subjects.load(
          JSON.stringify([...new Set(page.map((record) => record.operator_id))].map((id) => [orgId, id])),
        ),
      );
      for (const row of known) {
        if (shareOf(seals, subjects, row) !== null) pseudonyms.set(row.operator_id, row.pseudonym);
      }
      for (const record of page) {
        expected += 1;
        const kind = ROW_KINDS.get(record.event_type)!;
        const row = rows.get(`${kind.name} ${record.id}`);
        const position = firstPosition + record.seq;
        const altered = row === undefined
          ? `a row of ${kind.name} is missing`
          : shareOf(seals, kind, row) === null || row.position !== position ||
              row.operator_id !== record.operator_id
          ? `a row of ${kind.name} was altered`
          : pseudonyms.get(record.operator_id) !== record.subject
          ? "a row of subject was altered"
          : null;
        const place = { chain, seq: record.seq };
        let wrong = altered;
        if (kind === skippedInteractions) {
          if (altered !== null) frozen.lost(record.operator_id);
          else if (!await frozen.follows({ row: row as unknown as SkippedInteractionRow, place })) {
            wrong = `a row of ${kind.name} does not go on from the one before it`;
          }
        }
        // An erasure takes record and row away at once: where the record is there after its row was read, both were.
        if (wrong !== null && await isHeld(database, place)) {
          yield { ...place, detail: wrong };
        }
      }
      await rest();
    }
  }
  for (const place of await frozen.unheld()) {
    yield {
      ...place,
      detail: "a row of frozen_operator does not say what the operator's last frozen call says",
    };
  }
  // What was written while the entries were read is in neither count, or shows at the next check.
  const found = await countRecordRows(database, orgId);
  if (found > expected + (await writtenSince(database, family, epochs))) {
    yield { chain: epochs.at(-1)!.chain, seq: null, detail: "there is a row that no entry stands for" };
  }
}

interface EntryPlace {
  readonly chain: string;
  readonly seq: number;
}

async function isHeld(database: Reading["database"], { chain, seq }: EntryPlace): Promise<boolean> {
  for await (const page of readNamedRecords(database, { chain, first: seq })) return page[0]!.seq === seq;
  return false;
}

/** How much a family has grown since its epochs were read. */
async function writtenSince(
  database: Reading["database"],
  family: string,
  before: Awaited<ReturnType<typeof loadEpochs>>,
): Promise<number> {
  const after = await loadEpochs(database, family);
  const sizeOf = (epochs: typeof before) => epochs.reduce((sum, { frontier }) => sum + frontier.size, 0);
  return sizeOf(after) - sizeOf(before);
}

/** The rows of some entries, by the name of their kind and their id. */
async function rowsOf(
  database: Reading["database"],
  orgId: string,
  page: readonly NamedRecord[],
): Promise<ReadonlyMap<string, RecordRow>> {
  const keys = JSON.stringify(page.map(({ id }) => [orgId, id]));
  const kinds: readonly AnyKind[] = [...ROW_KINDS.values()];
  const found = await database.snapshot(kinds.map((kind) => kind.load(keys)));
  return new Map(
    kinds.flatMap((kind, index) =>
      (found[index] as readonly (RecordRow & Sealed)[]).map((row) =>
        [`${kind.name} ${kind.keyOf(row)[1]}`, row] as const
      )
    ),
  );
}
