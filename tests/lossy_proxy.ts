/** Stands between the service and a database server, and loses requests or answers on request. */

/**
 * The fate of a request. `lost`: it is carried out and its answer lost. `never`: it does not arrive.
 * `late`: the client sees a broken connection, and the request is carried out afterwards.
 */
export type Fate = "passed" | "lost" | "never" | "late";

export interface LossyProxy {
  readonly url: string;
  /** How many requests had each fate. */
  readonly counts: Readonly<Record<Fate, number>>;
  /** Resolves once late requests were carried out. */
  settled(): Promise<void>;
  close(): Promise<void>;
}

export interface LossyProxyOptions {
  readonly to: string;
  /** The fate of the n-th request that writes, by its text too; reads pass. */
  readonly fate: (write: number, body: string) => Fate;
  /** Runs while the client still waits for an answer that will be lost. */
  readonly beforeLoss?: () => Promise<void>;
  /** How long after its answer a late request is carried out. */
  readonly lateMs?: number;
}

export function openLossyProxy(
  { to, fate, beforeLoss = () => Promise.resolve(), lateMs = 30 }: LossyProxyOptions,
): LossyProxy {
  const counts: Record<Fate, number> = { passed: 0, lost: 0, never: 0, late: 0 };
  const late = new Set<Promise<void>>();
  let writes = 0;
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
    const body = await request.text();
    const { pathname } = new URL(request.url);
    const { method } = request;
    const contentType = request.headers.get("Content-Type") ?? "application/json";
    const forward = () =>
      fetch(to + pathname, {
        method,
        headers: { "Content-Type": contentType },
        ...(body === "" ? {} : { body }),
      });
    const decided = body.includes("BEGIN IMMEDIATE") ? fate(++writes, body) : "passed";
    counts[decided] += 1;
    if (decided === "passed") {
      try {
        const answer = await forward();
        const type = answer.headers.get("Content-Type") ?? "text/plain";
        return new Response(await answer.text(), {
          status: answer.status,
          headers: { "Content-Type": type },
        });
      } catch {
        return broken();
      }
    }
    if (decided === "lost") await (await forward()).text();
    if (decided === "late") {
      const done = new Promise((resolve) => setTimeout(resolve, lateMs))
        .then(async () => {
          await (await forward()).text();
        });
      late.add(done);
      done.finally(() => late.delete(done));
    }
    await beforeLoss();
    return broken();
  });
  return {
    url: `http://127.0.0.1:${server.addr.port}`,
    counts,
    async settled() {
      await Promise.all(late);
    },
    async close() {
      await Promise.all(late);
      await server.shutdown();
    },
  };
}

/** An answer that ends in the middle counts as a broken connection. */
function broken(): Response {
  return new Response(new ReadableStream({ start: (stream) => stream.error(new Error("lost")) }));
}
