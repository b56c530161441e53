/** Parses untrusted input, once, where it enters: after that its type proves that it is valid. */
import type { z } from "zod";
import { type ErrorDetail, ServiceError } from "../domain/errors.ts";
import { issueInWords } from "../domain/issue_words.ts";

/** The most details that one answer shows. */
const DETAILS_MAX = 100;
/** The most characters of a detail's path, and of its message. */
const PATH_MAX_LENGTH = 300;
const MESSAGE_MAX_LENGTH = 1_000;

/** @throws {ServiceError} VALIDATION_FAILED: names each wrong field, what it must be and why it is wrong. */
export function parseWith<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw validationFailed(detailsOf(parsed.error, { value }));
}

/**
 * Parses every element by the schema that `schemaOf` returns for it.
 * @throws {ServiceError} VALIDATION_FAILED, which names what is wrong in all of them.
 */
export function parseEach<Output>(
  values: readonly unknown[],
  { path, schemaOf }: {
    readonly path: string;
    readonly schemaOf: (value: unknown) => z.ZodType<Output>;
  },
): readonly Output[] {
  const parsed = values.map((value) => schemaOf(value).safeParse(value));
  const details = parsed.flatMap(({ error }, index) =>
    error === undefined ? [] : detailsOf(error, { value: values[index], prefix: [path, index] })
  );
  if (details.length > 0) throw validationFailed(details);
  return parsed.map(({ data }) => data!);
}

function detailsOf(
  { issues }: z.ZodError,
  { value, prefix = [] }: { readonly value: unknown; readonly prefix?: readonly PropertyKey[] },
): readonly ErrorDetail[] {
  return issues.map((issue) => ({
    path: shorten([...prefix, ...issue.path].map(String).join("."), PATH_MAX_LENGTH),
    message: shorten(issueInWords(issue, value), MESSAGE_MAX_LENGTH),
  }));
}

/** Shortens a text. A path may contain names of any length that the caller chose. */
function shorten(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length - 1).toWellFormed()}…`;
}

/** The error for invalid fields: shows the first {@link DETAILS_MAX} details, and says how many there are. */
export function validationFailed(details: readonly ErrorDetail[]): ServiceError {
  const [first] = details;
  const subject = first === undefined || first.path === "" ? "the request" : first.path;
  return new ServiceError(
    "VALIDATION_FAILED",
    `Change ${subject}: ${first?.message ?? "it is not valid"}${moreThanFirst(details.length)}.`,
    { details: details.slice(0, DETAILS_MAX) },
  );
}

function moreThanFirst(count: number): string {
  if (count <= 1) return "";
  const shown = count > DETAILS_MAX ? `details shows the first ${DETAILS_MAX}` : "see details";
  return ` (and ${count - 1} more, ${shown})`;
}

/** Whether a body or a batch item has its interaction in a separate object, `interaction`. */
export function isNested(json: unknown): boolean {
  return typeof json === "object" && json !== null && Object.hasOwn(json, "interaction");
}

/** The address of a request, with its query, and its headers. */
export type Asked = Pick<Request, "url" | "headers">;

/**
 * Reads and parses parameters. `headers` names the header of a parameter that may come in one; the query wins.
 * @throws {ServiceError} VALIDATION_FAILED if one is invalid, empty, or more than once in the query.
 */
export function parseParameters<Schema extends z.ZodObject>(
  request: Asked,
  schema: Schema,
  headers: Readonly<Record<string, string>> = {},
): z.output<Schema> {
  const query = new URL(request.url).searchParams;
  const values: Record<string, string> = {};
  for (const name of Object.keys(schema.shape)) {
    const given = query.getAll(name);
    if (given.length > 1) throw validationFailed([{ path: name, message: "must be given once" }]);
    const header = headers[name];
    const value = given[0] ?? (header === undefined ? undefined : request.headers.get(header) ?? undefined);
    if (value === undefined) continue;
    if (value === "") {
      throw validationFailed([{ path: name, message: "must not be empty: leave it out or give a value" }]);
    }
    values[name] = value;
  }
  return parseWith(schema, values);
}
