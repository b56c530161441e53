/**
 * `task sbom`: the bundle, the list of its packages (dist/jiss.cdx.json, CycloneDX 1.6) and their licences
 * (dist/licences.txt), from deno.lock and from the packages' own files.
 *
 * The bundler says which packages it holds: each script is bundled once more with the name of every module
 * that was kept. The same commit gives the same bytes: the time in the list is that of the commit, and
 * neither file has a random number.
 */
import { Enums, Models, Serialize, SPDX, Spec } from "@cyclonedx/cyclonedx-library";
import { bundle, writeDigest } from "./bundle.ts";
import { formOf, SCRIPTS } from "./web.ts";

const ROOT = await Deno.realPath(`${import.meta.dirname}/..`);
/** Files of a package that hold its terms, or say who wrote it. */
const LICENCE_FILE = /^(?:licen[cs]e|copying|notice)(?:[.-].*)?$/i;
/** The folder of CycloneDX's own schemas, which its library carries. */
export const SCHEMAS = new URL("../res/schema/", import.meta.resolve("@cyclonedx/cyclonedx-library"));
const REGISTRY = "https://registry.npmjs.org";

interface Lock {
  /** The version of each package that deno.json requires. */
  readonly specifiers: Readonly<Record<string, string>>;
  /** Packages by name, version and the versions of peers. */
  readonly npm: Readonly<
    Record<string, { readonly integrity: string; readonly dependencies?: readonly string[] }>
  >;
}

/** A package of npm of which the bundle holds at least a part. */
export interface BundledPackage {
  readonly name: string;
  readonly version: string;
  /** SPDX expression that the package gives. */
  readonly licence: string;
  readonly repository: string | null;
  /** Digest of its archive, hexadecimal. */
  readonly sha512: string;
  /** Names of the packages that it requires itself. */
  readonly dependencyNames: readonly string[];
  readonly licenceFiles: readonly { readonly name: string; readonly text: string }[];
}

/** Every package of the bundle, by name. */
async function bundledPackages(): Promise<readonly BundledPackage[]> {
  const lock: Lock = JSON.parse(await Deno.readTextFile(`${ROOT}/deno.lock`));
  const modules = (await Promise.all([
    modulesOf("main.ts", []),
    ...Object.entries(SCRIPTS).map(([name, module]) => modulesOf(module, formOf(name))),
  ])).flat();
  const found = Object.entries(lock.npm).flatMap(([id, locked]) => {
    const [, name, version] = /^((?:@[^/]+\/)?[^@]+)@([^_]+)/.exec(id)!;
    const folder = `/${name}/${version}/`;
    const module = modules.find((path) => path.includes(folder));
    if (module === undefined) return [];
    const end = module.indexOf(folder) + folder.length;
    return [{ name: name!, version: version!, folder: `${ROOT}/${module.slice(0, end)}`, ...locked }];
  });
  const unknown = modules.filter((path) =>
    !found.some(({ name, version }) => path.includes(`/${name}/${version}/`))
  );
  if (unknown.length > 0) {
    throw new Error(`these modules belong to no package in deno.lock: ${unknown.join(", ")}`);
  }
  const packages = await Promise.all(found.map(async ({ name, version, folder, integrity, dependencies }) => {
    const { license, repository } = JSON.parse(await Deno.readTextFile(`${folder}package.json`));
    return {
      name,
      version,
      licence: String(license),
      repository: addressOf((typeof repository === "string" ? repository : repository?.url) ?? null),
      sha512: Uint8Array.fromBase64(integrity.replace(/^sha512-/, "")).toHex(),
      dependencyNames: (dependencies ?? []).map((specifier) => /^((?:@[^/]+\/)?[^@]+)/.exec(specifier)![1]!),
      licenceFiles: await licenceFilesIn(folder),
    };
  }));
  return packages.sort((one, other) => one.name < other.name ? -1 : 1);
}

/**
 * The web address of a repository on GitHub, from any form of its name; another repository as it is named.
 */
function addressOf(repository: string | null): string | null {
  if (repository === null) return null;
  const bare = repository.replace(/^git\+/, "").replace(/\.git$/, "");
  const [, path] =
    /^(?:(?:https?|ssh|git):\/\/(?:git@)?github\.com\/|git@github\.com:|github:)?([\w.-]+\/[\w.-]+)$/.exec(
      bare,
    ) ??
      [];
  return path === undefined ? bare : `https://github.com/${path}`;
}

/** Paths, from the repository's root, of the packages' modules that the bundle of a script holds. */
async function modulesOf(script: string, form: readonly string[]): Promise<readonly string[]> {
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["bundle", "--quiet", ...form, script],
    cwd: ROOT,
    stdout: "piped",
    stderr: "piped",
  }).output();
  if (!success) throw new Error(`deno bundle ${script} failed\n${new TextDecoder().decode(stderr)}`);
  // If it does not minify, the bundler puts each module's path above it.
  return [...new TextDecoder().decode(stdout).matchAll(/^\s*\/\/ (\S.*\/npm\/.*)$/gm)].map(([, path]) =>
    path!
  );
}

