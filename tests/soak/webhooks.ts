/**
 * Whether a receiver is affected by dead ones: many events to one that answers after 50 ms, alone and then
 * beside one that never answers and one that answers 500. With the unchanged program, over real HTTPS.
 */
import { decisionAt } from "../delivering.ts";
import { scoreRequest } from "../harness.ts";
import { openReceiver, type Receiver } from "../receiver.ts";
import { deliveriesOf, eventually, register, type WebhookProgram, withProgram } from "../webhook_program.ts";

const ANSWER_AFTER_MS = 50;
const BATCH = 100;
/** Events after which memory is measured as the level to stay at. */
const SETTLED = 1_000;
/** If nothing arrives for so long, the rest never will. */
const SILENCE_MS = 60_000;

export interface FloodFigures {
  readonly events: number;
  readonly alone_ms: number;
  readonly beside_ms: number;
  /** The time until the last event, beside the others in relation to alone. */
  readonly ratio: number;
  /** Events of the second run that the good receiver never got, and those that it got more than once. */
  readonly missing: number;
  readonly doubled: number;
  readonly resident_mib: { readonly settled: number; readonly most: number };
  readonly memory_ratio: number;
  /** The receiver that never answers, and the one that answers 500. */
  readonly silent: { readonly attempts: number; readonly paused: boolean };
  readonly failing: { readonly attempts: number; readonly paused: boolean };
}

export async function webhookFlood(
  { events, timeoutMs, untilPaused }: {
    readonly events: number;
    readonly timeoutMs: number;
    /** Whether to wait until the dead ones are paused: five minutes. */
    readonly untilPaused: boolean;
  },
): Promise<FloodFigures> {
  let figures: FloodFigures | undefined;
  const env = { JISS_WEBHOOK_BACKOFF_MS: "500,500", JISS_WEBHOOK_TIMEOUT_MS: String(timeoutMs) };
  await withProgram(env, async (program) => {
    const well = await openReceiver(async () => {
      await new Promise((wait) => setTimeout(wait, ANSWER_AFTER_MS));
      return new Response(null, { status: 204 });
    });
    const released = Promise.withResolvers<Response>();
    const silent = await openReceiver(() => released.promise);
    const failing = await openReceiver(() => new Response(null, { status: 500 }));
    const memory = new Memory(program.service.pid);

    await register(program, well);
    const alone = await flood(program, well, { run: "alone", events, memory });
    const dead = { silent: await register(program, silent), failing: await register(program, failing) };
    const beside = await flood(program, well, { run: "beside", events, memory });
    const isPaused = async (id: string) =>
      (await deliveriesOf(program, id, "?limit=1")).webhook.paused_since !== null;
    if (untilPaused) {
      for (const { id } of Object.values(dead)) await eventually(() => isPaused(id), (paused) => paused);
    }
    memory.stop();
    const got = well.arrivals.map(({ body }) => body.session_id as string)
      .filter((session) => session.startsWith("beside"));
    const { settled, most } = memory;
    figures = {
      events,
      alone_ms: Math.round(alone),
      beside_ms: Math.round(beside),
      ratio: beside / alone,
      missing: events - new Set(got).size,
      doubled: got.length - new Set(got).size,
      resident_mib: { settled: Math.round(settled), most: Math.round(most) },
      memory_ratio: most / settled,
      silent: { attempts: silent.arrivals.length, paused: await isPaused(dead.silent.id) },
      failing: { attempts: failing.arrivals.length, paused: await isPaused(dead.failing.id) },
    };
    released.resolve(new Response());
    for (const receiver of [well, silent, failing]) await receiver.close();
  });
  return figures!;
}

/** Scores `count` interactions; resolves to the milliseconds until the receiver has the last of them. */
async function flood(
  { service, key }: WebhookProgram,
  receiver: Receiver,
  { run, events, memory }: { readonly run: string; readonly events: number; readonly memory: Memory },
): Promise<number> {
  const { interaction } = scoreRequest();
  const started = performance.now();
  const arrivals = receiver.arrivals.length;
  for (let first = 0; first < events; first += BATCH) {
    const interactions = Array.from(
      { length: Math.min(BATCH, events - first) },
      (_, index) => ({
        ...interaction,
        session_id: `${run}-${first + index}`,
        decision: decisionAt(first + index),
      }),
    );
    const body = { operator_id: "operator-1", domain: "general", interactions };
    const { status } = await service.send("/v1/score/batch", { key, body });
    if (status !== 200) throw new Error(`a batch was answered with ${status}`);
    if (receiver.arrivals.length >= SETTLED) memory.settle();
  }
  let last = { count: receiver.arrivals.length, at: performance.now() };
  while (receiver.arrivals.length < arrivals + events) {
    if (receiver.arrivals.length > last.count) {
      last = { count: receiver.arrivals.length, at: performance.now() };
    } else if (performance.now() - last.at > SILENCE_MS) {
      throw new Error(`${run}: ${last.count - arrivals} of ${events} events arrived, then none for a minute`);
    }
    if (receiver.arrivals.length >= SETTLED) memory.settle();
    await new Promise((wait) => setTimeout(wait, 5));
  }
  return performance.now() - started;
}

/** The program's memory, MiB: once a thousand events are delivered, and at most. */
class Memory {
  settled = Infinity;
  most = 0;
  readonly #timer: ReturnType<typeof setInterval>;

  constructor(private readonly pid: number) {
    this.#timer = setInterval(() => {
      if (this.settled !== Infinity) this.most = Math.max(this.most, this.#resident());
    }, 250);
  }

  settle(): void {
    if (this.settled === Infinity) this.settled = this.#resident();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #resident(): number {
    const status = Deno.readTextFileSync(`/proc/${this.pid}/status`);
    return Number(/^VmRSS:\s+([0-9]+) kB$/m.exec(status)![1]) / 1024;
  }
}
