/**
 * Checks whether bundles answer for what the auditor kept. Each kept checkpoint of their family of chains
 * must have been compared with them. A newer kept one may stand for it, if an earlier visit compared the two.
 *
 * The holder of the signing key can write another history, and show it so that no part of it meets a kept
 * checkpoint: removed below a retention cut, begun anew after a restore, in a new deployment, or without the
 * system chain that pins it. Such a file has no error in itself. A checkpoint that was not compared does
 * not count as agreeing. Source: docs/verify/evidence-format.md, section 9, "What could not be compared".
 */
import type { Anchor } from "./anchors.ts";
import type { ClosedBundle } from "./closed_bundle.ts";
import type { Crypto } from "./crypto.ts";
import { OtherDeployments, placeOf } from "./other_deployments.ts";
import { historiesOf, RootNames } from "./histories.ts";
import { identityOf, type KeptCheckpoint, type KnownCheckpoint } from "./kept.ts";
import type { KeyHolders } from "./key_holders.ts";
import { ExpectedRoot, findAnswer } from "./expected_roots.ts";
import type { Uncompared } from "./uncompared.ts";

/** Data on chains from earlier visits, and from sources beside the bundles. */
export interface KnownRoots {
  readonly known: readonly KeptCheckpoint[];
  /**
   * Checkpoints of saved documents. Bundles have to answer for them, but they do not count as kept: a person
   * who hands over a bundle can also hand over a document of the same history. If a bundle ends before one of
   * them, the document's own verdict says so.
   */
  readonly documents: readonly KnownCheckpoint[];
  /** Holders of keys in the whole input. */
  readonly holders: KeyHolders;
}

/** The known checkpoints of all chains for which bundles have to answer. */
export class Coverage {
  /** The checkpoints that were kept, and those that documents prove, by family. */
  readonly #kept: ReadonlyMap<string, readonly ExpectedRoot[]>;
  readonly #documents: ReadonlyMap<string, readonly ExpectedRoot[]>;
  /** The anchors that kept checkpoints of system chains pin, by family. */
  readonly #pinned = new Map<string, { readonly origin: string; readonly anchor: Anchor }[]>();
  readonly #otherDeployments: OtherDeployments;

  constructor(crypto: Crypto, { known, documents, holders }: KnownRoots) {
    this.#kept = rootsByFamily(known, "kept");
    this.#documents = rootsByFamily(documents, "document");
    this.#otherDeployments = OtherDeployments.of(crypto, { kept: known, holders });
  }

  /** Whether there is no known checkpoint for which a bundle would have to answer. */
  get isEmpty(): boolean {
    return this.#kept.size === 0 && this.#documents.size === 0;
  }

  /**
   * Takes a root that a system chain anchors. If a kept checkpoint covers it, bundles have to answer for it.
   */
  pin(origin: string, anchor: Anchor): void {
    const family = anchor.pinnedBy === null ? undefined : placeOf(origin)?.family;
    if (family === undefined) return;
    const pinned = this.#pinned.get(family);
    if (pinned === undefined) this.#pinned.set(family, [{ origin, anchor }]);
    else pinned.push({ origin, anchor });
  }

