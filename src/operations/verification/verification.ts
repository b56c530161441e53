/**
 * Verifies a chain while the service runs: with the same verifier that an auditor uses, fed from the database
 * in slices, so that nobody waits for it. It does not replay scores; a replay and an auditor do.
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
import { newestOwnCheckpoint, signaturesBy } from "../../store/proofs.ts";
import { findUnsignedHeads, isSignedHead } from "../../store/signed_head.ts";
import { readSigningKeys } from "../../store/signing_keys.ts";
import { checkpointBody } from "../organizations/audit.ts";
import { originOf, type RetentionDays, retentionOf } from "../shared/deployment.ts";
import { SYSTEM_CHAIN } from "../../evidence/chain_name.ts";
import { heldKeys, ownPins, readOwnKeys } from "../chains/own_keys.ts";
import { bundleFile, bundleLines, type BundleSource } from "../chains/export.ts";
import { checkFamilyRows, type FamilyRows, readAnchored } from "./family_rows.ts";
import { type Cut, RowCheck } from "./row_check.ts";
import { FoundRows } from "./row_findings.ts";
import { sealedRowFindings } from "./sealed_rows.ts";
import { raiseTampering, type Watching } from "../shared/tampering.ts";

/** The dependencies of these operations. */
type Needs = Watching & Reading & Scoring & RetentionDays;

/**
 * Lines that are verified before other work gets its turn: about half a millisecond. With more lines a score
 * waits longer. With fewer the verification takes longer, because the process rests a millisecond or more
 * after each slice.
 */
const LINES_IN_SLICE = 24;

const UNSIGNED_END =
  "The stored end of the chain, after which the next entry is appended, is not what was signed.";

export interface VerificationOptions {
  /** Family to verify: all of its epochs, or only the newest if the verification resumes. */
  readonly family: string;
  /** The verification begins at the last checkpoint at or before this entry. */
  readonly from: number;
  /** Adds the consistency proof from this size; null for no proof. */
  readonly sinceSize: number | null;
  /** Epoch milliseconds. */
  readonly now: number;
  /** Lets other work run, after each slice. Default: the shortest rest possible. */
  rest?(): Promise<void>;
}

/** The result of verifying a family of chains. */
export interface Verification {
  readonly valid: boolean;
  readonly entries_checked: number;
  readonly from_seq: number;
  readonly to_seq: number;
  readonly head: string;
  readonly checkpoint: ReturnType<typeof checkpointBody> | null;
  readonly first_bad: number | null;
  readonly code: string | null;
  readonly findings: readonly ShownFinding[];
  /** Present if `sinceSize` was given and the tree is what was signed. */
  readonly consistency?: {
    readonly from: number;
    readonly to: number;
    readonly proof: readonly string[];
  };
}

/** @throws {ServiceError} VALIDATION_FAILED if the chain does not reach `from` or `sinceSize`. */
export async function verifyChain(dependencies: Needs, options: VerificationOptions): Promise<Verification> {
  const { database } = dependencies;
  const { family, from, sinceSize } = options;
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
  const verified = await collectFindings(dependencies, { epochs, chain, base, anchored }, options);
  await settleAlarm(dependencies, verified, options);
  return await answerOf(dependencies, verified, options);
}

/** The verification covers all epochs of a family, or only the newest chain, from a checkpoint on. */
interface VerifiedRange extends Pick<FamilyRows, "epochs" | "anchored"> {
  readonly chain: StoredChain;
  /** The checkpoint at which the verification resumes; null if it covers all epochs. */
  readonly base: Awaited<ReturnType<typeof checkpointUpTo>>;
}

interface Verified extends Pick<VerifiedRange, "chain" | "base"> {
  readonly reports: readonly BundleReport[];
  readonly findings: readonly ShownFinding[];
  readonly fatal: readonly ShownFinding[];
}

async function collectFindings(
  dependencies: Needs,
  { epochs, chain, base, anchored }: VerifiedRange,
  { family, now, rest = yieldToOthers }: VerificationOptions,
): Promise<Verified> {
  const ownKeys = await readOwnKeys(dependencies, heldKeys(dependencies));
  const verifier = new BundleVerifier(dependencies.crypto, {
    pins: ownPins(dependencies, ownKeys),
    known: dependencies.lock.issued().filter(({ origin }) => origin === chain.origin),
    expected: [],
    replay: false,
    seed: seedOf(dependencies.world.random(8)),
    requirePruneRecord: base === null,
  });
  const retentionDays = retentionOf(dependencies, family);
  const options = { parts: "all", retentionDays, now, software: "online" } as const;
  const pieces = base === null
    ? bundleFile(dependencies, { ...options, family })
    : terminatedLines(bundleLines(dependencies, { ...options, chain, base }));
  await feedVerifier(dependencies, { verifier, lines: pieces, rest });

  const isResumed = base !== null;
  const reports = verifier.end();
  const heads = await headFindings(dependencies, chain);
  const rows = await rowFindings(dependencies, {
    // The rows of a newest chain whose end is not what was signed are not checked against it.
    epochs: heads.length === 0 ? epochs : epochs.slice(0, -1),
    newestChain: chain.chain,
    reports,
    isResumed,
    family,
    ownKeys,
    anchored,
    rest,
  });
  const findings = [
    ...reports.flatMap((report) => shownFindings(report, { isResumed })),
    ...heads,
    ...rows,
    // The rows that a head holds are bound to it: an altered head tells nothing about them.
    ...(!isResumed && heads.length === 0 ? await rowAlterations(dependencies, family, rest) : []),
  ];
  return { chain, base, reports, findings, fatal: findings.filter((finding) => finding.fatal) };
}

