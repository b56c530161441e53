/**
 * The checks of one bundle, made from its header, which is checked at the same time. Every check is a file of
 * its own; the lines of the bundle are passed to them by `preamble.ts`, `entry_lines.ts` and `bundle_check.ts`.
 */
import type { ChainAnchors } from "./anchors.ts";
import type { BundleHeader } from "./bundle.ts";
import { CensusCount } from "./census.ts";
import { ChainCheck } from "./chain_check.ts";
import { type ChainName, chainPrefix, organizationOf, parseChain } from "./chain_name.ts";
import { CheckpointCheck } from "./checkpoint_check.ts";
import { CommitCheck } from "./commit_check.ts";
import { type Crypto, equalBytes, fromHex } from "./crypto.ts";
import type { Entry } from "./entry.ts";
import type { Family } from "./family.ts";
import { type FindingBudget, FindingLog } from "./finding_log.ts";
import { genesisPrevious } from "./hashes.ts";
import type { KeptCheckpoint, KnownCheckpoint } from "./kept.ts";
import { type AgreementBudget, type ExpectedEntry, KeptCheck } from "./kept_check.ts";
import type { KeyHolders } from "./key_holders.ts";
import type { HashSeed } from "./keyed_hash.ts";
import type { SignatureMemory } from "./key_index.ts";
import { ModelCheck } from "./model_check.ts";
import { PartCheck } from "./part_check.ts";
import { baseFrontier, provePrefix } from "./prefix_check.ts";
import { ProbeCheck } from "./probe_check.ts";
import type { ReadLine } from "./read_line.ts";
import { RepeatCheck } from "./repeat_check.ts";
import { ReplayCheck } from "./replay_check.ts";
import { policyOf, RetentionCheck } from "./retention_check.ts";
import { SignatureCheck } from "./signature_check.ts";
import { StateCheck } from "./state_check.ts";
import { StructureCheck } from "./structure_check.ts";
import type { PinnedKey } from "./trust.ts";

export interface CheckOptions {
  /** Place of the bundle in the input, from 0. */
  readonly index: number;
  readonly pins: readonly PinnedKey[] | null;
  /** Kept checkpoints of this bundle's origin. `expected` and `anchors` are of the same origin. */
  readonly known: readonly KeptCheckpoint[];
  readonly expected: readonly ExpectedEntry[];
  readonly anchors: ChainAnchors;
  /** Verdicts on the signatures of `known`, remembered from bundle to bundle. */
  readonly memory: SignatureMemory;
  readonly holders: KeyHolders;
  readonly budget: FindingBudget;
  /** null if the agreeing roots are not needed. */
  readonly agreements: AgreementBudget | null;
  readonly family: Family;
  readonly replay: boolean;
  /** Whether to check that records which can be made only once are not repeated. */
  readonly repeats: boolean;
  readonly requirePruneRecord: boolean;
  /** Whether operators are counted. */
  readonly census: boolean;
  /** A random seed; undefined for files that no attacker made. */
  readonly seed: HashSeed | undefined;
}

/** A bundle whose header is read. */
interface Opened {
  readonly crypto: Crypto;
  readonly options: CheckOptions;
  readonly header: BundleHeader;
  /** Line number of the header. */
  readonly line: number;
  readonly log: FindingLog;
  /** The chain's name, parsed; null if the header names no valid chain. */
  readonly name: ChainName | null;
  /** The id of the organization that owns the chain; null for the system chain. */
  readonly organization: string | null;
  /** The hash that the first entry of this chain must name. */
  readonly genesis: Uint8Array;
}

/** The checks of the chain as a signed tree. */
interface TreeChecks {
  readonly signatures: SignatureCheck;
  /** The signed end of a removed prefix; null if there is none, or if it is not proven. */
  readonly prefix: KnownCheckpoint | null;
  /** Kept checkpoints that a trusted key signed. */
  readonly known: readonly KeptCheckpoint[];
  /** Kept checkpoints that no trusted key signed. */
  readonly untrusted: readonly KnownCheckpoint[];
  readonly kept: KeptCheck;
  readonly chain: ChainCheck;
  readonly checkpoints: CheckpointCheck;
}

/** The checks of what the entries record. */
interface RecordChecks {
  readonly retention: RetentionCheck;
  readonly parts: PartCheck;
  readonly structure: StructureCheck;
  readonly models: ModelCheck;
  readonly states: StateCheck;
  readonly commits: CommitCheck;
  readonly probes: ProbeCheck;
  /** null if repeated records are not looked for. */
  readonly repeats: RepeatCheck | null;
  /** null if scores, decisions and labels are not computed anew. */
  readonly replay: ReplayCheck | null;
  /** null if operators are not counted. */
  readonly census: CensusCount | null;
}

