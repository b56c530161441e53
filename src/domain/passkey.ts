/**
 * Passkeys as JSON: what the service asks of a browser, and what the browser answers. The names are those of the
 * standard, so that a browser reads and writes the JSON by itself.
 * Source: Web Authentication Level 3 (W3C), sections 5.1 (`toJSON`), 5.4 and 5.5.
 */
import * as z from "zod";

/** Bytes of the challenge of a ceremony. */
export const PASSKEY_CHALLENGE_BYTES = 32;

/** How long a browser waits for the person: the standard's own recommendation, and how long a challenge must live. */
export const PASSKEY_CEREMONY_MS = 300_000;

/** Most bytes of the id of a user in a passkey. */
export const PASSKEY_USER_ID_MAX_BYTES = 64;

/** ES256 is what nearly every authenticator makes; RS256 is for the TPM of Windows, which may have nothing else. */
export const PASSKEY_ALGORITHMS = { ES256: -7, RS256: -257 } as const;
export type PasskeyAlgorithm = keyof typeof PASSKEY_ALGORITHMS;

/** Bytes of an RS256 signature by a key of 2,048 bits, the only size that is accepted. */
export const RS256_SIGNATURE_BYTES = 256;

const CREDENTIAL_ID_BYTES = { min: 16, max: 1023 };
const CLIENT_DATA_BYTES = { min: 2, max: 2048 };
/** With 37 bytes of fixed fields; extensions can follow. */
const AUTHENTICATOR_DATA_BYTES = { min: 37, max: 1024 };
/** A statement about the authenticator can come with it unasked, with certificates. */
const ATTESTATION_BYTES = { min: 37, max: 16_384 };
/** The shortest and the longest are ES256 and RS256. */
const SIGNATURE_BYTES = { min: 8, max: RS256_SIGNATURE_BYTES };
const TRANSPORTS_MAX = 8;

/** Bytes in base64url without padding. Whether the last character is a possible one is checked with the rest. */
function base64url({ min, max }: { readonly min: number; readonly max: number }) {
  return z.string().min(Math.ceil(min * 4 / 3)).max(Math.ceil(max * 4 / 3))
    .regex(/^[A-Za-z0-9_-]*$/, "must be base64url without padding");
}

const challengeSchema = base64url({ min: PASSKEY_CHALLENGE_BYTES, max: PASSKEY_CHALLENGE_BYTES });
const userIdSchema = base64url({ min: 1, max: PASSKEY_USER_ID_MAX_BYTES });

export const passkeyIdSchema = base64url(CREDENTIAL_ID_BYTES).meta({
  description: "The id of a passkey, which its authenticator chose.",
});

const typeSchema = z.literal("public-key");

const transportsSchema = z.array(z.string().regex(/^[a-z-]{1,32}$/, "must be the name of a transport"))
  .max(TRANSPORTS_MAX).meta({
    description: "The ways by which the authenticator can be reached, as the browser knows them.",
  });

// ---- what the browser answers -----------------------------------------------------------------------------

/** The answer to {@link passkeyCreationOptionsSchema}. Members that the service does not read are left out. */
export const passkeyRegistrationSchema = z.object({
  id: passkeyIdSchema,
  type: typeSchema,
  response: z.object({
    clientDataJSON: base64url(CLIENT_DATA_BYTES),
    attestationObject: base64url(ATTESTATION_BYTES),
    transports: transportsSchema.default([]),
  }),
}).meta({
  id: "PasskeyRegistration",
  description: "A new passkey, as `PublicKeyCredential.toJSON()` has it.",
});

/** A registration as a browser sends it. */
export type PasskeyRegistration = z.input<typeof passkeyRegistrationSchema>;

/** The answer to {@link passkeyRequestOptionsSchema}. Members that the service does not read are left out. */
export const passkeyAuthenticationSchema = z.object({
  id: passkeyIdSchema,
  type: typeSchema,
  response: z.object({
    clientDataJSON: base64url(CLIENT_DATA_BYTES),
    authenticatorData: base64url(AUTHENTICATOR_DATA_BYTES),
    signature: base64url(SIGNATURE_BYTES),
    userHandle: userIdSchema.meta({
      description: "The id of the user, as the authenticator kept it. Every passkey of this service has one.",
    }),
  }),
}).meta({ id: "PasskeyAuthentication", description: "A sign-in, as `PublicKeyCredential.toJSON()` has it." });

/** A sign-in as a browser sends it. */
export type PasskeyAuthentication = z.input<typeof passkeyAuthenticationSchema>;

// ---- what the service asks --------------------------------------------------------------------------------

/** Options of `navigator.credentials.create`. */
export const passkeyCreationOptionsSchema = z.object({
  rp: z.object({
    id: z.string().meta({ description: "The host of the service; a passkey works there and nowhere else." }),
    name: z.string(),
  }),
  user: z.object({ id: userIdSchema, name: z.string(), displayName: z.string() }),
  challenge: challengeSchema,
  pubKeyCredParams: z.array(
    z.object({
      type: typeSchema,
      alg: z.literal([PASSKEY_ALGORITHMS.ES256, PASSKEY_ALGORITHMS.RS256]),
    }),
  ),
  timeout: z.int().meta({ description: "Milliseconds." }),
  excludeCredentials: z.array(z.object({ type: typeSchema, id: passkeyIdSchema })).meta({
    description: "The user's passkeys: an authenticator that has one of them makes no second.",
  }),
  authenticatorSelection: z.object({
    residentKey: z.literal("required"),
    requireResidentKey: z.literal(true),
    userVerification: z.literal("required"),
  }),
  attestation: z.literal("none"),
}).meta({
  id: "PasskeyCreationOptions",
  description: "For `PublicKeyCredential.parseCreationOptionsFromJSON()`.",
});

export type PasskeyCreationOptions = z.output<typeof passkeyCreationOptionsSchema>;

/** Options of `navigator.credentials.get`. */
export const passkeyRequestOptionsSchema = z.object({
  rpId: z.string().meta({ description: "The host of the service." }),
  challenge: challengeSchema,
  timeout: z.int().meta({ description: "Milliseconds." }),
  allowCredentials: z.array(z.never()).max(0).meta({
    override: { type: "array", maxItems: 0, items: {} },
    description: "Always empty: the person chooses a passkey, and the service tells nobody who has one.",
  }),
  userVerification: z.literal("required"),
}).meta({
  id: "PasskeyRequestOptions",
  description: "For `PublicKeyCredential.parseRequestOptionsFromJSON()`.",
});

export type PasskeyRequestOptions = z.output<typeof passkeyRequestOptionsSchema>;
