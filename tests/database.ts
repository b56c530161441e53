/**
 * The database of a test: embedded, or a libSQL server of its own if `JISS_TEST_BACKEND` is `sqld`, so that
 * the same tests run on both.
 */
import { randomUUID } from "node:crypto";
import { statfsSync } from "node:fs";
import type { Database } from "../src/store/database.ts";
import { openEmbedded } from "../src/store/embedded.ts";
import { openLibsql } from "../src/store/libsql.ts";
import { setDurability, type Sqld, startSqld } from "./sqld.ts";

export const IS_SERVER = Deno.env.get("JISS_TEST_BACKEND") === "sqld";

/** A file system in memory: what no test kills or cuts off needs no disk, and runs in a third less time. */
const MEMORY = "/dev/shm";
const MEMORY_NEEDED = 2 ** 30;

function hasMemory(): boolean {
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    return bavail * bsize >= MEMORY_NEEDED;
  } catch {
    return false;
  }
}

/** A new directory in memory if there is enough, for files that need no disk. */
export function makeQuickDir(prefix: string): Promise<string> {
  return Deno.makeTempDir({ prefix, ...(hasMemory() ? { dir: MEMORY } : {}) });
}

/** A test of the embedded database's own files. */
export function embeddedTest(name: string, test: () => Promise<void>): void {
  Deno.test({
    name: IS_SERVER ? `${name} [needs the embedded database's file]` : name,
    ignore: IS_SERVER,
    fn: test,
  });
}

/** Copies a database that is closed. */
export async function copyDatabase(from: string, to: string): Promise<void> {
  if (!IS_SERVER) return await Deno.copyFile(from, to);
  await Deno.remove(`${to}.sqld`, { recursive: true }).catch(() => {});
  await copyFolder(`${from}.sqld`, `${to}.sqld`);
}

export async function copyFolder(from: string, to: string): Promise<void> {
  await Deno.mkdir(to);
  for await (const { name, isDirectory } of Deno.readDir(from)) {
    await (isDirectory ? copyFolder : Deno.copyFile)(`${from}/${name}`, `${to}/${name}`);
  }
}

/** A database in memory, or in files that are kept; with a server, beside that path. */
export async function openTestDatabase(path: string): Promise<Database> {
  if (!IS_SERVER) return openEmbedded({ path, onFatal: () => {} });
  const isKept = path !== ":memory:";
  const directory = isKept ? `${path}.sqld` : await makeQuickDir("jiss-sqld-");
  const sqld = await startSqld({ directory });
  await setDurability(sqld, "strong");
  const database = openServer(sqld);
  return {
    ...database,
    async close() {
      await database.close();
      await sqld.stop();
      if (!isKept) await Deno.remove(directory, { recursive: true });
    },
  };
}

/** A client of a server of any durability. */
export function openServer(sqld: Pick<Sqld, "url" | "adminUrl">): Database {
  return openLibsql({
    url: sqld.url,
    authToken: null,
    fetch,
    newId: () => randomUUID(),
    time: {
      monotonic: () => performance.now(),
      wait: (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds)),
    },
    strengthen: () => setDurability(sqld, "strong"),
    onTrouble() {},
  });
}
