/**
 * Histories that somebody with the signing key makes so that nothing in them can be compared with what an
 * auditor kept, and the honest ones that look like them. Rows as in tests/tamper_chain_rows.ts: the product's
 * verifier and the independent one judge them alike.
 */
import { hex, type Signer, utf8 } from "../src/evidence/crypto.ts";
import { type KeptCheckpoint, type KnownCheckpoint, knownCheckpointOrNull } from "../src/evidence/kept.ts";
import { nodeCrypto } from "../src/evidence/node_crypto.ts";
import { keyId } from "../src/evidence/note.ts";
import type { PinnedKey } from "../src/evidence/trust.ts";
import { buildWorld, type ChainWriter, type World } from "./bundle_builder.ts";
import { putTogether, takeApart } from "./bundle_tampering.ts";
import type { SeveralRow } from "./tamper_chain_rows.ts";
import { diverged, type Expectation, INTACT, NOT_COMPARED, tampered } from "./verification.ts";

const DAY_MS = 86_400_000;
const NOT_COMPARED_OVERALL = { verdict: "INTACT, NOT COMPARED", exitCode: 2 } as const;
const UNANCHORED = { verdict: "INTACT, UNANCHORED", exitCode: 0 } as const;
const DIVERGED_OVERALL = { verdict: "DIVERGED", exitCode: 1 } as const;
const KEPT_INTACT: Expectation = { ...INTACT, verdict: "INTACT" };

const settled = (checkpoint: KnownCheckpoint): KeptCheckpoint => ({ ...checkpoint, isSettled: true });

/** Appends events of the organization's own, with a given text. */
export function appendEvents(chain: ChainWriter, says: string, count = 1): ChainWriter {
  for (let at = 0; at < count; at += 1) {
    chain.append({
      eventType: "APP_EVENT",
      actor: "self_serve",
      parts: { detail: { says: `${says} ${at}` } },
    });
  }
  return chain;
}

// ---- a new deployment whose key a certificate joins ---------------------------------------------------------------

const first = buildWorld({ deployment: "01DEPLOYMENTONE" });
const FIRST_ORG = appendEvents(first.chain("org/acme"), "true").checkpoint();
const FIRST_SYSTEM = first.chain("sys").checkpoint();

/** The same vendor's next deployment, after this many rotations; the newest key alone signs. */
function rotated(rotations: number): World {
  const world = buildWorld({ deployment: "01DEPLOYMENTTWO" });
  for (let at = 0; at < rotations; at += 1) world.makeKey();
  world.dropOldKeys();
  return world;
}

/** The kept note with one more signature line, by a key that nobody knew then; the signature is false. */
function withLineOf(checkpoint: KnownCheckpoint, publicKey: Uint8Array): KnownCheckpoint {
  const id = keyId(nodeCrypto, { name: checkpoint.origin, publicKey });
  const signature = Uint8Array.from([
    ...id,
    ...nodeCrypto.sha256(utf8("one")),
    ...nodeCrypto.sha256(utf8("two")),
  ]);
  return knownCheckpointOrNull(`${checkpoint.note}— ${checkpoint.origin} ${signature.toBase64()}\n`)!;
}

const OF_ANOTHER_DEPLOYMENT = {
  reports: [{ ...NOT_COMPARED, findings: ["KNOWN_DEPLOYMENT_OTHER"] }],
  overall: NOT_COMPARED_OVERALL,
} as const;

/** A key that a certificate replaced, and that another deployment still uses. */
function ofEarlierKey(): Pick<SeveralRow, "text" | "options"> {
  const later = buildWorld({ deployment: "01DEPLOYMENTONE" });
  later.makeKey();
  later.dropOldKeys();
  const shown = buildWorld({ deployment: "01DEPLOYMENTTWO" });
  const chain = appendEvents(shown.chain("org/acme"), "forged");
  // The header has the certificate; the first key signs the checkpoints.
  shown.makeKey();
  const pins = [shown.pin(1), shown.pin(2)];
  return {
    text: chain.bundle(),
    options: { pins, known: [appendEvents(later.chain("org/acme"), "true").checkpoint()] },
  };
}

