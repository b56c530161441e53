/**
 * Every kind of tampering with a bundle, and what a verifier must find: the table of the design, on bundles
 * with scores that replay. Each row is one tampering with its findings in order, its verdict and its exit
 * code.
 *
 * One file, as all rows are changes of one bundle. The product's verifier and the independent one both run
 * them.
 */
import { canonicalJson } from "../src/evidence/canonical.ts";
import { hex, type Signer } from "../src/evidence/crypto.ts";
import { genesisPrevious } from "../src/evidence/hashes.ts";
import { type KnownCheckpoint, knownCheckpointOrNull } from "../src/evidence/kept.ts";
import { nodeCrypto } from "../src/evidence/node_crypto.ts";
import { formatVerifierKey } from "../src/evidence/note.ts";
import { computeScore, scoreResultPart } from "../src/evidence/record.ts";
import { JIS_1_0_0 } from "./models.ts";
import { buildWorld } from "./bundle_builder.ts";
import { checkpointAt, forged, type Json, linesOf, type OpenBundle, sealed } from "./bundle_tampering.ts";
import { diverged, INTACT, notVerifiable, type Row, tampered } from "./verification.ts";

const world = buildWorld();
const signers = world.signers;
/** Keys that nobody trusts. */
export const strangers = buildWorld({ seed: "stranger" }).signers;

/** Scores that replay, a decision, a commit, a late label, an erasure. */
export const chain = world.chain("org/acme");
chain.score("ada");
chain.score("ben");
chain.score("ada");
chain.decide("ada");
chain.commit(1);
chain.skip("ben");
chain.score("cyd", { interaction: { outcome_correct: null, scenario_type: "standard" } });
chain.label(7, true);
chain.score("cyd");
const OLDER = chain.bundle({ every: 4, size: 8 });
chain.erase("ben");
chain.score("ada");
/** All of it, with a checkpoint after every fourth entry. */
export const GOOD = chain.bundle({ every: 4 });
/** The line of the file that holds an entry itself, from 0. */
export const lineOfEntry = (seq: number) =>
  linesOf(GOOD).findIndex((line) => line.startsWith('{"actor"') && line.includes(`"seq":${seq},`));

/** Kept from an earlier visit. */
export const KEPT: readonly KnownCheckpoint[] = [chain.checkpoint(6)];

const entry = (open: OpenBundle, seq: number) => open.groups[seq]!.entry;
/** A line of a part, to be changed. */
export const part = (open: OpenBundle, seq: number, name: string): Json =>
  open.groups[seq]!.parts.find((line) => line.name === name);
/** Changes an entry, so that its hash differs. */
export const rename = (seq: number) => (open: OpenBundle) => {
  entry(open, seq).id = "01FORGED000000000000000000";
};

/** Everything that a forger can mend without a key. */
export const WITHOUT_KEY = { links: true, priors: true } as const;
/** Everything that a forger can mend with the right key. */
export const WITH_KEY = { ...WITHOUT_KEY, signers } as const;

// ---- genuine bundles ------------------------------------------------------------------------------------------

export const GENUINE_ROWS: readonly Row[] = [
  {
    name: "a bundle that agrees with a kept checkpoint is INTACT",
    text: GOOD,
    known: KEPT,
    verdict: "INTACT",
    exit: 0,
    findings: [],
  },
  {
    name:
      "a kept checkpoint that no trusted key signed is unusable input: it accuses nobody and anchors nothing",
    text: GOOD,
    known: [
      ...KEPT,
      knownCheckpointOrNull(checkpointAt(forged(GOOD, rename(5), WITHOUT_KEY), 8, strangers))!,
    ],
    ...notVerifiable([]),
  },
  {
    name: "checkpoints kept of other chains do not concern this one",
    text: GOOD,
    known: [world.chain("org/other").checkpoint()],
    ...INTACT,
  },
  {
    name: "without a pinned key a genuine file proves nothing, and exits 2",
    text: GOOD,
    pins: null,
    ...notVerifiable([]),
  },
  {
    name: "without a pinned key a tampered file is tampered",
    text: forged(GOOD, rename(5)),
    pins: null,
    ...tampered(["LINK_BROKEN@5", "ROOT_MISMATCH[4,7]"], 5),
  },
];

