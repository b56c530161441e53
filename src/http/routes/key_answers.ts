/** Answers about an organization's key: to the organization itself, and to administrators. */
import * as z from "zod";
import { isoTimestamp } from "../../domain/instant.ts";
import { orgIdSchema } from "../../domain/organization.ts";
import { envelopeFields } from "../../domain/score.ts";

export const newKeySchema = z.string().meta({ description: "The new API key. It is shown only once." });

export const keyPrefixSchema = z.string().length(8);

export const keyRevokedSchema = z.object({
  revoked: z.literal(true),
  org_id: orgIdSchema,
  revoked_at: isoTimestamp,
  ...envelopeFields,
}).meta({ id: "KeyRevoked" });

export const alreadyProvisionedSchema = z.object({
  prefix: keyPrefixSchema,
  already_provisioned: z.literal(true),
  ...envelopeFields,
}).meta({ id: "AlreadyProvisioned", description: "The answer to a repeated call, without the key." });
