/** `lock.db` written by the thread that waits for the disk. */
import assert from "node:assert/strict";
import { StorageThread } from "../../src/store/thread.ts";
import { openThreadedLock } from "../../src/store/threaded_lock.ts";
import type { ThreadAnswer, ThreadRequest } from "../../src/store/storage_thread.ts";

const CHECKPOINT = {
  family: "org/acme",
  epoch: 1,
  origin: "jiss.test/acme",
  size: 1,
  root: new Uint8Array(32),
  note: "a note",
};

/** A thread that answers a sync only when the test says so, and everything else at once. */
function slowThread() {
  const asked: ThreadRequest["kind"][] = [];
  const syncs: (() => void)[] = [];
  const worker = {
    onmessage: (_: { readonly data: ThreadAnswer }) => {},
    onerror: () => {},
    postMessage({ id, request }: { readonly id: number; readonly request: ThreadRequest }) {
      asked.push(request.kind);
      const answer = () => worker.onmessage({ data: { id, expunged: null } });
      if (request.kind === "sync_lock") syncs.push(answer);
      else queueMicrotask(answer);
    },
    terminate() {},
  };
  const thread = new StorageThread(worker as unknown as Worker, assert.ifError);
  return { thread, asked, synced: () => syncs.splice(0).forEach((answer) => answer()) };
}

const turn = () => new Promise((resolve) => setTimeout(resolve, 0));

Deno.test("on a slow disk syncs do not pile up before batches, and each covers the records before it", async () => {
  const { thread, asked, synced } = slowThread();
  const lock = await openThreadedLock({ path: ":memory:", onTrouble: assert.ifError }, thread);
  const done: string[] = [];
  const sync = (name: string) => lock.sync().then(() => done.push(name));
  lock.record([CHECKPOINT]);
  const all = [sync("first")];
  for (let second = 0; second < 10; second += 1) {
    lock.record([{ ...CHECKPOINT, size: 2 + second }]);
    all.push(sync("later"));
    await turn();
  }
  const syncs = () => asked.filter((kind) => kind === "sync_lock").length;
  assert.equal(syncs(), 1);
  synced();
  await turn();
  assert.deepEqual(done, ["first"]);
  assert.deepEqual([syncs(), asked.at(-1), asked.at(-2)], [2, "sync_lock", "lock"]);
  synced();
  await Promise.all(all);
  assert.equal(syncs(), 2);
  const again = sync("again");
  synced();
  await again;
  assert.equal(syncs(), 3);
  await lock.close();
});
