/**
 * The rows that a plan may read and replace by key. Each kind has one query that loads its rows and one
 * statement that saves a row.
 */
import { DAY_MS } from "../domain/time.ts";
import { type CompiledQuery, type Insertable, type RawBuilder, type Selectable, sql } from "kysely";
import { IDEMPOTENCY_RETENTION_DAYS } from "../domain/limits.ts";
import { compileOnce } from "./compile_once.ts";
import { query, type Statement } from "./database.ts";
import type { SealedValue, Sealing, Seals } from "./seals.ts";
import type {
  AlertTable,
  AssessmentTable,
  BreachWindowTable,
  ComplianceReportTable,
  DecisionTable,
  FrozenOperatorTable,
  IdempotencyTable,
  InstallationTable,
  InteractionTable,
  KeyedCallTable,
  ModelDocumentTable,
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

/** The parts of a key, in the order of the table's primary key; bytes are in hexadecimal. */
export type Key = readonly string[];

export interface RecordKind<Row> {
  readonly name: string;
  /**
   * Loads all rows whose keys are in a JSON array of arrays. The SQL text is the same for any number of keys.
   */
  load(keys: string): CompiledQuery<Row>;
  keyOf(row: Row): Key;
  /** True if rows of other kinds refer to its rows, which are therefore written first. */
  readonly isReferredTo?: boolean;
  /** How its rows are sealed; absent if no answer is made from its rows alone. */
  readonly sealing?: Sealing<Row>;
  /** Absent for a kind that is only read. */
  save?(row: Row): Statement;
  /** Absent for a kind whose rows are never removed. */
  remove?(key: Key): Statement;
}

/** `(a, b) IN (…)` over a JSON array of keys; the index of the primary key serves it. */
export function keyIn(columns: readonly string[], keys: string) {
  const list = sql.join(columns.map((column) => sql.ref(column)));
  const values = sql.join(columns.map((_, index) => sql`value ->> ${sql.lit(index)}`));
  return columns.length === 1
    ? sql<boolean>`${list} in (select ${values} from json_each(${keys}))`
    : sql<boolean>`(${list}) in (select ${values} from json_each(${keys}))`;
}

/** The `load` of a kind, from the query for a JSON array of keys. */
export function loadOnce<Row>(
  build: (keys: string) => CompiledQuery<Row>,
): (keys: string) => CompiledQuery<Row> {
  const bind = compileOnce(({ keys }: { readonly keys: string }) => build(keys));
  return (keys) => bind({ keys });
}

export type InstallationRow = Insertable<InstallationTable>;

/** The key of the only row. */
export const INSTALLATION_KEY: Key = ["1"];

export const installations: RecordKind<InstallationRow> = {
  name: "installation",
  load: loadOnce((keys) =>
    query.selectFrom("installation").selectAll()
      .where(sql<boolean>`id in (select cast(value ->> 0 as integer) from json_each(${keys}))`).compile()
  ),
  keyOf: (row) => [String(row.id)],
  // The seal leaves out the key, which is wrapped by itself, and the last pepper, which is only compared.
  sealing: {
    values: (row) => [
      row.deployment_id,
      row.model_sha256,
      row.audit_retention_days ?? null,
      row.evidence_retention_days ?? null,
      row.created_at,
    ],
    heldBy: () => "sys",
  },
  save: compileOnce((row) =>
    query.insertInto("installation").values(row).onConflict((conflict) =>
      conflict.column("id").doUpdateSet({
        model_sha256: row.model_sha256,
        audit_retention_days: row.audit_retention_days,
        evidence_retention_days: row.evidence_retention_days,
        seal: row.seal,
      })
    ).compile()
  ),
};

export type ModelDocumentRow = Selectable<ModelDocumentTable>;

/** A model document under its own hash, which proves its content. */
export const modelDocuments: RecordKind<ModelDocumentRow> = {
  name: "model_document",
  isReferredTo: true,
  load: loadOnce((keys) =>
    query.selectFrom("model_document").selectAll().where(keyIn(["sha256"], keys)).compile()
  ),
  keyOf: (row) => [row.sha256],
  save: compileOnce((row) =>
    query.insertInto("model_document").values(row)
      .onConflict((conflict) => conflict.column("sha256").doNothing()).compile()
  ),
};

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
  "access_from",
  "seal",
] as const;

