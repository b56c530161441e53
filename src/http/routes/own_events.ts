/** Events of its own that an organization appends to its evidence chain. */
import * as z from "zod";
import { SERVICE_EVENTS } from "../../domain/audit_events.ts";
import { BODY_LIMIT_BYTES } from "../../domain/limits.ts";
import { envelopeFields } from "../../domain/score.ts";
import { canonicalJson } from "../../evidence/canonical.ts";
import { utf8 } from "../../evidence/crypto.ts";
import { entrySchema } from "../../evidence/entry.ts";
import { evidenceSchema } from "../../evidence/envelope.ts";
import { appendEvent } from "../../operations/organizations/audit.ts";
import type { Route } from "../exchange.ts";
import { idempotentCall } from "../idempotency_key.ts";
import { parseWith, validationFailed } from "../parse.ts";
import { KEYED_POST, keyFor } from "./shared.ts";

/** Prefixes of the names of the service's own events, present and future. */
const RESERVED_PREFIXES = [
  "AUTH_FAIL_",
  "ADMIN_",
  "SCORE_",
  "DRS_",
  "KEY_",
  "CHAIN_",
  "RETENTION_",
  "SIGNING_",
  "SUBJECT_",
  "ORG_",
  "PROBE_",
  "EXERCISE_",
  "CASE_SET_",
] as const;

/** Largest payload, bytes of its canonical JSON. */
const PAYLOAD_LIMIT_BYTES = 65_536;

const RESERVED_NAME = new RegExp(
  `^(?:${[...RESERVED_PREFIXES, ...SERVICE_EVENTS.map((event) => `${event}$`)].join("|")})`,
);

const eventTypeSchema = z.string()
  .regex(
    /^[A-Z][A-Z0-9_]{0,63}$/,
    "must be 1 to 64 capitals, digits or underscores, beginning with a capital",
  )
  .refine((eventType) => !RESERVED_NAME.test(eventType), {
    message: `is a name of the service's own events: choose one that does not begin with ${
      RESERVED_PREFIXES.join(", ")
    } and is none of its names`,
  })
  .meta({
    description: "A name that is not reserved for the service's own events.",
    examples: ["REVIEW_POLICY_CHANGED"],
    // Many languages have no lookahead, so the pattern does not exclude the reserved names.
    override: { not: { pattern: RESERVED_NAME.source } },
  });

interface PayloadFault {
  readonly path: readonly string[];
  readonly message: string;
}

/**
 * The first fault in a value that must be the same in every language; null if there is none. A path is built
 * only for a fault: a payload may have half a million members.
 */
function findFault(value: unknown): PayloadFault | null {
  if (typeof value === "number") {
    if (!Number.isFinite(value)) return { path: [], message: "must be a finite number" };
    const isExact = !Number.isInteger(value) || Number.isSafeInteger(value);
    return isExact ? null : {
      path: [],
      message: "must be a whole number below 2^53 in absolute value: send larger ones as text",
    };
  }
  if (typeof value === "string") {
    return value.isWellFormed() ? null : { path: [], message: "must be well-formed Unicode" };
  }
  if (typeof value !== "object" || value === null) return null;
  return Array.isArray(value) ? findFaultInArray(value) : findFaultInObject(value as Record<string, unknown>);
}

function findFaultInArray(items: readonly unknown[]): PayloadFault | null {
  for (let index = 0; index < items.length; index += 1) {
    const fault = findFault(items[index]);
    if (fault !== null) return prefixPath(String(index), fault);
  }
  return null;
}

function findFaultInObject(members: Readonly<Record<string, unknown>>): PayloadFault | null {
  for (const name of Object.keys(members)) {
    if (!name.isWellFormed()) {
      return { path: [], message: "must have member names that are well-formed Unicode" };
    }
    const fault = findFault(members[name]);
    if (fault !== null) return prefixPath(name, fault);
  }
  return null;
}

function prefixPath(name: string, { path, message }: PayloadFault): PayloadFault {
  return { path: [name, ...path], message };
}

const payloadSchema = z.record(z.string(), z.unknown(), { error: "must be an object" }).superRefine(
  (payload, context) => {
    const fault = findFault(payload);
    if (fault !== null) context.addIssue({ code: "custom", message: fault.message, path: [...fault.path] });
  },
).meta({
  description:
    "Details of the event: an object of at most 65,536 bytes of canonical JSON. Do not send personal data: the payload is not erased when an operator is erased.",
});

const appendRequestSchema = z.object({ event_type: eventTypeSchema, payload: payloadSchema }).meta({
  id: "AuditAppendRequest",
});

const appendResponseSchema = z.object({
  event_id: z.string().meta({ description: "The entry's id." }),
  seq: z.int().min(0),
  entry_hash: z.string(),
  entry: entrySchema,
  detail: z.record(z.string(), z.unknown()).meta({
    description: "The recorded payload, which the evidence covers.",
  }),
  evidence: evidenceSchema,
  ...envelopeFields,
}).meta({ id: "AuditAppended" });

const postAuditAppend: Route = {
  ...KEYED_POST,
  ...keyFor("own"),
  path: "/v1/audit/append",
  operationId: "postAuditAppend",
  summary: "Append an event of your own",
  description:
    "Appends an event of the organization, for example a change of its review policy, to its evidence chain. The entry cannot be removed.",
  body: { schema: appendRequestSchema, limitBytes: BODY_LIMIT_BYTES },
  success: {
    status: 201,
    description: "The entry and its evidence.",
    schema: appendResponseSchema,
  },
  errors: ["GONE"],
  examples: [{
    summary: "A policy changed",
    body: { event_type: "REVIEW_POLICY_CHANGED", payload: { policy: "four-eyes", from: "2026-12-01" } },
  }],
  async handler({ dependencies }, { context, exchange, json }) {
    const { event_type, payload } = parseWith(appendRequestSchema, json);
    const { length } = utf8(canonicalJson(payload));
    if (length > PAYLOAD_LIMIT_BYTES) {
      throw validationFailed([{
        path: "payload",
        message: `must have at most ${PAYLOAD_LIMIT_BYTES} bytes of canonical JSON; it has ${length}`,
      }]);
    }
    const { event, ...metadata } = await appendEvent(dependencies, exchange.caller!, {
      eventType: event_type,
      payload,
      call: exchange.call,
      idempotency: idempotentCall(context),
    });
    return { status: 201, body: { ...event }, ...metadata };
  },
};

export const OWN_EVENT_ROUTES: readonly Route[] = [postAuditAppend];
