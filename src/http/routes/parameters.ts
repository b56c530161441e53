/** Parameters that several routes share. */
import * as z from "zod";
import { operatorIdSchema } from "../../domain/interaction.ts";
import { RECORDS_PAGE_DEFAULT, RECORDS_PAGE_MAX } from "../../domain/limits.ts";
import { validationFailed } from "../parse.ts";

/** A whole number given as text. Any other text is refused, never read in part. */
export function integerParameter(
  { min, max, fallback }: { readonly min: number; readonly max: number; readonly fallback: number },
) {
  const message = `must be a whole number from ${min} to ${max}`;
  return z.string().regex(/^(0|[1-9][0-9]{0,8})$/, message).transform(Number)
    .refine((value) => min <= value && value <= max, message).default(fallback).meta({
      override: {
        type: "integer",
        format: "int32",
        minimum: min,
        maximum: max,
        default: fallback,
        pattern: undefined,
      },
    });
}

export const CURSOR_MESSAGE = "must be the next_cursor of the previous page, unchanged";

/** The parameters of a list of records, newest first. */
export const recordPage = {
  limit: integerParameter({ min: 1, max: RECORDS_PAGE_MAX, fallback: RECORDS_PAGE_DEFAULT }),
  cursor: z.string().regex(
    /^(?:0|[1-9][0-9]{0,14})$/,
    CURSOR_MESSAGE,
  )
    .transform(Number).optional().meta({ description: "`next_cursor` of the previous page." }),
};

/** Refuses a span that ends before it begins: an empty list would read as if there were nothing in it. */
export function requireSpan({ since, until }: { readonly since?: number; readonly until?: number }): void {
  if (since === undefined || until === undefined || since <= until) return;
  throw validationFailed([{ path: "until", message: "must not be before since" }]);
}

/** The path of a call about one operator. */
export const operatorPathSchema = z.object({ operator_id: operatorIdSchema });

/** The path of a link that needs no key. `example`: a token of the form of those that a service gives. */
export function linkPath(example: string) {
  return z.object({
    token: z.string().regex(/^[A-Za-z0-9._-]{1,64}$/, "must be that of a link").meta({
      description: "The last part of the link.",
      examples: [example],
    }),
  });
}
