/**
 * Every score, decision and late label follows from its recorded input, every recorded state from the entry
 * that it names, and every commit from its score; over all epochs of a family.
 */
import assert from "node:assert/strict";
import { canonicalJson } from "../../src/evidence/canonical.ts";
import { scoreDecision } from "../../src/scoring/drs.ts";
import { NO_PARTS } from "../../src/scoring/known_cases.ts";
import { applyLabel } from "../../src/scoring/label.ts";
import type { ModelDocument } from "../../src/scoring/model.ts";
import { score } from "../../src/scoring/score.ts";
import type { OperatorState } from "../../src/scoring/state.ts";
import { judge } from "../../src/scoring/verdict.ts";
import { type Database, query } from "../../src/store/database.ts";
import { type Chain, cutOffPosition, familiesOf, isOwn, type Json, type Link, partOf } from "./chains.ts";

/** A subject's state after its last entry that changed it. */
export interface SubjectState {
  readonly seq: number;
  /** Counted over the epochs. */
  readonly position: number;
  readonly hash: string;
  /** Canonical JSON. */
  readonly state: string;
  /** The verdict of the state, by the entry's model; null if that has none. */
  readonly verdict: string | null;
}

/** By pseudonym. */
export type SubjectStates = ReadonlyMap<string, SubjectState>;

/** Recomputes every record that is still stored. @returns the states after all of them. */
export async function verifyRecords(database: Database, chains: readonly Chain[]): Promise<SubjectStates> {
  const documents = await database.read(query.selectFrom("model_document").selectAll().compile());
  const models = new Map(
    documents.map(({ sha256, document }) => [sha256, JSON.parse(document) as ModelDocument]),
  );
  const after = new Map<string, SubjectState>();
  for (const epochs of familiesOf(chains).values()) {
    const family = new Family(epochs);
    for (const record of family.records) verifyRecord(record, { family, models, after });
  }
  return after;
}

interface Context {
  readonly family: Family;
  readonly models: ReadonlyMap<string, ModelDocument>;
  readonly after: Map<string, SubjectState>;
}

/** A record with its parts still stored. */
interface FoundRecord {
  /** Names the record in messages. */
  readonly where: string;
  readonly link: Link;
  readonly position: number;
  readonly input: Json;
  readonly result: Json;
}

/** The entries of all epochs of a family, by hash; the seq only helps to find them. */
class Family {
  readonly epochs: readonly Chain[];
  readonly records: readonly FoundRecord[];
  /** Whether earlier entries may be gone. */
  readonly isCut: boolean;
  readonly #byHash: ReadonlyMap<string, Link>;

  constructor(epochs: readonly Chain[]) {
    this.epochs = epochs;
    const links = epochs.flatMap((chain) => chain.links.map((link) => ({ chain, link })));
    this.isCut = epochs.some(({ row }) => row.min_index > 0);
    this.#byHash = new Map(links.map(({ link }) => [link.row.entry_hash.toHex(), link]));
    this.records = links.map(({ chain, link }) => ({
      where: `${chain.row.chain} ${link.entry.seq}`,
      link,
      position: chain.row.first_position + link.entry.seq,
      input: partOf(link, "input"),
      result: partOf(link, "result"),
    }));
  }

  /** The entry that an entry refers to; undefined if it was cut off. @throws if it never existed. */
  referred(hash: string, where: string): Link | undefined {
    const link = this.#byHash.get(hash);
    assert.ok(link !== undefined || this.isCut, `${where}: the entry referred to`);
    return link;
  }
}

const STATEFUL = ["SCORE_COMPUTED", "DRS_COMPUTED", "OUTCOME_LABELLED"];

function verifyRecord(record: FoundRecord, context: Context): void {
  const { link, input, where } = record;
  const { event_type } = link.entry;
  // An operator who comes back after an erasure has no earlier state.
  if (isOwn(link, "SUBJECT_ERASED")) context.after.delete(link.entry.subject);
  if (event_type === "SCORE_COMMITTED") commitSaysTheScore(record, context);
  if (!STATEFUL.includes(event_type) || input === undefined) return;
  priorIsTheLast(record, context);
  const model = context.models.get(input.algo.model_sha256);
  assert.ok(model !== undefined, `${where}: model`);
  if (event_type === "DRS_COMPUTED") return decisionFollows(record, model);
  const state = event_type === "SCORE_COMPUTED"
    ? scoreFollows(record, model)
    : labelFollows(record, { ...context, model });
  context.after.set(link.entry.subject, {
    seq: link.entry.seq,
    position: record.position,
    hash: link.row.entry_hash.toHex(),
    state: canonicalJson(state),
    verdict: model.discrimination === undefined
      ? null
      : judge(model, state.ev ?? NO_PARTS, "full").verdict.status,
  });
}

