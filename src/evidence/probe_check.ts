/**
 * Checks probes: each was sealed before it was drawn, drawn as the day's seed says, and opened to the truth that was
 * sealed; and no case before which one was due was left out.
 *
 * Draws are computed anew once the seed of their day is opened. A case without a draw is no tampering, since the review
 * application may not have asked; it is counted. Source: evidence-format.md, section 11.
 */
import { type Crypto, fromHex } from "./crypto.ts";
import { DAY_MS } from "../domain/time.ts";
import type { Entry } from "./entry.ts";
import type { Family } from "./family.ts";
import type { FindingLog } from "./finding_log.ts";
import { isMembers } from "./line_shapes.ts";
import type { PartCheck } from "./part_check.ts";
import type { KnownProbe, PendingDraw, PendingScore, ProbeDay, ProbeMemory } from "./probe_memory.ts";
import {
  type Draw,
  drawOf,
  placeIn,
  PROBE_DETAILS,
  probeCommitment,
  type ProbeDetail,
  type ProbeEvent,
  type ProbePolicy,
  seedCommitment,
  shareOf,
} from "./probes.ts";

/** Hours after midnight in which a case may have been drawn on the day before. */
const STRADDLING_HOURS = 4;

/** A score with the entry that must follow it. */
interface ProbeScore {
  readonly seq: number;
  readonly sessionId: string;
  readonly aiCorrect: unknown;
  readonly scenario: unknown;
}

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
  /** The probe's score that the next entry must open. */
  #scored: ProbeScore | null = null;
  /** The draw whose assignment the next entry must be. */
  #drawn: PendingDraw | null = null;
  /** The operator of the score before, unless its input says that it is not of a probe; null if there is none. */
  #scorer: string | null = null;
  /** The entry with the newest fault. */
  #faulty = -1;
  #leftOut = { count: 0, first: 0, straddling: 0 };
  #uncompared = { count: 0, first: 0 };

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
    const [scored, drawn] = [this.#scored, this.#drawn];
    [this.#scored, this.#drawn] = [null, null];
    const isOwn = entry.actor === "api" || entry.actor === "system";
    const event = isOwn && Object.hasOwn(PROBE_DETAILS, entry.event_type)
      ? entry.event_type as ProbeEvent
      : null;
    if (scored !== null && event !== "PROBE_OPENED") {
      this.#mismatch(scored.seq, "the score of a probe that the next entry does not open");
    }
    if (drawn !== null && event !== "PROBE_ASSIGNED") {
      this.#mismatch(drawn.seq, "a draw whose next entry does not say for whom");
    }
    if (event !== null) this.#checkEvent(entry, event, { scored, drawn });
    this.#scorer = null;
    if (entry.event_type === "SCORE_COMPUTED") this.#checkScore(entry);
  }

  #checkEvent(
    entry: Entry,
    event: ProbeEvent,
    { scored, drawn }: { readonly scored: ProbeScore | null; readonly drawn: PendingDraw | null },
  ): void {
    const { seq } = entry;
    const part = event === "PROBE_ASSIGNED" ? "input" : "detail";
    if (event === "PROBE_ASSIGNED" && drawn === null) {
      return this.#mismatch(seq, "an assignment without its draw before it");
    }
    if (this.#parts.stateOf(part) !== "given") return this.#skip(event, seq);
    const parsed = PROBE_DETAILS[event].safeParse(this.#parts.dataOf(part));
    if (!parsed.success) return this.#log.add("RECORD_MALFORMED", { seq, part });
    const content = parsed.data as never;
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
        return this.#draw(seq, content);
      case "PROBE_ASSIGNED":
        return this.#assign(entry, drawn!, content);
      case "PROBE_OPENED":
        return this.#open(entry, scored, content);
      case "PROBE_RECALLED":
        return this.#close(entry, content, ["sealed", "drawn"]);
      case "PROBE_LOST":
        return this.#closeLost(entry, content);
    }
  }

  /** An event whose content is not given: what it changed is not known any more. */
  #skip(event: ProbeEvent, seq: number): void {
    if (event === "PROBE_ASSIGNED") return;
    this.#memory.isWhole = false;
    if (event === "PROBE_POLICY_CHANGED") this.#memory.policy = null;
    this.#countUncompared(seq);
  }

  #checkScore({ seq, subject, timestamp }: Entry): void {
    this.#scorer = subject;
    const input = this.#parts.dataOf("input");
    if (!isMembers(input) || !isMembers(input.interaction)) return;
    const { operator_id: operatorId, session_id: sessionId, interaction } = input;
    if (typeof operatorId !== "string" || typeof sessionId !== "string" || subject === null) return;
    if (interaction.sealed_probe === true) {
      const { ai_correct: aiCorrect, scenario_type: scenario } = interaction;
      this.#scored = { seq, sessionId, aiCorrect, scenario };
      return;
    }
    this.#scorer = null;
    if (interaction.ai_recommendation_presented === true && interaction.ai_available === true) {
      this.#memory.addScore({ seq, operatorId, sessionId, subject, timestamp });
    }
  }

  #seal(seq: number, seal: ProbeDetail<"PROBE_SEALED">): void {
    if (this.#memory.probes.has(seal.probe_id)) {
      return this.#mismatch(seq, "a probe that was sealed before");
    }
    this.#memory.seal(seal);
  }

  #startDay(seq: number, content: ProbeDetail<"PROBE_SEED_COMMITTED">): void {
    const memory = this.#memory;
    const { day, policy } = memory;
    if (day !== null && !day.isOpened) {
      this.#mismatch(seq, `a new seed, and that of ${day.name} was not opened`);
    }
    if (day !== null && content.day <= day.name) this.#mismatch(seq, `a second seed of ${content.day}`);
    if (policy !== null && !isSamePolicy(policy, content.policy)) {
      this.#mismatch(seq, "a policy that is not the one that was set last");
    }
    if (day === null || !day.isOpened || !isNextDay(day.name, content.day)) memory.past = null;
    memory.startDay(content);
  }

  #draw(seq: number, detail: ProbeDetail<"PROBE_DRAWN">): void {
    const memory = this.#memory;
    const { day } = memory;
    const stock = memory.stockOf(detail);
    const place = detail.probe_id === null ? -1 : stock.indexOf(detail.probe_id);
    const draw: PendingDraw = {
      seq,
      log: this.#log,
      detail,
      place: memory.isWhole ? place : null,
      assignment: null,
      subject: null,
    };
    this.#drawn = draw;
    if (day === null || day.isOpened || day.name !== detail.day) {
      if (memory.isWhole) this.#mismatch(seq, "a draw under a seed that was not committed to, or is opened");
      else this.#countUncompared(seq);
    } else day.draws.push(draw);
    if (detail.probe_id !== null) this.#takeDrawn(seq, { id: detail.probe_id, detail, place });
    else if (memory.isWhole && stock.length > 0) {
      this.#mismatch(seq, "a draw without a probe, and there were some");
    }
    if (memory.isWhole && detail.probe_id !== null && place !== -1 && detail.stock !== stock.length + 1) {
      this.#mismatch(seq, `of ${detail.stock} probes, and there were ${stock.length + 1}`);
    }
  }

  #takeDrawn(
    seq: number,
    { id, detail, place }: {
      readonly id: string;
      readonly detail: ProbeDetail<"PROBE_DRAWN">;
      readonly place: number;
    },
  ): void {
    const probe = this.#probeOf(seq, id);
    if (probe === null) return;
    const { domain, stakes } = probe.seal;
    if (domain !== detail.domain || stakes !== detail.stakes) {
      this.#mismatch(seq, "a probe of another domain, or of other stakes");
    } else if (place === -1) this.#mismatch(seq, "a probe that was drawn or recalled before");
    this.#memory.markDrawn(probe, { seq, log: this.#log });
  }

  #assign(
    { seq, subject }: Entry,
    drawn: PendingDraw,
    assignment: ProbeDetail<"PROBE_ASSIGNED">,
  ): void {
    const { assigned, day, probes } = this.#memory;
    drawn.assignment = assignment;
    drawn.subject = subject;
    const { session_id } = assignment;
    if (assigned.has(session_id)) this.#mismatch(seq, "a second draw of its session");
    if (day?.scored.has(session_id)) this.#mismatch(seq, "a draw after its case was scored");
    assigned.add(session_id);
    const { probe_id } = drawn.detail;
    const isOfDraw = probe_id === assignment.probe_id;
    if (!isOfDraw || (probe_id === null) !== (assignment.probe_session_id === null)) {
      this.#mismatch(seq, "another probe than its draw says, or a session for none");
    }
    const probe = probe_id === null ? undefined : probes.get(probe_id);
    if (probe !== undefined) probe.assignment = assignment;
  }

  #open(
    { seq, timestamp }: Entry,
    scored: ProbeScore | null,
    content: ProbeDetail<"PROBE_OPENED">,
  ): void {
    const probe = this.#opened(seq, content, ["drawn"]);
    if (this.#scorer === null) this.#mismatch(seq, "opened without the score of its decision before it");
    else this.#memory.addDecided(this.#scorer, timestamp);
    if (probe === null || scored === null) return;
    const { assignment, seal } = probe;
    if (scored.aiCorrect !== content.ai_correct) {
      this.#mismatch(seq, "the score was made with another truth than the one that was sealed");
    }
    if (scored.scenario !== seal.stakes) this.#mismatch(seq, "the score was made with other stakes");
    if (assignment === null) return;
    if (assignment.probe_session_id !== scored.sessionId) {
      this.#mismatch(seq, "the score is of another session than the one that was drawn");
    }
    if (assignment.expires_at !== null && timestamp > assignment.expires_at) {
      this.#mismatch(seq, "decided after its time");
    }
  }

  #closeLost({ seq, timestamp }: Entry, content: ProbeDetail<"PROBE_LOST">): void {
    const probe = this.#opened(seq, content, ["drawn"]);
    const expires = probe?.assignment?.expires_at ?? null;
    if (expires !== null && timestamp < expires) this.#mismatch(seq, "lost before its time was over");
  }

  #close(
    { seq }: Entry,
    content: ProbeDetail<"PROBE_RECALLED">,
    states: readonly KnownProbe["state"][],
  ): void {
    this.#opened(seq, content, states);
  }

  /** Closes a probe whose seal an entry opens; null if it is not known. */
  #opened(
    seq: number,
    { probe_id, salt, ai_correct, reference }: ProbeDetail<"PROBE_LOST">,
    states: readonly KnownProbe["state"][],
  ): KnownProbe | null {
    const probe = this.#probeOf(seq, probe_id);
    if (probe === null) return null;
    const isEnded = probe.state === "ended" && states.includes("sealed");
    if (probe.state === "closed") this.#mismatch(seq, "opened a second time");
    else if (isEnded) {
      // A restore ended it: it can only be recalled.
    } else if (!states.includes(probe.state)) {
      if (this.#memory.isWhole) this.#mismatch(seq, "opened without a draw");
      else this.#countUncompared(seq);
    }
    const commitment = probeCommitment(this.#crypto, fromHex(salt), { probe_id, ai_correct, reference });
    if (commitment !== probe.seal.commitment) {
      this.#mismatch(seq, "another truth than the one that was sealed");
    }
    this.#memory.markClosed(probe);
    return probe;
  }

  /** A sealed probe; null, with a finding or counted, if no seal of it is known. */
  #probeOf(seq: number, id: string): KnownProbe | null {
    const probe = this.#memory.probes.get(id);
    if (probe !== undefined) return probe;
    if (this.#memory.isWhole) this.#mismatch(seq, "a probe that was not sealed before");
    else this.#countUncompared(seq);
    return null;
  }

  /** Opens the seed of the day, and computes its draws anew. */
  #openDay(seq: number, { day: name, seed: text }: ProbeDetail<"PROBE_SEED_OPENED">): void {
    const memory = this.#memory;
    const { day } = memory;
    if (day === null || day.name !== name || day.isOpened) {
      if (memory.isWhole) this.#mismatch(seq, "a seed that was not committed to, or was opened before");
      else this.#countUncompared(seq);
      return;
    }
    day.isOpened = true;
    const end = new Date(Date.parse(`${name}T00:00:00.000Z`) + DAY_MS).toISOString();
    for (const { drawnAt } of memory.overdueAt(end)) {
      drawnAt!.log.add("PROBE_MISMATCH", {
        seq: drawnAt!.seq,
        detail: "shown, and by the end of its time neither decided nor recorded as lost",
      });
    }
    const seed = fromHex(text);
    if (seedCommitment(this.#crypto, name, seed) !== day.commitment) {
      return this.#mismatch(seq, "another seed than the one that was committed to");
    }
    const draw = (operatorId: string, sessionId: string) =>
      drawOf(this.#crypto, seed, { operatorId, sessionId });
    for (const pending of day.draws) this.#compareDraw(day, pending, draw);
    for (const score of day.scores) this.#compareScore(day, score, draw);
    if (day.skipped > 0) this.#countUncompared(day.draws[0]?.seq ?? seq, day.skipped);
    const { policy } = day;
    memory.past = {
      name,
      drawOf: ({ operatorId, sessionId }) => ({ draw: draw(operatorId, sessionId), policy }),
    };
    day.draws.length = 0;
    day.scores.length = 0;
  }

  #compareDraw(
    day: ProbeDay,
    { seq, log, detail, place, assignment, subject }: PendingDraw,
    draw: (operatorId: string, sessionId: string) => Draw,
  ): void {
    const found = (what: string) => log.add("PROBE_MISMATCH", { seq, detail: what });
    const share = subject === null ? null : this.#shareOf(day, subject);
    if (share !== null && share !== detail.share) {
      return found(`a share of ${detail.share}, and it was ${share}`);
    }
    // The operator was erased: nobody can compute the draw any more.
    if (assignment === null) return;
    const drawn = draw(assignment.operator_id, assignment.session_id);
    if (drawn.chance >= detail.share) return found("a draw for a session before which no probe was due");
    if (place !== null && place !== -1 && place !== placeIn(detail.stock, drawn)) {
      found("another probe than the one that the seed draws");
    }
  }

  #compareScore(
    day: ProbeDay,
    score: PendingScore,
    draw: (operatorId: string, sessionId: string) => Draw,
  ): void {
    if (this.#memory.assigned.has(score.sessionId)) return;
    const { chance } = draw(score.operatorId, score.sessionId);
    const share = this.#shareOf(day, score.subject) ?? day.policy.rate;
    if (chance >= share) return;
    if (this.#isStraddling(day, score)) this.#leftOut.straddling += 1;
    else {
      if (this.#leftOut.count === 0) this.#leftOut.first = score.seq;
      this.#leftOut.count += 1;
    }
  }

  /** Whether a case may have been drawn on the day before, on which no probe was due. */
  #isStraddling({ name }: ProbeDay, score: PendingScore): boolean {
    const { past } = this.#memory;
    if (past === null || Number(score.timestamp.slice(11, 13)) >= STRADDLING_HOURS) return false;
    if (!score.timestamp.startsWith(name)) return false;
    const { draw, policy } = past.drawOf(score);
    const decided = this.#memory.decidedBefore(score.subject, past.name);
    return draw.chance >= shareOf(policy, decided);
  }

  /** The share of a subject on a day; null if too little of the history is known. */
  #shareOf({ name, policy }: ProbeDay, subject: string): number | null {
    return this.#memory.isWhole ? shareOf(policy, this.#memory.decidedBefore(subject, name)) : null;
  }

  /** Ends the bundle. */
  finish(): void {
    if (!this.#isFollowing) return;
    const { day } = this.#memory;
    if (this.#scored !== null) {
      this.#mismatch(this.#scored.seq, "the score of a probe that the next entry does not open");
    }
    if (this.#drawn !== null) {
      this.#mismatch(this.#drawn.seq, "a draw whose next entry does not say for whom");
    }
    for (const { seq } of day?.isOpened === false ? day.draws : []) this.#countUncompared(seq);
    const { leftOut, uncompared } = { leftOut: this.#leftOut, uncompared: this.#uncompared };
    if (leftOut.count > 0) {
      const straddling = leftOut.straddling === 0 ? "" : `, and ${leftOut.straddling} just after midnight`;
      const cases = leftOut.count === 1 ? "case" : "cases";
      this.#log.add("PROBE_LEFT_OUT", {
        seq: leftOut.first,
        detail: `${leftOut.count} ${cases}${straddling}`,
      });
    }
    if (uncompared.count > 0) {
      const records = uncompared.count === 1 ? "record" : "records";
      this.#log.add("PROBE_UNCOMPARED", { seq: uncompared.first, detail: `${uncompared.count} ${records}` });
    }
  }

  #countUncompared(seq: number, count = 1): void {
    if (this.#uncompared.count === 0) this.#uncompared.first = seq;
    this.#uncompared.count += count;
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
  return Date.parse(`${next}T00:00:00Z`) - Date.parse(`${day}T00:00:00Z`) === DAY_MS;
}
