/**
 * The real application on an in-memory database, with a clock that stands still until it is moved, and seeded
 * randomness; when it closes, every test's evidence is verified.
 */
import { createPrivateKey, hash } from "node:crypto";
import { RATE_WINDOW_MS } from "../src/domain/limits.ts";
import { canonicalJson } from "../src/evidence/canonical.ts";
import { modelSha256 } from "../src/evidence/hashes.ts";
import { nodeCrypto, signerFromPem } from "../src/evidence/node_crypto.ts";
import type { Signer } from "../src/evidence/crypto.ts";
import type { VerifierKey } from "../src/evidence/note.ts";
import { type App, createApp } from "../src/http/app.ts";
import type { Clock, World } from "../src/domain/world.ts";
import { MASTER_SCOPES, type MasterScope, type MasterSecrets } from "../src/keys/master_keys.ts";
import { parseNetworks } from "../src/limits/networks.ts";
import type { RateWindow } from "../src/limits/admission.ts";
import { SlidingWindow, type SlidingWindowOptions } from "../src/limits/sliding_window.ts";
import { createLog } from "../src/observability/log.ts";
import { BreachLog } from "../src/operations/organizations/breaches.ts";
import { dispatchedDeliveries } from "../src/operations/webhooks/deliveries.ts";
import { type Dependencies } from "../src/operations/dependencies.ts";
import { noDeliveries } from "../src/operations/shared/sending.ts";
import { openInstallation } from "../src/operations/installation/installation.ts";
import { type InstallationSeals, lockedSeals } from "../src/operations/installation/installation_seals.ts";
import { createOrganization } from "../src/operations/organizations/organizations.ts";
import { finishRotation, type SignerSource, SigningKeys } from "../src/operations/shared/signing.ts";
import { RegisteredRows } from "../src/operations/organizations/registered.ts";
import { TamperedChains } from "../src/operations/shared/tampering.ts";
import { Shadow, type ShadowBounds } from "../src/operations/scoring/shadow.ts";
import type { ModelDocument } from "../src/scoring/model.ts";
import { type Database, query } from "../src/store/database.ts";
import { openLock } from "../src/store/lock.ts";
import { Writer } from "../src/store/writer.ts";
import { keyMint } from "../src/service/startup.ts";
import { createDeliverer, type Deliverer } from "../src/webhooks/delivery.ts";
import { isOwnListener, type OwnListener } from "../src/webhooks/target.ts";
import { openTestDatabase } from "./database.ts";
import { JIS_1_0_0 } from "./models.ts";
import { verifyDatabase } from "./oracle.ts";
import { bringToSchema } from "./schema.ts";

/** 2026-11-20T09:00:00.000Z: after the sunset of body keys. */
export const EPOCH = 1_795_165_200_000;

/** A throw-away key, made from a label so that every run signs the same bytes. */
export const SIGNING_KEY_PEM = pemOf("jiss test signing key");

export const MASTER_KEYS = Object.fromEntries(
  MASTER_SCOPES.map((scope) => [scope, `master-key-of-the-tests-${scope}-0001`]),
) as Readonly<Record<MasterScope, string>>;
export const MASTER_SECRETS: MasterSecrets = Object.fromEntries(
  MASTER_SCOPES.map((scope) => [scope, [MASTER_KEYS[scope]]]),
);
export const MASTER_KEY = MASTER_KEYS.ORG_CREATE;
export const PEPPER = "pepper-of-the-tests-0123456789-0123456789";

/** Wraps secrets at rest. */
export const SECRETS_KEY = new Uint8Array(32).fill(7);

/** PKCS#8 PEM of the Ed25519 key whose seed is the label's SHA-256. */
export function pemOf(label: string): string {
  const der = new Uint8Array([
    ...Uint8Array.fromHex("302e020100300506032b657004220420"),
    ...hash("sha256", label, "buffer"),
  ]);
  return createPrivateKey({ key: der as never, format: "der", type: "pkcs8" })
    .export({ format: "pem", type: "pkcs8" }).toString();
}

export interface ManualClock extends Clock {
  advance(milliseconds: number): void;
}

