/**
 * Creates organizations: the organization, its key and both of its chains in one write; the key is shown
 * once.
 * Source: specification, Master-key admin; contract, sections 3, 5 and 8.
 */
import type { RetentionDays } from "../shared/deployment.ts";
import type { Proving, Secrets, Writing } from "../shared/capabilities.ts";
import { ServiceError } from "../../domain/errors.ts";
import type { CreateOrganization } from "../../domain/organization.ts";
import { insertOrigin } from "../../store/organizations.ts";
import { organizations } from "../../store/records.ts";
import { draftGenesis, type Genesis } from "../chains/chains.ts";
import { eventDraft } from "../shared/drafts.ts";
import type { Call, Caller } from "../shared/call.ts";
import { adminChain, evidenceChain } from "../../evidence/chain_name.ts";
import { IdempotencyRecord, type IdempotentCall, type MasterAnswer } from "../shared/idempotency.ts";
import { KEY_WARNING, KeyIssue } from "./key_issue.ts";

/** The dependencies of these operations. */
type Needs = Proving & Writing & RetentionDays & Pick<Secrets, "peppers" | "mintKey">;

export interface CreateOrganizationOptions {
  readonly organization: CreateOrganization;
  readonly call: Call;
  /** The master scope of the call, for the audit detail; null for the administrator's own command. */
  readonly scope: string | null;
  readonly idempotency: IdempotentCall | null;
  /** A key that the administrator brought; null mints one. */
  readonly apiKey: string | null;
}

/**
 * Creates an organization, its key and both of its chains.
 * @throws {ServiceError} CONFLICT if the id exists; IDEMPOTENCY_KEY_REUSED; SERVICE_UNAVAILABLE.
 */
export async function createOrganization(
  dependencies: Needs,
  caller: Caller,
  { organization, call, scope, idempotency, apiKey }: CreateOrganizationOptions,
): Promise<MasterAnswer> {
  const { world, writer } = dependencies;
  const { now } = call;
  const { org_id } = organization;
  const issue = new KeyIssue(dependencies, apiKey);
  // A chain starts with the key in use, even if nothing was written since that key was taken in.
  await dependencies.signing.refresh();
  const geneses = draftGeneses(dependencies, { orgId: org_id, now });
  const created = eventDraft(world, {
    type: "ORG_CREATED",
    caller: { ...caller, orgId: org_id },
    now,
    detail: { scope, name: organization.name, domain: organization.domain, tier: organization.tier },
  });
  const record = idempotency &&
    new IdempotencyRecord(dependencies.installation, {
      call: idempotency,
      request: { ...organization },
      now,
    });

  return await writer.submit<MasterAnswer>({
    needs: [
      { kind: organizations, key: [org_id] },
      ...issue.needs,
      ...(record ? [record.need] : []),
    ],
    chains: [evidenceChain(org_id), adminChain(org_id)],
    plan(unit) {
      const repeated = record?.findAnswer(unit) ?? null;
      if (repeated !== null) return () => repeated;
      if (unit.get(organizations, [org_id]) !== null) {
        throw new ServiceError("CONFLICT", `org_id ${org_id} exists: choose another one.`);
      }
      const { apiKey: key, prefix, stored } = issue.take(unit);
      unit.put(organizations, { ...newRow(organization, now), ...stored });
      for (const origin of organization.allowed_origins) {
        unit.execute(insertOrigin(org_id, origin));
      }
      for (const genesis of geneses) genesis.open(unit);
      unit.append(adminChain(org_id), { ...created, prefix });
      record?.remember(unit, { status: 201, body: { prefix, already_provisioned: true } });
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

/** The first entries of both chains of an organization. */
function draftGeneses(
  dependencies: Needs,
  { orgId, now }: { readonly orgId: string; readonly now: number },
): readonly Genesis[] {
  const { auditRetentionDays, evidenceRetentionDays } = dependencies;
  return [
    { family: evidenceChain(orgId), retentionDays: evidenceRetentionDays },
    { family: adminChain(orgId), retentionDays: auditRetentionDays },
  ].map((chain) => draftGenesis(dependencies, { ...chain, orgId, now }));
}

/** The row of a new organization, without its key. */
function newRow({ org_id, name, domain, tier, allowed_origins }: CreateOrganization, now: number) {
  return {
    org_id,
    name,
    domain,
    tier,
    allowed_origins: allowed_origins.join(" "),
    inactive_reasons: "[]",
    api_key_version: 1,
    api_key_rotated_at: null,
    created_at: now,
  };
}
