/**
 * Authentication of requests, and the floor for its failures: no refusal leaves earlier than 80 ms after the
 * request arrived, and all refusals look alike, so that neither answer nor timing tells the reason.
 * Source: specification, Authentication, rule 5; contract, section 3.
 */
import { type Access, grantedTo, isGranted } from "../../domain/access.ts";
import { ServiceError, unauthorized } from "../../domain/errors.ts";
import { AUTH_FLOOR_MS, AUTH_FLOOR_WAITERS, AUTH_GRID_MS } from "../../domain/limits.ts";
import type { MasterScope } from "../../keys/master_keys.ts";
import { limitSubject } from "../../limits/client_address.ts";
import {
  authenticateKey,
  authenticateMaster,
  prefixOfMisplacedKey,
} from "../../operations/organizations/authentication.ts";
import type { GrantedCaller } from "../../operations/shared/call.ts";
import type { Exchange, Services } from "../exchange.ts";
import type { Clock } from "../../domain/world.ts";

/**
 * Holds refusals back. A waiting refusal holds no lock and no worker, and their number is limited.
 *
 * Refusals leave at the instants of a fixed grid. A timer that is set after a check fires a whole number of
 * milliseconds later, and would so tell how long the check took.
 */
export class AuthenticationFloor {
  #waiting = 0;
  /** The instants at which refusals leave. */
  readonly #departures = new Map<number, Promise<void>>();

  constructor(private readonly clock: Pick<Clock, "monotonic" | "until">) {}

  /** Never returns. @throws {ServiceError} UNAUTHORIZED after the floor; RATE_LIMITED if too many wait. */
  async refuse({ arrivedAt }: Pick<Exchange, "arrivedAt">): Promise<never> {
    if (this.#waiting >= AUTH_FLOOR_WAITERS) {
      throw new ServiceError("RATE_LIMITED", "Too many failed authentications at once: wait and retry.", {
        headers: { "Retry-After": "1" },
      });
    }
    this.#waiting += 1;
    try {
      const earliest = Math.max(arrivedAt + AUTH_FLOOR_MS, this.clock.monotonic());
      await this.#departure(Math.ceil(earliest / AUTH_GRID_MS) * AUTH_GRID_MS);
    } finally {
      this.#waiting -= 1;
    }
    throw unauthorized();
  }

  /** Refusals that leave at one instant share one timer. */
  #departure(at: number): Promise<void> {
    const existing = this.#departures.get(at);
    if (existing !== undefined) return existing;
    const departure = this.clock.until(at).finally(() => this.#departures.delete(at));
    this.#departures.set(at, departure);
    return departure;
  }
}

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
 * @throws {ServiceError} FORBIDDEN.
 */
export function requireGranted({ grant }: GrantedCaller, access: Access): void {
  if (isGranted(grant, access)) return;
  const own = grant!.kind === "role"
    ? `your role is ${grant!.role}`
    : `this key has the scopes ${grant!.scopes.join(", ")}`;
  throw new ServiceError("FORBIDDEN", `This call takes ${grantedTo(access)}; ${own}.`);
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
