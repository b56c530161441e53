/**
 * What follows a score, each at most once: the entry that commits it, and its late label. Each has a row of its own, and
 * the score's row says where both stand. So a row that was taken out, put in or exchanged contradicts another one.
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

/** What is known to follow a score; null if it has not come yet. */
export interface Following {
  readonly commit: ScoreCommitRow | null;
  readonly label: OutcomeLabelRow | null;
  /** What the chain has. */
  readonly entries: FollowingEntries | null;
}

/** What {@link knownFollowing} reads, the score's own row included. */
export function followingNeeds(session: Key): readonly Need[] {
  return [interactions, scoreCommits, outcomeLabels, followingEntries].map((kind) => ({
    kind,
    key: session,
  }));
}

/** What is known to follow a score. @throws {AlteredRows} as {@link requireFollowing}, or if a row is none of ours. */
export function knownFollowing(unit: UnitOfWork, row: InteractionRow): Following {
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
 * What follows a score, which must fit to the score's own row.
 *
 * The chain is asked besides, because old rows that are put back together contradict nothing. Whoever alters the chain's
 * rows too, and puts them back afterwards, leaves two entries of one kind, which every verification finds.
 * @throws {AlteredRows} if a row was taken out, put in or exchanged, or an old one was put back.
 */
export function requireFollowing(
  row: Pick<InteractionRow, "org_id" | "commit_position" | "label_position">,
  { commit, label, entries }: Following,
): void {
  if (row.commit_position !== (commit?.position ?? null)) throw altered(row, "score_commit");
  if (row.label_position !== (label?.position ?? null)) throw altered(row, "outcome_label");
  const isOlder = (row.commit_position === null && (entries?.commit_position ?? null) !== null) ||
    (row.label_position === null && (entries?.label_position ?? null) !== null);
  if (isOlder) throw altered(row, "interaction");
}

/** Notes in a score's row what has come to follow it. */
export function followedBy(
  unit: UnitOfWork,
  row: InteractionRow,
  position: Partial<Pick<InteractionRow, "commit_position" | "label_position">>,
): void {
  // One call may bring both.
  unit.put(followedInteractions, { ...unit.get(interactions, interactions.keyOf(row))!, ...position });
}

function altered({ org_id }: Pick<InteractionRow, "org_id">, table: string): AlteredRows {
  return new AlteredRows(evidenceChain(org_id), `a row of ${table}`);
}
