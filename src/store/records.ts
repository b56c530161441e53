/**
 * The rows that a plan may read and replace by their key, each kind with the one query that loads it and the
 * one statement that saves it.
 */
import { type CompiledQuery, type Insertable, type Selectable, sql } from "kysely";
import { compileOnce } from "./compile_once.ts";
import { query, type Statement } from "./database.ts";
import type {
  AlertTable,
  AssessmentTable,
  BreachWindowTable,
  ComplianceReportTable,
  DecisionTable,
  IdempotencyTable,
  InteractionTable,
  OperatorTable,
  OrganizationTable,
  OutcomeLabelTable,
  ScoreBatchTable,
  ScoreCommitTable,
  SigningKeyTable,
  SkippedInteractionTable,
  SubjectTable,
  TombstoneTable,
  WebhookDeliveryTable,
  WebhookTable,
} from "./schema.ts";

/** Parts of a key, in the order of the table's primary key; bytes in hexadecimal. */
export type Key = readonly string[];

export interface RecordKind<Row> {
  readonly name: string;
  /** Loads all rows whose keys stand in a JSON array of arrays: one text of SQL however many keys. */
  load(keys: string): CompiledQuery<Row>;
  keyOf(row: Row): Key;
  /** Whether rows of other kinds refer to its rows, which are therefore written first. */
  readonly isReferredTo?: boolean;
  /** Absent for a kind that only says what is taken. */
  save?(row: Row): Statement;
  /** Absent for a kind whose rows stay. */
  remove?(key: Key): Statement;
}

/** `(a, b) IN (…)` over a JSON array of keys, which the primary key's index serves. */
function keyIn(columns: readonly string[], keys: string) {
  const list = sql.join(columns.map((column) => sql.ref(column)));
  const values = sql.join(columns.map((_, index) => sql`value ->> ${sql.lit(index)}`));
  return columns.length === 1
    ? sql<boolean>`${list} in (select ${values} from json_each(${keys}))`
    : sql<boolean>`(${list}) in (select ${values} from json_each(${keys}))`;
}

/** A kind's `load`, from the query for a JSON array of keys. */
function loading<Row>(build: (keys: string) => CompiledQuery<Row>): (keys: string) => CompiledQuery<Row> {
  const bind = compileOnce(({ keys }: { readonly keys: string }) => build(keys));
  return (keys) => bind({ keys });
}

export type OrganizationRow = Insertable<OrganizationTable>;
const ORGANIZATION_COLUMNS = [
  "org_id",
  "name",
  "domain",
  "tier",
  "allowed_origins",
  "inactive_reasons",
  "inactive_since",
  "prefix",
  "key_hash",
  "pepper_id",
  "api_key_version",
  "api_key_rotated_at",
  "created_at",
] as const;

export const organizations: RecordKind<OrganizationRow> = {
  name: "organization",
  isReferredTo: true,
  load: loading((keys) =>
    query.selectFrom("organization").select(ORGANIZATION_COLUMNS).where(keyIn(["org_id"], keys)).compile()
  ),
  keyOf: (row) => [row.org_id],
  save: compileOnce((row) =>
    query.insertInto("organization").values(row).onConflict((conflict) =>
      conflict.column("org_id").doUpdateSet({
        name: row.name,
        inactive_reasons: row.inactive_reasons,
        inactive_since: row.inactive_since,
        prefix: row.prefix,
        key_hash: row.key_hash,
        pepper_id: row.pepper_id,
        api_key_version: row.api_key_version,
        api_key_rotated_at: row.api_key_rotated_at,
      })
    ).compile()
  ),
};

/** Which of the candidate prefixes are taken. */
export interface TakenPrefix {
  readonly prefix: string | null;
}

export const takenPrefixes: RecordKind<TakenPrefix> = {
  name: "prefix",
  load: loading((keys) =>
    query.selectFrom("organization").select("prefix").where(keyIn(["prefix"], keys)).compile()
  ),
  keyOf: (row) => [row.prefix!],
};

