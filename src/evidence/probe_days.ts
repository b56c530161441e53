/**
 * Computes the draws of a day anew, once its seed is opened: each recorded one must be the draw that the seed gives, and
 * a case without one must not have been due. Source: evidence-format.md, section 11.
 */
import type { Crypto } from "./crypto.ts";
import { DAY_MS } from "../domain/time.ts";
import type { PendingDraw, PendingScore, ProbeDay, ProbeMemory } from "./probe_memory.ts";
import type { ProbeRemarks } from "./probe_remarks.ts";
import { type Draw, drawOf, placeIn, shareOf } from "./probes.ts";

/** Hours after midnight in which a case may have been drawn on the day before. */
const STRADDLING_HOURS = 4;

type DrawFor = (session: { readonly operatorId: string; readonly sessionId: string }) => Draw;

/** Compares the draws and the scores of a day with the seed that it was opened to, and remembers the day as past. */
export function compareDay(
  crypto: Crypto,
  { memory, remarks }: { readonly memory: ProbeMemory; readonly remarks: ProbeRemarks },
  { day, seed }: { readonly day: ProbeDay; readonly seed: Uint8Array },
): void {
  const drawFor: DrawFor = (session) => drawOf(crypto, seed, session);
  for (const draw of day.draws) {
    const fault = faultOf(memory, day, { draw, drawFor });
    if (fault !== null) draw.log.add("PROBE_MISMATCH", { seq: draw.seq, detail: fault });
  }
  for (const score of day.scores) {
    if (!memory.assigned.has(score.sessionId) && isDue(memory, day, { score, drawFor })) {
      remarks.countLeftOut(score.seq, mayBeOfDayBefore(memory, day, score));
    }
  }
  const { name, committed } = day;
  memory.past = committed === null ? null : { name, drawFor, policy: committed.policy };
  day.draws.length = 0;
  day.scores.length = 0;
}

/** Why a draw is not the one that the seed gives; null if it is, or if that cannot be known. */
function faultOf(
  memory: ProbeMemory,
  day: ProbeDay,
  { draw: { detail, place, isCompared, assigned }, drawFor }: {
    readonly draw: PendingDraw;
    readonly drawFor: DrawFor;
  },
): string | null {
  if (isCompared && assigned !== null && assigned.subject !== null) {
    const share = shareOn(memory, day, assigned.subject);
    if (share !== detail.share) return `a share of ${detail.share}, and it was ${share}`;
  }
  const content = assigned?.content ?? null;
  if (content === null) return null;
  const drawn = drawFor({ operatorId: content.operator_id, sessionId: content.session_id });
  if (drawn.chance >= detail.share) return "a draw for a session before which no probe was due";
  const isOther = isCompared && place !== null && place !== placeIn(detail.stock, drawn);
  return isOther ? "another probe than the one that the seed draws" : null;
}

function isDue(
  memory: ProbeMemory,
  day: ProbeDay,
  { score, drawFor }: { readonly score: PendingScore; readonly drawFor: DrawFor },
): boolean {
  return drawFor(score).chance < shareOn(memory, day, score.subject);
}

/** Whether a case may have been drawn on the day before, on which no probe was due. */
function mayBeOfDayBefore(memory: ProbeMemory, { name }: ProbeDay, score: PendingScore): boolean {
  const { past } = memory;
  const isEarly = score.timestamp.startsWith(name) &&
    Number(score.timestamp.slice(11, 13)) < STRADDLING_HOURS;
  if (past === null || !isEarly) return false;
  return past.drawFor(score).chance >= shareOf(past.policy, memory.decidedBefore(score.subject, past.name));
}

/** The share of a subject on a day whose seed was seen to be committed to. */
function shareOn(memory: ProbeMemory, { name, committed }: ProbeDay, subject: string): number {
  return shareOf(committed!.policy, memory.decidedBefore(subject, name));
}

/** The end of a UTC day such as 2026-11-26, milliseconds since the epoch. */
export function endOfDay(day: string): number {
  return Date.parse(`${day}T00:00:00.000Z`) + DAY_MS;
}
