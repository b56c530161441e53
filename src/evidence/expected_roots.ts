/**
 * The roots for which the bundles of one history owe an answer: those that the auditor kept of their family,
 * those that saved documents prove, and those that a kept checkpoint of the system chain pins.
 * Source: docs/verify/evidence-format.md, section 9, "What could not be compared".
 */
import type { Lost, NamedRoot, Uncompared, UncomparedReason } from "./uncompared.ts";
import type { ClosedBundle } from "./closed_bundle.ts";
import type { Place } from "./other_deployments.ts";
import { identityOf, type KnownCheckpoint } from "./kept.ts";
import { hasLost, type Restored } from "./restored.ts";

/** The source of an owed root: the auditor, a saved document, or the kept system chain. */
type Source = "kept" | "document" | "anchor";

interface ExpectedRootFacts {
  readonly place: Place;
  readonly root: NamedRoot;
  readonly source: Source;
  /** The checkpoint behind the root: its own, or the kept one of the system chain that pins it. */
  readonly checkpoint: KnownCheckpoint;
  readonly isSettled: boolean;
}

/** A root for which bundles owe an answer. */
export class ExpectedRoot {
  readonly #checkpoint: KnownCheckpoint;
  readonly #uncompared = new Map<UncomparedReason, Uncompared>();
  readonly root: NamedRoot;
  readonly source: Source;
  readonly isSettled: boolean;
  readonly epoch: number;
  readonly identity: string;

  constructor({ place, root, source, checkpoint, isSettled }: ExpectedRootFacts) {
    this.#checkpoint = checkpoint;
    this.root = root;
    this.source = source;
    this.isSettled = isSettled;
    this.epoch = place.epoch;
    this.identity = identityOf(root);
  }

  /**
   * Whether the auditor kept it. A document does not count: it may come from the person who gave the bundle.
   */
  get isKept(): boolean {
    return this.source !== "document";
  }

  /** The record for bundles that do not answer for it, made once for all of them. */
  uncompared(reason: UncomparedReason): Uncompared {
    const known = this.#uncompared.get(reason);
    if (known !== undefined) return known;
    const anchor = this.source === "anchor" ? this.root : null;
    const uncompared = { reason, checkpoint: this.#checkpoint, anchor };
    this.#uncompared.set(reason, uncompared);
    return uncompared;
  }
}

/** The answer of the bundles of one history. */
export interface Answer {
  readonly open: readonly Uncompared[];
  /** null if no restore lost a kept root, no older kept root agrees, or a newer settled one stands for it. */
  readonly lost: Lost | null;
  /** Whether each epoch of which a checkpoint was kept is in the input, or recorded as lost. */
  readonly isWhole: boolean;
}

/** The extent of the bundles of one history. */
class Extent {
  /** By origin: the end of the shortest of its bundles, and the beginning of the earliest. */
  readonly #ends = new Map<string, number>();
  readonly #bases = new Map<string, number>();
  readonly #restores: readonly Restored[];

