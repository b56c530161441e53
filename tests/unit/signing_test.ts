/**
 * Signing keys: how a new one is added beside the old one, how each chain records it, how the old one is
 * retired, and processes whose files differ from the database.
 * Source: evidence design, section 11.
 */
import assert from "node:assert/strict";
import { scoreParametersSchema } from "../../src/domain/score.ts";
import { nestedScoreRequestSchema } from "../../src/http/routes/scores.ts";
import { equalBytes, type Signer } from "../../src/evidence/crypto.ts";
import { verifyDocument } from "../../src/evidence/document.ts";
import { nodeCrypto, signerFromPem } from "../../src/evidence/node_crypto.ts";
import { keyId, parseCheckpoint, parseNote, parseVerifierKey } from "../../src/evidence/note.ts";
import { parseRotationCertificate } from "../../src/evidence/rotation.ts";
import type { EvidencedAnswer } from "../../src/operations/shared/answers.ts";
import { anchorChains } from "../../src/operations/chains/anchoring.ts";
import type { Dependencies } from "../../src/operations/dependencies.ts";
import { scoreInteraction } from "../../src/operations/scoring/score.ts";
import { retireKey, type SignerSource, SigningKeys, takeInKey } from "../../src/operations/shared/signing.ts";
import { publicKeys } from "../../src/operations/chains/own_keys.ts";
import { StartError } from "../../src/operations/shared/start_error.ts";
import { Writer } from "../../src/store/writer.ts";
import { type Row, rowsOf } from "../earlier_schema.ts";
import {
  EPOCH,
  type Harness,
  type HarnessOptions,
  openHarness,
  pemOf,
  scoreRequest,
  signerFiles,
  SIGNING_KEY_PEM,
  withHarness,
} from "../harness.ts";

const FIRST = signerFromPem(SIGNING_KEY_PEM);
const [SECOND, THIRD, STRANGER] = ["second", "third", "strange"].map((name) =>
  signerFromPem(pemOf(`jiss test signing key, the ${name} one`))
) as [Signer, Signer, Signer];

const NAMES: readonly (readonly [name: string, signer: Signer])[] = [
  ["first", FIRST],
  ["second", SECOND],
  ["third", THIRD],
  ["strange", STRANGER],
];

// ---- fixtures ---------------------------------------------------------------------------------------------

let sessions = 0;

async function score({ send }: Pick<Harness, "send">, key: string) {
  sessions += 1;
  const answer = await send("/v1/score", { key, body: scoreRequest({ session_id: `s-${sessions}` }) });
  assert.equal(answer.status, 200, answer.text);
  return answer.body;
}

/** Scores as a request to another process would. */
function scoreBy(dependencies: Dependencies, orgId = "acme"): Promise<EvidencedAnswer> {
  sessions += 1;
  const request = {
    ...nestedScoreRequestSchema.parse(scoreRequest({ session_id: `s-${sessions}` })),
    ...scoreParametersSchema.parse({}),
  };
  const call = { now: EPOCH, requestId: `request-${sessions}` };
  return scoreInteraction(dependencies, { actor: "api", orgId, prefix: null }, { request, call });
}

/** Another process beside the harness, on the same database and lock. */
async function processBeside({ dependencies }: Harness, source: SignerSource): Promise<Dependencies> {
  const { database, crypto, seals, lock, world, log } = dependencies;
  const signing = new SigningKeys({ database, crypto, world, log, source });
  await signing.reload();
  const writer = new Writer({
    database,
    crypto,
    seals,
    lock,
    signing,
    monotonic: () => 0,
    backoff: () => Promise.resolve(),
  });
  return { ...dependencies, signing, writer };
}

/** The names of the signers of a note, in the order of its lines. */
function signersOf(note: string): readonly string[] {
  const { text, signatures } = parseNote(note);
  const { origin } = parseCheckpoint(text);
  return signatures.map((line) => {
    const known = NAMES.find(([, { publicKey }]) =>
      equalBytes(line.keyId, keyId(nodeCrypto, { name: origin, publicKey }))
    );
    return known?.[0] ?? "unknown";
  });
}

/** `<size> <signers>` of every checkpoint of a chain. */
async function signaturesOf(
  { database }: Pick<Harness, "database">,
  chain: string,
): Promise<readonly string[]> {
  const rows = await rowsOf(
    database,
    `SELECT size, note FROM audit_checkpoint WHERE chain = '${chain}' ORDER BY size`,
  );
  return rows.map(({ size, note }) => `${size} ${signersOf(String(note)).join(" ")}`);
}

