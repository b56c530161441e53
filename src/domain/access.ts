/**
 * This says who may make which calls: the scopes of named keys, the roles of people, and the kinds of access that the catalogue
 * gives its routes. An organization's own key may make all of these calls.
 */

/** The scopes of a named key: each allows one kind of calls. */
export const SCOPES = ["score", "read", "export", "probe"] as const;
export type Scope = (typeof SCOPES)[number];

/** The roles of a person. */
export const ROLES = ["viewer", "officer", "auditor", "admin"] as const;
export type Role = (typeof ROLES)[number];

interface AccessRule {
  /** Says what the calls do, as the end of "The call …". */
  readonly does: string;
  /** The scope that a named key needs; null if only the organization's own key may make the calls. */
  readonly scope: Scope | null;
  readonly roles: readonly Role[];
}

/** Every kind of access. */
export const ACCESS = {
  score: { does: "sends what reviewers decided, and draws probes for them", scope: "score", roles: [] },
  label: { does: "commits a score or labels it afterwards", scope: "score", roles: ["officer", "admin"] },
  team: { does: "says which team operators are in", scope: "score", roles: ["admin"] },
  read: { does: "reads figures, records and proofs", scope: "read", roles: ROLES },
  export: { does: "exports evidence or the audit log", scope: "export", roles: ["auditor", "admin"] },
  copy: {
    does: "gives an operator's own copy",
    scope: "export",
    roles: ["officer", "auditor", "admin"],
  },
  probe: { does: "seals or recalls probes", scope: "probe", roles: ["officer", "admin"] },
  act: {
    does:
      "works on cases, acknowledges alerts, sets exercises, adds case sets, and issues links to reviewers' own pages",
    scope: null,
    roles: ["officer", "admin"],
  },
  followUp: {
    does: "reads cases, alerts, and what reviewers contest",
    scope: "read",
    roles: ["officer", "auditor", "admin"],
  },
  unmask: {
    does: "tells who the reviewer of a pseudonym is",
    scope: null,
    roles: ["officer", "admin"],
  },
  administer: { does: "administers the organization", scope: null, roles: ["admin"] },
  own: { does: "acts for the organization itself", scope: null, roles: [] },
} as const satisfies Readonly<Record<string, AccessRule>>;

export type Access = keyof typeof ACCESS;

/** The grant of a caller: a person's role, or the scopes of a named key; null for an organization's own key. */
export type Grant =
  | { readonly kind: "role"; readonly role: Role }
  | { readonly kind: "scopes"; readonly scopes: readonly Scope[] }
  | null;

/** Whether a caller may make calls of a kind. */
export function isGranted(grant: Grant, access: Access): boolean {
  if (grant === null) return true;
  const { scope, roles }: AccessRule = ACCESS[access];
  return grant.kind === "role" ? roles.includes(grant.role) : scope !== null && grant.scopes.includes(scope);
}

/** Who may make calls of a kind, in words. */
export function grantedTo(access: Access): string {
  const { scope, roles }: AccessRule = ACCESS[access];
  const keys = scope === null
    ? "the organization's own key"
    : `the organization's own key or a named key with the scope ${scope}`;
  return roles.length === 0 ? keys : `${keys}, or a person who is ${listInWords(roles)}`;
}

function listInWords(roles: readonly Role[]): string {
  const named = roles.map((role) => `${/^[aeiou]/.test(role) ? "an" : "a"} ${role}`);
  return named.length < 2 ? named.join("") : `${named.slice(0, -1).join(", ")} or ${named.at(-1)}`;
}
