/**
 * What a verifier remembers of probes: those that were sealed, which of them can be drawn, who decided one, and the
 * draws and scores of the day whose seed is not opened yet. It grows with the probes of a family of chains and, up to a
 * limit, with the scores of one day.
 */
import { PROBE_DAY_LIMIT } from "./limits.ts";
import { type Draw, PROBE_WINDOW_DAYS, type ProbeDetail, type ProbePolicy } from "./probes.ts";
import type { FindingLog } from "./finding_log.ts";
import { DAY_MS } from "../domain/time.ts";

/** A probe that was sealed. */
export interface KnownProbe {
  readonly seal: ProbeDetail<"PROBE_SEALED">;
  /** `ended`: it was sealed, or drawn and not opened, before a restore. */
  state: "sealed" | "drawn" | "ended" | "closed";
  /** The seq of its draw, and the findings of the bundle that has it; null before. */
  drawnAt: { readonly seq: number; readonly log: FindingLog } | null;
  /** To whom and until when it was shown; null before, and if the operator was erased. */
  assignment: ProbeDetail<"PROBE_ASSIGNED"> | null;
}

/** A draw of the day, until the seed is opened. */
export interface PendingDraw {
  readonly seq: number;
  readonly log: FindingLog;
  readonly detail: ProbeDetail<"PROBE_DRAWN">;
  /** The place of the drawn probe among those of its stratum; null if it cannot be known. */
  readonly place: number | null;
  assignment: ProbeDetail<"PROBE_ASSIGNED"> | null;
  subject: string | null;
}

/** A score of the day, until the seed is opened. */
export interface PendingScore {
  readonly seq: number;
  readonly operatorId: string;
  readonly sessionId: string;
  readonly subject: string;
  readonly timestamp: string;
}

/** A day whose seed was committed to. */
export interface ProbeDay {
  readonly name: string;
  readonly commitment: string;
  readonly policy: ProbePolicy;
  readonly draws: PendingDraw[];
  readonly scores: PendingScore[];
  /** Sessions that were scored on it. */
  readonly scored: Set<string>;
  /** Scores beyond the limit: they are not looked at. */
  skipped: number;
  isOpened: boolean;
}

/** How a session would have been drawn on a day that is over. */
export type PastDraw = (score: PendingScore) => { readonly draw: Draw; readonly policy: ProbePolicy };

export class ProbeMemory {
  readonly probes = new Map<string, KnownProbe>();
  /** Sessions of cases before which a probe was due. */
  readonly assigned = new Set<string>();
  readonly #stock = new Map<string, string[]>();
  /** The probes that were shown and not opened. */
  readonly #open = new Set<KnownProbe>();
  /** By subject, the UTC days on which probes were decided, counted from the epoch, ascending. */
  readonly #decided = new Map<string, number[]>();
  /** The policy that was set last; null if none is known. */
  policy: ProbePolicy | null = null;
  day: ProbeDay | null = null;
  /** The day before, for cases that were drawn on it and scored after midnight. */
  past: { readonly name: string; readonly drawOf: PastDraw } | null = null;
  /** Whether the history from the chain's first entry on is known. */
  isWhole = false;

  /** Begins with a bundle that continues no other. */
  begin({ isOpen }: { readonly isOpen: boolean }): void {
    this.probes.clear();
    this.assigned.clear();
    this.#stock.clear();
    this.#open.clear();
    this.#decided.clear();
    this.policy = null;
    this.day = null;
    this.past = null;
    this.isWhole = !isOpen;
  }

  seal(seal: ProbeDetail<"PROBE_SEALED">): void {
    this.probes.set(seal.probe_id, { seal, state: "sealed", drawnAt: null, assignment: null });
    this.stockOf(seal).push(seal.probe_id);
  }

  /** The probes of a stratum that can be drawn, in the order in which they were sealed. */
  stockOf({ domain, stakes }: { readonly domain: string; readonly stakes: string }): string[] {
    const name = `${domain} ${stakes}`;
    const stock = this.#stock.get(name) ?? [];
    this.#stock.set(name, stock);
    return stock;
  }

  /** Takes a probe out of its stratum. */
  #take({ seal }: KnownProbe): void {
    const stock = this.stockOf(seal);
    const at = stock.indexOf(seal.probe_id);
    if (at !== -1) stock.splice(at, 1);
  }

  /** The probes that were shown, not closed, and over by an instant, ISO 8601. */
  overdueAt(instant: string): readonly KnownProbe[] {
    return [...this.#open].filter(({ assignment }) => (assignment?.expires_at ?? instant) < instant);
  }

  /** Marks a probe as shown. */
  markDrawn(probe: KnownProbe, drawnAt: NonNullable<KnownProbe["drawnAt"]>): void {
    this.#take(probe);
    probe.state = "drawn";
    probe.drawnAt = drawnAt;
    this.#open.add(probe);
  }

  /** Ends every probe that is not opened: after a restore nobody knows who has seen it. */
  endAll(): void {
    for (const probe of this.probes.values()) if (probe.state !== "closed") probe.state = "ended";
    this.#stock.clear();
    this.#open.clear();
  }

  /** Marks a probe as opened. */
  markClosed(probe: KnownProbe): void {
    this.#take(probe);
    probe.state = "closed";
    this.#open.delete(probe);
  }

  startDay({ day: name, commitment, policy }: ProbeDetail<"PROBE_SEED_COMMITTED">): void {
    this.day = {
      name,
      commitment,
      policy,
      draws: [],
      scores: [],
      scored: new Set(),
      skipped: 0,
      isOpened: false,
    };
  }

  /** Remembers a score of the day. */
  addScore(score: PendingScore): void {
    const { day } = this;
    if (day === null || day.isOpened || this.policy?.enabled === false) return;
    if (day.scores.length >= PROBE_DAY_LIMIT) {
      day.skipped += 1;
      return;
    }
    day.scored.add(score.sessionId);
    day.scores.push(score);
  }

  addDecided(subject: string, timestamp: string): void {
    const days = this.#decided.get(subject);
    const day = Math.floor(Date.parse(timestamp) / DAY_MS);
    if (days === undefined) this.#decided.set(subject, [day]);
    else days.push(day);
  }

  /** How many probes a subject decided in the days before a day. */
  decidedBefore(subject: string, day: string): number {
    const end = Math.floor(Date.parse(`${day}T00:00:00.000Z`) / DAY_MS);
    const days = this.#decided.get(subject) ?? [];
    return days.filter((at) => at >= end - PROBE_WINDOW_DAYS && at < end).length;
  }
}
