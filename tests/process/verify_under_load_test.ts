/** Verifying a long chain takes long, and delays no other request. */
import assert from "node:assert/strict";
import { IS_SERVER } from "../database.ts";
import { scoreRequest } from "../harness.ts";
import { startWithLongChain } from "../long_chain.ts";

/** On a server, where this runs a second time, a shorter chain shows the same. */
const [ENTRIES, SCORES] = IS_SERVER ? [20_000, 200] : [50_000, 500];
const CONNECTIONS = 8;

Deno.test(`${SCORES} scores sent while a chain of ${ENTRIES} entries is verified are all answered before the verification is`, async () => {
  const { service, key, close } = await startWithLongChain({ entries: ENTRIES, operators: 1_000 });
  const answered: string[] = [];
  let sent = 0;
  async function score(): Promise<void> {
    while (sent < SCORES) {
      sent += 1;
      const body = scoreRequest({ session_id: `session-${sent}`, operator_id: `operator-${sent % 20}` });
      const { status } = await service.send("/v1/score", { key, body });
      answered.push(`score ${status}`);
    }
  }

  const verifying = service.send("/v1/audit/chain/verify", { key }).then((answer) => {
    answered.push(`verification ${answer.status}`);
    return answer.body;
  });
  await Promise.all([verifying, ...Array.from({ length: CONNECTIONS }, score)]);
  const verified = await verifying;
  await close();

  assert.deepEqual(answered, [...Array.from({ length: SCORES }, () => "score 200"), "verification 200"]);
  // The entries were written directly into the database and have no rows. That is the only finding.
  const codes = new Set(verified.findings.map(({ code }: { readonly code: string }) => code));
  assert.deepEqual([...codes], ["ROW_ALTERED"]);
  assert.ok(verified.entries_checked >= ENTRIES, `only ${verified.entries_checked} entries were verified`);
});
