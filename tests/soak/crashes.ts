/**
 * Kills the service with SIGKILL under load, again and again, and looks for what it had acknowledged: in the
 * middle of its work, of its start, of a rotation of the signing key and of a backup.
 */
import { signerFromPem } from "../../src/evidence/node_crypto.ts";
import { checkFile } from "../../src/store/backup.ts";
import { IS_SERVER } from "../database.ts";
import {
  type Deployment,
  freshDeployment,
  type RunningService,
  spawnProgram,
  startService,
} from "../program.ts";
import {
  examine,
  type Examined,
  type Load,
  lockLeads,
  onCopy,
  openLoad,
  type Survived,
  untilAcknowledged,
} from "./remembered.ts";

/** Acknowledged calls in a cycle before the kill. */
const CALLS_BEFORE_KILL = [20, 90] as const;
/** One of this many starts is killed before it listens. */
const STARTS_BETWEEN_KILLED = 3;
/** In one of this many cycles, a command beside the service is killed with it. */
const CYCLES_BETWEEN_COMMANDS = 3;
/** One of this many cycles ends with a stop instead of a kill: for the comparison of starts. */
const CYCLES_BETWEEN_STOPS = 5;
/** A command takes at most this many times as long as a start. */
const LONGEST_COMMAND = 2.5;

export interface CrashFigures extends Survived {
  readonly cycles: number;
  readonly killed: {
    readonly starts: number;
    /** Commands that were killed, and those that had succeeded before. */
    readonly commands: number;
    readonly commands_done: number;
  };
  /** Milliseconds, medians, from the spawn to the line "listening". */
  readonly ready_ms: { readonly after_kill: number; readonly after_stop: number };
  readonly ready_ratio: number;
}

/** From 0 to below 1, different for each cycle, the same in every run. */
function momentOf(cycle: number): number {
  return ((cycle * 37) % 100) / 100;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN;
}

const wait = (milliseconds: number) => new Promise<void>((resolve) => setTimeout(resolve, milliseconds));

/** Kills a process unless it has ended; true if it had ended well. */
async function end(child: Deno.ChildProcess): Promise<boolean> {
  try {
    child.kill("SIGKILL");
  } catch {
    // It has ended.
  }
  const { code } = await child.status;
  await Promise.all([child.stdout.cancel(), child.stderr.cancel()]);
  return code === 0;
}

/** A command beside the service. */
interface Beside {
  readonly args: readonly string[];
  /** Whether its result is as it must be, at the next start of the service. */
  isSound(service: RunningService, options: { readonly hasEndedWell: boolean }): Promise<boolean>;
}

/** The next signing key, or the end of the overlap with the one before. */
function rotation(data: string): Beside {
  const previous = `${data}/signing-key-previous.pem`;
  const wasOverlapping = exists(previous);
  return {
    args: ["rotate-signing-key", ...(wasOverlapping ? ["--drop-old"] : [])],
    async isSound(service, { hasEndedWell }) {
      const { publicKey } = signerFromPem(await Deno.readTextFile(`${data}/signing-key.pem`));
      const { body } = await service.send("/.well-known/jwks.json");
      const x = publicKey.toBase64({ alphabet: "base64url", omitPadding: true });
      return body.keys.some((key: { readonly x: string }) => key.x === x) &&
        (!hasEndedWell || exists(previous) !== wasOverlapping);
    },
  };
}

/** A file under the backup's name is whole, whether or not the command could say so. */
function backup(path: string): Beside {
  return {
    args: ["backup", path],
    isSound: (_service, { hasEndedWell }) =>
      Promise.resolve(exists(path) ? checkFile(path) === null : !hasEndedWell),
  };
}

function exists(path: string): boolean {
  try {
    return Deno.lstatSync(path).isFile;
  } catch {
    return false;
  }
}

interface Counts {
  readonly afterKill: number[];
  readonly afterStop: number[];
  starts: number;
  commands: number;
  done: number;
  lost: number;
}

/**
 * Runs the cycles on one data directory, then asks every acknowledged call again and verifies every chain.
 */
