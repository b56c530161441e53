/**
 * Promises of the repository: one Deno version, a README whose commands work, complete lists of variables
 * and packages.
 */
import assert from "node:assert/strict";
import { dirname, join, relative } from "node:path";
import { filesUnder } from "../scripts/web.ts";
import { PACKAGES_OF_A_FIRST_RUN } from "./first_run.ts";

const ROOT = await Deno.realPath(`${import.meta.dirname}/..`);
const read = (path: string) => Deno.readTextFile(`${ROOT}/${path}`);

Deno.test("the Deno version is the pinned one wherever it is named", async () => {
  const pinned = (await read(".deno-version")).trim();
  assert.equal(Deno.version.deno, pinned, "the tests run on the pinned version");
  const places = [
    ...["README.md", "CONTRIBUTING.md", ".devcontainer/devcontainer.json"],
    ...["docs/operate/install.md", "docs/operate/deploy/deno.sha512"],
  ];
  const named = (await Promise.all(places.map(read)))
    .flatMap((text) => [...text.matchAll(/deno[@:-](?:[a-z0-9-]+@)?(?:[a-z0-9-]*-)?(\d+\.\d+\.\d+)/g)])
    .map(([, version]) => version);
  assert.ok(named.length >= places.length);
  assert.deepEqual(new Set(named), new Set([pinned]));
});

Deno.test("the workflows run only .ci/run, from pinned parts, with permission only to read", async () => {
  const github = await read(".github/workflows/ci.yml");
  assert.deepEqual([...github.matchAll(/^ +- run: (.*)$/gm)].map(([, command]) => command), [".ci/run"]);
  assert.equal(github.match(/\brun:/g)!.length, 1);
  for (const [, part] of github.matchAll(/uses: (\S+)/g)) assert.match(part!, /@[0-9a-f]{40}$/);
  assert.match(github, /^permissions: \{\}$/m);
  const [, granted] = /^ {4}permissions:\n((?: {6}.*\n)+)/m.exec(github)!;
  assert.equal(granted, "      contents: read\n");
  assert.match(github, /persist-credentials: false/);

  const gitlab = await read(".gitlab-ci.yml");
  assert.match(gitlab, /^ {2}script:\n {4}- \.ci\/run\n$/m);
  assert.equal(gitlab.match(/script:/g)!.length, 1);
  const containers = [github, gitlab, await read(".devcontainer/devcontainer.json")];
  for (const text of containers) assert.match(text, /(?:container|image)"?: "?[\w.:-]+@sha256:[0-9a-f]{64}/);
  for (const text of [github, gitlab]) assert.match(text, /^ +REQUIRE_BROWSER: "1"$/m);
  assert.ok((await Deno.stat(`${ROOT}/.ci/run`)).mode! & 0o100, ".ci/run is executable");
});

Deno.test("every variable of the configuration is documented, and nothing else is", async () => {
  const { KNOWN_VARIABLES } = await import("../src/config/variables.ts");
  const text = await read("docs/operate/configuration.md");
  const missing = KNOWN_VARIABLES.filter((name) => !name.startsWith("MASTER_ADMIN_KEY_"))
    .filter((name) =>
      !text.includes(`\`${name.replace(/_FILE$/, (end) => text.includes(`\`${name}\``) ? end : "")}\``)
    );
  assert.deepEqual(missing, []);
  const named = [...text.matchAll(/`(JISS_[A-Z_]+)`/g)].map(([, name]) => name!);
  assert.deepEqual(named.filter((name) => !KNOWN_VARIABLES.includes(name)), []);
});

Deno.test("every package that is imported is in docs/understand/dependencies.md", async () => {
  const { imports, scopes } = JSON.parse(await read("deno.json")) as {
    imports: Record<string, string>;
    scopes: Record<string, Record<string, string>>;
  };
  const text = await read("docs/understand/dependencies.md");
  const packages = new Set(
    [imports, ...Object.values(scopes)].flatMap((map) => Object.values(map)).map((target) =>
      /^npm:\/?((?:@[^/]+\/)?[^@/]+)@/.exec(target)![1]!
    ),
  );
  for (const name of packages) assert.ok(text.includes(`\`${name}\``), name);
});

