/**
 * The real application on an in-memory database, with a clock that stands still until it is moved, and seeded
 * randomness; when it closes, every test's evidence is verified.
 */
import { createPrivateKey, hash } from "node:crypto";
import type { Config } from "../src/config/config.ts";
import { RATE_WINDOW_MS } from "../src/domain/limits.ts";
import type { Privacy } from "../src/domain/enums.ts";
import type { Clock, World } from "../src/domain/world.ts";
import { canonicalJson } from "../src/evidence/canonical.ts";
import type { Signer } from "../src/evidence/crypto.ts";
import { nodeCrypto, signerFromPem } from "../src/evidence/node_crypto.ts";
import type { VerifierKey } from "../src/evidence/note.ts";
import type { Application } from "../src/http/server.ts";
import { MASTER_SCOPES, type MasterScope, type MasterSecrets } from "../src/keys/master_keys.ts";
import type { RateWindow } from "../src/limits/admission.ts";
import { SlidingWindow, type SlidingWindowOptions } from "../src/limits/sliding_window.ts";
import { createLog, type Log } from "../src/observability/log.ts";
import type { Dependencies } from "../src/operations/dependencies.ts";
import { CLOCK_RULES, type ClockRule } from "../src/operations/installation/clock_watch.ts";
import type { InstallationSeals } from "../src/operations/installation/installation_seals.ts";
import { createOrganization } from "../src/operations/organizations/organizations.ts";
import type { ShadowBounds } from "../src/operations/scoring/shadow.ts";
import { finishRotation, type SignerSource, SigningKeys } from "../src/operations/shared/signing.ts";
import { dispatchedDeliveries } from "../src/operations/webhooks/deliveries.ts";
import type { ModelDocument } from "../src/scoring/model.ts";
import { buildService } from "../src/service/serving.ts";
import { type Database, query } from "../src/store/database.ts";
import { openLock } from "../src/store/lock.ts";
import type { Deliverer } from "../src/webhooks/delivery.ts";
import type { OwnListener } from "../src/webhooks/target.ts";
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

/** The origin of the service's own pages. */
export const OWN_ORIGIN = "http://jiss.test";

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
  /** The address of the pages; by default one at which browsers make no passkeys. */
  readonly baseUrl?: string;
  readonly rateLimitKey?: number;
  readonly rateLimitSession?: number;
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
  /** How it treats its clock; by default as a service does. */
  readonly clockRule?: ClockRule;
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
  readonly privacy?: Privacy;
  readonly bodyMemoryBytes?: number;
  /** Whether alerts are raised for altered data. Not by default: tests put altered rows back. */
  readonly raisesTampering?: boolean;
  /** The model that scores; by default that of the worked examples. */
  readonly model?: ModelDocument;
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

/** A limit that no test reaches. */
const UNREACHED_LIMIT = 1_000_000;

/** A path at which nothing is. */
const NO_FILE = "/nonexistent/jiss";

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
  readonly app: Application;
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
  const { database, embedded, lock, close: closeStorage } = await openTestStorage(options, clock);
  const { log, lines } = keptLog(clock);
  const signer = signerFromPem(SIGNING_KEY_PEM);
  const files = signerFiles(options.signers ?? [signer]);
  const world = seededWorld("harness", (options.run ?? 0) * IDS_OF_A_RUN);
  const { service, recovered, background } = await buildService({
    ...seamsOf(options),
    version: "0.0.0-test",
    config: configOf(options),
    log,
    clock,
    world,
    clockRule: options.clockRule ?? CLOCK_RULES.service,
    isService: true,
    signerSource: files,
  }, { database, lock, isLockBehind: () => false, close: closeStorage }).catch(async (error) => {
    await closeStorage();
    throw error;
  });
  background.announce(options.listeners ?? []);
  const { seals, writer } = recovered.base;
  const dependencies = { ...background.dependencies, seals };
  const dispatched = dispatchedDeliveries(dependencies);

  // The service's own end anchors chains and writes what is due, which tests count as entries.
  async function abandon(): Promise<void> {
    dependencies.deliveries.deliverer.close();
    await recovered.close();
    await closeStorage();
  }

  return {
    app: service.app,
    clock,
    database,
    dependencies,
    log: lines,
    ...callsTo(service.app),
    verifierKey: (origin) => ({ name: origin, publicKey: signer.publicKey }),
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
    drain: () => service.drain(),
    async deliver({ count = 100 } = {}) {
      const now = clock.now();
      const wants = (await dispatched.ready(now)).map((destination) => ({
        destination,
        count: destination.paused_at === null ? count : 1,
      }));
      const { claims } = await dispatched.claim(wants, now);
      const { signal } = new AbortController();
      const outcomes = await Promise.all(claims.map((claim) => dispatched.attempt(claim, signal)));
      await dispatched.settle(outcomes, clock.now());
      return claims.length;
    },
    flushBreaches: (now, options) => background.breaches.flush(now, options),
    async close() {
      await writer.close();
      await verifyDatabase(embedded, { publicKey: signer.publicKey });
      await abandon();
    },
    abandon,
  };
}

/**
 * The first stage is not the program's: that one takes a data directory and starts a thread, which most tests
 * do not need.
 */