export type AlertRow = Selectable<AlertTable>;

export const alerts: RecordKind<AlertRow> = {
  name: "alert",
  load: loading((keys) => query.selectFrom("alert").selectAll().where(keyIn(["alert_id"], keys)).compile()),
  keyOf: (row) => [row.alert_id],
  save: compileOnce((row) =>
    query.insertInto("alert").values(row).onConflict((conflict) =>
      conflict.column("alert_id").doUpdateSet({
        acknowledged: row.acknowledged,
        acknowledged_at: row.acknowledged_at,
      })
    ).compile()
  ),
};

/** That an organization has its alert of a kind on a UTC day. */
export type AlertDay = Pick<AlertRow, "org_id" | "kind" | "day">;

export const alertDays: RecordKind<AlertDay> = {
  name: "alert_day",
  load: loading((keys) =>
    query.selectFrom("alert").select(["org_id", "kind", "day"])
      .where(
        sql<boolean>`(org_id, kind, day) in
          (select value ->> 0, value ->> 1, cast(value ->> 2 as integer) from json_each(${keys}))`,
      ).compile()
  ),
  keyOf: (row) => [row.org_id, row.kind, String(row.day)],
};

export type AssessmentRow = Selectable<AssessmentTable>;

export const assessments: RecordKind<AssessmentRow> = {
  name: "assessment",
  load: loading((keys) =>
    query.selectFrom("assessment").selectAll().where(keyIn(["session_id"], keys)).compile()
  ),
  keyOf: (row) => [row.session_id],
  save: compileOnce((row) => query.insertInto("assessment").values(row).compile()),
};

export const breachWindows: RecordKind<Selectable<BreachWindowTable>> = {
  name: "breach_window",
  load: loading((keys) =>
    query.selectFrom("breach_window").selectAll().where(keyIn(["subject"], keys)).compile()
  ),
  keyOf: (row) => [row.subject],
  save: compileOnce(({ subject, told_at }) =>
    query.insertInto("breach_window").values({ subject, told_at })
      .onConflict((conflict) => conflict.column("subject").doUpdateSet({ told_at })).compile()
  ),
};

export type WebhookRow = Selectable<WebhookTable>;

export const webhooks: RecordKind<WebhookRow> = {
  name: "webhook",
  load: loading((keys) =>
    query.selectFrom("webhook").selectAll().where(keyIn(["webhook_id"], keys)).compile()
  ),
  keyOf: (row) => [row.webhook_id],
  // How attempts go is counted past the unit; what is decided from that is recorded in the chain beside it.
  save: compileOnce((row) =>
    query.insertInto("webhook").values(row).onConflict((conflict) =>
      conflict.column("webhook_id").doUpdateSet({
        active: row.active,
        paused_at: row.paused_at,
        probe_at: row.probe_at,
      })
    ).compile()
  ),
  remove: ([id]) => query.deleteFrom("webhook").where("webhook_id", "=", id!).compile(),
};

export const webhookDeliveries: RecordKind<Selectable<WebhookDeliveryTable>> = {
  name: "webhook_delivery",
  load: loading((keys) =>
    query.selectFrom("webhook_delivery").selectAll().where(keyIn(["delivery_id"], keys)).compile()
  ),
  keyOf: (row) => [row.delivery_id],
};

/** The kinds of events that some active destination of an organization takes. */
export interface Subscriptions {
  readonly org_id: string;
  /** Separated by single spaces; one may stand there more than once. */
  readonly events: string;
}

export const subscriptions: RecordKind<Subscriptions> = {
  name: "subscriptions",
  load: loading((keys) =>
    query.selectFrom("webhook").select(["org_id", sql<string>`group_concat(events, ' ')`.as("events")])
      .where(keyIn(["org_id"], keys)).where("active", "=", 1).groupBy("org_id").compile()
  ),
  keyOf: (row) => [row.org_id],
};

/** How many destinations an organization has; there is no row for none. */
export interface WebhookCount {
  readonly org_id: string;
  readonly count: number;
}

