/** Reads over organizations. */
import { type CompiledQuery, type Selectable } from "kysely";
import { query } from "./database.ts";
import type { OrganizationTable } from "./schema.ts";

export type StoredOrganization = Selectable<OrganizationTable>;

/** An organization with its seal. Its key's hash must not be shown to anybody. */
export function organizationQuery(orgId: string): CompiledQuery<StoredOrganization> {
  return query.selectFrom("organization").selectAll().where("org_id", "=", orgId).compile();
}

/** Everything about an organization that an administrator may see; never its key's hash. */
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

/** An organization of a key, and the id of the pepper under which the key's hash is stored. */
export type KeyPepper = Pick<Selectable<OrganizationTable>, "org_id" | "active" | "pepper_id">;

/** The query for all organizations that have a key, ordered by id. */
export function keyPeppersQuery(): CompiledQuery<KeyPepper> {
  return query.selectFrom("organization").select(["org_id", "active", "pepper_id"])
    .where("key_hash", "is not", null).orderBy("org_id").compile();
}
