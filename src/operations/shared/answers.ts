/**
 * Answers with evidence, each to a request that is safe to repeat. An answer comes fresh from a commit, or it
 * is the answer that was given before, rebuilt from the entry, its parts and the checkpoint of the entry's
 * own commit.
 */
import type { Proving, Writing } from "./capabilities.ts";
import { evidenceOfAppended } from "../../evidence/envelope.ts";
import { AlteredError } from "../../domain/errors.ts";
import { readEvidence, type StoredEvidence } from "../../store/proofs.ts";
import type { Need, PlacedEntry, UnitOfWork } from "../../store/unit_of_work.ts";
import type { WriteJob } from "../../store/writer.ts";
import { originOf } from "./deployment.ts";
import type { Call } from "./call.ts";
import { evidenceChain } from "../../evidence/chain_name.ts";
import { placeOfRecord, verifyingGone } from "./gone.ts";

/** The dependencies of these operations. */
type Needs = Proving & Writing;

/** An answer with its evidence, and the call whose id and instant it carries. */
export interface EvidencedAnswer {
  /** JSON of an object: the members of the entry's result, then `evidence`. */
  readonly json: string;
  /** This call, or the call that was answered first if this one repeats it. */
  readonly call: Call;
  readonly replayed: boolean;
}

/**
 * The requested record. A row gives its position; the record itself must show that it is the requested one.
 */
export interface ExpectedRecord {
  /** Event types of the entries that can hold it. */
  readonly events: readonly string[];
  /** Members that its result must have, and their values. */
  readonly members: Readonly<Record<string, string | boolean>>;
}

/** The position of an answer in the chain, and the call that it was given to. */
export interface StoredAnswer {
  /** Counted over all epochs of the chain. */
  readonly position: number;
  readonly at: number;
  readonly request_id: string;
}

/** A new entry, or a stored answer; `replayed` is false if the plan also wrote something else. */
export type PlannedAnswer =
  | { readonly appended: PlacedEntry }
  | { readonly stored: StoredAnswer; readonly replayed: boolean };

/** Plans on the organization's evidence chain, and returns the planned answer once it is durable. */
export async function answerOnce(
  dependencies: Needs,
  orgId: string,
  { call, expected, needs, plan }: {
    readonly call: Call;
    /** The record that a stored answer must be. */
    readonly expected: ExpectedRecord;
    readonly needs: readonly Need[];
    /** A write job's plan: it is pure, and throws if nothing is to change. */
    plan(unit: UnitOfWork): PlannedAnswer;
  },
): Promise<EvidencedAnswer> {
  const job: WriteJob<Outcome> = {
    needs,
    chains: [evidenceChain(orgId)],
    plan(unit) {
      const planned = plan(unit);
      if ("stored" in planned) return () => planned;
      const { appended } = planned;
      return (receipts) => {
        const evidence = evidenceOfAppended(appended, {
          covers: "result",
          proof: receipts.proofOf(appended),
        });
        const { text } = appended.parts.find(({ name }) => name === "result")!;
        return { json: withMembers(text, { evidence }) };
      };
    },
  };
  return await answerUnlessGone(dependencies, orgId, async () => {
    const outcome = await dependencies.writer.submit(job);
    if ("json" in outcome) return { json: outcome.json, call, replayed: false };
    const stored = await readStoredAnswer(dependencies, orgId, { stored: outcome.stored, expected });
    return stored && { ...stored, replayed: outcome.replayed };
  });
}

/** Adds members to the JSON of an object that has at least one member; the names must be new to it. */
export function withMembers(json: string, members: Readonly<Record<string, unknown>>): string {
  return `${json.slice(0, -1)},${JSON.stringify(members).slice(1)}`;
}

/**
 * Returns the answer of an attempt. An attempt returns null if the stored answer was erased during the
 * look-up: it is run once more, finds the answer gone, and throws that.
 * @throws as the attempt does; {AlteredError} if the attempt throws GONE and no entry of the chain gives the
 *   reason.
 */
export async function answerUnlessGone<Answer>(
  dependencies: Needs,
  orgId: string,
  attempt: () => Promise<Answer | null>,
): Promise<Answer> {
  const attemptProven = () => verifyingGone(dependencies, orgId, attempt);
  const answer = await attemptProven() ?? await attemptProven();
  if (answer === null) throw new Error("a stored answer is no longer held");
  return answer;
}

type Outcome = Pick<EvidencedAnswer, "json"> | Extract<PlannedAnswer, { readonly stored: StoredAnswer }>;

/**
 * The answer that was given first, byte for byte: both are made from the part's canonical text. null if it is
 * no longer held.
 * @throws {AlteredError} if it is not what was signed, or not the requested record.
 */
export async function readStoredAnswer(
  dependencies: Needs,
  orgId: string,
  { stored: { position, at, request_id }, expected }: {
    readonly stored: StoredAnswer;
    readonly expected: ExpectedRecord;
  },
): Promise<Pick<EvidencedAnswer, "json" | "call"> | null> {
  const { chain, seq } = await placeOfRecord(dependencies, { orgId, position });
  const origin = originOf(dependencies, chain);
  const found = await readEvidence(dependencies, { chain, origin, seq, covers: "result" });
  if (found === null) return null;
  requireExpected(found, expected);
  return {
    json: withMembers(found.text, { evidence: found.evidence }),
    call: { now: at, requestId: request_id },
  };
}

/** @throws {AlteredError} if a row led to another record than its own. */
export function requireExpected(
  { stored: { entry }, text }: Pick<StoredEvidence, "stored" | "text">,
  { events, members }: ExpectedRecord,
): void {
  const data: Record<string, unknown> = JSON.parse(text);
  const isExpected = events.includes(entry.event_type) &&
    Object.entries(members).every(([name, value]) => data[name] === value);
  if (isExpected) return;
  throw new AlteredError(
    entry.chain,
    `a row leads to entry ${entry.seq} of ${entry.chain}, which is another record than its own`,
  );
}
