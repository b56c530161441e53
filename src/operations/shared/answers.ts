/**
 * Answers with evidence, each to a request that is safe to repeat: fresh from a commit, or the one that was given
 * before, rebuilt from the entry, its parts and the checkpoint of its own commit.
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
import { placeOfRecord, provingGone } from "./gone.ts";

/** What these operations need. */
type Needs = Proving & Writing;

/** An answer with its evidence, and the call whose id and instant it carries. */
export interface EvidencedAnswer {
  /** JSON of an object: the members of the entry's result, then `evidence`. */
  readonly json: string;
  /** Of the call that was answered first, where this one repeats it. */
  readonly call: Call;
  readonly replayed: boolean;
}

/** What is asked for: a row says where it lies, and the record itself must say that it is that. */
export interface Asked {
  /** Types of the entries that can hold it. */
  readonly events: readonly string[];
  /** Members that its result must have, and their values. */
  readonly members: Readonly<Record<string, string | boolean>>;
}

/** Where an answer lies, and which call it was given to. */
export interface StoredAnswer {
  /** Over all epochs of the chain. */
  readonly position: number;
  readonly at: number;
  readonly request_id: string;
}

/** A new entry, or an answer that stands; `replayed` is false where the plan wrote something beside it. */
export type PlannedAnswer =
  | { readonly appended: PlacedEntry }
  | { readonly stored: StoredAnswer; readonly replayed: boolean };

/** Plans on the organization's evidence chain and answers, once it is durable, with what was planned. */
export async function answerOnce(
  dependencies: Needs,
  orgId: string,
  { call, asked, needs, plan }: {
    readonly call: Call;
    /** What an answer that stands must be. */
    readonly asked: Asked;
    readonly needs: readonly Need[];
    /** As of a write job: pure, throws to change nothing. */
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
  return await heldAnswer(dependencies, orgId, async () => {
    const outcome = await dependencies.writer.submit(job);
    if ("json" in outcome) return { json: outcome.json, call, replayed: false };
    const stored = await storedAnswer(dependencies, orgId, { stored: outcome.stored, asked });
    return stored && { ...stored, replayed: outcome.replayed };
  });
}

/** Adds members, of other names, behind those of an object that is written already; it has one at least. */
export function withMembers(json: string, members: Readonly<Record<string, unknown>>): string {
  return `${json.slice(0, -1)},${JSON.stringify(members).slice(1)}`;
}

/**
 * What an attempt answers. It has no answer (null) where the one that stands was erased while it was looked up: the
 * next attempt finds it gone, and says so.
 * @throws as the attempt does; {AlteredError} where it says that something is gone of which the chain does not tell.
 */
export async function heldAnswer<Answer>(
  dependencies: Needs,
  orgId: string,
  attempt: () => Promise<Answer | null>,
): Promise<Answer> {
  const proven = () => provingGone(dependencies, orgId, attempt);
  const answer = await proven() ?? await proven();
  if (answer === null) throw new Error("an answer that stands is not held");
  return answer;
}

type Outcome = Pick<EvidencedAnswer, "json"> | Extract<PlannedAnswer, { readonly stored: StoredAnswer }>;

/**
 * The answer that was given first, byte for byte: both are read from the part's canonical text. null where it is not
 * held any more.
 * @throws {AlteredError} where it is not what was signed, or not what is asked for.
 */
export async function storedAnswer(
  dependencies: Needs,
  orgId: string,
  { stored: { position, at, request_id }, asked }: {
    readonly stored: StoredAnswer;
    readonly asked: Asked;
  },
): Promise<Pick<EvidencedAnswer, "json" | "call"> | null> {
  const { chain, seq } = await placeOfRecord(dependencies, { orgId, position });
  const origin = originOf(dependencies, chain);
  const found = await readEvidence(dependencies, { chain, origin, seq, covers: "result" });
  if (found === null) return null;
  requireAsked(found, asked);
  return {
    json: withMembers(found.text, { evidence: found.evidence }),
    call: { now: at, requestId: request_id },
  };
}

/** @throws {AlteredError} where what a row led to is another record. */
export function requireAsked(
  { stored: { entry }, text }: Pick<StoredEvidence, "stored" | "text">,
  { events, members }: Asked,
): void {
  const data: Record<string, unknown> = JSON.parse(text);
  const isAsked = events.includes(entry.event_type) &&
    Object.entries(members).every(([name, value]) => data[name] === value);
  if (isAsked) return;
  throw new AlteredError(
    entry.chain,
    `a row leads to entry ${entry.seq} of ${entry.chain}, which is another record than its own`,
  );
}
