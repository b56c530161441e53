/**
 * The second stage of a start: it opens the stored installation, or creates one, and finishes what an earlier
 * process left undone. If nothing may be recorded yet because the clock cannot be believed, that happens as
 * soon as it may.
 */
import { mendSigningKeys } from "../operations/chains/own_keys.ts";
import type { Config } from "../config/config.ts";
import type { Clock, World } from "../domain/world.ts";
import { SYSTEM_CHAIN } from "../evidence/chain_name.ts";
import { modelSha256 } from "../evidence/hashes.ts";
import { nodeCrypto } from "../evidence/node_crypto.ts";
import type { Log } from "../observability/log.ts";
import { AuditLines } from "../operations/chains/audit_lines.ts";
import type { Dependencies } from "../operations/dependencies.ts";
import {
  type ClockReading,
  type ClockRule,
  ClockWatch,
  recordClockAnomaly,
} from "../operations/installation/clock_watch.ts";
import {
  applySecrets,
  type InstallationOptions,
  openInstallation,
} from "../operations/installation/installation.ts";
import { type InstallationSeals, lockedSeals } from "../operations/installation/installation_seals.ts";
import { RegisteredRows } from "../operations/organizations/registered.ts";
import { Shadow, type ShadowBounds, type ShadowOptions } from "../operations/scoring/shadow.ts";
import type { Sending } from "../operations/shared/capabilities.ts";
import { type SignerSource, SigningKeys } from "../operations/shared/signing.ts";
import { TamperedChains } from "../operations/shared/tampering.ts";
import type { Model } from "../scoring/model.ts";
import { loadHeads } from "../store/chains.ts";
import type { Database } from "../store/database.ts";
import { type Committed, type Setback, Writer, type WriterOptions } from "../store/writer.ts";
import { bootstrap, keyMint, provideSigningKey, signerSource } from "./key_files.ts";
import type { Storage } from "./opened_storage.ts";
import { generateSigningKey } from "./world.ts";

/** Longest wait, milliseconds, before a commit is tried again while another process holds the database. */
const BACKOFF_CAP_MS = 50;
/** The loser of a race waits for so many commits at least, and for twice as many at most. */
const YIELDED_COMMITS = 4;
const YIELD_CAP_MS = 500;
/** Attempts from one such wait to the next. */
const RACES = 6;

export interface RecoveryOptions {
  readonly config: Config;
  readonly log: Log;
  readonly clock: Clock;
  readonly world: World;
  /** Mints API keys; default: from the world's randomness. */
  readonly mintKey?: () => string;
  /** Holds the signing keys; default: the configured files, and the start makes a first key if there is none. */
  readonly signerSource?: SignerSource;
  readonly clockRule: ClockRule;
  /** True to record a restore: the table of signing keys is made anew if somebody altered it. */
  readonly isRestore?: boolean;
  /**
   * True if this is the service: it also logs the audit events that commands record meanwhile, and it runs
   * the candidate model.
   */
  readonly isService?: boolean;
  /** False if altered data raises no alert; default true. */
  readonly raisesTampering?: boolean;
  /** Upper bounds of the memory of the candidate model; default: the program's. */
  readonly shadowBounds?: ShadowBounds;
}

/** Is told of events as they happen. */
export interface Observer {
  /** Called for each commit, after it is durable. */
  readonly onCommitted: (committed: Committed) => void;
  /** Called for each interaction that the candidate model was compared at. */
  readonly onCompared: NonNullable<ShadowOptions["onCompared"]>;
}

export interface Recovered {
  /** The dependencies of operations, without those for webhooks. Writes fail while the clock is refused. */
  readonly base: Omit<Dependencies, keyof Sending> & { readonly seals: InstallationSeals };
  readonly clockWatch: ClockWatch;
  readonly auditLines: AuditLines;
  /** True if a restore made the table of signing keys anew. */
  readonly areKeysMended: boolean;
  /** False while the installation is open for reads only. */
  isCurrent(): boolean;
  /** From now on tells the observer of each event, after those that were added before it. */
  observe(observer: Observer): void;
  /** Looks at this machine's clock and records an anomaly. */
  lookAtClock(): Promise<void>;
  /** Records that this machine's clock is right after a jump; null if there is nothing to accept. */
  acceptClock(): Promise<ClockReading | null>;
  /** Closes the writers after they have finished the writes that were accepted. */
  close(): Promise<void>;
}

