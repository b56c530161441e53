/** The fields that routes of one kind share; each route sets those that differ. */
import * as z from "zod";
import { IDEMPOTENCY_KEY_MAX_LENGTH } from "../../domain/limits.ts";
import { ServiceError } from "../../domain/errors.ts";
import type { Access } from "../../domain/access.ts";
import { type OrganizationCaller, selfServing } from "../../operations/shared/call.ts";
import type { Exchange } from "../exchange.ts";

/** A route that needs no key. */
export const OPEN = {
  auth: { kind: "none" },
  body: null,
  parameters: null,
  pathParameters: null,
  idempotent: false,
  errors: [],
} as const;

/** The authentication of a route that takes a key, by what the call does. */
export function keyFor<Kind extends Access>(access: Kind) {
  return { auth: { kind: "key", access } } as const;
}

/** A read with an organization's key. */
export const KEYED_READ = {
  method: "GET",
  ...keyFor("read"),
  layer1: true,
  idempotent: false,
  pathParameters: null,
  body: null,
  parameters: null,
  errors: [],
} as const;

/** A removal with an organization's key; `keyFor` says what it does. */
export const KEYED_DELETE = {
  method: "DELETE",
  layer1: true,
  idempotent: false,
  body: null,
  parameters: null,
  errors: [],
} as const;

/** A write with an organization's key; `keyFor` says what it does. */
export const KEYED_POST = {
  method: "POST",
  layer1: true,
  idempotent: false,
  honoursIdempotencyKey: true,
  pathParameters: null,
  parameters: null,
  errors: [],
} as const;

/** A change with a master key. */
export const MASTER_POST = {
  method: "POST",
  layer1: true,
  parameters: null,
  idempotent: true,
} as const;

/** The idempotency key of the examples. */
export const EXAMPLE_IDEMPOTENCY_KEY = "d6b1f0a2-5a37-4b0e-9f4e-2f1f5f6d7c11";

/** The idempotency key in a body. */
export const idempotencyKeySchema = z.string().min(1).max(IDEMPOTENCY_KEY_MAX_LENGTH).meta({
  description: "Must equal the Idempotency-Key header.",
});

/** The caller, with the actor that the audit log names on the routes of an organization for itself. */
export function selfServe({ caller }: Exchange): OrganizationCaller {
  return selfServing(caller!);
}

/** The refusal of what tells about teams to a user who sees pseudonyms: who is in which team would tell who a pseudonym is. */
export function teamsWithheld(): ServiceError {
  return new ServiceError(
    "FORBIDDEN",
    "Reviewers are pseudonyms here, and figures of a team could tell who is in it: ask with a key.",
  );
}
