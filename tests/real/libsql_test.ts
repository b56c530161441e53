/** The server backend against a real libSQL server. Source: contract, section 6; platform facts, libSQL server. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import type { CompiledQuery } from "kysely";
import { isUnavailable } from "../../src/domain/errors.ts";
import {
  AnswerTooLarge,
  type Database,
  DatabaseBusy,
  type Statement,
  WriteConflict,
} from "../../src/store/database.ts";
import { type LibsqlOptions, openLibsql, type ServerTrouble } from "../../src/store/libsql.ts";
import { requireFitServer, strengthen, UnfitServer } from "../../src/store/libsql_server.ts";
import { fetchWithTimeouts, type RequestTimeouts } from "../../src/store/request_timeouts.ts";
import { rowsOf } from "../earlier_schema.ts";
import { openFront } from "../front.ts";
import { type Fate, openLossyProxy } from "../lossy_proxy.ts";
import { configure, HAS_SQLD, setDurability, silence, type Sqld, startSqld, withSqld } from "../sqld.ts";

interface Opened {
  readonly database: Database;
  /** The troubles that the backend reported; null when it works again. */
  readonly troubles: (ServerTrouble | null)[];
}

interface OpenOptions {
  /** The admin API, where the durability can be set again. */
  readonly adminUrl?: string | null;
  /** How far its clock advances each time that it is read. */
  readonly stepMs?: number;
  readonly patience?: RequestTimeouts;
}

const optionsOf = (url: string): LibsqlOptions => ({
  url,
  authToken: null,
  fetch,
  newId: () => randomUUID(),
  time: {
    monotonic: () => performance.now(),
    wait: (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds)),
  },
  strengthen: null,
  onTrouble() {},
});

function open(url: string, { adminUrl = null, stepMs = 0, patience }: OpenOptions = {}): Opened {
  let steps = 0;
  const troubles: (ServerTrouble | null)[] = [];
  const server = {
    url,
    authToken: null,
    fetch: patience === undefined ? fetch : fetchWithTimeouts(fetch, patience),
    newId: () => randomUUID(),
  };
  const database = openLibsql({
    ...server,
    strengthen: adminUrl === null ? null : () => strengthen(server, adminUrl),
    time: {
      monotonic: () => performance.now() + stepMs * steps++,
      wait: (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds)),
    },
    onTrouble: (trouble) => troubles.push(trouble),
  });
  return { database, troubles };
}

const TABLE = "CREATE TABLE applied (id INTEGER NOT NULL, amount REAL, name TEXT, data BLOB) STRICT";

function statement(sql: string, parameters: readonly unknown[] = [], mustChange?: number): Statement {
  return { sql, parameters, ...(mustChange === undefined ? {} : { mustChange }) };
}

const insert = (id: number) => statement("INSERT INTO applied (id) VALUES (?)", [id]);

/** A test with a server of durability `strong` that has the table. */
function sqldTest(name: string, test: (sqld: Sqld, opened: Opened) => Promise<void>): void {
  Deno.test({
    name: `${name} [needs sqld]`,
    ignore: !HAS_SQLD,
    fn: () =>
      withSqld(async (sqld) => {
        await setDurability(sqld, "strong");
        const opened = open(sqld.url, { adminUrl: sqld.adminUrl });
        await opened.database.batch([statement(TABLE)]);
        await test(sqld, opened);
        await opened.database.close();
      }),
  });
}

sqldTest("integers, reals, texts, bytes and null come back as they were written", async (_, { database }) => {
  const bytes = new Uint8Array([0, 1, 255]);
  const rows = [
    { id: 1, amount: 2, name: "ä\u0000", data: bytes },
    { id: Number.MAX_SAFE_INTEGER, amount: -0.1, name: "", data: new Uint8Array() },
    { id: -5, amount: 1e300, name: null, data: null },
  ];
  await database.batch(
    rows.map(({ id, amount, name, data }) =>
      statement("INSERT INTO applied VALUES (?, ?, ?, ?)", [id, amount, name, data])
    ),
  );
  assert.deepEqual(await rowsOf(database, "SELECT * FROM applied ORDER BY rowid"), rows);
  const found = await database.read<{ text: string }>({
    sql: "SELECT ? || '' AS text",
    parameters: [5],
    query: {} as never,
    queryId: {} as never,
  });
  assert.deepEqual(found, [{ text: "5" }], "an integer stays an integer if no column converts it");
});

