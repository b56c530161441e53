/**
 * Breaches in the audit log, once for each subject and window, so that an attacker cannot grow the log faster
 * than the clock: the first is recorded at once, the others of its window are counted and told together after it.
 * Source: contract, section 5.
 */
import type { MasterScope } from "../keys/master_keys.ts";
import { errorFields } from "../observability/log.ts";
import { adminChain, type Caller, type Dependencies, eventDraft, SYSTEM_CHAIN } from "./dependencies.ts";

const WINDOW_MS = 60_000;
/** Subjects that are remembered at once; past it the log line alone tells of a breach. */
const SUBJECT_LIMIT = 10_000;

export type Breach =
  | { readonly type: "AUTH_FAIL_MASTER_KEY"; readonly scope: MasterScope; readonly address: string }
  | { readonly type: "AUTH_FAIL_RATE_LIMITED_IP"; readonly address: string }
  | { readonly type: "AUTH_FAIL_RATE_LIMITED_KEY"; readonly orgId: string };

interface Window {
  readonly breach: Breach;
  readonly prefix: string | null;
  readonly openedAt: number;
  /** Breaches after the first that no entry has told of. */
  untold: number;
}

export class BreachLog {
  readonly #windows = new Map<string, Window>();

  constructor(private readonly dependencies: Dependencies) {}

  /**
   * Records a breach; `prefix` is that of an organization's key, where one was presented. Returns at once: the
   * answer to the caller must not tell by its timing whether anything was written.
   */
  record(breach: Breach, { now, prefix }: { readonly now: number; readonly prefix: string | null }): void {
    const subject = JSON.stringify(breach);
    const known = this.#windows.get(subject);
    if (known !== undefined && now >= known.openedAt && now - known.openedAt < WINDOW_MS) {
      known.untold += 1;
      return;
    }
    if (known === undefined && !this.#makeRoom(now)) {
      this.dependencies.log.warn("breach not recorded: too many subjects", { type: breach.type });
      return;
    }
    this.#windows.set(subject, { breach, prefix, openedAt: now, untold: 0 });
    this.#append(breach, { now, prefix, count: (known?.untold ?? 0) + 1 });
  }

  /**
   * Tells of the breaches in windows that are over at `now`, which no later breach has told of; each opens the
   * window that it is told in. At a stop, `isLast`, of all.
   */
  flush(now: number, { isLast = false }: { readonly isLast?: boolean } = {}): void {
    for (const [subject, { breach, prefix, openedAt, untold }] of [...this.#windows]) {
      if (!isLast && now - openedAt < WINDOW_MS) continue;
      this.#windows.delete(subject);
      if (untold === 0) continue;
      this.#windows.set(subject, { breach, prefix, openedAt: now, untold: 0 });
      this.#append(breach, { now, prefix, count: untold });
    }
  }

  #append(
    breach: Breach,
    { now, prefix, count }: { readonly now: number; readonly prefix: string | null; readonly count: number },
  ): void {
    const { log, writer, world } = this.dependencies;
    log.warn("authentication breach", { audit: true, type: breach.type, count });
    const { type, ...rest } = breach;
    const orgId = breach.type === "AUTH_FAIL_RATE_LIMITED_KEY" ? breach.orgId : null;
    const chain = orgId === null ? SYSTEM_CHAIN : adminChain(orgId);
    const caller: Caller = { actor: "system", orgId, prefix };
    const detail = orgId === null ? { ...rest, count } : { count };
    const draft = eventDraft(world, { type, caller, now, detail });
    writer.submit({
      needs: [],
      chains: [chain],
      plan(unit) {
        unit.append(chain, draft);
        return () => undefined;
      },
    }).catch((error) => log.error("breach not recorded", { type, ...errorFields(error) }));
  }

  /** Whether one more subject can be remembered, after those whose window is over were forgotten. */
  #makeRoom(now: number): boolean {
    if (this.#windows.size < SUBJECT_LIMIT) return true;
    for (const [subject, { openedAt }] of this.#windows) {
      if (now - openedAt >= WINDOW_MS) this.#windows.delete(subject);
    }
    return this.#windows.size < SUBJECT_LIMIT;
  }
}