export const webhookCounts: RecordKind<WebhookCount> = {
  name: "webhook_count",
  load: loading((keys) =>
    query.selectFrom("webhook").select((row) => ["org_id", row.fn.countAll<number>().as("count")])
      .where(keyIn(["org_id"], keys)).groupBy("org_id").compile()
  ),
  keyOf: (row) => [row.org_id],
};

export type SubjectRow = Selectable<SubjectTable>;

export const subjects: RecordKind<SubjectRow> = {
  name: "subject",
  isReferredTo: true,
  load: loading((keys) =>
    query.selectFrom("subject").selectAll().where(keyIn(["org_id", "operator_id"], keys)).compile()
  ),
  keyOf: (row) => [row.org_id, row.operator_id],
  save: compileOnce((row) => query.insertInto("subject").values(row).compile()),
};

export type OperatorRow = Insertable<OperatorTable>;

export const operators: RecordKind<OperatorRow> = {
  name: "operator",
  load: loading((keys) =>
    query.selectFrom("operator")
      .select(["org_id", "operator_id", "state", "domain", "prior_seq", "prior_hash"])
      .where(keyIn(["org_id", "operator_id"], keys)).compile()
  ),
  keyOf: (row) => [row.org_id, row.operator_id],
  save: compileOnce((row) =>
    query.insertInto("operator").values(row).onConflict((conflict) =>
      conflict.columns(["org_id", "operator_id"]).doUpdateSet(({ ref }) => ({
        state: ref("excluded.state"),
        domain: ref("excluded.domain"),
        prior_seq: ref("excluded.prior_seq"),
        prior_hash: ref("excluded.prior_hash"),
      }))
    ).compile()
  ),
};

export type InteractionRow = Selectable<InteractionTable>;

export const interactions: RecordKind<InteractionRow> = {
  name: "interaction",
  isReferredTo: true,
  load: loading((keys) =>
    query.selectFrom("interaction").selectAll().where(keyIn(["org_id", "session_id"], keys)).compile()
  ),
  keyOf: (row) => [row.org_id, row.session_id],
  save: compileOnce((row) => query.insertInto("interaction").values(row).compile()),
};

export type SkippedInteractionRow = Selectable<SkippedInteractionTable>;

export const skippedInteractions: RecordKind<SkippedInteractionRow> = {
  name: "skipped_interaction",
  load: loading((keys) =>
    query.selectFrom("skipped_interaction").selectAll().where(keyIn(["org_id", "session_id"], keys))
      .compile()
  ),
  keyOf: (row) => [row.org_id, row.session_id],
  save: compileOnce((row) => query.insertInto("skipped_interaction").values(row).compile()),
};

export type ScoreCommitRow = Selectable<ScoreCommitTable>;

export const scoreCommits: RecordKind<ScoreCommitRow> = {
  name: "score_commit",
  load: loading((keys) =>
    query.selectFrom("score_commit").selectAll().where(keyIn(["org_id", "session_id"], keys)).compile()
  ),
  keyOf: (row) => [row.org_id, row.session_id],
  save: compileOnce((row) => query.insertInto("score_commit").values(row).compile()),
};

export type OutcomeLabelRow = Selectable<OutcomeLabelTable>;

export const outcomeLabels: RecordKind<OutcomeLabelRow> = {
  name: "outcome_label",
  load: loading((keys) =>
    query.selectFrom("outcome_label").selectAll().where(keyIn(["org_id", "session_id"], keys)).compile()
  ),
  keyOf: (row) => [row.org_id, row.session_id],
  save: compileOnce((row) => query.insertInto("outcome_label").values(row).compile()),
};

export type ScoreBatchRow = Selectable<ScoreBatchTable>;

export const scoreBatches: RecordKind<ScoreBatchRow> = {
  name: "score_batch",
  load: loading((keys) =>
    query.selectFrom("score_batch").selectAll().where(keyIn(["org_id", "request_digest"], keys)).compile()
  ),
  keyOf: (row) => [row.org_id, row.request_digest],
  save: compileOnce((row) => query.insertInto("score_batch").values(row).compile()),
};

