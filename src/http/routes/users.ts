/** An organization's users. Source: oversight-loop design, section 3. */
import * as z from "zod";
import { isoOrNull } from "../../domain/instant.ts";
import { USER_ID } from "../../evidence/entry.ts";
import { BODY_LIMIT_BYTES, USERS_PAGE_MAX } from "../../domain/limits.ts";
import {
  sessionIdSchema,
  sessionsEndedSchema,
  sessionsSchema,
  userChangeSchema,
  userErasedSchema,
  userIdSchema,
  userInvitedSchema,
  userLinkSchema,
  userRequestSchema,
  userSchema,
  usersSchema,
} from "../../domain/user.ts";
import {
  changeUser,
  eraseUser,
  inviteUser,
  type IssuedLink,
  issueLink,
  pageOfUsers,
} from "../../operations/users/accounts.ts";
import { endAllSessions, endSession, listSessions, sessionBody } from "../../operations/users/sessions.ts";
import type { Route, Services } from "../exchange.ts";
import { parseParameters, parseWith, validationFailed } from "../parse.ts";
import { CURSOR_MESSAGE, integerParameter } from "./parameters.ts";
import { KEYED_DELETE, KEYED_POST, KEYED_READ, keyFor, selfServe } from "./shared.ts";

const userPathSchema = z.object({ user_id: userIdSchema });

/** A user in an example, of the form of those that a service gives. */
const USER = "usr_01USEROFTHEEXAMPLE00000000";
/** Another, who has signed in. */
const ADMIN = "usr_01ADMINOFTHEEXAMPLE0000000";

/** The page on which a one-time link is used; the token is in the fragment, which no server and no log sees. */
function linkAnswer({ description }: Services, { token, expiresAt }: IssuedLink) {
  return {
    link: `${description.baseUrl()}/console/link#${token}`,
    expires_at: isoOrNull(expiresAt),
  };
}

const ADMINISTER = { ...keyFor("administer"), headerKeyOnly: true } as const;

const postUser: Route = {
  ...KEYED_POST,
  ...ADMINISTER,
  honoursIdempotencyKey: false,
  path: "/v1/users",
  operationId: "postUser",
  summary: "Invite a user",
  description:
    "Adds a user and returns a one-time link, with which the user sets a password. Nothing is sent: pass the link on. It can be used for 72 hours.",
  body: { schema: userRequestSchema, limitBytes: BODY_LIMIT_BYTES },
  success: { status: 201, description: "The user and the link.", schema: userInvitedSchema },
  errors: ["CONFLICT"],
  examples: [{
    summary: "An officer",
    body: { email: "ben.okafor@acme.example", name: "Ben Okafor", role: "officer" },
  }],
  async handler(services, { exchange, json }) {
    const request = parseWith(userRequestSchema, json);
    const { user, link } = await inviteUser(services.dependencies, selfServe(exchange), {
      request,
      call: exchange.call,
    });
    return { status: 201, body: { ...user, ...linkAnswer(services, link) } };
  },
};

const usersParametersSchema = z.object({
  limit: integerParameter({ min: 1, max: USERS_PAGE_MAX, fallback: USERS_PAGE_MAX }),
  cursor: z.string().regex(USER_ID, CURSOR_MESSAGE).optional().meta({
    description: "`next_cursor` of the previous page.",
  }),
});

const getUsers: Route = {
  ...KEYED_READ,
  ...ADMINISTER,
  path: "/v1/users",
  operationId: "getUsers",
  summary: "Your users",
  description:
    "Returns a page of the organization's users, oldest first, erased ones without their names. `next_cursor` gets the next page; it is null on the last page.",
  parameters: usersParametersSchema,
  success: { status: 200, description: "A page of users.", schema: usersSchema },
  examples: [{ summary: "The first page" }, { summary: "The first twenty", query: { limit: "20" } }],
  async handler({ dependencies }, { exchange, request }) {
    const { limit, cursor: after = null } = parseParameters(request, usersParametersSchema);
    const page = await pageOfUsers(dependencies, exchange.caller!, { limit, after });
    if (page === null) throw validationFailed([{ path: "cursor", message: CURSOR_MESSAGE }]);
    const { users, next } = page;
    return { status: 200, body: { users, count: users.length, next_cursor: next } };
  },
};

const putUser: Route = {
  ...KEYED_POST,
  ...ADMINISTER,
  method: "PUT",
  honoursIdempotencyKey: false,
  path: "/v1/users/{user_id}",
  operationId: "putUser",
  summary: "Change a user",
  description:
    "Sets the name and the role, and disables or enables the user. A role counts from the user's next request on. Users cannot change their own role or disable themselves.",
  pathParameters: userPathSchema,
  body: { schema: userChangeSchema, limitBytes: BODY_LIMIT_BYTES },
  success: { status: 200, description: "The user.", schema: userSchema },
  errors: ["NOT_FOUND", "CONFLICT"],
  examples: [
    {
      summary: "Another role",
      path: { user_id: USER },
      body: { name: "Ben Okafor", role: "auditor", disabled: false },
    },
    {
      summary: "Disable",
      path: { user_id: USER },
      body: { name: "Ben Okafor", role: "auditor", disabled: true },
    },
  ],
  async handler({ dependencies }, { exchange, json, path }) {
    const { user_id: userId } = parseWith(userPathSchema, path);
    const change = parseWith(userChangeSchema, json);
    const { call } = exchange;
    const user = await changeUser(dependencies, selfServe(exchange), { userId, change, call });
    return { status: 200, body: { ...user } };
  },
};

