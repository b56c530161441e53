/**
 * The cost of webhooks for scoring: an organization with ten destinations compared with one without any, in
 * the same program, with deliveries held back and at full speed.
 */
import { DatabaseSync } from "node:sqlite";
import { decisionAt, pastOf } from "../delivering.ts";
import { scoreRequest } from "../harness.ts";
import { createOrganization, until } from "../program.ts";
import { openReceiver } from "../receiver.ts";
import { deliveriesOf, eventually, register, type WebhookProgram, withProgram } from "../webhook_program.ts";
import { type BenchOptions, median, type Ratio, type Row } from "./figures.ts";

const DESTINATIONS = 10;
const CONNECTIONS = 4;
const SCORES = 300;
const ROUNDS = 7;
/** Four fifths of the throughput. */
const HELD_BACK_AT_MOST = 1.25;
/** No goal, only a guard: the receiver and the connections to it share the cores. */
const FULL_SPEED_AT_MOST = 5;

export async function scoringWithWebhooks({ quick }: BenchOptions): Promise<readonly Row[]> {
  const rounds = quick ? 1 : ROUNDS;
  const rows: Row[] = [];
  await withProgram({}, async (program) => {
    const receiver = await openReceiver();
    const plain = { ...program, key: await createOrganization(program.service, program.env, "plain") };
    await program.service.send("/v1/score/batch", { key: plain.key, body: pastOf("operator-1") });
    const ids: string[] = [];
    for (let n = 0; n < DESTINATIONS; n += 1) ids.push((await register(program, receiver)).id);
    const scorer = new Scorer();
    const row = (name: string, { plain, notified, measured, atMost }: Comparison): Ratio => ({
      name,
      baseline: {
        of: `a score over HTTP without webhooks, connections: ${CONNECTIONS}`,
        value: plain,
        unit: "µs",
      },
      measured: { of: measured, value: notified, unit: "µs" },
      goal: { atMost },
    });

    hold(program, true);
    const times = { plain: [] as number[], notified: [] as number[] };
    // Interleaved, so that a busy moment of the machine affects both; the first round warms up.
    for (let round = -1; round < rounds; round += 1) {
      const [baseline, notified] = [await scorer.score(plain), await scorer.score(program)];
      if (round < 0) continue;
      times.plain.push(baseline);
      times.notified.push(notified);
    }
    rows.push(row(`scoring with ${DESTINATIONS} webhooks, delivery held back`, {
      plain: median(times.plain),
      notified: median(times.notified),
      measured:
        `a score whose event waits for ${DESTINATIONS} paused destinations; median of interleaved rounds`,
      atMost: HELD_BACK_AT_MOST,
    }));

    hold(program, false);
    const meanwhile: number[] = [];
    for (let round = 0; round < rounds; round += 1) meanwhile.push(await scorer.score(program));
    rows.push(row(`scoring with ${DESTINATIONS} webhooks, delivery at full speed`, {
      plain: median(times.plain),
      notified: median(meanwhile),
      measured: `a score while what waited, and its own event, is delivered to ${DESTINATIONS} destinations`,
      atMost: FULL_SPEED_AT_MOST,
    }));
    const expected = DESTINATIONS * (2 * rounds + 1) * SCORES;
    const backlog = expected - receiver.arrivals.length;
    const ended = performance.now();
    await until(() => receiver.arrivals.length >= expected);
    const drained = (performance.now() - ended) / 1000;
    console.log(
      `after the load ${backlog} of ${expected} deliveries waited; they drained in ${drained.toFixed(1)} s`,
    );
    for (const id of ids) {
      await eventually(() => deliveriesOf(program, id), ({ webhook }) => webhook.waiting === 0);
    }
    const distinct = new Set(receiver.arrivals.map(({ body }) => body.delivery_id)).size;
    if (distinct !== expected || receiver.arrivals.length !== expected) {
      throw new Error("not every event was delivered once to each destination");
    }
    await receiver.close();
  });
  return rows;
}

interface Comparison {
  /** Microseconds a score. */
  readonly plain: number;
  readonly notified: number;
  readonly measured: string;
  readonly atMost: number;
}

/** Pauses all destinations until after the run, or resumes them, past the service. */
function hold({ directory }: WebhookProgram, held: boolean): void {
  const database = new DatabaseSync(`${directory}/data/jiss.db`, { timeout: 5_000 });
  database.prepare("UPDATE webhook SET paused_at = ?, probe_at = ?, failures = ?").run(
    held ? 1 : null,
    held ? Number.MAX_SAFE_INTEGER : null,
    held ? 1 : 0,
  );
  database.close();
}

class Scorer {
  #sent = 0;

  /** Microseconds for each of {@link SCORES} scores. */
  async score({ service, key }: WebhookProgram): Promise<number> {
    let left = SCORES;
    const connection = async () => {
      while (left > 0) {
        left -= 1;
        this.#sent += 1;
        const body = scoreRequest(
          { session_id: `session-${this.#sent}` },
          { decision: decisionAt(this.#sent) },
        );
        const { status } = await service.send("/v1/score", { key, body });
        if (status !== 200) throw new Error(`a score was answered with ${status}`);
      }
    };
    const started = performance.now();
    await Promise.all(Array.from({ length: CONNECTIONS }, connection));
    return 1000 * (performance.now() - started) / SCORES;
  }
}
