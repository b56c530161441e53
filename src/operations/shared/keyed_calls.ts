/**
 * Calls of an organization that carry an Idempotency-Key. Only a reference is kept of each call: its answer
 * is rebuilt from the chain or the row that the call wrote. So nothing is stored twice, and an erasure
 * reaches the answer.
 * Source: specification, Master-key admin, rule 2, and Limits; docs/understand/decisions.md.
 */
import type { Reading, Writing } from "./capabilities.ts";
import { ServiceError } from "../../domain/errors.ts";
import { IDEMPOTENCY_RETENTION_DAYS } from "../../domain/limits.ts";
import { canonicalJson } from "../../evidence/canonical.ts";
import { equalBytes } from "../../evidence/crypto.ts";
import { requestDigest } from "../../keys/secrets.ts";
import { DAY_MS } from "../../domain/time.ts";
import {
  deleteKeyedCallsOf,
  deleteKeyedCallsUpTo,
  hasKeyedCallsUpTo,
  readKeyedCall,
} from "../../store/keyed_calls.ts";
import {
  endedKeyedCalls,
  type KeyedCallRow,
  keyedCalls,
  type OperatorCalls,
  operatorCalls,
} from "../../store/records.ts";
import type { Need, PlacedEntry, UnitOfWork } from "../../store/unit_of_work.ts";
import type { Installation } from "./deployment.ts";
import type { Call } from "./call.ts";
import { GoneError } from "./gone.ts";
import { type IdempotentCall, keyReused } from "./idempotency.ts";
import { requireSealed } from "./sealed_reads.ts";

/** An earlier call under the same key. */
export interface KnownCall {
  /** Names what the call made; null if the request itself names it. */
  readonly reference: string | null;
  readonly call: Call;
}

/** An answer that can be given again to a repeated call. */
export interface RepeatableAnswer {
  readonly body: Record<string, unknown>;
  /** The call that was answered first. */
  readonly call: Call;
  readonly replayed: boolean;
}

export function repeatedAnswer({ call }: KnownCall, body: Record<string, unknown>): RepeatableAnswer {
  return { body, call, replayed: true };
}

/** Thrown if the first call with this key drew another id: the request must be planned under that id. */
class OtherId extends Error {
  override readonly name = "OtherId";

  constructor(readonly id: string) {
    super(`the first call drew ${id}`);
  }
}

/** One call, and the record of it. A call without a key is never known and never remembered. */
export class KeyedCall {
  readonly needs: readonly Need[];
  readonly #row: KeyedCallRow | null;
  readonly #now: number;

