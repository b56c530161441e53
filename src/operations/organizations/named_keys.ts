/** An organization's named keys, which can do little: each has scopes, and may end at an instant. */
import type { Proving, Reading, Secrets, Writing } from "../shared/capabilities.ts";
import { refusedAt, ServiceError } from "../../domain/errors.ts";
import { isoOrNull } from "../../domain/instant.ts";
import { NAMED_KEYS_MAX } from "../../domain/limits.ts";
import type { NamedKeyRequest } from "../../domain/named_key.ts";
import { adminChain } from "../../evidence/chain_name.ts";
import { namedKeyNames, type NamedKeyRow, namedKeys } from "../../store/named_keys.ts";
import type { Call, OrganizationCaller } from "../shared/call.ts";
import { eventDraft } from "../shared/drafts.ts";
import type { IdempotentCall } from "../shared/idempotency.ts";
import { KeyedCall, type KnownCall, type RepeatableAnswer, repeatedAnswer } from "../shared/keyed_calls.ts";
import { KeyIssue, NAMED_KEY_WARNING } from "./key_issue.ts";
import { readRegistered, type Remembering } from "./registered.ts";

/** The dependencies of these operations. */
type Needs =
  & Reading
  & Pick<Proving, "installation">
  & Writing
  & Pick<Secrets, "peppers" | "mintKey">
  & Remembering;

/**
 * Makes a named key. The key itself is only in this answer, and not in that of a repeated call.
 * @throws {ServiceError} CONFLICT if the name is taken or the organization has as many keys as it may have;
 *   VALIDATION_FAILED if it would have ended already.
 */
export async function createNamedKey(
  dependencies: Needs,
  caller: OrganizationCaller,
  { request, call, idempotency = null }: {
    readonly request: NamedKeyRequest;
    readonly call: Call;
    readonly idempotency?: IdempotentCall | null;
  },
): Promise<RepeatableAnswer> {
  const { installation, world, writer } = dependencies;
  const { orgId } = caller;
  const { now } = call;
  const { name, scopes, expires_at = null } = request;
  const keyed = new KeyedCall(installation, { orgId, idempotency, request, call });
  const repeated = (known: KnownCall) =>
    repeatedAnswer(known, { key_id: known.reference, already_provisioned: true });
  const before = await keyed.lookUp(dependencies);
  if (before !== null) return repeated(before);
  if (expires_at !== null && expires_at <= now) throw refusedAt("expires_at", "must lie in the future");
  const issue = new KeyIssue(dependencies);
  const keyId = world.ulid(now);
  const draft = eventDraft(world, {
    type: "NAMED_KEY_CREATED",
    caller,
    now,
    detail: { key_id: keyId, name, scopes: [...scopes], expires_at: isoOrNull(expires_at) },
  });
  return await writer.submit<RepeatableAnswer>({
    needs: [
      { kind: namedKeyNames, key: [orgId] },
      { kind: namedKeys, key: [keyId] },
      ...issue.needs,
      ...keyed.needs,
    ],
    chains: [adminChain(orgId)],
    plan(unit) {
      const known = keyed.findEarlier(unit);
      if (known !== null) return () => repeated(known);
      const names: readonly string[] = JSON.parse(unit.get(namedKeyNames, [orgId])?.names ?? "[]");
      if (names.includes(name)) {
        throw new ServiceError(
          "CONFLICT",
          `There is a key named ${JSON.stringify(name)}: choose another name.`,
        );
      }
      if (names.length >= NAMED_KEYS_MAX) {
        throw new ServiceError(
          "CONFLICT",
          `There are ${names.length} named keys, and an organization has at most ${NAMED_KEYS_MAX}: remove one first.`,
        );
      }
      const { apiKey, prefix, stored } = issue.take(unit);
      const row: NamedKeyRow = {
        key_id: keyId,
        org_id: orgId,
        name,
        prefix,
        key_hash: stored.key_hash!,
        pepper_id: stored.pepper_id!,
        scopes: scopes.join(" "),
        created_at: now,
        expires_at,
        used_at: null,
      };
      unit.put(namedKeyNames, { org_id: orgId, names: JSON.stringify([...names, name]) });
      unit.put(namedKeys, row);
      unit.append(adminChain(orgId), draft);
      keyed.remember(unit, { reference: keyId });
      return () => ({
        body: { ...namedKeyBody(row), api_key: apiKey, warning: NAMED_KEY_WARNING },
        call,
        replayed: false,
      });
    },
  });
}

/** The named keys, the oldest first, without the keys themselves. */
export async function listNamedKeys(
  dependencies: Needs,
  { orgId }: OrganizationCaller,
): Promise<Record<string, unknown>> {
  const { keys } = await readRegistered(dependencies, orgId);
  return { keys: keys.map(namedKeyBody), count: keys.length };
}

/** Removes a named key: it is refused from now on. @throws {ServiceError} NOT_FOUND. */
export async function removeNamedKey(
  { world, writer }: Needs,
  caller: OrganizationCaller,
  { keyId, call: { now } }: { readonly keyId: string; readonly call: Call },
): Promise<Record<string, unknown>> {
  const { orgId } = caller;
  const draft = eventDraft(world, { type: "NAMED_KEY_REMOVED", caller, now, detail: { key_id: keyId } });
  return await writer.submit({
    needs: [{ kind: namedKeys, key: [keyId] }],
    chains: [adminChain(orgId)],
    plan(unit) {
      const row = unit.get(namedKeys, [keyId]);
      if (row?.org_id !== orgId) {
        throw new ServiceError("NOT_FOUND", "There is no such named key: GET /v1/keys lists the named keys.");
      }
      unit.remove(namedKeys, [keyId]);
      unit.append(adminChain(orgId), draft);
      return () => ({ deleted: true, key_id: keyId });
    },
  });
}

function namedKeyBody(row: NamedKeyRow): Record<string, unknown> {
  return {
    key_id: row.key_id,
    name: row.name,
    prefix: row.prefix,
    scopes: row.scopes.split(" "),
    created_at: new Date(row.created_at).toISOString(),
    expires_at: isoOrNull(row.expires_at),
    last_used_at: isoOrNull(row.used_at),
  };
}
