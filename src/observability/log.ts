/**
 * The structured log: one JSON object a line, or a short line for a person at a terminal.
 *
 * Fields are named by the caller and never taken from a request wholesale: no key, secret, body or full query
 * ever reaches a line. What cannot be written, on a full disk say, is left out: a request does not fail for want of its
 * line, and how many were lost is told once lines can be written again.
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
  /** Writes all of a line. @throws where it cannot. */
  readonly write: (line: string) => void;
  /** Told of the first line that is lost, and of the first after others could be written. */
  readonly onLost: (error: unknown) => void;
}

export function createLog({ format, clock, write, onLost }: LogOptions): Log {
  const render = format === "json" ? renderJson : renderPretty;
  let lost = 0;
  const put = (level: LogLevel, line: Line) =>
    write(`${render(new Date(clock()).toISOString(), level, line)}\n`);
  const at = (level: LogLevel) => (message: string, fields: LogFields = {}) => {
    try {
      if (lost > 0) put("warn", { message: "log lines could not be written", fields: { lost } });
      lost = 0;
      put(level, { message, fields });
    } catch (error) {
      lost += 1;
      if (lost === 1) onLost(error);
    }
  };
  return { info: at("info"), warn: at("warn"), error: at("error") };
}

/**
 * Writes lines through what may take a part of the bytes, as `write(2)`: a line after one that was cut off begins anew.
 * @param writeSome - @returns how many bytes it took.
 */
export function lineWriter(writeSome: (bytes: Uint8Array) => number): (line: string) => void {
  const encoder = new TextEncoder();
  let isCutOff = false;
  return (line) => {
    let left = encoder.encode(isCutOff ? `\n${line}` : line);
    while (left.length > 0) {
      left = left.subarray(writeSome(left));
      isCutOff = left.length > 0;
    }
  };
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

/** What the system says where descriptors ran out, for the process or for the machine. */
const NO_DESCRIPTOR = /\(os error 2[34]\)/;

/** The name and message of an error and where it was thrown, for a log line; never for a response. */
export function errorFields(error: unknown): LogFields {
  if (!(error instanceof Error)) return { error: String(error) };
  // To make a stack trace of TypeScript Deno 2.9.6 opens files, and breaks down where none can be opened.
  if (NO_DESCRIPTOR.test(error.message)) return { error: `${error.name}: ${error.message}` };
  return { error: `${error.name}: ${error.message}`, stack: error.stack };
}

/** An error and what it came from, for a log line. */
export function causeFields(error: unknown): LogFields {
  const fields = errorFields(error);
  const cause = error instanceof Error ? error.cause : undefined;
  return cause === undefined ? fields : { ...fields, cause: String(cause) };
}
