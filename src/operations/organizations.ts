/**
 * Organizations and their keys: created with both chains in one write, the key shown once.
 * Source: specification, Master-key admin; contract, sections 3, 5 and 8.
 */
import { ServiceError } from "../domain/errors.ts";
import { IDEMPOTENCY_RETENTION_DAYS } from "../domain/limits.ts";
import type { CreateOrganization } from "../domain/organization.ts";
import { equalBytes } from "../evidence/crypto.ts";
import { API_KEY_RANDOM_BYTES, apiKeyPrefix, hashApiKey, mintApiKey } from "../keys/api_key.ts";
import { requestDigest } from "../keys/secrets.ts";
import { canonicalJson } from "../evidence/canonical.ts";
import { query } from "../store/database.ts";
import { idempotencyRecords, organizations, takenPrefixes } from "../store/records.ts";
import type { Need, UnitOfWork } from "../store/unit_of_work.ts";
import { draftGenesis } from "./chains.ts";
import {
  adminChain,
  type Call,
  type Caller,
  type Dependencies,
  eventDraft,
  evidenceChain,
  type OrganizationCaller,
} from "./dependencies.ts";

const DAY_MS = 86_400_000;
/** Prefixes have 20 random bits; one of so many is free unless nearly all are taken. */
const KEY_CANDIDATES = 16;

export const KEY_WARNING =
  "Store this key now: it is shown only once and cannot be recovered, only replaced by rotation.";

/** What makes a master call safe to repeat. */
export interface IdempotentCall {
  /** Method and concrete path. */
  readonly endpoint: string;
  readonly key: string;
}

/** The answer to a master call; a repeated one holds no key. */
export interface ProvisioningAnswer {
  readonly status: number;
  readonly body: Record<string, unknown>;
  readonly replayed: boolean;
}

export interface CreateOrganizationOptions {
  readonly organization: CreateOrganization;
  readonly call: Call;
  /** The master scope under which it is done, for the audit detail; null for the administrator's own hands. */
  readonly scope: string | null;
  readonly idempotency: IdempotentCall | null;
  /** A key that the administrator brought; null mints one. */
  readonly apiKey: string | null;
}

/**
 * Creates an organization, its key and both of its chains.
 * @throws {ServiceError} CONFLICT where the id exists; IDEMPOTENCY_KEY_REUSED; SERVICE_UNAVAILABLE.
 */
export async function createOrganization(
  dependencies: Dependencies,
  caller: Caller,
  { organization, call, scope, idempotency, apiKey }: CreateOrganizationOptions,
): Promise<ProvisioningAnswer> {
  const { world, writer, auditRetentionDays, evidenceRetentionDays } = dependencies;
  const { now } = call;
  const { org_id } = organization;
  const keys = apiKey === null ? mintCandidates(dependencies) : [apiKey];
  // A chain starts with the key in use, also where nothing was written since it came in.
  await dependencies.signing.refresh();
  const geneses = [
    draftGenesis(dependencies, {
      family: evidenceChain(org_id),
      orgId: org_id,
      retentionDays: evidenceRetentionDays,
      now,
    }),
    draftGenesis(dependencies, {
      family: adminChain(org_id),
      orgId: org_id,
      retentionDays: auditRetentionDays,
      now,
    }),
  ];
  const created = eventDraft(world, {
    type: "ORG_CREATED",
    caller: { ...caller, orgId: org_id },
    now,
    detail: { scope, name: organization.name, domain: organization.domain, tier: organization.tier },
  });
  const digest = idempotency && digestOf(dependencies, { idempotency, request: { ...organization } });

  return await writer.submit<ProvisioningAnswer>({
    needs: [
      { kind: organizations, key: [org_id] },
      ...prefixNeeds(keys),
      ...(idempotency ? [{ kind: idempotencyRecords, key: [idempotency.endpoint, idempotency.key] }] : []),
    ],
    chains: [evidenceChain(org_id), adminChain(org_id)],
    plan(unit) {
      const repeated = idempotency && digest && findRepeated(unit, { idempotency, digest, now });
      if (repeated) return () => repeated;
      if (unit.get(organizations, [org_id]) !== null) {
        throw new ServiceError("CONFLICT", `org_id ${org_id} exists: choose another one.`);
      }
      const key = firstFree(unit, keys);
      const prefix = apiKeyPrefix(key);
      unit.put(organizations, {
        org_id,
        name: organization.name,
        domain: organization.domain,
        tier: organization.tier,
        allowed_origins: organization.allowed_origins.join(" "),
        inactive_reasons: "[]",
        prefix,
        key_hash: hashApiKey(key, dependencies.peppers[0]!),
        api_key_version: 1,
        api_key_rotated_at: null,
        created_at: now,
      });
      unit.put(takenPrefixes, { prefix });
      for (const origin of organization.allowed_origins) {
        unit.execute(query.insertInto("organization_origin").values({ origin, org_id }).compile());
      }
      for (const genesis of geneses) genesis.open(unit);
      unit.append(adminChain(org_id), { ...created, prefix });
      if (idempotency && digest) {
        rememberAnswer(unit, {
          idempotency,
          digest,
          now,
          status: 201,
          body: { prefix, already_provisioned: true },
        });
      }
      const body = {
        org_id,
        api_key: key,
        prefix,
        created_at: new Date(now).toISOString(),
        warning: KEY_WARNING,
      };
      return () => ({ status: 201, body, replayed: false });
    },
  });
}

