/**
 * Seals probes: the truth of each is committed to before any reviewer can see the case, and nothing can be read from
 * the commitment. Source: evidence-format.md, section 11.
 */
import type { Proving, Reading, Writing } from "../shared/capabilities.ts";
import type { Domain, ProbeStakes, ProbeState } from "../../domain/enums.ts";
import { AlteredError, ServiceError } from "../../domain/errors.ts";
import { PROBES_SEALED_MAX } from "../../domain/limits.ts";
import { canonicalJson } from "../../evidence/canonical.ts";
import { evidenceChain } from "../../evidence/chain_name.ts";
import { equalBytes, hex } from "../../evidence/crypto.ts";
import type { Evidence } from "../../evidence/envelope.ts";
import { probeCommitment } from "../../evidence/probes.ts";
import { probeSalt } from "../../keys/probe_secrets.ts";
import { requestDigest } from "../../keys/secrets.ts";
import { type ProbeRow, probes, probeStocks, sealedCounts } from "../../store/probes.ts";
import { readEvidence } from "../../store/proofs.ts";
import type { Call, OrganizationCaller } from "../shared/call.ts";
import { originOf } from "../shared/deployment.ts";
import { placeOfRecord } from "../shared/gone.ts";
import { drawEntry, probeEntry } from "./entries.ts";

/** The dependencies of these operations. */
type Needs = Reading & Proving & Writing;

/** A probe to be sealed. */
export interface SentProbe {
  readonly probe_id: string;
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

/** The one probe of a call, with the evidence that it was sealed. */
export async function sealProbe(
  dependencies: Needs,
  caller: OrganizationCaller,
  { sent, call }: { readonly sent: SentProbe; readonly call: Call },
): Promise<SealedProbe & { readonly evidence: Evidence }> {
  const [row] = await sealRows(dependencies, caller, { sent: [sent], call });
  const { orgId } = caller;
  const { chain, seq } = await placeOfRecord(dependencies, { orgId, position: row!.position });
  const origin = originOf(dependencies, chain);
  const stored = await readEvidence(dependencies, { chain, origin, seq, covers: "detail" });
  if (stored?.evidence.entry.event_type !== "PROBE_SEALED") {
    throw new AlteredError(chain, `entry ${seq} of ${chain} is not the seal of a probe`);
  }
  return { ...sealedBody(row!), evidence: stored.evidence };
}

/** @throws as {@link sealRows}. */
export async function sealProbes(
  dependencies: Needs,
  caller: OrganizationCaller,
  request: { readonly sent: readonly SentProbe[]; readonly call: Call },
): Promise<readonly SealedProbe[]> {
  return (await sealRows(dependencies, caller, request)).map(sealedBody);
}

/**
 * Seals probes, all of them or none. A probe that was sealed before with the same content is answered as it stands.
 * @throws {ServiceError} CONFLICT if a `probe_id` was used for another probe, or too many are sealed.
 */
async function sealRows(
  { crypto, installation, world, writer }: Needs,
  caller: OrganizationCaller,
  { sent, call }: { readonly sent: readonly SentProbe[]; readonly call: Call },
): Promise<readonly ProbeRow[]> {
  const { orgId } = caller;
  const prepared = sent.map((probe) => ({
    probe,
    drawn: drawEntry(world, call.now),
    digest: requestDigest(installation.key, canonicalJson({ kind: "probe", ...probe })),
    commitment: probeCommitment(crypto, probeSalt(installation.key, orgId, probe.probe_id), probe),
  }));
  return await writer.submit({
    needs: [
      { kind: sealedCounts, key: [orgId] },
      ...sent.flatMap(({ probe_id, domain, stakes }) => [
        { kind: probes, key: [orgId, probe_id] },
        { kind: probeStocks, key: [orgId, domain, stakes] },
      ]),
    ],
    chains: [evidenceChain(orgId)],
    plan(unit) {
      const rows = prepared.map(({ probe, drawn, digest, commitment }): ProbeRow => {
        const { probe_id, domain, stakes, reference } = probe;
        const known = unit.get(probes, [orgId, probe_id]);
        if (known !== null) {
          if (equalBytes(known.request_digest, digest)) return known;
          throw new ServiceError(
            "CONFLICT",
            `probe_id ${probe_id} was used for another probe: a sealed probe cannot be changed. Recall it, and seal a new one.`,
          );
        }
        const count = unit.get(sealedCounts, [orgId])?.count ?? 0;
        if (count >= PROBES_SEALED_MAX) {
          throw new ServiceError(
            "CONFLICT",
            `There are ${count} sealed probes that nobody was shown yet, the most that an organization may have: recall some first.`,
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
          request_digest: digest,
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
        unit.put(sealedCounts, { org_id: orgId, count: count + 1 });
        const stock = unit.get(probeStocks, [orgId, domain, stakes])!;
        unit.put(probeStocks, { ...stock, ids: JSON.stringify([...JSON.parse(stock.ids), probe_id]) });
        return row;
      });
      return () => rows;
    },
  });
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

/** What a seal hides. */
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
