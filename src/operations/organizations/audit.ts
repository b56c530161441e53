/**
 * An organization's calls on its own chains: append an event, read the newest checkpoint, prove one entry.
 * Source: contract, section 4; evidence design, "Read first", point 5.
 */
import type { Proving, Reading, Writing } from "../shared/capabilities.ts";
import type { ChainKind } from "../../domain/audit.ts";
import { AlteredError, ServiceError } from "../../domain/errors.ts";
import { hex } from "../../evidence/crypto.ts";
import type { Entry } from "../../evidence/entry.ts";
import { type Evidence, evidenceOfAppended, formatProof } from "../../evidence/envelope.ts";
import { parseCheckpoint, parseNote } from "../../evidence/note.ts";
import { readEntry, requireIntact } from "../../store/chains.ts";
import {
  leafHash,
  type NamedChain,
  newestOwnCheckpoint,
  proveHashes,
  readEvidence,
} from "../../store/proofs.ts";
import { headOf } from "../chains/chains.ts";
import { originOf } from "../shared/deployment.ts";
import { drawSalt, makePart } from "../shared/drafts.ts";
import type { Call, OrganizationCaller } from "../shared/call.ts";
import { adminChain, evidenceChain } from "../../evidence/chain_name.ts";
import { placeOfRecord } from "../shared/gone.ts";
import type { IdempotentCall } from "../shared/idempotency.ts";
import { KeyedCall, type KnownCall } from "../shared/keyed_calls.ts";

/** The dependencies of these operations. */
type Needs = Reading & Proving & Writing;

/** An event that was appended, with its evidence. */
interface AppendedEvent {
  readonly event_id: string;
  readonly seq: number;
  readonly entry_hash: string;
  readonly entry: Entry;
  /** The payload, which the evidence covers. */
  readonly detail: Record<string, unknown>;
  readonly evidence: Evidence;
}

export interface AppendAnswer {
  readonly event: AppendedEvent;
  readonly call: Call;
  readonly replayed: boolean;
}

interface AppendRequest {
  /** Not one of the service's own event types. */
  readonly eventType: string;
  readonly payload: Record<string, unknown>;
  readonly call: Call;
  readonly idempotency?: IdempotentCall | null;
}

/**
 * Appends an event of the organization's own to its evidence chain.
 * @throws {ServiceError} IDEMPOTENCY_KEY_REUSED; GONE if the event of a repeated call was pruned;
 *   SERVICE_UNAVAILABLE.
 */
export async function appendEvent(
  dependencies: Needs,
  { orgId, prefix }: OrganizationCaller,
  { eventType, payload, call, idempotency = null }: AppendRequest,
): Promise<AppendAnswer> {
  const { world, writer, installation } = dependencies;
  const chain = evidenceChain(orgId);
  const id = world.ulid(call.now);
  const part = makePart("detail", drawSalt(world), payload);
  const keyed = new KeyedCall(installation, {
    orgId,
    idempotency,
    request: { event_type: eventType, payload },
    call,
  });
  const outcome = await writer.submit<AppendedEvent | { readonly known: KnownCall }>({
    needs: keyed.needs,
    chains: [chain],
    plan(unit) {
      const known = keyed.findEarlier(unit);
      if (known !== null) return () => ({ known });
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
      keyed.remember(unit, { reference: String(appended.position) });
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
  if (!("known" in outcome)) return { event: outcome, call, replayed: false };
  const { reference, call: first } = outcome.known;
  const event = await readAppendedEvent(dependencies, orgId, {
    position: Number(reference),
    eventType,
    payload: part.text,
  });
  return { event, call: first, replayed: true };
}

/**
 * The event at a position. It must be the event of the repeated call: a row alone does not prove what was
 * appended.
 * @throws {ServiceError} GONE if it was pruned; {AlteredError} if the entry is another one, or not what was
 *   recorded.
 */
async function readAppendedEvent(
  dependencies: Needs,
  orgId: string,
  { position, eventType, payload }: {
    readonly position: number;
    readonly eventType: string;
    /** Canonical JSON. */
    readonly payload: string;
  },
): Promise<AppendedEvent> {
  const { chain, seq } = await placeOfRecord(dependencies, { orgId, position });
  const origin = originOf(dependencies, chain);
  const stored = await readEvidence(dependencies, { chain, origin, seq, covers: "detail" });
  const entry = stored?.evidence.entry;
  if (!stored || entry?.event_type !== eventType || stored.text !== payload) {
    throw new AlteredError(chain, `entry ${seq} of ${chain} is not the event that a keyed call appended`);
  }
  return {
    event_id: entry.id,
    seq,
    entry_hash: stored.evidence.entry_hash,
    entry,
    detail: JSON.parse(stored.text),
    evidence: stored.evidence,
  };
}

export function familyOf({ orgId }: OrganizationCaller, kind: ChainKind): string {
  return kind === "evidence" ? evidenceChain(orgId) : adminChain(orgId);
}

/** A checkpoint as an answer shows it. */
export function checkpointBody(note: string) {
  const { origin, size, root } = parseCheckpoint(parseNote(note).text);
  return { origin, size, root: hex(root), note };
}

/** The newest checkpoint of one of the organization's chains. @throws as {@link readNewestEnd}. */
export async function currentCheckpoint(
  dependencies: Needs,
  caller: OrganizationCaller,
  kind: ChainKind,
) {
  const { checkpoint: { note } } = await readNewestEnd(dependencies, familyOf(caller, kind));
  return checkpointBody(note);
}

/**
 * The newest chain of a family, and its newest checkpoint.
 * @throws {AlteredError} if the checkpoint is not the service's own, or an older one; {ServiceError} SERVICE_UNAVAILABLE
 *   if the chain is behind what was issued.
 */
async function readNewestEnd(dependencies: Needs, family: string) {
  const { lock } = dependencies;
  // The lock is read first. It is never ahead of the database, so a write by another process makes nothing
  // look old.
  const issued = lock.issuedOf([family]);
  const head = await headOf(dependencies, family);
  lock.requireCurrent(issued, [head]);
  const { chain, frontier: { size } } = head;
  const place: NamedChain = { chain, origin: originOf(dependencies, chain) };
  const checkpoint = await newestOwnCheckpoint(dependencies, place);
  if (checkpoint.size < size) throw new AlteredError(chain, `the newest checkpoint of ${chain} is missing`);
  return { chain, checkpoint };
}

/**
 * The proof that an entry stands under the newest checkpoint; a pruned entry has one too.
 * @throws {ServiceError} NOT_FOUND; {AlteredError} if the tree or the entry is not what was signed.
 */
export async function proofOfEntry(
  dependencies: Needs,
  caller: OrganizationCaller,
  { kind, seq }: { readonly kind: ChainKind; readonly seq: number },
) {
  const { database, crypto } = dependencies;
  const { chain, checkpoint } = await readNewestEnd(dependencies, familyOf(caller, kind));
  if (seq >= checkpoint.size) {
    throw new ServiceError(
      "NOT_FOUND",
      `There is no entry ${seq}: the chain has entries 0 to ${checkpoint.size - 1}.`,
    );
  }
  const stored = await readEntry(database, { chain, seq });
  if (stored !== null) requireIntact(crypto, stored);
  const hash = stored?.hash ?? await leafHash(database, { chain, seq });
  if (hash === null) throw new AlteredError(chain, `the hash of entry ${seq} of ${chain} is missing`);
  const proofs = await proveHashes(dependencies, { chain, hashes: new Map([[seq, hash]]), checkpoint });
  return { seq, entry_hash: hex(hash), proof: formatProof(proofs.get(seq)!) };
}
