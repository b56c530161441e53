/** `jiss dev`: the first thing that anybody runs. */
import assert from "node:assert/strict";
import { scoreRequest } from "../harness.ts";
import { type RunningService, startService } from "../program.ts";

interface Printed {
  readonly key: string;
  /** Scores an interaction. */
  readonly curl: string;
  readonly dashboard: string;
  /** Writes report.html. */
  readonly report: string;
}

function printedBy(service: RunningService): Printed {
  const key = /API key \(this is the only copy\): {2}(jis_\w{26})/.exec(service.output())?.[1];
  const [curl, dashboard, report] = service.output().match(/^curl .*$/gm) ?? [];
  assert.ok(key !== undefined && curl && dashboard && report, service.output());
  return { key, curl, dashboard, report };
}

/** Waits until the greeting, which follows the listening line, is printed whole. */
async function greeted(service: RunningService): Promise<Printed> {
  while (!/^curl .*report\.html\n/m.test(service.output())) await new Promise((next) => setTimeout(next, 5));
  return printedBy(service);
}

/** Pastes a line into a shell, as a reader would. */
async function run(line: string, cwd: string): Promise<string> {
  const { stdout, code } = await new Deno.Command("sh", { args: ["-c", line], cwd }).output();
  assert.equal(code, 0);
  return new TextDecoder().decode(stdout);
}

async function paste(line: string): Promise<Record<string, unknown>> {
  return JSON.parse(await run(line, "."));
}

async function hasCurl(): Promise<boolean> {
  try {
    return (await new Deno.Command("curl", { args: ["--version"], stdout: "null" }).output()).success;
  } catch {
    return false;
  }
}

Deno.test("dev prints a key and a curl that answers 200 with a JIS, seven integer dimensions and evidence", async () => {
  const directory = await Deno.makeTempDir({ prefix: "jiss-dev-" });
  const options = { cwd: directory };
  const service = await startService(["dev"], options);
  const { key, curl, dashboard, report } = await greeted(service);
  assert.ok(curl.includes(key) && curl.includes(service.url));
  if (await hasCurl()) {
    const body = await paste(curl);
    assert.equal(typeof body.jis, "number");
    const dimensions = Object.values(body.dimensions as Record<string, number>);
    assert.equal(dimensions.length, 7);
    for (const value of dimensions) assert.ok(Number.isInteger(value) && value >= 0 && value <= 100);
    assert.equal((body.evidence as Record<string, unknown>).v, "jis.evidence/1");
    assert.equal(body.provisional, false, "the demo's operators have a history");
    assert.deepEqual(await paste(curl), body, "pasted twice it is the same answer");
    const { dashboard: figures } = await paste(dashboard) as { dashboard: Record<string, number> };
    assert.ok(figures.total_operators! >= 10);
    await run(report, directory);
    const page = await Deno.readTextFile(`${directory}/report.html`);
    assert.ok(page.startsWith("<!DOCTYPE html>") && page.includes("Demo organization"));
  } else {
    assert.equal((await service.send("/v1/score", { key, body: scoreRequest() })).status, 200);
  }
  assert.equal(await service.stop(), 0);
  const files = [...Deno.readDirSync(`${directory}/data/dev`)].map(({ name }) => name).sort();
  // Each of them is among those that --fresh removes.
  assert.deepEqual(files, [
    "jiss.db",
    "jiss.env",
    "lock.db",
    "running.lock",
    "signing-key.pem",
    "start.lock",
  ]);

  const second = await startService(["dev"], options);
  const { key: next } = await greeted(second);
  assert.notEqual(next, key);
  assert.equal((await second.send("/v1/score", { key, body: scoreRequest() })).status, 401, "the old key");
  assert.equal((await second.send("/v1/score", { key: next, body: scoreRequest() })).status, 200);
  assert.ok(!second.log().some(({ msg }) => msg === "demo history written"), "the data is kept");
  await second.stop();

  const fresh = await startService(["dev", "--fresh"], options);
  await greeted(fresh);
  assert.ok(
    fresh.log().some(({ msg, interactions }) =>
      msg === "demo history written" && Number(interactions) > 1000
    ),
  );
  await fresh.stop();
  await Deno.remove(directory, { recursive: true });
});

Deno.test("dev on a database that was put back behind its lock ends with a message that says what to do, and --fresh starts over", async () => {
  const directory = await Deno.makeTempDir({ prefix: "jiss-dev-" });
  const options = { cwd: directory };
  const data = `${directory}/data/dev`;
  const first = await startService(["dev"], options);
  await greeted(first);
  assert.equal(await first.stop(), 0);
  await Deno.copyFile(`${data}/jiss.db`, `${directory}/backup.db`);
  // Each run mints a key, which is one entry more.
  const second = await startService(["dev"], options);
  await greeted(second);
  assert.equal(await second.stop(), 0);
  await Deno.copyFile(`${directory}/backup.db`, `${data}/jiss.db`);

  const told = await startService(["dev"], options).then(
    async (service) => `listened and ended with ${await service.stop()}`,
    (error: Error) => error.message,
  );
  assert.match(told, /^ended with 1 before it listened: /);
  assert.match(told, /jiss: the demo organization gets no key: .*jiss restore --acknowledge REASON/);
  assert.doesNotMatch(told, /^ +at .*:\d+:\d+/m, "no stack trace");
  assert.doesNotMatch(told, /API key/);

  const fresh = await startService(["dev", "--fresh"], options);
  const { key } = await greeted(fresh);
  assert.equal((await fresh.send("/v1/score", { key, body: scoreRequest() })).status, 200);
  assert.equal(await fresh.stop(), 0);
  await Deno.remove(directory, { recursive: true });
});
