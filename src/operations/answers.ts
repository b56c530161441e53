/**
 * Answers with evidence, each to a request that is safe to repeat: fresh from a commit, or the one that was given
 * before, rebuilt from the entry, its parts and the checkpoint of its own commit.
 */
import { evidenceOfAppended } from "../evidence/envelope.ts";
import { checkpointOfCommit, readEvidence } from "../store/chains.ts";
import type { Need, PlacedEntry, UnitOfWork } from "../store/unit_of_work.ts";
import type { WriteJob } from "../store/writer.ts";
import { type Call, type Dependencies, evidenceChain } from "./dependencies.ts";
import { placeOfRecord } from "./gone.ts";

/** An answer with its evidence, and the call whose id and instant it carries. */
export interface EvidencedAnswer {
  /** JSON of an object: the members of the entry's result, then `evidence`. */
  readonly json: string;
  /** Of the call that was answered first, where this one repeats it. */
  readonly call: Call;
  readonly replayed: boolean;
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
  dependencies: Dependencies,
  orgId: string,
  { call, needs, plan }: {
    readonly call: Call;
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
  return await heldAnswer(async () => {
    const outcome = await dependencies.writer.submit(job);
    if ("json" in outcome) return { json: outcome.json, call, replayed: false };
    const stored = await storedAnswer(dependencies, orgId, outcome.stored);
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
 * @throws as the attempt does.
 */
export async function heldAnswer<Answer>(attempt: () => Promise<Answer | null>): Promise<Answer> {
  const answer = await attempt() ?? await attempt();
  if (answer === null) throw new Error("an answer that stands is not held");
  return answer;
}

type Outcome = Pick<EvidencedAnswer, "json"> | Extract<PlannedAnswer, { readonly stored: StoredAnswer }>;

/**
 * The answer that was given first, byte for byte: both are read from the part's canonical text. null where it is not
 * held any more.
 */
export async function storedAnswer(
  dependencies: Dependencies,
  orgId: string,
  { position, at, request_id }: StoredAnswer,
): Promise<Pick<EvidencedAnswer, "json" | "call"> | null> {
  const { database, crypto } = dependencies;
  const { chain, seq } = await placeOfRecord(dependencies, { orgId, position });
  const checkpoint = await checkpointOfCommit(database, { chain, seq });
  const stored = checkpoint &&
    await readEvidence(database, crypto, { chain, seq, covers: "result", checkpoint });
  return stored && {
    json: withMembers(stored.text, { evidence: stored.evidence }),
    call: { now: at, requestId: request_id },
  };
}
