/**
 * Checkpoints and proofs of the running service, verified by code that others wrote for other logs: Go's
 * golang.org/x/mod/sumdb/note and sumdb/tlog, through the program in tests/interop/go.
 *
 * One file, as what Go must accept and what it must refuse come from the same chain.
 */
import assert from "node:assert/strict";
import { canonicalJson } from "../../src/evidence/canonical.ts";
import { consistencyPath } from "../../src/evidence/consistency.ts";
import { base64, fromBase64, fromHex, hex, utf8 } from "../../src/evidence/crypto.ts";
import { type Evidence, formatProof, parseProof } from "../../src/evidence/envelope.ts";
import { nodeCrypto, signerFromPem } from "../../src/evidence/node_crypto.ts";
import { formatVerifierKey, parseCheckpoint, parseNote } from "../../src/evidence/note.ts";
import { query } from "../../src/store/database.ts";
import { buildWorld } from "../bundle_builder.ts";
import { type Harness, pemOf, scoreRequest, withHarness } from "../harness.ts";

const SOURCE = `${import.meta.dirname}/../interop/go`;
const CHAIN = "org/acme";
/** Singles and batches, each one commit: 20 scores; some chain sizes are powers of two, others are not. */
const COMMITS = [1, 1, 1, 1, 1, 1, 5, 1, 1, 6, 1];
/** The chain's first entry has a commit of its own. */
const SIZES = [1, 2, 3, 4, 5, 6, 7, 12, 13, 14, 20, 21];

const UNPROVEN = /^invalid transparency proof$/;
const OUT_OF_TREE = /^tlog: invalid inputs in CheckRecord$/;

interface Proven {
  readonly entryHash: string;
  /** The entry's bytes; a batch's compact evidence has none. */
  readonly entry?: string;
  readonly proof: string;
}

interface Consistency {
  readonly from: number;
  readonly to: number;
  readonly fromRoot: string;
  readonly toRoot: string;
  readonly path: readonly string[];
}

/** A question that the Go program answers. */
interface Question {
  readonly vkey?: string;
  readonly notes?: readonly string[];
  /** Items with a known entry come first. */
  readonly proven?: readonly Proven[];
  readonly consistency?: readonly Consistency[];
}

interface Answered {
  readonly code: number;
  readonly verdicts: readonly { kind: string; index: number; ok: boolean; error?: string }[];
}

/** The notes that a chain published, and a function that has Go check them. */
interface Scene {
  readonly origin: string;
  readonly notes: readonly string[];
  readonly proven: readonly Proven[];
  readonly consistency: readonly Consistency[];
  check(question: Question): Promise<Answered>;
}

function goIsMissing(): boolean {
  try {
    return !new Deno.Command("go", { args: ["version"], stdout: "null", stderr: "null" }).outputSync()
      .success;
  } catch {
    return true;
  }
}

async function build(program: string): Promise<void> {
  const { success, stderr } = await new Deno.Command("go", {
    args: ["build", "-o", program, "."],
    cwd: SOURCE,
    env: { GOFLAGS: "-mod=readonly -buildvcs=false" },
  }).output();
  assert.ok(success, new TextDecoder().decode(stderr));
}

async function run(program: string, question: Question & { readonly vkey: string }): Promise<Answered> {
  const { vkey, notes = [], proven = [], consistency = [] } = question;
  const process = new Deno.Command(program, { stdin: "piped", stdout: "piped", stderr: "piped" }).spawn();
  const writer = process.stdin.getWriter();
  await writer.write(utf8(JSON.stringify({
    vkey,
    notes,
    entries: proven.flatMap(({ entry }) => entry ?? []),
    proofs: proven.map(({ proof }) => proof),
    entryHashes: proven.map(({ entryHash }) => entryHash),
    consistency,
  })));
  await writer.close();
  const { code, stdout, stderr } = await process.output();
  assert.equal(new TextDecoder().decode(stderr), "");
  const lines = new TextDecoder().decode(stdout).split("\n").slice(0, -1);
  return { code, verdicts: lines.map((line) => JSON.parse(line)) };
}

/** Scores in several commits; the proofs of the answers and of the replays of a batch's items. */
async function scored({ send, organization }: Harness): Promise<readonly Proven[]> {
  const key = await organization("acme");
  const full: Proven[] = [];
  const compact: Proven[] = [];
  const take = ({ entry, entry_hash, proof }: Evidence) =>
    full.push({ entry: canonicalJson(entry), entryHash: entry_hash, proof });
  for (const [commit, count] of COMMITS.entries()) {
    if (count === 1) {
      const { body } = await send("/v1/score", { key, body: scoreRequest({ session_id: `s-${commit}` }) });
      take(body.evidence);
      continue;
    }
    const { interaction, operator_id, domain } = scoreRequest();
    const interactions = Array.from(
      { length: count },
      (_, item) => ({ session_id: `s-${commit}-${item}`, ...interaction }),
    );
    const { body } = await send("/v1/score/batch", { key, body: { operator_id, domain, interactions } });
    for (const { session_id, index, entry_hash, path } of body.evidence.items) {
      const proof = { index, path: path.map(fromBase64), note: body.evidence.checkpoint };
      compact.push({ entryHash: entry_hash, proof: formatProof(proof) });
      take((await send(`/v1/decision/replay/${session_id}`, { key })).body.evidence);
    }
  }
  return [...full, ...compact];
}