// ---- entries --------------------------------------------------------------------------------------------------

export const ENTRY_ROWS: readonly Row[] = [
  {
    name: "an edited entry is found by the link after it",
    text: forged(GOOD, rename(5)),
    ...tampered(["LINK_BROKEN@5", "ROOT_MISMATCH[4,7]"], 5),
  },
  {
    name: "if a root proves the earlier of two entries that do not fit, the later one is blamed",
    text: forged(GOOD, (open) => {
      entry(open, 4).prev = "00".repeat(32);
    }),
    ...tampered(["LINK_BROKEN@4", "LINK_BROKEN@4", "ROOT_MISMATCH[4,7]"], 4),
  },
  {
    name: "an edit with everything mended is found by the next signed root",
    text: forged(GOOD, rename(5), WITHOUT_KEY),
    ...tampered(["ROOT_MISMATCH[4,7]"], 4),
  },
  {
    name: "a deleted entry is missing",
    text: forged(GOOD, ({ groups }) => groups.splice(6, 1)),
    ...tampered(["MISSING[6,6]"], 6),
  },
  {
    name: "a deleted entry is missing though all links are mended",
    text: forged(GOOD, ({ groups }) => groups.splice(6, 1), WITHOUT_KEY),
    ...tampered(["MISSING[6,6]"], 6),
  },
  {
    name: "entries deleted right before a checkpoint are missing",
    text: forged(GOOD, ({ groups }) => {
      groups[1]!.checkpoints = groups[3]!.checkpoints;
      groups.splice(2, 2);
    }),
    ...tampered(["MISSING[2,3]"], 2),
  },
  {
    name:
      "an entry copied in, with all after it renumbered, is a repeated record, and found by the next signed root",
    text: forged(GOOD, ({ groups }) => {
      groups.splice(6, 0, structuredClone(groups[5]!));
      for (const [seq, group] of groups.entries()) {
        group.entry.seq = seq;
        for (const line of group.parts) line.seq = seq;
      }
      groups[7]!.checkpoints = groups[8]!.checkpoints.splice(0);
    }, WITHOUT_KEY),
    ...tampered(
      ["RECORD_REPEATED@6", "ROOT_MISMATCH[4,7]", "UNSIGNED_TAIL[12,12]", "TRAILER_SIZE_MISMATCH@13"],
      6,
    ),
  },
  {
    name: "a second entry of one seq is a duplicate",
    text: sealed(linesOf(GOOD).toSpliced(lineOfEntry(4) + 1, 0, linesOf(GOOD)[lineOfEntry(4)]!)),
    ...tampered(["DUPLICATE_SEQ@4", "ROOT_MISMATCH[4,7]"], 4),
  },
  {
    name: "two exchanged entries are found at the first one's place",
    text: forged(GOOD, ({ groups }) => groups.splice(5, 2, groups[6]!, groups[5]!)),
    ...tampered(["REORDERED[5,5]"], 5),
  },
  {
    name: "time that goes backwards is found though the right key signed it",
    text: forged(GOOD, (open) => {
      entry(open, 5).timestamp = "2026-11-20T08:59:00.000Z";
    }, WITH_KEY),
    ...tampered(["CLOCK_ROLLBACK@5"], 5),
  },
  ...["2026-11-31T09:00:00.000Z", "2027-02-29T09:00:00.000Z", "2026-11-30T24:00:00.000Z"].map((
    instant,
  ): Row => ({
    name: `a timestamp that does not exist, ${instant}, is found though the right key signed it`,
    text: forged(GOOD, (open) => {
      entry(open, 11).timestamp = instant;
    }, WITH_KEY),
    ...tampered(["MALFORMED_LINE@11"], 11),
  })),
  {
    name: "an entry of another organization is found though the right key signed it",
    text: forged(GOOD, (open) => {
      entry(open, 5).chain = "org/other";
    }, WITH_KEY),
    ...tampered(["WRONG_CHAIN@5"], 5),
  },
  {
    name: "an entry that claims to be another organization's is found though the right key signed it",
    text: forged(GOOD, (open) => {
      entry(open, 5).org_id = "other";
    }, WITH_KEY),
    ...tampered(["WRONG_CHAIN@5"], 5),
  },
  {
    name: "a chain presented as another organization's does not fit its signatures",
    text: forged(GOOD, (open) => {
      const { header } = open;
      header.chain = "org/other";
      header.origin = header.origin.replace("acme", "other");
      header.base.prev = hex(genesisPrevious(nodeCrypto, header.origin));
      for (const { entry } of open.groups) Object.assign(entry, { chain: "org/other", org_id: "other" });
      part(open, 0, "detail").data.origin = header.origin;
      const [{ publicKey }] = signers as [Signer];
      part(open, 0, "detail").data.vkey = formatVerifierKey(nodeCrypto, { name: header.origin, publicKey });
    }, { ...WITHOUT_KEY, commitments: true }),
    ...tampered(["WRONG_ORIGIN@3", "WRONG_ORIGIN@7", "WRONG_ORIGIN@11"], 3),
  },
  {
    name: "a chain cannot be given another origin than its first entry names, whatever is signed",
    text: forged(GOOD, ({ header }) => {
      header.origin = header.origin.replace("01TESTDEPLOYMENT", "01OTHERDEPLOYMENT");
    }, { signers }),
    ...tampered(["GENESIS_MISMATCH@0", "GENESIS_MISMATCH@0", "GENESIS_MISMATCH@0"], 0),
  },
  {
    name: "a header whose origin is not that of its chain belongs to another log",
    text: forged(GOOD, ({ header }) => header.chain = "org/other"),
    ...tampered(["WRONG_ORIGIN", ...Array.from({ length: 12 }, (_, seq) => `WRONG_CHAIN@${seq}`)], 0),
  },
  {
    name: "a chain whose first entry is no genesis is refused, whatever is signed",
    text: forged(GOOD, (open) => {
      entry(open, 0).event_type = "KEY_ROTATED";
    }, WITH_KEY),
    ...tampered(["GENESIS_MISMATCH@0"], 0),
  },
  {
    name: "entries after the last signed size are found",
    text: forged(GOOD, ({ trailer }) => trailer.checkpoint = chain.checkpoint(8).note),
    ...tampered(["UNSIGNED_TAIL[8,11]"], 8),
  },
];

