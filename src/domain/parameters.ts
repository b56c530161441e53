/** Query parameters that several calls share. */
import * as z from "zod";

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
