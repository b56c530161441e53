/** The short form of `task soak slow_connections`, with time-outs of seconds. */
import assert from "node:assert/strict";
import { slowConnections } from "../soak/slow_connections.ts";

Deno.test("1,500 clients that send nothing or a byte at a time, and reconnect if closed, spoil none of a good client's answers", async () => {
  const figures = await slowConnections({
    connections: 1_500,
    requests: 200,
    seconds: 10,
    aloneSeconds: 2,
    main: "tests/hasty_program.ts",
  });
  const { requests, wrong, closed, came_again, open_at_once } = figures;
  assert.deepEqual([requests, wrong], [400, 0], JSON.stringify(figures));
  assert.ok(open_at_once >= 1_400, JSON.stringify(figures));
  // All were closed for their own slowness, none to make room.
  assert.ok(closed.no_request >= 1_000 && closed.silent >= 500, JSON.stringify(figures));
  assert.equal(closed.crowded, 0);
  assert.ok(came_again >= 1_500, JSON.stringify(figures));
});
