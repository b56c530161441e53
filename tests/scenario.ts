/** Scenarios as data: a request, the answer that it must get, and whether anything may be written. */
import assert from "node:assert/strict";
import type { Harness, RequestOptions } from "./harness.ts";

export interface Scenario {
  readonly name: string;
  readonly path: string;
  readonly request: RequestOptions;
  readonly status: number;
  readonly code: string;
  /** What the message or a detail must name, so that the caller knows what to change. */
  readonly names: string;
}

/** Runs a refusal and checks that it is in the envelope, names what to change, and wrote nothing. */
export async function refuses(harness: Harness, scenario: Scenario): Promise<void> {
  const before = await harness.rowCounts();
  const answer = await harness.send(scenario.path, scenario.request);
  assert.equal(answer.status, scenario.status, `${scenario.name}: ${answer.text}`);
  const { error } = answer.body;
  assert.deepEqual(Object.keys(answer.body), ["error"], scenario.name);
  assert.equal(error.code, scenario.code, scenario.name);
  assert.equal(error.request_id, answer.headers.get("X-Request-Id"), scenario.name);
  assert.match(error.timestamp, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/, scenario.name);
  const told = [
    error.message,
    ...(error.details ?? []).map((row: Record<string, string>) => `${row.path} ${row.message}`),
  ];
  assert.ok(
    told.join("\n").includes(scenario.names),
    `${scenario.name}: ${told.join("\n")} names ${scenario.names}`,
  );
  assert.deepEqual(await harness.rowCounts(), before, `${scenario.name}: nothing is written`);
}
