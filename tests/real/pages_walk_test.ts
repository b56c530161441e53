/**
 * The pages of docs/ and the README as a newcomer follows them: each command is taken from its page and run
 * unchanged, in the pages' order, on one deployment. (install.md, send-reviews.md, replicas.md and
 * webhooks.md have tests of their own.)
 */
import assert from "node:assert/strict";
import { CASE_SET_EXAMPLE } from "../../src/exercises/example.ts";
import { scoreRequest } from "../harness.ts";
import { baseEnvironment, programLine, type RunningService, watch } from "../program.ts";
import { freePort } from "../sqld.ts";
import { peopleOf } from "../people.ts";

const ROOT = await Deno.realPath(`${import.meta.dirname}/../..`);

/** A page's blocks of commands, in their order. */
async function blocksOf(page: string): Promise<readonly string[]> {
  const text = await Deno.readTextFile(`${ROOT}/${page}`);
  return [...text.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block]) => block!);
}

interface Walk {
  readonly directory: string;
  /** The organization's key, once there is one. */
  key: string;
  /** Runs a block; returns its output. @throws if a command of it fails. */
  run(block: string): Promise<string>;
  /** Runs a block whose last command is the service. */
  start(block: string): Promise<RunningService>;
}

async function freshWalk(): Promise<Walk> {
  const directory = await Deno.makeTempDir({ prefix: "jiss-walk-" });
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const scripts = {
    jiss: `exec ${programLine([]).map((part) => `'${part}'`).join(" ")} "$@"`,
    // The tasks of a clone, without writing to the clone's folder.
    deno:
      `case "$1 $2" in "task jiss") shift 2; exec jiss "$@";; "task start") exec jiss serve;; esac; exit 2`,
  };
  await Deno.mkdir(`${directory}/bin`);
  await Deno.mkdir(`${directory}/backup`, { mode: 0o700 });
  for (const [name, text] of Object.entries(scripts)) {
    await Deno.writeTextFile(`${directory}/bin/${name}`, `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  }
  const base = baseEnvironment();
  const walk = { key: "" };
  const commandOf = (block: string) => {
    const here = block.replaceAll("http://127.0.0.1:8080", url).replaceAll(
      "/backup/",
      `${directory}/backup/`,
    ).replaceAll("KEY=the-key-of-your-organization", `KEY=${walk.key}`);
    // The shell of a reader who came from the README has what that page sets.
    const known = walk.key === "" ? "" : `set -a; . ./data/jiss.env; set +a; KEY=${walk.key}\n`;
    return new Deno.Command("sh", {
      args: ["-euc", known + here],
      cwd: directory,
      clearEnv: true,
      env: {
        ...base,
        PATH: `${directory}/bin:${base.PATH}`,
        JISS_PORT: String(port),
        JISS_LOG: "json",
        JISS_DATA_DIR: `${directory}/data`,
        JISS_RATE_LIMIT_IP: "100000",
      },
      stdin: "null",
      stdout: "piped",
      stderr: "piped",
    });
  };
  return Object.assign(walk, {
    directory,
    async run(block: string) {
      const { code, stdout, stderr } = await commandOf(block).output();
      const [said, errors] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes));
      assert.equal(code, 0, `${block}\n${said}\n${errors}`);
      return said!;
    },
    start(block: string) {
      const lines = block.trimEnd().split("\n");
      lines.push(`exec ${lines.pop()}`);
      return watch(commandOf(lines.join("\n")).spawn());
    },
  });
}

/** Real decisions as a table of `jiss evaluate`. */
function publishedDecisions(): string {
  const rows = peopleOf("dots").map(({ person, followsAi, finalCorrect, aiCorrect }) =>
    [person, followsAi ? "accepted" : "overridden", finalCorrect, aiCorrect].join(",")
  );
  return `${["operator_id,decision,outcome_correct,ai_correct", ...rows].join("\n")}\n`;
}

function only<Block>(blocks: readonly Block[], count: number): readonly Block[] {
  assert.equal(blocks.length, count, "a new block needs a step in this test");
  return blocks;
}

Deno.test("the commands of the README and of docs/ do what their pages say, on one deployment", async () => {
  const walk = await freshWalk();

  // README: other tests run `task dev`; `task test` runs this one.
  const [, , first, create, verify] = only(await blocksOf("README.md"), 5);
  let service = await walk.start(first!);
  await walk.run(create!);
  walk.key = (await Deno.readTextFile(`${walk.directory}/acme.key`)).trim();
  assert.match(walk.key, /^jis_\w{26}$/);
  const score = async (session: string, operator = "reviewer-farah") => {
    const body = scoreRequest({ session_id: session, operator_id: operator });
    const { status } = await service.send("/v1/score", { key: walk.key, body });
    assert.equal(status, 200);
  };
  for (let index = 0; index < 60; index += 1) await score(`s-${index}`);
  await score("s-kofi", "reviewer-kofi");
  assert.match(await walk.run(verify!), /^INTACT/m);

  const [oversight] = only(await blocksOf("docs/integrate/oversight.md"), 1);
  assert.match(await walk.run(oversight!), /"visit-7f3a9c"/);
  const [exercises, held] = only(await blocksOf("docs/integrate/exercises.md"), 2);
  assert.match(await walk.run(exercises!), /frequency_ratio/);
  assert.match(await walk.run(held!), /"link":"[^"]+\/exercise\//);
  const [set] = only(await blocksOf("docs/integrate/case-sets.md"), 1);
  await Deno.writeTextFile(`${walk.directory}/branch-loans.json`, JSON.stringify(CASE_SET_EXAMPLE));
  assert.match(await walk.run(set!), /"sha256":"[0-9a-f]{64}"/);

  // The page creates the README's organization, which exists here, so another name is used.
  const [organizations, endpoint, alerts, calibration, evaluation, doctor, clock] = only(
    await blocksOf("docs/operate/administer.md"),
    7,
  );
  const output = await walk.run(organizations!.replaceAll(" acme", " beta"));
  assert.match(output, /jis_/);
  const created = endpoint!.replaceAll('"acme"', '"gamma"').replaceAll("acme-1", "gamma-1");
  assert.match(await walk.run(`${created}printf '%s' "$KEY"`), /^jis_\w{26}$/);
  await walk.run(alerts!);
  await Deno.writeTextFile(`${walk.directory}/decisions.csv`, publishedDecisions());
  // The organization of the walk has too little history to fit anything; the file has enough.
  const ofFile = calibration!.split("\n").filter((line) => line.includes("--history")).join("\n");
  assert.match(await walk.run(ofFile), /^Wrote model\.json/m);
  assert.match(await walk.run(evaluation!), /^dots-001 /m);
  assert.match(await Deno.readTextFile(`${walk.directory}/report.html`), /<figure id="forest">/);
  assert.match(await walk.run(doctor!), /^ok +checkpoints /m);
  assert.match(await walk.run(clock!), /is not refused, so nothing was recorded/);

  const [evidence, offline] = only(await blocksOf("docs/verify/verify-offline.md"), 2);
  await walk.run("rm acme.ndjson");
  await walk.run(evidence!);
  assert.match(await walk.run(offline!), /^INTACT/m);

  const [rotation, namedKey] = only(await blocksOf("docs/operate/keys-and-secrets.md"), 2);
  const [checkpoint, erasure, backup, restore, accept] = only(
    await blocksOf("docs/operate/backup-retention-erasure.md"),
    5,
  );
  assert.match(await walk.run(checkpoint!), /org\/acme/);
  await walk.run(rotation!);
  assert.match(await walk.run(namedKey!), /"api_key":"jis_\w{26}"/);
  const [users] = only(await blocksOf("docs/operate/people.md"), 1);
  assert.match(await walk.run(users!), /\/console\/link#usr_/);
  await walk.run(backup!);
  assert.match(await walk.run(erasure!), /"physical"/);
  assert.match(await Deno.readTextFile(`${walk.directory}/reviewer-kofi.html`), /<html/);
  assert.equal(await service.stop(), 0);
  assert.match(await walk.run(restore!), /were repeated: 1\n/);
  service = await walk.start("deno task start");
  await score("after-1");
  assert.equal(await service.stop(), 0);

  // A snapshot of the machine: the database on it is older than what was issued.
  await walk.run("cp -p data/jiss.db snapshot.db");
  service = await walk.start("deno task start");
  await score("after-2");
  assert.equal(await service.stop(), 0);
  await walk.run("rm -f data/jiss.db-wal data/jiss.db-shm; cp -p snapshot.db data/jiss.db");
  service = await walk.start("deno task start");
  assert.equal((await service.send("/v1/score", { key: walk.key, body: scoreRequest() })).status, 503);
  await walk.run(accept!);
  await score("after-3");
  assert.equal(await service.stop(), 0);
  await walk.run("rm *.ndjson");
  await walk.run(evidence!);
  assert.match(await walk.run("jiss verify *.ndjson --key jwks.json"), /^INTACT/m);
  await Deno.remove(walk.directory, { recursive: true });
});