/** A model with the hash of its document. */
export function modelOf(document: Config["model"]): Model {
  return { document, sha256: modelSha256(nodeCrypto, document) };
}

/** @throws {StartError} if the start cannot go on. */
export async function recover(options: RecoveryOptions, { database, lock }: Storage): Promise<Recovered> {
  const { log, clock, clockRule, isService = false } = options;
  const auditLines = new AuditLines(log);
  if (isService) await auditLines.skipExisting(database);
  const { signing, areKeysMended } = await openSigningKeys(options, database);
  const lastEntryAt = await lastEntryOf(database);
  const clockWatch = new ClockWatch({ clock, lock, log, rule: clockRule, lastEntryAt });
  const observers: Observer[] = [];
  const shadow = isService ? shadowOf(options, observers) : null;
  const common = commonDependencies(options, { signing, lock, shadow });
  const onCommitted = (commit: Committed) => {
    for (const observer of observers) observer.onCommitted(commit);
    auditLines.logOwn(commit.entries);
    shadow?.enqueue(commit.entries);
  };
  const writerOver = (written: Database) =>
    openWriter(options, { ...common, database: written, onCommitted });
  // Records that must precede all others are written without the check of the clock.
  const unguarded = { ...common, database, writer: writerOver(database) };
  const installing = new Installing(options, unguarded);
  const { installation } = await installing.open({ readsOnly: clockWatch.isRefused });
  const guarded: Database = {
    ...database,
    async batch(statements) {
      clockWatch.require();
      if (clockRule.recordsClock) await installing.resume();
      await database.batch(statements);
    },
  };
  const writer = writerOver(guarded);
  const lookAtClock = () =>
    clockWatch.check({
      record: (anomaly) => recordClockAnomaly(unguarded, anomaly),
      resume: () => installing.resume(),
    });
  await lookAtClock();
  return {
    base: { ...common, database: guarded, writer, installation },
    clockWatch,
    auditLines,
    areKeysMended,
    isCurrent: () => installing.isCurrent,
    observe: (observer) => void observers.push(observer),
    lookAtClock,
    acceptClock: () => acceptClock(clockWatch, unguarded),
    async close() {
      await writer.close();
      await shadow?.close();
      await lookAtClock();
      await unguarded.writer.close();
      clockWatch.finish();
    },
  };
}

/** Opens the deployment's signing keys. */
async function openSigningKeys(
  options: RecoveryOptions,
  database: Database,
): Promise<{ readonly signing: SigningKeys; readonly areKeysMended: boolean }> {
  const { config, log, world, isRestore = false } = options;
  const source = options.signerSource ?? await signerFilesOf(config, database);
  const signing = new SigningKeys({ database, crypto: nodeCrypto, world, log, source });
  const held = signing.held.map(({ publicKey }) => publicKey);
  const areKeysMended = isRestore && await mendSigningKeys({ database, crypto: nodeCrypto }, held);
  return { signing, areKeysMended };
}

/** The files of the signing keys; makes the first key if there is none. */
async function signerFilesOf(config: Config, database: Database): Promise<SignerSource> {
  await provideSigningKey(config, { database, generate: generateSigningKey });
  return signerSource(config);
}

/** The dependencies that do not hang on whether the clock is checked. */
function commonDependencies(
  { config, log, world, mintKey = keyMint(world), raisesTampering = true }: RecoveryOptions,
  { signing, lock, shadow }: Pick<Storage, "lock"> & {
    readonly signing: SigningKeys;
    readonly shadow: Shadow | null;
  },
) {
  return {
    crypto: nodeCrypto,
    signing,
    seals: lockedSeals(),
    lock,
    world,
    log,
    model: modelOf(config.model),
    registered: new RegisteredRows(),
    tampered: raisesTampering ? new TamperedChains() : null,
    shadow,
    mintKey,
    logName: config.logName,
    auditRetentionDays: config.auditRetentionDays,
    evidenceRetentionDays: config.evidenceRetentionDays,
    assessmentRetentionDays: config.assessmentRetentionDays,
    peppers: config.peppers,
    secretsKeys: config.secretsKeys,
    privacy: config.privacy,
    sessionTimes: { lifetimeMs: config.sessionHours * 3_600_000, idleMs: config.sessionIdleMinutes * 60_000 },
  };
}