const CERTIFIED_ROWS: readonly SeveralRow[] = [
  {
    name: "a new deployment whose key the known key certified is not compared, and that is reported",
    text: appendEvents(rotated(1).chain("org/acme"), "forged").bundle(),
    options: { known: [FIRST_ORG] },
    ...OF_ANOTHER_DEPLOYMENT,
  },
  {
    name: "the system chain of such a new deployment is not compared either",
    text: rotated(1).chain("sys").bundle(),
    options: { known: [FIRST_ORG] },
    ...OF_ANOTHER_DEPLOYMENT,
  },
  {
    name:
      "a new deployment whose key two certificates lead to is not compared, even if only the system chain was kept",
    text: appendEvents(rotated(2).chain("org/acme"), "forged").bundle(),
    options: { known: [FIRST_SYSTEM] },
    ...OF_ANOTHER_DEPLOYMENT,
  },
  {
    name:
      "a new deployment under a predecessor of the known key is recognized as another deployment of its owner",
    ...ofEarlierKey(),
    ...OF_ANOTHER_DEPLOYMENT,
  },
  {
    name:
      "a false signature line by the certified key in a kept note does not hide the known key's signature",
    text: appendEvents(rotated(1).chain("org/acme"), "forged").bundle(),
    options: { known: [withLineOf(FIRST_ORG, rotated(1).newSigner(2).publicKey)] },
    ...OF_ANOTHER_DEPLOYMENT,
  },
  {
    name: "a key that no certificate joins to the known one counts as another vendor's",
    text: (() => {
      const vendor = buildWorld({ seed: "another vendor", deployment: "01DEPLOYMENTTWO" });
      vendor.makeKey();
      return appendEvents(vendor.chain("org/acme"), "true").bundle();
    })(),
    options: {
      pins: [buildWorld({ seed: "another vendor" }).pin(), buildWorld().pin()],
      known: [FIRST_ORG, FIRST_SYSTEM],
    },
    reports: [INTACT],
    overall: UNANCHORED,
  },
];

// ---- a new deployment that begins with the next key -----------------------------------------------------------------

/** The known deployment after a rotation: its first key no longer signs. */
function rotatedOnce(): { readonly system: ChainWriter; readonly acme: ChainWriter } {
  const known = buildWorld({ deployment: "01DEPLOYMENTONE" });
  const chains = { system: known.chain("sys"), acme: appendEvents(known.chain("org/acme"), "true") };
  known.makeKey();
  for (const chain of Object.values(chains)) chain.rotate();
  known.dropOldKeys();
  for (const chain of Object.values(chains)) chain.rotate({ overlap: false });
  return chains;
}

/** A deployment that begins with this key, so that no certificate is in its header. */
function begunWith(signer: Signer, deployment = "01DEPLOYMENTTWO", seed = "world"): World {
  return buildWorld({ deployment, signer, seed });
}

const SECOND_KEY = buildWorld().newSigner(2);
const ROTATED = rotatedOnce();
/** The checkpoints before the rotation. */
const KNOWN_ORG = ROTATED.acme.checkpoint(2);
const KNOWN_SYSTEM = ROTATED.system.checkpoint(1);
const ROTATED_SYSTEM = ROTATED.system.bundle();
const ROTATED_ORG = ROTATED.acme.bundle();
const BEGUN = appendEvents(begunWith(SECOND_KEY).chain("org/acme"), "forged").bundle();
const BOTH_PINS = [buildWorld().pin(1), buildWorld().pin(2)];
const BEGUN_REPORT: Expectation = { ...NOT_COMPARED, findings: ["KNOWN_DEPLOYMENT_OTHER"] };

/** Another organization, in a deployment of its own that began with the second key and rotated it. */
const third = begunWith(SECOND_KEY, "01DEPLOYMENTTHREE", "third");
const thirdChain = third.chain("org/else");
third.makeKey();
thirdChain.rotate();
const THIRD = thirdChain.bundle();
const THIRD_SIGNER = third.newSigner(2);
const BEGUN_WITH_THIRD = appendEvents(begunWith(THIRD_SIGNER).chain("org/acme"), "forged").bundle();
const THREE_PINS = [...BOTH_PINS, third.pin(2)];

