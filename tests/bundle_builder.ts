/**
 * A small deployment in memory that writes evidence as the service does, without a database: chains with
 * scores that replay, labels, erasures, retention, key rotations and restores, and the bundles of all of
 * them.
 *
 * Everything follows from the seed and the calls, so that the same calls give the same bytes.
 */
import type { Decision, ScenarioType } from "../src/domain/enums.ts";
import { type Interaction, recordedInteractionSchema } from "../src/domain/interaction.ts";
import {
  beginningLine,
  type BundleHeader,
  checkpointLine,
  headerLine,
  ladderLine,
  modelLine,
  partLine,
  STRUCTURAL_EVENTS,
  trailerLine,
} from "../src/evidence/bundle.ts";
import { canonicalJson } from "../src/evidence/canonical.ts";
import { formatEpoch, parseChain } from "../src/evidence/chain_name.ts";
import { consistencyPath, frontierFrom } from "../src/evidence/consistency.ts";
import { base64, fromHex, hex, type Signer, utf8 } from "../src/evidence/crypto.ts";
import {
  type Actor,
  type AppendedEntry,
  appendEntry,
  type ChainHead,
  emptyChain,
} from "../src/evidence/entry.ts";
import { modelSha256, type PartName } from "../src/evidence/hashes.ts";
import { type KnownCheckpoint, knownCheckpointOrNull } from "../src/evidence/kept.ts";
import { inclusionPath, rootOf } from "../src/evidence/merkle.ts";
import { nodeCrypto, signerFromPem } from "../src/evidence/node_crypto.ts";
import { formatCheckpoint, formatVerifierKey, signNote } from "../src/evidence/note.ts";
import {
  computeDecision,
  computeLabel,
  computeScore,
  decisionResultPart,
  inputHead,
  type LabelInput,
  type ScoreInput,
  scoreResultPart,
} from "../src/evidence/record.ts";
import { formatRotationCertificate } from "../src/evidence/rotation.ts";
import { type PinnedKey } from "../src/evidence/trust.ts";
import type { Model } from "../src/scoring/model.ts";
import type { OperatorState } from "../src/scoring/state.ts";
import { JIS_1_0_0 } from "./models.ts";

/** 2026-11-20T09:00:00.000Z */
const EPOCH = 1_795_165_200_000;
const DAY_MS = 86_400_000;
const DEPLOYMENT = "01TESTDEPLOYMENT";

export interface WorldOptions {
  /** Seeds the keys, ids, salts and pseudonyms. */
  readonly seed?: string;
  readonly deployment?: string;
  /** The first key. Default: the seed's first. */
  readonly signer?: Signer;
  /** Milliseconds between two entries. */
  readonly step?: number;
}

/** A throw-away key: its seed is the label's SHA-256. */
export function throwAwaySigner(label: string): Signer {
  const pkcs8 = [...fromHex("302e020100300506032b657004220420"), ...nodeCrypto.sha256(utf8(label))];
  const text = base64(Uint8Array.from(pkcs8));
  return signerFromPem(`-----BEGIN PRIVATE KEY-----\n${text}\n-----END PRIVATE KEY-----\n`);
}

/** A key with the certificate that brought it in. */
interface WorldKey {
  readonly signer: Signer;
  readonly cert: string | null;
}

/** The row that the service stores for an operator. */
interface OperatorRow {
  readonly pseudonym: string;
  readonly state: OperatorState | null;
  readonly prior: { readonly seq: number; readonly entry_hash: string } | null;
}

interface StoredEntry extends AppendedEntry {
  readonly gone: Set<PartName>;
  /** The keys that sign the checkpoint that this entry ends. */
  readonly signers: readonly Signer[];
  /** The operator whose row it changed, and the new row. */
  readonly moved: readonly [operatorId: string, row: OperatorRow] | null;
}

export function buildWorld(options: WorldOptions = {}): World {
  return new World(options);
}

