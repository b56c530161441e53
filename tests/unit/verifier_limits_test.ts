/**
 * Limits of the verifier. A file beyond one of them is reported and never INTACT; everything within them
 * counts as before.
 */
import assert from "node:assert/strict";
import type { Interaction } from "../../src/domain/interaction.ts";
import { modelLine } from "../../src/evidence/bundle.ts";
import { hex, utf8 } from "../../src/evidence/crypto.ts";
import { findingBudget, FindingLog } from "../../src/evidence/finding_log.ts";
import { modelSha256 } from "../../src/evidence/hashes.ts";
import { keyedHash } from "../../src/evidence/keyed_hash.ts";
import {
  AGREEMENT_LIMIT,
  ANCHOR_LIMIT,
  BUNDLE_LIMIT,
  INPUT_FINDING_LIMIT,
  JOIN_LIMIT,
  KEY_LIMIT,
  NOTE_LIMIT,
  SIGNER_SET_LIMIT,
} from "../../src/evidence/limits.ts";
import { nodeCrypto } from "../../src/evidence/node_crypto.ts";
import { parseVerifierKey } from "../../src/evidence/note.ts";
import { BundleVerifier } from "../../src/evidence/verifier.ts";
import { SubjectStates } from "../../src/evidence/subject_states.ts";
import { departureShare } from "../../src/scoring/classify.ts";
import { buildWorld, type ChainWriter } from "../bundle_builder.ts";
import { collidingSubjectOf, HOSTILE_KEY, SHAPES } from "../hostile_bundles.ts";
import { overallVerdict, verify } from "../verification.ts";
import { JIS_1_0_0 } from "../models.ts";

const HOSTILE_PIN = {
  publicKey: parseVerifierKey(nodeCrypto, HOSTILE_KEY).publicKey,
  prefix: null,
  from: null,
  until: null,
};

function chainOf(entries: number): ChainWriter {
  const chain = buildWorld().chain("org/acme");
  for (let index = 1; index < entries; index += 1) chain.score("operator-1");
  return chain;
}

/** The codes of the fatal findings in the bundles of a shape's lines. */
function fatalIn(lines: Iterable<string>): readonly string[] {
  const verifier = new BundleVerifier(nodeCrypto, {
    pins: [HOSTILE_PIN],
    known: [],
    expected: [],
    replay: true,
  });
  for (const line of lines) verifier.push(utf8(`${line}\n`));
  return verifier.end().flatMap(({ findings }) =>
    findings.filter(({ fatal }) => fatal).map(({ code }) => code)
  );
}

Deno.test("the first of too many bundles are verified, and the others are reported as not read", () => {
  const text = chainOf(1).bundle();
  const reports = verify(text.repeat(BUNDLE_LIMIT + 2));
  assert.equal(reports.length, BUNDLE_LIMIT + 1);
  assert.deepEqual(reports.at(-1)!.findings.map(({ code, line }) => [code, line]), [
    ["LIMIT_EXCEEDED", BUNDLE_LIMIT * (text.split("\n").length - 1) + 1],
  ]);
  assert.deepEqual([reports[0]!.verdict, reports.at(-2)!.verdict], [
    "INTACT, UNANCHORED",
    "INTACT, UNANCHORED",
  ]);
  assert.deepEqual(overallVerdict(reports), { verdict: "NOT VERIFIABLE", exitCode: 2 });
  assert.equal(overallVerdict(verify(text.repeat(BUNDLE_LIMIT))).exitCode, 0);
});

Deno.test("too many bundles hide no tampering in those that were read, and cause no finding that an unread one could disprove", () => {
  const chain = chainOf(3);
  const whole = chain.bundle();
  const changed = whole.replace("SCORE_COMPUTED", "SCORE_COMPUTEE");
  const filler = chainOf(1).bundle();
  const tampered = verify(changed + filler.repeat(BUNDLE_LIMIT));
  assert.deepEqual(overallVerdict(tampered), { verdict: "TAMPERED", exitCode: 1 });

  // The record of the erasure may be in a bundle that was not read.
  const early = chain.bundle();
  chain.erase("operator-1");
  const [erased] = verify(chain.bundle({ size: 3 }) + filler.repeat(BUNDLE_LIMIT));
  assert.deepEqual(erased!.findings.map(({ code }) => code), ["LIMIT_EXCEEDED"]);
  assert.equal(erased!.verdict, "NOT VERIFIABLE");
  assert.deepEqual(verify(chain.bundle({ size: 3 }) + early)[0]!.findings.map(({ code }) => code), [
    "ERASURE_UNPROVEN",
  ]);
});

Deno.test("without a limit of bundles, as for one's own database, all are read", () => {
  const text = chainOf(1).bundle();
  const reports = verify(text.repeat(BUNDLE_LIMIT + 2), { bundleLimit: Infinity });
  assert.equal(reports.length, BUNDLE_LIMIT + 2);
  assert.equal(overallVerdict(reports).exitCode, 0);
});

