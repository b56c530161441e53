/** The OpenAPI document as the page reads it: its operations in groups, and the targets of its references. */

export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly format?: string;
  readonly pattern?: string;
  readonly not?: Schema;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly default?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly exclusiveMaximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly items?: Schema | boolean;
  readonly prefixItems?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
}

export interface Parameter {
  /** A parameter that several operations have stands among the components. */
  readonly $ref?: string;
  readonly in: "path" | "query" | "header";
  readonly name: string;
  readonly required?: boolean;
  readonly description?: string;
  readonly schema: Schema;
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
}

interface Content {
  readonly schema?: Schema;
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
}

export interface Response {
  /** A response that several operations have stands among the components. */
  readonly $ref?: string;
  readonly description: string;
  readonly headers?: Readonly<Record<string, { readonly description?: string }>>;
  readonly content?: Readonly<Record<string, Content>>;
}

export interface Described {
  readonly operationId: string;
  readonly tags?: readonly string[];
  readonly summary: string;
  readonly description: string;
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: {
    readonly required?: boolean;
    readonly content: Readonly<Record<string, Content>>;
  };
  readonly responses: Readonly<Record<string, Response>>;
}

export interface OpenApi {
  readonly info: { readonly version: string; readonly description: string };
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>;
  readonly webhooks: Readonly<Record<string, { readonly post: Described }>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly responses?: Readonly<Record<string, Response>>;
    readonly parameters?: Readonly<Record<string, Parameter>>;
  };
}

/** An operation that can be called. */
export interface Operation extends Described {
  /** The method in capitals. */
  readonly method: string;
  readonly path: string;
}

export interface Group {
  /** Id of the group's heading. */
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly operations: readonly Operation[];
}

/** The operations by their tags, in the order of the document. */
export function groupsOf({ tags, paths, components }: OpenApi): readonly Group[] {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, described]) => ({
      ...described,
      parameters: parametersOf(described, components),
      responses: Object.fromEntries(
        Object.entries(described.responses).map(([status, response]) => [
          status,
          targetOf(response, components.responses),
        ]),
      ),
      method: method.toUpperCase(),
      path,
    }))
  );
  return tags.map(({ name, description }) => ({
    id: `group-${name.toLowerCase().replace(/\W+/g, "-")}`,
    name,
    description,
    operations: operations.filter((operation) => operation.tags?.includes(name)),
  }));
}

/** The events, each by its name and as the service sends it. */
export function eventsOf({ webhooks, components }: OpenApi): readonly (readonly [string, Described])[] {
  return Object.entries(webhooks).map(([event, { post }]) =>
    [event, { ...post, parameters: parametersOf(post, components) }] as const
  );
}

function parametersOf(
  { parameters = [] }: Described,
  components: OpenApi["components"],
): readonly Parameter[] {
  return parameters.map((parameter) => targetOf(parameter, components.parameters));
}

/** What stands in the document, or what it refers to among the components. */
function targetOf<Part extends { readonly $ref?: string }>(
  part: Part,
  components: Readonly<Record<string, Part>> = {},
): Part {
  return part.$ref === undefined ? part : components[part.$ref.split("/").at(-1)!]!;
}

/** True if the names and descriptions of an operation hold each word of a filter. */
export function matches(operation: Operation, filter: string): boolean {
  const { method, path, operationId, summary, description, tags = [] } = operation;
  const text = [method, path, operationId, summary, description, ...tags].join(" ").toLowerCase();
  return filter.toLowerCase().split(/\s+/).every((word) => text.includes(word));
}

/** The name of a reference's target; null if the schema is no reference. */
export function nameOf({ $ref }: Schema): string | null {
  return $ref?.split("/").at(-1) ?? null;
}

export function resolved(document: OpenApi, schema: Schema): Schema {
  const name = nameOf(schema);
  if (name === null) return schema;
  const { description } = schema;
  const target = document.components.schemas[name] ?? {};
  return description === undefined ? target : { ...target, description };
}

/** The key that an operation requires: none, an organization's, or the master key of a scope. */
export type Authentication =
  | { readonly kind: "none" }
  | { readonly kind: "key" }
  | { readonly kind: "master"; readonly scope: string };

export function authenticationOf({ security }: Described): Authentication {
  const [requirement] = security;
  if (requirement === undefined) return { kind: "none" };
  const scope = Object.keys(requirement)[0]?.match(/^masterKey_(.+)$/)?.[1];
  return scope === undefined ? { kind: "key" } : { kind: "master", scope };
}
