/**
 * Checks the entries about probes: each probe was sealed before it was drawn, drawn once, and opened to the truth that was
 * sealed, by the operator and in the time that its assignment gives. Draws are compared with the seed of their day once
 * it is opened. Source: evidence-format.md, section 11.
 */
import { type Crypto, fromHex } from "./crypto.ts";
import { DAY_MS, MINUTE_MS } from "../domain/time.ts";
import type { Entry } from "./entry.ts";
import type { Family } from "./family.ts";
import type { FindingLog } from "./finding_log.ts";
import { isMembers } from "./line_shapes.ts";
import type { PartCheck } from "./part_check.ts";
import { compareDay, endOfDay } from "./probe_days.ts";
import type { KnownProbe, PendingDraw, ProbeDay, ProbeMemory } from "./probe_memory.ts";
import { ProbeRemarks } from "./probe_remarks.ts";
import {
  PROBE_DETAILS,
  probeCommitment,
  type ProbeDetail,
  type ProbeEvent,
  type ProbePolicy,
  seedCommitment,
  type Stratum,
} from "./probes.ts";

/** Milliseconds after a day in which a draw of it may still come onto the chain. */
const LATE_MS = 3_600_000;

/** Milliseconds in which a case that was drawn for is expected to be scored. */
const PATIENCE_MS = 7 * DAY_MS;

/** The events after which a drawn probe is open no more. */
const CLOSING_EVENTS: readonly ProbeEvent[] = ["PROBE_OPENED", "PROBE_RECALLED", "PROBE_LOST"];

/** The score before, as far as its input is given. */
interface ProbeScore {
  readonly seq: number;
  readonly operatorId: string;
  readonly sessionId: string;
  readonly domain: unknown;
  readonly interaction: Readonly<Record<string, unknown>>;
}

/** The entry before, as far as this one is held against it. */
interface Before {
  /** The subject of a score; null if there is none. */
  readonly scorer: string | null;
  readonly score: ProbeScore | null;
  /** A draw; its content is null if it is not given. */
  readonly drawn: { readonly seq: number; readonly draw: PendingDraw | null } | null;
}

const NOTHING: Before = { scorer: null, score: null, drawn: null };

/** Scenarios of cases before which no probe is drawn: they were planted, or announced, themselves. */
const UNDRAWN_SCENARIOS: readonly unknown[] = ["error_injected", "calibration"];

export interface ProbeCheckOptions {
  readonly parts: PartCheck;
  readonly family: Family;
}

export class ProbeCheck {
  readonly #crypto: Crypto;
  readonly #log: FindingLog;
  readonly #parts: PartCheck;
  readonly #family: Family;
  #isFollowing = true;
  /** null at the first entry of the bundle: what came before it is not known. */
  #before: Before | null = null;
  /** The entry with the newest fault. */
  #faulty = -1;
  readonly #remarks = new ProbeRemarks();
  /** Whether a score may be of any session, since neither its input nor its result is given. */
  #hidesSessions = false;

  constructor(crypto: Crypto, log: FindingLog, { parts, family }: ProbeCheckOptions) {
    this.#crypto = crypto;
    this.#log = log;
    this.#parts = parts;
    this.#family = family;
  }

