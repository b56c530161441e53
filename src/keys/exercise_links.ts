/**
 * The secrets of exercises: the token of a link, and the names of the sessions under which its cases are scored. All are
 * derived from the installation key, so that nothing of them is stored.
 */
import { derivedKey } from "./derived_key.ts";
import { hmacSha256 } from "./hmac.ts";

const TOKEN_BYTES = 16;
const SESSION_BYTES = 8;

const exerciseKey = derivedKey("jiss exercises v1");

/** The token of the link to a run, 22 characters of base64url: who has it can decide the cases of the run. */
export function linkToken(installationKey: Uint8Array, runId: string): string {
  return hmacSha256(exerciseKey(installationKey), JSON.stringify(["link", runId])).slice(0, TOKEN_BYTES)
    .toBase64({ alphabet: "base64url", omitPadding: true });
}

/**
 * The session of a run's case, counted from 1. Nobody can foretell it, so that no caller can take its name before the
 * reviewer decides the case.
 */
export function caseSessionId(installationKey: Uint8Array, runId: string, number: number): string {
  const secret = hmacSha256(exerciseKey(installationKey), JSON.stringify(["session", runId, number]));
  return `exercise-${runId}-${number}-${secret.slice(0, SESSION_BYTES).toHex()}`;
}
