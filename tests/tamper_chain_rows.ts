/**
 * Tampering that spans more than one history of entries: removed prefixes and their rules, successive keys,
 * chains that a restore ended and began, chains that the system chain anchors.
 *
 * One file, as tests/tamper_rows.ts is; the product's verifier and the independent one run its rows too.
 */
import { hex, type Signer } from "../src/evidence/crypto.ts";
import { type KeptCheckpoint, type KnownCheckpoint, knownCheckpointOrNull } from "../src/evidence/kept.ts";
import { nodeCrypto } from "../src/evidence/node_crypto.ts";
import { formatCheckpoint, formatVerifierKey, signNote } from "../src/evidence/note.ts";
import { formatRotationCertificate } from "../src/evidence/rotation.ts";
import type { PinnedKey } from "../src/evidence/trust.ts";
import type { VerifierOptions } from "../src/evidence/verifier.ts";
import { buildWorld, type ChainWriter, type World } from "./bundle_builder.ts";
import {
  checkpointAt,
  forged,
  type Json,
  linesOf,
  type OpenBundle,
  prunedTo,
  putTogether,
  sealed,
  takeApart,
} from "./bundle_tampering.ts";
import { rescore } from "./tamper_rows.ts";
import {
  diverged,
  type Expectation,
  INTACT,
  NOT_COMPARED,
  notVerifiable,
  type overallVerdict,
  type Row,
  tampered,
} from "./verification.ts";

const DAY_MS = 86_400_000;

const detail = (open: OpenBundle, seq: number): Json =>
  open.groups.find(({ entry }) => entry.seq === seq)!.parts.find(({ name }) => name === "detail").data;

// ---- removed prefixes -------------------------------------------------------------------------------------------

/** A chain that grows by an entry a day and keeps 30 days; entries 0 to 19 are 40 days old and more. */
function aged(name = "operator"): ChainWriter {
  const world = buildWorld({ step: DAY_MS / 2 });
  const writer = world.chain("org/acme", { retentionDays: 30 });
  // Each score ticks twice: as it is asked for, and as it is written.
  for (let day = 1; day < 60; day += 1) writer.score(`${name}-${day % 3}`);
  return writer;
}

const writer = aged();
const UNPRUNED = writer.bundle();
const EARLY = writer.bundle({ size: 9 });
const OLD_CHECKPOINTS = [writer.checkpoint(5), writer.checkpoint(10), writer.checkpoint(20)];
writer.prune(20);
writer.score("operator-1");
const PRUNED = writer.bundle({ ladder: [10, 20] });
const NEW_CHECKPOINT = writer.checkpoint(40);
/** Exported on request to link from the first kept checkpoint. */
const LINKED = writer.bundle({ ladder: [5, 10, 20] });
/** A ladder from an older size than a kept one, past it. */
const LINKED_TO_OLDEST = writer.bundle({ ladder: [5, 20] });
/** The holder of the key wrote another history, and cut it at the same entry. */
const [REWRITTEN_BELOW, REWRITTEN_BELOW_UNLINKED] = (() => {
  const other = aged("colleague");
  other.prune(20);
  other.score("operator-1");
  return [other.bundle({ ladder: [5, 10, 20] }), other.bundle({ ladder: [10, 20] })] as const;
})();
const { signers } = buildWorld();
const ofAnotherHistory = knownCheckpointOrNull(
  signNote(nodeCrypto, {
    text: formatCheckpoint({ origin: writer.origin, size: 10, root: new Uint8Array(32) }),
    name: writer.origin,
  }, signers),
)!;

/** Another pruning of the same chain, with this record of it. */
function prunedOtherwise(to: number, record: Record<string, unknown>): string {
  const other = aged();
  other.prune(to, record);
  return other.bundle();
}