function openWriter(
  { clock, world }: RecoveryOptions,
  parts: Omit<WriterOptions, "monotonic" | "backoff">,
): Writer {
  return new Writer({
    ...parts,
    monotonic: () => clock.monotonic(),
    backoff: (setback) => clock.wait(backoffMs(setback, world)),
  });
}

/** Records that this machine's clock is right after a jump; null if there is nothing to accept. */
async function acceptClock(clockWatch: ClockWatch, unguarded: Unguarded): Promise<ClockReading | null> {
  const reading = clockWatch.readingToAccept;
  if (reading === null) return null;
  await recordClockAnomaly(unguarded, { ...reading, noticed: "accepted" });
  unguarded.lock.recordClock({ at: reading.clockAt, isRefused: false });
  return reading;
}

type Unguarded =
  & Omit<InstallationOptions, "now" | "readsOnly">
  & Omit<Dependencies, keyof Sending | "installation">;

/** Opens the installation at the start, and again once records that the start left out may be written. */
class Installing {
  #isCurrent = false;
  #resuming: Promise<void> | null = null;

  constructor(
    private readonly options: Pick<RecoveryOptions, "config" | "clock">,
    private readonly unguarded: Unguarded,
  ) {}

  get isCurrent(): boolean {
    return this.#isCurrent;
  }

  async open({ readsOnly }: { readonly readsOnly: boolean }) {
    const { unguarded } = this;
    const opened = await openInstallation({ ...unguarded, now: this.options.clock.now(), readsOnly });
    this.#isCurrent = opened.isCurrent;
    const { bootstrapOrganization: first } = this.options.config;
    if (opened.isCurrent && first !== null) {
      const dependencies = { ...unguarded, installation: opened.installation };
      const { clock, config: { baseUrl } } = this.options;
      await bootstrap(dependencies, first, { now: clock.now(), baseUrl });
    }
    return opened;
  }

  /** Does what the start left out, if it left anything out. */
  async resume(): Promise<void> {
    if (this.#isCurrent) return;
    this.#resuming ??= this.#resumeOnce().finally(() => this.#resuming = null);
    await this.#resuming;
  }

  async #resumeOnce(): Promise<void> {
    const { isCurrent: current } = await this.open({ readsOnly: false });
    if (current) await applySecrets(this.unguarded);
  }
}

function shadowOf(
  { config, clock, log, shadowBounds: bounds }: RecoveryOptions,
  observers: readonly Observer[],
): Shadow | null {
  if (config.shadowModel === null) return null;
  const shadow = new Shadow({
    candidate: modelOf(config.shadowModel),
    since: clock.now(),
    log,
    monotonic: () => clock.monotonic(),
    onCompared(comparison) {
      for (const observer of observers) observer.onCompared(comparison);
    },
    ...(bounds === undefined ? {} : { bounds }),
  });
  const { document, sha256 } = shadow.candidate;
  log.info("a candidate model runs in shadow", { candidate: document.version, sha256 });
  return shadow;
}

/** Timestamp of the newest entry of the system chain, epoch milliseconds; null if there is none. */
async function lastEntryOf(database: Database): Promise<number | null> {
  const [head] = await loadHeads(database, [SYSTEM_CHAIN]);
  return head === undefined ? null : Date.parse(head.lastTimestamp);
}

/**
 * Milliseconds to wait before a commit is tried again. The loser of a race lets the winner make some commits,
 * because in each race one of the two works in vain. Then it tries at once, until it wins or has tried
 * `RACES` times.
 */
function backoffMs({ attempt, tookMs, cause }: Setback, world: World): number {
  const fraction = world.random(1)[0]! / 255;
  if (cause === "busy") return fraction * Math.min(2 ** attempt, BACKOFF_CAP_MS);
  if (attempt % RACES !== 1) return 0;
  return Math.min((YIELDED_COMMITS + fraction * YIELDED_COMMITS) * tookMs, YIELD_CAP_MS);
}
