/** The log where its lines cannot be written. */
import assert from "node:assert/strict";
import { createLog, lineWriter } from "../../src/observability/log.ts";

const TIME = "1970-01-01T00:00:00.000Z";

/** A file of which so many bytes are free, as a full disk has them. */
function smallFile(room: number) {
  const decoder = new TextDecoder();
  const file = {
    text: "",
    room,
    write(bytes: Uint8Array): number {
      if (file.room === 0) throw new Error("No space left on device");
      const taken = bytes.subarray(0, file.room);
      file.room -= taken.length;
      file.text += decoder.decode(taken);
      return taken.length;
    },
  };
  return file;
}

Deno.test("lines that cannot be written are left out, and how many they were is told once lines can be written again", () => {
  const file = smallFile(100);
  const lost: string[] = [];
  const log = createLog({
    format: "json",
    clock: () => 0,
    write: lineWriter(file.write),
    onLost: (error) => lost.push(String(error)),
  });
  for (const message of ["one", "two", "three"]) log.info(message);
  assert.deepEqual(lost, ["Error: No space left on device"]);
  file.room = 1_000;
  log.info("four");
  log.info("five");
  assert.deepEqual(file.text.split("\n"), [
    `{"time":"${TIME}","level":"info","msg":"one"}`,
    // As much of the second as there was room for.
    `{"time":"${TIME}","l`,
    `{"time":"${TIME}","level":"warn","msg":"log lines could not be written","lost":2}`,
    `{"time":"${TIME}","level":"info","msg":"four"}`,
    `{"time":"${TIME}","level":"info","msg":"five"}`,
    "",
  ]);
  file.room = 0;
  log.info("six");
  assert.equal(lost.length, 2);
});