/**
 * The family of an organization's audit log. Its head holds the set of the organization, its webhooks, named keys, users
 * and sessions.
 */
export const auditLog = ({ org_id }: { readonly org_id: string }) => `org/${org_id}/admin`;

export const organizations: RecordKind<OrganizationRow> = {
  name: "organization",
  isReferredTo: true,
  load: loadOnce((keys) =>
    query.selectFrom("organization").select(ORGANIZATION_COLUMNS).where(keyIn(["org_id"], keys)).compile()
  ),
  keyOf: (row) => [row.org_id],
  sealing: {
    values: (row) => [
      row.org_id,
      row.name,
      row.domain,
      row.tier,
      row.allowed_origins,
      row.inactive_reasons,
      row.inactive_since ?? "{}",
      row.prefix ?? null,
      row.key_hash ?? null,
      row.pepper_id ?? null,
      row.api_key_version,
      row.api_key_rotated_at ?? null,
      row.created_at,
      // Rows without it keep the seals that they had before there was the column.
      ...(row.access_from == null ? [] : [row.access_from]),
    ],
    heldBy: auditLog,
  },
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
        access_from: row.access_from,
        seal: row.seal,
      })
    ).compile()
  ),
};

/** A candidate prefix that is taken. */
export interface TakenPrefix {
  readonly prefix: string | null;
}

export const takenPrefixes: RecordKind<TakenPrefix> = {
  name: "prefix",
  load: loadOnce((keys) =>
    query.selectFrom("organization").select("prefix").where(keyIn(["prefix"], keys))
      .unionAll(query.selectFrom("named_key").select("prefix").where(keyIn(["prefix"], keys))).compile()
  ),
  keyOf: (row) => [row.prefix!],
};

export type AlertRow = Selectable<AlertTable>;

export const alerts: RecordKind<AlertRow> = {
  name: "alert",
  load: loadOnce((keys) => query.selectFrom("alert").selectAll().where(keyIn(["alert_id"], keys)).compile()),
  keyOf: (row) => [row.alert_id],
  save: compileOnce((row) =>
    query.insertInto("alert").values(row).onConflict((conflict) =>
      conflict.column("alert_id").doUpdateSet({
        detail: row.detail,
        acknowledged: row.acknowledged,
        acknowledged_at: row.acknowledged_at,
      })
    ).compile()
  ),
  remove: ([id]) => query.deleteFrom("alert").where("alert_id", "=", id!).compile(),
};

/** Marks that an organization has its alert of a kind on a UTC day. */
export type AlertDay = Pick<AlertRow, "alert_id" | "org_id" | "kind" | "day">;

