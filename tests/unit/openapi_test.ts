/** What other people's generators and linters ask of the OpenAPI document. */
import assert from "node:assert/strict";
import { openApiDocument } from "../../src/http/openapi.ts";
import { MASTER_SCOPES } from "../../src/keys/master_keys.ts";

// deno-lint-ignore no-explicit-any -- a document is walked by its keywords
type Node = any;

const document = openApiDocument("http://jiss.test") as Node;

/** Every object of the document with its path in it. */
function nodesOf(at: Node, path: readonly string[] = []): readonly { node: Node; path: string }[] {
  if (typeof at !== "object" || at === null) return [];
  const inner = Object.entries(at).flatMap(([name, member]) => nodesOf(member, [...path, name]));
  return Array.isArray(at) ? inner : [{ node: at, path: path.join("/") }, ...inner];
}

const NODES = nodesOf({
  paths: document.paths,
  components: document.components,
  webhooks: document.webhooks,
});

/** Whether an object is a schema of a type; a schema of null or of that type is, too. */
const isOf = (type: string) => ({ node }: { node: Node }) => [node.type].flat().includes(type);

Deno.test("a number is a double, and a whole number says whether 32 bits hold it", () => {
  const numbers = NODES.filter(isOf("number"));
  assert.ok(numbers.length > 30);
  assert.deepEqual(numbers.filter(({ node }) => node.format !== "double").map(({ path }) => path), []);
  const integers = NODES.filter(isOf("integer"));
  assert.ok(integers.length > 100);
  for (const { node, path } of integers) {
    const fits = node.minimum >= -(2 ** 31) && node.maximum < 2 ** 31;
    assert.equal(node.format, fits ? "int32" : "int64", path);
  }
});

Deno.test("every array says of what it is, with a schema that every generator reads", () => {
  const arrays = NODES.filter(isOf("array"));
  assert.ok(arrays.length > 50);
  assert.deepEqual(
    arrays.filter(({ node }) => typeof node.items !== "object" || "prefixItems" in node).map(({ path }) =>
      path
    ),
    [],
  );
});

/** As generators name it: the component and each member on the way, each word with a capital. */
function pascal(name: string): string {
  return name.split(/[^A-Za-z0-9]+/).map((word) => word.slice(0, 1).toUpperCase() + word.slice(1)).join("");
}

/** The names that a component and what stands inside of it get: objects and lists of values are types of their own. */
function typeNames(schema: Node, name: string): readonly string[] {
  const properties = Object.entries<Node>(schema.properties ?? {});
  const alternatives: readonly Node[] = schema.anyOf ?? schema.oneOf ?? [];
  const own = schema.properties !== undefined || schema.enum !== undefined ? [name] : [];
  return [
    ...own,
    ...properties.flatMap(([member, inner]) => typeNames(inner, name + pascal(member))),
    ...(schema.items === undefined ? [] : typeNames(schema.items, `${name}Item`)),
    ...alternatives.flatMap((one) => typeNames(one, name)),
  ];
}

Deno.test("no two types of a generated client have one name", () => {
  const components = Object.entries<Node>(document.components.schemas);
  const names = components.flatMap(([name, schema]) => [
    ...new Set([name, ...typeNames(schema, name)].map((one) => one.toLowerCase())),
  ]);
  const doubled = names.filter((name, index) => names.indexOf(name) !== index);
  assert.deepEqual(doubled, []);
});

Deno.test("every request body is a component, so that a client has a type with a name for it", () => {
  for (const [path, methods] of Object.entries<Node>(document.paths)) {
    for (const { requestBody, operationId } of Object.values<Node>(methods)) {
      if (requestBody === undefined) continue;
      const { schema } = requestBody.content["application/json"];
      assert.deepEqual(Object.keys(schema), ["$ref"], `${operationId} ${path}`);
    }
  }
});

Deno.test("each master key is a security scheme of its own, which names its secret", () => {
  const { organizationKey, ...masters } = document.components.securitySchemes;
  assert.equal(organizationKey.name, "X-API-Key");
  assert.deepEqual(
    Object.entries<Node>(masters).map(([name, { type, description }]) => [name, type, description]),
    MASTER_SCOPES.map((
      scope,
    ) => [
      `masterKey_${scope}`,
      "apiKey",
      `The master secret \`MASTER_ADMIN_KEY_${scope}\`, for its own operation alone.`,
    ]),
  );
});

Deno.test("a destination is told each event of the document, as one type that its event tells apart", () => {
  const { callbacks } = document.paths["/v1/admin/webhook/register"].post;
  const { post } = callbacks.delivery["{$request.body#/url}"];
  assert.deepEqual(post.requestBody.content["application/json"].schema, {
    $ref: "#/components/schemas/WebhookEvent",
  });
  const { oneOf, discriminator } = document.components.schemas.WebhookEvent;
  const bodies = Object.entries<Node>(document.webhooks).map(([event, { post: { requestBody } }]) =>
    [event, requestBody.content["application/json"].schema.$ref] as const
  );
  assert.equal(bodies.length, 4);
  assert.deepEqual(discriminator, { propertyName: "event", mapping: Object.fromEntries(bodies) });
  assert.deepEqual(oneOf, bodies.map(([, $ref]) => ({ $ref })));
  for (const [event, $ref] of bodies) {
    const { properties, required } = document.components.schemas[$ref.split("/").at(-1)!];
    assert.equal(properties.event.const, event);
    assert.ok(required.includes("event"));
  }
});

Deno.test("whoever asks whom to turn to is told", () => {
  assert.deepEqual(document.info.contact, {
    name: "The administrator of this installation",
    url: "http://jiss.test/docs",
  });
});
