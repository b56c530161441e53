/** Hashes as text. */
import * as z from "zod";

/** Matches 32 bytes in lower-case hexadecimal. */
export const HASH32 = /^[0-9a-f]{64}$/;

/** The schema of such a hash. */
export const hash32 = z.string().regex(HASH32);
