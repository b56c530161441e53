/** The deliveries to webhook destinations in the OpenAPI document: as webhooks, and as a callback. */
import * as z from "zod";
import { createSchema, type ZodOpenApiComponentsObject, type ZodOpenApiOperationObject } from "zod-openapi";
import { openedCaseSchema } from "../domain/case.ts";
import type { WebhookEvent } from "../domain/enums.ts";
import { envelopeFields } from "../domain/score.ts";
import { PING } from "../domain/webhook.ts";
import { withFormat } from "./openapi_formats.ts";
import { decisionResponseSchema } from "./routes/decisions.ts";
import { scoreResponseSchema } from "./routes/scores.ts";

/** When each event is sent. */
const WEBHOOKS: Readonly<Record<WebhookEvent | typeof PING, string>> = {
  "score.committed": "Sent when a score becomes final: at once if it is not provisional, else at its commit.",
  "drs.must_review": "Sent if a decision's final route is must_review.",
  "drs.escalation": "Sent if a decision's final route is escalation.",
  "case.opened":
    "Sent if a case is opened: by hand, by a rule, or because a reviewer contests a record. Only a webhook whose registration names it gets it. `GET /v1/cases/{case_id}` has the statement.",
  [PING]: "Sent when a test of the webhook is requested.",
};
const EVENTS = Object.keys(WEBHOOKS) as (keyof typeof WEBHOOKS)[];

/** A header that each delivery has, and the document once. */
const text = (id: string, description: string) => z.string().meta({ description, param: { id } });

const DELIVERY_HEADERS = z.object({
  "X-SERVICE-Signature": text(
    "delivery_signature",
    "`sha256=` and the hex HMAC-SHA256 of timestamp, `.` and body, keyed with the signing secret.",
  ),
  "X-SERVICE-Timestamp": text(
    "delivery_timestamp",
    "Unix seconds of this attempt. Refuse a difference of more than 300 seconds from your own clock.",
  ),
  "X-SERVICE-Idempotency-Key": text("delivery_id", "The delivery's id, the same at each attempt."),
  "webhook-id": text("webhook_id", "The delivery's id, as Standard Webhooks defines it."),
  "webhook-timestamp": text("webhook_timestamp", "Unix seconds of this attempt."),
  "webhook-signature": text(
    "webhook_signature",
    "`v1,` and the base64 HMAC-SHA256 of id, `.`, timestamp, `.` and body.",
  ),
});

const RESPONSES = {
  "2XX": { description: "The delivery was accepted, or had been processed already." },
  "410": { description: "The receiver wants no more deliveries: the destination is disabled." },
  default: { description: "The delivery failed. It is tried at most three times in all." },
};

/** Fields that are added to the body of an event. */
function eventFields<Event extends string>(event: Event) {
  return {
    event: z.literal(event),
    delivery_id: z.uuid().meta({ description: "The id in `X-SERVICE-Idempotency-Key` and `webhook-id`." }),
  };
}

/** The bodies of deliveries. */
const BODIES = {
  "score.committed": scoreResponseSchema.extend(eventFields("score.committed")).meta({
    id: "ScoreCommittedEvent",
  }),
  "drs.must_review": decisionResponseSchema.extend(eventFields("drs.must_review"))
    .meta({ id: "DrsMustReviewEvent" }),
  "drs.escalation": decisionResponseSchema.extend(eventFields("drs.escalation"))
    .meta({ id: "DrsEscalationEvent" }),
  "case.opened": z.object({
    ...eventFields("case.opened"),
    ...openedCaseSchema.shape,
    ...envelopeFields,
  }).meta({ id: "CaseOpenedEvent" }),
  [PING]: z.object({ ...eventFields(PING), webhook_id: z.string(), ...envelopeFields }).meta({
    id: "PingEvent",
  }),
} satisfies Readonly<Record<WebhookEvent | typeof PING, z.ZodType>>;

function componentOf(event: keyof typeof WEBHOOKS): string {
  return BODIES[event].meta()!.id!;
}

function referenceTo(component: string) {
  return { $ref: `#/components/schemas/${component}` } as const;
}

/** Schemas of the delivery bodies: request bodies, but output schemas, because the service sends them. */
export function webhookComponents(): ZodOpenApiComponentsObject["schemas"] {
  const bodies = EVENTS.map((event) => {
    const { components } = createSchema(BODIES[event], {
      io: "output",
      openapiVersion: "3.1.0",
      opts: { override: withFormat },
    });
    return [componentOf(event), components[componentOf(event)]!] as const;
  });
  const references = EVENTS.map((event) => [event, referenceTo(componentOf(event)).$ref] as const);
  return {
    ...Object.fromEntries(bodies),
    WebhookEvent: {
      description: "The body of a delivery; `event` names its type.",
      oneOf: references.map(([, $ref]) => ({ $ref })),
      discriminator: { propertyName: "event", mapping: Object.fromEntries(references) },
    },
  };
}

function delivery(
  { operationId, summary, description, component }: {
    readonly operationId: string;
    readonly summary: string;
    readonly description: string;
    readonly component: string;
  },
): ZodOpenApiOperationObject {
  return {
    operationId,
    summary,
    description: `${description} It is delivered at least once.`,
    security: [],
    requestParams: { header: DELIVERY_HEADERS },
    requestBody: { required: true, content: { "application/json": { schema: referenceTo(component) } } },
    responses: RESPONSES,
  };
}

export function webhooksOf(): Record<string, { post: ZodOpenApiOperationObject }> {
  return Object.fromEntries(EVENTS.map((event) => [event, {
    post: delivery({
      operationId: `webhook_${event.replace(/\W/g, "_")}`,
      summary: event,
      description: WEBHOOKS[event],
      component: componentOf(event),
    }),
  }]));
}

/**
 * The deliveries again, as a callback of the registration of a destination. Some generators know no webhooks
 * and read this; others drop a component that no path refers to.
 */
export function deliveryCallbacks() {
  return {
    delivery: {
      "{$request.body#/url}": {
        post: delivery({
          operationId: "receiveDelivery",
          summary: "A delivery",
          description: "An event that the destination was registered for, or a ping.",
          component: "WebhookEvent",
        }),
      },
    },
  };
}
