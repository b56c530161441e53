/**
 * Draws: whether a probe is shown before a case, and which. A function of the operator and the session under the day's
 * seed decides it, so that the same session draws the same within a day. A draw without a probe writes nothing.
 * Source: evidence-format.md, section 11.
 */
import type { Logging, Proving, Reading, Writing } from "../shared/capabilities.ts";
import type { Domain, ProbeStakes } from "../../domain/enums.ts";
import { ServiceError, unavailable } from "../../domain/errors.ts";
import { DAY_MS, MINUTE_MS } from "../../domain/time.ts";
import { evidenceChain } from "../../evidence/chain_name.ts";
import {
  dayOf,
  type Draw,
  drawOf,
  placeIn,
  PROBE_WINDOW_DAYS,
  type ProbePolicy,
  shareOf,
} from "../../evidence/probes.ts";
import { probeSeed, probeTicket } from "../../keys/probe_secrets.ts";
import {
  decidedProbes,
  type ProbeDrawRow,
  probeDraws,
  probeProgrammes,
  type ProbeRow,
  probes,
  probeSessions,
  probeStocks,
} from "../../store/probes.ts";
import { interactions, operators, subjects } from "../../store/records.ts";
import type { Need, UnitOfWork } from "../../store/unit_of_work.ts";
import type { Call, OrganizationCaller } from "../shared/call.ts";
import { refuseGone, tombstoneNeed } from "../shared/gone.ts";
import { readSealed, requireSealed } from "../shared/sealed_reads.ts";
import { drawPseudonym, pseudonymOf } from "../shared/subjects.ts";
import { endOverdueProbesOf } from "./close.ts";
import { drawEntry, type DrawnEntry, probeEntry } from "./entries.ts";
import { readHeldProbes } from "./held.ts";
import { drawDay, planDay, type Programme, programmeOf } from "./programme.ts";

/** The dependencies of these operations. */
type Needs = Reading & Proving & Writing & Logging;

/** The case before which a probe may be shown. */
export interface DrawRequest {
  readonly operator_id: string;
  readonly session_id: string;
  readonly domain: Domain;
  readonly stakes: ProbeStakes;
}

/** A probe to be shown before the case. */
export interface DrawnProbe {
  readonly probe_id: string;
  /** The session under which the probe itself is scored. */
  readonly session_id: string;
  readonly ticket: string;
  readonly expires_at: string;
  readonly reference: string | null;
  readonly do_not_execute: true;
}

/** How often a draw is planned anew because other draws changed what it was planned on. */
const ATTEMPTS = 20;

/**
 * The probe that is due before a case; null if none is, or if the case's probe is decided already.
 * @throws {ServiceError} CONFLICT if the session was drawn for another operator, or is a probe's; GONE; SERVICE_UNAVAILABLE.
 */
export async function drawProbe(
  dependencies: Needs,
  caller: OrganizationCaller,
  { request, call }: { readonly request: DrawRequest; readonly call: Call },
): Promise<DrawnProbe | null> {
  const { orgId } = caller;
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    const before = await readBefore(dependencies, orgId, request);
    if (before.draw !== null) return await drawnAnswer(dependencies, request, before.draw);
    const { policy, day } = before.programme;
    // A missing row looks like a programme that nobody set.
    if (before.programme.changedAt === null) await readHeldProbes(dependencies, orgId);
    if (!policy.enabled || before.isScored) return null;
    const today = dayOfCall(call, day?.name ?? null);
    const draw = drawUnder(dependencies, orgId, { request, day: today });
    // The day's seed is on the chain, and no share could be high enough: nothing is to be written.
    if (day?.name === today && draw.chance >= mostOf(day.policy)) return null;
    // The draw signs its stock and share, which follow from all rows.
    await readHeldProbes(dependencies, orgId);
    // The seed of a day is opened once all probes of that day are closed.
    if (day !== null && day.name < today) await endOverdueProbesOf(dependencies, { orgId, now: call.now });
    const answer = await attemptDraw(dependencies, caller, { request, call, today, draw });
    if (answer !== "taken") return answer;
  }
  throw unavailable("Other draws kept coming first; send this again.");
}

interface Before {
  readonly programme: Programme;
  readonly draw: ProbeDrawRow | null;
  readonly isScored: boolean;
}

