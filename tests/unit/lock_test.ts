/**
 * The lock: the newest issued checkpoints, kept apart from the database. It never goes back and it may lag.
 * If it cannot be written it reports that, and affects nothing that is already durable.
 * Source: evidence design, "Read first", point 4.
 */
import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { ServiceError } from "../../src/domain/errors.ts";
import type { StoredHead } from "../../src/store/chains.ts";
import { type CheckpointLock, isBehind, openLock } from "../../src/store/lock.ts";
import type { IssuedCheckpoint } from "../../src/store/issued.ts";

// ---- fixtures ---------------------------------------------------------------------------------------------

const hash = (byte: number) => new Uint8Array(32).fill(byte);

function checkpoint(size: number, fields: Partial<IssuedCheckpoint> = {}): IssuedCheckpoint {
  return {
    family: "org/acme",
    epoch: 1,
    origin: "jiss.test/01DEPLOYMENT/org/acme",
    size,
    root: hash(size % 256),
    note: `note of size ${size}`,
    ...fields,
  };
}

function head(size: number, { family = "org/acme", epoch = 1 } = {}): StoredHead {
  return {
    chain: epoch === 1 ? family : `${family}/e${epoch}`,
    family,
    epoch,
    firstPosition: 0,
    keyOrdinal: 1,
    origin: `jiss.test/01DEPLOYMENT/${family}`,
    previous: hash(0),
    lastTimestamp: "2026-11-20T09:00:00.000Z",
    held: null,
    frontier: { size, peaks: [] },
  };
}

/** For a lock that must report no error. */
function fail(error: unknown): never {
  throw error;
}

const memory = () => openLock({ path: ":memory:", onTrouble: fail });

/** Rows as plain objects; those of node:sqlite have no prototype. */
const issuedBy = (lock: CheckpointLock) => lock.issued().map((row) => ({ ...row }));
const erasedBy = (lock: CheckpointLock) => lock.erased().map((row) => ({ ...row }));

