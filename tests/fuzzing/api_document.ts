/**
 * An OpenAPI 3.1 document as another program reads it: its operations, what each requires, and how an answer
 * deviates from its documentation. Knows nothing about the program.
 */
import { Ajv2020, type ValidateFunction } from "ajv/2020";

// deno-lint-ignore no-explicit-any -- a schema is walked by its keywords
export type Schema = any;

export interface Parameter {
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly required: boolean;
  readonly schema: Schema;
}

export interface Operation {
  readonly id: string;
  readonly method: string;
  /** With `{name}` for each parameter. */
  readonly path: string;
  readonly parameters: readonly Parameter[];
  readonly body: { readonly required: boolean; readonly schema: Schema; readonly pointer: string } | null;
  /** None, an organization's key, a user's session, or the scope of a master key. */
  readonly key: "none" | "organization" | "session" | { readonly scope: string };
  /** By status. */
  readonly responses: Readonly<Record<string, Schema>>;
  /** The place of the JSON schema of each answer, by status. */
  readonly pointers: Readonly<Record<string, string>>;
}

/** An answer as it came. */
export interface Received {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

const METHODS = ["get", "head", "post", "put", "patch", "delete", "options"];
const FORMATS = {
  "date-time": /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/,
  date: /^\d{4}-\d\d-\d\d$/,
  uuid: /^[0-9a-f-]{36}$/i,
  uri: (text: string) => URL.canParse(text),
  // Formats with a number of bits, which their bounds state too.
  double: true as const,
  int32: true as const,
  int64: true as const,
};
const ERROR_TYPE = "application/json";

export class ApiDocument {
  readonly operations: readonly Operation[];
  readonly #ajv: Ajv2020;
  readonly #validators = new Map<string, ValidateFunction>();
  readonly #templates: readonly { readonly path: string; readonly pattern: RegExp }[];

  constructor(private readonly document: Schema) {
    this.#ajv = new Ajv2020({ strict: false, allErrors: false, formats: FORMATS });
    this.#ajv.addSchema(document, "openapi");
    this.operations = Object.entries<Schema>(document.paths).flatMap(([path, item]) =>
      METHODS.filter((method) => item[method] !== undefined).map((method) => this.#operation(path, method))
    );
    const paths = Object.keys(document.paths);
    // A literal segment goes before a parameter.
    this.#templates = paths.map((path) => ({ path, pattern: patternOf(path) }))
      .sort((a, b) => a.path.split("{").length - b.path.split("{").length);
  }

  #operation(path: string, method: string): Operation {
    const item = this.document.paths[path][method];
    const pointer = `openapi#/paths/${escaped(path)}/${method}`;
    const body = item.requestBody;
    const [security] = item.security ?? [];
    return {
      id: item.operationId,
      method: method.toUpperCase(),
      path,
      parameters: (item.parameters ?? []).map((parameter: Schema) => ({
        required: false,
        ...this.resolve(parameter),
      })),
      body: body === undefined ? null : {
        required: body.required === true,
        schema: body.content["application/json"].schema,
        pointer: `${pointer}/requestBody/content/application~1json/schema`,
      },
      key: security === undefined
        ? "none"
        : "organizationKey" in security
        ? "organization"
        : "session" in security
        ? "session"
        : { scope: Object.keys(security)[0]!.replace(/^masterKey_/, "") },
      responses: Object.fromEntries(
        Object.entries<Schema>(item.responses).map(([status, response]) => [status, this.resolve(response)]),
      ),
      pointers: Object.fromEntries(
        Object.entries<Schema>(item.responses).map(([status, { $ref }]) => {
          const place = $ref === undefined ? `${pointer}/responses/${status}` : `openapi${$ref}`;
          return [status, `${place}/content/application~1json/schema`];
        }),
      ),
    };
  }

  /** The target of a reference in this document. */
  resolve(schema: Schema): Schema {
    let found = schema;
    while (typeof found?.$ref === "string") {
      found = found.$ref.slice(2).split("/").reduce(
        (at: Schema, name: string) => at[name.replaceAll("~1", "/").replaceAll("~0", "~")],
        this.document,
      );
    }
    return found;
  }

  /** Whether a concrete path is one of the document's. */
  hasPath(path: string): boolean {
    return this.#templates.some(({ pattern }) => pattern.test(path));
  }