async function openTestStorage({ path, lockPath, wrap }: HarnessOptions, clock: Clock) {
  const embedded = await openTestDatabase(path ?? ":memory:");
  await bringToSchema(embedded, clock.now());
  const database = wrap?.(embedded) ?? embedded;
  const lock = openLock({ path: lockPath ?? ":memory:", onTrouble: () => {} });
  return {
    embedded,
    database,
    lock,
    async close() {
      await database.close();
      await lock.close();
    },
  };
}

/** A log that keeps its lines. */
function keptLog(clock: Clock): { readonly log: Log; readonly lines: readonly Record<string, unknown>[] } {
  const lines: Record<string, unknown>[] = [];
  const log = createLog({
    format: "json",
    clock: clock.now,
    write: (line) => lines.push(JSON.parse(line)),
  });
  return { log, lines };
}

/** Parts of the program that tests replace. */
function seamsOf(options: HarnessOptions) {
  const deliverer = options.deliverer ?? (options.certificates === undefined ? NOBODY_LISTENS : undefined);
  return {
    ...(options.mintKey && { mintKey: options.mintKey }),
    ...(options.shadowBounds && { shadowBounds: options.shadowBounds }),
    ...(deliverer && { deliverer }),
    ...(options.bodyMemoryBytes !== undefined && { bodyMemoryBytes: options.bodyMemoryBytes }),
    windows: {
      ...(options.addressWindow && { address: options.addressWindow }),
      ...(options.keyWindow && { key: options.keyWindow }),
    },
    raisesTampering: options.raisesTampering ?? false,
    resolve: (host: string) => Promise.resolve(options.hosts?.[host] ?? HOSTS[host] ?? []),
  };
}

/** No stage after storage reads a file of this configuration. */
function configOf(options: HarnessOptions): Config {
  return {
    host: "127.0.0.1",
    port: 0,
    metrics: null,
    baseUrl: options.baseUrl ?? OWN_ORIGIN,
    dataDir: NO_FILE,
    database: { kind: "file", path: options.path ?? ":memory:" },
    lockFile: options.lockPath ?? ":memory:",
    signingKeyFile: NO_FILE,
    previousSigningKeyFile: NO_FILE,
    secretFiles: [],
    peppers: [PEPPER],
    secretsKeys: [SECRETS_KEY],
    masterSecrets: options.masterSecrets ?? MASTER_SECRETS,
    adminDashboard: options.adminDashboard ?? false,
    privacy: options.privacy ?? "named",
    rateLimitIp: options.rateLimitIp ?? UNREACHED_LIMIT,
    rateLimitKey: options.rateLimitKey ?? UNREACHED_LIMIT,
    oidc: null,
    rateLimitSession: options.rateLimitSession ?? UNREACHED_LIMIT,
    rateLimitKv: null,
    sessionHours: 12,
    sessionIdleMinutes: 30,
    bootstrapOrganization: null,
    trustedProxies: options.trustedProxies ?? [],
    webhookAllow: options.webhookAllow ?? [],
    webhookBackoffMs: options.webhookBackoffMs ?? [10_000, 60_000],
    webhookTimeoutMs: 10_000,
    certificates: options.certificates ?? [],
    tls: options.servesTls === true ? { cert: "", key: "" } : null,
    logFormat: "json",
    logName: "jiss.test",
    auditRetentionDays: options.auditRetentionDays ?? 90,
    evidenceRetentionDays: options.evidenceRetentionDays ?? null,
    assessmentRetentionDays: 30,
    model: options.model ?? JIS_1_0_0,
    shadowModel: options.candidate ?? null,
    patent: { status: "none", filed: null, confirmation: null, claims: 0 },
  };
}

/** Calls of clients and administrators. */
function callsTo(app: Application): Pick<Harness, "send" | "master"> {
  let calls = 0;
  const send: Harness["send"] = async (
    path,
    { method, headers = {}, body, key, peer = "203.0.113.7" } = {},
  ) => {
    const text = body === undefined || typeof body === "string" || body instanceof Uint8Array
      ? body
      : JSON.stringify(body);
    const request = new Request(new URL(path, "http://localhost"), {
      method: method ?? (body === undefined ? "GET" : "POST"),
      headers: {
        ...(body === undefined ? {} : { "Content-Type": "application/json" }),
        ...(key === undefined ? {} : { "X-API-Key": key }),
        ...headers,
      },
      ...(text === undefined ? {} : { body: text as BodyInit }),
    });
    const response = await app.fetch(request, { peer });
    const answer = await response.text();
    const isJson = response.headers.get("Content-Type") === "application/json" && answer !== "";
    return {
      status: response.status,
      headers: response.headers,
      body: isJson ? JSON.parse(answer) : null,
      text: answer,
    };
  };
  return {
    send,
    master(scope, path, { idempotencyKey, headers = {}, ...rest } = {}) {
      const own = { "X-API-Key": MASTER_KEYS[scope], "Idempotency-Key": idempotencyKey ?? `call-${calls++}` };
      return send(path, { method: "POST", ...rest, headers: { ...own, ...headers } });
    },
  };
}

/** A layer of rate limits in memory, by default with a limit that nobody reaches. */
export function memoryWindow(
  limit = UNREACHED_LIMIT,
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
