/**
 * Epochs with every entry removed by retention, and the first entry of the next epoch, which is kept and
 * names their end: the ways to alter these, and what both verifiers find.
 */
import { consistencyPath } from "../src/evidence/consistency.ts";
import { fromHex, hex } from "../src/evidence/crypto.ts";
import { ladderLine } from "../src/evidence/bundle.ts";
import { nodeCrypto } from "../src/evidence/node_crypto.ts";
import { appendLeaf, EMPTY_FRONTIER } from "../src/evidence/merkle.ts";
import { buildWorld, type ChainWriter, throwAwaySigner } from "./bundle_builder.ts";
import { forged, type Json, prunedTo, putTogether, takeApart } from "./bundle_tampering.ts";
import type { SeveralRow } from "./tamper_chain_rows.ts";
import { diverged, INTACT, NOT_COMPARED, tampered } from "./verification.ts";

const DAY_MS = 86_400_000;
const ENDED = 6;
const CUT = 20;
const NO_HASH = "0".repeat(64);

/** One score a day each. */
function scores(chain: ChainWriter, count: number, name = "operator"): void {
  for (let day = 0; day < count; day += 1) chain.score(`${name}-${day % 2}`);
}

/** The whole chain up to a size with all of it removed: only its end and its signed checkpoint remain. */
function allRemoved(chain: ChainWriter, size: number): string {
  return putTogether(prunedTo(chain.bundle({ size }), size, buildWorld().signers));
}

/**
 * A chain of eight entries of which a restore kept six, and the chain that continues it, with its first
 * twenty entries past their retention: the record of the first chain's removal is removed with them.
 */
function epochs({ name = "operator", change = () => {} }: {
  readonly name?: string;
  /** Changes the second chain before its cut. */
  readonly change?: (second: ChainWriter) => void;
} = {}) {
  const world = buildWorld({ step: DAY_MS / 2 });
  const first = world.chain("org/acme", { retentionDays: 30 });
  scores(first, 7, name);
  const second = first.restore(ENDED);
  change(second);
  scores(second, 60);
  const whole = second.bundle();
  second.prune(CUT);
  scores(second, 1);
  return { first, second, whole, left: allRemoved(first, ENDED), after: second.bundle() };
}

const { first, whole, left, after } = epochs();
const other = epochs({ name: "rewritten" });

/** The same, with a change to the line that names the end of the chain before. */
function withBeginning(change: (line: Json) => void): string {
  return forged(after, ({ preamble }) => change(preamble.find(isBeginning)));
}

const isBeginning = ({ kind }: Json) => kind === "jis.beginning/1";

/** With a ladder step from a size to the end. */
function withLadder(text: string, from: number): string {
  const open = takeApart(text);
  const nodes = new Map<number, Uint8Array>();
  let frontier = EMPTY_FRONTIER;
  for (let seq = 0; seq < ENDED; seq += 1) {
    const appended = appendLeaf(nodeCrypto, frontier, fromHex(first.hashOf(seq)));
    for (const { index, hash } of appended.nodes) nodes.set(index, hash);
    frontier = appended.frontier;
  }
  const proof = consistencyPath(nodeCrypto, { from, to: ENDED }, (index) => nodes.get(index)).map(hex);
  open.preamble.push(JSON.parse(ladderLine({ from, to: ENDED, proof })));
  return putTogether(open);
}

const CUT_FIRST = `PRUNED_PREFIX[0,${ENDED - 1}]`;
const CUT_SECOND = `PRUNED_PREFIX[0,${CUT - 1}]`;
const OPEN = `STATE_UNANCHORED@${CUT}`;
const OF_FIRST = { ...INTACT, findings: [CUT_FIRST] };
const OF_SECOND = { ...INTACT, findings: [CUT_SECOND, OPEN] };
const UNPROVEN = tampered([`PRUNED_PREFIX_UNPROVEN[0,${ENDED - 1}]`], 0);
const UNANCHORED = { verdict: "INTACT, UNANCHORED", exitCode: 0 } as const;
const TAMPERED = { verdict: "TAMPERED", exitCode: 1 } as const;
const DIVERGED = { verdict: "DIVERGED", exitCode: 1 } as const;
const OPEN_OVERALL = { verdict: "INTACT, NOT COMPARED", exitCode: 2 } as const;

/** The bridge between the epochs fails: neither the second chain nor the removal of the first is proven. */
function broken(name: string, text: string, finding: string): SeveralRow {
  return {
    name,
    text: left + text,
    options: { known: [first.checkpoint(ENDED)] },
    reports: [
      tampered([`PRUNED_PREFIX_UNPROVEN[0,${ENDED - 1}]`], 0),
      tampered([finding, CUT_SECOND, OPEN], finding.includes("@0") ? 0 : null),
    ],
    overall: TAMPERED,
  };
}

/**
 * Three epochs; the first two are removed entirely, and with the second's beginning the record of the first's
 * removal.
 */
