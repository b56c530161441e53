/** Requirements of other generators and linters for the OpenAPI document. */
import assert from "node:assert/strict";
import { openApiDocument } from "../../src/http/openapi.ts";
import { MASTER_SCOPES } from "../../src/keys/master_keys.ts";

// deno-lint-ignore no-explicit-any -- a document is walked by its keywords
type Node = any;

const document = openApiDocument("http://jiss.test") as Node;

/** Every object of the document with its path. */
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

/** True for a schema of a type, also if it allows null. */
const isOf = (type: string) => ({ node }: { node: Node }) => [node.type].flat().includes(type);

Deno.test("a number is a double, and an integer is int32 or int64 by its range", () => {
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

Deno.test("every array has items, with a schema that every generator reads", () => {
  const arrays = NODES.filter(isOf("array"));
  assert.ok(arrays.length > 50);
  assert.deepEqual(
    arrays.filter(({ node }) => typeof node.items !== "object" || "prefixItems" in node).map(({ path }) =>
      path
    ),
    [],
  );
});

/** A name as generators write it: each word with a capital. */
function pascal(name: string): string {
  return name.split(/[^A-Za-z0-9]+/).map((word) => word.slice(0, 1).toUpperCase() + word.slice(1)).join("");
}

/** The type names of a component and its members: objects and lists of values are types of their own. */
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

Deno.test("every request body is a component, so that a client has a named type for it", () => {
  for (const [path, methods] of Object.entries<Node>(document.paths)) {
    for (const { requestBody, operationId } of Object.values<Node>(methods)) {
      if (requestBody === undefined) continue;
      const { schema } = requestBody.content["application/json"];
      assert.deepEqual(Object.keys(schema), ["$ref"], `${operationId} ${path}`);
    }
  }
});

Deno.test("each master key is a security scheme of its own, which names its secret", () => {
  const { organizationKey, session, ...masters } = document.components.securitySchemes;
  assert.equal(organizationKey.name, "X-API-Key");
  assert.deepEqual([session.in, session.name], ["cookie", "jiss_session"]);
  assert.deepEqual(
    Object.entries<Node>(masters).map(([name, { type, description }]) => [name, type, description]),
    MASTER_SCOPES.map((
      scope,
    ) => [
      `masterKey_${scope}`,
      "apiKey",
      `The master secret \`MASTER_ADMIN_KEY_${scope}\`, which is valid for one operation only.`,
    ]),
  );
});

Deno.test("a webhook's callback lists each event of the document, as one type with the event as discriminator", () => {
  const { callbacks } = document.paths["/v1/admin/webhook/register"].post;
  const { post } = callbacks.delivery["{$request.body#/url}"];
  assert.deepEqual(post.requestBody.content["application/json"].schema, {
    $ref: "#/components/schemas/WebhookEvent",
  });
  const { oneOf, discriminator } = document.components.schemas.WebhookEvent;
  const bodies = Object.entries<Node>(document.webhooks).map(([event, { post: { requestBody } }]) =>
    [event, requestBody.content["application/json"].schema.$ref] as const
  );
  assert.equal(bodies.length, 5);
  assert.deepEqual(discriminator, { propertyName: "event", mapping: Object.fromEntries(bodies) });
  assert.deepEqual(oneOf, bodies.map(([, $ref]) => ({ $ref })));
  for (const [event, $ref] of bodies) {
    const { properties, required } = document.components.schemas[$ref.split("/").at(-1)!];
    assert.equal(properties.event.const, event);
    assert.ok(required.includes("event"));
  }
});

Deno.test("the document names a contact", () => {
  assert.deepEqual(document.info.contact, {
    name: "The administrator of this installation",
    url: "http://jiss.test/docs",
  });
});
