/**
 * Verifies bundles many times larger than the memory available: they are produced while the program reads
 * them from its standard input, with the JavaScript heap capped, and its peak resident memory is watched.
 */
import { RELEASE_PERMISSIONS } from "../../scripts/compile.ts";
import { BIG_BUNDLE_KEY, bigBundle, type BigBundleOptions } from "../big_bundle.ts";

const HEAP_MIB = 96;
const WATCH_MS = 10;

const FEW_ENTRIES = 10_000;
const MANY_ENTRIES = 1_000_000;
const FEW_OPERATORS = 4_000;
const MANY_OPERATORS = 400_000;
/** Bytes that an operator may take, and a session or a decision with its parts. */
const OPERATOR_BYTES = 100;
const NAME_BYTES = 20;
/**
 * How far two runs may differ otherwise: garbage that V8 has no reason to collect yet, within its cap, and
 * buffers of the system. A million entries that kept 65 bytes each would be more.
 */
const SLACK_MIB = 64;
const MIB = 1_048_576;

export interface VerifiedBigBundle extends BigBundleOptions {
  readonly code: number;
  /** The program's output. */
  readonly output: string;
  readonly seconds: number;
  /** The highest resident memory that was seen, bytes; null on a system without /proc. */
  readonly peak: number | null;
}

/** Has `jiss verify` verify a big bundle, with a heap of {@link HEAP_MIB} MiB. */
export async function verifyBigBundle(
  { replay, ...options }: BigBundleOptions & { readonly replay: boolean },
): Promise<VerifiedBigBundle> {
  const started = performance.now();
  const child = new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "--quiet",
      "--no-prompt",
      `--v8-flags=--max-old-space-size=${HEAP_MIB}`,
      ...RELEASE_PERMISSIONS,
      `${import.meta.dirname}/../../main.ts`,
      "verify",
      "-",
      "--key",
      BIG_BUNDLE_KEY,
      ...(replay ? [] : ["--no-replay"]),
    ],
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  let peak: number | null = null;
  const watch = setInterval(() => peak = peakOf(child.pid) ?? peak, WATCH_MS);
  const output = Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  try {
    await ReadableStream.from(bigBundle(options)).pipeTo(child.stdin);
  } catch (error) {
    // The program has ended: its exit code and its output say why.
    if (!(error instanceof Deno.errors.BrokenPipe)) throw error;
  }
  const { code } = await child.status;
  clearInterval(watch);
  return {
    ...options,
    code,
    output: (await output).join(""),
    seconds: (performance.now() - started) / 1000,
    peak,
  };
}

/**
 * The highest resident memory of a process so far, bytes; null if it has ended or the system does not say.
 */
function peakOf(pid: number): number | null {
  try {
    const status = Deno.readTextFileSync(`/proc/${pid}/status`);
    const kibibytes = /^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1];
    return kibibytes === undefined ? null : 1024 * Number(kibibytes);
  } catch {
    return null;
  }
}

export interface BigBundleFigures {
  readonly heap_mib: number;
  readonly runs: readonly {
    readonly entries: number;
    readonly operators: number;
    readonly erased: boolean;
    readonly exit_code: number;
    readonly seconds: number;
    readonly peak_mib: number | null;
  }[];
  /** The growth from one run to another, less what the additional operators and names may take. */
  readonly growth_mib: Readonly<Record<"entries" | "entries_erased" | "operators_erased", number | null>>;
  readonly slack_mib: number;
}

/** Compares a million entries with ten thousand, whole and erased, and many operators with few. */
export async function bigBundles(): Promise<BigBundleFigures> {
  const run = (entries: number, operators: number, erased: boolean) =>
    verifyBigBundle({ entries, operators, erased, replay: true });
  const few = await run(FEW_ENTRIES, FEW_OPERATORS, false);
  const many = await run(MANY_ENTRIES, FEW_OPERATORS, false);
  const fewErased = await run(FEW_ENTRIES, FEW_OPERATORS, true);
  const manyErased = await run(MANY_ENTRIES, FEW_OPERATORS, true);
  const crowded = await run(MANY_ENTRIES, MANY_OPERATORS, true);
  const runs = [few, many, fewErased, manyErased, crowded];
  const growth = {
    entries: growthOf(few, many),
    entries_erased: growthOf(fewErased, manyErased),
    operators_erased: growthOf(manyErased, crowded),
  };
  return {
    heap_mib: HEAP_MIB,
    runs: runs.map(({ entries, operators, erased, code, seconds, peak }) => ({
      entries,
      operators,
      erased,
      exit_code: code,
      seconds: Math.round(seconds),
      peak_mib: peak === null ? null : Math.round(peak / MIB),
    })),
    growth_mib: growth,
    slack_mib: SLACK_MIB,
  };
}

function growthOf(from: VerifiedBigBundle, to: VerifiedBigBundle): number | null {
  if (from.peak === null || to.peak === null) return null;
  const operators = OPERATOR_BYTES * (to.operators - from.operators);
  const names = to.erased ? 0 : NAME_BYTES * (to.entries - from.entries);
  return Math.round((to.peak - from.peak - operators - names) / MIB);
}
