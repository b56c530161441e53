/**
 * The oracle itself: it accepts a database with everything that can happen to evidence, and notices each
 * single change in it.
 */
import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import type { Signer } from "../../src/evidence/crypto.ts";
import { nodeCrypto, signerFromPem } from "../../src/evidence/node_crypto.ts";
import { parseCheckpoint, parseNote, signNote } from "../../src/evidence/note.ts";
import { anchorChains } from "../../src/operations/chains/anchoring.ts";
import { eraseOperator } from "../../src/operations/subjects/erasure.ts";
import { acknowledgeRestore } from "../../src/operations/restoring/restores.ts";
import { pruneChains } from "../../src/operations/chains/retention.ts";
import { retireKey } from "../../src/operations/shared/signing.ts";
import { openEmbedded } from "../../src/store/embedded.ts";
import { type Harness, openHarness, pemOf, scoreRequest, SIGNING_KEY_PEM } from "../harness.ts";
import { verifyDatabase } from "../oracle.ts";

const DAY = 86_400_000;
const FIRST = signerFromPem(SIGNING_KEY_PEM);
const SECOND = signerFromPem(pemOf("jiss test signing key, the second one"));
const STRANGER = signerFromPem(pemOf("jiss test signing key, the strange one"));

// ---- a database with everything in it ---------------------------------------------------------------------

async function ask({ send }: Harness, path: string, request: Parameters<Harness["send"]>[1]): Promise<void> {
  const answer = await send(path, request);
  assert.equal(answer.status, 200, `${path}: ${answer.text}`);
}

/** One record of every kind that an evidence chain can hold. */
async function writeDay(harness: Harness, key: string, name: string): Promise<void> {
  const unlabelled = (session: string, operator: string) =>
    scoreRequest({ session_id: `${name}-${session}`, operator_id: operator }, { outcome_correct: null });
  await ask(harness, "/v1/score", { key, body: unlabelled("score", "stays") });
  await ask(harness, "/v1/score", { key, body: unlabelled("other", "leaves") });
  await ask(harness, `/v1/score/${name}-score/commit`, { key, body: { outcome_correct: true } });
  await ask(harness, "/v1/score?mode_override=incident_frozen", { key, body: unlabelled("frozen", "stays") });
  const item = { time_to_decision_ms: 5000, decision: "accepted" };
  const interactions = ["a", "b"].map((suffix) => ({ session_id: `${name}-${suffix}`, ...item }));
  await ask(harness, "/v1/score/batch", {
    key,
    body: { operator_id: "stays", domain: "general", interactions },
  });
  await ask(harness, "/v1/decision/score", {
    key,
    body: { decision_id: `${name}-decision`, operator_id: "stays", domain: "general", ...item },
  });
  const [start, end] = [0, DAY].map((more) =>
    new Date(harness.clock.now() + more).toISOString().slice(0, 10)
  );
  await ask(harness, `/v1/compliance/report?period_start=${start}&period_end=${end}`, { key });
}

/** A part that an erasure removed later. */
interface TakenPart {
  readonly chain: string;
  readonly seq: number;
  readonly name: string;
  readonly salt: Uint8Array;
  readonly data: string;
}

/**
 * Makes a database that was pruned, rotated with its old key retired, anchored, restored and erased; returns
 * the erased part.
 */
async function writeEverything(directory: string): Promise<TakenPart> {
  const files = { path: `${directory}/jiss.db`, lockPath: `${directory}/lock.db`, evidenceRetentionDays: 30 };
  const first = await openHarness(files);
  const key = await first.organization("acme");
  await writeDay(first, key, "pruned");
  first.clock.advance(20 * DAY);
  await writeDay(first, key, "kept");
  await first.rotateSigningKey(SECOND);
  await writeDay(first, key, "overlap");
  const { dependencies } = first;
  await retireKey(dependencies, {
    current: dependencies.signing.current(),
    known: dependencies.signing.known,
    now: first.clock.now(),
  });
  await dependencies.signing.reload();
  first.clock.advance(15 * DAY);
  await pruneChains(dependencies, first.clock.now());
  await anchorChains(dependencies, first.clock.now());
  await first.close();
  const startsAt = first.clock.now();
  Deno.copyFileSync(files.path, `${directory}/backup.db`);

  const second = await openHarness({ ...files, run: 1, startsAt, signers: [SECOND] });
  await writeDay(second, key, "lost");
  await second.close();
  Deno.copyFileSync(`${directory}/backup.db`, files.path);

  const third = await openHarness({ ...files, run: 2, startsAt, signers: [SECOND] });
  await acknowledgeRestore(third.dependencies, { reason: "a test of the oracle", now: startsAt });
  await writeDay(third, key, "after");
  third.clock.advance(DAY);
  await anchorChains(third.dependencies, third.clock.now());
  await writeDay(third, key, "last");
  const [taken] = await third.database.read<TakenPart>({
    sql: `SELECT p.chain, p.seq, p.name, salt, data FROM audit_part AS p JOIN audit_entry USING (chain, seq)
      WHERE p.chain = 'org/acme' AND data LIKE '%"operator_id":"leaves"%' AND event_type = 'SCORE_COMPUTED'`,
    parameters: [],
    query: {} as never,
    queryId: {} as never,
  });
  const call = { now: third.clock.now(), requestId: "request" };
  await eraseOperator(third.dependencies, { actor: "api", orgId: "acme", prefix: null }, {
    operatorId: "leaves",
    call,
  });
  await third.close();
  return taken!;
}

