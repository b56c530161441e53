/**
 * Clearing bytes of deleted rows that are left in a database file outside of any row: all of them go, and no
 * row changes.
 */
import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import type { CompiledQuery } from "kysely";
import { openEmbedded } from "../../src/store/embedded.ts";
import { clearUnused, PageScrubber } from "../../src/store/scrub.ts";

const PAGE = 4096;

/** A leaf page of an index with two cells in the last 100 bytes. */
function leafPage(): Uint8Array {
  const page = new Uint8Array(PAGE).fill(0xaa);
  page.set([10, 0, 0, 0, 2, (PAGE - 100) >> 8, (PAGE - 100) & 0xff, 0], 0);
  return page;
}

/** Runs with the path of a database that does not exist yet. */
async function withPath(run: (path: string) => Promise<void> | void): Promise<void> {
  const directory = await Deno.makeTempDir({ prefix: "jiss-scrub-" });
  try {
    await run(`${directory}/a.db`);
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}

/** The bytes of the file and of its log, as text that can be searched. */
async function bytesOf(path: string): Promise<string> {
  const files = await Promise.all([path, `${path}-wal`].map((name) => Deno.readFile(name)));
  return files.map((bytes) => new TextDecoder("latin1").decode(bytes)).join("");
}

const statement = (sql: string, ...parameters: unknown[]) => ({ sql, parameters });
const asked = <Row>(sql: string) => ({ sql, parameters: [] }) as unknown as CompiledQuery<Row>;

/** Keys of different lengths, in an order that moves rows from page to page. */
const KEYS = Array.from(
  { length: 3000 },
  (_, index) => `key-${(index * 7919) % 3000}-${"x".repeat((index * 31) % 300)}`,
);

/** A table and an index that were filled in that order, 50 keys at a time. */
async function openFilled(path: string) {
  const database = openEmbedded({ path, onFatal: () => {} });
  await database.batch([
    statement("CREATE TABLE item (name TEXT PRIMARY KEY, other TEXT NOT NULL) WITHOUT ROWID"),
    statement("CREATE INDEX item_other ON item (other, name)"),
  ]);
  for (let first = 0; first < KEYS.length; first += 50) {
    await database.batch(
      KEYS.slice(first, first + 50).map((key) =>
        statement("INSERT INTO item VALUES (?, ?)", key, `of ${key}`)
      ),
    );
  }
  return database;
}

Deno.test("only the bytes between the pointers and the content of a page with rows change", () => {
  const page = leafPage();
  const before = page.slice();
  assert.equal(clearUnused(page, { header: 0, usable: PAGE }), true);
  const [start, end] = [8 + 2 * 2, PAGE - 100];
  assert.deepEqual(page.subarray(0, start), before.subarray(0, start));
  assert.deepEqual(page.subarray(end), before.subarray(end));
  assert.ok(page.subarray(start, end).every((byte) => byte === 0));
  assert.equal(clearUnused(page, { header: 0, usable: PAGE }), false);
});

Deno.test("an interior page keeps its longer header, the first page the file's header, and 0 means 65,536", () => {
  const interior = leafPage();
  interior[0] = 2;
  assert.equal(clearUnused(interior, { header: 0, usable: PAGE }), true);
  assert.deepEqual([interior[15], interior[16]], [0xaa, 0]);

  const first = new Uint8Array(PAGE).fill(0xaa);
  first.set(leafPage().subarray(0, 8), 100);
  assert.equal(clearUnused(first, { header: 100, usable: PAGE }), true);
  assert.deepEqual([first[99], first[111], first[112]], [0xaa, 0xaa, 0]);

  const largest = new Uint8Array(65_536).fill(0xaa);
  largest.set([13, 0, 0, 0, 0, 0, 0, 0], 0);
  assert.equal(clearUnused(largest, { header: 0, usable: 65_536 }), true);
  assert.ok(largest.subarray(8).every((byte) => byte === 0));
});

Deno.test("a page without rows, or with an invalid header, stays as it is", () => {
  const pages: Uint8Array[] = [];
  for (const flag of [0, 1, 3, 4, 6, 9, 11, 12, 14, 255]) {
    const page = leafPage();
    page[0] = flag;
    pages.push(page);
  }
  const crowded = leafPage();
  crowded.set([0xff, 0xff], 3);
  const beyond = leafPage();
  beyond.set([0xff, 0xff], 5);
  for (const page of [...pages, crowded, beyond]) {
    const before = page.slice();
    assert.equal(clearUnused(page, { header: 0, usable: PAGE }), false);
    assert.deepEqual(page, before);
  }
});

Deno.test("secure_delete alone leaves keys of deleted rows in the file; after expunge none is left, and every kept row is", async () => {
  await withPath(async (path) => {
    const database = await openFilled(path);
    const deleted = KEYS.filter((_, index) => index % 7 === 0);
    const kept = KEYS.filter((_, index) => index % 7 !== 0);
    await database.batch(deleted.map((key) => statement("DELETE FROM item WHERE name = ?", key)));
    const found = (text: string) => {
      const keys = new Set([...text.matchAll(/key-\d+-x*/g)].map(([key]) => key));
      return deleted.filter((key) => keys.has(key));
    };
    {
      using other = new DatabaseSync(path);
      other.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    }
    assert.ok(found(await bytesOf(path)).length > 0, "there is something to clear");
    assert.equal(await database.expunge(), "done");
    assert.deepEqual(found(await bytesOf(path)), []);

    const rows = await database.read<{ name: string }>(asked("SELECT name FROM item ORDER BY name"));
    assert.deepEqual(rows.map(({ name }) => name), kept.toSorted());
    const others = await database.read<{ name: string }>(
      asked("SELECT name FROM item INDEXED BY item_other ORDER BY other, name"),
    );
    assert.equal(others.length, kept.length);
    assert.deepEqual(
      await database.read(asked("PRAGMA integrity_check")).then((lines) =>
        lines.map((line) => ({ ...line as object }))
      ),
      [{ integrity_check: "ok" }],
    );
    await database.close();
  });
});

Deno.test("cleared bytes stay cleared, whichever connection changes the same pages next", async () => {
  await withPath(async (path) => {
    const database = await openFilled(path);
    using other = new DatabaseSync(path);
    other.exec("PRAGMA cache_size = -64000");
    const deleted = KEYS.filter((_, index) => index % 7 === 0);
    await database.batch(deleted.map((key) => statement("DELETE FROM item WHERE name = ?", key)));
    // Both have every page in memory from before the clearing.
    const reading = "SELECT max(length(name)), max(length(other)) FROM item NOT INDEXED";
    other.prepare(reading).get();
    await database.read(asked(reading));
    assert.equal(await database.expunge(), "done");
    const touched = KEYS.filter((_, index) => index % 7 === 1);
    const [first, second] = [touched.slice(0, 200), touched.slice(200)];
    await database.batch(
      first.map((key) => statement("UPDATE item SET other = ? WHERE name = ?", `OF ${key}`, key)),
    );
    other.exec("BEGIN");
    for (const key of second) other.prepare("UPDATE item SET other = ? WHERE name = ?").run(`OF ${key}`, key);
    other.exec("COMMIT");
    const text = await bytesOf(path);
    const keys = new Set([...text.matchAll(/key-\d+-x*/g)].map(([key]) => key));
    assert.deepEqual(deleted.filter((key) => keys.has(key)), []);
    await database.close();
  });
});

Deno.test("while another connection reads or writes expunge is pending, and afterwards it is done", async () => {
  await withPath(async (path) => {
    const database = await openFilled(path);
    using other = new DatabaseSync(path);
    await database.batch([statement("DELETE FROM item WHERE name = ?", KEYS[0]!)]);
    for (const begin of ["BEGIN", "BEGIN IMMEDIATE"]) {
      other.exec(begin);
      other.prepare("SELECT count(*) FROM item").get();
      assert.equal(await database.expunge(), "pending", begin);
      other.exec("ROLLBACK");
    }
    assert.equal(await database.expunge(), "done");
    await database.close();
  });
});

Deno.test("a file is cleared in steps that cover each of its pages once", async () => {
  await withPath(async (path) => {
    const database = await openFilled(path);
    await database.batch([
      statement("CREATE TABLE long (data BLOB NOT NULL)"),
      statement("INSERT INTO long VALUES (zeroblob(9000000))"),
    ]);
    assert.equal(await database.expunge(), "done");
    const scrubber = new PageScrubber(path);
    const starts: number[] = [];
    for (let page: number | null = 0; page !== null; page = scrubber.step(page).next) starts.push(page);
    const pages = Deno.statSync(path).size / PAGE;
    assert.ok(pages > 2000);
    assert.deepEqual(starts, Array.from({ length: Math.ceil(pages / 512) }, (_, index) => 512 * index));
    await database.close();
    scrubber.close();
  });
});
