/** What query parameters of several calls have in common. */
import * as z from "zod";

/** A whole number that came as text; anything else is refused, never read in part. */
export function integerParameter(
  { min, max, fallback }: { readonly min: number; readonly max: number; readonly fallback: number },
) {
  return z.string().regex(/^(0|[1-9][0-9]{0,8})$/, "must be a whole number").transform(Number)
    .pipe(z.int().min(min).max(max)).default(fallback).meta({
      override: { type: "integer", minimum: min, maximum: max, default: fallback, pattern: undefined },
    });
}
