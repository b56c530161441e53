/** The field by which a list shows one operator alone. It offers the operators whose names have in them what is typed. */
import { useState } from "preact/hooks";
import { useFollowing } from "./filters.tsx";
import { useFoundOperators } from "./find_operators.ts";
import { useSession } from "./session.tsx";

/** The field alone, for a form that has others, too; its name there is `operator_id`. */
export function OperatorField({ operator }: { readonly operator: string }) {
  const { signedIn } = useSession();
  const input = useFollowing(operator);
  const [part, type] = useState("");
  // Without an answer the field takes an id as it is typed.
  const { operators } = useFoundOperators(part);
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
        onInput={(event) => {
          const typed = event.currentTarget.value.trim();
          // A name that is chosen from the offered ones needs no search.
          if (!operators.some(({ operator_id: id }) => id === typed)) type(typed);
        }}
      />
      <datalist id="operators-offered">
        {operators.map(({ operator_id: id }) => <option key={id} value={id} />)}
      </datalist>
    </div>
  );
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
