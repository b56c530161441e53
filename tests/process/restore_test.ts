/**
 * `jiss restore --acknowledge REASON`: a database that was put back from a backup, beside the service that
 * noticed it.
 * Source: evidence design, section 10 and "Read first", point 4.
 */
import assert from "node:assert/strict";
import { save, verifyProgram } from "../auditing.ts";
import { scoreRequest } from "../harness.ts";
import {
  backUpDatabase,
  createOrganization,
  freshDeployment,
  NO_DATABASE,
  rowsIn,
  type RunningService,
  runProgram,
  startService,
} from "../program.ts";

interface Site {
  readonly directory: string;
  readonly data: string;
  readonly env: Readonly<Record<string, string>>;
  start(): Promise<RunningService>;
  /** Copies the database of a stopped service; returns a function that puts it back. */
  backUp(): Promise<() => Promise<void>>;
  restore(...args: string[]): ReturnType<typeof runProgram>;
  /** The bundles of every epoch of some chains. */
  exported(...chains: (readonly string[])[]): Promise<readonly string[]>;
}

function withSite(test: (site: Site) => Promise<void>): () => Promise<void> {
  return async () => {
    const deployment = await freshDeployment();
    const { directory, env } = deployment;
    const data = `${directory}/data`;
    let count = 0;
    await test({
      directory,
      data,
      env,
      start: () => startService(["serve"], { env }),
      backUp: () => backUpDatabase(data, `${directory}/backup-${count += 1}`),
      restore: (...args) => runProgram(["restore", ...args], { env }),
      async exported(...chains) {
        const paths: string[] = [];
        for (const args of chains) {
          const path = `${directory}/bundle-${count += 1}.ndjson`;
          const { code, stderr } = await runProgram(["export", ...args, "-o", path], { env });
          assert.equal(code, 0, stderr);
          paths.push(path);
        }
        return paths;
      },
    });
    await deployment.remove();
  };
}

const SYSTEM = ["--chain", "system"];
const ACME = ["--org", "acme"];

async function score(service: RunningService, key: string, session: string, operator = "operator-1") {
  return await service.send("/v1/score", {
    key,
    body: scoreRequest({ session_id: session, operator_id: operator }),
  });
}

async function scored(service: RunningService, key: string, session: string, operator?: string) {
  const { status, body } = await score(service, key, session, operator);
  assert.equal(status, 200, JSON.stringify(body));
  return body;
}

