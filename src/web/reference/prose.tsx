/** Sentences of the document; an error code in them links to its remedy. */
import { ERROR_STATUSES } from "../../domain/errors.ts";
import { codeClass, proseParts } from "../../pages/prose.ts";

export function Prose({ text }: { readonly text: string }) {
  return (
    <>
      {proseParts(text).map(({ isCode, text }) => (
        isCode ? Object.hasOwn(ERROR_STATUSES, text) ? <ErrorLink code={text} /> : <Code text={text} /> : text
      ))}
    </>
  );
}

export function Code({ text }: { readonly text: string }) {
  return <code class={codeClass(text)}>{text}</code>;
}

export function ErrorLink({ code }: { readonly code: string }) {
  return (
    <a href={`/docs/errors#${code}`}>
      <Code text={code} />
    </a>
  );
}
