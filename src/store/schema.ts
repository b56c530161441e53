/**
 * The tables as Kysely sees them; `migrations/` creates them. Times are epoch milliseconds, hashes are raw
 * bytes. A `position` is a place in an evidence chain, counted over its epochs; a `seq` is a place in one
 * epoch.
 */
import type { Generated, GeneratedAlways } from "kysely";

/** The unit of work makes it; null in a row that was written before there were seals. */
type Seal = Generated<Uint8Array | null>;

export interface InstallationTable {
  id: number;
  deployment_id: string;
  wrapped_key: Uint8Array;
  model_sha256: string;
  created_at: number;
  /** null until a start has recorded it. */
  audit_retention_days: number | null;
  /** null if evidence is kept for good. */
  evidence_retention_days: number | null;
  /** null until a start has recorded it. */
  pepper_id: string | null;
  seal: Seal;
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
  /** JSON of the instants (epoch milliseconds) since which each current reason applies. */
  inactive_since: Generated<string>;
  active: GeneratedAlways<number>;
  prefix: string | null;
  key_hash: Uint8Array | null;
  /** null if the key is older than this column. */
  pepper_id: string | null;
  api_key_version: number;
  api_key_rotated_at: number | null;
  created_at: number;
  /** Named keys and sessions that are not younger are void, epoch milliseconds; null if none are. */
  access_from: Generated<number | null>;
  seal: Seal;
}

export interface NamedKeyTable {
  key_id: string;
  org_id: string;
  name: string;
  prefix: string;
  key_hash: Uint8Array;
  pepper_id: string;
  /** Separated by single spaces. */
  scopes: string;
  created_at: number;
  /** null if it never ends. */
  expires_at: number | null;
  /** The last use that was recorded; null before the first. */
  used_at: number | null;
  seal: Seal;
}

export interface UserAccountTable {
  user_id: string;
  org_id: string;
  /** null, as the name, once the user is erased. */
  email: string | null;
  name: string | null;
  role: string;
  state: string;
  /** The parameters, the salt and the hash; null if the user has no password. */
  password: string | null;
  /** Hash of the one-time link that was issued last and is not used yet. */
  link_hash: Uint8Array | null;
  link_purpose: string | null;
  link_expires_at: number | null;
  /** The identity provider that signs the user in, and the user's name there. */
  issuer: string | null;
  issuer_subject: string | null;
  /** Sessions with another number are over. */
  session_epoch: number;
  created_at: number;
  changed_at: number;
  seal: Seal;
}

export interface PasskeyTable {
  /** base64url. */
  credential_id: string;
  org_id: string;
  user_id: string;
  /** What the user calls the device. */
  name: string;
  /** COSE. */
  public_key: Uint8Array;
  /** The authenticator's count of its signatures; 0 if it keeps none. */
  counter: number;
  created_at: number;
  used_at: number | null;
  seal: Seal;
}

export interface UserSessionTable {
  session_hash: Uint8Array;
  org_id: string;
  user_id: string;
  session_epoch: number;
  method: string;
  /** The identity provider's name of the session; null if it gave none. */
  provider_session: string | null;
  agent: string;
  created_at: number;
  seen_at: number;
  expires_at: number;
  seal: Seal;
}

interface OrganizationOriginTable {
  origin: string;
  org_id: string;
}

export interface SubjectTable {
  org_id: string;
  operator_id: string;
  pseudonym: string;
  seal: Seal;
}

export interface OperatorTable {
  org_id: string;
  operator_id: string;
  state: string;
  domain: string;
  prior_seq: number;
  prior_hash: Uint8Array;
  /** Position of the last interaction. */
  position: number;
  jis: number;
  n: number;
  t0: number;
  t1: number;
  tcrit: number | null;
  crit_count: number;
  share_hs: number;
  share_crit: number;
  /** Status word of the state's full-mode verdict; null if formulas without a verdict wrote the row. */
  verdict: string | null;
  /** Name of the operator's team; null without one. */
  team: string | null;
  /** Hash of the state and of the prior, which no other sealed column shows. */
  digest: Seal;
  seal: Seal;
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
  /** Share of the recommendation that was departed from, 0..1. */
  departure: number;
  position: number;
  /** Commit state at scoring; a later commit has a row of its own. */
  committed: number;
  jis: number;
  low: number;
  high: number;
  d1: number;
  d2: number;
  d3: number;
  d4: number;
  d5: number;
  d6: number;
  d7: number;
  mean_c: number;
  n: number;
  t0: number;
  ground_truth: number;
  tcrit: number | null;
  crit_count: number;
  share_hs: number;
  share_crit: number;
  /** Status word of the full-mode verdict at the score; null if its formulas have none. */
  verdict: string | null;
  /**
   * The operator's latest instant up to this interaction: `at`, unless an earlier interaction has a later
   * instant.
   */
  t1: number;
  /**
   * The position of the operator's previous interaction; null if there is none, or it was pruned long ago.
   */
  previous: number | null;
  /** Interactions up to this one that departed from the recommendation or were referred. */
  departed: number;
  /** How many of `departed` were deferred or escalated. */
  referred: number;
  /** The position of the entry that committed it later; null if there is none. */
  commit_position: number | null;
  /** The position of its late label; null if there is none. */
  label_position: number | null;
  seal: Seal;
}

