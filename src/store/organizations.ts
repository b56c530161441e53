/** Reads over organizations. */
import { type CompiledQuery, type Selectable } from "kysely";
import { query } from "./database.ts";
import type { OrganizationTable } from "./schema.ts";

export type StoredOrganization = Selectable<OrganizationTable>;

/** An organization with its seal; its key's hash is shown to nobody. */
export function organizationQuery(orgId: string): CompiledQuery<StoredOrganization> {
  return query.selectFrom("organization").selectAll().where("org_id", "=", orgId).compile();
}

/** Everything that an administrator is shown of an organization; never its key's hash. */
export type OrganizationDetails = Omit<Selectable<OrganizationTable>, "key_hash" | "pepper_id" | "seal">;

const DETAILS = [
  "org_id",
  "name",
  "domain",
  "tier",
  "allowed_origins",
  "inactive_reasons",
  "inactive_since",
  "active",
  "prefix",
  "api_key_version",
  "api_key_rotated_at",
  "created_at",
] as const;

export function organizationDetailsQuery(orgId: string): CompiledQuery<OrganizationDetails> {
  return query.selectFrom("organization").select(DETAILS).where("org_id", "=", orgId).compile();
}

/** All organizations, by their ids. */
export function allOrganizationsQuery(): CompiledQuery<OrganizationDetails> {
  return query.selectFrom("organization").select(DETAILS).orderBy("org_id").compile();
}

/** Whose a key is, and which pepper it was stored under. */
export type KeyPepper = Pick<Selectable<OrganizationTable>, "org_id" | "active" | "pepper_id">;

/** All keys that there are, by their organizations' ids. */
export function keyPeppersQuery(): CompiledQuery<KeyPepper> {
  return query.selectFrom("organization").select(["org_id", "active", "pepper_id"])
    .where("key_hash", "is not", null).orderBy("org_id").compile();
}
