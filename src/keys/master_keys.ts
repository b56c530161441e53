/**
 * Master secrets: one scope for each administrative operation. Each scope has its own secret and, during its
 * rotation, the previous one. Source: specification, Master-key admin, rule 1.
 */
import { createHash, timingSafeEqual } from "node:crypto";

export const MASTER_SCOPES = [
  "ORG_CREATE",
  "BILLING_SUSPEND",
  "BILLING_ROTATE",
  "ORG_USAGE_READ",
  "ORG_SUSPEND",
  "ORG_REACTIVATE",
  "ORG_FORCE_ROTATE",
  "ORG_FORCE_REVOKE",
  "ALERT_ACK",
] as const;
export type MasterScope = (typeof MASTER_SCOPES)[number];

/** The active and the previous secret of each scope. A scope without a secret authenticates nobody. */
export type MasterSecrets = Readonly<Partial<Record<MasterScope, readonly string[]>>>;

/** The environment variables of a scope's active and previous secret. */
export function masterSecretNames(scope: MasterScope): readonly [active: string, previous: string] {
  return [`MASTER_ADMIN_KEY_${scope}`, `MASTER_ADMIN_KEY_${scope}_PREVIOUS`];
}

function digest(text: string): Uint8Array {
  return createHash("sha256").update(text).digest();
}

const NOTHING = digest("");

/**
 * Whether a presented value is one of the scope's secrets. The time that this takes reveals nothing about
 * either.
 */
export function verifyMasterKey(
  presented: string | undefined,
  { secrets, scope }: { readonly secrets: MasterSecrets; readonly scope: MasterScope },
): boolean {
  const offered = digest(presented ?? "");
  const [active, previous] = secrets[scope] ?? [];
  let matches = false;
  for (const secret of [active, previous]) {
    const same = timingSafeEqual(offered, secret === undefined ? NOTHING : digest(secret));
    matches = (same && secret !== undefined) || matches;
  }
  return matches;
}

/** Pairs of names that hold the same value, each pair once. Every secret must be globally unique. */
export function sharedSecrets(
  named: readonly { readonly name: string; readonly value: string }[],
): readonly (readonly [string, string])[] {
  const pairs: (readonly [string, string])[] = [];
  const first = new Map<string, string>();
  for (const { name, value } of named) {
    const holder = first.get(value);
    if (holder === undefined) first.set(value, name);
    else pairs.push([holder, name]);
  }
  return pairs;
}