/** Names of the packages in a lock file, with their versions and digests. */
async function lockedIn(path: string): Promise<Readonly<Record<string, { readonly integrity: string }>>> {
  return JSON.parse(await read(path)).npm;
}

Deno.test("the lock file holds what the program and its pages need: `task dev` fetches all of it, and nothing else", async () => {
  const names = Object.keys(await lockedIn("deno.lock")).map((id) => /^@?[^@]+/.exec(id)![0]);
  assert.deepEqual(
    names.toSorted(),
    [...PACKAGES_OF_A_FIRST_RUN],
    "is a package of tests or of releases among them? They are locked by --lock=tests/deno.lock (docs/understand/dependencies.md)",
  );
});

Deno.test("the lock file of the tests holds each package of the program too, at the same version and digest", async () => {
  const [own, all] = await Promise.all(["deno.lock", "tests/deno.lock"].map(lockedIn));
  // A key names the peers, which depend on the other packages.
  const bare = (locked: Awaited<ReturnType<typeof lockedIn>>) =>
    new Map(Object.entries(locked).map(([id, { integrity }]) => [/^@?[^@]+@[^_]+/.exec(id)![0], integrity]));
  const digests = bare(all!);
  for (const [id, integrity] of bare(own!)) assert.equal(digests.get(id), integrity, id);
  for (const [id, integrity] of digests) assert.match(integrity ?? "", /^sha512-/, id);
});

const BOOKS = ["integrate", "operate", "verify", "understand"];

/** The documentation, from the repository's root. */
const PAGES: readonly string[] = [
  ...["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"],
  ...(await Promise.all(["docs", "examples"].map(filesUnder))).flat().filter((path) => path.endsWith(".md")),
];

/** The anchors of a page's headings, as GitHub and GitLab make them. */
function anchorsOf(page: string): ReadonlySet<string> {
  const anchors = new Set<string>();
  for (const [, heading] of page.replace(/^ *```.*?^ *```$/gms, "").matchAll(/^#+ (.+)$/gm)) {
    const name = heading!.replace(/\[([^\]]*)\]\([^)]*\)/g, "$1").toLowerCase()
      .replace(/[^\p{L}\p{N}_ -]/gu, "").replaceAll(" ", "-");
    let anchor = name;
    for (let repeat = 1; anchors.has(anchor); repeat += 1) anchor = `${name}-${repeat}`;
    anchors.add(anchor);
  }
  return anchors;
}

