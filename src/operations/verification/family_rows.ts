/**
 * Compares the rows of a family of chains as a whole with its entries: cuts, reports, tombstones. For the
 * system chain also the signing keys, the models, and how far every other chain was anchored.
 */
import type { Proving, Reading, Scoring, Writing } from "../shared/capabilities.ts";
import { AlteredError, isGone } from "../../domain/errors.ts";
import { isEvidenceChain, organizationOf, SYSTEM_CHAIN } from "../../evidence/chain_name.ts";
import { modelSha256 } from "../../evidence/hashes.ts";
import { orNull } from "../../evidence/or_null.ts";
import { orgCheckpointsSchema } from "../../evidence/structural.ts";
import { loadChains, placesOfEvents, readEntry, type StoredChain } from "../../store/chains.ts";
import { readModelDocuments } from "../../store/model_documents.ts";
import { type ErasureEntry, readErasuresOfNames, readLadderRows } from "../../store/stored_rows.ts";
import { type GoneCause, readCauses, readLostCauses } from "../../store/tombstones.ts";
import { readLostReports, readReports } from "../../store/reports.ts";
import { originOf } from "../shared/deployment.ts";
import { requireGoneEntry } from "../shared/gone.ts";
import type { OwnKeys } from "../chains/own_keys.ts";
import { issuedReport } from "../reporting/reports.ts";
import type { Cut } from "./row_check.ts";
import type { FoundRows } from "./row_findings.ts";

/** The dependencies of these operations. */
type Needs = Reading & Proving & Writing & Scoring;

export interface FamilyRows {
  readonly family: string;
  readonly epochs: readonly StoredChain[];
  /** The cuts that its entries record. */
  readonly cuts: readonly Cut[];
  readonly ownKeys: OwnKeys;
  /** By chain, the size that was anchored before the entries were read. */
  readonly anchored: ReadonlyMap<string, number>;
  rest(): Promise<void>;
}

export async function checkFamilyRows(
  dependencies: Needs,
  found: FoundRows,
  rows: FamilyRows,
): Promise<void> {
  await checkCuts(dependencies, found, rows);
  if (rows.family === SYSTEM_CHAIN) return await checkSystemRows(dependencies, found, rows);
  if (!isEvidenceChain(rows.family)) return;
  await checkReports(dependencies, found, rows);
  await checkTombstones(dependencies, found, rows);
}

/** By chain, the size that its row gives as anchored in the system chain. Call it before that is read. */
export async function readAnchored(dependencies: Needs): Promise<ReadonlyMap<string, number>> {
  const chains = await loadChains(dependencies.database);
  const newest = new Map(chains.map((chain) => [chain.family, chain]));
  return new Map([...newest.values()].map(({ chain, anchoredSize }) => [chain, anchoredSize]));
}

async function checkCuts(
  dependencies: Needs,
  found: FoundRows,
  { epochs, cuts }: FamilyRows,
): Promise<void> {
  for (const { chain, minIndex } of epochs) {
    const own = cuts.filter(({ origin }) => origin === originOf(dependencies, chain));
    const newest = own.reduce<Cut | null>(
      (last, cut) => last === null || cut.to > last.to ? cut : last,
      null,
    );
    if (newest === null) continue;
    if (newest.to > minIndex) {
      found.add("COLUMN_MISMATCH", { chain, seq: null, detail: "audit_chain.min_index" });
    }
    for (const { size, ts } of await readLadderRows(dependencies.database, chain)) {
      const cut = own.find(({ to }) => to === size);
      if (cut === undefined || cut.lastTimestamp === ts) continue;
      found.add("COLUMN_MISMATCH", { chain, seq: size - 1, detail: "audit_ladder.ts" });
    }
  }
}

async function checkReports(
  dependencies: Needs,
  found: FoundRows,
  { family, rest }: FamilyRows,
): Promise<void> {
  for await (const row of readReports(dependencies.database, organizationOf(family)!)) {
    await rest();
    await addIfAltered(
      found,
      { code: "REPORT_MISMATCH", chain: family },
      () => issuedReport(dependencies, row),
    );
  }
  const { database } = dependencies;
  for (const { chain, seq } of await readLostReports(database, { orgId: organizationOf(family)!, family })) {
    found.add("REPORT_MISMATCH", { chain, seq, detail: "a row of compliance_report is missing" });
  }
}

