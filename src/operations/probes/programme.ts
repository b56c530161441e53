/**
 * An organization's programme of probes: its policy, and the seed of each day. The seed is committed to before the
 * first draw of a UTC day, and opened after the day, at the latest before the next one is committed to. A change of
 * the policy counts from the next day on, so that nobody can choose the share for a session; switching the programme off
 * counts at once.
 */
import type { Proving, Reading, Writing } from "../shared/capabilities.ts";
import { ServiceError } from "../../domain/errors.ts";
import { adminChain, evidenceChain } from "../../evidence/chain_name.ts";
import { hex } from "../../evidence/crypto.ts";
import { dayOf, type ProbePolicy, probePolicySchema, seedCommitment } from "../../evidence/probes.ts";
import { canonicalJson } from "../../evidence/canonical.ts";
import { probeSeed } from "../../keys/probe_secrets.ts";
import { type ProbeProgrammeRow, probeProgrammes, probeProgrammesQuery } from "../../store/probes.ts";
import { nextTurn } from "../../store/turn.ts";
import type { UnitOfWork } from "../../store/unit_of_work.ts";
import type { World } from "../../domain/world.ts";
import { type Call, type OrganizationCaller, selfServing } from "../shared/call.ts";
import { makePart, signedBy } from "../shared/drafts.ts";
import { readSealed } from "../shared/sealed_reads.ts";
import type { Watching } from "../shared/tampering.ts";
import { endOverdueProbesOf } from "./close.ts";
import { drawEntry, type DrawnEntry, probeEntry, serviceOf } from "./entries.ts";
import { readHeldProbes } from "./held.ts";
import { forOneOf } from "./for_one_of.ts";

/** The dependencies of these operations. */
type Needs = Pick<Reading, "database" | "seals"> & Proving & Writing;

/** The policy of an organization that never set one. */
const NO_PROGRAMME: ProbePolicy = {
  enabled: false,
  rate: 0.02,
  highest_share: 0.1,
  minimum: 10,
  ticket_minutes: 240,
};

/** A programme as its row says it. */
export interface Programme {
  readonly policy: ProbePolicy;
  readonly changedAt: number | null;
  /** The newest day whose seed is committed to, and the policy of that day; null before the first. */
  readonly day: { readonly name: string; readonly policy: ProbePolicy; readonly isOpened: boolean } | null;
}

export function programmeOf(row: ProbeProgrammeRow | null): Programme {
  if (row === null) return { policy: NO_PROGRAMME, changedAt: null, day: null };
  const { day, day_policy } = row;
  return {
    policy: probePolicySchema.parse(JSON.parse(row.policy)),
    changedAt: row.changed_at,
    day: day === null || day_policy === null ? null : {
      name: day,
      policy: probePolicySchema.parse(JSON.parse(day_policy)),
      isOpened: row.opened === 1,
    },
  };
}

/** @throws {AlteredRows} if the row is not what this installation wrote. */
export async function readProgramme(
  dependencies: Reading,
  orgId: string,
): Promise<Programme> {
  const [row = null] = await readSealed(dependencies, probeProgrammes, [[orgId]]);
  // A missing row looks like a programme that nobody set.
  if (row === null) await readHeldProbes(dependencies, orgId);
  return programmeOf(row);
}

/** The policy as an answer shows it. */
export function policyBody({ policy, changedAt, day }: Programme): Record<string, unknown> {
  return {
    policy,
    changed_at: changedAt === null ? null : new Date(changedAt).toISOString(),
    day: day === null ? null : { day: day.name, policy: day.policy, seed_opened: day.isOpened },
  };
}

/** A change of the policy: what it leaves out keeps its value. */
export type PolicyChange =
  & Pick<ProbePolicy, "enabled">
  & { readonly [Name in keyof ProbePolicy]?: ProbePolicy[Name] | undefined };

/** @throws {ServiceError} VALIDATION_FAILED if the highest share is below the usual one. */
function changed(before: ProbePolicy, change: PolicyChange): ProbePolicy {
  const sent = Object.entries(change).filter(([, value]) => value !== undefined);
  const policy: ProbePolicy = { ...before, ...Object.fromEntries(sent) };
  const { rate, highest_share } = policy;
  if (highest_share >= rate) return policy;
  const message = `must not be below rate: ${highest_share} is below ${rate}`;
  throw new ServiceError("VALIDATION_FAILED", `Change highest_share: it ${message}.`, {
    details: [{ path: "highest_share", message }],
  });
}

/**
 * Changes the policy. The change is on both chains; one that changes nothing is not.
 * @throws {ServiceError} VALIDATION_FAILED.
 */
