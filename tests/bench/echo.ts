/** The baseline of a request: Hono on Deno.serve, which parses the body and sends it back. */
import { Hono } from "hono";

const app = new Hono();
app.post("/v1/score", async (context) => context.json(await context.req.json()));
const { addr } = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, app.fetch);
console.log(`http://127.0.0.1:${addr.port}`);
