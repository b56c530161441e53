/** The field by which a list shows one operator alone. It offers the operators whose names have in them what is typed. */
import { useEffect, useRef, useState } from "preact/hooks";
import { addressOf } from "./parts.tsx";
import { useFollowing } from "./filters.tsx";
import { useCaller, useSession } from "./session.tsx";
import type { Operators } from "./types.ts";

/** Time without a key after which the service is asked. */
const PAUSE_MS = 250;
/** Most operators that are offered. */
const OFFERED = "10";
const PART = /^[A-Za-z0-9_-]+$/;

/** The field alone, for a form that has others, too; its name there is `operator_id`. */
export function OperatorField({ operator }: { readonly operator: string }) {
  const { signedIn } = useSession();
  const input = useFollowing(operator);
  const [offered, offer] = useMatches();
  return (
    <div class="field">
      <label for="of-operator">{signedIn.privacy === "named" ? "Operator id" : "Pseudonym"}</label>
      <input
        id="of-operator"
        name="operator_id"
        ref={input}
        list="operators-offered"
        autocomplete="off"
        spellcheck={false}
        onInput={(event) => offer(event.currentTarget.value.trim())}
      />
      <datalist id="operators-offered">
        {offered.map((id) => <option key={id} value={id} />)}
      </datalist>
    </div>
  );
}

/** The operators with a part of a name, asked for once nobody types; nothing is asked before somebody does. */
function useMatches(): readonly [offered: readonly string[], offer: (part: string) => void] {
  const caller = useCaller();
  const [offered, setOffered] = useState<readonly string[]>([]);
  const timer = useRef(0);
  const asking = useRef(new AbortController());
  const stop = () => {
    clearTimeout(timer.current);
    asking.current.abort();
  };
  useEffect(() => stop, []);
  const ask = async (q: string) => {
    asking.current = new AbortController();
    const { signal } = asking.current;
    const path = addressOf("/v1/organization/operators", { q, limit: OFFERED });
    // Without an answer the field takes an id as it is typed.
    const answer = await caller.json<Operators>({ path }, { signal }).catch(() => null);
    if (answer !== null && !signal.aborted) setOffered(answer.operators.map(({ operator_id: id }) => id));
  };
  const offer = (part: string) => {
    stop();
    if (PART.test(part) && !offered.includes(part)) timer.current = setTimeout(() => ask(part), PAUSE_MS);
  };
  return [offered, offer];
}

export function OfOperator({ operator, onChosen }: {
  /** The operator whom the list shows; empty for all. */
  readonly operator: string;
  readonly onChosen: (operator: string) => void;
}) {
  const filter = (event: SubmitEvent & { readonly currentTarget: HTMLFormElement }) => {
    event.preventDefault();
    onChosen(String(new FormData(event.currentTarget).get("operator_id") ?? "").trim());
  };
  return (
    <form class="filters" onSubmit={filter}>
      <OperatorField operator={operator} />
      <button type="submit">Show this operator</button>
    </form>
  );
}