function three() {
  const world = buildWorld({ step: DAY_MS / 2 });
  const one = world.chain("org/acme", { retentionDays: 30 });
  scores(one, 4);
  const two = one.restore(5);
  scores(two, 4);
  const three = two.restore(5);
  scores(three, 60);
  three.prune(CUT);
  scores(three, 1);
  // The service exports it so: only the first entry of the second.
  const shown = two.bundle();
  const open = prunedTo(shown, 5, world.signers);
  const { salt, data } = takeApart(shown).groups[0]!.parts[0]!;
  const leaves = [0, 1, 2, 3, 4].map((seq) => fromHex(two.hashOf(seq)));
  const pair = (a: Uint8Array, b: Uint8Array) => nodeCrypto.sha256(Uint8Array.of(1), a, b);
  const path = [leaves[1]!, pair(leaves[2]!, leaves[3]!), leaves[4]!].map(hex);
  open.preamble = [{ kind: "jis.beginning/1", entry: takeApart(shown).groups[0]!.entry, salt, data, path }];
  return { one, two, texts: [allRemoved(one, 5), putTogether(open), three.bundle()] as const };
}

const row = three();
const [ONE, TWO, THREE] = row.texts;
const OF_ENDED = { ...INTACT, findings: ["PRUNED_PREFIX[0,4]"] };

