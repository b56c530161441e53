/** The contents of a release: the same bytes from the same commit, executables, and the list of packages. */
import assert from "node:assert/strict";
import { Ajv, type AnySchema } from "ajv";
import deno from "../../deno.json" with { type: "json" };
import { compiledOf, TARGETS } from "../../scripts/compile.ts";
import { type BundledPackage, licenceList, SCHEMAS, timeOfSource } from "../../scripts/sbom.ts";
import { filesUnder } from "../../scripts/web.ts";
import { cloneTo, copyTo } from "../clones.ts";
import { scoreRequest } from "../harness.ts";
import { baseEnvironment, watch } from "../program.ts";

const ROOT = await Deno.realPath(`${import.meta.dirname}/../..`);

async function run(
  command: string,
  args: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>> = {},
): Promise<void> {
  const { success, stderr } = await new Deno.Command(command, {
    args: [...args],
    cwd,
    env,
    stdout: "null",
    stderr: "piped",
  }).output();
  assert.ok(success, `${command} ${args.join(" ")}: ${new TextDecoder().decode(stderr)}`);
}

/** Paths that the Dockerfile copies into the stage that builds. */
async function buildStageTo(place: string): Promise<void> {
  const [, stage] = (await Deno.readTextFile(`${ROOT}/Dockerfile`)).split(/^FROM .*$/m);
  const copies = [...stage!.matchAll(/^COPY (.+) (\S+)$/gm)];
  assert.ok(copies.length >= 5);
  for (const [, sources, target] of copies) {
    for (const source of sources!.split(" ")) {
      const to = target!.endsWith("/") ? `${target}${source.slice(source.lastIndexOf("/") + 1)}` : target!;
      for (const path of await filesUnder(source)) {
        await copyTo(place, path, `${to}${path.slice(source.length)}`);
      }
    }
  }
}

/** The npm package of this version. */
const PACKAGE = `jiss-${deno.version}.tgz`;

interface Release {
  /** Directory of the clones; it holds nothing else. */
  readonly place: string;
  readonly clones: readonly [string, string];
}

let made: Promise<Release> | undefined;
globalThis.addEventListener("unload", async () => {
  if (made !== undefined) Deno.removeSync((await made).place, { recursive: true });
});

/**
 * Two clones in which a release was made, one with only the files that the Dockerfile copies; made once for
 * all tests.
 */
function madeRelease(): Promise<Release> {
  return made ??= (async () => {
    const place = await Deno.makeTempDir({ prefix: "jiss-release-" });
    const clones = [`${place}/one`, `${place}/further/down/the/tree/another one`] as const;
    await cloneTo(clones[0]);
    await buildStageTo(clones[1]);
    // The image has no npm package, so its build stage lacks these two files.
    for (const name of ["LICENSE", "README.md"]) await copyTo(clones[1], name, name);
    for (const clone of clones) {
      await run(Deno.execPath(), ["task", "--quiet", "pack"], clone, { SOURCE_DATE_EPOCH: "1760000000" });
    }
    return { place, clones };
  })();
}

Deno.test("two clones at different paths, one with only the files that the Dockerfile copies, give the same bundle, digest, lists and npm package", async () => {
  const { place, clones } = await madeRelease();
  const [packed, again] = await Promise.all(clones.map((clone) => Deno.readFile(`${clone}/dist/${PACKAGE}`)));
  assert.deepEqual(packed, again);
  await run("sha256sum", ["--check", "--strict", `${PACKAGE}.sha256`], `${clones[0]}/dist`);
  for (const name of ["jiss.js", "jiss.js.sha256", "jiss.cdx.json", "licences.txt"]) {
    const [one, other] = await Promise.all(clones.map((clone) => Deno.readTextFile(`${clone}/dist/${name}`)));
    assert.ok(one!.length > 50, name);
    assert.equal(one === other, true, `${name} differs`);
    for (const path of [place, ROOT, Deno.env.get("HOME") ?? "/root"]) {
      assert.equal(one!.includes(`${path}/`), false, `${name} names ${path}`);
    }
  }
  await run("sha256sum", ["--check", "--strict", "jiss.js.sha256"], `${clones[0]}/dist`);

  const [, esbuild] = /@esbuild\/linux-x64@([0-9.]+)/.exec(
    await Deno.readTextFile(`${ROOT}/docs/operate/install.md`),
  )!;
  assert.ok(
    await fetchedBundler(esbuild!),
    `docs/operate/install.md names esbuild ${esbuild}, and Deno took another`,
  );

  const bill = JSON.parse(await Deno.readTextFile(`${clones[0]}/dist/jiss.cdx.json`));
  await holdsTheSchema(bill);
  await namesEveryPackage(bill, await Deno.readTextFile(`${clones[0]}/dist/licences.txt`));
  const [digest] = (await Deno.readTextFile(`${clones[0]}/dist/jiss.js.sha256`)).split(" ");
  assert.deepEqual(bill.metadata.component.hashes, [{ alg: "SHA-256", content: digest }]);
  assert.equal(bill.metadata.timestamp, "2025-10-09T08:53:20.000Z");
  await hasTheDigestsOfTheLock(bill.components);
});