// ---- the end of the file ----------------------------------------------------------------------------------------

export const END_ROWS: readonly Row[] = [
  {
    name: "a bundle without its last entries is truncated at the first of them",
    text: forged(GOOD, ({ groups }) => groups.splice(10, 2)),
    ...tampered(["TRUNCATED@10", "TRAILER_SIZE_MISMATCH@10"], 10),
  },
  {
    name: "a file that is cut at a line is truncated",
    text: sealed(linesOf(GOOD).slice(0, lineOfEntry(9))),
    ...tampered(["TRUNCATED@9"], 9),
  },
  {
    name: "a file that is cut within a line is truncated",
    text: GOOD.slice(0, GOOD.indexOf('"seq":9,') + 20),
    // The line that is cut held entry 9.
    ...tampered(["TRUNCATED@9"], 9),
  },
  {
    name: "a file without its last line feed is truncated",
    text: GOOD.slice(0, -1),
    ...tampered(["TRUNCATED@12"], 12),
  },
  {
    name: "a header alone is a truncated bundle",
    text: `${linesOf(GOOD)[0]}\n`,
    ...tampered(["TRUNCATED@0"], 0),
  },
  {
    name: "a genuine older export contradicts a newer kept checkpoint",
    text: OLDER,
    known: [chain.checkpoint(6), chain.checkpoint(11), chain.checkpoint()],
    ...diverged(["ROLLBACK_VS_KNOWN_CHECKPOINT@8"], 8),
  },
  { name: "a genuine older export by itself is intact", text: OLDER, ...INTACT },
  {
    name: "a file that is cut is truncated, not a rollback: its trailer has the size",
    text: forged(GOOD, ({ groups }) => groups.splice(10, 2)),
    known: [chain.checkpoint()],
    ...tampered(["TRUNCATED@10", "TRAILER_SIZE_MISMATCH@10"], 10),
  },
];

// ---- signatures -------------------------------------------------------------------------------------------------

