/**
 * From the command to the first answer, and the memory of an idle process: the bundle compared with a server
 * of one line.
 */
import { RELEASE_PERMISSIONS } from "../../scripts/compile.ts";
import { baseEnvironment, createOrganization } from "../program.ts";
import { type BenchOptions, median, type Row } from "./figures.ts";
import { bundleFile, deploymentOnDisk, noMemoryFigures, residentMiB, serveBundle, sleep } from "./machine.ts";

/** Until a process that answered one request has settled. */
const SETTLE_MS = 5_000;
const TRY_AGAIN_MS = 1;
const IDLE_ROUNDS = 3;

interface Command {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

export async function startAndIdle({ quick }: BenchOptions): Promise<readonly Row[]> {
  const rounds = quick ? 3 : 15;
  const deployment = await deploymentOnDisk();
  try {
    // Every start but the first finds its schema and its keys.
    const first = await serveBundle(deployment);
    await createOrganization(first, deployment.env);
    await first.stop();
    const port = freePort();
    const bundle: Command = {
      args: [...RELEASE_PERMISSIONS, "--no-config", await bundleFile(), "serve"],
      env: { ...deployment.env, JISS_PORT: String(port), JISS_LOG: "json" },
    };
    const oneLine: Command = {
      args: ["--allow-net", "--no-config", `${import.meta.dirname}/one_line.ts`, String(port)],
      env: {},
    };
    const starts = { bundle: [] as number[], oneLine: [] as number[] };
    // Interleaved, so that a busy moment of the machine affects both; the first round fills the caches.
    for (let round = -1; round < rounds; round += 1) {
      const [baseline, measured] = [await start(oneLine, port), await start(bundle, port)];
      if (round < 0) continue;
      starts.oneLine.push(baseline.startedMs);
      starts.bundle.push(measured.startedMs);
    }
    const rows: Row[] = [{
      name: "start to the first answer",
      baseline: {
        of: `deno run of a server of one line; median of ${rounds} interleaved starts`,
        value: median(starts.oneLine),
        unit: "ms",
      },
      measured: {
        of: "deno run of the bundle's serve over a database that is there, until GET / answers",
        value: median(starts.bundle),
        unit: "ms",
      },
      goal: { atMost: 3 },
    }];
    const impossible = noMemoryFigures();
    if (impossible !== null) return [...rows, { name: "memory at rest", skipped: impossible }];
    const idle = { bundle: [] as number[], oneLine: [] as number[] };
    for (let round = 0; round < (quick ? 1 : IDLE_ROUNDS); round += 1) {
      idle.oneLine.push((await start(oneLine, port, { settle: true })).residentMiB!);
      idle.bundle.push((await start(bundle, port, { settle: true })).residentMiB!);
    }
    rows.push({
      name: "memory at rest",
      baseline: {
        of: `resident memory of the server of one line, ${SETTLE_MS / 1000} s after its first answer`,
        value: median(idle.oneLine),
        unit: "MiB",
      },
      measured: { of: "of the bundle's serve", value: median(idle.bundle), unit: "MiB" },
      goal: { atMost: 2 },
    });
    return rows;
  } finally {
    await deployment.remove();
  }
}

function freePort(): number {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return listener.addr.port;
}

interface Started {
  readonly startedMs: number;
  readonly residentMiB: number | null;
}

async function start(
  { args, env }: Command,
  port: number,
  { settle } = { settle: false },
): Promise<Started> {
  const started = performance.now();
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "--quiet", "--no-prompt", ...args],
    clearEnv: true,
    env: { ...baseEnvironment(), ...env },
    stdout: "null",
    stderr: "inherit",
    stdin: "null",
  }).spawn();
  try {
    await answerOf(`http://127.0.0.1:${port}/`);
    const startedMs = performance.now() - started;
    if (!settle) return { startedMs, residentMiB: null };
    await sleep(SETTLE_MS);
    return { startedMs, residentMiB: await residentMiB(child.pid) };
  } finally {
    child.kill("SIGTERM");
    await child.status;
  }
}

/** Asks until a server answers. */
async function answerOf(url: string): Promise<void> {
  for (;;) {
    try {
      // A connection of its own: a kept one would be to the process before.
      const response = await fetch(url, { headers: { Connection: "close" } });
      await response.body?.cancel();
      if (response.ok) return;
    } catch {
      await sleep(TRY_AGAIN_MS);
    }
  }
}
