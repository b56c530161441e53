/** Kept checkpoints: read from every form in which they are saved, and remembered for good. */
import assert from "node:assert/strict";
import { fromBase64, fromHex, hex } from "../../src/evidence/crypto.ts";
import {
  checkpointsIn,
  emptyMemory,
  type KeptCheckpoint,
  type KnownCheckpoint,
  knownCheckpointOrNull,
  type Memory,
  memorySchema,
  recallCheckpoints,
  remember,
} from "../../src/evidence/kept.ts";
import checkpoints from "../vectors/evidence/checkpoint.json" with { type: "json" };
import envelope from "../vectors/evidence/evidence_envelope.json" with { type: "json" };
import rotation from "../vectors/evidence/rotation_cert.json" with { type: "json" };

const ORIGIN = "jis.example.internal/dep-7f3a/org/acme";
const ROOT_8 = fromHex("4258ab72ef8a31d2d0acbc235e6a055c7a4f15b98d932b1a375422fe63514b77");
const AT_8: KnownCheckpoint = { origin: ORIGIN, size: 8, root: ROOT_8, note: checkpoints.checkpoint };
const AT_7 = checkpointsIn(JSON.stringify(envelope.response_body))[0]!;
/** A checkpoint that was compared with those kept before it. */
const settled = (checkpoint: KnownCheckpoint): KeptCheckpoint => ({
  ...checkpoint,
  isSettled: true,
  beside: new Set(),
});
const alone = (checkpoint: KnownCheckpoint): KeptCheckpoint => ({ ...settled(checkpoint), isSettled: false });

/** A checkpoint with an invalid signature, which reading does not check. */
function checkpointOf(origin: string, size: number, fill = size): KnownCheckpoint {
  const root = new Uint8Array(32).fill(fill);
  const note = `${origin}\n${size}\n${root.toBase64()}\n\n— ${origin} AAAAAAAA\n`;
  return { origin, size, root, note };
}

// ---- reading ----------------------------------------------------------------------------------------------

Deno.test("a signed note is read as a checkpoint, with one signature or several", () => {
  assert.deepEqual(checkpointsIn(checkpoints.checkpoint), [AT_8]);
  for (const note of [checkpoints.checkpoint_during_rotation, checkpoints.checkpoint_with_time_cosignature]) {
    assert.deepEqual(checkpointsIn(note), [{ ...AT_8, note }]);
  }
});

Deno.test("a proof holds its checkpoint", () => {
  assert.deepEqual(checkpointsIn(checkpoints.tlog_proof_index_3), [AT_8]);
});

Deno.test("a saved answer holds the checkpoint of its proof", () => {
  const [known, ...more] = checkpointsIn(JSON.stringify(envelope.response_body, null, 2));
  assert.equal(more.length, 0);
  assert.equal(known!.origin, ORIGIN);
  assert.equal(known!.size, 7);
  assert.deepEqual(known!.root, fromBase64("bQNyekqVPxmO6Wg8+ptKNIUBrn0aMM0InV/d0u1npOY="));
  assert.ok(envelope.response_body.evidence.proof.endsWith(known!.note));
});

Deno.test("answers with a checkpoint are read: of a batch, a checkpoint, a proof and a verification", () => {
  const { checkpoint: note, tlog_proof_index_3: proof } = checkpoints;
  const answer = { origin: ORIGIN, size: 8, root: hex(ROOT_8), note };
  const answers = [
    { results: [], evidence: { v: "jis.evidence-batch/1", checkpoint: note, items: [] } },
    answer,
    { seq: 3, entry_hash: "00", proof },
    { valid: true, checkpoint: note },
    { valid: true, checkpoint: answer },
  ];
  for (const saved of answers) {
    assert.deepEqual(checkpointsIn(`\ufeff${JSON.stringify(saved)}\n`), [AT_8], JSON.stringify(saved));
  }
});

Deno.test("other members of an answer than its note are ignored", () => {
  const answer = { origin: "other/dep/sys", size: 9, root: "00", note: checkpoints.checkpoint };
  assert.deepEqual(checkpointsIn(JSON.stringify(answer)), [AT_8]);
});

Deno.test("notes elsewhere in an answer are content, not its checkpoint", () => {
  const answer = { session_id: checkpoints.checkpoint, evidence: { proof: checkpoints.tlog_proof_index_3 } };
  assert.deepEqual(checkpointsIn(JSON.stringify(answer)).length, 1);
  assert.throws(() => checkpointsIn(JSON.stringify({ detail: checkpoints.checkpoint })), SyntaxError);
});