export class World {
  readonly deployment: string;
  readonly #seed: string;
  readonly #step: number;
  #drawn = 0;
  /** Epoch milliseconds. */
  now = EPOCH;
  model: Model = modelOf(JIS_1_0_0);
  #keys: readonly WorldKey[];
  #signers: readonly Signer[];

  constructor({ seed = "world", step = 1000, deployment = DEPLOYMENT, signer }: WorldOptions) {
    this.deployment = deployment;
    this.#seed = seed;
    this.#step = step;
    const first = signer ?? this.newSigner(1);
    this.#keys = [{ signer: first, cert: null }];
    this.#signers = [first];
  }

  get prefix(): string {
    return `jiss.test/${this.deployment}/`;
  }

  /** The keys of this world, oldest first. */
  get keys(): readonly WorldKey[] {
    return this.#keys;
  }

  /** The current signers. */
  get signers(): readonly Signer[] {
    return this.#signers;
  }

  /** The key of an ordinal, as an auditor pins it. */
  pin(ordinal = 1): PinnedKey {
    return { publicKey: this.newSigner(ordinal).publicKey, prefix: null, from: null, until: null };
  }

  /** The key that has, or will have, this ordinal. */
  newSigner(ordinal: number): Signer {
    return throwAwaySigner(`${this.#seed} key ${ordinal}`);
  }

  /** Begins a chain with its first entry. */
  chain(
    name: string,
    { retentionDays = null }: { readonly retentionDays?: number | null } = {},
  ): ChainWriter {
    const writer = new ChainWriter(this, name);
    writer.begin(retentionDays);
    return writer;
  }

  /** Makes the next key and its certificate; both keys sign from now on. Each chain still has to take it up. */
  makeKey(reason = "scheduled"): WorldKey {
    const ordinal = this.#keys.length + 1;
    const [old, signer] = [this.#keys.at(-1)!.signer, this.newSigner(ordinal)];
    const from = new Date(this.now).toISOString();
    const cert = formatRotationCertificate(nodeCrypto, {
      prefix: this.prefix,
      ordinal,
      from,
      reason,
      old,
      new: signer,
    });
    const key = { signer, cert };
    this.#keys = [...this.#keys, key];
    this.#signers = [signer, old];
    return key;
  }

  /** Ends the overlap: the newest key alone signs. */
  dropOldKeys(): void {
    this.#signers = this.#signers.slice(0, 1);
  }

  tick(): number {
    this.now += this.#step;
    return this.now;
  }

  bytes(length: number): Uint8Array {
    this.#drawn += 1;
    return nodeCrypto.sha256(utf8(`${this.#seed}/${this.#drawn}`)).slice(0, length);
  }

  id(): string {
    this.#drawn += 1;
    return `01TEST${String(this.#drawn).padStart(20, "0")}`;
  }
}

export function modelOf(document: Model["document"]): Model {
  return { document, sha256: modelSha256(nodeCrypto, document) };
}

/** The content of one entry. */
export interface EventFields {
  readonly eventType: string;
  readonly actor?: Actor;
  readonly subject?: string | null;
  readonly parts: Partial<Record<PartName, unknown>>;
}

export interface ScoreFields {
  readonly interaction?: Partial<Interaction>;
  readonly mode?: ScoreInput["mode"];
  /** Default: one that no other score of the chain has. */
  readonly session?: string;
}

export interface BundleFields {
  /** The parts that are included. */
  readonly parts?: "all" | "structural" | "none";
  /** Checkpoints at each multiple of this. */
  readonly every?: number;
  /** Sizes of the ladder. */
  readonly ladder?: readonly number[];
  /** Entries, from the first; default: all. */
  readonly size?: number;
}

/** One chain. */
export class ChainWriter {
  readonly #world: World;
  readonly chain: string;
  readonly origin: string;
  #head: ChainHead;
  readonly #list: StoredEntry[] = [];
  readonly #roots: Uint8Array[] = [];
  readonly #nodes = new Map<number, Uint8Array>();
  readonly #operators = new Map<string, OperatorRow>();
  #retentionDays: number | null = null;
  #base = 0;