// ---- changes to it ----------------------------------------------------------------------------------------

interface Change {
  readonly what: string;
  readonly change: string | ((database: DatabaseSync, taken: TakenPart) => void);
  /** The message of the oracle. */
  readonly message: RegExp;
}

/** Signs the note of a checkpoint anew with other keys. */
function resign(chain: string, size: number, signers: readonly Signer[]): Change["change"] {
  return (database) => {
    const place = "WHERE chain = ? AND size = ?";
    const row = database.prepare(`SELECT note FROM audit_checkpoint ${place}`).get(chain, size)!;
    const { text } = parseNote(String(row.note));
    const note = signNote(nodeCrypto, { text, name: parseCheckpoint(text).origin }, signers);
    database.prepare(`UPDATE audit_checkpoint SET note = ? ${place}`).run(note, chain, size);
  };
}

const OF_E2 = "chain = 'org/acme/e2'";

const CHANGES: readonly Change[] = [
  // Entries and parts.
  {
    what: "an entry is missing",
    change: `DELETE FROM audit_entry WHERE ${OF_E2} AND seq = 3`,
    message: /gaps/,
  },
  {
    what: "entries are missing without a cut",
    change: `DELETE FROM audit_entry WHERE ${OF_E2} AND seq < 2`,
    message: /kept from 0/,
  },
  {
    what: "an entry has other content",
    change:
      `UPDATE audit_entry SET body = replace(body, '"actor":"api"', '"actor":"system"') WHERE ${OF_E2} AND seq = 2`,
    message: /hash/,
  },
  {
    what: "a column differs from its entry",
    change: `UPDATE audit_entry SET ts = '2026-01-01T00:00:00.000Z' WHERE ${OF_E2} AND seq = 2`,
    message: /columns/,
  },
  {
    what: "a part is missing",
    change: `DELETE FROM audit_part WHERE ${OF_E2} AND seq = 1 AND name = 'result'`,
    message: /parts/,
  },
  {
    what: "a part has other content",
    change:
      `UPDATE audit_part SET data = json_set(data, '$.jis', 99) WHERE ${OF_E2} AND seq = 1 AND name = 'result'`,
    message: /commitment result/,
  },
  // The tree.
  {
    what: "a node is changed",
    change: `UPDATE audit_node SET hash = zeroblob(32) WHERE ${OF_E2} AND idx = 2`,
    message: /node 2 of \[0, 2\)/,
  },
  {
    what: "a node of the pruned beginning is changed",
    change: "UPDATE audit_node SET hash = zeroblob(32) WHERE chain = 'org/acme' AND idx = 0",
    message: /org\/acme: node/,
  },
  {
    what: "a node is missing",
    change: `DELETE FROM audit_node WHERE ${OF_E2} AND idx = 5`,
    message: /nodes/,
  },
  {
    what: "the peaks are changed",
    change: `UPDATE audit_chain SET peaks = zeroblob(length(peaks)) WHERE ${OF_E2}`,
    message: /peaks/,
  },
  {
    what: "the head is changed",
    change: `UPDATE audit_chain SET head = zeroblob(32) WHERE ${OF_E2}`,
    message: /head/,
  },
  // Checkpoints and ladder.
  {
    what: "the newest checkpoint is missing",
    change:
      `DELETE FROM audit_checkpoint WHERE ${OF_E2} AND size = (SELECT size FROM audit_chain WHERE ${OF_E2})`,
    message: /newest checkpoint/,
  },
  {
    what: "a checkpoint has another size",
    change: `UPDATE audit_checkpoint SET size = 4 WHERE ${OF_E2} AND size = 3;
      DELETE FROM audit_checkpoint WHERE ${OF_E2} AND size = 3`,
    message: /e2@4|UNIQUE/,
  },
  {
    what: "a checkpoint has another time",
    change: `UPDATE audit_checkpoint SET ts = '2026-01-01T00:00:00.000Z' WHERE ${OF_E2} AND size = 2`,
    message: /timestamp/,
  },
  {
    what: "a day is missing on the ladder",
    change: `DELETE FROM audit_ladder WHERE ${OF_E2}`,
    message: /on the ladder/,
  },
  {
    what: "the ladder has a size that was never signed",
    change: `INSERT INTO audit_ladder SELECT chain, seq, ts FROM audit_entry WHERE ${OF_E2} AND seq > 0
      AND (chain, seq) NOT IN (SELECT chain, size FROM audit_checkpoint) LIMIT 1`,
    message: /ladder \d+: checkpoint/,
  },
  {
    what: "the ladder has a size within a day",
    change:
      `INSERT INTO audit_ladder SELECT chain, size, ts FROM audit_checkpoint WHERE ${OF_E2} AND size = 2`,
    message: /ladder 2: day/,
  },
  // Claims about entries that were cut off.
  {
    what: "the least index is above the cut",
    change: "UPDATE audit_chain SET min_index = min_index + 1 WHERE chain = 'org/acme'",
    message: /least index/,
  },
  {
    what: "the checkpoint at the cut is missing",
    change: `DELETE FROM audit_checkpoint WHERE chain = 'org/acme'
      AND size = (SELECT min_index FROM audit_chain WHERE chain = 'org/acme')`,
    message: /org\/acme ladder|checkpoint at the cut/,
  },
  // Keys.
  {
    what: "a checkpoint after the rotation is signed by the old key alone",
    change: resign("org/acme/e2", 3, [FIRST]),
    message: /signed by its own key/,
  },
  {
    what: "a checkpoint before the rotation is signed by the new key alone",
    change: resign("sys", 1, [SECOND]),
    message: /signed by its own key/,
  },
  {
    what: "a stranger signs, too",
    change: resign("org/acme/e2", 3, [SECOND, STRANGER]),
    message: /signed by known keys only/,
  },
  { what: "one key signs twice", change: resign("org/acme/e2", 3, [SECOND, SECOND]), message: /once each/ },
  {
    what: "the retired key still signs",
    change: resign("sys", 3, [SECOND, FIRST]),
    message: /no signature by a retired key/,
  },
  {
    what: "a chain's own key is changed",
    change: "UPDATE audit_chain SET key_ordinal = 1 WHERE chain = 'org/acme/e2'",
    message: /vkey/,
  },
  {
    what: "the keys are changed",
    change: "UPDATE signing_key SET public_key = randomblob(32) WHERE ordinal = 1",
    message: /first key/,
  },
  {
    what: "a certificate is changed",
    change:
      "UPDATE signing_key SET certificate = replace(certificate, 'scheduled', 'forgotten') WHERE ordinal = 2",
    message: /its certificate is good/,
  },
  {
    what: "a key signs from another size on",
    change: "UPDATE signing_key SET from_size = from_size - 1 WHERE ordinal = 2",
    message: /from_size/,
  },
  {
    what: "a key was retired at another size",
    change: "UPDATE signing_key SET until_size = until_size + 1 WHERE ordinal = 1",
    message: /until_size/,
  },
  // Epochs and anchors.
  {
    what: "positions begin at another one",
    change: `UPDATE audit_chain SET first_position = first_position + 1 WHERE ${OF_E2}`,
    message: /first position/,
  },
  {
    what: "a chain has another family",
    change: `UPDATE audit_chain SET family = 'org/other' WHERE ${OF_E2}`,
    message: /the chain's name/,
  },
  {
    what: "the deployment is changed",
    change: "UPDATE installation SET deployment_id = 'elsewhere'",
    message: /origin/,
  },
  {
    what: "an epoch continues from another size",
    change: "UPDATE audit_chain SET epoch = 3, chain = chain WHERE chain = 'sys/e2'",
    message: /the chain's name/,
  },
  {
    what: "a chain is marked as anchored",
    change: `UPDATE audit_chain SET anchored_size = size WHERE ${OF_E2}`,
    message: /anchored size/,
  },
  // Erasures.
  {
    what: "a part is missing and its subject was not erased",
    change: `UPDATE audit_part SET salt = NULL, data = NULL WHERE ${OF_E2} AND seq = 1`,
    message: /a part is gone, and its subject was erased/,
  },
  {
    what: "a part of an erased subject is still there",
    change: (database, { chain, seq, name, salt, data }) =>
      database.prepare("UPDATE audit_part SET salt = ?, data = ? WHERE chain = ? AND seq = ? AND name = ?")
        .run(salt, data, chain, seq, name),
    message: /org\/acme \d+: input/,
  },
  {
    what: "an erased pseudonym has an operator",
    change:
      `INSERT INTO subject SELECT 'acme', 'somebody', subject, NULL FROM audit_entry WHERE event_type = 'SUBJECT_ERASED'`,
    message: /an erased pseudonym has no operator/,
  },
  // Records.
  {
    what: "the model is changed",
    change: "UPDATE model_document SET document = json_set(document, '$.uncertainty.calibration_factor', 2)",
    message: /org\/acme.*: (?:uncertainty|jis|interval|low|high)/,
  },
  {
    what: "an operator's state is changed",
    change: "UPDATE operator SET state = json_set(state, '$.n', 77)",
    message: /operator acme\/stays/,
  },
  {
    what: "an operator's last entry is changed",
    change: "UPDATE operator SET prior_seq = prior_seq - 1",
    message: /operator acme\/stays/,
  },
  // Rows.
  {
    what: "a score's row points to another entry",
    change: "UPDATE interaction SET position = position + 2 WHERE session_id = 'after-score'",
    message: /position/,
  },
  {
    what: "a score's row belongs to another operator",
    change: "UPDATE interaction SET at = at + 1 WHERE session_id = 'after-score'",
    message: /interaction acme\/after-score/,
  },
  {
    what: "a score's row is missing",
    change: "DELETE FROM interaction WHERE session_id = 'after-a'",
    message: /a row as long as its parts are stored/,
  },
  {
    what: "a score's count does not follow from the one before",
    change: "UPDATE interaction SET departed = departed + 1 WHERE session_id = 'after-score'",
    message: /interaction after-score follows the one before it/,
  },
  {
    what: "a score names another previous one",
    change: "UPDATE interaction SET previous = previous + 1 WHERE session_id = 'after-score'",
    message: /interaction after-score follows the one before it/,
  },
  {
    what: "a score is before its previous one",
    change: "UPDATE interaction SET t1 = at - 1 WHERE session_id = 'after-score'",
    message: /interaction after-score: t1/,
  },
  {
    what: "all of an operator's scores count one more",
    change: "UPDATE interaction SET departed = departed + 1 WHERE operator_id = 'stays'",
    message: /operator acme\/stays is as its last score left it/,
  },
  {
    what: "an operator's last score is changed",
    change: "UPDATE operator SET position = position - 1 WHERE operator_id = 'stays'",
    message: /operator acme\/stays is as its last score left it/,
  },
  {
    what: "an operator's figure differs from the state",
    change: "UPDATE operator SET jis = jis + 1 WHERE operator_id = 'stays'",
    message: /operator acme\/stays has the figures of its state/,
  },
  {
    what: "a score's row is not sealed",
    change: "UPDATE interaction SET seal = NULL WHERE session_id = 'after-score'",
    message: /interaction after-score is sealed/,
  },
  {
    what: "an operator's row is not sealed",
    change: "UPDATE operator SET seal = NULL WHERE operator_id = 'stays'",
    message: /operator acme\/stays is sealed/,
  },
  {
    what: "a frozen call's row is missing",
    change: "DELETE FROM skipped_interaction WHERE session_id = 'after-frozen'",
    message: /a row as long as its parts are stored/,
  },
  {
    what: "a frozen call's row is not sealed",
    change: "UPDATE skipped_interaction SET seal = NULL WHERE session_id = 'after-frozen'",
    message: /frozen call after-frozen is sealed/,
  },
  {
    what: "a frozen call's count does not follow from the one before",
    change: "UPDATE skipped_interaction SET n = n + 1 WHERE session_id = 'after-frozen'",
    message: /frozen call after-frozen follows the one before it/,
  },
  {
    what: "an operator's frozen calls are not those up to the last",
    change: "UPDATE frozen_operator SET n = n + 1",
    message: /frozen calls of acme\/\S+ are those up to the last/,
  },
  {
    what: "the row of an operator's frozen calls is missing",
    change: "DELETE FROM frozen_operator",
    message: /is known to have frozen calls/,
  },
  {
    what: "a decision's row is missing",
    change: "DELETE FROM decision WHERE decision_id = 'after-decision'",
    message: /a row as long as its parts are stored/,
  },
  {
    what: "a row outlives its entry",
    change: "UPDATE decision SET position = 3 WHERE decision_id = 'after-decision'",
    message: /org\/acme position 3/,
  },
  {
    what: "a commit points to another entry",
    change: "UPDATE score_commit SET position = position - 1 WHERE session_id = 'after-score'",
    message: /position/,
  },
  {
    what: "a label belongs to another session",
    change: "UPDATE outcome_label SET session_id = 'after-a' WHERE session_id = 'after-score'",
    message: /outcome_label acme\/after-a/,
  },
  {
    what: "a label is inverted",
    change: "UPDATE outcome_label SET outcome_correct = 1 - outcome_correct WHERE session_id = 'after-score'",
    message: /outcome_label acme\/after-score/,
  },
  {
    what: "a label's row is missing",
    change: "DELETE FROM outcome_label WHERE session_id = 'after-score'",
    message: /label_position has its row of outcome_label/,
  },
  {
    what: "a commit's row is missing, and the score's row names none",
    change: `DELETE FROM score_commit WHERE session_id = 'after-score';
      UPDATE interaction SET commit_position = NULL WHERE session_id = 'after-score'`,
    message: /a row as long as its parts are stored/,
  },
  {
    what: "a label's row is not sealed",
    change: "UPDATE outcome_label SET seal = NULL WHERE session_id = 'after-score'",
    message: /outcome_label acme\/after-score is sealed/,
  },
  {
    what: "a score's row names another position of its label",
    change: "UPDATE interaction SET label_position = 0 WHERE session_id = 'after-score'",
    message: /outcome_label acme\/after-score/,
  },
  {
    what: "an operator with records has no pseudonym",
    change: `DELETE FROM subject WHERE operator_id =
      (SELECT operator_id FROM decision WHERE decision_id = 'after-decision')`,
    message: /is about a known operator/,
  },
  {
    what: "a batch is not sealed",
    change: "UPDATE score_batch SET seal = NULL",
    message: /batch [0-9a-f]+ is sealed/,
  },
  {
    what: "a batch is longer than its entries",
    change: "UPDATE score_batch SET count = count + 1",
    message: /position/,
  },
  {
    what: "a report has other content",
    change: "UPDATE compliance_report SET report = report || ' '",
    message: /report 01TEST/,
  },
  {
    what: "a tombstone names another entry",
    change: "UPDATE tombstone SET seq = seq - 1",
    message: /tombstone [0-9a-f]+: hash/,
  },
  {
    what: "a tombstone names another reason",
    change: "UPDATE tombstone SET reason = CASE reason WHEN 'erased' THEN 'pruned' ELSE 'erased' END",
    message: /tombstone/,
  },
];