async function licenceFilesIn(folder: string): Promise<BundledPackage["licenceFiles"]> {
  const names = (await Array.fromAsync(Deno.readDir(folder)))
    .filter(({ name, isFile }) => isFile && LICENCE_FILE.test(name)).map(({ name }) => name).sort();
  return Promise.all(names.map(async (name) => ({
    name,
    text: (await Deno.readTextFile(`${folder}${name}`)).replaceAll("\r\n", "\n").trim(),
  })));
}

/** The list as CycloneDX 1.6 in JSON. */
function billOfMaterials(
  { version, licence, deno, sha256, packages, at }: {
    /** Version of the program. */
    readonly version: string;
    readonly licence: string;
    /** The Deno on which the bundle runs. */
    readonly deno: PinnedDeno;
    /** Time of the source; null if it is not known. */
    readonly at: Date | null;
    /** Digest of the bundle. */
    readonly sha256: string;
    readonly packages: readonly BundledPackage[];
  },
): string {
  const bom = new Models.Bom();
  const program = new Models.Component(Enums.ComponentType.Application, "jiss", {
    version,
    bomRef: "jiss",
    description: "Judgment Independence Scoring Service, as one JavaScript file",
    licenses: new Models.LicenseRepository([licenceOf(licence)]),
    hashes: new Models.HashDictionary([[Enums.HashAlgorithm["SHA-256"], sha256]]),
  });
  const platform = new Models.Component(Enums.ComponentType.Platform, "deno", {
    version: deno.version,
    bomRef: `pkg:npm/deno@${deno.version}`,
    purl: `pkg:npm/deno@${deno.version}`,
    hashes: new Models.HashDictionary([[Enums.HashAlgorithm["SHA-512"], deno.packageSha512]]),
    externalReferences: new Models.ExternalReferenceRepository([
      distributionOf("deno", { version: deno.version, sha512: deno.packageSha512 }),
      distributionOf(`@deno/${deno.archive}`, { version: deno.version, sha512: deno.sha512 }),
    ]),
    description: "The runtime of the bundle, or of the compiled executable; it includes SQLite and V8",
    licenses: new Models.LicenseRepository([licenceOf("MIT")]),
  });
  const components = new Map(packages.map((one) => [one.name, componentOf(one)]));
  for (const { name, dependencyNames } of packages) {
    for (const dependency of dependencyNames) {
      const component = components.get(dependency);
      if (component !== undefined) components.get(name)!.dependencies.add(component.bomRef);
    }
  }
  for (const component of [platform, ...components.values()]) {
    bom.components.add(component);
    program.dependencies.add(component.bomRef);
  }
  bom.metadata.component = program;
  if (at !== null) bom.metadata.timestamp = at;
  const serializer = new Serialize.JsonSerializer(new Serialize.JSON.Normalize.Factory(Spec.Spec1dot6));
  return serializer.serialize(bom, { sortLists: true, space: 2 }) + "\n";
}

function componentOf({ name, version, licence, repository, sha512 }: BundledPackage): Models.Component {
  const [, scope, bare] = /^(?:(@[^/]+)\/)?(.+)$/.exec(name)!;
  const purl = `pkg:npm/${scope === undefined ? "" : `%40${scope.slice(1)}/`}${bare}@${version}`;
  const references = new Models.ExternalReferenceRepository([
    distributionOf(name, { version, sha512 }),
  ]);
  if (repository !== null) {
    references.add(new Models.ExternalReference(repository, Enums.ExternalReferenceType.VCS));
  }
  return new Models.Component(Enums.ComponentType.Library, bare!, {
    ...(scope === undefined ? {} : { group: scope }),
    version,
    purl,
    bomRef: purl,
    scope: Enums.ComponentScope.Required,
    hashes: new Models.HashDictionary([[Enums.HashAlgorithm["SHA-512"], sha512]]),
    licenses: new Models.LicenseRepository([licenceOf(licence)]),
    externalReferences: references,
  });
}

/** The address of an archive on npm, and its digest. */
function distributionOf(
  name: string,
  { version, sha512 }: { readonly version: string; readonly sha512: string },
): Models.ExternalReference {
  const bare = name.slice(name.indexOf("/") + 1);
  return new Models.ExternalReference(
    `${REGISTRY}/${name}/-/${bare}-${version}.tgz`,
    Enums.ExternalReferenceType.Distribution,
    { hashes: new Models.HashDictionary([[Enums.HashAlgorithm["SHA-512"], sha512]]) },
  );
}

/**
 * The time of the source: `SOURCE_DATE_EPOCH` (reproducible-builds.org), else that of the commit in a clone;
 * null if neither is known, as in a folder without git.
 * @throws {Error} if `SOURCE_DATE_EPOCH` is no whole number of seconds.
 */
