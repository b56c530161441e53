/**
 * Sealed probes: cases with known truth that are put among live ones.
 * Source: oversight loop, section 1; evidence-format.md, section 11.
 */
import * as z from "zod";
import { PROBE_STAKES, PROBE_STATES } from "../../domain/enums.ts";
import { isoTimestamp } from "../../domain/instant.ts";
import { errorsHidden } from "../../domain/probe.ts";
import { probeSummaryOfGroups } from "../../domain/small_groups.ts";
import {
  domainNameSchema,
  domainSchema,
  operatorIdSchema,
  sessionIdSchema,
} from "../../domain/interaction.ts";
import {
  BATCH_BODY_LIMIT_BYTES,
  BODY_LIMIT_BYTES,
  PROBES_BATCH_MAX,
  PROBES_PAGE_DEFAULT,
  PROBES_PAGE_MAX,
} from "../../domain/limits.ts";
import { NO_CONTROLS } from "../../domain/organization.ts";
import { probeSummarySchema, undecidedProbesSchema } from "../../domain/probe.ts";
import { envelopeFields } from "../../domain/score.ts";
import { DAY_MS } from "../../domain/time.ts";
import { evidenceSchema } from "../../evidence/envelope.ts";
import { HIGHEST_SHARE_MAX, PROBE_DETAILS } from "../../evidence/probes.ts";
import { recallProbe } from "../../operations/probes/close.ts";
import { drawProbe } from "../../operations/probes/draw.ts";
import { probeSummary } from "../../operations/probes/figures.ts";
import { listProbes } from "../../operations/probes/list.ts";
import { policyBody, readProgramme, setPolicy } from "../../operations/probes/programme.ts";
import { sealProbe, sealProbes } from "../../operations/probes/seal.ts";
import type { Route } from "../exchange.ts";
import { idempotentCall } from "../idempotency_key.ts";
import { parseParameters, parseWith, validationFailed } from "../parse.ts";
import { integerParameter } from "./parameters.ts";
import { KEYED_POST, KEYED_READ, keyFor } from "./shared.ts";

const PROBE_ID = /^[A-Za-z0-9_-]{1,128}$/;
const probeIdSchema = z.string().regex(PROBE_ID, "must be 1 to 128 letters, digits, hyphens or underscores")
  .meta({ description: "The organization's name for the probe, used once.", examples: ["probe-0001"] });
const stakesSchema = z.enum(PROBE_STAKES).meta({
  description: "How much depends on the live cases among which it is shown.",
});

const probeSchema = z.object({
  probe_id: probeIdSchema.optional(),
  domain: domainSchema,
  stakes: stakesSchema,
  ai_correct: z.boolean().meta({
    description:
      "Whether the recommendation of the case is right. Seal right ones too: they show false alarms, and without them the reviewer could reject every probe.",
  }),
  reference: z.string().min(1).max(256).refine((text) => text.isWellFormed(), "must be well-formed Unicode")
    .regex(NO_CONTROLS, "must hold no control characters").nullable().default(null)
    .meta({
      description: "What your application calls the case. It is revealed with the truth. No personal data.",
    }),
}).meta({ id: "Probe" });

const sealedSchema = z.object({
  probe_id: z.string(),
  domain: domainNameSchema,
  stakes: z.enum(PROBE_STAKES),
  state: z.enum(PROBE_STATES),
  sealed_at: isoTimestamp,
  commitment: z.string().meta({ description: "The hash that the chain holds; nothing can be read from it." }),
});

const sealedResponseSchema = sealedSchema.extend({
  detail: PROBE_DETAILS.PROBE_SEALED.meta({
    description: "What the entry PROBE_SEALED records, which the evidence covers.",
  }),
  evidence: evidenceSchema,
  ...envelopeFields,
}).meta({ id: "ProbeSealed" });

const postProbe: Route = {
  ...KEYED_POST,
  ...keyFor("probe"),
  headerKeyOnly: true,
  path: "/v1/probes",
  operationId: "postProbe",
  summary: "Seal a probe",
  description:
    "Commits to the truth of a case before anybody sees it. A sealed probe cannot be changed: a `probe_id` that was used gets 409, whatever is sent with it, so that no answer tells the truth of a probe. Send an Idempotency-Key to repeat a call safely.",
  body: { schema: probeSchema, limitBytes: BODY_LIMIT_BYTES },
  success: {
    status: 201,
    description: "The probe, and the evidence that it was sealed.",
    schema: sealedResponseSchema,
  },
  errors: ["CONFLICT", "GONE"],
  examples: [{
    summary: "A case with wrong advice",
    body: {
      probe_id: "probe-0001",
      domain: "financial",
      stakes: "standard",
      ai_correct: false,
      reference: "loan-library/17",
    },
  }],
  async handler({ dependencies }, { context, exchange, json }) {
    const { probe_id = null, ...sent } = parseWith(probeSchema, json);
    const answer = await sealProbe(dependencies, exchange.caller!, {
      sent: { probe_id, ...sent },
      call: exchange.call,
      idempotency: idempotentCall(context),
    });
    return { status: 201, ...answer };
  },
};

