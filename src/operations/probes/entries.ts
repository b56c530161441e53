/** Drafts of the entries about probes. Their ids and salts are drawn before a plan, which may run again. */
import type { World } from "../../domain/world.ts";
import { PROBE_DETAILS, type ProbeDetail, type ProbeEvent } from "../../evidence/probes.ts";
import type { EntryDraft } from "../../evidence/entry.ts";
import type { Caller } from "../shared/call.ts";
import { drawSalt, makePart, signedBy } from "../shared/drafts.ts";

/** The id and the salt of an entry that may be written. */
export interface DrawnEntry {
  readonly id: string;
  readonly salt: Uint8Array;
}

export function drawEntry(world: World, now: number): DrawnEntry {
  return { id: world.ulid(now), salt: drawSalt(world) };
}

/** The service itself, of one organization. */
export function serviceOf(orgId: string): Caller & { readonly orgId: string } {
  return { actor: "system", orgId, prefix: null };
}

/**
 * The draft of an entry about a probe. What names an operator is an `input`, and is destroyed with the operator;
 * everything else is a `detail`.
 */
export function probeEntry<Event extends ProbeEvent>(
  { id, salt }: DrawnEntry,
  { event, caller, subject = null, now, content }: {
    readonly event: Event;
    readonly caller: Caller;
    /** The pseudonym of the operator whom the entry names; default: it names none. */
    readonly subject?: string | null;
    readonly now: number;
    readonly content: ProbeDetail<Event>;
  },
): EntryDraft {
  return {
    id,
    ...signedBy(caller),
    eventType: event,
    subject,
    at: now,
    parts: [makePart(subject === null ? "detail" : "input", salt, PROBE_DETAILS[event].parse(content))],
  };
}
