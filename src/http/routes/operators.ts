/** One operator: profile, sparkline, subject access, erasure. */
import * as z from "zod";
import { VERDICT_STATUSES } from "../../domain/enums.ts";
import { isoTimestamp } from "../../domain/instant.ts";
import { ServiceError } from "../../domain/errors.ts";
import { operatorIdSchema } from "../../domain/interaction.ts";
import { BODY_LIMIT_BYTES, SPARKLINE_DAYS_DEFAULT, SPARKLINE_DAYS_MAX } from "../../domain/limits.ts";
import { historyPointSchema, profileResponseSchema } from "../../domain/operator.ts";
import { envelopeFields, points, uncertaintySchema } from "../../domain/score.ts";
import { subjectResponseSchema, unmaskedSchema, unmaskRequestSchema } from "../../domain/subject.ts";
import { teamsRequestSchema, teamsResponseSchema } from "../../domain/team.ts";
import { evidenceSchema } from "../../evidence/envelope.ts";
import { operatorProfile, operatorSparkline } from "../../operations/reporting/operators.ts";
import { eraseOperator } from "../../operations/subjects/erasure.ts";
import { setTeams } from "../../operations/subjects/teams.ts";
import { unmask } from "../../operations/subjects/unmasking.ts";
import { openSubjectAccess } from "../../operations/subjects/subject_access.ts";
import { SPARKLINE_CSP, sparklineSvg } from "../../pages/sparkline.ts";
import type { Route } from "../exchange.ts";
import { parseParameters, parseWith } from "../parse.ts";
import { copyParametersSchema, copyReply } from "./own_page.ts";
import { integerParameter, operatorPathSchema } from "./parameters.ts";
import { KEYED_DELETE, KEYED_POST, KEYED_READ, keyFor, teamsWithheld } from "./shared.ts";

const profileParametersSchema = z.object({ include: z.enum(["projection"]).optional() });

const getProfile: Route = {
  ...KEYED_READ,
  path: "/v1/operator/{operator_id}/profile",
  operationId: "getProfile",
  summary: "An operator's profile",
  description:
    "Returns the operator's score with its interval, the seven dimensions, and the newest 100 points of the history. With include=projection it also returns the decay projection and the compliance block. Both are those of the answer to a score, read today: the projection goes on from the last interaction to today, and its days count from today.",
  pathParameters: operatorPathSchema,
  parameters: profileParametersSchema,
  success: { status: 200, description: "The profile.", schema: profileResponseSchema },
  errors: ["NOT_FOUND"],
  examples: [
    { summary: "A reviewer", path: { operator_id: "reviewer-ada" } },
    {
      summary: "With the projection",
      path: { operator_id: "reviewer-ada" },
      query: { include: "projection" },
    },
  ],
  async handler({ dependencies }, { exchange, path, request }) {
    const { operator_id } = parseWith(operatorPathSchema, path);
    const { include } = parseParameters(request, profileParametersSchema);
    const body = await operatorProfile(dependencies, exchange.caller!, {
      operatorId: operator_id,
      projection: include === "projection",
      now: exchange.call.now,
    });
    if (exchange.pseudonyms === null) return { status: 200, body };
    // The team would tell who a pseudonym is.
    return { status: 200, body: { ...body, profile: { ...body.profile, team: null } } };
  },
};

const sparklineParametersSchema = z.object({
  days: integerParameter({ min: 1, max: SPARKLINE_DAYS_MAX, fallback: SPARKLINE_DAYS_DEFAULT }),
  format: z.enum(["json", "svg"]).default("json"),
});

const sparklineResponseSchema = z.object({
  operator_id: operatorIdSchema,
  days: z.int(),
  points: z.array(historyPointSchema).meta({
    description: "The last score of each UTC day that has a score, oldest first. The window ends today.",
  }),
  min: points.nullable(),
  max: points.nullable(),
  current: points,
  trend: z.number().meta({
    description: "Recent JIS minus long-term JIS, in points; negative if the JIS declines.",
  }),
  uncertainty: uncertaintySchema,
  verdict: z.enum(VERDICT_STATUSES).nullable().meta({
    description: "The verdict now; null if the formulas of the model have none.",
  }),
  ...envelopeFields,
}).meta({ id: "Sparkline" });