Deno.test(
  "a database put back is read only until its restore is acknowledged; then the running service continues, erasures are repeated, and the auditor sees only the restore",
  withSite(async ({ directory, env, start, backUp, restore, exported }) => {
    let service = await start();
    const key = await createOrganization(service, env);
    await scored(service, key, "s-1", "operator-1");
    await scored(service, key, "s-2", "operator-2");
    const jwks = await save(directory, "jwks.json", (await service.send("/.well-known/jwks.json")).body);
    const [state, late] = [`${directory}/memory`, `${directory}/late-memory`];
    const early = await verifyProgram([...await exported(SYSTEM, ACME), "--key", jwks, "--state", state]);
    assert.equal(early.code, 0, early.stdout);
    await service.stop();
    const putBack = await backUp();

    service = await start();
    await scored(service, key, "s-3", "operator-1");
    const erased = await service.send("/v1/operator/operator-2", { method: "DELETE", key });
    assert.equal(erased.status, 200);
    const otherKey = await createOrganization(service, env, "later");
    const lost = await save(directory, "lost.json", await scored(service, otherKey, "o-1"));
    // One auditor has a checkpoint from before the backup, and one only from after it.
    const files = await exported(SYSTEM, ACME);
    for (const memory of [state, late]) {
      const { code, stdout } = await verifyProgram([...files, "--key", jwks, "--state", memory]);
      assert.equal(code, 0, stdout);
    }
    await service.stop();

    await putBack();
    service = await start();
    const refused = await score(service, key, "s-4");
    assert.equal(refused.status, 503);
    assert.match(refused.body.error.message, /jiss restore --acknowledge REASON/);
    assert.equal((await service.send("/v1/operator/operator-1/profile", { key })).status, 200);
    const rotation = await runProgram(["rotate-signing-key"], { env });
    assert.equal(rotation.code, 1);
    assert.match(rotation.stderr, /run `jiss restore --acknowledge REASON` first, then rotate/);
    const cutBack = await verifyProgram([...await exported(ACME), "--state", state, "--json"]);
    assert.deepEqual([cutBack.code, cutBack.report.verdict], [1, "DIVERGED"]);

    const { code, stdout, stderr } = await restore("--acknowledge", "disk failure on 21 November");
    assert.equal(code, 0, stderr);
    assert.match(stdout, /^The database was accepted as it is\. Each of its 5 chains began a new epoch/);
    assert.match(stdout, /\nErasures that were missing from it and were repeated: 1\n/);
    assert.match(
      stdout,
      /\nIssued chains that are missing from it: 2\n {2}jiss\.local\/\w+\/org\/later\n {2}jiss\.local\/\w+\/org\/later\/admin\n/,
    );
    assert.match(stderr, /^jiss: ROLLBACK_DETECTED: /);

    // The same process, without a restart.
    const after = await scored(service, key, "s-4");
    assert.match(after.evidence.entry.chain, /^org\/acme\/e2$/);
    assert.equal((await service.send("/v1/operator/operator-2/profile", { key })).status, 404);
    assert.equal((await score(service, key, "s-2")).status, 410);

    const bundles = await exported(SYSTEM, ACME);
    const visit = await verifyProgram([...bundles, "--state", state, "--json"]);
    assert.equal(visit.code, 0, JSON.stringify(visit.report, null, 1));
    assert.equal(
      visit.report.verdict,
      "INTACT, UNANCHORED",
      "a new epoch was not compared with anything yet",
    );
    assert.deepEqual(
      visit.report.bundles.map((
        { chain, verdict, findings }: { chain: string; verdict: string; findings: { code: string }[] },
      ) => [chain, verdict, findings.map((finding) => finding.code)]),
      [
        // The auditor's checkpoint has the size that the backup has.
        ["sys", "INTACT", []],
        ["sys/e2", "INTACT, UNANCHORED", []],
        ["org/acme", "INTACT", ["RESTORED"]],
        ["org/acme/e2", "INTACT, UNANCHORED", []],
      ],
    );
    assert.match(
      visit.report.bundles[2].sentence,
      /But a restore took away \d+ entries that you had a checkpoint of, .* Of what is left you had kept \d+ entries of /,
    );
    // Without a checkpoint from before the backup nothing is left to compare with.
    const lateVisit = await verifyProgram([bundles[1]!, "--state", late, "--json"]);
    assert.deepEqual([lateVisit.code, lateVisit.report.verdict], [2, "INTACT, NOT COMPARED"]);
    assert.match(
      lateVisit.report.sentence,
      /is of entries that a restore lost, as the chain after it says .* make sure that there was such a restore/,
    );
    // But the system chain had not grown since, and it anchored the beginning of the chain.
    const anchored = await verifyProgram([...bundles, "--state", late, "--json"]);
    assert.equal(anchored.code, 0, anchored.stdout);
    assert.match(anchored.report.bundles[2].sentence, /But a restore took away/);
    const text = (await Promise.all(bundles.map((path) => Deno.readTextFile(path)))).join("");
    assert.match(text, /"reason":"disk failure on 21 November"/);
    // An answer of the lost chain verifies alone, and the record of the restore names that chain.
    const [alone] = (await verifyProgram([lost, "--key", jwks, "--json"])).report.documents;
    assert.equal(alone.verdict, "INTACT, UNANCHORED");
    assert.ok(text.includes(alone.origin), "the restore's record names the lost chain");
    assert.equal(
      (await verifyProgram([...bundles, "--state", state])).stdout.split("\n")[0],
      "INTACT: the worst of 4, one by one below.",
    );
    await service.stop();
  }),
);

