/** The number of connections for which the file descriptors are enough. */
import assert from "node:assert/strict";
import { roomForConnections } from "../../src/cli/descriptors.ts";

/** Opens connections one by one in a process with `descriptors` descriptors, until there is no room. */
function admitted(
  descriptors: number,
  each = 1,
): { readonly open: number; readonly most: number; readonly counted: number } {
  let open = 0;
  let counted = 0;
  const room = roomForConnections(each, (enough) => {
    const free = Math.min(descriptors - each * open, enough);
    counted += free;
    return free;
  });
  while (!room.isFull(open)) open += 1;
  return { open, most: room.most, counted };
}

for (
  const { descriptors, each, connections } of [
    { descriptors: 1_048_576, each: 1, connections: 4_096 },
    { descriptors: 4_224, each: 1, connections: 4_096 },
    { descriptors: 4_223, each: 1, connections: 4_095 },
    { descriptors: 1_000, each: 1, connections: 872 },
    { descriptors: 300, each: 1, connections: 172 },
    { descriptors: 200, each: 1, connections: 100 },
    { descriptors: 1, each: 1, connections: 1 },
    { descriptors: 1_048_576, each: 3, connections: 4_096 },
    { descriptors: 12_416, each: 3, connections: 4_096 },
    { descriptors: 12_415, each: 3, connections: 4_095 },
    { descriptors: 1_000, each: 3, connections: 290 },
    { descriptors: 200, each: 3, connections: 33 },
    { descriptors: 1, each: 3, connections: 1 },
  ]
) {
  Deno.test(`${descriptors} descriptors allow ${connections} connections of ${each}`, () => {
    const { open, most } = admitted(descriptors, each);
    assert.deepEqual({ open, most }, { open: connections, most: connections });
  });
}

Deno.test("the room is counted again as connections open, but not for each connection that finds none", () => {
  let asked = 0;
  const room = roomForConnections(1, (enough) => {
    asked += 1;
    return enough;
  });
  assert.equal(asked, 1);
  assert.equal(room.isFull(room.most - 1), false);
  assert.equal(asked, 1);
  assert.equal(room.isFull(room.most), false);
  assert.equal(asked, 2);
  const full = admitted(200);
  assert.ok(full.counted <= 400, `${full.counted}`);
  const few = roomForConnections(1, () => {
    asked += 1;
    return 50;
  });
  asked = 0;
  for (let again = 0; again < 10; again += 1) assert.equal(few.isFull(few.most), true);
  assert.equal(asked, 0);
});
