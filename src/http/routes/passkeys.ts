/** Passkeys: made and removed by their users, and used to sign in. Source: Web Authentication Level 3 (W3C). */
import * as z from "zod";
import { ServiceError } from "../../domain/errors.ts";
import { passkeyIdSchema } from "../../domain/passkey.ts";
import {
  linkRequestSchema,
  newPasskeySchema,
  passkeyAddedSchema,
  passkeyCreationSchema,
  passkeyRemovedSchema,
  passkeyRequestSchema,
  passkeySignInSchema,
  passkeysSchema,
} from "../../domain/user.ts";
import { authenticationOptions } from "../../identity/passkeys.ts";
import { readLink } from "../../operations/users/links.ts";
import {
  addPasskey,
  listPasskeys,
  passkeyOptions,
  removePasskey,
  signInWithPasskey,
} from "../../operations/users/passkeys.ts";
import type { Route } from "../exchange.ts";
import { requireOwnPage } from "../middleware/session.ts";
import { parseWith } from "../parse.ts";
import { beginCeremony, endCeremony } from "../passkey_ceremony.ts";
import {
  attemptOf,
  FROM_ANYWHERE_ELSE,
  OWN,
  recordFailure,
  SIGNED_IN,
  signedInReply,
  SIGNING_IN,
} from "./signing_in.ts";

/** An attestation may have certificates. */
const PASSKEY_BODY_BYTES = 65_536;

/** Names in examples, of the form of those that only a browser and an authenticator make. */
const ID = "PASSKEYOFTHEEXAMPLE00000";
const BYTES = "BYTESOFTHEEXAMPLE".padEnd(64, "0");

const REFUSED = new ServiceError("UNAUTHORIZED", "Signing in failed: this passkey opens nothing here.");

const postPasskeyOptions: Route = {
  ...OWN,
  method: "POST",
  path: "/v1/me/passkeys/options",
  operationId: "postPasskeyOptions",
  summary: "Begin to make a passkey",
  description:
    "Returns what the browser needs to make a passkey for the user, and a cookie that the answer needs. It works for five minutes, once.",
  success: { status: 200, description: "The options.", schema: passkeyCreationSchema },
  errors: ["NOT_IMPLEMENTED"],
  examples: [{ summary: "Begin" }],
  async handler(services, { context, exchange }) {
    const { user, organization } = exchange.session!;
    const ceremony = beginCeremony(services, context);
    const options = await passkeyOptions(services.dependencies, { user, organization, ...ceremony });
    return { status: 200, body: { options } };
  },
};

const postPasskey: Route = {
  ...OWN,
  method: "POST",
  path: "/v1/me/passkeys",
  operationId: "postPasskey",
  summary: "Add a passkey",
  description: "Adds the passkey that the browser made by the options before.",
  body: { schema: newPasskeySchema, limitBytes: PASSKEY_BODY_BYTES },
  success: { status: 201, description: "The passkey.", schema: passkeyAddedSchema },
  errors: ["CONFLICT"],
  examples: [{
    summary: "A laptop",
    body: {
      name: "work laptop",
      registration: {
        id: ID,
        type: "public-key",
        response: { clientDataJSON: BYTES, attestationObject: BYTES, transports: ["internal"] },
      },
    },
  }],
  async handler(services, { context, exchange, json }) {
    const request = parseWith(newPasskeySchema, json);
    const ceremony = endCeremony(services, context);
    const { caller } = exchange.session!;
    const { call } = exchange;
    return {
      status: 201,
      body: await addPasskey(services.dependencies, caller, { request, ceremony, call }),
    };
  },
};

const getPasskeys: Route = {
  ...OWN,
  method: "GET",
  path: "/v1/me/passkeys",
  operationId: "getPasskeys",
  summary: "Your passkeys",
  description: "Returns the passkeys of the user, oldest first.",
  success: { status: 200, description: "The passkeys.", schema: passkeysSchema },
  examples: [{ summary: "All" }],
  async handler({ dependencies }, { exchange }) {
    const rows = await listPasskeys(dependencies, exchange.session!.caller);
    return { status: 200, body: { passkeys: rows, count: rows.length } };
  },
};

const passkeyPathSchema = z.object({ passkey_id: passkeyIdSchema });

