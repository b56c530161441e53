/** Reads over organizations. */
import { type CompiledQuery, type Selectable } from "kysely";
import { query } from "./database.ts";
import type { OrganizationTable } from "./schema.ts";

export type StoredOrganization = Pick<
  Selectable<OrganizationTable>,
  "org_id" | "name" | "domain" | "tier" | "active"
>;

/** What is shown of an organization; never its key's hash. */
export function organizationQuery(orgId: string): CompiledQuery<StoredOrganization> {
  return query.selectFrom("organization").select(["org_id", "name", "domain", "tier", "active"])
    .where("org_id", "=", orgId).compile();
}
