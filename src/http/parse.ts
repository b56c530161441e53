/** Untrusted input, parsed once at the door: past it the type is the proof. */
import type { z } from "zod";
import { type ErrorDetail, ServiceError } from "../domain/errors.ts";

/** @throws {ServiceError} VALIDATION_FAILED naming each field, what it must be and why it is not. */
export function parseWith<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw validationFailed(
    parsed.error.issues.map(({ path, message }) => ({ path: path.map(String).join("."), message })),
  );
}

export function validationFailed(details: readonly ErrorDetail[]): ServiceError {
  const [first] = details;
  const where = first === undefined || first.path === "" ? "the request" : first.path;
  const more = details.length > 1 ? ` (and ${details.length - 1} more, see details)` : "";
  return new ServiceError(
    "VALIDATION_FAILED",
    `Change ${where}: ${first?.message ?? "it is not valid"}${more}.`,
    {
      details,
    },
  );
}

/** A parameter that may come in the query or, where that has none, in a header. */
export interface ParameterSource {
  readonly name: string;
  readonly header: string;
}

/**
 * Reads parameters: the query wins over the header.
 * @throws {ServiceError} VALIDATION_FAILED where one is empty or stands in the query more than once.
 */
export function readParameters(
  request: Request,
  sources: readonly ParameterSource[],
): Record<string, string> {
  const query = new URL(request.url).searchParams;
  const values: Record<string, string> = {};
  for (const { name, header } of sources) {
    const given = query.getAll(name);
    if (given.length > 1) throw validationFailed([{ path: name, message: "must be given once" }]);
    const value = given[0] ?? request.headers.get(header) ?? undefined;
    if (value === undefined) continue;
    if (value === "") {
      throw validationFailed([{ path: name, message: "must not be empty: leave it out or give a value" }]);
    }
    values[name] = value;
  }
  return values;
}