const deletePasskey: Route = {
  ...OWN,
  method: "DELETE",
  path: "/v1/me/passkeys/{passkey_id}",
  operationId: "deletePasskey",
  summary: "Remove a passkey",
  description: "The passkey opens nothing from now on.",
  pathParameters: passkeyPathSchema,
  success: { status: 200, description: "Removed.", schema: passkeyRemovedSchema },
  errors: ["NOT_FOUND"],
  examples: [{ summary: "One", path: { passkey_id: ID } }],
  async handler({ dependencies }, { exchange, path }) {
    const { passkey_id: passkeyId } = parseWith(passkeyPathSchema, path);
    await removePasskey(dependencies, exchange.session!.caller, { passkeyId, call: exchange.call });
    return { status: 200, body: { deleted: true, passkey_id: passkeyId } };
  },
};

const postLinkPasskeyOptions: Route = {
  ...SIGNING_IN,
  path: "/v1/sign-in/link/passkey-options",
  operationId: "postLinkPasskeyOptions",
  summary: "Begin to make a passkey by a one-time link",
  description:
    "Returns what the browser needs to make a passkey for the link's user, and a cookie that the answer needs. Nothing of the link is used up.",
  body: { schema: linkRequestSchema, limitBytes: PASSKEY_BODY_BYTES },
  success: { status: 200, description: "The options.", schema: passkeyCreationSchema },
  errors: ["NOT_FOUND", "FORBIDDEN", "NOT_IMPLEMENTED", "SERVICE_UNAVAILABLE"],
  examples: [{
    summary: "An invitation",
    body: { token: `usr_01USEROFTHEEXAMPLE00000000.${"0".repeat(43)}` },
  }],
  async handler(services, { context, exchange, json }) {
    requireOwnPage(services, context, FROM_ANYWHERE_ELSE);
    const { token } = parseWith(linkRequestSchema, json);
    const { user, organization } = await readLink(services.dependencies, token, exchange.call);
    const ceremony = beginCeremony(services, context);
    const options = await passkeyOptions(services.dependencies, { user, organization, ...ceremony });
    return { status: 200, body: { options } };
  },
};

const postPasskeySignInOptions: Route = {
  ...SIGNING_IN,
  path: "/v1/sign-in/passkey/options",
  operationId: "postPasskeySignInOptions",
  summary: "Begin to sign in with a passkey",
  description:
    "Returns what the browser needs to ask for a passkey, the same for everybody, and a cookie that the answer needs.",
  body: null,
  success: { status: 200, description: "The options.", schema: passkeyRequestSchema },
  errors: ["FORBIDDEN", "NOT_IMPLEMENTED", "SERVICE_UNAVAILABLE"],
  examples: [{ summary: "Begin" }],
  handler(services, { context }) {
    requireOwnPage(services, context, FROM_ANYWHERE_ELSE);
    const { party: { rpId }, challenge } = beginCeremony(services, context);
    return { status: 200, body: { options: authenticationOptions({ rpId, challenge }) } };
  },
};

const postPasskeySignIn: Route = {
  ...SIGNING_IN,
  path: "/v1/sign-in/passkey",
  operationId: "postPasskeySignIn",
  summary: "Sign in with a passkey",
  description:
    "Begins a session and sets its cookie, which pages of this service alone can use. A refusal says nothing of whether the passkey exists.",
  body: { schema: passkeySignInSchema, limitBytes: PASSKEY_BODY_BYTES },
  success: SIGNED_IN,
  errors: ["UNAUTHORIZED", "FORBIDDEN", "NOT_IMPLEMENTED", "SERVICE_UNAVAILABLE"],
  examples: [{
    summary: "A passkey",
    body: {
      passkey: {
        id: ID,
        type: "public-key",
        response: { clientDataJSON: BYTES, authenticatorData: BYTES, signature: BYTES, userHandle: BYTES },
      },
    },
  }],
  async handler(services, { context, exchange, json }) {
    requireOwnPage(services, context, FROM_ANYWHERE_ELSE);
    const { passkey: answer } = parseWith(passkeySignInSchema, json);
    const ceremony = endCeremony(services, context);
    const attempt = attemptOf(context, exchange);
    const outcome = await signInWithPasskey(services.dependencies, { answer, ceremony, ...attempt });
    if ("token" in outcome) return signedInReply(services, context, outcome);
    services.log.warn("a sign-in with a passkey was refused", {
      request_id: exchange.call.requestId,
      reason: outcome.reason,
    });
    recordFailure(services, exchange, outcome);
    return await services.signInFloor.refuse(exchange, REFUSED);
  },
};

export const PASSKEY_ROUTES: readonly Route[] = [
  postPasskeySignInOptions,
  postPasskeySignIn,
  postLinkPasskeyOptions,
  postPasskeyOptions,
  postPasskey,
  getPasskeys,
  deletePasskey,
];
