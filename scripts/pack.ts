/**
 * `task pack`: the bundle, its list and its licences as an npm package, dist/jiss-<version>.tgz, and its SHA-256 beside
 * it. The package starts the bundle with the release's permissions on npm's own `deno`, at the pinned version. The same
 * commit gives the same bytes.
 */
import { Buffer } from "node:buffer";
import { RELEASE_PERMISSIONS, UNSTABLE_FEATURES } from "../src/cli/permissions.ts";
import { writeDigest } from "./bundle.ts";
import { LAUNCH_ENVIRONMENT, LAUNCH_OPTIONS, SERVE_ENVIRONMENT } from "./launch.ts";
import { makeRelease } from "./sbom.ts";

const ROOT = await Deno.realPath(`${import.meta.dirname}/..`);

/** Files of the package, each with its source in the repository. */
const FILES: Readonly<Record<string, string>> = {
  "LICENSE": "LICENSE",
  "README.md": "README.md",
  "jiss.cdx.json": "dist/jiss.cdx.json",
  "jiss.js": "dist/jiss.js",
  "jiss.mjs": "scripts/npm/jiss.mjs",
  "licences.txt": "dist/licences.txt",
};
/** The file that npm puts on the PATH. */
const LAUNCHER = "jiss.mjs";

/** The time of every file, in seconds since 1970: 1985-10-26, which npm gives to every file of its own archives. */
const MTIME = 499_162_500;
const TAR_BLOCK = 512;

interface ArchivedFile {
  /** At most 100 bytes of ASCII. */
  readonly path: string;
  readonly content: Uint8Array;
  readonly isExecutable: boolean;
}

/** The content of package.json. */
function manifestOf({ version, license, denoVersion }: {
  /** Version of the program. */
  readonly version: string;
  /** Licence as an SPDX expression. */
  readonly license: string;
  readonly denoVersion: string;
}): Readonly<Record<string, unknown>> {
  return {
    name: "jiss",
    version,
    description: "Judgment Independence Scoring Service",
    license,
    type: "module",
    bin: { jiss: LAUNCHER },
    engines: { node: ">=18" },
    dependencies: { deno: denoVersion },
  };
}

/** The settings with which the package's launcher starts Deno. */
interface Launch {
  /** Options of `deno run`. */
  readonly options: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** Further variables of `jiss serve`, unless the administrator sets others. */
  readonly serveEnvironment: Readonly<Record<string, string>>;
}

/** The content of launch.json, which the package's launcher reads. */
export function launchOf(): Launch {
  return {
    options: [...LAUNCH_OPTIONS, ...UNSTABLE_FEATURES, ...RELEASE_PERMISSIONS],
    environment: LAUNCH_ENVIRONMENT,
    serveEnvironment: SERVE_ENVIRONMENT,
  };
}

/** A tar archive (ustar) of the files in their order. @throws if a path is too long. */
function tarOf(files: readonly ArchivedFile[]): Uint8Array<ArrayBuffer> {
  const blocks = files.flatMap((file) => [
    headerOf(file),
    file.content,
    new Uint8Array(-file.content.length & (TAR_BLOCK - 1)),
  ]);
  const end = new Uint8Array(2 * TAR_BLOCK);
  return new Uint8Array(Buffer.concat([...blocks, end]));
}

function headerOf({ path, content, isExecutable }: ArchivedFile): Uint8Array {
  if (!/^[\x21-\x7e]{1,100}$/.test(path)) {
    throw new Error(`the path ${path} must have 1 to 100 ASCII characters`);
  }
  const header = Buffer.alloc(TAR_BLOCK);
  const octal = (value: number, digits: number) => `${value.toString(8).padStart(digits, "0")}\0`;
  header.write(path, 0);
  header.write(octal(isExecutable ? 0o755 : 0o644, 7), 100);
  header.write(octal(0, 7), 108);
  header.write(octal(0, 7), 116);
  header.write(octal(content.length, 11), 124);
  header.write(octal(MTIME, 11), 136);
  // The checksum field counts as eight spaces in its own sum.
  header.write(" ".repeat(8), 148);
  header.write("0", 156);
  header.write("ustar\x0000", 257);
  header.write(`${octal(header.reduce((sum, byte) => sum + byte), 6)} `, 148);
  return header;
}

/** The package's archive, made from the files in dist/. */
async function archive(): Promise<{ readonly name: string; readonly bytes: Uint8Array }> {
  const { version, license } = JSON.parse(await Deno.readTextFile(`${ROOT}/deno.json`));
  const denoVersion = (await Deno.readTextFile(`${ROOT}/.deno-version`)).trim();
  const json = (value: unknown) => new TextEncoder().encode(`${JSON.stringify(value, null, 2)}\n`);
  const files: Readonly<Record<string, Uint8Array>> = {
    // It comes first, where npm and registries look for it.
    "package.json": json(manifestOf({ version, license, denoVersion })),
    "launch.json": json(launchOf()),
    ...Object.fromEntries(
      await Promise.all(
        Object.entries(FILES).map(async ([name, path]) => [name, await Deno.readFile(`${ROOT}/${path}`)]),
      ),
    ),
  };
  const tar = tarOf(
    Object.entries(files).map(([name, content]) => ({
      path: `package/${name}`,
      content,
      isExecutable: name === LAUNCHER,
    })),
  );
  const compressed = new Blob([tar]).stream().pipeThrough(new CompressionStream("gzip"));
  return { name: `jiss-${version}.tgz`, bytes: await new Response(compressed).bytes() };
}

if (import.meta.main) {
  await makeRelease();
  const { name, bytes } = await archive();
  const output = `${ROOT}/dist/${name}`;
  await Deno.writeFile(output, bytes);
  console.log(`dist/${name}: ${bytes.length} bytes, SHA-256 ${await writeDigest(output)}`);
}
