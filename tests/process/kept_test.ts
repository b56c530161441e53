/**
 * A kept checkpoint cannot be sidestepped. The holder of the signing key can show a history that never
 * reaches it: below a retention cut, after a restore, or in a new deployment. `jiss verify` then ends with 2
 * and says what to ask for. If an honest service gives that, it ends with 0.
 */
import assert from "node:assert/strict";
import { pruneChains } from "../../src/operations/chains/retention.ts";
import { bundleOf, jwksOf, save, score, verifyProgram, withDirectory } from "../auditing.ts";
import { type Harness, openHarness, scoreRequest } from "../harness.ts";
import {
  backUpDatabase,
  createOrganization,
  type Deployment,
  freshDeployment,
  type RunningService,
  runProgram,
  startService,
} from "../program.ts";

const DAY = 86_400_000;
const NOT_COMPARED = "INTACT, NOT COMPARED";

/** Verdict and exit code of all, the verdict of each bundle, and the sentence. */
async function judged(files: readonly string[], ...args: readonly string[]) {
  const { code, report, stderr } = await verifyProgram([...files, ...args, "--json"]);
  assert.notEqual(report, null, stderr);
  assert.equal(report.exit_code, code);
  return {
    code,
    verdict: report.verdict,
    sentence: report.sentence as string,
    verdicts: [...report.bundles, ...report.documents].map(({ verdict }: { verdict: string }) => verdict),
  };
}

async function assertJudged(
  files: readonly string[],
  args: readonly string[],
  [code, verdict, sentence]: readonly [number, string, RegExp?],
): Promise<void> {
  const result = await judged(files, ...args);
  assert.deepEqual([result.code, result.verdict], [code, verdict], JSON.stringify(result));
  if (sentence !== undefined) assert.match(result.sentence, sentence);
}

// ---- below a retention cut --------------------------------------------------------------------------------------

interface Aged {
  readonly harness: Harness;
  readonly key: string;
}

/** A service that keeps 30 days, with the given scores on its first day. */
async function freshChain(sessions: readonly string[]): Promise<Aged> {
  const harness = await openHarness({ evidenceRetentionDays: 30, auditRetentionDays: 30 });
  const key = await harness.organization("acme");
  for (const session of sessions) await score(harness, key, session);
  return { harness, key };
}

/** Adds a score on the first day, one 40 days later, and prunes the first day. */
async function addAndPrune({ harness, key }: Aged): Promise<void> {
  await score(harness, key, "s-4");
  harness.clock.advance(40 * DAY);
  await score(harness, key, "s-5");
  await pruneChains(harness.dependencies, harness.clock.now());
}

async function exported({ harness, key }: Aged, query = ""): Promise<string> {
  const { status, text } = await harness.send(`/v1/audit/chain/export${query}`, { key });
  assert.equal(status, 200, text);
  return text;
}

Deno.test("a history that was rewritten and then pruned is not compared: 2; a bundle with a link tells it from an honest cut", () =>
  withDirectory(async (directory) => {
    const honest = await freshChain(["s-1", "s-2", "s-3"]);
    const jwks = await save(directory, "jwks.json", await jwksOf(honest.harness));
    const state = `${directory}/memory`;
    const first = await save(directory, "first.ndjson", await exported(honest));
    await assertJudged([first], ["--key", jwks, "--state", state], [0, "INTACT, UNANCHORED"]);
    const answer = await save(directory, "answer.json", await score(honest.harness, honest.key, "s-more"));
    const memory = await Deno.readTextFile(`${state}/jiss-memory.json`);
    await addAndPrune(honest);
    const plain = await save(directory, "plain.ndjson", await exported(honest));
    const linked = await save(directory, "linked.ndjson", await exported(honest, "?link=4"));
    const both = await save(directory, "both.ndjson", await exported(honest, "?link=5,4"));

    const rewritten = await freshChain(["s-1", "forged-2", "forged-3", "forged-more"]);
    await addAndPrune(rewritten);
    const sidestep = await save(directory, "sidestep.ndjson", await exported(rewritten));
    const contradiction = await save(
      directory,
      "contradiction.ndjson",
      await exported(rewritten, "?link=4,5"),
    );

    // By themselves both are intact. Only the kept checkpoint tells them apart.
    for (const file of [plain, sidestep]) {
      await assertJudged([file], ["--key", jwks], [0, "INTACT, UNANCHORED"]);
      await assertJudged([file], ["--state", state], [
        2,
        NOT_COMPARED,
        /Your checkpoint of 4 entries is older .* jiss export --org acme --link 4, or .* GET \/v1\/audit\/chain\/export\?link=4\./,
      ]);
      await assertJudged([file], ["--key", jwks, "--checkpoint", answer], [2, NOT_COMPARED, /--link 5/]);
      await assertJudged([file, answer], ["--key", jwks], [2, NOT_COMPARED]);
    }
    assert.equal(await Deno.readTextFile(`${state}/jiss-memory.json`), memory, "nothing of it is remembered");
    await assertJudged([contradiction], ["--state", state], [1, "DIVERGED"]);
    await assertJudged([contradiction, answer], ["--key", jwks], [1, "DIVERGED"]);
    await assertJudged([contradiction], ["--key", jwks, "--checkpoint", answer], [1, "DIVERGED"]);
    await assertJudged([both, answer], ["--key", jwks], [0, "INTACT, UNANCHORED"]);
    await assertJudged([both], ["--key", jwks, "--checkpoint", answer], [0, "INTACT"]);
    await assertJudged([linked], ["--state", state], [0, "INTACT"]);
    // A linked checkpoint covers the older ones, which need no link any more.
    await assertJudged([plain], ["--state", state], [0, "INTACT"]);
    await assertJudged([sidestep], ["--state", state], [1, "DIVERGED"]);
    await honest.harness.close();
    await rewritten.harness.close();
  }));

