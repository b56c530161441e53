/** An organization's users: requests about them, signing in, and the answers. Source: oversight-loop design, section 3. */
import * as z from "zod";
import { ROLES } from "./access.ts";
import { PRIVACIES } from "./enums.ts";
import { isoTimestamp } from "./instant.ts";
import {
  EMAIL_MAX_LENGTH,
  KEY_NAME_MAX_LENGTH,
  PASSWORD_MAX_LENGTH,
  PASSWORD_MIN_LENGTH,
  USER_NAME_MAX_LENGTH,
} from "./limits.ts";
import { lineSchema, orgIdSchema } from "./organization.ts";
import {
  passkeyAuthenticationSchema,
  passkeyCreationOptionsSchema,
  passkeyRegistrationSchema,
  passkeyRequestOptionsSchema,
} from "./passkey.ts";
import { envelopeFields } from "./score.ts";

export const userIdSchema = z.string().regex(/^usr_[0-9A-Za-z]{26}$/, "must be the user_id of a user");

export const USER_STATES = ["invited", "active", "disabled", "erased"] as const;
export type UserState = (typeof USER_STATES)[number];

export const SIGN_IN_METHODS = ["password", "passkey", "oidc", "link"] as const;
export type SignInMethod = (typeof SIGN_IN_METHODS)[number];

/**
 * An address with white space around it, as the HTML standard has it for `<input type="email">`, of limited length. Case does
 * not matter, so that nobody is invited twice.
 */
