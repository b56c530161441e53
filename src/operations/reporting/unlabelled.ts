/**
 * Lists the scores whose truth nobody knows yet, in the order in which a label teaches most. The list goes back through the chain
 * in stretches of a fixed number of scores and sorts each by itself: a page costs the same however long the history is, and needs
 * no index that each score would have to keep. A stretch never moves, since entries are only appended, so labels that arrive
 * meanwhile take rows away and change nothing else.
 */
import type { Proving, Reading } from "../shared/capabilities.ts";
import { AlteredError } from "../../domain/errors.ts";
import { teachingRank } from "../../domain/labelling.ts";
import { LABEL_STRETCH, LABEL_STRETCHES_OF_PAGE } from "../../domain/limits.ts";
import { evidenceChain } from "../../evidence/chain_name.ts";
import type { ScoreInput } from "../../evidence/record.ts";
import type { StoredChain } from "../../store/chains.ts";
import type { ProvenRecord } from "../../store/proven_pages.ts";
import { type EntryPage, scoredEntriesQuery, unlabelledQuery } from "../../store/record_list.ts";
import { type InteractionRow, interactions, outcomeLabels } from "../../store/records.ts";
import { AlteredRows } from "../../store/seals.ts";
import type { OrganizationCaller } from "../shared/call.ts";
import { ownEpochs, readAtPositions } from "../shared/proven_records.ts";
import { requireSealed } from "../shared/sealed_reads.ts";
import { EVENT_TYPES, listItem, pseudonymOf, type RecordQuery, requireErased } from "./record_list.ts";

/** The dependencies of these operations. */
type Needs = Reading & Proving;

/** The place of a row in its stretch. */
interface RowPlace {
  readonly rank: number;
  readonly position: number;
}

/** The beginning of a page: in the stretch of scores below a position, after a row; null for its first row. */
export interface UnlabelledStart {
  readonly top: number;
  readonly after: RowPlace | null;
}

interface Candidate extends RowPlace {
  readonly sessionId: string;
}

/**
 * A page of scores that may be labelled, and where the next one begins. It has fewer rows than asked for, or none, if most of the
 * scores that a page looks through need no label.
 * @throws {AlteredError} if a row is not what was recorded; {AlteredRows}.
 */
export async function listUnlabelled(
  dependencies: Needs,
  { orgId }: OrganizationCaller,
  { operatorId, since = null, until = null, limit, start }: {
    readonly operatorId: string | null;
    /** Bounds as in {@link RecordQuery}. */
    readonly since?: string | null;
    readonly until?: string | null;
    readonly limit: number;
    /** null to begin at the newest. */
    readonly start: UnlabelledStart | null;
  },
) {
  const pseudonym = operatorId === null ? null : await pseudonymOf(dependencies, orgId, operatorId);
  if (pseudonym === undefined) return { decisions: [], next: null };
  const recordQuery: RecordQuery = {
    eventTypes: [EVENT_TYPES.score],
    operator: operatorId === null || pseudonym === null ? null : { id: operatorId, pseudonym },
    since,
    until,
  };
  const epochs = await ownEpochs(dependencies, evidenceChain(orgId));
  const candidates: Candidate[] = [];
  let next = start;
  for (let looked = 0; looked < LABEL_STRETCHES_OF_PAGE && candidates.length < limit; looked += 1) {
    const stretch = await readStretch(dependencies, epochs, {
      orgId,
      page: { pseudonym, since, until },
      below: next?.top ?? null,
    });
    const after = next?.after ?? null;
    const left = stretch.candidates.filter((row) => after === null || comparePlaces(after, row) < 0)
      .toSorted(comparePlaces);
    const room = limit - candidates.length;
    candidates.push(...left.slice(0, room));
    if (left.length > room) {
      const { rank, position } = candidates.at(-1)!;
      next = { top: stretch.top, after: { rank, position } };
      break;
    }
    next = stretch.bottom === null ? null : { top: stretch.bottom, after: null };
    if (next === null) break;
  }
  return { decisions: await readCases(dependencies, epochs, { orgId, candidates, recordQuery }), next };
}

/** The order of a stretch: what teaches more comes first, then what is newer. */
function comparePlaces(one: RowPlace, other: RowPlace): number {
  return other.rank - one.rank || other.position - one.position;
}