export const SIGNATURE_ROWS: readonly Row[] = [
  {
    name: "a history signed anew with another key is not verifiable with the pinned one",
    text: forged(GOOD, rename(5), { ...WITH_KEY, signers: strangers }),
    ...notVerifiable(["UNTRUSTED_KEY@3", "UNTRUSTED_KEY@7", "UNTRUSTED_KEY@11"], 3),
  },
  {
    name: "a history signed anew with another key contradicts a kept checkpoint",
    text: forged(GOOD, rename(5), { ...WITH_KEY, signers: strangers }),
    known: KEPT,
    ...diverged(
      ["UNTRUSTED_KEY@3", "FORK_VS_KNOWN_CHECKPOINT[0,5]", "UNTRUSTED_KEY@7", "UNTRUSTED_KEY@11"],
      3,
    ),
  },
  {
    name: "a history rewritten with the right key contradicts a kept checkpoint",
    text: forged(GOOD, rename(5), { ...WITH_KEY, signFrom: 5 }),
    known: KEPT,
    ...diverged(["FORK_VS_KNOWN_CHECKPOINT[4,5]"], 4),
  },
  {
    name: "a history rewritten with the right key contradicts a saved document",
    text: forged(GOOD, rename(5), { ...WITH_KEY, signFrom: 5 }),
    expected: [{ origin: chain.origin, seq: 5, entryHash: chain.hashOf(5) }],
    ...diverged(["FORK_VS_KNOWN_CHECKPOINT[5,5]"], 5),
  },
  {
    name: "a genuine history agrees with a saved document",
    text: GOOD,
    expected: [{ origin: chain.origin, seq: 5, entryHash: chain.hashOf(5) }],
    ...INTACT,
  },
  {
    name:
      "a history rewritten with the right key passes if nothing was kept: that is the limit of signatures",
    text: forged(GOOD, rename(5), WITH_KEY),
    ...INTACT,
  },
  {
    name: "a signature with one bit changed is invalid",
    text: forged(GOOD, ({ trailer }) => trailer.checkpoint = withFlippedSignature(trailer.checkpoint)),
    ...tampered(["BAD_SIGNATURE@11"], 11),
  },
  {
    name: "one checkpoint by another key among trusted ones is tampering",
    text: forged(GOOD, () => {}, { signers: strangers, signFrom: 9 }),
    ...tampered(["UNTRUSTED_KEY@11"], 11),
  },
  {
    name: "signatures by unknown keys beside a trusted one are ignored",
    text: forged(GOOD, () => {}, { signers: [...strangers, ...signers] }),
    ...INTACT,
  },
  {
    name: "a trailer's checkpoint must equal the one before it, with its signatures by unknown keys too",
    text: forged(GOOD, ({ groups, trailer }) => {
      groups.at(-1)!.checkpoints = [trailer.checkpoint];
      trailer.checkpoint = checkpointAt(GOOD, 12, [...signers, ...strangers]);
    }),
    ...tampered(["MALFORMED_LINE"], null),
  },
  {
    name: "another log's checkpoint does not count for this one, though the same key signed it",
    text: forged(GOOD, ({ trailer }) => trailer.checkpoint = world.chain("org/other").checkpoint().note),
    ...tampered(["WRONG_ORIGIN@0"], 0),
  },
];

function withFlippedSignature(note: string): string {
  const [, encoded] = /([A-Za-z0-9+/=]+)\n$/.exec(note)!;
  const bytes = Uint8Array.fromBase64(encoded!);
  bytes[20]! ^= 1;
  return note.replace(encoded!, bytes.toBase64());
}

// ---- parts and erasure ------------------------------------------------------------------------------------------

const erased = (seq: number, name: string) => (open: OpenBundle) => {
  const { parts } = open.groups[seq]!;
  parts[parts.findIndex((line) => line.name === name)] = { kind: "jis.part/1", seq, name, erased: true };
};

