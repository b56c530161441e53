/** Cross-origin calls: registered origins only, never by wildcard. */
import assert from "node:assert/strict";
import { scoreRequest, withHarness } from "../harness.ts";

const ORIGIN = "https://review.acme.example";

const preflight = { "Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "x-api-key" };

Deno.test(
  "a preflight from a registered origin is granted, from any other it is 403 without Access-Control-Allow-Origin",
  withHarness(async ({ send, organization }) => {
    await organization("acme", { allowed_origins: [ORIGIN] });
    const ask = (origin: string) =>
      send("/v1/score", { method: "OPTIONS", headers: { Origin: origin, ...preflight } });
    const granted = await ask(ORIGIN);
    assert.equal(granted.status, 204);
    assert.equal(granted.headers.get("Access-Control-Allow-Origin"), ORIGIN);
    assert.equal(granted.headers.get("Access-Control-Allow-Methods"), "POST");
    assert.match(granted.headers.get("Access-Control-Allow-Headers")!, /X-API-Key, Idempotency-Key/);
    assert.equal(granted.headers.get("Vary"), "Origin");
    for (
      const origin of ["https://evil.example", "http://review.acme.example", "null", "*", `${ORIGIN}:8443`]
    ) {
      const refused = await ask(origin);
      assert.deepEqual([refused.status, refused.body.error.code], [403, "ORIGIN_NOT_ALLOWED"], origin);
      assert.equal(refused.headers.get("Access-Control-Allow-Origin"), null);
    }
  }),
);

Deno.test(
  "an answer is readable only from the authenticated organization's own origins, errors included",
  withHarness(async ({ send, organization }) => {
    const key = await organization("acme", { allowed_origins: [ORIGIN] });
    const other = await organization("other");
    const from = (apiKey: string, origin: string, body: unknown) =>
      send("/v1/score", { key: apiKey, headers: { Origin: origin }, body });
    const read = await from(key, ORIGIN, scoreRequest());
    assert.equal(read.status, 200);
    assert.equal(read.headers.get("Access-Control-Allow-Origin"), ORIGIN);
    assert.match(read.headers.get("Access-Control-Expose-Headers")!, /X-Request-Id/);
    assert.equal(read.headers.get("Vary"), "Origin");
    assert.equal((await from(key, ORIGIN, {})).headers.get("Access-Control-Allow-Origin"), ORIGIN);
    assert.equal(
      (await from(key, "https://evil.example", scoreRequest())).headers.get("Access-Control-Allow-Origin"),
      null,
    );
    assert.equal(
      (await from(other, ORIGIN, scoreRequest())).headers.get("Access-Control-Allow-Origin"),
      null,
      "the origin is registered by another organization",
    );
    assert.equal((await from("jis_bad", ORIGIN, {})).headers.get("Access-Control-Allow-Origin"), null);
  }),
);

Deno.test(
  "OPTIONS that is not a preflight is 405, and a preflight for an unknown path is 404",
  withHarness(async ({ send }) => {
    assert.equal((await send("/v1/score", { method: "OPTIONS" })).status, 405);
    const unknown = await send("/nowhere", { method: "OPTIONS", headers: { Origin: ORIGIN, ...preflight } });
    assert.equal(unknown.status, 404);
  }),
);
