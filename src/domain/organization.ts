/**
 * An organization, and the request that creates one.
 * Source: specification, Organization and Master-key admin; contract, section 3.
 */
import * as z from "zod";
import { TIERS } from "./enums.ts";
import { domainSchema } from "./interaction.ts";
import { ALLOWED_ORIGINS_MAX, ORGANIZATION_NAME_MAX_LENGTH } from "./limits.ts";

export const orgIdSchema = z.string()
  .regex(/^[A-Za-z0-9_-]{1,128}$/, "must be 1 to 128 letters, digits, hyphens or underscores")
  .meta({ description: "The organization's id.", examples: ["acme-bank"] });

const CONTROLS = "\\u0000-\\u001f\\u007f-\\u009f";
/** Characters that break a line, or turn the direction of what follows them. */
const TURNS = "\\u2028-\\u202e\\u2066-\\u2069";
/**
 * Characters that show nothing: with and without them, two lines look alike. The list is of ranges within the basic plane, since
 * few languages' patterns know Unicode's properties, and many read a pattern by UTF-16 units.
 * Source: Unicode, Default_Ignorable_Code_Point, and the empty Braille cell.
 */
const INVISIBLE =
  "\\u00ad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f\\u200b-\\u200f\\u202a-\\u202e" +
  "\\u2060-\\u206f\\u2800\\u3164\\ufe00-\\ufe0f\\ufeff\\uffa0\\ufff0-\\ufff8";
const INVISIBLES = new RegExp(`[${INVISIBLE}]`, "u");
/** A text without control characters. */
export const NO_CONTROLS: RegExp = new RegExp(`^[^${CONTROLS}]*$`);
const MISLEADING = new RegExp(`[${CONTROLS}${TURNS}]`, "u");

/** Whether a text can show otherwise than it reads: it holds control characters, breaks a line, or turns its direction. */
export function isMisleading(text: string): boolean {
  return MISLEADING.test(text);
}

/**
 * A line of text for people, at most so many characters after trimming.
 * @param options.mayTurn whether it may hold characters that turn its direction. Default: true.
 * @param options.mayHide whether it may hold characters that show nothing. Default: true.
 */
export function lineSchema(
  maximum: number,
  { mayTurn = true, mayHide = true }: { readonly mayTurn?: boolean; readonly mayHide?: boolean } = {},
) {
  const controls = mayTurn ? CONTROLS : CONTROLS + TURNS;
  const refused = mayHide ? controls : controls + INVISIBLE;
  const holdsControls = new RegExp(`[${controls}]`, "u");
  return z.string()
    .refine((line) => line.isWellFormed(), "must be well-formed Unicode")
    .refine((line) => !holdsControls.test(line), "must hold no control characters")
    .refine((line) => mayHide || !INVISIBLES.test(line), "must hold no characters that show nothing")
    .transform((line) => line.trim())
    .refine(
      (line) => line.length > 0 && Array.from(line).length <= maximum,
      `must be 1 to ${maximum} characters after trimming`,
    )
    .meta({
      // The same rule as one pattern: white space around the trimmed line, and no refused character anywhere.
      override: {
        pattern: `^[^\\S${refused}]*[^\\s${refused}](?:[^${refused}]{0,${
          maximum - 2
        }}[^\\s${refused}])?[^\\S${refused}]*$`,
      },
    });
}

const nameSchema = lineSchema(ORGANIZATION_NAME_MAX_LENGTH).meta({
  description: "1 to 200 characters after trimming, none of them a control character.",
  examples: ["Acme Bank"],
});

/** scheme://host[:port]: no path, query, fragment, user, escape, wildcard, control character, lone surrogate. */
const ORIGIN = /^[a-z][a-z0-9+.-]*:\/\/[^/\\?#@%*\s\p{Cc}\p{Cs}]+$/iu;

/** An origin as browsers send it; null if the text is not an origin. */
export function normalizeOrigin(text: string): string | null {
  if (!ORIGIN.test(text) || !URL.canParse(text)) return null;
  const { origin } = new URL(text);
  return origin === "null" ? text.toLowerCase() : origin;
}

const ORIGIN_PATTERN = "[A-Za-z][A-Za-z0-9+.-]*://[^/\\\\?#@%*,\\s\\u0000-\\u001f\\u007f-\\u009f]+";
const ORIGINS_PATTERN = `^[\\s,]*(?:${ORIGIN_PATTERN}(?:[\\s,]+${ORIGIN_PATTERN})*[\\s,]*)?$`;

const allowedOriginsSchema = z.string().transform((text, context) => {
  const origins = new Set<string>();
  for (const item of text.split(/[\s,]+/).filter((word) => word !== "")) {
    const origin = normalizeOrigin(item);
    if (origin === null) {
      context.addIssue({
        code: "custom",
        message:
          "must be origins like https://app.example.com, without path or wildcard, separated by commas or spaces",
      });
      return z.NEVER;
    }
    origins.add(origin);
  }
  if (origins.size > ALLOWED_ORIGINS_MAX) {
    context.addIssue({
      code: "custom",
      message: `must be at most ${ALLOWED_ORIGINS_MAX} origins, it has ${origins.size}`,
    });
    return z.NEVER;
  }
  return [...origins].sort();
}).meta({
  description:
    "Origins allowed for cross-origin calls, separated by commas or spaces; empty means none. Wildcards are never honoured.",
  examples: ["https://review.acme.example"],
  override: { pattern: ORIGINS_PATTERN },
});

export const createOrganizationSchema = z.object({
  org_id: orgIdSchema,
  name: nameSchema,
  domain: domainSchema,
  tier: z.enum(TIERS).meta({ description: "Sets the usage limit." }),
  allowed_origins: allowedOriginsSchema,
}).meta({ id: "OrganizationRequest" });

export type CreateOrganization = z.output<typeof createOrganizationSchema>;
