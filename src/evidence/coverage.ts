/**
 * Whether bundles answer for what the auditor kept: each checkpoint of their family of chains must have been held
 * against them, or a kept one that is newer and was held against it on an earlier visit.
 *
 * Who holds the signing key can write another history, and then show it so that nothing of it meets a kept
 * checkpoint: removed below a retention cut, begun anew after a restore, or in a new deployment. Nothing in such a file
 * is wrong; it is only not what was kept. So what was not compared is no agreement.
 * Source: docs/evidence-format.md, section 9, "What could not be compared".
 */
import type { ClosedBundle } from "./closed_bundle.ts";
import type { Crypto } from "./crypto.ts";
import { type Concerned, KeptElsewhere, type Place, placeOf } from "./elsewhere.ts";
import { identityOf, type KeptCheckpoint, type KnownCheckpoint } from "./kept.ts";
import type { Root } from "./kept_check.ts";

/**
 * Why a kept checkpoint was not compared: the entries up to it were removed and no proof leads over the cut; it is of
 * entries that a restore lost, and nothing older was compared; it is of another epoch, from which the bundles do not
 * lead here; it is of another deployment.
 */
export const UNCOMPARED_REASONS = ["unlinkable", "restore", "epoch", "deployment"] as const;

type UncomparedReason = (typeof UNCOMPARED_REASONS)[number];

/** A kept checkpoint that a bundle does not answer for. */
export interface Uncompared {
  readonly why: UncomparedReason;
  readonly checkpoint: KnownCheckpoint;
}

/** What is known of chains from before, and from beside the bundles. */
export interface KeptOfAll {
  readonly known: readonly KeptCheckpoint[];
  /** Of saved documents. Where a bundle ends before one of them, the document's own verdict tells. */
  readonly documents: readonly KnownCheckpoint[];
}

interface Kept extends Place, Concerned {
  readonly identity: string;
  readonly isSettled: boolean;
  readonly isDocument: boolean;
  /** What bundles that do not answer for it are told, made once for all of them. */
  readonly uncompared: Readonly<Record<UncomparedReason, Uncompared>>;
}

/** What is known of all chains, to ask bundles for. */
export class Coverage {
  readonly #kept: readonly Kept[];
  readonly #byFamily: ReadonlyMap<string, readonly Kept[]>;
  readonly #elsewhere: KeptElsewhere;

  constructor(crypto: Crypto, { known, documents }: KeptOfAll) {
    this.#kept = [
      ...placed(known, { isDocument: false }),
      ...placed(documents, { isDocument: true }),
    ];
    this.#byFamily = Map.groupBy(this.#kept, ({ family }) => family);
    this.#elsewhere = new KeptElsewhere(crypto, this.#kept);
  }

  /** Whether nothing is known that a bundle would have to answer for. */
  get isOfNothing(): boolean {
    return this.#kept.length === 0;
  }

  /** What was kept of another deployment that a bundle's signers signed; null too where its own family is known. */
  keptElsewhere(
    { origin, signers }: { readonly origin: string; readonly signers: readonly Uint8Array[] },
  ): KnownCheckpoint | null {
    const place = placeOf(origin);
    if (place === null || this.#byFamily.has(place.family)) return null;
    return this.#elsewhere.find({ place, keys: signers });
  }

  /** Tells each sound bundle what it does not answer for. Once, when all else is settled. */
  settle(bundles: readonly ClosedBundle[]): void {
    if (this.isOfNothing) return;
    const names = new RootNames();
    const sound = bundles.filter(({ isSound }) => isSound);
    // A chain's own bundle with which something is wrong has a verdict that tells more.
    const told = new Set(bundles.filter(({ isSound }) => !isSound).map(({ origin }) => origin));
    const identities = new Set(this.#kept.map(({ identity }) => identity));
    for (const line of linesOf(sound, names)) {
      const family = placeOf(line[0]!.origin)?.family;
      const own = family === undefined ? undefined : this.#byFamily.get(family);
      if (own === undefined) {
        for (const bundle of line) tellElsewhere(bundle);
        continue;
      }
      const agreed = agreedBy(line, { names, identities });
      const open = openOf(line, { kept: own, agreed, told });
      const isFamily = own.some(({ isDocument, identity }) => !isDocument && agreed.has(identity));
      for (const bundle of line) {
        if (open.length > 0) bundle.leavesOpen(open);
        else if (isFamily) bundle.answers();
      }
    }
  }
}

function tellElsewhere(bundle: ClosedBundle): void {
  const { keptElsewhere: checkpoint } = bundle;
  if (checkpoint !== null) bundle.leavesOpen([{ why: "deployment", checkpoint }]);
}

/** The identities of known roots, each made once: many bundles agree with the same. */
class RootNames {
  readonly #names = new Map<Root, string>();

  of(origin: string, root: Root): string {
    const known = this.#names.get(root);
    if (known !== undefined) return known;
    const name = identityOf({ origin, ...root });
    this.#names.set(root, name);
    return name;
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
    const uncompared = Object.fromEntries(
      UNCOMPARED_REASONS.map((why) => [why, { why, checkpoint }]),
    ) as Record<UncomparedReason, Uncompared>;
    return [{ ...place, checkpoint, identity, isSettled: settled.has(identity), isDocument, uncompared }];
  });
}