/** A stretch of scores, with those that may be labelled. */
interface Stretch {
  /** The position above its newest score. */
  readonly top: number;
  /** The position of its oldest score; null if there is no older one. */
  readonly bottom: number | null;
  readonly candidates: readonly Candidate[];
}

async function readStretch(
  dependencies: Needs,
  epochs: readonly StoredChain[],
  { orgId, page, below }: {
    readonly orgId: string;
    readonly page: Pick<EntryPage, "pseudonym" | "since" | "until">;
    readonly below: number | null;
  },
): Promise<Stretch> {
  const { database } = dependencies;
  const positions: number[] = [];
  const candidates: Candidate[] = [];
  for (const { chain, firstPosition, frontier } of epochs.toReversed()) {
    const before = Math.min(frontier.size, (below ?? Infinity) - firstPosition);
    const limit = LABEL_STRETCH - positions.length;
    if (before <= 0 || limit === 0) continue;
    const places = await database.read(
      scoredEntriesQuery({ ...page, chain, eventTypes: [EVENT_TYPES.score], below: before, limit }),
    );
    const seqs = places.map(({ seq }) => seq);
    positions.push(...seqs.map((seq) => firstPosition + seq));
    for (const { seq, session_id, ...row } of await database.read(unlabelledQuery(orgId, { chain, seqs }))) {
      candidates.push({
        position: firstPosition + seq,
        rank: teachingRank(row),
        sessionId: session_id,
      });
    }
  }
  return {
    top: below ?? (positions[0] ?? -1) + 1,
    bottom: positions.length < LABEL_STRETCH ? null : positions.at(-1)!,
    candidates,
  };
}

/** The cases of a page, each from its sealed row and its proven entry, in the order of the candidates. */
async function readCases(
  dependencies: Needs,
  epochs: readonly StoredChain[],
  { orgId, candidates, recordQuery }: {
    readonly orgId: string;
    readonly candidates: readonly Candidate[];
    readonly recordQuery: RecordQuery;
  },
) {
  const keys = JSON.stringify(candidates.map(({ sessionId }) => [orgId, sessionId]));
  // The rows are read first: content that was erased since is missing in both.
  const [rows, labels] = await dependencies.database.snapshot([
    interactions.load(keys),
    outcomeLabels.load(keys),
  ]);
  requireSealed(dependencies, interactions, rows);
  const rowOf = new Map(rows.map((row) => [row.session_id, row]));
  const labelled = new Set(labels.map(({ session_id }) => session_id));
  const records = await readAtPositions(dependencies, epochs, candidates.map(({ position }) => position));
  await requireErased(dependencies, orgId, [...records.values()]);
  return candidates.flatMap(({ position, sessionId }) => {
    const record = records.get(position);
    // Retention removed the entry during the look-up.
    if (record === undefined) return [];
    const item = listItem(record, recordQuery);
    if (item === null) return [];
    const row = rowOf.get(sessionId);
    if (row === undefined) throw new AlteredRows(evidenceChain(orgId), "a row of interaction");
    if ((row.label_position !== null) !== labelled.has(sessionId)) {
      throw new AlteredRows(evidenceChain(orgId), "a row of outcome_label");
    }
    // Somebody labelled it during the look-up.
    if (row.label_position !== null) return [];
    const { scenario_type, ai_recommendation_presented } = caseOf(record, { row, position });
    // Neither the score nor the verdict is shown: a label must not follow from what is thought of the reviewer.
    return [{ ...item, jis: null, band: null, verdict: null, scenario_type, ai_recommendation_presented }];
  });
}

/** The interaction of a proven entry. @throws {AlteredError} if it is not the one of the row, or needs no label. */
function caseOf(
  { entry: { chain, seq }, parts }: ProvenRecord,
  { row, position }: { readonly row: InteractionRow; readonly position: number },
): ScoreInput["interaction"] {
  const { session_id, interaction }: ScoreInput = JSON.parse(parts.get("input")!.text);
  const isOfRow = row.position === position && row.session_id === session_id &&
    row.decision === interaction.decision && row.scenario_type === interaction.scenario_type &&
    interaction.outcome_correct === null;
  if (isOfRow) return interaction;
  throw new AlteredError(chain, `entry ${seq} of ${chain} is another than its row says`);
}
