/** The short form of `task soak fuzz_api`. */
import assert from "node:assert/strict";
import { IS_SERVER } from "../database.ts";
import { tableText } from "../fuzzing/route_table.ts";
import { opensslIsMissing } from "../receiver.ts";
import { apiFuzzFaults, fuzzApi } from "../soak/fuzz_api.ts";

/**
 * A server takes longer for each request. The route that needs most from the lanes before it is answered well about 30 times
 * in 9,000 requests, and how often depends on which lane comes first.
 */
const [REQUESTS, LEAST_OK] = IS_SERVER ? [2_800, 5] : [9_000, 12];

Deno.test({
  name:
    `${REQUESTS} requests made from the OpenAPI document reach every route; each answer matches the document, is in the log, and is no 5xx [needs openssl]`,
  ignore: opensslIsMissing(),
  async fn() {
    const figures = await fuzzApi({ requests: REQUESTS, seed: 20_261_122 });
    const faults = apiFuzzFaults(figures, LEAST_OK);
    assert.ok(faults.length === 0, `${faults.join("\n")}\n\n${tableText(figures.table)}`);
    assert.ok(figures.requests >= REQUESTS);
  },
});
