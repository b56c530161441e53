/**
 * The upkeep: regular work of the service, for the first time soon after its start. Each minute it anchors
 * chains, logs the audit events of other processes, ends overdue probes, looks for unusual usage, bounds the outbox and forgets
 * ended sessions. Each hour
 * it opens cases by rule and deletes old deliveries. Once a day it cuts chains at their retention and deletes what is past its time.
 * The next run tries again what failed; a failure is logged unless the service was unavailable.
 */
import type { Reading, Retaining, Scoring, Sending } from "../shared/capabilities.ts";
import { isUnavailable } from "../../domain/errors.ts";
import { ERASED_MEMORY_DAYS } from "../../domain/limits.ts";
import { errorFields } from "../../observability/log.ts";
import { DAY_MS } from "../../domain/time.ts";
import { raiseUsageAlerts } from "../organizations/alerts.ts";
import { anchorChains } from "../chains/anchoring.ts";
import { forgetAssessments } from "../scoring/assessments.ts";
import type { AuditLines } from "../chains/audit_lines.ts";
import { forgetBreachWindows } from "../organizations/breaches.ts";
import { ChainWatch } from "../verification/chain_watch.ts";
import { dropOldEvents, forgetOldDeliveries, skipUnsubscribedEvents } from "../webhooks/delivery_bounds.ts";
import { forgetAnswers } from "../shared/idempotency.ts";
import { forgetKeyedCalls } from "../shared/keyed_calls.ts";
import { endOverdueProbes } from "../probes/close.ts";
import { turnProbeDays } from "../probes/programme.ts";
import { followOtherHosts } from "../restoring/restores.ts";
import { pruneChains } from "../chains/retention.ts";
import { forgetSessions, type Sessioning } from "../users/sessions.ts";
import { openCasesByRule } from "../cases/rules.ts";
import type { Remembering } from "../organizations/registered.ts";
import { followTampering, type Watching } from "../shared/tampering.ts";

/** The dependencies of these operations. */
type Needs = Watching & Reading & Scoring & Retaining & Sending & Sessioning & Remembering;

const HOUR_MS = 3_600_000;

export class Upkeep {
  #running: Promise<void> = Promise.resolve();
  /** The UTC day, counted from the epoch, of the last successful retention run; null if there was none. */
  #prunedDay: number | null = null;
  /** The epoch of the system chain when other hosts were last followed. */
  #epoch: number | null = null;
  /** The hour, counted from the epoch, in which old deliveries were last deleted. */
  #deletedHour: number | null = null;
  /** The hour, counted from the epoch, in which cases were last opened by rule. */
  #ruledHour: number | null = null;
  /** null if this process is not a running service. */
  readonly #watch: ChainWatch | null;

  /** @param auditLines null if the records of other processes are not to be logged. */
  constructor(
    private readonly dependencies: Needs,
    private readonly auditLines: AuditLines | null = null,
  ) {
    this.#watch = auditLines === null ? null : new ChainWatch(dependencies);
  }

  /** Runs once the run before it has ended. */
  run(now: number): Promise<void> {
    this.#running = this.#running.then(() => this.#runOnce(now));
    return this.#running;
  }

  /** The last run: it anchors every chain at its end, and logs the remaining audit events. */
  async finish(now: number): Promise<void> {
    await this.#watch?.stop();
    await this.#running;
    await this.#attempt("anchoring", () => anchorChains(this.dependencies, now));
    await this.#logOthers(now);
  }

  async #runOnce(now: number): Promise<void> {
    await this.#attempt("anchoring", () => anchorChains(this.dependencies, now));
    if (this.dependencies.database.isShared) {
      await this.#attempt("following other hosts", async () => {
        this.#epoch = await followOtherHosts(this.dependencies, { from: this.#epoch, now });
      });
    }
    await this.#logOthers(now);
    await this.#attempt("following alerts", () => followTampering(this.dependencies));
    await this.#attempt("ending overdue probes", () => endOverdueProbes(this.dependencies, now));
    await this.#attempt("turning the day of probes", () => turnProbeDays(this.dependencies, now));
    this.#watch?.start(now);
    await this.#attempt("checking usage", () => raiseUsageAlerts(this.dependencies, now));
    await this.#attempt("deleting old breach windows", () => forgetBreachWindows(this.dependencies, now));
    await this.#attempt("bounding the outbox", () => dropOldEvents(this.dependencies, now));
    await this.#attempt("moving webhook cursors", () => skipUnsubscribedEvents(this.dependencies));
    await this.#attempt("forgetting ended sessions", () => forgetSessions(this.dependencies, now));
    const hour = Math.floor(now / HOUR_MS);
    if (this.#deletedHour !== hour) {
      await this.#attempt("deleting old deliveries", async () => {
        await forgetOldDeliveries(this.dependencies, now);
        this.#deletedHour = hour;
      });
    }
    if (this.#ruledHour !== hour) {
      await this.#attempt("opening cases by rule", async () => {
        await openCasesByRule(this.dependencies, now);
        this.#ruledHour = hour;
      });
    }
    // Overwrites the bytes of erasures that a reader kept from being overwritten.
    await this.#attempt("overwriting erased bytes", () => this.dependencies.database.expunge());
    const day = Math.floor(now / DAY_MS);
    if (this.#prunedDay === day) return;
    await this.#attempt("retention", async () => {
      // These come before the cut, which makes sure that deleted bytes are gone from the file.
      await forgetAnswers(this.dependencies, now);
      await forgetKeyedCalls(this.dependencies, now);
      await forgetAssessments(this.dependencies, now);
      await pruneChains(this.dependencies, now);
      this.dependencies.lock.forgetErased(now - ERASED_MEMORY_DAYS * DAY_MS);
      this.#prunedDay = day;
    });
  }

  async #logOthers(now: number): Promise<void> {
    const { dependencies, auditLines } = this;
    if (auditLines === null) return;
    await this.#attempt(
      "logging other processes' audit events",
      () => auditLines.logOthers(dependencies, now),
    );
  }

  async #attempt(what: string, run: () => Promise<unknown>): Promise<void> {
    try {
      await run();
    } catch (error) {
      if (isUnavailable(error)) return;
      this.dependencies.log.error(`${what} failed and is tried again`, errorFields(error));
    }
  }
}