const probeBatchSchema = z.object({
  probes: z.array(probeSchema).min(1).max(PROBES_BATCH_MAX).meta({
    description: "All of them or none are sealed. Each probe_id may occur only once.",
  }),
}).meta({ id: "ProbeBatch" });

const postProbeBatch: Route = {
  ...KEYED_POST,
  ...keyFor("probe"),
  headerKeyOnly: true,
  path: "/v1/probes/batch",
  operationId: "postProbeBatch",
  summary: "Seal a batch of probes",
  description:
    "Seals 1 to 100 probes in the order of the array: all of them or none. A `probe_id` that was used gets 409. Send an Idempotency-Key to repeat a call safely.",
  body: { schema: probeBatchSchema, limitBytes: BATCH_BODY_LIMIT_BYTES },
  success: {
    status: 201,
    description: "The probes. `GET /v1/audit/chain/proof/{seq}` proves each entry.",
    schema: z.object({ probes: z.array(sealedSchema), count: z.int(), ...envelopeFields }).meta({
      id: "ProbesSealed",
    }),
  },
  errors: ["CONFLICT", "GONE"],
  examples: [{
    summary: "One case with wrong advice, and one with right advice",
    body: {
      probes: [
        { probe_id: "probe-0002", domain: "financial", stakes: "high_stakes", ai_correct: false },
        { probe_id: "probe-0003", domain: "financial", stakes: "high_stakes", ai_correct: true },
      ],
    },
  }],
  async handler({ dependencies }, { context, exchange, json }) {
    const { probes } = parseWith(probeBatchSchema, json);
    refuseRepeated(probes.map(({ probe_id }) => probe_id));
    const answer = await sealProbes(dependencies, exchange.caller!, {
      sent: probes.map(({ probe_id = null, ...probe }) => ({ probe_id, ...probe })),
      call: exchange.call,
      idempotency: idempotentCall(context),
    });
    return { status: 201, ...answer };
  },
};

function refuseRepeated(ids: readonly (string | undefined)[]): void {
  const details = ids.flatMap((id, index) =>
    id === undefined || ids.indexOf(id) === index
      ? []
      : [{ path: `probes.${index}.probe_id`, message: "must occur only once in the batch" }]
  );
  if (details.length > 0) throw validationFailed(details);
}

const drawRequestSchema = z.object({
  operator_id: operatorIdSchema,
  session_id: sessionIdSchema,
  domain: domainSchema,
  stakes: stakesSchema,
}).meta({ id: "ProbeDrawRequest" });

const drawResponseSchema = z.object({
  probe: z.object({
    probe_id: z.string(),
    session_id: sessionIdSchema.meta({ description: "The session under which the probe is scored." }),
    ticket: z.string().meta({ description: "Send it as `probe_ticket` of the interaction." }),
    expires_at: isoTimestamp,
    reference: z.string().nullable(),
    do_not_execute: z.literal(true).meta({
      description: "Nothing may follow from the decision of this case but its score.",
    }),
  }).nullable(),
  ...envelopeFields,
}).meta({ id: "ProbeDraw" });

const postProbeDraw: Route = {
  ...KEYED_POST,
  ...keyFor("score"),
  headerKeyOnly: true,
  honoursIdempotencyKey: false,
  path: "/v1/probes/draw",
  operationId: "postProbeDraw",
  summary: "Draw: is a probe shown before this case?",
  description:
    "Ask before each case is shown. If a probe is due, show it first, under its own session, and then the case. The same session draws the same within a UTC day, and keeps a probe that it drew; once that is decided, the answer is null. A session that drew null may draw a probe on a later day.",
  body: { schema: drawRequestSchema, limitBytes: BODY_LIMIT_BYTES },
  success: { status: 200, description: "The probe, or null.", schema: drawResponseSchema },
  errors: ["CONFLICT", "GONE"],
  examples: [{
    summary: "Before a case",
    body: {
      operator_id: "reviewer-ada",
      session_id: "case-2026-000127",
      domain: "financial",
      stakes: "standard",
    },
  }],
  async handler({ dependencies }, { exchange, json }) {
    const probe = await drawProbe(dependencies, exchange.caller!, {
      request: parseWith(drawRequestSchema, json),
      call: exchange.call,
    });
    return { status: 200, body: { probe } };
  },
};