export async function crashCycles({ cycles }: { readonly cycles: number }): Promise<CrashFigures> {
  const deployment = await freshDeployment();
  const data = `${deployment.directory}/data`;
  const { publicKey } = signerFromPem(await Deno.readTextFile(`${data}/signing-key.pem`));
  const counts: Counts = { afterKill: [], afterStop: [], starts: 0, commands: 0, done: 0, lost: 0 };

  async function start(into: number[]): Promise<RunningService> {
    const started = performance.now();
    const service = await startService(["serve"], deployment);
    into.push(performance.now() - started);
    return service;
  }

  let service = await startService(["serve"], deployment);
  const load = await openLoad(service, deployment.env);
  await service.stop();
  service = await start(counts.afterStop);
  for (let cycle = 0; cycle < cycles; cycle += 1) {
    const isSound = await underLoad(service, { load, cycle, counts, deployment });
    const leads = IS_SERVER ? await lockLeads(data) : await onCopy(data, lockLeads);
    if (leads > 0) throw new Error(`lock.db knows more of ${leads} chains than the database`);
    if (cycle % STARTS_BETWEEN_KILLED === 0) {
      counts.starts += 1;
      const starting = spawnProgram(["serve"], { env: { JISS_PORT: "0", ...deployment.env } });
      await wait(momentOf(cycle + 1) * median(counts.afterStop));
      await end(starting);
    }
    service = await start(counts.afterKill);
    counts.lost += await load.wrongKeys(service);
    if (!await isSound(service)) counts.lost += 1;
    if (cycle % CYCLES_BETWEEN_STOPS === 0) {
      await service.stop();
      service = await start(counts.afterStop);
    }
  }
  counts.lost += await load.lostOfAll(service);
  await service.stop();
  const figures = figuresOf(counts, load, { cycles, data, examined: await examine(data, { publicKey }) });
  await deployment.remove();
  return figures;
}

/**
 * Runs the load and kills the service, and perhaps a command beside it. @returns whether the result is as it
 * must be.
 */
async function underLoad(service: RunningService, { load, cycle, counts, deployment }: {
  readonly load: Load;
  readonly cycle: number;
  readonly counts: Counts;
  readonly deployment: Deployment;
}): Promise<(service: RunningService) => Promise<boolean>> {
  const [least, most] = CALLS_BEFORE_KILL;
  const target = load.acknowledged + least + ((cycle * 37) % (most - least));
  const running = load.run(service);
  await untilAcknowledged(load, target);

  const beside = commandOf(cycle, deployment);
  let hasEndedWell = false;
  if (beside !== null) {
    const child = spawnProgram(beside.args, deployment);
    await Promise.race([child.status, wait(momentOf(cycle) * LONGEST_COMMAND * median(counts.afterStop))]);
    hasEndedWell = await end(child);
    counts.commands += 1;
    counts.done += hasEndedWell ? 1 : 0;
  }
  service.kill("SIGKILL");
  await Promise.all([running, service.status]);
  return (next) => beside?.isSound(next, { hasEndedWell }) ?? Promise.resolve(true);
}

function commandOf(cycle: number, { directory }: Deployment): Beside | null {
  if (cycle % CYCLES_BETWEEN_COMMANDS !== 1) return null;
  const isBackup = !IS_SERVER && cycle % (2 * CYCLES_BETWEEN_COMMANDS) === 1;
  return isBackup ? backup(`${directory}/backup-${cycle}.db`) : rotation(`${directory}/data`);
}

function figuresOf(
  { afterKill, afterStop, starts, commands, done, lost }: Counts,
  load: Load,
  { cycles, data, examined }: {
    readonly cycles: number;
    readonly data: string;
    readonly examined: Examined;
  },
): CrashFigures {
  return {
    cycles,
    killed: { starts, commands, commands_done: done },
    acknowledged: load.acknowledged,
    unanswered: load.unanswered,
    lost,
    unerased: load.unerasedIn(data),
    ...examined,
    ready_ms: { after_kill: Math.round(median(afterKill)), after_stop: Math.round(median(afterStop)) },
    ready_ratio: Math.round((median(afterKill) / median(afterStop)) * 100) / 100,
  };
}
