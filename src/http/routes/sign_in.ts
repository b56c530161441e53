/** Signing in and out, and what users do for themselves. Source: oversight-loop design, section 3. */
import * as z from "zod";
import { ServiceError } from "../../domain/errors.ts";
import { isoOrNull } from "../../domain/instant.ts";
import {
  linkRequestSchema,
  linkSchema,
  linkUseSchema,
  meSchema,
  passwordChangeSchema,
  sessionIdSchema,
  sessionsEndedSchema,
  sessionsSchema,
  signedOutSchema,
  signInRequestSchema,
} from "../../domain/user.ts";
import { limitSubject } from "../../limits/client_address.ts";
import { OidcRefused } from "../../identity/refusal.ts";
import {
  endAllSessions,
  endSession,
  listSessions,
  meBody,
  sessionBody,
} from "../../operations/users/sessions.ts";
import { readLink, useLink } from "../../operations/users/links.ts";
import { registeredPasskey } from "../../operations/users/passkeys.ts";
import { changePassword, signInWithPassword } from "../../operations/users/sign_in.ts";
import type { Route, Services } from "../exchange.ts";
import { requireOwnPage, takeCookie } from "../middleware/session.ts";
import { admitSignIn } from "../middleware/rate_limits.ts";
import { parseWith } from "../parse.ts";
import { endCeremony } from "../passkey_ceremony.ts";
import {
  attemptOf,
  FROM_ANYWHERE_ELSE,
  OWN,
  recordFailure,
  SIGNED_IN,
  signedInReply,
  SIGNING_IN,
} from "./signing_in.ts";

/** Bodies of these calls are small; nobody is known yet who sends them. */
const SMALL_BODY_BYTES = 16_384;
/** A passkey may come with certificates of its authenticator. */
const PASSKEY_BODY_BYTES = 65_536;

/** A token in an example, of the form of those that a service gives. */
const TOKEN = `usr_01USEROFTHEEXAMPLE00000000.${"0".repeat(43)}`;

const REFUSED = new ServiceError(
  "UNAUTHORIZED",
  "Signing in failed: look at the organization, the address and the password.",
);

const postSignIn: Route = {
  ...SIGNING_IN,
  path: "/v1/sign-in",
  operationId: "postSignIn",
  summary: "Sign in with a password",
  description:
    "Begins a session and sets its cookie, which pages of this service alone can use. A refusal says nothing of whether the user exists; at most 10 attempts are admitted in 15 minutes.",
  body: { schema: signInRequestSchema, limitBytes: SMALL_BODY_BYTES },
  success: SIGNED_IN,
  errors: ["UNAUTHORIZED", "FORBIDDEN", "SERVICE_UNAVAILABLE"],
  examples: [{
    summary: "A user",
    body: { email: "ada.ruiz@acme.example", password: "the password of the example" },
  }],
  async handler(services, { context, exchange, json }) {
    requireOwnPage(services, context, FROM_ANYWHERE_ELSE);
    const request = parseWith(signInRequestSchema, json);
    await admitSignIn(services, exchange, request.email);
    const outcome = await signInWithPassword(services.dependencies, {
      request,
      address: limitSubject(exchange.address),
      ...attemptOf(context, exchange),
    });
    if ("token" in outcome) return signedInReply(services, context, outcome);
    recordFailure(services, exchange, outcome);
    return await services.signInFloor.refuse(exchange, REFUSED);
  },
};

const postLink: Route = {
  ...SIGNING_IN,
  path: "/v1/sign-in/link",
  operationId: "postLink",
  summary: "See what a one-time link is for",
  description: "Says whom a one-time link is for and what it does. Nothing is used up.",
  body: { schema: linkRequestSchema, limitBytes: SMALL_BODY_BYTES },
  success: { status: 200, description: "What the link is for.", schema: linkSchema },
  errors: ["NOT_FOUND", "SERVICE_UNAVAILABLE"],
  examples: [{ summary: "An invitation", body: { token: TOKEN } }],
  async handler({ dependencies }, { exchange, json }) {
    const { token } = parseWith(linkRequestSchema, json);
    const { purpose, user, organization, expiresAt } = await readLink(dependencies, token, exchange.call);
    return {
      status: 200,
      body: {
        purpose,
        organization: { id: organization.org_id, name: organization.name },
        email: user.email,
        name: user.name,
        expires_at: isoOrNull(expiresAt),
      },
    };
  },
};

const postLinkUse: Route = {
  ...SIGNING_IN,
  path: "/v1/sign-in/link/use",
  operationId: "postLinkUse",
  summary: "Use a one-time link",
  description:
    "Sets the user's password, or a passkey in its place, if the link is for that, and begins a session. The link cannot be used again, and the user's earlier sessions end with an earlier password.",
  body: { schema: linkUseSchema, limitBytes: PASSKEY_BODY_BYTES },
  success: SIGNED_IN,
  errors: ["NOT_FOUND", "FORBIDDEN", "SERVICE_UNAVAILABLE"],
  examples: [{ summary: "An invitation", body: { token: TOKEN, password: "the password of the example" } }],
  async handler(services, { context, exchange, json }) {
    requireOwnPage(services, context, FROM_ANYWHERE_ELSE);
    const { token, password = null, passkey } = parseWith(linkUseSchema, json);
    const made = passkey === undefined ? null : {
      name: passkey.name,
      made: await registeredPasskey(passkey.registration, endCeremony(services, context)),
    };
    const signedIn = await useLink(services.dependencies, {
      token,
      password,
      passkey: made,
      ...attemptOf(context, exchange),
    });
    return signedInReply(services, context, signedIn);
  },
};

