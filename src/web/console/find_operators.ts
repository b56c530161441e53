/** The operators with a part of a name, asked for once nobody types. */
import { useEffect, useState } from "preact/hooks";
import { OPERATOR_PART_MAX_LENGTH } from "../../domain/limits.ts";
import { ApiError } from "../shared/api.ts";
import { addressOf } from "./parts.tsx";
import { may, useCaller, useSession } from "./session.tsx";
import type { Operators } from "./types.ts";

/** Time without a key after which the service is asked. */
const PAUSE_MS = 200;
/** Most operators that are asked for. */
const LIMIT = "8";
const PART = new RegExp(`^[A-Za-z0-9_-]{1,${OPERATOR_PART_MAX_LENGTH}}$`);

interface Answer {
  /** The part that it answers. */
  readonly to: string;
  readonly body: Operators | null;
  readonly error: ApiError | null;
}

interface Found {
  readonly operators: Operators["operators"];
  /** Whether they are all. */
  readonly isWhole: boolean;
  readonly error: ApiError | null;
  /** Whether the text can be a part of a name, and whoever is signed in may read operators. */
  readonly isAsked: boolean;
  readonly isPending: boolean;
}

/** Asks at most once for each pause, and never for a text that is no part of a name. */
export function useFoundOperators(part: string): Found {
  const caller = useCaller();
  const { signedIn } = useSession();
  const [answer, setAnswer] = useState<Answer | null>(null);
  const isAsked = PART.test(part) && may(signedIn, "read");
  useEffect(() => {
    // A field that was emptied begins anew: verdicts change.
    if (part === "") setAnswer(null);
    if (!isAsked || (answer?.to === part && answer.error === null)) return;
    const leaving = new AbortController();
    const { signal } = leaving;
    const take = (next: Answer) => {
      if (!signal.aborted) setAnswer(next);
    };
    const path = addressOf("/v1/organization/operators", { q: part, limit: LIMIT });
    const ask = () =>
      caller.json<Operators>({ path }, { signal, mayWait: false }).then(
        (body) => take({ to: part, body, error: null }),
        (error) => {
          if (signal.aborted) return;
          if (!(error instanceof ApiError)) throw error;
          take({ to: part, body: null, error });
        },
      );
    const timer = setTimeout(ask, PAUSE_MS);
    return () => {
      clearTimeout(timer);
      leaving.abort();
    };
  }, [part, isAsked]);
  const own = isAsked && answer?.to === part ? answer : null;
  return {
    operators: own?.body?.operators ?? [],
    isWhole: (own?.body?.next_cursor ?? null) === null,
    error: own?.error ?? null,
    isAsked,
    isPending: isAsked && own === null,
  };
}