/** Stands until advanced; waiting advances it. */
export function manualClock(start = EPOCH): ManualClock {
  let now = start;
  return {
    now: () => now,
    monotonic: () => now - start,
    wait(milliseconds) {
      now += Math.ceil(milliseconds);
      return Promise.resolve();
    },
    until(instant) {
      now = Math.max(now, start + Math.ceil(instant));
      return Promise.resolve();
    },
    advance(milliseconds) {
      now += milliseconds;
    },
  };
}

/** Bytes and ids from a counter: the same in every run, never the same twice. */
export function seededWorld(seed = "harness", first = 0): World {
  let counter = first;
  const block = () => new Uint8Array(hash("sha256", `${seed}/${counter++}`, "buffer"));
  return {
    random(length) {
      const bytes = new Uint8Array(length);
      for (let offset = 0; offset < length; offset += 32) {
        bytes.set(block().subarray(0, length - offset), offset);
      }
      return bytes;
    },
    ulid: () => `01TEST${String(counter++).padStart(20, "0")}`,
  };
}

export interface HarnessOptions {
  readonly rateLimitIp?: number;
  readonly rateLimitKey?: number;
  /** Layers of rate limits in place of those in memory. */
  readonly addressWindow?: RateWindow;
  readonly keyWindow?: RateWindow;
  readonly trustedProxies?: readonly string[];
  readonly masterSecrets?: Partial<Record<MasterScope, readonly string[]>>;
  /** Wraps the database, to make it fail or to watch it. */
  readonly wrap?: (database: Database) => Database;
  readonly servesTls?: boolean;
  /** The database's file; in memory without one. */
  readonly path?: string;
  /** The lock's file; in memory without one. */
  readonly lockPath?: string;
  /** How many runs used the same files before: each draws bytes and ids of its own. */
  readonly run?: number;
  /** The first instant of its clock, epoch milliseconds. */
  readonly startsAt?: number;
  readonly auditRetentionDays?: number;
  readonly evidenceRetentionDays?: number;
  readonly mintKey?: () => string;
  readonly webhookAllow?: readonly string[];
  /** The addresses at which the service listens, for the checks of webhooks. */
  readonly listeners?: readonly OwnListener[];
  /** The addresses that names resolve to. */
  readonly hosts?: Readonly<Record<string, readonly string[]>>;
  /** Sends webhooks, in place of the real deliverer. */
  readonly deliverer?: Deliverer;
  readonly webhookBackoffMs?: readonly number[];
  /** Certificates that receivers of webhooks are trusted by; without them nothing goes over the network. */
  readonly certificates?: readonly string[];
  readonly adminDashboard?: boolean;
  readonly bodyMemoryBytes?: number;
  /** Whether alerts are raised for altered data. Not by default: tests put altered rows back. */
  readonly raisesTampering?: boolean;
  /** A candidate model that runs in shadow. */
  readonly candidate?: ModelDocument;
  readonly shadowBounds?: ShadowBounds;
  /** The contents of the signing key files: the key in use, then the one before it. */
  readonly signers?: readonly Signer[];
}

/** The hosts in the catalogue's examples. */
const HOSTS: Readonly<Record<string, readonly string[]>> = { "review.acme.example": ["198.41.0.4"] };

/** Nobody listens at any destination. */
const NOBODY_LISTENS: Deliverer = {
  deliver: () => Promise.resolve({ status: null, error: "connection_failed", durationMs: 0 }),
  close() {},
};

/** The most ids that one run draws. */
const IDS_OF_A_RUN = 1_000_000;

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // deno-lint-ignore no-explicit-any -- an answer is whatever the service said
  readonly body: any;
  readonly text: string;
}

export interface RequestOptions {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON; a string or bytes are sent unchanged. */
  readonly body?: unknown;
  readonly key?: string;
  readonly peer?: string;
}

export interface MasterOptions extends Omit<RequestOptions, "key"> {
  readonly idempotencyKey?: string;
}

