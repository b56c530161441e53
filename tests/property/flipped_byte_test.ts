/**
 * A file of all chains that the running service exports is never accepted with a single byte changed.
 * tests/property/bundle_test.ts has the other laws of change, on a bundle built for them.
 */
import assert from "node:assert/strict";
import fc from "fast-check";
import { utf8 } from "../../src/evidence/crypto.ts";
import { nodeCrypto, signerFromPem } from "../../src/evidence/node_crypto.ts";
import type { PinnedKey } from "../../src/evidence/trust.ts";
import { BundleVerifier } from "../../src/evidence/verifier.ts";
import { anchorChains } from "../../src/operations/chains/anchoring.ts";
import { pruneChains } from "../../src/operations/chains/retention.ts";
import { retireKey } from "../../src/operations/shared/signing.ts";
import { bundleOf } from "../auditing.ts";
import { linesOf } from "../bundle_tampering.ts";
import { type Harness, openHarness, pemOf, scoreRequest, SIGNING_KEY_PEM } from "../harness.ts";
import { overallVerdict } from "../verification.ts";

const SEED = 20_261_121;
const DAY = 86_400_000;

/** The file of all chains after a month with labels, a removal, an erasure and a new key. */
async function handedOut({ overlap }: { readonly overlap: boolean }): Promise<string> {
  const harness = await openHarness({ evidenceRetentionDays: 30 });
  const { clock, dependencies } = harness;
  try {
    const key = await harness.organization("acme");
    await review(harness, key, "first");
    clock.advance(DAY);
    await review(harness, key, "second");
    clock.advance(40 * DAY);
    await review(harness, key, "third");
    await pruneChains(dependencies, clock.now());
    await harness.send("/v1/operator/erased", { key, method: "DELETE" });
    await harness.rotateSigningKey(signerFromPem(pemOf("the next key")));
    if (!overlap) await dropOldKey(harness);
    await review(harness, key, "fourth");
    await anchorChains(dependencies, clock.now());
    const families = ["sys", "org/acme", "org/acme/admin"];
    return (await Promise.all(families.map((family) => bundleOf(harness, family)))).join("");
  } finally {
    await harness.close();
  }
}

async function review({ send }: Harness, key: string, name: string): Promise<void> {
  for (const operator_id of ["erased", "other"]) {
    const session_id = `${name}-${operator_id}`;
    const body = scoreRequest({ session_id, operator_id }, { outcome_correct: null });
    assert.equal((await send("/v1/score", { key, body })).status, 200);
    const committed = await send(`/v1/score/${session_id}/commit`, { key, body: { outcome_correct: true } });
    assert.equal(committed.status, 200);
  }
}

async function dropOldKey({ dependencies, clock }: Harness): Promise<void> {
  const { signing } = dependencies;
  const current = await signing.refresh();
  await signing.reload();
  await retireKey(dependencies, { current, known: signing.known, now: clock.now() });
  await signing.reload();
}

const { publicKey } = signerFromPem(SIGNING_KEY_PEM);
const PINS: readonly PinnedKey[] = [{ publicKey, prefix: null, from: null, until: null }];

function exitCodeOf(bytes: Uint8Array): number {
  const verifier = new BundleVerifier(nodeCrypto, { pins: PINS, known: [], expected: [], replay: true });
  verifier.push(bytes);
  return overallVerdict(verifier.end()).exitCode;
}

function assertFound(file: Uint8Array, { at, mask }: { readonly at: number; readonly mask: number }): void {
  const bytes = file.slice();
  bytes[at]! ^= mask;
  const around = new TextDecoder().decode(file.subarray(Math.max(0, at - 40), at + 40));
  assert.notEqual(exitCodeOf(bytes), 0, `byte ${at} ^ ${mask}, in ${JSON.stringify(around)}`);
}

/** The start of each line, and its length with its line feed. */
function placesOf(
  text: string,
): readonly { readonly line: string; readonly start: number; readonly length: number }[] {
  let start = 0;
  return linesOf(text).map((line) => {
    const place = { line, start, length: utf8(line).length + 1 };
    start += place.length;
    return place;
  });
}

const TEXT = await handedOut({ overlap: false });
const FILE = utf8(TEXT);

Deno.test("the file whose bytes are changed is intact, and holds every kind of line", () => {
  assert.equal(exitCodeOf(FILE), 0);
  const wanted = [
    '{"base":',
    '"jis.model/1"',
    '"jis.ladder/1"',
    '"event_type":"RETENTION_PRUNED"',
    '"event_type":"OUTCOME_LABELLED"',
    '"overlap":true',
    '"overlap":false',
    '\n{"erased":true,',
    '"event_type":"ORG_CHECKPOINTS"',
    '{"bundle_sha256":',
  ];
  assert.deepEqual(wanted.filter((piece) => !TEXT.includes(piece)), []);
});

Deno.test("an exported file is not accepted with any one byte of any of its lines changed", () => {
  for (const [index, { start, length }] of placesOf(TEXT).entries()) {
    assertFound(FILE, { at: start + (index * 7919) % length, mask: 1 << (index % 8) });
  }
});

Deno.test("an exported file is not accepted with any byte changed to any value", () => {
  const change = fc.record({ at: fc.nat({ max: FILE.length - 1 }), mask: fc.integer({ min: 1, max: 255 }) });
  fc.assert(fc.property(change, (flip) => assertFound(FILE, flip)), { seed: SEED, numRuns: 500 });
});

for (const overlap of [false, true]) {
  const signed = overlap ? "that two keys sign" : "that one key signs";
  Deno.test(`the last line of a bundle ${signed} is not accepted with any of its bytes changed`, async () => {
    const text = overlap ? await handedOut({ overlap }) : TEXT;
    // The bundle of the system chain: it comes first and is short.
    const end = placesOf(text).findIndex(({ line }) => line.startsWith('{"bundle_sha256":')) + 1;
    const { start, length } = placesOf(text)[end - 1]!;
    const bundle = utf8(text).subarray(0, start + length);
    for (let at = start; at < start + length; at += 1) assertFound(bundle, { at, mask: 1 });
  });
}
