/**
 * The direction table of docs/understand/architecture.md: a folder imports only what the table allows,
 * however the import is written; no file is part of a circle; packages and globals are used only in the listed
 * places (`platform_uses.ts`); and SQL is built in the store alone. Source files are parsed
 * (`source_tree.ts`), so that no other spelling evades a rule: `layer_mutations.ts` holds those that were tried.
 */
import assert from "node:assert/strict";
import { basename } from "node:path";
import { MUTATIONS } from "./layer_mutations.ts";
import { globalOffences, moduleOffences, unusedGrants } from "./platform_uses.ts";
import { cyclesOf, type Parsed, parseSources, readSources } from "./source_tree.ts";

/** Rooms of `src/operations`, each with the rooms that it may import from besides itself. */
const ROOMS: Readonly<Record<string, readonly string[]>> = {
  shared: [],
  chains: ["shared"],
  probes: ["shared"],
  scoring: ["probes", "shared"],
  organizations: ["chains", "shared"],
  alerts: ["organizations", "probes", "shared"],
  reporting: ["probes", "scoring", "shared"],
  exercises: ["organizations", "scoring", "shared"],
  cases: ["exercises", "organizations", "probes", "reporting", "scoring", "shared"],
  subjects: ["cases", "exercises", "organizations", "probes", "reporting", "scoring", "shared"],
  verification: ["chains", "organizations", "reporting", "scoring", "shared"],
  restoring: ["chains", "organizations", "probes", "scoring", "shared", "subjects", "users", "verification"],
  users: ["organizations", "shared"],
  webhooks: ["organizations", "shared"],
  installation: [
    "cases",
    "chains",
    "organizations",
    "probes",
    "restoring",
    "scoring",
    "shared",
    "users",
    "verification",
    "webhooks",
  ],
};

/** Folder under `src` → the folders that it may import from, besides itself. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  domain: [],
  scoring: ["domain"],
  keys: ["domain"],
  evidence: ["domain", "scoring"],
  exercises: ["domain", "evidence", "scoring"],
  observability: ["domain"],
  config: ["domain", "identity", "keys", "scoring"],
  limits: ["domain"],
  identity: ["domain"],
  webhooks: ["domain", "keys", "limits"],
  store: ["domain", "evidence"],
  operations: [
    "domain",
    "identity",
    "scoring",
    "keys",
    "evidence",
    "exercises",
    "observability",
    "config",
    "limits",
    "store",
    "webhooks",
  ],
  simulation: ["domain", "scoring"],
  pages: ["domain", "scoring"],
  http: [
    "domain",
    "evidence",
    "exercises",
    "identity",
    "keys",
    "limits",
    "observability",
    "operations",
    "pages",
  ],
  // The browser's part: it shares only pure code with the service.
  web: ["domain", "evidence", "exercises", "pages", "scoring"],
  cli: [
    "config",
    "domain",
    "evidence",
    "http",
    "keys",
    "observability",
    "operations",
    "pages",
    "scoring",
    "service",
    "simulation",
    "store",
    "webhooks",
  ],
  service: [
    "config",
    "domain",
    "evidence",
    "http",
    "identity",
    "keys",
    "limits",
    "observability",
    "operations",
    "scoring",
    "store",
    "webhooks",
  ],
};

/** Files that import a file from outside of `src`. */
const BESIDE: Readonly<Record<string, RegExp>> = {
  "src/exercises/built_in.ts": /^case_sets\//,
  "src/http/assets.ts": /^dist\/web\//,
  "src/service/compose.ts": /^deno\.json$/,
  "src/service/storage.ts": /^migrations\/mod\.ts$/,
};

/** May compare constructors: it looks at an error's own. */
const COMPARES_CONSTRUCTORS = "src/cli/export.ts";

/**
 * SQL stands in the store alone. Others pass on what the store has built, such as a compiled query or a
 * statement, and do not look into it.
 */
const SQL = {
  folder: "store",
  /** Builds queries. */
  builder: { file: "src/store/database.ts", name: "query" },
  /** Members of that builder and of its queries, and the member of a statement that holds its text. */
  members: [
    "deleteFrom",
    "insertInto",
    "mergeInto",
    "replaceInto",
    "selectFrom",
    "selectNoFrom",
    "sql",
    "updateTable",
    "withRecursive",
  ],
};

/** `src/http/app.ts` → `http` */
function folderOf(path: string): string {
  return path.split("/")[1]!;
}

/** `src/operations/scoring/score.ts` → `scoring`; null for files beside the rooms. */
function roomOf(path: string): string | null {
  const [, folder, room, file] = path.split("/");
  return folder === "operations" && file !== undefined ? room! : null;
}

/** Every violation of a rule, in a line that names the file. */
function offencesIn(parsed: ReadonlyMap<string, Parsed>): readonly string[] {
  return [
    ...[...parsed].flatMap(([path, file]) => [
      ...importOffences(path, file),
      ...moduleOffences(path, file),
      ...globalOffences(path, file),
      ...constructorOffences(path, file),
      ...localOffences(path, file),
      ...sqlOffences(path, file),
    ]),
    ...cyclesOf(parsed).map((files) => `a circle of imports: ${files.join(", ")}`),
  ];
}

/** Files whose code the rules cannot see. */
function languageOffences(paths: Iterable<string>): readonly string[] {
  return [...paths].filter((path) => !/\.(?:tsx?|json|css)$/.test(path))
    .map((path) => `${path}: is neither TypeScript nor data`);
}

