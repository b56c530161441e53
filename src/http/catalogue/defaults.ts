/** What routes of one kind have in common; each names where it differs. */

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

/** A write with an organization's key. */
export const KEYED_POST = {
  method: "POST",
  auth: { kind: "key" },
  layer1: true,
  idempotent: false,
  pathParameters: null,
  parameters: null,
  errors: [],
} as const;
