/** The caller's organization: its operators, its decisions, its dashboard, and a candidate model in shadow. */
import * as z from "zod";
import { BANDS, OPERATOR_SORTS, VERDICT_STATUSES } from "../../domain/enums.ts";
import { instantSchema, isoOrNull, isoTimestamp } from "../../domain/instant.ts";
import { operatorIdSchema } from "../../domain/interaction.ts";
import {
  LABEL_STRETCH,
  OPERATOR_PART_MAX_LENGTH,
  OPERATORS_PAGE_DEFAULT,
  OPERATORS_PAGE_MAX,
  SHADOW_REPORTED_OPERATORS,
} from "../../domain/limits.ts";
import { dashboardResponseSchema, operatorsResponseSchema } from "../../domain/operator.ts";
import { decisionsResponseSchema, RECORD_KINDS } from "../../domain/record_list.ts";
import { dashboardOfGroups, requireGroup } from "../../domain/small_groups.ts";
import { complianceSchema, envelopeFields, modelReferenceSchema, points } from "../../domain/score.ts";
import { teamNameSchema } from "../../domain/team.ts";
import { organizationDashboard } from "../../operations/reporting/dashboard.ts";
import { listOperators } from "../../operations/reporting/operators.ts";
import { probedOperators } from "../../operations/probes/figures.ts";
import { activePeriod } from "../../operations/reporting/reports.ts";
import { listDecisions } from "../../operations/reporting/record_list.ts";
import { listUnlabelled, type UnlabelledStart } from "../../operations/reporting/unlabelled.ts";
import { shadowReport } from "../../operations/scoring/shadow.ts";
import type { Route } from "../exchange.ts";
import { parseParameters, validationFailed } from "../parse.ts";
import { CURSOR_MESSAGE, integerParameter, recordPage, requireSpan } from "./parameters.ts";
import { KEYED_READ, teamsWithheld } from "./shared.ts";

const operatorsParametersSchema = z.object({
  band: z.enum(BANDS).optional(),
  verdict: z.enum(VERDICT_STATUSES).optional().meta({
    description:
      "Only operators with this stored verdict. Operators whom formulas without a verdict scored last are `undetermined`.",
  }),
  team: teamNameSchema.optional().meta({ description: "Only operators in this team." }),
  q: z.string().regex(
    new RegExp(`^[A-Za-z0-9_-]{1,${OPERATOR_PART_MAX_LENGTH}}$`),
    `must be a part of an operator_id: 1 to ${OPERATOR_PART_MAX_LENGTH} letters, digits, hyphens or underscores`,
  ).optional().meta({
    description:
      "Only operators whose `operator_id` contains this text, in upper or lower case. A user who sees pseudonyms searches in those.",
    examples: ["ada"],
  }),
  sort: z.enum(OPERATOR_SORTS).default("operator_id").meta({
    description:
      "A leading `-` sorts in descending order. `verdict`: those who are certainly below the threshold first, then the undetermined, then those who meet it, each from the lowest JIS on.",
  }),
  limit: integerParameter({ min: 1, max: OPERATORS_PAGE_MAX, fallback: OPERATORS_PAGE_DEFAULT }),
  cursor: z.string().max(1024).optional().meta({
    description:
      "`next_cursor` of the previous page, which must have had the same sort. Send the same filters.",
  }),
  include: z.enum(["sparkline"]).optional(),
});

const getOperators: Route = {
  ...KEYED_READ,
  path: "/v1/organization/operators",
  operationId: "getOperators",
  summary: "The organization's operators",
  description:
    "Returns a page of all operators, regardless of when they were last active. `next_cursor` gets the next page; it is null on the last page.",
  parameters: operatorsParametersSchema,
  success: { status: 200, description: "A page of operators.", schema: operatorsResponseSchema },
  examples: [
    { summary: "The first page" },
    {
      summary: "The at-risk operators with the lowest JIS, with sparklines",
      query: { band: "at_risk", sort: "jis", limit: "20", include: "sparkline" },
    },
    { summary: "The operators on whom more evidence is needed", query: { verdict: "undetermined" } },
    {
      summary: "Those whose name has a part, the last active first",
      query: { q: "ada", sort: "-last_interaction_at" },
    },
  ],
  async handler({ dependencies }, { exchange, request }) {
    const { band, verdict, team, q, sort, limit, cursor, include } = parseParameters(
      request,
      operatorsParametersSchema,
    );
    if (team !== undefined && exchange.pseudonyms !== null) throw teamsWithheld();
    const { operators, next } = await listOperators(dependencies, exchange.caller!, {
      band: band ?? null,
      verdict: verdict ?? null,
      team: team ?? null,
      part: q ?? null,
      sort,
      limit,
      after: cursor === undefined ? null : readCursor(cursor, sort),
      sparkline: include === "sparkline",
      byPseudonym: exchange.pseudonyms !== null,
      now: exchange.call.now,
    });
    return {
      status: 200,
      body: {
        operators: exchange.pseudonyms === null
          ? operators
          : operators.map((operator) => ({ ...operator, team: null })),
        count: operators.length,
        next_cursor: next === null ? null : writeCursor({ sort, ...next }),
      },
    };
  },
};

