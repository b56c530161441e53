/**
 * Saved answers beside bundles. The operator may have handed them over with the bundle, so they do not make a
 * log known. The auditor passes what he kept with `--checkpoint`. For bundles alone see
 * tests/sidestep_rows.ts.
 */
import assert from "node:assert/strict";
import { canonicalJson } from "../../src/evidence/canonical.ts";
import { fromHex, hex, utf8 } from "../../src/evidence/crypto.ts";
import { formatProof } from "../../src/evidence/envelope.ts";
import { appendLeaf, EMPTY_FRONTIER, inclusionPath } from "../../src/evidence/merkle.ts";
import { nodeCrypto } from "../../src/evidence/node_crypto.ts";
import { publicKeyPem, save, verifyProgram, withDirectory } from "../auditing.ts";
import { buildWorld, type ChainWriter } from "../bundle_builder.ts";
import { appendEvents } from "../sidestep_rows.ts";

const NOT_COMPARED = "INTACT, NOT COMPARED";

/** The service's answer about the event at `seq`, with a proof in the first `size` entries. */
function answerOf(chain: ChainWriter, seq: number, size = chain.size): string {
  const lines = chain.bundle().trim().split("\n").map((line) => JSON.parse(line));
  const entry = lines.find((line) => line.kind === undefined && line.seq === seq);
  const { data, salt } = lines.find((line) =>
    line.kind === "jis.part/1" && line.seq === seq && line.name === "detail"
  );
  const nodes = new Map<number, Uint8Array>();
  let frontier = EMPTY_FRONTIER;
  for (let at = 0; at < size; at += 1) {
    const leaf = appendLeaf(nodeCrypto, frontier, fromHex(chain.hashOf(at)));
    frontier = leaf.frontier;
    for (const node of leaf.nodes) nodes.set(node.index, node.hash);
  }
  const path = inclusionPath(nodeCrypto, { leaf: seq, size }, (index) => nodes.get(index));
  const proof = formatProof({ index: seq, path, note: chain.checkpoint(size).note });
  const evidence = {
    v: "jis.evidence/1",
    covers: "detail",
    sha256: entry.commit.detail,
    salt,
    entry,
    entry_hash: chain.hashOf(seq),
    proof,
  };
  return JSON.stringify({ detail: data, evidence });
}

/** A compliance report's answer, which the chain records. */
function reportOf(chain: ChainWriter): string {
  const report = { report_id: `report-${chain.size}`, overall_status: "compliant" };
  const report_sha256 = hex(nodeCrypto.sha256(utf8(canonicalJson(report))));
  const detail = { report_id: report.report_id, report_sha256 };
  const seq = chain.append({ eventType: "REPORT_ISSUED", actor: "api", parts: { detail } });
  const { evidence } = JSON.parse(answerOf(chain, seq));
  return JSON.stringify({ report_id: report.report_id, report, report_sha256, evidence });
}

const KEY = publicKeyPem(buildWorld().newSigner(1).publicKey);

/** An auditor with his own directory. */
class Visitor {
  readonly #directory: string;
  #files = 0;

  constructor(directory: string) {
    this.#directory = directory;
  }

