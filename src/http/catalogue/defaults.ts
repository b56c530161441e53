/** The fields that routes of one kind share; each route sets those that differ. */

/** A route that needs no key. */
export const OPEN = {
  auth: { kind: "none" },
  body: null,
  parameters: null,
  pathParameters: null,
  idempotent: false,
  errors: [],
} as const;

/** A read with an organization's key. */
export const KEYED_READ = {
  method: "GET",
  auth: { kind: "key" },
  layer1: true,
  idempotent: false,
  pathParameters: null,
  body: null,
  parameters: null,
  errors: [],
} as const;

/** A removal with an organization's key. */
export const KEYED_DELETE = {
  method: "DELETE",
  auth: { kind: "key" },
  layer1: true,
  idempotent: false,
  body: null,
  parameters: null,
  errors: [],
} as const;

/** A write with an organization's key. */
export const KEYED_POST = {
  method: "POST",
  auth: { kind: "key" },
  layer1: true,
  idempotent: false,
  honoursIdempotencyKey: true,
  pathParameters: null,
  parameters: null,
  errors: [],
} as const;
