/** The dependencies of operations, grouped by purpose. Each operation takes only the groups that it needs. */
import type { Privacy } from "../../domain/enums.ts";
import type { World } from "../../domain/world.ts";
import type { Crypto } from "../../evidence/crypto.ts";
import type { Log } from "../../observability/log.ts";
import type { Model } from "../../scoring/model.ts";
import type { Database } from "../../store/database.ts";
import type { CheckpointLock } from "../../store/lock.ts";
import type { Seals } from "../../store/seals.ts";
import type { Writer } from "../../store/writer.ts";
import type { Resolve, TargetPolicy } from "../../webhooks/target.ts";
import type { Installation, RetentionDays } from "./deployment.ts";
import type { Deliveries } from "./sending.ts";
import type { SigningKeys } from "./signing.ts";

/** Reads rows, and detects rows that were altered or replaced by old ones. */
export interface Reading {
  readonly database: Database;
  readonly seals: Seals;
  readonly lock: CheckpointLock;
}

/** Proves that an entry is what this installation signed. */
export interface Proving {
  readonly database: Database;
  readonly crypto: Crypto;
  readonly signing: SigningKeys;
  /** First part of every chain's origin. */
  readonly logName: string;
  readonly installation: Installation;
}

/** Records data, which is durable before the call is answered. */
export interface Writing {
  readonly writer: Writer;
  readonly world: World;
}

export interface Logging {
  readonly log: Log;
}

/** Computes scores and decisions. */
export interface Scoring {
  readonly model: Model;
}

/** Says how users see operators. */
export interface Naming {
  readonly privacy: Privacy;
}

/** Holds the retention periods. */
export interface Retaining extends RetentionDays {
  /** Days for which runs of the public demo are kept. */
  readonly assessmentRetentionDays: number;
}

/** Makes keys and secrets, and checks the keys that callers send. */
export interface Secrets {
  /** The pepper that keys are hashed with and, while it is being rotated, the one before it. */
  readonly peppers: readonly string[];
  /** The key that wraps secrets at rest, then older keys that may still wrap some. */
  readonly secretsKeys: readonly Uint8Array[];
  /** Mints an organization's key. */
  readonly mintKey: () => string;
}

/** Sends webhooks. */
export interface Sending {
  /** The permitted targets of webhooks, and how their names are resolved. */
  readonly targets: { readonly policy: TargetPolicy; readonly resolve: Resolve };
  /** Sends them, and sets the times of retries. */
  readonly deliveries: Deliveries;
}
