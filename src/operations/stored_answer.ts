/** Answers with evidence: fresh from a commit, and given again, rebuilt from the entry, its parts and its checkpoint. */
import type { AppendedEntry } from "../evidence/entry.ts";
import { type Evidence, evidenceOfAppended } from "../evidence/envelope.ts";
import { checkpointOfCommit, readEvidence } from "../store/chains.ts";
import type { Receipts } from "../store/writer.ts";
import { type Call, type Dependencies, evidenceChain } from "./dependencies.ts";

/** An answer with its evidence, and the call whose id and instant it carries. */
export interface EvidencedAnswer {
  readonly body: Record<string, unknown> & { readonly evidence: Evidence };
  /** Of the call that was answered first, where this one repeats it. */
  readonly call: Call;
  readonly replayed: boolean;
}

/** A result with the evidence of the entry that it came with. */
export function freshBody(
  result: Record<string, unknown>,
  { appended, receipts }: { readonly appended: AppendedEntry; readonly receipts: Receipts },
): EvidencedAnswer["body"] {
  const evidence = evidenceOfAppended(appended, { covers: "result", proof: receipts.proofOf(appended) });
  return { ...result, evidence };
}

/** Where an answer lies, and which call it was given to. */
export interface StoredAnswer {
  readonly seq: number;
  readonly at: number;
  readonly request_id: string;
}

/** The answer that was given first: the same members with the same values. */
export async function storedAnswer(
  { database, crypto }: Dependencies,
  orgId: string,
  { seq, at, request_id }: StoredAnswer,
): Promise<EvidencedAnswer> {
  const chain = evidenceChain(orgId);
  const checkpoint = await checkpointOfCommit(database, { chain, seq });
  const stored = checkpoint &&
    await readEvidence(database, crypto, { chain, seq, covers: "result", checkpoint });
  if (stored === null) throw new Error(`entry ${seq} of ${chain} has no stored answer`);
  return {
    body: { ...stored.data, evidence: stored.evidence },
    call: { now: at, requestId: request_id },
    replayed: true,
  };
}