export const REMOVED_EPOCH_ROWS: readonly SeveralRow[] = [
  {
    name: "an epoch with every entry removed and the next one, which names its end, are intact together",
    text: left + after,
    reports: [OF_FIRST, OF_SECOND],
    overall: UNANCHORED,
  },
  {
    name:
      "a kept checkpoint at the end of a wholly removed epoch agrees, and suffices for the next epoch too",
    text: left + after,
    options: { known: [first.checkpoint(ENDED)] },
    reports: [{ ...OF_FIRST, verdict: "INTACT" }, OF_SECOND],
    overall: UNANCHORED,
  },
  {
    name: "a kept checkpoint within a wholly removed epoch is not compared without a ladder",
    text: left + after,
    options: { known: [first.checkpoint(3)] },
    reports: [
      { ...NOT_COMPARED, findings: ["KNOWN_CHECKPOINT_UNLINKABLE", CUT_FIRST] },
      { ...NOT_COMPARED, findings: OF_SECOND.findings },
    ],
    overall: OPEN_OVERALL,
  },
  {
    name: "a kept checkpoint within a wholly removed epoch agrees over a ladder",
    text: withLadder(left, 3) + after,
    options: { known: [first.checkpoint(3)] },
    reports: [{ ...OF_FIRST, verdict: "INTACT" }, OF_SECOND],
    overall: UNANCHORED,
  },
  {
    name: "the kept first entry of the next epoch records which entries a restore lost",
    text: left + after,
    options: { known: [first.checkpoint(ENDED), first.checkpoint(7)] },
    reports: [{ ...OF_FIRST, verdict: "INTACT", findings: [`RESTORED@${ENDED}`, CUT_FIRST] }, OF_SECOND],
    overall: UNANCHORED,
  },
  {
    name: "the retention named by the kept first entry is superseded by a later policy",
    text: (() => {
      const changed = epochs({ change: (second) => second.setRetention(20) });
      return changed.left + changed.after;
    })(),
    reports: [OF_FIRST, OF_SECOND],
    overall: UNANCHORED,
  },
  {
    name: "a wholly removed epoch by itself has no record of its removal",
    text: left,
    reports: [UNPROVEN],
    overall: TAMPERED,
  },
  {
    name: "a wholly removed epoch has no record of its removal if the next one begins whole",
    text: left + whole,
    reports: [UNPROVEN, { ...INTACT, findings: ["STATE_UNANCHORED@1"] }],
    overall: TAMPERED,
  },
  {
    name: "without the kept first entry of the next epoch nothing names the end of a wholly removed one",
    text: left +
      forged(after, (open) => open.preamble = open.preamble.filter((line) => !isBeginning(line))),
    options: { known: [first.checkpoint(ENDED)] },
    reports: [UNPROVEN, { ...INTACT, findings: OF_SECOND.findings }],
    overall: TAMPERED,
  },
  {
    name: "the epoch after a wholly removed one, by itself, is not compared with what was kept of that one",
    text: after,
    options: { known: [first.checkpoint(ENDED)] },
    reports: [{ ...NOT_COMPARED, findings: [...OF_SECOND.findings, "KNOWN_EPOCH_UNLINKED"] }],
    overall: OPEN_OVERALL,
  },
  broken(
    "a beginning with another end of the epoch before does not match its entry's commitment",
    withBeginning((line) => line.data.restored_root = hex(other.first.checkpoint(ENDED).root)),
    "COMMITMENT_MISMATCH@0",
  ),
  broken(
    "a beginning with another salt does not match its entry's commitment",
    withBeginning((line) => line.salt = NO_HASH),
    "COMMITMENT_MISMATCH@0",
  ),
  broken(
    "a beginning with an altered entry is not in the tree of the removed entries",
    withBeginning((line) => line.entry.id = "01FORGED"),
    "GENESIS_MISMATCH@0",
  ),
  broken(
    "a beginning whose entry has the actor of an API call begins no chain",
    withBeginning((line) => line.entry.actor = "self_serve"),
    "GENESIS_MISMATCH@0",
  ),
  broken(
    "a beginning with another path does not lead to the signed root",
    withBeginning((line) => line.path[0] = NO_HASH),
    "GENESIS_MISMATCH@0",
  ),
  broken(
    "a beginning with a path that is too long does not lead to the signed root",
    withBeginning((line) => line.path.push(NO_HASH)),
    "GENESIS_MISMATCH@0",
  ),
  broken(
    "a beginning with an empty path does not lead to the signed root",
    withBeginning((line) => line.path = []),
    "GENESIS_MISMATCH@0",
  ),
  broken(
    "a beginning with a later entry is malformed, wherever its path leads",
    withBeginning((line) => line.entry.seq = 1),
    "MALFORMED_LINE",
  ),
  broken(
    "a beginning with an incomplete entry is malformed",
    withBeginning((line) => delete line.entry.actor),
    "MALFORMED_LINE",
  ),
  {
    name: "a beginning taken from another epoch's bundle is refused",
    text: left + forged(after, ({ preamble }) => {
      Object.assign(preamble.find(isBeginning), takeApart(TWO).preamble[0]);
    }),
    reports: [UNPROVEN, tampered(["GENESIS_MISMATCH@0", CUT_SECOND, OPEN], 0)],
    overall: TAMPERED,
  },
  {
    name: "a second beginning line is malformed",
    text: left + forged(after, ({ preamble }) => preamble.push(preamble.find(isBeginning))),
    reports: [UNPROVEN, tampered(["MALFORMED_LINE", CUT_SECOND, OPEN], null)],
    overall: TAMPERED,
  },
  {
    name: "a beginning line in a bundle with nothing removed is malformed",
    text: forged(whole, ({ preamble }) => preamble.push(takeApart(after).preamble.find(isBeginning))),
    reports: [tampered(["MALFORMED_LINE", "STATE_UNANCHORED@1"], null)],
    overall: TAMPERED,
  },
  {
    name: "a beginning line in the first epoch is malformed",
    text: forged(left, ({ preamble }) => preamble.push(takeApart(after).preamble.find(isBeginning))) + after,
    reports: [tampered(["MALFORMED_LINE", CUT_FIRST], null), OF_SECOND],
    overall: TAMPERED,
  },
  {
    name: "a wholly removed epoch that ends before the size named by the next one is truncated",
    text: allRemoved(first, 4) + after,
    reports: [
      tampered(["TRUNCATED@4", "PRUNED_PREFIX_UNPROVEN[0,3]"], 4),
      OF_SECOND,
    ],
    overall: TAMPERED,
  },
  {
    name: "a wholly removed epoch that ends after the size named by the next one is unproven",
    text: allRemoved(first, 7) + after,
    reports: [tampered(["PRUNED_PREFIX_UNPROVEN[0,6]"], 0), OF_SECOND],
    overall: TAMPERED,
  },
  {
    name: "a wholly removed epoch with another root than the next one names is found",
    text: other.left + after,
    reports: [UNPROVEN, tampered([...OF_SECOND.findings, "GENESIS_MISMATCH@0"], 0)],
    overall: TAMPERED,
  },
  {
    name: "an epoch rewritten and removed with the right key contradicts a kept checkpoint",
    text: other.left + other.after,
    options: { known: [first.checkpoint(ENDED)] },
    reports: [diverged([`FORK_VS_KNOWN_CHECKPOINT[0,${ENDED - 1}]`, CUT_FIRST], 0), OF_SECOND],
    overall: DIVERGED,
  },
  {
    name: "peaks of a wholly removed epoch that no key signed prove nothing",
    text: forged(left, ({ header }) => header.base.peaks[0] = NO_HASH) + after,
    reports: [
      tampered([`PRUNED_PREFIX_UNPROVEN[0,${ENDED - 1}]`, "ROOT_MISMATCH[0,5]"], 0),
      tampered([...OF_SECOND.findings, "GENESIS_MISMATCH@0"], 0),
    ],
    overall: TAMPERED,
  },
  {
    name: "three epochs with the first two removed are intact together",
    text: ONE + TWO + THREE,
    options: { known: [row.one.checkpoint(5), row.two.checkpoint(5)] },
    reports: [{ ...OF_ENDED, verdict: "INTACT" }, { ...OF_ENDED, verdict: "INTACT" }, OF_SECOND],
    overall: UNANCHORED,
  },
  {
    name: "without the second of three epochs the first one's removal is unproven",
    text: ONE + THREE,
    options: { known: [row.one.checkpoint(5)] },
    reports: [tampered(["PRUNED_PREFIX_UNPROVEN[0,4]"], 0), OF_SECOND],
    overall: TAMPERED,
  },
  {
    name: "a next epoch that no trusted key signed records no removal",
    text: left + forged(after, () => {}, { signers: [throwAwaySigner("stranger")] }),
    reports: [
      UNPROVEN,
      tampered([...[23, 31, 39, 47, 55, 62].map((seq) => `UNTRUSTED_KEY@${seq}`), CUT_SECOND, OPEN], 23),
    ],
    overall: TAMPERED,
  },
];