Deno.test("a printed page is read: headings, several notes, margins, line ends of any kind", () => {
  const other = checkpointOf("jis.example.internal/dep-7f3a/sys", 31);
  const page = [
    "Checkpoints of 20 November 2026",
    "8 chains",
    "",
    "Evidence of acme:",
    checkpoints.checkpoint,
    "System chain",
    other.note.trimEnd(),
    "Signing key SHA256:S/4u7MWATigAB+aN6JbzbaWdQ0cD0I1TmpkA04jcOs8",
  ].join("\n");
  const expected = [AT_8, other];
  assert.deepEqual(checkpointsIn(page), expected);
  assert.deepEqual(checkpointsIn(page.replaceAll("\n", "\r\n")), expected);
  assert.deepEqual(checkpointsIn(page.replaceAll("\n", "  \n\t")), expected);
  assert.deepEqual(checkpointsIn(checkpoints.checkpoint.trimEnd()), [AT_8]);
});

Deno.test("a text without a signed checkpoint is refused in words that say what one is", () => {
  const [text] = checkpoints.checkpoint.split("\n\n");
  const none = ["", "Checkpoints", `${text}\n`, `${text}\n\n`, "{}", "[]", "null", '{"evidence":null}', "{"];
  for (const saved of none) {
    assert.throws(
      () => checkpointsIn(saved),
      { name: "SyntaxError", message: /^There is no signed checkpoint in it\. One is three lines/ },
      saved,
    );
  }
});

Deno.test("a damaged checkpoint among good ones is refused, not skipped, and its line is named", () => {
  const lines = checkpoints.checkpoint.trimEnd().split("\n");
  const damaged = {
    "no root": lines.toSpliced(2, 1),
    "a size in words": lines.with(1, "eight"),
    "no entries": lines.with(1, "0"),
    "a root cut off": lines.with(2, lines[2]!.slice(0, -4)),
    "no empty line": lines.toSpliced(3, 1),
    "two empty lines": lines.toSpliced(3, 0, ""),
    "a signature cut off": lines.with(4, lines[4]!.slice(0, -5)),
  };
  for (const [what, block] of Object.entries(damaged)) {
    const signature = 6 + block.length;
    assert.throws(
      () => checkpointsIn(`${checkpoints.checkpoint}\n${block.join("\n")}\n`),
      {
        name: "SyntaxError",
        message: new RegExp(`^The signature in line ${signature} does not stand under`),
      },
      what,
    );
  }
});

Deno.test("a rotation certificate is not a checkpoint", () => {
  assert.throws(() => checkpointsIn(rotation.cert), SyntaxError);
  assert.equal(knownCheckpointOrNull(rotation.cert), null);
});

// ---- memory -----------------------------------------------------------------------------------------------

const KEY = fromHex(checkpoints.public_key_hex);
const NEXT_KEY = fromHex("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a");

Deno.test("remembered checkpoints are recalled through JSON, those of each origin by size", () => {
  const sys = checkpointOf("jis.example.internal/dep-7f3a/sys", 3);
  const memory = remember(emptyMemory(), { keys: [KEY], checkpoints: [settled(AT_8), sys, settled(AT_7)] });
  assert.deepEqual(memory, {
    v: "jis.memory/1",
    keys: [checkpoints.public_key_hex],
    checkpoints: {
      [ORIGIN]: [{ size: 7, note: AT_7.note }, { size: 8, note: AT_8.note }],
      [sys.origin]: [{ size: 3, note: sys.note, alone: true }],
    },
  });
  assert.deepEqual(
    recallCheckpoints(memorySchema.parse(JSON.parse(JSON.stringify(memory)))),
    [settled(AT_7), settled(AT_8), alone(sys)],
  );
});

Deno.test("a checkpoint that was compared with earlier ones keeps that mark, however it is remembered later", () => {
  const first = remember(emptyMemory(), { keys: [KEY], checkpoints: [AT_7, settled(AT_8)] });
  assert.deepEqual(recallCheckpoints(first), [alone(AT_7), settled(AT_8)]);
  const later = remember(first, { keys: [], checkpoints: [settled(AT_7), AT_8, alone(AT_8)] });
  assert.deepEqual(recallCheckpoints(later), [settled(AT_7), settled(AT_8)]);
  // Memories from before this mark had compared all their checkpoints with each other.
  const earlier = { ...emptyMemory(), checkpoints: { [ORIGIN]: [{ size: 8, note: AT_8.note }] } };
  assert.deepEqual(recallCheckpoints(memorySchema.parse(earlier)), [settled(AT_8)]);
});

Deno.test("a memory never goes back: older sizes are added, none is removed or replaced", () => {
  const once = remember(emptyMemory(), { keys: [KEY], checkpoints: [AT_8] });
  const signedAnew = { ...AT_8, note: checkpoints.checkpoint_during_rotation };
  assert.deepEqual(remember(once, { keys: [KEY], checkpoints: [AT_8, signedAnew] }), once);
  assert.deepEqual(remember(once, { keys: [], checkpoints: [] }), once);
  const more = remember(once, { keys: [NEXT_KEY], checkpoints: [AT_7] });
  assert.deepEqual(more.keys, [checkpoints.public_key_hex, hex(NEXT_KEY)]);
  assert.deepEqual(recallCheckpoints(more), [alone(AT_7), alone(AT_8)]);
  assert.deepEqual(recallCheckpoints(once), [alone(AT_8)], "the memory before is as it was");
});