export const PRUNED_ROWS: readonly Row[] = [
  {
    name: "a prefix removed by rule is proven by a signed base and a record of the removal",
    text: PRUNED,
    ...INTACT,
    findings: ["PRUNED_PREFIX[0,19]", "STATE_UNANCHORED@20"],
  },
  {
    name: "a removed prefix without a record of its removal is unproven",
    text: putTogether(prunedTo(UNPRUNED, 20, signers)),
    ...tampered(["STATE_UNANCHORED@20", "PRUNED_PREFIX_UNPROVEN[0,19]"], 0),
  },
  {
    name: "a record of the removal by an API key does not count",
    text: forged(PRUNED, ({ groups }) => {
      groups.find(({ entry }) => entry.event_type === "RETENTION_PRUNED")!.entry.actor = "self_serve";
    }, { links: true, priors: true, signers }),
    ...tampered(["STATE_UNANCHORED@20", "PRUNED_PREFIX_UNPROVEN[0,19]"], 0),
  },
  {
    name: "a record of another removal does not count for this one",
    text: forged(PRUNED, (open) => detail(open, 60).root = "00".repeat(32), {
      commitments: true,
      links: true,
      priors: true,
      signers,
    }),
    ...tampered(["STATE_UNANCHORED@20", "PRUNED_PREFIX_UNPROVEN[0,19]"], 0),
  },
  {
    name: "a record of the removal counts though its content is withheld",
    text: forged(PRUNED, ({ groups }) => {
      const group = groups.find(({ entry }) => entry.event_type === "RETENTION_PRUNED")!;
      group.parts = [{ kind: "jis.part/1", seq: 60, name: "detail", withheld: true }];
    }),
    ...INTACT,
    exit: 2,
    findings: ["PRUNED_PREFIX[0,19]", "STATE_UNANCHORED@20"],
  },
  {
    name: "a removed prefix without a signed base is unproven",
    text: forged(PRUNED, ({ header }) => header.base.checkpoint = null),
    ...tampered(["PRUNED_PREFIX_UNPROVEN[0,19]", "STATE_UNANCHORED@20"], 0),
  },
  {
    name: "a removed prefix whose base another key signed is unproven",
    text: putTogether({
      ...takeApart(PRUNED),
      header: {
        ...takeApart(PRUNED).header,
        base: prunedTo(UNPRUNED, 20, buildWorld({ seed: "stranger" }).signers).header.base,
      },
    }),
    ...tampered(["PRUNED_PREFIX_UNPROVEN[0,19]", "STATE_UNANCHORED@20"], 0),
  },
  {
    name: "a removed prefix whose base has another size is unproven",
    text: forged(PRUNED, ({ header }) => header.base.checkpoint = OLD_CHECKPOINTS[1]!.note),
    ...tampered(["PRUNED_PREFIX_UNPROVEN[0,19]", "STATE_UNANCHORED@20"], 0),
  },
  {
    name: "peaks that do not fold to the signed base are forged",
    text: forged(PRUNED, ({ header }) => header.base.peaks[0] = "00".repeat(32)),
    ...tampered(["PRUNED_PREFIX_UNPROVEN[0,19]", "ROOT_MISMATCH[0,23]", "STATE_UNANCHORED@20"], 0),
  },
  {
    name: "a base with more peaks than its size has is forged",
    text: forged(PRUNED, ({ header }) => header.base.peaks.push("00".repeat(32))),
    ...tampered(["PRUNED_PREFIX_UNPROVEN[0,19]", "STATE_UNANCHORED@20"], 0),
  },
  {
    name: "a base with another last hash than the first entry names is forged",
    text: forged(PRUNED, ({ header }) => header.base.prev = "00".repeat(32)),
    ...tampered(["LINK_BROKEN@20", "PRUNED_PREFIX[0,19]"], 20),
  },
  {
    name: "a removal of entries younger than the retention violates the policy",
    text: prunedOtherwise(50, {}),
    ...tampered(["PRUNE_POLICY_VIOLATION@60", "PRUNED_PREFIX[0,49]", "STATE_UNANCHORED@50"], 60),
  },
  {
    name: "a removal with a cutoff younger than the retention violates the policy",
    text: prunedOtherwise(20, { cutoff: "2027-01-15T00:00:00.000Z" }),
    ...tampered(["PRUNE_POLICY_VIOLATION@60", "PRUNED_PREFIX[0,19]", "STATE_UNANCHORED@20"], 60),
  },
  {
    name: "a kept checkpoint below the base counts if the ladder links it",
    text: PRUNED,
    known: [OLD_CHECKPOINTS[1]!],
    verdict: "INTACT",
    exit: 0,
    findings: ["PRUNED_PREFIX[0,19]", "STATE_UNANCHORED@20"],
  },
  {
    name: "a kept checkpoint of the base's own size counts",
    text: PRUNED,
    known: [OLD_CHECKPOINTS[2]!],
    verdict: "INTACT",
    exit: 0,
    findings: ["PRUNED_PREFIX[0,19]", "STATE_UNANCHORED@20"],
  },
  {
    name: "a kept checkpoint below the base that no ladder reaches is not compared",
    text: PRUNED,
    known: [OLD_CHECKPOINTS[0]!],
    ...NOT_COMPARED,
    findings: ["KNOWN_CHECKPOINT_UNLINKABLE", "PRUNED_PREFIX[0,19]", "STATE_UNANCHORED@20"],
  },
  {
    name: "a ladder that begins at the kept size leads from there over the cut",
    text: LINKED,
    known: OLD_CHECKPOINTS,
    verdict: "INTACT",
    exit: 0,
    findings: ["PRUNED_PREFIX[0,19]", "STATE_UNANCHORED@20"],
  },
  {
    name: "a newer kept checkpoint that agrees does not cover an older one that was never compared with it",
    text: PRUNED,
    known: [...OLD_CHECKPOINTS, NEW_CHECKPOINT],
    ...NOT_COMPARED,
    findings: ["KNOWN_CHECKPOINT_UNLINKABLE", "PRUNED_PREFIX[0,19]", "STATE_UNANCHORED@20"],
  },
  {
    name: "a history rewritten below its removal contradicts a kept checkpoint over any ladder from there",
    text: REWRITTEN_BELOW,
    known: [OLD_CHECKPOINTS[0]!],
    ...diverged(["FORK_VS_KNOWN_CHECKPOINT[0,4]", "PRUNED_PREFIX[0,19]", "STATE_UNANCHORED@20"], 0),
  },
  {
    name: "a kept checkpoint below the base contradicts a history rewritten before its removal",
    text: PRUNED,
    known: [ofAnotherHistory],
    ...diverged(
      ["FORK_VS_KNOWN_CHECKPOINT[0,9]", "PRUNED_PREFIX[0,19]", "STATE_UNANCHORED@20"],
      0,
    ),
  },
  {
    name: "a ladder whose steps go back is out of order",
    text: forged(PRUNED, ({ preamble }) => preamble.push(preamble.at(-1))),
    ...tampered(["MALFORMED_LINE", "PRUNED_PREFIX[0,19]", "STATE_UNANCHORED@20"], null),
  },
];

export const POLICY_ROWS: readonly Row[] = [
  {
    name: "the newest policy is in force: a removal by the first one violates it",
    text: (() => {
      const other = aged();
      other.setRetention(50);
      other.prune(20, { policy_days: 30 });
      return forged(UNPRUNED, (open) => Object.assign(open, takeApart(other.bundle())));
    })(),
    ...tampered(["PRUNE_POLICY_VIOLATION@61", "PRUNED_PREFIX[0,19]", "STATE_UNANCHORED@20"], 61),
  },
  {
    name: "a removal by the newest policy is accepted",
    text: (() => {
      const other = aged();
      other.setRetention(35);
      other.prune(20);
      return other.bundle();
    })(),
    ...INTACT,
    findings: ["PRUNED_PREFIX[0,19]", "STATE_UNANCHORED@20"],
  },
  {
    name: "nothing may be removed from a chain whose first policy keeps everything",
    text: (() => {
      const kept = buildWorld({ step: DAY_MS }).chain("org/acme/admin");
      for (let at = 1; at < 5; at += 1) kept.append({ eventType: "KEY_ROTATED", parts: { detail: {} } });
      const record = { origin: kept.origin, from: 0, to: 2, root: "00".repeat(32), policy_days: 1 };
      const [last_ts, cutoff] = ["2026-11-21T09:00:00.000Z", "2026-11-23T09:00:00.000Z"];
      kept.append({ eventType: "RETENTION_PRUNED", parts: { detail: { ...record, last_ts, cutoff } } });
      return kept.bundle();
    })(),
    ...tampered(["PRUNE_POLICY_VIOLATION@5"], 5),
  },
];