  /** The operation of a request: of the paths that it matches, the first that has its method. */
  operationAt(method: string, path: string): Operation | null {
    const templates = this.#templates.filter(({ pattern }) => pattern.test(path));
    const found = templates.map((template) =>
      this.operations.find((one) => one.method === method && one.path === template.path)
    );
    return found.find((one) => one !== undefined) ?? null;
  }

  takesBody({ body }: Operation, value: unknown): boolean {
    return body === null || this.#validator(body.pointer)(value) === true;
  }

  takesText({ schema }: Parameter, text: string): boolean {
    const { type } = this.resolve(schema);
    const isNumber = type === "integer" || type === "number";
    if (isNumber && !/^-?\d+(?:\.\d+)?$/.test(text)) return false;
    return this.#ajv.validate({ ...schema, $id: undefined }, isNumber ? Number(text) : text);
  }

  /** How an answer of an operation deviates; `isHead` if it was requested without its body. */
  problemsOf(operation: Operation, { status, headers, text }: Received, isHead = false): readonly string[] {
    const response = operation.responses[status];
    if (response === undefined) {
      return [`status ${status} is not documented: ${Object.keys(operation.responses).join(", ")}`];
    }
    return [
      ...headerProblems(response, headers),
      ...(isHead ? emptyProblems(text) : this.#contentProblems(operation, { status, headers, text })),
    ];
  }

  #contentProblems(operation: Operation, { status, headers, text }: Received): readonly string[] {
    const content = operation.responses[status].content ?? {};
    const type = headers.get("Content-Type") ?? "";
    if (Object.keys(content).length === 0) return emptyProblems(text);
    if (content[type] === undefined) {
      return [`content type ${type || "none"} is not documented: ${Object.keys(content).join(", ")}`];
    }
    if (type === ERROR_TYPE) return this.#jsonProblems(operation, { status, text });
    if (type === "application/x-ndjson") return text.split("\n").slice(0, -1).flatMap(lineProblems);
    const begins = type.startsWith("text/html") ? /^<!doctype html>/i : /^<svg\b/;
    return begins.test(text) ? [] : [`a document of type ${type} begins with ${text.slice(0, 40)}`];
  }

  #jsonProblems(
    operation: Operation,
    { status, text }: Pick<Received, "status" | "text">,
  ): readonly string[] {
    const value = parsed(text);
    if (value === undefined) return [`not JSON: ${text.slice(0, 200)}`];
    const { responses, pointers } = operation;
    const validate = this.#validator(pointers[status]!);
    if (!validate(value)) return [`the body misfits its schema: ${JSON.stringify(validate.errors)}`];
    if (status < 400) return [];
    const { code } = (value as Schema).error;
    return responses[status].description.includes(`\`${code}\``)
      ? []
      : [`code ${code} is not documented for ${status}`];
  }

  #validator(pointer: string): ValidateFunction {
    const known = this.#validators.get(pointer);
    if (known !== undefined) return known;
    const validate = this.#ajv.compile({ $ref: pointer });
    this.#validators.set(pointer, validate);
    return validate;
  }
}

function patternOf(path: string): RegExp {
  return new RegExp(`^${path.replace(/[.]/g, "\\$&").replaceAll(/\{\w+\}/g, "[^/]+")}$`);
}

function escaped(path: string): string {
  return encodeURIComponent(path.replaceAll("~", "~0").replaceAll("/", "~1"));
}

function parsed(text: string): Schema {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function lineProblems(line: string): readonly string[] {
  return parsed(line) === undefined ? [`a line is not JSON: ${line.slice(0, 80)}`] : [];
}

function emptyProblems(text: string): readonly string[] {
  return text === "" ? [] : [`a body where none is documented: ${text.slice(0, 80)}`];
}

function headerProblems({ headers: documented = {} }: Schema, headers: Headers): readonly string[] {
  return Object.entries<Schema>(documented).flatMap(([name, { required, schema }]) => {
    const value = headers.get(name);
    if (value === null) return required ? [`header ${name} is missing`] : [];
    const { pattern } = schema ?? {};
    return pattern === undefined || new RegExp(pattern).test(value)
      ? []
      : [`header ${name} is ${value}, not as documented`];
  });
}
