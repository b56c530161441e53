/** Operators under their ids or, where the service asks for it, under pseudonyms; and the look at who one is. */
import { useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { Confirmed } from "./confirmed.tsx";
import { Field } from "./field.tsx";
import { longName } from "./long_name.ts";
import { Failure } from "./parts.tsx";
import { may, type SignedIn, useCaller, useSession } from "./session.tsx";
import type { Unmasked } from "./types.ts";
import { useAction } from "./use_answer.ts";

/** Digits of a pseudonym that tell operators apart at a glance; links and titles have all 32. */
const SHOWN_DIGITS = 8;

/** An operator's id, or the pseudonym in words. */
export function reviewerInWords({ privacy }: Pick<SignedIn, "privacy">, id: string): string {
  return privacy === "named" ? id : `Operator ${id.slice(0, SHOWN_DIGITS)}`;
}

/** A link to an operator's view. */
export function Reviewer({ id }: { readonly id: string }) {
  const { signedIn } = useSession();
  return (
    <a
      href={`/console/operators/${encodeURIComponent(id)}`}
      {...(signedIn.privacy === "named" ? longName(id) : { title: id })}
    >
      {reviewerInWords(signedIn, id)}
    </a>
  );
}

function useMayUnmask(): boolean {
  const { signedIn } = useSession();
  return signedIn.privacy === "pseudonymous" && may(signedIn, "unmask");
}

/** Asks for the operator of a pseudonym, with a reason. */
export function WhoIs({ pseudonym }: { readonly pseudonym: string }) {
  const [reason, setReason] = useState("");
  const { signedIn } = useSession();
  const caller = useCaller();
  const { busy, error, result, run } = useAction<Unmasked>();
  if (!useMayUnmask()) return null;
  if (result !== null && result.pseudonym === pseudonym) {
    return (
      <p class="notice fair" role="status">
        This is <strong>{result.name}</strong>. The audit log has your reason; other views show the pseudonym.
      </p>
    );
  }
  const ask = async () =>
    await run((patience) => caller.json(unmasking({ reviewer: pseudonym, reason }), { patience })) !== null;
  return (
    <Confirmed
      button="Who is this?"
      title={`Look up who ${reviewerInWords(signedIn, pseudonym)} is`}
      happens={[
        "The name is shown to you, here and until you leave this view.",
        "The audit log records that you looked, when and why (SUBJECT_UNMASKED), and the operator's own copy shows it.",
      ]}
      stays={[
        "Other views, and other users, see the pseudonym as before.",
        "A look cannot be taken back: its entry stays.",
      ]}
      ways={[{ label: busy ? "Asking…" : "Show the name", act: ask }]}
      busy={busy}
      error={error}
    >
      <Reason value={reason} onInput={setReason} />
    </Confirmed>
  );
}

/** Opens the view of an operator who is known by name. */
export function FindByName() {
  const [name, setName] = useState("");
  const [reason, setReason] = useState("");
  const { route } = useLocation();
  const caller = useCaller();
  const { busy, error, run } = useAction<Unmasked>();
  if (!useMayUnmask()) return null;
  const submit = async (event: Event) => {
    event.preventDefault();
    const found = await run((patience) => caller.json(unmasking({ reviewer: name, reason }), { patience }));
    if (found !== null) route(`/console/operators/${found.pseudonym}`);
  };
  return (
    <details>
      <summary>Find an operator by name</summary>
      <form onSubmit={submit}>
        <Field
          id="reviewer-name"
          label="Name (operator_id)"
          type="text"
          autocomplete="off"
          value={name}
          onInput={setName}
        />
        <Reason value={reason} onInput={setReason} />
        <p>
          <button type="submit" disabled={busy}>{busy ? "Asking…" : "Find"}</button>
        </p>
        {error !== null && <Failure error={error} />}
      </form>
    </details>
  );
}

function Reason({ value, onInput }: {
  readonly value: string;
  readonly onInput: (value: string) => void;
}) {
  return (
    <Field id="unmask-reason" label="Reason" type="text" autocomplete="off" value={value} onInput={onInput}>
      <p class="small muted">The audit log keeps it, and the operator's own copy shows it. Name nobody.</p>
    </Field>
  );
}

function unmasking(body: { readonly reviewer: string; readonly reason: string }) {
  return { method: "POST", path: "/v1/organization/operators/unmask", body } as const;
}
