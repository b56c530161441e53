/** Values that the service shows once, above the open view, until the user says that they are kept. */
import { useEffect, useRef, useState } from "preact/hooks";
import type { ShownOnce } from "./session.tsx";

export function Secrets({ secrets, onKept }: {
  readonly secrets: readonly ShownOnce[];
  readonly onKept: (secret: ShownOnce) => void;
}) {
  if (secrets.length === 0) return null;
  return (
    <aside class="once" aria-label="Shown once">
      {secrets.map((secret) => <Secret key={secret.value} {...secret} onKept={() => onKept(secret)} />)}
    </aside>
  );
}

function Secret({ title, label, value, note, onKept }: ShownOnce & { readonly onKept: () => void }) {
  const [copied, setCopied] = useState(false);
  const head = useRef<HTMLHeadingElement>(null);
  // The button that asked for it may be far below.
  useEffect(() => head.current?.focus(), []);
  return (
    <div class="notice good" role="alert">
      <h2 ref={head} tabIndex={-1}>{title}</h2>
      <p>{note}</p>
      <p>{label}</p>
      <code class="secret" tabIndex={0} aria-label={label}>{value}</code>
      <div class="actions">
        <button type="button" onClick={(event) => copy(event.currentTarget, value).then(setCopied)}>
          {copied ? "Copied" : "Copy"}
        </button>
        <button type="button" class="main" onClick={onKept}>I have kept it</button>
      </div>
    </div>
  );
}

/**
 * True if it copied. On plain HTTP pages have no clipboard: there the value is selected, to be copied by
 * hand.
 */
async function copy(button: HTMLElement, value: string): Promise<boolean> {
  if (navigator.clipboard !== undefined) {
    await navigator.clipboard.writeText(value);
    return true;
  }
  getSelection()?.selectAllChildren(button.closest(".notice")!.querySelector(".secret")!);
  return false;
}
