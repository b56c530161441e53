/**
 * The direction table of docs/architecture.md: a folder imports only what stands to its right, and time,
 * entropy, the environment and the network stand only where the table says.
 */
import assert from "node:assert/strict";
import { basename, dirname, relative, resolve } from "node:path";

const ROOT = resolve(import.meta.dirname!, "..");

/** Folder or file under src → the folders that it may import from, besides itself. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  "domain": [],
  "scoring": ["domain"],
  "keys": ["domain"],
  "evidence": ["domain", "scoring"],
  "observability": ["domain"],
  "config": ["domain", "keys", "scoring"],
  "limits": ["domain"],
  "webhooks": ["domain", "keys", "limits"],
  "store": ["domain", "evidence"],
  "operations": [
    "domain",
    "scoring",
    "keys",
    "evidence",
    "observability",
    "config",
    "limits",
    "store",
    "webhooks",
  ],
  "simulation": ["domain", "scoring"],
  "pages": ["domain", "scoring"],
  "http": ["assets.ts", "domain", "evidence", "keys", "limits", "observability", "operations", "pages"],
  "assets.ts": [],
  // The browser's part: what it shares with the service is pure.
  "web": ["domain", "evidence", "pages", "scoring"],
  "cli": [
    "config",
    "domain",
    "evidence",
    "http",
    "keys",
    "observability",
    "operations",
    "pages",
    "scoring",
    "simulation",
    "store",
    "compose.ts",
    "invocation.ts",
  ],
  "permissions.ts": ["webhooks"],
  "invocation.ts": ["permissions.ts"],
  "startup.ts": ["config", "evidence", "keys", "operations", "store"],
  "databases.ts": [
    "assets.ts",
    "config",
    "domain",
    "http",
    "observability",
    "operations",
    "store",
    "startup.ts",
  ],
  "world.ts": ["config", "domain", "http", "observability", "operations", "store"],
  "rate_windows.ts": ["config", "domain", "http", "limits", "observability", "operations", "startup.ts"],
  "checkpoint_lock.ts": ["config", "databases.ts", "http", "observability", "startup.ts", "store"],
  "compose.ts": [
    "checkpoint_lock.ts",
    "databases.ts",
    "rate_windows.ts",
    "world.ts",
    "config",
    "domain",
    "evidence",
    "http",
    "limits",
    "observability",
    "operations",
    "scoring",
    "store",
    "webhooks",
    "startup.ts",
  ],
};

/** What scoring and evidence may take from outside: nothing that does I/O. */
const PACKAGES: Readonly<Record<string, readonly string[]>> = {
  "domain": ["zod"],
  "scoring": ["zod"],
  "evidence": ["zod"],
};

interface Import {
  readonly file: string;
  readonly target: string;
  readonly typeOnly: boolean;
}

async function sourceFiles(folder = `${ROOT}/src`): Promise<readonly string[]> {
  const files: string[] = [];
  for await (const entry of Deno.readDir(folder)) {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory) files.push(...await sourceFiles(path));
    else if (/\.tsx?$/.test(entry.name)) files.push(path);
  }
  return files;
}

async function importsOf(file: string): Promise<readonly Import[]> {
  const text = await Deno.readTextFile(file);
  const statements = text.matchAll(/^(?:import|export)\s+(type\s)?[^;]*?from\s+"([^"]+)"/gms);
  return [...statements].map(([, type, target]) => ({ file, target: target!, typeOnly: type !== undefined }));
}

/** `src/http/app.ts` → `http`; `src/compose.ts` → `compose.ts`. */
function placeOf(path: string): string {
  return relative(`${ROOT}/src`, path).split("/")[0]!;
}

Deno.test("every import points the way that the direction table allows", async () => {
  const offences: string[] = [];
  for (const file of await sourceFiles()) {
    const from = placeOf(file);
    const allowed = MAY_IMPORT[from];
    assert.ok(allowed !== undefined, `${from} is not in the table`);
    for (const { target, typeOnly } of await importsOf(file)) {
      if (!target.startsWith(".")) continue;
      const to = relative(ROOT, resolve(dirname(file), target));
      // A command is handed what compose builds: it knows its shape and nothing else.
      if (from === "cli" && to === "src/compose.ts" && !typeOnly) {
        offences.push(`${relative(ROOT, file)} → ${to}`);
      }
      if (!to.startsWith("src/")) {
        const built = from === "assets.ts" && to.startsWith("dist/web/");
        if (from !== "compose.ts" && !built) offences.push(`${relative(ROOT, file)} → ${to}`);
        continue;
      }
      const place = placeOf(`${ROOT}/${to}`);
      if (place !== from && !allowed.includes(place)) offences.push(`${relative(ROOT, file)} → ${to}`);
    }
  }
  assert.deepEqual(offences, []);
});