  constructor(world: World, chain: string) {
    this.#world = world;
    this.chain = chain;
    this.origin = `${world.prefix}${chain}`;
    this.#head = emptyChain(nodeCrypto, { chain, origin: this.origin });
  }

  get size(): number {
    return this.#list.length;
  }

  // ---- writing ------------------------------------------------------------------------------------------------

  begin(retentionDays: number | null, more: Record<string, unknown> = {}): void {
    this.#retentionDays = retentionDays;
    const { publicKey } = this.#world.signers[0]!;
    const isRestoredSystem = this.chain.startsWith("sys/");
    this.append({
      eventType: isRestoredSystem ? "CHAIN_RESTORED" : "CHAIN_GENESIS",
      parts: {
        detail: {
          deployment: this.#world.deployment,
          origin: this.origin,
          retention_days: retentionDays,
          vkey: formatVerifierKey(nodeCrypto, { name: this.origin, publicKey }),
          ...more,
        },
      },
    });
  }

  /** Appends any entry; its seq. */
  append({ eventType, actor = "system", subject = null, parts }: EventFields): number {
    const appended = this.#append({ eventType, actor, subject, parts }, this.#world.id());
    this.#store(appended, null);
    return appended.entry.seq;
  }

  /** The pseudonym of an operator. */
  pseudonymOf(operatorId: string): string {
    return this.#operator(operatorId).pseudonym;
  }

  /** Scores an interaction of an operator; its seq. */
  score(
    operatorId: string,
    { interaction = {}, mode = "full", session = this.#nameOf("session") }: ScoreFields = {},
  ): number {
    const world = this.#world;
    const row = this.#operator(operatorId);
    const input = {
      ...this.#inputHead(operatorId, row),
      session_id: session,
      domain: "general",
      interaction: interactionAt(this.size, interaction),
      mode,
      role_tier: "tier_1",
      mode_override: "normal",
    } as const;
    const { result, weights, state } = computeScore(world.model.document, input);
    const appended = this.#append({
      eventType: "SCORE_COMPUTED",
      actor: "api",
      subject: row.pseudonym,
      parts: { input: { ...input, weights }, result: scoreResultPart(input, result) },
    }, world.id());
    return this.#store(appended, { operatorId, row, state });
  }

  /** A frozen call; its seq. */
  skip(operatorId: string, session = this.#nameOf("session")): number {
    const row = this.#operator(operatorId);
    const input = {
      ...this.#inputHead(operatorId, { ...row, prior: null, state: null }),
      session_id: session,
      domain: "general",
      interaction: interactionAt(this.size, {}),
      mode: "full",
      role_tier: "tier_1",
      mode_override: "incident_frozen",
      weights: null,
    } as const;
    const result = scoreResultPart(input, {
      skipped: true,
      reason: "incident_frozen",
      jis: null,
      mode: "standard",
    });
    return this.append({
      eventType: "SCORE_SKIPPED",
      actor: "api",
      subject: row.pseudonym,
      parts: { input, result },
    });
  }

