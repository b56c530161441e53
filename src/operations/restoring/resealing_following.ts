/**
 * Seals the rows of commits, late labels, batches and calls with a key. A commit and a label are made anew
 * from their entries, and each is noted in its score's row, too. No chain holds a batch's digest or a call's
 * key: a batch is taken as it is if its scores exist, and a call whose row was altered is removed.
 */
import type { Reading } from "../shared/capabilities.ts";
import { organizationOf } from "../../evidence/chain_name.ts";
import { entrySchema } from "../../evidence/entry.ts";
import { loadEpochs } from "../../store/chains.ts";
import type { Database, Statement } from "../../store/database.ts";
import { deleteKeyedCall, readKeyedCalls } from "../../store/keyed_calls.ts";
import { deleteRecordRows, deleteUnfollowedRows } from "../../store/record_rows.ts";
import { readParts, type RecordedPart } from "../../store/recorded_inputs.ts";
import {
  followedInteractions,
  type InteractionRow,
  interactions,
  keyedCalls,
  type OutcomeLabelRow,
  outcomeLabels,
  scoreBatches,
  type ScoreCommitRow,
  scoreCommits,
} from "../../store/records.ts";
import { readBatches, setBatchSeal } from "../../store/score_batches.ts";
import { sealed, shareOf } from "../../store/seals.ts";
import { type AcceptanceDependencies, AcceptedChain } from "./accepted_records.ts";

type Sealing = Pick<Reading, "database" | "seals">;

/**
 * Seals the rows that follow the scores of a family, and the rows that stand for no entry. The scores' rows
 * must be sealed already. For an upgrade the whole chain was just verified; otherwise an entry counts only if
 * it is proven.
 */
export async function sealFollowing(
  dependencies: AcceptanceDependencies,
  family: string,
  { isUpgrade }: { readonly isUpgrade: boolean },
): Promise<void> {
  const { database } = dependencies;
  const orgId = organizationOf(family)!;
  const epochs = await loadEpochs(database, family);
  for (const { name, eventType } of FOLLOWING) {
    for (const epoch of epochs) {
      const { chain, firstPosition, minIndex, frontier } = epoch;
      const accepted = isUpgrade ? null : await AcceptedChain.open(dependencies, epoch);
      const span = isUpgrade
        ? { chain, first: minIndex, end: frontier.size, eventTypes: [eventType], name }
        : { chain, first: 0, end: Number.MAX_SAFE_INTEGER, eventTypes: null, name };
      for await (const stored of readParts(database, span)) {
        const proven = await accepted?.parts(stored, name);
        const page = stored.filter(({ seq, event_type }) =>
          (proven === undefined ? event_type : proven.get(seq)?.event_type) === eventType
        );
        const rows = await readRows(database, orgId, page);
        const followed = page.flatMap((part) =>
          followedRows({ ...part, event_type: eventType }, firstPosition + part.seq, rows)
        );
        await writeFollowed(dependencies, followed);
      }
    }
  }
  await database.batch(deleteUnfollowedRows(orgId));
  await sealBatches(dependencies, orgId);
  await deleteAlteredCalls(dependencies, orgId);
}

const FOLLOWING = [
  { name: "result", eventType: "SCORE_COMMITTED" },
  { name: "input", eventType: "OUTCOME_LABELLED" },
] as const;

interface FollowedRows {
  readonly scores: ReadonlyMap<string, InteractionRow>;
  readonly commits: ReadonlyMap<string, ScoreCommitRow>;
  readonly labels: ReadonlyMap<string, OutcomeLabelRow>;
}

async function readRows(
  database: Database,
  orgId: string,
  page: readonly RecordedPart[],
): Promise<FollowedRows> {
  const keys = JSON.stringify(page.map(({ data }) => [orgId, JSON.parse(data).session_id]));
  const [scores, commits, labels] = await database.snapshot<
    [InteractionRow, ScoreCommitRow, OutcomeLabelRow]
  >([interactions.load(keys), scoreCommits.load(keys), outcomeLabels.load(keys)]);
  return {
    scores: new Map(scores.map((row) => [row.session_id, row])),
    commits: new Map(commits.map((row) => [row.session_id, row])),
    labels: new Map(labels.map((row) => [row.session_id, row])),
  };
}

/** A score's row, and the row of the commit or label that follows it. */
interface Followed {
  readonly score: InteractionRow;
  readonly commit?: ScoreCommitRow;
  readonly label?: OutcomeLabelRow;
}

/** The rows that an entry gives; none if its score is no longer held. */
function followedRows(
  { body, data, event_type }: RecordedPart,
  position: number,
  { scores, commits, labels }: FollowedRows,
): readonly Followed[] {
  const { session_id, label } = JSON.parse(data);
  const score = scores.get(session_id);
  if (score === undefined) return [];
  const { id, timestamp } = entrySchema.parse(JSON.parse(body));
  const known = (event_type === "SCORE_COMMITTED" ? commits : labels).get(session_id);
  const row = {
    org_id: score.org_id,
    session_id,
    // The id is stored nowhere else; a missing row gets the id of its entry.
    request_id: known?.request_id ?? id,
    at: Date.parse(timestamp),
    position,
  };
  return event_type === "SCORE_COMMITTED"
    ? [{ score: { ...score, commit_position: position }, commit: row }]
    : [{ score: { ...score, label_position: position }, label: { ...row, outcome_correct: label ? 1 : 0 } }];
}

async function writeFollowed({ database, seals }: Sealing, followed: readonly Followed[]): Promise<void> {
  const statements = followed.flatMap(({ score, commit, label }): readonly Statement[] => {
    const { org_id, session_id } = score;
    const table = commit === undefined ? "outcome_label" : "score_commit";
    return [
      deleteRecordRows(table, { orgId: org_id, ids: [session_id] }),
      commit === undefined
        ? outcomeLabels.save!(sealed(seals, outcomeLabels, label!).row)
        : scoreCommits.save!(sealed(seals, scoreCommits, commit).row),
      followedInteractions.save!(sealed(seals, followedInteractions, score).row),
    ];
  });
  if (statements.length > 0) await database.batch(statements);
}

async function sealBatches({ database, seals }: Sealing, orgId: string): Promise<void> {
  for await (const page of readBatches(database, orgId)) {
    await changeUnsealed(database, page, (row) => {
      if (shareOf(seals, scoreBatches, row) !== null && row.scored === row.operator_id) return null;
      if (row.scored !== row.operator_id) {
        return deleteRecordRows("score_batch", { orgId, ids: [row.request_digest] });
      }
      return setBatchSeal(row, sealed(seals, scoreBatches, row).row.seal);
    });
  }
}

/** Removes altered rows of calls: nothing else holds a call's result, so its key counts as never used. */
async function deleteAlteredCalls({ database, seals }: Sealing, orgId: string): Promise<void> {
  for await (const page of readKeyedCalls(database, orgId)) {
    await changeUnsealed(
      database,
      page,
      (row) => shareOf(seals, keyedCalls, row) !== null ? null : deleteKeyedCall(row.name),
    );
  }
}

async function changeUnsealed<Row>(
  database: Database,
  page: readonly Row[],
  change: (row: Row) => Statement | null,
): Promise<void> {
  const statements = page.map(change).filter((statement) => statement !== null);
  if (statements.length > 0) await database.batch(statements);
}