/** The header has no certificate: only the entry that records the rotation has it. */
const WITHOUT_CERTIFICATES = (() => {
  const open = takeApart(rotatedOnce().acme.bundle());
  open.header.keys = open.header.keys.map((key: object) => ({ ...key, cert: null }));
  return putTogether(open);
})();

/** An organization of this name at another vendor, which rotated its key too. */
function vendorRotated(): Pick<SeveralRow, "text"> & { readonly pins: readonly PinnedKey[] } {
  const vendor = buildWorld({ seed: "another vendor", deployment: "01DEPLOYMENTTWO" });
  const chain = appendEvents(vendor.chain("org/acme"), "true");
  vendor.makeKey();
  chain.rotate();
  return { text: appendEvents(chain, "more").bundle(), pins: [vendor.pin(1), vendor.pin(2)] };
}

const vendor = vendorRotated();
const keysOf = (pins: readonly PinnedKey[]) => pins.map(({ publicKey }) => publicKey);

const BEGUN_ROWS: readonly SeveralRow[] = [
  {
    name:
      "a new deployment that begins with the next key is joined by the certificate in the known one's bundle",
    text: ROTATED_ORG + BEGUN,
    options: { pins: BOTH_PINS, known: [KNOWN_ORG] },
    reports: [KEPT_INTACT, BEGUN_REPORT],
    overall: NOT_COMPARED_OVERALL,
  },
  {
    name: "a certificate in a later bundle of the input joins the keys too",
    text: BEGUN + ROTATED_ORG,
    options: { pins: BOTH_PINS, known: [KNOWN_ORG] },
    reports: [BEGUN_REPORT, KEPT_INTACT],
    overall: NOT_COMPARED_OVERALL,
  },
  {
    name: "a certificate in the system chain's bundle joins the keys, if only the system chain was kept",
    text: ROTATED_SYSTEM + BEGUN,
    options: { pins: BOTH_PINS, known: [KNOWN_SYSTEM] },
    reports: [KEPT_INTACT, BEGUN_REPORT],
    overall: NOT_COMPARED_OVERALL,
  },
  {
    name: "a certificate that only an entry holds joins the keys too",
    text: BEGUN + WITHOUT_CERTIFICATES,
    options: { pins: BOTH_PINS, known: [KNOWN_ORG] },
    reports: [BEGUN_REPORT, KEPT_INTACT],
    overall: NOT_COMPARED_OVERALL,
  },
  {
    name: "a certificate in a bundle that is cut off joins the keys too",
    text: ROTATED_ORG.split("\n").slice(0, 3).map((line) => `${line}\n`).join("") + BEGUN,
    options: { pins: BOTH_PINS, known: [KNOWN_ORG] },
    reports: [
      tampered(["TRUNCATED@1"], 1),
      BEGUN_REPORT,
    ],
    overall: { verdict: "TAMPERED", exitCode: 1 },
  },
  ...[[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]].map((order) => ({
    name:
      `certificates of two deployments lead from the known key to a third deployment's, in the order ${order}`,
    text: order.map((at) => [ROTATED_ORG, THIRD, BEGUN_WITH_THIRD][at]!).join(""),
    options: { pins: THREE_PINS, known: [KNOWN_ORG] },
    reports: order.map((at) => [KEPT_INTACT, INTACT, BEGUN_REPORT][at]!),
    overall: NOT_COMPARED_OVERALL,
  })),
  {
    name: "keys of one key file count as one owner's without a certificate",
    text: BEGUN,
    options: { pins: BOTH_PINS, holderKeys: [keysOf(BOTH_PINS)], known: [KNOWN_ORG] },
    ...OF_ANOTHER_DEPLOYMENT,
  },
  {
    name: "a certificate leads on from a key of such a file",
    text: THIRD + BEGUN_WITH_THIRD,
    options: { pins: THREE_PINS, holderKeys: [keysOf(BOTH_PINS)], known: [KNOWN_ORG] },
    reports: [INTACT, BEGUN_REPORT],
    overall: NOT_COMPARED_OVERALL,
  },
  {
    name: "keys of two files that no certificate joins count as two owners'",
    text: BEGUN,
    options: { pins: BOTH_PINS, holderKeys: BOTH_PINS.map((pin) => keysOf([pin])), known: [KNOWN_ORG] },
    reports: [INTACT],
    overall: UNANCHORED,
  },
  {
    name: "two vendors that each rotated a key are two owners, in either order",
    text: ROTATED_SYSTEM + ROTATED_ORG + vendor.text + ROTATED_ORG,
    options: {
      pins: [...BOTH_PINS, ...vendor.pins],
      holderKeys: [keysOf(BOTH_PINS), keysOf(vendor.pins)],
      known: [KNOWN_ORG, KNOWN_SYSTEM],
    },
    reports: [KEPT_INTACT, KEPT_INTACT, INTACT, KEPT_INTACT],
    overall: UNANCHORED,
  },
];