export const PART_ROWS: readonly Row[] = [
  {
    name: "an edited part does not match its entry's commitment",
    text: forged(GOOD, (open) => part(open, 3, "result").data.jis = 99),
    ...tampered(["COMMITMENT_MISMATCH@3"], 3),
  },
  {
    name: "a part with another salt does not match its entry's commitment",
    text: forged(GOOD, (open) => part(open, 3, "result").salt = "00".repeat(32)),
    ...tampered(["COMMITMENT_MISMATCH@3"], 3),
  },
  {
    name: "a part left out without a reason is missing",
    text: forged(GOOD, ({ groups }) => groups[3]!.parts.splice(1, 1)),
    ...tampered(["PART_MISSING@3"], 3),
  },
  {
    name: "a part marked as erased needs the record of its operator's erasure",
    text: forged(GOOD, erased(4, "result")),
    ...tampered(["STATE_UNANCHORED@11", "ERASURE_UNPROVEN@4"], 4),
  },
  {
    name: "an erasure recorded by an API key does not count",
    text: forged(GOOD, (open) => {
      entry(open, 10).actor = "self_serve";
    }, WITH_KEY),
    ...tampered(["ERASURE_UNPROVEN@2"], 2),
  },
  {
    name: "a record of erasure before the part does not cover it",
    text: forged(GOOD, (open) => {
      const { parts } = open.groups[11]!;
      entry(open, 11).subject = entry(open, 10).subject;
      for (const { name } of [...parts]) erased(11, name)(open);
    }, WITH_KEY),
    ...tampered(["ERASURE_UNPROVEN@11"], 11),
  },
  {
    name: "a part marked as pruned needs a record of pruning",
    text: forged(GOOD, ({ groups }) => {
      groups[4]!.parts[1] = { kind: "jis.part/1", seq: 4, name: "result", pruned: true };
    }),
    ...tampered(["ERASURE_UNPROVEN@4"], 4),
  },
];

// ---- replay -----------------------------------------------------------------------------------------------------

/** Changes by a forger with the right key who mends everything. */
export const rewritten = (change: (open: OpenBundle) => void) =>
  forged(GOOD, change, { ...WITH_KEY, commitments: true });

/** Makes the score at a seq follow from a changed input. */
export function rescore(open: OpenBundle, seq: number, change: (input: Json) => void): void {
  const input = part(open, seq, "input").data;
  change(input);
  const { result, weights } = computeScore(JIS_1_0_0, input);
  input.weights = JSON.parse(canonicalJson(weights));
  part(open, seq, "result").data = JSON.parse(canonicalJson(scoreResultPart(input, result)));
}