Deno.test("each chain can be linked, the audit log too; a size that no chain has is refused over HTTP with 422", () =>
  withDirectory(async (directory) => {
    const aged = await freshChain(["s-1"]);
    const jwks = await save(directory, "jwks.json", await jwksOf(aged.harness));
    const first = await save(directory, "first.ndjson", await exported(aged, "?chain=admin"));
    const state = `${directory}/memory`;
    await assertJudged([first], ["--key", jwks, "--state", state], [0, "INTACT, UNANCHORED"]);
    // Another entry of the same day, so that the kept size is not a day's end.
    const rotated = await aged.harness.send("/v1/admin/key/rotate", { key: aged.key, method: "POST" });
    assert.equal(rotated.status, 200, rotated.text);
    const key = rotated.body.new_api_key;
    await addAndPrune({ ...aged, key });
    const now = { ...aged, key };
    const plain = await save(directory, "plain.ndjson", await exported(now, "?chain=admin"));
    await assertJudged([plain], ["--state", state], [2, NOT_COMPARED, /\?chain=admin&link=2\./]);
    const linked = await save(directory, "linked.ndjson", await exported(now, "?chain=admin&link=2"));
    await assertJudged([linked], ["--state", state], [0, "INTACT"]);
    for (const link of ["0", "1,", "x", "1e3", "99", Array(65).fill("1").join(",")]) {
      const { status, body } = await aged.harness.send(`/v1/audit/chain/export?link=${link}`, { key });
      assert.deepEqual([status, body.error.code], [422, "VALIDATION_FAILED"], link);
    }
    await aged.harness.close();
  }));

// ---- after a restore --------------------------------------------------------------------------------------------

async function scored(service: RunningService, key: string, session: string) {
  const { status, body } = await service.send("/v1/score", {
    key,
    body: scoreRequest({ session_id: session, operator_id: "operator-1" }),
  });
  assert.equal(status, 200, JSON.stringify(body));
  return body;
}

/** The bundle of every epoch of a chain, in a file of its own. */
async function exportedBy(
  { directory, env }: Deployment,
  name: string,
  ...args: readonly string[]
): Promise<string> {
  const path = `${directory}/${name}`;
  const { code, stderr } = await runProgram(["export", "--org", "acme", ...args, "-o", path], { env });
  assert.equal(code, 0, stderr);
  return path;
}

