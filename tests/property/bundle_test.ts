/**
 * The laws of verification: any change to a genuine bundle is found; no input makes the verifier throw; how
 * the bytes are cut never matters; and each fast way gives the same result as the slow one that it replaces.
 */
import assert from "node:assert/strict";
import fc from "fast-check";
import type { z } from "zod";
import {
  beginningLineSchema,
  checkpointLineSchema,
  headerSchema,
  ladderLineSchema,
  modelLineSchema,
  partLineSchema,
  trailerSchema,
} from "../../src/evidence/bundle.ts";
import { canonicalJson } from "../../src/evidence/canonical.ts";
import { isCanonicalText } from "../../src/evidence/canonical_text.ts";
import { hex, utf8 } from "../../src/evidence/crypto.ts";
import { entrySchema } from "../../src/evidence/entry.ts";
import { entryHash, PART_NAMES, partCommitment } from "../../src/evidence/hashes.ts";
import { entryHashOfBytes, partCommitmentOfBytes } from "../../src/evidence/line_hashes.ts";
import { isEntry, isMembers, isPart } from "../../src/evidence/line_shapes.ts";
import { nodeCrypto } from "../../src/evidence/node_crypto.ts";
import type { BundleReport } from "../../src/evidence/report.ts";
import { SubjectStates } from "../../src/evidence/subject_states.ts";
import { BundleVerifier, type VerifierOptions } from "../../src/evidence/verifier.ts";
import { buildWorld } from "../bundle_builder.ts";
import { type Json, linesOf, sealed } from "../bundle_tampering.ts";

const SEED = 20_261_121;

const world = buildWorld({ step: 6 * 3_600_000 });
const chain = world.chain("org/acme", { retentionDays: 3 });
for (const operator of ["ada", "ben", "cyd", "ada", "ben"]) chain.score(operator);
const labelled = chain.score("cyd", { interaction: { outcome_correct: null, scenario_type: "standard" } });
chain.commit(labelled);
chain.decide("ada");
chain.label(labelled, true);
for (const operator of ["ben", "ada", "cyd", "ben"]) chain.score(operator);
world.makeKey();
chain.rotate();
chain.skip("ada");
chain.erase("ben");
chain.prune(4);
chain.score("cyd");
/** At least one line of every kind. */
const GOOD = chain.bundle({ every: 4, ladder: [2, 4] });
const LINES = linesOf(GOOD);
/** A chain that begins with a restore; the first entry stays although it lies below the cut. */
const next = chain.restore(10);
for (const operator of ["ada", "cyd", "ada", "cyd", "ada", "cyd"]) next.score(operator);
next.prune(5, { last_ts: "2000-01-01T00:00:00.000Z" });
const NEXT = linesOf(next.bundle());
const AT = NEXT.findIndex((line) => line.includes('"jis.beginning/1"'));
const BEGINNING = NEXT[AT]!;
const BYTES = utf8(GOOD);

function verify(bytes: Uint8Array, options: Partial<VerifierOptions> = {}): readonly BundleReport[] {
  const verifier = new BundleVerifier(nodeCrypto, {
    pins: [world.pin()],
    known: [chain.checkpoint(2), chain.checkpoint(7)],
    expected: [{ origin: chain.origin, seq: 8, entryHash: chain.hashOf(8) }],
    replay: true,
    ...options,
  });
  verifier.push(bytes);
  return verifier.end();
}

const isAccepted = (reports: readonly BundleReport[]) =>
  reports.every(({ verdict }) => verdict.startsWith("INTACT"));
const kindOf = (line: string): string => JSON.parse(line).kind ?? "entry";

Deno.test("the bundle that the other laws use is intact and holds every kind of line", () => {
  const [report] = verify(BYTES);
  assert.deepEqual([report!.verdict, report!.exitCode], ["INTACT", 0]);
  assert.deepEqual(
    [...new Set(LINES.map(kindOf))].sort(),
    [
      "entry",
      "jis.bundle/1",
      "jis.checkpoint/1",
      "jis.ladder/1",
      "jis.model/1",
      "jis.part/1",
      "jis.trailer/1",
    ],
  );
});

