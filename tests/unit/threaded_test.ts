/** The embedded backend with its writes on a thread. */
import assert from "node:assert/strict";
import { type Database, WriteConflict } from "../../src/store/database.ts";
import type { ThreadAnswer } from "../../src/store/storage_thread.ts";
import { openThreaded } from "../../src/store/threaded.ts";
import { rowsOf } from "../earlier_schema.ts";

const startThread = () =>
  new Worker(import.meta.resolve("../../src/store/storage_thread.ts"), { type: "module" });

const statement = (sql: string, ...parameters: unknown[]) => ({ sql, parameters });

async function withDirectory(test: (path: string) => Promise<void>): Promise<void> {
  const directory = await Deno.makeTempDir({ prefix: "jiss-test-" });
  try {
    await test(`${directory}/jiss.db`);
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}

async function ids(database: Database): Promise<readonly number[]> {
  return (await rowsOf(database, "SELECT id FROM t ORDER BY id")).map(({ id }) => Number(id));
}

Deno.test("with any number of different statements each batch is written as it was sent", () =>
  withDirectory(async (path) => {
    const { database } = await openThreaded({
      path,
      onFatal: assert.ifError,
      onPassing: assert.ifError,
      startThread,
    });
    await database.batch([statement("CREATE TABLE t (id INTEGER PRIMARY KEY) STRICT")]);
    const batches = 24;
    const texts = 1_000;
    const usual = (id: number) => statement("INSERT INTO t VALUES (?)", id);
    const written: Promise<void>[] = [];
    for (let batch = 0; batch < batches; batch += 1) {
      const first = batch * (texts + 1);
      const once = Array.from(
        { length: texts },
        (_, index) => statement(`INSERT INTO t VALUES (${first + index})`),
      );
      written.push(database.batch([...once, usual(first + texts)]));
    }
    await Promise.all(written);
    assert.deepEqual(await ids(database), Array.from({ length: batches * (texts + 1) }, (_, id) => id));
    await assert.rejects(database.batch([usual(-1), usual(0)]), WriteConflict);
    await assert.rejects(
      database.batch([statement("INSERT INTO t VALUES (?)", () => {})]),
      /could not be cloned/,
    );
    await database.batch([usual(-2)]);
    assert.deepEqual((await ids(database)).slice(0, 2), [-2, 0]);
    await database.close();
  }));

/** Files below a path that this process has open. */
function openFiles(path: string): readonly string[] {
  return [...Deno.readDirSync("/proc/self/fd")].flatMap(({ name }) => {
    try {
      const file = Deno.readLinkSync(`/proc/self/fd/${name}`);
      return file.startsWith(path) ? [file] : [];
    } catch {
      return [];
    }
  });
}

Deno.test({
  name: "if no thread can be started no file stays open",
  ignore: Deno.build.os !== "linux",
  fn: () =>
    withDirectory(async (path) => {
      const failing = () => {
        assert.ok(openFiles(path).length > 0);
        throw new Error("no thread");
      };
      await assert.rejects(
        openThreaded({ path, onFatal: assert.ifError, onPassing: assert.ifError, startThread: failing }),
        /no thread/,
      );
      assert.deepEqual(openFiles(path), []);
    }),
});

Deno.test("a storage failure is reported once, in whatever form it shows", () =>
  withDirectory(async (path) => {
    const failures: unknown[] = [];
    const thread = {
      onmessage: (_: { readonly data: ThreadAnswer }) => {},
      onerror: (_: Partial<ErrorEvent>) => {},
      postMessage({ id }: { readonly id: number }) {
        queueMicrotask(() => thread.onmessage({ data: { id, expunged: null } }));
      },
      terminate() {},
    };
    const { database } = await openThreaded({
      path,
      onFatal: (error) => failures.push(String(error)),
      onPassing: assert.ifError,
      startThread: () => thread as unknown as Worker,
    });
    thread.onmessage({ data: { fatal: "disk I/O error", fault: "failed" } });
    thread.onmessage({ data: { fatal: "disk I/O error", fault: "failed" } });
    thread.onerror({ preventDefault() {}, message: "it ended" });
    assert.deepEqual(failures, ["StorageFailure: disk I/O error"]);
    await assert.rejects(database.batch([statement("SELECT 1")]), /the thread that writes ended: it ended/);
    await assert.rejects(database.close(), /the thread that writes ended: it ended/);
    if (Deno.build.os === "linux") assert.deepEqual(openFiles(path), []);
  }));
