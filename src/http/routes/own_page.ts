/**
 * A reviewer's own page: the link that an officer issues, the calls of the page, which need the link and no key, and what
 * reviewers contest. Source: oversight loop, section 6.
 */
import * as z from "zod";
import { operatorIdSchema } from "../../domain/interaction.ts";
import { BODY_LIMIT_BYTES } from "../../domain/limits.ts";
import {
  contestRequestSchema,
  contestSchema,
  contestsSchema,
  ownPageSchema,
  pageLinkRequestSchema,
  pageLinkSchema,
} from "../../domain/own_page.ts";
import {
  SUBJECT_FORMATS,
  type SubjectCopy,
  type SubjectFormat,
  subjectResponseSchema,
} from "../../domain/subject.ts";
import { contest, listContests } from "../../operations/subjects/contests.ts";
import { issuePageLink, openOwnCopy, openPageLink, readOwnPage } from "../../operations/subjects/own_page.ts";
import { SUBJECT_PAGE_CSP, subjectPage } from "../../pages/subject.ts";
import { subjectJson } from "../../pages/subject_json.ts";
import type { Route } from "../exchange.ts";
import { parseParameters, parseWith, validationFailed } from "../parse.ts";
import { linkPath, operatorPathSchema, recordPage } from "./parameters.ts";
import { KEYED_POST, KEYED_READ, keyFor, OPEN } from "./shared.ts";
import type { StreamReply } from "../reply.ts";

/** A token of the form of those that a service gives. */
const TOKEN_OF_THE_EXAMPLE = "01PAGEOFTHEEXAMPLE00000000.TOKENOFTHEEXAMPLE00000";

/** A copy of everything about a reviewer, as data or as a page. */
export function copyReply(copy: SubjectCopy, format: SubjectFormat): StreamReply {
  return format === "json" ? { status: 200, pieces: subjectJson(copy), contentType: "application/json" } : {
    status: 200,
    pieces: subjectPage(copy),
    contentType: "text/html; charset=utf-8",
    policy: SUBJECT_PAGE_CSP,
  };
}

export const copyParametersSchema = z.object({
  format: z.enum(SUBJECT_FORMATS).default("json").meta({
    description: "`html` returns a page in plain words for the reviewer.",
  }),
});

const postPageLink: Route = {
  ...KEYED_POST,
  ...keyFor("act"),
  headerKeyOnly: true,
  honoursIdempotencyKey: false,
  path: "/v1/operator/{operator_id}/page-link",
  operationId: "postPageLink",
  summary: "Issue a link to a reviewer's own page",
  description:
    "Returns a link to the page on which the reviewer sees the own record and can contest it. Earlier links of the reviewer end. Nothing is sent: pass the link on; whoever has it sees the record. Event `SUBJECT_LINK_ISSUED`.",
  pathParameters: operatorPathSchema,
  body: { schema: pageLinkRequestSchema, limitBytes: BODY_LIMIT_BYTES, optional: true },
  success: { status: 201, description: "The link.", schema: pageLinkSchema },
  errors: ["NOT_FOUND"],
  examples: [{
    summary: "For a week",
    path: { operator_id: "reviewer-ada" },
    body: { reason: "The reviewer asked for the record" },
  }],
  async handler({ dependencies, description }, { exchange, json, path }) {
    const { operator_id: operatorId } = parseWith(operatorPathSchema, path);
    const { reason, expires_hours: expiresHours } = parseWith(
      pageLinkRequestSchema,
      json === undefined ? {} : json,
    );
    if (reason === null && exchange.pseudonyms !== null) {
      throw validationFailed([{
        path: "reason",
        message: "must be given: the answer tells who the reviewer is",
      }]);
    }
    const { token, expiresAt } = await issuePageLink(dependencies, exchange.caller!, {
      operatorId,
      reason,
      expiresHours,
      call: exchange.call,
    });
    return {
      status: 201,
      body: { name: operatorId, link: `${description.baseUrl()}/me/${token}`, expires_at: expiresAt },
    };
  },
};

const tokenPathSchema = linkPath(TOKEN_OF_THE_EXAMPLE);

