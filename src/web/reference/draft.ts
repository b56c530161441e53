/**
 * A request that a visitor is writing: made from an example, checked, and turned into a call and a command
 * line.
 */
import type { ApiRequest } from "../shared/api.ts";
import { type Authentication, authenticationOf, type Operation, type Parameter } from "./document.ts";

export interface Draft {
  /** The values by {@link fieldOf}; an empty one is not sent. */
  readonly values: Readonly<Record<string, string>>;
  /** JSON; null if the operation takes no body. */
  readonly body: string | null;
}

const IDEMPOTENCY_KEY = "Idempotency-Key";
/** The choice of no example. */
export const NO_EXAMPLE = "";

/** The name of a parameter's field, unique in its operation. */
export function fieldOf(parameter: Pick<Parameter, "in" | "name">): string {
  return `${parameter.in}-${parameter.name}`;
}

/** True if the parameter names the call and is required; an optional name is left to the visitor. */
function isNameOfCall({ name, required }: Parameter): boolean {
  return name === IDEMPOTENCY_KEY && required === true;
}

function bodyExamples({ requestBody }: Operation) {
  return requestBody?.content["application/json"]?.examples ?? {};
}

/**
 * Names of an operation's examples; {@link NO_EXAMPLE} first if the first example is not needed or not
 * complete.
 */
export function exampleNames(operation: Operation): readonly string[] {
  const { parameters = [] } = operation;
  const names = [
    ...new Set([
      ...Object.keys(bodyExamples(operation)),
      ...parameters.flatMap(({ examples = {} }) => Object.keys(examples)),
    ]),
  ];
  const [first] = names;
  const needs = parameters.filter((parameter) => parameter.required && parameter.name !== IDEMPOTENCY_KEY);
  const needsBody = operation.requestBody?.required === true;
  const isGiven = first !== undefined &&
    needs.every(({ examples = {} }) => Object.hasOwn(examples, first)) && (needs.length > 0 || needsBody);
  return isGiven ? names : [NO_EXAMPLE, ...names];
}

/** The draft of an example; `fresh` is the name of the new call if the operation requires one. */
export function draftOf(operation: Operation, example: string, fresh: string): Draft {
  const { parameters = [], requestBody } = operation;
  const values = parameters.map((parameter) => {
    const value = isNameOfCall(parameter) ? fresh : parameter.examples?.[example]?.value;
    return [fieldOf(parameter), value === undefined ? "" : String(value)];
  });
  const body = bodyExamples(operation)[example]?.value;
  // If the body repeats the header, both must name the same call.
  const named = isObject(body) && Object.hasOwn(body, "idempotency_key")
    ? { ...body, idempotency_key: fresh }
    : body;
  return {
    values: Object.fromEntries(values),
    body: requestBody === undefined ? null : named === undefined ? "" : JSON.stringify(named, null, 2),
  };
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

/** The problem of each field that cannot be sent; the service checks the meaning of the values. */
export function problemsOf(operation: Operation, { values, body }: Draft): Readonly<Record<string, string>> {
  const problems: Record<string, string> = {};
  for (const parameter of operation.parameters ?? []) {
    const value = values[fieldOf(parameter)] ?? "";
    if (value === "" && parameter.in === "path") {
      problems[fieldOf(parameter)] = "The path needs a value here.";
    }
    if (parameter.in === "path" && (value === "." || value === "..")) {
      problems[fieldOf(parameter)] =
        "Browsers drop . and .. from a path, so that another call would be sent.";
    }
    if (value === "" && isNameOfCall(parameter)) {
      problems[fieldOf(parameter)] = "The call needs a name.";
    }
    if (parameter.in === "header" && !isHeaderText(value)) {
      problems[fieldOf(parameter)] = "A header takes printable ASCII characters alone.";
    }
  }
  if (body !== null && body.trim() !== "") {
    try {
      JSON.parse(body);
    } catch (error) {
      problems.body = `This is not JSON: ${jsonProblem(body, error)}`;
    }
  }
  return problems;
}

/** The fault and its line: browsers give the place as an offset, as line and column, or not at all. */
function jsonProblem(body: string, error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  if (/\bline \d/.test(message)) return message;
  const offset = /at position (\d+)/.exec(message)?.[1];
  const before = offset !== undefined
    ? body.slice(0, Number(offset))
    : /end of/.test(message)
    ? body.trimEnd()
    : null;
  if (before === null) return message;
  const lines = before.split("\n");
  return `${message} (line ${lines.length} column ${lines.at(-1)!.length + 1})`;
}

/** True if browsers accept the text as a header's value. */
export function isHeaderText(value: string): boolean {
  return /^[\x20-\x7e]*$/.test(value);
}

/** The request without the key. */
export function requestOf(operation: Operation, { values, body }: Draft): ApiRequest {
  const { method, path, parameters = [] } = operation;
  const filled = (place: Parameter["in"]) =>
    parameters.flatMap((parameter) => {
      const value = values[fieldOf(parameter)] ?? "";
      return parameter.in === place && value !== "" ? [[parameter.name, value] as const] : [];
    });
  const names = Object.fromEntries(filled("path"));
  const target = path.replaceAll(
    /\{(\w+)\}/g,
    (hole, name) => names[name] === undefined ? hole : encodeURIComponent(names[name]),
  );
  const query = new URLSearchParams(filled("query").map(([name, value]) => [name, value])).toString();
  return {
    method: method as ApiRequest["method"] & string,
    path: query === "" ? target : `${target}?${query}`,
    headers: Object.fromEntries(filled("header")),
    ...(body === null || body.trim() === "" ? {} : { text: body }),
  };
}

/** The variable that holds the key in a command line; null if no key is needed. */
function keyVariable(authentication: Authentication): string | null {
  if (authentication.kind === "none") return null;
  return authentication.kind === "key" ? "KEY" : `MASTER_ADMIN_KEY_${authentication.scope}`;
}

/** The same request for a shell; the key is a variable, never the key that was entered. */
export function curlOf(operation: Operation, draft: Draft, origin: string): string {
  const { method, path, headers = {}, text } = requestOf(operation, draft);
  const variable = keyVariable(authenticationOf(operation));
  return [
    `curl -s${method === "GET" ? "" : method === "HEAD" ? "I" : `X ${method}`} ${quoted(origin + path)}`,
    ...(variable === null ? [] : [`-H "X-API-Key: $${variable}"`]),
    ...Object.entries(headers).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    ...(text === undefined ? [] : [`-H 'Content-Type: application/json'`, `-d ${quoted(text)}`]),
  ].join(" \\\n  ");
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

export type Effect = "reads" | "writes" | "grave";

/** Operations that change the key with which they are called. */
const KEY_ENDING: readonly string[] = ["postKeyRotation", "postKeyRevocation"];
/** Operations that only read, but are sent as POST because they have a body. */
const READING: readonly string[] = ["postMaintenance"];

/** The effect of a call: it reads, it adds a record, or it cannot be taken back or affects others at once. */
export function effectOf(operation: Operation): Effect {
  const { method, operationId } = operation;
  if (method === "GET" || method === "HEAD" || READING.includes(operationId)) return "reads";
  const isMaster = authenticationOf(operation).kind === "master";
  return method === "DELETE" || isMaster || KEY_ENDING.includes(operationId) ? "grave" : "writes";
}