const getSparkline: Route = {
  ...KEYED_READ,
  path: "/v1/operator/{operator_id}/sparkline",
  operationId: "getSparkline",
  summary: "An operator's sparkline",
  description: "Returns one point for each UTC day that has a score, as JSON or as an accessible picture.",
  pathParameters: operatorPathSchema,
  parameters: sparklineParametersSchema,
  success: {
    status: 200,
    description: "The points, or with format=svg a picture of them.",
    schema: sparklineResponseSchema,
    otherTypes: ["image/svg+xml"],
  },
  errors: ["NOT_FOUND"],
  examples: [
    { summary: "The last 90 days", path: { operator_id: "reviewer-ada" }, query: { days: "90" } },
    { summary: "As a picture", path: { operator_id: "reviewer-ada" }, query: { format: "svg" } },
  ],
  async handler({ dependencies }, { exchange, path, request }) {
    const { operator_id } = parseWith(operatorPathSchema, path);
    const { days, format } = parseParameters(request, sparklineParametersSchema);
    const { window, verdict, body } = await operatorSparkline(dependencies, exchange.caller!, {
      operatorId: operator_id,
      days,
      now: exchange.call.now,
    });
    if (format === "json") return { status: 200, body };
    const text = sparklineSvg({
      operatorId: exchange.pseudonyms?.shown(operator_id) ?? operator_id,
      days,
      points: body.points,
      uncertainty: body.uncertainty,
      verdict,
      minJis: dependencies.model.document.thresholds.min_jis,
      ...window,
    });
    return {
      status: 200,
      text,
      contentType: "image/svg+xml",
      policy: SPARKLINE_CSP,
      namesNoOperator: exchange.pseudonyms !== null,
    };
  },
};

const getSubjectAccess: Route = {
  ...KEYED_READ,
  ...keyFor("copy"),
  path: "/v1/operator/{operator_id}/export",
  operationId: "getSubjectAccess",
  summary: "Everything about a reviewer, for the reviewer",
  description:
    "Subject access: returns everything that is stored about one reviewer, each score with the causes of its change, and the information that the law requires: purposes, method, retention periods, recipients, and how to contest a score. It also works for a reviewer who was never scored and has only frozen calls or decisions. The body is streamed; a body that ends early is not a complete copy. It does not contain the keyed digests that identify repeated requests, because no data can be read from them. Each request for a copy is recorded in the audit log under the reviewer's pseudonym.",
  pathParameters: operatorPathSchema,
  parameters: copyParametersSchema,
  success: {
    status: 200,
    description: "The copy, or with format=html a page in plain words.",
    schema: subjectResponseSchema,
    otherTypes: ["text/html; charset=utf-8"],
  },
  errors: ["NOT_FOUND"],
  examples: [
    { summary: "As data", path: { operator_id: "reviewer-ada" } },
    { summary: "As a page", path: { operator_id: "reviewer-ada" }, query: { format: "html" } },
  ],
  async handler({ dependencies }, { exchange, path, request }) {
    const { operator_id } = parseWith(operatorPathSchema, path);
    const { format } = parseParameters(request, copyParametersSchema);
    if (exchange.pseudonyms !== null) {
      throw new ServiceError(
        "FORBIDDEN",
        "Reviewers are pseudonyms here, and a copy names its reviewer: give the reviewer the link to a page of the reviewer's own, or ask with a key.",
      );
    }
    const copy = await openSubjectAccess(dependencies, exchange.caller!, {
      operatorId: operator_id,
      format,
      call: exchange.call,
    });
    return copyReply(copy, format);
  },
};

/**
 * The state of the erased data's bytes: overwritten, still held by a reader, or left to the database server.
 */
const PHYSICAL_ERASURES = ["done", "pending", "server"] as const;

const erasureResponseSchema = z.object({
  erased: z.literal(true),
  operator_id: operatorIdSchema,
  erased_at: isoTimestamp,
  physical: z.enum(PHYSICAL_ERASURES).meta({
    description:
      "`done`: the bytes were overwritten. `pending`: a reader still uses them; they are overwritten when it has finished. `server`: the database server overwrites them, and only its own log tells when.",
  }),
  detail: z.record(z.string(), z.unknown()).meta({
    description: "The content of the entry, which the evidence covers. It contains no personal data.",
  }),
  evidence: evidenceSchema,
  ...envelopeFields,
}).meta({ id: "Erasure" });

