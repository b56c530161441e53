/**
 * Names of chains and what stands before them: `<log name>/<deployment id>/<family>`, and `/e2`, `/e3` … after it
 * from the second epoch on, which begins where a database was restored. Source: evidence design, section 10.
 */

const FAMILY = "sys|org/[A-Za-z0-9_-]{1,128}(?:/admin)?";
const EPOCH = "/e(?:[2-9]|[1-9][0-9]+)";
const CHAIN = new RegExp(`^(${FAMILY})(${EPOCH})?$`);

/** A log name may hold slashes: the shortest prefix of two names or more is taken, so `a/b/org/sys` is `org/sys`. */
const NAME = new RegExp(`^((?:[A-Za-z0-9._-]+/){2,}?)((?:${FAMILY})(?:${EPOCH})?|keys)$`);

/** One chain of a family: the first, and after each restore the next. */
export interface ChainName {
  /** `sys`, `org/<org_id>` or `org/<org_id>/admin`. */
  readonly family: string;
  /** From 1. */
  readonly epoch: number;
}

/** The family and the epoch of a chain; null where the text names no chain. An organization may be called `e2`. */
export function parseChain(chain: string): ChainName | null {
  const match = CHAIN.exec(chain);
  if (match === null) return null;
  const [, family, suffix] = match;
  const epoch = suffix === undefined ? 1 : Number(suffix.slice(2));
  return Number.isSafeInteger(epoch) ? { family: family!, epoch } : null;
}

/** The chain of a family's epoch, counted from 1: the first is named as the family. */
export function formatEpoch(family: string, epoch: number): string {
  return epoch === 1 ? family : `${family}/e${epoch}`;
}

/** The name that a log's keys sign as, taken apart: its prefix, and the chain (or `keys`, in certificates). */
export interface SignedName {
  /** `<log name>/<deployment id>/`. */
  readonly prefix: string;
  readonly rest: string;
}

/** Takes an origin, or the name of a rotation certificate, apart; null where it is neither. */
export function splitName(name: string): SignedName | null {
  const match = NAME.exec(name);
  return match === null ? null : { prefix: match[1]!, rest: match[2]! };
}

/** What stands before a chain in its origin; null where the origin is not this chain's. */
export function chainPrefix(origin: string, chain: string): string | null {
  const name = splitName(origin);
  return name !== null && name.rest === chain && parseChain(chain) !== null ? name.prefix : null;
}

/** Whose a family's chains are; null for the system's. */
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