async function inDirectory(test: (path: string) => void): Promise<void> {
  const directory = await Deno.makeTempDir({ prefix: "jiss-lock-" });
  try {
    test(`${directory}/lock.db`);
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}

const isBehindRefusal = (error: unknown) =>
  error instanceof ServiceError && error.code === "SERVICE_UNAVAILABLE" && error.status === 503 &&
  error.headers["Retry-After"] === "60" && error.message.includes("jiss restore --acknowledge");

// ---- checkpoints ------------------------------------------------------------------------------------------

Deno.test("the newest checkpoint of each family is kept, in the order of their names", () => {
  const lock = memory();
  const [sys, admin] = ["sys", "org/acme/admin"].map((family) => checkpoint(2, { family, origin: family }));
  lock.record([sys!, checkpoint(1)]);
  lock.record([admin!, checkpoint(3)]);
  assert.deepEqual(issuedBy(lock), [checkpoint(3), admin, sys]);
  lock.record([]);
  assert.deepEqual(issuedBy(lock), [checkpoint(3), admin, sys]);
  lock.close();
});

Deno.test("a record never goes back: not to a smaller size, not to the same, not to an earlier epoch", () => {
  const lock = memory();
  const second = { epoch: 2, origin: "jiss.test/01DEPLOYMENT/org/acme/e2" };
  const steps: readonly (readonly [issued: IssuedCheckpoint, kept: IssuedCheckpoint])[] = [
    [checkpoint(5), checkpoint(5)],
    [checkpoint(4), checkpoint(5)],
    [checkpoint(5, { root: hash(99), note: "another" }), checkpoint(5)],
    [checkpoint(6), checkpoint(6)],
    [checkpoint(1, second), checkpoint(1, second)],
    [checkpoint(1_000_000), checkpoint(1, second)],
    [checkpoint(2, second), checkpoint(2, second)],
  ];
  for (const [issued, kept] of steps) {
    lock.record([issued]);
    assert.deepEqual(issuedBy(lock), [kept], `${issued.epoch}/${issued.size}`);
  }
  // Nor within one record, in any order.
  lock.record([checkpoint(9, second), checkpoint(7, second)]);
  assert.deepEqual(issuedBy(lock), [checkpoint(9, second)]);
  lock.close();
});

Deno.test("a family that is behind its issued checkpoint, or is missing, is refused until its restore is acknowledged", () => {
  const lock = memory();
  lock.record([checkpoint(5), checkpoint(3, { family: "sys", epoch: 2 })]);
  const refused:
    readonly (readonly [why: string, families: readonly string[], heads: readonly StoredHead[]])[] = [
      ["one entry less", ["org/acme"], [head(4)]],
      ["no chain", ["org/acme"], []],
      ["another family's chain", ["org/acme"], [head(9, { family: "org/other" })]],
      ["an earlier epoch, however long", ["sys"], [head(1_000, { family: "sys" })]],
      ["a smaller size of the same epoch", ["sys"], [head(2, { family: "sys", epoch: 2 })]],
      ["one of several", ["org/acme", "sys"], [head(5), head(2, { family: "sys", epoch: 2 })]],
    ];
  for (const [why, families, heads] of refused) {
    assert.throws(() => lock.requireCurrent(lock.issuedOf(families), heads), isBehindRefusal, why);
  }
  lock.requireCurrent(lock.issuedOf(["org/acme"]), [head(5)]);
  lock.requireCurrent(lock.issuedOf(["org/acme"]), [head(6)]);
  lock.requireCurrent(lock.issuedOf(["org/acme"]), [head(1, { epoch: 2 })]);
  lock.requireCurrent(lock.issuedOf(["sys"]), [head(3, { family: "sys", epoch: 2 })]);
  lock.requireCurrent(lock.issuedOf(["sys"]), [head(1, { family: "sys", epoch: 3 })]);
  lock.requireCurrent(lock.issuedOf(["org/new"]), []);
  lock.requireCurrent(lock.issuedOf([]), []);
  lock.close();
});

Deno.test("another history is refused at any size, until a later epoch has begun", () => {
  const lock = memory();
  lock.record([checkpoint(5), checkpoint(3, { family: "sys" })]);
  assert.equal(lock.suspected(), null);
  lock.suspect({ family: "org/acme", epoch: 1 });
  assert.deepEqual(lock.suspected(), { family: "org/acme", epoch: 1 });
  const sys = head(3, { family: "sys" });
  for (const heads of [[sys], [sys, head(5)], [sys, head(1_000)]]) {
    assert.throws(() => lock.requireCurrent(lock.issuedOf(["sys", "org/acme"]), heads), isBehindRefusal);
  }
  lock.requireCurrent(lock.issuedOf(["sys", "org/acme"]), [sys, head(1, { epoch: 2 })]);
  lock.suspect(null);
  lock.requireCurrent(lock.issuedOf(["sys", "org/acme"]), [sys, head(5)]);
  lock.close();
});

Deno.test("a chain is behind at an earlier epoch or a smaller size of the same one, and in no other case", () => {
  const issued = { epoch: 2, size: 5 };
  for (
    const [epoch, size, behind] of [
      [1, 4, true],
      [1, 6, true],
      [2, 4, true],
      [2, 5, false],
      [2, 6, false],
      [3, 1, false],
    ] as const
  ) {
    assert.equal(isBehind(head(size, { epoch }), issued), behind, `${epoch}/${size}`);
  }
});

// ---- erasures ---------------------------------------------------------------------------------------------

Deno.test("erased operators are kept with their newest erasure, oldest first, and deleted after their time", () => {
  const lock = memory();
  lock.recordErased({ name: hash(1), at: 100 });
  lock.recordErased({ name: hash(2), at: 200 });
  lock.recordErased({ name: hash(1), at: 300 });
  assert.deepEqual(erasedBy(lock), [{ name: hash(2), at: 200 }, { name: hash(1), at: 300 }]);
  lock.forgetErased(200);
  assert.equal(lock.erased().length, 2, "an erasure at that instant is not before it");
  lock.forgetErased(201);
  assert.deepEqual(erasedBy(lock), [{ name: hash(1), at: 300 }]);
  lock.close();
});

// ---- the file ---------------------------------------------------------------------------------------------

Deno.test("records survive the process, without a close or a sync", () =>
  inDirectory((path) => {
    const killed = openLock({ path, onTrouble: fail });
    killed.record([checkpoint(7)]);
    killed.recordErased({ name: hash(1), at: 100 });
    const next = openLock({ path, onTrouble: fail });
    assert.deepEqual(issuedBy(next), [checkpoint(7)]);
    assert.deepEqual(erasedBy(next), [{ name: hash(1), at: 100 }]);
    next.close();
    killed.close();
  }));

Deno.test("a sync and a close write everything to the file itself", () =>
  inDirectory((path) => {
    const copied = () => {
      const copy = `${path}.${copies += 1}`;
      Deno.copyFileSync(path, copy);
      const lock = openLock({ path: copy, onTrouble: fail });
      const [row] = issuedBy(lock);
      lock.close();
      return row?.size;
    };
    let copies = 0;
    const lock = openLock({ path, onTrouble: fail });
    lock.sync();
    lock.record([checkpoint(7)]);
    assert.equal(copied(), undefined, "a commit does not wait for the disk");
    lock.sync();
    assert.equal(copied(), 7);
    lock.record([checkpoint(8)]);
    lock.close();
    assert.equal(copied(), 8);
  }));

Deno.test("a sync that another process's read cut short is completed by the next one", () =>
  inDirectory((path) => {
    const lock = openLock({ path, onTrouble: fail });
    lock.record([checkpoint(1)]);
    lock.sync();
    const reader = new DatabaseSync(path);
    reader.exec("BEGIN");
    reader.prepare("SELECT count(*) FROM checkpoint").all();
    lock.record([checkpoint(7)]);
    lock.sync();
    reader.exec("COMMIT");
    reader.close();
    lock.sync();
    Deno.copyFileSync(path, `${path}.copy`);
    const copy = openLock({ path: `${path}.copy`, onTrouble: fail });
    assert.equal(issuedBy(copy)[0]!.size, 7);
    copy.close();
    lock.close();
  }));

Deno.test("two processes share one file, and the newer of their records is kept", () =>
  inDirectory((path) => {
    const [one, two] = [0, 1].map(() => openLock({ path, onTrouble: fail }));
    one!.record([checkpoint(5)]);
    two!.record([checkpoint(4), checkpoint(1, { family: "sys" })]);
    assert.throws(() => two!.requireCurrent(two!.issuedOf(["org/acme"]), [head(4)]), isBehindRefusal);
    assert.deepEqual(issuedBy(one!), issuedBy(two!));
    assert.deepEqual(issuedBy(one!), [checkpoint(5), checkpoint(1, { family: "sys" })]);
    one!.close();
    two!.close();
  }));

Deno.test("a lock that cannot be written reports it, fails nothing that is already durable, and catches up later", () =>
  inDirectory((path) => {
    const troubles: unknown[] = [];
    const lock = openLock({ path, onTrouble: (error) => troubles.push(error) });
    lock.record([checkpoint(1)]);
    // No write succeeds, as on a full disk: the table is renamed.
    const other = new DatabaseSync(path);
    other.exec("ALTER TABLE checkpoint RENAME TO away");
    lock.record([checkpoint(2)]);
    assert.equal(troubles.length, 1);
    assert.match(String(troubles[0]), /no such table/);
    lock.recordErased({ name: hash(1), at: 100 });
    lock.recordErased({ name: hash(2), at: 200 });
    lock.forgetErased(150);
    assert.equal(troubles.length, 4);
    assert.throws(() => lock.issuedOf(["org/acme"]), /cannot be read/);
    assert.equal(troubles.length, 5);

    other.exec("ALTER TABLE away RENAME TO checkpoint");
    other.close();
    lock.sync();
    assert.equal(troubles.length, 5, "the lock is read again before it reports its recovery");
    assert.equal(lock.issuedOf([checkpoint(2).family]).get(checkpoint(2).family)?.size, 2);
    assert.deepEqual(troubles.slice(5), [null]);
    assert.deepEqual(erasedBy(lock), [{ name: hash(2), at: 200 }]);
    lock.close();
    assert.equal(troubles.length, 6);
  }));

Deno.test("a file that is not a lock is refused", () =>
  inDirectory((path) => {
    Deno.writeTextFileSync(path, "not a database, but long enough to be read as a header of one ".repeat(20));
    assert.throws(() => openLock({ path, onTrouble: fail }), /not a database/);
  }));