sqldTest(
  "equal reads that wait together are one request, and each sees what was written before it was asked",
  async (sqld, { database }) => {
    let requests = 0;
    const counted: Database = openLibsql({
      ...optionsOf(sqld.url),
      fetch(resource, init) {
        requests += 1;
        return fetch(resource, init);
      },
    });
    for (let id = 0; id < 20; id += 1) {
      await database.batch([insert(id)]);
      const asked = Array.from({ length: 50 }, () => rowsOf(counted, "SELECT max(id) AS id FROM applied"));
      const other = rowsOf(counted, "SELECT min(id) AS id FROM applied");
      const found = (await Promise.all(asked)).map(([row]) => row!.id);
      assert.deepEqual([...new Set(found)], [id]);
      assert.deepEqual(await other, [{ id: 0 }]);
    }
    assert.ok(requests <= 20 * 5, `${requests} requests`);
    await counted.close();
  },
);

sqldTest(
  "a batch is one transaction: a taken key or an unmet count leaves nothing",
  async (_, { database }) => {
    await database.batch([statement("CREATE UNIQUE INDEX one ON applied (id)"), insert(1)]);
    await assert.rejects(database.batch([insert(2), insert(1)]), WriteConflict);
    const update = (id: number) => statement("UPDATE applied SET amount = 1 WHERE id = ?", [id], 1);
    await assert.rejects(database.batch([insert(3), update(77), insert(4)]), WriteConflict);
    await database.batch([insert(5), update(5)]);
    assert.deepEqual(await rowsOf(database, "SELECT id FROM applied ORDER BY id"), [{ id: 1 }, { id: 5 }]);
    await assert.rejects(database.batch([insert(6), statement("INSERT INTO nowhere VALUES (1)")]), /nowhere/);
    await database.batch([insert(7)]);
    assert.equal((await rowsOf(database, "SELECT id FROM applied")).length, 3);
  },
);

sqldTest(
  "batches of two processes run one after the other, and each is written once",
  async (sqld, { database }) => {
    const other = open(sqld.url);
    await Promise.all(
      Array.from({ length: 100 }, (_, id) => (id % 2 === 0 ? database : other.database).batch([insert(id)])),
    );
    const rows = await rowsOf(database, "SELECT id FROM applied ORDER BY id");
    assert.deepEqual(rows.map(({ id }) => id), Array.from({ length: 100 }, (_, id) => id));
    const sessions = await rowsOf(database, "SELECT session FROM write_session");
    assert.equal(sessions.length, 2);
    await other.database.close();
  },
);

/** `count` rows, each with a text of a kilobyte. */
const manyRows = (count: number) =>
  statement(
    `INSERT INTO applied SELECT value, value / 3.0, printf('%01000d', value), zeroblob(3)
      FROM (WITH RECURSIVE r (value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM r WHERE value < ${count})
        SELECT value FROM r)`,
  );

