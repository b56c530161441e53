/**
 * Two things may follow a score, each at most once: the entry that commits it, and its late label. Each has a
 * row of its own, and the score's row holds the positions of both. So a row that was removed, added or
 * exchanged contradicts another.
 */
import {
  followedInteractions,
  type FollowingEntries,
  followingEntries,
  type InteractionRow,
  interactions,
  type Key,
  type OutcomeLabelRow,
  outcomeLabels,
  type ScoreCommitRow,
  scoreCommits,
} from "../../store/records.ts";
import { AlteredRows } from "../../store/seals.ts";
import type { Need, UnitOfWork } from "../../store/unit_of_work.ts";
import { evidenceChain } from "../../evidence/chain_name.ts";

/** The commit and the late label of a score; each is null if it has not come yet. */
export interface Following {
  readonly commit: ScoreCommitRow | null;
  readonly label: OutcomeLabelRow | null;
  /** The entries in the chain that follow the score. */
  readonly entries: FollowingEntries | null;
}

/** The rows that {@link readFollowing} reads, including the score's own row. */
export function followingNeeds(session: Key): readonly Need[] {
  return [interactions, scoreCommits, outcomeLabels, followingEntries].map((kind) => ({
    kind,
    key: session,
  }));
}

/**
 * Reads the commit and the late label of a score.
 * @throws {AlteredRows} as {@link requireFollowing}, or if a row is not what this installation wrote.
 */
export function readFollowing(unit: UnitOfWork, row: InteractionRow): Following {
  const session = interactions.keyOf(row);
  const following = {
    commit: unit.get(scoreCommits, session),
    label: unit.get(outcomeLabels, session),
    entries: unit.get(followingEntries, session),
  };
  requireFollowing(row, following);
  return following;
}

/**
 * Requires that the commit and the late label of a score agree with the score's own row.
 *
 * The chain is checked too, because old rows that are put back together contradict nothing. If somebody
 * alters the chain's rows too, and puts them back later, the chain then has two entries of one kind, which
 * every verification finds.
 * @throws {AlteredRows} if a row was removed, added or exchanged, or an old row was put back.
 */
export function requireFollowing(
  row: Pick<InteractionRow, "org_id" | "commit_position" | "label_position">,
  { commit, label, entries }: Following,
): void {
  if (row.commit_position !== (commit?.position ?? null)) throw alteredRowError(row, "score_commit");
  if (row.label_position !== (label?.position ?? null)) throw alteredRowError(row, "outcome_label");
  const isOlder = (row.commit_position === null && (entries?.commit_position ?? null) !== null) ||
    (row.label_position === null && (entries?.label_position ?? null) !== null);
  if (isOlder) throw alteredRowError(row, "interaction");
}

/** Writes the position of the commit or of the late label into the score's row. */
export function savePositionInScore(
  unit: UnitOfWork,
  row: InteractionRow,
  position: Partial<Pick<InteractionRow, "commit_position" | "label_position">>,
): void {
  // One call may bring both, so the row is read again.
  unit.put(followedInteractions, { ...unit.get(interactions, interactions.keyOf(row))!, ...position });
}

function alteredRowError({ org_id }: Pick<InteractionRow, "org_id">, table: string): AlteredRows {
  return new AlteredRows(evidenceChain(org_id), `a row of ${table}`);
}