// ---- only the system chain was kept ------------------------------------------------------------------------------

const world = buildWorld();
const system = world.chain("sys");
const org = appendEvents(world.chain("org/acme", { retentionDays: 1 }), "true", 2);
system.anchor([org]);
const KEPT_SYSTEM = system.checkpoint();
const OLD_SYSTEM = system.bundle();

/** The same keys' organization, rewritten from its second entry on. */
function rewritten(count: number): { readonly world: World; readonly chain: ChainWriter } {
  const other = buildWorld();
  const chain = appendEvents(other.chain("org/acme", { retentionDays: 1 }), "forged", count);
  return { world: other, chain };
}

/** Cuts the chain at a size that the system chain has not anchored. */
function cut({ world: of, chain }: ReturnType<typeof rewritten>, to: number): ChainWriter {
  of.now += 3 * DAY_MS;
  chain.prune(to);
  return appendEvents(chain, "later");
}

const FORGED = rewritten(4).chain;
const HONEST_EARLY = org.bundle();
appendEvents(org, "more", 2);
const HONEST = org.bundle();
system.anchor([FORGED]);
const SYSTEM_OF_THE_FORGED = system.bundle();
const honestCut = (() => {
  const again = buildWorld();
  again.chain("sys");
  const chain = appendEvents(
    appendEvents(again.chain("org/acme", { retentionDays: 1 }), "true", 2),
    "more",
    3,
  );
  return cut({ world: again, chain }, 5);
})();
const forgedCut = cut(rewritten(6), 5);
const OF_THE_CUT = ["KNOWN_CHECKPOINT_UNLINKABLE", "PRUNED_PREFIX[0,4]"] as const;
const kept = { known: [KEPT_SYSTEM] } as const;

/** An honest deployment with another organization and a restore. */
function restoredWorld(backup: { readonly org: number; readonly system: number }) {
  const of = buildWorld();
  const sys = of.chain("sys");
  const acme = appendEvents(of.chain("org/acme"), "true", 2);
  sys.anchor([acme]);
  const early = sys.checkpoint();
  appendEvents(acme, "more", 4);
  sys.anchor([acme]);
  const late = sys.checkpoint();
  const left = [sys.bundle({ size: backup.system }), acme.bundle({ size: backup.org })];
  const [sys2, acme2] = [sys.restore(backup.system), acme.restore(backup.org)];
  appendEvents(acme2, "after", 2);
  sys2.anchor([acme2]);
  return { early, late, left, next: [sys2.bundle(), acme2.bundle()] };
}

const agreed = restoredWorld({ org: 7, system: 3 });
const RESTORED_ALL = `${agreed.left[0]}${agreed.next[0]}${agreed.left[1]}${agreed.next[1]}`;
/**
 * The chains were backed up at different moments: the organization's lacks entries that the system chain
 * anchors.
 */
const torn = restoredWorld({ org: 4, system: 3 });
const TORN_ALL = `${torn.left[0]}${torn.next[0]}${torn.left[1]}${torn.next[1]}`;