const cursorSchema = z.strictObject({
  sort: z.enum(OPERATOR_SORTS),
  value: z.union([z.number(), z.string()]),
  name: z.string(),
});
type Cursor = z.infer<typeof cursorSchema>;

function writeCursor(cursor: Cursor): string {
  const bytes = new TextEncoder().encode(JSON.stringify(cursor));
  return bytes.toBase64({ alphabet: "base64url", omitPadding: true });
}

function readCursor(text: string, sort: Cursor["sort"]): Cursor {
  const cursor = decodeCursor(text);
  const type = sort.endsWith("operator_id") ? "string" : "number";
  if (cursor !== null && cursor.sort === sort && typeof cursor.value === type) return cursor;
  throw validationFailed([{
    path: "cursor",
    message: `must be the next_cursor of a page with sort=${sort}, unchanged`,
  }]);
}

function decodeCursor(text: string): Cursor | null {
  try {
    const bytes = Uint8Array.fromBase64(text, { alphabet: "base64url" });
    return cursorSchema.safeParse(JSON.parse(new TextDecoder().decode(bytes))).data ?? null;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

const decisionsParametersSchema = z.object({
  kind: z.enum(RECORD_KINDS).optional().meta({ description: "Default: both kinds." }),
  operator_id: operatorIdSchema.optional(),
  unlabelled: z.enum(["true", "false"]).optional().meta({
    description:
      "`true`: only scores whose truth nobody knows and a label may still give, those first from which a label teaches most. Default: `false`.",
  }),
  since: instantSchema.optional().meta({
    description: "Start of the range, included.",
  }),
  until: instantSchema.optional().meta({
    description: "End of the range, excluded; not before `since`.",
  }),
  limit: recordPage.limit,
  cursor: z.string().regex(
    /^(?:(?:0|[1-9][0-9]{0,14})|u(?:0|[1-9][0-9]{0,14})(?:-[0-2]-(?:0|[1-9][0-9]{0,14}))?)$/,
    CURSOR_MESSAGE,
  ).optional().meta({ description: "`next_cursor` of the previous page." }),
});

/** The cursor of a page of unlabelled scores: it begins with a letter, so that no other list takes it. */
function writeUnlabelledCursor({ top, after }: UnlabelledStart): string {
  return `u${top}${after === null ? "" : `-${after.rank}-${after.position}`}`;
}

/** @throws {ServiceError} VALIDATION_FAILED if it is one of the list of all decisions. */
function readUnlabelledCursor(cursor: string): UnlabelledStart {
  if (!cursor.startsWith("u")) throw validationFailed([{ path: "cursor", message: CURSOR_MESSAGE }]);
  const [top, rank, position] = cursor.slice(1).split("-").map(Number);
  return {
    top: top!,
    after: rank === undefined || position === undefined ? null : { rank, position },
  };
}

/** The position in the cursor of a page of all decisions. @throws {ServiceError} VALIDATION_FAILED if it is of unlabelled ones. */
function readPosition(cursor: string): number {
  if (cursor.startsWith("u")) throw validationFailed([{ path: "cursor", message: CURSOR_MESSAGE }]);
  return Number(cursor);
}

const getDecisions: Route = {
  ...KEYED_READ,
  path: "/v1/organization/decisions",
  operationId: "getDecisions",
  summary: "The organization's scores and decisions",
  description:
    `Returns a page of the scores and decisions of all operators or of one operator, newest first. \`GET /v1/decision/replay/{id}\` returns each in full. With \`unlabelled\` each ${LABEL_STRETCH} scores are sorted by themselves: first those that are no plain acceptance and have high or critical stakes, then those with one of both, then the others, each newest first. A page may then be short or empty before the last one.`,
  parameters: decisionsParametersSchema,
  success: { status: 200, description: "A page of scores and decisions.", schema: decisionsResponseSchema },
  examples: [
    { summary: "The newest" },
    {
      summary: "The last five scores of a reviewer",
      query: { operator_id: "reviewer-ada", kind: "score", limit: "5" },
    },
    { summary: "Those of a day", query: { since: "2026-11-20", until: "2026-11-21" } },
    { summary: "The cases to label next", query: { unlabelled: "true" } },
  ],
  async handler({ dependencies }, { exchange, request }) {
    const { kind = null, operator_id: operatorId = null, unlabelled, since, until, limit, cursor = null } =
      parseParameters(request, decisionsParametersSchema);
    requireSpan({ since, until });
    const bounds = { since: isoOrNull(since ?? null), until: isoOrNull(until ?? null) };
    if (unlabelled === "true") {
      const start = cursor === null ? null : readUnlabelledCursor(cursor);
      // A decision risk score takes no label.
      const { decisions, next } = kind === "decision"
        ? { decisions: [], next: null }
        : await listUnlabelled(dependencies, exchange.caller!, { operatorId, ...bounds, limit, start });
      const next_cursor = next === null ? null : writeUnlabelledCursor(next);
      return { status: 200, body: { decisions, count: decisions.length, next_cursor } };
    }
    const below = cursor === null ? null : readPosition(cursor);
    const { decisions, next } = await listDecisions(dependencies, exchange.caller!, {
      kind,
      operatorId,
      ...bounds,
      limit,
      below,
    });
    return {
      status: 200,
      body: { decisions, count: decisions.length, next_cursor: next === null ? null : String(next) },
    };
  },
};

const getDashboard: Route = {
  ...KEYED_READ,
  path: "/v1/organization/dashboard",
  operationId: "getDashboard",
  summary: "The organization's dashboard",
  description:
    "Returns figures, at the time of the call, about the operators with an interaction in the last 90 days. `compliance_status` is `non_compliant` if more than 10 percent of high-risk operators have a JIS below 60, or if any critical-decision operator has a JIS below 40. `verdict` says whether that is certain: it asks the rule twice, once as if every operator whose verdict is undetermined passed, and once as if they all failed.",
  success: { status: 200, description: "The dashboard.", schema: dashboardResponseSchema },
  errors: ["INSUFFICIENT_DATA"],
  examples: [{ summary: "Ask" }],
  async handler({ dependencies }, { exchange }) {
    const { caller, call: { now }, pseudonyms } = exchange;
    const body = await organizationDashboard(dependencies, caller!, now);
    if (pseudonyms === null) return { status: 200, body };
    const probed = await probedOperators(dependencies, caller!, activePeriod(dependencies, now));
    return { status: 200, body: { ...body, dashboard: dashboardOfGroups(body.dashboard, probed) } };
  },
};

const count = z.int().min(0);
const jisDifference = z.number().min(-100).max(100);

const directionCounts = z.object({ higher: count, lower: count, same: count });

const placementSchema = z.object({
  jis: points,
  band: z.enum(BANDS),
  compliance_status: complianceSchema.shape.status,
});

const shadowResponseSchema = z.object({
  shadow: z.object({
    model: modelReferenceSchema,
    candidate: modelReferenceSchema,
    since: isoTimestamp.meta({ description: "Start of this process, when the comparison began." }),
    interactions: z.object({
      compared: count,
      failed: count.meta({ description: "Scores and late labels on which the candidate failed." }),
      missed: count.meta({
        description:
          "Scores and late labels that were not compared because there was no room or too many others were waiting.",
      }),
      restarts: count.meta({
        description:
          "Number of times that the comparison of an operator restarted from the stored state because something was missed or another process recorded it.",
      }),
    }),
    difference: z.object({
      mean: jisDifference,
      min: jisDifference,
      p05: jisDifference,
      p25: jisDifference,
      median: jisDifference,
      p75: jisDifference,
      p95: jisDifference,
      max: jisDifference,
    }).nullable().meta({
      description:
        "JIS of the candidate minus JIS of the model in use, in points, over all compared interactions. The mean is exact to two decimals, the other values to one.",
    }),
    operators: z.object({
      compared: count,
      band: directionCounts,
      compliance_status: directionCounts,
    }).meta({
      description:
        "Number of operators whom the candidate places higher, lower or the same at their newest interaction.",
    }),
    most_different: z.array(z.object({
      operator_id: z.string(),
      interactions: count.meta({ description: "Number of interactions compared since the start." }),
      difference: jisDifference,
      model: placementSchema,
      candidate: placementSchema,
    })).meta({
      description:
        `The ${SHADOW_REPORTED_OPERATORS} operators with the largest difference at their newest interaction, largest first.`,
    }),
  }).nullable().meta({ description: "null if no candidate model runs." }),
  ...envelopeFields,
}).meta({ id: "Shadow" });

const getShadow: Route = {
  ...KEYED_READ,
  path: "/v1/organization/shadow",
  operationId: "getShadow",
  summary: "What a candidate model would change",
  description:
    "If the administrator runs a candidate model in shadow, this compares its scores with those of the model in use, for the organization's interactions since the start of this process. The comparison changes no score and is not evidence.",
  success: { status: 200, description: "The comparison, or null.", schema: shadowResponseSchema },
  errors: ["INSUFFICIENT_DATA"],
  examples: [{ summary: "Ask" }],
  async handler({ dependencies }, { exchange }) {
    const { caller, pseudonyms } = exchange;
    const body = await shadowReport(dependencies, caller!);
    if (pseudonyms === null || body.shadow === null) return { status: 200, body };
    const { operators, most_different } = body.shadow;
    requireGroup(operators.compared);
    const rows = await pseudonyms.ordered(most_different, ({ difference }) => Math.abs(difference));
    return { status: 200, body: { shadow: { ...body.shadow, most_different: rows } } };
  },
};

export const ORGANIZATION_ROUTES: readonly Route[] = [
  getOperators,
  getDecisions,
  getDashboard,
  getShadow,
];