export interface Harness {
  readonly app: App;
  readonly clock: ManualClock;
  readonly database: Database;
  readonly dependencies: Dependencies & { readonly seals: InstallationSeals };
  /** Lines of the log. */
  readonly log: readonly Record<string, unknown>[];
  /** The key with which the log signs for an origin. */
  verifierKey(origin: string): VerifierKey;
  send(path: string, options?: RequestOptions): Promise<Answer>;
  /** A master call with its scope's key; without an Idempotency-Key it gets one of its own. */
  master(scope: MasterScope, path: string, options?: MasterOptions): Promise<Answer>;
  /** Raises an alert about an organization, past the service. */
  alert(orgId: string, alertId: string): Promise<void>;
  /** Creates an organization past the HTTP layer; returns its key. */
  organization(orgId: string, fields?: Partial<{ allowed_origins: string[] }>): Promise<string>;
  /** How many rows each table holds, and every chain's head. */
  rowCounts(): Promise<Record<string, unknown>>;
  /**
   * Makes the attempts that are due, as the loop does; resolves to their number. `count`: the most for one
   * destination.
   */
  deliver(options?: { readonly count?: number }): Promise<number>;
  /** Begins a stop: later requests get 503. */
  drain(): void;
  flushBreaches(now: number, options?: { readonly isLast?: boolean }): void;
  /** Adds a new signing key, as `jiss rotate-signing-key` does beside a running service. */
  rotateSigningKey(next: Signer): Promise<void>;
  /** Waits for the writes in flight, verifies every chain and closes. */
  close(): Promise<void>;
  /** Closes a database that a test has altered, without verifying it. */
  abandon(): Promise<void>;
}

