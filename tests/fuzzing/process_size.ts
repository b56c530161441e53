/** The size of a process while it works, early and late: growth with finished requests is a leak. */

export interface Measured {
  /** Medians of the fifth after the warm-up, and of the last. */
  readonly early: number;
  readonly late: number;
  readonly ratio: number;
}

export interface Growth {
  readonly resident_mib: Measured;
  readonly descriptors: Measured;
  /** Largest size of the write-ahead log; 0 if there is none here. */
  readonly wal_mib: number;
}

interface Sample {
  readonly resident: number;
  readonly descriptors: number;
}

const EVERY_MS = 100;

export class ProcessSize {
  readonly #samples: Sample[] = [];
  readonly #timer: ReturnType<typeof setInterval>;
  #wal = 0;

  /** @param isWarm whether later measurements count. */
  constructor(pid: number, { wal, isWarm }: { readonly wal: string; readonly isWarm: () => boolean }) {
    this.#timer = setInterval(() => {
      this.#wal = Math.max(this.#wal, sizeOf(wal));
      if (isWarm()) this.#samples.push({ resident: residentMib(pid), descriptors: descriptorsOf(pid) });
    }, EVERY_MS);
  }

  stop(): Growth {
    clearInterval(this.#timer);
    return {
      resident_mib: this.#measured(({ resident }) => resident),
      descriptors: this.#measured(({ descriptors }) => descriptors),
      wal_mib: Math.round(this.#wal / 2 ** 20),
    };
  }

  #measured(of: (sample: Sample) => number): Measured {
    const values = this.#samples.map(of);
    const fifth = Math.ceil(values.length / 5);
    const [early, late] = [median(values.slice(0, fifth)), median(values.slice(-fifth))];
    return { early: Math.round(early), late: Math.round(late), ratio: late / early };
  }
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1] ?? NaN;
}

function residentMib(pid: number): number {
  const status = Deno.readTextFileSync(`/proc/${pid}/status`);
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)![1]) / 1024;
}

function descriptorsOf(pid: number): number {
  return [...Deno.readDirSync(`/proc/${pid}/fd`)].length;
}

function sizeOf(path: string): number {
  try {
    return Deno.statSync(path).size;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return 0;
    throw error;
  }
}
