/** The field by which a list shows one operator alone. */
import { useFollowing } from "./filters.tsx";
import { useSession } from "./session.tsx";

export function OfOperator({ operator, onChosen }: {
  /** The operator whom the list shows; empty for all. */
  readonly operator: string;
  readonly onChosen: (operator: string) => void;
}) {
  const { signedIn } = useSession();
  const input = useFollowing(operator);
  const filter = (event: SubmitEvent & { readonly currentTarget: HTMLFormElement }) => {
    event.preventDefault();
    onChosen(String(new FormData(event.currentTarget).get("operator_id") ?? "").trim());
  };
  return (
    <form class="filters" onSubmit={filter}>
      <div class="field">
        <label for="of-operator">{signedIn.privacy === "named" ? "Operator id" : "Pseudonym"}</label>
        <input
          id="of-operator"
          name="operator_id"
          ref={input}
          autocomplete="off"
          spellcheck={false}
        />
      </div>
      <button type="submit">Show this operator</button>
    </form>
  );
}
