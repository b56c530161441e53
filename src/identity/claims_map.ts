/**
 * The map from a person's claims to an organization and a role: a JSON document of the administrator. The first rule
 * that matches wins. Whoever matches none does not get in.
 *
 * A claim is named by its name; by the names on the way to it, with dots between them, as in `realm_access.roles`; or by
 * a JSON pointer (RFC 6901), which begins with a slash, if a name on the way has a dot itself.
 */
import * as z from "zod";
import { type Role, ROLES } from "../domain/access.ts";
import { orgIdSchema } from "../domain/organization.ts";

const RULES_MAX = 1_000;
const CONDITIONS_MAX = 16;
const VALUES_MAX = 256;
const TEXT_LENGTH = 512;

const textSchema = z.string().min(1).max(TEXT_LENGTH);
const valueSchema = z.union([
  textSchema,
  z.boolean(),
  z.array(textSchema).min(1).max(VALUES_MAX),
], { error: "must be a text, true, false, or a list of texts" });

/** Says what is wrong with the name of a claim; null if nothing is. */
function problemOf(claim: string): string | null {
  if (claim === "" || claim.length > TEXT_LENGTH) return `must have 1 to ${TEXT_LENGTH} characters`;
  if (claim.trim() !== claim) return "must not begin or end with a space";
  if (claim.startsWith("/") && /~(?![01])/.test(claim)) return "is no JSON pointer: ~ is written ~0";
  return pathOf(claim).includes("") ? "has an empty name on the way to the claim" : null;
}

/** All of these claims must have one of their values. */
const conditionsSchema = z.unknown().superRefine((when, context) => {
  if (typeof when !== "object" || when === null) return;
  const names = Object.keys(when);
  const add = (path: readonly string[], message: string) =>
    context.addIssue({ code: "custom", path: [...path], message });
  if (names.length === 0) add([], "must have a condition: everybody would match");
  if (names.length > CONDITIONS_MAX) add([], `must have at most ${CONDITIONS_MAX} conditions`);
  for (const name of names) {
    // The schema below would leave it out, and the rule would match more people than it says.
    const problem = name === "__proto__" ? "is no name of a claim" : problemOf(name);
    if (problem !== null) add([name], problem);
  }
}).pipe(z.record(z.string(), valueSchema));

const grantShape = { organization: orgIdSchema, role: z.enum(ROLES) };

const ruleSchema = z.strictObject({
  when: conditionsSchema,
  ...grantShape,
});

/** The map. `default` is what everybody else of the provider gets; null, or left out, is nothing. */
export const claimsMapSchema = z.strictObject({
  rules: z.array(ruleSchema).max(RULES_MAX),
  default: z.strictObject(grantShape).nullable().default(null),
}).superRefine(({ rules }, context) => {
  for (const [index, rule] of rules.entries()) {
    const earlier = rules.slice(0, index).findIndex(({ when }) => implies(rule.when, when));
    if (earlier === -1) continue;
    context.addIssue({
      code: "custom",
      path: ["rules", index],
      message: `can never match: rule ${earlier + 1} matches everybody whom this one matches`,
    });
  }
});

export type ClaimsMap = z.infer<typeof claimsMapSchema>;
type Conditions = ClaimsMap["rules"][number]["when"];
type Value = Conditions[string];
type Claims = Readonly<Record<string, unknown>>;

/** An organization, and the role that a person has there. */
export interface Grant {
  readonly organization: string;
  readonly role: Role;
}

/** The organization and role of a person with these claims; null if the person does not get in. */
export function grantOf(map: ClaimsMap, claims: Claims): Grant | null {
  const found = map.rules.find(({ when }) => matches(when, claims)) ?? map.default;
  return found === null ? null : { organization: found.organization, role: found.role };
}

/**
 * Claims that the provider left out of the token and offers elsewhere (OpenID Connect Core 1.0, 5.6.2). Entra ID does so
 * with the groups of a person who has more than 200: no rule about them can match.
 */
export function leftOutClaims({ _claim_names: names }: Claims): readonly string[] {
  return typeof names === "object" && names !== null ? Object.keys(names) : [];
}

function matches(when: Conditions, claims: Claims): boolean {
  return Object.entries(when).every(([claim, value]) => {
    const present = listOf(claimAt(claims, claim));
    return listOf(value).some((one) => present.includes(one));
  });
}

/** Whether all claims that fulfil `narrow` fulfil `wide`, too. */
function implies(narrow: Conditions, wide: Conditions): boolean {
  return Object.entries(wide).every(([claim, value]) => {
    const allowed = listOf(value);
    return Object.hasOwn(narrow, claim) && listOf(narrow[claim]!).every((one) => allowed.includes(one));
  });
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [value];
}

/** The value of a claim; undefined if there is none. */
export function claimAt(claims: Claims, claim: string): unknown {
  // Names such as https://acme.example/groups are common, and have dots.
  if (Object.hasOwn(claims, claim)) return claims[claim];
  return pathOf(claim).reduce<unknown>(memberOf, claims);
}

function memberOf(value: unknown, name: string): unknown {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
  return (value as Claims)[name];
}

function pathOf(claim: string): readonly string[] {
  if (!claim.startsWith("/")) return claim.split(".");
  return claim.slice(1).split("/").map((name) => name.replaceAll("~1", "/").replaceAll("~0", "~"));
}
