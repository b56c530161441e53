/**
 * An organization's own key: the organization replaces it or revokes it.
 * Source: specification, Self-serve admin; contract, sections 5 and 8.
 */
import * as z from "zod";
import { isoTimestamp } from "../../domain/instant.ts";
import { envelopeFields } from "../../domain/score.ts";
import { revokeOwnKey, rotateOwnKey } from "../../operations/organizations/organization_states.ts";
import type { Route } from "../exchange.ts";
import { idempotentCall } from "../idempotency_key.ts";
import { alreadyProvisionedSchema, keyPrefixSchema, keyRevokedSchema, newKeySchema } from "./key_answers.ts";
import { KEYED_POST, keyFor, selfServe } from "./shared.ts";

const keyRotatedSchema = z.object({
  new_api_key: newKeySchema,
  prefix: keyPrefixSchema,
  rotated_at: isoTimestamp,
  warning: z.string(),
  ...envelopeFields,
}).meta({ id: "KeyRotated" });

const postKeyRotation: Route = {
  ...KEYED_POST,
  ...keyFor("administer"),
  headerKeyOnly: true,
  path: "/v1/admin/key/rotate",
  operationId: "postKeyRotation",
  summary: "Replace your key",
  description: "Mints a new key, shown once. The key that made this call stops working at once.",
  body: null,
  success: {
    status: 200,
    description: "The new key. The answer to a repeated call contains only its prefix.",
    schema: z.union([keyRotatedSchema, alreadyProvisionedSchema]),
  },
  examples: [{ summary: "Replace it" }],
  async handler({ dependencies }, { context, exchange }) {
    const { call } = exchange;
    return await rotateOwnKey(dependencies, selfServe(exchange), {
      call,
      idempotency: idempotentCall(context),
    });
  },
};

const postKeyRevocation: Route = {
  ...KEYED_POST,
  ...keyFor("administer"),
  headerKeyOnly: true,
  path: "/v1/admin/key/revoke",
  operationId: "postKeyRevocation",
  summary: "Revoke your key",
  description: "Ends the organization's access. Only support or a new payment restores it.",
  body: null,
  success: { status: 200, description: "The key is destroyed.", schema: keyRevokedSchema },
  examples: [{ summary: "End it" }],
  async handler({ dependencies }, { context, exchange }) {
    const { call } = exchange;
    return await revokeOwnKey(dependencies, selfServe(exchange), {
      call,
      idempotency: idempotentCall(context),
    });
  },
};

export const OWN_KEY_ROUTES: readonly Route[] = [postKeyRotation, postKeyRevocation];
