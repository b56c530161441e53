/**
 * Verifying a chain while the service runs: the very verifier that an auditor uses, fed from the database in slices,
 * so that nobody waits for it. It does not replay scores; a replay and an auditor do.
 * Source: contract, section 4; evidence design, section 8.
 */
import type { Reading, Scoring } from "../shared/capabilities.ts";
import { AlteredError, ServiceError } from "../../domain/errors.ts";
import {
  consistencyNodeIndexes,
  consistencyPath,
  frontierFrom,
  frontierNodeIndexes,
  rootsFromConsistency,
} from "../../evidence/consistency.ts";
import { equalBytes, hex, utf8 } from "../../evidence/crypto.ts";
import type { KnownCheckpoint } from "../../evidence/kept.ts";
import { seedOf } from "../../evidence/keyed_hash.ts";
import { rootOf, storedNodeIndex } from "../../evidence/merkle.ts";
import type { BundleReport } from "../../evidence/report.ts";
import { sentenceOf } from "../../evidence/findings.ts";
import { errorFields, type Log } from "../../observability/log.ts";
import type { PinnedKey } from "../../evidence/trust.ts";
import { BundleVerifier } from "../../evidence/verifier.ts";
import { checkpointUpTo } from "../../store/bundles.ts";
import { loadChains, loadEpochs, newestCheckpoint, readNodes, type StoredChain } from "../../store/chains.ts";
import { query } from "../../store/database.ts";
import { newestOwnCheckpoint, signaturesBy } from "../../store/proofs.ts";
import { findUnsignedHeads, isSignedHead } from "../../store/signed_head.ts";
import { shownCheckpoint } from "../organizations/audit.ts";
import { originOf, type RetentionDays, retentionOf } from "../shared/deployment.ts";
import { SYSTEM_CHAIN } from "../../evidence/chain_name.ts";
import { ownPins, readOwnKeys } from "../chains/own_keys.ts";
import { bundleFile, bundleLines, type BundleSource } from "../chains/export.ts";
import { checkFamilyRows, type FamilyRows, readAnchored } from "./family_rows.ts";
import { type Cut, RowCheck } from "./row_check.ts";
import { FoundRows } from "./row_findings.ts";
import { sealedRowFindings } from "./sealed_rows.ts";
import { raiseTampering, type Watching } from "../shared/tampering.ts";

/** What these operations need. */
type Needs = Watching & Reading & Scoring & RetentionDays;

/**
 * Lines that are looked at before others get their turn: about half a millisecond of work. With more of them a score
 * waits longer, with fewer the whole takes longer, as after each slice the process rests for a millisecond or more.
 */
const LINES_IN_SLICE = 24;

const UNSIGNED_END = "The end of the chain, as the database has it to go on from, is not what was signed.";

export interface VerificationOptions {
  /** Every epoch of it is verified; where the verification resumes, the newest. */
  readonly family: string;
  /** Begins at the last checkpoint at or before this entry. */
  readonly from: number;
  /** Adds the proof from this size. */
  readonly sinceSize: number | null;
  /** Epoch milliseconds. */
  readonly now: number;
  /** Lets others run, after each slice. Default: for as short as it can. */
  rest?(): Promise<void>;
}

/** What was found of a family of chains. */
export interface Verification {
  readonly valid: boolean;
  readonly entries_checked: number;
  readonly from_seq: number;
  readonly to_seq: number;
  readonly head: string;
  readonly checkpoint: ReturnType<typeof shownCheckpoint> | null;
  readonly first_bad: number | null;
  readonly code: string | null;
  readonly findings: readonly ShownFinding[];
  /** Where it was asked for, and the tree is what was signed. */
  readonly consistency?: {
    readonly from: number;
    readonly to: number;
    readonly proof: readonly string[];
  };
}

