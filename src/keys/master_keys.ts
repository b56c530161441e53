/**
 * Master secrets: one scope for each administrative operation, each with its own secret and, while it is being
 * rotated, the previous one. Source: specification, Master-key admin, rule 1.
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

/** Active and previous secrets of each scope; a scope without secret authenticates nobody. */
export type MasterSecrets = Readonly<Partial<Record<MasterScope, readonly string[]>>>;

/** The names, in the environment, under which a scope's secrets stand: active, previous. */
export function masterSecretNames(scope: MasterScope): readonly [active: string, previous: string] {
  return [`MASTER_ADMIN_KEY_${scope}`, `MASTER_ADMIN_KEY_${scope}_PREVIOUS`];
}

function digest(text: string): Uint8Array {
  return createHash("sha256").update(text).digest();
}

const NOTHING = digest("");

/** Whether a presented value is one of the scope's secrets, in time that tells nothing of either. */
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

/** Names that hold the same value, each pair once; every secret must be globally unique. */
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