const hasNpm = await new Deno.Command("npm", { args: ["--version"], stdout: "null", stderr: "null" }).output()
  .then(({ success }) => success, () => false);

Deno.test({
  name:
    "the npm package runs by npx in an empty directory: its version, dev, a score, and the next step that init prints [needs npm]",
  ignore: !hasNpm,
  async fn() {
    const { clones } = await madeRelease();
    const place = await Deno.makeTempDir({ prefix: "jiss-npm-" });
    const site = `${place}/site`;
    await Deno.mkdir(site);
    await Deno.copyFile(`${clones[0]}/dist/${PACKAGE}`, `${site}/${PACKAGE}`);
    await holdsNothingOfTests(`${site}/${PACKAGE}`);
    const base = baseEnvironment();
    // The packages that npx installs and Deno caches are removed with the test. The only deno on the PATH is
    // the one that npm installs.
    const env = {
      ...npmSettings(),
      ...base,
      PATH: await pathOfNode(place),
      DENO_DIR: `${place}/deno`,
      npm_config_cache: `${place}/npm`,
      JISS_PORT: "0",
      JISS_LOG: "json",
    };
    const started = (command: string, ...args: string[]) =>
      new Deno.Command(command, {
        args,
        cwd: site,
        clearEnv: true,
        env,
        stdin: "null",
        stdout: "piped",
        stderr: "piped",
      });
    const said = async (command: string, ...args: string[]) => {
      const { code, stdout, stderr } = await started(command, ...args).output();
      assert.equal(code, 0, new TextDecoder().decode(stderr));
      return new TextDecoder().decode(stdout);
    };
    assert.equal(await said("npx", "-y", `./${PACKAGE}`, "--version"), `jiss ${deno.version}\n`);
    assert.match(await said("npx", "-y", `./${PACKAGE}`, "--help"), /^Usage: jiss /);
    const cached = (await said("npx", "-y", `./${PACKAGE}`, "init", "./cached")).trim().split("\n").at(-1)!;
    assert.match(cached, /^ {2}node \S+\/jiss\.mjs serve$/);
    assert.match(await said("sh", "-c", cached.replace(/serve$/, "version")), /^jiss /);

    // Without npm's install scripts, as some sites require.
    await said("npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", `./${PACKAGE}`);
    const next = (await said("npx", "jiss", "init", "./installed")).trim().split("\n").at(-1)!;
    assert.equal(next, "  npx jiss serve");
    assert.match(await said("sh", "-c", next.replace(/serve$/, "version")), /^jiss /);

    const service = await watch(started(`${site}/node_modules/.bin/jiss`, "dev").spawn());
    while (!service.output().includes("Score an interaction")) {
      await new Promise((later) => setTimeout(later, 5));
    }
    const [key] = /jis_\w{26}/.exec(service.output())!;
    const { status, body } = await service.send("/v1/score", { key, body: scoreRequest() });
    assert.deepEqual([status, typeof body.jis], [200, "number"]);
    assert.equal(service.errors(), "");
    // Only the launcher gets the signal, and passes it on.
    assert.equal(await service.stop(), 0);
    assert.ok(service.log().some(({ msg }) => msg === "stopped"));
    await Deno.remove(place, { recursive: true });
  },
});

/**
 * Asserts the content of the archive: the files that npm and readers expect, and neither a source map nor
 * anything of the tests.
 */
