/**
 * Cuts the power of the service's disk under load, again and again, and looks for what the service had
 * acknowledged.
 */
import assert from "node:assert/strict";
import { signerFromPem } from "../../src/evidence/node_crypto.ts";
import { openPowerDisk, type PowerDisk } from "../power.ts";
import { deploymentIn, putBundle, type RunningService, startService } from "../program.ts";
import { examine, type Load, onCopy, openLoad, type Survived, untilAcknowledged } from "./remembered.ts";

/** Acknowledged calls before a cut. */
const CALLS_BEFORE_CUT = [20, 120] as const;
/** Cuts that one data directory goes through. */
const CUTS_OF_A_DISK = 20;

/** How the bundle's text opens the embedded database: in the service itself, and in its storage thread. */
const FULL = "PRAGMA synchronous = FULL";
const NORMAL = "PRAGMA synchronous = NORMAL";

export interface PowerFigures extends Survived {
  readonly cuts: number;
}

export interface ControlFigures {
  readonly cuts: number;
  /** Calls that were acknowledged before a cut and are not there after it. */
  readonly lost: number;
  /** Cuts that lost something. */
  readonly losing: number;
}

/**
 * Makes the release's one file, and a version that does not wait for the disk: the program has no such
 * setting.
 */
export async function bundles(folder: string): Promise<{ readonly full: string; readonly normal: string }> {
  const [full, normal] = [`${folder}/jiss.js`, `${folder}/jiss-normal.js`];
  await putBundle(full);
  const text = await Deno.readTextFile(full);
  assert.equal(text.split(FULL).length - 1, 2, "the bundle opens a database in two places");
  await Deno.writeTextFile(normal, text.replaceAll(FULL, NORMAL));
  return { full, normal };
}

/** Ends a service whose storage may have failed, so that it has already ended by itself. */
export async function endNow(service: RunningService): Promise<void> {
  try {
    service.kill("SIGKILL");
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
  }
  await service.status;
}

/** Runs the load for a while, cuts the power, and ends the service, which then has no disk. */
async function cutUnderLoad(disk: PowerDisk, { service, load, cut }: {
  readonly service: RunningService;
  readonly load: Load;
  readonly cut: number;
}): Promise<void> {
  const [least, most] = CALLS_BEFORE_CUT;
  const target = load.acknowledged + least + ((cut * 37) % (most - least));
  const running = load.run(service);
  await untilAcknowledged(load, target);
  disk.cut();
  // Anything acknowledged from now on is acknowledged falsely, and would be found as lost.
  await new Promise((next) => setTimeout(next, cut % 4 * 20));
  await Promise.all([running, endNow(service)]);
  await disk.restart();
}

/** Cuts the power `cuts` times; the service continues from what each cut left. */
export async function powerCuts({ cuts, bundle }: {
  readonly cuts: number;
  /** The file of the program. */
  readonly bundle: string;
}): Promise<PowerFigures> {
  const disks: PowerFigures[] = [];
  for (let done = 0; done < cuts; done += CUTS_OF_A_DISK) {
    disks.push(await cutsOfOneDisk(Math.min(CUTS_OF_A_DISK, cuts - done), { first: done, bundle }));
  }
  const sum = (count: (figures: PowerFigures) => number) =>
    disks.reduce((total, figures) => total + count(figures), 0);
  return {
    cuts,
    acknowledged: sum((figures) => figures.acknowledged),
    unanswered: sum((figures) => figures.unanswered),
    lost: sum((figures) => figures.lost),
    unerased: sum((figures) => figures.unerased),
    doubled: sum((figures) => figures.doubled),
    usage_off_by: sum((figures) => Math.abs(figures.usage_off_by)),
    lock_leads: sum((figures) => figures.lock_leads),
  };
}

async function cutsOfOneDisk(
  cuts: number,
  { first, bundle }: { readonly first: number; readonly bundle: string },
): Promise<PowerFigures> {
  return await withDisk(bundle, async ({ disk, start }) => {
    const data = () => `${disk.folder}/data`;
    let service = await start();
    const { publicKey } = signerFromPem(await Deno.readTextFile(`${data()}/signing-key.pem`));
    const load = await openLoad(service, (await deploymentIn(disk.folder)).env);
    let [lost, unerased, leads] = [0, 0, 0];
    for (let cut = 0; cut < cuts; cut += 1) {
      await cutUnderLoad(disk, { service, load, cut: first + cut });
      unerased += load.unerasedIn(data());
      leads += (await onCopy(data(), (copy) => examine(copy, { publicKey }))).lock_leads;
      service = await start();
      lost += await load.lost(service) + await load.wrongKeys(service);
    }
    lost += await load.lostOfAll(service);
    await service.stop();
    const { lock_leads, ...examined } = await examine(data(), { publicKey });
    const { acknowledged, unanswered } = load;
    return { cuts, acknowledged, unanswered, lost, unerased, ...examined, lock_leads: leads + lock_leads };
  });
}

interface Powered {
  readonly disk: PowerDisk;
  /** Starts the service on what the disk holds now. */
  start(): Promise<RunningService>;
}

async function withDisk<Result>(
  bundle: string,
  use: (powered: Powered) => Promise<Result>,
): Promise<Result> {
  const disk = await openPowerDisk();
  let service: RunningService | null = null;
  try {
    return await use({
      disk,
      async start() {
        const { env } = await deploymentIn(disk.folder);
        return service = await startService(["serve"], { bundle, env });
      },
    });
  } finally {
    if (service !== null) await endNow(service);
    await disk.remove();
  }
}

/**
 * The same with a program that does not wait for the disk, each time on a new disk, until one loses something
 * or all are done.
 */
export async function powerControl({ cuts, bundle, untilLost }: {
  readonly cuts: number;
  readonly bundle: string;
  /** Whether to stop at the first loss. */
  readonly untilLost: boolean;
}): Promise<ControlFigures> {
  let [lost, losing, done] = [0, 0, 0];
  while (done < cuts && !(untilLost && losing > 0)) {
    const missing = await lostByOneCut(bundle, done);
    done += 1;
    lost += missing;
    losing += missing > 0 ? 1 : 0;
  }
  return { cuts: done, lost, losing };
}

async function lostByOneCut(bundle: string, cut: number): Promise<number> {
  return await withDisk(bundle, async ({ disk, start }) => {
    const service = await start();
    const load = await openLoad(service, (await deploymentIn(disk.folder)).env);
    await cutUnderLoad(disk, { service, load, cut });
    // If lock.db knows chains that do not exist at all, the service cannot continue.
    const next = await start().catch(() => null);
    return next === null ? load.acknowledged : await load.lost(next);
  });
}