interface RotationEvent {
  readonly seq: unknown;
  readonly ordinal: number | undefined;
  readonly overlap: boolean;
}

async function rotationsOf(
  { database }: Pick<Harness, "database">,
  chain: string,
): Promise<readonly RotationEvent[]> {
  const rows = await rowsOf(
    database,
    `SELECT seq, data FROM audit_entry JOIN audit_part USING (chain, seq)
      WHERE chain = '${chain}' AND event_type = 'SIGNING_KEY_ROTATED' ORDER BY seq`,
  );
  return rows.map(({ seq, data }) => {
    const { cert, overlap } = JSON.parse(String(data));
    return { seq, ordinal: parseRotationCertificate(nodeCrypto, cert)?.ordinal, overlap };
  });
}

const ownKeys = ({ database }: Pick<Harness, "database">): Promise<readonly Row[]> =>
  rowsOf(database, "SELECT chain, key_ordinal FROM audit_chain ORDER BY chain");

/** First check of an answer that fails for an auditor who pinned these keys; null if it verifies. */
function faultOf(body: Record<string, unknown>, signers: readonly Signer[]): string | null {
  return verifyDocument(nodeCrypto, body, {
    keysFor: (origin) => signers.map(({ publicKey }) => ({ name: origin, publicKey })),
  }).fault;
}

/** Ends the overlap of the last rotation, as `jiss rotate-signing-key --drop-old` does. */
async function dropOld(harness: Harness): Promise<void> {
  const { dependencies, clock } = harness;
  await dependencies.signing.refresh();
  await dependencies.signing.reload();
  await retireKey(dependencies, {
    current: dependencies.signing.current(),
    known: dependencies.signing.known,
    now: clock.now(),
  });
  await dependencies.signing.reload();
}

// ---- a rotation -------------------------------------------------------------------------------------------

Deno.test(
  "a rotation is an entry of the system chain at once, and the first commit under it has both signatures",
  withHarness(async (harness) => {
    await harness.organization("acme");
    await harness.rotateSigningKey(SECOND);
    assert.deepEqual(await signaturesOf(harness, "sys"), ["1 first", "2 second first"]);
    assert.deepEqual(await rotationsOf(harness, "sys"), [{ seq: 1, ordinal: 2, overlap: true }]);
    assert.deepEqual(await ownKeys(harness), [
      { chain: "org/acme", key_ordinal: 1 },
      { chain: "org/acme/admin", key_ordinal: 1 },
      { chain: "sys", key_ordinal: 2 },
    ]);
    const [, row] = await rowsOf(harness.database, "SELECT * FROM signing_key ORDER BY ordinal");
    const { certificate, ...rest } = row!;
    assert.deepEqual(rest, { ordinal: 2, public_key: SECOND.publicKey, from_size: 2, until_size: null });
    assert.deepEqual(parseRotationCertificate(nodeCrypto, String(certificate)), {
      prefix: "jiss.test/01TEST00000000000000000000/",
      ordinal: 2,
      oldKey: FIRST.publicKey,
      newKey: SECOND.publicKey,
      from: "2026-11-20T09:00:00.000Z",
      reason: "scheduled",
    });
  }),
);

Deno.test(
  "after a rotation the next commit of each chain records the key, once, and every later one has both signatures",
  withHarness(async (harness) => {
    const [acme, other] = [await harness.organization("acme"), await harness.organization("other")];
    await score(harness, acme);
    await harness.rotateSigningKey(SECOND);
    const first = await score(harness, acme);
    const second = await score(harness, acme);
    assert.deepEqual(await signaturesOf(harness, "org/acme"), [
      "1 first",
      "2 first",
      "4 second first",
      "5 second first",
    ]);
    assert.deepEqual(await rotationsOf(harness, "org/acme"), [{ seq: 3, ordinal: 2, overlap: true }]);
    assert.deepEqual(
      [first.evidence.entry.seq, second.evidence.entry.seq],
      [2, 4],
      "beside the score, not in its place",
    );
    assert.deepEqual(
      await rotationsOf(harness, "org/other"),
      [],
      "a chain without writes is left alone",
    );
    await score(harness, other);
    assert.deepEqual(await rotationsOf(harness, "org/other"), [{ seq: 2, ordinal: 2, overlap: true }]);
    assert.deepEqual(await rotationsOf(harness, "org/acme/admin"), []);
  }),
);

