/**
 * Verifying a chain while the service runs: the very verifier that an auditor uses, fed from the database in slices,
 * so that nobody waits for it. It does not replay scores; a replay and an auditor do.
 * Source: contract, section 4; evidence design, section 8.
 */
import { ServiceError } from "../domain/errors.ts";
import { consistencyNodeIndexes, consistencyPath } from "../evidence/consistency.ts";
import { hex, utf8 } from "../evidence/crypto.ts";
import { type KnownCheckpoint, knownCheckpointOrNull } from "../evidence/kept.ts";
import { storedNodeIndex } from "../evidence/merkle.ts";
import type { BundleReport } from "../evidence/report.ts";
import { sentenceOf } from "../evidence/findings.ts";
import { errorFields } from "../observability/log.ts";
import type { PinnedKey } from "../evidence/trust.ts";
import { BundleVerifier } from "../evidence/verifier.ts";
import { checkpointUpTo } from "../store/bundles.ts";
import { loadChains, loadEpochs, newestCheckpoint, readNodes, type StoredChain } from "../store/chains.ts";
import { type Database, query } from "../store/database.ts";
import { signaturesBy } from "../store/proofs.ts";
import { findUnsignedHeads, isSignedHead } from "../store/signed_head.ts";
import { shownCheckpoint } from "./audit.ts";
import { type Dependencies, retentionOf, SYSTEM_CHAIN } from "./dependencies.ts";
import { readOwnKeys } from "./own_keys.ts";
import { bundleFile, bundleLines, type BundleSource } from "./export.ts";
import { rowFindings } from "./row_check.ts";

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
}

/** @throws {ServiceError} VALIDATION_FAILED where the chain does not reach `from` or `sinceSize`. */
export async function verifyChain(
  dependencies: Dependencies,
  { family, from, sinceSize, now }: VerificationOptions,
) {
  const { database, crypto, lock } = dependencies;
  const chain = (await loadEpochs(database, family)).at(-1)!;
  requireWithin("from", from, chain);
  if (sinceSize !== null) requireWithin("since_size", sinceSize, chain);
  const resumed = from > chain.minIndex
    ? await checkpointUpTo(database, { chain: chain.chain, size: from })
    : null;
  const base = resumed !== null && resumed.size > chain.minIndex ? resumed : null;

  const { keys } = await readOwnKeys(dependencies);
  const verifier = new BundleVerifier(crypto, {
    pins: keys.map((key) => ({ ...key, prefix: null })),
    known: lock.issued().filter(({ origin }) => origin === chain.origin),
    expected: [],
    replay: false,
    requirePruneRecord: base === null,
  });
  const retentionDays = retentionOf(dependencies, family);
  const options = { parts: "all", retentionDays, now, software: "online" } as const;
  const pieces = base === null
    ? bundleFile(dependencies, { ...options, family })
    : endedLines(bundleLines(dependencies, { ...options, chain, base }));
  await feed(dependencies, verifier, pieces);

  const reports = verifier.end();
  const findings = [
    ...reports.flatMap((report) => shownFindings(report, { isResumed: base !== null })),
    ...await headFindings(dependencies, chain),
    ...(base === null ? await alteredRows(dependencies, family) : []),
  ];
  const fatal = findings.filter((finding) => finding.fatal);
  if (fatal.length > 0) told(dependencies, { family, fatal });
  const own = reports.find(({ origin }) => origin === chain.origin);
  const first = base?.size ?? chain.minIndex;
  const end = own?.checkpoint ?? await newestReadable(database, chain.chain);
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
    ...(sinceSize === null
      ? {}
      : { consistency: await consistencyFrom(dependencies, { chain, size: sinceSize }) }),
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
  const verifier = new BundleVerifier(source.crypto, { pins, known: [], expected: [], replay: true });
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

/** The newest checkpoint of a chain; null where there is none, or what stands there is none. */
async function newestReadable(database: Database, chain: string): Promise<KnownCheckpoint | null> {
  const newest = await newestCheckpoint(database, chain);
  return newest && knownCheckpointOrNull(newest.note);
}

async function* endedLines(lines: AsyncGenerator<string>): AsyncGenerator<string> {
  for await (const line of lines) yield `${line}\n`;
}

/** What cannot be read of the database ends the input, which is then cut short: that is what the verifier reports. */
async function feed(
  { log }: Dependencies,
  verifier: BundleVerifier,
  lines: AsyncGenerator<string>,
): Promise<void> {
  try {
    let inSlice = 0;
    for await (const line of lines) {
      verifier.push(utf8(line));
      inSlice += 1;
      if (inSlice < LINES_IN_SLICE) continue;
      inSlice = 0;
      await giveWay();
    }
  } catch (error) {
    if (error instanceof ServiceError) throw error;
    log.error("a chain cannot be read to its end", { audit: true, ...errorFields(error) });
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
  dependencies: Dependencies,
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
async function alteredRows(dependencies: Dependencies, family: string): Promise<readonly ShownFinding[]> {
  const findings: ShownFinding[] = [];
  for await (const { chain, seq, detail } of rowFindings(dependencies, family, giveWay)) {
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
  { database }: Dependencies,
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
  { log }: Dependencies,
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

async function consistencyFrom(
  { database, crypto }: Dependencies,
  { chain: { chain, frontier }, size: from }: { readonly chain: StoredChain; readonly size: number },
) {
  const to = frontier.size;
  const nodes = await readNodes(database, { chain, indexes: consistencyNodeIndexes(from, to) });
  return { from, to, proof: consistencyPath(crypto, { from, to }, (index) => nodes.get(index)).map(hex) };
}