async function readBefore(
  dependencies: Needs,
  orgId: string,
  { session_id }: DrawRequest,
): Promise<Before> {
  const session = JSON.stringify([[orgId, session_id]]);
  const [programme, draws, scores, probeSession] = await dependencies.database.snapshot([
    probeProgrammes.load(JSON.stringify([[orgId]])),
    probeDraws.load(session),
    interactions.load(session),
    probeSessions.load(session),
  ]);
  if (probeSession.length > 0) {
    throw new ServiceError(
      "CONFLICT",
      `session_id ${session_id} is that of a probe, before which no other is shown: draw with the session of a case.`,
    );
  }
  requireSealed(dependencies, probeProgrammes, programme);
  requireSealed(dependencies, probeDraws, draws);
  return {
    programme: programmeOf(programme[0] ?? null),
    draw: draws[0] ?? null,
    isScored: scores.length > 0,
  };
}

/** The day of a call; it never is before the newest day of the programme, null if that has none. */
function dayOfCall({ now }: Call, newest: string | null): string {
  const today = dayOf(now);
  return newest !== null && today < newest ? newest : today;
}

function drawUnder(
  { crypto, installation }: Pick<Proving, "crypto" | "installation">,
  orgId: string,
  { request: { operator_id, session_id }, day }: { readonly request: DrawRequest; readonly day: string },
): Draw {
  const seed = probeSeed(installation.key, orgId, day);
  return drawOf(crypto, seed, { operatorId: operator_id, sessionId: session_id });
}

/** The highest share that an operator can have on a day. */
function mostOf(policy: ProbePolicy): number {
  return shareOf(policy, 0);
}

/** The probe of an earlier draw of the same session, as long as it waits for its decision. */
async function drawnAnswer(
  dependencies: Needs,
  { operator_id, session_id }: DrawRequest,
  row: ProbeDrawRow,
): Promise<DrawnProbe | null> {
  if (row.operator_id !== operator_id) {
    throw new ServiceError(
      "CONFLICT",
      `session_id ${session_id} was drawn for another operator: draw with the operator who decides the case.`,
    );
  }
  if (row.probe_id === null) return null;
  const [probe] = await readSealed(dependencies, probes, [[row.org_id, row.probe_id]]);
  return probe?.state === "drawn" ? answerOf(dependencies, row, probe) : null;
}

function answerOf(
  { installation }: Pick<Proving, "installation">,
  { org_id, probe_id, probe_session_id }: ProbeDrawRow,
  { expires_at, reference }: ProbeRow,
): DrawnProbe {
  const [probeId, sessionId] = [probe_id!, probe_session_id!];
  return {
    probe_id: probeId,
    session_id: sessionId,
    ticket: probeTicket(installation.key, org_id, { probeId, sessionId }),
    expires_at: new Date(expires_at!).toISOString(),
    reference,
    do_not_execute: true,
  };
}

/** One attempt in a commit; `taken` if another draw changed meanwhile what it was planned on. */
async function attemptDraw(
  dependencies: Needs,
  caller: OrganizationCaller,
  { request, call, today, draw }: {
    readonly request: DrawRequest;
    readonly call: Call;
    readonly today: string;
    /** The draw of the session under the seed of today. */
    readonly draw: Draw;
  },
): Promise<DrawnProbe | null | "taken"> {
  const { database, world, writer } = dependencies;
  const { orgId } = caller;
  const { now } = call;
  const { operator_id, session_id, domain, stakes } = request;
  const stratum = [orgId, domain, stakes] as const;
  const operator = [orgId, operator_id] as const;
  const drawn = {
    day: drawDay(world, now),
    draw: drawEntry(world, now),
    assignment: drawEntry(world, now),
    session: world.ulid(now),
    pseudonym: drawPseudonym(world),
  };
  // The stock decides which probe it is; the plan makes sure that the stock has not changed.
  const [stock] = await database.read(probeStocks.load(JSON.stringify([stratum])));
  const expected = probeAt(stock!.ids, draw);
  const tombstone = tombstoneNeed(dependencies, { kind: "record", orgId, name: session_id });
  const window = windowOf(today);
  const decided = { kind: decidedProbes, key: [orgId, operator_id, ...window] } satisfies Need;
  return await writer.submit<DrawnProbe | null | "taken">({
    needs: [
      { kind: probeProgrammes, key: [orgId] },
      { kind: probeDraws, key: [orgId, session_id] },
      { kind: interactions, key: [orgId, session_id] },
      { kind: subjects, key: operator },
      { kind: operators, key: operator },
      { kind: probeStocks, key: stratum },
      decided,
      tombstone,
      ...(expected === null ? [] : [{ kind: probes, key: [orgId, expected] }]),
    ],
    chains: [evidenceChain(orgId)],
    plan(unit) {
      refuseGone(unit, tombstone);
      const known = unit.get(probeDraws, [orgId, session_id]);
      if (known !== null) return () => "taken";
      const { policy, day } = planDay(unit, dependencies, { orgId, now, drawn: drawn.day });
      const isOpen = policy.enabled && day !== null &&
        unit.get(interactions, [orgId, session_id]) === null;
      if (!isOpen) return () => null;
      // Another process turned the day meanwhile.
      if (day.name !== today) return () => "taken";
      const share = shareOf(day.policy, unit.get(decidedProbes, decided.key)!.count);
      if (draw.chance >= share) return () => null;
      const before = unit.get(probeStocks, stratum)!;
      const probeId = probeAt(before.ids, draw);
      if (probeId !== expected) return () => "taken";
      const rows = planDrawn(unit, {
        caller,
        request,
        call,
        drawn,
        day,
        share,
        probeId,
      });
      return () => rows.probe === null ? null : answerOf(dependencies, rows.draw, rows.probe);
    },
  });
}

