/**
 * The case sets of an organization. A set is an entry of the organization's evidence, so that whoever verifies the chain
 * has the cases and their truth. A set of the program becomes one when an exercise first uses it.
 */
import type { Proving, Reading, Writing } from "../shared/capabilities.ts";
import { DOMAINS } from "../../domain/enums.ts";
import { AlteredError, ServiceError } from "../../domain/errors.ts";
import type { ListedCaseSet } from "../../exercises/answers.ts";
import { CASE_SETS_MAX } from "../../domain/limits.ts";
import { evidenceChain } from "../../evidence/chain_name.ts";
import { type Evidence, evidenceOfAppended } from "../../evidence/envelope.ts";
import type { EntryDraft } from "../../evidence/entry.ts";
import { type CaseSetAdded, caseSetAddedSchema, caseSetSha256 } from "../../evidence/exercises.ts";
import { builtInCaseSet } from "../../exercises/built_in.ts";
import { CASE_SET_LANGUAGES, type CaseSet, caseSetSchema } from "../../exercises/case_set.ts";
import { placesOfEvents } from "../../store/chains.ts";
import { readEvidence } from "../../store/proofs.ts";
import type { Call, Caller, OrganizationCaller } from "../shared/call.ts";
import { originOf } from "../shared/deployment.ts";
import { eventDraft } from "../shared/drafts.ts";
import { ownEpochs, readAtPositions } from "../shared/proven_records.ts";

/** The dependencies of these operations. */
type Needs = Reading & Proving & Writing;

/** A case set on the chain. */
export interface AddedCaseSet {
  readonly sha256: string;
  readonly set: CaseSet;
  readonly chain: string;
  readonly seq: number;
  /** ISO 8601. */
  readonly addedAt: string;
  /** Whether the organization added it; false for a set of the program that an exercise used. */
  readonly isOwn: boolean;
}

/** The case sets on an organization's chain, in the order in which they came; each version once. @throws {AlteredError} */
export async function addedCaseSets(dependencies: Needs, orgId: string): Promise<readonly AddedCaseSet[]> {
  const { crypto, database } = dependencies;
  const family = evidenceChain(orgId);
  const places = await placesOfEvents(database, { family, eventType: "CASE_SET_ADDED" });
  if (places.length === 0) return [];
  const epochs = await ownEpochs(dependencies, family);
  const found = await readAtPositions(dependencies, epochs, places.map(({ position }) => position));
  const added = new Map<string, AddedCaseSet>();
  for (const { chain, seq, position } of places) {
    const record = found.get(position);
    // It was pruned meanwhile.
    if (record === undefined) continue;
    const text = record.parts.get("detail")?.text;
    if (text === undefined) throw new AlteredError(chain, `a part of entry ${seq} of ${chain} is missing`);
    const detail = caseSetAddedSchema.safeParse(JSON.parse(text)).data;
    // An event of this name that the organization appended itself before it was reserved is no case set.
    const set = caseSetSchema.safeParse(detail?.case_set).data;
    if (detail === undefined || set === undefined) continue;
    if (caseSetSha256(crypto, set) !== detail.sha256) continue;
    const { actor, timestamp } = record.entry;
    const earlier = added.get(detail.sha256);
    // One that was added anew keeps its rank among the versions, and has the place that is kept longest.
    added.set(detail.sha256, {
      sha256: detail.sha256,
      set,
      chain,
      seq,
      addedAt: timestamp,
      isOwn: actor !== "system" || earlier?.isOwn === true,
    });
  }
  return [...added.values()];
}

/** The draft of the entry that adds a case set. */
export function caseSetDraft(
  { crypto, world }: Pick<Needs, "crypto" | "world">,
  { caller, set, now }: { readonly caller: Caller; readonly set: CaseSet; readonly now: number },
): EntryDraft {
  const detail = { sha256: caseSetSha256(crypto, set), case_set: set };
  return eventDraft(world, { type: "CASE_SET_ADDED", caller, now, detail });
}

/** A case set that was added, with what its entry records and the evidence of it. */
export interface CaseSetAnswer {
  readonly set: ListedCaseSet;
  readonly detail: CaseSetAdded;
  readonly evidence: Evidence;
}