Deno.test("every relative link of the documentation leads to a file, and to a heading if it names one", async () => {
  const broken: string[] = [];
  let toHeadings = 0;
  for (const page of PAGES) {
    for (
      const [, target, anchor] of (await read(page)).matchAll(/\]\((?![a-z]+:|\/)([^)#]*)(?:#([^)]*))?\)/g)
    ) {
      const path = target === "" ? page : relative(ROOT, join(ROOT, dirname(page), target!));
      const found = await Deno.stat(`${ROOT}/${path}`).catch(() => null);
      if (found === null || (anchor !== undefined && !anchorsOf(await read(path)).has(anchor))) {
        broken.push(`${page} → ${target}${anchor === undefined ? "" : `#${anchor}`}`);
      }
      if (anchor !== undefined) toHeadings += 1;
    }
  }
  assert.deepEqual(broken, []);
  assert.ok(toHeadings >= 20, `${toHeadings}`);
});

Deno.test("every path below docs/ that the program, the tests or the tools name exists", async () => {
  const sources = (await Promise.all(
    ["src", "scripts", "tests", "examples", ".ci", "Dockerfile", "deno.json"].map(filesUnder),
  ))
    .flat().filter((path) => /\.(?:tsx?|py|go)$|^(?:\.ci\/run|Dockerfile|deno\.json)$/.test(path));
  const missing: string[] = [];
  let named = 0;
  for (const source of [...sources, ...PAGES]) {
    for (const [path] of (await read(source)).matchAll(/(?<![\w./-])docs\/[\w./-]*\w/g)) {
      named += 1;
      if (await Deno.stat(`${ROOT}/${path}`).catch(() => null) === null) missing.push(`${source}: ${path}`);
    }
  }
  assert.deepEqual(missing, []);
  assert.ok(named >= 50, `${named}`);
});

Deno.test("the README leads to each book, and each book's first page to every page of it", async () => {
  const readme = await read("README.md");
  for (const book of BOOKS) {
    assert.ok(readme.includes(`(docs/${book}/README.md)`), book);
    const contents = await read(`docs/${book}/README.md`);
    for await (const { name, isFile } of Deno.readDir(`${ROOT}/docs/${book}`)) {
      if (!isFile || !name.endsWith(".md") || name === "README.md") continue;
      assert.ok(contents.includes(`](${name})`), `docs/${book}/README.md does not name ${name}`);
    }
  }
  const folders = (await Array.fromAsync(Deno.readDir(`${ROOT}/docs`))).map(({ name }) => name);
  assert.deepEqual(folders.toSorted(), BOOKS.toSorted());
});

Deno.test("each decision has three lines: decision, reason, cost", async () => {
  const sections = (await read("docs/understand/decisions.md")).split(/^## .*$/m).slice(1);
  const decisions = sections.flatMap((section) => section.split(/^- /m).slice(1)).map((text) =>
    text.trimEnd()
  );
  assert.ok(decisions.length >= 100, `${decisions.length}`);
  const others = decisions.filter((text) => !/^\*\*.+\*\*\n {2}Reason: .+\n {2}Cost: .+$/.test(text));
  assert.deepEqual(others, []);
});

/** The pages of the documentation, each with its blocks of commands. */
async function pagesOfCommands(): Promise<
  readonly { readonly page: string; readonly blocks: readonly string[] }[]
> {
  const pages = await Promise.all(PAGES.map(async (page) => ({
    page,
    blocks: [...(await read(page)).matchAll(/^ *```sh\n(.*?)^ *```$/gms)].map(([, block]) => block!),
  })));
  assert.ok(pages.filter(({ blocks }) => blocks.length > 0).length >= 8);
  return pages;
}

/** Variables that every shell has. */
const SHELL_VARIABLES = ["HOME", "PATH", "PWD"];

Deno.test("every variable that a page's commands use is set by them before, or by the file of secrets that they read", async () => {
  const { MASTER_SCOPES, masterSecretNames } = await import("../src/keys/master_keys.ts");
  const secrets = ["JISS_KEY_PEPPER", ...MASTER_SCOPES.map((scope) => masterSecretNames(scope)[0])];
  const unset: string[] = [];
  let used = 0;
  for (const { page, blocks } of await pagesOfCommands()) {
    const known = new Set(SHELL_VARIABLES);
    for (const block of blocks) {
      const words = /\$\{?([A-Z][A-Z_]+)(:[?-])?|(?:^|[\s;(])([A-Z][A-Z_]+)=|\. \S*(jiss\.env)\b/g;
      for (const [, name, hasDefault, assigned, file] of block.matchAll(words)) {
        if (assigned !== undefined) known.add(assigned);
        if (file !== undefined) secrets.forEach((secret) => known.add(secret));
        if (name === undefined) continue;
        used += 1;
        // `${NAME:?…}` says by itself what is missing.
        if (hasDefault === undefined && !known.has(name)) unset.push(`${page}: $${name}`);
      }
    }
  }
  assert.deepEqual(unset, []);
  assert.ok(used >= 20, `${used}`);
});

Deno.test("every reviewer that a page's commands name exists in the demo", async () => {
  const { DEMO_REVIEWERS } = await import("../src/simulation/demo.ts");
  const known = DEMO_REVIEWERS.map(({ operatorId }) => operatorId);
  const named = (await pagesOfCommands()).flatMap(({ page, blocks }) =>
    blocks.flatMap((block) =>
      [...block.matchAll(/(?<=operator\/|"operator_id":")(reviewer-[\w-]+)/g)].map(([name]) => ({
        page,
        name,
      }))
    )
  );
  assert.ok(named.length >= 3);
  assert.deepEqual(named.filter(({ name }) => !known.includes(name)), []);
});

Deno.test("only tests' throw-away files hold a private key", async () => {
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
