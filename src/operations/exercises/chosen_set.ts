/** Finds the case set of an exercise: by its name, by its hash, or by the domain of the operator's work. */
import { type Domain, DOMAINS } from "../../domain/enums.ts";
import { refusedAt } from "../../domain/errors.ts";
import { HASH32 } from "../../domain/hash.ts";
import { DAY_MS } from "../../domain/time.ts";
import { caseSetSha256 } from "../../evidence/exercises.ts";
import { builtInCaseSet } from "../../exercises/built_in.ts";
import type { CaseSet, CaseSetLanguage } from "../../exercises/case_set.ts";
import type { RetentionDays } from "../shared/deployment.ts";
import { type AddedCaseSet, addedCaseSets, builtInCaseSets } from "./case_sets.ts";
import { latestLiveDomain } from "./list.ts";
import type { Needs as RunNeeds } from "./runs.ts";

/** The dependencies of this operation. */
type Needs = RunNeeds & RetentionDays;

/** The members of a request that name the case set. */
export interface SetRequest {
  readonly operator_id: string;
  /** The name or the hash of a case set; null for the program's own set of the domain. */
  readonly case_set: string | null;
  /** Null for the domain of the operator's latest work. */
  readonly domain: Domain | null;
  /** Null for that of the case set if `case_set` is a hash, and else for English. */
  readonly language: CaseSetLanguage | null;
}

/** The case set of a run. */
export interface ChosenSet {
  readonly set: CaseSet;
  readonly sha256: string;
  /** Its place on the chain; null if it is not there, or would be pruned before the link ends. */
  readonly place: Pick<AddedCaseSet, "chain" | "seq"> | null;
  /** Whether the organization added it. */
  readonly isOwn: boolean;
}

/**
 * Finds the case set of a run. An organization's own set goes before one of the program with the same name.
 * @throws {ServiceError} VALIDATION_FAILED if there is none, or it is of another domain or language; {AlteredError}.
 */
export async function chooseSet(
  dependencies: Needs,
  orgId: string,
  { request, expiresAt }: { readonly request: SetRequest; readonly expiresAt: number },
): Promise<ChosenSet> {
  const sets = await addedCaseSets(dependencies, orgId);
  const set = await findSet(dependencies, orgId, { request, sets });
  for (const name of ["domain", "language"] as const) {
    if (request[name] === null || request[name] === set[name]) continue;
    throw refusedAt(name, `must be that of the case set, ${set[name]}, or be left out`);
  }
  const sha256 = caseSetSha256(dependencies.crypto, set);
  const added = sets.find((each) => each.sha256 === sha256) ?? null;
  const days = dependencies.evidenceRetentionDays;
  const isKept = added !== null && (days === null || Date.parse(added.addedAt) + days * DAY_MS > expiresAt);
  return { set, sha256, place: isKept ? added : null, isOwn: added?.isOwn === true };
}

async function findSet(
  dependencies: Needs,
  orgId: string,
  { request, sets }: { readonly request: SetRequest; readonly sets: readonly AddedCaseSet[] },
): Promise<CaseSet> {
  const { case_set: wanted } = request;
  const language = request.language ?? "en";
  if (wanted === null) {
    return await builtInCaseSet(request.domain ?? await latestDomain(dependencies, orgId, request), language);
  }
  if (HASH32.test(wanted)) {
    const known = sets.find(({ sha256 }) => sha256 === wanted)?.set;
    const set = known ?? (await builtInCaseSets(dependencies)).get(wanted);
    if (set !== undefined) return set;
  }
  const own = sets.findLast(({ set, isOwn }) => isOwn && set.name === wanted && set.language === language);
  if (own !== undefined) return own.set;
  // The program's own set of a domain bears its name.
  if (isDomain(wanted)) return await builtInCaseSet(wanted, language);
  throw refusedAt("case_set", `names no case set in ${language}: GET /v1/case-sets lists them`);
}

function isDomain(name: string): name is Domain {
  return (DOMAINS as readonly string[]).includes(name);
}

/** The domain of an operator's latest live work. @throws {ServiceError} VALIDATION_FAILED if there is none. */
async function latestDomain(
  dependencies: Needs,
  orgId: string,
  { operator_id }: SetRequest,
): Promise<Domain> {
  const domain = await latestLiveDomain(dependencies, { orgId, operatorId: operator_id });
  if (domain !== null) return domain as Domain;
  throw refusedAt("domain", "is needed for an operator without live work, unless case_set is given");
}
