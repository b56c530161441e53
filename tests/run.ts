/**
 * The tests, in three lanes; then how many ran, the slowest, and each skipped one with its reason.
 *
 * - `task test`: what needs no other program: units, properties, layers, HTTP on the embedded database.
 * - `task gate`: what a change must pass besides: the contract of a database on a libSQL server, the program
 *   as a process, browsers, real servers, verifiers in other languages.
 * - `task endure`: all of HTTP, and the program, on a libSQL server; limits shared through a KV Connect
 *   server; sign-in at Keycloak; the pages in Firefox and WebKitGTK, which are installed first if that is allowed.
 * - `task test FILE…`: the named files, with any other argument of `deno test`.
 *
 * A test that needs something of the machine names it in square brackets at the end of its name; that is the
 * printed reason if it is missing. A file that did not run counts as a failure, and so does one that does not
 * end. `JISS_TEST_BACKEND=sqld` runs the named files on a libSQL server.
 */
import { bundle } from "../scripts/bundle.ts";
import { buildWeb, filesUnder } from "../scripts/web.ts";
import { HAS_SQLD } from "./sqld.ts";

const ROOT = await Deno.realPath(`${import.meta.dirname}/..`);
/** How many runs go on at once: many wait for a process, a server or a clock. */
const AT_ONCE = navigator.hardwareConcurrency + 1;
/** A longer run counts as hanging: the least limit, and more for each file, since a machine may be busy. */
const LEAST_LIMIT_MS = 500_000;
const LIMIT_OF_FILE_MS = 10_000;
const SLOWEST = 10;
/** What the summary repeats of a failure, which may be far above. */
const LINES_OF_FAILURE = 12;
const CHARACTERS_OF_LINE = 300;

interface Run {
  readonly name: string;
  readonly files: readonly string[];
  readonly backend?: "sqld";
  readonly options?: readonly string[];
}

/** One test in JUnit's report. */
interface Case {
  readonly name: string;
  readonly seconds: number;
  readonly isSkipped: boolean;
  /** The error and its place; null if the test did not fail. */
  readonly failure: string | null;
}

interface Finished {
  readonly code: number;
  readonly cases: readonly Case[];
  readonly unrun: readonly string[];
}

/** `task check` looks at types. The lock file of the tests holds their own packages, too. */
const OPTIONS = ["-A", "--quiet", "--no-check", "--lock=tests/deno.lock"];

async function run({ name, files, backend, options = [] }: Run): Promise<Finished> {
  const report = await Deno.makeTempFile({ prefix: "jiss-tests-", suffix: ".xml" });
  const started = performance.now();
  const child = new Deno.Command(Deno.execPath(), {
    args: ["test", ...OPTIONS, `--junit-path=${report}`, ...options, ...files],
    cwd: ROOT,
    env: {
      ...(bundled === null ? {} : { JISS_TEST_BUNDLE: bundled }),
      ...(backend === undefined ? {} : { JISS_TEST_BACKEND: backend }),
    },
    stdout: isLane ? "piped" : "inherit",
    stderr: isLane ? "piped" : "inherit",
    detached: isLane,
  }).spawn();
  let isHanging = false;
  const limit = isLane
    ? setTimeout(() => {
      isHanging = true;
      // With all its children, which hold its output open.
      Deno.kill(-child.pid, "SIGKILL");
    }, LEAST_LIMIT_MS + LIMIT_OF_FILE_MS * files.length)
    : undefined;
  const output = isLane ? await child.output() : null;
  const { code } = await child.status;
  clearTimeout(limit);
  if (output !== null) {
    const seconds = Math.round((performance.now() - started) / 1000);
    const how = isHanging ? "did not end" : code === 0 ? "ok" : "failed";
    console.log(`\n== ${name}: ${seconds} s, ${how}`);
    if (code !== 0) console.log(decode(output.stdout) + decode(output.stderr));
  }
  const xml = await Deno.readTextFile(report);
  await Deno.remove(report);
  const cases = [...xml.matchAll(/<testcase name="([^"]*)"([^>]*?)(?:\/>|>(.*?)<\/testcase>)/gs)];
  return {
    code,
    cases: cases.map(([, title, attributes, inside]) => ({
      name: backend === undefined ? unescaped(title!) : `${unescaped(title!)} (on a libSQL server)`,
      seconds: Number(/ time="([\d.]+)"/.exec(attributes!)?.[1] ?? 0),
      isSkipped: inside?.includes("<skipped") ?? false,
      failure: failureIn(inside ?? ""),
    })),
    // A test is under the file that defines it, which may be a helper's: what one file alone ran is that file's.
    unrun: files.length === 1 && cases.length > 0
      ? []
      : files.filter((path) => path.endsWith("_test.ts") && !xml.includes(`"./${path}"`)),
  };
}