/** The bundles in a file, each with its own header. */
async function bundlesIn(path: string): Promise<readonly string[]> {
  const text = await Deno.readTextFile(path);
  return text.split(/^(?=\{[^\n]*"kind":"jis\.bundle\/)/m);
}

Deno.test(
  "an answer that a restore lost is found lost beside the export of all epochs, and needs an older kept checkpoint; beside the older epoch alone it is not verifiable",
  withSite(async ({ directory, env, start, backUp, restore, exported }) => {
    let service = await start();
    const key = await createOrganization(service, env);
    const jwks = await save(directory, "jwks.json", (await service.send("/.well-known/jwks.json")).body);
    const kept = await save(directory, "kept.json", await scored(service, key, "s-1"));
    await service.stop();
    const putBack = await backUp();
    const [before] = await exported(ACME);
    service = await start();
    // Two answers, so that the first is not the one that the restore's record names.
    const lost = [
      await save(directory, "lost-1.json", await scored(service, key, "s-2")),
      await save(directory, "lost-2.json", await scored(service, key, "s-3")),
    ];
    await service.stop();
    await putBack();
    const acknowledged = await restore("--acknowledge", "disk failure on 21 November");
    assert.equal(acknowledged.code, 0, acknowledged.stderr);
    const [sys, acme] = await exported(SYSTEM, ACME) as [string, string];
    const epochs = await bundlesIn(acme);
    assert.equal(epochs.length, 2);
    const older = await save(directory, "older.ndjson", epochs[0]);
    const newer = await save(directory, "newer.ndjson", epochs[1]);

    const judged = async (...args: string[]) => {
      const { code, report, stderr } = await verifyProgram([...args, "--key", jwks, "--json"]);
      assert.equal(stderr, "");
      return {
        code,
        verdict: report.verdict,
        places: report.documents.map(({ place }: { place: string }) => place),
        sentences: new Set(report.documents.map(({ sentence }: { sentence: string }) => sentence)),
      };
    };
    const expected = {
      code: 0,
      verdict: "INTACT, UNANCHORED",
      places: ["lost", "lost"],
      sentences: new Set([
        "The log recorded what its evidence covers. The database has since been restored from a backup that is older than its checkpoint: the next chain says so.",
      ]),
    };
    const open = {
      code: 2,
      verdict: "INTACT, NOT COMPARED",
      places: ["lost", "lost"],
      sentences: new Set([
        "The log recorded what its evidence covers. The next chain says that a restore from a backup lost it, and nothing older that you kept agrees with the remaining entries, so history may have been rewritten: make sure that there was such a restore, and pass the checkpoints and older answers that you kept with --checkpoint.",
      ]),
    };
    for (const bundles of [[acme], [sys, acme], [older, newer], [newer, older]]) {
      // Somebody who invented the restore may have invented the older answer too, so the auditor must pass it
      // as kept.
      assert.deepEqual(await judged(...bundles, ...lost), open);
      assert.deepEqual((await judged(...bundles, ...lost, kept)).code, 2);
      const { verdict, ...rest } = await judged(...bundles, ...lost, "--checkpoint", kept);
      assert.deepEqual({ verdict: "INTACT, UNANCHORED", ...rest }, expected, verdict);
    }
    const beyond = {
      code: 2,
      verdict: "NOT VERIFIABLE",
      places: ["beyond", "beyond"],
      sentences: new Set([
        "The log recorded what its evidence covers, but the bundle ends before it: the bundle was exported earlier, was cut off, or is of a chain that a restore has ended since. Ask for a new export of all epochs.",
      ]),
    };
    for (const bundles of [[older], [before!], [sys, older]]) {
      assert.deepEqual(await judged(...bundles, ...lost), beyond);
    }
    // An answer from before the backup is found at its place.
    assert.deepEqual((await judged(acme, kept)).places, ["held"]);
    // The lost answer as a kept checkpoint is no rollback either. With an older one that agrees the exit code
    // is 0.
    for (const [checkpoints, code] of [[[lost[1]!], 2], [[lost[1]!, kept], 0]] as const) {
      const args = checkpoints.flatMap((file) => ["--checkpoint", file]);
      const anchored = await verifyProgram([acme, "--key", jwks, ...args, "--json"]);
      assert.deepEqual(
        [anchored.code, anchored.report.bundles[0].findings.map(({ code }: { code: string }) => code)],
        [code, ["RESTORED"]],
      );
    }
  }),
);

Deno.test(
  "a lost answer that was changed is TAMPERED, and one of a history that the restore's record does not name is not verified",
  withSite(async ({ directory, data, env, start, backUp, restore, exported }) => {
    let service = await start();
    const key = await createOrganization(service, env);
    const jwks = await save(directory, "jwks.json", (await service.send("/.well-known/jwks.json")).body);
    await scored(service, key, "s-1");
    await service.stop();
    const putBack = await backUp();
    const lock = await Deno.readFile(`${data}/lock.db`);
    service = await start();
    // A history that the lock does not know, because the lock is put back with the database.
    const unrecorded = await save(directory, "untold.json", await scored(service, key, "u-1"));
    const furthest = await save(directory, "furthest.json", await scored(service, key, "u-2"));
    await service.stop();
    await putBack();
    await Deno.writeFile(`${data}/lock.db`, lock);
    service = await start();
    const answer = await scored(service, key, "s-2");
    await service.stop();
    await putBack();
    assert.equal((await restore("--acknowledge", "put back twice")).code, 0);
    const [acme] = await exported(ACME);

    const changed = await save(directory, "changed.json", { ...answer, jis: 99.9 });
    const tampered = await verifyProgram([acme!, changed, "--key", jwks, "--json"]);
    assert.deepEqual([tampered.code, tampered.report.code], [1, "RESULT_MISMATCH"]);
    const lost = await save(directory, "lost.json", answer);
    for (
      const [file, place, exitCode] of [[lost, "lost", 2], [unrecorded, "beyond", 2], [
        furthest,
        "beyond",
        2,
      ]] as const
    ) {
      const { code, report } = await verifyProgram([acme!, file, "--key", jwks, "--json"]);
      assert.deepEqual([report.documents[0].place, code], [place, exitCode]);
    }
  }),
);

Deno.test(
  "after a restore to before a rotation the service signs with both keys, and either pin verifies the chains",
  withSite(async ({ directory, env, start, backUp, restore, exported }) => {
    let service = await start();
    const key = await createOrganization(service, env);
    await service.stop();
    const putBack = await backUp();
    service = await start();
    assert.equal((await runProgram(["rotate-signing-key"], { env })).code, 0);
    await scored(service, key, "s-1");
    const { keys: [newest, oldest] } = (await service.send("/.well-known/jwks.json")).body;
    const pins = [
      await save(directory, "newest.json", { keys: [{ ...newest, "x-jiss-from": null }] }),
      await save(directory, "oldest.json", { keys: [oldest] }),
    ];
    await service.stop();
    await putBack();
    service = await start();
    assert.equal((await restore("--acknowledge", "back to before the rotation")).code, 0);
    const { proof } = (await scored(service, key, "s-2")).evidence;
    assert.equal(proof.match(/^— /gm).length, 2, "the service signs with both keys at once");
    // At the stop the system chain anchors the entries that the old key alone signed before the restore.
    await service.stop();
    const bundles = await exported(SYSTEM, ACME);
    for (const pin of pins) {
      const { code, stdout } = await verifyProgram([...bundles, "--key", pin]);
      assert.equal(code, 0, stdout);
    }
  }),
);

Deno.test(
  "with nothing to acknowledge no epoch begins, and the reason must be one line",
  withSite(async ({ env, start, restore, exported }) => {
    const service = await start();
    await createOrganization(service, env);
    const { code, stdout, stderr } = await restore("--acknowledge", "for no reason");
    assert.deepEqual([code, stdout], [1, ""]);
    assert.match(stderr, /^jiss: There is nothing to acknowledge: .* step 5\)\.\n$/);
    for (const path of await exported(SYSTEM, ACME)) {
      const text = await Deno.readTextFile(path);
      assert.ok(!text.includes("/e2") && !text.includes("for no reason"));
    }
    for (
      const [args, why] of [
        [[], /required option '--acknowledge <REASON>' not specified/],
        [["--acknowledge", ""], /a reason of 1 to 500 characters on one line/],
        [["--acknowledge", "  "], /a reason of 1 to 500 characters on one line/],
        [["--acknowledge", "two\nlines"], /a reason of 1 to 500 characters on one line/],
        [["--acknowledge", "x".repeat(501)], /a reason of 1 to 500 characters on one line/],
        [["backup.db", "second.db", "--acknowledge", "file"], /too many arguments/],
      ] as const
    ) {
      const refused = await restore(...args);
      assert.deepEqual([refused.code, refused.stdout], [2, ""]);
      assert.match(refused.stderr, why);
    }
    await service.stop();
  }),
);

Deno.test(
  "without a database a restore makes none",
  withSite(async ({ env, data, restore }) => {
    const { code, stderr } = await restore("--acknowledge", "an empty directory");
    assert.equal(code, 78);
    assert.match(stderr, NO_DATABASE);
    assert.deepEqual([...Deno.readDirSync(data)].map(({ name }) => name).sort(), [
      "jiss.env",
      "signing-key.pem",
    ]);
    const rotation = await runProgram(["rotate-signing-key"], { env });
    assert.equal(rotation.code, 78);
  }),
);

Deno.test(
  "a database from before a rotation of the pepper is accepted with today's pepper, and a key can then be minted",
  withSite(async ({ env: fresh, backUp }) => {
    const secrets = { JISS_SECRETS_KEY: "a secrets key of its own, of 32 characters" };
    const today = { ...fresh, ...secrets, JISS_KEY_PEPPER: "the pepper of today, of at least 32 characters" };
    let service = await startService(["serve"], { env: { ...fresh, ...secrets } });
    await createOrganization(service, fresh);
    await service.stop();
    const putBack = await backUp();
    service = await startService(["serve"], { env: today });
    await createOrganization(service, today, "later");
    await service.stop();
    await putBack();

    const restored = await runProgram(["restore", "--acknowledge", "the disk failed"], { env: today });
    assert.equal(restored.code, 0, restored.stderr);
    service = await startService(["serve"], { env: today });
    const minted = await runProgram(["org", "rotate-key", "acme"], { env: today });
    assert.equal(minted.code, 0, minted.stderr);
    const [key] = minted.stdout.match(/jis_[0-9A-Z]{26}/)!;
    assert.equal((await score(service, key, "s-1")).status, 200);
    assert.equal(await service.stop(), 0);
  }),
);

Deno.test(
  "events that a start could not record beside an older database are recorded once the restore is acknowledged, before any score",
  withSite(async ({ data, env, start, backUp, restore }) => {
    let service = await start();
    const key = await createOrganization(service, env);
    await service.stop();
    const putBack = await backUp();
    service = await start();
    await scored(service, key, "s-1");
    await service.stop();
    await putBack();

    service = await startService(["serve"], { env: { ...env, JISS_AUDIT_RETENTION_DAYS: "120" } });
    assert.equal((await score(service, key, "s-2")).status, 503);
    assert.equal((await restore("--acknowledge", "drill")).code, 0);
    await scored(service, key, "s-2");
    const events = await rowsIn<{ readonly event_type: string }>(
      data,
      "SELECT event_type FROM audit_entry WHERE chain = 'sys/e2' AND event_type <> 'ORG_CHECKPOINTS' ORDER BY seq",
    );
    assert.deepEqual(events.map(({ event_type }) => event_type), ["CHAIN_RESTORED", "RETENTION_POLICY"]);
    assert.equal(await service.stop(), 0);
  }),
);