/** The first instant of the days before a draw's day in which decided probes count, and the first after them. */
function windowOf(day: string): readonly [from: string, to: string] {
  const to = Date.parse(`${day}T00:00:00.000Z`);
  return [String(to - PROBE_WINDOW_DAYS * DAY_MS), String(to)];
}

function probeAt(ids: string, draw: Draw): string | null {
  const stock: readonly string[] = JSON.parse(ids);
  return stock[placeIn(stock.length, draw)] ?? null;
}

/** Writes a draw whose probe was due. */
function planDrawn(
  unit: UnitOfWork,
  { caller, request, call: { now }, drawn, day, share, probeId }: {
    readonly caller: OrganizationCaller;
    readonly request: DrawRequest;
    readonly call: Call;
    readonly drawn: {
      readonly draw: DrawnEntry;
      readonly assignment: DrawnEntry;
      readonly session: string;
      readonly pseudonym: string;
    };
    readonly day: { readonly name: string; readonly policy: ProbePolicy };
    readonly share: number;
    readonly probeId: string | null;
  },
): { readonly draw: ProbeDrawRow; readonly probe: ProbeRow | null } {
  const { orgId } = caller;
  const { operator_id, session_id, domain, stakes } = request;
  const chain = evidenceChain(orgId);
  const before = unit.get(probeStocks, [orgId, domain, stakes])!;
  const ids: readonly string[] = JSON.parse(before.ids);
  const { entry } = unit.append(
    chain,
    probeEntry(drawn.draw, {
      event: "PROBE_DRAWN",
      caller,
      now,
      content: { day: day.name, domain, stakes, share, stock: ids.length, probe_id: probeId },
    }),
  );
  // The entry's own instant counts, as at the decision: it is never before that of the entry before it.
  const drawnAt = Date.parse(entry.timestamp);
  const expiresAt = probeId === null ? null : drawnAt + day.policy.ticket_minutes * MINUTE_MS;
  const probeSession = probeId === null ? null : drawn.session;
  const { position } = unit.append(
    chain,
    probeEntry(drawn.assignment, {
      event: "PROBE_ASSIGNED",
      caller,
      subject: pseudonymOf(unit, [orgId, operator_id], drawn.pseudonym),
      now,
      content: {
        operator_id,
        session_id,
        probe_id: probeId,
        probe_session_id: probeSession,
        expires_at: expiresAt === null ? null : new Date(expiresAt).toISOString(),
      },
    }),
  );
  const draw: ProbeDrawRow = {
    org_id: orgId,
    session_id,
    operator_id,
    position,
    probe_id: probeId,
    probe_session_id: probeSession,
  };
  unit.put(probeDraws, draw);
  if (probeId === null) return { draw, probe: null };
  const probe: ProbeRow = {
    ...unit.get(probes, [orgId, probeId])!,
    state: "drawn",
    drawn_at: drawnAt,
    expires_at: expiresAt,
  };
  unit.put(probes, probe);
  unit.put(probeStocks, { ...before, ids: JSON.stringify(ids.filter((id) => id !== probeId)) });
  return { draw, probe };
}