  /** Scores a decision; its seq. */
  decide(operatorId: string, name = this.#nameOf("decision")): number {
    const row = this.#operator(operatorId);
    const id = this.#world.id();
    const input = {
      ...this.#inputHead(operatorId, row),
      decision_id: name,
      domain: "general",
      interaction: interactionAt(this.size, {}),
      ai_confidence: 0.9,
      stakes: null,
    } as const;
    const result = computeDecision(this.#world.model.document, input);
    const appended = this.#append({
      eventType: "DRS_COMPUTED",
      actor: "api",
      subject: row.pseudonym,
      parts: { input, result: decisionResultPart(input, { result, auditId: id }) },
    }, id);
    return this.#store(appended, null);
  }

  /** Commits the score at a seq; the commit's seq. */
  commit(seq: number): number {
    const { entry, hash } = this.#list[seq]!;
    return this.append({
      eventType: "SCORE_COMMITTED",
      actor: "api",
      subject: entry.subject,
      parts: {
        detail: { ref_id: entry.id, ref_seq: seq, ref_entry_hash: hex(hash) },
        result: { ...this.#partOf(seq, "result"), provisional: false, committed: true },
      },
    });
  }

  /** Labels the score at a seq; the label's seq. */
  label(seq: number, label: boolean): number {
    const { entry, hash } = this.#list[seq]!;
    const scored = this.#partOf(seq, "input") as unknown as ScoreInput;
    const row = this.#operator(scored.operator_id);
    const input: LabelInput = {
      ...this.#inputHead(scored.operator_id, row),
      session_id: scored.session_id,
      ref_id: entry.id,
      ref_seq: seq,
      ref_entry_hash: hex(hash),
      decision: scored.interaction.decision,
      scenario_type: scored.interaction.scenario_type,
      label,
      weights: scored.weights,
      state: row.state!,
    };
    const state = computeLabel(this.#world.model.document, input);
    const appended = this.#append({
      eventType: "OUTCOME_LABELLED",
      actor: "api",
      subject: row.pseudonym,
      parts: { input },
    }, this.#world.id());
    return this.#store(appended, { operatorId: scored.operator_id, row, state });
  }

  /** Destroys all parts of an operator and records it; the record's seq. */
  erase(operatorId: string): number {
    const { pseudonym } = this.#operator(operatorId);
    const own = this.#list.filter(({ entry }) => entry.subject === pseudonym);
    for (const { gone, parts } of own) for (const { name } of parts) gone.add(name);
    this.#operators.delete(operatorId);
    const requested_at = new Date(this.#world.now).toISOString();
    return this.append({
      eventType: "SUBJECT_ERASED",
      subject: pseudonym,
      parts: { detail: { requested_at, entries: own.length, basis: "request" } },
    });
  }

  /** Switches to the newest key; its seq. With `overlap` false the old one is retired. */
  rotate({ overlap = true }: { readonly overlap?: boolean } = {}): number {
    const { cert } = this.#world.keys.at(-1)!;
    return this.append({ eventType: "SIGNING_KEY_ROTATED", parts: { detail: { cert, overlap } } });
  }

  /** Changes the retention of chains of this kind. */
  setRetention(days: number): number {
    const policy = this.chain.includes("/admin") ? "audit_log" : "evidence";
    const detail = { policy, from_days: this.#retentionDays, to_days: days };
    this.#retentionDays = days;
    return this.append({ eventType: "RETENTION_POLICY", parts: { detail } });
  }

  /** Removes the entries before `to`, and records it; the record's seq. */
  prune(to: number, more: Record<string, unknown> = {}): number {
    const policyDays = this.#retentionDays ?? 0;
    const last = this.#list[to - 1]!.entry.timestamp;
    const detail = {
      origin: this.origin,
      from: this.#base,
      to,
      root: hex(this.#roots[to - 1]!),
      last_ts: last,
      cutoff: new Date(this.#world.now - policyDays * DAY_MS).toISOString(),
      policy_days: policyDays,
      ...more,
    };
    this.#base = to;
    return this.append({ eventType: "RETENTION_PRUNED", parts: { detail } });
  }

  /** Only on `sys`: anchors the newest checkpoint of other chains. */
  anchor(chains: readonly ChainWriter[]): number {
    const checkpoints = chains.map((chain) => {
      const { origin, size, root } = chain.checkpoint();
      return { origin, size, root: hex(root) };
    });
    return this.append({ eventType: "ORG_CHECKPOINTS", parts: { detail: { checkpoints } } });
  }

  /**
   * The chain that continues after a restore to the first `size` entries; the newest checkpoint is what the
   * installation knows that it published.
   */
  restore(size: number, more: Record<string, unknown> = {}): ChainWriter {
    const { family, epoch } = parseChain(this.chain)!;
    const next = new ChainWriter(this.#world, formatEpoch(family, epoch + 1));
    for (const { moved } of this.#list.slice(0, size)) if (moved !== null) next.#operators.set(...moved);
    next.begin(this.#retentionDays, {
      previous_origin: this.origin,
      last_known_checkpoint: this.checkpoint().note,
      restored_size: size,
      restored_root: size === 0 ? null : hex(this.#roots[size - 1]!),
      reason: "the disk failed",
      ...(family === "sys" ? { erased: [], lost: [] } : {}),
      ...more,
    });
    return next;
  }

  // ---- reading ------------------------------------------------------------------------------------------------

  /** The signed checkpoint of the first `size` entries; default: of all. */
  checkpoint(size = this.size): KnownCheckpoint {
    const text = formatCheckpoint({ origin: this.origin, size, root: this.#roots[size - 1]! });
    const { signers } = this.#list[size - 1]!;
    return knownCheckpointOrNull(signNote(nodeCrypto, { text, name: this.origin }, signers))!;
  }

  /** The hash of an entry, hexadecimal. */
  hashOf(seq: number): string {
    return hex(this.#list[seq]!.hash);
  }

  /** The chain, from the point that it was pruned to, as a bundle. */
  bundle({ parts = "all", every = 8, ladder = [], size = this.size }: BundleFields = {}): string {
    const lines = [headerLine(this.#header())];
    const entries = this.#list.slice(this.#base, size);
    if (parts === "all" && entries.some(({ entry }) => Object.hasOwn(entry.commit, "input"))) {
      lines.push(modelLine(this.#world.model));
    }
    for (const [index, from] of ladder.slice(0, -1).entries()) {
      const to = ladder[index + 1]!;
      const proof = consistencyPath(nodeCrypto, { from, to }, (node) => this.#nodes.get(node)).map(hex);
      lines.push(ladderLine({ from, to, proof }));
    }
    if (this.#base > 0 && parseChain(this.chain)!.epoch > 1 && parts !== "none") {
      lines.push(this.#beginning());
    }
    for (const stored of entries) {
      const { entry, text } = stored;
      lines.push(text, ...partLines(stored, parts));
      const reached = entry.seq + 1;
      if (reached % every === 0 && reached < size) {
        lines.push(checkpointLine(this.checkpoint(reached).note));
      }
    }
    const body = lines.map((line) => `${line}\n`).join("");
    const bundle_sha256 = hex(nodeCrypto.sha256(utf8(body)));
    return `${body}${trailerLine({ checkpoint: this.checkpoint(size).note, size, bundle_sha256 })}\n`;
  }

  /** The first entry, which is kept although it lies below a cut. */
  #beginning(): string {
    const { text, parts } = this.#list[0]!;
    const detail = parts.find(({ name }) => name === "detail")!;
    return beginningLine({
      entry: JSON.parse(text),
      salt: hex(detail.salt),
      data: JSON.parse(detail.text),
      path: inclusionPath(nodeCrypto, { leaf: 0, size: this.#base }, (node) => this.#nodes.get(node)).map(
        hex,
      ),
    });
  }

  #header(): Omit<BundleHeader, "kind"> {
    const { origin, chain } = this;
    const base = this.#base === 0
      ? { size: 0, prev: hex(emptyChain(nodeCrypto, this).previous), peaks: [], checkpoint: null }
      : {
        size: this.#base,
        prev: this.hashOf(this.#base - 1),
        peaks: frontierFrom(this.#base, (node) => this.#nodes.get(node)).peaks.map(hex),
        checkpoint: this.checkpoint(this.#base).note,
      };
    const keys = this.#world.keys.map(({ signer: { publicKey }, cert }) => ({
      vkey: formatVerifierKey(nodeCrypto, { name: origin, publicKey }),
      cert,
    }));
    const exported_at = new Date(this.#world.now).toISOString();
    return {
      origin,
      chain,
      base,
      keys,
      retention_days: this.#retentionDays,
      exported_at,
      software: "jiss test",
    };
  }

  /** A name that no other epoch of the chain uses. */
  #nameOf(kind: "session" | "decision"): string {
    const { epoch } = parseChain(this.chain)!;
    return epoch === 1 ? `${kind}-${this.size}` : `${kind}-e${epoch}-${this.size}`;
  }

  #operator(operatorId: string): OperatorRow {
    const known = this.#operators.get(operatorId);
    if (known !== undefined) return known;
    const row = { pseudonym: hex(this.#world.bytes(16)), state: null, prior: null };
    this.#operators.set(operatorId, row);
    return row;
  }

  #inputHead(operatorId: string, { prior, state }: Pick<OperatorRow, "prior" | "state">) {
    return { ...inputHead(this.#world.model, this.#world.tick()), operator_id: operatorId, prior, state };
  }

  #append({ eventType, actor, subject, parts }: Required<EventFields>, id: string): AppendedEntry {
    const world = this.#world;
    const { head, appended } = appendEntry(nodeCrypto, this.#head, {
      id,
      actor,
      eventType,
      orgId: this.chain.startsWith("org/") ? this.chain.split("/")[1]! : null,
      prefix: actor === "api" ? "jis_live" : null,
      subject,
      at: world.tick(),
      parts: Object.entries(parts).map(([name, data]) => ({
        name: name as PartName,
        salt: world.bytes(32),
        text: canonicalJson(data),
      })),
    });
    this.#head = head;
    return appended;
  }

  #store(
    appended: AppendedEntry,
    moved: { readonly operatorId: string; readonly row: OperatorRow; readonly state: OperatorState } | null,
  ): number {
    const { entry: { seq }, hash, nodes } = appended;
    const row = moved && {
      ...moved.row,
      // The form in which the database gives it back.
      state: JSON.parse(canonicalJson(moved.state)),
      prior: { seq, entry_hash: hex(hash) },
    };
    if (moved !== null) this.#operators.set(moved.operatorId, row!);
    for (const { index, hash: node } of nodes) this.#nodes.set(index, node);
    this.#roots.push(rootOf(nodeCrypto, this.#head.frontier.peaks));
    this.#list.push({
      ...appended,
      gone: new Set(),
      signers: this.#world.signers,
      moved: moved && [moved.operatorId, row!],
    });
    return seq;
  }

  #partOf(seq: number, name: PartName): Record<string, unknown> {
    return JSON.parse(this.#list[seq]!.parts.find((part) => part.name === name)!.text);
  }
}

function partLines({ entry, parts, gone }: StoredEntry, given: BundleFields["parts"]): readonly string[] {
  const isStructural = entry.actor === "system" &&
    (STRUCTURAL_EVENTS as readonly string[]).includes(entry.event_type);
  return parts.toSorted((a, b) => a.name < b.name ? -1 : 1).map(({ name, salt, text }) => {
    const at = { seq: entry.seq, name };
    if (gone.has(name)) return partLine({ ...at, absent: "erased" });
    const isGiven = given === "all" || (given === "structural" && isStructural && name === "detail");
    return partLine(isGiven ? { ...at, salt: hex(salt), text } : { ...at, absent: "withheld" });
  });
}

const DECISIONS: readonly Decision[] = ["accepted", "rejected", "modified", "accepted", "deferred"];
const SCENARIOS: readonly ScenarioType[] = ["standard", "standard", "error_injected", "high_stakes"];
const OUTCOMES = [true, null, false, null, true, null, null];

/** One of many interactions, by a counter. */
function interactionAt(at: number, fields: Partial<Interaction>): Interaction {
  return recordedInteractionSchema.parse({
    time_to_decision_ms: 4000 + (at * 7919) % 30_000,
    decision: DECISIONS[at % DECISIONS.length],
    modification_extent: (at % 10) / 10,
    scenario_type: SCENARIOS[at % SCENARIOS.length],
    outcome_correct: OUTCOMES[at % OUTCOMES.length],
    hover_events: at % 12,
    scroll_depth: (at % 11) / 10,
    alternative_views_checked: at % 4,
    ...fields,
  });
}