// ---- successive keys ------------------------------------------------------------------------------------------

/** A chain whose key changes at entry 5; from there both keys sign, and from entry 10 the new one alone. */
function rotated(name: string): { readonly world: World; readonly chain: ChainWriter } {
  const world = buildWorld({ seed: "rotation" });
  const chain = world.chain(name);
  const event = () => chain.append({ eventType: "KEY_ROTATED", parts: { detail: {} } });
  for (let at = 1; at < 5; at += 1) event();
  world.makeKey();
  chain.rotate();
  for (let at = 6; at < 10; at += 1) event();
  world.dropOldKeys();
  if (name === "sys") chain.rotate({ overlap: false });
  else event();
  for (let at = 11; at < 14; at += 1) event();
  return { world, chain };
}

const org = rotated("org/acme/admin");
const sys = rotated("sys");
/** The first key, and the one after it. */
export const [K1, K2] = [org.world.newSigner(1), org.world.newSigner(2)];
/** A key as an auditor pins it. */
export const pinned = (signer: Signer, more: Partial<PinnedKey> = {}) => [{
  publicKey: signer.publicKey,
  prefix: null,
  from: null,
  until: null,
  ...more,
}];
/** The first key signs its checkpoints, then both, and from entry 10 on the second. */
export const ORG = org.chain.bundle({ every: 2 });
const SYS = sys.chain.bundle({ every: 2 });

/** The key of a thief who holds the first key, and certified this one as its successor. */
const THIEF = org.world.newSigner(3);
const STOLEN = {
  vkey: formatVerifierKey(nodeCrypto, { name: org.chain.origin, publicKey: THIEF.publicKey }),
  cert: formatRotationCertificate(nodeCrypto, {
    prefix: org.chain.origin.slice(0, -"org/acme/admin".length),
    ordinal: 3,
    from: "2026-11-20T00:00:00.000Z",
    reason: "stolen",
    old: K1,
    new: THIEF,
  }),
};

/**
 * The bundle with the thief's certificate in its header, a change, and the thief's signatures from one size
 * on.
 */
const stolen = (change: (open: OpenBundle) => void = () => {}) =>
  forged(ORG, (open) => {
    open.header.keys.push(STOLEN);
    change(open);
  }, { commitments: true, links: true, signers: [THIEF], signFrom: 7 });

/** The bundle with its checkpoints signed by other keys from one size on. */
const signedBy = (text: string, signFrom: number, ...keys: readonly Signer[]) =>
  forged(text, () => {}, { signers: keys, signFrom });

const withoutCerts = ({ header }: OpenBundle) => {
  for (const key of header.keys) key.cert = null;
};

/** The same chain with another entry 12, signed anew by the current key. */
const REWRITTEN_END = forged(ORG, (open) => detail(open, 12).note = "another history", {
  commitments: true,
  links: true,
  signers: [K2],
  signFrom: 13,
});
const OLDER = forged(ORG, (open) => {
  open.groups = open.groups.slice(0, 12);
  Object.assign(open.trailer, { size: 12, checkpoint: checkpointAt(ORG, 12, [K2]) });
});

