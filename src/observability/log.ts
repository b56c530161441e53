/**
 * The structured log: one JSON object a line, or a short line for a person at a terminal.
 *
 * Fields are named by the caller and never taken from a request wholesale: no key, secret, body or full query
 * ever reaches a line. What cannot be written, on a full disk say, is left out: a request neither fails for want of its
 * line nor waits for it, and how many were lost is told once lines can be written again.
 */
import { LineQueue } from "./line_queue.ts";

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
  /** Takes a line with its line feed. */
  readonly write: (line: string) => void;
}

export function createLog({ write, ...style }: LogOptions): Log {
  const at = (level: LogLevel) => (message: string, fields: LogFields = {}) =>
    write(rendered(level, { message, fields }, style));
  return { info: at("info"), warn: at("warn"), error: at("error") };
}

/** The log of a process that serves, and what else it says to whoever reads the log. */
export interface ProcessLog extends Log {
  /** Lines that could not be written since the start. */
  readonly lost: number;
  /** Writes text for a person, after the lines before it. */
  print(text: string): void;
  /** Resolves once each line is written or lost. */
  settled(): Promise<void>;
}

/** Characters of lines that may wait for a reader: a few seconds of a busy service, or some 5,000 lines. */
const WAITING_MAX = 1_048_576;

export interface ProcessLogOptions extends Omit<LogOptions, "write"> {
  /** Writes some of the bytes, however long that takes, and returns how many it took. @throws where it cannot. */
  readonly write: (bytes: Uint8Array) => Promise<number>;
  /** Told of the first line that is lost, and of the first after others could be written. */
  readonly onLost: (reason: string) => void;
}

/** A log that nobody ever waits for: its lines are written in the background. */
export function createProcessLog({ write, onLost, ...style }: ProcessLogOptions): ProcessLog {
  const queue = new LineQueue({
    write,
    limit: WAITING_MAX,
    lossLine: (lost) =>
      rendered("warn", { message: "log lines could not be written", fields: { lost } }, style),
    onLost,
  });
  return {
    ...createLog({ ...style, write: (line) => queue.put(line) }),
    get lost() {
      return queue.lost;
    },
    print: (text) => queue.put(`${text}\n`),
    settled: () => queue.settled(),
  };
}

function rendered(level: LogLevel, line: Line, { format, clock }: Omit<LogOptions, "write">): string {
  const render = format === "json" ? renderJson : renderPretty;
  return `${render(new Date(clock()).toISOString(), level, line)}\n`;
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