/** Raises the alarm if a finding is fatal; clears it if the whole family is sound. */
async function settleAlarm(
  dependencies: Needs,
  { base, fatal }: Verified,
  { family, now }: VerificationOptions,
): Promise<void> {
  if (fatal.length > 0) {
    logFindings(dependencies, { family, fatal });
    const { chain, code, seq, sentence } = fatal[0]!;
    await raiseTampering(dependencies, { chain, code, seq, what: sentence }, now);
  } else if (base === null) dependencies.tampered?.clear(family);
}

async function answerOf(
  dependencies: Needs,
  { chain, base, reports, findings, fatal }: Verified,
  { sinceSize }: VerificationOptions,
): Promise<Verification> {
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
    checkpoint: end === null ? null : checkpointBody(end.note),
    first_bad: reports.find(({ firstBadSeq }) => firstBadSeq !== null)?.firstBadSeq ?? fatal[0]?.seq ?? null,
    code: fatal[0]?.code ?? null,
    findings,
    ...(consistency === undefined ? {} : { consistency }),
  };
}

/** A fault of a chain. */
export interface Damage {
  readonly chain: string;
  readonly code: string;
  readonly sentence: string;
}

/**
 * Verifies every chain of a database that no service uses, and computes every score anew.
 * @returns the first fault; null if there is none.
 */
export async function findDamage(source: BundleSource): Promise<Damage | null> {
  return (await findDamages(source))[0] ?? null;
}

/**
 * The faults of all chains of a database that no service uses, with every score computed anew.
 * @param known the deployment's keys; default: the keys that the database names.
 */
export async function findDamages(
  source: BundleSource,
  known?: readonly PinnedKey[],
): Promise<readonly Damage[]> {
  const heads = await loadChains(source.database);
  // One verifier reads all chains, the system chain first: that one holds what an earlier key signed last
  // elsewhere.
  const families = new Set([SYSTEM_CHAIN, ...heads.map(({ family }) => family)]);
  const pins = known ?? await namedKeys(source);
  const signing = signaturesBy(source.crypto, pins.map(({ publicKey }) => publicKey));
  // The bundle limit does not apply: all chains are read. Repeated records are not looked for: they were
  // signed, so every database of this log holds them.
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
  // Chains come in the order of their epochs: the last one of a family is the one that goes on.
  const newest = [...new Map(heads.map((head) => [head.family, head])).values()];
  for (const { chain } of await findUnsignedHeads({ ...source, signing }, newest)) {
    damages.push({ chain, code: "ROOT_MISMATCH", sentence: UNSIGNED_END });
  }
  return damages;
}

/** The newest checkpoint of a chain that the service itself signed; null if there is none. */
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

/** Findings about the rows beside the entries, for the chains that were found whole. */
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
    if (newest !== null && newest.size === chain.frontier.size) check.checkKeyOrdinal(newest.note);
  }
  const isWhole = epochs.at(-1)?.chain === newestChain &&
    reports.every(({ findings }) => !findings.some(({ fatal }) => fatal));
  // A verification that resumes checks only the entries since its base, and the end of the chain.
  if (isWhole && !isResumed) await checkFamilyRows(dependencies, found, { ...rest, epochs, cuts, ownKeys });
  return found.shown();
}

async function* terminatedLines(lines: AsyncGenerator<string>): AsyncGenerator<string> {
  for await (const line of lines) yield `${line}\n`;
}

/** Ends the input at the first line that cannot be read: the verifier reports that it was cut short. */
async function* untilUnreadable(log: Log, lines: AsyncGenerator<string>): AsyncGenerator<string> {
  try {
    yield* lines;
  } catch (error) {
    if (error instanceof ServiceError && !(error instanceof AlteredError)) throw error;
    log.error("a chain cannot be read to its end", { audit: true, ...errorFields(error) });
  }
}

async function feedVerifier(
  { log }: Needs,
  { verifier, lines, rest }: {
    readonly verifier: BundleVerifier;
    readonly lines: AsyncGenerator<string>;
    readonly rest: () => Promise<void>;
  },
): Promise<void> {
  const source = untilUnreadable(log, lines);
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

/** The stored head must be the one that was signed, because the next entry is appended to it. */
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

/** Most findings of altered rows: the first says that the database was altered, the others say where. */
const ALTERED_ROWS_MAX = 100;

/** Answers are made from the rows beside the chain: they must be those that were written with its entries. */
async function rowAlterations(
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
      sentence: `The rows that belong to the chain are not those that were written with it: ${detail}.`,
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
 * Rests, so that other work runs. A mere turn of the event loop is not enough: if a loop never rests, Deno
 * looks at the network only about every 60th turn, and every request would wait for as many slices.
 */
function yieldToOthers(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0));
}

function requireWithin(name: string, size: number, { frontier }: StoredChain): void {
  if (size <= frontier.size) return;
  throw new ServiceError("VALIDATION_FAILED", `Change ${name}: the chain has ${frontier.size} entries.`, {
    details: [{ path: name, message: `must be at most ${frontier.size}, the size of the chain` }],
  });
}

/** The keys that a database names, each with the sizes that it signs. Only the database vouches for them. */
async function namedKeys({ database }: Pick<BundleSource, "database">): Promise<readonly PinnedKey[]> {
  const rows = await readSigningKeys(database);
  return rows.map(({ public_key, from_size, until_size }) => ({
    publicKey: public_key,
    prefix: null,
    from: from_size,
    until: until_size,
  }));
}

function logFindings(
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
 * Proof that the tree of this size is a prefix of the tree of the service's own checkpoint; undefined if the
 * stored tree is not what was signed, which is a separate finding.
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