Deno.test("two roots of one size are both kept: they prove a fork", () => {
  const [one, other] = [checkpointOf(ORIGIN, 8, 1), checkpointOf(ORIGIN, 8, 2)];
  const memory = remember(remember(emptyMemory(), { keys: [], checkpoints: [one] }), {
    keys: [],
    checkpoints: [other],
  });
  assert.deepEqual(recallCheckpoints(memory), [alone(one), alone(other)]);
});

Deno.test("an invalid memory is refused by its schema", () => {
  const sound = remember(emptyMemory(), { keys: [KEY], checkpoints: [AT_8] });
  const bad = {
    "another version": { ...sound, v: "jis.memory/2" },
    "one member more": { ...sound, more: 1 },
    "a key of one byte": { ...sound, keys: ["00"] },
    "a key that is not hexadecimal": { ...sound, keys: ["key"] },
    "an unsound key": { ...sound, keys: [`01${"00".repeat(31)}`] },
    "an unsound key of a holder": { ...sound, holders: [[hex(KEY), `01${"00".repeat(31)}`]] },
    "a holder of one key": { ...sound, holders: [[hex(KEY)]] },
    "a size of zero": { ...sound, checkpoints: { [ORIGIN]: [{ size: 0, note: AT_8.note }] } },
    "no note": { ...sound, checkpoints: { [ORIGIN]: [{ size: 8 }] } },
  };
  assert.deepEqual(memorySchema.parse(sound), sound);
  for (const [what, memory] of Object.entries(bad)) {
    assert.equal(memorySchema.safeParse(memory).success, false, what);
  }
});

Deno.test("a memory with a note of another origin or size is refused, and its place is named", () => {
  const damaged: readonly Memory["checkpoints"][] = [
    { [ORIGIN]: [{ size: 9, note: AT_8.note }] },
    { [ORIGIN]: [{ size: 8, note: "" }] },
    { [ORIGIN]: [{ size: 8, note: AT_8.note.replace("\n8\n", "\n08\n") }] },
    { [`${ORIGIN}/admin`]: [{ size: 8, note: AT_8.note }] },
  ];
  for (const checkpoints of damaged) {
    const memory = { ...emptyMemory(), checkpoints };
    const [origin] = Object.keys(checkpoints);
    const refusal = {
      name: "SyntaxError",
      message: new RegExp(`^The kept checkpoint of ${origin} at [89] `),
    };
    assert.throws(() => recallCheckpoints(memory), refusal);
    assert.throws(() => remember(memory, { keys: [], checkpoints: [] }), refusal);
  }
});

Deno.test("a memory drops a key that another one superseded, and no checkpoint", () => {
  const before = remember(emptyMemory(), { keys: [KEY], checkpoints: [AT_8] });
  const after = remember(before, { keys: [KEY, NEXT_KEY], superseded: [KEY], checkpoints: [] });
  assert.deepEqual(after.keys, [hex(NEXT_KEY)]);
  assert.deepEqual(after.checkpoints, before.checkpoints);
});

Deno.test("a memory keeps the keys of one holder together, and later visits can only add to them", () => {
  const third = fromHex("3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c");
  const remembered = (memory: Memory, ...together: readonly (readonly Uint8Array[])[]) =>
    memorySchema.parse(remember(memory, { keys: [], holderKeys: together, checkpoints: [] }));
  const alone = remembered(emptyMemory(), [KEY], [NEXT_KEY]);
  assert.deepEqual(alone, emptyMemory(), "a single key has no holder");
  const two = remembered(alone, [KEY, NEXT_KEY]);
  assert.deepEqual(two.holders, [[KEY, NEXT_KEY].map(hex).sort()]);
  assert.deepEqual(remembered(two), two);
  assert.deepEqual(remembered(two, [NEXT_KEY, KEY]), two);
  const three = remembered(two, [third, NEXT_KEY]);
  assert.deepEqual(three.holders, [[KEY, NEXT_KEY, third].map(hex).sort()]);
  assert.deepEqual(remembered(remembered(emptyMemory(), [third, NEXT_KEY]), [KEY, NEXT_KEY]), three);
});

Deno.test("a memory keeps which deployments were accepted beside each other, each pair once", () => {
  const [here, there] = ["jis.example.internal/dep-7f3a/", "jis.example.internal/dep-other/"];
  const remembered = (memory: Memory, ...beside: readonly (readonly [string, string])[]) =>
    memorySchema.parse(remember(memory, { keys: [], beside, checkpoints: [AT_8] }));
  const none = remembered(emptyMemory());
  assert.equal(none.beside, undefined);
  assert.deepEqual(recallCheckpoints(none)[0]!.beside, new Set());
  const pair = remembered(none, [there, here]);
  assert.deepEqual(pair.beside, [[here, there]]);
  assert.deepEqual(recallCheckpoints(pair)[0]!.beside, new Set([there]));
  assert.deepEqual(remembered(pair, [here, there]), pair);
  assert.deepEqual(remembered(pair), pair);
});
