/**
 * A database server limits an answer to 10 MB: a read of all chains continues in further answers if their
 * rows are larger. Source: platform facts, libSQL server; evidence design, section 10.
 */
import assert from "node:assert/strict";
import { MIGRATIONS } from "../../migrations/mod.ts";
import { nodeCrypto, signerFromPem } from "../../src/evidence/node_crypto.ts";
import { createLog } from "../../src/observability/log.ts";
import type { Dependencies } from "../../src/operations/dependencies.ts";
import { compareWithLock, followOtherHosts } from "../../src/operations/restoring/restores.ts";
import { loadChains } from "../../src/store/chains.ts";
import { query } from "../../src/store/database.ts";
import { openLock } from "../../src/store/lock.ts";
import { migrate } from "../../src/store/migrate.ts";
import { signaturesBy } from "../../src/store/proofs.ts";
import { findUnsignedHeads } from "../../src/store/signed_head.ts";
import { type WriteJob, Writer } from "../../src/store/writer.ts";
import { openServer } from "../database.ts";
import { EPOCH, SIGNING_KEY_PEM } from "../harness.ts";
import { fixedSeals } from "../seals.ts";
import { HAS_SQLD, setDurability, withSqld } from "../sqld.ts";

const CHAINS = 3_000;
/** With names this long, a few thousand chains are as much to read as many thousand. */
const PREFIX = `${"jiss.test.".repeat(400)}/01TEST00000000000000000000`;

/** Opens a chain with its first entry. */
function opening(family: string): WriteJob<void> {
  return {
    needs: [],
    chains: [family],
    plan(unit) {
      unit.openChain({
        chain: family,
        family,
        origin: `${PREFIX}/${family}`,
        epoch: 1,
        firstPosition: 0,
        keyOrdinal: 1,
      });
      unit.append(family, {
        id: `01${family}`,
        actor: "system",
        eventType: "CHAIN_GENESIS",
        orgId: null,
        prefix: null,
        subject: null,
        at: EPOCH,
        parts: [],
      });
      return () => undefined;
    },
  };
}

Deno.test({
  name: "all chains are read, compared with lock.db and followed though they exceed one answer [needs sqld]",
  ignore: !HAS_SQLD,
  fn: () =>
    withSqld(async (sqld) => {
      await setDurability(sqld, "strong");
      const database = openServer(sqld);
      await migrate(database, { migrations: MIGRATIONS, now: EPOCH });
      const lock = openLock({ path: ":memory:", onTrouble: assert.ifError });
      const signer = signerFromPem(SIGNING_KEY_PEM);
      const signing = signaturesBy(nodeCrypto, [signer.publicKey]);
      const source = { database, crypto: nodeCrypto, signing };
      const writer = new Writer({
        database,
        crypto: nodeCrypto,
        seals: fixedSeals(),
        signing: {
          ...signing,
          rows: query.selectFrom("signing_key").selectAll().compile(),
          update: () => ({ signers: [signer], ordinal: 1, rotations: () => [] }),
        },
        lock,
        monotonic: () => performance.now(),
        backoff: () => Promise.resolve(),
      });
      const families = ["sys", ...Array.from({ length: CHAINS }, (_, index) => `org/o${index}`)].sort();
      await Promise.all(families.map((family) => writer.submit(opening(family))));

      const chains = await loadChains(database);
      assert.deepEqual(chains.map(({ family }) => family), families);
      assert.ok(JSON.stringify(chains).length > 12_000_000, "exceeds one answer");
      assert.deepEqual(await findUnsignedHeads(source, chains), []);

      const log = createLog({
        format: "json",
        clock: () => EPOCH,
        write: (line) => assert.fail(line),
      });
      const follower = { ...source, log };
      assert.deepEqual(await compareWithLock({ ...follower, lock }), []);
      const others = openLock({ path: ":memory:", onTrouble: assert.ifError });
      // The other records of an installation are read only after a restore.
      const beside = { ...follower, lock: others } as unknown as Dependencies;
      assert.equal(await followOtherHosts(beside, { from: null, now: EPOCH }), 1);
      assert.deepEqual(
        others.issued().map(({ family, note }) => [family, note]),
        lock.issued().map(({ family, note }) => [family, note]),
      );

      const last = families.at(-1)!;
      const altered = chains.map((head) => head.family === last ? { ...head, lastTimestamp: "" } : head);
      const unsigned = await findUnsignedHeads(source, altered);
      assert.deepEqual(unsigned.map(({ family }) => family), [last]);
      await writer.close();
      await database.close();
    }),
});
