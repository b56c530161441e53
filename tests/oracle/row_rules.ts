/** Rules of the tables beside the chains: every row refers to its entry, and no entry lacks its row. */
import assert from "node:assert/strict";
import { type Database, query } from "../../src/store/database.ts";
import { type Chain, cutOffPosition, familiesOf, type Link, linkAt, partOf } from "./chains.ts";
import type { SubjectStates } from "./record_rules.ts";
import { sha256 } from "./tree.ts";

export async function verifyRows(
  database: Database,
  chains: readonly Chain[],
  states: SubjectStates,
): Promise<void> {
  const families = familiesOf(chains);
  const find = finderOf(families);
  await partsAreOfKnownOperators(database, chains);
  await scoresHaveTheirRows(database, find);
  await scoresHaveTheirVerdicts(database, find);
  await scoresAreFollowedAsTheirRowsSay(database, find);
  await decisionsHaveTheirRows(database, find);
  await reportsHaveTheirRows(database, find);
  await batchesAreScores(database, find);
  await keyedCallsAreOfKnownOperators(database);
  await operatorsAreWhereTheirLastEntryLeftThem(database, families, states);
  await tombstonesNameTheirCause(database, chains);
  recordsHaveRows(chains, await placesOf(database), await sessionsOf(database));
  await scoresFollowOneAnother(database);
  await frozenCallsFollowOneAnother(database);
}

/** The entry at a position of an organization's evidence, counted over the epochs. */
type Find = (place: { readonly org_id: string; readonly position: number }, type: string) => Link;

function finderOf(families: ReadonlyMap<string, readonly Chain[]>): Find {
  return ({ org_id, position }, type) => {
    const where = `org/${org_id} position ${position}`;
    const epochs = families.get(`org/${org_id}`) ?? [];
    const chain = epochs.findLast(({ row }) => row.first_position <= position);
    const link = chain && linkAt(chain, position - chain.row.first_position);
    assert.equal(link?.entry.event_type, type, where);
    return link!;
  };
}

/** The content of a part. No row is kept longer than its entry's parts, so none is missing. */
function said(link: Link, name: string) {
  const part = partOf(link, name);
  assert.ok(part !== undefined, `${link.row.chain} ${link.entry.seq}: ${name} is kept as long as its row`);
  return part;
}

async function scoresHaveTheirRows(database: Database, find: Find): Promise<void> {
  const pseudonyms = await pseudonymsOf(database);
  for (
    const [table, type] of [["interaction", "SCORE_COMPUTED"], [
      "skipped_interaction",
      "SCORE_SKIPPED",
    ]] as const
  ) {
    const rows = await database.read(
      query.selectFrom(table).select(["org_id", "session_id", "operator_id", "at", "position"]).compile(),
    );
    for (const row of rows) {
      const link = find(row, type);
      const { session_id, operator_id, as_of } = said(link, "input");
      assert.deepEqual(
        [session_id, operator_id, Date.parse(as_of), link.entry.subject],
        [row.session_id, row.operator_id, row.at, pseudonyms.get(`${row.org_id}/${row.operator_id}`)],
        `${table} ${row.org_id}/${row.session_id}`,
      );
    }
  }
}

/** The row of a full-mode score holds the verdict of its result, and null if that has none. */
async function scoresHaveTheirVerdicts(database: Database, find: Find): Promise<void> {
  const rows = await database.read(
    query.selectFrom("interaction").select(["org_id", "session_id", "position", "mode", "verdict"]).compile(),
  );
  for (const row of rows) {
    const { verdict } = said(find(row, "SCORE_COMPUTED"), "result").compliance;
    const where = `verdict of ${row.org_id}/${row.session_id}`;
    if (row.mode === "full") assert.equal(row.verdict, verdict?.status ?? null, where);
    else assert.equal(row.verdict === null, verdict === undefined, where);
  }
}

/**
 * A commit and a late label are at the places that their own rows and the score's row name, and have the same
 * content.
 */