const SYSTEM_ROWS: readonly SeveralRow[] = [
  {
    name: "with only the system chain kept, a rewritten chain shown without it is not compared",
    text: FORGED.bundle(),
    options: kept,
    reports: [NOT_COMPARED],
    overall: NOT_COMPARED_OVERALL,
  },
  {
    name: "with only the system chain kept, a true chain shown without it is not compared either",
    text: HONEST,
    options: kept,
    reports: [NOT_COMPARED],
    overall: NOT_COMPARED_OVERALL,
  },
  {
    name: "beside the kept system chain a true chain agrees with its anchor",
    text: OLD_SYSTEM + HONEST,
    options: kept,
    reports: [KEPT_INTACT, INTACT],
    overall: UNANCHORED,
  },
  {
    name: "beside the kept system chain a rewritten chain contradicts its anchor",
    text: OLD_SYSTEM + FORGED.bundle(),
    options: kept,
    reports: [KEPT_INTACT, diverged(["FORK_VS_KNOWN_CHECKPOINT[0,2]"], 0)],
    overall: DIVERGED_OVERALL,
  },
  {
    name: "a later anchor of the rewritten chain does not replace the kept one",
    text: SYSTEM_OF_THE_FORGED + FORGED.bundle(),
    options: kept,
    reports: [KEPT_INTACT, diverged(["FORK_VS_KNOWN_CHECKPOINT[0,2]"], 0)],
    overall: DIVERGED_OVERALL,
  },
  {
    name:
      "a later anchor of the rewritten chain does not replace the kept one, even if a later system chain was kept",
    text: SYSTEM_OF_THE_FORGED + FORGED.bundle(),
    options: { known: [settled(KEPT_SYSTEM), settled(system.checkpoint())] },
    reports: [KEPT_INTACT, diverged(["FORK_VS_KNOWN_CHECKPOINT[0,2]"], 0)],
    overall: DIVERGED_OVERALL,
    isOfMemory: true,
  },
  {
    name: "a rewritten chain that is cut above the anchored size is not compared",
    text: OLD_SYSTEM + forgedCut.bundle(),
    options: kept,
    reports: [KEPT_INTACT, { ...NOT_COMPARED, findings: OF_THE_CUT }],
    overall: NOT_COMPARED_OVERALL,
  },
  {
    name: "a true chain that is cut above the anchored size is not compared without a ladder",
    text: OLD_SYSTEM + honestCut.bundle(),
    options: kept,
    reports: [KEPT_INTACT, { ...NOT_COMPARED, findings: OF_THE_CUT }],
    overall: NOT_COMPARED_OVERALL,
  },
  {
    name: "a true chain that is cut above the anchored size agrees over a ladder",
    text: OLD_SYSTEM + honestCut.bundle({ ladder: [3, 5] }),
    options: kept,
    reports: [KEPT_INTACT, { ...INTACT, findings: ["PRUNED_PREFIX[0,4]"] }],
    overall: UNANCHORED,
  },
  {
    name: "a rewritten chain that is cut above the anchored size contradicts the anchor over a ladder",
    text: OLD_SYSTEM + forgedCut.bundle({ ladder: [3, 5] }),
    options: kept,
    reports: [KEPT_INTACT, diverged(["FORK_VS_KNOWN_CHECKPOINT[0,2]", "PRUNED_PREFIX[0,4]"], 0)],
    overall: DIVERGED_OVERALL,
  },
  {
    name: "a chain that ends before the anchored size is not compared",
    text: OLD_SYSTEM + FORGED.bundle({ size: 2 }),
    options: kept,
    reports: [KEPT_INTACT, { ...NOT_COMPARED, findings: ["ANCHOR_AHEAD"] }],
    overall: NOT_COMPARED_OVERALL,
  },
  {
    name: "a system chain that follows the chain in the input pins nothing",
    text: FORGED.bundle() + OLD_SYSTEM,
    options: kept,
    reports: [NOT_COMPARED, KEPT_INTACT],
    overall: NOT_COMPARED_OVERALL,
  },
  {
    name: "a system chain that withholds its anchors pins nothing",
    text: system.bundle({ parts: "none" }) + FORGED.bundle(),
    options: { ...kept, replay: false },
    reports: [KEPT_INTACT, NOT_COMPARED],
    overall: NOT_COMPARED_OVERALL,
  },
  {
    name: "a system chain that ends before its kept checkpoint pins nothing",
    text: system.bundle({ size: 1 }) + FORGED.bundle(),
    options: kept,
    reports: [diverged(["ROLLBACK_VS_KNOWN_CHECKPOINT@1"], 1), NOT_COMPARED],
    overall: DIVERGED_OVERALL,
  },
  {
    name: "an organization younger than the kept system chain counts as met for the first time",
    text: (() => {
      const later = buildWorld();
      const sys = later.chain("sys");
      const acme = appendEvents(later.chain("org/acme", { retentionDays: 1 }), "true", 2);
      sys.anchor([acme]);
      const other = appendEvents(later.chain("org/other"), "true");
      sys.anchor([other]);
      return sys.bundle() + other.bundle();
    })(),
    options: kept,
    reports: [KEPT_INTACT, INTACT],
    overall: UNANCHORED,
  },
  {
    name: "a kept checkpoint of the organization itself needs no system chain",
    text: HONEST,
    options: { known: [KEPT_SYSTEM, org.checkpoint(3)] },
    reports: [KEPT_INTACT],
    overall: { verdict: "INTACT", exitCode: 0 },
  },
  {
    name: "a kept checkpoint of the organization does not excuse an anchor that the chain contradicts",
    text: OLD_SYSTEM + FORGED.bundle(),
    options: { known: [KEPT_SYSTEM, FORGED.checkpoint(4)] },
    reports: [KEPT_INTACT, diverged(["FORK_VS_KNOWN_CHECKPOINT[0,2]"], 0)],
    overall: DIVERGED_OVERALL,
  },
  {
    name: "a newer remembered checkpoint of the chain covers an anchor below a cut",
    text: OLD_SYSTEM + honestCut.bundle(),
    options: { known: [settled(KEPT_SYSTEM), settled(honestCut.checkpoint(5))] },
    reports: [KEPT_INTACT, { ...KEPT_INTACT, findings: OF_THE_CUT }],
    overall: { verdict: "INTACT", exitCode: 0 },
    isOfMemory: true,
  },
  {
    name: "a true chain that ends at the anchored size is compared",
    text: OLD_SYSTEM + HONEST_EARLY,
    options: kept,
    reports: [KEPT_INTACT, INTACT],
    overall: UNANCHORED,
  },
  {
    name: "another deployment's system chain pins nothing here",
    text: FORGED.bundle(),
    options: {
      pins: [buildWorld().pin(), buildWorld({ seed: "another vendor" }).pin()],
      known: [buildWorld({ seed: "another vendor", deployment: "01OTHER" }).chain("sys").checkpoint()],
    },
    reports: [INTACT],
    overall: UNANCHORED,
  },
  {
    name: "after a restore all epochs agree with what was kept of the system chain",
    text: RESTORED_ALL,
    options: { known: [agreed.early, agreed.late] },
    reports: [KEPT_INTACT, INTACT, INTACT, INTACT],
    overall: UNANCHORED,
  },
  {
    name: "the organization's later epoch alone is not compared with what the kept system chain anchored",
    text: agreed.left[0]! + agreed.next[0] + agreed.next[1],
    options: { known: [agreed.late] },
    reports: [KEPT_INTACT, INTACT, { ...NOT_COMPARED, findings: ["KNOWN_EPOCH_UNLINKED"] }],
    overall: NOT_COMPARED_OVERALL,
  },
  {
    name: "an anchor of entries that a restore lost is covered by an older one that agrees",
    text: TORN_ALL,
    options: { known: [torn.early, torn.late] },
    reports: [KEPT_INTACT, INTACT, { ...INTACT, findings: ["ANCHOR_AHEAD"] }, INTACT],
    overall: UNANCHORED,
  },
  {
    name: "an anchor of entries that a restore lost is not compared if no older one was kept",
    text: TORN_ALL,
    options: { known: [torn.late] },
    reports: [KEPT_INTACT, INTACT, { ...NOT_COMPARED, findings: ["ANCHOR_AHEAD"] }, NOT_COMPARED],
    overall: NOT_COMPARED_OVERALL,
  },
];

