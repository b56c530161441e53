/** The baseline of a start and of memory at rest: the smallest server. */
Deno.serve({ hostname: "127.0.0.1", port: Number(Deno.args[0]), onListen() {} }, () => new Response("ok"));