export const KEY_ROWS: readonly Row[] = [
  { name: "a pinned key leads to its successor", text: ORG, pins: pinned(K1), ...INTACT },
  { name: "a pinned key leads to its predecessor", text: ORG, pins: pinned(K2), ...INTACT },
  {
    name: "a pinned key leads to its successor by the chain's own entry, if the header has no certificate",
    text: forged(ORG, withoutCerts),
    pins: pinned(K1),
    ...INTACT,
  },
  {
    name: "a key that no certificate joins to a pinned one is not trusted, whatever the header lists",
    text: forged(ORG, (open) => {
      withoutCerts(open);
      open.groups[5]!.entry.actor = "self_serve";
    }, { links: true, signers: [K2] }),
    pins: pinned(K1),
    ...notVerifiable([1, 3, 5, 7, 9, 11, 13].map((seq) => `UNTRUSTED_KEY@${seq}`), 1),
  },
  {
    name: "after the rotation, a signature by the old key alone does not count",
    text: signedBy(ORG, 7, K1),
    pins: pinned(K1),
    ...tampered([7, 9, 11, 13].map((seq) => `RETIRED_KEY@${seq}`), 7),
  },
  {
    name: "before the rotation, a signature by the new key alone does not count",
    text: signedBy(ORG, 1, K2),
    pins: pinned(K1),
    ...tampered(["UNTRUSTED_KEY@1"], 1),
  },
  {
    name: "after the old key was retired, its signature beside the new one's is an error",
    text: signedBy(SYS, 11, K2, K1),
    pins: pinned(K1),
    ...tampered(["RETIRED_KEY@11", "RETIRED_KEY@13"], 11),
  },
  {
    name: "a key's range begins at the size in the JWKS",
    text: SYS,
    pins: pinned(K2, { from: 6 }),
    ...INTACT,
  },
  {
    name: "before the first size in the JWKS, a key does not count",
    text: SYS,
    pins: pinned(K2, { from: 7 }),
    ...tampered(["UNTRUSTED_KEY@5"], 5),
  },
  {
    name: "beyond the last size in the JWKS, a key does not count",
    text: SYS,
    pins: [...pinned(K1, { until: 9 }), ...pinned(K2)],
    ...tampered(["RETIRED_KEY@9"], 9),
  },
  {
    name: "a key's range is in sizes of the system chain, and limits no other chain",
    text: ORG,
    pins: [...pinned(K1, { until: 9 }), ...pinned(K2)],
    ...INTACT,
  },
  {
    name: "a key that is pinned for another log does not count",
    text: ORG,
    pins: pinned(K1, { prefix: "jiss.test/01OTHER/" }),
    ...notVerifiable([1, 3, 5, 7, 9, 11, 13].map((seq) => `UNTRUSTED_KEY@${seq}`), 1),
  },
  ...[K1, K2].map((pin, index): Row => ({
    name: `a certificate by a thief of the retired key has no effect, with key ${index + 1} pinned`,
    text: stolen((open) => detail(open, 12).note = "written by the thief"),
    pins: pinned(pin),
    ...tampered([7, 9, 11, 13].map((seq) => `UNTRUSTED_KEY@${seq}`), 7),
  })),
  {
    name: "a key that is retired by the JWKS certifies no successor",
    text: stolen(),
    pins: [...pinned(K1, { until: 9 }), ...pinned(K2)],
    ...tampered([7, 9, 11, 13].map((seq) => `UNTRUSTED_KEY@${seq}`), 7),
  },
  ...[pinned(K2), [...pinned(K1, { until: 9 }), ...pinned(K2)]].map((pins, index): Row => ({
    name: `checkpoints by the retired key alone are not verifiable without a kept one, pins ${index + 1}`,
    text: forged(ORG, (open) => {
      open.groups = open.groups.slice(0, 5);
      open.trailer.size = 5;
      open.trailer.checkpoint = checkpointAt(ORG, 5, [K1]);
    }),
    pins,
    ...notVerifiable(["EARLIER_KEY_ONLY@4"], 4),
  })),
  {
    name: "checkpoints by the retired key alone count if one of them was kept",
    text: forged(ORG, (open) => {
      open.groups = open.groups.slice(0, 5);
      open.trailer.size = 5;
      open.trailer.checkpoint = checkpointAt(ORG, 5, [K1]);
    }),
    pins: pinned(K2),
    known: [knownCheckpointOrNull(checkpointAt(ORG, 5, [K1]))!],
    ...INTACT,
    verdict: "INTACT",
  },
  {
    name: "a rotation whose certificate is by another key than the current one is malformed",
    text: stolen((open) => {
      Object.assign(open.groups[6]!.entry, { actor: "system", event_type: "SIGNING_KEY_ROTATED" });
      Object.assign(detail(open, 6), { cert: STOLEN.cert, overlap: true });
    }),
    pins: pinned(K1),
    ...tampered(["RECORD_MALFORMED@6", ...[7, 9, 11, 13].map((seq) => `UNTRUSTED_KEY@${seq}`)], 6),
  },
  {
    name: "a rotation without a valid certificate is malformed",
    text: forged(ORG, (open) => {
      withoutCerts(open);
      detail(open, 5).cert = detail(open, 5).cert.replace("reason scheduled", "reason stolen");
    }, { commitments: true, links: true, signers: [K1] }),
    pins: pinned(K1),
    ...tampered(["RECORD_MALFORMED@5"], 5),
  },
];

// ---- restores and anchors -------------------------------------------------------------------------------------

/** Several bundles in one file. */
export interface SeveralRow {
  /** The statement that the row proves. */
  readonly name: string;
  readonly text: string;
  readonly options?: Partial<VerifierOptions>;
  readonly reports: readonly Expectation[];
  readonly overall: ReturnType<typeof overallVerdict>;
  /** Whether it needs a memory of earlier visits, which the independent verifier does not have. */
  readonly isOfMemory?: boolean;
}

const NOT_COMPARED_OVERALL = { verdict: "INTACT, NOT COMPARED", exitCode: 2 } as const;
const UNANCHORED = { verdict: "INTACT, UNANCHORED", exitCode: 0 } as const;
const INTACT_BOTH = { reports: [INTACT, INTACT], overall: UNANCHORED } as const;

/** Already compared with what was kept before it, on an earlier visit. */
const settled = (checkpoint: KnownCheckpoint): KeptCheckpoint => ({ ...checkpoint, isSettled: true });

/** A chain of ten entries, seven of them in a backup, and the chain that continues from the backup. */
function restored(more: Record<string, unknown> = {}) {
  const world = buildWorld();
  const first = world.chain("org/acme");
  for (let at = 1; at < 10; at += 1) first.score(`operator-${at % 2}`);
  const before = first.bundle();
  const second = first.restore(7, more);
  for (let at = 1; at < 6; at += 1) second.score(`operator-${at % 2}`);
  return { first, before, left: first.bundle({ size: 7 }), after: second.bundle(), second };
}

const lost = restored();
const silent = restored({ last_known_checkpoint: lost.first.checkpoint(7).note });

