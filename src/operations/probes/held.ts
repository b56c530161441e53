/**
 * All rows of an organization's probes, as the head of its chain holds them. What is signed or shown of a programme rests
 * on all of them: the stock of a draw, its share, and every figure.
 */
import type { Reading } from "../shared/capabilities.ts";
import { evidenceChain } from "../../evidence/chain_name.ts";
import { chunksOf } from "../../store/paging.ts";
import {
  type ProbeDrawRow,
  probeDraws,
  probeDrawsQuery,
  type ProbeRow,
  probesQuery,
} from "../../store/probes.ts";
import { AlteredRows } from "../../store/seals.ts";
import { readHeldRows, requireSealed } from "../shared/sealed_reads.ts";

/** Draws that are read together. */
const DRAWS_TOGETHER = 500;

/**
 * All probes of an organization.
 * @throws {AlteredRows} if a row of them, or of the programme, was altered or is missing, or an old one was put back; or if
 *   a probe that waits for its decision has no draw.
 */
export async function readHeldProbes(dependencies: Reading, orgId: string): Promise<readonly ProbeRow[]> {
  const { held: { probes } } = await readHeldRows(dependencies, orgId, []);
  const open = probes.filter(({ state }) => state === "drawn");
  const draws = await drawsOf(dependencies, orgId, open);
  // It is decided, recalled or lost in the commit that removes its draw. One that was just decided has its draw, too.
  if (open.some(({ probe_id }) => !draws.has(probe_id))) {
    const again = await dependencies.database.read(probesQuery(orgId));
    const stillOpen = new Set(again.filter(({ state }) => state === "drawn").map(({ probe_id }) => probe_id));
    if (open.some(({ probe_id }) => !draws.has(probe_id) && stillOpen.has(probe_id))) {
      throw new AlteredRows(evidenceChain(orgId), "a row of probe_draw");
    }
  }
  return probes;
}

/** The draws of some probes, by probe. @throws {AlteredRows} if one has no valid seal. */
export async function drawsOf(
  dependencies: Pick<Reading, "database" | "seals">,
  orgId: string,
  probes: readonly Pick<ProbeRow, "probe_id">[],
): Promise<ReadonlyMap<string, ProbeDrawRow>> {
  const found = new Map<string, ProbeDrawRow>();
  for (const piece of chunksOf(probes, DRAWS_TOGETHER)) {
    const ids = piece.map(({ probe_id }) => probe_id);
    const draws = await dependencies.database.read(probeDrawsQuery(orgId, ids));
    requireSealed(dependencies, probeDraws, draws);
    for (const draw of draws) found.set(draw.probe_id!, draw);
  }
  return found;
}
