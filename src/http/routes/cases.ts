/** Cases: follow-ups on reviewers, opened, listed and brought to an end. Source: oversight-loop design, section 4. */
import * as z from "zod";
import {
  caseRequestSchema,
  caseResponseSchema,
  CASES_PAGE_DEFAULT,
  CASES_PAGE_MAX,
  casesResponseSchema,
  caseStepRequestSchema,
  type RecordedCase,
} from "../../domain/case.ts";
import { CASE_CAUSES } from "../../domain/case_states.ts";
import { operatorIdSchema } from "../../domain/interaction.ts";
import { BODY_LIMIT_BYTES } from "../../domain/limits.ts";
import { userIdSchema } from "../../domain/user.ts";
import { changeCase } from "../../operations/cases/change.ts";
import { presentOf } from "../../operations/cases/figures.ts";
import { listCases, readCase } from "../../operations/cases/list.ts";
import { namesOf } from "../../operations/cases/names.ts";
import { openCase } from "../../operations/cases/open.ts";
import type { Dependencies } from "../../operations/dependencies.ts";
import type { Route } from "../exchange.ts";
import { parseParameters, parseWith } from "../parse.ts";
import { integerParameter, recordPage } from "./parameters.ts";
import { KEYED_POST, KEYED_READ, keyFor } from "./shared.ts";

/** Names in the examples, of the form of those that a service gives. */
const CASE_OF_THE_EXAMPLE = "01CASEOFTHEEXAMPLE00000000";
const RUN_OF_THE_EXAMPLE = "01RUNOFTHEEXAMPLE000000000";

const casePathSchema = z.object({
  case_id: z.string().regex(/^[0-9A-Z]{26}$/, "must be the case_id of a case").meta({
    examples: [CASE_OF_THE_EXAMPLE],
  }),
});

/** A case as the answers about one case show it. */
async function bodyOf(dependencies: Dependencies, orgId: string, recorded: RecordedCase) {
  const { shown, owners } = await namesOf(dependencies, orgId);
  return { ...shown(recorded), owners };
}

const postCase: Route = {
  ...KEYED_POST,
  ...keyFor("act"),
  headerKeyOnly: true,
  honoursIdempotencyKey: false,
  path: "/v1/cases",
  operationId: "postCase",
  summary: "Open a case",
  description:
    "Opens a case about an operator by hand. There is one open case for each operator and cause: while one that was opened by hand is open, the call is refused. Event `CASE_OPENED`.",
  body: { schema: caseRequestSchema, limitBytes: BODY_LIMIT_BYTES },
  success: { status: 201, description: "The case.", schema: caseResponseSchema },
  errors: ["NOT_FOUND", "CONFLICT", "GONE"],
  examples: [{
    summary: "Complaints",
    body: { operator_id: "reviewer-ada", statement: "Three complaints about decisions of last week." },
  }],
  async handler({ dependencies }, { exchange, json }) {
    const request = parseWith(caseRequestSchema, json);
    const { call } = exchange;
    const made = await openCase(dependencies, exchange.caller!, { request, call });
    return { status: 201, body: await bodyOf(dependencies, exchange.caller!.orgId, made) };
  },
};

const includeField = {
  include: z.enum(["present"]).optional().meta({
    description: "`present`: besides, the operator's figures and the exercise that is open now.",
  }),
};

const listParametersSchema = z.object({
  ...recordPage,
  limit: integerParameter({ min: 1, max: CASES_PAGE_MAX, fallback: CASES_PAGE_DEFAULT }),
  operator_id: operatorIdSchema.optional(),
  state: z.enum(["open", "all"]).default("open").meta({
    description: "`open`: the cases that still need somebody, whether assigned or waiting.",
  }),
  owner: userIdSchema.optional().meta({ description: "A user_id: the cases that this user has." }),
  cause: z.enum(CASE_CAUSES).optional(),
  ...includeField,
});

