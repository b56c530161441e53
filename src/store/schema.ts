/** The tables as Kysely sees them; `migrations/` makes them. Times are epoch milliseconds, hashes raw bytes. */
import type { GeneratedAlways } from "kysely";

export interface InstallationTable {
  id: number;
  deployment_id: string;
  wrapped_key: Uint8Array;
  model_sha256: string;
  created_at: number;
}

export interface ModelDocumentTable {
  sha256: string;
  document: string;
  first_used_at: number;
}

export interface OrganizationTable {
  org_id: string;
  name: string;
  domain: string;
  tier: string;
  /** Separated by single spaces, sorted. */
  allowed_origins: string;
  inactive_reasons: string;
  active: GeneratedAlways<number>;
  prefix: string | null;
  key_hash: Uint8Array | null;
  api_key_version: number;
  api_key_rotated_at: number | null;
  created_at: number;
}

export interface OrganizationOriginTable {
  origin: string;
  org_id: string;
}

export interface SubjectTable {
  org_id: string;
  operator_id: string;
  pseudonym: string;
}

export interface OperatorTable {
  org_id: string;
  operator_id: string;
  state: string;
  domain: string;
  prior_seq: number;
  prior_hash: Uint8Array;
  jis: GeneratedAlways<number>;
  n: GeneratedAlways<number>;
  t0: GeneratedAlways<number>;
  t1: GeneratedAlways<number>;
  tcrit: GeneratedAlways<number | null>;
  crit_count: GeneratedAlways<number>;
  share_hs: GeneratedAlways<number>;
  share_crit: GeneratedAlways<number>;
}

export interface InteractionTable {
  org_id: string;
  session_id: string;
  operator_id: string;
  request_digest: Uint8Array;
  request_id: string;
  at: number;
  domain: string;
  decision: string;
  scenario_type: string;
  mode: string;
  seq: number;
  committed: number;
  jis: number;
  d1: number;
  d2: number;
  d3: number;
  d4: number;
  d5: number;
  d6: number;
  d7: number;
  mean_c: number;
}

export interface SkippedInteractionTable {
  org_id: string;
  session_id: string;
  operator_id: string;
  request_digest: Uint8Array;
  request_id: string;
  at: number;
  seq: number;
}

export interface IdempotencyTable {
  endpoint: string;
  idempotency_key: string;
  request_digest: Uint8Array;
  status: number;
  body: string;
  created_at: number;
}

export interface AuditChainTable {
  chain: string;
  origin: string;
  epoch: number;
  size: number;
  head: Uint8Array;
  last_ts: string;
  peaks: Uint8Array;
  min_index: number;
}

export interface AuditEntryTable {
  chain: string;
  seq: number;
  id: string;
  entry_hash: Uint8Array;
  prev_hash: Uint8Array;
  event_type: string;
  ts: string;
  body: string;
}

export interface AuditPartTable {
  chain: string;
  seq: number;
  name: string;
  salt: Uint8Array | null;
  data: string | null;
}

export interface AuditNodeTable {
  chain: string;
  idx: number;
  hash: Uint8Array;
}

export interface AuditCheckpointTable {
  chain: string;
  size: number;
  ts: string;
  note: string;
}

export interface SchemaMigrationTable {
  version: number;
  name: string;
  applied_at: number;
}

export interface Schema {
  installation: InstallationTable;
  model_document: ModelDocumentTable;
  organization: OrganizationTable;
  organization_origin: OrganizationOriginTable;
  subject: SubjectTable;
  operator: OperatorTable;
  interaction: InteractionTable;
  skipped_interaction: SkippedInteractionTable;
  idempotency: IdempotencyTable;
  audit_chain: AuditChainTable;
  audit_entry: AuditEntryTable;
  audit_part: AuditPartTable;
  audit_node: AuditNodeTable;
  audit_checkpoint: AuditCheckpointTable;
  schema_migration: SchemaMigrationTable;
}
