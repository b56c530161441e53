/** The log if its lines cannot be written, or if its reader takes none. */
import assert from "node:assert/strict";
import { createProcessLog } from "../../src/observability/log.ts";
import { LineQueue } from "../../src/observability/line_queue.ts";

const TIME = "1970-01-01T00:00:00.000Z";

/** A file with room for `room` bytes, as on a full disk. */
function smallFile(room: number) {
  const decoder = new TextDecoder();
  const file = {
    text: "",
    room,
    write(bytes: Uint8Array): Promise<number> {
      if (file.room === 0) return Promise.reject(new Error("No space left on device"));
      const taken = bytes.subarray(0, file.room);
      file.room -= taken.length;
      file.text += decoder.decode(taken);
      return Promise.resolve(taken.length);
    },
  };
  return file;
}

Deno.test("lines that cannot be written are left out, and their number is logged once lines can be written again", async () => {
  const file = smallFile(100);
  const lost: string[] = [];
  const log = createProcessLog({
    format: "json",
    clock: () => 0,
    write: file.write,
    onLost: (reason) => lost.push(reason),
  });
  for (const message of ["one", "two", "three"]) {
    log.info(message);
    await log.settled();
  }
  assert.deepEqual([lost, log.lost], [["Error: No space left on device"], 2]);
  file.room = 1_000;
  log.info("four");
  log.info("five");
  await log.settled();
  assert.deepEqual(file.text.split("\n"), [
    `{"time":"${TIME}","level":"info","msg":"one"}`,
    // The second line as far as there was room for it.
    `{"time":"${TIME}","l`,
    `{"time":"${TIME}","level":"warn","msg":"log lines could not be written","lost":2}`,
    `{"time":"${TIME}","level":"info","msg":"four"}`,
    `{"time":"${TIME}","level":"info","msg":"five"}`,
    "",
  ]);
  file.room = 0;
  log.info("six");
  await log.settled();
  assert.deepEqual([lost.length, log.lost], [2, 3]);
});

Deno.test("if lines are written together, only those that the file did not take whole count as lost", async () => {
  const file = smallFile(8);
  const queue = new LineQueue({
    write: file.write,
    limit: 100,
    lossLine: (lost) => `${lost} lost\n`,
    onLost: () => {},
  });
  // The first is written at once, the others together.
  for (const line of ["a\n", "bb\n", "cc\n", "dd\n"]) queue.put(line);
  await queue.settled();
  assert.equal(queue.lost, 1);
  assert.equal(file.text, "a\nbb\ncc\n");
});

/** A reader that takes written bytes only when the test says so. */
function stuckReader() {
  const pending: { readonly text: string; readonly take: () => void }[] = [];
  let text = "";
  return {
    write(bytes: Uint8Array): Promise<number> {
      const { promise, resolve } = Promise.withResolvers<number>();
      const written = new TextDecoder().decode(bytes);
      pending.push({
        text: written,
        take() {
          text += written;
          resolve(bytes.length);
        },
      });
      return promise;
    },
    /** Takes everything that is written; @returns all the text taken. */
    async takeAll(queue: LineQueue): Promise<string> {
      let isSettled = false;
      const settled = queue.settled().then(() => isSettled = true);
      while (!isSettled) {
        pending.shift()?.take();
        await Promise.resolve();
      }
      await settled;
      return text;
    },
  };
}

Deno.test("lines without room while the reader stops are lost in one gap, which is logged in its place", async () => {
  const reader = stuckReader();
  const reported: string[] = [];
  const queue = new LineQueue({
    write: reader.write,
    limit: 6,
    lossLine: (lost) => `${lost} lost\n`,
    onLost: (reason) => reported.push(reason),
  });
  for (const line of ["1\n", "2\n", "3\n", "4\n", "5\n", "6\n"]) queue.put(line);
  assert.equal(queue.lost, 2);
  assert.equal(await reader.takeAll(queue), "1\n2\n3\n4\n2 lost\n");
  queue.put("7\n");
  assert.equal(await reader.takeAll(queue), "1\n2\n3\n4\n2 lost\n7\n");
  assert.deepEqual(reported, ["its reader does not read"]);
  for (const line of ["a\n", "b\n", "c\n", "d\n", "e\n"]) queue.put(line);
  assert.deepEqual([reported.length, queue.lost], [2, 3]);
  assert.match(await reader.takeAll(queue), /d\n1 lost\n$/);
});

Deno.test("lines lost by a failed write are reported before the lines that wait", async () => {
  let text = "";
  let fails = true;
  const queue = new LineQueue({
    write(bytes) {
      if (fails) {
        fails = false;
        return Promise.reject(new Error("once"));
      }
      text += new TextDecoder().decode(bytes);
      return Promise.resolve(bytes.length);
    },
    limit: 100,
    lossLine: (lost) => `${lost} lost\n`,
    onLost: () => {},
  });
  for (const line of ["1\n", "2\n", "3\n"]) queue.put(line);
  await queue.settled();
  assert.equal(text, "1 lost\n2\n3\n");
});