  async file(text: string): Promise<string> {
    this.#files += 1;
    return await save(this.#directory, `file-${this.#files}`, text);
  }

  memory(): string {
    this.#files += 1;
    return `${this.#directory}/memory-${this.#files}`;
  }

  /** Verdict and exit code of all, the worst sentence, and the places of the documents. */
  async sees(files: readonly string[], ...args: readonly string[]) {
    const key = await this.file(KEY);
    const { code, report, stderr } = await verifyProgram([...files, "--key", key, ...args, "--json"]);
    assert.notEqual(report, null, stderr);
    const places = report.documents.map(({ place }: { place: string }) => place);
    return { code, verdict: report.verdict, places, sentence: report.sentence as string };
  }

  /** Asserts that the files are not compared, and that only the joins of keys by certificates are remembered. */
  async doubts(state: string, files: readonly string[], sentence: RegExp): Promise<void> {
    const before = await remembered(state);
    const seen = await this.sees(files, "--state", state);
    assert.deepEqual([seen.code, seen.verdict], [2, NOT_COMPARED], seen.sentence);
    assert.match(seen.sentence, sentence);
    assert.equal(withoutHolders(await remembered(state)), withoutHolders(before));
  }
}

function withoutHolders(memory: string | null): string | null {
  return memory === null ? null : JSON.stringify({ ...JSON.parse(memory), holders: undefined });
}

async function remembered(state: string): Promise<string | null> {
  return await Deno.readTextFile(`${state}/jiss-memory.json`).catch(() => null);
}

const visit = (test: (visitor: Visitor) => Promise<void>) => () =>
  withDirectory((directory) => test(new Visitor(directory)));

Deno.test(
  "answers and a report of a new deployment beside its bundle do not make it known: 2, and nothing is remembered",
  visit(async (visitor) => {
    const state = visitor.memory();
    const known = appendEvents(buildWorld({ deployment: "01DEPLOYMENTONE" }).chain("org/acme"), "true", 2);
    assert.equal((await visitor.sees([await visitor.file(known.bundle())], "--state", state)).code, 0);
    const anew = buildWorld({ deployment: "01DEPLOYMENTTWO" });
    const chain = appendEvents(anew.chain("org/acme"), "forged", 2);
    const report = await visitor.file(reportOf(chain));
    const [bundle, first, second, system] = await Promise.all(
      [chain.bundle(), answerOf(chain, 1), answerOf(chain, 2, 3), answerOf(anew.chain("sys"), 0)].map((
        text,
      ) => visitor.file(text)),
    ) as [string, string, string, string];
    const sentence = /in another deployment/;
    await visitor.doubts(state, [bundle, first], sentence);
    await visitor.doubts(state, [bundle, report], sentence);
    await visitor.doubts(
      state,
      [bundle, first, second, report, system],
      /in another deployment|\/01DEPLOYMENTONE\//,
    );
    await visitor.doubts(state, [bundle], sentence);
    await visitor.doubts(
      state,
      [report],
      /not compared with your checkpoint of 3 entries of .*\/01DEPLOYMENTONE\//,
    );
  }),
);

Deno.test(
  "an answer of a deployment under a certified successor of the known key is not compared with what was kept: 2",
  visit(async (visitor) => {
    const state = visitor.memory();
    const known = appendEvents(buildWorld({ deployment: "01DEPLOYMENTONE" }).chain("org/acme"), "true", 2);
    assert.equal((await visitor.sees([await visitor.file(known.bundle())], "--state", state)).code, 0);
    const anew = buildWorld({ deployment: "01DEPLOYMENTTWO" });
    anew.makeKey();
    anew.dropOldKeys();
    const chain = appendEvents(anew.chain("org/acme"), "forged", 2);
    const [system, answer] = [
      await visitor.file(anew.chain("sys").bundle()),
      await visitor.file(answerOf(chain, 1)),
    ];
    await visitor.doubts(
      state,
      [system],
      /one that certificates or a common key file join to it, also signed your checkpoint/,
    );
    await visitor.doubts(state, [system, answer], /your checkpoint of 3 entries of .*\/01DEPLOYMENTONE\//);
  }),
);

/**
 * The known deployment, and another one that begins with its second key, which no certificate of the other
 * one names.
 */
function successors() {
  const known = buildWorld({ deployment: "01DEPLOYMENTONE" });
  const acme = appendEvents(known.chain("org/acme"), "true", 2);
  const other = appendEvents(known.chain("org/other"), "true", 2);
  const first = acme.bundle();
  known.makeKey();
  other.rotate();
  acme.rotate();
  const [old, next] = [known.newSigner(1), known.newSigner(2)];
  const anew = buildWorld({ deployment: "01DEPLOYMENTTWO", signer: next });
  return {
    first,
    other: appendEvents(other, "more").bundle(),
    certified: appendEvents(acme, "more").bundle(),
    old,
    next,
    forged: appendEvents(anew.chain("org/acme"), "forged", 2),
  };
}

const pemOf = ({ publicKey }: { readonly publicKey: Uint8Array }) => publicKeyPem(publicKey);

/** Visits with one memory. */
function visits(visitor: Visitor, state: string) {
  return async (text: string, ...args: readonly string[]) => {
    const { code, report, stderr } = await verifyProgram([
      await visitor.file(text),
      ...args,
      "--state",
      state,
      "--json",
    ]);
    assert.notEqual(report, null, stderr);
    return [code, report.verdict];
  };
}

Deno.test(
  "two deployments that were remembered before a certificate joined their keys are told apart from then on: 2",
  visit(async (visitor) => {
    const { first, other, certified, old, next, forged } = successors();
    const keys = [await visitor.file(pemOf(old)), await visitor.file(pemOf(next))] as const;
    // The certificate comes with a bundle of another organization, or with the known deployment's own bundle.
    for (const joined of [[other, 0, "INTACT, UNANCHORED"], [certified, 2, NOT_COMPARED]] as const) {
      const state = visitor.memory();
      const sees = visits(visitor, state);
      assert.deepEqual(await sees(first, "--key", keys[0]), [0, "INTACT, UNANCHORED"]);
      assert.deepEqual(await sees(forged.bundle(), "--key", keys[1]), [0, "INTACT, UNANCHORED"]);
      assert.deepEqual(await sees(forged.bundle()), [0, "INTACT"]);
      assert.deepEqual(await sees(joined[0]), joined.slice(1));
      const before = await remembered(state);
      assert.deepEqual(await sees(forged.bundle()), [2, NOT_COMPARED]);
      assert.deepEqual(await sees(answerOf(forged, 1)), [2, NOT_COMPARED]);
      assert.deepEqual(await sees(certified), [2, NOT_COMPARED]);
      assert.equal(await remembered(state), before);
      // An auditor who passes a checkpoint of the new deployment accepts the two beside each other.
      const accepted = await visitor.file(forged.checkpoint().note);
      assert.deepEqual(await sees(forged.bundle(), "--checkpoint", accepted), [0, "INTACT"]);
      for (const text of [forged.bundle(), answerOf(forged, 1), certified]) {
        assert.equal((await sees(text))[0], 0);
      }
    }
  }),
);

Deno.test(
  "two deployments under one key that an auditor takes in on one visit are accepted beside each other",
  visit(async (visitor) => {
    const state = visitor.memory();
    const one = appendEvents(buildWorld({ deployment: "01DEPLOYMENTONE" }).chain("org/acme"), "true", 2)
      .bundle();
    const other = appendEvents(buildWorld({ deployment: "01DEPLOYMENTTWO" }).chain("org/acme"), "true", 2)
      .bundle();
    assert.equal((await visitor.sees([await visitor.file(one + other)], "--state", state)).code, 0);
    for (const text of [one, other]) assert.deepEqual(await visits(visitor, state)(text), [0, "INTACT"]);
  }),
);

Deno.test(
  "a memory knows keys that a certificate connected on an earlier visit, in any organization's chain: 2",
  visit(async (visitor) => {
    const state = visitor.memory();
    const { first, other, old, next, forged } = successors();
    const sees = visits(visitor, state);
    const nextKey = await visitor.file(pemOf(next));
    const oldKey = await visitor.file(pemOf(old));
    assert.deepEqual(await sees(first, "--key", oldKey), [0, "INTACT, UNANCHORED"]);
    assert.deepEqual(await sees(other), [0, "INTACT, UNANCHORED"]);
    const before = await remembered(state);
    assert.deepEqual(JSON.parse(before!).holders, [
      [old, next].map(({ publicKey }) => hex(publicKey)).sort(),
    ]);
    assert.deepEqual(await sees(forged.bundle()), [2, NOT_COMPARED]);
    assert.deepEqual(await sees(forged.bundle(), "--key", nextKey), [2, NOT_COMPARED]);
    assert.deepEqual(await sees(answerOf(forged, 1), "--key", nextKey), [2, NOT_COMPARED]);
    assert.equal(await remembered(state), before);
  }),
);

Deno.test(
  "keys from one key file of an earlier visit have one holder; keys from two files have two",
  visit(async (visitor) => {
    const { first, old, next, forged } = successors();
    const [both, one, two] = [
      await visitor.file(pemOf(old) + pemOf(next)),
      await visitor.file(pemOf(old)),
      await visitor.file(pemOf(next)),
    ];
    const [known, shown] = [await visitor.file(first), await visitor.file(forged.bundle())];
    for (const [keys, expected] of [[[both], 2], [[one, two], 0]] as const) {
      const state = visitor.memory();
      const args = [...keys.flatMap((key) => ["--key", key]), "--state", state];
      assert.equal((await verifyProgram([known, ...args])).code, 0);
      for (const more of [[], ["--key", two]]) {
        const { code, stdout } = await verifyProgram([shown, ...more, "--state", state]);
        assert.equal(code, expected, stdout);
      }
    }
  }),
);

Deno.test(
  "after an invented restore, answers of the rewritten epochs do not count as older and kept: 2",
  visit(async (visitor) => {
    const state = visitor.memory();
    const whole = appendEvents(buildWorld().chain("org/acme"), "true", 9);
    assert.equal((await visitor.sees([await visitor.file(whole.bundle())], "--state", state)).code, 0);
    const forged = appendEvents(buildWorld().chain("org/acme"), "forged", 3);
    const next = appendEvents(
      forged.restore(4, { last_known_checkpoint: whole.checkpoint(10).note }),
      "forged",
    );
    const bundles = await visitor.file(forged.bundle() + next.bundle());
    const answers = [await visitor.file(answerOf(forged, 2)), await visitor.file(answerOf(next, 1))];
    const sentence = /is of entries that a restore lost/;
    await visitor.doubts(state, [bundles], sentence);
    for (const answer of answers) await visitor.doubts(state, [bundles, answer], sentence);
    await visitor.doubts(state, [bundles, ...answers], sentence);

    // The auditor's one true answer counts no more as a FILE than as a checkpoint.
    const answer = await visitor.file(answerOf(whole, 9));
    await visitor.doubts(
      visitor.memory(),
      [bundles, answer],
      /nothing older that you kept agrees with the remaining entries/,
    );
    await visitor.doubts(
      visitor.memory(),
      [bundles, answer, ...answers],
      /nothing older that you kept agrees/,
    );
    const asCheckpoint = await visitor.sees([bundles], "--checkpoint", answer);
    assert.deepEqual([asCheckpoint.code, asCheckpoint.verdict], [2, NOT_COMPARED]);
  }),
);

Deno.test(
  "an answer whose checkpoint is beyond the bundle is not compared with it, although its entry is there",
  visit(async (visitor) => {
    const whole = appendEvents(buildWorld().chain("org/acme"), "true", 9);
    const replay = await visitor.file(answerOf(whole, 2, 10));
    const early = await visitor.file(whole.bundle({ size: 4 }));
    const seen = await visitor.sees([early, replay]);
    assert.deepEqual([seen.code, seen.verdict, seen.places], [2, "NOT VERIFIABLE", ["beyond"]]);
    const next = appendEvents(whole.restore(4), "after");
    const restored = await visitor.file(whole.bundle({ size: 4 }) + next.bundle());
    const lost = await visitor.sees([restored, replay]);
    assert.deepEqual([lost.code, lost.verdict, lost.places], [2, NOT_COMPARED, ["lost"]]);
    const kept = await visitor.file(answerOf(whole, 1, 3));
    const answered = await visitor.sees([restored, replay], "--checkpoint", kept);
    assert.deepEqual([answered.code, answered.places], [0, ["lost"]], answered.sentence);
    const later = await visitor.sees([await visitor.file(whole.bundle()), replay]);
    assert.deepEqual([later.code, later.verdict, later.places], [0, "INTACT, UNANCHORED", ["held"]]);
  }),
);

Deno.test(
  "an answer of an epoch that a second restore of the same backup lost is found lost",
  visit(async (visitor) => {
    const first = appendEvents(buildWorld().chain("org/acme"), "true", 5);
    const second = appendEvents(first.restore(6), "second", 2);
    const third = appendEvents(
      second.restore(0, {
        previous_origin: first.origin,
        restored_size: 6,
        restored_root: hex(first.checkpoint(6).root),
      }),
      "third",
    );
    const bundles = await visitor.file(first.bundle() + third.bundle());
    const answer = await visitor.file(answerOf(second, 2));
    const open = await visitor.sees([bundles, answer]);
    assert.deepEqual([open.code, open.verdict, open.places], [2, NOT_COMPARED, ["lost"]]);
    const kept = await visitor.file(answerOf(first, 3, 4));
    const answered = await visitor.sees([bundles, answer], "--checkpoint", kept);
    assert.deepEqual([answered.code, answered.places], [0, ["lost"]], answered.sentence);
  }),
);

Deno.test(
  "with only the system chain kept, the verdict asks for it beside an organization's bundle or answer; with it both are compared",
  visit(async (visitor) => {
    const state = visitor.memory();
    const world = buildWorld();
    const system = world.chain("sys");
    const chain = appendEvents(world.chain("org/acme"), "true", 2);
    system.anchor([chain]);
    const systemFile = await visitor.file(system.bundle());
    assert.equal((await visitor.sees([systemFile], "--state", state)).code, 0);
    const bundle = await visitor.file(chain.bundle());
    const answer = await visitor.file(answerOf(chain, 1));
    const ofSystem = await visitor.file(answerOf(system, 1));
    await visitor.doubts(state, [bundle], /pins this chain too, .*: give the system chain with it/);
    await visitor.doubts(state, [bundle, answer], /pins this chain too, .*: give the system chain with it/);
    await visitor.doubts(state, [bundle, ofSystem], /pins this chain too, .*: give the system chain with it/);
    await visitor.doubts(state, [answer], /not compared with your checkpoint of 2 entries of .*\/sys/);
    const forged = appendEvents(buildWorld().chain("org/acme"), "forged", 4);
    const contradiction = await visitor.sees(
      [await visitor.file(forged.bundle()), systemFile],
      "--state",
      state,
    );
    assert.deepEqual([contradiction.code, contradiction.verdict], [1, "DIVERGED"]);
    // In any order on the command line.
    const both = await visitor.sees([bundle, systemFile, answer], "--state", state);
    assert.deepEqual([both.code, both.verdict], [0, "INTACT, UNANCHORED"]);
    assert.match(both.sentence, /agrees with what the system chain recorded of it/);
    assert.deepEqual((await visitor.sees([bundle], "--state", state)).verdict, "INTACT");
    // Without anything kept there is nothing to compare.
    assert.equal((await visitor.sees([bundle], "--state", visitor.memory())).code, 0);
  }),
);
