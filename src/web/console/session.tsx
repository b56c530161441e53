/**
 * The session: a user's, whose cookie no script sees, or an organization's key, which lives in this page's memory and nowhere
 * else, so that leaving or reloading the page forgets it. A value that the service shows once is kept here, too, until the
 * user says that it is safe, so that no click loses it.
 */
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import { type Access, isGranted } from "../../domain/access.ts";
import type { Privacy } from "../../domain/enums.ts";
import { ApiError, type ApiRequest, call, callText, type SendOptions } from "../shared/api.ts";
import { announceWait } from "../shared/waiting.tsx";
import type { Me } from "./types.ts";

export interface SignedIn {
  /** null if a user is signed in. */
  readonly key: string | null;
  /** null if the organization's key is used. */
  readonly user: Me["user"] | null;
  readonly organization: string;
  readonly orgId: string;
  /** The minimum JIS of the model in use, 0 to 100. */
  readonly minimum: number;
  /** Whether operators are shown under their ids or under pseudonyms. */
  readonly privacy: Privacy;
}

/** A value that the service shows only once. */
export interface ShownOnce {
  readonly title: string;
  readonly label: string;
  readonly value: string;
  readonly note: string;
}

export interface Session {
  readonly signedIn: SignedIn;
  /** Grows when all data must be requested again. */
  readonly generation: number;
  /** Goes on with the key that replaced `old`, unless the session of `old` is over. */
  readonly takeKey: (key: string, old: string) => void;
  /**
   * Reports a key, or null for a user's session, that the service does not take any more: if it is the one in use, the session is
   * over. `why`: what the sign-in says then.
   */
  readonly refuse: (key: string | null, why?: string) => void;
  /** Signs out; null while something is shown once, which would be lost. */
  readonly signOut: (() => void) | null;
  /** Runs an action whose result is shown once, in any view; until it is done nobody can sign out. */
  readonly obtain: (act: () => Promise<ShownOnce>) => Promise<void>;
}

export const SessionContext = createContext<Session | null>(null);

/** The session of a view. @throws {TypeError} outside of the views for a signed-in user. */
export function useSession(): Session {
  const session = useContext(SessionContext);
  if (session === null) throw new TypeError("nobody is signed in");
  return session;
}

export const KEY_REFUSED =
  "The service does not take this key any more: it was rotated or revoked, or the organization is suspended. Sign in with the key in use.";

export const SIGNED_OUT = "You are signed out.";

export const SESSION_OVER = "Your session is over: it ended by time, or somebody ended it. Sign in again.";

/** Who is signed in, from the answer about the user. */
export function signedInAs({ user, organization, minimum_jis, privacy }: Me): SignedIn {
  return {
    key: null,
    user,
    organization: organization.name,
    orgId: organization.id,
    minimum: minimum_jis,
    privacy,
  };
}

/** Whether whoever is signed in may make calls of a kind. */
export function may({ user }: SignedIn, access: Access): boolean {
  return isGranted(user === null ? null : { kind: "role", role: user.role }, access);
}

/** The name under which this browser remembers that it may have a session's cookie, which no script sees. */
const REMEMBERED = "jiss.session";

/** Whether somebody signed in on this browser and did not sign out. */
export function mayHaveSession(): boolean {
  try {
    return localStorage.getItem(REMEMBERED) !== null;
  } catch {
    // The browser keeps nothing for pages: the user signs in at each load.
    return false;
  }
}

export function rememberSession(isOpen: boolean): void {
  try {
    if (isOpen) localStorage.setItem(REMEMBERED, "1");
    else localStorage.removeItem(REMEMBERED);
  } catch {
    // As above.
  }
}

type Request = Omit<ApiRequest, "key" | "withSession">;

/** Calls with the key of the session; if the key is refused, the session is over. */
export function useCaller(): {
  readonly json: <Body>(request: Request, options?: SendOptions) => Promise<Body>;
  readonly text: (request: Request, options?: SendOptions) => Promise<string>;
} {
  const { signedIn: { key }, refuse } = useSession();
  const credentials = key === null ? { withSession: true } : { key };
  const guarded = async <Result,>(ask: () => Promise<Result>): Promise<Result> => {
    try {
      return await ask();
    } catch (error) {
      if (error instanceof ApiError && error.status === 401) refuse(key);
      throw error;
    }
  };
  return {
    json: <Body,>(request: Request, options: SendOptions = {}) =>
      guarded(() => call<Body>({ ...request, ...credentials }, { onWait: announceWait, ...options })),
    text: (request, options = {}) =>
      guarded(() => callText({ ...request, ...credentials }, { onWait: announceWait, ...options })),
  };
}
