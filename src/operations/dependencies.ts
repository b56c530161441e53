/** What every operation is given: the store, the model, and the outside world's randomness. */
import type { Crypto } from "../evidence/crypto.ts";
import type { Actor, EntryDraft, Part } from "../evidence/entry.ts";
import { canonicalJson } from "../evidence/canonical.ts";
import { organizationOf } from "../evidence/chain_name.ts";
import type { PartName } from "../evidence/hashes.ts";
import type { Log } from "../observability/log.ts";
import type { Model } from "../scoring/model.ts";
import type { Database } from "../store/database.ts";
import type { CheckpointLock } from "../store/lock.ts";
import type { Seals } from "../store/seals.ts";
import type { Writer } from "../store/writer.ts";
import type { Deliverer } from "../webhooks/delivery.ts";
import type { Resolve, TargetPolicy } from "../webhooks/target.ts";
import type { RegisteredRows } from "./registered.ts";
import type { Shadow } from "./shadow.ts";
import type { SigningKeys } from "./signing.ts";
import type { TamperedChains } from "./tampering.ts";

export interface World {
  /** Secure random bytes. */
  random(length: number): Uint8Array;
  /** A ULID, increasing within a process; `at` is epoch milliseconds. */
  ulid(at: number): string;
}

export interface Dependencies {
  readonly database: Database;
  readonly writer: Writer;
  readonly crypto: Crypto;
  readonly signing: SigningKeys;
  /** By which a row that this installation wrote is told from an altered one. */
  readonly seals: Seals;
  readonly lock: CheckpointLock;
  readonly world: World;
  readonly log: Log;
  readonly model: Model;
  /** The registered rows of organizations that were found whole. */
  readonly registered: RegisteredRows;
  /** The chains that were found altered; null: nobody is told of any. */
  readonly tampered: TamperedChains | null;
  /** The candidate model that runs beside it; null: none. */
  readonly shadow: Shadow | null;
  /** First part of every chain's origin. */
  readonly logName: string;
  readonly auditRetentionDays: number;
  /** null: evidence is kept. */
  readonly evidenceRetentionDays: number | null;
  /** How long runs of the public demo are kept. */
  readonly assessmentRetentionDays: number;
  /** The pepper that keys are hashed with and, while it is being rotated, the one before it. */
  readonly peppers: readonly string[];
  /** The key that wraps secrets at rest, then those that may still have wrapped some. */
  readonly secretsKeys: readonly Uint8Array[];
  /** Where webhooks may go. */
  readonly targets: { readonly policy: TargetPolicy; readonly resolve: Resolve };
  /** What sends webhooks, and when it tries again. */
  readonly deliveries: Deliveries;
  /** Mints an organization's key. */
  readonly mintKey: () => string;
  readonly installation: Installation;
}

export interface Deliveries {
  readonly deliverer: Deliverer;
  /** Waits before attempts 2 and 3, milliseconds. */
  readonly backoffMs: readonly number[];
  /** How long a claim stands, milliseconds: longer than a whole attempt. */
  readonly leaseMs: number;
  readonly clock: { now(): number };
  readonly counts: DeliveryCounts;
  /** Tests in progress, by their destination. */
  readonly tests: Map<string, Promise<unknown>>;
  /** Ends tests, as the service stops. */
  readonly stopping: AbortSignal;
}

/** What was counted since the start, for the metrics. */
export interface DeliveryCounts {
  /** Attempts by how they ended: `delivered`, or the class of error. */
  readonly attempts: Map<string, number>;
  /** Events that were given up before they could be delivered. */
  dropped: number;
  /** Whether a queue is so long that it should no longer give way to requests. */
  urgent: boolean;
}

export function noDeliveries(): DeliveryCounts {
  return { attempts: new Map(), dropped: 0, urgent: false };
}

/** What a deployment is for good. */
export interface Installation {
  readonly deploymentId: string;
  /** 32 bytes under which request digests are made. */
  readonly key: Uint8Array;
  /** Whether the database's rows have been sealed: an unsealed row is then an altered one. */
  readonly isSealed: boolean;
}

/** Who asks, as an entry of a chain names it: never a person. */
export interface Caller {
  readonly actor: Actor;
  readonly orgId: string | null;
  readonly prefix: string | null;
}

/** A caller that is an organization. */
export interface OrganizationCaller extends Caller {
  readonly orgId: string;
}

/** One call's own instant and id: everything that the call writes agrees on them. */
export interface Call {
  /** Epoch milliseconds. */
  readonly now: number;
  readonly requestId: string;
}

export const SYSTEM_CHAIN = "sys";

export function evidenceChain(orgId: string): string {
  return `org/${orgId}`;
}

export function adminChain(orgId: string): string {
  return `org/${orgId}/admin`;
}

/** Whether a family holds scores and decisions; the others hold audit events. */
export function isEvidenceChain(family: string): boolean {
  return family !== SYSTEM_CHAIN && family === evidenceChain(organizationOf(family)!);
}

/** How many days a chain's entries are kept; null: for good. */
export function retentionOf(
  { auditRetentionDays, evidenceRetentionDays }: Pick<
    Dependencies,
    "auditRetentionDays" | "evidenceRetentionDays"
  >,
  family: string,
): number | null {
  if (family === SYSTEM_CHAIN) return null;
  return family === adminChain(organizationOf(family)!) ? auditRetentionDays : evidenceRetentionDays;
}

export function originOf(
  { logName, installation }: {
    readonly logName: string;
    readonly installation: Pick<Installation, "deploymentId">;
  },
  chain: string,
): string {
  return `${logName}/${installation.deploymentId}/${chain}`;
}

const SALT_BYTES = 32;

/** 32 random bytes, drawn once for a part: a commit that is planned anew keeps them. */
export function drawSalt(world: World): Uint8Array {
  return world.random(SALT_BYTES);
}

export function makePart(name: PartName, salt: Uint8Array, data: unknown): Part {
  return { name, salt, text: canonicalJson(data) };
}

/** An event with nothing but a `detail`. */
export function eventDraft(
  world: World,
  { type, caller, now, detail }: {
    readonly type: string;
    readonly caller: Caller;
    readonly now: number;
    readonly detail: Record<string, unknown>;
  },
): EntryDraft {
  return {
    id: world.ulid(now),
    actor: caller.actor,
    eventType: type,
    orgId: caller.orgId,
    prefix: caller.prefix,
    subject: null,
    at: now,
    parts: [makePart("detail", drawSalt(world), detail)],
  };
}
