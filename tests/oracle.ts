/**
 * The deep oracle: every chain of a database, verified from its rows by other means than those that wrote them.
 *
 * Hashes each stored entry, follows the links, holds every part against its commitment, recomputes each signed
 * root by the recursive definition of RFC 6962 (the program keeps a frontier), checks each signature, and
 * recomputes each score, decision and label from its recorded input, its state against the state after the
 * operator's entry before.
 */
import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { canonicalJson } from "../src/evidence/canonical.ts";
import { nodeCrypto } from "../src/evidence/node_crypto.ts";
import { parseCheckpoint, parseNote, verifyNote } from "../src/evidence/note.ts";
import { scoreDecision } from "../src/scoring/drs.ts";
import { applyLabel } from "../src/scoring/label.ts";
import type { ModelDocument } from "../src/scoring/model.ts";
import { score } from "../src/scoring/score.ts";
import type { Database } from "../src/store/database.ts";
import { query } from "../src/store/database.ts";

function sha256(...chunks: (string | Uint8Array)[]): Uint8Array {
  const bytes = chunks.map((chunk) => (typeof chunk === "string" ? new TextEncoder().encode(chunk) : chunk));
  const whole = new Uint8Array(bytes.reduce((length, chunk) => length + chunk.length, 0));
  let offset = 0;
  for (const chunk of bytes) {
    whole.set(chunk, offset);
    offset += chunk.length;
  }
  return new Uint8Array(hash("sha256", whole, "buffer"));
}

/** MTH of RFC 6962, section 2.1, as it is written there. */
function treeHash(
  leaves: readonly Uint8Array[],
  cache: Map<string, Uint8Array>,
  low = 0,
  high = leaves.length,
): Uint8Array {
  if (high - low === 1) return leaves[low]!;
  const name = `${low}-${high}`;
  const known = cache.get(name);
  if (known !== undefined) return known;
  let split = 1;
  while (split * 2 < high - low) split *= 2;
  const value = sha256(
    Uint8Array.of(1),
    treeHash(leaves, cache, low, low + split),
    treeHash(leaves, cache, low + split, high),
  );
  cache.set(name, value);
  return value;
}

// deno-lint-ignore no-explicit-any -- entries and parts are what the database holds
type Json = any;

export interface VerifiedChain {
  readonly chain: string;
  readonly entries: readonly Json[];
  /** `seq/name` → data. */
  readonly parts: ReadonlyMap<string, Json>;
}

/** Verifies every chain; fails the test with the first thing that does not hold. */
export async function verifyDatabase(
  database: Database,
  { publicKey }: { readonly publicKey: Uint8Array },
): Promise<readonly VerifiedChain[]> {
  const chains = await database.read(query.selectFrom("audit_chain").selectAll().orderBy("chain").compile());
  const verified: VerifiedChain[] = [];
  for (const { chain, origin, size, head } of chains) {
    const rows = await database.read(
      query.selectFrom("audit_entry").selectAll().where("chain", "=", chain).orderBy("seq").compile(),
    );
    const partRows = await database.read(
      query.selectFrom("audit_part").selectAll().where("chain", "=", chain).compile(),
    );
    assert.equal(rows.length, size, `${chain}: size`);
    const entries: Json[] = [];
    const parts = new Map<string, Json>();
    const leaves: Uint8Array[] = [];
    let previous = sha256(`jis.genesis/1\n${origin}`);
    let lastTimestamp = "";
    for (const [index, row] of rows.entries()) {
      const where = `${chain} ${index}`;
      const entry: Json = JSON.parse(row.body);
      assert.equal(row.body, canonicalJson(entry), `${where}: canonical`);
      const leaf = sha256(Uint8Array.of(0), row.body);
      assert.deepEqual(row.entry_hash, leaf, `${where}: hash`);
      assert.equal(entry.seq, index, `${where}: seq`);
      assert.equal(entry.chain, chain, `${where}: chain`);
      assert.equal(entry.prev, previous.toHex(), `${where}: link`);
      assert.ok(entry.timestamp >= lastTimestamp, `${where}: time goes forward`);
      assert.equal(Object.keys(entry).length, 12, `${where}: twelve keys`);
      const own = partRows.filter((part) => part.seq === index);
      assert.deepEqual(
        own.map((part) => part.name).sort(),
        Object.keys(entry.commit).sort(),
        `${where}: parts`,
      );
      for (const { name, salt, data } of own) {
        const commitment = sha256(`jis.commit/1\n${name}\n`, salt!, data!);
        assert.equal(entry.commit[name], commitment.toHex(), `${where}: commitment ${name}`);
        parts.set(`${index}/${name}`, JSON.parse(data!));
      }
      entries.push(entry);
      leaves.push(leaf);
      previous = leaf;
      lastTimestamp = entry.timestamp;
    }
    assert.deepEqual(head, previous, `${chain}: head`);
    await verifyCheckpoints(database, { chain, origin, leaves, publicKey });
    await replayRecords(database, { chain, entries, parts });
    verified.push({ chain, entries, parts });
  }
  return verified;
}

