/**
 * The outside world: time, entropy, the environment, name resolution and standard output. Apart from pages in
 * a browser, no other file reads a clock, draws random numbers or resolves a name. Only `http/deno_connection.ts`
 * may reach the environment too, as it looks into `Deno` itself. `tests/platform_uses.ts` lists these files.
 */
import { generateKeyPairSync, randomBytes } from "node:crypto";
import { lookup } from "node:dns/promises";
import { monotonicFactory } from "ulid";
import type { Config } from "../config/config.ts";
import type { Environment } from "../config/environment.ts";
import { RESOLUTION_TIMEOUT_MS } from "../domain/limits.ts";
import type { Clock, World } from "../domain/world.ts";
import { createProcessLog, type ProcessLog } from "../observability/log.ts";
import { writePatiently } from "../observability/patient_write.ts";
import { nextTurn } from "../store/turn.ts";

/** Milliseconds by which a timer may fire late. */
const TIMER_GRAIN_MS = 2;

export const realClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  wait(milliseconds, cut) {
    if (cut?.aborted) return Promise.resolve();
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, milliseconds);
    cut?.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
    return promise;
  },
  async until(instant) {
    for (;;) {
      const left = instant - realClock.monotonic();
      if (left <= 0) return;
      // A timer is too coarse for the last milliseconds: they pass in turns, between which other work runs.
      await (left > TIMER_GRAIN_MS ? realClock.wait(left - TIMER_GRAIN_MS) : nextTurn());
    }
  },
};

/** Secure randomness; ULIDs increase within the process. */
export function realWorld(): World {
  const nextUlid = monotonicFactory(randomFractions());
  return { random: (length) => new Uint8Array(randomBytes(length)), ulid: (at) => nextUlid(at) };
}

const FRACTIONS_DRAWN = 256;

/** Random numbers from 0 to below 1, many drawn at once: the first ULID of a millisecond takes sixteen. */
function randomFractions(): () => number {
  const words = new Uint32Array(FRACTIONS_DRAWN);
  let used = words.length;
  return () => {
    if (used === words.length) {
      crypto.getRandomValues(words);
      used = 0;
    }
    const word = words[used]!;
    used += 1;
    return word / 2 ** 32;
  };
}

export function readEnvironment(): Environment {
  return Deno.env.toObject();
}

/** An Ed25519 private key, PKCS#8 PEM. */
export function generateSigningKey(): string {
  return generateKeyPairSync("ed25519").privateKey.export({ format: "pem", type: "pkcs8" }).toString();
}

/** A secret of 256 random bits, in base64url. */
export function generateSecret(): string {
  return randomBytes(32).toString("base64url");
}

/**
 * All addresses of a name, as the system resolves it.
 * @throws if it has none, or if the resolution takes too long.
 */
export async function resolveHost(host: string): Promise<readonly string[]> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => late.reject(new Error("the name was not resolved in time")),
    RESOLUTION_TIMEOUT_MS,
  );
  try {
    const answers = await Promise.race([lookup(host, { all: true, verbatim: true }), late.promise]);
    return answers.map(({ address }) => address);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * The log on standard output; `pretty` on a terminal if the configuration names no format. While it is in
 * use, nothing else may write there: a synchronous write, such as that of `console.log`, waits for the reader
 * and blocks the process.
 */
export function standardLog(format: Config["logFormat"]): ProcessLog {
  return createProcessLog({
    format: format ?? (Deno.stdout.isTerminal() ? "pretty" : "json"),
    clock: () => realClock.now(),
    // Another thread waits until the reader takes the bytes. That does not keep the process from ending.
    write: (bytes) => writePatiently((rest) => Deno.stdout.write(rest), bytes),
    onLost: (reason) =>
      tellStandardError(
        `jiss: the log cannot be written, and its lines are left out until it can: ${reason}`,
      ),
  });
}

let isTelling = false;

/**
 * Writes a line to standard error, which may have the same reader. Drops it while another is being written.
 */
function tellStandardError(line: string): void {
  if (isTelling) return;
  isTelling = true;
  writePatiently((bytes) => Deno.stderr.write(bytes), new TextEncoder().encode(`${line}\n`)).catch(() => {
    // Nobody is left who could be told.
  }).finally(() => isTelling = false);
}