const deleteOperator: Route = {
  ...KEYED_DELETE,
  ...keyFor("administer"),
  path: "/v1/operator/{operator_id}",
  operationId: "deleteOperator",
  summary: "Erase a reviewer",
  description:
    "Erases all personal data: the inputs and results, the profile, and the link between the operator_id and the entries. The entries themselves stay, so the chain still verifies. Session ids and decision ids stay used: they are answered with 410. Usage figures and issued reports stay. If the same operator_id is sent again, it counts as a new operator. An erasure cannot be undone.",
  pathParameters: operatorPathSchema,
  success: {
    status: 200,
    description: "The content of the SUBJECT_ERASED entry, and its evidence.",
    schema: erasureResponseSchema,
  },
  errors: ["NOT_FOUND"],
  examples: [{ summary: "Another reviewer", path: { operator_id: "reviewer-bruno" } }],
  async handler({ dependencies }, { exchange, path }) {
    const { operator_id } = parseWith(operatorPathSchema, path);
    const erasure = await eraseOperator(dependencies, exchange.caller!, {
      operatorId: operator_id,
      call: exchange.call,
    });
    return { status: 200, body: { ...erasure } };
  },
};

const postUnmask: Route = {
  ...KEYED_POST,
  ...keyFor("unmask"),
  headerKeyOnly: true,
  honoursIdempotencyKey: false,
  path: "/v1/organization/operators/unmask",
  operationId: "postUnmask",
  summary: "Tell who a reviewer is",
  description:
    "Where users see pseudonyms (`JISS_PRIVACY=pseudonymous`), this tells the reviewer of a pseudonym, or the pseudonym of a reviewer. Each look is an event `SUBJECT_UNMASKED`, with the user and the reason, and stands in the reviewer's own copy.",
  body: { schema: unmaskRequestSchema, limitBytes: BODY_LIMIT_BYTES },
  success: { status: 200, description: "The reviewer, under both names.", schema: unmaskedSchema },
  errors: ["NOT_FOUND"],
  examples: [{
    summary: "The pseudonym of a reviewer",
    body: { reviewer: "reviewer-ada", reason: "Ada asked for her records" },
  }],
  async handler({ dependencies }, { exchange, json }) {
    const body = await unmask(dependencies, exchange.caller!, {
      request: parseWith(unmaskRequestSchema, json),
      call: exchange.call,
    });
    return { status: 200, body: { ...body } };
  },
};

const postTeams: Route = {
  ...KEYED_POST,
  ...keyFor("team"),
  headerKeyOnly: true,
  honoursIdempotencyKey: false,
  path: "/v1/organization/teams",
  operationId: "postTeams",
  summary: "Set the teams of operators",
  description:
    "Says which team each operator is in, or takes the team away. An operator is in one team or in none. A team has no figures of its own to set: it is a name by which operators are listed and compared, and it changes no score and no verdict. All are set, or none. A repeated call changes nothing. Each change is an event `TEAM_SET`, and is erased with the operator's data.",
  body: { schema: teamsRequestSchema, limitBytes: BODY_LIMIT_BYTES },
  success: { status: 200, description: "The teams as they are now.", schema: teamsResponseSchema },
  errors: ["NOT_FOUND"],
  examples: [{
    summary: "One operator",
    body: { assignments: [{ operator_id: "reviewer-ada", team: "Credit north" }] },
  }],
  async handler({ dependencies }, { exchange, json }) {
    const { assignments } = parseWith(teamsRequestSchema, json);
    const { call, pseudonyms } = exchange;
    if (pseudonyms !== null) throw teamsWithheld();
    const changed = await setTeams(dependencies, exchange.caller!, { assignments, call });
    return { status: 200, body: { assignments, changed } };
  },
};

export const OPERATOR_ROUTES: readonly Route[] = [
  getProfile,
  getSparkline,
  getSubjectAccess,
  deleteOperator,
  postUnmask,
  postTeams,
];