async function holdsNothingOfTests(archive: string): Promise<void> {
  const { success, stdout } = await new Deno.Command("tar", { args: ["-tzf", archive] }).output();
  assert.ok(success);
  assert.deepEqual(new TextDecoder().decode(stdout).trim().split("\n").toSorted(), [
    "package/LICENSE",
    "package/README.md",
    "package/jiss.cdx.json",
    "package/jiss.js",
    "package/jiss.mjs",
    "package/launch.json",
    "package/licences.txt",
    "package/package.json",
  ]);
  const text = await new Deno.Command("tar", { args: ["-xzOf", archive, "package/jiss.js"] }).output();
  assert.doesNotMatch(new TextDecoder().decode(text.stdout), /\/\/# sourceMappingURL=/);
}

/** A PATH of Node.js, npm and the system's own tools. */
async function pathOfNode(place: string): Promise<string> {
  const folder = `${place}/bin`;
  await Deno.mkdir(folder);
  for (const name of ["node", "npm", "npx"]) {
    const { stdout } = await new Deno.Command("sh", { args: ["-c", `command -v ${name}`] }).output();
    await Deno.symlink(new TextDecoder().decode(stdout).trim(), `${folder}/${name}`);
  }
  return `${folder}:/usr/bin:/bin`;
}

/** npm's settings for its registry and for trusted authorities. */
function npmSettings(): Record<string, string> {
  return Object.fromEntries(
    Object.entries(Deno.env.toObject()).filter(([name]) =>
      /^npm_config_(?:registry|cafile|.*proxy)$/i.test(name) || name === "NODE_EXTRA_CA_CERTS"
    ),
  );
}

/** True if Deno has fetched this version of the bundler. Deno names the version nowhere else. */
async function fetchedBundler(version: string): Promise<boolean> {
  const { stdout } = await new Deno.Command(Deno.execPath(), { args: ["info", "--json"], cwd: ROOT })
    .output();
  const { denoDir } = JSON.parse(new TextDecoder().decode(stdout));
  const fetched = await Array.fromAsync(Deno.readDir(`${denoDir}/dl`));
  return fetched.some(({ name }) => name.startsWith(`esbuild-${version}`));
}

/** CycloneDX's own schemas, which its library includes. */
async function holdsTheSchema(bill: unknown): Promise<void> {
  const schemaOf = async (name: string): Promise<AnySchema> =>
    JSON.parse(await Deno.readTextFile(new URL(`${name}.SNAPSHOT.schema.json`, SCHEMAS)));
  // Formats (URLs, e-mail addresses) need a package for each. Everything else is checked.
  const ajv = new Ajv({ strict: false, validateFormats: false });
  for (const name of ["spdx", "jsf-0.82"]) {
    ajv.addSchema(await schemaOf(name), `http://cyclonedx.org/schema/${name}.SNAPSHOT.schema.json`);
  }
  const validate = ajv.compile(await schemaOf("bom-1.6"));
  assert.ok(validate(bill), JSON.stringify(validate.errors));
  assert.equal(validate({ ...bill as object, specVersion: 1.6 }), false, "the schema refuses something");
}

interface Listed {
  readonly purl: string;
  readonly hashes?: unknown;
  readonly externalReferences: readonly { readonly url: string; readonly hashes?: unknown }[];
}

/**
 * Asserts that Deno's component has its package's digest, and its references have those that the installation
 * checks.
 */
async function hasDenosDigests(
  { hashes, externalReferences }: Pick<Listed, "hashes" | "externalReferences">,
): Promise<void> {
  const text = await Deno.readTextFile(`${ROOT}/docs/operate/deploy/deno.sha512`);
  const digests = new Map(
    text.trim().split("\n").map((line) => {
      const [content, file] = line.split("  ");
      return [file!, [{ alg: "SHA-512", content }]];
    }),
  );
  const own = digests.get(`deno-${Deno.version.deno}.tgz`);
  assert.ok(own !== undefined);
  assert.deepEqual(hashes, own);
  const referenced = externalReferences.map(({ url, hashes }) => [url.split("/").at(-1)!, hashes] as const);
  assert.deepEqual(
    new Map(referenced.map(([file, hashes]) => [file.startsWith("deno-") ? file : `deno-${file}`, hashes])),
    digests,
  );
}

/** Asserts that every package has the digest that Deno checked its archive against. */
async function hasTheDigestsOfTheLock(components: readonly Listed[]): Promise<void> {
  const { npm } = JSON.parse(await Deno.readTextFile(`${ROOT}/deno.lock`)) as {
    npm: Record<string, { integrity: string }>;
  };
  assert.ok(components.length > 20);
  for (const { purl, hashes, externalReferences } of components) {
    const id = decodeURIComponent(purl.replace("pkg:npm/", ""));
    const archive = externalReferences.find(({ url }) => url.endsWith(".tgz"));
    if (id === `deno@${Deno.version.deno}`) {
      await hasDenosDigests({ hashes, externalReferences });
      continue;
    }
    const locked = Object.entries(npm).find(([name]) => name === id || name.startsWith(`${id}_`));
    const content = Uint8Array.fromBase64(locked![1].integrity.replace("sha512-", "")).toHex();
    assert.deepEqual(hashes, [{ alg: "SHA-512", content }], id);
    assert.deepEqual(archive?.hashes, hashes, id);
  }
}

Deno.test("the list's time is SOURCE_DATE_EPOCH, else the commit's, and is left out without either", async () => {
  const place = await Deno.makeTempDir({ prefix: "jiss-time-" });
  const clone = `${place}/clone`;
  await Deno.mkdir(`${clone}/below`, { recursive: true });
  assert.equal(await timeOfSource(place, undefined), null);
  assert.deepEqual(await timeOfSource(place, "86400"), new Date("1970-01-02T00:00:00Z"));
  for (const bad of ["now", "-1", "1.5", "1e9", "999999999999"]) {
    await assert.rejects(timeOfSource(place, bad), /SOURCE_DATE_EPOCH/, bad);
  }
  const who = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "commit.gpgsign=false"];
  await run("git", ["init", "--quiet"], clone);
  assert.equal(await timeOfSource(clone, undefined), null, "without a commit");
  const dates = { GIT_AUTHOR_DATE: "2001-01-01T00:00:00Z", GIT_COMMITTER_DATE: "2026-03-04T05:06:07Z" };
  await run("git", [...who, "commit", "--quiet", "--allow-empty", "-m", "first"], clone, dates);
  assert.deepEqual(await timeOfSource(clone, undefined), new Date("2026-03-04T05:06:07Z"));
  assert.equal(await timeOfSource(`${clone}/below`, undefined), null, "a copy inside of another clone");
  await Deno.remove(place, { recursive: true });
});

