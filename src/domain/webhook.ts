/**
 * Webhook destinations: the request for one, and the answers about them.
 * Source: specification, Webhook destination and Events; contract, section 5.
 */
import * as z from "zod";
import { DEFAULT_WEBHOOK_EVENTS, DELIVERY_STATUSES, WEBHOOK_EVENTS } from "./enums.ts";
import { isoTimestamp } from "./instant.ts";
import {
  WEBHOOK_EVENTS_NAMED_MAX,
  WEBHOOK_SECRET_MAX_LENGTH,
  WEBHOOK_SECRET_MIN_LENGTH,
  WEBHOOK_URL_MAX_LENGTH,
} from "./limits.ts";
import { envelopeFields } from "./score.ts";

const eventSchema = z.enum(WEBHOOK_EVENTS);

/** The destination's network address is checked elsewhere, because the host may be a name. */
const urlSchema = z.string().max(WEBHOOK_URL_MAX_LENGTH)
  .transform((text, context) => {
    const problem = problemOf(text);
    if (problem === null) return new URL(text).href;
    context.addIssue({ code: "custom", message: problem });
    return z.NEVER;
  }).meta({
    override: { type: "string", format: "uri", maxLength: WEBHOOK_URL_MAX_LENGTH },
    description: "Absolute, https, without a user, a password or a fragment.",
    examples: ["https://review.acme.example/jiss"],
  });

function problemOf(text: string): string | null {
  if (!URL.canParse(text)) return "must be an absolute URL like https://review.acme.example/jiss";
  const { protocol, username, password, hash, port } = new URL(text);
  if (protocol !== "https:") return "must begin with https://";
  if (username !== "" || password !== "") {
    return "must hold no user and no password: the signature tells the receiver who calls";
  }
  if (port === "0") return "must name a port from 1 to 65535, or none";
  return hash === "" ? null : "must hold no fragment: it is never sent";
}

/** The length is checked before any item, because each wrong item is a finding of its own. */
const eventsSchema = z.array(z.unknown()).min(1).max(WEBHOOK_EVENTS_NAMED_MAX)
  .pipe(z.array(eventSchema))
  .transform((events) => WEBHOOK_EVENTS.filter((event) => events.includes(event)))
  .meta({
    override: {
      type: "array",
      minItems: 1,
      maxItems: WEBHOOK_EVENTS_NAMED_MAX,
      items: { type: "string", enum: [...WEBHOOK_EVENTS] },
    },
  });

const SECRET_LENGTH = `must have ${WEBHOOK_SECRET_MIN_LENGTH} to ${WEBHOOK_SECRET_MAX_LENGTH} characters`;

export const webhookRequestSchema = z.object({
  url: urlSchema,
  secret: z.string().min(WEBHOOK_SECRET_MIN_LENGTH, SECRET_LENGTH).max(
    WEBHOOK_SECRET_MAX_LENGTH,
    SECRET_LENGTH,
  )
    .refine((secret) => secret.isWellFormed(), "must be well-formed Unicode")
    .meta({
      description: "Shared with the receiver's owner; the signing secret is derived from it. It is not kept.",
    }),
  events: eventsSchema.optional().meta({
    description: `The events to send. If left out: ${DEFAULT_WEBHOOK_EVENTS.join(", ")}.`,
  }),
}).meta({ id: "WebhookRequest" });

export type WebhookRequest = z.output<typeof webhookRequestSchema>;

const webhookFields = {
  id: z.string(),
  url: z.string(),
  events: z.array(eventSchema),
  active: z.boolean().meta({ description: "False if nothing is sent to the webhook any more." }),
  created_at: isoTimestamp,
};

/**
 * Reasons why an attempt did not deliver. Nothing more about the receiver's answer or its target is
 * disclosed.
 */
const ATTEMPT_ERRORS = [
  /** The address is not one that webhooks may call, or the name does not resolve. */
  "refused_target",
  "connection_failed",
  "certificate",
  "tls",
  "connection_lost",
  "timeout",
  "invalid_answer",
  /** A 3xx status: redirects are never followed. */
  "redirect",
  /** Any other status that is not 2xx. */
  "status",
  /** The service stopped during the attempt. */
  "interrupted",
] as const;
export type AttemptError = (typeof ATTEMPT_ERRORS)[number];

