/** Requests for the data of a view: sent again when the question changes, dropped when the view closes. */
import { useEffect, useRef, useState } from "preact/hooks";
import { ApiError, type ApiRequest } from "../shared/api.ts";
import { useCaller, useSession } from "./session.tsx";

type Loaded<Body> =
  | { readonly state: "loading" }
  | { readonly state: "failed"; readonly error: ApiError }
  | { readonly state: "ready"; readonly body: Body };

interface Answer<Body> {
  /** The question that it answers. */
  readonly to: string;
  readonly loaded: Loaded<Body>;
}

export interface Asked<Body> {
  readonly loaded: Loaded<Body>;
  readonly again: () => void;
}

/** The JSON body of a request, or the text of one with `as: "text"`. */
export function useAnswer<Body>(
  request: Omit<ApiRequest, "key" | "withSession">,
  { as = "json" }: { readonly as?: "json" | "text" } = {},
): Asked<Body> {
  const caller = useCaller();
  const { generation } = useSession();
  const [attempt, setAttempt] = useState(0);
  const question = JSON.stringify(request);
  const [answer, setAnswer] = useState<Answer<Body> | null>(null);
  useEffect(() => {
    const leaving = new AbortController();
    const { signal } = leaving;
    setAnswer(null);
    const asked = as === "text" ? caller.text(request, { signal }) : caller.json(request, { signal });
    asked.then(
      (body) => {
        if (!signal.aborted) setAnswer({ to: question, loaded: { state: "ready", body: body as Body } });
      },
      (error) => {
        if (!signal.aborted) {
          setAnswer({ to: question, loaded: { state: "failed", error: asApiError(error) } });
        }
      },
    );
    return () => leaving.abort();
  }, [question, as, attempt, generation]);
  // The answer to another question is never shown, not for one frame.
  const loaded: Loaded<Body> = answer?.to === question ? answer.loaded : { state: "loading" };
  return { loaded, again: () => setAttempt(attempt + 1) };
}

/**
 * An action for a click: its result, and whether it is under way. It receives a signal that ends its waiting
 * when the view closes, so that nothing more is sent for a closed view. A request that was sent is not taken
 * back.
 */
export function useAction<Result>(): {
  readonly busy: boolean;
  readonly error: ApiError | null;
  readonly result: Result | null;
  /** Runs the action; null if it failed or the view is closed. */
  readonly run: (act: (patience: AbortSignal) => Promise<Result>) => Promise<Result | null>;
} {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<ApiError | null>(null);
  const [result, setResult] = useState<Result | null>(null);
  const leaving = useRef(new AbortController());
  useEffect(() => () => leaving.current.abort(), []);
  return {
    busy,
    error,
    result,
    async run(act) {
      setBusy(true);
      setError(null);
      try {
        const { signal } = leaving.current;
        const done = await act(signal);
        if (signal.aborted) return null;
        setResult(done);
        return done;
      } catch (thrown) {
        if (leaving.current.signal.aborted) return null;
        setError(asApiError(thrown));
        return null;
      } finally {
        setBusy(false);
      }
    },
  };
}

/**
 * The error of a call. A fault of the page itself is no answer of the service: it is thrown again, not
 * hidden.
 */
function asApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  throw error;
}
