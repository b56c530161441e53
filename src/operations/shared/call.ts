/** Who asks, and when: what everything that a call writes agrees on. */
import type { Actor } from "../../evidence/entry.ts";

/** Who asks, as an entry of a chain names it: never a person. */
export interface Caller {
  readonly actor: Actor;
  readonly orgId: string | null;
  readonly prefix: string | null;
}

/** A caller that is an organization. */
export interface OrganizationCaller extends Caller {
  readonly orgId: string;
}

/** One call's own instant and id: everything that the call writes agrees on them. */
export interface Call {
  /** Epoch milliseconds. */
  readonly now: number;
  readonly requestId: string;
}
