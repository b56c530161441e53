/**
 * Makes rows that a test wrote past the service look like the service's own: figures follow from states,
 * every row has its seal, and the heads hold their sets.
 */
import type { Dependencies } from "../src/operations/dependencies.ts";
import { isEvidenceChain, SYSTEM_CHAIN } from "../src/evidence/chain_name.ts";
import { stateColumns } from "../src/operations/scoring/score.ts";
import { newestHeads, placeOfHead, updateHeld } from "../src/store/chains.ts";
import { query, type Statement } from "../src/store/database.ts";
import {
  decisions,
  frozenOperators,
  type InstallationRow,
  installations,
  interactions,
  keyedCalls,
  operators,
  organizations,
  outcomeLabels,
  type RecordKind,
  scoreBatches,
  scoreCommits,
  skippedInteractions,
  subjects,
  webhooks,
} from "../src/store/records.ts";
import { sealed, setOf, shareOf } from "../src/store/seals.ts";
import { withDatabaseOf } from "./program.ts";
import { sealsOf } from "./seals.ts";

/** Statements of one write: 40,000 rows are more than a database server takes at once. */
const STATEMENTS_IN_WRITE = 500;

/** Seals every row that has no seal, as it is. */
export async function resealed(dependencies: Pick<Dependencies, "database" | "seals">): Promise<void> {
  const { database, seals } = dependencies;
  const [states, frozen, accounts, hooks, ...others] = await database.snapshot([
    query.selectFrom("operator").selectAll().compile(),
    query.selectFrom("frozen_operator").selectAll().compile(),
    query.selectFrom("organization").selectAll().compile(),
    query.selectFrom("webhook").selectAll().compile(),
    query.selectFrom("interaction").selectAll().compile(),
    query.selectFrom("skipped_interaction").selectAll().compile(),
    query.selectFrom("decision").selectAll().compile(),
    query.selectFrom("subject").selectAll().compile(),
    query.selectFrom("score_commit").selectAll().compile(),
    query.selectFrom("outcome_label").selectAll().compile(),
    query.selectFrom("score_batch").selectAll().compile(),
    query.selectFrom("keyed_call").selectAll().compile(),
    query.selectFrom("installation").selectAll().compile(),
  ]);
  const statements: Statement[] = [];
  /** The organization of each row, and its share in its set; statements seal the rows without a seal. */
  const sealing = <Row extends object>(
    kind: RecordKind<Row>,
    rows: readonly Row[],
    whole = (row: Row): Row => row,
  ) =>
    rows.map((row) => {
      const { org_id } = row as { readonly org_id?: string };
      const known = shareOf(seals, kind, row);
      if (known !== null) return { org_id, share: known };
      const now = sealed(seals, kind, whole(row));
      statements.push(updateOf(kind.name, row as Columns, now.row as Columns));
      return { org_id, share: now.share };
    });
  const operatorsNow = [
    ...sealing(operators, states, (row) => {
      const place = { entry: { seq: row.prior_seq }, hash: row.prior_hash };
      return { ...row, ...stateColumns(JSON.parse(row.state), place, row.verdict ?? null), state: row.state };
    }),
    ...sealing(frozenOperators, frozen),
  ];
  const held = [...sealing(organizations, accounts), ...sealing(webhooks, hooks)];
  const installation = sealing(installations, others.pop() as InstallationRow[]);
  const kinds = [
    interactions,
    skippedInteractions,
    decisions,
    subjects,
    scoreCommits,
    outcomeLabels,
    scoreBatches,
    keyedCalls,
  ];
  for (const [index, kind] of kinds.entries()) {
    sealing(kind as RecordKind<object>, others[index]!);
  }
  for (const head of (await newestHeads(database)).values()) {
    const orgId = head.family.split("/")[1];
    const own = head.family === SYSTEM_CHAIN
      ? installation
      : (isEvidenceChain(head.family) ? operatorsNow : held).filter(({ org_id }) => org_id === orgId);
    const set = seals.closeSet(placeOfHead(head), setOf(own.map(({ share }) => share)));
    statements.push(updateHeld({ ...head, held: set }, head));
  }
  for (let first = 0; first < statements.length; first += STATEMENTS_IN_WRITE) {
    await database.batch(statements.slice(first, first + STATEMENTS_IN_WRITE));
  }
}

/** Seals what a test changed in the database of a stopped program, with that program's own key. */
export function resealedIn({ JISS_DATA_DIR, ...env }: Readonly<Record<string, string>>): Promise<void> {
  const secret = env.JISS_SECRETS_KEY ?? env.JISS_KEY_PEPPER!;
  return withDatabaseOf(
    JISS_DATA_DIR!,
    async (database) => await resealed({ database, seals: await sealsOf(database, secret) }),
  );
}

/** The columns of the key, by kind. */
const KEYS: Readonly<Record<string, readonly string[]>> = {
  installation: ["id"],
  operator: ["org_id", "operator_id"],
  frozen_operator: ["org_id", "operator_id"],
  organization: ["org_id"],
  webhook: ["webhook_id"],
  interaction: ["org_id", "session_id"],
  skipped_interaction: ["org_id", "session_id"],
  decision: ["org_id", "decision_id"],
  subject: ["org_id", "operator_id"],
  score_commit: ["org_id", "session_id"],
  outcome_label: ["org_id", "session_id"],
  score_batch: ["org_id", "request_digest"],
  keyed_call: ["name"],
};

type Columns = Readonly<Record<string, unknown>>;

function updateOf(table: string, stored: Columns, whole: Columns): Statement {
  const key = KEYS[table]!;
  const changed = Object.keys(whole).filter((column) => whole[column] !== stored[column]);
  return {
    sql: `UPDATE ${table} SET ${changed.map((column) => `${column} = ?`).join(", ")}
      WHERE ${key.map((column) => `${column} = ?`).join(" AND ")}`,
    parameters: [...changed.map((column) => whole[column]), ...key.map((column) => stored[column])],
    mustChange: 1,
  };
}