Deno.test("known roots beyond the limit are not counted, and the bundles with them are not verifiable", () => {
  const chain = chainOf(1);
  const text = chain.bundle();
  const each = 4_096;
  const known = Array(each - 1).fill(chain.checkpoint());
  // The first bundle is an anchor of all that follow, beside the kept checkpoints.
  const whole = Math.floor((AGREEMENT_LIMIT + 1) / each);
  const reports = verify(text.repeat(whole + 2), { known });
  assert.deepEqual(new Set(reports.slice(0, whole).map(({ verdict }) => verdict)), new Set(["INTACT"]));
  for (const { verdict, findings } of reports.slice(whole)) {
    assert.deepEqual([verdict, findings.map(({ code }) => code)], ["NOT VERIFIABLE", ["LIMIT_EXCEEDED"]]);
  }
  // Without kept checkpoints no agreement is looked for.
  assert.equal(overallVerdict(verify(text.repeat(whole + 2))).exitCode, 0);
});

Deno.test("a bundle is compared through an earlier one if its ladder links that one's end over the cut", () => {
  const chain = buildWorld().chain("org/acme", { retentionDays: 0 });
  for (let index = 1; index < 6; index += 1) chain.score("operator-1");
  const earlier = chain.bundle();
  const known = [chain.checkpoint(3)];
  for (let index = 0; index < 2; index += 1) chain.score("operator-1");
  chain.prune(7);
  const bare = chain.bundle();
  const linked = chain.bundle({ ladder: [6, 7] });
  const verdicts = (text: string) => verify(text, { known }).map(({ verdict }) => verdict);
  assert.deepEqual(verdicts(bare), ["INTACT, NOT COMPARED"]);
  assert.deepEqual(verdicts(linked), ["INTACT, NOT COMPARED"]);
  assert.deepEqual(verdicts(earlier + bare), ["INTACT", "INTACT, NOT COMPARED"]);
  assert.deepEqual(verdicts(earlier + linked), ["INTACT", "INTACT, UNANCHORED"]);
  // A false step of the ladder is a fork from the earlier end.
  const forged = linked.replace(
    /("kind":"jis.ladder\/1","proof":\["[0-9a-f]{63})(.)/,
    (_, before, last) => `${before}${last === "0" ? "1" : "0"}`,
  );
  assert.notEqual(forged, linked);
  assert.equal(verdicts(earlier + forged)[1], "DIVERGED");
});

Deno.test("a header with too many keys or too long a name is not read, and is not tampering", () => {
  const chain = chainOf(2);
  const text = chain.bundle();
  const key = '{"cert":null,"vkey":"x"}';
  const many = text.replace('"keys":[', `"keys":[${`${key},`.repeat(KEY_LIMIT)}`);
  assert.deepEqual(verify(many).map(({ verdict, findings }) => [verdict, findings[0]!.code]), [
    ["NOT VERIFIABLE", "LIMIT_EXCEEDED"],
  ]);
  const [first] = text.split("\n");
  const long = text.replace(first!, first!.replaceAll("jiss.test/", `${"long/".repeat(120)}jiss.test/`));
  assert.deepEqual(verify(long).map(({ verdict, findings }) => [verdict, findings[0]!.code]), [
    ["NOT VERIFIABLE", "LIMIT_EXCEEDED"],
  ]);
});

Deno.test("models that are too large together are not kept, and the file is not verifiable", () => {
  const chain = chainOf(2);
  const [header, ...rest] = chain.bundle().split("\n");
  const models = Array.from({ length: 12 }, (_, index) => {
    const document = { index, filler: "x".repeat(700_000) };
    return modelLine({ sha256: modelSha256(nodeCrypto, document), document });
  });
  const [report] = verify([header, ...models, ...rest].join("\n"));
  const codes = new Set(report!.findings.map(({ code }) => code));
  assert.ok(codes.has("LIMIT_EXCEEDED"), [...codes].join());
  assert.notEqual(report!.exitCode, 0);
});

Deno.test("a signed note that is too long is not valid", () => {
  const chain = chainOf(2);
  const filler = `— ${"n".repeat(NOTE_LIMIT)} ${"A".repeat(40)}\\n`;
  const text = chain.bundle().replaceAll(/(\\n)"/g, `$1${filler}"`);
  const [report] = verify(text);
  assert.equal(report!.checkpoint, null);
  assert.equal(report!.verdict, "TAMPERED");
});

Deno.test("more sets of signers, certificates or anchored chains than the limit are reported, each once", () => {
  const count = (codes: readonly string[]) => codes.filter((code) => code === "LIMIT_EXCEEDED").length;
  const bySigners = SHAPES["checkpoints by ever other keys"];
  assert.equal(count(fatalIn(bySigners(SIGNER_SET_LIMIT))), 0);
  assert.equal(count(fatalIn(bySigners(SIGNER_SET_LIMIT + 10))), 1);
  const rotations = SHAPES["key changes"];
  assert.equal(count(fatalIn(rotations(KEY_LIMIT))), 0);
  assert.equal(count(fatalIn(rotations(KEY_LIMIT + 10))), 1);
  const anchored = SHAPES["chains that the system chain anchors"];
  const entries = Math.ceil(ANCHOR_LIMIT / 500);
  assert.equal(count(fatalIn(anchored(entries - 1))), 0);
  assert.equal(count(fatalIn(anchored(entries + 2))), 1);
});

Deno.test("with too many pairs of certified keys each bundle that adds one is not verifiable", () => {
  /** A bundle without a trusted key, with the certificates of `rotations` rotations. */
  const rotating = (seed: string, rotations: number) => {
    const world = buildWorld({ seed, deployment: "01DEPLOYMENTTWO" });
    const chain = world.chain("org/acme");
    for (let at = 0; at < rotations; at += 1) world.makeKey();
    return chain.bundle();
  };
  const own = buildWorld();
  const chain = own.chain("org/acme");
  own.makeKey();
  chain.rotate();
  const full = Array.from(
    { length: JOIN_LIMIT / (KEY_LIMIT - 1) },
    (_, at) => rotating(`another ${at}`, KEY_LIMIT - 1),
  );
  const left = JOIN_LIMIT - full.length * (KEY_LIMIT - 1);
  const codesOf = (text: string) =>
    verify(text).map(({ findings }) => findings.filter(({ code }) => code === "LIMIT_EXCEEDED").length);
  const fits = [...full, rotating("the last", left - 1), chain.bundle(), chain.bundle()];
  assert.deepEqual(codesOf(fits.join("")), fits.map(() => 0));
  const tooMany = [...full, rotating("the last", left), chain.bundle(), chain.bundle()];
  assert.deepEqual(codesOf(tooMany.join("")), [...full.map(() => 0), 0, 1, 1]);
  assert.equal(verify(tooMany.join("")).at(-1)!.verdict, "NOT VERIFIABLE");
});

Deno.test("with too many findings each bundle keeps its first fatal one, and counts the others", () => {
  const budget = findingBudget();
  const logs = Array.from({ length: 2 * INPUT_FINDING_LIMIT / 64 }, () => new FindingLog(budget));
  for (const log of logs) {
    log.add("STATE_UNANCHORED", { seq: 1 });
    for (let seq = 100; seq > 0; seq -= 1) log.add("LINK_BROKEN", { seq });
  }
  for (const log of logs) {
    assert.equal(log.findings.length + log.dropped, 101);
    assert.ok(log.findings.some(({ fatal }) => fatal));
    assert.equal(log.firstBadSeq, 1);
  }
  const kept = logs.reduce((sum, { findings }) => sum + findings.length, 0);
  assert.ok(kept <= INPUT_FINDING_LIMIT + logs.length, `${kept}`);
});

Deno.test("a finding keeps at most 200 characters of its detail, not the whole line", () => {
  const log = new FindingLog();
  log.add("MALFORMED_LINE", { detail: `${"é".repeat(300)}\ud800` });
  assert.equal(log.findings[0]!.detail, "é".repeat(200));
  log.add("MALFORMED_LINE", { detail: "\ud800 alone" });
  assert.equal(log.findings[1]!.detail, "\ud800 alone");
});

Deno.test("a departure exponent that would make the formulas loop for ever is refused", () => {
  const interaction = { decision: "modified", modification_extent: 0.25 } as Interaction;
  const shareBy = (departure_exponent: number) =>
    departureShare({
      ...JIS_1_0_0,
      classification: { ...JIS_1_0_0.classification, full_departure_extent: 0.5, departure_exponent },
    }, interaction);
  assert.equal(shareBy(2), 0.25);
  assert.throws(() => shareBy(17), RangeError);
  assert.throws(() => shareBy(1e300), RangeError);
});

// ---- the operators' map -------------------------------------------------------------------------------------

Deno.test("the keyed hash depends on its seed, on every word and on their order", () => {
  const words = Uint32Array.of(1, 2, 3, 4);
  const hash = keyedHash([5, 6], words, 0);
  assert.equal(hash, keyedHash([5, 6], words, 0));
  assert.ok(Number.isInteger(hash) && hash >= 0 && hash < 2 ** 32);
  const others = [
    keyedHash([5, 7], words, 0),
    keyedHash([4, 6], words, 0),
    keyedHash([5, 6], Uint32Array.of(2, 1, 3, 4), 0),
    keyedHash([5, 6], Uint32Array.of(1, 2, 3, 5), 0),
  ];
  assert.equal(new Set([hash, ...others]).size, 5);
});

Deno.test("pseudonyms that were chosen to collide cost as much as random ones", () => {
  const timeOf = (subjects: readonly string[]) => {
    const states = new SubjectStates([1, 2]);
    const value = new Uint8Array(32);
    const started = performance.now();
    for (const subject of subjects) states.set(subject, 1, value);
    return performance.now() - started;
  };
  const indexes = Array.from({ length: 20_000 }, (_, index) => index);
  const random = indexes.map((index) => hex(nodeCrypto.sha256(utf8(`${index}`)).slice(0, 16)));
  const chosen = indexes.map(collidingSubjectOf);
  timeOf(random);
  const [usual, worst] = [timeOf(random), timeOf(chosen)];
  assert.ok(worst < 10 * usual, `${worst} ms, ${usual} ms for random ones`);
});