async function namesEveryPackage(
  bill: {
    components: {
      group?: string;
      name: string;
      version: string;
      licenses: unknown[];
      externalReferences?: { url: string }[];
    }[];
  },
  licences: string,
): Promise<void> {
  const text = await Deno.readTextFile(`${ROOT}/docs/understand/dependencies.md`);
  const { imports } = JSON.parse(await Deno.readTextFile(`${ROOT}/deno.json`)) as {
    imports: Record<string, string>;
  };
  const versions = new Map(
    Object.values(imports).map((target) => {
      const [, name, version] = /^npm:\/?((?:@[^/]+\/)?[^@/]+)@([^/]+)/.exec(target)!;
      return [name!, version!];
    }),
  );
  const chapter = (title: string) => text.split(`## ${title}\n`)[1]!.split("\n## ")[0]!;
  const rows = ["In the program", "In the pages that browsers are sent"].flatMap((title) =>
    chapter(title).split("\n").filter((line) => line.startsWith("| `"))
  ).filter((row) => !row.includes("is in none of them"));
  assert.ok(rows.length >= 15);
  const listed = new Map(
    bill.components.map((one) => [one.group === undefined ? one.name : `${one.group}/${one.name}`, one]),
  );
  for (const row of rows) {
    const name = /^\| `([^`]+)`/.exec(row)![1]!;
    assert.equal(listed.get(name)?.version, versions.get(name), name);
    assert.equal(listed.get(name)?.licenses.length, 1, name);
    assert.ok(licences.includes(`\n${name} ${versions.get(name)} (`), name);
  }
  const addresses = bill.components.flatMap((one) => (one.externalReferences ?? []).map(({ url }) => url));
  assert.deepEqual(addresses.filter((url) => !/^https:\/\/[a-z.]+\/\S+$/.test(url)), []);
  const tests = chapter("In tests and in the making of a release only").split("\n").flatMap((line) =>
    /^\| `([^`]+)`/.exec(line)?.[1] ?? []
  );
  assert.ok(tests.length >= 7);
  for (const name of [...tests, "marked"]) assert.equal(listed.has(name), false, `${name} is in no bundle`);
}

Deno.test("a package without a licence file is in the list, which says so", () => {
  const one: BundledPackage = {
    name: "bare",
    version: "1.0.0",
    licence: "MIT",
    repository: null,
    sha512: "",
    dependencyNames: [],
    licenceFiles: [],
  };
  assert.match(licenceList([one]), /\nbare 1\.0\.0 \(MIT\)\n\nThe package contains no licence file\.\n/);
});

Deno.test("without a target the machine's own is compiled; with all, each of five to a file that names it", () => {
  const options = { directory: "dist", denort: undefined };
  assert.deepEqual(compiledOf([], options), [{ target: null, output: "dist/jiss" }]);
  assert.deepEqual(compiledOf(["all"], options).map(({ output }) => output), [
    "dist/jiss-x86_64-unknown-linux-gnu",
    "dist/jiss-aarch64-unknown-linux-gnu",
    "dist/jiss-x86_64-apple-darwin",
    "dist/jiss-aarch64-apple-darwin",
    "dist/jiss-x86_64-pc-windows-msvc.exe",
  ]);
  const twice = [TARGETS[1]!, TARGETS[1]!];
  assert.deepEqual(compiledOf(twice, { ...options, denort: "denort" }).map(({ target }) => target), [
    TARGETS[1],
  ]);
});

Deno.test("the denort of one system is not used for others, and an unknown target is named", () => {
  const denort = "/opt/denort";
  assert.throws(() => compiledOf(["all"], { directory: "dist", denort }), /name one target/);
  assert.throws(
    () => compiledOf(["sparc"], { directory: "dist", denort }),
    /unknown target sparc: name any of x86_64/,
  );
});