async function scoresAreFollowedAsTheirRowsSay(database: Database, find: Find): Promise<void> {
  const rows = await database.read(query.selectFrom("interaction").selectAll().compile());
  const scores = new Map(rows.map((row) => [`${row.org_id}/${row.session_id}`, row]));
  for (
    const [table, type, part, column] of [
      ["score_commit", "SCORE_COMMITTED", "result", "commit_position"],
      ["outcome_label", "OUTCOME_LABELLED", "input", "label_position"],
    ] as const
  ) {
    const rows = await database.read(query.selectFrom(table).selectAll().compile());
    for (const row of rows) {
      const where = `${table} ${row.org_id}/${row.session_id}`;
      const { session_id, operator_id, label } = said(find(row, type), part);
      assert.equal(session_id, row.session_id, where);
      if ("outcome_correct" in row) assert.equal(label ? 1 : 0, row.outcome_correct, where);
      const score = scores.get(`${row.org_id}/${row.session_id}`);
      assert.deepEqual([score?.operator_id, score?.[column]], [operator_id, row.position], where);
      assert.ok(row.seal !== null, `${where} is sealed`);
    }
    const noted = [...scores.values()].filter((score) => score[column] !== null);
    assert.equal(noted.length, rows.length, `each score with a ${column} has its row of ${table}`);
  }
}

/** The operator of an entry has the row of its pseudonym as long as a part of the entry is stored. */
async function partsAreOfKnownOperators(database: Database, chains: readonly Chain[]): Promise<void> {
  const known = new Map(
    [...await pseudonymsOf(database)].map(([operator, pseudonym]) => [pseudonym, operator]),
  );
  const evidence = chains.filter(({ row }) => row.family.split("/").length === 2);
  for (const { row, links } of evidence) {
    for (const link of links) {
      const { subject, event_type, org_id, seq } = link.entry;
      // The service itself records an erasure, and keeps the record after it.
      if (subject === null || event_type === "SUBJECT_ERASED") continue;
      const where = `${row.chain} ${seq}`;
      for (const name of link.parts.keys()) {
        const part = partOf(link, name);
        if (part === undefined) continue;
        const operator = known.get(subject);
        assert.ok(operator !== undefined, `${where}: ${name} is about a known operator`);
        const named = part.operator_id === undefined ? operator : `${org_id}/${part.operator_id}`;
        assert.equal(named, operator, `${where}: ${name} is about the operator of the pseudonym`);
      }
    }
  }
}

async function pseudonymsOf(database: Database): Promise<ReadonlyMap<string, string>> {
  const rows = await database.read(query.selectFrom("subject").selectAll().compile());
  return new Map(rows.map(({ org_id, operator_id, pseudonym }) => [`${org_id}/${operator_id}`, pseudonym]));
}

async function decisionsHaveTheirRows(database: Database, find: Find): Promise<void> {
  for (const row of await database.read(query.selectFrom("decision").selectAll().compile())) {
    const { decision_id, operator_id } = said(find(row, "DRS_COMPUTED"), "input");
    assert.deepEqual(
      [decision_id, operator_id],
      [row.decision_id, row.operator_id],
      `decision ${row.decision_id}`,
    );
  }
}

async function reportsHaveTheirRows(database: Database, find: Find): Promise<void> {
  for (const row of await database.read(query.selectFrom("compliance_report").selectAll().compile())) {
    assert.deepEqual(
      said(find(row, "REPORT_ISSUED"), "detail"),
      { report_id: row.report_id, report_sha256: sha256(row.report).toHex() },
      `report ${row.report_id}`,
    );
  }
}

async function batchesAreScores(database: Database, find: Find): Promise<void> {
  for (const row of await database.read(query.selectFrom("score_batch").selectAll().compile())) {
    for (let index = 0; index < row.count; index += 1) {
      const link = find({ org_id: row.org_id, position: row.first_position + index }, "SCORE_COMPUTED");
      assert.equal(said(link, "input").operator_id, row.operator_id, `batch ${row.request_digest}`);
    }
    assert.ok(row.seal !== null, `batch ${row.request_digest} is sealed`);
  }
}

/** Nobody who was erased is named beside an Idempotency-Key. */
async function keyedCallsAreOfKnownOperators(database: Database): Promise<void> {
  const strangers = await database.read(
    query.selectFrom("keyed_call").leftJoin(
      "subject",
      (join) =>
        join.onRef("subject.org_id", "=", "keyed_call.org_id")
          .onRef("subject.operator_id", "=", "keyed_call.operator_id"),
    )
      .select("keyed_call.operator_id").where("keyed_call.operator_id", "is not", null)
      .where("subject.pseudonym", "is", null).compile(),
  );
  assert.deepEqual(strangers, []);
  const unsealed = await database.read(
    query.selectFrom("keyed_call").select("name").where("seal", "is", null).compile(),
  );
  assert.deepEqual(unsealed, [], "calls are sealed");
}