export const RESTORE_ROWS: readonly SeveralRow[] = [
  {
    name: "a chain that a restore ended and the one that continues it are intact together, states included",
    text: lost.left + lost.after,
    ...INTACT_BOTH,
  },
  {
    name: "a chain that continues after a restore, by itself, begins with unanchored states",
    text: lost.after,
    reports: [{ ...INTACT, findings: ["STATE_UNANCHORED@1"] }],
    overall: UNANCHORED,
  },
  {
    name: "an invented state at the beginning of a chain that continues after a restore is found",
    text: lost.left + forged(
      lost.after,
      (open) => rescore(open, 1, (input) => input.state.b.H = [9, 0]),
      { commitments: true, links: true, priors: true, signers },
    ),
    reports: [INTACT, tampered(["STATE_MISMATCH@1", "STATE_MISMATCH@3"], 1)],
    overall: { verdict: "TAMPERED", exitCode: 1 },
  },
  {
    name: "entries that a restore lost are no rollback if the next chain records the loss",
    text: lost.left + lost.after,
    options: { known: [lost.first.checkpoint(5), lost.first.checkpoint(9)] },
    reports: [{ ...INTACT, verdict: "INTACT", findings: ["RESTORED@7"] }, INTACT],
    overall: UNANCHORED,
  },
  {
    name: "a restored chain is not compared if everything that was kept was lost with the restore",
    text: lost.left + lost.after,
    options: { known: [lost.first.checkpoint(9)] },
    reports: [{ ...NOT_COMPARED, findings: ["RESTORED@7"] }, NOT_COMPARED],
    overall: NOT_COMPARED_OVERALL,
  },
  {
    name: "a newer kept checkpoint that agrees does not cover what a restore lost before it",
    text: lost.left + lost.after,
    options: { known: [lost.first.checkpoint(9), lost.second.checkpoint(3)] },
    reports: [
      { ...NOT_COMPARED, findings: ["RESTORED@7"] },
      NOT_COMPARED,
    ],
    overall: NOT_COMPARED_OVERALL,
  },
  {
    name: "entries that a restore lost are a rollback if the next chain records a smaller loss",
    text: silent.left + silent.after,
    options: { known: [silent.first.checkpoint(9)] },
    reports: [diverged(["ROLLBACK_VS_KNOWN_CHECKPOINT@7"], 7), INTACT],
    overall: { verdict: "DIVERGED", exitCode: 1 },
  },
  {
    name: "entries that a restore lost are a rollback if the next chain is not in the input",
    text: lost.left,
    options: { known: [lost.first.checkpoint(9)] },
    reports: [diverged(["ROLLBACK_VS_KNOWN_CHECKPOINT@7"], 7)],
    overall: { verdict: "DIVERGED", exitCode: 1 },
  },
  {
    name:
      "a chain that continues after a restore, by itself, is not compared with what was kept of the one before",
    text: lost.after,
    options: { known: [lost.first.checkpoint(5)] },
    reports: [{ ...NOT_COMPARED, findings: ["STATE_UNANCHORED@1", "KNOWN_EPOCH_UNLINKED"] }],
    overall: NOT_COMPARED_OVERALL,
  },
  {
    name:
      "a chain that continues after a restore is compared with what was kept of the one before, if that is there",
    text: lost.left + lost.after,
    options: { known: [lost.first.checkpoint(5)] },
    reports: [{ ...INTACT, verdict: "INTACT" }, INTACT],
    overall: UNANCHORED,
  },
  {
    name:
      "a chain after a restore is compared with what was kept of it, beside the chain that the restore ended",
    text: lost.left + lost.after,
    options: { known: [lost.second.checkpoint(3)] },
    reports: [INTACT, { ...INTACT, verdict: "INTACT" }],
    overall: UNANCHORED,
  },
  {
    name: "an export from before the restore does not link what was kept to the chain after it",
    text: lost.before + lost.after,
    options: { known: [lost.first.checkpoint(5)] },
    reports: [
      { ...INTACT, verdict: "INTACT" },
      { ...NOT_COMPARED, findings: ["STATE_UNANCHORED@1", "KNOWN_EPOCH_UNLINKED"] },
    ],
    overall: NOT_COMPARED_OVERALL,
  },
  {
    name:
      "a chain that a restore ended, by itself, is not compared if a checkpoint of the next chain was kept",
    text: lost.left,
    options: { known: [lost.first.checkpoint(5), lost.second.checkpoint(3)] },
    reports: [{ ...NOT_COMPARED, findings: ["KNOWN_EPOCH_UNLINKED"] }],
    overall: NOT_COMPARED_OVERALL,
  },
  {
    name: "a settled checkpoint of the chain after a restore covers the one before it",
    text: lost.after,
    options: { known: [settled(lost.first.checkpoint(5)), settled(lost.second.checkpoint(3))] },
    reports: [{ ...INTACT, verdict: "INTACT", findings: ["STATE_UNANCHORED@1"] }],
    overall: { verdict: "INTACT", exitCode: 0 },
    isOfMemory: true,
  },
  {
    name: "a next chain that no trusted key signed excuses no rollback",
    text: lost.left + forged(lost.after, () => {}, { signers: buildWorld({ seed: "stranger" }).signers }),
    options: { known: [lost.first.checkpoint(9)] },
    reports: [
      diverged(["ROLLBACK_VS_KNOWN_CHECKPOINT@7"], 7),
      notVerifiable(["UNTRUSTED_KEY@5"], 5),
    ],
    overall: { verdict: "DIVERGED", exitCode: 1 },
  },
  {
    name: "an export from before the restore and the chain after it are both intact, with unanchored states",
    text: lost.before + lost.after,
    reports: [INTACT, { ...INTACT, findings: ["STATE_UNANCHORED@1"] }],
    overall: UNANCHORED,
  },
  {
    name: "a chain that ends before the size named by the next one is truncated",
    text: lost.first.bundle({ size: 6 }) + lost.after,
    reports: [tampered(["TRUNCATED@6"], 6), { ...INTACT, findings: ["STATE_UNANCHORED@1"] }],
    overall: { verdict: "TAMPERED", exitCode: 1 },
  },
  {
    name: "a chain that names another root of the one before it does not continue it",
    text: (() => {
      const other = restored({ restored_root: "00".repeat(32) });
      return other.left + other.after;
    })(),
    reports: [INTACT, tampered(["STATE_UNANCHORED@1", "GENESIS_MISMATCH@0"], 0)],
    overall: { verdict: "TAMPERED", exitCode: 1 },
  },
  {
    name: "a chain after a restore must name the one before it",
    text: restored({ previous_origin: "jiss.test/01TESTDEPLOYMENT/org/other" }).after,
    reports: [tampered(["GENESIS_MISMATCH@0", "STATE_UNANCHORED@1"], 0)],
    overall: { verdict: "TAMPERED", exitCode: 1 },
  },
  {
    name: "an erasure that the chain after a restore records covers the chain before it",
    text: (() => {
      const other = restored();
      other.second.erase("operator-0");
      return erasedOf(other.left, "operator-0") + other.second.bundle();
    })(),
    ...INTACT_BOTH,
  },
  {
    name: "an erasure of which neither chain has a record is not proven",
    text: (() => {
      const other = restored();
      return erasedOf(other.left, "operator-0") + other.after;
    })(),
    reports: [
      tampered(["ERASURE_UNPROVEN@2"], 2),
      { ...INTACT, findings: ["STATE_UNANCHORED@2"] },
    ],
    overall: { verdict: "TAMPERED", exitCode: 1 },
  },
  {
    name: "the system chain after a restore begins with the restore's own record",
    text: (() => {
      const first = buildWorld().chain("sys");
      first.append({ eventType: "MODEL_CHANGED", parts: { detail: {} } });
      const second = first.restore(2);
      return first.bundle() + second.bundle();
    })(),
    ...INTACT_BOTH,
  },
  {
    name: "an organization that is named like an epoch is no epoch",
    text: buildWorld().chain("org/e2").bundle() + buildWorld().chain("org/e3").bundle(),
    ...INTACT_BOTH,
  },
];