const probePathSchema = z.object({ probe_id: probeIdSchema });

const postProbeRecall: Route = {
  ...KEYED_POST,
  ...keyFor("probe"),
  headerKeyOnly: true,
  honoursIdempotencyKey: false,
  path: "/v1/probes/{probe_id}/recall",
  operationId: "postProbeRecall",
  summary: "Recall a probe",
  description:
    "Withdraws a probe that nobody decided yet. Its seal is opened on the chain, so that nobody can hide which probes were withdrawn. A repeated call changes nothing.",
  pathParameters: probePathSchema,
  body: null,
  success: {
    status: 200,
    description: "Recalled.",
    schema: z.object({
      probe_id: z.string(),
      state: z.literal("recalled"),
      recalled_at: isoTimestamp,
      ...envelopeFields,
    }).meta({ id: "ProbeRecalled" }),
  },
  errors: ["NOT_FOUND", "CONFLICT"],
  examples: [{ summary: "A case that came out", path: { probe_id: "probe-of-the-example" } }],
  async handler({ dependencies }, { exchange, path }) {
    const { probe_id } = parseWith(probePathSchema, path);
    const body = await recallProbe(dependencies, exchange.caller!, {
      probeId: probe_id,
      call: exchange.call,
    });
    return { status: 200, body };
  },
};

const share = z.number().min(0).max(HIGHEST_SHARE_MAX);

const policyFields = {
  rate: share.meta({ description: "Share of cases before which a probe is shown; 0.02 until it is set." }),
  highest_share: share.meta({
    description:
      "The share for an operator who has had fewer probes than `minimum`; not below `rate`. 0.1 until it is set.",
  }),
  minimum: z.int().min(0).max(1000).meta({
    description: "Decided probes for each operator in the 90 days before; 10 until it is set.",
  }),
  ticket_minutes: z.int().min(5).max(1440).meta({
    description:
      "Minutes in which a probe must be decided; after them it is lost, which is an alert. 240 until it is set.",
  }),
};

const policySchema = z.object({ enabled: z.boolean(), ...policyFields }).meta({ id: "ProbePolicy" });

const policyChangeSchema = z.object({ enabled: z.boolean(), ...z.object(policyFields).partial().shape }).meta(
  {
    id: "ProbePolicyChange",
    description: "What is left out keeps its value.",
  },
);

const policyResponseSchema = z.object({
  policy: policySchema,
  changed_at: isoTimestamp.nullable(),
  day: z.object({ day: z.iso.date(), policy: policySchema, seed_opened: z.boolean() }).nullable().meta({
    description: "The newest UTC day whose seed is on the chain, and the policy of that day.",
  }),
  ...envelopeFields,
}).meta({ id: "ProbeProgramme" });

const getProbePolicy: Route = {
  ...KEYED_READ,
  path: "/v1/probes/policy",
  operationId: "getProbePolicy",
  summary: "The policy of the programme",
  description:
    "Returns the policy that was set last, and the one of the day. The programme is off until one is set.",
  success: { status: 200, description: "The policy.", schema: policyResponseSchema },
  examples: [{ summary: "Ask" }],
  async handler({ dependencies }, { exchange }) {
    const programme = await readProgramme(dependencies, exchange.caller!.orgId);
    return { status: 200, body: policyBody(programme) };
  },
};

const putProbePolicy: Route = {
  ...KEYED_POST,
  ...keyFor("administer"),
  headerKeyOnly: true,
  honoursIdempotencyKey: false,
  method: "PUT",
  path: "/v1/probes/policy",
  operationId: "putProbePolicy",
  summary: "Set the policy of the programme",
  description:
    "Switches the programme on or off and sets its shares; a field that is left out keeps its value. The change is audited. Switching on and off count at once. The rest counts from the next UTC day on if the day's seed is on the chain already, so that nobody can choose the share for a session.",
  body: { schema: policyChangeSchema, limitBytes: BODY_LIMIT_BYTES },
  success: { status: 200, description: "The policy.", schema: policyResponseSchema },
  examples: [{
    summary: "Two probes in a hundred cases, at least twelve in 90 days",
    body: { enabled: true, rate: 0.02, minimum: 12 },
  }],
  async handler({ dependencies }, { exchange, json }) {
    const body = await setPolicy(dependencies, exchange.caller!, {
      change: parseWith(policyChangeSchema, json),
      call: exchange.call,
    });
    return { status: 200, body };
  },
};

const listParametersSchema = z.object({
  state: z.enum(PROBE_STATES).optional(),
  limit: integerParameter({ min: 1, max: PROBES_PAGE_MAX, fallback: PROBES_PAGE_DEFAULT }),
  cursor: z.string().regex(/^[0-9]{1,15}$/, "must be the next_cursor of a page, unchanged").optional(),
});