  /**
   * `request` is validated, and holds no ids that were drawn for it: only the caller's data decides whether
   * two requests are the same.
   */
  constructor(
    { key }: Installation,
    { orgId, idempotency, request, call }: {
      readonly orgId: string;
      readonly idempotency: IdempotentCall | null;
      readonly request: unknown;
      readonly call: Call;
    },
  ) {
    this.#now = call.now;
    if (idempotency === null) {
      this.#row = null;
      this.needs = [];
      return;
    }
    const { endpoint } = idempotency;
    const scope = { org_id: orgId, endpoint };
    this.#row = {
      name: requestDigest(key, canonicalJson({ kind: "keyed-call", ...scope, key: idempotency.key })),
      org_id: orgId,
      operator_id: null,
      request_digest: requestDigest(key, canonicalJson({ kind: "keyed-request", ...scope, request })),
      reference: null,
      request_id: call.requestId,
      at: call.now,
      erased_chain: null,
      erased_seq: null,
      erased_hash: null,
    };
    this.needs = [{ kind: keyedCalls, key: keyedCalls.keyOf(this.#row) }];
  }

  /**
   * The earlier call that this one repeats, or null if it is new.
   * @throws {ServiceError} IDEMPOTENCY_KEY_REUSED if the key was used for another request; GONE if the
   *   operator of the earlier call was erased; {AlteredRows} if the row of that call is not what this
   *   installation wrote.
   */
  findEarlier(unit: UnitOfWork): KnownCall | null {
    if (this.#row === null) return null;
    return this.#toKnownCall(unit.get(keyedCalls, keyedCalls.keyOf(this.#row)));
  }

  /** Like {@link findEarlier}, but reads the database before there is a plan. @throws as {@link findEarlier}. */
  async lookUp(dependencies: Pick<Reading, "database" | "seals">): Promise<KnownCall | null> {
    if (this.#row === null) return null;
    const row = await readKeyedCall(dependencies.database, this.#row.name);
    if (row !== null) requireSealed(dependencies, keyedCalls, [row]);
    return this.#toKnownCall(row);
  }

  #toKnownCall(row: KeyedCallRow | null): KnownCall | null {
    if (row === null || row.at <= oldest(this.#now)) return null;
    if (row.request_digest === null) {
      throw new GoneError({
        reason: "erased",
        chain: row.erased_chain!,
        seq: row.erased_seq!,
        entry_hash: row.erased_hash!,
      });
    }
    if (!equalBytes(row.request_digest, this.#row!.request_digest!)) throw keyReused();
    return { reference: row.reference, call: { now: row.at, requestId: row.request_id } };
  }

  /** Remembers the call. `reference` holds nothing personal; the erasure of `operatorId` ends the record. */
  remember(
    unit: UnitOfWork,
    { reference = null, operatorId = null }: {
      readonly reference?: string | null;
      readonly operatorId?: string | null;
    },
  ): void {
    if (this.#row === null) return;
    unit.put(keyedCalls, { ...this.#row, reference, operator_id: operatorId });
  }

  /**
   * Runs under the caller's id, or under a drawn id if the caller gave none. A repeated call runs under the
   * id that the first call drew. The plan must call {@link requireSameId}.
   */
  async runUnderOneId<Result>(
    { given, draw }: { readonly given: string | null; readonly draw: () => string },
    run: (id: string) => Promise<Result>,
  ): Promise<Result> {
    if (given !== null) return await run(given);
    try {
      return await run(draw());
    } catch (error) {
      if (!(error instanceof OtherId)) throw error;
      return await run(error.id);
    }
  }
}

/** Makes {@link KeyedCall.runUnderOneId} run again if the first call drew another id. */
export function requireSameId(known: KnownCall | null, id: string): void {
  if (known !== null && known.reference !== null && known.reference !== id) {
    throw new OtherId(known.reference);
  }
}

/** GONE: the record of the call under this key is no longer held. */
export function pastRetentionError(): ServiceError {
  return new ServiceError(
    "GONE",
    "The result under this Idempotency-Key is past its retention: use a new key for a new request.",
  );
}

/** The need for the rows that {@link endKeyedCalls} reads. */
export function operatorCallsNeed(operator: OperatorKey): Need {
  return { kind: operatorCalls, key: operator };
}

type OperatorKey = readonly [orgId: string, operatorId: string];

/**
 * Ends the records of an operator's calls; their keys stay used.
 * @throws {AlteredRows} if one of the rows is not what this installation wrote.
 */
export function endKeyedCalls(
  unit: UnitOfWork,
  dependencies: Pick<Reading, "seals">,
  { operator, erasure: { entry: { chain, seq }, hash } }: {
    readonly operator: OperatorKey;
    /** The entry that records the erasure. */
    readonly erasure: Pick<PlacedEntry, "entry" | "hash">;
  },
): void {
  const rows = callsOf(operator, unit.get(operatorCalls, operator)!);
  requireSealed(dependencies, keyedCalls, rows);
  for (const row of rows) {
    unit.put(endedKeyedCalls, {
      ...row,
      operator_id: null,
      request_digest: null,
      reference: null,
      erased_chain: chain,
      erased_seq: seq,
      erased_hash: hash,
    });
  }
  // A call that repeats a record appends no entry, so another process may have remembered one meanwhile.
  unit.execute(deleteKeyedCallsOf(operator));
}

function callsOf([orgId, operatorId]: OperatorKey, { calls }: OperatorCalls): readonly KeyedCallRow[] {
  const rows: readonly [string, string, string | null, string, number, string][] = JSON.parse(calls);
  return rows.map(([name, digest, reference, requestId, at, seal]) => ({
    name: Uint8Array.fromHex(name),
    org_id: orgId,
    operator_id: operatorId,
    request_digest: Uint8Array.fromHex(digest),
    reference,
    request_id: requestId,
    at,
    erased_chain: null,
    erased_seq: null,
    erased_hash: null,
    seal: Uint8Array.fromHex(seal),
  }));
}

/** Calls at or before this instant are forgotten. */
function oldest(now: number): number {
  return now - IDEMPOTENCY_RETENTION_DAYS * DAY_MS;
}

/** Most calls that one write deletes, so that no other write waits long for it. */
const CALLS_IN_WRITE = 1_000;

/** Deletes the calls whose retention has ended. */
export async function forgetKeyedCalls(
  { database, writer }: Pick<Reading, "database"> & Pick<Writing, "writer">,
  now: number,
): Promise<void> {
  while (await hasKeyedCallsUpTo(database, oldest(now))) {
    await writer.execute(deleteKeyedCallsUpTo(oldest(now), CALLS_IN_WRITE));
  }
}
