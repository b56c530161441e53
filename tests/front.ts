/** Stands between the service and a database server, and answers in its place on request. */

export interface Front {
  readonly url: string;
  /** How many came. */
  readonly requests: number;
  /** Instead of the server, or undefined; null: all pass. */
  answer: ((request: number) => Response | Promise<Response> | undefined) | null;
  close(): Promise<void>;
}

export function openFront(to: string): Front {
  let requests = 0;
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
    requests += 1;
    const own = await front.answer?.(requests);
    if (own !== undefined) {
      await request.body?.cancel();
      return own;
    }
    const { pathname } = new URL(request.url);
    const { method, headers } = request;
    const body = method === "GET" ? {} : { body: await request.bytes() };
    const answer = await fetch(to + pathname, { method, headers, ...body }).catch(() => null);
    if (answer === null) return new Response("the server is away", { status: 502 });
    const type = answer.headers.get("Content-Type") ?? "text/plain";
    return new Response(await answer.bytes(), { status: answer.status, headers: { "Content-Type": type } });
  });
  const front: Front = {
    url: `http://127.0.0.1:${server.addr.port}`,
    get requests() {
      return requests;
    },
    answer: null,
    close: () => server.shutdown(),
  };
  return front;
}