Deno.test("every line of that bundle fits the schema of its kind, in canonical form", () => {
  const schemas: Readonly<Record<string, z.ZodType>> = {
    entry: entrySchema,
    "jis.bundle/1": headerSchema,
    "jis.checkpoint/1": checkpointLineSchema,
    "jis.ladder/1": ladderLineSchema,
    "jis.model/1": modelLineSchema,
    "jis.part/1": partLineSchema,
    "jis.trailer/1": trailerSchema,
    "jis.beginning/1": beginningLineSchema,
  };
  for (const line of [...LINES, BEGINNING]) {
    const value = JSON.parse(line);
    assert.equal(canonicalJson(value), line);
    assert.deepEqual(schemas[kindOf(line)]!.parse(value), value);
  }
});

// ---- changes ----------------------------------------------------------------------------------------------------

const flip = fc.record({ at: fc.nat({ max: BYTES.length - 1 }), mask: fc.integer({ min: 1, max: 255 }) });

Deno.test("a bundle with any byte changed is not accepted, with or without replay", () => {
  fc.assert(
    fc.property(flip, fc.boolean(), ({ at, mask }, replay) => {
      const bytes = BYTES.slice();
      bytes[at]! ^= mask;
      assert.equal(isAccepted(verify(bytes, { replay })), false, `byte ${at} ^ ${mask}`);
    }),
    { seed: SEED, numRuns: 200 },
  );
});

const PROVEN_KINDS = ["entry", "jis.part/1", "jis.checkpoint/1", "jis.model/1"];
/**
 * Lines that a signature proves, in a bundle that the auditor has nothing to compare with. If two keys signed
 * a checkpoint, one signature line can be spoilt: a signature by an unknown key is ignored, and the other
 * suffices.
 */
const PROVEN = LINES.flatMap((line, index) =>
  PROVEN_KINDS.includes(kindOf(line)) && line.split("\u2014").length <= 2 ? [index] : []
);

Deno.test("a proven line with any byte changed is not accepted though the file's digest is mended", () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...PROVEN),
      fc.nat(),
      fc.integer({ min: 1, max: 127 }),
      (index, position, mask) => {
        const bytes = utf8(LINES[index]!);
        bytes[position % bytes.length]! ^= mask;
        const changed = new TextDecoder().decode(bytes);
        const reports = verify(utf8(sealed(LINES.with(index, changed))), { known: [] });
        assert.equal(isAccepted(reports), false, `line ${index}, byte ${position % bytes.length} ^ ${mask}`);
      },
    ),
    { seed: SEED, numRuns: 200 },
  );
});

/** A bundle is intact without the earlier checkpoints, and without nothing else. */
const isSpare = (line: string) => kindOf(line) === "jis.checkpoint/1";

Deno.test("a bundle with one line removed is not accepted, unless it is an earlier checkpoint or the ladder", () => {
  for (const [index, line] of LINES.entries()) {
    const text = sealed(LINES.toSpliced(index, 1));
    assert.equal(
      isAccepted(verify(utf8(text), { known: [] })),
      isSpare(line) || isLadder(line),
      `line ${index}`,
    );
  }
});

/** The ladder is needed only to compare kept checkpoints below the base. */
const isLadder = (line: string) => kindOf(line) === "jis.ladder/1";

Deno.test("a bundle without its ladder is INTACT, NOT COMPARED if a kept checkpoint lies below the base", () => {
  const text = sealed(LINES.filter((line) => !isLadder(line)));
  const [report] = verify(utf8(text), { known: [chain.checkpoint(2)] });
  assert.deepEqual([report!.verdict, report!.exitCode], ["INTACT, NOT COMPARED", 2]);
  assert.equal(report!.findings[0]!.code, "KNOWN_CHECKPOINT_UNLINKABLE");
});

Deno.test("a bundle with any one line twice is not accepted", () => {
  for (const [index, line] of LINES.entries()) {
    const text = sealed(LINES.toSpliced(index, 0, line));
    assert.equal(isAccepted(verify(utf8(text))), false, `line ${index}`);
  }
});

Deno.test("a bundle with any two lines exchanged is not accepted", () => {
  const place = fc.nat({ max: LINES.length - 1 });
  fc.assert(
    fc.property(place, place, (one, other) => {
      fc.pre(LINES[one] !== LINES[other]);
      const text = sealed(LINES.with(one, LINES[other]!).with(other, LINES[one]!));
      assert.equal(isAccepted(verify(utf8(text))), false, `lines ${one} and ${other}`);
    }),
    { seed: SEED, numRuns: 200 },
  );
});

Deno.test("a bundle that ends at any byte before its end is not accepted", () => {
  fc.assert(
    fc.property(fc.nat({ max: BYTES.length - 1 }), (end) => {
      assert.equal(isAccepted(verify(BYTES.subarray(0, end))), false, `cut at ${end}`);
    }),
    { seed: SEED, numRuns: 200 },
  );
});