const listedProbeSchema = sealedSchema.extend({
  reference: z.string().nullable(),
  drawn_at: isoTimestamp.nullable(),
  expires_at: isoTimestamp.nullable(),
  closed_at: isoTimestamp.nullable(),
  ai_correct: z.boolean().nullable().meta({
    description: "Null until the probe is decided, recalled or lost: until then no answer tells it.",
  }),
  departed: z.boolean().nullable().meta({
    description: "Whether the reviewer departed from the recommendation; null unless it was decided.",
  }),
  operator_id: operatorIdSchema.nullable(),
  probe_session_id: sessionIdSchema.nullable(),
  case_session_id: sessionIdSchema.nullable(),
}).meta({ id: "ListedProbe" });

const getProbes: Route = {
  ...KEYED_READ,
  path: "/v1/probes",
  operationId: "getProbes",
  summary: "The organization's probes",
  description:
    "Returns a page of the probes, the last sealed first. `next_cursor` gets the next page; it is null on the last page. Operator and sessions are null before the draw, and once the operator was erased.",
  parameters: listParametersSchema,
  success: {
    status: 200,
    description: "A page of probes.",
    schema: z.object({
      probes: z.array(listedProbeSchema),
      count: z.int(),
      next_cursor: z.string().nullable(),
      ...envelopeFields,
    }).meta({ id: "ProbesResponse" }),
  },
  examples: [{ summary: "The newest" }, { summary: "Probes that were lost", query: { state: "lost" } }],
  async handler({ dependencies }, { exchange, request }) {
    const { state = null, limit, cursor } = parseParameters(request, listParametersSchema);
    const { probes, next } = await listProbes(dependencies, exchange.caller!, {
      state,
      limit,
      below: cursor === undefined ? null : Number(cursor),
    });
    return {
      status: 200,
      body: { probes, count: probes.length, next_cursor: next === null ? null : String(next) },
    };
  },
};

const summaryParametersSchema = z.object({
  days: integerParameter({ min: 1, max: 366, fallback: 90 }),
});

const getProbeSummary: Route = {
  ...KEYED_READ,
  path: "/v1/probes/summary",
  operationId: "getProbeSummary",
  summary: "What probes say",
  description:
    "Counts, over the probes that were decided in the last days, the errors found and the false alarms, by operator, domain and stakes, with exact intervals of 95 %. Counts besides what is in stock, and the draws and probes that led to no decision.",
  parameters: summaryParametersSchema,
  success: {
    status: 200,
    description: "The counts.",
    schema: probeSummarySchema.extend({
      period: z.object({ start: isoTimestamp, end: isoTimestamp }),
      states: z.object(
        Object.fromEntries(PROBE_STATES.map((state) => [state, z.int().min(0)])) as Record<
          (typeof PROBE_STATES)[number],
          z.ZodInt
        >,
      ).meta({ description: "All probes by their state, whenever they were sealed." }),
      stock: z.array(z.object({ domain: domainNameSchema, stakes: stakesSchema, sealed: z.int().min(0) }))
        .meta({
          description: "The probes that can still be drawn in each stratum for which any was ever sealed.",
        }),
      draws: z.object({
        due: z.int().min(0).meta({ description: "Cases before which a probe was due." }),
        empty: z.int().min(0).meta({
          description: "Those for which none of the domain and stakes was left: seal more.",
        }),
      }).meta({ description: "All draws with a probe due, except those of erased operators." }),
      undecided: undecidedProbesSchema.meta({
        description: "The probes that were opened in the period without a decision.",
      }),
      ...envelopeFields,
    }).meta({ id: "ProbeSummary" }),
  },
  errors: ["INSUFFICIENT_DATA"],
  examples: [{ summary: "Of the last 90 days" }, { summary: "Of the last week", query: { days: "7" } }],
  async handler({ dependencies }, { exchange, request }) {
    const { days } = parseParameters(request, summaryParametersSchema);
    const { now } = exchange.call;
    const { pseudonyms, caller } = exchange;
    const body = await probeSummary(dependencies, caller!, { start: now - days * DAY_MS, end: now + 1 });
    if (pseudonyms === null) return { status: 200, body };
    const { by_operator, ...groups } = probeSummaryOfGroups(body);
    return {
      status: 200,
      body: { ...groups, by_operator: await pseudonyms.ordered(by_operator, errorsHidden) },
    };
  },
};

export const PROBE_ROUTES: readonly Route[] = [
  getProbes,
  getProbeSummary,
  postProbe,
  postProbeBatch,
  postProbeDraw,
  getProbePolicy,
  putProbePolicy,
  postProbeRecall,
];
