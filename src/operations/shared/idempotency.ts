/**
 * Master calls that are safe to repeat: the answer is kept under endpoint and key, without any secret, and is
 * given again.
 * Source: specification, Master-key admin, rule 2; contract, sections 5 and 8.9.
 */
import type { Writing } from "./capabilities.ts";
import { ServiceError } from "../../domain/errors.ts";
import { IDEMPOTENCY_RETENTION_DAYS } from "../../domain/limits.ts";
import { canonicalJson } from "../../evidence/canonical.ts";
import { equalBytes, hex } from "../../evidence/crypto.ts";
import { requestDigest } from "../../keys/secrets.ts";
import { DAY_MS } from "../../domain/time.ts";
import { deleteAnswersUpTo } from "../../store/idempotency.ts";
import { idempotencyRecords } from "../../store/records.ts";
import type { Need, UnitOfWork } from "../../store/unit_of_work.ts";
import type { Installation } from "./deployment.ts";
import type { Call } from "./call.ts";

/** The endpoint and the Idempotency-Key that make a call safe to repeat. */
export interface IdempotentCall {
  /** Method and concrete path. */
  readonly endpoint: string;
  readonly key: string;
}

/** The answer to a master call; a repeated answer holds no API key. */
export interface MasterAnswer {
  readonly status: number;
  readonly body: Record<string, unknown>;
  readonly replayed: boolean;
  /** The call that was answered first, if it is known. */
  readonly call?: Call;
}

/** One call, and the record of its answer. */
export class IdempotencyRecord {
  readonly need: Need;
  readonly #digest: Uint8Array;
  readonly #now: number;

  /** `request` is validated: unknown fields do not make it another request. */
  constructor(
    { key }: Installation,
    { call, request, now }: {
      readonly call: IdempotentCall;
      readonly request: unknown;
      /** Epoch milliseconds. */
      readonly now: number;
    },
  ) {
    const { endpoint } = call;
    // The caller chooses the key and may have put a secret in it; a digest is enough to recognize it.
    const name = hex(requestDigest(key, canonicalJson({ kind: "idempotency-key", key: call.key })));
    this.need = { kind: idempotencyRecords, key: [endpoint, name] };
    this.#digest = requestDigest(key, canonicalJson({ kind: "idempotent", endpoint, request }));
    this.#now = now;
  }

  /**
   * The remembered answer if this call repeats an earlier one, else null.
   * @throws {ServiceError} IDEMPOTENCY_KEY_REUSED if the key was used for another request.
   */
  findAnswer(unit: UnitOfWork): MasterAnswer | null {
    const row = unit.get(idempotencyRecords, this.need.key);
    if (row === null || row.created_at <= oldest(this.#now)) return null;
    if (!equalBytes(row.request_digest, this.#digest)) throw keyReused();
    return { status: row.status, body: JSON.parse(row.body), replayed: true };
  }

  /** Remembers an answer, which must not hold a secret. */
  remember(
    unit: UnitOfWork,
    { status, body }: { readonly status: number; readonly body: Readonly<Record<string, unknown>> },
  ): void {
    unit.put(idempotencyRecords, {
      endpoint: this.need.key[0]!,
      idempotency_key: this.need.key[1]!,
      request_digest: this.#digest,
      status,
      body: JSON.stringify(body),
      created_at: this.#now,
    });
  }
}

/** The refusal of a key that was used for another request. */
export function keyReused(): ServiceError {
  return new ServiceError(
    "IDEMPOTENCY_KEY_REUSED",
    "This Idempotency-Key was used with a different body: use a new key for a new request.",
  );
}

/** Answers that were given at or before this instant are forgotten. */
function oldest(now: number): number {
  return now - IDEMPOTENCY_RETENTION_DAYS * DAY_MS;
}

/** Deletes the answers whose retention has ended. */
export async function forgetAnswers({ writer }: Pick<Writing, "writer">, now: number): Promise<void> {
  await writer.execute(deleteAnswersUpTo(oldest(now)));
}
