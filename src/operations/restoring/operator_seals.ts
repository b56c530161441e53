/**
 * Seals the rows of an organization's operators with what their records say: subjects, states and figures.
 * The rows of an operator without records stay only if this installation wrote them.
 */
import type { Logging, Reading } from "../shared/capabilities.ts";
import type { Database, Statement } from "../../store/database.ts";
import { frozenOperatorsQuery } from "../../store/interactions.ts";
import { deleteOperators, operatorsQuery } from "../../store/operators.ts";
import { chunksOf } from "../../store/paging.ts";
import { frozenOperators, type OperatorRow, operators, subjects } from "../../store/records.ts";
import { sealed, shareOf } from "../../store/seals.ts";
import { deleteSubjects, replaceSubject, subjectsQuery } from "../../store/subjects.ts";
import { evidenceChain } from "../../evidence/chain_name.ts";
import type { LastFrozen } from "../scoring/frozen_calls.ts";
import { stateColumns } from "../scoring/score.ts";

/** Facts about an operator from its records read so far. */
export interface OperatorFacts {
  /** The pseudonym; null if no proven record names it. */
  readonly subject: string | null;
  /** The position of the last interaction; null if none is held. */
  readonly position: number | null;
  readonly domain: string | null;
  /** The operator's row after the last event that moved it. */
  readonly stateRow: ReturnType<typeof stateColumns> | null;
  /** The last frozen call; null if none is held. */
  readonly frozen: LastFrozen | null;
  /** The team that was last set, null for none; undefined if no record of it is held. */
  readonly team: string | null | undefined;
}

export const NOTHING_KNOWN: OperatorFacts = {
  subject: null,
  position: null,
  domain: null,
  stateRow: null,
  frozen: null,
  team: undefined,
};

/** The first position of every family: if anything was pruned, it was. */
const PRUNED_POSITION = 0;

/**
 * Seals subjects and operators. In an upgrade an earlier program wrote every row. Otherwise a row without a
 * record and without a valid seal is removed, and a missing row is made anew.
 */
export async function sealOperators(
  { database, seals, log }: Pick<Reading, "database" | "seals"> & Logging,
  { orgId, isUpgrade, known, erased }: {
    readonly orgId: string;
    readonly isUpgrade: boolean;
    readonly known: ReadonlyMap<string, OperatorFacts>;
    /** Pseudonyms of the operators whose erasure is recorded. */
    readonly erased: ReadonlySet<string>;
  },
): Promise<void> {
  const [names, rows] = await database.snapshot([
    subjectsQuery(orgId),
    operatorsQuery(orgId),
  ]);
  const isOwn = (row: (typeof names)[number]) =>
    isUpgrade || (shareOf(seals, subjects, row) !== null && !erased.has(row.pseudonym));
  const named = [...known].flatMap(([operatorId, { subject }]) =>
    subject === null ? [] : [[operatorId, subject] as const]
  );
  const present = new Set(names.map(({ operator_id }) => operator_id));
  const pseudonyms = new Map([
    ...names.filter(isOwn).map(({ operator_id, pseudonym }) => [operator_id, pseudonym] as const),
    ...isUpgrade ? named.filter(([id]) => present.has(id)) : named,
  ]);
  const isKept = (row: (typeof rows)[number]) =>
    isUpgrade || (pseudonyms.has(row.operator_id) &&
      (known.get(row.operator_id)?.stateRow != null || shareOf(seals, operators, row) !== null));
  const stray = [
    [
      operators.name,
      rows.filter((row) => !isKept(row)).map(({ operator_id }) => operator_id),
      deleteOperators,
    ],
    [
      subjects.name,
      names.map(({ operator_id }) => operator_id).filter((id) => !pseudonyms.has(id)),
      deleteSubjects,
    ],
  ] as const;
  for (const [table, ids] of stray) {
    if (ids.length === 0) continue;
    const chain = evidenceChain(orgId);
    log.error("rows without a record were removed", { audit: true, chain, table, rows: ids.length });
  }
  const held = rows.filter(isKept).map((row) => {
    const { position, domain, stateRow, team } = known.get(row.operator_id) ?? NOTHING_KNOWN;
    const isOwnRow = isUpgrade || shareOf(seals, operators, row) !== null;
    return {
      ...row,
      ...(stateRow ??
        stateColumns(
          JSON.parse(row.state),
          { entry: { seq: row.prior_seq }, hash: row.prior_hash },
          row.verdict,
        )),
      domain: domain ?? row.domain,
      position: position ?? (shareOf(seals, operators, row) === null ? PRUNED_POSITION : row.position),
      team: team !== undefined ? team : isOwnRow ? row.team : null,
    };
  });
  const statements = [
    ...stray.flatMap(([, ids, remove]) =>
      chunksOf(ids, OPERATORS_IN_WRITE).map((piece) => remove(orgId, piece))
    ),
    ...[...pseudonyms].map(([operator_id, pseudonym]) =>
      replaceSubject(sealed(seals, subjects, { org_id: orgId, operator_id, pseudonym }).row)
    ),
    ...[...held, ...isUpgrade ? [] : missingOperators(orgId, { known, held })].map((row) =>
      operators.save!(sealed(seals, operators, row).row)
    ),
  ];
  await writeInPieces(database, statements);
}

/**
 * Makes the row of each operator with frozen calls from its records. No other row stays: an operator whose
 * frozen calls were erased or pruned gets a new row with the next one.
 */
export async function sealFrozenOperators(
  { database, seals }: Pick<Reading, "database" | "seals">,
  orgId: string,
  known: ReadonlyMap<string, OperatorFacts>,
): Promise<void> {
  const rows = await database.read(frozenOperatorsQuery(orgId));
  const named = [...known].flatMap(([operator_id, { frozen }]) =>
    frozen === null ? [] : [{ org_id: orgId, operator_id, ...frozen }]
  );
  await writeInPieces(database, [
    ...rows.filter(({ operator_id }) => (known.get(operator_id)?.frozen ?? null) === null)
      .map((row) => frozenOperators.remove!(frozenOperators.keyOf(row))),
    ...named.map((row) => frozenOperators.save!(sealed(seals, frozenOperators, row).row)),
  ]);
}

async function writeInPieces(database: Database, statements: readonly Statement[]): Promise<void> {
  for (const piece of chunksOf(statements, OPERATORS_IN_WRITE)) await database.batch(piece);
}

/** New rows for the operators who have none and whose records give their state. */
function missingOperators(
  orgId: string,
  { known, held }: {
    readonly known: ReadonlyMap<string, OperatorFacts>;
    readonly held: readonly OperatorRow[];
  },
): readonly OperatorRow[] {
  const present = new Set(held.map(({ operator_id }) => operator_id));
  return [...known].flatMap(([operator_id, { stateRow, domain, position, team = null }]) =>
    present.has(operator_id) || stateRow === null || domain === null || position === null
      ? []
      : [{ org_id: orgId, operator_id, domain, position, team, ...stateRow }]
  );
}

/** Rows in one write: a state takes some kilobytes. */
const OPERATORS_IN_WRITE = 200;
