/**
 * What the service does by itself while it runs: it anchors chains each minute, and once a day it cuts them at their
 * retention. A run that fails is told in the log and tried again with the next.
 */
import { ServiceError } from "../domain/errors.ts";
import { ERASED_MEMORY_DAYS } from "../domain/limits.ts";
import { errorFields } from "../observability/log.ts";
import { DAY_MS } from "../scoring/state.ts";
import { anchorChains } from "./anchoring.ts";
import type { Dependencies } from "./dependencies.ts";
import { pruneChains } from "./retention.ts";

export class Upkeep {
  #running: Promise<void> = Promise.resolve();
  /** The UTC day, counted from the epoch, that was looked through for what is past its retention. */
  #prunedDay: number | null = null;

  constructor(private readonly dependencies: Dependencies) {}

  /** Runs after the run before it. */
  run(now: number): Promise<void> {
    this.#running = this.#running.then(() => this.#runOnce(now));
    return this.#running;
  }

  /** The last run: every chain is anchored as it ends. */
  async finish(now: number): Promise<void> {
    await this.#running;
    await this.#attempt("anchoring", () => anchorChains(this.dependencies, now));
  }

  async #runOnce(now: number): Promise<void> {
    await this.#attempt("anchoring", () => anchorChains(this.dependencies, now));
    // Bytes of an erasure that a reader held on to.
    await this.#attempt("emptying the log", () => this.dependencies.database.expunge());
    const day = Math.floor(now / DAY_MS);
    if (this.#prunedDay === day) return;
    await this.#attempt("retention", async () => {
      await pruneChains(this.dependencies, now);
      this.dependencies.lock.forgetErased(now - ERASED_MEMORY_DAYS * DAY_MS);
      this.#prunedDay = day;
    });
  }

  async #attempt(what: string, run: () => Promise<unknown>): Promise<void> {
    try {
      await run();
    } catch (error) {
      // A database that takes no writes has been told of where it was refused.
      if (error instanceof ServiceError && error.code === "SERVICE_UNAVAILABLE") return;
      this.dependencies.log.error(`${what} failed and is tried again`, errorFields(error));
    }
  }
}
