/**
 * Opens cases by rules, regularly, for organizations in which somebody can work on them. A rule opens nothing while its case is
 * open, nor for some time after its end, unless there is something new. Source: oversight-loop design, section 4.
 */
import type { Logging, Proving, Reading, Scoring, Writing } from "../shared/capabilities.ts";
import type { CaseFigures, RecordedCase } from "../../domain/case.ts";
import { type CaseCause, isOpenCase } from "../../domain/case_states.ts";
import { AlteredError, isUnavailable } from "../../domain/errors.ts";
import { DAY_MS } from "../../domain/time.ts";
import { errorFields } from "../../observability/log.ts";
import { projectDecay, readProjection } from "../../scoring/decay.ts";
import { verdictInWords } from "../../scoring/verdict_words.ts";
import { dayInWords, formatQuantity } from "../../scoring/wording.ts";
import { activeOperatorsQuery } from "../../store/operators.ts";
import { chunksOf } from "../../store/paging.ts";
import type { ProbeRow } from "../../store/probes.ts";
import { nextTurn } from "../../store/turn.ts";
import { organizationsWithUsersQuery } from "../../store/users.ts";
import { isOpen } from "../organizations/authentication.ts";
import { readRegistered, type Remembering } from "../organizations/registered.ts";
import { drawsOf, readHeldProbes } from "../probes/held.ts";
import { pseudonymsOf } from "../shared/pseudonyms.ts";
import { readCurrent } from "./figures.ts";
import { casesOfSubjects } from "./histories.ts";
import { worksOnCases } from "./names.ts";
import { appendOpening, drawOpening } from "./open.ts";

type Needs = Reading & Proving & Scoring & Writing & Logging & Remembering;

/** Days without an interaction after which somebody is away. */
const AWAY_DAYS = 30;
/** Days within which a projection must fall below the minimum. */
const PROJECTED_DAYS = 14;
/** Days for which a probe's loss or a miss counts. */
const PROBE_DAYS = 30;
/** Days after the end of a case for which its rule opens no other. */
const REST_DAYS = 30;
/** Operators that are looked at before other work has its turn. */
const OPERATORS_AT_ONCE = 50;

/** A reason to open a case. */
interface Reason {
  readonly cause: CaseCause;
  readonly statement: string;
  /** The probe that it names; null if it names none. */
  readonly about: string | null;
}

/** An operator with what the rules found. */
interface Candidate {
  readonly operatorId: string;
  readonly figures: CaseFigures;
  readonly reasons: readonly Reason[];
}

/** Opens what the rules find in all organizations. One that fails is logged, and does not hold up the others. */
export async function openCasesByRule(dependencies: Needs, now: number): Promise<void> {
  const { database, log } = dependencies;
  for (const { org_id: orgId } of await database.read(organizationsWithUsersQuery())) {
    try {
      if (await hasOfficer(dependencies, orgId)) await openIn(dependencies, orgId, now);
    } catch (error) {
      if (isUnavailable(error)) return;
      // The watch over the chains raises the alert.
      const isKnown = error instanceof AlteredError;
      log[isKnown ? "warn" : "error"]("cases could not be opened by rule", {
        org_id: orgId,
        ...errorFields(error),
      });
    }
    await nextTurn();
  }
}

/** Whether somebody can work on cases, or is invited to: an organization that uses keys alone gets none by rule. */
async function hasOfficer(dependencies: Needs, orgId: string): Promise<boolean> {
  const { organization, users } = await readRegistered(dependencies, orgId);
  return isOpen(organization) &&
    users.some(({ state, role }) => (state === "active" || state === "invited") && worksOnCases({ role }));
}

async function openIn(dependencies: Needs, orgId: string, now: number): Promise<void> {
  const probes = await readHeldProbes(dependencies, orgId);
  const byOperator = await probeReasons(dependencies, orgId, { probes, now });
  for (const names of await activeOperators(dependencies, orgId, now)) {
    const found: Candidate[] = [];
    for (const operatorId of names) {
      const current = await readCurrent(dependencies, orgId, operatorId);
      if (current === null) continue;
      const reasons = [
        ...stateReasons(dependencies, current, now),
        ...byOperator.get(operatorId) ?? [],
      ];
      if (reasons.length > 0) found.push({ operatorId, figures: current.figures, reasons });
    }
    await openFor(dependencies, orgId, { found, now });
    await nextTurn();
  }
}

/**
 * The operators of the organization rule's period, some at a time, in the order of their pseudonyms: the cases that are opened in one
 * run would else be in the order of the names, which users of pseudonyms could read off.
 */
async function activeOperators(
  dependencies: Needs,
  orgId: string,
  now: number,
): Promise<readonly (readonly string[])[]> {
  const { database, model: { document } } = dependencies;
  const since = now - document.organization.active_days * DAY_MS;
  const names = await database.read(activeOperatorsQuery(orgId, since));
  const ids = names.map(({ operator_id }) => operator_id);
  const pseudonyms = await pseudonymsOf(dependencies, orgId, ids);
  // An operator who was erased meanwhile has none, and gets no case.
  const known = ids.filter((id) => pseudonyms.has(id))
    .sort((one, other) => pseudonyms.get(one)! < pseudonyms.get(other)! ? -1 : 1);
  return chunksOf(known, OPERATORS_AT_ONCE);
}

