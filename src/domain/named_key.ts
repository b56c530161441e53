/** Named keys of an organization: the request for one, and the answers about them. */
import * as z from "zod";
import { type Scope, SCOPES } from "./access.ts";
import { instantSchema, isoTimestamp } from "./instant.ts";
import { KEY_NAME_MAX_LENGTH } from "./limits.ts";
import { lineSchema } from "./organization.ts";
import { envelopeFields } from "./score.ts";

const scopesSchema = z.array(z.enum(SCOPES)).min(1).max(SCOPES.length)
  .transform((scopes): readonly Scope[] => SCOPES.filter((scope) => scopes.includes(scope)))
  .meta({
    description:
      "What the key may do: `score` sends what reviewers decided, draws probes and commits; `read` reads figures, records and proofs; `export` exports evidence and the audit log; `probe` seals and recalls probes.",
    override: {
      type: "array",
      minItems: 1,
      maxItems: SCOPES.length,
      items: { type: "string", enum: [...SCOPES] },
    },
  });

export const namedKeyRequestSchema = z.object({
  name: lineSchema(KEY_NAME_MAX_LENGTH).meta({
    description: "Says what uses the key. An organization has each name once.",
    examples: ["review desk"],
  }),
  scopes: scopesSchema,
  expires_at: instantSchema.nullable().optional().meta({
    description: "The key is refused from this instant on; it never ends if this is left out.",
  }),
}).meta({ id: "NamedKeyRequest" });

export type NamedKeyRequest = z.output<typeof namedKeyRequestSchema>;

export const keyIdSchema = z.string().regex(/^[0-9A-Za-z_-]{1,64}$/, "must be the key_id of a named key");

const namedKeyFields = {
  key_id: z.string(),
  name: z.string(),
  prefix: z.string().length(8).meta({ description: "The first 8 characters of the key." }),
  scopes: z.array(z.enum(SCOPES)),
  created_at: isoTimestamp,
  expires_at: isoTimestamp.nullable(),
  last_used_at: isoTimestamp.nullable().meta({
    description: "The last use, exact to a minute; null before the first.",
  }),
};

export const namedKeyCreatedSchema = z.object({
  ...namedKeyFields,
  api_key: z.string().meta({ description: "The key. It is shown only once." }),
  warning: z.string(),
  ...envelopeFields,
}).meta({ id: "NamedKeyCreated" });

export const namedKeyAlreadyCreatedSchema = z.object({
  key_id: z.string(),
  already_provisioned: z.literal(true),
  ...envelopeFields,
}).meta({ id: "NamedKeyAlreadyCreated", description: "The answer to a repeated call, without the key." });

export const namedKeysSchema = z.object({
  keys: z.array(z.object(namedKeyFields)).meta({ description: "Oldest first." }),
  count: z.int().min(0),
  ...envelopeFields,
}).meta({ id: "NamedKeys" });

export const namedKeyRemovedSchema = z.object({
  deleted: z.literal(true),
  key_id: z.string(),
  ...envelopeFields,
}).meta({ id: "NamedKeyRemoved" });
