/** Runs the service to its end: signals, the drain, and the exit after a storage failure. */
import { ServiceError } from "../domain/errors.ts";
import { type Config, ConfigError, readConfig } from "../config/config.ts";
import type { Environment } from "../config/environment.ts";
import type { Service } from "../service/compose.ts";
import type { Listener } from "../http/server.ts";
import type { ProcessLog } from "../observability/log.ts";
import { CLOCK_RULES, type ClockRule } from "../operations/installation/clock_watch.ts";
import { keysByPepper } from "../operations/organizations/peppers.ts";
import { webhookWrappings } from "../operations/webhooks/webhooks.ts";
import { StartError } from "../operations/shared/start_error.ts";
import { DatabaseBusy, DatabaseUnavailable } from "../store/database.ts";
import { FAULT_TEXTS } from "../store/faults.ts";
import { SchemaRefused } from "../store/migrate.ts";
import { requireDescriptors } from "./descriptors.ts";
import { type Addresses, answerAt, claimAddresses, ownListeners, releaseAddresses } from "./listening.ts";
import { CommandFailure, EXIT, type Shell } from "./shell.ts";

/** Time that the listener stays open for requests that are on their way; each gets 503. */
const DRAIN_GRACE_MS = 100;
/** Time for the requests in flight after that; new ones get 503 meanwhile. */
const DRAIN_MS = 5_000;
/**
 * Ctrl-C reaches the program twice, directly and from `deno task`: both within this time count as one signal.
 */
const SAME_SIGNAL_MS = 300;
/** The most time for the whole stop: after it the process ends at once. */
const STOP_MS = 10_000;
/** The most time that the end waits for the reader of the log. */
const LOG_END_MS = 1_000;

/** @throws {CommandFailure} 78, with every problem, or if too few files can be opened to check them. */
export function loadConfig(environment: Environment): Config {
  return reportProblems(() => readConfig(environment, Deno.readTextFileSync));
}

/**
 * Reads a configuration.
 * @throws {CommandFailure} 78 with its problems, or if there are too few descriptors.
 */
export function reportProblems<T>(read: () => T): T {
  requireDescriptors();
  try {
    return read();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const problems = error.problems.map((problem) => `  ${problem}`).join("\n");
    throw new CommandFailure(
      `the configuration has ${error.problems.length} problem${
        error.problems.length === 1 ? "" : "s"
      }:\n${problems}`,
      EXIT.configuration,
    );
  }
}

export interface RunHooks {
  /** Default: the rule of a service. */
  readonly clockRule?: ClockRule;
  /** Called after the addresses are claimed, and before anything is opened or changed. */
  onClaimed?(url: string): Promise<void>;
  /** Called after the store is open, and before any request is answered. */
  onOpened?(service: Service): Promise<void>;
  /** Called when the service listens. @param print - writes text for a person, beside the log. */
  onListening?(listener: Listener, service: Service, print: (text: string) => void): Promise<void> | void;
}

/**
 * Claims the addresses, opens the service, answers, and returns the exit code once the service has stopped.
 * @throws {CommandFailure} if it cannot start. If an address is not available, nothing was changed.
 */
export async function runService(shell: Shell, config: Config, hooks: RunHooks = {}): Promise<number> {
  const addresses = claimAddresses(config);
  const log = shell.standardLog(config.logFormat);
  try {
    return await runUntilStopped(shell, { config, addresses, hooks, log });
  } catch (error) {
    await endLog(shell, log);
    throw error;
  }
}

/** Waits for the log's reader, but not for long: everything that must not be lost is in the chains. */
async function endLog({ clock }: Shell, log: ProcessLog): Promise<void> {
  await Promise.race([log.settled(), clock.wait(LOG_END_MS)]);
}

