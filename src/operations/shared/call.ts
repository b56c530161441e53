/** The caller, and the instant and id of the call. */
import type { Grant } from "../../domain/access.ts";
import type { Actor } from "../../evidence/entry.ts";

/** The caller as an entry of a chain names it: a key, a user's id, or the service itself; never a name. */
export interface Caller {
  readonly actor: Actor;
  readonly orgId: string | null;
  readonly prefix: string | null;
  /** The user's id, if the actor is a user. */
  readonly userId?: string;
}

/** The caller as the audit log names it on the calls of an organization for itself: a user stays that user. */
export function selfServing<Known extends Caller>(caller: Known): Known {
  return caller.actor === "user" ? caller : { ...caller, actor: "self_serve" };
}

/** A caller that is an organization. */
export interface OrganizationCaller extends Caller {
  readonly orgId: string;
}

/** A caller of the API: what it was granted is compared with what each call takes. */
export interface GrantedCaller extends OrganizationCaller {
  readonly grant: Grant;
}

/** The instant and id of one call: everything that the call writes carries them. */
export interface Call {
  /** Epoch milliseconds. */
  readonly now: number;
  readonly requestId: string;
}
