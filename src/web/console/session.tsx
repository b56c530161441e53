/**
 * Who is signed in: an organization's key, which lives in this page's memory and nowhere else. Leaving the page, or
 * loading it anew, forgets it. What the service shows once is kept here, too, until somebody says that it is safe: no
 * click on the way may lose it.
 */
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import { ApiError, type ApiRequest, call, callText, type SendOptions } from "../shared/api.ts";
import { announceWait } from "../shared/waiting.tsx";

export interface SignedIn {
  readonly key: string;
  readonly organization: string;
  readonly orgId: string;
  /** JIS, 0 to 100, that the law of the service asks for. */
  readonly minimum: number;
}

/** Something that the service shows this once. */
export interface ShownOnce {
  readonly title: string;
  readonly label: string;
  readonly value: string;
  readonly note: string;
}

export interface Session {
  readonly signedIn: SignedIn;
  /** Grows when everything is to be asked for anew. */
  readonly generation: number;
  /** Goes on with the key that took the place of `old`, unless the session of that one is over. */
  readonly takeKey: (key: string, old: string) => void;
  /** The service refused a key: where it is the one in use, the session is over. */
  readonly refuse: (key: string) => void;
  /** Does what shows something once: until it is done nobody signs out, and it is shown in whatever view. */
  readonly obtain: (act: () => Promise<ShownOnce>) => Promise<void>;
}

export const SessionContext = createContext<Session | null>(null);

/** @throws {TypeError} outside of what is shown to whoever is signed in. */
export function useSession(): Session {
  const session = useContext(SessionContext);
  if (session === null) throw new TypeError("nobody is signed in");
  return session;
}

export const KEY_REFUSED =
  "The service does not take this key any more: it was rotated or revoked, or the organization is suspended. Sign in with the key in use.";

type Request = Omit<ApiRequest, "key">;

/** Calls with the key of the session; where that is refused, the session is over. */
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
