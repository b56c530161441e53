/**
 * Seals probes: the truth of each is committed to before any reviewer can see the case, and nothing can be read from
 * the commitment. Source: evidence-format.md, section 11.
 */
import type { Proving, Reading, Writing } from "../shared/capabilities.ts";
import type { Domain, ProbeStakes, ProbeState } from "../../domain/enums.ts";
import { AlteredError, ServiceError } from "../../domain/errors.ts";
import { PROBES_SEALED_MAX } from "../../domain/limits.ts";
import { evidenceChain } from "../../evidence/chain_name.ts";
import { hex } from "../../evidence/crypto.ts";
import { probeCommitment } from "../../evidence/probes.ts";
import { probeSalt } from "../../keys/probe_secrets.ts";
import { type ProbeRow, probes, probeStocks, sealedCounts } from "../../store/probes.ts";
import { readEvidence } from "../../store/proofs.ts";
import type { UnitOfWork } from "../../store/unit_of_work.ts";
import type { Call, OrganizationCaller } from "../shared/call.ts";
import { originOf } from "../shared/deployment.ts";
import { placeOfRecord } from "../shared/gone.ts";
import type { IdempotentCall } from "../shared/idempotency.ts";
import {
  KeyedCall,
  pastRetentionError,
  type RepeatableAnswer,
  requireSameId,
} from "../shared/keyed_calls.ts";
import { drawEntry, type DrawnEntry, probeEntry } from "./entries.ts";

/** The dependencies of these operations. */
type Needs = Reading & Proving & Writing;

/** A probe to be sealed; `probe_id` is null if the service is to name it. */
export interface SentProbe {
  readonly probe_id: string | null;
  readonly domain: Domain;
  readonly stakes: ProbeStakes;
  readonly ai_correct: boolean;
  readonly reference: string | null;
}

export interface SealedProbe {
  readonly probe_id: string;
  readonly domain: string;
  readonly stakes: string;
  readonly state: ProbeState;
  readonly sealed_at: string;
  readonly commitment: string;
}

/** Probes to be sealed by one call. */
interface Sealing {
  readonly sent: readonly SentProbe[];
  readonly call: Call;
  readonly idempotency: IdempotentCall | null;
}

/** The rows of sealed probes, and the call that sealed them. */
interface SealedRows {
  readonly rows: readonly ProbeRow[];
  readonly call: Call;
  readonly replayed: boolean;
}

/** The one probe of a call, with the evidence that it was sealed. @throws as {@link sealRows}. */
export async function sealProbe(
  dependencies: Needs,
  caller: OrganizationCaller,
  { sent, ...rest }: Omit<Sealing, "sent"> & { readonly sent: SentProbe },
): Promise<RepeatableAnswer> {
  const { rows: [row], ...answer } = await sealRows(dependencies, caller, { sent: [sent], ...rest });
  const { orgId } = caller;
  const { chain, seq } = await placeOfRecord(dependencies, { orgId, position: row!.position });
  const origin = originOf(dependencies, chain);
  const stored = await readEvidence(dependencies, { chain, origin, seq, covers: "detail" });
  if (stored?.evidence.entry.event_type !== "PROBE_SEALED") {
    throw new AlteredError(chain, `entry ${seq} of ${chain} is not the seal of a probe`);
  }
  return {
    body: { ...sealedBody(row!), detail: JSON.parse(stored.text), evidence: stored.evidence },
    ...answer,
  };
}

/** @throws as {@link sealRows}. */
export async function sealProbes(
  dependencies: Needs,
  caller: OrganizationCaller,
  sealing: Sealing,
): Promise<RepeatableAnswer> {
  const { rows, ...answer } = await sealRows(dependencies, caller, sealing);
  return { body: { probes: rows.map(sealedBody), count: rows.length }, ...answer };
}

/**
 * Seals probes, all of them or none. A name that is used is refused whatever is sent with it: otherwise whoever guesses
 * the truth of a sealed probe could learn it from the answer. A call with an Idempotency-Key can be repeated.
 * @throws {ServiceError} CONFLICT if a `probe_id` was used, or too many are sealed; IDEMPOTENCY_KEY_REUSED; GONE.
 */
async function sealRows(
  dependencies: Needs,
  caller: OrganizationCaller,
  { sent, call, idempotency }: Sealing,
): Promise<SealedRows> {
  const { installation, world } = dependencies;
  const { orgId } = caller;
  const keyed = new KeyedCall(installation, { orgId, idempotency, request: { probes: sent }, call });
  const isNamed = sent.every(({ probe_id }) => probe_id !== null);
  return await keyed.runUnderOneId(
    { given: isNamed ? "" : null, draw: () => world.ulid(call.now) },
    (drawn) => {
      const named = sent.map((probe, index) => ({
        ...probe,
        probe_id: probe.probe_id ?? (sent.length === 1 ? drawn : `${drawn}-${index + 1}`),
      }));
      return sealUnderNames(dependencies, caller, { named, drawn: isNamed ? null : drawn, call, keyed });
    },
  );
}