export const alertDays: RecordKind<AlertDay> = {
  name: "alert_day",
  load: loadOnce((keys) =>
    query.selectFrom("alert").select(["alert_id", "org_id", "kind", "day"])
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
  load: loadOnce((keys) =>
    query.selectFrom("assessment").selectAll().where(keyIn(["session_id"], keys)).compile()
  ),
  keyOf: (row) => [row.session_id],
  save: compileOnce((row) => query.insertInto("assessment").values(row).compile()),
};

export const breachWindows: RecordKind<Selectable<BreachWindowTable>> = {
  name: "breach_window",
  load: loadOnce((keys) =>
    query.selectFrom("breach_window").selectAll().where(keyIn(["subject"], keys)).compile()
  ),
  keyOf: (row) => [row.subject],
  save: compileOnce(({ subject, told_at }) =>
    query.insertInto("breach_window").values({ subject, told_at })
      .onConflict((conflict) => conflict.column("subject").doUpdateSet({ told_at })).compile()
  ),
};

/** A webhook; its seal is absent until it is saved. */
export type WebhookRow = Omit<Selectable<WebhookTable>, "seal"> & Pick<Insertable<WebhookTable>, "seal">;

export const webhooks: RecordKind<WebhookRow> = {
  name: "webhook",
  load: loadOnce((keys) =>
    query.selectFrom("webhook").selectAll().where(keyIn(["webhook_id"], keys)).compile()
  ),
  keyOf: (row) => [row.webhook_id],
  // The seal leaves out the secret, which is wrapped by itself and bound to the webhook's id, and the counts
  // of attempts, which affect attempts only.
  sealing: {
    values: ({ webhook_id, org_id, url, events, active, created_at }) => [
      webhook_id,
      org_id,
      url,
      events,
      active,
      created_at,
    ],
    heldBy: auditLog,
  },
  // The counts of attempts are updated outside of the unit of work. What is decided from them is recorded in
  // the chain.
  save: compileOnce((row) =>
    query.insertInto("webhook").values(row).onConflict((conflict) =>
      conflict.column("webhook_id").doUpdateSet({
        active: row.active,
        paused_at: row.paused_at,
        probe_at: row.probe_at,
        seal: row.seal,
      })
    ).compile()
  ),
  remove: ([id]) => query.deleteFrom("webhook").where("webhook_id", "=", id!).compile(),
};

export const webhookDeliveries: RecordKind<Selectable<WebhookDeliveryTable>> = {
  name: "webhook_delivery",
  load: loadOnce((keys) =>
    query.selectFrom("webhook_delivery").selectAll().where(keyIn(["delivery_id"], keys)).compile()
  ),
  keyOf: (row) => [row.delivery_id],
};

/** The kinds of events that the active destinations of an organization take. */
export interface Subscriptions {
  readonly org_id: string;
  /** Separated by single spaces; may contain duplicates. */
  readonly events: string;
}

export const subscriptions: RecordKind<Subscriptions> = {
  name: "subscriptions",
  load: loadOnce((keys) =>
    query.selectFrom("webhook").select(["org_id", sql<string>`group_concat(events, ' ')`.as("events")])
      .where(keyIn(["org_id"], keys)).where("active", "=", 1).groupBy("org_id").compile()
  ),
  keyOf: (row) => [row.org_id],
};

/** Number of destinations of an organization; there is no row if it has none. */
export interface WebhookCount {
  readonly org_id: string;
  readonly count: number;
}

export const webhookCounts: RecordKind<WebhookCount> = {
  name: "webhook_count",
  load: loadOnce((keys) =>
    query.selectFrom("webhook").select((row) => ["org_id", row.fn.countAll<number>().as("count")])
      .where(keyIn(["org_id"], keys)).groupBy("org_id").compile()
  ),
  keyOf: (row) => [row.org_id],
};

export type SubjectRow = Insertable<SubjectTable>;

/** A subject's row as it is loaded. */
interface UsedSubject extends SubjectRow {
  /** 1 if an entry reports that the pseudonym was erased; otherwise 0. */
  readonly erased?: number;
}

export const subjects: RecordKind<SubjectRow> = {
  name: "subject",
  isReferredTo: true,
  load: loadOnce((keys) =>
    query.selectFrom("subject").selectAll().select(
      sql<number>`exists (select 1 from audit_entry as e indexed by audit_entry_erased
        where e.subject = subject.pseudonym and e.event_type = 'SUBJECT_ERASED')`.as("erased"),
    ).where(keyIn(["org_id", "operator_id"], keys)).compile()
  ),
  keyOf: (row) => [row.org_id, row.operator_id],
  sealing: {
    // A row that was put back after its erasure still has its old seal. The added value makes that seal
    // invalid.
    values: ({ org_id, operator_id, pseudonym, erased }: UsedSubject) => [
      org_id,
      operator_id,
      pseudonym,
      ...(erased === 1 ? ["erased"] : []),
    ],
  },
  save: compileOnce((row) => query.insertInto("subject").values(row).compile()),
};

export type OperatorRow = Insertable<OperatorTable>;

/** An operator's figures for the organization rule, with what its seal needs besides. */
export type OperatorFigures = Omit<
  Selectable<OperatorTable>,
  "state" | "prior_seq" | "prior_hash"
>;

export const operators: RecordKind<OperatorRow> = {
  name: "operator",
  load: loadOnce((keys) =>
    query.selectFrom("operator").selectAll().where(keyIn(["org_id", "operator_id"], keys)).compile()
  ),
  keyOf: (row) => [row.org_id, row.operator_id],
  sealing: {
    values: (row, seals) => operatorValues(row, digestOf(row, seals)),
    heldBy: ({ org_id }) => `org/${org_id}`,
    derived: (row, seals) => ({ digest: digestOf(row, seals) }),
  },
  save: compileOnce((row) =>
    query.insertInto("operator").values(row).onConflict((conflict) =>
      conflict.columns(["org_id", "operator_id"]).doUpdateSet(({ ref }) => ({
        state: ref("excluded.state"),
        domain: ref("excluded.domain"),
        prior_seq: ref("excluded.prior_seq"),
        prior_hash: ref("excluded.prior_hash"),
        position: ref("excluded.position"),
        jis: ref("excluded.jis"),
        n: ref("excluded.n"),
        t0: ref("excluded.t0"),
        t1: ref("excluded.t1"),
        tcrit: ref("excluded.tcrit"),
        crit_count: ref("excluded.crit_count"),
        share_hs: ref("excluded.share_hs"),
        share_crit: ref("excluded.share_crit"),
        verdict: ref("excluded.verdict"),
        team: ref("excluded.team"),
        digest: ref("excluded.digest"),
        seal: ref("excluded.seal"),
      }))
    ).compile()
  ),
  remove: ([orgId, operatorId]) =>
    query.deleteFrom("operator").where("org_id", "=", orgId!).where("operator_id", "=", operatorId!)
      .compile(),
};

/** Sealing of the rows of a pass over all operators: it reads the stored digest instead of the state. */
export const operatorFigures: { readonly name: string; readonly sealing: Sealing<OperatorFigures> } = {
  name: operators.name,
  sealing: {
    values: (row) => operatorValues(row, row.digest),
    heldBy: ({ org_id }) => `org/${org_id}`,
  },
};

/** The position of an operator's newest interaction. */
export interface NewestInteraction {
  readonly org_id: string;
  readonly operator_id: string;
  /** null if none is kept. */
  readonly position: number | null;
}

/** The position of an operator's newest interaction, with one index look-up; null if none is kept. */
export function newestPosition(orgId: RawBuilder<unknown>, operatorId: RawBuilder<unknown>) {
  return sql<number | null>`(select position from interaction
    where org_id = ${orgId} and operator_id = ${operatorId} order by t1 desc, position desc limit 1)`;
}

export const newestInteractions: RecordKind<NewestInteraction> = {
  name: "newest_interaction",
  load: loadOnce((keys) =>
    sql<NewestInteraction>`select value ->> 0 as org_id, value ->> 1 as operator_id,
      ${newestPosition(sql`value ->> 0`, sql`value ->> 1`)} as position from json_each(${keys})`.compile(
      query,
    )
  ),
  keyOf: (row) => [row.org_id, row.operator_id],
};

function operatorValues(
  row: Omit<OperatorRow, "state" | "prior_seq" | "prior_hash" | "digest" | "seal">,
  digest: Uint8Array | null,
): readonly SealedValue[] {
  return [
    row.org_id,
    row.operator_id,
    row.domain,
    row.position,
    row.jis,
    row.n,
    row.t0,
    row.t1,
    row.tcrit ?? null,
    row.crit_count,
    row.share_hs,
    row.share_crit,
    digest,
    ...sealedVerdict(row),
    ...sealedTeam(row),
  ];
}

/** The team as a sealed value, which no word of a verdict equals. A row without one keeps the seal that it had before there were teams. */
function sealedTeam({ team }: { readonly team?: string | null }): readonly SealedValue[] {
  return team == null ? [] : [`team ${team}`];
}

/** The verdict as the last sealed value. A row without one keeps the seal that it had before there were verdicts. */
function sealedVerdict(
  { verdict }: { readonly verdict?: string | null | undefined },
): readonly SealedValue[] {
  return verdict == null ? [] : [verdict];
}

function digestOf(
  { state, prior_seq, prior_hash }: OperatorRow,
  seals: Pick<Seals, "digestOf">,
): Uint8Array {
  return seals.digestOf(`${prior_seq} ${prior_hash.toHex()} ${state}`);
}

/** A score's row; its seal is absent until it is saved. */
export type InteractionRow =
  & Omit<Selectable<InteractionTable>, "seal">
  & Pick<Insertable<InteractionTable>, "seal">;

export const interactions: RecordKind<InteractionRow> = {
  name: "interaction",
  isReferredTo: true,
  load: loadOnce((keys) =>
    query.selectFrom("interaction").selectAll().where(keyIn(["org_id", "session_id"], keys)).compile()
  ),
  keyOf: (row) => [row.org_id, row.session_id],
  sealing: {
    values: (row) => [
      row.org_id,
      row.session_id,
      row.operator_id,
      row.request_digest,
      row.request_id,
      row.at,
      row.domain,
      row.decision,
      row.scenario_type,
      row.mode,
      row.departure,
      row.position,
      row.committed,
      row.jis,
      row.low,
      row.high,
      row.d1,
      row.d2,
      row.d3,
      row.d4,
      row.d5,
      row.d6,
      row.d7,
      row.mean_c,
      row.n,
      row.t0,
      row.ground_truth,
      row.tcrit ?? null,
      row.crit_count,
      row.share_hs,
      row.share_crit,
      row.t1,
      row.previous ?? null,
      row.departed,
      row.referred,
      row.commit_position ?? null,
      row.label_position ?? null,
      ...sealedVerdict(row),
    ],
  },
  save: compileOnce((row) => query.insertInto("interaction").values(row).compile()),
};

/** The same rows, saved with the position of a later commit or label. */
export const followedInteractions: RecordKind<InteractionRow> = {
  ...interactions,
  save: (row) => ({ ...updateFollowed(row), mustChange: 1 }),
};

const updateFollowed = compileOnce((row: InteractionRow) =>
  query.updateTable("interaction")
    .set({ commit_position: row.commit_position, label_position: row.label_position, seal: row.seal })
    .where("org_id", "=", row.org_id).where("session_id", "=", row.session_id).compile()
);

/** The newest entries that commit and label a score, according to the chain's rows; null if there is none. */
export interface FollowingEntries {
  readonly org_id: string;
  readonly session_id: string;
  readonly commit_position: number | null;
  readonly label_position: number | null;
}

/** By organization and session. Reads only the operator's entries since the score. */
export const followingEntries: RecordKind<FollowingEntries> = {
  name: "following_entries",
  load: loadOnce((keys) =>
    sql<FollowingEntries>`select i.org_id, i.session_id,
        max(c.first_position + e.seq) filter (where e.event_type = 'SCORE_COMMITTED') as commit_position,
        max(c.first_position + e.seq) filter (where e.event_type = 'OUTCOME_LABELLED') as label_position
      from json_each(${keys}) as key
      cross join interaction as i on i.org_id = key.value ->> 0 and i.session_id = key.value ->> 1
      cross join subject as s on s.org_id = i.org_id and s.operator_id = i.operator_id
      cross join audit_chain as c on c.family = 'org/' || i.org_id
      cross join audit_entry as e indexed by audit_entry_subject
        on e.subject = s.pseudonym and e.chain = c.chain and e.seq > i.position - c.first_position
      cross join audit_part as p on p.chain = e.chain and p.seq = e.seq
        and p.name = case e.event_type when 'SCORE_COMMITTED' then 'result' else 'input' end
      where e.event_type in ('SCORE_COMMITTED', 'OUTCOME_LABELLED')
        and case when json_valid(p.data) then p.data ->> '$.session_id' = i.session_id end
      group by i.org_id, i.session_id`.compile(query)
  ),
  keyOf: (row) => [row.org_id, row.session_id],
};

/** The values that the seal of a call's row covers. */
function callValues(
  row: Omit<Insertable<DecisionTable>, "decision_id">,
  id: string,
): readonly SealedValue[] {
  return [row.org_id, id, row.operator_id, row.request_digest, row.request_id, row.at, row.position];
}

/** A frozen call's row; its seal is absent until it is saved. */
export type SkippedInteractionRow =
  & Omit<Selectable<SkippedInteractionTable>, "seal">
  & Pick<Insertable<SkippedInteractionTable>, "seal">;

export const skippedInteractions: RecordKind<SkippedInteractionRow> = {
  name: "skipped_interaction",
  load: loadOnce((keys) =>
    query.selectFrom("skipped_interaction").selectAll().where(keyIn(["org_id", "session_id"], keys))
      .compile()
  ),
  keyOf: (row) => [row.org_id, row.session_id],
  sealing: {
    values: (row) => [...callValues(row, row.session_id), row.t0, row.t1, row.previous, row.n],
  },
  save: compileOnce((row) => query.insertInto("skipped_interaction").values(row).compile()),
};

/** The row of an operator with frozen calls; its seal is absent until it is saved. */
export type FrozenOperatorRow =
  & Omit<Selectable<FrozenOperatorTable>, "seal">
  & Pick<Insertable<FrozenOperatorTable>, "seal">;

/**
 * Operators that have frozen calls, scored or not. Because of this row, nobody can remove all frozen calls of
 * an operator unnoticed.
 */
export const frozenOperators: RecordKind<FrozenOperatorRow> = {
  name: "frozen_operator",
  load: loadOnce((keys) =>
    query.selectFrom("frozen_operator").selectAll().where(keyIn(["org_id", "operator_id"], keys)).compile()
  ),
  keyOf: (row) => [row.org_id, row.operator_id],
  sealing: {
    values: (row) => [row.org_id, row.operator_id, row.position, row.n, row.t0, row.t1],
    heldBy: ({ org_id }) => `org/${org_id}`,
  },
  save: compileOnce((row) =>
    query.insertInto("frozen_operator").values(row).onConflict((conflict) =>
      conflict.columns(["org_id", "operator_id"]).doUpdateSet(({ ref }) => ({
        position: ref("excluded.position"),
        n: ref("excluded.n"),
        t0: ref("excluded.t0"),
        t1: ref("excluded.t1"),
        seal: ref("excluded.seal"),
      }))
    ).compile()
  ),
  remove: ([orgId, operatorId]) =>
    query.deleteFrom("frozen_operator").where("org_id", "=", orgId!).where("operator_id", "=", operatorId!)
      .compile(),
};

export type ScoreCommitRow = Insertable<ScoreCommitTable>;

export const scoreCommits: RecordKind<ScoreCommitRow> = {
  name: "score_commit",
  load: loadOnce((keys) =>
    query.selectFrom("score_commit").selectAll().where(keyIn(["org_id", "session_id"], keys)).compile()
  ),
  keyOf: (row) => [row.org_id, row.session_id],
  sealing: {
    values: ({ org_id, session_id, request_id, at, position }) => [
      org_id,
      session_id,
      request_id,
      at,
      position,
    ],
  },
  save: compileOnce((row) => query.insertInto("score_commit").values(row).compile()),
};

export type OutcomeLabelRow = Insertable<OutcomeLabelTable>;

export const outcomeLabels: RecordKind<OutcomeLabelRow> = {
  name: "outcome_label",
  load: loadOnce((keys) =>
    query.selectFrom("outcome_label").selectAll().where(keyIn(["org_id", "session_id"], keys)).compile()
  ),
  keyOf: (row) => [row.org_id, row.session_id],
  sealing: {
    values: ({ org_id, session_id, outcome_correct, request_id, at, position }) => [
      org_id,
      session_id,
      outcome_correct,
      request_id,
      at,
      position,
    ],
  },
  save: compileOnce((row) => query.insertInto("outcome_label").values(row).compile()),
};

export type ScoreBatchRow = Insertable<ScoreBatchTable>;

export const scoreBatches: RecordKind<ScoreBatchRow> = {
  name: "score_batch",
  load: loadOnce((keys) =>
    query.selectFrom("score_batch").selectAll().where(keyIn(["org_id", "request_digest"], keys)).compile()
  ),
  keyOf: (row) => [row.org_id, row.request_digest],
  sealing: {
    values: (row) => [
      row.org_id,
      row.request_digest,
      row.request_id,
      row.at,
      row.operator_id,
      row.first_position,
      row.count,
    ],
  },
  save: compileOnce((row) => query.insertInto("score_batch").values(row).compile()),
};

export type DecisionRow = Insertable<DecisionTable>;

export const decisions: RecordKind<DecisionRow> = {
  name: "decision",
  load: loadOnce((keys) =>
    query.selectFrom("decision").selectAll().where(keyIn(["org_id", "decision_id"], keys)).compile()
  ),
  keyOf: (row) => [row.org_id, row.decision_id],
  sealing: { values: (row) => callValues(row, row.decision_id) },
  save: compileOnce((row) => query.insertInto("decision").values(row).compile()),
};

export type ComplianceReportRow = Selectable<ComplianceReportTable>;

/** Reports by the hash of their content, which includes the period: the same content is the same report. */
export const complianceReports: RecordKind<ComplianceReportRow> = {
  name: "compliance_report",
  load: loadOnce((keys) =>
    query.selectFrom("compliance_report").selectAll()
      .where(keyIn(["org_id", "content_sha256"], keys)).compile()
  ),
  keyOf: (row) => [row.org_id, row.content_sha256],
  save: compileOnce((row) => query.insertInto("compliance_report").values(row).compile()),
};

export type IdempotencyRow = Selectable<IdempotencyTable>;

export const idempotencyRecords: RecordKind<IdempotencyRow> = {
  name: "idempotency",
  load: loadOnce((keys) =>
    query.selectFrom("idempotency").selectAll().where(keyIn(["endpoint", "idempotency_key"], keys)).compile()
  ),
  keyOf: (row) => [row.endpoint, row.idempotency_key],
  // A record past its retention is replaced by the call that uses its key again.
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

/** A keyed call's row; its seal is absent until it is saved. */
export type KeyedCallRow =
  & Omit<Selectable<KeyedCallTable>, "seal">
  & Pick<Insertable<KeyedCallTable>, "seal">;

export const keyedCalls: RecordKind<KeyedCallRow> = {
  name: "keyed_call",
  load: loadOnce((keys) =>
    query.selectFrom("keyed_call").selectAll()
      .where(sql<boolean>`name in (select unhex(value ->> 0) from json_each(${keys}))`).compile()
  ),
  keyOf: (row) => [row.name.toHex()],
  sealing: {
    values: (row) => [
      row.name,
      row.org_id,
      row.operator_id,
      row.request_digest,
      row.reference,
      row.request_id,
      row.at,
      row.erased_chain,
      row.erased_seq,
      row.erased_hash,
    ],
  },
  // A call past its retention is replaced by the one that uses its key again. A call that another process
  // stored meanwhile is not replaced: then this commit is planned again.
  save: (row) => ({ ...saveKeyedCall(row), mustChange: 1 }),
};

const KEYED_CALL_MS = IDEMPOTENCY_RETENTION_DAYS * DAY_MS;

const saveKeyedCall = compileOnce((row: KeyedCallRow) =>
  query.insertInto("keyed_call").values(row).onConflict((conflict) =>
    conflict.column("name").doUpdateSet(({ ref }) => ({
      org_id: ref("excluded.org_id"),
      operator_id: ref("excluded.operator_id"),
      request_digest: ref("excluded.request_digest"),
      reference: ref("excluded.reference"),
      request_id: ref("excluded.request_id"),
      at: ref("excluded.at"),
      erased_chain: ref("excluded.erased_chain"),
      erased_seq: ref("excluded.erased_seq"),
      erased_hash: ref("excluded.erased_hash"),
      seal: ref("excluded.seal"),
    })).where(sql<boolean>`keyed_call.at <= excluded.at - ${sql.lit(KEYED_CALL_MS)}`)
  ).compile()
);

/** The same rows, saved as an erasure ends them. */
export const endedKeyedCalls: RecordKind<KeyedCallRow> = {
  ...keyedCalls,
  save: compileOnce(({ name, org_id: _, request_id: __, at: ___, ...ended }: KeyedCallRow) =>
    query.updateTable("keyed_call").set(ended).where("name", "=", name).compile()
  ),
};

/** The keyed calls that are stored for an operator. */
export interface OperatorCalls {
  readonly org_id: string;
  readonly operator_id: string;
  /** A JSON array of arrays: the values of each row in the order of the query, bytes in hexadecimal. */
  readonly calls: string;
}

export const operatorCalls: RecordKind<OperatorCalls> = {
  name: "operator_calls",
  load: loadOnce((keys) =>
    sql<OperatorCalls>`select value ->> 0 as org_id, value ->> 1 as operator_id, (
        select json_group_array(
          json_array(hex(name), hex(request_digest), reference, request_id, at, hex(seal)))
        from keyed_call where org_id = value ->> 0 and operator_id = value ->> 1
      ) as calls from json_each(${keys})`.compile(query)
  ),
  keyOf: (row) => [row.org_id, row.operator_id],
};

export type SigningKeyRow = Selectable<SigningKeyTable>;

export type TombstoneRow = Selectable<TombstoneTable>;

/** Tombstones of used names, by the HMAC that stands for the name. */
export const tombstones: RecordKind<TombstoneRow> = {
  name: "tombstone",
  load: loadOnce((keys) =>
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
