/**
 * Records breaches in the audit log, once for each subject and window, so that an attacker cannot grow the
 * log faster than the clock. The first breach is recorded at once; the others of its window are counted and
 * recorded together after it. The instant of a subject's last entry is in the database, for all processes
 * that share it.
 * Source: contract, section 5.
 */
import type { Logging, Writing } from "../shared/capabilities.ts";
import { isUnavailable } from "../../domain/errors.ts";
import { RATE_WINDOW_MS } from "../../domain/limits.ts";
import type { MasterScope } from "../../keys/master_keys.ts";
import { errorFields } from "../../observability/log.ts";
import { deleteBreachWindowsUpTo } from "../../store/breach_windows.ts";
import { breachWindows } from "../../store/records.ts";
import { eventDraft } from "../shared/drafts.ts";
import type { Caller } from "../shared/call.ts";
import { adminChain, SYSTEM_CHAIN } from "../../evidence/chain_name.ts";

/** The dependencies of these operations. */
type Needs = Writing & Logging;

/** Wait before a failed write is tried again, milliseconds. */
const RETRY_MS = 5_000;
/** Most subjects that are remembered at once; addresses beyond them are recorded together. */
const SUBJECT_LIMIT = 10_000;
/** Most calls that one entry names. */
const CALLS_NAMED = 5;

/** The type and the subject of a breach. The address is null if there were too many to record each. */
export type Breach =
  | {
    readonly type: "AUTH_FAIL_MASTER_KEY";
    readonly scope: MasterScope;
    readonly address: string | null;
    /** Prefix of the organization's key that was presented; null if none was. */
    readonly prefix: string | null;
  }
  | { readonly type: "AUTH_FAIL_RATE_LIMITED_IP"; readonly address: string | null }
  | { readonly type: "AUTH_FAIL_RATE_LIMITED_KEY"; readonly orgId: string; readonly prefix: string }
  /** Somebody failed to sign in as a user of an organization, or as nobody that it has. */
  | { readonly type: "AUTH_FAIL_SIGN_IN"; readonly orgId: string; readonly user_id: string | null }
  /** A user, or an application with a named key, asked for what it may not do. */
  | { readonly type: "ACCESS_DENIED"; readonly orgId: string; readonly user_id: string }
  | { readonly type: "ACCESS_DENIED"; readonly orgId: string; readonly prefix: string }
  /** Somebody failed to sign in to no organization. */
  | { readonly type: "AUTH_FAIL_SIGN_IN"; readonly address: string | null };

interface BreachFields {
  readonly type: Breach["type"];
  readonly orgId?: string;
  readonly prefix?: string | null;
  readonly scope?: MasterScope;
  readonly address?: string | null;
  readonly user_id?: string | null;
}

interface Window {
  readonly breach: Breach;
  /** Nothing more is recorded of the subject before this instant, epoch milliseconds. */
  quietUntil: number;
  /** Number of breaches that no entry has recorded. */
  unrecorded: number;
  /** The first calls among them. */
  calls: readonly string[];
}

/** Advice if the breach is no attack. */
const ADVICE: Readonly<Partial<Record<Breach["type"], string>>> = {
  AUTH_FAIL_RATE_LIMITED_IP:
    "if the address is an application server's, raise JISS_RATE_LIMIT_IP; if it is a proxy's, name it in JISS_TRUSTED_PROXIES",
  AUTH_FAIL_RATE_LIMITED_KEY: "if the organization needs more, raise JISS_RATE_LIMIT_KEY",
};

export class BreachLog {
  readonly #windows = new Map<string, Window>();
  readonly #subjectLimit: number;
  #isEnding = false;

  constructor(
    private readonly dependencies: Needs,
    { subjectLimit = SUBJECT_LIMIT }: { readonly subjectLimit?: number } = {},
  ) {
    this.#subjectLimit = subjectLimit;
  }

  /**
   * Records a breach. Returns at once: the timing of the caller's answer must not show whether anything was
   * written.
   * @param call the refused call, such as `GET /v1/users`, if the entry shall name it.
   */
  record(breach: Breach, now: number, call?: string): void {
    const [subject, window] = this.#windowOf(breach);
    window.unrecorded += 1;
    const isNew = call !== undefined && !window.calls.includes(call);
    if (isNew && window.calls.length < CALLS_NAMED) window.calls = [...window.calls, call];
    if (!isQuiet(window, now)) this.#recordWindow(subject, window, now);
  }