function changeIn(
  path: string,
  { change, taken }: Pick<Change, "change"> & { readonly taken: TakenPart },
): void {
  using database = new DatabaseSync(path, { enableForeignKeyConstraints: false });
  for (const { name } of database.prepare("SELECT name FROM sqlite_schema WHERE type = 'trigger'").all()) {
    database.exec(`DROP TRIGGER ${name}`);
  }
  const changes = () => Number(database.prepare("SELECT total_changes() AS n").get()!.n);
  const before = changes();
  if (typeof change === "string") database.exec(change);
  else change(database, taken);
  assert.ok(changes() > before, "something is changed");
}

Deno.test("the oracle accepts a sound database, and notices every single change", async (test) => {
  const directory = await Deno.makeTempDir({ prefix: "jiss-oracle-" });
  const taken = await writeEverything(directory);
  const verify = async (path: string) => {
    const database = openEmbedded({ path, onFatal: () => {} });
    try {
      return await verifyDatabase(database, { publicKey: FIRST.publicKey });
    } finally {
      await database.close();
    }
  };
  await test.step("nothing is changed", async () => {
    const chains = await verify(`${directory}/jiss.db`);
    assert.deepEqual(chains.map(({ chain }) => chain), [
      "org/acme",
      "org/acme/admin",
      "org/acme/admin/e2",
      "org/acme/e2",
      "sys",
      "sys/e2",
    ]);
  });
  for (const { what, change, message } of CHANGES) {
    await test.step(what, async () => {
      const path = `${directory}/changed.db`;
      Deno.copyFileSync(`${directory}/jiss.db`, path);
      changeIn(path, { change, taken });
      await assert.rejects(
        verify(path),
        (error: Error) => message.test(error.message) || assert.fail(error.message),
      );
    });
  }
  await Deno.remove(directory, { recursive: true });
});
