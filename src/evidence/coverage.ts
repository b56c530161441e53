/**
 * Whether bundles answer for what the auditor kept: each checkpoint of their family of chains must have been held
 * against them, or a kept one that is newer and was held against it on an earlier visit.
 *
 * Who holds the signing key can write another history, and then show it so that nothing of it meets a kept
 * checkpoint: removed below a retention cut, begun anew after a restore, or in a new deployment. Nothing in such a file
 * is wrong; it is only not what was kept. So what was not compared is no agreement.
 * Source: docs/evidence-format.md, section 9, "What could not be compared".
 */
import type { BundleCheck } from "./bundle_check.ts";
import { organizationOf, parseChain, splitName } from "./chain_name.ts";
import { type Crypto, hex } from "./crypto.ts";
import { identityOf, type KeptCheckpoint, type KnownCheckpoint } from "./kept.ts";
import { parseNote, verifyNote } from "./note.ts";

/**
 * Why a kept checkpoint was not compared: the entries up to it were removed and no proof leads over the cut; it is of
 * entries that a restore lost, and nothing older was compared; it is of another epoch, from which the bundles do not
 * lead here; it is of another deployment.
 */
export const UNCOMPARED_REASONS = ["unlinkable", "restore", "epoch", "deployment"] as const;

/** A kept checkpoint that a bundle does not answer for. */
export interface Uncompared {
  readonly why: (typeof UNCOMPARED_REASONS)[number];
  readonly checkpoint: KnownCheckpoint;
}

/** What is known of chains from before, and from beside the bundles. */
export interface KeptOfAll {
  readonly known: readonly KeptCheckpoint[];
  /** Of saved documents. Where a bundle ends before one of them, the document's own verdict tells. */
  readonly documents: readonly KnownCheckpoint[];
}

/** Where a chain belongs. */
interface Place {
  /** `<log name>/<deployment id>/` */
  readonly prefix: string;
  /** Names the family among those of all deployments. */
  readonly family: string;
  /** null: the system's. */
  readonly organization: string | null;
  readonly epoch: number;
}

interface Kept extends Place {
  readonly checkpoint: KnownCheckpoint;
  readonly identity: string;
  readonly isSettled: boolean;
  readonly isDocument: boolean;
}

/** Where the chain of an origin belongs; null where it is no chain of such a log. */
export function placeOf(origin: string): Place | null {
  const name = splitName(origin);
  const chain = name && parseChain(name.rest);
  if (!name || !chain) return null;
  return {
    prefix: name.prefix,
    family: `${name.prefix}${chain.family}`,
    organization: organizationOf(chain.family),
    epoch: chain.epoch,
  };
}

/** Tells each sound bundle what it does not answer for. Once, when all else is settled. */
export function settleCoverage(
  crypto: Crypto,
  checks: readonly BundleCheck[],
  { known, documents }: KeptOfAll,
): void {
  const kept = [
    ...placed(known, { isDocument: false }),
    ...placed(documents, { isDocument: true }),
  ];
  if (kept.length === 0) return;
  const byFamily = Map.groupBy(kept, ({ family }) => family);
  const sound = checks.filter(({ isSound }) => isSound);
  // A chain's own bundle with which something is wrong has a verdict that tells more.
  const told = new Set(checks.filter(({ isSound }) => !isSound).map(({ origin }) => origin));
  for (const line of linesOf(sound)) {
    const place = placeOf(line[0]!.origin);
    if (place === null) continue;
    const own = byFamily.get(place.family);
    if (own !== undefined) {
      const agreed = agreedBy(line);
      const open = openOf(line, { kept: own, agreed, told });
      const isFamily = own.some(({ isDocument, identity }) => !isDocument && agreed.has(identity));
      for (const bundle of line) {
        if (open.length > 0) bundle.leavesOpen(open);
        else if (isFamily) bundle.answers();
      }
      continue;
    }
    for (const bundle of line) {
      const elsewhere = findElsewhere(crypto, { place, keys: bundle.signers }, kept);
      if (elsewhere !== null) bundle.leavesOpen([{ why: "deployment", checkpoint: elsewhere }]);
    }
  }
}

function placed(
  checkpoints: readonly KeptCheckpoint[],
  { isDocument }: { readonly isDocument: boolean },
): readonly Kept[] {
  const settled = new Set(checkpoints.filter((one) => one.isSettled).map(identityOf));
  return checkpoints.flatMap((checkpoint) => {
    const place = placeOf(checkpoint.origin);
    if (place === null) return [];
    const identity = identityOf(checkpoint);
    return [{ ...place, checkpoint, identity, isSettled: settled.has(identity), isDocument }];
  });
}

// ---- bundles that are one history -----------------------------------------------------------------------------

/**
 * The bundles, those together that roots prove to be of one history: a chain that goes on after a restore with the
 * one whose end it names, and two of one chain where the one has the root at which the other ends.
 */