/** Sets one member, at a place that the numbers choose, to another value. */
function setSomewhere(value: Json, choices: readonly number[], replacement: unknown): unknown {
  const names = Object.keys(value);
  if (names.length === 0) return replacement;
  const name = names[choices[0]! % names.length]!;
  const member = value[name];
  const isDeep = choices.length > 1 && typeof member === "object" && member !== null;
  value[name] = isDeep ? setSomewhere(member, choices.slice(1), replacement) : replacement;
  return value;
}

const anything = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  fc.constantFrom("jis.part/1", "jis.trailer/1", "system", 2 ** 53 - 1, -1, "0".repeat(64), [], {}, 1e21),
);

Deno.test("a proven line with any member set to any value is not accepted though every digest is made anew", () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...PROVEN),
      fc.array(fc.nat(), { minLength: 1, maxLength: 4 }),
      anything,
      (index, choices, replacement) => {
        const changed = canonicalJson(setSomewhere(JSON.parse(LINES[index]!), choices, replacement));
        fc.pre(changed !== LINES[index]);
        const reports = verify(utf8(sealed(LINES.with(index, changed))), { known: [] });
        assert.equal(isAccepted(reports), false, changed.slice(0, 200));
      },
    ),
    { seed: SEED, numRuns: 200 },
  );
});

Deno.test("the first entry that stays below a cut is not accepted with any byte or member changed", () => {
  const judged = (line: string) => isAccepted(verify(utf8(sealed(NEXT.with(AT, line))), { known: [] }));
  assert.equal(judged(BEGINNING), true);
  const bytes = utf8(BEGINNING);
  // The step divides none of a line's regularities (hashes of 64 digits, salts).
  for (let at = 0; at < bytes.length; at += 7) {
    const changed = bytes.slice();
    changed[at]! ^= 1 << (at % 7);
    assert.equal(judged(new TextDecoder().decode(changed)), false, `byte ${at}`);
  }
  const choices = fc.array(fc.nat(), { minLength: 1, maxLength: 3 });
  fc.assert(
    fc.property(choices, anything, (places, value) => {
      const line = canonicalJson(setSomewhere(JSON.parse(BEGINNING), places, value) as Json);
      fc.pre(line !== BEGINNING);
      assert.equal(judged(line), false, line);
    }),
    { seed: SEED, numRuns: 200 },
  );
});

// ---- arbitrary input --------------------------------------------------------------------------------------------

const KINDS = [...new Set([...LINES, BEGINNING].map(kindOf))];
const member = fc.oneof(
  anything,
  fc.constantFrom<unknown>(...LINES.flatMap((line) => Object.values(JSON.parse(line)))),
);
const object = fc.dictionary(
  fc.oneof(
    fc.string(),
    fc.constantFrom(...new Set(LINES.flatMap((line) => Object.keys(JSON.parse(line)))), "__proto__"),
  ),
  member,
);
const anyLine = fc.oneof(
  fc.constantFrom(...LINES, BEGINNING),
  fc.string(),
  object.map((value) => JSON.stringify(value)),
  fc.tuple(fc.constantFrom(...KINDS), object).map(([kind, value]) => JSON.stringify({ ...value, kind })),
  fc.tuple(fc.constantFrom(...LINES, BEGINNING), fc.array(fc.nat(), { minLength: 1, maxLength: 3 }), member)
    .map(([line, choices, value]) => JSON.stringify(setSomewhere(JSON.parse(line), choices, value))),
);

Deno.test("arbitrary lines never make the verifier throw, with keys or without", () => {
  fc.assert(
    fc.property(fc.array(anyLine, { maxLength: 30 }), fc.boolean(), (lines, pinned) => {
      const header = lines.includes(BEGINNING) ? NEXT[0]! : LINES[0]!;
      const text = [header, ...lines].map((line) => `${line}\n`).join("");
      for (const report of verify(utf8(text), pinned ? {} : { pins: null })) {
        assert.ok([0, 1, 2].includes(report.exitCode));
        assert.ok(report.findings.length <= 64);
      }
    }),
    { seed: SEED, numRuns: 600 },
  );
});

Deno.test("arbitrary bytes never make the verifier throw, and are never accepted", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
      assert.equal(isAccepted(verify(bytes)), false);
    }),
    { seed: SEED, numRuns: 600 },
  );
});

// ---- fast ways --------------------------------------------------------------------------------------------------