async function runUntilStopped(
  shell: Shell,
  { config, addresses, hooks, log }: Omit<Start, "onFatal">,
): Promise<number> {
  const stop = Promise.withResolvers<number>();
  const service = await startService(shell, {
    config,
    log,
    addresses,
    hooks,
    onFatal({ message, fault }) {
      const [what, mend] = FAULT_TEXTS[fault];
      log.error("storage failed: stopping, so that a supervisor can start the service again", {
        error: message,
        cause: `of the database, ${what}`,
        mend,
      });
      stop.resolve(EXIT.ioError);
    },
  }).catch((error) => {
    releaseAddresses(addresses);
    throw error;
  });
  const { service: listener, metrics } = answerAt(addresses, {
    service,
    config,
    log,
    bounds: shell.bounds ?? {},
  });
  // Set before the service says that it listens: a process that waits for that may stop it at once.
  let signalledAt: number | null = null;
  const onSignal = (signal: Deno.Signal) => () => {
    const now = shell.clock.monotonic();
    if (signalledAt !== null) {
      if (now - signalledAt >= SAME_SIGNAL_MS) Deno.exit(EXIT.interrupted);
      return;
    }
    signalledAt = now;
    log.info("stopping", { signal });
    stop.resolve(EXIT.ok);
  };
  const signals = (["SIGTERM", "SIGINT"] as const).map((name) => [name, onSignal(name)] as const);
  for (const [name, handler] of signals) Deno.addSignalListener(name, handler);

  const model = service.dependencies.model;
  log.info("listening", {
    url: listener.url,
    port: listener.port,
    version: shell.version,
    model: model.document.version,
    model_sha256: model.sha256,
    ...(metrics === null ? {} : { metrics_url: metrics.url }),
  });
  await hooks.onListening?.(listener, service, log.print);

  const exitCode = await stop.promise;
  const lastResort = setTimeout(() => Deno.exit(exitCode === EXIT.ok ? EXIT.failure : exitCode), STOP_MS);
  service.drain();
  // Requests that were sent before the signal are still read and answered.
  await shell.clock.wait(DRAIN_GRACE_MS);
  await Promise.race([listener.shutdown(), shell.clock.wait(DRAIN_MS)]);
  await service.close();
  await metrics?.shutdown();
  clearTimeout(lastResort);
  log.info("stopped");
  await endLog(shell, log);
  // Only now: without a listener a signal ends the process, and its exit code is lost.
  for (const [name, handler] of signals) Deno.removeSignalListener(name, handler);
  return exitCode;
}

interface Start {
  readonly config: Config;
  readonly log: ProcessLog;
  readonly addresses: Addresses;
  readonly hooks: RunHooks;
  readonly onFatal: Parameters<Shell["openService"]>[0]["onFatal"];
}

/** All steps of a start before the first answer. @throws {CommandFailure} */
async function startService(
  shell: Shell,
  { config, log, addresses, hooks, onFatal }: Start,
): Promise<Service> {
  await hooks.onClaimed?.(addresses.service.url);
  const service = await open(shell, config, {
    log,
    lostLines: () => log.lost,
    clockRule: hooks.clockRule ?? CLOCK_RULES.service,
    onFatal,
  });
  await convertStartErrors(async () => {
    await warnOfLostKeys(service);
    await warnOfLostSecrets(service);
  });
  if (config.certificates.length === 0) {
    log.warn(
      "the system has no readable file of certificates: webhooks cannot be delivered",
      {
        mend: "install the system's certificates, or name a file in JISS_EXTRA_CA_FILE or SSL_CERT_FILE",
      },
    );
  }
  await convertStartErrors(() => service.announce(ownListeners(addresses, config)));
  await hooks.onOpened?.(service);
  return service;
}

/** Warns of keys that can never verify: they are refused like unknown keys, so nothing else tells of them. */
async function warnOfLostKeys({ dependencies }: Service): Promise<void> {
  const { lost } = await keysByPepper(dependencies);
  if (lost.length === 0) return;
  dependencies.log.warn("some keys depend on a pepper that is not configured, and are refused", {
    keys: lost.length,
    mend: "set JISS_KEY_PEPPER_PREVIOUS, or replace the keys; jiss doctor names their organizations",
  });
}

async function warnOfLostSecrets({ dependencies }: Service): Promise<void> {
  const lost = (await webhookWrappings(dependencies)).filter(({ opened }) => opened === null);
  if (lost.length === 0) return;
  dependencies.log.warn("no configured secret unwraps the signing secrets of some webhooks", {
    webhooks: lost.length,
    mend:
      "set JISS_KEY_PEPPER_PREVIOUS to the secret that wrapped them, or register the webhooks again; jiss doctor names them",
  });
}

function open(
  shell: Shell,
  config: Config,
  hooks: Pick<Parameters<Shell["openService"]>[0], "log" | "lostLines" | "clockRule" | "onFatal">,
): Promise<Service> {
  return convertStartErrors(() =>
    shell.openService({
      config,
      clock: shell.clock,
      world: shell.realWorld(),
      isService: true,
      ...hooks,
    })
  );
}

/** Turns the errors that end a start into a {@link CommandFailure}. */
async function convertStartErrors<Result>(step: () => Promise<Result>): Promise<Result> {
  try {
    return await step();
  } catch (error) {
    if (error instanceof DatabaseUnavailable) {
      throw new CommandFailure(`cannot start at the moment: ${error.message}`, EXIT.ioError);
    }
    if (error instanceof StartError && error.isTemporary) {
      throw new CommandFailure(`cannot start at the moment: ${error.message}`, EXIT.ioError);
    }
    if (error instanceof StartError || error instanceof SchemaRefused || error instanceof ServiceError) {
      throw new CommandFailure(`cannot start: ${error.message}`, EXIT.configuration);
    }
    if (error instanceof DatabaseBusy) {
      throw new CommandFailure(
        "cannot start because another process holds the database: try again",
        EXIT.failure,
      );
    }
    throw error;
  }
}