function failureIn(xml: string): string | null {
  const text = /<(failure|error)\b[^>]*>(.*?)<\/\1>/s.exec(xml)?.[2];
  if (text === undefined) return null;
  const lines = unescaped(text).split("\n");
  const place = lines.slice(LINES_OF_FAILURE).find((line) => line.includes("/tests/"));
  return [...lines.slice(0, LINES_OF_FAILURE), ...(place === undefined ? [] : [place])]
    .map((line) => `  ${line.slice(0, CHARACTERS_OF_LINE)}`).join("\n");
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&lt;": "<",
  "&gt;": ">",
  "&quot;": '"',
  "&apos;": "'",
  "&amp;": "&",
};

function unescaped(xml: string): string {
  return xml.replace(/&(?:lt|gt|quot|apos|amp);/g, (entity) => ENTITIES[entity]!);
}

function decode(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}

const files = (await filesUnder("tests")).filter((path) => path.endsWith("_test.ts")).sort();
const within = (...folders: readonly string[]) =>
  files.filter((path) => folders.some((folder) => path.startsWith(`tests/${folder}/`)));
/** @throws if one of them no longer exists. */
function named(names: readonly string[]): readonly string[] {
  const paths = names.map((name) => `tests/${name}_test.ts`);
  for (const path of paths) if (!files.includes(path)) throw new Error(`there is no ${path}`);
  return paths;
}

/** Tests that need another program, or this one as a process of its own. */
const beside = within("browser", "interop", "process", "real");

/**
 * Files whose tests need minutes of preparation: a KV Connect server has to be built, Keycloak to make a database, two more browsers to be
 * installed.
 */
const ENDURING = named(["browser/firefox", "browser/webkit", "real/denokv", "real/keycloak"]);

/** Started first, so that all lanes end together. */
const LONGEST = named([
  "browser/collector",
  "browser/demo",
  "browser/console",
  "browser/docs",
  "browser/patience",
  "process/soak",
  "process/dev",
  "process/fuzz_api",
]);

/**
 * Tests over HTTP of the behaviour that the store must have on any backend: writes, conflicts, proofs,
 * erasure, pages, retries.
 */
const CONTRACT = named([
  "http/accepted_rows",
  "http/batch",
  "http/commit",
  "http/decision",
  "http/deliveries",
  "http/erasure",
  "http/frozen_calls",
  "http/operators",
  "http/proven_pages",
  "http/score",
  "http/verification",
]);

/** Tests of the whole program that would show nothing more on a server, and why. */
const ONE_BACKEND: readonly (readonly [why: string, files: readonly string[]])[] = [
  ["`jiss dev` has its database beside it always", ["process/dev", "process/first_run"]],
  ["saved files alone are verified, and simulated reviewers scored", [
    "process/large_bundle",
    "process/simulate",
    "process/verify",
    "real/check_by_hand",
    "real/go",
  ]],
  ["a release is made, or installed", ["process/release", "real/install_page"]],
  ["backups of the embedded database", ["process/backup"]],
  ["the limiter's own store", ["process/kv_limits", "real/denokv"]],
  ["faults of the embedded database's own disk and files", [
    "process/corrupt_database",
    "real/descriptors",
    "real/full_disk",
    "real/io_errors",
    "real/slow_reader",
  ]],
  ["connections of clients, and those to receivers", [
    "process/front",
    "real/hostile_receivers",
    "real/hostile_targets",
    "real/listener",
    "real/slow_connections",
    "real/ops",
    "real/tls",
    "real/webhook_receivers",
  ]],
  ["files of the embedded database, or a server of its own", ["process/kill_points", "process/upgrade"]],
  ["the disk below the embedded database", ["real/power_cut"]],
  ["sign-in at a provider, without the service", ["real/keycloak", "real/oidc", "real/oidc_wire"]],
  ["clients and pages of the same answers", [
    "process/review_desk",
    "real/integrate",
    "real/pages_walk",
    "real/report_page",
    "real/typed_client",
  ]],
  ["servers of their own on either run", [
    "real/libsql",
    "real/many_chains",
    "real/replicas",
    "real/replicas_page",
    "real/server_start",
  ]],
];
const onOneBackend = ONE_BACKEND.flatMap(([, names]) => named(names));