/** The reasons that an operator's state gives. */
function stateReasons(
  { model: { document } }: Needs,
  { state, domain, jis, verdict, lastAt }: NonNullable<Awaited<ReturnType<typeof readCurrent>>>,
  now: number,
): readonly Reason[] {
  const reasons: Reason[] = [];
  if (verdict?.status === "non_compliant") {
    reasons.push({ cause: "at_risk", statement: verdictInWords(verdict), about: null });
  }
  const projected = projectDecay(document, state, { jis, domain });
  const {
    days_since_last_interaction: away,
    days_to_non_compliance: days,
    non_compliant_on: on,
  } = readProjection(document, projected, { lastAt, now, verdict });
  if (away >= AWAY_DAYS) {
    reasons.push({ cause: "away", statement: `No interaction for ${away} days.`, about: null });
  }
  const { min_jis } = document.thresholds;
  if (jis >= min_jis && days !== null && days <= PROJECTED_DAYS && verdict?.status !== "non_compliant") {
    reasons.push({
      cause: "projected_below",
      statement: days === 0
        ? `Without new work the score is projected to be below ${min_jis} since ${dayInWords(on!)}.`
        : `Without new work the score is projected to fall below ${min_jis} on ${dayInWords(on!)}, in ${
          formatQuantity(String(days), "day")
        }.`,
      about: null,
    });
  }
  return reasons;
}

/** The reasons that the probes of the last days give, by operator. */
async function probeReasons(
  dependencies: Needs,
  orgId: string,
  { probes, now }: { readonly probes: readonly ProbeRow[]; readonly now: number },
): Promise<ReadonlyMap<string, readonly Reason[]>> {
  const recent = probes.filter(({ closed_at }) => closed_at !== null && closed_at > now - PROBE_DAYS * DAY_MS)
    .toSorted((one, other) => one.closed_position! - other.closed_position!);
  const draws = await drawsOf(dependencies, orgId, recent);
  const own = Map.groupBy(
    recent.filter(({ probe_id }) => draws.has(probe_id)),
    ({ probe_id }) => draws.get(probe_id)!.operator_id,
  );
  const reasons = new Map<string, readonly Reason[]>();
  for (const [operatorId, rows] of own) {
    const wrong = rows.filter(({ state, ai_correct }) => state === "decided" && ai_correct === 0);
    const missed = wrong.filter(({ departed }) => departed === 0);
    const grave = missed.filter(({ stakes }) => stakes !== "standard");
    const lost = rows.filter(({ state }) => state === "lost");
    const found: Reason[] = [];
    if (grave.length > 0) {
      found.push({
        cause: "probe_missed",
        statement: `Followed wrong advice in ${missed.length} of ${
          formatQuantity(String(wrong.length), "sealed probe")
        } in the last ${PROBE_DAYS} days, ${grave.length} of them at high stakes.`,
        about: grave.at(-1)!.probe_id,
      });
    }
    if (lost.length > 0) {
      found.push({
        cause: "probes_lost",
        statement: `${
          formatQuantity(String(lost.length), "sealed probe")
        } of the last ${PROBE_DAYS} days ended without a decision.`,
        about: lost.at(-1)!.probe_id,
      });
    }
    reasons.set(operatorId, found);
  }
  return reasons;
}

async function openFor(
  dependencies: Needs,
  orgId: string,
  { found, now }: { readonly found: readonly Candidate[]; readonly now: number },
): Promise<void> {
  const pseudonyms = await pseudonymsOf(dependencies, orgId, found.map(({ operatorId }) => operatorId));
  const histories = await casesOfSubjects(dependencies, orgId, [...pseudonyms.values()]);
  const caller = { actor: "system", orgId, prefix: null } as const;
  for (const { operatorId, figures, reasons } of found) {
    const pseudonym = pseudonyms.get(operatorId);
    // The operator was erased meanwhile.
    if (pseudonym === undefined) continue;
    const { cases, entries } = histories.get(pseudonym)!;
    let added = 0;
    for (const reason of reasons.filter((one) => isNew(one, cases, now))) {
      const opened = { operator_id: operatorId, ...reason, figures };
      const call = { now, requestId: dependencies.world.ulid(now) };
      const drawn = drawOpening(dependencies, { caller, pseudonym, opened, call });
      const of = { orgId, pseudonym, entries: entries + added, drawn };
      // If somebody else opened or changed a case meanwhile, the next run looks again.
      if (await appendOpening(dependencies, of) === null) break;
      added += 1;
    }
  }
}

/** Whether no case of a cause is open, and none ended of late; a probe that none of them names is new at once. */
function isNew({ cause, about }: Reason, cases: readonly RecordedCase[], now: number): boolean {
  const same = cases.filter((one) => one.cause === cause);
  if (same.some(({ state }) => isOpenCase(state))) return false;
  if (about !== null) return same.every((one) => one.about !== about);
  return same.every(({ changed_at }) => now - Date.parse(changed_at) > REST_DAYS * DAY_MS);
}
