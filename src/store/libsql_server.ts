/**
 * Checks a libSQL server before anything is written to it. It must be the primary, whose answers are never
 * behind, and of durability `strong`, so that a commit is on the disk before it is answered.
 * Source: contract, section 6; platform facts, libSQL server.
 */
import { openHttp, parseLibsqlUrl, ResponseError, type Stream } from "@libsql/hrana-client";
import { sql } from "kysely";
import * as z from "zod";
import { reasonOf } from "../domain/errors.ts";
import { type Database, DatabaseUnavailable, query } from "./database.ts";
import { isFinal, isRefused, type LibsqlOptions, SYNCHRONOUS_FULL, WRITE_SESSION_TABLE } from "./libsql.ts";

/** The server cannot be used as it is; the message says why. */
export class UnfitServer extends Error {
  override readonly name = "UnfitServer";
}

type Server = Pick<LibsqlOptions, "url" | "authToken" | "fetch" | "newId">;

/**
 * Checks whether the server is fit to be written to, and sets its durability if it can.
 * @throws {UnfitServer} with what must be mended; {DatabaseUnavailable} if the reason may pass by itself.
 */
export async function requireFitServer(
  server: Server,
  { adminUrl }: {
    /** Address of the server's admin API; null if the durability is only checked and not set. */
    readonly adminUrl: string | null;
  },
): Promise<void> {
  await onStream(server, requirePrimary);
  const before = await onStream(server, durabilityOf);
  if (before.isStrong) return;
  if (adminUrl !== null) {
    await strengthen(server, adminUrl);
    if ((await onStream(server, durabilityOf)).isStrong) return;
  }
  throw new UnfitServer(
    `JISS_DATABASE_URL names a namespace (${before.namespace}) that does not sync what it confirms to the disk: set its durability_mode to strong over the server's admin API, or set JISS_DATABASE_ADMIN_URL to that API, so that the start sets it`,
  );
}

async function onStream<Result>(
  { url, authToken, fetch, newId }: Server,
  use: (stream: Stream, newId: () => string) => Promise<Result>,
): Promise<Result> {
  const client = openHttp(parseLibsqlUrl(url).hranaHttpUrl!, authToken ?? undefined, fetch);
  const stream = client.openStream();
  try {
    return await use(stream, newId);
  } catch (error) {
    if (error instanceof UnfitServer) throw error;
    const isRefusal = isRefused(error) || (error instanceof ResponseError && isFinal(error.code));
    const reason = `JISS_DATABASE_URL cannot be used (${reasonOf(error)})`;
    throw isRefusal
      ? new UnfitServer(`${reason}: check the address, its namespace, and JISS_DATABASE_AUTH_TOKEN`)
      : new DatabaseUnavailable(`${reason}: check the address, and that the server runs and takes writes`);
  } finally {
    stream.close();
    client.close();
  }
}

/**
 * Requires the primary. A replica forwards writes and answers reads itself, behind the primary: outside of a
 * transaction its own connection has changed no rows.
 */
async function requirePrimary(stream: Stream, newId: () => string): Promise<void> {
  const session = newId();
  await stream.run(WRITE_SESSION_TABLE);
  await stream.run([`INSERT INTO write_session (session, batch, used_at) VALUES (?, '', unixepoch())`, [
    session,
  ]]);
  const { value: changes } = await stream.queryValue("SELECT changes()");
  await stream.run([`DELETE FROM write_session WHERE session = ?`, [session]]);
  if (changes === 1) return;
  throw new UnfitServer(
    "JISS_DATABASE_URL names a read replica, whose answers can be out of date: name the primary, so that a revoked key fails everywhere at once",
  );
}

async function durabilityOf(
  stream: Stream,
): Promise<{ readonly isStrong: boolean; readonly namespace: string }> {
  const { value: synchronous } = await stream.queryValue("PRAGMA synchronous");
  const { value: namespace } = await stream.queryValue("SELECT libsql_server_database_name()");
  return { isStrong: Number(synchronous) >= SYNCHRONOUS_FULL, namespace: String(namespace) };
}

/** Whether a server syncs what it confirms, asked over a database of it. */
export async function syncsCommits(database: Database): Promise<boolean> {
  const [row] = await database.read(sql<{ synchronous: number }>`PRAGMA synchronous`.compile(query));
  return Number(row!.synchronous) >= SYNCHRONOUS_FULL;
}

/**
 * Sets the durability of the namespace. The API replaces its whole configuration, so the rest of it is sent
 * back unchanged.
 * @throws like {@link requireFitServer}.
 */
export async function strengthen(server: Server, adminUrl: string): Promise<void> {
  const { namespace } = await onStream(server, durabilityOf);
  const address = `${adminUrl}/v1/namespaces/${encodeURIComponent(namespace)}/config`;
  const failureText = `JISS_DATABASE_ADMIN_URL could not set the durability of the namespace ${namespace}`;
  const request = async (method: "GET" | "POST", body?: string) => {
    const headers = { "Content-Type": "application/json" };
    const answer = await server.fetch(address, { method, headers, ...(body === undefined ? {} : { body }) })
      .catch((error) => {
        throw new DatabaseUnavailable(
          `${failureText} (${reasonOf(error)}): check the address, and that the server runs`,
        );
      });
    const text = await answer.text();
    if (answer.ok) return text;
    const message = `${failureText} (${method} answered ${answer.status})`;
    throw answer.status >= 500 ? new DatabaseUnavailable(message) : new UnfitServer(message);
  };
  const configuration = configurationOf(await request("GET"));
  if (configuration === null) throw new UnfitServer(`${failureText} (GET answered no configuration)`);
  await request("POST", JSON.stringify({ ...configuration, durability_mode: "strong" }));
}

function configurationOf(text: string): Record<string, unknown> | null {
  try {
    return z.record(z.string(), z.unknown()).parse(JSON.parse(text));
  } catch {
    return null;
  }
}
