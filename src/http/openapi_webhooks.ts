/** The deliveries to webhook destinations in the OpenAPI document: as webhooks, and as a callback. */
import * as z from "zod";
import { createSchema, type ZodOpenApiComponentsObject, type ZodOpenApiOperationObject } from "zod-openapi";
import type { WebhookEvent } from "../domain/enums.ts";
import { envelopeFields } from "../domain/score.ts";
import { PING } from "../domain/webhook.ts";
import { withFormat } from "./openapi_formats.ts";
import { decisionResponseSchema } from "./routes/decisions.ts";
import { scoreResponseSchema } from "./routes/scores.ts";

/** When each event is sent. */
const WEBHOOKS: Readonly<Record<WebhookEvent | typeof PING, string>> = {
  "score.committed": "A score is final: at once where it is not provisional, else at its commit.",
  "drs.must_review": "A decision's final route is must_review.",
  "drs.escalation": "A decision's final route is escalation.",
  [PING]: "A test was asked for.",
};
const EVENTS = Object.keys(WEBHOOKS) as (keyof typeof WEBHOOKS)[];

const text = (description: string) => z.string().meta({ description });

const DELIVERY_HEADERS = z.object({
  "X-SERVICE-Signature": text(
    "`sha256=` and the hex HMAC-SHA256 of timestamp, `.` and body, keyed with the signing secret.",
  ),
  "X-SERVICE-Timestamp": text("Unix seconds of this attempt; refuse more than 300 either way."),
  "X-SERVICE-Idempotency-Key": text("The delivery's id, the same at each attempt."),
  "webhook-id": text("The delivery's id, as Standard Webhooks has it."),
  "webhook-timestamp": text("Unix seconds of this attempt."),
  "webhook-signature": text("`v1,` and the base64 HMAC-SHA256 of id, `.`, timestamp, `.` and body."),
});

const RESPONSES = {
  "2XX": { description: "Taken, or already processed." },
  "410": { description: "The destination is gone: it is disabled." },
  default: { description: "Not taken: it is tried again, three times in all." },
};

/** Fields that are added to the body of an event. */
function addedTo<Event extends string>(event: Event) {
  return {
    event: z.literal(event),
    delivery_id: z.uuid().meta({ description: "Of `X-SERVICE-Idempotency-Key` and `webhook-id`." }),
  };
}

/** The bodies of deliveries. */
const BODIES = {
  "score.committed": scoreResponseSchema.extend(addedTo("score.committed")).meta({
    id: "ScoreCommittedEvent",
  }),
  "drs.must_review": decisionResponseSchema.extend(addedTo("drs.must_review"))
    .meta({ id: "DrsMustReviewEvent" }),
  "drs.escalation": decisionResponseSchema.extend(addedTo("drs.escalation"))
    .meta({ id: "DrsEscalationEvent" }),
  [PING]: z.object({ ...addedTo(PING), webhook_id: z.string(), ...envelopeFields }).meta({ id: "PingEvent" }),
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
      description: "The body of a delivery; its `event` tells which.",
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
    description: `${description} Sent at least once.`,
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
          description: "Any event of those that the destination was registered for, or a ping.",
          component: "WebhookEvent",
        }),
      },
    },
  };
}