sqldTest(
  "a result larger than one answer of the server is read in several, from one state, by read and by snapshot",
  async ({ url }, { database }) => {
    await database.batch([manyRows(12_000)]);
    const select = <Row>(sql: string, ...parameters: readonly unknown[]) => ({
      sql,
      parameters,
      query: {} as never,
      queryId: {} as never,
    } as CompiledQuery<Row>);
    const whole = select<{ id: number; amount: number; name: string; data: Uint8Array }>(
      "SELECT * FROM applied WHERE id > ? ORDER BY id DESC",
      0,
    );
    const rows = await database.read(whole);
    assert.deepEqual(rows.map(({ id }) => id), Array.from({ length: 12_000 }, (_, index) => 12_000 - index));
    assert.ok(rows.every(({ id, name, amount }) => Number(name) === id && amount === id / 3));
    assert.deepEqual(rows[0]!.data, new Uint8Array(3));

    const other = open(url);
    let isOver = false;
    const writing = (async () => {
      for (let id = 30_000; !isOver; id += 1) await other.database.batch([insert(id)]);
    })();
    for (let round = 0; round < 2; round += 1) {
      const [counted, read, again] = await database.snapshot([
        select<{ n: number }>("SELECT count(*) AS n FROM applied"),
        whole,
        select<{ id: number }>("SELECT id, name FROM applied ORDER BY id"),
      ]);
      assert.ok(counted[0]!.n >= 12_000);
      assert.deepEqual([read.length, again.length], [counted[0]!.n, counted[0]!.n]);
    }
    const together = await Promise.all(
      Array.from(
        { length: 12 },
        (_, index) =>
          database.read(select<{ id: number }>("SELECT id, name FROM applied WHERE id <= ?", 2_000 + index)),
      ),
    );
    assert.deepEqual(
      together.map(({ length }) => length),
      Array.from({ length: 12 }, (_, index) => 2_000 + index),
    );
    isOver = true;
    await writing;
    await other.database.close();
  },
);

sqldTest("a row larger than one answer fails with an error that names the query", async (_, { database }) => {
  const sql = "SELECT hex(zeroblob(2000000)) AS a, hex(zeroblob(2000000)) AS b, hex(zeroblob(2000000)) AS c";
  await assert.rejects(
    rowsOf(database, sql),
    (error: Error) => error instanceof AnswerTooLarge && error.message.includes(sql),
  );
  assert.deepEqual(await rowsOf(database, "SELECT 1 AS one"), [{ one: 1 }]);
});

const FATES: readonly Fate[] = ["lost", "never", "late"];

for (const fate of FATES) {
  sqldTest(
    `a batch with every third request or answer ${fate} is written once and acknowledged`,
    async ({ url }, direct) => {
      const proxy = openLossyProxy({ to: url, fate: (write) => write % 3 === 0 ? fate : "passed" });
      const { database } = open(proxy.url);
      for (let id = 0; id < 12; id += 1) await database.batch([insert(id)]);
      await proxy.settled();
      const rows = await rowsOf(direct.database, "SELECT id FROM applied ORDER BY rowid");
      assert.deepEqual(rows.map(({ id }) => id), Array.from({ length: 12 }, (_, id) => id));
      assert.ok(proxy.counts[fate] >= 4);
      await database.close();
      await proxy.close();
    },
  );
}

sqldTest(
  "a batch refused after a lost answer is never written, even if its first request comes late",
  async ({ url }, direct) => {
    await direct.database.batch([statement("CREATE UNIQUE INDEX one ON applied (id)")]);
    // Writes 1 and 2 make the session's row and a first batch; write 3 is late, and meanwhile another client
    // takes its key.
    const proxy = openLossyProxy({ to: url, fate: (write) => write === 3 ? "late" : "passed", lateMs: 400 });
    const { database } = open(proxy.url);
    await database.batch([insert(1)]);
    const refused = assert.rejects(database.batch([insert(3), insert(2)]), WriteConflict);
    await direct.database.batch([insert(2)]);
    await refused;
    // Without a fence the late request could commit now.
    await direct.database.batch([statement("DELETE FROM applied WHERE id = 2")]);
    await proxy.settled();
    const rows = await rowsOf(direct.database, "SELECT id FROM applied");
    assert.deepEqual(rows, [{ id: 1 }]);
    assert.equal(proxy.counts.late, 1);
    await database.close();
    await proxy.close();
  },
);