/** All parts of an operator erased, as exported after the erasure. */
function erasedOf(text: string, operatorId: string): string {
  return forged(text, ({ groups }) => {
    for (const { parts } of groups) {
      const input = parts.find(({ name }) => name === "input");
      if (input?.data.operator_id !== operatorId) continue;
      for (const [at, { seq, name }] of parts.entries()) {
        parts[at] = { kind: "jis.part/1", seq, name, erased: true };
      }
    }
  });
}

/**
 * A chain that a restore ended, with its first four entries removed since: the next chain records it, with
 * changes from `record`. Gives its bundle, and that of the next chain, whose first score is at entry 1.
 */
function endedAndCut(
  { record = {}, more = {} }: {
    readonly record?: Record<string, unknown>;
    /** Changes the restore's record. */
    readonly more?: Record<string, unknown>;
  } = {},
) {
  const world = buildWorld({ step: DAY_MS / 2 });
  const first = world.chain("org/acme", { retentionDays: 30 });
  for (let day = 1; day < 10; day += 1) first.score(`operator-${day % 2}`);
  const ended = first.bundle();
  const second = first.restore(10, more);
  for (let day = 1; day < 40; day += 1) second.score(`operator-${day % 2}`);
  const detail = {
    origin: first.origin,
    from: 0,
    to: 4,
    root: hex(first.checkpoint(4).root),
    last_ts: takeApart(ended).groups[3]!.entry.timestamp,
    cutoff: new Date(world.now - 30 * DAY_MS).toISOString(),
    policy_days: 30,
    ...record,
  };
  second.append({ eventType: "RETENTION_PRUNED", parts: { detail } });
  second.score("operator-1");
  return { left: putTogether(prunedTo(ended, 4, signers)), after: second.bundle() };
}

const cut = endedAndCut();
const ENDED_AND_CUT = { ...INTACT, findings: ["STATE_UNANCHORED@4", "PRUNED_PREFIX[0,3]"] } as const;
const UNPROVEN_CUT = tampered(["STATE_UNANCHORED@4", "PRUNED_PREFIX_UNPROVEN[0,3]"], 0);
const TAMPERED = { verdict: "TAMPERED", exitCode: 1 } as const;

/** Chains with entries removed after a restore ended them. */
export const ENDED_ROWS: readonly SeveralRow[] = [
  {
    name: "a removal from a chain that a restore ended is recorded in the chain that continues it",
    text: cut.left + cut.after,
    reports: [ENDED_AND_CUT, INTACT],
    overall: UNANCHORED,
  },
  {
    name: "a removal from a chain that a restore ended is proven though the record's content is withheld",
    text: cut.left + forged(cut.after, ({ groups }) => {
      const group = groups.find(({ entry }) => entry.event_type === "RETENTION_PRUNED")!;
      group.parts = [{ kind: "jis.part/1", seq: group.entry.seq, name: "detail", withheld: true }];
    }),
    reports: [ENDED_AND_CUT, { ...INTACT, exit: 2 }],
    overall: { verdict: "INTACT, UNANCHORED", exitCode: 2 },
  },
  {
    name: "a removal from a chain that a restore ended is unproven without the chain that records it",
    text: cut.left,
    reports: [UNPROVEN_CUT],
    overall: TAMPERED,
  },
  {
    name: "a record of the removal of other entries does not count for a chain that a restore ended",
    text: (() => {
      const other = endedAndCut({ record: { root: "00".repeat(32) } });
      return other.left + other.after;
    })(),
    reports: [UNPROVEN_CUT, INTACT],
    overall: TAMPERED,
  },
  {
    name: "a record that names another chain does not count for a chain that a restore ended",
    text: (() => {
      const other = endedAndCut({ record: { origin: "jiss.test/01TESTDEPLOYMENT/org/other" } });
      return other.left + other.after;
    })(),
    reports: [UNPROVEN_CUT, INTACT],
    overall: TAMPERED,
  },
  {
    name: "a record of a removal by an API key does not count in the next chain either",
    text: cut.left + forged(cut.after, ({ groups }) => {
      groups.find(({ entry }) => entry.event_type === "RETENTION_PRUNED")!.entry.actor = "self_serve";
    }, { links: true, priors: true, signers }),
    reports: [UNPROVEN_CUT, INTACT],
    overall: TAMPERED,
  },
  {
    name: "a removal from a chain that a restore ended must follow the retention policy",
    text: (() => {
      const other = endedAndCut({ record: { policy_days: 29 } });
      return other.left + other.after;
    })(),
    reports: [
      UNPROVEN_CUT,
      tampered(["PRUNE_POLICY_VIOLATION@40"], 40),
    ],
    overall: TAMPERED,
  },
  {
    name: "a lost checkpoint is excused by a restore that names a checkpoint of a later epoch",
    text: (() => {
      const other = restored({ last_known_checkpoint: buildWorld().chain("org/acme/e2").checkpoint().note });
      return other.left + other.after;
    })(),
    options: { known: [lost.first.checkpoint(5), lost.first.checkpoint(9)] },
    reports: [{ ...INTACT, verdict: "INTACT", findings: ["RESTORED@7"] }, INTACT],
    overall: UNANCHORED,
  },
  {
    name: "a chain may continue any earlier one of its family, if those between were lost",
    text: (() => {
      const world = buildWorld();
      const first = world.chain("org/acme");
      for (let at = 1; at < 10; at += 1) first.score(`operator-${at % 2}`);
      const left = first.bundle();
      const lostOne = first.restore(10);
      const { origin } = first;
      const third = lostOne.restore(1, {
        previous_origin: origin,
        restored_size: 10,
        restored_root: hex(first.checkpoint().root),
      });
      third.append({ eventType: "POLICY_CHANGED", actor: "self_serve", parts: { detail: {} } });
      return left + third.bundle();
    })(),
    ...INTACT_BOTH,
  },
  {
    name: "a chain cannot continue a later one of its family, nor itself",
    text: restored({ previous_origin: "jiss.test/01TESTDEPLOYMENT/org/acme/e2" }).after,
    reports: [tampered(["GENESIS_MISMATCH@0", "STATE_UNANCHORED@1"], 0)],
    overall: TAMPERED,
  },
  {
    name: "two bundles of one chain that contradict each other are not both intact",
    text: ORG + REWRITTEN_END,
    options: { pins: pinned(K2) },
    reports: [INTACT, diverged(["FORK_VS_KNOWN_CHECKPOINT[12,13]"], 12)],
    overall: { verdict: "DIVERGED", exitCode: 1 },
  },
  {
    name: "a bundle and an older one of the same chain are both intact",
    text: ORG + OLDER,
    options: { pins: pinned(K2) },
    reports: [INTACT, { ...INTACT, findings: ["ANCHOR_AHEAD"] }],
    overall: UNANCHORED,
  },
  {
    name: "sizes in a JWKS are of the first system chain, and limit none that a restore began",
    text: (() => {
      const world = buildWorld();
      const first = world.chain("sys");
      for (let at = 1; at < 6; at += 1) first.append({ eventType: "MODEL_CHANGED", parts: { detail: {} } });
      return first.restore(6).bundle();
    })(),
    options: { pins: [{ ...buildWorld().pin(), from: 4 }] },
    reports: [INTACT],
    overall: UNANCHORED,
  },
];

