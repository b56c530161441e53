/**
 * `jiss dev`: one command for local testing. The first run makes secrets, data and a demo organization with
 * 90 days of simulated history, which are kept. Each run mints a new key unless one is given, since a printed
 * key is the only copy.
 */
import { INTERACTION_EXAMPLE } from "../domain/interaction.ts";
import { DAY_MS } from "../domain/time.ts";
import { parseEnv } from "node:util";
import type { Listener } from "../http/server.ts";
import { mayBeHeld } from "../keys/api_key.ts";
import { CLOCK_RULES } from "../operations/installation/clock_watch.ts";
import { openPage } from "./browser.ts";
import { openCasesByRule } from "../operations/cases/rules.ts";
import { type DemoKey, demoKeyOf, demoLinkOf, HISTORY_DAYS, ORGANIZATION } from "./demo_organization.ts";
import { claimDirectory, claimIfPresent } from "./dev_run.ts";
import { draftSecrets, ENVIRONMENT_FILE, exists, writeSecrets } from "./init.ts";
import { loadConfig, runService } from "./run_service.ts";
import { CommandFailure, EXIT, type Shell } from "./shell.ts";

const DEFAULT_DIRECTORY = "./data/dev";
/**
 * The demo organization is created 90 days before the first run, where its history begins. With the default
 * retention of 90 days, the audit log would lose its beginning at once. So the days of the history are added.
 */
const AUDIT_RETENTION_DAYS = HISTORY_DAYS + 90;
/**
 * The files that this command makes. `--fresh` removes them from a directory that it made. Lock files stay:
 * if one is removed, a process that holds it holds no lock any more.
 */
const OWN_FILES = [
  ENVIRONMENT_FILE,
  "signing-key.pem",
  "signing-key-previous.pem",
  "jiss.db",
  "jiss.db-wal",
  "jiss.db-shm",
  "lock.db",
  "lock.db-wal",
  "lock.db-shm",
];

export interface DevOptions {
  readonly fresh: boolean;
  /** A key that stays the same from run to run. */
  readonly key?: string;
  /** Whether the console is opened in a browser. */
  readonly open: boolean;
}

/**
 * Runs the command. Nothing is removed, made or rotated before it is certain that this run can go on: its
 * options and configuration are valid, no other run has the directory, and the address is claimed.
 */
export async function dev(shell: Shell, { fresh, key, open }: DevOptions): Promise<number> {
  requireValidKey(key);
  const environment = shell.readEnvironment();
  // An empty variable counts as unset, as everywhere.
  const directory = environment.JISS_DATA_DIR || DEFAULT_DIRECTORY;
  let run = await claimIfPresent(directory);
  const environmentFile = `${directory}/${ENVIRONMENT_FILE}`;
  const drafted = fresh || !exists(environmentFile) ? draftSecrets(shell) : null;
  const secrets = parseEnv(drafted?.environment ?? Deno.readTextFileSync(environmentFile));
  const config = loadConfig({
    JISS_AUDIT_RETENTION_DAYS: String(AUDIT_RETENTION_DAYS),
    ...secrets,
    ...environment,
    JISS_DATA_DIR: directory,
  });

  let demo: DemoKey = { apiKey: "", inactive: [] };
  let linkToken = "";
  return await runService(shell, config, {
    clockRule: CLOCK_RULES.local,
    async onClaimed(url) {
      run ??= await claimDirectory(directory);
      const reservation = await reserveData(shell, directory);
      try {
        if (fresh) await removeOwnFiles(shell, directory);
      } finally {
        reservation[Symbol.dispose]();
      }
      if (drafted !== null) writeSecrets(directory, drafted);
      run.publishAddress(url);
    },
    async onOpened(service) {
      demo = await demoKeyOf(service, { given: key ?? null, now: shell.clock.now() });
      linkToken = await demoLinkOf(service, shell.clock.now());
      // The first run of the upkeep would come after the first look at the console.
      await openCasesByRule(service.dependencies, shell.clock.now());
    },
    onListening(listener, service, print) {
      const signIn = `${listener.url}/console/link#${linkToken}`;
      print(
        greeting(listener, {
          demo,
          signIn,
          isFixed: key !== undefined,
          sessionId: service.dependencies.world.ulid(shell.clock.now()),
          now: shell.clock.now(),
        }),
      );
      if (!open) return;
      openPage(
        signIn,
        (reason) => print(`The browser was not opened: ${reason}. Open it yourself:\n\n  ${signIn}\n`),
      );
    },
  });
}

/** @throws {CommandFailure} if it is not a valid key. The message does not contain it. */
function requireValidKey(key: string | undefined): void {
  if (key === undefined || mayBeHeld(key)) return;
  throw new CommandFailure(
    "--key must be an API key: jis_ and 26 characters, each a digit or a capital letter other than I, L, O and U, and not all 0",
    EXIT.usage,
  );
}

/**
 * Requires that no other process uses the directory: one such as jiss serve would lose its key or its data.
 * @throws {CommandFailure} if one does.
 */
async function reserveData(shell: Shell, directory: string): Promise<Disposable> {
  const reservation = await shell.reserveData(directory);
  if (reservation !== null) return reservation;
  throw new CommandFailure(
    `another process uses ${directory}: stop it first, or set JISS_DATA_DIR to another directory`,
    EXIT.failure,
  );
}

/** Removes the files that an earlier run made. */
async function removeOwnFiles(shell: Shell, directory: string): Promise<void> {
  using _lock = await shell.lockDirectory(directory);
  for (const path of OWN_FILES.map((name) => `${directory}/${name}`).filter(exists)) Deno.removeSync(path);
}

interface Greeting {
  readonly demo: DemoKey;
  /** The link that signs in. */
  readonly signIn: string;
  /** Whether the key was given by `--key`. */
  readonly isFixed: boolean;
  readonly sessionId: string;
  readonly now: number;
}

function greeting(
  { url }: Listener,
  { demo: { apiKey, inactive }, signIn, isFixed, sessionId, now }: Greeting,
): string {
  const day = (at: number) => new Date(at).toISOString().slice(0, 10);
  const period = `period_start=${day(now - HISTORY_DAYS * DAY_MS)}&period_end=${day(now + DAY_MS)}`;
  const body = JSON.stringify({
    session_id: sessionId,
    operator_id: "reviewer-ada",
    domain: "financial",
    interaction: INTERACTION_EXAMPLE,
  });
  return `
JISS is running at ${url} with the organization "${ORGANIZATION}" and ${HISTORY_DAYS} days of simulated history.

  API key (${isFixed ? "fixed by --key, only for local testing" : "this is the only copy"}):  ${apiKey}
${
    inactive.length === 0 ? "" : `
The organization is inactive (${inactive.join(", ")}): its key is refused. Start over with jiss dev --fresh.
`
  }
Open the console, signed in as the demo's own user. The link works once:

  ${signIn}

Open it in a browser (without the link the console asks who you are; the demo asks nothing):

  ${url}/console
  ${url}/demo
  ${url}/docs

Score an interaction:

curl -s -X POST ${url}/v1/score -H 'X-API-Key: ${apiKey}' -H 'Content-Type: application/json' -d '${body}'

Get the organization's dashboard, and its compliance report as a page:

curl -s ${url}/v1/organization/dashboard -H 'X-API-Key: ${apiKey}'
curl -s '${url}/v1/compliance/report?${period}&format=html' -H 'X-API-Key: ${apiKey}' -o report.html
`;
}