  /** Records the breaches of windows that are over at `now`; of all windows at a stop (`isLast`). */
  flush(now: number, { isLast = false }: { readonly isLast?: boolean } = {}): void {
    this.#isEnding = isLast;
    for (const [subject, window] of this.#windows) {
      if (!isLast && isQuiet(window, now)) continue;
      if (window.unrecorded > 0) this.#recordWindow(subject, window, now);
      else this.#windows.delete(subject);
    }
  }

  #windowOf(breach: Breach): readonly [subject: string, Window] {
    const subject = JSON.stringify(breach);
    const known = this.#windows.get(subject);
    if (known !== undefined) return [subject, known];
    if (this.#windows.size >= this.#subjectLimit && "address" in breach && breach.address !== null) {
      return this.#windowOf({ ...breach, address: null });
    }
    const window: Window = { breach, quietUntil: -Infinity, unrecorded: 0, calls: [] };
    this.#windows.set(subject, window);
    return [subject, window];
  }

  #recordWindow(subject: string, window: Window, now: number): void {
    const { log, writer, world } = this.dependencies;
    const { unrecorded: count, calls } = window;
    const fields: BreachFields = window.breach;
    const { type, orgId = null, prefix: _prefix, ...detail } = fields;
    window.quietUntil = now + RATE_WINDOW_MS;
    window.unrecorded = 0;
    window.calls = [];
    const restoreWindow = (quietUntil: number) => {
      this.#windows.set(subject, window);
      window.quietUntil = quietUntil;
      window.unrecorded += count;
      window.calls = [...new Set([...calls, ...window.calls])].slice(0, CALLS_NAMED);
    };
    const chain = orgId === null ? SYSTEM_CHAIN : adminChain(orgId);
    const draft = eventDraft(world, {
      type,
      caller: callerOf(fields),
      now,
      detail: { ...detail, ...(calls.length === 0 ? {} : { calls: [...calls] }), count },
    });
    writer.submit({
      needs: [{ kind: breachWindows, key: [subject] }],
      chains: [chain],
      plan: (unit) => {
        const recorded = unit.get(breachWindows, [subject]);
        // Another process recorded the subject in this window.
        if (recorded !== null && isWithin(recorded.told_at, now) && !this.#isEnding) {
          return () => recorded.told_at;
        }
        unit.put(breachWindows, { subject, told_at: now });
        unit.append(chain, draft);
        return () => null;
      },
    }).then((recordedAt) => {
      if (recordedAt === null) {
        const mend = ADVICE[type];
        log.warn(type === "ACCESS_DENIED" ? "access denied" : "authentication breach", {
          type,
          count,
          ...(mend === undefined ? {} : { mend }),
        });
      } else restoreWindow(recordedAt + RATE_WINDOW_MS);
    }, (error) => {
      if (!isUnavailable(error)) log.error("breach not recorded", { type, count, ...errorFields(error) });
      restoreWindow(now + RETRY_MS);
    });
  }
}

/** Who made the entry: a user who asked for too much is known; whoever failed to sign in is not. */
function callerOf({ type, orgId, prefix, user_id: userId }: BreachFields): Caller {
  const fields = { orgId: orgId ?? null, prefix: prefix ?? null };
  return type === "ACCESS_DENIED" && typeof userId === "string"
    ? { actor: "user", ...fields, userId }
    : { actor: "system", ...fields };
}

/** Forgets the last entries of subjects whose windows are over at `now`. */
export async function forgetBreachWindows(
  { writer }: Pick<Writing, "writer">,
  now: number,
): Promise<void> {
  await writer.execute(deleteBreachWindowsUpTo(now - RATE_WINDOW_MS));
}

/** Clocks of hosts differ, so an instant may lie a little ahead. */
function isWithin(recordedAt: number, now: number): boolean {
  return Math.abs(now - recordedAt) < RATE_WINDOW_MS;
}

/**
 * True if a window is still quiet. A wait longer than any that is set means that the clock went back: it is
 * over.
 */
function isQuiet({ quietUntil }: Window, now: number): boolean {
  return now < quietUntil && quietUntil - now < 2 * RATE_WINDOW_MS;
}
