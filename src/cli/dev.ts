/**
 * `jiss dev`: one command for local testing. Secrets, data and a demo organization with 90 days of simulated
 * history are made on the first run and kept; each run mints a new key, since a printed key is the only copy.
 */
import { parseEnv } from "node:util";
import type { Service } from "../compose.ts";
import { ServiceError } from "../domain/errors.ts";
import type { Listener } from "../http/server.ts";
import { CLOCK_RULES } from "../operations/clock_watch.ts";
import { createOrganization, organizationExists } from "../operations/organizations.ts";
import { directCall } from "../operations/organization_change.ts";
import { rotateByHand } from "../operations/organization_states.ts";
import { scoreInteraction } from "../operations/score.ts";
import { demoHistory } from "../simulation/demo.ts";
import { ENVIRONMENT_FILE, exists, writeSecrets } from "./init.ts";
import { loadConfig, runService } from "./run_service.ts";
import { CommandFailure, EXIT, type Shell } from "./shell.ts";

const DEFAULT_DIRECTORY = "./data/dev";
const ORGANIZATION = "demo";
const HISTORY_DAYS = 90;
const DAY_MS = 86_400_000;
/** A seed whose reviewers end in all four bands. */
const HISTORY_SEED = 8;
/** What `--fresh` removes: the files that this command makes, and nothing else. */
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
  "start.lock",
  "running.lock",
];

export async function dev(shell: Shell, { fresh }: { readonly fresh: boolean }): Promise<number> {
  const environment = shell.readEnvironment();
  const directory = environment.JISS_DATA_DIR ?? DEFAULT_DIRECTORY;
  if (fresh) {
    for (const path of OWN_FILES.map((name) => `${directory}/${name}`).filter(exists)) Deno.removeSync(path);
  }
  const environmentFile = `${directory}/${ENVIRONMENT_FILE}`;
  makeSecrets(shell, directory, environmentFile);
  const secrets = parseEnv(Deno.readTextFileSync(environmentFile));
  const config = loadConfig({ ...secrets, ...environment, JISS_DATA_DIR: directory });

  let apiKey = "";
  return await runService(shell, config, {
    clockRule: CLOCK_RULES.local,
    async opened(service) {
      apiKey = await prepareDemo(shell, service).catch((error) => {
        // Another process created it a moment ago: now it is there, and gets a key of this run.
        if (!(error instanceof ServiceError)) throw error;
        if (error.code === "CONFLICT") return prepareDemo(shell, service);
        throw new CommandFailure(`the demo organization gets no key: ${error.message}`, EXIT.failure);
      });
    },
    listening(listener, service, print) {
      print(
        greeting(listener, {
          apiKey,
          sessionId: service.dependencies.world.ulid(shell.clock.now()),
          now: shell.clock.now(),
        }),
      );
    },
  });
}

/** Writes the secrets, unless they are there or another process was a moment earlier. */
function makeSecrets(shell: Shell, directory: string, environmentFile: string): void {
  if (exists(environmentFile)) return;
  try {
    writeSecrets(shell, directory);
  } catch (error) {
    if (!exists(environmentFile)) throw error;
  }
}

/** The demo organization with its history; returns a new key. */
async function prepareDemo({ clock }: Shell, { dependencies }: Service): Promise<string> {
  const now = clock.now();
  const caller = { actor: "system", orgId: ORGANIZATION, prefix: null } as const;
  if (await organizationExists(dependencies, ORGANIZATION)) {
    const call = directCall(ORGANIZATION, { now, requestId: dependencies.world.ulid(now) });
    return String((await rotateByHand(dependencies, caller, call)).body.new_api_key);
  }
  const startedAt = now - HISTORY_DAYS * DAY_MS;
  const { body } = await createOrganization(dependencies, { ...caller, orgId: null }, {
    organization: {
      org_id: ORGANIZATION,
      name: "Demo organization",
      domain: "financial",
      tier: "starter",
      allowed_origins: [],
    },
    call: { now: startedAt, requestId: dependencies.world.ulid(startedAt) },
    scope: null,
    idempotency: null,
    apiKey: null,
  });
  const { api_key: apiKey, prefix } = body as { api_key: string; prefix: string };
  const events = demoHistory({ seed: HISTORY_SEED, endsAt: now, days: HISTORY_DAYS });
  // All at once: they are applied in order, and committed together.
  await Promise.all(
    events.map(({ at, operatorId, sessionId, domain, interaction }) =>
      scoreInteraction(dependencies, { ...caller, prefix }, {
        request: {
          session_id: sessionId,
          operator_id: operatorId,
          domain,
          interaction,
          mode: "full",
          role_tier: "tier_1",
          mode_override: "normal",
        },
        call: { now: at, requestId: dependencies.world.ulid(at) },
      })
    ),
  );
  dependencies.log.info("demo history written", { interactions: events.length, days: HISTORY_DAYS });
  return apiKey;
}

function greeting(
  { url }: Listener,
  { apiKey, sessionId, now }: { readonly apiKey: string; readonly sessionId: string; readonly now: number },
): string {
  const day = (at: number) => new Date(at).toISOString().slice(0, 10);
  const period = `period_start=${day(now - HISTORY_DAYS * DAY_MS)}&period_end=${day(now + DAY_MS)}`;
  const body = JSON.stringify({
    session_id: sessionId,
    operator_id: "reviewer-ada",
    domain: "financial",
    interaction: {
      time_to_decision_ms: 14200,
      decision: "modified",
      modification_extent: 0.4,
      outcome_correct: true,
      hover_events: 5,
      scroll_depth: 0.8,
      alternative_views_checked: 1,
    },
  });
  return `
JISS is running at ${url} with the organization "${ORGANIZATION}" and ${HISTORY_DAYS} days of simulated history.

  API key (this is the only copy):  ${apiKey}

Look at it (the console asks for the key; the demo needs none):

  ${url}/console
  ${url}/demo
  ${url}/docs

Score an interaction:

curl -s -X POST ${url}/v1/score -H 'X-API-Key: ${apiKey}' -H 'Content-Type: application/json' -d '${body}'

Look at the organization, and print what its records say of oversight:

curl -s ${url}/v1/organization/dashboard -H 'X-API-Key: ${apiKey}'
curl -s '${url}/v1/compliance/report?${period}&format=html' -H 'X-API-Key: ${apiKey}' -o report.html
`;
}
