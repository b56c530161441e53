/**
 * An organization's chains as it uses them: an event of its own, the newest checkpoint, the proof of one entry.
 * Source: contract, section 4; evidence design, "Read first", point 5.
 */
import type { ChainKind } from "../domain/audit.ts";
import { ServiceError } from "../domain/errors.ts";
import { hex } from "../evidence/crypto.ts";
import type { Entry } from "../evidence/entry.ts";
import { type Evidence, evidenceOfAppended, formatProof } from "../evidence/envelope.ts";
import { storedNodeIndex } from "../evidence/merkle.ts";
import { parseCheckpoint, parseNote } from "../evidence/note.ts";
import { newestCheckpoint, readInclusions, readNodes } from "../store/chains.ts";
import { headOf } from "./chains.ts";
import {
  adminChain,
  type Call,
  type Dependencies,
  drawSalt,
  evidenceChain,
  makePart,
  type OrganizationCaller,
} from "./dependencies.ts";

export interface AppendedEvent {
  readonly event_id: string;
  readonly seq: number;
  readonly entry_hash: string;
  readonly entry: Entry;
  /** The payload, which the evidence covers. */
  readonly detail: Record<string, unknown>;
  readonly evidence: Evidence;
}

/** Appends an event of the organization's own to its evidence chain. @throws {ServiceError} SERVICE_UNAVAILABLE. */
export async function appendEvent(
  { world, writer }: Dependencies,
  { orgId, prefix }: OrganizationCaller,
  { eventType, payload, call }: {
    /** Not one of the service's own. */
    readonly eventType: string;
    readonly payload: Record<string, unknown>;
    readonly call: Call;
  },
): Promise<AppendedEvent> {
  const chain = evidenceChain(orgId);
  const id = world.ulid(call.now);
  const part = makePart("detail", drawSalt(world), payload);
  return await writer.submit({
    needs: [],
    chains: [chain],
    plan(unit) {
      const appended = unit.append(chain, {
        id,
        actor: "self_serve",
        eventType,
        orgId,
        prefix,
        subject: null,
        at: call.now,
        parts: [part],
      });
      const { entry, hash } = appended;
      return (receipts) => ({
        event_id: id,
        seq: entry.seq,
        entry_hash: hex(hash),
        entry,
        detail: JSON.parse(part.text),
        evidence: evidenceOfAppended(appended, { covers: "detail", proof: receipts.proofOf(appended) }),
      });
    },
  });
}

export function familyOf({ orgId }: OrganizationCaller, kind: ChainKind): string {
  return kind === "evidence" ? evidenceChain(orgId) : adminChain(orgId);
}

/** A checkpoint as it is told. */
export function shownCheckpoint(note: string) {
  const { origin, size, root } = parseCheckpoint(parseNote(note).text);
  return { origin, size, root: hex(root), note };
}

/** The newest checkpoint of one of the organization's chains. */
export async function currentCheckpoint(
  dependencies: Dependencies,
  caller: OrganizationCaller,
  kind: ChainKind,
) {
  const { chain } = await headOf(dependencies, familyOf(caller, kind));
  const checkpoint = await newestCheckpoint(dependencies.database, chain);
  if (checkpoint === null) throw new Error(`${chain} has no checkpoint`);
  return shownCheckpoint(checkpoint.note);
}

/** Proof that an entry stands under the newest checkpoint, of a pruned entry too. @throws {ServiceError} NOT_FOUND. */
export async function proofOfEntry(
  { database, crypto }: Dependencies,
  caller: OrganizationCaller,
  { kind, seq }: { readonly kind: ChainKind; readonly seq: number },
) {
  const { chain } = await headOf({ database }, familyOf(caller, kind));
  const checkpoint = await newestCheckpoint(database, chain);
  if (checkpoint === null || seq >= checkpoint.size) {
    throw new ServiceError(
      "NOT_FOUND",
      `There is no entry ${seq}: the chain has entries 0 to ${(checkpoint?.size ?? 0) - 1}.`,
    );
  }
  const leaf = storedNodeIndex(0, seq);
  const nodes = await readNodes(database, { chain, indexes: [leaf] });
  const inclusions = await readInclusions(database, crypto, { chain, seqs: [seq], checkpoint });
  return { seq, entry_hash: hex(nodes.get(leaf)!), proof: formatProof(inclusions.get(seq)!) };
}
