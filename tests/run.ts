/**
 * `task test`: every test, then how many ran, and each one that was skipped with its reason.
 *
 * A test that needs something of the machine names it in square brackets at the end of its name; that is the
 * reason which is printed where it is missing. Arguments are handed to `deno test` (a file, `--filter`). A file that
 * did not run is a failure.
 *
 * Without arguments two lanes run beside each other, and the tests of HTTP run on both backends; with `--everywhere` those of
 * the whole program too, which takes ten minutes more. `JISS_TEST_BACKEND=sqld` runs what is named on a libSQL server.
 */
import { buildWeb, filesUnder } from "../scripts/web.ts";
import { HAS_SQLD } from "./sqld.ts";

const ROOT = `${import.meta.dirname}/..`;

interface Run {
  readonly name: string;
  /** Each by its name: of a folder that holds a member of the workspace Deno 2.9.6 takes that member's tests alone. */
  readonly files: readonly string[];
  readonly backend?: "sqld";
}

/** Of one test, as JUnit's report has it. */
interface Case {
  readonly name: string;
  readonly isSkipped: boolean;
  readonly isFailed: boolean;
}

interface Finished {
  readonly code: number;
  readonly cases: readonly Case[];
  readonly unrun: readonly string[];
}

async function run({ name, files, backend }: Run): Promise<Finished> {
  const report = await Deno.makeTempFile({ prefix: "jiss-tests-", suffix: ".xml" });
  const started = performance.now();
  const done = await new Deno.Command(Deno.execPath(), {
    args: ["test", "-A", "--quiet", `--junit-path=${report}`, ...files],
    cwd: ROOT,
    env: backend === undefined ? {} : { JISS_TEST_BACKEND: backend },
    stdout: isWhole ? "piped" : "inherit",
    stderr: isWhole ? "piped" : "inherit",
  }).output();
  if (isWhole) {
    const seconds = Math.round((performance.now() - started) / 1000);
    console.log(`\n== ${name}: ${seconds} s\n${decode(done.stdout)}${decode(done.stderr)}`);
  }
  const xml = await Deno.readTextFile(report);
  await Deno.remove(report);
  const cases = [...xml.matchAll(/<testcase name="([^"]*)"[^>]*?(?:\/>|>(.*?)<\/testcase>)/gs)];
  return {
    code: done.code,
    cases: cases.map(([, title, inside]) => ({
      name: backend === undefined ? title! : `${title} (on a libSQL server)`,
      isSkipped: inside?.includes("<skipped") ?? false,
      isFailed: (inside?.includes("<failure") || inside?.includes("<error")) ?? false,
    })),
    unrun: files.filter((path) => path.endsWith("_test.ts") && !xml.includes(`"./${path}"`)),
  };
}

function decode(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}

const isEverywhere = Deno.args.length === 1 && Deno.args[0] === "--everywhere";
const isWhole = Deno.args.length === 0 || isEverywhere;
const files = (await filesUnder("tests")).filter((path) => path.endsWith("_test.ts")).sort();
const within = (...folders: readonly string[]) =>
  files.filter((path) => folders.some((folder) => path.startsWith(`tests/${folder}/`)));

/** Tests of the whole program that would say nothing more on a server, and why. */
const ONE_BACKEND: readonly (readonly [why: string, files: readonly string[]])[] = [
  ["`jiss dev` has its database beside it always", ["process/dev"]],
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
  ["clients and pages of the same answers", [
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

const onOneBackend = ONE_BACKEND.flatMap(([, names]) => names.map((name) => `tests/${name}_test.ts`));
for (const path of onOneBackend) if (!files.includes(path)) throw new Error(`there is no ${path}`);
const [pages, program, real, http] = ["browser", "process", "real", "http"].map((folder) => within(folder));
const core = files.filter((path) => ![...pages!, ...program!, ...real!].includes(path));

/** The longest first, so that both lanes end together. */
const everything: readonly Run[] = [
  { name: "the core, and HTTP", files: core },
  { name: "pages in a browser", files: pages! },
  ...(HAS_SQLD ? [{ name: "HTTP on a libSQL server", files: http!, backend: "sqld" } as const] : []),
  { name: "the program", files: program! },
  { name: "against real servers", files: real! },
  ...(HAS_SQLD && isEverywhere
    ? [
      {
        name: "the program on a libSQL server",
        files: [...program!, ...real!].filter((path) => !onOneBackend.includes(path)),
        backend: "sqld",
      } as const,
    ]
    : []),
];
const waiting: Run[] = isWhole ? [...everything] : [{ name: "what is named", files: Deno.args }];

/** Takes what waits, one after another. */
async function lane(): Promise<readonly Finished[]> {
  const finished: Finished[] = [];
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) finished.push(await run(next));
  return finished;
}

await buildWeb();
const finished = (await Promise.all([lane(), lane()])).flat();
const cases = finished.flatMap((one) => one.cases);
const skipped = cases.filter(({ isSkipped }) => isSkipped);
const failed = cases.filter(({ isFailed }) => isFailed);
// What a filter leaves out stands in the report as if it were skipped.
const isFiltered = Deno.args.some((argument) => argument.startsWith("--filter"));
for (const { name } of isFiltered ? [] : skipped) {
  console.log(
    `SKIPPED ${name}: ${/\[needs ([^\]]*)\]/.exec(name)?.[1] ?? "no reason given"} is missing here`,
  );
}
if (!HAS_SQLD && isWhole) {
  console.log("SKIPPED every test on a libSQL server: there is none for this machine");
}
for (const { name } of isWhole ? failed : []) console.log(`FAILED ${name}`);
const unrun = finished.flatMap((one) => one.unrun);
for (const path of isWhole ? unrun : []) console.log(`NOT RUN ${path}`);
console.log(
  `\n${
    cases.length - skipped.length - failed.length
  } passed, ${failed.length} failed, ${skipped.length} skipped`,
);
const code = finished.find((one) => one.code !== 0)?.code ?? 0;
Deno.exit(code !== 0 ? code : cases.length === 0 || (isWhole && unrun.length > 0) ? 1 : 0);
