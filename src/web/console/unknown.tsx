/** Choices of an address that a view does not know, in plain words, with a link to the view without them. */
import { useLocation } from "preact-iso";
import type { ApiError } from "../shared/api.ts";

/** The choices that an address may hold, as the fields of the views name them. */
const CHOICE_WORDS = new Map([
  ["sort", "order"],
  ["verdict", "verdict"],
  ["band", "band"],
  ["team", "team"],
  ["q", "search"],
  ["state", "choice of what is shown"],
  ["cause", "cause"],
  ["owner", "owner"],
  ["kind", "kind"],
  ["event_type", "event"],
  ["user_id", "user"],
  ["operator_id", "operator"],
  ["status", "status"],
  ["since", "first day"],
  ["until", "last day"],
  ["from", "first week"],
  ["to", "last week"],
  ["cursor", "page"],
]);

/** Longer values are cut: an address may hold anything. */
const VALUE_MAX_LENGTH = 60;

/** Says which choices of the address are not known, and leads to the view without them. */
export function UnknownChoices({ names }: { readonly names: readonly string[] }) {
  const { url, query } = useLocation();
  const rest = new URLSearchParams(query);
  for (const name of names) rest.delete(name);
  const path = url.replace(/[?#].*$/s, "");
  return (
    <div class="notice fair" role="alert">
      <h2>The address asks for something else</h2>
      <ul>
        {names.map((name) => (
          <li key={name}>
            This view does not know the {wordsOf(name)} “<bdi>{shortened(query[name] ?? "")}</bdi>”.
          </li>
        ))}
      </ul>
      <p>
        <a href={rest.size === 0 ? path : `${path}?${rest}`}>
          Show the view without {names.length === 1 ? "it" : "them"}
        </a>
      </p>
    </div>
  );
}

function wordsOf(name: string): string {
  // The second side of a comparison has the same choices.
  return CHOICE_WORDS.get(name.replace(/2$/, "")) ?? name;
}

function shortened(value: string): string {
  return value.length <= VALUE_MAX_LENGTH ? value : `${value.slice(0, VALUE_MAX_LENGTH - 1).toWellFormed()}…`;
}

/**
 * The choices of the address that the service refuses in a call; empty if it refuses anything else. `side` ends the names of the
 * choices that the call has from the address.
 */
export function refusedChoices(
  { code, more: { details } }: ApiError,
  query: Readonly<Record<string, string>>,
  side = "",
): readonly string[] {
  if (code !== "VALIDATION_FAILED") return [];
  const names = details.map(({ path }) => path + side);
  return names.every((name) => Object.hasOwn(query, name)) ? [...new Set(names)] : [];
}
