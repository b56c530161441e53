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

/** The draft of an event whose only part is `detail`. */
export function eventDraft(
  world: World,
  { type, caller, now, detail }: {
    readonly type: string;
    readonly caller: Caller;
    readonly now: number;
    readonly detail: Record<string, unknown>;
  },
): EntryDraft {
  return {
    id: world.ulid(now),
    actor: caller.actor,
    eventType: type,
    orgId: caller.orgId,
    prefix: caller.prefix,
    subject: null,
    at: now,
    parts: [makePart("detail", drawSalt(world), detail)],
  };
}
