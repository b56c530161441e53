/** Parts that the routes share by which people sign in, or act for themselves. */
import { meSchema } from "../../domain/user.ts";
import { limitSubject } from "../../limits/client_address.ts";
import { meBody } from "../../operations/users/sessions.ts";
import type { Attempt, Candidate, SignedIn } from "../../operations/users/sign_in.ts";
import type { AppContext, Exchange, Services } from "../exchange.ts";
import { giveCookie } from "../middleware/session.ts";
import type { Reply } from "../reply.ts";
import { OPEN } from "./shared.ts";

/** A route for a user with a session, of any role. */
export const OWN = { ...OPEN, auth: { kind: "user" }, layer1: true } as const;

/** Another site must not sign a browser in; a program may sign in, since it sends no cookie of others. */
export const FROM_ANYWHERE_ELSE = { mayComeFromNoPage: true } as const;

/** A route that gives a cookie. It takes no key and no cookie, only requests of the service's own pages. */
export const SIGNING_IN = { ...OPEN, method: "POST", layer1: true, signsIn: true } as const;

export const SIGNED_IN = {
  status: 200,
  description: "The user, with the cookie of a session.",
  schema: meSchema,
} as const;

/** The answer to somebody who has signed in: the cookie, and who that is. */
export function signedInReply(services: Services, context: AppContext, signedIn: SignedIn): Reply {
  giveCookie(services, context, { token: signedIn.token, expiresAt: signedIn.row.expires_at });
  return { status: 200, body: meBody(services.dependencies, signedIn) };
}

/** An attempt to sign in, as it came. */
export function attemptOf(context: AppContext, { call }: Exchange): Attempt {
  return { call, agent: context.req.header("User-Agent") ?? "" };
}

/** Records a failed attempt. It returns at once, so that the time of the answer tells nothing. */
export function recordFailure(
  { breaches }: Services,
  { address, call }: Exchange,
  { orgId, userId }: Candidate,
): void {
  const type = "AUTH_FAIL_SIGN_IN";
  breaches.record(
    orgId === null ? { type, address: limitSubject(address) } : { type, orgId, user_id: userId },
    call.now,
  );
}