async function checkTombstones(
  dependencies: Needs,
  found: FoundRows,
  { family, epochs, rest }: FamilyRows,
): Promise<void> {
  const { database } = dependencies;
  const orgId = organizationOf(family)!;
  // Read before the tombstones: an erasure writes its tombstones together with its entry.
  const erasures = await readErasuresOfNames(database, family);
  const causes = await readCauses(database, epochs.map(({ chain }) => chain));
  for (const row of causes) {
    await rest();
    const at = { code: "TOMBSTONE_MISMATCH", chain: row.chain, seq: row.seq } as const;
    await addIfAltered(found, at, () => requireGoneEntry(dependencies, orgId, row));
  }
  for (const { chain, seq } of forgottenErasures(erasures, causes)) {
    found.add("TOMBSTONE_MISMATCH", { chain, seq, detail: "the rows of tombstone are missing" });
  }
}

/**
 * The newest erasure of each pseudonym of which no tombstone is left. If an operator was erased again after
 * the rows had been put back, the tombstones may belong to any of the erasures.
 */
function forgottenErasures(
  erasures: readonly ErasureEntry[],
  causes: readonly GoneCause[],
): readonly ErasureEntry[] {
  const nameOf = ({ chain, seq }: Pick<ErasureEntry, "chain" | "seq">) => `${chain} ${seq}`;
  const named = new Set(causes.filter(({ reason }) => reason === "erased").map(nameOf));
  const remembered = new Set(
    erasures.filter((erasure) => named.has(nameOf(erasure))).map(({ subject }) => subject),
  );
  const newest = new Map(erasures.map((erasure) => [erasure.subject, erasure]));
  return [...newest.values()].filter(({ subject }) => !remembered.has(subject));
}

/** Adds a finding if `check` finds an altered row. A row that was removed by rule meanwhile is no finding. */
async function addIfAltered(
  found: FoundRows,
  { code, chain, seq = null }: {
    readonly code: "REPORT_MISMATCH" | "TOMBSTONE_MISMATCH";
    readonly chain: string;
    readonly seq?: number | null;
  },
  check: () => Promise<unknown>,
): Promise<void> {
  try {
    await check();
  } catch (error) {
    if (error instanceof AlteredError) found.add(code, { chain, seq, detail: error.what });
    else if (!isGone(error)) throw error;
  }
}

async function checkSystemRows(
  dependencies: Needs,
  found: FoundRows,
  { ownKeys, epochs, anchored, rest }: FamilyRows,
): Promise<void> {
  const { database } = dependencies;
  const at = { chain: SYSTEM_CHAIN, seq: null } as const;
  for (const detail of ownKeys.faults) found.add("KEY_UNCERTIFIED", { ...at, detail });
  await checkModels(dependencies, found);
  for (const chain of await readLostCauses(database)) {
    found.add("TOMBSTONE_MISMATCH", { ...at, detail: `there is no chain ${chain}` });
  }
  const anchoredSizes = await readAnchoredSizes(dependencies, rest);
  for (const [chain, size] of anchored) {
    if (epochs.some((epoch) => epoch.chain === chain)) continue;
    if (size > (anchoredSizes.get(originOf(dependencies, chain)) ?? 0)) {
      found.add("COLUMN_MISMATCH", { chain, seq: null, detail: "audit_chain.anchored_size" });
    }
  }
}

/** A missing model is no finding here: a replay of its scores finds it. */
async function checkModels({ database, crypto }: Needs, found: FoundRows): Promise<void> {
  for (const { sha256, document } of await readModelDocuments(database)) {
    const computed = orNull(() => modelSha256(crypto, JSON.parse(document)));
    if (computed === sha256) continue;
    found.add("MODEL_MISMATCH", { chain: SYSTEM_CHAIN, seq: null, detail: sha256 });
  }
}

/** By origin, the largest size of a checkpoint that the system chain holds. */
async function readAnchoredSizes(
  { database }: Needs,
  rest: () => Promise<void>,
): Promise<ReadonlyMap<string, number>> {
  const anchoredSizes = new Map<string, number>();
  const eventType = "ORG_CHECKPOINTS";
  const places = await placesOfEvents(database, { family: SYSTEM_CHAIN, eventType });
  for (const place of places) {
    await rest();
    const stored = await readEntry(database, place);
    if (stored?.entry.event_type !== eventType) continue;
    const text = stored.parts.get("detail")?.text ?? "null";
    const detail = orgCheckpointsSchema.safeParse(orNull(() => JSON.parse(text))).data;
    for (const { origin, size } of detail?.checkpoints ?? []) {
      anchoredSizes.set(origin, Math.max(size, anchoredSizes.get(origin) ?? 0));
    }
  }
  return anchoredSizes;
}
