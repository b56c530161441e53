/**
 * Requests for the data of a view: sent again when the question changes or the service is back, dropped when the view closes. An
 * answer stays while its own question is asked again.
 */
import { useEffect, useRef, useState } from "preact/hooks";
import { ApiError, type ApiRequest } from "../shared/api.ts";
import { connection, onConnection, reportShown } from "../shared/connection.ts";
import { noteCount } from "./counts.ts";
import { useCaller, useSession } from "./session.tsx";

type Loaded<Body> =
  | { readonly state: "loading" }
  | { readonly state: "failed"; readonly error: ApiError }
  | { readonly state: "ready"; readonly body: Body };

interface Answer<Body> {
  /** The question that it answers. */
  readonly to: string;
  readonly loaded: Loaded<Body>;
  /** The attempt that gave it, and how many answers came before it. */
  readonly attempt: number;
  readonly number: number;
  /** When it came, milliseconds of the browser's clock. */
  readonly at: number;
}

export interface Asked<Body> {
  readonly loaded: Loaded<Body>;
  /** Whether the body that is shown is being asked for again. */
  readonly isRefreshing: boolean;
  /** Grows with each answer to {@link again}: what was typed beside the earlier answer is done with. */
  readonly attempt: number;
  /** Grows with each answer. */
  readonly number: number;
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
  const [isAsking, setAsking] = useState(false);
  const [returns, setReturns] = useState(0);
  /** Whether the last request got no answer: it is sent again when the service is back. */
  const isOwed = useRef(false);
  useEffect(() => {
    const leaving = new AbortController();
    const { signal } = leaving;
    isOwed.current = false;
    setAsking(true);
    setAnswer((before) => isBody(before, question) ? before : null);
    const take = (loaded: Loaded<Body>) => {
      if (signal.aborted) return;
      setAsking(false);
      isOwed.current = loaded.state === "failed" && loaded.error.code === "UNREACHABLE";
      // Without a connection the last answer is all there is.
      setAnswer((before) =>
        isOwed.current && isBody(before, question)
          ? before
          : { to: question, loaded, attempt, number: (before?.number ?? 0) + 1, at: Date.now() }
      );
    };
    const asked = as === "text" ? caller.text(request, { signal }) : caller.json(request, { signal });
    asked.then(
      (body) => {
        if (!signal.aborted) noteCount(request.path, body);
        take({ state: "ready", body: body as Body });
      },
      (error) => {
        if (!signal.aborted) take({ state: "failed", error: asApiError(error) });
      },
    );
    return () => leaving.abort();
  }, [question, as, attempt, returns, generation]);
  useEffect(() =>
    onConnection(() => {
      if (isOwed.current && connection().state === "connected") setReturns((count) => count + 1);
    }), []);
  useEffect(() => {
    if (answer?.loaded.state === "ready") return reportShown(answer.at);
  }, [answer]);
  // The answer to another question is never shown, not for one frame.
  const isOwn = answer?.to === question;
  return {
    loaded: isOwn ? answer.loaded : LOADING,
    isRefreshing: isOwn && answer.loaded.state === "ready" && isAsking,
    attempt: isOwn ? answer.attempt : attempt,
    number: isOwn ? answer.number : 0,
    again: () => setAttempt((count) => count + 1),
  };
}

const LOADING = { state: "loading" } as const;

function isBody<Body>(answer: Answer<Body> | null, question: string): boolean {
  return answer?.to === question && answer.loaded.state === "ready";
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
