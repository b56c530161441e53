/** Scenarios as data: a request, the required answer, and its traces in the database and the log. */
import assert from "node:assert/strict";
import { rowsOf, tablesOf } from "./earlier_schema.ts";
import { type Answer, type Harness, type RequestOptions, scoreRequest } from "./harness.ts";

export interface Scenario {
  readonly name: string;
  readonly path: string;
  readonly request: RequestOptions;
  readonly status: number;
  readonly code: string;
  /** The field that the message or a detail must name, so that the client knows what to change. */
  readonly names: string;
}

/**
 * Runs a refused request and checks that the answer has the envelope, names what to change, and wrote
 * nothing.
 */
export async function refuses(harness: Harness, scenario: Scenario): Promise<void> {
  const before = await harness.rowCounts();
  const answer = await harness.send(scenario.path, scenario.request);
  assert.equal(answer.status, scenario.status, `${scenario.name}: ${answer.text}`);
  const { error } = answer.body;
  assert.deepEqual(Object.keys(answer.body), ["error"], scenario.name);
  assert.equal(error.code, scenario.code, scenario.name);
  assert.equal(error.request_id, answer.headers.get("X-Request-Id"), scenario.name);
  assert.match(error.timestamp, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/, scenario.name);
  const texts = [
    error.message,
    ...(error.details ?? []).map((row: Record<string, string>) => `${row.path} ${row.message}`),
  ];
  assert.ok(
    texts.join("\n").includes(scenario.names),
    `${scenario.name}: ${texts.join("\n")} names ${scenario.names}`,
  );
  assert.doesNotMatch(
    texts.join("\n"),
    /Too (?:small|big)|[<>]=/,
    `${scenario.name}: limits are stated in words`,
  );
  assert.deepEqual(await harness.rowCounts(), before, `${scenario.name}: nothing is written`);
}

/** A refusal without its own ids and times. */
export function refusalOf({ status, headers, body }: Answer) {
  const rest = Object.fromEntries([...headers].filter(([name]) => name !== "x-request-id"));
  const { request_id: _id, timestamp: _at, ...error } = body.error;
  return { status, headers: rest, error };
}

/** Every value of every table and every line of the log, bytes as they are and in hexadecimal. */
export async function storedText({ database, log }: Harness): Promise<string> {
  let text = JSON.stringify(log);
  for (const table of await tablesOf(database)) {
    const rows = await rowsOf(database, `SELECT * FROM ${table}`);
    const values = rows.flatMap((row) => Object.values(row)).flatMap((value) =>
      value instanceof Uint8Array ? [new TextDecoder("latin1").decode(value), value.toHex()] : [value]
    );
    text += JSON.stringify(values);
  }
  return text;
}

/** An event of an organization's audit log, or of the system chain, as it is stored. */
export interface StoredEvent {
  readonly type: string;
  readonly actor: string;
  readonly prefix: string | null;
  readonly at: string;
  readonly detail: Readonly<Record<string, unknown>>;
}

/** The events of a chain and of its later epochs, oldest first, without those that begin a chain. */
export async function storedEvents({ database }: Harness, family: string): Promise<readonly StoredEvent[]> {
  const rows = await rowsOf(
    database,
    `SELECT body, data FROM audit_entry JOIN audit_part USING (chain, seq) JOIN audit_chain USING (chain)
      WHERE family = '${family}' AND name = 'detail' ORDER BY first_position + seq`,
  );
  return rows.map(({ body, data }) => {
    const { event_type, actor, prefix, timestamp } = JSON.parse(String(body));
    return { type: event_type, actor, prefix, at: timestamp, detail: JSON.parse(String(data)) };
  }).filter(({ type }) => type !== "CHAIN_GENESIS");
}

/** An organization's state and key, as its row has them. */
export async function storedOrganization({ database }: Harness, orgId: string) {
  const [row] = await rowsOf(database, `SELECT * FROM organization WHERE org_id = '${orgId}'`);
  return {
    active: row!.active,
    reasons: JSON.parse(String(row!.inactive_reasons)),
    since: JSON.parse(String(row!.inactive_since)),
    prefix: row!.prefix as string | null,
    key_hash: (row!.key_hash as Uint8Array | null)?.toHex() ?? null,
    pepper_id: row!.pepper_id as string | null,
    api_key_version: row!.api_key_version,
    api_key_rotated_at: row!.api_key_rotated_at,
  };
}

let sessions = 0;

/** Whether a key works: the status of a score with it. */
export async function statusWith({ send }: Harness, key: string): Promise<number> {
  const body = scoreRequest({ session_id: `status-${sessions += 1}` });
  return (await send("/v1/score", { key, body })).status;
}

/** An answer without its own id and time. */
export function contentOf({ body: { request_id: _id, timestamp: _at, ...content } }: Answer) {
  return content;
}