sqldTest(
  "a batch that was given up is never written, however late its request comes",
  async ({ url }, direct) => {
    const proxy = openLossyProxy({ to: url, fate: (write) => write === 3 ? "late" : "passed", lateMs: 500 });
    const { database } = open(proxy.url, { stepMs: 10_000 });
    await database.batch([insert(1)]);
    await assert.rejects(database.batch([insert(2)]), isUnavailable);
    await proxy.settled();
    assert.equal(proxy.counts.late, 1);
    assert.deepEqual(await rowsOf(direct.database, "SELECT id FROM applied"), [{ id: 1 }]);
    await database.batch([insert(3)]);
    assert.equal((await rowsOf(direct.database, "SELECT id FROM applied")).length, 2);
    await database.close();
    await proxy.close();
  },
);

sqldTest(
  "while the server is away, reads and writes are refused as unavailable; once it is back, both work",
  async (sqld, { database, troubles }) => {
    await database.batch([insert(1)]);
    await sqld.stop();
    await assert.rejects(rowsOf(database, "SELECT 1"), isUnavailable);
    await assert.rejects(database.batch([insert(2)]), isUnavailable);
    assert.equal(troubles.length, 1, "reported once");
    await sqld.start();
    await database.batch([insert(3)]);
    assert.deepEqual(await rowsOf(database, "SELECT id FROM applied ORDER BY id"), [{ id: 1 }, { id: 3 }]);
    assert.deepEqual(troubles.slice(1), [null]);
  },
);

sqldTest(
  "a server that starts again while a batch waits for it writes the batch once",
  async (sqld, { database }) => {
    await sqld.stop();
    const written = database.batch([insert(1)]);
    await new Promise((resolve) => setTimeout(resolve, 300));
    await sqld.start();
    await written;
    assert.deepEqual(await rowsOf(database, "SELECT id FROM applied"), [{ id: 1 }]);
  },
);

sqldTest(
  "reads of a silent server are refused together, and later reads are refused sooner",
  async (sqld) => {
    const { database, troubles } = open(sqld.url, { patience: { requestMs: 1_000, silentMs: 100 } });
    await database.batch([insert(1)]);
    await silence(sqld.pid);
    /** Whether all are refused, and only after so many milliseconds by a timer set when they were asked. */
    const isRefusedAfter = async (milliseconds: number, asked: readonly Promise<unknown>[]) => {
      let isAfter = false;
      const timer = setTimeout(() => isAfter = true, milliseconds);
      await Promise.all(asked.map((one) => assert.rejects(one, isUnavailable)));
      clearTimeout(timer);
      return isAfter;
    };
    const reads = () => Array.from({ length: 1_000 }, () => rowsOf(database, "SELECT 1"));
    assert.equal(await isRefusedAfter(900, reads()), true);
    assert.equal(await isRefusedAfter(900, reads()), false, "all of them together, and sooner");
    Deno.kill(sqld.pid, "SIGCONT");
    assert.deepEqual(await rowsOf(database, "SELECT id FROM applied"), [{ id: 1 }]);
    await database.batch([insert(2)]);
    assert.equal(troubles.length, 2, "reported once, and once that it is over");
    await database.close();
  },
);

sqldTest(
  "a batch that a silent server received is either acknowledged or reported as unavailable, and never written twice",
  async (sqld, direct) => {
    const { database } = open(sqld.url, { patience: { requestMs: 1_000, silentMs: 100 } });
    await database.batch([insert(0)]);
    const acknowledged = new Set([0]);
    for (let id = 1; id <= 3; id += 1) {
      await silence(sqld.pid);
      const written = database.batch([insert(id)]).then(() => acknowledged.add(id), (error) => {
        assert.ok(isUnavailable(error), String(error));
      });
      // Before the batch is given up, and after it.
      await new Promise((resolve) => setTimeout(resolve, id % 2 === 0 ? 9_000 : 1_700));
      Deno.kill(sqld.pid, "SIGCONT");
      await written;
      await database.batch([insert(100 + id)]);
      acknowledged.add(100 + id);
      const rows = await rowsOf(direct.database, "SELECT id FROM applied");
      const ids = rows.map((row) => Number(row.id));
      assert.equal(ids.length, new Set(ids).size, "none twice");
      assert.deepEqual(
        [...acknowledged].filter((each) => !ids.includes(each)),
        [],
        "every acknowledged batch is there",
      );
    }
    await database.close();
  },
);