export const REPLAY_ROWS: readonly Row[] = [
  {
    name: "a record without the parts of its kind is malformed, whatever actor it names",
    text: rewritten((open) => {
      const group = open.groups[3]!;
      group.entry.actor = "self_serve";
      group.parts = group.parts.filter(({ name }) => name === "result").map((own) => ({
        ...own,
        name: "detail",
      }));
      group.entry.commit = {};
    }),
    ...tampered(["RECORD_MALFORMED@3", "STATE_MISMATCH@4", "STATE_MISMATCH@11"], 3),
  },
  {
    name: "a score that does not follow from its input is found, whatever is signed",
    text: rewritten((open) => part(open, 3, "result").data.jis += 1),
    ...tampered(["SCORE_MISMATCH@3"], 3),
  },
  {
    name: "weights that do not follow from their input are found: a late label would count by them",
    text: rewritten((open) => part(open, 3, "input").data.weights.omega = 9),
    ...tampered(["SCORE_MISMATCH@3"], 3),
  },
  {
    name: "a decision score that does not follow from its input is found",
    text: rewritten((open) => part(open, 4, "result").data.decision_risk_score = 0.01),
    ...tampered(["SCORE_MISMATCH@4"], 4),
  },
  {
    name: "a decision that names another entry's audit id is found",
    text: rewritten((open) => part(open, 4, "result").data.audit_id = "01OTHER"),
    ...tampered(["SCORE_MISMATCH@4"], 4),
  },
  {
    name: "a commit that is still provisional is found",
    text: rewritten((open) => part(open, 5, "result").data.provisional = true),
    ...tampered(["SCORE_MISMATCH@5"], 5),
  },
  {
    name: "a commit with other numbers than its score is found",
    text: rewritten((open) => part(open, 5, "result").data.jis = 99),
    ...tampered(["SCORE_MISMATCH@5"], 5),
  },
  {
    name: "a commit that names its score by another hash is found",
    text: rewritten((open) => part(open, 5, "detail").data.ref_entry_hash = "00".repeat(32)),
    ...tampered(["SCORE_MISMATCH@5"], 5),
  },
  {
    name: "a commit that names its score by another id is found",
    text: rewritten((open) => part(open, 5, "detail").data.ref_id = "01OTHER"),
    ...tampered(["SCORE_MISMATCH@5"], 5),
  },
  {
    name: "a commit of an entry that is no provisional score is found",
    text: rewritten((open) => part(open, 5, "detail").data.ref_seq = 4),
    ...tampered(["SCORE_MISMATCH@5"], 5),
  },
  {
    name: "an invented state is found though the score follows from it",
    text: rewritten((open) => rescore(open, 3, (input) => input.state.b.H = [9, 0])),
    ...tampered(["STATE_MISMATCH@3", "STATE_MISMATCH@4", "STATE_MISMATCH@11"], 3),
  },
  {
    name: "an operator with a history cannot begin anew",
    text: rewritten((open) =>
      rescore(open, 3, (input) => {
        input.prior = null;
        input.state = null;
      })
    ),
    ...tampered(["STATE_MISMATCH@3", "STATE_MISMATCH@4", "STATE_MISMATCH@11"], 3),
  },
  {
    name: "an operator without a history cannot begin with one",
    text: rewritten((open) =>
      rescore(open, 1, (input) => {
        input.prior = { seq: 0, entry_hash: "00".repeat(32) };
        input.state = part(open, 3, "input").data.state;
      })
    ),
    ...tampered(
      ["STATE_MISMATCH@1", "STATE_MISMATCH@3"],
      1,
    ),
  },
  {
    name: "a reversed label is found at the operator's next score",
    text: rewritten((open) => part(open, 8, "input").data.label = false),
    ...tampered(["STATE_MISMATCH@9"], 9),
  },
  {
    name: "an entry that starts from another operator's is found",
    text: rewritten((open) =>
      rescore(open, 9, (input) => {
        const { prior, state } = part(open, 11, "input").data;
        Object.assign(input, { prior, state });
      })
    ),
    ...tampered(["STATE_MISMATCH@9"], 9),
  },
  {
    name: "an edited model document does not match the name in the scores",
    text: forged(GOOD, ({ preamble }) => preamble[0]!.document.thresholds.min_jis = 1),
    ...tampered(["MODEL_MISMATCH@1"], 1),
  },
  {
    name: "a missing model document prevents replay",
    text: forged(GOOD, ({ preamble }) => preamble.length = 0),
    ...tampered(["MODEL_MISSING@1"], 1),
  },
  {
    name: "a model document that no entry uses must match its name too",
    text: forged(GOOD, ({ preamble }) => preamble.unshift({ ...preamble[0], sha256: "00".repeat(32) })),
    ...tampered(["MODEL_MISMATCH"], null),
  },
  {
    name: "a model version other than the document's is found",
    text: rewritten((open) => {
      part(open, 3, "input").data.algo.model_version = "jis-9";
      part(open, 3, "result").data.model.version = "jis-9";
    }),
    ...tampered(["SCORE_MISMATCH@3"], 3),
  },
  {
    name: "an input that is no record cannot be checked, whatever is signed",
    text: rewritten((open) => delete part(open, 3, "input").data.mode),
    ...tampered(["RECORD_MALFORMED@3"], 3),
  },
  {
    name: "a score that commits to no input cannot be checked, whatever is signed",
    text: rewritten((open) => {
      delete entry(open, 3).commit.input;
      open.groups[3]!.parts.shift();
    }),
    ...tampered(["RECORD_MALFORMED@3", "STATE_MISMATCH@4", "STATE_MISMATCH@11"], 3),
  },
  {
    name: "formulas of a later release cannot be judged by this one",
    text: rewritten((open) => part(open, 11, "input").data.algo.formulas = "jis-4"),
    ...notVerifiable(["UNSUPPORTED_VERSION@11"], 11),
  },
  {
    name: "formulas other than the model document's are found",
    text: rewritten((open) => part(open, 11, "input").data.algo.formulas = "jis-2"),
    ...tampered(["SCORE_MISMATCH@11"], 11),
  },
  {
    name: "without replay a false score with the right key passes",
    text: rewritten((open) => part(open, 3, "result").data.jis += 1),
    replay: false,
    ...INTACT,
  },
];

