/** The details of an event of the audit log, as words, times and ids. */
import type { ComponentChildren } from "preact";
import { fieldInWords } from "./event_words.ts";
import { Instant } from "./parts.tsx";

const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/;
/** Ids of the service, and hashes. */
const ID = /^(?:[a-z]+_)?[0-9A-HJKMNP-TV-Z]{26}$|^[0-9a-f]{16,}$/;
/** A name of the interface. */
const MACHINE_WORD = /^[a-z]+(?:_[a-z]+)+$/;
/** Characters from which on a value without a space is folded. */
const LONG = 40;

/** The fields of an event, one after another; what is null is left out. */
export function EventDetail({ detail }: { readonly detail: Readonly<Record<string, unknown>> }) {
  return (
    <>
      {Object.entries(detail).filter(([, value]) => value !== null).map(([name, value]) => (
        <Field key={name} name={fieldInWords(name)} value={value} />
      ))}
    </>
  );
}

function Field({ name, value }: { readonly name: string; readonly value: unknown }) {
  const text = typeof value === "object" ? JSON.stringify(value) : String(value);
  const isFolded = text.length >= LONG && !text.includes(" ") && !isList(value);
  return isFolded
    ? (
      <details class="event-fact">
        <summary>{name}</summary>
        <code>{text}</code>
      </details>
    )
    : (
      <span class="event-fact">
        <span class="muted">{name}</span> <Value value={value} />
      </span>
    );
}

function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value) && value.every((one) => typeof one !== "object");
}

function Value({ value }: { readonly value: unknown }): ComponentChildren {
  if (isList(value)) return <bdi>{value.length === 0 ? "none" : value.join(", ")}</bdi>;
  switch (typeof value) {
    case "boolean":
      return value ? "yes" : "no";
    case "string":
      if (INSTANT.test(value)) return <Instant at={value} />;
      if (ID.test(value)) return <code>{value}</code>;
      return <bdi>{MACHINE_WORD.test(value) ? value.replaceAll("_", " ") : value}</bdi>;
    case "object":
      return <code>{JSON.stringify(value)}</code>;
    default:
      return <>{String(value)}</>;
  }
}