async function verifyCheckpoints(
  database: Database,
  { chain, origin, leaves, publicKey }: {
    readonly chain: string;
    readonly origin: string;
    readonly leaves: readonly Uint8Array[];
    readonly publicKey: Uint8Array;
  },
): Promise<void> {
  const rows = await database.read(
    query.selectFrom("audit_checkpoint").selectAll().where("chain", "=", chain).orderBy("size").compile(),
  );
  assert.equal(rows.at(-1)?.size, leaves.length, `${chain}: the newest checkpoint covers the newest entry`);
  for (const { size, note } of rows) {
    const signed = parseNote(note);
    const checkpoint = parseCheckpoint(signed.text);
    assert.equal(checkpoint.origin, origin, `${chain}@${size}: origin`);
    assert.equal(checkpoint.size, size, `${chain}@${size}: size`);
    assert.deepEqual(checkpoint.root, treeHash(leaves.slice(0, size), new Map()), `${chain}@${size}: root`);
    assert.equal(
      verifyNote(nodeCrypto, signed, [{ name: origin, publicKey }]),
      "verified",
      `${chain}@${size}`,
    );
  }
}

/**
 * Every score, decision and late label follows from its recorded input, every recorded state from the entry that it
 * names, and every commit from the score that it refers to.
 */
async function replayRecords(
  database: Database,
  { chain, entries, parts }: VerifiedChain,
): Promise<void> {
  const documents = await database.read(query.selectFrom("model_document").selectAll().compile());
  const models = new Map(
    documents.map(({ sha256, document }) => [sha256, JSON.parse(document) as ModelDocument]),
  );
  const after = new Map<string, { seq: number; hash: string; state: string }>();
  const hashOf = (entry: Json) => sha256(Uint8Array.of(0), canonicalJson(entry)).toHex();
  for (const entry of entries) {
    const where = `${chain} ${entry.seq}`;
    const input = parts.get(`${entry.seq}/input`);
    const result = parts.get(`${entry.seq}/result`);
    if (entry.event_type === "SCORE_COMMITTED") {
      const { ref_id, ref_seq, ref_entry_hash } = parts.get(`${entry.seq}/detail`);
      const scored = entries[ref_seq];
      assert.deepEqual(
        [scored.id, hashOf(scored)],
        [ref_id, ref_entry_hash],
        `${where}: the score referred to`,
      );
      assert.equal(scored.subject, entry.subject, `${where}: subject`);
      assert.deepEqual(
        result,
        { ...parts.get(`${ref_seq}/result`), provisional: false, committed: true },
        `${where}: the recorded numbers`,
      );
    }
    if (!["SCORE_COMPUTED", "DRS_COMPUTED", "OUTCOME_LABELLED"].includes(entry.event_type)) continue;

    const model = models.get(input.algo.model_sha256)!;
    const known = after.get(entry.subject);
    assert.deepEqual(
      input.prior,
      known === undefined ? null : { seq: known.seq, entry_hash: known.hash },
      `${where}: prior`,
    );
    assert.equal(canonicalJson(input.state), known?.state ?? "null", `${where}: state before`);
    const now = Date.parse(input.as_of);
    if (entry.event_type === "DRS_COMPUTED") {
      const { interaction, domain, stakes } = input;
      const replayed = scoreDecision(model, input.state, { interaction, domain, stakes, now });
      for (const [name, value] of Object.entries(replayed)) {
        assert.deepEqual(result[name], value, `${where}: ${name}`);
      }
      assert.equal(result.audit_id, entry.id, `${where}: audit_id`);
      continue;
    }
    let state: unknown;
    if (entry.event_type === "OUTCOME_LABELLED") {
      const scored = parts.get(`${input.ref_seq}/input`);
      assert.equal(hashOf(entries[input.ref_seq]), input.ref_entry_hash, `${where}: the score referred to`);
      assert.deepEqual(
        [input.weights, input.decision, input.scenario_type, input.session_id],
        [scored.weights, scored.interaction.decision, scored.interaction.scenario_type, scored.session_id],
        `${where}: what the score recorded`,
      );
      const { weights, decision, scenario_type, label } = input;
      state = applyLabel(model, input.state, { weights, decision, scenario_type, outcome_correct: label });
    } else {
      const replayed = score(
        model,
        input.state,
        { interaction: input.interaction, domain: input.domain, now },
        { mode: input.mode, modeOverride: "normal" },
      );
      for (const [name, value] of Object.entries(replayed.result)) {
        assert.deepEqual(result[name], value, `${where}: ${name}`);
      }
      assert.deepEqual(input.weights, replayed.weights, `${where}: weights`);
      state = replayed.state;
    }
    after.set(entry.subject, { seq: entry.seq, hash: hashOf(entry), state: canonicalJson(state) });
  }
}
