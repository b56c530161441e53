/**
 * Webhook destinations: what is asked for one and what is told of it.
 * Source: specification, Webhook destination and Events; contract, section 5.
 */
import { z } from "zod";
import { WEBHOOK_SECRET_MAX_LENGTH, WEBHOOK_SECRET_MIN_LENGTH, WEBHOOK_URL_MAX_LENGTH } from "./limits.ts";
import { envelopeFields } from "./score.ts";

/** In the order in which they are told. */
export const WEBHOOK_EVENTS = ["score.committed", "drs.must_review", "drs.escalation"] as const;
export type WebhookEvent = (typeof WEBHOOK_EVENTS)[number];

const eventSchema = z.enum(WEBHOOK_EVENTS);

/** Where a destination lies is looked at apart from this: a host may be a name. */
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

const eventsSchema = z.array(eventSchema).min(1)
  .transform((events) => WEBHOOK_EVENTS.filter((event) => events.includes(event)))
  .meta({ override: { type: "array", minItems: 1, items: { type: "string", enum: [...WEBHOOK_EVENTS] } } });

export const webhookRequestSchema = z.object({
  url: urlSchema,
  secret: z.string().min(WEBHOOK_SECRET_MIN_LENGTH).max(WEBHOOK_SECRET_MAX_LENGTH)
    .refine((secret) => secret.isWellFormed(), "must be well-formed Unicode")
    .meta({
      description: "Shared with the receiver's owner; the signing secret is derived from it. It is not kept.",
    }),
  events: eventsSchema.optional().meta({ description: "All of them where it is left out." }),
}).meta({ id: "WebhookRequest" });

export type WebhookRequest = z.output<typeof webhookRequestSchema>;

const webhookFields = {
  id: z.string(),
  url: z.string(),
  events: z.array(eventSchema),
  active: z.boolean().meta({ description: "False: nothing is sent there any more." }),
  created_at: z.iso.datetime(),
};

export const webhookRegisteredSchema = z.object({
  ...webhookFields,
  signing_secret: z.string().meta({
    description: "Shown once, never again: `whsec_` and 32 bytes in base64. The signature is keyed with it.",
  }),
  ...envelopeFields,
}).meta({ id: "WebhookRegistered" });

export const webhookListSchema = z.object({
  webhooks: z.array(z.object({
    ...webhookFields,
    last_delivery: z.null().meta({ description: "Null: nothing was delivered there yet." }),
  })),
  count: z.number().int(),
  ...envelopeFields,
}).meta({ id: "WebhookList" });

export const webhookRemovedSchema = z.object({
  deleted: z.literal(true),
  id: z.string(),
  ...envelopeFields,
}).meta({ id: "WebhookRemoved" });

export const webhookPathSchema = z.object({
  id: z.string().regex(/^[A-Za-z0-9_-]{1,128}$/, "must be 1 to 128 letters, digits, hyphens or underscores"),
});
