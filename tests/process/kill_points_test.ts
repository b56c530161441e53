/**
 * Commands that are killed right before a write to the disk. `task soak kill_points` kills at every such
 * point.
 */
import assert from "node:assert/strict";
import { keptSchemas } from "../kept_schemas/kept.ts";
import {
  type Killed,
  killedFirstStart,
  killedRestore,
  killedUpgrade,
  type KillPoint,
} from "../soak/kill_points.ts";
import { straceIsMissing } from "../traced.ts";

const IGNORED = straceIsMissing();

function killTest(name: string, killed: () => Killed, points: readonly KillPoint[]): void {
  Deno.test({
    name: `${name} [needs strace]`,
    ignore: IGNORED,
    async fn() {
      for (const point of points) assert.ok(await killed().at(point), `killed at ${JSON.stringify(point)}`);
    },
  });
}

killTest(
  "a first start that was killed before its signing key, or its first record, is on the disk is completed by the next start",
  killedFirstStart,
  [{ count: 1, file: "signing-key.pem" }, { count: 11, file: "jiss.db-wal" }],
);

killTest(
  "an upgrade that was killed before its copy is made, or between two steps, is completed by the next start, and the copy of the old database is whole",
  () => killedUpgrade(keptSchemas()[0]!),
  [{ count: 1, file: "jiss.db.schema-1.part" }, { count: 5, file: "jiss.db-wal" }],
);

killTest(
  "a restore that was killed with the database moved away, or before its record, forks nothing, and is completed by the same command",
  killedRestore,
  [{ count: 1, file: "jiss.db.restoring" }, { count: 2, file: "jiss.db-wal" }],
);
