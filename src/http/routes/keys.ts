/** An organization's named keys. Source: oversight-loop design, section 3. */
import * as z from "zod";
import { BODY_LIMIT_BYTES } from "../../domain/limits.ts";
import {
  keyIdSchema,
  namedKeyAlreadyCreatedSchema,
  namedKeyCreatedSchema,
  namedKeyRemovedSchema,
  namedKeyRequestSchema,
  namedKeysSchema,
} from "../../domain/named_key.ts";
import { createNamedKey, listNamedKeys, removeNamedKey } from "../../operations/organizations/named_keys.ts";
import type { Route } from "../exchange.ts";
import { idempotentCall } from "../idempotency_key.ts";
import { parseWith } from "../parse.ts";
import { KEYED_DELETE, KEYED_POST, KEYED_READ, keyFor, selfServe } from "./shared.ts";

const postKey: Route = {
  ...KEYED_POST,
  ...keyFor("administer"),
  headerKeyOnly: true,
  path: "/v1/keys",
  operationId: "postKey",
  summary: "Make a named key",
  description:
    "Makes a key that can do only what its scopes say, at most 50 for each organization. The key is shown once. The organization's own key stays as it is.",
  body: { schema: namedKeyRequestSchema, limitBytes: BODY_LIMIT_BYTES },
  success: {
    status: 201,
    description: "The key. The answer to a repeated call does not contain it.",
    schema: z.union([namedKeyCreatedSchema, namedKeyAlreadyCreatedSchema]),
  },
  errors: ["CONFLICT"],
  examples: [
    { summary: "For a review application", body: { name: "review desk", scopes: ["score"] } },
    {
      summary: "For an auditor, until the end of the year 2099",
      body: { name: "audit of 2099", scopes: ["read", "export"], expires_at: "2100-01-01" },
    },
  ],
  async handler({ dependencies }, { context, exchange, json }) {
    const request = parseWith(namedKeyRequestSchema, json);
    const { call } = exchange;
    const idempotency = idempotentCall(context);
    const answer = await createNamedKey(dependencies, selfServe(exchange), { request, call, idempotency });
    return { status: 201, ...answer };
  },
};

const getKeys: Route = {
  ...KEYED_READ,
  ...keyFor("administer"),
  path: "/v1/keys",
  operationId: "getKeys",
  summary: "Your named keys",
  description: "Returns the named keys, oldest first, each with its scopes and its last use.",
  success: { status: 200, description: "The keys, without the keys themselves.", schema: namedKeysSchema },
  examples: [{ summary: "All" }],
  async handler({ dependencies }, { exchange }) {
    return { status: 200, body: await listNamedKeys(dependencies, exchange.caller!) };
  },
};

const keyPathSchema = z.object({ key_id: keyIdSchema });

const deleteKey: Route = {
  ...KEYED_DELETE,
  ...keyFor("administer"),
  path: "/v1/keys/{key_id}",
  operationId: "deleteKey",
  summary: "Remove a named key",
  description: "The key is refused from now on.",
  pathParameters: keyPathSchema,
  success: { status: 200, description: "Removed.", schema: namedKeyRemovedSchema },
  errors: ["NOT_FOUND"],
  examples: [{ summary: "One", path: { key_id: "key-of-the-example" } }],
  async handler({ dependencies }, { exchange, path }) {
    const { key_id: keyId } = parseWith(keyPathSchema, path);
    const { call } = exchange;
    return { status: 200, body: await removeNamedKey(dependencies, selfServe(exchange), { keyId, call }) };
  },
};

export const KEY_ROUTES: readonly Route[] = [postKey, getKeys, deleteKey];