// ---- the same backup put back twice -------------------------------------------------------------------------------

/** An epoch that the auditor visited, and that a second restore of the older backup lost as a whole. */
function twiceRestored(more: Record<string, unknown> = {}) {
  const of = buildWorld();
  const e1 = appendEvents(of.chain("org/acme"), "true", 5);
  const e2 = appendEvents(e1.restore(6), "second", 2);
  const end = { previous_origin: e1.origin, restored_size: 6, restored_root: hex(e1.checkpoint(6).root) };
  const e3 = appendEvents(e2.restore(0, { ...end, ...more }), "third");
  return { e1, e2, e3, text: e1.bundle() + e3.bundle() };
}

const twice = twiceRestored();
const E2_KEPT = twice.e2.checkpoint(2);

const TWICE_ROWS: readonly SeveralRow[] = [
  {
    name: "an epoch that a second restore lost is covered by an older kept checkpoint that agrees",
    text: twice.text,
    options: { known: [twice.e1.checkpoint(4), E2_KEPT] },
    reports: [KEPT_INTACT, INTACT],
    overall: UNANCHORED,
  },
  {
    name: "an epoch that a second restore lost is covered if a memory holds both checkpoints",
    text: twice.text,
    options: { known: [settled(twice.e1.checkpoint(6)), settled(E2_KEPT)] },
    reports: [KEPT_INTACT, INTACT],
    overall: UNANCHORED,
    isOfMemory: true,
  },
  {
    name: "an epoch that a second restore lost is not compared if nothing older was kept",
    text: twice.text,
    options: { known: [E2_KEPT] },
    reports: [NOT_COMPARED, NOT_COMPARED],
    overall: NOT_COMPARED_OVERALL,
  },
  {
    name: "a restore whose last known checkpoint is older than the kept one does not cover the lost epoch",
    text: twiceRestored({ last_known_checkpoint: twice.e2.checkpoint(1).note }).text,
    options: { known: [twice.e1.checkpoint(4), E2_KEPT] },
    reports: [
      { ...NOT_COMPARED, findings: ["KNOWN_EPOCH_UNLINKED"] },
      { ...NOT_COMPARED, findings: ["KNOWN_EPOCH_UNLINKED"] },
    ],
    overall: NOT_COMPARED_OVERALL,
  },
  {
    name: "a restore covers no epoch later than its own",
    text: twiceRestored({
      last_known_checkpoint: appendEvents(buildWorld().chain("org/acme/e9"), "ninth", 9).checkpoint().note,
    }).text,
    options: {
      known: [twice.e1.checkpoint(4), appendEvents(buildWorld().chain("org/acme/e5"), "fifth").checkpoint()],
    },
    reports: [
      { ...NOT_COMPARED, findings: ["KNOWN_EPOCH_UNLINKED"] },
      { ...NOT_COMPARED, findings: ["KNOWN_EPOCH_UNLINKED"] },
    ],
    overall: NOT_COMPARED_OVERALL,
  },
  {
    name: "the last epoch alone does not cover the lost one",
    text: twice.e3.bundle(),
    options: { known: [twice.e1.checkpoint(4), E2_KEPT] },
    reports: [{ ...NOT_COMPARED, findings: ["KNOWN_EPOCH_UNLINKED"] }],
    overall: NOT_COMPARED_OVERALL,
  },
];

