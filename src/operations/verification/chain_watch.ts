/**
 * Verifies every chain in the background, each about once a day, so that an alteration is found though nobody
 * asks. It works in slices with long rests: it takes at most a twentieth of one core's time.
 */
import type { RetentionDays } from "../shared/deployment.ts";
import type { Reading, Scoring } from "../shared/capabilities.ts";
import { AlteredError, isUnavailable, ServiceError } from "../../domain/errors.ts";
import { errorFields } from "../../observability/log.ts";
import { DAY_MS } from "../../domain/time.ts";
import { readFamilies } from "../../store/chains.ts";
import { raiseTampering, tamperingOf, type Watching } from "../shared/tampering.ts";
import { verifyChain } from "./verification.ts";

/** The dependencies of these operations. */
type Needs = Watching & Reading & Scoring & RetentionDays;

/** Milliseconds of rest after each slice, which takes about half a millisecond. */
const REST_MS = 10;

export class ChainWatch {
  /** By family, the time of its last verification, epoch milliseconds. */
  readonly #verifiedAt = new Map<string, number>();
  #running: Promise<void> | null = null;
  #stopped = false;

  constructor(private readonly dependencies: Needs) {}

  /** Begins to verify the chains that are due, unless a run is under way. It does not wait for the run. */
  start(now: number): void {
    if (this.#stopped) return;
    this.#running ??= this.#run(now).finally(() => this.#running = null);
  }

  /** Resolves once nothing runs. */
  async idle(): Promise<void> {
    await this.#running;
  }

  /** Ends the run after its present slice, and prevents further runs. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#running;
  }

  async #run(now: number): Promise<void> {
    const { log, database } = this.dependencies;
    try {
      for (const family of this.#due(await readFamilies(database), now)) {
        if (this.#stopped) return;
        await this.#verify(family, now);
      }
    } catch (error) {
      if (error instanceof Stopped || isUnavailable(error)) return;
      log.error("verifying chains failed and is tried again", errorFields(error));
    }
  }

  /**
   * Families found altered come first. The others start at a random one: restarts leave none out for good.
   */
  #due(families: readonly string[], now: number): readonly string[] {
    const { tampered, world } = this.dependencies;
    const due = families.filter((family) => now - (this.#verifiedAt.get(family) ?? -Infinity) >= DAY_MS);
    const suspects = due.filter((family) => tampered?.get(family) !== undefined);
    const others = due.filter((family) => !suspects.includes(family));
    const start = Math.floor(world.random(1)[0]! / 256 * others.length);
    return [...suspects, ...others.slice(start), ...others.slice(0, start)];
  }

  async #verify(family: string, now: number): Promise<void> {
    try {
      await verifyChain(this.dependencies, {
        family,
        from: 0,
        sinceSize: null,
        now,
        rest: () => this.#rest(),
      });
    } catch (error) {
      if (error instanceof AlteredError) {
        await raiseTampering(this.dependencies, tamperingOf(error), now);
      } else if (!(error instanceof ServiceError)) throw error;
      // A chain that was pruned meanwhile is verified in the next round.
      else return;
    }
    this.#verifiedAt.set(family, now);
  }

  async #rest(): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, REST_MS));
    if (this.#stopped) throw new Stopped();
  }
}

/** Ends a run because the service stops. */
class Stopped extends Error {}