Deno.test("domain, scoring and evidence use no package but the schema library", async () => {
  const offences: string[] = [];
  for (const file of await sourceFiles()) {
    const packages = PACKAGES[placeOf(file)];
    if (packages === undefined || file.endsWith("/evidence/node_crypto.ts")) continue;
    for (const { target } of await importsOf(file)) {
      if (!target.startsWith(".") && !packages.includes(target)) {
        offences.push(`${relative(ROOT, file)}: ${target}`);
      }
    }
  }
  assert.deepEqual(offences, []);
});

Deno.test("nothing but compose imports a migration or the program's version, and nobody imports main", async () => {
  for (const file of await sourceFiles()) {
    for (const { target } of await importsOf(file)) {
      assert.notEqual(resolve(dirname(file), target), `${ROOT}/main.ts`, file);
    }
  }
});

/** Outside effects → the only places of their own. In a browser all but the network may stand anywhere. */
const EFFECTS: readonly (readonly [pattern: RegExp, places: readonly string[]])[] = [
  [/\bDate\.now\(|\bnew Date\(\)|\bperformance\.now\(/, ["src/world.ts"]],
  [/\bMath\.random\(|\brandomBytes\b|\bgetRandomValues\b|\brandomUUID\b|\bgenerateKeyPair/, ["src/world.ts"]],
  [/\bDeno\.env\b|\bprocess\.env\b/, ["src/world.ts"]],
  [/(?<![.\w])fetch\(/, ["src/web/shared/api.ts", "src/databases.ts"]],
  [/"node:(?:http|https|http2|tls|dgram)"/, ["src/cli/healthcheck.ts", "src/webhooks/delivery.ts"]],
  [/"node:dns/, ["src/world.ts"]],
];

Deno.test("time, entropy, the environment and the network stand only where they may", async () => {
  const offences: string[] = [];
  for (const file of await sourceFiles()) {
    const text = await Deno.readTextFile(file);
    const path = relative(ROOT, file);
    for (const [pattern, places] of EFFECTS) {
      const isBrowsers = path.startsWith("src/web/") && !pattern.source.includes("fetch");
      if (pattern.test(text) && !places.includes(path) && !isBrowsers) offences.push(`${path}: ${pattern}`);
    }
  }
  assert.deepEqual(offences, []);
});

/** Commands that serve. The others may wait for whoever reads what they print. */
const SERVING_COMMANDS = ["run_service.ts", "serve.ts", "dev.ts", "descriptors.ts"];

Deno.test("what serves writes to standard output and standard error in one place, where nothing waits for a reader", async () => {
  const offences: string[] = [];
  for (const file of await sourceFiles()) {
    const path = relative(ROOT, file);
    const isCommand = path.startsWith("src/cli/") && !SERVING_COMMANDS.includes(basename(path));
    if (isCommand || path.startsWith("src/web/")) continue;
    const text = await Deno.readTextFile(file);
    const writes = text.match(/\bconsole\.\w+\(|\bDeno\.std(?:out|err)\.(?!isTerminal\b)\w+/g) ?? [];
    const allowed = path === "src/world.ts" ? ["Deno.stdout.write", "Deno.stderr.write"] : [];
    offences.push(...writes.filter((write) => !allowed.includes(write)).map((write) => `${path}: ${write}`));
  }
  assert.deepEqual(offences, []);
});

/** ECMAScript leaves the last bits of these to the engine; a replay must not depend on one. */
const INEXACT =
  /\bMath\.(?:exp|expm1|log|log2|log10|log1p|pow|round|sin|cos|tan|hypot|cbrt|fround)\b|\*\*(?!\/)|\.toFixed\(|\bIntl\b|toLocale/;

Deno.test("scoring uses no function whose last bits are the engine's own", async () => {
  const offences: string[] = [];
  for (const file of await sourceFiles(`${ROOT}/src/scoring`)) {
    const lines = (await Deno.readTextFile(file)).split("\n");
    lines.forEach((line, index) => {
      const code = line.replace(/^\s*(?:\/?\*.*|\/\/.*)$/, "");
      if (INEXACT.test(code)) offences.push(`${relative(ROOT, file)}:${index + 1}: ${line.trim()}`);
    });
  }
  assert.deepEqual(offences, []);
});
