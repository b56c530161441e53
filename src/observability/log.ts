/**
 * The structured log: one JSON object a line, or a short line for a person at a terminal.
 *
 * The caller names the fields; they are never copied from a request as a whole, so that no key, secret, body
 * or full query ever reaches a line. A line that cannot be written, for example on a full disk, is dropped. A
 * request neither fails because of its line nor waits for it. The number of lost lines is logged once lines
 * can be written again.
 */
import { LineQueue } from "./line_queue.ts";

const LOG_LEVELS = ["debug", "info", "warn", "error"] as const;
type LogLevel = (typeof LOG_LEVELS)[number];

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
  const logAt = (level: LogLevel) => (message: string, fields: LogFields = {}) =>
    write(renderLine(level, { message, fields }, style));
  return { info: logAt("info"), warn: logAt("warn"), error: logAt("error") };
}

/** The log of a process that serves; it can also print text for a person. */
export interface ProcessLog extends Log {
  /** Lines that could not be written since the start. */
  readonly lost: number;
  /** Writes text for a person, after the lines before it. */
  print(text: string): void;
  /** Resolves once each line is written or lost. */
  settled(): Promise<void>;
}

/**
 * Maximum number of characters that may wait for the reader: a few seconds of a busy service, or some 5,000
 * lines.
 */
const WAITING_MAX = 1_048_576;

export interface ProcessLogOptions extends Omit<LogOptions, "write"> {
  /**
   * Writes some of the bytes, however long that takes, and returns how many it wrote.
   * @throws if it cannot write.
   */
  readonly write: (bytes: Uint8Array) => Promise<number>;
  /** Called on the first lost line, and again on the first one after others could be written. */
  readonly onLost: (reason: string) => void;
}

/** A log that no caller waits for: its lines are written in the background. */
export function createProcessLog({ write, onLost, ...style }: ProcessLogOptions): ProcessLog {
  const queue = new LineQueue({
    write,
    limit: WAITING_MAX,
    lossLine: (lost) =>
      renderLine("warn", { message: "log lines could not be written", fields: { lost } }, style),
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

function renderLine(level: LogLevel, line: Line, { format, clock }: Omit<LogOptions, "write">): string {
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

/** Escapes a value like JSON does if it could break the line or the terminal. */
function onOneLine(value: unknown): string {
  return typeof value === "string" && /\p{Cc}/u.test(value) ? JSON.stringify(value) : String(value);
}

/** The system's error if the process or the machine has run out of descriptors. */
const NO_DESCRIPTOR = /\(os error 2[34]\)/;

/** The name, message and stack trace of an error, for a log line; never for a response. */
export function errorFields(error: unknown): LogFields {
  if (!(error instanceof Error)) return { error: String(error) };
  // Deno 2.9.6 opens files to make the stack trace of TypeScript, and fails badly if it can open none.
  if (NO_DESCRIPTOR.test(error.message)) return { error: `${error.name}: ${error.message}` };
  return { error: `${error.name}: ${error.message}`, stack: error.stack };
}

/** An error and its cause, for a log line. */
export function causeFields(error: unknown): LogFields {
  const fields = errorFields(error);
  const cause = error instanceof Error ? error.cause : undefined;
  return cause === undefined ? fields : { ...fields, cause: String(cause) };
}