const alone = (path: string): Run => ({ name: path, files: [path] });
const onServer = (path: string): Run => ({
  name: `${path} on a libSQL server`,
  files: [path],
  backend: "sqld",
});

/** The runs of each lane. */
const LANE: Readonly<Record<string, () => readonly Run[]>> = {
  test: () => [{
    name: "the core, and HTTP",
    files: files.filter((path) => !beside.includes(path)),
    options: ["--parallel"],
  }],
  gate: () => [
    ...[...LONGEST, ...beside.filter((path) => ![...LONGEST, ...ENDURING].includes(path))].map(alone),
    ...(HAS_SQLD ? CONTRACT.map(onServer) : []),
  ],
  endure: () => [
    ...ENDURING.map(alone),
    ...(HAS_SQLD
      ? [
        ...within("http"),
        ...within("process", "real").filter((path) => !onOneBackend.includes(path)),
      ].map(onServer)
      : []),
  ],
};

const [first = "test", ...rest] = Deno.args;
const isLane = first in LANE && rest.length === 0;
const waiting: Run[] = isLane ? [...LANE[first]!()] : [{ name: "what is named", files: Deno.args }];

/** Runs the waiting files, one after another. */
async function worker(): Promise<readonly Finished[]> {
  const finished: Finished[] = [];
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) finished.push(await run(next));
  return finished;
}

await buildWeb();
if (isLane && first === "endure") {
  await new Deno.Command("bash", { args: [".ci/engines"], cwd: ROOT, stdout: "inherit" }).output();
}
let bundled: string | null = null;
if (isLane && first !== "test") {
  bundled = `${await Deno.makeTempDir({ prefix: "jiss-tests-" })}/jiss.js`;
  await bundle(bundled);
}
const finished = (await Promise.all(Array.from({ length: AT_ONCE }, worker))).flat();
if (bundled !== null) await Deno.remove(bundled.replace(/\/[^/]*$/, ""), { recursive: true });

const cases = finished.flatMap((one) => one.cases);
const skipped = cases.filter(({ isSkipped }) => isSkipped);
const failed = cases.filter(({ failure }) => failure !== null);
if (isLane) {
  console.log(`\nThe ${SLOWEST} slowest:`);
  for (const { name, seconds } of cases.toSorted((a, b) => b.seconds - a.seconds).slice(0, SLOWEST)) {
    console.log(`  ${seconds.toFixed(1).padStart(6)} s  ${name}`);
  }
}
// The report lists tests that a filter leaves out as if they were skipped.
const isFiltered = Deno.args.some((argument) => argument.startsWith("--filter"));
for (const { name } of isFiltered ? [] : skipped) {
  console.log(
    `SKIPPED ${name}: ${/\[needs ([^\]]*)\]/.exec(name)?.[1] ?? "no reason given"} is missing here`,
  );
}
if (!HAS_SQLD && isLane && first !== "test") {
  console.log("SKIPPED every test on a libSQL server: there is none for this machine");
}
const unrun = finished.flatMap((one) => one.unrun);
if (isLane) {
  for (const { name, failure } of failed) console.log(`FAILED ${name}\n${failure}`);
  for (const path of unrun) console.log(`NOT RUN ${path}`);
}
const passed = cases.length - skipped.length - failed.length;
console.log(`\n${passed} passed, ${failed.length} failed, ${skipped.length} skipped`);
const code = finished.find((one) => one.code !== 0)?.code ?? 0;
Deno.exit(code !== 0 ? code : cases.length === 0 || (isLane && unrun.length > 0) ? 1 : 0);