// ---- saved documents, possibly from the forger ----------------------------------------------------------------------

const anew = appendEvents(buildWorld({ deployment: "01DEPLOYMENTTWO" }).chain("org/acme"), "forged", 3);

/** A chain of ten entries; a forger shows four others, and the epoch after a restore that never happened. */
const whole = appendEvents(buildWorld().chain("org/acme"), "true", 9);
const forgedEnd = appendEvents(buildWorld().chain("org/acme"), "forged", 3);
const afterwards = appendEvents(
  forgedEnd.restore(4, { last_known_checkpoint: whole.checkpoint(10).note }),
  "forged",
);
const CLAIMED = forgedEnd.bundle() + afterwards.bundle();
const trueEnd = appendEvents(buildWorld().chain("org/acme"), "true", 9);
const HONEST_RESTORE = trueEnd.bundle({ size: 4 }) + appendEvents(trueEnd.restore(4), "after").bundle();
const LOST_REPORTS = {
  reports: [{ ...NOT_COMPARED, findings: ["RESTORED@4"] }, NOT_COMPARED],
  overall: NOT_COMPARED_OVERALL,
} as const;

const DOCUMENT_ROWS: readonly SeveralRow[] = [
  {
    name: "an answer of a new deployment beside its bundle does not make the deployment known",
    text: anew.bundle(),
    options: { known: [FIRST_ORG], proven: [anew.checkpoint(2), anew.checkpoint(4)] },
    ...OF_ANOTHER_DEPLOYMENT,
  },
  {
    name: "answers of its system chain and its audit log do not make a new deployment known either",
    text: anew.bundle(),
    options: {
      known: [FIRST_ORG],
      proven: ["sys", "org/acme/admin"].map((chain) =>
        buildWorld({ deployment: "01DEPLOYMENTTWO" }).chain(chain).checkpoint()
      ),
    },
    ...OF_ANOTHER_DEPLOYMENT,
  },
  {
    name: "an answer of a rewritten chain does not count as an older kept checkpoint",
    text: CLAIMED,
    options: {
      known: [whole.checkpoint(10)],
      proven: [forgedEnd.checkpoint(1), forgedEnd.checkpoint(3), afterwards.checkpoint(1)],
    },
    ...LOST_REPORTS,
  },
  {
    name: "an answer of a rewritten chain does not count, even if a memory has settled the lost checkpoint",
    text: CLAIMED,
    options: { known: [settled(whole.checkpoint(10))], proven: [forgedEnd.checkpoint(3)] },
    ...LOST_REPORTS,
  },
  {
    name: "an answer does not replace the comparison with a kept system chain",
    text: FORGED.bundle(),
    options: { known: [KEPT_SYSTEM], proven: [FORGED.checkpoint(2), KEPT_SYSTEM] },
    reports: [NOT_COMPARED],
    overall: NOT_COMPARED_OVERALL,
  },
  {
    name: "an answer of entries that a restore lost is not compared if nothing older was kept",
    text: CLAIMED,
    options: { proven: [whole.checkpoint(10)] },
    reports: [NOT_COMPARED, NOT_COMPARED],
    overall: NOT_COMPARED_OVERALL,
  },
  {
    name: "another answer, which is older, does not cover it: it may be the forger's",
    text: CLAIMED,
    options: { proven: [whole.checkpoint(10), forgedEnd.checkpoint(3)] },
    reports: [NOT_COMPARED, NOT_COMPARED],
    overall: NOT_COMPARED_OVERALL,
  },
  {
    name: "an older kept checkpoint that agrees covers an answer of entries that a restore lost",
    text: HONEST_RESTORE,
    options: { known: [trueEnd.checkpoint(3)], proven: [trueEnd.checkpoint(10)] },
    reports: [KEPT_INTACT, INTACT],
    overall: UNANCHORED,
  },
  {
    name: "an answer beyond an older export does not change the bundle's verdict",
    text: trueEnd.bundle({ size: 4 }),
    options: { proven: [trueEnd.checkpoint(10)] },
    reports: [INTACT],
    overall: UNANCHORED,
  },
].map((row) => ({ ...row, isOfMemory: true }));

export const SIDESTEP_ROWS: readonly SeveralRow[] = [
  ...CERTIFIED_ROWS,
  ...BEGUN_ROWS,
  ...SYSTEM_ROWS,
  ...TWICE_ROWS,
  ...DOCUMENT_ROWS,
];
