/**
 * The structured log: one JSON object a line, or a short line for a person at a terminal.
 *
 * Fields are named by the caller and never taken from a request wholesale: no key, secret, body or full query
 * ever reaches a line.
 */

export const LOG_LEVELS = ["debug", "info", "warn", "error"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export type LogFields = Readonly<Record<string, string | number | boolean | null | undefined>>;

export interface Log {
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
}

export interface LogOptions {
  readonly format: "json" | "pretty";
  /** Epoch milliseconds. */
  readonly clock: () => number;
  readonly write: (line: string) => void;
}

export function createLog({ format, clock, write }: LogOptions): Log {
  const render = format === "json" ? renderJson : renderPretty;
  const at = (level: LogLevel) => (message: string, fields: LogFields = {}) =>
    write(`${render(new Date(clock()).toISOString(), level, { message, fields })}\n`);
  return { info: at("info"), warn: at("warn"), error: at("error") };
}

interface Line {
  readonly message: string;
  readonly fields: LogFields;
}

function renderJson(time: string, level: LogLevel, { message, fields }: Line): string {
  return JSON.stringify({ time, level, msg: message, ...fields });
}

function renderPretty(time: string, level: LogLevel, { message, fields }: Line): string {
  const rest = Object.entries(fields).filter(([, value]) => value !== undefined && value !== null);
  const tail = rest.map(([key, value]) => ` ${key}=${onOneLine(value)}`).join("");
  return `${time.slice(11, 19)} ${level.padEnd(5)} ${message}${tail}`;
}

/** A value that could break the line, or the terminal, is escaped as JSON does it. */
function onOneLine(value: unknown): string {
  return typeof value === "string" && /\p{Cc}/u.test(value) ? JSON.stringify(value) : String(value);
}

/** The name and message of an error and where it was thrown, for a log line; never for a response. */
export function errorFields(error: unknown): LogFields {
  if (!(error instanceof Error)) return { error: String(error) };
  return { error: `${error.name}: ${error.message}`, stack: error.stack };
}

/** An error and what it came from, for a log line. */
export function causeFields(error: unknown): LogFields {
  const fields = errorFields(error);
  const cause = error instanceof Error ? error.cause : undefined;
  return cause === undefined ? fields : { ...fields, cause: String(cause) };
}
