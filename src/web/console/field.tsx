/** A labelled field of a form. */
import type { ComponentChildren } from "preact";
import type { ApiError } from "../shared/api.ts";

/** The service's message on a field of a request, without the field's name in the request; null if the field is not at fault. */
export function problemOf(error: ApiError | null, field: string): string | null {
  return error?.more.details.find(({ path }) => path.startsWith(field))?.message ?? null;
}

/** One labelled field of a form, and what is wrong with it. */
export function Field(
  { id, label, type, autocomplete, value, onInput, required = true, wrong = null, field, children }: {
    readonly id: string;
    readonly label: string;
    readonly type: "text" | "email" | "password";
    readonly autocomplete: string;
    readonly value: string;
    readonly onInput: (value: string) => void;
    readonly required?: boolean;
    readonly wrong?: string | null;
    readonly field?: { current: HTMLInputElement | null };
    readonly children?: ComponentChildren;
  },
) {
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        id={id}
        {...(field === undefined ? {} : { ref: field })}
        type={type as "text"}
        autocomplete={autocomplete as "off"}
        spellcheck={false}
        required={required}
        value={value}
        aria-invalid={wrong !== null}
        aria-describedby={wrong === null ? undefined : `${id}-wrong`}
        onInput={(event) => onInput(event.currentTarget.value)}
      />
      {children}
      {wrong !== null && <p class="wrong" id={`${id}-wrong`} role="alert">{wrong}</p>}
    </div>
  );
}
