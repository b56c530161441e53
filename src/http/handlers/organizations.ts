/** Organizations by master key: POST /v1/admin/org/create and GET /v1/admin/org/{org_id}/usage. */
import { createOrganizationSchema, organizationPathSchema } from "../../domain/organization.ts";
import { createOrganization } from "../../operations/organizations.ts";
import { organizationUsage } from "../../operations/usage.ts";
import type { HandlerInput, Reply, Services } from "../exchange.ts";
import { parseWith } from "../parse.ts";

export async function postOrganization(
  { dependencies }: Services,
  { context, exchange, json }: HandlerInput,
): Promise<Reply> {
  const organization = parseWith(createOrganizationSchema, json);
  return await createOrganization(dependencies, { actor: "payment-worker", orgId: null, prefix: null }, {
    organization,
    call: exchange.call,
    scope: "ORG_CREATE",
    idempotency: {
      endpoint: `${context.req.method} ${context.req.path}`,
      key: context.req.header("Idempotency-Key")!,
    },
    apiKey: null,
  });
}

export async function getUsage(
  { dependencies }: Services,
  { context, exchange }: HandlerInput,
): Promise<Reply> {
  const { org_id } = parseWith(organizationPathSchema, context.req.param());
  const body = await organizationUsage(dependencies, { orgId: org_id, now: exchange.call.now });
  return { status: 200, body };
}
