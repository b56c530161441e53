/** The auditor's certificate on outcomes that few files have: cut chains, certified keys, lists that are full. */
import assert from "node:assert/strict";
import { certificateOf } from "../../src/cli/auditor_certificate.ts";
import { keptResults } from "../../src/cli/certificate_kept.ts";
import type { Given, Outcome } from "../../src/cli/verify_outcome.ts";
import { SHOWN_BUNDLES } from "../../src/evidence/shown_reports.ts";
import { bundle, checkpointOf, document, finding, ORIGIN, outcome } from "../outcomes.ts";

function given(fields: Partial<Given> = {}): Given {
  return {
    files: [{ name: "acme.ndjson", size: 7, sha256: "ab".repeat(32) }],
    keys: [{ fingerprint: "SHA256:key", source: { file: "jwks.json" }, isRetired: false }],
    checkpoints: [],
    directory: null,
    ...fields,
  };
}

/** The page of an outcome as text. */
function textOf(fields: Partial<Outcome>): string {
  const page = certificateOf(outcome({ given: given(), ...fields }), {
    version: "1.2.3",
    verifiedAt: "2026-12-01T10:20:30.000Z",
  });
  return page.slice(page.indexOf("<body>")).replace(/<\/?(?:bdi|code|strong)>/g, "").replace(/<[^>]+>/g, "\n")
    .replace(/\n\s*/g, "\n");
}

Deno.test("a chain of which the first entries were removed: the last part alone was verified", () => {
  const text = textOf({ bundles: [bundle({ base: 5, entries: 2 })] });
  assert.match(text, /\nEntries\n2, from 5 on; the chain has 7\n/);
  assert.match(
    text,
    /\nEntries 0 to 4 of jiss\.test\/01J\/org\/acme: only the last part of this chain is in the file\.\n/,
  );
  assert.match(textOf({ bundles: [bundle({ base: 1 })] }), /\nEntry 0 of jiss\.test/);
  const many = Array.from({ length: 10 }, (_, index) => bundle({ base: 3, origin: `${ORIGIN}-${index}` }));
  assert.match(
    textOf({ bundles: many }),
    /\nThe first entries of 2 other chains: only the last part is in the file\.\n/,
  );
});

Deno.test("how each key came to be trusted is said, and a retired one is called so", () => {
  const trustOf = (fields: Parameters<typeof bundle>[0], more: Partial<Given> = {}) =>
    /\nTrust\n(.+)\n/.exec(textOf({ bundles: [bundle(fields)], given: given(more) }))![1];
  assert.equal(trustOf({}), "given in the file jwks.json (--key)");
  assert.equal(
    trustOf({ keyFingerprint: "SHA256:next" }),
    "rotation certificates join this key to one of the keys below",
  );
  assert.equal(
    trustOf({}, { keys: [{ fingerprint: "SHA256:key", source: "text", isRetired: false }] }),
    "given as a text (--key)",
  );
  assert.equal(
    trustOf({ isKeyTrusted: false }),
    "none: no key that was given signed the file. It names this key itself",
  );
  assert.equal(trustOf({ keyFingerprint: null, isKeyTrusted: false }), "no key could be read");
  const text = textOf({
    bundles: [bundle()],
    given: given({
      keys: [{ fingerprint: "SHA256:old", source: "memory", isRetired: true }],
      directory: "memory",
    }),
  });
  assert.match(text, /\nRetired key\nSHA256:old, an earlier verification trusted it and kept it in memory\n/);
});

Deno.test("each kept checkpoint has its result, and those of a memory with the same one stand together", () => {
  const [agreeing, older, newer] = [checkpointOf(5, 5), checkpointOf(3, 3), checkpointOf(6, 6)];
  const [fork, stranger, open, skipped] = [4, 2, 1, 7].map((size) => checkpointOf(size, 9 + size));
  const elsewhere = { ...checkpointOf(8, 8), origin: "jiss.test/01J/org/other" };
  const bundles = [
    bundle({
      agreed: [agreeing, older, newer],
      contradicted: [fork!],
      untrustedKept: [stranger!],
      uncompared: [{ reason: "unlinkable", checkpoint: open!, anchor: null }],
      census: {
        first: "2026-11-01T00:00:01.000Z",
        last: "2026-11-20T09:00:00.000Z",
        operators: 2,
        erasedOperators: 1,
        keptAt: new Map([[6, "2026-11-19T08:00:00.000Z"]]),
      },
    }),
  ];
  const checkpoints = [agreeing, older, newer, fork!, stranger!, open!, skipped!, elsewhere].map((
    checkpoint,
  ) => ({
    checkpoint,
    file: null,
  }));
  const verified = outcome({ bundles, given: given({ checkpoints, directory: "memory" }) });
  assert.deepEqual(
    keptResults(verified).map(({ result }) => result),
    ["agrees", "agrees", "agrees", "contradicts", "untrusted", "not compared", "not reached", "no file"],
  );
  const text = textOf(verified);
  assert.match(
    text,
    /\n6 entries\nof jiss\.test\/01J\/org\/acme, the last of 2026-11-19 08:00:00 UTC, root (?:06){32}, kept in memory: agrees: this verification starts from it\. The same is true of 2 smaller\.\n/,
  );
  assert.match(
    text,
    /\nStarts from\nyour kept checkpoint of 6 entries, the last of 2026-11-19 08:00:00 UTC\n/,
  );
  assert.match(text, /\nEarlier verifications: 4 kept checkpoints compared /);
  assert.match(text, /\n4 kept checkpoints not compared, for the reasons above\.\n/);
  assert.match(text, /\nPeriod\n2026-11-01 00:00:01 UTC to 2026-11-20 09:00:00 UTC, as the entries state\n/);
});