export async function openHarness(options: HarnessOptions = {}): Promise<Harness> {
  const clock = manualClock(options.startsAt);
  const world = seededWorld("harness", (options.run ?? 0) * IDS_OF_A_RUN);
  const lines: Record<string, unknown>[] = [];
  const log = createLog({
    format: "json",
    clock: clock.now,
    write: (line) => lines.push(JSON.parse(line)),
  });
  const embedded = await openTestDatabase(options.path ?? ":memory:");
  await bringToSchema(embedded, clock.now());
  const database = options.wrap?.(embedded) ?? embedded;
  const signer = signerFromPem(SIGNING_KEY_PEM);
  const lock = openLock({ path: options.lockPath ?? ":memory:", onTrouble: () => {} });
  const files = signerFiles(options.signers ?? [signer]);
  const signing = new SigningKeys({ database, crypto: nodeCrypto, world, log, source: files });
  const model = {
    document: JIS_1_0_0,
    sha256: modelSha256(nodeCrypto, JIS_1_0_0),
  };
  const shadow = options.candidate === undefined ? null : new Shadow({
    candidate: {
      document: options.candidate,
      sha256: modelSha256(nodeCrypto, options.candidate),
    },
    since: clock.now(),
    log,
    monotonic: clock.monotonic,
    ...(options.shadowBounds === undefined ? {} : { bounds: options.shadowBounds }),
  });
  const seals = lockedSeals();
  const writer = new Writer({
    database,
    crypto: nodeCrypto,
    seals,
    signing,
    lock,
    monotonic: () => 0,
    backoff: () => Promise.resolve(),
    onCommitted: ({ entries }) => shadow?.enqueue(entries),
  });
  const common = {
    database,
    writer,
    crypto: nodeCrypto,
    signing,
    seals,
    lock,
    world,
    log,
    model,
    registered: new RegisteredRows(),
    tampered: options.raisesTampering === true ? new TamperedChains() : null,
    shadow,
    logName: "jiss.test",
    auditRetentionDays: options.auditRetentionDays ?? 90,
    evidenceRetentionDays: options.evidenceRetentionDays ?? null,
    assessmentRetentionDays: 30,
    peppers: [PEPPER],
    secretsKeys: [SECRETS_KEY],
  };
  const { installation } = await openInstallation({ ...common, now: clock.now() }).catch(async (error) => {
    await embedded.close();
    lock.close();
    throw error;
  });
  const targets = {
    policy: {
      allowed: parseNetworks(options.webhookAllow ?? []),
      isOwn: (address: string, port: number) =>
        (options.listeners ?? []).some((own) => isOwnListener(own, { address, port })),
    },
    resolve: (host: string) => Promise.resolve(options.hosts?.[host] ?? HOSTS[host] ?? []),
  };
  const deliverer = options.deliverer ??
    (options.certificates === undefined ? NOBODY_LISTENS : createDeliverer({
      ...targets,
      certificates: options.certificates,
      timeoutMs: 10_000,
      clock,
    }));
  const dependencies: Harness["dependencies"] = {
    ...common,
    mintKey: options.mintKey ?? keyMint(common.world),
    installation,
    targets,
    deliveries: {
      deliverer,
      backoffMs: options.webhookBackoffMs ?? [10_000, 60_000],
      leaseMs: 25_000,
      clock,
      counts: noDeliveries(),
      tests: new Map(),
      stopping: new AbortController().signal,
    },
  };
  const dispatched = dispatchedDeliveries(dependencies);
  let draining = false;
  let calls = 0;
  const breaches = new BreachLog(dependencies);
  const app = createApp({
    dependencies,
    masterSecrets: options.masterSecrets ?? MASTER_SECRETS,
    clock,
    log,
    breaches,
    addressWindow: options.addressWindow ?? memoryWindow(options.rateLimitIp),
    keyWindow: options.keyWindow ?? memoryWindow(options.rateLimitKey),
    trustedProxies: parseNetworks(options.trustedProxies ?? []),
    description: {
      version: "0.0.0-test",
      patent: { status: "none", filed: null, confirmation: null, claims: 0 },
      baseUrl: () => "http://jiss.test",
    },
    adminDashboard: options.adminDashboard ?? false,
    servesTls: options.servesTls ?? false,
    isDraining: () => draining,
    ...(options.bodyMemoryBytes === undefined ? {} : { bodyMemoryBytes: options.bodyMemoryBytes }),
  });

  async function abandon(): Promise<void> {
    deliverer.close();
    await writer.close();
    await database.close();
    lock.close();
  }

  const harness: Harness = {
    app,
    clock,
    database,
    dependencies,
    log: lines,
    verifierKey: (origin) => ({ name: origin, publicKey: signer.publicKey }),
    async send(path, { method, headers = {}, body, key, peer = "203.0.113.7" } = {}) {
      const text = body === undefined || typeof body === "string" || body instanceof Uint8Array
        ? body
        : JSON.stringify(body);
      const response = await app.request(path, {
        method: method ?? (body === undefined ? "GET" : "POST"),
        headers: {
          ...(body === undefined ? {} : { "Content-Type": "application/json" }),
          ...(key === undefined ? {} : { "X-API-Key": key }),
          ...headers,
        },
        ...(text === undefined ? {} : { body: text as BodyInit }),
      }, { peer });
      const answer = await response.text();
      const isJson = response.headers.get("Content-Type") === "application/json" && answer !== "";
      return {
        status: response.status,
        headers: response.headers,
        body: isJson ? JSON.parse(answer) : null,
        text: answer,
      };
    },
    master(scope, path, { idempotencyKey, headers = {}, ...rest } = {}) {
      const own = { "X-API-Key": MASTER_KEYS[scope], "Idempotency-Key": idempotencyKey ?? `call-${calls++}` };
      return harness.send(path, { method: "POST", ...rest, headers: { ...own, ...headers } });
    },
    async alert(orgId, alertId) {
      await embedded.batch([
        query.insertInto("alert").values({
          alert_id: alertId,
          org_id: orgId,
          severity: "HIGH",
          kind: "USAGE_ANOMALY",
          day: Math.floor(clock.now() / 86_400_000),
          detail: "{}",
          created_at: clock.now(),
          acknowledged: 0,
          acknowledged_at: null,
        }).compile(),
      ]);
    },
    async rotateSigningKey(next) {
      files.put([next, files.read()[0]!]);
      // A process of its own completes what the key files began, as with the command.
      const keys = new SigningKeys({ database, crypto: nodeCrypto, world, log, source: files });
      await keys.reload();
      await finishRotation({ ...dependencies, signing: keys, now: clock.now() });
    },
    async organization(orgId, fields = {}) {
      const { body } = await createOrganization(
        dependencies,
        { actor: "system", orgId: null, prefix: null },
        {
          organization: {
            org_id: orgId,
            name: `Organization ${orgId}`,
            domain: "financial",
            tier: "standard",
            allowed_origins: fields.allowed_origins ?? [],
          },
          call: { now: clock.now(), requestId: world.ulid(clock.now()) },
          scope: null,
          idempotency: null,
          apiKey: null,
        },
      );
      return body.api_key as string;
    },
    async rowCounts() {
      // Writes that nobody waits for, such as the log of refusals, are finished too.
      await writer.submit({ needs: [], chains: [], plan: () => () => undefined }).catch(() => {});
      return await rowCounts(database);
    },
    drain() {
      draining = true;
    },
    async deliver(options = {}) {
      const now = clock.now();
      const wants = (await dispatched.ready(now)).map((destination) => ({
        destination,
        count: destination.paused_at === null ? options.count ?? 100 : 1,
      }));
      const { claims } = await dispatched.claim(wants, now);
      const { signal } = new AbortController();
      const outcomes = await Promise.all(claims.map((claim) => dispatched.attempt(claim, signal)));
      await dispatched.settle(outcomes, clock.now());
      return claims.length;
    },
    flushBreaches: (now, options) => breaches.flush(now, options),
    async close() {
      await writer.close();
      await verifyDatabase(embedded, { publicKey: signer.publicKey });
      await abandon();
    },
    abandon,
  };
  return harness;
}

