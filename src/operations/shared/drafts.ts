/** Drafts of entries: their parts, with the salts that are drawn for them. */
import { canonicalJson } from "../../evidence/canonical.ts";
import type { World } from "../../domain/world.ts";
import type { PartName } from "../../evidence/hashes.ts";
import type { EntryDraft, Part } from "../../evidence/entry.ts";
import type { Caller } from "./call.ts";

const SALT_BYTES = 32;

/** Draws 32 random bytes, once for a part: a commit that is planned anew keeps them. */
export function drawSalt(world: World): Uint8Array {
  return world.random(SALT_BYTES);
}

/** A part of an entry, in canonical JSON. */
export function makePart(name: PartName, salt: Uint8Array, data: unknown): Part {
  return { name, salt, text: canonicalJson(data) };
}

/** The members of a draft that say who made the entry. */
export function signedBy(
  { actor, orgId, prefix, userId }: Caller,
): Pick<EntryDraft, "actor" | "orgId" | "prefix" | "userId"> {
  return { actor, orgId, prefix, ...(userId === undefined ? {} : { userId }) };
}

/** The draft of an event whose only part is `detail`. */
export function eventDraft(
  world: World,
  { detail, ...event }: DrawnEvent & { readonly detail: Record<string, unknown> },
): EntryDraft {
  return drawEvent(world, event)(detail);
}

/** The draft of an entry about an operator whose only part is `input`. */
export function inputDraft(
  world: World,
  { subject, ...event }: DrawnEvent & {
    /** The operator's pseudonym. */
    readonly subject: string;
    readonly input: unknown;
  },
): EntryDraft {
  return drawInput(world, event)(subject);
}

/** Draws an entry about an operator whose pseudonym a plan finds: a commit that is planned anew keeps its id and salt. */
export function drawInput(
  world: World,
  { type, caller, now, input }: DrawnEvent & { readonly input: unknown },
): (subject: string) => EntryDraft {
  const [id, parts] = [world.ulid(now), [makePart("input", drawSalt(world), input)]];
  return (subject) => ({ id, ...signedBy(caller), eventType: type, subject, at: now, parts });
}

interface DrawnEvent {
  readonly type: string;
  readonly caller: Caller;
  readonly now: number;
}

/** Draws the id and the salt of an event whose `detail` a plan makes: a commit that is planned anew keeps them. */
export function drawEvent(
  world: World,
  { type, caller, now }: DrawnEvent,
): (detail: Record<string, unknown>) => EntryDraft {
  const [id, salt] = [world.ulid(now), drawSalt(world)];
  return (detail) => ({
    id,
    ...signedBy(caller),
    eventType: type,
    subject: null,
    at: now,
    parts: [makePart("detail", salt, detail)],
  });
}