Deno.test(
  "in the overlap an answer verifies with the old key pinned, and with the new one",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    const before = await score(harness, key);
    await harness.rotateSigningKey(SECOND);
    const within = await score(harness, key);
    await dropOld(harness);
    const after = await score(harness, key);
    const verdicts = [before, within, after].map((body) =>
      [[FIRST], [SECOND], [FIRST, SECOND], [STRANGER]].map((pinned) => faultOf(body, pinned) === null)
    );
    assert.deepEqual(verdicts, [
      [true, false, true, false],
      [true, true, true, false],
      [false, true, true, false],
    ]);
  }),
);

Deno.test(
  "an organization that is created after a rotation starts with the new key",
  withHarness(async (harness) => {
    await harness.rotateSigningKey(SECOND);
    await harness.organization("acme");
    const rows = await rowsOf(
      harness.database,
      "SELECT chain, data ->> '$.vkey' AS vkey FROM audit_part WHERE seq = 0 AND chain <> 'sys' ORDER BY chain",
    );
    for (const { chain, vkey } of rows) {
      const { name, publicKey } = parseVerifierKey(nodeCrypto, String(vkey));
      assert.equal(name, `jiss.test/01TEST00000000000000000000/${chain}`);
      assert.deepEqual(publicKey, SECOND.publicKey);
      assert.deepEqual(await rotationsOf(harness, String(chain)), []);
    }
    assert.deepEqual(rows.map(({ chain }) => chain), ["org/acme", "org/acme/admin"]);
    assert.deepEqual(await signaturesOf(harness, "org/acme"), ["1 second first"]);
  }),
);

Deno.test(
  "a chain without writes during two rotations records both, in their order, in one commit",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    await harness.rotateSigningKey(SECOND);
    await dropOld(harness);
    await harness.rotateSigningKey(THIRD);
    assert.deepEqual(await rotationsOf(harness, "sys"), [
      { seq: 1, ordinal: 2, overlap: true },
      { seq: 2, ordinal: 2, overlap: false },
      { seq: 3, ordinal: 3, overlap: true },
    ]);
    await score(harness, key);
    assert.deepEqual(await rotationsOf(harness, "org/acme"), [
      { seq: 2, ordinal: 2, overlap: true },
      { seq: 3, ordinal: 3, overlap: true },
    ]);
    assert.deepEqual(await signaturesOf(harness, "org/acme"), ["1 first", "4 third second"]);
  }),
);

Deno.test(
  "during a rotation all writes are answered, and every chain has one entry of it",
  withHarness(async (harness) => {
    const keys: string[] = [];
    for (const orgId of ["a", "b", "c"]) keys.push(await harness.organization(orgId));
    const answers = await Promise.all([
      ...keys.map((key) => score(harness, key)),
      harness.rotateSigningKey(SECOND),
      ...keys.map((key) => score(harness, key)),
    ]);
    assert.equal(answers.length, 7);
    await Promise.all(keys.map((key) => score(harness, key)));
    for (const orgId of ["a", "b", "c"]) {
      assert.equal((await rotationsOf(harness, `org/${orgId}`)).length, 1, orgId);
    }
  }),
);

// ---- the end of the overlap -------------------------------------------------------------------------------

Deno.test(
  "the end of the overlap is an entry of the system chain alone, and from it on the old key signs nothing",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    await harness.rotateSigningKey(SECOND);
    await score(harness, key);
    await dropOld(harness);
    await score(harness, key);
    await anchorChains(harness.dependencies, EPOCH);
    assert.deepEqual(await signaturesOf(harness, "sys"), [
      "1 first",
      "2 second first",
      "3 second",
      "4 second",
    ]);
    assert.deepEqual(await signaturesOf(harness, "org/acme"), ["1 first", "3 second first", "4 second"]);
    assert.deepEqual(await rotationsOf(harness, "org/acme"), [{ seq: 2, ordinal: 2, overlap: true }]);
    const rows = await rowsOf(harness.database, "SELECT ordinal, from_size, until_size FROM signing_key");
    assert.deepEqual(rows, [
      { ordinal: 1, from_size: 0, until_size: 2 },
      { ordinal: 2, from_size: 2, until_size: null },
    ]);
  }),
);

Deno.test(
  "a retired key signs nothing even if a process still holds it, and a process with no other key writes nothing",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    await harness.organization("asleep");
    await harness.rotateSigningKey(SECOND);
    await dropOld(harness);
    // The harness's files still hold the first key beside the second.
    await score(harness, key);
    assert.deepEqual(await signaturesOf(harness, "org/acme"), ["1 first", "3 second"]);
    // A process whose files were put back to the retired key alone signs nothing, not even on a chain without
    // writes since.
    const files = signerFiles([SECOND, FIRST]);
    const putBack = await processBeside(harness, files);
    files.put([FIRST]);
    for (const orgId of ["acme", "asleep"]) {
      await assert.rejects(scoreBy(putBack, orgId), { code: "SERVICE_UNAVAILABLE" }, orgId);
    }
    assert.deepEqual(await signaturesOf(harness, "org/asleep"), ["1 first"]);
  }),
);