export type DecisionRow = Selectable<DecisionTable>;

export const decisions: RecordKind<DecisionRow> = {
  name: "decision",
  load: loading((keys) =>
    query.selectFrom("decision").selectAll().where(keyIn(["org_id", "decision_id"], keys)).compile()
  ),
  keyOf: (row) => [row.org_id, row.decision_id],
  save: compileOnce((row) => query.insertInto("decision").values(row).compile()),
};

export type ComplianceReportRow = Selectable<ComplianceReportTable>;

/** A report by what it says, its period included: the same content is the same report. */
export const complianceReports: RecordKind<ComplianceReportRow> = {
  name: "compliance_report",
  load: loading((keys) =>
    query.selectFrom("compliance_report").selectAll()
      .where(keyIn(["org_id", "content_sha256"], keys)).compile()
  ),
  keyOf: (row) => [row.org_id, row.content_sha256],
  save: compileOnce((row) => query.insertInto("compliance_report").values(row).compile()),
};

export type IdempotencyRow = Selectable<IdempotencyTable>;

export const idempotencyRecords: RecordKind<IdempotencyRow> = {
  name: "idempotency",
  load: loading((keys) =>
    query.selectFrom("idempotency").selectAll().where(keyIn(["endpoint", "idempotency_key"], keys)).compile()
  ),
  keyOf: (row) => [row.endpoint, row.idempotency_key],
  // A record past its retention is replaced by the call that uses its key anew.
  save: compileOnce((row) =>
    query.insertInto("idempotency").values(row).onConflict((conflict) =>
      conflict.columns(["endpoint", "idempotency_key"]).doUpdateSet({
        request_digest: row.request_digest,
        status: row.status,
        body: row.body,
        created_at: row.created_at,
      })
    ).compile()
  ),
};

export type SigningKeyRow = Selectable<SigningKeyTable>;

export type TombstoneRow = Selectable<TombstoneTable>;

/** What a used name left behind, by the HMAC that stands for it. */
export const tombstones: RecordKind<TombstoneRow> = {
  name: "tombstone",
  load: loading((keys) =>
    query.selectFrom("tombstone").selectAll()
      .where(sql<boolean>`name in (select unhex(value ->> 0) from json_each(${keys}))`).compile()
  ),
  keyOf: (row) => [row.name.toHex()],
  save: compileOnce((row) =>
    query.insertInto("tombstone").values(row).onConflict((conflict) =>
      conflict.column("name").doUpdateSet({
        reason: row.reason,
        chain: row.chain,
        seq: row.seq,
        entry_hash: row.entry_hash,
      })
    ).compile()
  ),
};

/** The names that an operator's records used. */
export interface OperatorNamesRow {
  readonly org_id: string;
  readonly operator_id: string;
  /** A JSON array of session and decision ids. */
  readonly names: string;
  /** Entries of the operator's pseudonym in the evidence chains. */
  readonly entries: number;
}

export const operatorNames: RecordKind<OperatorNamesRow> = {
  name: "operator_names",
  load: loading((keys) =>
    sql<OperatorNamesRow>`select value ->> 0 as org_id, value ->> 1 as operator_id, (
      select json_group_array(name) from (
        select session_id as name from interaction where org_id = value ->> 0 and operator_id = value ->> 1
        union all select session_id from skipped_interaction
          where org_id = value ->> 0 and operator_id = value ->> 1
        union all select decision_id from decision where org_id = value ->> 0 and operator_id = value ->> 1
      )) as names, (
        select count(*) from audit_entry where subject = (
          select pseudonym from subject where org_id = value ->> 0 and operator_id = value ->> 1)
          and chain in (select chain from audit_chain where family = 'org/' || (value ->> 0))
      ) as entries from json_each(${keys})`.compile(query)
  ),
  keyOf: (row) => [row.org_id, row.operator_id],
};
