/**
 * 1,500 slow clients beside a good one: a third sends nothing, a third a head byte by byte, a third a body
 * byte by byte. A client that the service closes reconnects, so that their number stays the same.
 */
import { scoreRequest } from "../harness.ts";
import { createOrganization, freshDeployment, type RunningService, startService } from "../program.ts";
import { SlowClients } from "./slow_clients.ts";

export interface SlowConnectionOptions {
  readonly connections: number;
  /** Requests of the good client, alone and again beside the slow ones. With many, 99 of 100 miss their bursts. */
  readonly requests: number;
  /** How long they stay, and how long the good client runs alone before. */
  readonly seconds: number;
  readonly aloneSeconds: number;
  /** The program's file, if it has other time-outs than the release: see `hasty_program.ts`. */
  readonly main?: string;
}

export interface SlowConnectionFigures {
  readonly requests: number;
  /** Answers to the good client that were not the right one. */
  readonly wrong: number;
  /** Slow connections that the service closed, by its own count of reasons. */
  readonly closed: Readonly<Record<"no_request" | "silent" | "crowded", number>>;
  /** Slow connections that found themselves closed. */
  readonly came_again: number;
  readonly open_at_once: number;
  readonly p99_ms: { readonly alone: number; readonly beside: number };
  readonly p99_ratio: number;
}

/**
 * The same interaction for another operator each time, on a connection of its own: all answers are the same.
 */
async function ask(
  service: RunningService,
  { key, name, client }: { readonly key: string; readonly name: string; readonly client: Deno.HttpClient },
): Promise<{ readonly text: string; readonly milliseconds: number }> {
  const started = performance.now();
  const body = scoreRequest({ session_id: name, operator_id: name });
  try {
    const response = await fetch(`${service.url}/v1/score`, {
      method: "POST",
      headers: { "X-API-Key": key, "Content-Type": "application/json" },
      body: JSON.stringify(body),
      client,
    });
    const { session_id, jis, band, dimensions } = await response.json();
    const isOwn = session_id === name;
    return {
      text: JSON.stringify({ status: response.status, isOwn, jis, band, dimensions }),
      milliseconds: performance.now() - started,
    };
  } catch (error) {
    return { text: String(error), milliseconds: performance.now() - started };
  }
}

function wait(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

async function metricsOf(service: RunningService): Promise<(name: string) => number> {
  const { metrics_url: url } = service.log().find(({ msg }) => msg === "listening")!;
  const text = await (await fetch(`${url}/metrics`)).text();
  return (name) => Number(text.split("\n").find((line) => line.startsWith(`${name} `))!.split(" ")[1]);
}

export async function slowConnections(
  { connections, requests, seconds, aloneSeconds, main }: SlowConnectionOptions,
): Promise<SlowConnectionFigures> {
  const deployment = await freshDeployment();
  const env = { ...deployment.env, JISS_METRICS_ADDR: "127.0.0.1:0" };
  const service = await startService(["serve"], { env, ...(main === undefined ? {} : { main }) });
  const key = await createOrganization(service, env);
  using client = Deno.createHttpClient({ poolMaxIdlePerHost: 0 });
  const series = async (name: string, restMs: number) => {
    const answers: { readonly text: string; readonly milliseconds: number }[] = [];
    for (let count = 0; count < requests; count += 1) {
      answers.push(await ask(service, { key, name: `${name}-${count}`, client }));
      await wait(Math.max(0, restMs - answers.at(-1)!.milliseconds));
    }
    return answers;
  };
  const right = await ask(service, { key, name: "first", client });
  const alone = await series("alone", aloneSeconds * 1_000 / requests);

  const { hostname, port } = new URL(service.url);
  const slow = new SlowClients();
  slow.begin({
    hostname,
    port: Number(port),
    connections,
    kinds: [
      { beginning: "", trickle: "" },
      { beginning: "POST /v1/score HTTP/1.1\r\nHost: x\r\nX-Slow: ", trickle: "x" },
      {
        beginning:
          `POST /v1/score HTTP/1.1\r\nHost: x\r\nX-API-Key: ${key}\r\nContent-Length: 900\r\n\r\n{"session_id":"`,
        trickle: "x",
      },
    ],
  });
  const besides = series("beside", seconds * 1_000 / requests);
  let openAtOnce = 0;
  let isAnswered = false;
  besides.finally(() => isAnswered = true);
  while (!isAnswered) {
    openAtOnce = Math.max(openAtOnce, (await metricsOf(service))("jiss_connections_open"));
    await Promise.race([besides, wait(1_000)]);
  }
  const beside = await besides;
  const { cameAgain } = await slow.end();

  const count = await metricsOf(service);
  const closed = (cause: string) => count(`jiss_connections_closed_total{cause="${cause}"}`);
  const figures = {
    requests: alone.length + beside.length,
    wrong: [...alone, ...beside].filter(({ text }) => text !== right.text).length,
    closed: { no_request: closed("no_request"), silent: closed("silent"), crowded: closed("crowded") },
    came_again: cameAgain,
    open_at_once: openAtOnce,
    p99_ms: { alone: percentile99(alone), beside: percentile99(beside) },
  };
  const code = await service.stop();
  await deployment.remove();
  if (code !== 0 || !right.text.startsWith('{"status":200,"isOwn":true')) {
    throw new Error(`${code} ${right.text} ${service.errors()}`);
  }
  return { ...figures, p99_ratio: Math.round(figures.p99_ms.beside / figures.p99_ms.alone * 100) / 100 };
}

function percentile99(answers: readonly { readonly milliseconds: number }[]): number {
  const sorted = answers.map(({ milliseconds }) => milliseconds).sort((a, b) => a - b);
  return Math.round(sorted[Math.ceil(sorted.length * 0.99) - 1]! * 10) / 10;
}