Deno.test(
  "the public keys are listed newest first, with the sizes of the system chain that each may sign",
  withHarness(async (harness) => {
    await harness.rotateSigningKey(SECOND);
    await dropOld(harness);
    await harness.rotateSigningKey(THIRD);
    const { keys } = await publicKeys(harness.dependencies);
    assert.deepEqual(
      keys.map((jwk: Record<string, unknown>) => [jwk.x, jwk["x-jiss-from"], jwk["x-jiss-until"]]),
      ([[THIRD, 4, null], [SECOND, 2, null], [FIRST, 0, 2]] as const).map(([signer, from, until]) => [
        signer.publicKey.toBase64({ alphabet: "base64url", omitPadding: true }),
        from,
        until,
      ]),
    );
  }),
);

// ---- files that are not the database's --------------------------------------------------------------------

Deno.test(
  "a process with the old file signs with the old key, and is refused on a chain that has the new one, until its file changes",
  withHarness(async (harness) => {
    const acme = await harness.organization("acme");
    await harness.organization("other");
    const files = signerFiles([FIRST]);
    const stale = await processBeside(harness, files);
    await harness.rotateSigningKey(SECOND);
    await scoreBy(stale);
    assert.deepEqual(await signaturesOf(harness, "org/acme"), ["1 first", "2 first"]);
    await score(harness, acme);
    await assert.rejects(scoreBy(stale), {
      code: "SERVICE_UNAVAILABLE",
      message: "The signing key was rotated, and this process does not have the new one yet.",
    });
    await scoreBy(stale, "other");
    files.put([SECOND, FIRST]);
    await scoreBy(stale);
    assert.deepEqual(await signaturesOf(harness, "org/acme"), [
      "1 first",
      "2 first",
      "4 second first",
      "5 second first",
    ]);
  }),
);

Deno.test(
  "a process with the last key but one brings a chain up to that key, and no further",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    await harness.rotateSigningKey(SECOND);
    await dropOld(harness);
    const files = signerFiles([SECOND]);
    const stale = await processBeside(harness, files);
    await harness.rotateSigningKey(THIRD);
    // It looks again, and finds the rotation in the database, but not in its file.
    files.put([SECOND]);
    await scoreBy(stale);
    assert.deepEqual((await rotationsOf(harness, "org/acme")).map(({ ordinal }) => ordinal), [2]);
    await score(harness, key);
    assert.deepEqual((await rotationsOf(harness, "org/acme")).map(({ ordinal }) => ordinal), [2, 3]);
    assert.deepEqual(await signaturesOf(harness, "org/acme"), ["1 first", "3 second", "5 third second"]);
  }),
);

Deno.test(
  "files with a key that the database does not know yet, or that cannot be read, change nothing",
  withHarness(async (harness) => {
    await harness.organization("acme");
    const files = signerFiles([FIRST]);
    let readable = true;
    const early = await processBeside(harness, {
      stamp: files.stamp,
      read() {
        if (!readable) throw new StartError("JISS_SIGNING_KEY_FILE cannot be read: check its permissions");
        return files.read();
      },
    });
    files.put([SECOND, FIRST]);
    await scoreBy(early);
    readable = false;
    files.put([]);
    await scoreBy(early);
    readable = true;
    files.put([SECOND, FIRST]);
    await scoreBy(early);
    assert.deepEqual(await signaturesOf(harness, "org/acme"), ["1 first", "2 first", "3 first", "4 first"]);
    const { signing } = early;
    await takeInKey(early, { current: signing.current(), next: SECOND, now: EPOCH, reason: "scheduled" });
    await scoreBy(early);
    assert.deepEqual((await signaturesOf(harness, "org/acme")).at(-1), "6 second first");
  }),
);