const anchored = buildWorld();
const anchoredOrg = anchored.chain("org/acme");
for (let at = 1; at < 6; at += 1) anchoredOrg.score("ada");
const system = anchored.chain("sys");
system.anchor([anchoredOrg]);
const SYSTEM = system.bundle();
const ANCHORED = anchoredOrg.bundle({ every: 2 });
const REWRITTEN = forged(ANCHORED, ({ groups }) => groups[5]!.entry.id = "01FORGED", {
  links: true,
  priors: true,
  signers: anchored.signers,
});

export const ANCHOR_ROWS: readonly SeveralRow[] = [
  {
    name: "an anchor of the system chain agrees with the chain, but is no checkpoint that the auditor kept",
    text: SYSTEM + ANCHORED,
    ...INTACT_BOTH,
  },
  {
    name: "a chain rewritten with the right key contradicts its anchor in the system chain",
    text: SYSTEM + REWRITTEN,
    reports: [INTACT, diverged(["FORK_VS_KNOWN_CHECKPOINT[4,5]"], 4)],
    overall: { verdict: "DIVERGED", exitCode: 1 },
  },
  {
    name: "anchors count only for bundles that follow the system chain",
    text: REWRITTEN + SYSTEM,
    ...INTACT_BOTH,
  },
  {
    name: "anchors of a system chain that no trusted key signed do not count",
    text: forged(SYSTEM, () => {}, { signers: buildWorld({ seed: "stranger" }).signers }) + REWRITTEN,
    reports: [notVerifiable(["UNTRUSTED_KEY@1"], 1), INTACT],
    overall: { verdict: "NOT VERIFIABLE", exitCode: 2 },
  },
  {
    name: "a chain exported before the system chain is reported as behind its anchor",
    text: SYSTEM + anchoredOrg.bundle({ size: 4 }),
    reports: [INTACT, { ...INTACT, findings: ["ANCHOR_AHEAD"] }],
    overall: UNANCHORED,
  },
  {
    name: "a bundle that breaks off before another begins is truncated, and the other is read",
    text: sealed(linesOf(SYSTEM).slice(0, -1)) + ANCHORED,
    reports: [tampered(["TRUNCATED@2"], 2), INTACT],
    overall: { verdict: "TAMPERED", exitCode: 1 },
  },
  {
    name: "the same bundle twice is intact twice",
    text: ANCHORED + ANCHORED,
    ...INTACT_BOTH,
  },
  {
    name: "the worst verdict of several bundles is the file's",
    text: ANCHORED + forged(SYSTEM, ({ groups }) => groups.splice(0, 1)),
    options: { known: [anchoredOrg.checkpoint(3)] },
    reports: [{ ...INTACT, verdict: "INTACT" }, tampered(["MISSING[0,0]"], 0)],
    overall: { verdict: "TAMPERED", exitCode: 1 },
  },
];

// ---- other deployments, and memories ---------------------------------------------------------------------------

const known = buildWorld();
const KNOWN_ORG = known.chain("org/acme").checkpoint();
const KNOWN_SYSTEM = known.chain("sys").checkpoint();
const KNOWN_OTHER = known.chain("org/other").checkpoint();
/** A chain by the same key, begun anew: nothing in it is wrong. */
const anew = (chain: string, seed = "world") => {
  const writer = buildWorld({ seed, deployment: "01NEWDEPLOYMENT" }).chain(chain);
  writer.append({ eventType: "POLICY_CHANGED", actor: "self_serve", parts: { detail: {} } });
  return writer;
};
const ANEW = anew("org/acme");
const OF_ANOTHER_DEPLOYMENT = {
  reports: [{ ...NOT_COMPARED, findings: ["KNOWN_DEPLOYMENT_OTHER"] }],
  overall: NOT_COMPARED_OVERALL,
} as const;
const FIRST_VISIT = { reports: [INTACT], overall: UNANCHORED } as const;