export async function timeOfSource(
  folder: string,
  sourceDateEpoch: string | undefined,
): Promise<Date | null> {
  if (sourceDateEpoch !== undefined && sourceDateEpoch !== "") {
    if (!/^\d{1,11}$/.test(sourceDateEpoch)) {
      throw new Error("SOURCE_DATE_EPOCH must be a whole number of seconds since 1970");
    }
    return new Date(Number(sourceDateEpoch) * 1000);
  }
  // A folder that lies in another clone does not belong to that clone's commit.
  const top = await gitOutput(folder, "rev-parse", "--show-toplevel");
  if (top === null || await Deno.realPath(top) !== await Deno.realPath(folder)) return null;
  const seconds = await gitOutput(folder, "log", "-1", "--format=%ct");
  return seconds === null ? null : new Date(Number(seconds) * 1000);
}

/** The output of git; null if git is missing or fails. */
async function gitOutput(folder: string, ...args: readonly string[]): Promise<string | null> {
  try {
    const { success, stdout } = await new Deno.Command("git", {
      args: [...args],
      cwd: folder,
      stderr: "null",
    })
      .output();
    return success ? new TextDecoder().decode(stdout).trim() : null;
  } catch {
    return null;
  }
}

/** A version of Deno on npm: one package, which fetches the archive of the system that it is installed on. */
interface PinnedDeno {
  readonly version: string;
  /** Digest of the package, hexadecimal. */
  readonly packageSha512: string;
  /** The archive of one system, and its digest. */
  readonly archive: string;
  readonly sha512: string;
}

/** The system for which docs/operate/install.md fetches Deno. */
const DENO_ARCHIVE = "linux-x64-glibc";

/**
 * Deno as docs/operate/install.md fetches it. @throws {Error} if a digest of the pinned version is missing.
 */
async function pinnedDeno(): Promise<PinnedDeno> {
  const version = (await Deno.readTextFile(`${ROOT}/.deno-version`)).trim();
  const lines = (await Deno.readTextFile(`${ROOT}/docs/operate/deploy/deno.sha512`)).split("\n");
  const digestOf = (file: string) => {
    const line = lines.find((line) => line.endsWith(`  ${file}`));
    if (line === undefined) throw new Error(`docs/operate/deploy/deno.sha512 has no digest of ${file}`);
    return line.slice(0, line.indexOf(" "));
  };
  return {
    version,
    packageSha512: digestOf(`deno-${version}.tgz`),
    archive: DENO_ARCHIVE,
    sha512: digestOf(`deno-${DENO_ARCHIVE}-${version}.tgz`),
  };
}

function licenceOf(licence: string): Models.License {
  const id = SPDX.fixupSpdxId(licence);
  return id === undefined ? new Models.LicenseExpression(licence) : new Models.SpdxLicense(id);
}

/** The terms of every package, as each package carries them. */
export function licenceList(packages: readonly BundledPackage[]): string {
  const rows = packages.map(({ name, version, licence }) => `${`${name} ${version}`.padEnd(40)} ${licence}`);
  const texts = packages.map(({ name, version, licence, repository, licenceFiles }) => {
    const head = `${name} ${version} (${licence})${repository === null ? "" : `\n${repository}`}`;
    const files = licenceFiles.map(({ text }) => text);
    const terms = files.length > 0 ? files.join("\n\n") : "The package contains no licence file.";
    return `${"-".repeat(80)}\n${head}\n\n${terms}\n`;
  });
  return `Packages in jiss.js, and their licences. The program's own: Apache-2.0.\n\n${rows.join("\n")}\n\n${
    texts.join("\n")
  }`;
}

/** Makes dist/jiss.js, its digest, the list and the licences; returns how many packages are in the bundle. */
export async function makeRelease(): Promise<number> {
  const output = `${ROOT}/dist/jiss.js`;
  await bundle(output);
  const { version, license } = JSON.parse(await Deno.readTextFile(`${ROOT}/deno.json`));
  const packages = await bundledPackages();
  const at = await timeOfSource(ROOT, Deno.env.get("SOURCE_DATE_EPOCH"));
  if (at === null) {
    console.error(
      "jiss.cdx.json has no timestamp, because this is not a clone and SOURCE_DATE_EPOCH is not set",
    );
  }
  const list = billOfMaterials({
    version,
    licence: license,
    deno: await pinnedDeno(),
    at,
    sha256: await writeDigest(output),
    packages,
  });
  await Deno.writeTextFile(`${ROOT}/dist/jiss.cdx.json`, list);
  await Deno.writeTextFile(`${ROOT}/dist/licences.txt`, licenceList(packages));
  return packages.length;
}

if (import.meta.main) {
  console.log(`dist/jiss.cdx.json, dist/licences.txt: ${await makeRelease()} packages`);
}
