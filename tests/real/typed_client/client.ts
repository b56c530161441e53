/** A caller that knows nothing but the OpenAPI document: compiled under strict, then run against the service. */
import createClient from "openapi-fetch";
import type { paths } from "./schema.ts";

const [baseUrl, apiKey] = Deno.args as [string, string];
const client = createClient<paths>({ baseUrl, headers: { "X-API-Key": apiKey } });

const { data, error } = await client.POST("/v1/score", {
  params: { query: { mode: "full", role_tier: "tier_2" } },
  body: {
    session_id: "typed-client",
    operator_id: "reviewer-ada",
    domain: "financial",
    interaction: { time_to_decision_ms: 14200, decision: "modified", modification_extent: 0.4 },
  },
});
if (error !== undefined) throw new Error(`${error.error.code}: ${error.error.message}`);
if ("skipped" in data) throw new Error(data.reason);
const jis: number = data.jis;
const band: "exemplary" | "proficient" | "adequate" | "at_risk" = data.band;
console.log(JSON.stringify({ jis, band, tier: data.role_tier, hash: data.evidence.entry_hash }));

const refused = await client.POST("/v1/score", {
  // @ts-expect-error the document lists the allowed decisions
  body: { operator_id: "o", domain: "general", time_to_decision_ms: 1, decision: "approved" },
});
if (refused.error?.error.code !== "VALIDATION_FAILED") throw new Error("a bad decision was accepted");
