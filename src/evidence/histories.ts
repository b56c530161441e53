/**
 * Groups the bundles of an input into histories, as roots prove them.
 * Source: docs/verify/evidence-format.md, section 9, "What could not be compared".
 */
import type { ClosedBundle } from "./closed_bundle.ts";
import { identityOf } from "./kept.ts";
import type { Root } from "./kept_check.ts";

/** The identities of known roots. Each is computed once, because many bundles agree with the same roots. */
export class RootNames {
  readonly #names = new Map<Root, string>();

  of(origin: string, root: Root): string {
    const known = this.#names.get(root);
    if (known !== undefined) return known;
    const name = identityOf({ origin, ...root });
    this.#names.set(root, name);
    return name;
  }
}

/**
 * The bundles, grouped by the histories that roots prove. A chain after a restore joins the chain whose end
 * it names. Two bundles of one chain join if one of them has the root at which the other ends.
 */
export function historiesOf(
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
  const join = (first: ClosedBundle, second: ClosedBundle | undefined) => {
    if (second === undefined) return;
    const [a, b] = [leaderOf(first), leaderOf(second)];
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