export interface Checks extends Opened, TreeChecks, RecordChecks {}

/** Checks the header, and makes the checks of the lines after it. */
export function openChecks(
  crypto: Crypto,
  header: BundleHeader,
  { line, options }: { readonly line: ReadLine; readonly options: CheckOptions },
): Checks {
  const { origin, chain, base } = header;
  const name = parseChain(chain);
  const opened = {
    crypto,
    options,
    header,
    line: line.number,
    log: new FindingLog(options.budget),
    name,
    organization: organizationOf(name?.family ?? chain),
    genesis: genesisPrevious(crypto, origin),
  };
  if (!line.isCanonical) opened.log.add("NON_CANONICAL_LINE", { line: line.number });
  checkHeader(opened);
  const tree = treeChecks(opened);
  const checks = { ...opened, ...tree, ...recordChecks(opened, tree) };
  // The first entry of a chain after a restore says whether it goes on from the chain before it.
  const isCut = base.size > 0;
  if (isCut || name?.epoch === 1) options.family.begin({ isOpen: isCut });
  return checks;
}

/** Reports an entry that names another chain, or another organization, than the header. */
export function checkOwner(
  { header, log, organization }: Checks,
  { seq, chain, org_id }: Entry,
  line: number,
): void {
  if (chain === header.chain && org_id === organization) return;
  log.add("WRONG_CHAIN", { seq, line, detail: `${chain} of ${org_id ?? "no organization"}` });
}

function checkHeader({ header: { origin, chain, base }, line, log, genesis }: Opened): void {
  if (chainPrefix(origin, chain) === null) {
    log.add("WRONG_ORIGIN", { line, detail: `${origin} is not that of ${chain}` });
  }
  if (base.size === 0 && !equalBytes(genesis, fromHex(base.prev))) {
    log.add("GENESIS_MISMATCH", { seq: 0, line, detail: "the header's prev" });
  }
}

function treeChecks({ crypto, options, header, line, log, name, genesis }: Opened): TreeChecks {
  const { origin, base, keys } = header;
  const { pins, memory, holders, anchors, expected, agreements } = options;
  const signatures = new SignatureCheck(crypto, log, {
    origin,
    chain: name,
    pins,
    keys,
    line,
    memory,
    holders,
  });
  const isWhole = base.size === 0;
  const prefix = isWhole ? null : provePrefix(crypto, header, { log, signatures, line });
  const known = options.known.filter((checkpoint) => signatures.isSignedByTrusted(checkpoint));
  const isTrusted = new Set(known);
  const kept = new KeptCheck(crypto, log, {
    base: base.size,
    known,
    anchors,
    expected,
    agreements,
    isByCurrentKey: (checkpoint) => signatures.isByCurrentKey(checkpoint),
  });
  const chain = new ChainCheck(crypto, log, {
    size: base.size,
    previous: isWhole ? genesis : fromHex(base.prev),
    frontier: baseFrontier(base),
  });
  if (prefix !== null) chain.prove(base.size);
  return {
    signatures,
    prefix,
    known,
    untrusted: options.known.filter((checkpoint) => !isTrusted.has(checkpoint)),
    kept,
    chain,
    checkpoints: new CheckpointCheck(log, { origin, signatures, chain, kept, base: prefix }),
  };
}

function recordChecks(
  { crypto, options, header: { origin, base }, log, name }: Opened,
  { signatures, prefix, known }: TreeChecks,
): RecordChecks {
  const { subjects, removals, names } = options.family;
  const retention = new RetentionCheck(log, {
    origin,
    policy: policyOf(name?.family ?? ""),
    prefix: { size: base.size, root: prefix?.root ?? null },
    awaited: removals,
  });
  const parts = new PartCheck(crypto, log, { bundle: options.index, subjects, retention });
  const models = new ModelCheck(crypto, log);
  const states = new StateCheck(crypto, log, options.family);
  const isLaterEpoch = (name?.epoch ?? 1) > 1;
  const commits = new CommitCheck(crypto, log, { isLaterEpoch, first: base.size });
  return {
    retention,
    parts,
    structure: new StructureCheck(log, {
      origin,
      chain: name,
      parts,
      retention,
      signatures,
      subjects,
      known,
    }),
    models,
    states,
    commits,
    probes: new ProbeCheck(crypto, log, { parts, family: options.family }),
    repeats: options.repeats ? new RepeatCheck(log, { parts, names }) : null,
    replay: options.replay ? new ReplayCheck(log, { parts, models, states, commits }) : null,
    census: options.census
      ? new CensusCount(crypto, {
        parts,
        seed: options.seed,
        keptSizes: options.known.map(({ size }) => size),
      })
      : null,
  };
}