/**
 * Adds a case set. The same document again changes nothing and gets the first entry.
 * @throws {ServiceError} CONFLICT if the organization has too many; {AlteredError}.
 */
export async function addCaseSet(
  dependencies: Needs,
  caller: OrganizationCaller,
  { set, call }: { readonly set: CaseSet; readonly call: Call },
): Promise<CaseSetAnswer> {
  const { crypto, writer } = dependencies;
  const { orgId } = caller;
  const sha256 = caseSetSha256(crypto, set);
  const builtIn = caseSetSha256(crypto, await builtInCaseSet(set.domain, set.language)) === sha256;
  const listedAt = (addedAt: string) => listed({ sha256, set, builtIn, addedAt });
  const added = await addedCaseSets(dependencies, orgId);
  const known = added.find((each) => each.sha256 === sha256);
  if (known !== undefined) {
    const { chain, seq } = known;
    const origin = originOf(dependencies, chain);
    const stored = await readEvidence(dependencies, { chain, origin, seq, covers: "detail" });
    return {
      set: listedAt(known.addedAt),
      detail: JSON.parse(stored!.text),
      evidence: stored!.evidence,
    };
  }
  if (added.filter(({ isOwn }) => isOwn).length >= CASE_SETS_MAX) {
    throw new ServiceError(
      "CONFLICT",
      `The organization has ${CASE_SETS_MAX} case sets, and may have no more: each version of a set counts.`,
    );
  }
  const chain = evidenceChain(orgId);
  const draft = caseSetDraft(dependencies, { caller, set, now: call.now });
  return await writer.submit<CaseSetAnswer>({
    needs: [],
    chains: [chain],
    plan(unit) {
      const appended = unit.append(chain, draft);
      return (receipts) => ({
        set: listedAt(appended.entry.timestamp),
        detail: { sha256, case_set: set },
        evidence: evidenceOfAppended(appended, { covers: "detail", proof: receipts.proofOf(appended) }),
      });
    },
  });
}

function listed({ sha256, set, builtIn, addedAt }: {
  readonly sha256: string;
  readonly set: CaseSet;
  readonly builtIn: boolean;
  readonly addedAt: string | null;
}): ListedCaseSet {
  return {
    name: set.name,
    sha256,
    domain: set.domain,
    language: set.language,
    title: set.title,
    cases: set.cases.length,
    wrong: set.cases.filter(({ ai_correct }) => !ai_correct).length,
    built_in: builtIn,
    added_at: addedAt,
  };
}

/** The program's own case sets by their hashes. */
export async function builtInCaseSets(
  { crypto }: Pick<Needs, "crypto">,
): Promise<ReadonlyMap<string, CaseSet>> {
  const sets = await Promise.all(
    DOMAINS.flatMap((domain) => CASE_SET_LANGUAGES.map((language) => builtInCaseSet(domain, language))),
  );
  return new Map(sets.map((set) => [caseSetSha256(crypto, set), set]));
}

/** All case sets that an exercise can use: the organization's own, the newest first, and those of the program. */
export async function listCaseSets(
  dependencies: Needs,
  { orgId }: OrganizationCaller,
): Promise<readonly ListedCaseSet[]> {
  const builtIn = await builtInCaseSets(dependencies);
  const added = (await addedCaseSets(dependencies, orgId)).toReversed();
  const known = new Set(added.map(({ sha256 }) => sha256));
  return [
    ...added.map((one) => listed({ ...one, builtIn: builtIn.has(one.sha256) })),
    ...[...builtIn].filter(([sha256]) => !known.has(sha256)).map(([sha256, set]) =>
      listed({ sha256, set, builtIn: true, addedAt: null })
    ),
  ];
}

/** The case set of a hash, whole. @throws {ServiceError} NOT_FOUND; {AlteredError}. */
export async function readCaseSet(
  dependencies: Needs,
  { orgId }: OrganizationCaller,
  sha256: string,
): Promise<CaseSet> {
  const added = (await addedCaseSets(dependencies, orgId)).find((each) => each.sha256 === sha256);
  const set = added?.set ?? (await builtInCaseSets(dependencies)).get(sha256);
  if (set !== undefined) return set;
  throw new ServiceError(
    "NOT_FOUND",
    `There is no case set with the hash ${sha256}: GET /v1/case-sets lists them.`,
  );
}