  /** Tells each sound bundle what it does not answer for. Call it once, after all other settling. */
  settle(bundles: readonly ClosedBundle[]): void {
    if (this.isEmpty) return;
    const names = new RootNames();
    const sound = bundles.filter(({ isSound }) => isSound);
    // If a chain's own bundle is not sound, the verdict on that bundle says more.
    const unsoundOrigins = new Set(bundles.filter(({ isSound }) => !isSound).map(({ origin }) => origin));
    const histories = historiesOf(sound, names).map((history) => ({
      line: history,
      place: placeOf(history[0]!.origin),
    }));
    /** Prefixes of system chains in the input that agree with kept ones and give all that they anchored. */
    const systems = new Set<string>();
    const systemsFirst = histories.toSorted((a, b) => Number(isOfSystem(b)) - Number(isOfSystem(a)));
    for (const { line: history, place } of systemsFirst) {
      if (place === null) continue;
      const { family, prefix, organization } = place;
      const pinned = this.#pinnedOf(family);
      const own = this.#kept.get(family) ?? [];
      const expected = [...own, ...pinned, ...this.#documents.get(family) ?? []];
      const agreed = agreedIdentities(history, { names, expected });
      const { open, lost, isWhole } = findAnswer(history, { expected, agreed, unsoundOrigins });
      const isOfKeptFamily = own.some(({ identity }) => agreed.has(identity));
      const system = own.length > 0 || organization === null || systems.has(prefix)
        ? null
        : this.#otherDeployments.systemOf(prefix);
      const isOfKeptSystem = system === null && pinned.some(({ identity }) => agreed.has(identity));
      let isOpen = false;
      for (const bundle of history) {
        const more = [
          ...uncomparedFor("deployment", this.#otherDeployments.find({ place, keys: bundle.signers })),
          ...uncomparedFor("system", system),
        ];
        const uncompared = [...open, ...more];
        isOpen ||= uncompared.length > 0;
        if (uncompared.length > 0) bundle.setUncompared(uncompared);
        else bundle.setAnswered({ isOfKeptFamily, isOfKeptSystem, lost });
      }
      const pinsAll = isWhole && history.every(({ hidesAnchors }) => !hidesAnchors);
      if (organization === null && isOfKeptFamily && pinsAll && !isOpen) systems.add(prefix);
    }
  }

  #pinnedOf(family: string): readonly ExpectedRoot[] {
    const pinned = (this.#pinned.get(family) ?? []).flatMap(({ origin, anchor }) => {
      const [place, { size, root, pinnedBy: checkpoint }] = [placeOf(origin), anchor];
      if (place === null || checkpoint === null) return [];
      const { isSettled = false } = checkpoint;
      return [
        new ExpectedRoot({ place, root: { origin, size, root }, source: "anchor", checkpoint, isSettled }),
      ];
    });
    return [...new Map(pinned.map((item) => [item.identity, item])).values()];
  }
}

function isOfSystem({ place }: { readonly place: ReturnType<typeof placeOf> }): boolean {
  return place !== null && place.organization === null;
}

function uncomparedFor(
  reason: Uncompared["reason"],
  checkpoint: KnownCheckpoint | null,
): readonly Uncompared[] {
  return checkpoint === null ? [] : [{ reason, checkpoint, anchor: null }];
}

function rootsByFamily(
  checkpoints: readonly KeptCheckpoint[],
  source: "kept" | "document",
): ReadonlyMap<string, readonly ExpectedRoot[]> {
  const settled = new Set(checkpoints.filter((item) => item.isSettled).map(identityOf));
  const located = checkpoints.flatMap((checkpoint) => {
    const place = placeOf(checkpoint.origin);
    if (place === null) return [];
    const isSettled = settled.has(identityOf(checkpoint));
    const expected = new ExpectedRoot({ place, root: checkpoint, source, checkpoint, isSettled });
    return [{ family: place.family, owed: expected }];
  });
  const families = Map.groupBy(located, ({ family }) => family);
  return new Map(
    [...families].map(([family, items]) => [family, items.map(({ owed: expected }) => expected)]),
  );
}

/** Identities of the roots owed by a family that agree with the bundles of one history. */
function agreedIdentities(
  history: readonly ClosedBundle[],
  { names, expected }: { readonly names: RootNames; readonly expected: readonly ExpectedRoot[] },
): ReadonlySet<string> {
  const identities = new Set(expected.map(({ identity }) => identity));
  const agreed = new Set<string>();
  for (const bundle of history) {
    for (const root of bundle.agreed) {
      const name = names.of(bundle.origin, root);
      if (identities.has(name)) agreed.add(name);
    }
  }
  return agreed;
}
