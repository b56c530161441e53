/**
 * The two layers of rate limits: by address before any look-up, by key prefix once the key has verified.
 * Source: specification, Limits; contract, section 5.
 */
import { ServiceError, unavailable } from "../../domain/errors.ts";
import type { Admission } from "../../limits/admission.ts";
import { limitSubject } from "../../limits/client_address.ts";
import type { Exchange, Services } from "../exchange.ts";

function seconds(milliseconds: number): number {
  return Math.max(1, Math.ceil(milliseconds / 1000));
}

function rateLimited({ limit, resetMs }: Admission, subjectKind: string): ServiceError {
  return new ServiceError(
    "RATE_LIMITED",
    `At most ${limit} requests in 60 seconds for one ${subjectKind}: wait and retry.`,
    {
      headers: { "Retry-After": String(seconds(resetMs)) },
    },
  );
}

/** The error for a request that could not be counted: it is refused, but not recorded as a breach. */
function notCounted({ resetMs }: Admission): ServiceError {
  return unavailable(
    "Requests cannot be counted at the moment, so all are refused: retry.",
    seconds(resetMs),
  );
}

/**
 * Layer 1.
 * @param options.signsIn whether people come in here: their attempts have a budget of their own, so that they take nothing from an
 *   integration behind the same address, nor the other way round. Default: false.
 * @throws {ServiceError} RATE_LIMITED; SERVICE_UNAVAILABLE if the limiter cannot count.
 */
export async function admitAddress(
  services: Services,
  { address, arrivedAt, call }: Exchange,
  { signsIn = false }: { readonly signsIn?: boolean } = {},
): Promise<void> {
  const subject = limitSubject(address);
  const admission = await services.addressWindow.admit(signsIn ? `sign-in ${subject}` : subject, arrivedAt);
  if (admission.admitted) return;
  if (!admission.counted) throw notCounted(admission);
  services.breaches.record({ type: "AUTH_FAIL_RATE_LIMITED_IP", address: subject }, call.now);
  throw rateLimited(admission, "address");
}

/**
 * Layer 2; the headers of the answer tell how many requests are left.
 * @throws {ServiceError} RATE_LIMITED; SERVICE_UNAVAILABLE if the limiter cannot count.
 */
export async function admitKey(
  services: Services,
  { arrivedAt, call, caller, headers }: Exchange,
): Promise<void> {
  const { orgId, prefix } = caller!;
  const admission = await services.keyWindow.admit(prefix!, arrivedAt);
  tellLimit(headers, admission);
  if (admission.admitted) return;
  if (!admission.counted) throw notCounted(admission);
  services.breaches.record({ type: "AUTH_FAIL_RATE_LIMITED_KEY", orgId, prefix: prefix! }, call.now);
  throw rateLimited(admission, "key");
}

/**
 * The limit of a session, in place of both layers: so nobody who looks at the console uses up what an integration on the
 * same host may send, nor the other way round. The cookie's MAC was checked before.
 * @throws {ServiceError} RATE_LIMITED; SERVICE_UNAVAILABLE if the limiter cannot count.
 */
export async function admitSession(
  services: Services,
  { arrivedAt, headers }: Exchange,
  sessionHash: Uint8Array,
): Promise<void> {
  const admission = await services.sessionWindow.admit(sessionHash.toHex(), arrivedAt);
  tellLimit(headers, admission);
  if (admission.admitted) return;
  if (!admission.counted) throw notCounted(admission);
  throw rateLimited(admission, "session");
}

function tellLimit(headers: Headers, { limit, remaining, resetMs }: Admission): void {
  headers.set("X-RateLimit-Limit", String(limit));
  headers.set("X-RateLimit-Remaining", String(remaining));
  headers.set("X-RateLimit-Reset", String(seconds(resetMs)));
}

/**
 * Limits attempts to sign in as one user, whether or not the user exists.
 * @throws {ServiceError} RATE_LIMITED; SERVICE_UNAVAILABLE if the limiter cannot count.
 */
export async function admitSignIn(
  { signInWindows }: Services,
  { address, arrivedAt }: Exchange,
  user: string,
): Promise<void> {
  const own = await signInWindows.address.admit(JSON.stringify([user, limitSubject(address)]), arrivedAt);
  const admission = own.admitted ? await signInWindows.user.admit(user, arrivedAt) : own;
  if (admission.admitted) return;
  if (!admission.counted) throw notCounted(admission);
  throw new ServiceError("RATE_LIMITED", "Too many attempts to sign in as this user: wait and retry.", {
    headers: { "Retry-After": String(seconds(admission.resetMs)) },
  });
}
