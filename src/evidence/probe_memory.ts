/**
 * A verifier's memory of probes: those that were sealed, which of them can be drawn, who decided one, and the draws and
 * scores of the day whose seed is not opened yet. It grows with the probes of a family of chains and, up to a
 * limit, with the scores of one day.
 */
import { PROBE_DAY_LIMIT } from "./limits.ts";
import {
  type Draw,
  PROBE_WINDOW_DAYS,
  type ProbeDetail,
  type ProbeEvent,
  type ProbePolicy,
  type Stratum,
} from "./probes.ts";
import type { FindingLog } from "./finding_log.ts";
import { Stock } from "./stock.ts";
import { DAY_MS } from "../domain/time.ts";

/** A probe. */
export interface KnownProbe {
  readonly id: string;
  /** null if its seal was not seen, which is a fault only if everything was. */
  readonly commitment: string | null;
  /** null if neither its seal nor its draw was seen. */
  stratum: Stratum | null;
  /** `ended`: it was sealed, or drawn and not opened, before a restore. */
  state: "sealed" | "drawn" | "ended" | "closed";
  /** The seq of its draw, and the findings of the bundle that has it; null before. */
  drawnAt: { readonly seq: number; readonly log: FindingLog } | null;
  /** For whom, and until when, it was drawn; null before. */
  assigned: Assigned | null;
}

/** The assignment of a draw, as far as it is known. */
export interface Assigned {
  readonly subject: string | null;
  /** null if it is not given, such as that of an erased operator. */
  readonly content: ProbeDetail<"PROBE_ASSIGNED"> | null;
}

/** A draw of the day, until the seed is opened. */
export interface PendingDraw {
  readonly seq: number;
  readonly log: FindingLog;
  readonly detail: ProbeDetail<"PROBE_DRAWN">;
  /** The place of the drawn probe among those of its stratum; null if it was not among them. */
  readonly place: number | null;
  /** Whether stock and share of the draw are known. */
  readonly isCompared: boolean;
  /** null until its assignment comes. */
  assigned: Assigned | null;
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
  /** The commitment of its seed, and the policy of the day; null if the entry that has them was not seen. */
  readonly committed: { readonly commitment: string; readonly policy: ProbePolicy } | null;
  readonly draws: PendingDraw[];
  readonly scores: PendingScore[];
  /** Sessions that were scored on it. */
  readonly scored: Set<string>;
  isOpened: boolean;
}

/** A case for which a probe was due, until it is scored. */
export interface PendingCase {
  readonly seq: number;
  readonly day: string;
  /** null if it was drawn and none of its stratum was left. */
  readonly probeId: string | null;
  readonly stratum: Stratum;
}

/** A day that is over, and how a session would have been drawn on it. */
export interface PastDay {
  readonly name: string;
  readonly policy: ProbePolicy;
  readonly drawFor: (score: PendingScore) => Draw;
}

export class ProbeMemory {
  readonly probes = new Map<string, KnownProbe>();
  /** Sessions of cases before which a probe was due. */
  readonly assigned = new Set<string>();
  /** The assigned sessions of this bundle that are not scored yet. */
  readonly cases = new Map<string, PendingCase>();
  readonly #stock = new Map<string, Stock<KnownProbe>>();
  /** The probes that were shown and not opened. */
  readonly #open = new Set<KnownProbe>();
  /** By subject, how many probes were decided on each UTC day, counted from the epoch. */
  readonly #decided = new Map<string, Map<number, number>>();
  /** The policy that was set last; null if none is known. */
  policy: ProbePolicy | null = null;
  day: ProbeDay | null = null;
  /** The day before, for cases that were drawn on it and scored after midnight. */
  past: PastDay | null = null;
  /** The events of which one at least was not given. */
  readonly hidden = new Set<ProbeEvent>();
  #beginsOpen = true;

  /** Whether the history from the chain's first entry on is known. */
  get isWhole(): boolean {
    return !this.#beginsOpen && this.hidden.size === 0;
  }

  /** Begins with a bundle that continues no other. */
  begin({ isOpen }: { readonly isOpen: boolean }): void {
    this.probes.clear();
    this.assigned.clear();
    this.cases.clear();
    this.#stock.clear();
    this.#open.clear();
    this.#decided.clear();
    this.policy = null;
    this.day = null;
    this.past = null;
    this.hidden.clear();
    this.#beginsOpen = isOpen;
  }