/** A layer of rate limits in memory, by default with a limit that nobody reaches. */
export function memoryWindow(
  limit = 1_000_000,
  options: Partial<SlidingWindowOptions> = {},
): SlidingWindow {
  return new SlidingWindow({
    limit,
    windowMs: RATE_WINDOW_MS,
    hashKey: [0x0706_0504, 0x0302_0100],
    reportUncounted: () => {},
    ...options,
  });
}

/** Signing keys as in files: another process replaces them, and a changed stamp shows it. */
export function signerFiles(
  signers: readonly Signer[],
): SignerSource & { put(signers: readonly Signer[]): void } {
  let held = signers;
  let changes = 0;
  return {
    stamp: () => String(changes),
    read: () => held,
    put(next) {
      held = next;
      changes += 1;
    },
  };
}

async function rowCounts(database: Database): Promise<Record<string, unknown>> {
  const read = (sql: string) =>
    database.read<Record<string, unknown>>({ sql, parameters: [], query: {} as never, queryId: {} as never });
  const tables = await read("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name");
  const counts: Record<string, unknown> = {};
  for (const { name } of tables) {
    const [row] = await read(`SELECT count(*) AS n FROM "${name}"`);
    counts[String(name)] = row!.n;
  }
  const heads = await read("SELECT chain, size, hex(head) AS head, last_ts FROM audit_chain ORDER BY chain");
  return { ...counts, heads: heads.map((head) => canonicalJson({ ...head })) };
}

/**
 * A database in which something is written after every read: reads that must show one state have to be one
 * read.
 */
export function writingAfterReads(database: Database, write: () => Promise<void>): Database {
  return {
    ...database,
    async read(compiled) {
      const rows = await database.read(compiled);
      await write();
      return rows;
    },
    async snapshot(queries) {
      const rows = await database.snapshot(queries);
      await write();
      return rows;
    },
  };
}

/** Opens a harness, runs the test, and closes it, which verifies all evidence. */
export const withHarness = running((harness) => harness.close());

/** The same as {@link withHarness}, for data that is altered past the service: closed without verification. */
export const withAlterations = running((harness) => harness.abandon());

function running(end: (harness: Harness) => Promise<void>) {
  return (
    test: (harness: Harness) => Promise<void>,
    options: HarnessOptions = {},
  ): () => Promise<void> =>
  async () => {
    const harness = await openHarness(options);
    try {
      await test(harness);
    } finally {
      await end(harness);
    }
  };
}

/** A score request that is valid as it is. */
export function scoreRequest(
  fields: Record<string, unknown> = {},
  interaction: Record<string, unknown> = {},
) {
  return {
    session_id: "session-1",
    operator_id: "operator-1",
    domain: "general",
    interaction: {
      ai_recommendation_presented: true,
      time_to_decision_ms: 14200,
      decision: "accepted",
      modification_extent: 0,
      ai_available: true,
      scenario_type: "standard",
      outcome_correct: true,
      hover_events: 5,
      scroll_depth: 0.8,
      alternative_views_checked: 1,
      ...interaction,
    },
    ...fields,
  };
}

/** An organization that is valid as it is. */
export function organizationRequest(fields: Record<string, unknown> = {}) {
  return {
    org_id: "acme",
    name: "Acme Bank",
    domain: "financial",
    tier: "standard",
    allowed_origins: "https://review.acme.example",
    ...fields,
  };
}