  constructor(history: readonly ClosedBundle[]) {
    for (const { origin, size, base } of history) {
      this.#ends.set(origin, Math.min(this.#ends.get(origin) ?? Infinity, size));
      this.#bases.set(origin, Math.min(this.#bases.get(origin) ?? Infinity, base));
    }
    this.#restores = history.flatMap(({ restored }) => {
      const isHere = restored !== null && this.#ends.has(restored.previousOrigin);
      return isHere ? [restored] : [];
    });
  }

  has({ origin }: NamedRoot): boolean {
    return this.#ends.has(origin);
  }

  /** Whether a root covers more entries than its chain has. */
  isBeyond({ origin, size }: NamedRoot): boolean {
    return size > (this.#ends.get(origin) ?? Infinity);
  }

  isBefore({ origin, size }: NamedRoot): boolean {
    return size < (this.#bases.get(origin) ?? 0);
  }

  /** Whether a later epoch records that a restore lost it. */
  isLost(root: NamedRoot): boolean {
    return (this.isBeyond(root) || !this.has(root)) && this.#restores.some((item) => hasLost(item, root));
  }

  /** The number of entries of its chain that were lost with it. */
  lostWith({ origin, size }: NamedRoot): number {
    return size - (this.#ends.get(origin) ?? 0);
  }
}

/**
 * Finds which owed roots of their family the bundles of one history leave open, and which ones restores lost.
 */
export function findAnswer(
  history: readonly ClosedBundle[],
  { expected, agreed, unsoundOrigins }: {
    readonly expected: readonly ExpectedRoot[];
    /** Identities of the roots that agree with these bundles. */
    readonly agreed: ReadonlySet<string>;
    /** Origins of chains with a bundle that is not sound: its own verdict says more. */
    readonly unsoundOrigins: ReadonlySet<string>;
  },
): Answer {
  const extent = new Extent(history);
  const agreeing = expected.filter(({ identity, isKept }) => isKept && agreed.has(identity));
  const oldest = firstBy(agreeing, (item, other) => isLater(other, item));
  const newest = firstBy(agreeing.filter(({ isSettled }) => isSettled), isLater);
  const isAnswered = ({ identity, source, root, ...item }: ExpectedRoot) => {
    if (agreed.has(identity)) return true;
    if (extent.isLost(root)) return oldest !== null && isLater({ root, ...item }, oldest);
    // If a document lies beyond the end of the bundle, the document's own verdict says so.
    return source === "document" && extent.isBeyond(root);
  };
  const isSuperseded = (item: ExpectedRoot) => item.isSettled && newest !== null && isLater(newest, item);
  const open = expected.filter((item) =>
    !unsoundOrigins.has(item.root.origin) && !isAnswered(item) && !isSuperseded(item)
  );
  // A settled root stands for those before it.
  const settled = open.filter(({ isSettled }) => isSettled);
  const latest = firstBy(settled, isLater);
  const last = settled.filter((item) => !isLater(latest!, item));
  return {
    open: [...last, ...open.filter(({ isSettled }) => !isSettled)].map((item) =>
      item.uncompared(reasonOf(item, extent))
    ),
    lost: lostOf(expected.filter((item) => isNewlyLost(item)), { extent, agreeing }),
    isWhole: expected.every(({ source, root }) =>
      source !== "kept" || extent.has(root) || extent.isLost(root)
    ),
  };

  function isNewlyLost(item: ExpectedRoot): boolean {
    return item.isKept && !agreed.has(item.identity) && !isSuperseded(item) && extent.isLost(item.root);
  }
}

function reasonOf({ root }: ExpectedRoot, extent: Extent): UncomparedReason {
  if (extent.isLost(root)) return "restore";
  if (!extent.has(root)) return "epoch";
  if (extent.isBeyond(root)) return "behind";
  // A root within the bundle was compared, except for an anchor that came after the bundle in the input.
  return extent.isBefore(root) ? "unlinkable" : "system";
}

function lostOf(
  lost: readonly ExpectedRoot[],
  { extent, agreeing }: { readonly extent: Extent; readonly agreeing: readonly ExpectedRoot[] },
): Lost | null {
  const [first, newest] = [firstBy(lost, (item, other) => isLater(other, item)), firstBy(lost, isLater)];
  if (first === null) return null;
  const agreed = firstBy(agreeing.filter((item) => isLater(first, item)), isLater);
  if (agreed === null) return null;
  const byChain = Map.groupBy(lost, ({ root }) => root.origin);
  const entries = [...byChain.values()].reduce(
    (sum, rootsOfChain) => sum + Math.max(...rootsOfChain.map(({ root }) => extent.lostWith(root))),
    0,
  );
  return { entries, newest: newest!.root, agreed: agreed.root };
}

type Ranked = Pick<ExpectedRoot, "epoch" | "root">;

/** The item before which no other goes; null if there is none. */
function firstBy(
  expected: readonly ExpectedRoot[],
  goesBefore: (item: ExpectedRoot, other: ExpectedRoot) => boolean,
): ExpectedRoot | null {
  return expected.reduce<ExpectedRoot | null>(
    (first, item) => first === null || goesBefore(item, first) ? item : first,
    null,
  );
}

/** Whether the root is of a later epoch, or of the same epoch and larger. */
function isLater(item: Ranked, other: Ranked): boolean {
  return item.epoch === other.epoch ? item.root.size > other.root.size : item.epoch > other.epoch;
}