// ---- lines ------------------------------------------------------------------------------------------------------

/** The good bundle with one line replaced, and the digest mended. */
export function withLine(at: number, change: (line: string) => readonly string[]): string {
  const lines = linesOf(GOOD);
  return sealed([...lines.slice(0, at), ...change(lines[at]!), ...lines.slice(at + 1)]);
}

const twice = (line: string) => [line, line];
const LAST = linesOf(GOOD).length - 1;
const FIRST_CHECKPOINT = linesOf(GOOD).findIndex((line) => line.includes("jis.checkpoint/1"));
/** A part of entry 3. */
const INPUT_LINE = lineOfEntry(3) + 1;

export const LINE_ROWS: readonly Row[] = [
  {
    name: "white space in an entry is found: it is not the form that was hashed",
    text: withLine(lineOfEntry(5), (line) => [line.replace(":", ": ")]),
    ...tampered(["NON_CANONICAL_LINE@5", "LINK_BROKEN@5", "ROOT_MISMATCH[4,7]"], 5),
  },
  {
    name: "white space in a part is found: a line has one form, though its content is committed to",
    text: withLine(INPUT_LINE, (line) => [line.replace(":", ": ")]),
    ...tampered(["NON_CANONICAL_LINE@3"], 3),
  },
  {
    name: "a carriage return at the end of a line is found",
    text: withLine(INPUT_LINE, (line) => [`${line}\r`]),
    ...tampered(["NON_CANONICAL_LINE@3"], 3),
  },
  {
    name: "a duplicate member is found, whichever of the two a reader takes",
    text: withLine(INPUT_LINE, (line) => [line.replace('"kind":', '"kind":"jis.part/1","kind":')]),
    ...tampered(["NON_CANONICAL_LINE@3"], 3),
  },
  {
    name: "members in another order are found",
    text: withLine(INPUT_LINE, (line) => {
      const { seq, ...rest } = JSON.parse(line);
      return [JSON.stringify({ seq, ...rest })];
    }),
    ...tampered(["NON_CANONICAL_LINE@3"], 3),
  },
  {
    name: "an entry with an additional member is malformed",
    text: withLine(lineOfEntry(5), (line) => [line.replace('{"actor"', '{"a":1,"actor"')]),
    ...tampered(["MALFORMED_LINE@5"], 5),
  },
  {
    name: "an entry with a hash in capitals is malformed",
    text: withLine(
      lineOfEntry(5),
      (line) => [line.replace(/"prev":"[0-9a-f]+"/, `"prev":"${"A".repeat(64)}"`)],
    ),
    ...tampered(["MALFORMED_LINE@5"], 5),
  },
  {
    name: "an entry that is not JSON is the only finding: its consequences are left out",
    text: withLine(lineOfEntry(5), (line) => [line.slice(0, -1)]),
    ...tampered(["MALFORMED_LINE@5"], 5),
  },
  {
    name: "a part that is not JSON is the only finding",
    text: withLine(INPUT_LINE, (line) => [line.slice(1)]),
    ...tampered(["MALFORMED_LINE@3"], 3),
  },
  {
    name: "a part with an additional member is malformed",
    text: withLine(INPUT_LINE, (line) => [line.replace('"kind"', '"erased":true,"kind"')]),
    ...tampered(["MALFORMED_LINE@3"], 3),
  },
  {
    name: "a duplicate part is found",
    text: withLine(INPUT_LINE, twice),
    ...tampered(["MALFORMED_LINE@3"], 3),
  },
  {
    name: "a part of another entry is found",
    text: withLine(lineOfEntry(4), (line) => [linesOf(GOOD)[lineOfEntry(1) + 1]!, line]),
    ...tampered(["MALFORMED_LINE@1"], 1),
  },
  {
    name: "parts in another order are found",
    text: forged(GOOD, ({ groups }) => groups[3]!.parts.reverse()),
    ...tampered(["MALFORMED_LINE@3"], 3),
  },
  {
    name: "a duplicate checkpoint is found",
    text: withLine(FIRST_CHECKPOINT, twice),
    ...tampered(["MALFORMED_LINE"], null),
  },
  {
    name: "a checkpoint that comes too late is found",
    text: forged(GOOD, ({ groups }) => groups[4]!.checkpoints = groups[3]!.checkpoints.splice(0)),
    ...tampered(["MALFORMED_LINE"], null),
  },
  {
    name: "a checkpoint that comes too early is reported as displaced entries",
    text: forged(GOOD, ({ groups }) => groups[2]!.checkpoints = groups[3]!.checkpoints.splice(0)),
    ...tampered(["REORDERED[3,3]"], 3),
  },
  {
    name: "a line of unknown kind is found",
    text: withLine(INPUT_LINE, (line) => [line, '{"kind":"jis.note/1"}']),
    ...tampered(["MALFORMED_LINE"], null),
  },
  {
    name: "an empty line is found",
    text: withLine(lineOfEntry(5), (line) => ["", line]),
    ...tampered(["MALFORMED_LINE@5"], 5),
  },
  {
    name: "a line that is not an object is found",
    text: withLine(lineOfEntry(5), (line) => ["[]", line]),
    ...tampered(["MALFORMED_LINE@5"], 5),
  },
  {
    name: "a line beyond the limit is found, and the following lines are read",
    text: withLine(lineOfEntry(5), (line) => [`"${"a".repeat(1_048_575)}"`, line]),
    ...tampered(["MALFORMED_LINE@5"], 5),
  },
  {
    name: "excessive nesting is found",
    text: withLine(INPUT_LINE, (line) => [line.replace('{"data":', `{"data":${"[".repeat(300_000)}`)]),
    ...tampered(["MALFORMED_LINE@3"], 3),
  },
  {
    name: "a model after the first entry is found",
    text: forged(GOOD, ({ groups, preamble }) => groups[1]!.parts.push(preamble[0])),
    ...tampered(["MALFORMED_LINE"], null),
  },
  {
    name: "an entry of unknown version ends the reading, and the file is not verifiable",
    text: withLine(lineOfEntry(5), (line) => [line.replace("jis.audit/1", "jis.audit/3")]),
    ...notVerifiable(["UNSUPPORTED_VERSION"]),
  },
  {
    name: "a bundle of unknown version is not verifiable",
    text: withLine(0, (line) => [line.replace("jis.bundle/1", "jis.bundle/2")]),
    ...notVerifiable(["UNSUPPORTED_VERSION"]),
  },
  {
    name: "data after the trailer is found",
    text: `${GOOD}{}\n`,
    ...tampered(["MALFORMED_LINE"], null),
  },
  {
    name: "a duplicate trailer is found",
    text: `${GOOD}${linesOf(GOOD)[LAST]}\n`,
    ...tampered(["MALFORMED_LINE"], null),
  },
  {
    name: "data after the trailer that is not a complete line is found",
    text: `${GOOD} `,
    ...tampered(["MALFORMED_LINE"], null),
  },
  {
    name: "a change that no signature covers breaks the file's own digest",
    text: GOOD.replace('"software":"jiss test"', '"software":"jiss best"'),
    ...tampered(["BUNDLE_DIGEST_MISMATCH"], null),
  },
  {
    name: "a trailer with wrong counts is found",
    text: forged(GOOD, ({ trailer }) => trailer.size = 13),
    ...tampered(["TRAILER_SIZE_MISMATCH@12"], 12),
  },
  { name: "an empty file is no bundle", text: "", ...notVerifiable(["MALFORMED_LINE"]) },
  {
    name: "a file of something else is no bundle",
    text: "<html>\n</html>\n",
    ...notVerifiable(["MALFORMED_LINE"]),
  },
  {
    name: "a bundle without its header is no bundle",
    text: withLine(0, () => []),
    ...notVerifiable(["MALFORMED_LINE"]),
  },
  {
    name: "a byte order mark before the header is no bundle",
    text: `\uFEFF${GOOD}`,
    ...notVerifiable(["MALFORMED_LINE"]),
  },
];

/** The whole table. */
export const TAMPER_ROWS: readonly Row[] = [
  ...GENUINE_ROWS,
  ...ENTRY_ROWS,
  ...END_ROWS,
  ...SIGNATURE_ROWS,
  ...PART_ROWS,
  ...REPLAY_ROWS,
  ...LINE_ROWS,
];
