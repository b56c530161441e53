/**
 * Verifying a chain while the service runs: the very verifier that an auditor uses, fed from the database in slices,
 * so that nobody waits for it. It does not replay scores; a replay and an auditor do.
 * Source: contract, section 4; evidence design, section 8.
 */
import { ServiceError } from "../domain/errors.ts";
import { consistencyNodeIndexes, consistencyPath } from "../evidence/consistency.ts";
import { hex, utf8 } from "../evidence/crypto.ts";
import { storedNodeIndex } from "../evidence/merkle.ts";
import { type Finding, sentenceOf } from "../evidence/findings.ts";
import type { PinnedKey } from "../evidence/trust.ts";
import { BundleVerifier } from "../evidence/verifier.ts";
import { checkpointUpTo } from "../store/bundles.ts";
import { loadEpochs, newestCheckpoint, readNodes, type StoredChain } from "../store/chains.ts";
import { query } from "../store/database.ts";
import { shownCheckpoint } from "./audit.ts";
import { type Dependencies, retentionOf } from "./dependencies.ts";
import { bundleLines } from "./export.ts";

/** Lines that are looked at before others get their turn: a few milliseconds of work. */
const LINES_IN_SLICE = 48;

export interface VerificationOptions {
  /** The newest epoch of this family is verified. */
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

  const verifier = new BundleVerifier(crypto, {
    pins: await ownKeys(dependencies),
    known: lock.issued().filter(({ origin }) => origin === chain.origin),
    expected: [],
    replay: false,
    requirePruneRecord: base === null,
  });
  const retentionDays = retentionOf(dependencies, family);
  const lines = bundleLines(dependencies, {
    chain,
    parts: "all",
    ...(base === null ? {} : { base }),
    retentionDays,
    now,
    software: "online",
  });
  let inSlice = 0;
  for await (const line of lines) {
    verifier.push(utf8(`${line}\n`));
    inSlice += 1;
    if (inSlice < LINES_IN_SLICE) continue;
    inSlice = 0;
    await giveWay();
  }
  const [report] = verifier.end();
  const findings = report!.findings.filter(({ code }) => base === null || code !== "PRUNED_PREFIX");
  const fatal = findings.filter((finding) => finding.fatal);
  if (fatal.length > 0) told(dependencies, { family, fatal });
  const first = base?.size ?? chain.minIndex;
  const end = report!.checkpoint ?? (await newestCheckpoint(database, chain.chain))!;
  const leaf = storedNodeIndex(0, end.size - 1);
  const leaves = await readNodes(database, { chain: chain.chain, indexes: [leaf] });
  return {
    valid: fatal.length === 0,
    entries_checked: report!.entries,
    from_seq: first,
    to_seq: first + report!.entries - 1,
    head: hex(leaves.get(leaf)!),
    checkpoint: shownCheckpoint(end.note),
    first_bad: report!.firstBadSeq,
    code: fatal[0]?.code ?? null,
    findings: findings.map(shown),
    ...(sinceSize === null
      ? {}
      : { consistency: await consistencyFrom(dependencies, { chain, size: sinceSize }) }),
  };
}

/**
 * Lets others run until nothing of theirs is left to do. A turn of the event loop is not enough: in a loop that never
 * rests Deno looks at the network only every 61st turn, so that every request would wait for as many slices.
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

/** The deployment's own keys: what the database was signed with is what it is held against. */
async function ownKeys({ database }: Dependencies): Promise<readonly PinnedKey[]> {
  const rows = await database.read(query.selectFrom("signing_key").selectAll().compile());
  return rows.map(({ public_key, from_size, until_size }) => ({
    publicKey: public_key,
    prefix: null,
    from: from_size,
    until: until_size,
  }));
}

function shown(finding: Finding) {
  const { code, fatal, seq, range, detail } = finding;
  return { code, fatal, seq, range, detail, sentence: sentenceOf(finding) };
}

function told(
  { log }: Dependencies,
  { family, fatal }: { readonly family: string; readonly fatal: readonly Finding[] },
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
