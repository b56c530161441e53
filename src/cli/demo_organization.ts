/** The organization of `jiss dev`, with 90 days of simulated history, and its key. */
import { DAY_MS } from "../domain/time.ts";
import type { Service } from "../service/compose.ts";
import { isGone, ServiceError } from "../domain/errors.ts";
import { isOwnKey } from "../operations/organizations/authentication.ts";
import type { Dependencies } from "../operations/dependencies.ts";
import { createOrganization } from "../operations/organizations/organizations.ts";
import { directCall, inactivityOf } from "../operations/organizations/organization_change.ts";
import { rotateByHandTo } from "../operations/organizations/organization_states.ts";
import { changeUser, inviteUser, issueLink, listUsers } from "../operations/users/accounts.ts";
import { scoreInteraction } from "../operations/scoring/score.ts";
import { DEMO_TEAMS, demoHistory } from "../simulation/demo.ts";
import { setTeams } from "../operations/subjects/teams.ts";
import { sessionsQuery } from "../store/interactions.ts";
import { organizationDetailsQuery } from "../store/organizations.ts";
import { CommandFailure, EXIT } from "./shell.ts";

export const ORGANIZATION = "demo";
export const HISTORY_DAYS = 90;
/** With this seed, the reviewers end in all four bands and with all three verdicts. */
export const HISTORY_SEED = 8;

/** The demo's key, and the reasons why its organization is inactive and the key refused. */
export interface DemoKey {
  readonly apiKey: string;
  readonly inactive: readonly string[];
}

interface DemoKeyRequest {
  /** The key that the demo gets; null if a new one is to be minted. */
  readonly given: string | null;
  /** Epoch milliseconds. */
  readonly now: number;
}

/** Makes the demo organization if it is missing, and gives it its key. @throws {CommandFailure} */
export async function demoKeyOf(service: Service, request: DemoKeyRequest): Promise<DemoKey> {
  try {
    return await prepareDemo(service, request).catch((error) => {
      // Another process created it a moment ago: now it exists, and gets a key of this run.
      if (!(error instanceof ServiceError) || error.code !== "CONFLICT") throw error;
      return prepareDemo(service, request);
    });
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    throw new CommandFailure(`the demo organization cannot get a key: ${error.message}`, EXIT.failure);
  }
}

/**
 * Makes the demo organization with its history, and gives it its key: the given one, or a new one.
 * @throws {ServiceError}
 */
async function prepareDemo({ dependencies }: Service, { given, now }: DemoKeyRequest): Promise<DemoKey> {
  const caller = { actor: "system", orgId: ORGANIZATION, prefix: null } as const;
  const [existing] = await dependencies.database.read(organizationDetailsQuery(ORGANIZATION));
  if (existing !== undefined) {
    const endsAt = existing.created_at + HISTORY_DAYS * DAY_MS;
    await writeHistory(dependencies, { prefix: existing.prefix, endsAt });
    if (given !== null && await isOwnKey(dependencies, { key: given, orgId: ORGANIZATION, now })) {
      return { apiKey: given, inactive: [] };
    }
    const call = directCall(ORGANIZATION, { now, requestId: dependencies.world.ulid(now) });
    const { body } = await rotateByHandTo(given)(dependencies, caller, call);
    return { apiKey: String(body.new_api_key), inactive: await inactivityIn(dependencies) };
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
    apiKey: given,
  });
  const { api_key: apiKey, prefix } = body as { api_key: string; prefix: string };
  await writeHistory(dependencies, { prefix, endsAt: now });
  return { apiKey, inactive: [] };
}

/**
 * Writes the history that ends at an instant, in epoch milliseconds. Writes only the missing interactions,
 * since a first run may have been interrupted.
 */
async function writeHistory(
  dependencies: Dependencies,
  { prefix, endsAt }: { readonly prefix: string | null; readonly endsAt: number },
): Promise<void> {
  const { database, world, log } = dependencies;
  const caller = { actor: "system", orgId: ORGANIZATION, prefix } as const;
  const events = demoHistory({ seed: HISTORY_SEED, endsAt, days: HISTORY_DAYS });
  const ids = events.map(({ sessionId }) => sessionId);
  const rows = await database.read(sessionsQuery(ORGANIZATION, ids));
  const recorded = new Set(rows.map(({ session_id }) => session_id));
  const missing = events.filter(({ sessionId }) => !recorded.has(sessionId));
  if (missing.length === 0) return;
  // All are sent at once: they are applied in order, and committed together.
  await Promise.all(
    missing.map(({ at, operatorId, sessionId, domain, interaction }) =>
      scoreInteraction(dependencies, caller, {
        request: {
          session_id: sessionId,
          operator_id: operatorId,
          domain,
          interaction,
          mode: "full",
          role_tier: "tier_1",
          mode_override: "normal",
        },
        call: { now: at, requestId: world.ulid(at) },
      }).catch((error) => {
        // The reviewer was erased: the history stays without him.
        if (!isGone(error)) throw error;
      })
    ),
  );
  for (const assignment of DEMO_TEAMS) {
    const call = { now: endsAt, requestId: world.ulid(endsAt) };
    await setTeams(dependencies, caller, { assignments: [assignment], call }).catch((error) => {
      if (!(error instanceof ServiceError) || error.code !== "NOT_FOUND") throw error;
    });
  }
  log.info("demo history written", { interactions: missing.length, days: HISTORY_DAYS });
}

/** The demo's user, who is an admin. */
const ADMIN = { email: "admin@demo.example", name: "Demo admin", role: "admin" } as const;

/** The token of a link that signs in as the demo's admin, once. An earlier run's link ends. @throws {CommandFailure} */
export async function demoLinkOf({ dependencies }: Service, now: number): Promise<string> {
  const caller = { actor: "system", orgId: ORGANIZATION, prefix: null } as const;
  const call = { now, requestId: dependencies.world.ulid(now) };
  const purpose = "sign_in";
  try {
    const users = await listUsers(dependencies, caller);
    const known = users.find(({ email }) => email === ADMIN.email);
    if (known === undefined) {
      return (await inviteUser(dependencies, caller, { request: ADMIN, call, purpose })).link.token;
    }
    const { user_id: userId } = known;
    await changeUser(dependencies, caller, { userId, change: { disabled: false }, call });
    return (await issueLink(dependencies, caller, { userId, call, purpose })).token;
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    throw new CommandFailure(`the demo's user cannot get a link: ${error.message}`, EXIT.failure);
  }
}

/** The reasons why the demo organization is inactive; empty if it is active. */
async function inactivityIn({ database }: Dependencies): Promise<readonly string[]> {
  const [row] = await database.read(organizationDetailsQuery(ORGANIZATION));
  return row === undefined ? [] : Object.keys(inactivityOf(row));
}