Deno.test("the epoch after a restore, shown alone, is not compared: 2; with the epoch before it: 0", async () => {
  const deployment = await freshDeployment();
  const { directory, env } = deployment;
  let service = await startService(["serve"], { env });
  const key = await createOrganization(service, env);
  await scored(service, key, "s-1");
  const jwks = await save(directory, "jwks.json", (await service.send("/.well-known/jwks.json")).body);
  const state = `${directory}/memory`;
  const before = await exportedBy(deployment, "before.ndjson");
  await assertJudged([before], ["--key", jwks, "--state", state], [0, "INTACT, UNANCHORED"]);
  const answer = await save(directory, "answer.json", await scored(service, key, "s-2"));
  await service.stop();
  const putBack = await backUpDatabase(env.JISS_DATA_DIR!, `${directory}/backup`);
  service = await startService(["serve"], { env });
  await scored(service, key, "s-3");
  await service.stop();
  await putBack();
  const { code, stderr } = await runProgram(["restore", "--acknowledge", "the disk failed"], { env });
  assert.equal(code, 0, stderr);
  service = await startService(["serve"], { env });
  await scored(service, key, "s-4");

  const all = await exportedBy(deployment, "all.ndjson");
  const epochs = (await Deno.readTextFile(all)).split(/^(?=\{[^\n]*"kind":"jis\.bundle\/)/m);
  assert.equal(epochs.length, 2);
  const [older, newer] = [
    await save(directory, "older.ndjson", epochs[0]),
    await save(directory, "newer.ndjson", epochs[1]),
  ];
  const memory = await Deno.readTextFile(`${state}/jiss-memory.json`);
  const sentence =
    /Your checkpoint of \d+ entries is of .*\/org\/acme, another epoch of this chain, .* a new export of all epochs/;
  await assertJudged([newer], ["--state", state], [2, NOT_COMPARED, sentence]);
  await assertJudged([newer], ["--key", jwks, "--checkpoint", answer], [2, NOT_COMPARED, sentence]);
  await assertJudged([newer, answer], ["--key", jwks], [2, NOT_COMPARED, sentence]);
  assert.equal(await Deno.readTextFile(`${state}/jiss-memory.json`), memory);
  await assertJudged([newer], ["--key", jwks], [0, "INTACT, UNANCHORED", /You kept nothing of this chain/]);
  const visit = await judged([older, newer], "--state", state);
  assert.deepEqual([visit.code, visit.verdicts], [0, ["INTACT", "INTACT, UNANCHORED"]]);
  assert.match(
    visit.sentence,
    /of one history with another epoch of its chain, which agrees with what you kept/,
  );
  assert.equal((await judged([all], "--key", jwks, "--checkpoint", answer)).code, 0);
  // From then on the memory knows the new epoch, too. Now the old one alone hides the new one.
  await assertJudged([newer], ["--state", state], [0, "INTACT"]);
  await assertJudged([older], ["--state", state], [
    2,
    NOT_COMPARED,
    /is of .*\/org\/acme\/e2, another epoch/,
  ]);
  await service.stop();
  await deployment.remove();
});

// ---- a new deployment -------------------------------------------------------------------------------------------

Deno.test("a new deployment under a known key and organization is not compared: 2; another organization's, and the first visit ever: 0", () =>
  withDirectory(async (directory) => {
    const [old, anew] = [await freshDeployment(), await freshDeployment()];
    const oldService = await startService(["serve"], { env: old.env });
    const oldKey = await createOrganization(oldService, old.env);
    await scored(oldService, oldKey, "s-1");
    const jwks = await save(directory, "jwks.json", (await oldService.send("/.well-known/jwks.json")).body);
    const state = `${directory}/memory`;
    const known = await exportedBy(old, "known.ndjson");
    const { body: { note } } = await oldService.send("/v1/audit/checkpoint", { key: oldKey });
    const checkpoint = await save(directory, "checkpoint.txt", note);
    await oldService.stop();
    const signingKey = await Deno.readFile(`${old.env.JISS_DATA_DIR}/signing-key.pem`);
    await Deno.writeFile(`${anew.env.JISS_DATA_DIR}/signing-key.pem`, signingKey);
    const service = await startService(["serve"], { env: anew.env });
    const key = await createOrganization(service, anew.env);
    const answer = await save(directory, "answer.json", await scored(service, key, "s-1"));
    const otherKey = await createOrganization(service, anew.env, "other");
    await scored(service, otherKey, "s-1");
    const shown = await exportedBy(anew, "shown.ndjson");
    const admin = await exportedBy(anew, "admin.ndjson", "--chain", "admin");
    const otherFile = `${directory}/other.ndjson`;
    await runProgram(["export", "--org", "other", "-o", otherFile], { env: anew.env });

    await assertJudged([known], ["--key", jwks, "--state", state], [0, "INTACT, UNANCHORED"]);
    const memory = await Deno.readTextFile(`${state}/jiss-memory.json`);
    const sentence =
      /also signed your checkpoint of 2 entries of .*\/org\/acme, in another deployment, .* --state directory/;
    for (const file of [shown, admin]) {
      await assertJudged([file], ["--state", state], [2, NOT_COMPARED, sentence]);
    }
    await assertJudged([answer], ["--state", state], [
      2,
      NOT_COMPARED,
      /not compared with your checkpoint of 2 entries/,
    ]);
    assert.equal(await Deno.readTextFile(`${state}/jiss-memory.json`), memory);
    await assertJudged([shown], ["--key", jwks, "--checkpoint", checkpoint], [2, NOT_COMPARED, sentence]);
    // Without any kept checkpoint there is nothing to compare.
    await assertJudged([shown], ["--key", jwks, "--state", `${directory}/anew`], [0, "INTACT, UNANCHORED"]);
    await assertJudged([otherFile], ["--state", state], [0, "INTACT, UNANCHORED"]);
    await assertJudged([known], ["--state", state], [0, "INTACT"]);
    await service.stop();
    await old.remove();
    await anew.remove();
  }));

Deno.test("a new deployment that begins with the known deployment's next key is not compared: 2, also together with other files", () =>
  withDirectory(async (directory) => {
    const [old, anew] = [await freshDeployment(), await freshDeployment()];
    const oldService = await startService(["serve"], { env: old.env });
    const oldKey = await createOrganization(oldService, old.env);
    await scored(oldService, oldKey, "s-1");
    const jwksOf = async (name: string) =>
      await save(directory, name, (await oldService.send("/.well-known/jwks.json")).body);
    const exportedSystem = async (name: string) => {
      const path = `${directory}/${name}`;
      const { code, stderr } = await runProgram(["export", "--chain", "system", "-o", path], {
        env: old.env,
      });
      assert.equal(code, 0, stderr);
      return path;
    };
    const state = `${directory}/memory`;
    const first = [await exportedSystem("first-sys.ndjson"), await exportedBy(old, "first.ndjson")];
    const oldKeys = await jwksOf("old.json");
    await assertJudged(first, ["--key", oldKeys, "--state", state], [0, "INTACT, UNANCHORED"]);
    for (const args of [[], ["--drop-old"]]) {
      const { code, stderr } = await runProgram(["rotate-signing-key", ...args], { env: old.env });
      assert.equal(code, 0, stderr);
      await scored(oldService, oldKey, `s-rotated-${args.length}`);
    }
    const newKeys = await jwksOf("new.json");
    const [system, known] = [await exportedSystem("sys.ndjson"), await exportedBy(old, "known.ndjson")];
    await oldService.stop();
    const signingKey = await Deno.readFile(`${old.env.JISS_DATA_DIR}/signing-key.pem`);
    await Deno.writeFile(`${anew.env.JISS_DATA_DIR}/signing-key.pem`, signingKey);
    const service = await startService(["serve"], { env: anew.env });
    const key = await createOrganization(service, anew.env);
    const answer = await save(directory, "answer.json", await scored(service, key, "s-1"));
    const shown = await exportedBy(anew, "shown.ndjson");
    await service.stop();

    const memory = await Deno.readTextFile(`${state}/jiss-memory.json`);
    const sentence = /your checkpoint of \d+ entries of .*, in another deployment, .* --state directory/;
    const args = ["--key", newKeys, "--state", state];
    for (const files of [[shown], [shown, known], [known, shown], [system, shown], [shown, system, known]]) {
      await assertJudged(files, args, [2, NOT_COMPARED, sentence]);
    }
    await assertJudged([answer], args, [2, NOT_COMPARED, /not compared with your checkpoint/]);
    const after = await Deno.readTextFile(`${state}/jiss-memory.json`);
    const { holders, ...others } = JSON.parse(after);
    assert.deepEqual(
      others,
      JSON.parse(memory),
      "nothing of it is remembered but which keys are of one holder",
    );
    assert.equal(holders.length, 1);
    // Two key files do not connect the keys. The certificate in the honest bundle does.
    const newKeyAlone = await save(directory, "alone.json", {
      keys: JSON.parse(await Deno.readTextFile(newKeys)).keys.slice(0, 1),
    });
    const separately = ["--key", newKeyAlone, "--key", oldKeys, "--state", state];
    await assertJudged([shown, known], separately, [2, NOT_COMPARED, sentence]);
    assert.equal(await Deno.readTextFile(`${state}/jiss-memory.json`), after);
    await assertJudged([known, system], args, [0, "INTACT"]);
    await assertJudged([shown], ["--state", state], [2, NOT_COMPARED, sentence]);
    await assertJudged([known, system], ["--state", state], [0, "INTACT"]);
    await old.remove();
    await anew.remove();
  }));

// ---- documents --------------------------------------------------------------------------------------------------

Deno.test("a saved answer alone is not compared with what was kept of its log: 2; if nothing was kept, or only this answer: 0", () =>
  withDirectory(async (directory) => {
    const { harness, key } = await freshChain(["s-1"]);
    const jwks = await save(directory, "jwks.json", await jwksOf(harness));
    const state = `${directory}/memory`;
    const answer = await save(directory, "answer.json", await score(harness, key, "s-2"));
    const args = ["--key", jwks, "--state", state];
    await assertJudged([answer], args, [0, "INTACT, UNANCHORED"]);
    await assertJudged([answer], args, [0, "INTACT, UNANCHORED"]);
    const later = await save(directory, "later.json", await score(harness, key, "s-3"));
    await assertJudged([later], args, [2, NOT_COMPARED, /not compared with your checkpoint of 3 entries/]);
    const bundle = await save(directory, "acme.ndjson", await bundleOf(harness, "org/acme"));
    await assertJudged([later, bundle], args, [0, "INTACT"]);
    await harness.close();
  }));