sqldTest(
  "a durability that is lowered while the service runs refuses every write until it is strong again",
  async (sqld) => {
    const { database, troubles } = open(sqld.url);
    await database.batch([insert(1)]);
    await setDurability(sqld, "relaxed");
    await assert.rejects(database.batch([insert(2)]), isUnavailable);
    assert.deepEqual(await rowsOf(database, "SELECT id FROM applied"), [{ id: 1 }], "reads still work");
    await setDurability(sqld, "strong");
    await database.batch([insert(3)]);
    assert.deepEqual(troubles.map((trouble) => trouble?.message.slice(0, 40) ?? null), [
      "the database server lost its durability:",
      null,
    ]);
    assert.match(troubles[0]!.mend, /durability_mode.*JISS_DATABASE_ADMIN_URL/);
    await database.close();
  },
);

const refusedWith = (message: RegExp) => (error: Error) =>
  isUnavailable(error) && message.test(error.message);

sqldTest(
  "a block by an administrator is reported once with its cause, and once when it is over",
  async (sqld, { database, troubles }) => {
    await database.batch([insert(1)]);
    const reported = () => troubles.map((trouble) => trouble?.message ?? null);
    await configure(sqld, { block_writes: true, block_reason: "moving house" });
    for (const id of [2, 3]) {
      await assert.rejects(database.batch([insert(id)]), refusedWith(/takes no writes/));
      assert.deepEqual(await rowsOf(database, "SELECT id FROM applied"), [{ id: 1 }]);
    }
    assert.deepEqual(reported(), ["the database server takes no writes"]);
    assert.match(String(troubles[0]!.cause), /moving house/);
    await configure(sqld, { block_reads: true });
    for (const id of [4, 5]) {
      await assert.rejects(rowsOf(database, "SELECT id FROM applied"), refusedWith(/cannot be read/));
      await assert.rejects(database.batch([insert(id)]), isUnavailable);
    }
    assert.deepEqual(reported().slice(1), ["the database server cannot be read"]);
    await configure(sqld, { block_reads: false, block_writes: false });
    await database.batch([insert(6)]);
    assert.deepEqual(reported().slice(2), [null]);
    assert.deepEqual(await rowsOf(database, "SELECT id FROM applied ORDER BY id"), [{ id: 1 }, { id: 6 }]);
  },
);

sqldTest(
  "a rejected token is reported at once, and all works when the server accepts it again",
  async (sqld, direct) => {
    const front = openFront(sqld.url);
    const { database, troubles } = open(front.url);
    await database.batch([insert(1)]);
    front.answer = () => new Response('{"error":"AUTH_JWT_INVALID"}', { status: 401 });
    const before = front.requests;
    for (const id of [2, 3]) {
      await assert.rejects(database.batch([insert(id)]), refusedWith(/refuses this service/));
      await assert.rejects(rowsOf(database, "SELECT 1"), refusedWith(/refuses this service/));
    }
    assert.ok(front.requests - before <= 8, "nothing is sent again in vain");
    front.answer = null;
    await database.batch([insert(4)]);
    assert.deepEqual(troubles.map((trouble) => trouble?.message ?? null), [
      "the database server refuses this service",
      null,
    ]);
    assert.match(String(troubles[0]!.cause), /401/);
    assert.deepEqual(await rowsOf(direct.database, "SELECT id FROM applied"), [{ id: 1 }, { id: 4 }]);
    await database.close();
    await front.close();
  },
);

sqldTest(
  "a server that lost its durability setting in a restart gets it set again through the admin API",
  async (sqld, { database, troubles }) => {
    await database.batch([insert(1)]);
    await sqld.stop();
    await sqld.start();
    await database.batch([insert(2)]);
    const [row] = await rowsOf(database, "SELECT synchronous FROM pragma_synchronous");
    assert.deepEqual(row, { synchronous: 2 });
    assert.deepEqual(troubles, []);
  },
);