Deno.test(
  "a process that cannot read the new key says so, signs with the old one in the overlap, and records nothing once that is retired",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    const files = signerFiles([FIRST]);
    let readable = true;
    const behind = await processBeside(harness, {
      stamp: files.stamp,
      read() {
        if (!readable) throw new StartError("JISS_SIGNING_KEY_FILE cannot be read: check its permissions");
        return files.read();
      },
    });
    const lines = () =>
      harness.log.filter(({ msg }) => String(msg).startsWith("the signing key was rotated, but"));
    await scoreBy(behind);
    assert.deepEqual(lines(), []);
    readable = false;
    files.put([SECOND]);
    await harness.rotateSigningKey(SECOND);
    await scoreBy(behind);
    await scoreBy(behind);
    assert.deepEqual(lines().map(({ level }) => level), ["error"]);
    await dropOld(harness);
    await assert.rejects(scoreBy(behind), { code: "SERVICE_UNAVAILABLE" });
    assert.deepEqual(await signaturesOf(harness, "org/acme"), ["1 first", "2 first", "3 first", "4 first"]);
    readable = true;
    await scoreBy(behind);
    assert.equal((await signaturesOf(harness, "org/acme")).at(-1), "6 second");
    await score(harness, key);
  }),
);

// ---- starts -----------------------------------------------------------------------------------------------

/** Runs over one database and one lock, each a process after the one before. */
async function withRuns(
  test: (start: (options?: Pick<HarnessOptions, "signers">) => Promise<Harness>) => Promise<void>,
): Promise<void> {
  const directory = await Deno.makeTempDir({ prefix: "jiss-signing-" });
  let run = 0;
  try {
    await test((options = {}) =>
      openHarness({ path: `${directory}/jiss.db`, lockPath: `${directory}/lock.db`, run: run++, ...options })
    );
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}

const isStrangeKey = (error: unknown) =>
  error instanceof StartError && /another key than the one that signed/.test(error.message);

Deno.test("a file at the previous key's place before the first rotation is not signed with", () =>
  withRuns(async (start) => {
    const first = await start({ signers: [FIRST, STRANGER] });
    await first.organization("acme");
    for (const chain of ["sys", "org/acme"]) assert.deepEqual(await signaturesOf(first, chain), ["1 first"]);
    await first.close();
    const second = await start({ signers: [FIRST, STRANGER] });
    await second.organization("other");
    assert.deepEqual(await signaturesOf(second, "org/other"), ["1 first"]);
    await second.close();
  }));

Deno.test("a rotation that was cut short between its files and its entry is completed by the next start, once", () =>
  withRuns(async (start) => {
    const first = await start();
    const key = await first.organization("acme");
    await first.close();

    const second = await start({ signers: [SECOND, FIRST] });
    assert.deepEqual(await rotationsOf(second, "sys"), [{ seq: 1, ordinal: 2, overlap: true }]);
    await score(second, key);
    assert.deepEqual(await signaturesOf(second, "org/acme"), ["1 first", "3 second first"]);
    await second.close();

    const third = await start({ signers: [SECOND, FIRST] });
    assert.equal((await rotationsOf(third, "sys")).length, 1);
    await third.close();
  }));

Deno.test("a rotation that was cut short before its files is not made", () =>
  withRuns(async (start) => {
    await (await start()).close();
    // The present key is in both places.
    const second = await start({ signers: [FIRST, FIRST] });
    await second.organization("acme");
    assert.deepEqual(await rotationsOf(second, "sys"), []);
    await second.close();
  }));

Deno.test("a start is refused with an old key, whatever is beside it, and with one that no certificate connects", () =>
  withRuns(async (start) => {
    const first = await start();
    await first.organization("acme");
    await first.rotateSigningKey(SECOND);
    await first.close();
    for (
      const [why, signers] of [
        ["the old key, put back", [FIRST]],
        ["both keys, exchanged", [FIRST, SECOND]],
        ["an unknown key", [STRANGER]],
        ["a newer key with an old one as the previous one", [THIRD, FIRST]],
        ["a newer key beside another unknown one", [THIRD, STRANGER]],
      ] as const
    ) {
      await assert.rejects(start({ signers }), isStrangeKey, why);
    }
    const again = await start({ signers: [SECOND] });
    assert.equal((await rotationsOf(again, "sys")).length, 1);
    await again.organization("other");
    assert.deepEqual(await signaturesOf(again, "org/other"), ["1 second"]);
    await again.close();
  }));

Deno.test("a start after the overlap needs the new key alone, and a retired one beside it signs nothing", () =>
  withRuns(async (start) => {
    const first = await start();
    const key = await first.organization("acme");
    await first.rotateSigningKey(SECOND);
    await dropOld(first);
    await first.close();
    for (const signers of [[SECOND], [SECOND, FIRST]]) {
      const next = await start({ signers });
      await score(next, key);
      assert.ok((await signaturesOf(next, "org/acme")).at(-1)!.endsWith(" second"));
      await next.close();
    }
  }));