const postUserLink: Route = {
  ...KEYED_POST,
  ...ADMINISTER,
  honoursIdempotencyKey: false,
  path: "/v1/users/{user_id}/link",
  operationId: "postUserLink",
  summary: "Issue a new one-time link",
  description:
    "Returns a link with which the user sets a new password. An earlier link ends. The present password works until the link is used.",
  body: null,
  pathParameters: userPathSchema,
  success: { status: 201, description: "The link.", schema: userLinkSchema },
  errors: ["NOT_FOUND", "CONFLICT"],
  examples: [{ summary: "A forgotten password", path: { user_id: USER } }],
  async handler(services, { exchange, path }) {
    const { user_id: userId } = parseWith(userPathSchema, path);
    const link = await issueLink(services.dependencies, selfServe(exchange), { userId, call: exchange.call });
    return { status: 201, body: { user_id: userId, ...linkAnswer(services, link) } };
  },
};

const deleteUserSessions: Route = {
  ...KEYED_DELETE,
  ...ADMINISTER,
  path: "/v1/users/{user_id}/sessions",
  operationId: "deleteUserSessions",
  summary: "Sign a user out everywhere",
  description: "Ends all sessions of the user at once.",
  pathParameters: userPathSchema,
  success: { status: 200, description: "How many were open.", schema: sessionsEndedSchema },
  errors: ["NOT_FOUND"],
  examples: [{ summary: "One user", path: { user_id: USER } }],
  async handler({ dependencies }, { exchange, path }) {
    const { user_id: userId } = parseWith(userPathSchema, path);
    const { call } = exchange;
    const ended = await endAllSessions(dependencies, selfServe(exchange), { userId, call });
    return { status: 200, body: { ended } };
  },
};

const getUserSessions: Route = {
  ...KEYED_READ,
  ...ADMINISTER,
  path: "/v1/users/{user_id}/sessions",
  operationId: "getUserSessions",
  summary: "The sessions of a user",
  description: "Returns the open sessions of a user, oldest first.",
  pathParameters: userPathSchema,
  success: { status: 200, description: "The sessions.", schema: sessionsSchema },
  errors: ["NOT_FOUND"],
  examples: [{ summary: "One user", path: { user_id: USER } }],
  async handler({ dependencies }, { exchange, path }) {
    const { user_id: userId } = parseWith(userPathSchema, path);
    const { orgId } = exchange.caller!;
    const sessions = await listSessions(dependencies, { orgId, userId, now: exchange.call.now });
    const own = exchange.session?.row.session_hash ?? null;
    return {
      status: 200,
      body: { sessions: sessions.map((one) => sessionBody(one, own)), count: sessions.length },
    };
  },
};

const userSessionPathSchema = userPathSchema.extend({ session_id: sessionIdSchema });

const deleteUserSession: Route = {
  ...KEYED_DELETE,
  ...ADMINISTER,
  path: "/v1/users/{user_id}/sessions/{session_id}",
  operationId: "deleteUserSession",
  summary: "End a session of a user",
  description: "Ends one session of a user.",
  pathParameters: userSessionPathSchema,
  success: { status: 200, description: "The session is over.", schema: sessionsEndedSchema },
  errors: ["NOT_FOUND"],
  examples: [{ summary: "One", path: { user_id: ADMIN, session_id: "f".repeat(64) } }],
  async handler({ dependencies }, { exchange, path }) {
    const { user_id: userId, session_id: sessionId } = parseWith(userSessionPathSchema, path);
    await endSession(dependencies, selfServe(exchange), { userId, sessionId, call: exchange.call });
    return { status: 200, body: { ended: 1 } };
  },
};

const deleteUser: Route = {
  ...KEYED_DELETE,
  ...ADMINISTER,
  path: "/v1/users/{user_id}",
  operationId: "deleteUser",
  summary: "Erase a user",
  description:
    "Erases the name, the address and the password, and ends all sessions. Entries keep the id, which names nobody any more.",
  pathParameters: userPathSchema,
  success: { status: 200, description: "Erased.", schema: userErasedSchema },
  errors: ["NOT_FOUND", "CONFLICT"],
  examples: [{ summary: "One user", path: { user_id: USER } }],
  async handler({ dependencies }, { exchange, path }) {
    const { user_id: userId } = parseWith(userPathSchema, path);
    await eraseUser(dependencies, selfServe(exchange), { userId, call: exchange.call });
    return { status: 200, body: { erased: true, user_id: userId } };
  },
};

export const USER_ROUTES: readonly Route[] = [
  postUser,
  getUsers,
  putUser,
  postUserLink,
  getUserSessions,
  deleteUserSession,
  deleteUserSessions,
  deleteUser,
];