  seal({ probe_id, domain, stakes, commitment }: ProbeDetail<"PROBE_SEALED">): void {
    const probe = this.#add(probe_id, { commitment, stratum: { domain, stakes } });
    this.stockOf({ domain, stakes }).add(probe);
  }

  /** A probe; null if it is known that nobody sealed it. */
  probeOf(id: string): KnownProbe | null {
    const probe = this.probes.get(id);
    if (probe !== undefined) return probe;
    return this.isWhole ? null : this.#add(id, { commitment: null, stratum: null });
  }

  #add(id: string, seal: Pick<KnownProbe, "commitment" | "stratum">): KnownProbe {
    const probe: KnownProbe = { id, ...seal, state: "sealed", drawnAt: null, assigned: null };
    this.probes.set(id, probe);
    return probe;
  }

  /** The probes of a stratum that can be drawn, in the order in which they were sealed. */
  stockOf({ domain, stakes }: Stratum): Stock<KnownProbe> {
    const name = `${domain} ${stakes}`;
    const stock = this.#stock.get(name) ?? new Stock<KnownProbe>();
    this.#stock.set(name, stock);
    return stock;
  }

  /** Takes a probe out of its stratum. */
  #take(probe: KnownProbe): void {
    if (probe.stratum !== null) this.stockOf(probe.stratum).take(probe);
  }

  /** The probes that were shown, not closed, and over by an instant, ISO 8601. */
  overdueAt(instant: string): readonly KnownProbe[] {
    return [...this.#open].filter(({ assigned }) => (assigned?.content?.expires_at ?? instant) < instant);
  }

  /** Marks a probe as shown. */
  markDrawn(probe: KnownProbe, drawnAt: NonNullable<KnownProbe["drawnAt"]>): void {
    this.#take(probe);
    if (probe.state === "ended") return;
    probe.state = "drawn";
    probe.drawnAt = drawnAt;
    this.#open.add(probe);
  }

  /** Ends every probe that is not opened: after a restore nobody knows who has seen it. */
  endAll(): void {
    for (const probe of this.probes.values()) if (probe.state !== "closed") probe.state = "ended";
    this.#stock.clear();
    this.#open.clear();
    this.cases.clear();
  }

  /** Marks a probe as opened. */
  markClosed(probe: KnownProbe): void {
    this.#take(probe);
    probe.state = "closed";
    this.#open.delete(probe);
  }

  startDay(name: string, committed: ProbeDay["committed"]): void {
    this.day = { name, committed, draws: [], scores: [], scored: new Set(), isOpened: false };
  }

  /** The day of an event, if its seed can still be opened; null if it cannot. */
  openDay(name: string): ProbeDay | null {
    if (this.day === null && !this.isWhole) this.startDay(name, null);
    const { day } = this;
    return day?.name === name && !day.isOpened ? day : null;
  }

  /** Remembers the session of a score of the day. */
  addScored(sessionId: string): void {
    const { day } = this;
    if (day?.isOpened === false && day.scored.size < PROBE_DAY_LIMIT) day.scored.add(sessionId);
  }

  /** Remembers a score before which a probe may have been due, if it can be known whether it was left out. */
  addScore(score: PendingScore): void {
    const { day } = this;
    if (!this.isWhole || day === null || day.isOpened || this.policy?.enabled !== true) return;
    if (day.scores.length < PROBE_DAY_LIMIT) day.scores.push(score);
  }

  /** Notes that the content of an event is not known, and with it all that it may have said. */
  hide(event: ProbeEvent): void {
    this.hidden.add(event);
    if (event === "PROBE_POLICY_CHANGED") this.policy = null;
    if (event === "PROBE_SEED_COMMITTED") [this.day, this.past] = [null, null];
    if (event === "PROBE_SEED_OPENED" && this.day !== null) this.day.isOpened = true;
  }

  addDecided(subject: string, timestamp: string): void {
    const days = this.#decided.get(subject) ?? new Map<number, number>();
    this.#decided.set(subject, days);
    const day = Math.floor(Date.parse(timestamp) / DAY_MS);
    days.set(day, (days.get(day) ?? 0) + 1);
  }

  /** How many probes a subject decided in the days before a day. */
  decidedBefore(subject: string, day: string): number {
    const days = this.#decided.get(subject);
    if (days === undefined) return 0;
    const end = Math.floor(Date.parse(`${day}T00:00:00.000Z`) / DAY_MS);
    let decided = 0;
    for (let at = end - PROBE_WINDOW_DAYS; at < end; at += 1) decided += days.get(at) ?? 0;
    return decided;
  }
}
