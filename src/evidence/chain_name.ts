/**
 * Names of chains and their prefixes: `<log name>/<deployment id>/<family>`, followed by `/e2`, `/e3` … from
 * the second epoch on. An epoch begins when a database is restored. Source: evidence design, section 10.
 */

const FAMILY = "sys|org/[A-Za-z0-9_-]{1,128}(?:/admin)?";
const EPOCH = "/e(?:[2-9]|[1-9][0-9]+)";
const CHAIN = new RegExp(`^(${FAMILY})(${EPOCH})?$`);

/** A log name may hold slashes: the shortest prefix of two names or more is taken, so `a/b/org/sys` is `org/sys`. */
const NAME = new RegExp(`^((?:[A-Za-z0-9._-]+/){2,}?)((?:${FAMILY})(?:${EPOCH})?|keys)$`);

/** One chain of a family: the first one, or the one after a restore. */
export interface ChainName {
  /** `sys`, `org/<org_id>` or `org/<org_id>/admin`. */
  readonly family: string;
  /** Number of the epoch, from 1. */
  readonly epoch: number;
}

/**
 * The family and the epoch of a chain; null if the text names no chain. An organization may be called `e2`.
 */
export function parseChain(chain: string): ChainName | null {
  const match = CHAIN.exec(chain);
  if (match === null) return null;
  const [, family, suffix] = match;
  const epoch = suffix === undefined ? 1 : Number(suffix.slice(2));
  return Number.isSafeInteger(epoch) ? { family: family!, epoch } : null;
}

/** The name of a family's chain in an epoch, counted from 1: the first chain has the family's name. */
export function formatEpoch(family: string, epoch: number): string {
  return epoch === 1 ? family : `${family}/e${epoch}`;
}

/** The parsed name under which a log's keys sign: its prefix, and the chain (or `keys`, in certificates). */
export interface SignedName {
  /** `<log name>/<deployment id>/`. */
  readonly prefix: string;
  readonly rest: string;
}

/** Parses an origin, or the name of a rotation certificate; null if it is neither. */
export function splitName(name: string): SignedName | null {
  const match = NAME.exec(name);
  return match === null ? null : { prefix: match[1]!, rest: match[2]! };
}

/** The prefix of a chain in its origin; null if the origin is not this chain's. */
export function chainPrefix(origin: string, chain: string): string | null {
  const name = splitName(origin);
  return name !== null && name.rest === chain && parseChain(chain) !== null ? name.prefix : null;
}

/** The id of the organization that owns a family's chains; null for the system's. */
export function organizationOf(family: string): string | null {
  return family.split("/")[1] ?? null;
}

export const SYSTEM_CHAIN = "sys";

export function evidenceChain(orgId: string): string {
  return `org/${orgId}`;
}

export function adminChain(orgId: string): string {
  return `org/${orgId}/admin`;
}

/** Whether a family holds scores and decisions; the others hold audit events. */
export function isEvidenceChain(family: string): boolean {
  return family !== SYSTEM_CHAIN && family === evidenceChain(organizationOf(family)!);
}