/** @throws {ServiceError} VALIDATION_FAILED where the chain does not reach `from` or `sinceSize`. */
export async function verifyChain(
  dependencies: Needs,
  { family, from, sinceSize, now, rest = giveWay }: VerificationOptions,
): Promise<Verification> {
  const { database, crypto, lock } = dependencies;
  const anchored = family === SYSTEM_CHAIN ? await readAnchored(dependencies) : new Map();
  const epochs = await loadEpochs(database, family);
  const chain = epochs.at(-1);
  if (chain === undefined) throw new AlteredError(family, `${family} is not in the database`);
  requireWithin("from", from, chain);
  if (sinceSize !== null) requireWithin("since_size", sinceSize, chain);
  const resumed = from > chain.minIndex
    ? await checkpointUpTo(database, { chain: chain.chain, size: from })
    : null;
  const base = resumed !== null && resumed.size > chain.minIndex ? resumed : null;

  const ownKeys = await readOwnKeys(dependencies);
  const verifier = new BundleVerifier(crypto, {
    pins: ownPins(dependencies, ownKeys),
    known: lock.issued().filter(({ origin }) => origin === chain.origin),
    expected: [],
    replay: false,
    seed: seedOf(dependencies.world.random(8)),
    requirePruneRecord: base === null,
  });
  const retentionDays = retentionOf(dependencies, family);
  const options = { parts: "all", retentionDays, now, software: "online" } as const;
  const pieces = base === null
    ? bundleFile(dependencies, { ...options, family })
    : endedLines(bundleLines(dependencies, { ...options, chain, base }));
  await feed(dependencies, { verifier, lines: pieces, rest });

  const reports = verifier.end();
  const heads = await headFindings(dependencies, chain);
  const rows = await rowFindings(dependencies, {
    // Whose end is not what was signed is not held to it.
    epochs: heads.length === 0 ? epochs : epochs.slice(0, -1),
    newestChain: chain.chain,
    reports,
    isResumed: base !== null,
    family,
    ownKeys,
    anchored,
    rest,
  });
  const findings = [
    ...reports.flatMap((report) => shownFindings(report, { isResumed: base !== null })),
    ...heads,
    ...rows,
    // What a head holds is bound to it: of one that was altered nothing can be told.
    ...(base === null && heads.length === 0 ? await alteredRows(dependencies, family, rest) : []),
  ];
  const fatal = findings.filter((finding) => finding.fatal);
  if (fatal.length > 0) {
    told(dependencies, { family, fatal });
    const { chain, code, seq, sentence } = fatal[0]!;
    await raiseTampering(dependencies, { chain, code, seq, what: sentence }, now);
  } else if (base === null) dependencies.tampered?.clear(family);
  const own = reports.find(({ origin }) => origin === chain.origin);
  const first = base?.size ?? chain.minIndex;
  const end = own?.checkpoint ?? await newestOwn(dependencies, chain);
  const consistency = sinceSize === null
    ? undefined
    : await consistencyFrom(dependencies, { chain, size: sinceSize, checkpoint: end });
  return {
    valid: fatal.length === 0,
    entries_checked: reports.reduce((sum, { entries }) => sum + entries, 0),
    from_seq: first,
    to_seq: first + (own?.entries ?? 0) - 1,
    head: await headHash(dependencies, { chain, size: end?.size ?? chain.frontier.size }),
    checkpoint: end === null ? null : shownCheckpoint(end.note),
    first_bad: reports.find(({ firstBadSeq }) => firstBadSeq !== null)?.firstBadSeq ?? fatal[0]?.seq ?? null,
    code: fatal[0]?.code ?? null,
    findings,
    ...(consistency === undefined ? {} : { consistency }),
  };
}

/** What is wrong with a chain. */
export interface Damage {
  readonly chain: string;
  readonly code: string;
  readonly sentence: string;
}

/**
 * Verifies every chain of a database that nobody serves, and computes every score anew.
 * @returns what is wrong first; null: nothing is.
 */
export async function findDamage(source: BundleSource): Promise<Damage | null> {
  return (await findDamages(source))[0] ?? null;
}

/**
 * What is wrong with each chain of a database that nobody serves, every score computed anew; nothing for a sound one.
 * @param known the deployment's keys; without them those that the database names.
 */