export const DEPLOYMENT_ROWS: readonly SeveralRow[] = [
  {
    name:
      "a new deployment of a key that signed for the organization before is not compared, and that is reported",
    text: ANEW.bundle(),
    options: { known: [KNOWN_ORG] },
    ...OF_ANOTHER_DEPLOYMENT,
  },
  {
    name: "the audit log of such a new deployment is not compared either",
    text: anew("org/acme/admin").bundle(),
    options: { known: [KNOWN_ORG] },
    ...OF_ANOTHER_DEPLOYMENT,
  },
  {
    name: "a kept checkpoint of the system chain counts as one of every organization",
    text: ANEW.bundle(),
    options: { known: [KNOWN_SYSTEM] },
    ...OF_ANOTHER_DEPLOYMENT,
  },
  {
    name: "a new deployment's system chain is not compared with what was kept of any organization",
    text: anew("sys").bundle(),
    options: { known: [KNOWN_OTHER] },
    ...OF_ANOTHER_DEPLOYMENT,
  },
  {
    name: "what was kept of another organization in another deployment does not concern this one",
    text: ANEW.bundle(),
    options: { known: [KNOWN_OTHER] },
    ...FIRST_VISIT,
  },
  {
    name: "what another key signed in another deployment does not concern this one",
    text: anew("org/acme", "another vendor").bundle(),
    options: {
      pins: [buildWorld({ seed: "another vendor" }).pin(), buildWorld().pin()],
      known: [KNOWN_ORG, KNOWN_SYSTEM],
    },
    ...FIRST_VISIT,
  },
  {
    name: "a new deployment that was accepted is compared with what was kept of it",
    text: ANEW.bundle(),
    options: { known: [KNOWN_ORG, ANEW.checkpoint(1)] },
    reports: [{ ...INTACT, verdict: "INTACT" }],
    overall: { verdict: "INTACT", exitCode: 0 },
  },
  {
    name: "another chain of a known organization and deployment counts as met for the first time",
    text: buildWorld().chain("org/acme/admin").bundle(),
    options: { known: [KNOWN_ORG] },
    ...FIRST_VISIT,
  },
];

const OVER_THE_CUT = ["KNOWN_CHECKPOINT_UNLINKABLE", "PRUNED_PREFIX[0,19]", "STATE_UNANCHORED@20"] as const;

/** The memory compared each with those before it. */
export const MEMORY_ROWS: readonly SeveralRow[] = [
  {
    name: "a remembered checkpoint that agrees covers older remembered ones that no ladder links",
    text: PRUNED,
    options: { known: [settled(OLD_CHECKPOINTS[0]!), settled(NEW_CHECKPOINT)] },
    reports: [{ ...INTACT, verdict: "INTACT", findings: OVER_THE_CUT }],
    overall: { verdict: "INTACT", exitCode: 0 },
    isOfMemory: true,
  },
  {
    name: "a remembered checkpoint covers no older one that was given separately",
    text: PRUNED,
    options: { known: [OLD_CHECKPOINTS[0]!, settled(NEW_CHECKPOINT)] },
    reports: [{ ...NOT_COMPARED, findings: OVER_THE_CUT }],
    overall: NOT_COMPARED_OVERALL,
    isOfMemory: true,
  },
  {
    name: "a separately given checkpoint that agrees covers no remembered one",
    text: PRUNED,
    options: { known: [settled(OLD_CHECKPOINTS[0]!), NEW_CHECKPOINT] },
    reports: [{ ...NOT_COMPARED, findings: OVER_THE_CUT }],
    overall: NOT_COMPARED_OVERALL,
    isOfMemory: true,
  },
  {
    name: "the older of two remembered checkpoints covers no newer one that no ladder links",
    text: LINKED_TO_OLDEST,
    options: { known: [settled(OLD_CHECKPOINTS[0]!), settled(writer.checkpoint(7))] },
    reports: [{ ...NOT_COMPARED, findings: OVER_THE_CUT }],
    overall: NOT_COMPARED_OVERALL,
    isOfMemory: true,
  },
  {
    name: "a checkpoint that is given and remembered counts as remembered",
    text: PRUNED,
    options: { known: [OLD_CHECKPOINTS[0]!, settled(OLD_CHECKPOINTS[0]!), settled(NEW_CHECKPOINT)] },
    reports: [{
      ...INTACT,
      verdict: "INTACT",
      findings: ["KNOWN_CHECKPOINT_UNLINKABLE", ...OVER_THE_CUT],
    }],
    overall: { verdict: "INTACT", exitCode: 0 },
    isOfMemory: true,
  },
];

/** Exports from before the removal; the later export still holds their size, or links to it. */
export const OLD_EXPORT_ROWS: readonly SeveralRow[] = [
  {
    name: "an export from before the removal links a kept checkpoint to the export after it",
    text: UNPRUNED + PRUNED,
    options: { known: [OLD_CHECKPOINTS[0]!] },
    reports: [
      { ...INTACT, verdict: "INTACT" },
      { ...INTACT, findings: ["KNOWN_CHECKPOINT_UNLINKABLE", "PRUNED_PREFIX[0,19]", "STATE_UNANCHORED@20"] },
    ],
    overall: UNANCHORED,
  },
  {
    name: "an export that ends below the removal links nothing, whatever it agrees with",
    text: EARLY + REWRITTEN_BELOW_UNLINKED,
    options: { known: [OLD_CHECKPOINTS[0]!] },
    reports: [
      { ...INTACT, verdict: "INTACT" },
      { ...NOT_COMPARED, findings: OVER_THE_CUT },
    ],
    overall: NOT_COMPARED_OVERALL,
  },
];

/** The tables of one bundle each. */
export const CHAIN_ROWS: readonly Row[] = [...PRUNED_ROWS, ...POLICY_ROWS, ...KEY_ROWS];
/** The tables of several bundles. */
export const SEVERAL_ROWS: readonly SeveralRow[] = [
  ...RESTORE_ROWS,
  ...ENDED_ROWS,
  ...ANCHOR_ROWS,
  ...DEPLOYMENT_ROWS,
  ...MEMORY_ROWS,
  ...OLD_EXPORT_ROWS,
];