/** Consistency proofs between every two of the chain's signed checkpoints. */
async function consistencyOf(
  { database }: Harness,
  notes: readonly string[],
): Promise<readonly Consistency[]> {
  const rows = await database.read(
    query.selectFrom("audit_node").select(["idx", "hash"]).where("chain", "=", CHAIN).compile(),
  );
  const nodes = new Map(rows.map(({ idx, hash }) => [idx, hash]));
  const checkpoints = notes.map((note) => parseCheckpoint(parseNote(note).text));
  return checkpoints.flatMap((older, place) =>
    checkpoints.slice(place + 1).map((newer) => ({
      from: older.size,
      to: newer.size,
      fromRoot: hex(older.root),
      toRoot: hex(newer.root),
      path: consistencyPath(nodeCrypto, { from: older.size, to: newer.size }, (index) => nodes.get(index))
        .map(hex),
    }))
  );
}

function withGo(test: (scene: Scene) => Promise<void>): () => Promise<void> {
  return withHarness(async (harness) => {
    const place = await Deno.makeTempDir({ prefix: "jiss-go-" });
    try {
      const program = `${place}/check`;
      await build(program);
      const proven = await scored(harness);
      const rows = await harness.database.read(
        query.selectFrom("audit_checkpoint").select("note").where("chain", "=", CHAIN).orderBy("size")
          .compile(),
      );
      const notes = rows.map(({ note }) => note);
      const { origin } = parseCheckpoint(parseNote(notes[0]!).text);
      assert.ok(origin.endsWith(`/${CHAIN}`));
      const vkey = formatVerifierKey(nodeCrypto, harness.verifierKey(origin));
      await test({
        origin,
        notes,
        proven,
        consistency: await consistencyOf(harness, notes),
        check: (question) => run(program, { vkey, ...question }),
      });
    } finally {
      await Deno.remove(place, { recursive: true });
    }
  });
}

/** Every copy of the bytes in which one byte differs by one bit. */
function flips(bytes: Uint8Array): readonly Uint8Array[] {
  return Array.from(bytes, (_, place) => bytes.map((byte, index) => index === place ? byte ^ 1 : byte));
}

const hexFlips = (text: string) => flips(fromHex(text)).map(hex);

/** Asserts that Go refuses each of `count` things, for one of the reasons. */
function assertRefused({ code, verdicts }: Answered, count: number, reasons: readonly RegExp[]): void {
  assert.equal(code, 1);
  assert.equal(verdicts.length, count);
  for (const verdict of verdicts) {
    assert.equal(verdict.ok, false, canonicalJson({ ...verdict }));
    assert.ok(reasons.some((reason) => reason.test(verdict.error!)), verdict.error!);
  }
}

Deno.test({
  name:
    "Go verifies every checkpoint, the proof of every answer, and that each checkpoint extends those before it [needs go]",
  ignore: goIsMissing(),
  fn: withGo(async ({ notes, proven, consistency, check }) => {
    assert.deepEqual(notes.map((note) => parseCheckpoint(parseNote(note).text).size), SIZES);
    // 20 answers or replays in full, and 11 items of batches in the compact form.
    assert.deepEqual([proven.length, consistency.length], [31, 66]);
    const { code, verdicts } = await check({ notes, proven, consistency });
    const verified = (kind: string, count: number) =>
      Array.from({ length: count }, (_, index) => ({ kind, index, ok: true }));
    assert.deepEqual(verdicts, [
      ...verified("note", 12),
      ...verified("entry", 20),
      ...verified("proof", 31),
      ...verified("consistency", 66),
    ]);
    assert.equal(code, 0);
  }),
});

Deno.test({
  name:
    "Go refuses a checkpoint with any byte of its text or signature flipped, or under another key [needs go]",
  ignore: goIsMissing(),
  fn: withGo(async ({ origin, notes, proven, check }) => {
    const note = notes.at(-1)!;
    const { text, signatures: [signature] } = parseNote(note);
    const rest = note.slice(text.length);
    const texts = flips(utf8(text)).map((flipped) => new TextDecoder().decode(flipped) + rest);
    assertRefused(await check({ notes: texts }), 94, [
      /^invalid signature/,
      /^malformed note$/,
    ]);

    const signed = (id: Uint8Array, bytes: Uint8Array) =>
      `${text}\n— ${origin} ${base64(Uint8Array.of(...id, ...bytes))}\n`;
    const { keyId, signature: bytes } = signature!;
    assert.equal(signed(keyId, bytes), note);
    const signatures = flips(bytes).map((flipped) => signed(keyId, flipped));
    assertRefused(await check({ notes: signatures }), 64, [/^invalid signature/]);
    const unknown = [/^note has no verifiable signatures$/];
    const ids = flips(keyId).map((flipped) => signed(flipped, bytes));
    assertRefused(await check({ notes: ids }), 4, unknown);

    const { publicKey } = signerFromPem(pemOf("another key"));
    const vkey = formatVerifierKey(nodeCrypto, { name: origin, publicKey });
    const strangers = proven.map(({ proof, entryHash }) => ({ proof, entryHash }));
    assertRefused(await check({ vkey, notes, proven: strangers }), 43, unknown);
  }),
});

