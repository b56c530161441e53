/** Compares what a service acknowledged before something went wrong with what is there afterwards. */
import assert from "node:assert/strict";
import { canonicalJson } from "../src/evidence/canonical.ts";
import { signerFromPem } from "../src/evidence/node_crypto.ts";
import { scoreRequest } from "./harness.ts";
import { verifyDatabase } from "./oracle.ts";
import { type Answer, type RunningService, withDatabaseOf } from "./program.ts";

type Sending = Pick<RunningService, "send">;

export class Acknowledged {
  readonly #key: string;
  /** Session → the answer's canonical JSON. */
  readonly #answers = new Map<string, string>();
  #count = 0;

  constructor(key: string) {
    this.#key = key;
  }

  get size(): number {
    return this.#answers.size;
  }

  /** Scores a new session. @throws if there is no answer. */
  async score(service: Sending, session = `session-${this.#count++}`): Promise<Answer> {
    const answer = await service.send("/v1/score", { key: this.#key, body: requestOf(session) });
    if (answer.status === 200) this.#answers.set(session, canonicalJson(answer.body));
    return answer;
  }

  /**
   * Scores over several connections until an answer is not 200, or none comes; @returns the other answers by
   * status.
   */
  async scoreUntilRefused(service: Sending, connections = 4): Promise<readonly Answer[]> {
    const refused: Answer[] = [];
    await Promise.all(Array.from({ length: connections }, async () => {
      for (;;) {
        const answer = await this.score(service).catch(() => null);
        if (answer !== null && answer.status !== 200) refused.push(answer);
        if (answer?.status !== 200) return;
      }
    }));
    return refused;
  }

  /** Each acknowledged score is there, as it was answered. */
  async assertKept(service: Sending): Promise<void> {
    for (const [session, text] of this.#answers) {
      const { status, headers, body } = await service.send("/v1/score", {
        key: this.#key,
        body: requestOf(session),
      });
      assert.deepEqual([status, headers.get("Idempotency-Replayed")], [200, "true"], session);
      assert.equal(canonicalJson(body), text);
    }
  }
}

function requestOf(session: string) {
  return scoreRequest({ session_id: session });
}

/** 503 with the envelope, and with the time to try again. */
export function assertUnavailable({ status, headers, body }: Answer): void {
  assert.deepEqual([status, body.error.code], [503, "SERVICE_UNAVAILABLE"]);
  assert.match(headers.get("Retry-After") ?? "", /^[1-9]\d*$/);
}

/** Verifies every chain of a data directory whose service has ended. */
export async function assertChainsVerify(data: string): Promise<void> {
  const { publicKey } = signerFromPem(await Deno.readTextFile(`${data}/signing-key.pem`));
  await withDatabaseOf(data, (database) => verifyDatabase(database, { publicKey }));
}

/** The exit code of a service that must end by itself. @throws if it does not end. */
export async function exitCodeOf(service: Pick<RunningService, "status">): Promise<number> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error("the service did not end")), 30_000);
  try {
    return (await Promise.race([service.status, late.promise])).code;
  } finally {
    clearTimeout(timer);
  }
}

/** The log lines with a message. */
export function linesOf(service: Pick<RunningService, "log">, message: string | RegExp) {
  const matches = (text: unknown) =>
    typeof message === "string" ? text === message : message.test(String(text));
  return service.log().filter(({ msg }) => matches(msg));
}