Deno.test("how the bytes are cut into chunks makes no difference", () => {
  const broken = BYTES.slice();
  broken[BYTES.length >> 1]! ^= 1;
  for (const whole of [utf8(GOOD + GOOD), broken]) {
    const verifierOf = () =>
      new BundleVerifier(nodeCrypto, {
        pins: [world.pin()],
        known: [chain.checkpoint(2), chain.checkpoint(7)],
        expected: [],
        replay: true,
      });
    const uncut = verifierOf();
    uncut.push(whole);
    const expected = uncut.end();
    fc.assert(
      fc.property(fc.array(fc.nat({ max: whole.length }), { maxLength: 40 }), (cuts) => {
        const verifier = verifierOf();
        const ends = [...cuts.sort((a, b) => a - b), whole.length];
        ends.forEach((end, index) => verifier.push(whole.slice(index === 0 ? 0 : ends[index - 1]!, end)));
        assert.deepEqual(verifier.end(), expected);
        assert.equal(verifier.entries, expected.reduce((sum, { entries }) => sum + entries, 0));
      }),
      { seed: SEED, numRuns: 50 },
    );
  }
});

Deno.test("bytes that come one at a time make no difference", () => {
  const verifier = new BundleVerifier(nodeCrypto, {
    pins: [world.pin()],
    known: [],
    expected: [],
    replay: false,
  });
  for (const byte of BYTES) verifier.push(Uint8Array.of(byte));
  assert.deepEqual(verifier.end(), verify(BYTES, { known: [], expected: [], replay: false }));
});

const spaced = fc.jsonValue({ maxDepth: 4, stringUnit: "binary" });
/** Texts that are canonical, nearly canonical, and not canonical at all. */
const jsonText = fc.oneof(
  spaced.map((value) => JSON.stringify(value)),
  spaced.map((value) => canonicalJson(value)),
  fc.dictionary(
    fc.oneof(fc.nat({ max: 99 }).map(String), fc.constantFrom("a", "b", "", "é", "\u{10000}")),
    spaced,
  )
    .map((value) => canonicalJson(value)),
  fc.dictionary(
    fc.oneof(fc.nat({ max: 99 }).map(String), fc.constantFrom("a", "b", "", "é", "\u{10000}")),
    spaced,
  )
    .map((value) => JSON.stringify(value)),
  fc.constantFrom(
    '{"a":"\\ud800"}',
    '{"a":"\\\\ud800"}',
    '{"a":"\\u001f"}',
    '{"a":"\\u001F"}',
    '{"a":1.0}',
    '{"a":-0}',
    '{"a":1e21}',
    '{"a":1,"a":1}',
    '{"__proto__":1,"a":2}',
    '{"a":2,"__proto__":1}',
    '{"10":1,"9":2}',
    '{"9":2,"10":1}',
    '{"":1,"a":2}',
    '{"a":2,"":1}',
    `${"[".repeat(64)}${"]".repeat(64)}`,
    `${"[".repeat(65)}${"]".repeat(65)}`,
  ),
);

Deno.test("the fast check for canonical form agrees with writing the value anew", () => {
  fc.assert(
    fc.property(jsonText, (text) => {
      const value: unknown = JSON.parse(text);
      let canonical: string | null;
      try {
        canonical = canonicalJson(value);
      } catch {
        canonical = null;
      }
      assert.equal(isCanonicalText(text, value), canonical === text, text.slice(0, 200));
    }),
    { seed: SEED, numRuns: 3_000 },
  );
});

const hotLines = LINES.filter((line) => ["entry", "jis.part/1"].includes(kindOf(line)));
const nearlyHot = fc.oneof(
  fc.constantFrom(...hotLines).map((line) => JSON.parse(line)),
  fc.tuple(fc.constantFrom(...hotLines), fc.array(fc.nat(), { minLength: 1, maxLength: 2 }), member)
    .map(([line, choices, value]) => setSomewhere(JSON.parse(line), choices, value)),
  fc.tuple(fc.constantFrom(...hotLines), fc.nat()).map(([line, at]) => {
    const value = JSON.parse(line);
    const names = Object.keys(value);
    delete value[names[at % names.length]!];
    return value;
  }),
  fc.tuple(fc.constantFrom(...hotLines), fc.constantFrom("a", "erased", "pruned", "withheld", "data"), member)
    .map(([line, name, value]) => ({ ...JSON.parse(line), [name]: value })),
  fc.record({
    kind: fc.constant("jis.part/1"),
    name: fc.constantFrom<unknown>(...PART_NAMES, "other", null),
    seq: fc.oneof(fc.nat(), fc.double(), fc.constant("1")),
  }, { requiredKeys: ["kind"] }).chain((value) =>
    fc.dictionary(fc.constantFrom("erased", "pruned", "withheld"), fc.constantFrom<unknown>(true, false, 1))
      .map((more) => ({ ...value, ...more }))
  ),
);