/** The recorded numbers, made final. */
function commitSaysTheScore({ link, result, where }: FoundRecord, { family }: Context): void {
  const detail = partOf(link, "detail");
  if (detail === undefined) return;
  const scored = family.referred(detail.ref_entry_hash, where);
  if (scored === undefined) return;
  assert.deepEqual(
    [scored.entry.id, scored.entry.seq],
    [detail.ref_id, detail.ref_seq],
    `${where}: the score`,
  );
  assert.equal(scored.entry.subject, link.entry.subject, `${where}: subject`);
  // A score below a cut may have lost its parts already.
  const recorded = partOf(scored, "result");
  if (recorded === undefined) return;
  assert.deepEqual(
    result,
    { ...recorded, provisional: false, committed: true },
    `${where}: the recorded numbers`,
  );
}

/**
 * The state before is the one after the subject's last entry; only an entry that was cut off cannot be
 * compared.
 */
function priorIsTheLast({ link, input, where }: FoundRecord, { family, after }: Context): void {
  const known = after.get(link.entry.subject);
  if (input.prior !== null) {
    const { seq, entry_hash: hash } = input.prior;
    if (cutOffPosition(family.epochs, { seq, hash }) > (known?.position ?? -1)) return;
  }
  assert.deepEqual(
    input.prior,
    known === undefined ? null : { seq: known.seq, entry_hash: known.hash },
    `${where}: prior`,
  );
  assert.equal(canonicalJson(input.state), known?.state ?? "null", `${where}: state before`);
}

function decisionFollows({ link, input, result, where }: FoundRecord, model: ModelDocument): void {
  const { interaction, domain, stakes, state, as_of } = input;
  const replayed = scoreDecision(model, state, { interaction, domain, stakes, now: Date.parse(as_of) });
  for (const [name, value] of Object.entries(replayed)) {
    assert.deepEqual(result[name], value, `${where}: ${name}`);
  }
  assert.equal(result.audit_id, link.entry.id, `${where}: audit_id`);
}

function scoreFollows({ input, result, where }: FoundRecord, model: ModelDocument): OperatorState {
  const { interaction, domain, state, as_of, mode } = input;
  const now = Date.parse(as_of);
  const replayed = score(model, state, { interaction, domain, now }, { mode, modeOverride: "normal" });
  for (const [name, value] of Object.entries(replayed.result)) {
    assert.deepEqual(result[name], value, `${where}: ${name}`);
  }
  assert.deepEqual(input.weights, replayed.weights, `${where}: weights`);
  return replayed.state;
}

function labelFollows(
  { input, where }: FoundRecord,
  { family, model }: Context & { readonly model: ModelDocument },
): OperatorState {
  const { weights, decision, scenario_type, label, ai_correct, session_id, state } = input;
  const link = family.referred(input.ref_entry_hash, where);
  const scored = link && partOf(link, "input");
  if (scored !== undefined) {
    assert.deepEqual([link!.entry.id, link!.entry.seq], [input.ref_id, input.ref_seq], `${where}: the score`);
    assert.deepEqual(
      [weights, decision, scenario_type, session_id, input.ai_correct_at_scoring],
      [
        scored.weights,
        scored.interaction.decision,
        scored.interaction.scenario_type,
        scored.session_id,
        scored.interaction.ai_correct,
      ],
      `${where}: what the score recorded`,
    );
  }
  const isAdviceCounted = input.ai_correct_at_scoring !== undefined && decision !== "modified";
  return applyLabel(model, state, {
    weights,
    decision,
    scenario_type,
    outcome_correct: label,
    ai_correct: ai_correct ?? input.ai_correct_at_scoring,
    isAdviceCounted,
  });
}
