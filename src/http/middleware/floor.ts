/**
 * The floor for refusals: none leaves earlier than some time after its request arrived, and all leave at the instants of a
 * grid, so that timing tells nothing of what was checked.
 * Source: specification, Authentication, rule 5; contract, section 3.
 */
import { ServiceError, unauthorized } from "../../domain/errors.ts";
import { AUTH_FLOOR_MS, AUTH_FLOOR_WAITERS, AUTH_GRID_MS } from "../../domain/limits.ts";
import type { Clock } from "../../domain/world.ts";

export interface FloorTimes {
  /** Milliseconds from the arrival of a request until its refusal may leave. */
  readonly floorMs: number;
  /** Milliseconds between the instants at which refusals leave. */
  readonly gridMs: number;
}

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

  constructor(
    private readonly clock: Pick<Clock, "monotonic" | "until">,
    private readonly times: FloorTimes = { floorMs: AUTH_FLOOR_MS, gridMs: AUTH_GRID_MS },
  ) {}

  /**
   * Never returns. @throws {ServiceError} the refusal, by default UNAUTHORIZED, after the floor; RATE_LIMITED if too many
   * wait.
   */
  async refuse({ arrivedAt }: { readonly arrivedAt: number }, refusal = unauthorized()): Promise<never> {
    if (this.#waiting >= AUTH_FLOOR_WAITERS) {
      throw new ServiceError("RATE_LIMITED", "Too many failed authentications at once: wait and retry.", {
        headers: { "Retry-After": "1" },
      });
    }
    this.#waiting += 1;
    try {
      const { floorMs, gridMs } = this.times;
      const earliest = Math.max(arrivedAt + floorMs, this.clock.monotonic());
      await this.#departure(Math.ceil(earliest / gridMs) * gridMs);
    } finally {
      this.#waiting -= 1;
    }
    throw refusal;
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
