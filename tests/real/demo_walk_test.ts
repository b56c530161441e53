/**
 * A newcomer's walk through `jiss dev` and the pages: each command that a page gives for a running service is
 * taken from the page, and run in a shell that has only the variables that the commands set.
 */
import assert from "node:assert/strict";
import { succeeds } from "../disks.ts";
import { baseEnvironment, startService, until } from "../program.ts";
import { freePort } from "../sqld.ts";

const ROOT = await Deno.realPath(`${import.meta.dirname}/../..`);

/** The page's blocks of commands that contain a text. */
async function blocksWith(page: string, text: string): Promise<readonly string[]> {
  const blocks = [...(await Deno.readTextFile(`${ROOT}/${page}`)).matchAll(/^```sh\n(.*?)^```$/gms)];
  const found = blocks.map(([, block]) => block!).filter((block) => block.includes(text));
  assert.ok(found.length > 0, `${page}: ${text}`);
  return found;
}

Deno.test({
  name:
    "the pages' examples work against `jiss dev` with the key that it prints, and nothing else set [needs curl]",
  ignore: !succeeds("curl", ["--version"]),
  async fn() {
    const directory = await Deno.makeTempDir({ prefix: "jiss-demo-walk-" });
    const port = await freePort();
    const service = await startService(["dev"], { cwd: directory, env: { JISS_PORT: String(port) } });
    await until(() => /^curl .*report\.html\n/m.test(service.output()));
    const [key] = /jis_\w{26}/.exec(service.output())!;
    const { PATH } = baseEnvironment();
    const run = async (block: string): Promise<string> => {
      const text = block.replaceAll("http://127.0.0.1:8080", service.url)
        .replaceAll("the-key-of-your-organization", key!)
        // A refusal is a failure here: the pages promise what comes.
        .replaceAll("curl -s ", "curl -sS --fail-with-body ");
      const done = await new Deno.Command("sh", {
        args: ["-euc", text],
        cwd: directory,
        clearEnv: true,
        env: { PATH: PATH! },
        stdin: "null",
      }).output();
      const [said, errors] = [done.stdout, done.stderr].map((bytes) => new TextDecoder().decode(bytes));
      assert.equal(done.code, 0, `${block}\n${said}\n${errors}`);
      return said!;
    };

    for (const line of service.output().match(/^curl .*$/gm)!) await run(`${line}\n`);
    const [exercises] = await blocksWith("docs/integrate/exercises.md", "curl");
    const { recommendations, ...answer } = JSON.parse(await run(exercises!));
    assert.ok(JSON.stringify(recommendations ?? answer).includes("frequency_ratio"));
    const [assessment] = await blocksWith("docs/integrate/oversight.md", "curl");
    assert.match(await run(assessment!), /"visit-7f3a9c"/);
    const [verify] = await blocksWith("README.md", "jwks.json");
    const curls = verify!.split("\n").filter((line) => line.startsWith("curl "));
    assert.equal(curls.length, 2);
    await run(`KEY=the-key-of-your-organization\n${curls.join("\n")}\n`);
    assert.match(await Deno.readTextFile(`${directory}/acme.ndjson`), /"origin":"[^"]*\/org\/demo/);
    const [erasure] = await blocksWith("docs/operate/backup-retention-erasure.md", "DELETE");
    assert.match(await run(erasure!), /"physical":/);
    assert.match(await Deno.readTextFile(`${directory}/reviewer-kofi.html`), /reviewer-kofi/);

    assert.equal(await service.stop(), 0);
    await Deno.remove(directory, { recursive: true });
  },
});