Deno.test("the hand-written shape checks of entries and parts agree with their schemas", () => {
  fc.assert(
    fc.property(nearlyHot, (value) => {
      fc.pre(isMembers(value));
      const members = value as Record<string, unknown>;
      assert.equal(isEntry(members), entrySchema.safeParse(members).success);
      if (members.kind === "jis.part/1") {
        assert.equal(isPart(members), partLineSchema.safeParse(members).success);
      }
    }),
    { seed: SEED, numRuns: 4_000 },
  );
});

Deno.test("hashes over a file's bytes equal those over its texts", () => {
  const salt = fc.uint8Array({ minLength: 32, maxLength: 32 });
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), salt, fc.constantFrom(...PART_NAMES), (text, bytes, name) => {
      const content = utf8(text);
      assert.deepEqual(entryHashOfBytes(nodeCrypto, content), entryHash(nodeCrypto, text));
      assert.deepEqual(
        partCommitmentOfBytes(nodeCrypto, { name, salt: hex(bytes), bytes: content }),
        partCommitment(nodeCrypto, { name, salt: bytes, text }),
      );
    }),
    { seed: SEED, numRuns: 200 },
  );
});

// ---- the operators' map -----------------------------------------------------------------------------------------

/** Few pseudonyms, many of which share a shard and collide. */
const subject = fc.oneof(
  fc.nat({ max: 60 }).map((n) => `00${n.toString(16).padStart(30, "0")}`),
  fc.uint8Array({ minLength: 16, maxLength: 16 }).map(hex),
);
const command = fc.oneof(
  fc.record({
    kind: fc.constant("set" as const),
    subject,
    flags: fc.integer({ min: 1, max: 255 }),
    fill: fc.nat({ max: 255 }),
  }),
  fc.record({ kind: fc.constant("delete" as const), subject }),
  fc.record({ kind: fc.constant("get" as const), subject }),
);

Deno.test("the operators' map answers as a plain map does", () => {
  fc.assert(
    fc.property(fc.array(command, { maxLength: 400 }), (commands) => {
      const states = new SubjectStates();
      const model = new Map<string, { flags: number; value: string }>();
      for (const given of commands) {
        if (given.kind === "set") {
          const value = new Uint8Array(32).fill(given.fill);
          states.set(given.subject, given.flags, value);
          model.set(given.subject, { flags: given.flags, value: hex(value) });
        } else if (given.kind === "delete") {
          assert.equal(states.delete(given.subject), model.delete(given.subject));
        } else {
          const expected = model.get(given.subject);
          assert.equal(states.flagsOf(given.subject), expected?.flags ?? 0);
          const value = states.valueOf(given.subject);
          assert.equal(value === null ? undefined : hex(value), expected?.value);
        }
        assert.equal(states.size, model.size);
      }
      const seen = new Map<string, { flags: number; value: string }>();
      states.forEach((name, flags, value) => seen.set(name, { flags, value: hex(value) }));
      assert.deepEqual([...seen].sort(), [...model].sort());
    }),
    { seed: SEED, numRuns: 200 },
  );
});

Deno.test("the operators' map takes under 100 bytes for each of many operators, even while it grows", () => {
  const states = new SubjectStates();
  const value = new Uint8Array(32);
  for (let n = 1; n <= 60_000; n += 1) {
    const before = states.bytes;
    states.set(hex(nodeCrypto.sha256(utf8(`operator ${n}`)).subarray(0, 16)), 1, value);
    // While a shard grows by a quarter, it holds its old array and the new one: five quarters of its size.
    const peak = before + 5 * (states.bytes - before);
    if (n >= 5_000) assert.ok(peak / n < 100, `${peak / n} bytes for each of ${n}`);
  }
  assert.equal(states.size, 60_000);
});

Deno.test("the operators' map refuses what it cannot hold", () => {
  const states = new SubjectStates();
  const name = "00".repeat(16);
  assert.throws(() => states.set(name, 0, new Uint8Array(32)), RangeError);
  assert.throws(() => states.set(name, 256, new Uint8Array(32)), RangeError);
  assert.throws(() => states.set(name, 1, new Uint8Array(31)), RangeError);
});
