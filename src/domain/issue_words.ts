/** Words for the problems that a schema finds in a value. */

/** Zod's messages for a value of the wrong type, and for one that is not among the allowed values. */
const WRONG_TYPE = /^Invalid input: expected (\w+), received (\w+)$/;
const WRONG_VALUE = /^Invalid (?:input|option): expected (one of .*|".*"|\d+|true|false)$/;
/** Zod's message for a number that is out of its range, and for a text or list of the wrong length. */
const LIMIT =
  /^Too (?:small|big): expected \w+ to (be|have) (>=|<=|>|<|exactly) ?([^ ]+)(?: (character|item)s)?$/;
const LIMIT_WORDS: Readonly<Record<string, string>> = {
  ">=": "at least",
  "<=": "at most",
  ">": "more than",
  "<": "less than",
  exactly: "exactly",
};

/**
 * The message of a schema's issue in plain words.
 * @param value the whole value that was parsed.
 */
export function issueInWords(
  { path, message }: { readonly path: readonly PropertyKey[]; readonly message: string },
  value: unknown,
): string {
  return valueAt(value, path) === undefined
    ? rephrase(message, "is missing: it must be ")
    : rephrase(message);
}

function rephrase(message: string, beginning?: string): string {
  return message
    .replace(
      WRONG_TYPE,
      (_, expected: string, received: string) =>
        beginning === undefined
          ? `must be ${withArticle(expected)}, not ${withArticle(received)}`
          : beginning + withArticle(expected),
    )
    .replace(WRONG_VALUE, (_, expected: string) => (beginning ?? "must be ") + expected)
    .replace(LIMIT, (_, verb: string, sign: string, limit: string, unit: string | undefined) => {
      const unitWord = unit === undefined ? "" : ` ${unit}${limit === "1" ? "" : "s"}`;
      return `must ${verb} ${LIMIT_WORDS[sign]} ${limit}${unitWord}`;
    });
}

/** A type with its article, as a sentence needs it. */
function withArticle(type: string): string {
  if (type === "null") return type;
  if (type === "int") return "an integer";
  return /^[aeiou]/i.test(type) ? `an ${type}` : `a ${type}`;
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (inner, key) => (inner as Record<PropertyKey, unknown> | undefined)?.[key],
    value,
  );
}