const EMAIL =
  /^\s*[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*\s*$/;

export const emailSchema = z.string().max(EMAIL_MAX_LENGTH)
  .regex(EMAIL, "must be an email address, such as ada@bank.example")
  .transform((text) => text.trim().toLowerCase())
  .meta({
    description: "The user signs in with it. Nothing is sent to it. Case does not matter.",
    examples: ["ada@acme.example"],
  });

const PASSWORD_LENGTH = `must have ${PASSWORD_MIN_LENGTH} to ${PASSWORD_MAX_LENGTH} characters`;

/** Different characters of a new password: a single one, repeated, has the length and is no password. */
const PASSWORD_CHARACTERS_MIN = 5;

/** A new password. Its length is what counts (NIST SP 800-63B, 3.1.1.2). */
export const newPasswordSchema = z.string().min(PASSWORD_MIN_LENGTH, PASSWORD_LENGTH)
  .max(PASSWORD_MAX_LENGTH, PASSWORD_LENGTH)
  .refine((text) => text.isWellFormed(), "must be well-formed Unicode")
  .refine(
    (text) => new Set(text).size >= PASSWORD_CHARACTERS_MIN,
    `must have at least ${PASSWORD_CHARACTERS_MIN} different characters`,
  )
  .meta({
    description:
      `${PASSWORD_MIN_LENGTH} to ${PASSWORD_MAX_LENGTH} characters of any kind, at least ${PASSWORD_CHARACTERS_MIN} of them different.`,
  });

/** A password as it is typed to sign in. */
const typedPasswordSchema = z.string().min(1).max(PASSWORD_MAX_LENGTH)
  .refine((text) => text.isWellFormed(), "must be well-formed Unicode");

const userNameSchema = lineSchema(USER_NAME_MAX_LENGTH, { mayTurn: false }).meta({
  description: "The name that colleagues see.",
  examples: ["Ada Ruiz"],
});

const roleSchema = z.enum(ROLES).meta({
  description:
    "viewer reads; officer reads and acts; auditor reads, exports and verifies; admin does all of that and has users, keys and webhooks.",
});

export const userRequestSchema = z.object({ email: emailSchema, name: userNameSchema, role: roleSchema })
  .meta({
    id: "UserRequest",
  });
export type UserRequest = z.output<typeof userRequestSchema>;

export const userChangeSchema = z.object({
  name: userNameSchema,
  role: roleSchema,
  disabled: z.boolean().meta({
    description: "A disabled user cannot sign in, and has no session any more.",
  }),
}).meta({ id: "UserChange" });
export type UserChange = z.output<typeof userChangeSchema>;

const userFields = {
  user_id: z.string(),
  email: z.string().nullable().meta({ description: "Null, as the name, once the user is erased." }),
  name: z.string().nullable(),
  role: roleSchema,
  state: z.enum(USER_STATES),
  has_password: z.boolean(),
  created_at: isoTimestamp,
  changed_at: isoTimestamp,
};

/** A user as answers show one. */
export interface ShownUser extends z.output<z.ZodObject<typeof userFields>> {}

const linkFields = {
  link: z.string().meta({ description: "The one-time link. It is shown only once; pass it on to the user." }),
  expires_at: isoTimestamp,
};

export const userInvitedSchema = z.object({ ...userFields, ...linkFields, ...envelopeFields }).meta({
  id: "UserInvited",
});
export const userLinkSchema = z.object({ user_id: z.string(), ...linkFields, ...envelopeFields }).meta({
  id: "UserLink",
});
export const userSchema = z.object({ ...userFields, ...envelopeFields }).meta({ id: "User" });
export const usersSchema = z.object({
  users: z.array(z.object(userFields)).meta({ description: "Oldest first." }),
  count: z.int().min(0),
  next_cursor: z.string().nullable(),
  ...envelopeFields,
}).meta({ id: "Users" });
export const userErasedSchema = z.object({ erased: z.literal(true), user_id: z.string(), ...envelopeFields })
  .meta({
    id: "UserErased",
  });

const sessionFields = {
  session_id: z.string(),
  method: z.enum(SIGN_IN_METHODS),
  agent: z.string().meta({ description: "What the browser said of itself when it signed in." }),
  created_at: isoTimestamp,
  seen_at: isoTimestamp.meta({ description: "The last request, exact to a minute." }),
  expires_at: isoTimestamp,
  is_current: z.boolean().meta({ description: "Whether it is the session of this call." }),
};

export const sessionIdSchema = z.string().regex(/^[0-9a-f]{64}$/, "must be the session_id of a session");
export const sessionsSchema = z.object({
  sessions: z.array(z.object(sessionFields)).meta({ description: "Oldest first." }),
  count: z.int().min(0),
  ...envelopeFields,
}).meta({ id: "UserSessions" });
export const sessionsEndedSchema = z.object({ ended: z.int().min(0), ...envelopeFields }).meta({
  id: "UserSessionsEnded",
});

export const signInRequestSchema = z.object({
  organization: orgIdSchema.optional().meta({
    description:
      "The organization's id. It may be left out if the installation has one organization with users.",
  }),
  email: z.string().max(EMAIL_MAX_LENGTH).transform((text) => text.trim().toLowerCase()),
  password: typedPasswordSchema,
}).meta({ id: "SignInRequest" });
export type SignInRequest = z.output<typeof signInRequestSchema>;

/** A new passkey, and what its user calls the device. */
export const newPasskeySchema = z.object({
  name: lineSchema(KEY_NAME_MAX_LENGTH).meta({
    description: "What you call the device.",
    examples: ["work laptop"],
  }),
  registration: passkeyRegistrationSchema,
}).meta({ id: "NewPasskey" });
export type NewPasskeyRequest = z.output<typeof newPasskeySchema>;

export const linkRequestSchema = z.object({ token: z.string().max(200) }).meta({ id: "LinkRequest" });

export const linkUseSchema = z.object({
  token: z.string().max(200),
  password: newPasswordSchema.optional().meta({
    description: "The user's new password. A link that only signs in takes none.",
  }),
  passkey: newPasskeySchema.optional().meta({ description: "A passkey in place of a password." }),
}).meta({ id: "LinkUse" });

export const passkeySignInSchema = z.object({ passkey: passkeyAuthenticationSchema }).meta({
  id: "PasskeySignIn",
});

export const passkeyCreationSchema = z.object({ options: passkeyCreationOptionsSchema, ...envelopeFields })
  .meta({
    id: "PasskeyCreation",
  });
export const passkeyRequestSchema = z.object({ options: passkeyRequestOptionsSchema, ...envelopeFields })
  .meta({
    id: "PasskeyRequest",
  });

const passkeyFields = {
  passkey_id: z.string(),
  name: z.string(),
  created_at: isoTimestamp,
  used_at: isoTimestamp.nullable(),
};
export const passkeysSchema = z.object({
  passkeys: z.array(z.object(passkeyFields)).meta({ description: "Oldest first." }),
  count: z.int().min(0),
  ...envelopeFields,
}).meta({ id: "Passkeys" });
export const passkeyAddedSchema = z.object({ ...passkeyFields, ...envelopeFields }).meta({
  id: "PasskeyAdded",
});
export const passkeyRemovedSchema = z.object({
  deleted: z.literal(true),
  passkey_id: z.string(),
  ...envelopeFields,
})
  .meta({ id: "PasskeyRemoved" });

export const LINK_PURPOSES = ["set_password", "sign_in"] as const;
export type LinkPurpose = (typeof LINK_PURPOSES)[number];

export const linkSchema = z.object({
  purpose: z.enum(LINK_PURPOSES),
  organization: z.object({ id: z.string(), name: z.string() }),
  email: z.string(),
  name: z.string(),
  expires_at: isoTimestamp,
  ...envelopeFields,
}).meta({ id: "Link" });

export const passwordChangeSchema = z.object({
  current_password: typedPasswordSchema,
  new_password: newPasswordSchema,
}).meta({ id: "PasswordChange" });

export const meSchema = z.object({
  user: z.object(userFields),
  organization: z.object({ id: z.string(), name: z.string() }),
  minimum_jis: z.number().meta({ description: "The lowest JIS that the model in use calls compliant." }),
  privacy: z.enum(PRIVACIES).meta({
    description: "Whether users see reviewers' ids, or pseudonyms in their place.",
  }),
  session: z.object(sessionFields),
  ...envelopeFields,
}).meta({ id: "Me" });

export const signedOutSchema = z.object({
  signed_out: z.literal(true),
  provider_logout_url: z.string().nullable().meta({
    description:
      "Where the browser ends its session at the identity provider, too; null if there is none to end.",
  }),
  ...envelopeFields,
}).meta({
  id: "SignedOut",
});