const getMe: Route = {
  ...OWN,
  method: "GET",
  path: "/v1/me",
  operationId: "getMe",
  summary: "Who is signed in",
  description: "Returns the user of the session, the role and the organization.",
  success: { status: 200, description: "The user.", schema: meSchema },
  examples: [{ summary: "Ask" }],
  handler({ dependencies }, { exchange }) {
    return { status: 200, body: meBody(dependencies, exchange.session!) };
  },
};

const postSignOut: Route = {
  ...OWN,
  method: "POST",
  path: "/v1/sign-out",
  operationId: "postSignOut",
  summary: "Sign out",
  description: "Ends the session of this call.",
  success: { status: 200, description: "The session is over.", schema: signedOutSchema },
  examples: [{ summary: "Sign out" }],
  async handler(services, { context, exchange }) {
    const { caller, row } = exchange.session!;
    const { call } = exchange;
    await endSession(services.dependencies, caller, {
      userId: caller.userId,
      sessionId: row.session_hash.toHex(),
      call,
    });
    takeCookie(services, context);
    return {
      status: 200,
      body: {
        signed_out: true,
        provider_logout_url: row.method === "oidc" ? await logoutAtProvider(services) : null,
      },
    };
  },
};

/** The address at which the browser ends its session at the provider; null if there is none, or the provider does not answer. */
async function logoutAtProvider({ identifying, log }: Services): Promise<string | null> {
  try {
    return await identifying?.oidc.endSessionUrl(null) ?? null;
  } catch (error) {
    if (!(error instanceof OidcRefused)) throw error;
    log.warn("the identity provider was not asked to end a session", {
      reason: error.reason,
      error: error.message,
    });
    return null;
  }
}

const getSessions: Route = {
  ...OWN,
  method: "GET",
  path: "/v1/me/sessions",
  operationId: "getSessions",
  summary: "Your sessions",
  description: "Returns the open sessions of the user, oldest first.",
  success: { status: 200, description: "The sessions.", schema: sessionsSchema },
  examples: [{ summary: "All" }],
  async handler({ dependencies }, { exchange }) {
    const { caller: { orgId, userId }, row } = exchange.session!;
    const sessions = await listSessions(dependencies, { orgId, userId, now: exchange.call.now });
    return {
      status: 200,
      body: { sessions: sessions.map((one) => sessionBody(one, row.session_hash)), count: sessions.length },
    };
  },
};

const sessionPathSchema = z.object({ session_id: sessionIdSchema });

const deleteSession: Route = {
  ...OWN,
  method: "DELETE",
  path: "/v1/me/sessions/{session_id}",
  operationId: "deleteSession",
  summary: "End one of your sessions",
  description: "Ends a session of the user, for example one on a lost computer.",
  pathParameters: sessionPathSchema,
  success: { status: 200, description: "The session is over.", schema: sessionsEndedSchema },
  errors: ["NOT_FOUND"],
  examples: [{ summary: "One", path: { session_id: "f".repeat(64) } }],
  async handler({ dependencies }, { exchange, path }) {
    const { session_id: sessionId } = parseWith(sessionPathSchema, path);
    const { caller } = exchange.session!;
    await endSession(dependencies, caller, { userId: caller.userId, sessionId, call: exchange.call });
    return { status: 200, body: { ended: 1 } };
  },
};

const deleteSessions: Route = {
  ...OWN,
  method: "DELETE",
  path: "/v1/me/sessions",
  operationId: "deleteSessions",
  summary: "Sign out everywhere",
  description: "Ends all sessions of the user, this one too.",
  success: { status: 200, description: "How many were open.", schema: sessionsEndedSchema },
  examples: [{ summary: "All" }],
  async handler(services, { context, exchange }) {
    const { caller } = exchange.session!;
    const ended = await endAllSessions(services.dependencies, caller, {
      userId: caller.userId,
      call: exchange.call,
    });
    takeCookie(services, context);
    return { status: 200, body: { ended } };
  },
};

const postPassword: Route = {
  ...OWN,
  method: "POST",
  path: "/v1/me/password",
  operationId: "postPassword",
  summary: "Change your password",
  description:
    "Replaces the user's password. All other sessions of the user end, and this one gets a new cookie.",
  body: { schema: passwordChangeSchema, limitBytes: SMALL_BODY_BYTES },
  success: SIGNED_IN,
  examples: [{
    summary: "A longer one",
    body: {
      current_password: "the password of the example",
      new_password: "a longer password of the example",
    },
  }],
  async handler(services, { context, exchange, json }) {
    const { current_password: current, new_password: next } = parseWith(passwordChangeSchema, json);
    const { caller } = exchange.session!;
    await admitSignIn(services, exchange, caller.userId);
    const attempt = attemptOf(context, exchange);
    const signedIn = await changePassword(services.dependencies, caller, { current, next, attempt });
    if (signedIn !== null) return signedInReply(services, context, signedIn);
    recordFailure(services, exchange, caller);
    const message = "is not the password in use";
    throw new ServiceError("VALIDATION_FAILED", `Change current_password: it ${message}.`, {
      details: [{ path: "current_password", message }],
    });
  },
};

export const SIGN_IN_ROUTES: readonly Route[] = [
  postSignIn,
  postLink,
  postLinkUse,
  postSignOut,
  getMe,
  getSessions,
  deleteSession,
  deleteSessions,
  postPassword,
];