const attemptSchema = z.object({
  at: isoTimestamp,
  response_status: z.int().nullable().meta({ description: "Null if there was no answer." }),
  error: z.enum(ATTEMPT_ERRORS).nullable().meta({ description: "Null if it was delivered." }),
  duration_ms: z.int(),
  counted: z.boolean().meta({
    description: "Whether the attempt is one of the three; an attempt at a paused destination is not.",
  }),
});
export type DeliveryAttempt = z.infer<typeof attemptSchema>;

/** The name in a delivery that tests the destination; every other delivery carries an event. */
export const PING = "ping";
const deliveredEventSchema = z.enum([...WEBHOOK_EVENTS, PING]);

const lastDeliverySchema = z.object({
  delivery_id: z.uuid(),
  event: deliveredEventSchema,
  ...attemptSchema.omit({ duration_ms: true, counted: true }).shape,
}).meta({ id: "LastDelivery" });
export type LastDelivery = z.infer<typeof lastDeliverySchema>;

const lastFailureSchema = lastDeliverySchema.extend({
  at: isoTimestamp.meta({ description: "When it was given up." }),
  error: attemptSchema.shape.error.meta({
    description: "The error of its last attempt; null if it was given up without one.",
  }),
}).meta({ id: "LastFailure" });
export type LastFailure = z.infer<typeof lastFailureSchema>;

export const webhookRegisteredSchema = z.object({
  ...webhookFields,
  signing_secret: z.string().meta({
    description: "Shown once, never again: `whsec_` and 32 bytes in base64. The signature is keyed with it.",
  }),
  ...envelopeFields,
}).meta({ id: "WebhookRegistered" });

export const webhookAlreadyRegisteredSchema = z.object({
  ...webhookFields,
  already_provisioned: z.literal(true),
  ...envelopeFields,
}).meta({
  id: "WebhookAlreadyRegistered",
  description: "The answer to a repeated call: the webhook as it was registered, without its secret.",
});

const listedWebhookSchema = z.object({
  ...webhookFields,
  last_delivery: lastDeliverySchema.nullable().meta({
    description: "The attempt that ended last; null if there was none yet.",
  }),
});

export const webhookListSchema = z.object({
  webhooks: z.array(listedWebhookSchema),
  count: z.number().int(),
  ...envelopeFields,
}).meta({ id: "WebhookList" });

export const deliveriesSchema = z.object({
  webhook: listedWebhookSchema.extend({
    paused_since: isoTimestamp.nullable().meta({
      description:
        "Instant since which the webhook is paused: at least 20 attempts in a row, over at least 5 minutes, had failed. It is tried once a minute.",
    }),
    waiting: z.int().meta({ description: "Number of events that are still to be delivered." }),
    last_failure: lastFailureSchema.nullable().meta({
      description: "The newest delivery that is dead, whatever the filter; null if the log holds none.",
    }),
  }),
  deliveries: z.array(z.object({
    delivery_id: z.uuid(),
    event: deliveredEventSchema,
    event_request_id: z.string().meta({ description: "`request_id` in the body." }),
    event_at: isoTimestamp.meta({ description: "`timestamp` in the body." }),
    status: z.enum(DELIVERY_STATUSES).meta({
      description:
        "`dead`: not delivered, and not tried again. `cancelled`: its record was erased or pruned.",
    }),
    attempts: z.array(attemptSchema).meta({ description: "The last ten at most, the oldest first." }),
    next_attempt_at: isoTimestamp.nullable(),
    redelivery_of: z.uuid().nullable(),
    created_at: isoTimestamp,
  })),
  count: z.int(),
  ...envelopeFields,
}).meta({ id: "WebhookDeliveries" });

export const webhookTestedSchema = z.object({
  delivery_id: z.uuid(),
  delivered: z.boolean(),
  response_status: attemptSchema.shape.response_status,
  error: attemptSchema.shape.error,
  duration_ms: z.int(),
  ...envelopeFields,
}).meta({ id: "WebhookTested" });

export const redeliveredSchema = z.object({
  delivery_id: z.uuid().meta({ description: "Id of the new delivery." }),
  redelivery_of: z.uuid(),
  status: z.literal("queued"),
  ...envelopeFields,
}).meta({ id: "WebhookRedelivered" });
