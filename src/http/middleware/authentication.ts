/**
 * Authentication of requests. All refusals look alike and leave by the floor, so that neither answer nor timing tells the
 * reason.
 * Source: specification, Authentication, rule 5; contract, section 3.
 */
import { type Access, grantedTo, isGranted } from "../../domain/access.ts";
import { ServiceError } from "../../domain/errors.ts";
import type { MasterScope } from "../../keys/master_keys.ts";
import { limitSubject } from "../../limits/client_address.ts";
import {
  authenticateKey,
  authenticateMaster,
  prefixOfMisplacedKey,
} from "../../operations/organizations/authentication.ts";
import type { GrantedCaller } from "../../operations/shared/call.ts";
import type { Exchange, Services } from "../exchange.ts";
import type { AuthenticationFloor } from "./floor.ts";

/**
 * The organization of the key.
 * @throws {ServiceError} UNAUTHORIZED; RATE_LIMITED if too many refusals wait.
 */
export async function requireKey(
  { dependencies }: Services,
  { floor, exchange, presented }: {
    readonly floor: AuthenticationFloor;
    readonly exchange: Exchange;
    readonly presented: string | undefined;
  },
): Promise<GrantedCaller> {
  return await authenticateKey(dependencies, presented, exchange.call) ?? await floor.refuse(exchange);
}

/**
 * Requires that the caller may make a call of a kind. The route needs no secrecy: the catalogue says what each call takes.
 * The audit log has who was refused, at most once a minute for each caller.
 * @throws {ServiceError} FORBIDDEN.
 */
export function requireGranted(services: Services, exchange: Exchange, access: Access): void {
  const { grant } = exchange.caller!;
  if (isGranted(grant, access)) return;
  recordDenied(services, exchange);
  const own = grant!.kind === "role"
    ? `your role is ${grant!.role}`
    : `this key has the scopes ${grant!.scopes.join(", ")}`;
  throw new ServiceError("FORBIDDEN", `This call needs ${grantedTo(access)}; ${own}.`);
}

/** Records in the audit log who asked for what he may not do, at most once a minute for each caller. */
export function recordDenied({ breaches }: Services, { caller, call, route }: Exchange): void {
  const { orgId, prefix, userId } = caller!;
  const type = "ACCESS_DENIED";
  breaches.record(
    userId === undefined ? { type, orgId, prefix: prefix! } : { type, orgId, user_id: userId },
    call.now,
    route ?? undefined,
  );
}

/**
 * Requires the scope's master secret. A failure is audit-logged with the scope.
 * @throws {ServiceError} UNAUTHORIZED; RATE_LIMITED if too many wait.
 */
export async function requireMaster(
  services: Services,
  { floor, exchange, presented, scope }: {
    readonly floor: AuthenticationFloor;
    readonly exchange: Exchange;
    readonly presented: string | undefined;
    readonly scope: MasterScope;
  },
): Promise<void> {
  if (authenticateMaster(services, { presented, scope })) return;
  const prefix = await prefixOfMisplacedKey(services.dependencies, presented);
  const address = limitSubject(exchange.address);
  services.breaches.record({ type: "AUTH_FAIL_MASTER_KEY", scope, address, prefix }, exchange.call.now);
  await floor.refuse(exchange);
}