export async function findDamages(
  source: BundleSource,
  known?: readonly PinnedKey[],
): Promise<readonly Damage[]> {
  const heads = await loadChains(source.database);
  // One after another through one verifier, the system chain first: it holds what a key of before signed last elsewhere.
  const families = new Set([SYSTEM_CHAIN, ...heads.map(({ family }) => family)]);
  const pins = known ?? await namedKeys(source);
  const signing = signaturesBy(source.crypto, pins.map(({ publicKey }) => publicKey));
  // However many chains the database holds, all are read.
  // A record that was made twice was signed twice: no other database of this log is without it.
  const all = { bundleLimit: Infinity, replay: true, repeats: false } as const;
  const verifier = new BundleVerifier(source.crypto, { pins, known: [], expected: [], ...all });
  const damages: Damage[] = [];
  for (const family of families) {
    try {
      const options = { family, parts: "all", retentionDays: null, now: 0, software: "restore" } as const;
      for await (const line of bundleFile(source, options)) verifier.push(utf8(line));
    } catch (error) {
      damages.push({ chain: family, code: "UNREADABLE", sentence: (error as Error).message });
      break;
    }
  }
  for (const { chain, findings } of verifier.end()) {
    const fatal = findings.find((finding) => finding.fatal);
    if (fatal !== undefined) damages.push({ chain, code: fatal.code, sentence: sentenceOf(fatal) });
  }
  // Chains come in the order of their epochs: the newest of a family is the one that goes on.
  const newest = [...new Map(heads.map((head) => [head.family, head])).values()];
  for (const { chain } of await findUnsignedHeads({ ...source, signing }, newest)) {
    damages.push({ chain, code: "ROOT_MISMATCH", sentence: UNSIGNED_END });
  }
  return damages;
}

/** The newest checkpoint of a chain; null where there is none of the service's own. */
async function newestOwn(
  dependencies: Needs,
  { chain }: StoredChain,
): Promise<KnownCheckpoint | null> {
  try {
    return await newestOwnCheckpoint(dependencies, { chain, origin: originOf(dependencies, chain) });
  } catch (error) {
    if (error instanceof AlteredError) return null;
    throw error;
  }
}

/** What is wrong with the rows beside the entries of those chains that were found whole. */
async function rowFindings(
  dependencies: Needs,
  { epochs, newestChain, reports, isResumed, ownKeys, ...rest }:
    & Pick<FamilyRows, "epochs" | "family" | "ownKeys" | "anchored" | "rest">
    & {
      readonly newestChain: string;
      readonly reports: readonly BundleReport[];
      readonly isResumed: boolean;
    },
): Promise<readonly ShownFinding[]> {
  const found = new FoundRows();
  const cuts: Cut[] = [];
  for (const [index, chain] of epochs.entries()) {
    const report = reports.find((report) => report.chain === chain.chain);
    if (report === undefined || report.findings.some(({ fatal }) => fatal)) continue;
    const check = new RowCheck(dependencies, found, {
      chain,
      before: epochs[index - 1] ?? null,
      isNewest: chain.chain === newestChain,
      base: report.base,
      size: report.size,
      keys: ownKeys.keys,
    }, rest.rest);
    cuts.push(...await check.run());
    const newest = await newestCheckpoint(dependencies.database, chain.chain);
    if (newest !== null && newest.size === chain.frontier.size) check.keyOrdinal(newest.note);
  }
  const isWhole = epochs.at(-1)?.chain === newestChain &&
    reports.every(({ findings }) => !findings.some(({ fatal }) => fatal));
  // What resumes looks at what came since, and at the end.
  if (isWhole && !isResumed) await checkFamilyRows(dependencies, found, { ...rest, epochs, cuts, ownKeys });
  return found.shown();
}

async function* endedLines(lines: AsyncGenerator<string>): AsyncGenerator<string> {
  for await (const line of lines) yield `${line}\n`;
}

/** What cannot be read of the database ends the input, which is then cut short: that is what the verifier reports. */
async function* readable(log: Log, lines: AsyncGenerator<string>): AsyncGenerator<string> {
  try {
    yield* lines;
  } catch (error) {
    if (error instanceof ServiceError && !(error instanceof AlteredError)) throw error;
    log.error("a chain cannot be read to its end", { audit: true, ...errorFields(error) });
  }
}

async function feed(
  { log }: Needs,
  { verifier, lines, rest }: {
    readonly verifier: BundleVerifier;
    readonly lines: AsyncGenerator<string>;
    readonly rest: () => Promise<void>;
  },
): Promise<void> {
  const source = readable(log, lines);
  let inSlice = 0;
  for await (const line of source) {
    verifier.push(utf8(line));
    inSlice += 1;
    if (inSlice < LINES_IN_SLICE) continue;
    inSlice = 0;
    await rest();
  }
}

interface ShownFinding {
  readonly chain: string;
  readonly code: string;
  readonly fatal: boolean;
  readonly seq: number | null;
  readonly range: readonly [number, number] | null;
  readonly detail: string | null;
  readonly sentence: string;
}

