/**
 * Tampering over several chains or epochs, and the verifier's findings: the rows of
 * tests/tamper_chain_rows.ts.
 */
import assert from "node:assert/strict";
import { nodeCrypto } from "../../src/evidence/node_crypto.ts";
import { fingerprint } from "../../src/evidence/trust.ts";
import { buildWorld } from "../bundle_builder.ts";
import {
  ANCHOR_ROWS,
  DEPLOYMENT_ROWS,
  ENDED_ROWS,
  K1,
  K2,
  KEY_ROWS,
  MEMORY_ROWS,
  OLD_EXPORT_ROWS,
  ORG,
  pinned,
  POLICY_ROWS,
  PRUNED_ROWS,
  RESTORE_ROWS,
  type SeveralRow,
} from "../tamper_chain_rows.ts";
import { REMOVED_EPOCH_ROWS } from "../removed_epoch_rows.ts";
import { assertReport, overallVerdict, run, verify } from "../verification.ts";

// ---- removed prefixes -------------------------------------------------------------------------------------------

run(PRUNED_ROWS);

run(POLICY_ROWS);

// ---- successive keys ------------------------------------------------------------------------------------------

run(KEY_ROWS);

Deno.test("the report has the fingerprint of the newest trusted key that signed", () => {
  assert.equal(
    verify(ORG, { pins: pinned(K1) })[0]!.keyFingerprint,
    fingerprint(nodeCrypto, K2.publicKey),
  );
  assert.equal(verify(ORG, { pins: null })[0]!.keyFingerprint, fingerprint(nodeCrypto, K2.publicKey));
  const stranger = buildWorld({ seed: "stranger" }).newSigner(1);
  const [untrusted] = verify(ORG, { pins: pinned(stranger) });
  assert.equal(untrusted!.keyFingerprint, fingerprint(nodeCrypto, K1.publicKey));
});

// ---- restores and anchors -------------------------------------------------------------------------------------

function runSeveral(rows: readonly SeveralRow[]): void {
  for (const { name, text, options, reports, overall } of rows) {
    Deno.test(name, () => {
      const actual = verify(text, options);
      assert.equal(actual.length, reports.length);
      for (const [index, report] of actual.entries()) assertReport(report, reports[index]!);
      assert.deepEqual(overallVerdict(actual), overall);
    });
  }
}

runSeveral(RESTORE_ROWS);

runSeveral(ENDED_ROWS);

runSeveral(REMOVED_EPOCH_ROWS);

runSeveral(ANCHOR_ROWS);

// ---- kept checkpoints that are not compared -------------------------------------------------------------------

runSeveral(DEPLOYMENT_ROWS);

runSeveral(MEMORY_ROWS);

runSeveral(OLD_EXPORT_ROWS);