// ---- bundles that are one history -----------------------------------------------------------------------------

/**
 * The bundles, those together that roots prove to be of one history: a chain that goes on after a restore with the
 * one whose end it names, and two of one chain where the one has the root at which the other ends.
 */
function linesOf(
  sound: readonly ClosedBundle[],
  names: RootNames,
): readonly (readonly ClosedBundle[])[] {
  const leaders = new Map<ClosedBundle, ClosedBundle>();
  const leaderOf = (bundle: ClosedBundle): ClosedBundle => {
    let leader = bundle;
    for (let next = leaders.get(leader); next !== undefined; next = leaders.get(leader)) {
      const overNext = leaders.get(next);
      if (overNext !== undefined) leaders.set(leader, overNext);
      leader = overNext ?? next;
    }
    return leader;
  };
  const join = (one: ClosedBundle, other: ClosedBundle | undefined) => {
    if (other === undefined) return;
    const [a, b] = [leaderOf(one), leaderOf(other)];
    if (a !== b) leaders.set(a, b);
  };
  const ends = new Map<string, ClosedBundle>();
  for (const bundle of sound) {
    const { origin, size, root } = bundle;
    if (root === null) continue;
    const end = identityOf({ origin, size, root });
    join(bundle, ends.get(end));
    ends.set(end, bundle);
  }
  for (const bundle of sound) {
    const { origin, restored, agreed } = bundle;
    if (restored !== null) {
      const { previousOrigin, size, root } = restored;
      join(bundle, ends.get(`${previousOrigin}\n${size}\n${root}`));
    }
    for (const root of agreed) join(bundle, ends.get(names.of(origin, root)));
  }
  return [...Map.groupBy(sound, leaderOf).values()];
}

// ---- what they answer for ---------------------------------------------------------------------------------------

/** Of what the auditor knows, what agrees with the bundles of one history. */
function agreedBy(
  line: readonly ClosedBundle[],
  { names, identities }: { readonly names: RootNames; readonly identities: ReadonlySet<string> },
): ReadonlySet<string> {
  const agreed = new Set<string>();
  for (const bundle of line) {
    for (const root of bundle.agreed) {
      const name = names.of(bundle.origin, root);
      if (identities.has(name)) agreed.add(name);
    }
  }
  return agreed;
}

/** Of what was kept of the family, what the bundles of one history do not answer for: what to ask for. */
function openOf(
  line: readonly ClosedBundle[],
  { kept, agreed, told }: {
    readonly kept: readonly Kept[];
    readonly agreed: ReadonlySet<string>;
    /** Chains whose own verdict tells more. */
    readonly told: ReadonlySet<string>;
  },
): readonly Uncompared[] {
  /** By origin, the size at which the shortest of its bundles ends. */
  const ends = new Map<string, number>();
  for (const { origin, size } of line) ends.set(origin, Math.min(ends.get(origin) ?? Infinity, size));
  const agreeing = kept.filter(({ identity }) => agreed.has(identity));
  const oldest = mostOf(agreeing, (one, than) => isLater(than, one));
  const newest = mostOf(agreeing.filter(({ isSettled }) => isSettled), isLater);
  /** It is of more entries than the chain has, which a later one tells of, unless all is fatally wrong. */
  const isBeyond = ({ checkpoint: { origin, size } }: Kept) => size > (ends.get(origin) ?? Infinity);
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
  return [...last, ...open.filter(({ isSettled }) => !isSettled)].map((one) =>
    one.uncompared[!ends.has(one.checkpoint.origin) ? "epoch" : isBeyond(one) ? "restore" : "unlinkable"]
  );
}

/** The one before which no other goes; null of none. */
function mostOf(kept: readonly Kept[], goesBefore: (one: Kept, than: Kept) => boolean): Kept | null {
  return kept.reduce<Kept | null>((most, one) => most === null || goesBefore(one, most) ? one : most, null);
}

/** Whether a checkpoint is of a later epoch, or of the same and larger. */
function isLater(one: Kept, than: Kept): boolean {
  return one.epoch === than.epoch ? one.checkpoint.size > than.checkpoint.size : one.epoch > than.epoch;
}