/**
 * The entry that an operator's row names is the last one that changed it, and its state and verdict are those
 * after that.
 */
async function operatorsAreWhereTheirLastEntryLeftThem(
  database: Database,
  families: ReadonlyMap<string, readonly Chain[]>,
  states: SubjectStates,
): Promise<void> {
  const pseudonyms = await pseudonymsOf(database);
  const rows = await database.read(
    query.selectFrom("operator")
      .select(["org_id", "operator_id", "state", "verdict", "prior_seq", "prior_hash"]).compile(),
  );
  for (const { org_id, operator_id, state, verdict, prior_seq, prior_hash } of rows) {
    const where = `operator ${org_id}/${operator_id}`;
    const known = states.get(pseudonyms.get(`${org_id}/${operator_id}`)!);
    // If the entry was cut off since, its hash is kept.
    const hash = prior_hash.toHex();
    const cutOff = cutOffPosition(families.get(`org/${org_id}`)!, { seq: prior_seq, hash });
    if (cutOff > (known?.position ?? -1)) continue;
    assert.deepEqual(
      [prior_seq, hash, state, verdict],
      [known?.seq, known?.hash, known?.state, known?.verdict],
      where,
    );
  }
}

/** The entry that records the loss of a name is of the right kind, or was cut off itself. */
async function tombstonesNameTheirCause(database: Database, chains: readonly Chain[]): Promise<void> {
  const types: Readonly<Record<string, string>> = { erased: "SUBJECT_ERASED", pruned: "RETENTION_PRUNED" };
  for (const row of await database.read(query.selectFrom("tombstone").selectAll().compile())) {
    const where = `tombstone ${row.name.toHex()}`;
    const chain = chains.find((candidate) => candidate.row.chain === row.chain);
    assert.ok(chain !== undefined && row.seq < chain.row.size, `${where}: its chain`);
    assert.deepEqual(row.entry_hash, chain.tree.hashOf(row.seq, row.seq + 1), `${where}: hash`);
    const link = linkAt(chain, row.seq);
    if (link !== undefined) assert.equal(link.entry.event_type, types[row.reason], where);
  }
}

/** `<type> <org>/<position>` of every row of one entry. */
async function placesOf(database: Database): Promise<ReadonlySet<string>> {
  const places: string[] = [];
  for (const [type, table] of Object.entries(TABLES)) {
    const rows = await database.read(query.selectFrom(table).select(["org_id", "position"]).compile());
    places.push(...rows.map(({ org_id, position }) => `${type} ${org_id}/${position}`));
  }
  return new Set(places);
}

const TABLES = {
  SCORE_COMPUTED: "interaction",
  SCORE_SKIPPED: "skipped_interaction",
  SCORE_COMMITTED: "score_commit",
  OUTCOME_LABELLED: "outcome_label",
  DRS_COMPUTED: "decision",
  REPORT_ISSUED: "compliance_report",
} as const;

/** The parts by which records without an input are looked up. */
const PARTS: Readonly<Record<string, string>> = { REPORT_ISSUED: "detail", SCORE_COMMITTED: "result" };

/** `<org>/<session>` of every score that has a row. */
async function sessionsOf(database: Database): Promise<ReadonlySet<string>> {
  const rows = await database.read(
    query.selectFrom("interaction").select(["org_id", "session_id"]).compile(),
  );
  return new Set(rows.map(({ org_id, session_id }) => `${org_id}/${session_id}`));
}

/**
 * Every stored record can be looked up: it has its row, unless it, or the score that it follows, is past its
 * retention.
 */
function recordsHaveRows(
  chains: readonly Chain[],
  places: ReadonlySet<string>,
  sessions: ReadonlySet<string>,
): void {
  for (const { row, links } of chains) {
    for (const link of links) {
      const { event_type, org_id, seq } = link.entry;
      if (!Object.hasOwn(TABLES, event_type) || seq < row.min_index) continue;
      const part = partOf(link, PARTS[event_type] ?? "input");
      const isFollowing = ["SCORE_COMMITTED", "OUTCOME_LABELLED"].includes(event_type);
      const isHeld = part !== undefined && (!isFollowing || sessions.has(`${org_id}/${part.session_id}`));
      const has = places.has(`${event_type} ${org_id}/${row.first_position + seq}`);
      assert.equal(has, isHeld, `${row.chain} ${seq}: a row as long as its parts are stored`);
    }
  }
}