Deno.test("a saved answer agrees with the kept checkpoint that it carries, and contradicts another root of its size", () => {
  const resultsOf = (isForked: boolean) =>
    keptResults(outcome({
      documents: [document({ isForked })],
      given: given({
        checkpoints: [checkpointOf(5, 0xcd), checkpointOf(5, 1)].map((checkpoint) => ({
          checkpoint,
          file: "kept.txt",
        })),
      }),
    })).map(({ result }) => result);
  assert.deepEqual(resultsOf(false), ["agrees", "not reached"]);
  assert.deepEqual(resultsOf(true), ["agrees", "contradicts"]);
});

Deno.test("what was kept of another epoch or of the system chain is named as the start", () => {
  const startOf = (fields: Parameters<typeof bundle>[0]) =>
    /\nStarts from\n(.+)\n/.exec(textOf({ bundles: [bundle(fields)] }))![1];
  assert.equal(startOf({ isOfKeptFamily: true }), "what you kept of another epoch of this chain");
  assert.equal(startOf({ isOfKeptSystem: true }), "what you kept of the system chain");
  assert.equal(startOf({}), "nothing: no checkpoint of this chain was given");
  assert.doesNotMatch(
    textOf({ bundles: [bundle({ isOfKeptSystem: true })] }),
    /Whether history was rewritten/,
  );
});

Deno.test("findings that were not kept are counted, and what information leaves open is not checked", () => {
  const text = textOf({
    bundles: [bundle({
      verdict: "TAMPERED",
      exitCode: 1,
      findings: [finding({ line: 9 }), finding({ code: "STATE_UNANCHORED", fatal: false, seq: 2 })],
      counts: { LINK_BROKEN: 11, STATE_UNANCHORED: 1, MISSING: 2 },
      dropped: 12,
    })],
  });
  assert.match(text, /\nFault LINK_BROKEN: Entry 3 was changed [^\n]*\. \(line 9\)\n/);
  assert.match(text, /\nInformation STATE_UNANCHORED: From entry 2 on, /);
  assert.match(text, /\nLINK_BROKEN: 10 more, which the program counted and did not keep\.\n/);
  assert.match(text, /\nMISSING: 2 more, which /);
  assert.match(
    text,
    /\njiss\.test\/01J\/org\/acme: From entry 2 on, the file has operators whose earlier entries /,
  );
});

Deno.test("of very many bundles the worst stand one by one, and the others are counted", () => {
  const many = Array.from(
    { length: SHOWN_BUNDLES + 3 },
    (_, index) => bundle({ origin: `${ORIGIN}-${index}` }),
  );
  const text = textOf({ bundles: many });
  assert.equal(text.match(/\nStarts from\n/g)!.length, SHOWN_BUNDLES);
  assert.match(text, /\nAnd 3 more: 3 INTACT\. jiss verify --json lists each of them\.\n/);
  assert.match(text, /\nChains\n67 chains\n/);
  assert.match(text, /-6, jiss\.test\/01J\/org\/acme-7 and 59 other chains\.\n/);
});

Deno.test("a page that this program did not draw, and a batch without its bundle, leave words and numbers unchecked", () => {
  const text = textOf({
    documents: [
      document({ page: "other" }),
      document({
        file: "batch.json",
        isCompared: false,
        report: { ...document().report!, kind: "batch" },
      }),
    ],
  });
  assert.match(text, /\nNOT VERIFIABLE\n/);
  assert.match(
    text,
    /\nThe words and figures of the page answer\.json: only the signed report in it was verified\.\n/,
  );
  assert.match(text, /\nThe numbers in batch\.json: its evidence proves its entries alone\.\n/);
  assert.match(text, /\nSaved pages: whether each is, to the letter, /);
});