const getCases: Route = {
  ...KEYED_READ,
  ...keyFor("followUp"),
  path: "/v1/cases",
  operationId: "getCases",
  summary: "The cases",
  description:
    "Returns a page of the cases with their steps, the last opened first. `next_cursor` gets the next page; it is null on the last page. A page is shorter, or empty, if few of the cases that were looked at pass the filter.",
  parameters: listParametersSchema,
  success: { status: 200, description: "A page of cases.", schema: casesResponseSchema },
  examples: [
    { summary: "Those that need somebody" },
    { summary: "The same, with the reviewers' figures and exercises now", query: { include: "present" } },
    { summary: "All of a reviewer", query: { operator_id: "reviewer-ada", state: "all" } },
  ],
  async handler({ dependencies }, { exchange, request }) {
    const { operator_id = null, state, owner = null, cause = null, limit, cursor = null, include } =
      parseParameters(
        request,
        listParametersSchema,
      );
    const { cases, next } = await listCases(dependencies, exchange.caller!, {
      filter: { operatorId: operator_id, isOpen: state === "open", owner, cause },
      limit,
      below: cursor,
    });
    const { orgId } = exchange.caller!;
    const { shown } = await namesOf(dependencies, orgId);
    const present = include === undefined ? null : await presentOf(dependencies, orgId, {
      operatorIds: cases.map((one) => one.operator_id),
      now: exchange.call.now,
    });
    return {
      status: 200,
      body: {
        cases: present === null
          ? cases.map(shown)
          : cases.map((one) => ({ ...shown(one), present: present.get(one.operator_id) ?? null })),
        count: cases.length,
        next_cursor: next === null ? null : String(next),
      },
    };
  },
};

const getParametersSchema = z.object(includeField);

const getCase: Route = {
  ...KEYED_READ,
  ...keyFor("followUp"),
  path: "/v1/cases/{case_id}",
  operationId: "getCase",
  summary: "One case",
  description: "Returns a case with its steps, each with its place on the chain.",
  pathParameters: casePathSchema,
  parameters: getParametersSchema,
  success: { status: 200, description: "The case.", schema: caseResponseSchema },
  errors: ["NOT_FOUND", "GONE"],
  examples: [
    { summary: "One", path: { case_id: CASE_OF_THE_EXAMPLE } },
    {
      summary: "The same, with the reviewer's figures and exercise now",
      path: { case_id: CASE_OF_THE_EXAMPLE },
      query: { include: "present" },
    },
  ],
  async handler({ dependencies }, { exchange, path, request }) {
    const { case_id } = parseWith(casePathSchema, path);
    const { include } = parseParameters(request, getParametersSchema);
    const { orgId } = exchange.caller!;
    const { recorded } = await readCase(dependencies, orgId, case_id);
    const body = await bodyOf(dependencies, orgId, recorded);
    if (include === undefined) return { status: 200, body };
    const { operator_id: operatorId } = recorded;
    const present = await presentOf(dependencies, orgId, {
      operatorIds: [operatorId],
      now: exchange.call.now,
    });
    return { status: 200, body: { ...body, present: present.get(operatorId) ?? null } };
  },
};

const postCaseEvent: Route = {
  ...KEYED_POST,
  ...keyFor("act"),
  headerKeyOnly: true,
  honoursIdempotencyKey: false,
  path: "/v1/cases/{case_id}/events",
  operationId: "postCaseEvent",
  summary: "Add a step to a case",
  description:
    "Assigns the case, adds a note, names an exercise that the operator was set, waits, or ends the case as done or dismissed. Steps are only added, and an ended case takes none. With `done` the operator's figures are recorded, and the effect is their difference to those at the opening. Event `CASE_CHANGED`.",
  pathParameters: casePathSchema,
  body: { schema: caseStepRequestSchema, limitBytes: BODY_LIMIT_BYTES },
  success: { status: 201, description: "The case after the step.", schema: caseResponseSchema },
  errors: ["NOT_FOUND", "CONFLICT", "GONE"],
  examples: [
    {
      summary: "A day, and nobody yet",
      path: { case_id: CASE_OF_THE_EXAMPLE },
      body: { step: "assign", owner: null, due_on: "2026-12-18" },
    },
    {
      summary: "A note",
      path: { case_id: CASE_OF_THE_EXAMPLE },
      body: { step: "note", note: "Talked to the reviewer: the queue was doubled that week." },
    },
    {
      summary: "An exercise was set",
      path: { case_id: CASE_OF_THE_EXAMPLE },
      body: { step: "exercise", run_id: RUN_OF_THE_EXAMPLE },
    },
    {
      summary: "Done",
      path: { case_id: CASE_OF_THE_EXAMPLE },
      body: { step: "done", note: "The exercise was held, and the score rose.", seen: 3 },
    },
  ],
  async handler({ dependencies }, { exchange, json, path }) {
    const { case_id: caseId } = parseWith(casePathSchema, path);
    const request = parseWith(caseStepRequestSchema, json);
    const { call } = exchange;
    const changed = await changeCase(dependencies, exchange.caller!, { caseId, request, call });
    return { status: 201, body: await bodyOf(dependencies, exchange.caller!.orgId, changed) };
  },
};

export const CASE_ROUTES: readonly Route[] = [postCase, getCases, getCase, postCaseEvent];