function importOffences(path: string, { imports }: Parsed): readonly string[] {
  const folder = folderOf(path);
  const allowed = MAY_IMPORT[folder];
  if (allowed === undefined) return [`${path}: ${folder} is not in the table`];
  return imports.flatMap(({ specifier, target, isType }) => {
    if (specifier === null) return [`${path}: imports what is computed`];
    if (target === null) return [];
    if (!target.startsWith("src/")) {
      return BESIDE[path]?.test(target) === true ? [] : [`${path} → ${target}`];
    }
    const to = folderOf(target);
    // A command gets what compose builds: it knows only its shape.
    const isHanded = folder === "cli" && to === "service" && !isType;
    const [room, toRoom] = [roomOf(path), roomOf(target)];
    const isOtherRoom = room !== null && to === "operations" && room !== toRoom &&
      (toRoom === null || !ROOMS[room]?.includes(toRoom));
    const isOther = to !== folder && !allowed.includes(to);
    return isHanded || isOtherRoom || isOther ? [`${path} → ${target}`] : [];
  });
}

/** The constructor of any value's constructor makes a function from text, which can reach everything. */
function constructorOffences(path: string, { members, literals }: Parsed): readonly string[] {
  if (path === COMPARES_CONSTRUCTORS) return [];
  return [...members, ...literals].filter(({ name }) => name === "constructor")
    .map(({ line }) => `${path}:${line}: a constructor`);
}

/** Members whose result depends on the machine's time zone or language, which a replay must not. */
const LOCAL_MEMBERS =
  /^(?:localeCompare|toLocale\w*|to(?:Date|Time)String|getTimezoneOffset|[gs]et(?:Year|FullYear|Month|Date|Day|Hours|Minutes|Seconds|Milliseconds))$/;

/** Members that give another result in another place. A page in the browser may show local forms. */
function localOffences(path: string, { members }: Parsed): readonly string[] {
  if (folderOf(path) === "web") return [];
  return members.filter(({ name }) => LOCAL_MEMBERS.test(name))
    .map(({ name, line }) => `${path}:${line}: local, ${name}`);
}

/** SQL outside of the store. A statement that is parsed from JSON is not seen. */
function sqlOffences(path: string, { imports, members }: Parsed): readonly string[] {
  if (folderOf(path) === SQL.folder) return [];
  const { file, name: builder } = SQL.builder;
  return [
    ...imports.filter(({ target, names }) =>
      target === file && names.some((name) => name === builder || name === "*")
    ).map(() => `${path} → ${file} (${builder})`),
    ...members.filter(({ name }) => SQL.members.includes(name))
      .map(({ name, line }) => `${path}:${line}: SQL, ${name}`),
  ];
}

const SOURCES = await readSources();
const PARSED = parseSources(SOURCES);

Deno.test("every import points the way that the table allows, and effects are only in the allowed files", () => {
  assert.ok(PARSED.size > 300);
  assert.deepEqual([...languageOffences(SOURCES.keys()), ...offencesIn(PARSED)], []);
});

Deno.test("no permission is wider than its use", () => {
  assert.deepEqual(unusedGrants(PARSED), []);
});

for (const [name, path, lines, offence] of MUTATIONS) {
  Deno.test(`the rules are broken by ${name}`, () => {
    const changed = new Map([[path, `${SOURCES.get(path) ?? ""}\n${lines}\n`]]);
    const found = [
      ...languageOffences(changed.keys()),
      ...offencesIn(new Map([...PARSED, ...parseSources(changed)])),
    ];
    assert.ok(found.some((line) => offence.test(line)), found.join("\n"));
  });
}

/** Commands that serve. The others may wait for a reader of their output. */
const SERVING_COMMANDS = ["run_service.ts", "serve.ts", "dev.ts", "descriptors.ts"];

Deno.test("code that serves writes to standard output and standard error in one place, which waits for no reader", () => {
  const offences: string[] = [];
  for (const [path, text] of SOURCES) {
    const isCommand = path.startsWith("src/cli/") && !SERVING_COMMANDS.includes(basename(path));
    if (isCommand || path.startsWith("src/web/")) continue;
    const writes = text.match(/\bconsole\.\w+\(|\bDeno\.std(?:out|err)\.(?!isTerminal\b)\w+/g) ?? [];
    const allowed = path === "src/service/world.ts" ? ["Deno.stdout.write", "Deno.stderr.write"] : [];
    offences.push(...writes.filter((write) => !allowed.includes(write)).map((write) => `${path}: ${write}`));
  }
  assert.deepEqual(offences, []);
});

/** ECMAScript leaves the last bits of these to the engine; a replay must not depend on one. */
const INEXACT =
  /\bMath\.(?:exp|expm1|log|log2|log10|log1p|pow|round|sin|cos|tan|hypot|cbrt|fround)\b|\*\*(?!\/)|\.toFixed\(|\bIntl\b/;

Deno.test("scoring uses no function whose last bits are the engine's own", () => {
  const offences: string[] = [];
  for (const [path, text] of SOURCES) {
    if (folderOf(path) !== "scoring") continue;
    text.split("\n").forEach((line, index) => {
      const code = line.replace(/^\s*(?:\/?\*.*|\/\/.*)$/, "");
      if (INEXACT.test(code)) offences.push(`${path}:${index + 1}: ${line.trim()}`);
    });
  }
  assert.deepEqual(offences, []);
});