export interface ScoreCommitTable {
  org_id: string;
  session_id: string;
  request_id: string;
  at: number;
  position: number;
  seal: Seal;
}

export interface OutcomeLabelTable {
  org_id: string;
  session_id: string;
  outcome_correct: number;
  request_id: string;
  at: number;
  position: number;
  seal: Seal;
}

export interface ScoreBatchTable {
  org_id: string;
  /** Hexadecimal. */
  request_digest: string;
  request_id: string;
  at: number;
  operator_id: string;
  first_position: number;
  count: number;
  seal: Seal;
}

export interface DecisionTable {
  org_id: string;
  decision_id: string;
  operator_id: string;
  request_digest: Uint8Array;
  request_id: string;
  at: number;
  position: number;
  seal: Seal;
}

export interface ComplianceReportTable {
  report_id: string;
  org_id: string;
  content_sha256: string;
  position: number;
  report: string;
}

export interface UsageHourTable {
  org_id: string;
  /** Epoch hours. */
  hour: number;
  count: number;
}

export interface UsageInstantTable {
  org_id: string;
  at: number;
  count: number;
}

export interface SkippedInteractionTable {
  org_id: string;
  session_id: string;
  operator_id: string;
  request_digest: Uint8Array;
  request_id: string;
  at: number;
  position: number;
  /** The instant of the operator's first frozen call. */
  t0: number;
  /**
   * The latest instant of the operator's frozen calls up to this one: `at`, unless an earlier call has a
   * later instant.
   */
  t1: number;
  /**
   * The position of the operator's previous frozen call; null if there is none, or it was pruned long ago.
   */
  previous: number | null;
  /** Number of the operator's frozen calls up to this one. */
  n: number;
  seal: Seal;
}

/** An operator with frozen calls, in the state after the last of them. */
export interface FrozenOperatorTable {
  org_id: string;
  operator_id: string;
  /** The position of the last frozen call. */
  position: number;
  n: number;
  t0: number;
  t1: number;
  seal: Seal;
}

export interface ProbeProgrammeTable {
  org_id: string;
  /** JSON of the policy as it was last set. */
  policy: string;
  changed_at: number;
  /** The newest day whose seed is committed to, such as `2026-11-26`; null before the first. */
  day: string | null;
  /** JSON of the policy of that day. */
  day_policy: string | null;
  /** Whether the seed of that day is opened; true before the first. */
  opened: number;
  seal: Seal;
}

export interface ProbeTable {
  org_id: string;
  probe_id: string;
  position: number;
  request_id: string;
  at: number;
  domain: string;
  stakes: string;
  /** In hexadecimal. */
  commitment: string;
  reference: string | null;
  state: string;
  drawn_at: number | null;
  expires_at: number | null;
  /** The position of the entry that opened it; null while it is sealed or drawn. */
  closed_position: number | null;
  closed_at: number | null;
  ai_correct: number | null;
  /** Whether the reviewer departed from the recommendation; null unless it was decided. */
  departed: number | null;
  seal: Seal;
}

/** A case before which a probe was due. */
export interface ProbeDrawTable {
  org_id: string;
  session_id: string;
  operator_id: string;
  position: number;
  /** null if no probe was left. */
  probe_id: string | null;
  probe_session_id: string | null;
  seal: Seal;
}

export interface IdempotencyTable {
  endpoint: string;
  idempotency_key: string;
  request_digest: Uint8Array;
  status: number;
  body: string;
  created_at: number;
}

/** An organization's call with an Idempotency-Key. */
export interface KeyedCallTable {
  name: Uint8Array;
  org_id: string;
  /** null if the call was about nobody, or about somebody who was erased. */
  operator_id: string | null;
  /** null if the person it was about was erased. */
  request_digest: Uint8Array | null;
  reference: string | null;
  request_id: string;
  at: number;
  erased_chain: string | null;
  erased_seq: number | null;
  erased_hash: Uint8Array | null;
  seal: Seal;
}

export interface AlertTable {
  alert_id: string;
  org_id: string;
  severity: string;
  kind: string;
  /** Days since 1970-01-01, UTC. */
  day: number;
  detail: string;
  created_at: number;
  acknowledged: number;
  acknowledged_at: number | null;
}