function shownFindings(
  { chain, findings }: BundleReport,
  { isResumed }: { readonly isResumed: boolean },
): readonly ShownFinding[] {
  return findings.filter(({ code }) => !isResumed || code !== "PRUNED_PREFIX").map((finding) => {
    const { code, fatal, seq, range, detail } = finding;
    return { chain, code, fatal, seq, range, detail, sentence: sentenceOf(finding) };
  });
}

/** The next entry is appended to the stored head: it must be the one that was signed. */
async function headFindings(
  dependencies: Needs,
  head: StoredChain,
): Promise<readonly ShownFinding[]> {
  if (await isSignedHead(dependencies, head)) return [];
  return [{
    chain: head.chain,
    code: "ROOT_MISMATCH",
    fatal: true,
    seq: Math.max(0, head.frontier.size - 1),
    range: null,
    detail: "the stored head",
    sentence: UNSIGNED_END,
  }];
}

/** Told at most: the first of them says that the database was altered, and the rest where to look. */
const ALTERED_ROWS_MAX = 100;

/** The rows beside the chain, which answers are made from, must be those that were written with its entries. */
async function alteredRows(
  dependencies: Needs,
  family: string,
  rest: () => Promise<void>,
): Promise<readonly ShownFinding[]> {
  const findings: ShownFinding[] = [];
  for await (const { chain, seq, detail } of sealedRowFindings(dependencies, family, rest)) {
    findings.push({
      chain,
      code: "ROW_ALTERED",
      fatal: true,
      seq,
      range: null,
      detail,
      sentence: `The rows beside the chain are not those that were written with it: ${detail}.`,
    });
    if (findings.length === ALTERED_ROWS_MAX) break;
  }
  return findings;
}

async function headHash(
  { database }: Needs,
  { chain, size }: { readonly chain: StoredChain; readonly size: number },
): Promise<string> {
  const leaf = storedNodeIndex(0, size - 1);
  const nodes = await readNodes(database, { chain: chain.chain, indexes: [leaf] });
  return hex(nodes.get(leaf) ?? chain.previous);
}

/**
 * Lets others run, by resting. A mere turn of the event loop is not enough: where a loop never rests Deno looks at the
 * network only about every 60th turn, and every request would wait for as many slices.
 */
function giveWay(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0));
}

function requireWithin(name: string, size: number, { frontier }: StoredChain): void {
  if (size <= frontier.size) return;
  throw new ServiceError("VALIDATION_FAILED", `Change ${name}: the chain has ${frontier.size} entries.`, {
    details: [{ path: name, message: `must be at most ${frontier.size}, the size of the chain` }],
  });
}

/** The keys that a database names which nobody holds the keys of: that each signs all of it is all that can be told. */
async function namedKeys({ database }: Pick<BundleSource, "database">): Promise<readonly PinnedKey[]> {
  const rows = await database.read(query.selectFrom("signing_key").selectAll().compile());
  return rows.map(({ public_key, from_size, until_size }) => ({
    publicKey: public_key,
    prefix: null,
    from: from_size,
    until: until_size,
  }));
}

function told(
  { log }: Needs,
  { family, fatal }: { readonly family: string; readonly fatal: readonly ShownFinding[] },
): void {
  const [first] = fatal;
  log.error("a chain in the database is not what was signed", {
    audit: true,
    chain: family,
    code: first!.code,
    seq: first!.seq,
    findings: fatal.length,
  });
}

/**
 * Proof that a size of the chain is a beginning of what a checkpoint of the service's own covers; undefined where the
 * stored tree is not what was signed, which is a finding by itself.
 */
async function consistencyFrom(
  { database, crypto }: Needs,
  { chain: { chain }, size: from, checkpoint }: {
    readonly chain: StoredChain;
    readonly size: number;
    readonly checkpoint: KnownCheckpoint | null;
  },
): Promise<Verification["consistency"]> {
  if (checkpoint === null || from > checkpoint.size) return undefined;
  const { size: to, root } = checkpoint;
  const indexes = [...consistencyNodeIndexes(from, to), ...frontierNodeIndexes(from)];
  const nodes = await readNodes(database, { chain, indexes });
  if (indexes.some((index) => !nodes.has(index))) return undefined;
  const read = (index: number) => nodes.get(index);
  const path = consistencyPath(crypto, { from, to }, read);
  const fromRoot = rootOf(crypto, frontierFrom(from, read).peaks);
  const reached = rootsFromConsistency(crypto, { from, to, fromRoot, path });
  if (reached === null || !equalBytes(reached, root)) return undefined;
  return { from, to, proof: path.map(hex) };
}