Deno.test({
  name: "Go refuses a proof with any byte of its path or entry hash flipped, or any other index [needs go]",
  ignore: goIsMissing(),
  fn: withGo(async ({ proven, check }) => {
    const { verdicts } = await check({ proven: [{ ...proven[0]!, entry: `${proven[0]!.entry} ` }] });
    assert.deepEqual(verdicts, [
      { kind: "entry", index: 0, ok: false, error: "the entry has another hash" },
      { kind: "proof", index: 0, ok: true },
    ]);

    const paths = proven.flatMap(({ proof, entryHash }) => {
      const parsed = parseProof(proof);
      return parsed.path.flatMap((hash, place) =>
        flips(hash).map((flipped) => ({
          entryHash,
          proof: formatProof({ ...parsed, path: parsed.path.with(place, flipped) }),
        }))
      );
    });
    assertRefused(await check({ proven: paths }), 2944, [UNPROVEN]);

    const hashes = proven.flatMap(({ proof, entryHash }) =>
      hexFlips(entryHash).map((flipped) => ({ proof, entryHash: flipped }))
    );
    assertRefused(await check({ proven: hashes }), 992, [UNPROVEN]);

    const indexes = proven.flatMap(({ proof, entryHash }) => {
      const parsed = parseProof(proof);
      const { size } = parseCheckpoint(parseNote(parsed.note).text);
      return Array.from({ length: size + 1 }, (_, index) => index).filter((index) => index !== parsed.index)
        .map((index) => ({ entryHash, proof: formatProof({ ...parsed, index }) }));
    });
    assertRefused(await check({ proven: indexes }), 435, [UNPROVEN, OUT_OF_TREE]);
  }),
});

Deno.test({
  name:
    "Go refuses a consistency proof with any byte of its path or roots flipped, or any other start [needs go]",
  ignore: goIsMissing(),
  fn: withGo(async ({ consistency, check }) => {
    const changed = consistency.flatMap((claim) => [
      ...claim.path.flatMap((hash, place) =>
        hexFlips(hash).map((flipped) => ({ ...claim, path: claim.path.with(place, flipped) }))
      ),
      ...hexFlips(claim.fromRoot).map((fromRoot) => ({ ...claim, fromRoot })),
      ...hexFlips(claim.toRoot).map((toRoot) => ({ ...claim, toRoot })),
      ...Array.from({ length: claim.to }, (_, index) => ({ ...claim, from: index + 1 }))
        .filter(({ from }) => from !== claim.from),
      { ...claim, path: claim.path.slice(1) },
      { ...claim, path: [...claim.path, claim.toRoot] },
    ]);
    assertRefused(await check({ consistency: changed }), 13_051, [UNPROVEN]);
  }),
});

Deno.test({
  name: "Go computes, from the first entry above a cut, the signed root of what was removed [needs go]",
  ignore: goIsMissing(),
  async fn() {
    const place = await Deno.makeTempDir({ prefix: "jiss-go-" });
    try {
      const program = `${place}/check`;
      await build(program);
      for (const cut of [1, 2, 3, 7, 8, 12]) {
        const world = buildWorld();
        const next = world.chain(CHAIN, { retentionDays: 0 }).restore(1);
        for (let at = 0; at < 13; at += 1) next.score("operator");
        next.prune(cut);
        const lines = next.bundle().trimEnd().split("\n").map((line) => JSON.parse(line));
        const { base: { checkpoint: note } } = lines[0];
        const { entry, path } = lines.find(({ kind }) => kind === "jis.beginning/1");
        const proofOf = (hashes: readonly string[]) =>
          formatProof({ index: 0, path: hashes.map(fromHex), note });
        const proven = { entry: canonicalJson(entry), entryHash: next.hashOf(0) };
        const name = next.origin;
        const vkey = formatVerifierKey(nodeCrypto, { name, publicKey: world.signers[0]!.publicKey });
        const ask = (proof: string) => run(program, { vkey, notes: [note], proven: [{ ...proven, proof }] });
        const { code, verdicts } = await ask(proofOf(path));
        assert.deepEqual([code, verdicts.map(({ ok }) => ok)], [0, [true, true, true]], `cut at ${cut}`);
        assert.equal((await ask(proofOf([...path, next.hashOf(0)]))).code, 1, `cut at ${cut}, a longer path`);
      }
    } finally {
      await Deno.remove(place, { recursive: true });
    }
  },
});