export interface AssessmentTable {
  session_id: string;
  request_digest: Uint8Array;
  request_id: string;
  created_at: number;
  records: string;
  summary: string;
  results: string;
}

export interface WebhookTable {
  webhook_id: string;
  org_id: string;
  url: string;
  /** Separated by single spaces. */
  events: string;
  active: number;
  /** The encrypted secret that signs its deliveries. */
  wrapped_secret: Uint8Array;
  created_at: number;
  /** Sequence of the last event that was turned into a delivery, or that is not for this webhook. */
  cursor: Generated<number>;
  /** Number of failed attempts since the last success. */
  failures: Generated<number>;
  /** The instant of the first of those failures. */
  failing_since: number | null;
  paused_at: number | null;
  /** For a paused webhook: the instant from which the next attempt may be made. */
  probe_at: number | null;
  /** The attempt that ended last, as JSON. */
  last_delivery: string | null;
  seal: Seal;
}

export interface WebhookEventTable {
  sequence: Generated<number>;
  org_id: string;
  operator_id: string;
  event: string;
  position: number;
  request_id: string;
  at: number;
}

export interface WebhookDeliveryTable {
  delivery_id: string;
  webhook_id: string;
  /** null for a ping, or if the event's record is gone. */
  sequence: number | null;
  event: string;
  request_id: string;
  /** The instant of the event. */
  at: number;
  redelivery_of: string | null;
  status: string;
  /** Attempts that count towards the limit. */
  counted: number;
  /** JSON. */
  attempts: string;
  created_at: number;
  finished_at: number | null;
  next_at: number;
  lease: string | null;
  /** 0 if nobody has claimed it. */
  lease_until: number;
}

export interface BreachWindowTable {
  subject: string;
  told_at: number;
}

export interface AuditChainTable {
  chain: string;
  /** The chain of epoch 1. */
  family: string;
  origin: string;
  epoch: number;
  /** The position of the chain's first entry, counted over all epochs. */
  first_position: number;
  /** Ordinal of the signing key in use for this chain. */
  key_ordinal: number;
  /** The size of the newest checkpoint that the system chain holds. */
  anchored_size: number;
  size: number;
  head: Uint8Array;
  last_ts: string;
  peaks: Uint8Array;
  min_index: number;
  /** The set of the rows that belong to the chain, bound to its head; null until they are sealed. */
  held: Uint8Array | null;
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
  subject: GeneratedAlways<string | null>;
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

/** The last size of each day. */
export interface AuditLadderTable {
  chain: string;
  size: number;
  ts: string;
}

export interface SigningKeyTable {
  ordinal: number;
  public_key: Uint8Array;
  certificate: string | null;
  from_size: number;
  until_size: number | null;
}

export interface TombstoneTable {
  name: Uint8Array;
  reason: string;
  chain: string;
  seq: number;
  entry_hash: Uint8Array;
}

interface SchemaMigrationTable {
  version: number;
  name: string;
  applied_at: number;
}

export interface Schema {
  installation: InstallationTable;
  model_document: ModelDocumentTable;
  organization: OrganizationTable;
  organization_origin: OrganizationOriginTable;
  named_key: NamedKeyTable;
  user_account: UserAccountTable;
  passkey: PasskeyTable;
  user_session: UserSessionTable;
  subject: SubjectTable;
  operator: OperatorTable;
  interaction: InteractionTable;
  skipped_interaction: SkippedInteractionTable;
  frozen_operator: FrozenOperatorTable;
  probe_programme: ProbeProgrammeTable;
  probe: ProbeTable;
  probe_draw: ProbeDrawTable;
  score_commit: ScoreCommitTable;
  outcome_label: OutcomeLabelTable;
  score_batch: ScoreBatchTable;
  decision: DecisionTable;
  compliance_report: ComplianceReportTable;
  usage_hour: UsageHourTable;
  usage_instant: UsageInstantTable;
  idempotency: IdempotencyTable;
  keyed_call: KeyedCallTable;
  alert: AlertTable;
  assessment: AssessmentTable;
  breach_window: BreachWindowTable;
  webhook: WebhookTable;
  webhook_event: WebhookEventTable;
  webhook_delivery: WebhookDeliveryTable;
  audit_chain: AuditChainTable;
  audit_entry: AuditEntryTable;
  audit_part: AuditPartTable;
  audit_node: AuditNodeTable;
  audit_checkpoint: AuditCheckpointTable;
  audit_ladder: AuditLadderTable;
  signing_key: SigningKeyTable;
  tombstone: TombstoneTable;
  schema_migration: SchemaMigrationTable;
}