async function sealUnderNames(
  { crypto, installation, world, writer }: Needs,
  caller: OrganizationCaller,
  { named, drawn, call, keyed }: {
    readonly named: readonly (SentProbe & { readonly probe_id: string })[];
    /** The beginning of the names that the service drew; null if it drew none. */
    readonly drawn: string | null;
    readonly call: Call;
    readonly keyed: KeyedCall;
  },
): Promise<SealedRows> {
  const { orgId } = caller;
  const prepared = named.map((probe) => ({
    probe,
    drawn: drawEntry(world, call.now),
    commitment: probeCommitment(crypto, probeSalt(installation.key, orgId, probe.probe_id), probe),
  }));
  return await writer.submit<SealedRows>({
    needs: [
      { kind: sealedCounts, key: [orgId] },
      ...named.flatMap(({ probe_id, domain, stakes }) => [
        { kind: probes, key: [orgId, probe_id] },
        { kind: probeStocks, key: [orgId, domain, stakes] },
      ]),
      ...keyed.needs,
    ],
    chains: [evidenceChain(orgId)],
    plan(unit) {
      const known = keyed.findEarlier(unit);
      if (known !== null) {
        requireSameId(known, drawn ?? "");
        const rows = named.map(({ probe_id }) => unit.get(probes, [orgId, probe_id]));
        if (!rows.every((row) => row !== null)) throw pastRetentionError();
        return () => ({ rows, call: known.call, replayed: true });
      }
      keyed.remember(unit, { reference: drawn });
      const rows = prepared.map((each) => planSeal(unit, { caller, call, ...each }));
      addToStocks(unit, orgId, rows);
      return () => ({ rows, call, replayed: false });
    },
  });
}

function planSeal(
  unit: UnitOfWork,
  { caller, call, probe, drawn, commitment }: {
    readonly caller: OrganizationCaller;
    readonly call: Call;
    readonly probe: SentProbe & { readonly probe_id: string };
    readonly drawn: DrawnEntry;
    readonly commitment: string;
  },
): ProbeRow {
  const { orgId } = caller;
  const { probe_id, domain, stakes, reference } = probe;
  if (unit.get(probes, [orgId, probe_id]) !== null) {
    throw new ServiceError(
      "CONFLICT",
      `probe_id ${probe_id} was used, and a sealed probe cannot be changed: use a new probe_id. A call that can be repeated carries an Idempotency-Key.`,
    );
  }
  const { position } = unit.append(
    evidenceChain(orgId),
    probeEntry(drawn, {
      event: "PROBE_SEALED",
      caller,
      now: call.now,
      content: { probe_id, domain, stakes, commitment },
    }),
  );
  const row: ProbeRow = {
    org_id: orgId,
    probe_id,
    position,
    request_id: call.requestId,
    at: call.now,
    domain,
    stakes,
    commitment,
    reference,
    state: "sealed",
    drawn_at: null,
    expires_at: null,
    closed_position: null,
    closed_at: null,
    ai_correct: null,
    departed: null,
  };
  unit.put(probes, row);
  return row;
}

/** Adds sealed probes to the stocks that they can be drawn from. @throws {ServiceError} CONFLICT if there were too many. */
function addToStocks(unit: UnitOfWork, orgId: string, rows: readonly ProbeRow[]): void {
  const { count } = unit.get(sealedCounts, [orgId])!;
  if (count + rows.length > PROBES_SEALED_MAX) {
    throw new ServiceError(
      "CONFLICT",
      `There are ${count} sealed probes that nobody was shown yet, and an organization may have ${PROBES_SEALED_MAX}: recall some first.`,
    );
  }
  unit.put(sealedCounts, { org_id: orgId, count: count + rows.length });
  for (const own of Map.groupBy(rows, ({ domain, stakes }) => `${domain} ${stakes}`).values()) {
    const { domain, stakes } = own[0]!;
    const stock = unit.get(probeStocks, [orgId, domain, stakes])!;
    const ids: readonly string[] = JSON.parse(stock.ids);
    unit.put(probeStocks, {
      ...stock,
      ids: JSON.stringify([...ids, ...own.map(({ probe_id }) => probe_id)]),
    });
  }
}

function sealedBody({ probe_id, domain, stakes, state, at, commitment }: ProbeRow): SealedProbe {
  return {
    probe_id,
    domain,
    stakes,
    state: state as ProbeState,
    sealed_at: new Date(at).toISOString(),
    commitment,
  };
}

/** The hidden part of a seal. */
export interface OpenedSeal {
  readonly salt: string;
  readonly ai_correct: boolean;
  readonly reference: string | null;
}

/**
 * Opens a seal. The row does not hold the truth: it is the one of two that gives the sealed commitment.
 * @throws {AlteredError} if neither does.
 */
export function openSeal(
  { crypto, installation }: Pick<Proving, "crypto" | "installation">,
  { org_id, probe_id, reference, commitment }: ProbeRow,
): OpenedSeal {
  const salt = probeSalt(installation.key, org_id, probe_id);
  const ai_correct = [true, false].find((ai_correct) =>
    probeCommitment(crypto, salt, { probe_id, ai_correct, reference }) === commitment
  );
  if (ai_correct === undefined) {
    throw new AlteredError(
      evidenceChain(org_id),
      `the seal of a probe of ${evidenceChain(org_id)} does not open`,
    );
  }
  return { salt: hex(salt), ai_correct, reference };
}