/**
 * Each score's row names the one before it, and continues its counts; the operator's row names the last, with
 * the counts and instants of the state, and has that state's figures.
 */
async function scoresFollowOneAnother(database: Database): Promise<void> {
  const rows = await database.read(query.selectFrom("interaction").selectAll().orderBy("position").compile());
  const last = new Map<string, (typeof rows)[number]>();
  for (const row of rows) {
    const operator = `${row.org_id}/${row.operator_id}`;
    const before = last.get(operator);
    last.set(operator, row);
    const isReferred = row.decision === "deferred" || row.decision === "escalated";
    const own = { departed: row.departure > 0 || isReferred ? 1 : 0, referred: isReferred ? 1 : 0 };
    assert.ok(row.seal !== null, `interaction ${row.session_id} is sealed`);
    assert.ok(row.t1 >= Math.max(row.at, before?.t1 ?? 0), `interaction ${row.session_id}: t1`);
    if (before === undefined) continue;
    assert.deepEqual(
      [row.previous, row.n, row.departed, row.referred],
      [before.position, before.n + 1, before.departed + own.departed, before.referred + own.referred],
      `interaction ${row.session_id} follows the one before it`,
    );
  }
  for (const row of await database.read(query.selectFrom("operator").selectAll().compile())) {
    const name = `operator ${row.org_id}/${row.operator_id}`;
    const newest = last.get(`${row.org_id}/${row.operator_id}`);
    const { jis, n, t0, t1, tcrit, cnt, share } = JSON.parse(row.state);
    assert.ok(row.seal !== null && row.digest !== null, `${name} is sealed`);
    assert.deepEqual(
      [row.jis, row.n, row.t0, row.t1, row.tcrit, row.crit_count, row.share_hs, row.share_crit],
      [jis, n, t0, t1, tcrit, cnt.crit, share.hs, share.crit],
      `${name} has the figures of its state`,
    );
    if (newest === undefined) continue;
    assert.deepEqual(
      [newest.position, newest.n, newest.t0, newest.t1, newest.departed, newest.referred, newest.domain],
      [row.position, n, t0, t1, cnt.dep, cnt.ref, row.domain],
      `${name} is as its last score left it`,
    );
  }
}

/**
 * Each frozen call's row names the one before it, and continues its counts; each operator with such rows has
 * a row with the values of the last of them. So may an operator whose frozen calls were all pruned.
 */
async function frozenCallsFollowOneAnother(database: Database): Promise<void> {
  const rows = await database.read(
    query.selectFrom("skipped_interaction").selectAll().orderBy("position").compile(),
  );
  const last = new Map<string, (typeof rows)[number]>();
  for (const row of rows) {
    const operator = `${row.org_id}/${row.operator_id}`;
    const name = `frozen call ${row.session_id}`;
    const before = last.get(operator);
    last.set(operator, row);
    assert.ok(row.seal !== null, `${name} is sealed`);
    // The first stored one may continue one that was pruned.
    if (before === undefined && row.previous !== null) {
      assert.ok(row.previous < row.position && row.n > 1 && row.t1 >= row.at, `${name} continues the counts`);
      continue;
    }
    assert.deepEqual(
      [row.previous, row.n, row.t0, row.t1],
      before === undefined
        ? [null, 1, row.at, row.at]
        : [before.position, before.n + 1, before.t0, Math.max(before.t1, row.at)],
      `${name} follows the one before it`,
    );
  }
  const operators = await database.read(query.selectFrom("frozen_operator").selectAll().compile());
  const known = new Set(operators.map(({ org_id, operator_id }) => `${org_id}/${operator_id}`));
  for (const name of last.keys()) assert.ok(known.has(name), `${name} is known to have frozen calls`);
  for (const { org_id, operator_id, position, n, t0, t1, seal } of operators) {
    const name = `${org_id}/${operator_id}`;
    assert.ok(seal !== null, `frozen calls of ${name} are sealed`);
    const newest = last.get(name);
    if (newest === undefined) continue;
    assert.deepEqual(
      [position, n, t0, t1],
      [newest.position, newest.n, newest.t0, newest.t1],
      `frozen calls of ${name} are those up to the last`,
    );
  }
}
