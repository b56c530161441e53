/** POST /v1/admin/org/create. */
import { createOrganizationSchema } from "../../domain/organization.ts";
import { createOrganization } from "../../operations/organizations.ts";
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
