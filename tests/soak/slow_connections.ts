/**
 * 1,500 slow clients beside a good one: a third sends nothing, a third a head byte by byte, a third a body so. Whoever the
 * service closes comes again, so that they are always as many.
 */
import { scoreRequest } from "../harness.ts";
import { createOrganization, freshDeployment, type RunningService, startService } from "../program.ts";

const TRICKLE_MS = 1_000;
const REQUESTS = 200;

export interface SlowConnectionOptions {
  readonly connections: number;
  /** How long they stay, and how long the good client is alone before. */
  readonly seconds: number;
  readonly aloneSeconds: number;
  /** The program's file, where it waits for clients for another time than the release: see `hasty_program.ts`. */
  readonly main?: string;
}

export interface SlowConnectionFigures {
  readonly requests: number;
  /** Answers to the good client that were not the right one. */
  readonly wrong: number;
  /** Slow connections that were closed by the service, by its own count of why. */
  readonly closed: Readonly<Record<"no_request" | "silent" | "crowded", number>>;
  /** Slow connections that found themselves closed. */
  readonly came_again: number;
  readonly open_at_once: number;
  readonly p99_ms: { readonly alone: number; readonly beside: number };
  readonly p99_ratio: number;
}

/** The same interaction of another operator each time, on a connection of its own: each answer says the same. */
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

/** A client that is slow until it is told to end, and comes again whenever it is closed. */
async function slowClient(
  { hostname, port }: { readonly hostname: string; readonly port: number },
  { beginning, trickle, isOver, onClosed }: {
    readonly beginning: string;
    /** Sent again and again, a little later each time; empty: nothing. */
    readonly trickle: string;
    readonly isOver: () => boolean;
    readonly onClosed: () => void;
  },
): Promise<void> {
  const encoder = new TextEncoder();
  while (!isOver()) {
    const connection = await Deno.connect({ hostname, port }).catch(() => null);
    if (connection === null) {
      await wait(TRICKLE_MS);
      continue;
    }
    let isClosed = false;
    const gone = drained(connection).then(() => isClosed = true);
    await connection.write(encoder.encode(beginning)).catch(() => {});
    while (!isClosed && !isOver()) {
      await Promise.race([gone, wait(TRICKLE_MS)]);
      if (trickle !== "") await connection.write(encoder.encode(trickle)).catch(() => {});
    }
    if (isClosed) onClosed();
    connection.close();
    await gone;
  }
}

/** Resolves once nothing more comes. */
async function drained(connection: Deno.Conn): Promise<void> {
  const piece = new Uint8Array(4_096);
  while (await connection.read(piece).catch(() => null) !== null) { /* What it is told when it is closed. */ }
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
  { connections, seconds, aloneSeconds, main }: SlowConnectionOptions,
): Promise<SlowConnectionFigures> {
  const deployment = await freshDeployment();
  const env = { ...deployment.env, JISS_METRICS_ADDR: "127.0.0.1:0" };
  const service = await startService(["serve"], { env, ...(main === undefined ? {} : { main }) });
  const key = await createOrganization(service, env);
  using client = Deno.createHttpClient({ poolMaxIdlePerHost: 0 });
  const series = async (name: string, restMs: number) => {
    const answers: { readonly text: string; readonly milliseconds: number }[] = [];
    for (let count = 0; count < REQUESTS; count += 1) {
      answers.push(await ask(service, { key, name: `${name}-${count}`, client }));
      await wait(Math.max(0, restMs - answers.at(-1)!.milliseconds));
    }
    return answers;
  };
  const right = await ask(service, { key, name: "first", client });
  const alone = await series("alone", aloneSeconds * 1_000 / REQUESTS);

  let isOver = false;
  let cameAgain = 0;
  const { hostname, port } = new URL(service.url);
  const kinds = [
    ["", ""],
    ["POST /v1/score HTTP/1.1\r\nHost: x\r\nX-Slow: ", "x"],
    [
      `POST /v1/score HTTP/1.1\r\nHost: x\r\nX-API-Key: ${key}\r\nContent-Length: 900\r\n\r\n{"session_id":"`,
      "x",
    ],
  ] as const;
  const slow = Array.from({ length: connections }, (_, index) => {
    const [beginning, trickle] = kinds[index % kinds.length]!;
    return slowClient({ hostname, port: Number(port) }, {
      beginning,
      trickle,
      isOver: () => isOver,
      onClosed: () => cameAgain += 1,
    });
  });
  const besides = series("beside", seconds * 1_000 / REQUESTS);
  let openAtOnce = 0;
  let isAnswered = false;
  besides.finally(() => isAnswered = true);
  while (!isAnswered) {
    openAtOnce = Math.max(openAtOnce, (await metricsOf(service))("jiss_connections_open"));
    await Promise.race([besides, wait(1_000)]);
  }
  const beside = await besides;
  isOver = true;
  await Promise.all(slow);

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