const getOwnPage: Route = {
  ...OPEN,
  method: "GET",
  path: "/me/{token}/state",
  operationId: "getOwnPage",
  summary: "What a reviewer's own page shows",
  description:
    "Returns the reviewer's score with its interval, the newest records with what they moved, exercises, contests, and what the law wants said.",
  layer1: true,
  pathParameters: tokenPathSchema,
  success: { status: 200, description: "The state of the page.", schema: ownPageSchema },
  errors: ["NOT_FOUND", "GONE"],
  examples: [{ summary: "A link", path: { token: TOKEN_OF_THE_EXAMPLE } }],
  async handler({ dependencies }, { exchange, path }) {
    const { token } = parseWith(tokenPathSchema, path);
    exchange.headers.set("Cache-Control", "no-store");
    return { status: 200, body: { ...await readOwnPage(dependencies, token, exchange.call) } };
  },
};

const getOwnCopy: Route = {
  ...OPEN,
  method: "GET",
  path: "/me/{token}/copy",
  operationId: "getOwnCopy",
  summary: "Everything about the reviewer of a link",
  description: "Returns the same copy as `GET /v1/operator/{operator_id}/export`. Event `SUBJECT_ACCESS`.",
  layer1: true,
  pathParameters: tokenPathSchema,
  parameters: copyParametersSchema,
  success: {
    status: 200,
    description: "The copy, or with format=html a page in plain words.",
    schema: subjectResponseSchema,
    otherTypes: ["text/html; charset=utf-8"],
  },
  errors: ["NOT_FOUND", "GONE", "SERVICE_UNAVAILABLE"],
  examples: [{ summary: "As a page", path: { token: TOKEN_OF_THE_EXAMPLE }, query: { format: "html" } }],
  async handler({ dependencies }, { exchange, path, request }) {
    const { token } = parseWith(tokenPathSchema, path);
    const { format } = parseParameters(request, copyParametersSchema);
    exchange.headers.set("Cache-Control", "no-store");
    return copyReply(await openOwnCopy(dependencies, { token, format, call: exchange.call }), format);
  },
};

const postContest: Route = {
  ...OPEN,
  method: "POST",
  path: "/me/{token}/contests",
  operationId: "postContest",
  summary: "Contest a score",
  description:
    "Records, as the entry `SCORE_CONTESTED` of the evidence chain, that the reviewer finds a score, a decision or the whole record wrong, and why. It changes no score. The same contest again changes nothing; a link takes 20.",
  layer1: true,
  pathParameters: tokenPathSchema,
  body: { schema: contestRequestSchema, limitBytes: BODY_LIMIT_BYTES },
  success: { status: 201, description: "The contest, and its place on the chain.", schema: contestSchema },
  errors: ["NOT_FOUND", "GONE", "CONFLICT", "SERVICE_UNAVAILABLE"],
  examples: [{
    summary: "One score",
    path: { token: TOKEN_OF_THE_EXAMPLE },
    body: {
      record_id: "case-2026-000123",
      statement: "I was called away: the time is not that of the decision.",
    },
  }],
  async handler({ dependencies }, { exchange, json, path }) {
    const { token } = parseWith(tokenPathSchema, path);
    const request = parseWith(contestRequestSchema, json);
    exchange.headers.set("Cache-Control", "no-store");
    const reviewer = await openPageLink(dependencies, token, exchange.call);
    const body = await contest(dependencies, reviewer, { request, call: exchange.call });
    return { status: 201, body: { ...body } };
  },
};

const contestsParametersSchema = z.object({ operator_id: operatorIdSchema.optional(), ...recordPage });

const getContests: Route = {
  ...KEYED_READ,
  ...keyFor("followUp"),
  path: "/v1/contests",
  operationId: "getContests",
  summary: "What reviewers contest",
  description:
    "Returns a page of the contests, the newest first. `next_cursor` gets the next page; it is null on the last page. A page is shorter, or empty, if reviewers on it were erased.",
  parameters: contestsParametersSchema,
  success: { status: 200, description: "A page of contests.", schema: contestsSchema },
  examples: [{ summary: "The newest" }, { summary: "Of a reviewer", query: { operator_id: "reviewer-ada" } }],
  async handler({ dependencies }, { exchange, request }) {
    const { operator_id = null, limit, cursor = null } = parseParameters(
      request,
      contestsParametersSchema,
    );
    const { contests, next } = await listContests(dependencies, exchange.caller!, {
      operatorId: operator_id,
      limit,
      below: cursor,
    });
    return {
      status: 200,
      body: { contests, count: contests.length, next_cursor: next === null ? null : String(next) },
    };
  },
};

export const OWN_PAGE_ROUTES: readonly Route[] = [
  postPageLink,
  getContests,
  getOwnPage,
  getOwnCopy,
  postContest,
];
