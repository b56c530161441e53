/** The workshop's own promises: one Deno version, a README whose commands are those that run. */
import assert from "node:assert/strict";

const ROOT = `${import.meta.dirname}/..`;
const read = (path: string) => Deno.readTextFile(`${ROOT}/${path}`);

Deno.test("the Deno version is the pinned one everywhere that it is named", async () => {
  const pinned = (await read(".deno-version")).trim();
  assert.equal(Deno.version.deno, pinned, "the tests run on the pinned version");
  const places = ["README.md", "docs/install.md", "docs/ops/deno.sha512"];
  const named = (await Promise.all(places.map(read)))
    .flatMap((text) => [...text.matchAll(/deno[@:-](?:[a-z0-9-]+@)?(?:[a-z0-9-]*-)?(\d+\.\d+\.\d+)/g)])
    .map(([, version]) => version);
  assert.ok(named.length >= 3);
  assert.deepEqual(new Set(named), new Set([pinned]));
});

Deno.test("every variable of the configuration is documented, and nothing else is", async () => {
  const { KNOWN_VARIABLES } = await import("../src/config/variables.ts");
  const text = await read("docs/configuration.md");
  const missing = KNOWN_VARIABLES.filter((name) => !name.startsWith("MASTER_ADMIN_KEY_"))
    .filter((name) =>
      !text.includes(`\`${name.replace(/_FILE$/, (end) => text.includes(`\`${name}\``) ? end : "")}\``)
    );
  assert.deepEqual(missing, []);
  const named = [...text.matchAll(/`(JISS_[A-Z_]+)`/g)].map(([, name]) => name!);
  assert.deepEqual(named.filter((name) => !KNOWN_VARIABLES.includes(name)), []);
});

Deno.test("every package that is imported is in docs/dependencies.md", async () => {
  const { imports } = JSON.parse(await read("deno.json")) as { imports: Record<string, string> };
  const text = await read("docs/dependencies.md");
  const packages = new Set(
    Object.values(imports).map((target) => /^npm:\/?((?:@[^/]+\/)?[^@/]+)@/.exec(target)![1]!),
  );
  for (const name of packages) assert.ok(text.includes(`\`${name}\``), name);
});

Deno.test("every relative link of the documentation leads somewhere", async () => {
  const files = ["README.md", "CHANGELOG.md", "SECURITY.md", "docs/ops/README.md"];
  for await (const { name } of Deno.readDir(`${ROOT}/docs`)) {
    if (name.endsWith(".md")) files.push(`docs/${name}`);
  }
  for (const file of files) {
    for (const [, target] of (await read(file)).matchAll(/\]\((?!https?:)([^)#]+)(?:#[^)]*)?\)/g)) {
      const path = new URL(target!, `file://${ROOT}/${file}`).pathname;
      assert.ok((await Deno.stat(path)).isFile, `${file} → ${target}`);
    }
  }
});

Deno.test("nothing but a test's throw-away files holds a private key", async () => {
  const { stdout, success } = await new Deno.Command("git", { args: ["ls-files", "-z"], cwd: ROOT }).output();
  assert.ok(success);
  const paths = new TextDecoder().decode(stdout).split("\0").filter((path) =>
    path !== "" && !path.startsWith("tests/")
  );
  assert.ok(paths.includes("README.md"));
  for (const path of paths) {
    const text = await read(path).catch(() => "");
    assert.ok(!/-----BEGIN (?:EC |RSA )?PRIVATE KEY-----\n[A-Za-z0-9+/]/.test(text), path);
  }
});