export async function organizationExists(
  { database }: Pick<Dependencies, "database">,
  orgId: string,
): Promise<boolean> {
  const rows = await database.read(
    query.selectFrom("organization").select("org_id").where("org_id", "=", orgId).compile(),
  );
  return rows.length > 0;
}

/** Mints a new key for an organization; the old one stops working with the commit. */
export async function rotateKey(
  dependencies: Dependencies,
  caller: OrganizationCaller,
  { now }: Pick<Call, "now">,
): Promise<{ readonly apiKey: string; readonly prefix: string }> {
  const { world, writer, peppers } = dependencies;
  const { orgId } = caller;
  const keys = mintCandidates(dependencies);
  const draft = eventDraft(world, { type: "KEY_ROTATED", caller, now, detail: {} });
  return await writer.submit({
    needs: [{ kind: organizations, key: [orgId] }, ...prefixNeeds(keys)],
    chains: [adminChain(orgId)],
    plan(unit) {
      const row = unit.get(organizations, [orgId]);
      if (row === null) throw new ServiceError("NOT_FOUND", `There is no organization ${orgId}.`);
      const apiKey = firstFree(unit, keys);
      const prefix = apiKeyPrefix(apiKey);
      unit.put(organizations, {
        ...row,
        prefix,
        key_hash: hashApiKey(apiKey, peppers[0]!),
        api_key_version: row.api_key_version + 1,
        api_key_rotated_at: now,
      });
      unit.put(takenPrefixes, { prefix });
      unit.append(adminChain(orgId), { ...draft, prefix });
      return () => ({ apiKey, prefix });
    },
  });
}

function mintCandidates({ world }: Dependencies): readonly string[] {
  return Array.from({ length: KEY_CANDIDATES }, () => mintApiKey(world.random(API_KEY_RANDOM_BYTES)));
}

function prefixNeeds(keys: readonly string[]): readonly Need[] {
  return keys.map((key) => ({ kind: takenPrefixes, key: [apiKeyPrefix(key)] }));
}

function firstFree(unit: UnitOfWork, keys: readonly string[]): string {
  const free = keys.find((key) => unit.get(takenPrefixes, [apiKeyPrefix(key)]) === null);
  if (free === undefined) {
    throw new ServiceError(
      "CONFLICT",
      "The key's first 8 characters are another organization's: use another key.",
    );
  }
  return free;
}

interface Remembered {
  readonly idempotency: IdempotentCall;
  readonly digest: Uint8Array;
  readonly now: number;
}

/** Over the validated request: unknown fields do not make it another one. */
function digestOf(
  { installation }: Dependencies,
  { idempotency: { endpoint }, request }: { readonly idempotency: IdempotentCall; readonly request: unknown },
): Uint8Array {
  return requestDigest(installation.key, canonicalJson({ kind: "idempotent", endpoint, request }));
}

/** The remembered answer of a master call that this one repeats, or null. */
function findRepeated(unit: UnitOfWork, { idempotency, digest, now }: Remembered): ProvisioningAnswer | null {
  const row = unit.get(idempotencyRecords, [idempotency.endpoint, idempotency.key]);
  if (row === null || now - row.created_at >= IDEMPOTENCY_RETENTION_DAYS * DAY_MS) return null;
  if (!equalBytes(row.request_digest, digest)) {
    throw new ServiceError(
      "IDEMPOTENCY_KEY_REUSED",
      "This Idempotency-Key was used with a different body: use a new key for a new request.",
    );
  }
  return { status: row.status, body: JSON.parse(row.body), replayed: true };
}

function rememberAnswer(
  unit: UnitOfWork,
  { idempotency, digest, now, status, body }: Remembered & {
    readonly status: number;
    /** Without any key. */
    readonly body: Record<string, unknown>;
  },
): void {
  unit.put(idempotencyRecords, {
    endpoint: idempotency.endpoint,
    idempotency_key: idempotency.key,
    request_digest: digest,
    status,
    body: JSON.stringify(body),
    created_at: now,
  });
}