sqldTest("if the durability cannot be set again, nothing is written", async (sqld) => {
  const { database, troubles } = open(sqld.url, { adminUrl: sqld.url });
  await database.batch([insert(1)]);
  await setDurability(sqld, "relaxed");
  await assert.rejects(database.batch([insert(2)]), isUnavailable);
  assert.match(String(troubles[0]!.cause), /JISS_DATABASE_ADMIN_URL could not set/);
  assert.deepEqual(await rowsOf(database, "SELECT id FROM applied"), [{ id: 1 }]);
  await database.close();
});

sqldTest(
  "a session whose row is gone, as after a restore of the server, is replaced by a new one",
  async (_, { database }) => {
    await database.batch([statement("DELETE FROM write_session")]).catch((error) => {
      if (!isUnavailable(error)) throw error;
    });
    await database.batch([insert(1)]);
    assert.deepEqual(await rowsOf(database, "SELECT id FROM applied"), [{ id: 1 }]);
  },
);

sqldTest(
  "a write blocked by another client's lock waits or fails as busy, and is never wrongly acknowledged",
  async (sqld, { database }) => {
    const { createClient } = await import("@libsql/client/http");
    const client = createClient({ url: sqld.url });
    const held = await client.transaction("write");
    await held.execute("INSERT INTO applied (id) VALUES (100)");
    const written = database.batch([insert(1)]).then(() => true, (error) => {
      if (error instanceof DatabaseBusy || isUnavailable(error)) return false;
      throw error;
    });
    const committed = await written;
    const rows = await rowsOf(database, "SELECT id FROM applied WHERE id = 1");
    assert.equal(rows.length, committed ? 1 : 0);
    await held.rollback().catch(() => {});
    client.close();
  },
);

// ---- requirements of a server -----------------------------------------------------------------------------

function fitness(url: string, adminUrl: string | null = null): Promise<void> {
  return requireFitServer({ url, authToken: null, fetch, newId: () => randomUUID() }, { adminUrl });
}

Deno.test({
  name:
    "a server must have durability strong: it is set through the admin API if that is known, else the server is refused [needs sqld]",
  ignore: !HAS_SQLD,
  fn: () =>
    withSqld(async (sqld) => {
      await assert.rejects(fitness(sqld.url), (error: Error) =>
        error instanceof UnfitServer && /durability_mode/.test(error.message));
      await assert.rejects(fitness(sqld.url, sqld.url), /JISS_DATABASE_ADMIN_URL could not set/);
      await fitness(sqld.url, sqld.adminUrl);
      await fitness(sqld.url);
      await setDurability(sqld, "relaxed");
      await assert.rejects(fitness(sqld.url), UnfitServer);
    }),
});

Deno.test({
  name: "a read replica is recognized as one and refused [needs sqld]",
  ignore: !HAS_SQLD,
  fn: () =>
    withSqld(async (primary) => {
      await setDurability(primary, "strong");
      const directory = await Deno.makeTempDir({ prefix: "jiss-sqld-" });
      const replica = await startSqld({ directory, primary: primary.grpcUrl });
      for (let round = 0; round < 20; round += 1) {
        await assert.rejects(fitness(replica.url), /read replica/);
        await fitness(primary.url);
      }
      await replica.stop();
      await Deno.remove(directory, { recursive: true });
    }),
});

Deno.test("a server that is not there, or is something else, is refused with the setting to check", async () => {
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, () => new Response("hello"));
  await assert.rejects(fitness(`http://127.0.0.1:${server.addr.port}`), /JISS_DATABASE_URL cannot be used/);
  await server.shutdown();
  await assert.rejects(fitness(`http://127.0.0.1:${server.addr.port}`), /JISS_DATABASE_URL cannot be used/);
});