  get #memory(): ProbeMemory {
    return this.#family.probes;
  }

  /** Stops checking: the chain is broken, so an entry that another refers to may be missing. */
  stopFollowing(): void {
    this.#isFollowing = false;
  }

  /** Checks an entry whose parts are all read. */
  checkEntry(entry: Entry): void {
    if (!this.#isFollowing) return;
    const isOwn = ["api", "user", "system"].includes(entry.actor);
    const event = isOwn && Object.hasOwn(PROBE_DETAILS, entry.event_type)
      ? entry.event_type as ProbeEvent
      : null;
    const before = this.#before;
    this.#checkNext(event);
    this.#before = NOTHING;
    if (event !== null) this.#checkEvent(entry, event, before);
    else if (entry.event_type === "SCORE_COMPUTED") this.#checkScore(entry);
  }

  /** Checks that an event, null at the end or if it is of another kind, may follow the entry before. */
  #checkNext(event: ProbeEvent | null): void {
    const { score, drawn } = this.#before ?? NOTHING;
    if (score?.interaction.sealed_probe === true && event !== "PROBE_OPENED") {
      this.#mismatch(score.seq, "the score of a probe that the next entry does not open");
    }
    if (drawn !== null && event !== "PROBE_ASSIGNED") {
      this.#mismatch(drawn.seq, "a draw whose next entry does not say for whom");
    }
  }

  #checkEvent(entry: Entry, event: ProbeEvent, before: Before | null): void {
    const { seq, subject, commit } = entry;
    const part = event === "PROBE_ASSIGNED" ? "input" : "detail";
    if (!this.#memory.isWhole) this.#remarks.countUncompared(seq);
    if (event === "PROBE_DRAWN") this.#before = { ...NOTHING, drawn: { seq, draw: null } };
    if (event === "PROBE_ASSIGNED" && before?.drawn === null) {
      this.#mismatch(seq, "an assignment without its draw before it");
    }
    const state = this.#parts.stateOf(part);
    const isOfForm = Object.keys(commit).join() === part && (subject !== null) === (part === "input");
    const parsed = state === "given" ? PROBE_DETAILS[event].safeParse(this.#parts.dataOf(part)) : null;
    if (!isOfForm || parsed?.success === false) {
      this.#log.add("RECORD_MALFORMED", { seq, part });
      this.#memory.hide(event);
    } else if (parsed !== null) this.#checkContent(entry, event, { before, content: parsed.data as never });
    else if (event === "PROBE_ASSIGNED" && state === "erased") {
      this.#assignErased(before?.drawn?.draw ?? null, subject);
    } else {
      if (this.#memory.isWhole) this.#remarks.countUncompared(seq);
      this.#memory.hide(event);
    }
  }

  #checkContent(
    entry: Entry,
    event: ProbeEvent,
    { before, content }: { readonly before: Before | null; readonly content: never },
  ): void {
    const { seq } = entry;
    switch (event) {
      case "PROBE_POLICY_CHANGED":
        this.#memory.policy = content;
        return;
      case "PROBE_SEED_COMMITTED":
        return this.#startDay(seq, content);
      case "PROBE_SEED_OPENED":
        return this.#openDay(seq, content);
      case "PROBE_SEALED":
        return this.#seal(seq, content);
      case "PROBE_DRAWN":
        return this.#draw(entry, content);
      case "PROBE_ASSIGNED":
        return this.#assign(entry, before?.drawn ?? null, content);
      case "PROBE_OPENED":
        return this.#open(entry, before, content);
      case "PROBE_RECALLED":
        return this.#recall(seq, content);
      case "PROBE_LOST":
        return this.#closeLost(entry, content);
    }
  }

  #checkScore({ seq, subject, timestamp }: Entry): void {
    const [input, result] = [this.#parts.dataOf("input"), this.#parts.dataOf("result")];
    const sessionId = isMembers(input) ? input.session_id : isMembers(result) ? result.session_id : null;
    if (typeof sessionId === "string") this.#memory.addScored(sessionId);
    else if (this.#parts.stateOf("input") !== "erased") this.#hidesSessions = true;
    const before = { ...NOTHING, scorer: subject };
    this.#before = before;
    if (typeof sessionId !== "string") return;
    const drawn = this.#memory.cases.get(sessionId);
    this.#memory.cases.delete(sessionId);
    if (!isMembers(input) || !isMembers(input.interaction)) return;
    const { operator_id: operatorId, domain, interaction } = input;
    if (typeof operatorId !== "string" || subject === null) return;
    this.#before = { ...before, score: { seq, operatorId, sessionId, domain, interaction } };
    const isOther = drawn !== undefined &&
      (drawn.stratum.domain !== domain || drawn.stratum.stakes !== interaction.scenario_type);
    if (isOther) this.#remarks.countChoice("other", seq);
    const isShown = interaction.ai_recommendation_presented === true && interaction.ai_available === true;
    const isDrawn = interaction.sealed_probe === true ||
      UNDRAWN_SCENARIOS.includes(interaction.scenario_type);
    if (isShown && !isDrawn) this.#memory.addScore({ seq, operatorId, sessionId, subject, timestamp });
  }

  #seal(seq: number, seal: ProbeDetail<"PROBE_SEALED">): void {
    if (this.#memory.probes.has(seal.probe_id)) {
      return this.#mismatch(seq, "a probe that was sealed or drawn before");
    }
    this.#memory.seal(seal);
  }

  #startDay(seq: number, { day: name, commitment, policy }: ProbeDetail<"PROBE_SEED_COMMITTED">): void {
    const memory = this.#memory;
    const { day } = memory;
    if (day !== null && !day.isOpened) {
      this.#mismatch(seq, `a new seed, and that of ${day.name} was not opened`);
      this.#countUnopened(day);
    }
    if (day !== null && name <= day.name) this.#mismatch(seq, `a second seed of ${name}`);
    const isKnown = memory.isWhole || memory.policy !== null;
    if (isKnown && (memory.policy === null || !isSamePolicy(memory.policy, policy))) {
      this.#mismatch(seq, "a policy that is not the one that was set last");
    }
    if (day === null || !day.isOpened || !isNextDay(day.name, name)) memory.past = null;
    memory.startDay(name, { commitment, policy });
  }

  #draw({ seq, timestamp }: Entry, detail: ProbeDetail<"PROBE_DRAWN">): void {
    const memory = this.#memory;
    const day = memory.openDay(detail.day);
    const stock = memory.stockOf(detail);
    const probe = detail.probe_id === null ? undefined : memory.probes.get(detail.probe_id);
    const draw: PendingDraw = {
      seq,
      log: this.#log,
      detail,
      place: probe === undefined ? null : stock.placeOf(probe),
      isCompared: memory.isWhole,
      assigned: null,
    };
    this.#before = { ...NOTHING, drawn: { seq, draw } };
    if (day === null) this.#mismatch(seq, "a draw under a seed that was not committed to, or is opened");
    else day.draws.push(draw);
    if (Date.parse(timestamp) >= endOfDay(detail.day) + LATE_MS) {
      this.#mismatch(seq, "a draw under the seed of a day that was over");
    }
    if (memory.isWhole && detail.stock !== stock.size) {
      this.#mismatch(seq, `of ${detail.stock} probes, and there were ${stock.size}`);
    }
    if (detail.probe_id !== null) this.#take(seq, detail.probe_id, detail);
    else if (memory.isWhole && stock.size > 0) {
      this.#mismatch(seq, "a draw without a probe, and there were some");
    }
  }

  /** Takes a drawn probe out of its stratum, which is null if the draw is not given. */
  #take(seq: number, id: string, stratum: Stratum | null): void {
    const probe = this.#probeOf(seq, id);
    if (probe === null) return;
    const isOther = stratum !== null && probe.stratum !== null &&
      (probe.stratum.domain !== stratum.domain || probe.stratum.stakes !== stratum.stakes);
    if (isOther) this.#mismatch(seq, "a probe of another domain, or of other stakes");
    if (probe.state !== "sealed") this.#mismatch(seq, "a probe that was drawn or recalled before");
    probe.stratum ??= stratum;
    this.#memory.markDrawn(probe, { seq, log: this.#log });
  }

  #assign(
    { seq, subject, timestamp }: Entry,
    drawn: Before["drawn"],
    content: ProbeDetail<"PROBE_ASSIGNED">,
  ): void {
    const { assigned, day, probes } = this.#memory;
    const { session_id, probe_id } = content;
    if (assigned.has(session_id)) this.#mismatch(seq, "a second draw of its session");
    if (day?.scored.has(session_id)) this.#mismatch(seq, "a draw after its case was scored");
    assigned.add(session_id);
    if ((probe_id === null) !== (content.probe_session_id === null)) {
      this.#mismatch(seq, "a session for no probe, or none for one");
    }
    if (drawn === null) return;
    const { draw } = drawn;
    if (draw === null && probe_id !== null) this.#take(drawn.seq, probe_id, null);
    if (draw !== null) {
      draw.assigned = { subject, content };
      const { domain, stakes, day } = draw.detail;
      this.#memory.cases.set(session_id, {
        seq: draw.seq,
        day,
        probeId: probe_id,
        stratum: { domain, stakes },
      });
      if (draw.detail.probe_id !== probe_id) this.#mismatch(seq, "another probe than its draw says");
    }
    this.#checkTime({ seq, timestamp }, content);
    const probe = probe_id === null ? undefined : probes.get(probe_id);
    if (probe !== undefined) probe.assigned = { subject, content };
  }

  /** Checks that a probe is given no more time than the policy of its day allows. */
  #checkTime(
    { seq, timestamp }: Pick<Entry, "seq" | "timestamp">,
    { expires_at }: ProbeDetail<"PROBE_ASSIGNED">,
  ): void {
    const minutes = this.#memory.day?.committed?.policy.ticket_minutes;
    if (minutes === undefined || expires_at === null) return;
    if (Date.parse(expires_at) > Date.parse(timestamp) + minutes * MINUTE_MS) {
      this.#mismatch(seq, "more time than the policy gives");
    }
  }

  /** Takes the assignment of an erased operator: nobody can compute its draw any more. */
  #assignErased(draw: PendingDraw | null, subject: string | null): void {
    if (draw === null) return;
    draw.assigned = { subject, content: null };
    const probe = this.#memory.probes.get(draw.detail.probe_id ?? "");
    if (probe !== undefined) probe.assigned = draw.assigned;
  }

  #open({ seq, timestamp }: Entry, before: Before | null, opening: ProbeDetail<"PROBE_OPENED">): void {
    const probe = this.#close(seq, opening, { needsDraw: true });
    if (before === null) return;
    const { scorer, score } = before;
    if (scorer === null) this.#mismatch(seq, "opened without the score of its decision before it");
    else this.#memory.addDecided(scorer, timestamp);
    if (probe === null) return;
    const { assigned, stratum } = probe;
    if (scorer !== null && assigned !== null && assigned.subject !== scorer) {
      this.#mismatch(seq, "decided by another operator than it was drawn for");
    }
    if (score === null) return;
    const { interaction } = score;
    if (interaction.sealed_probe !== true) {
      this.#mismatch(seq, "opened without the score of its decision before it");
    }
    if (interaction.ai_correct !== opening.ai_correct) {
      this.#mismatch(seq, "the score was made with another truth than the one that was sealed");
    }
    if (
      stratum !== null && (interaction.scenario_type !== stratum.stakes || score.domain !== stratum.domain)
    ) {
      this.#mismatch(seq, "the score was made with another domain, or with other stakes");
    }
    const content = assigned?.content ?? null;
    if (content === null) return;
    if (content.probe_session_id !== score.sessionId) {
      this.#mismatch(seq, "the score is of another session than the one that was drawn");
    }
    if (content.operator_id !== score.operatorId) {
      this.#mismatch(seq, "decided by another operator than it was drawn for");
    }
    if (content.expires_at === null || timestamp > content.expires_at) {
      this.#mismatch(seq, "decided after its time");
    }
  }

  #recall(seq: number, opening: ProbeDetail<"PROBE_RECALLED">): void {
    const { state, assigned } = this.#memory.probeOf(opening.probe_id) ?? { state: "sealed", assigned: null };
    const isErased = opening.reason === "erasure" && assigned?.content === null;
    if (state === "drawn" && !isErased) this.#remarks.countChoice("recalled", seq);
    this.#close(seq, opening, { needsDraw: false });
  }

  #closeLost({ seq, timestamp }: Entry, opening: ProbeDetail<"PROBE_LOST">): void {
    const { state } = this.#memory.probeOf(opening.probe_id) ?? { state: "sealed" };
    if (state === "drawn") this.#remarks.countChoice("lost", seq);
    const probe = this.#close(seq, opening, { needsDraw: true });
    const expires = probe?.assigned?.content?.expires_at ?? null;
    if (expires !== null && timestamp < expires) this.#mismatch(seq, "lost before its time was over");
  }

  /** Closes a probe whose seal an entry opens; null if it is known that nobody sealed it. */
  #close(
    seq: number,
    { probe_id, salt, ai_correct, reference }: ProbeDetail<"PROBE_LOST">,
    { needsDraw }: { readonly needsDraw: boolean },
  ): KnownProbe | null {
    const memory = this.#memory;
    const probe = this.#probeOf(seq, probe_id);
    if (probe === null) return null;
    // A probe whose seal was not seen may have been drawn unseen, too.
    const mayBeDrawn = probe.commitment === null || memory.hidden.has("PROBE_DRAWN");
    if (probe.state === "closed") this.#mismatch(seq, "opened a second time");
    else if (needsDraw && (probe.state === "ended" || (probe.state === "sealed" && !mayBeDrawn))) {
      this.#mismatch(seq, "opened without a draw");
    }
    const commitment = probeCommitment(this.#crypto, fromHex(salt), { probe_id, ai_correct, reference });
    if (probe.commitment !== null && commitment !== probe.commitment) {
      this.#mismatch(seq, "another truth than the one that was sealed");
    }
    memory.markClosed(probe);
    return probe;
  }

  /** A probe; null, with a finding, if it is known that nobody sealed it. */
  #probeOf(seq: number, id: string): KnownProbe | null {
    const probe = this.#memory.probeOf(id);
    if (probe === null) this.#mismatch(seq, "a probe that was not sealed before");
    return probe;
  }

  /** Opens the seed of the day, and computes its draws anew. */
  #openDay(seq: number, { day: name, seed: text }: ProbeDetail<"PROBE_SEED_OPENED">): void {
    const memory = this.#memory;
    const day = memory.openDay(name);
    if (day === null) return this.#mismatch(seq, "a seed that was not committed to, or was opened before");
    day.isOpened = true;
    this.#checkOverdue(name);
    const seed = fromHex(text);
    const { committed } = day;
    if (committed !== null && seedCommitment(this.#crypto, name, seed) !== committed.commitment) {
      return this.#mismatch(seq, "another seed than the one that was committed to");
    }
    compareDay(this.#crypto, { memory, remarks: this.#remarks }, { day, seed });
  }

  /** Checks that every probe whose time ended on a day, or before, was closed. */
  #checkOverdue(day: string): void {
    const { hidden } = this.#memory;
    if (CLOSING_EVENTS.some((event) => hidden.has(event))) return;
    for (const { drawnAt } of this.#memory.overdueAt(new Date(endOfDay(day)).toISOString())) {
      drawnAt!.log.add("PROBE_MISMATCH", {
        seq: drawnAt!.seq,
        detail: "shown, and by the end of its time neither decided nor recorded as lost",
      });
    }
  }

  /** Ends the bundle. */
  finish(): void {
    if (!this.#isFollowing) return;
    this.#checkNext(null);
    const { day } = this.#memory;
    if (day?.isOpened === false) this.#countUnopened(day);
    this.#countUnscored();
    this.#remarks.report(this.#log);
  }

  /** Counts the draws of probes whose cases were not scored in time. */
  #countUnscored(): void {
    const { day, cases } = this.#memory;
    if (day === null || this.#hidesSessions) return;
    const until = endOfDay(day.name) - PATIENCE_MS;
    for (const { seq, day: drawnOn, probeId } of cases.values()) {
      if (probeId !== null && endOfDay(drawnOn) <= until) this.#remarks.countChoice("unscored", seq);
    }
  }

  /** Counts the draws of this bundle that cannot be computed, since the seed of their day is not opened. */
  #countUnopened({ draws }: ProbeDay): void {
    if (!this.#memory.isWhole) return;
    for (const { seq, log } of draws) if (log === this.#log) this.#remarks.countUncompared(seq);
  }

  /** Reports the first fault of an entry only: those after it mostly have the same cause. */
  #mismatch(seq: number, detail: string): void {
    if (seq === this.#faulty) return;
    this.#faulty = seq;
    this.#log.add("PROBE_MISMATCH", { seq, detail });
  }
}

function isSamePolicy(first: ProbePolicy, second: ProbePolicy): boolean {
  return (Object.keys(first) as (keyof ProbePolicy)[]).every((name) => first[name] === second[name]);
}

function isNextDay(day: string, next: string): boolean {
  return endOfDay(next) - endOfDay(day) === DAY_MS;
}
