/**
 * The session: an organization's key, which lives in this page's memory and nowhere else. Leaving or
 * reloading the page forgets it. A value that the service shows once is kept here, too, until the user says
 * that it is safe, so that no click loses it.
 */
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import { ApiError, type ApiRequest, call, callText, type SendOptions } from "../shared/api.ts";
import { announceWait } from "../shared/waiting.tsx";

export interface SignedIn {
  readonly key: string;
  readonly organization: string;
  readonly orgId: string;
  /** The minimum JIS of the model in use, 0 to 100. */
  readonly minimum: number;
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
  /** Reports a key that the service refused: if it is the one in use, the session is over. */
  readonly refuse: (key: string) => void;
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

type Request = Omit<ApiRequest, "key">;

/** Calls with the key of the session; if the key is refused, the session is over. */
export function useCaller(): {
  readonly json: <Body>(request: Request, options?: SendOptions) => Promise<Body>;
  readonly text: (request: Request, options?: SendOptions) => Promise<string>;
} {
  const { signedIn: { key }, refuse } = useSession();
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
      guarded(() => call<Body>({ ...request, key }, { onWait: announceWait, ...options })),
    text: (request, options = {}) =>
      guarded(() => callText({ ...request, key }, { onWait: announceWait, ...options })),
  };
}
