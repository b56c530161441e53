/** Reads over organizations, and the origins that they registered. */
import { type CompiledQuery, type Selectable, sql } from "kysely";
import { heldColumn } from "./chains.ts";
import { compileOnce } from "./compile_once.ts";
import { type Database, query, type Statement } from "./database.ts";
import type { OrganizationTable } from "./schema.ts";

export type StoredOrganization = Selectable<OrganizationTable>;

/** An organization with its seal. Its key's hash must not be shown to anybody. */
export function organizationQuery(orgId: string): CompiledQuery<StoredOrganization> {
  return query.selectFrom("organization").selectAll().where("org_id", "=", orgId).compile();
}

/** Whether there is an organization of this id, active or not. */
export async function organizationExists(database: Database, orgId: string): Promise<boolean> {
  const rows = await database.read(
    query.selectFrom("organization").select("org_id").where("org_id", "=", orgId).compile(),
  );
  return rows.length > 0;
}

/** An organization, with the set that the head of its audit log holds. */
export type KeyHolder = StoredOrganization & { readonly held: Uint8Array | null };

/** The organization whose API key has a prefix; null if there is none. */
export async function readKeyHolder(database: Database, prefix: string): Promise<KeyHolder | null> {
  const [row] = await database.read(keyHolderQuery({ prefix }));
  return row ?? null;
}

const keyHolderQuery = compileOnce(({ prefix }: { readonly prefix: string }) =>
  query.selectFrom("organization").selectAll().select(heldColumn("organization"))
    .where("prefix", "=", prefix).compile()
);

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

/** A key of an organization, and the id of the pepper under which the key's hash is stored. */
export interface KeyPepper extends Pick<Selectable<OrganizationTable>, "org_id" | "active" | "pepper_id"> {
  /** null for the organization's own key. */
  readonly name: string | null;
}

/** The query for all keys, ordered by their organizations' ids; an organization's own key comes first. */
export function keyPeppersQuery(): CompiledQuery<KeyPepper> {
  return query.selectFrom("organization").select([
    "org_id",
    "active",
    "pepper_id",
    sql<string | null>`null`.as("name"),
  ])
    .where("key_hash", "is not", null)
    .unionAll(
      query.selectFrom("named_key as k").innerJoin("organization as o", "o.org_id", "k.org_id")
        .select(["k.org_id", "o.active", "k.pepper_id", "k.name"]),
    )
    .orderBy("org_id").orderBy("name").compile();
}

/** The active organizations that registered an origin. */
export async function readOrganizationsOfOrigin(
  database: Database,
  origin: string,
): Promise<readonly string[]> {
  const rows = await database.read(
    query.selectFrom("organization_origin as oo")
      .innerJoin("organization as o", "o.org_id", "oo.org_id")
      .select("oo.org_id").where("oo.origin", "=", origin).where("o.active", "=", 1).compile(),
  );
  return rows.map((row) => row.org_id);
}

/** The query for the origins that an organization registered, sorted. */
export function originsQuery(orgId: string): CompiledQuery<{ readonly origin: string }> {
  return query.selectFrom("organization_origin").select("origin").where("org_id", "=", orgId)
    .orderBy("origin").compile();
}

/** Registers an origin of an organization. */
export function insertOrigin(orgId: string, origin: string): Statement {
  return query.insertInto("organization_origin").values({ origin, org_id: orgId }).compile();
}