function linesOf(sound: readonly BundleCheck[]): readonly (readonly BundleCheck[])[] {
  const leaders = new Map<BundleCheck, BundleCheck>();
  const leaderOf = (bundle: BundleCheck): BundleCheck => {
    let leader = bundle;
    while (leaders.has(leader)) leader = leaders.get(leader)!;
    if (leader !== bundle) leaders.set(bundle, leader);
    return leader;
  };
  const join = (one: BundleCheck, other: BundleCheck | undefined) => {
    if (other === undefined) return;
    const [a, b] = [leaderOf(one), leaderOf(other)];
    if (a !== b) leaders.set(a, b);
  };
  const ends = new Map<string, BundleCheck>();
  for (const bundle of sound) {
    const { origin, chain: { next: size, root } } = bundle;
    if (root === null) continue;
    const end = identityOf({ origin, size, root });
    join(bundle, ends.get(end));
    ends.set(end, bundle);
  }
  for (const bundle of sound) {
    const { origin, structure: { restored }, agreed } = bundle;
    if (restored !== null) {
      const { previous_origin, restored_size, restored_root } = restored;
      join(bundle, ends.get(`${previous_origin}\n${restored_size}\n${restored_root}`));
    }
    for (const { size, root } of agreed) join(bundle, ends.get(identityOf({ origin, size, root })));
  }
  return [...Map.groupBy(sound, leaderOf).values()];
}

// ---- what they answer for ---------------------------------------------------------------------------------------

/** What is known from elsewhere, and agrees with the bundles of one history. */
function agreedBy(line: readonly BundleCheck[]): ReadonlySet<string> {
  return new Set(
    line.flatMap(({ origin, agreed }) => agreed.map(({ size, root }) => identityOf({ origin, size, root }))),
  );
}

/** Of what was kept of the family, what the bundles of one history do not answer for: what to ask for. */
function openOf(
  line: readonly BundleCheck[],
  { kept, agreed, told }: {
    readonly kept: readonly Kept[];
    readonly agreed: ReadonlySet<string>;
    /** Chains whose own verdict tells more. */
    readonly told: ReadonlySet<string>;
  },
): readonly Uncompared[] {
  const ends = Map.groupBy(line, ({ origin }) => origin);
  const agreeing = kept.filter(({ identity }) => agreed.has(identity));
  const oldest = mostOf(agreeing, (one, than) => isLater(than, one));
  const newest = mostOf(agreeing.filter(({ isSettled }) => isSettled), isLater);
  /** It is of more entries than the chain has, which a later one tells of, unless all is fatally wrong. */
  const isBeyond = ({ checkpoint: { origin, size } }: Kept) =>
    ends.get(origin)?.some(({ chain: { next } }) => size > next) ?? false;
  const isAnswered = (one: Kept) => {
    if (agreed.has(one.identity)) return true;
    if (!isBeyond(one)) return false;
    return one.isDocument || (oldest !== null && isLater(one, oldest));
  };
  const stands = (one: Kept) => one.isSettled && newest !== null && isLater(newest, one);
  const open = kept.filter((one) => !told.has(one.checkpoint.origin) && !isAnswered(one) && !stands(one));
  // One that is settled stands for those before it.
  const settled = open.filter(({ isSettled }) => isSettled);
  const latest = mostOf(settled, isLater);
  const last = settled.filter((one) => !isLater(latest!, one));
  return [...last, ...open.filter(({ isSettled }) => !isSettled)].map((one) => ({
    why: !ends.has(one.checkpoint.origin) ? "epoch" : isBeyond(one) ? "restore" : "unlinkable",
    checkpoint: one.checkpoint,
  }));
}

/** The one before which no other goes; null of none. */
function mostOf(kept: readonly Kept[], goesBefore: (one: Kept, than: Kept) => boolean): Kept | null {
  return kept.reduce<Kept | null>((most, one) => most === null || goesBefore(one, most) ? one : most, null);
}

/** Whether a checkpoint is of a later epoch, or of the same and larger. */
function isLater(one: Kept, than: Kept): boolean {
  return one.epoch === than.epoch ? one.checkpoint.size > than.checkpoint.size : one.epoch > than.epoch;
}

/**
 * What was kept of another deployment for the same organization, signed by one of these keys; null where there is
 * none, or where this deployment is known for the organization too. The system's chain stands for every organization.
 */
export function findElsewhere(
  crypto: Crypto,
  { place: { prefix, organization }, keys }: {
    readonly place: Pick<Place, "prefix" | "organization">;
    readonly keys: readonly Uint8Array[];
  },
  kept: readonly (Pick<Place, "prefix" | "organization"> & { readonly checkpoint: KnownCheckpoint })[],
): KnownCheckpoint | null {
  const concerned = kept.filter((one) =>
    organization === null || one.organization === null || one.organization === organization
  );
  if (concerned.some((one) => one.prefix === prefix && one.organization === organization)) return null;
  const names = new Set(keys.map(hex));
  if (names.size === 0) return null;
  const found = concerned.findLast(({ prefix: other, checkpoint: { origin, note } }) =>
    other !== prefix &&
    verifyNote(crypto, parseNote(note), keys.map((publicKey) => ({ name: origin, publicKey }))) === "verified"
  );
  return found?.checkpoint ?? null;
}