export async function setPolicy(
  dependencies: Needs & Reading,
  caller: OrganizationCaller,
  { change, call: { now } }: { readonly change: PolicyChange; readonly call: Call },
): Promise<Record<string, unknown>> {
  const { world, writer } = dependencies;
  const { orgId } = caller;
  await readProgramme(dependencies, orgId);
  const drawn = { entry: drawEntry(world, now), audit: drawEntry(world, now) };
  return await writer.submit({
    needs: [{ kind: probeProgrammes, key: [orgId] }],
    chains: [evidenceChain(orgId), adminChain(orgId)],
    plan(unit) {
      const row = unit.get(probeProgrammes, [orgId]);
      const before = programmeOf(row);
      const policy = changed(before.policy, change);
      if (canonicalJson(before.policy) === canonicalJson(policy)) return () => policyBody(before);
      const after: ProbeProgrammeRow = {
        ...(row ?? { org_id: orgId, day: null, day_policy: null, opened: 1 }),
        policy: canonicalJson(policy),
        changed_at: now,
      };
      unit.put(probeProgrammes, after);
      unit.append(
        evidenceChain(orgId),
        probeEntry(drawn.entry, { event: "PROBE_POLICY_CHANGED", caller, now, content: policy }),
      );
      unit.append(adminChain(orgId), {
        id: drawn.audit.id,
        ...signedBy(selfServing(caller)),
        eventType: "PROBE_POLICY_CHANGED",
        subject: null,
        at: now,
        parts: [makePart("detail", drawn.audit.salt, policy)],
      });
      return () => policyBody(programmeOf(after));
    },
  });
}

/** The entries of a new day, drawn before the plan. */
export interface DrawnDay {
  readonly opening: DrawnEntry;
  readonly commitment: DrawnEntry;
}

export function drawDay(world: World, now: number): DrawnDay {
  return { opening: drawEntry(world, now), commitment: drawEntry(world, now) };
}

/**
 * Brings the programme to the day of an instant: opens the seed of the day before, and commits to that of the new day
 * if the programme is on. The day never goes back with the clock. The plan must have named the programme's row.
 */
export function planDay(
  unit: UnitOfWork,
  { crypto, installation }: Pick<Proving, "crypto" | "installation">,
  { orgId, now, drawn }: { readonly orgId: string; readonly now: number; readonly drawn: DrawnDay },
): Programme {
  const row = unit.get(probeProgrammes, [orgId]);
  const programme = programmeOf(row);
  const today = dayOf(now);
  const { day, policy } = programme;
  if (row === null || (day !== null && day.name >= today)) return programme;
  const caller = serviceOf(orgId);
  let after = row;
  if (day !== null && !day.isOpened) {
    const seed = hex(probeSeed(installation.key, orgId, day.name));
    const content = { day: day.name, seed };
    unit.append(
      evidenceChain(orgId),
      probeEntry(drawn.opening, { event: "PROBE_SEED_OPENED", caller, now, content }),
    );
    after = { ...after, opened: 1 };
  }
  if (policy.enabled) {
    const commitment = seedCommitment(crypto, today, probeSeed(installation.key, orgId, today));
    const content = { day: today, commitment, policy };
    unit.append(
      evidenceChain(orgId),
      probeEntry(drawn.commitment, { event: "PROBE_SEED_COMMITTED", caller, now, content }),
    );
    after = { ...after, day: today, day_policy: canonicalJson(policy), opened: 0 };
  }
  if (after !== row) unit.put(probeProgrammes, after);
  return programmeOf(after);
}

/** Commits to the seeds of a new day and opens those of past days, for all organizations. */
export async function turnProbeDays(dependencies: Needs & Reading & Watching, now: number): Promise<void> {
  for (const row of await dependencies.database.read(probeProgrammesQuery())) {
    await forOneOf(dependencies, {
      orgId: row.org_id,
      now,
      failure: "the day of a probe programme could not be turned",
      run: () => turnDay(dependencies, row, now),
    });
    await nextTurn();
  }
}

async function turnDay(
  dependencies: Needs & Reading & Watching,
  row: ProbeProgrammeRow,
  now: number,
): Promise<void> {
  const { world, writer } = dependencies;
  const orgId = row.org_id;
  const { day, policy } = programmeOf(row);
  const isToTurn = day === null ? policy.enabled : day.name < dayOf(now) && (policy.enabled || !day.isOpened);
  if (!isToTurn) return;
  // The seed of a day is opened once all probes of that day are closed.
  await endOverdueProbesOf(dependencies, { orgId, now });
  const drawn = drawDay(world, now);
  await writer.submit({
    needs: [{ kind: probeProgrammes, key: [orgId] }],
    chains: [evidenceChain(orgId)],
    plan(unit) {
      planDay(unit, dependencies, { orgId, now, drawn });
      return () => undefined;
    },
  });
}
