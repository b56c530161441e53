/**
 * Seals rows without a valid seal: those that an earlier program wrote, and those that an administrator
 * accepts after a restore. Columns that follow from a chain's records are made anew from them, so that no
 * altered column is believed. What follows from no record is taken as it is: an organization, its webhooks, keys and users,
 * request digests of an earlier program, and an operator of whom retention has left only the state.
 */
import { verifiedModel } from "../shared/stored_models.ts";
import type { Logging, Proving, Reading, Scoring } from "../shared/capabilities.ts";
import type { Domain } from "../../domain/enums.ts";
import { canonicalJson } from "../../evidence/canonical.ts";
import { equalBytes } from "../../evidence/crypto.ts";
import { isEvidenceChain, organizationOf, SYSTEM_CHAIN } from "../../evidence/chain_name.ts";
import { entrySchema } from "../../evidence/entry.ts";
import { entryHash } from "../../evidence/hashes.ts";
import { orNull } from "../../evidence/or_null.ts";
import { PROBE_DETAILS } from "../../evidence/probes.ts";
import { computeLabel, computeScore, labelInputSchema, scoreInputSchema } from "../../evidence/record.ts";
import { teamSetSchema } from "../../evidence/teams.ts";
import { requestDigest } from "../../keys/secrets.ts";
import type { OperatorState } from "../../scoring/state.ts";
import { loadEpochs, newestHeads, placeOfHead, type StoredHead, updateHeld } from "../../store/chains.ts";
import type { Database, Statement } from "../../store/database.ts";
import { readInstallation } from "../../store/installation.ts";
import { readModelDocument, replaceModelDocument } from "../../store/model_documents.ts";
import { namedKeys, namedKeysQuery } from "../../store/named_keys.ts";
import { organizationQuery } from "../../store/organizations.ts";
import { type ProbeDrawRow, probeDraws } from "../../store/probes.ts";
import { readHeld, updateRecordRow } from "../../store/record_rows.ts";
import { readInputs, type RecordedInput } from "../../store/recorded_inputs.ts";
import {
  type DecisionRow,
  decisions,
  installations,
  type InteractionRow,
  interactions,
  organizations,
  type RecordKind,
  type SkippedInteractionRow,
  skippedInteractions,
  webhooks,
} from "../../store/records.ts";
import { sealed, type SealedKind, type Seals, setOf, shareOf } from "../../store/seals.ts";
import { passkeys, passkeysQuery } from "../../store/passkeys.ts";
import { userAccounts, userSessions, userSessionsQuery, usersQuery } from "../../store/users.ts";
import { setWebhookSeal, webhooksQuery } from "../../store/webhooks.ts";
import { AcceptedChain, destroyErased, removeStrayRows } from "./accepted_records.ts";
import { frozenLink, lastFrozen } from "../scoring/frozen_calls.ts";
import { NO_LINK } from "../users/accounts.ts";
import { NO_KEY } from "../organizations/key_issue.ts";
import { heldKeys, pinOf, readOwnKeys } from "../chains/own_keys.ts";
import { modelDocument } from "../scoring/replay.ts";
import { NOTHING_KNOWN, type OperatorFacts, sealFrozenOperators, sealOperators } from "./operator_seals.ts";
import { rebuildProbes } from "./probe_rows.ts";
import { sealFollowing } from "./resealing_following.ts";
import { scoredColumns, stateColumns, verdictColumn } from "../scoring/score.ts";
import { findDamages } from "../verification/verification.ts";

export type SealingDependencies = Pick<Reading, "database" | "seals"> & Proving & Logging & Scoring;

/**
 * Seals the rows of every family whose head holds no set of rows yet. A damaged chain is left as it is:
 * nothing is answered from its rows until an administrator has dealt with it.
 */
export async function sealUnsealed(dependencies: SealingDependencies): Promise<void> {
  const heads = [...(await newestHeads(dependencies.database)).values()].filter(({ held }) => held === null);
  if (heads.length === 0) return;
  const { database, crypto, log } = dependencies;
  const { keys } = await readOwnKeys(dependencies, heldKeys(dependencies));
  const pins = keys.map(pinOf);
  log.info("rows that an earlier program wrote are verified and sealed", { chains: heads.length });
  const damaged = new Map(
    (await findDamages({ database, crypto }, pins)).map((damage) => [damage.chain, damage]),
  );
  for (const head of heads) {
    const epochs = await loadEpochs(database, head.family);
    const damage = epochs.map(({ chain }) => damaged.get(chain)).find((found) => found !== undefined);
    if (damage === undefined) await sealFamily(dependencies, head, { isUpgrade: true });
    else {
      log.error("a chain is damaged: its rows are not sealed, and nothing is answered from them", {
        audit: true,
        chain: damage.chain,
        code: damage.code,
        finding: damage.sentence,
        mend: "put a sound database back, or accept this one: jiss restore --acknowledge REASON",
      });
    }
  }
  log.info("rows are sealed");
}

/** Whether the rows of a family are exactly the set that its newest head holds. */
export async function matchesHeldSet(
  { database, seals }: Pick<SealingDependencies, "database" | "seals">,
  family: string,
): Promise<boolean> {
  const { head, rows } = await readHeld(database, family);
  const held = head.held && seals.openSet(placeOfHead(head), head.held);
  const shares = rows.map(([kind, row]) => shareOf(seals, kind, row));
  return held !== null && shares.every((share) => share !== null) && equalBytes(setOf(shares), held);
}

/**
 * Seals the rows of a family, and stores their set in its head. Except in an upgrade from a program without
 * seals, an organization whose row was altered loses its keys, a webhook or a user whose row was altered is disabled, and
 * a named key whose row was altered is removed: somebody may have put in a key or an address of their own.
 */
export async function sealFamily(
  dependencies: SealingDependencies,
  head: StoredHead,
  { isUpgrade }: { readonly isUpgrade: boolean },
): Promise<void> {
  const { database, seals } = dependencies;
  const { family } = head;
  if (family === SYSTEM_CHAIN) await sealInstallation(dependencies);
  else if (isEvidenceChain(family)) await sealRecords(dependencies, family, { isUpgrade });
  else await sealRegistered(dependencies, organizationOf(family)!, { isUpgrade });
  const { rows } = await readHeld(database, family);
  const shares = rows.map(([kind, row]) => shareOf(seals, kind, row)!);
  const held = seals.closeSet(placeOfHead(head), setOf(shares));
  await database.batch([updateHeld({ ...head, held }, head)]);
}

async function sealInstallation(dependencies: SealingDependencies): Promise<void> {
  const { database, seals, model } = dependencies;
  const row = (await readInstallation(database))!;
  // A model that cannot be read is replaced by the configured one.
  const model_sha256 = await isModelIntact(dependencies, row.model_sha256) ? row.model_sha256 : model.sha256;
  await database.batch([installations.save!(sealed(seals, installations, { ...row, model_sha256 }).row)]);
}

/** Puts the model in use into the database again if somebody altered it there. @returns whether somebody did. */
export async function mendModel(dependencies: SealingDependencies, now: number): Promise<boolean> {
  const { database, model: { sha256, document } } = dependencies;
  if (await isModelIntact(dependencies, sha256)) return false;
  await database.batch([
    replaceModelDocument({ sha256, document: canonicalJson(document), first_used_at: now }),
  ]);
  return true;
}

async function isModelIntact({ database, crypto }: SealingDependencies, sha256: string): Promise<boolean> {
  const document = await readModelDocument(database, sha256);
  return document !== null && verifiedModel(crypto, { sha256, document }) !== null;
}

async function sealRegistered(
  { database, seals }: SealingDependencies,
  orgId: string,
  { isUpgrade }: { readonly isUpgrade: boolean },
): Promise<void> {
  const [[organization], destinations, keys, users, ofUsers, sessions] = await database.snapshot([
    organizationQuery(orgId),
    webhooksQuery(orgId),
    namedKeysQuery(orgId),
    usersQuery(orgId),
    passkeysQuery(orgId),
    userSessionsQuery(orgId),
  ]);
  const isOurs = <Row>(kind: SealedKind<Row>, row: Row) => isUpgrade || shareOf(seals, kind, row) !== null;
  const statements: Statement[] = destinations.map((row) => {
    const kept = isOurs(webhooks, row) ? row : { ...row, active: 0 };
    const { row: { active, seal } } = sealed(seals, webhooks, kept);
    return setWebhookSeal({ webhook_id: row.webhook_id, active, seal });
  });
  let isOrganizationOurs = true;
  if (organization !== undefined) {
    const { active: _, ...row } = organization;
    isOrganizationOurs = isOurs(organizations, row);
    statements.push(
      organizations.save!(sealed(seals, organizations, isOrganizationOurs ? row : { ...row, ...NO_KEY }).row),
    );
  }
  for (const row of keys) {
    if (!isOrganizationOurs || !isOurs(namedKeys, row)) {
      statements.push(namedKeys.remove!(namedKeys.keyOf(row)));
    }
  }
  for (const row of isUpgrade ? [] : users) {
    // A link that was used since may stand in the database that is accepted.
    const kept = isOurs(userAccounts, row) ? { ...row, ...NO_LINK } : { ...row, ...LOCKED_OUT };
    statements.push(userAccounts.save!(sealed(seals, userAccounts, kept).row));
  }
  const locked = new Set(users.filter((row) => !isOurs(userAccounts, row)).map(({ user_id }) => user_id));
  for (const row of ofUsers) {
    // Somebody may have put in a passkey of their own.
    if (locked.has(row.user_id) || !isOurs(passkeys, row)) {
      statements.push(passkeys.remove!(passkeys.keyOf(row)));
    }
  }
  // Everybody signs in anew: a session that was ended since may stand in the database that is accepted.
  for (const row of sessions) statements.push(userSessions.remove!(userSessions.keyOf(row)));
  if (statements.length > 0) await database.batch(statements);
}

/** The columns of a user whose row was altered: somebody may have put in a password of their own. */
const LOCKED_OUT = {
  state: "disabled",
  password: null,
  ...NO_LINK,
  issuer: null,
  issuer_subject: null,
} as const;

/**
 * Seals the rows of an organization's records. For an upgrade the whole chain was just verified. Otherwise
 * nothing that is read is believed: an input counts only if it is proven, erased records stay erased, and a
 * row without an input is removed.
 */
async function sealRecords(
  dependencies: SealingDependencies,
  family: string,
  { isUpgrade }: { readonly isUpgrade: boolean },
): Promise<void> {
  const { database } = dependencies;
  const orgId = organizationOf(family)!;
  const known = new Map<string, OperatorFacts>();
  const erased = isUpgrade ? new Set<string>() : await destroyErased(dependencies, family);
  for (const epoch of await loadEpochs(database, family)) {
    const { chain, firstPosition, minIndex, frontier } = epoch;
    const accepted = isUpgrade ? null : await AcceptedChain.open(dependencies, epoch);
    const span = isUpgrade
      ? { chain, first: minIndex, end: frontier.size, eventTypes: Object.keys(SEALINGS) }
      : { chain, first: 0, end: Number.MAX_SAFE_INTEGER, eventTypes: null };
    for await (const page of readInputs(database, span)) {
      const proven = await accepted?.parts(page, "input") ?? null;
      const rows = await readRows(database, orgId, page);
      const statements: Statement[] = [];
      for (const input of page) {
        const event = { input, position: firstPosition + input.seq, orgId, isUpgrade };
        const context = { known, rows };
        const eventType = proven === null ? input.event_type : proven.get(input.seq)?.event_type ?? null;
        const statement = eventType === null
          ? keepRow(dependencies, event, context)
          : Object.hasOwn(SEALINGS, eventType)
          ? await sealEvent(dependencies, { ...event, eventType }, context)
          : null;
        if (statement !== null) statements.push(statement);
      }
      if (statements.length > 0) await database.batch(statements);
    }
  }
  if (!isUpgrade) {
    await removeStrayRows(dependencies, family);
    await rebuildProbes(dependencies, family);
  }
  await sealFollowing(dependencies, family, { isUpgrade });
  await sealOperators(dependencies, { orgId, isUpgrade, known, erased });
  await sealFrozenOperators(dependencies, orgId, known);
}

async function readRows(
  database: Database,
  orgId: string,
  page: readonly RecordedInput[],
): Promise<PageRows> {
  const keys = JSON.stringify(page.map(({ data }) => [orgId, parseNames(data)?.id ?? ""]));
  const [scores, skipped, decided, drawn] = await database.snapshot<
    [InteractionRow, SkippedInteractionRow, DecisionRow, ProbeDrawRow]
  >([
    interactions.load(keys),
    skippedInteractions.load(keys),
    decisions.load(keys),
    probeDraws.load(keys),
  ]);
  return {
    interaction: new Map(scores.map((row) => [row.session_id, row])),
    skipped: new Map(skipped.map((row) => [row.session_id, row])),
    decision: new Map(decided.map((row) => [row.decision_id, row])),
    draw: new Map(drawn.map((row) => [row.session_id, row])),
  };
}

/** The rows of a page's records, by their ids. */
interface PageRows {
  readonly interaction: ReadonlyMap<string, InteractionRow>;
  readonly skipped: ReadonlyMap<string, SkippedInteractionRow>;
  readonly decision: ReadonlyMap<string, DecisionRow>;
  readonly draw: ReadonlyMap<string, ProbeDrawRow>;
}

/** The record and the operator that an input names; null if it is no input. */
function parseNames(data: string): { readonly id: string; readonly operatorId: string } | null {
  const input = orNull(() => JSON.parse(data)) as Readonly<Record<string, unknown>> | null;
  const [id, operatorId] = [input?.session_id ?? input?.decision_id, input?.operator_id];
  return typeof id === "string" && typeof operatorId === "string" ? { id, operatorId } : null;
}

interface RecordedEvent {
  readonly input: RecordedInput;
  readonly position: number;
  readonly orgId: string;
  readonly isUpgrade: boolean;
}

interface SealingContext {
  readonly known: Map<string, OperatorFacts>;
  readonly rows: PageRows;
}

/**
 * An unproven input counts for nothing. A row beside it that this installation wrote stays, and is linked to
 * the row that is kept before it.
 */
function keepRow(
  { seals }: SealingDependencies,
  { input: { data }, position }: RecordedEvent,
  { known, rows }: SealingContext,
): Statement | null {
  const named = parseNames(data);
  if (named === null) return null;
  const { id, operatorId } = named;
  const own = <Row extends { readonly position: number; readonly operator_id: string }>(
    kind: RecordKind<Row>,
    row: Row | undefined,
  ): Row | null =>
    row !== undefined && row.position === position && row.operator_id === operatorId &&
      shareOf(seals, kind, row) !== null
      ? row
      : null;
  const before = known.get(operatorId) ?? NOTHING_KNOWN;
  const score = own(interactions, rows.interaction.get(id));
  if (score !== null) {
    known.set(operatorId, { ...before, position });
    return sealingOf(seals, score, interactions, { previous: before.position });
  }
  const frozen = own(skippedInteractions, rows.skipped.get(id));
  if (frozen === null) return null;
  const link = frozenLink(before.frozen, frozen);
  known.set(operatorId, { ...before, frozen: lastFrozen(link) });
  return sealingOf(seals, frozen, skippedInteractions, link);
}

/** A record whose row is sealed, or made anew. */
interface SealedRecord {
  readonly input: Readonly<Record<string, unknown>>;
  readonly place: { readonly entry: { readonly seq: number }; readonly hash: Uint8Array };
  readonly position: number;
  /** Facts of its operator before it. */
  readonly before: OperatorFacts;
  readonly rows: PageRows;
  /** Columns that hold the record's operator and place, and facts of its request if they are made anew. */
  readonly columns: RecordColumns;
  /** Columns of a row made anew, without its id; null if none may be made. */
  readonly fresh: FreshColumns | null;
  /** The entry's id: it replaces the request's, which no record holds, in a row without a valid seal. */
  readonly entryId: string;
}

interface RecordColumns extends Partial<RequestFacts> {
  readonly operator_id: string;
  readonly position: number;
}

type FreshColumns = RecordColumns & RequestFacts & { readonly org_id: string; readonly request_id: string };

/** The facts that a record gives about its operator, and the statement for its row; null if it has none. */
interface Sealing {
  readonly after: OperatorFacts;
  readonly statement: Statement | null;
}

/** The rule of each type of event whose record has a row or changes an operator. */
const SEALINGS: Readonly<
  Record<string, (dependencies: SealingDependencies, record: SealedRecord) => Sealing | Promise<Sealing>>
> = {
  SCORE_COMPUTED: sealScore,
  SCORE_SKIPPED: sealSkipped,
  DRS_COMPUTED: sealDecision,
  OUTCOME_LABELLED: sealLabel,
  PROBE_ASSIGNED: sealDraw,
  TEAM_SET: takeTeam,
};

/** @returns the statement that seals the row of a record, or makes it anew; null if the record has no row. */
async function sealEvent(
  dependencies: SealingDependencies,
  { input: { seq, body, data }, position, orgId, isUpgrade, eventType }: RecordedEvent & {
    readonly eventType: string;
  },
  { known, rows }: SealingContext,
): Promise<Statement | null> {
  const { subject, id } = entrySchema.parse(JSON.parse(body));
  const input = JSON.parse(data);
  const operatorId: string = input.operator_id;
  const named = { operator_id: operatorId, position };
  // The row of an earlier program may hold facts of its request that its record does not hold.
  const requestFacts = isUpgrade ? null : requestFactsOf(dependencies, eventType, input);
  const { after, statement } = await SEALINGS[eventType]!(dependencies, {
    input,
    place: { entry: { seq }, hash: entryHash(dependencies.crypto, body) },
    position,
    before: { ...NOTHING_KNOWN, ...known.get(operatorId), subject },
    rows,
    columns: { ...named, ...requestFacts },
    fresh: requestFacts && { ...named, ...requestFacts, org_id: orgId, request_id: id },
    entryId: id,
  });
  known.set(operatorId, after);
  return statement;
}

async function sealScore(dependencies: SealingDependencies, record: SealedRecord): Promise<Sealing> {
  const { before, position, place, rows, fresh } = record;
  const input = scoreInputSchema.parse(record.input);
  const scored = computeScore(await documentOf(dependencies, input), input);
  const { domain, session_id } = input;
  const row = rows.interaction.get(session_id);
  const scoreColumns = {
    previous: before.position,
    ...scoredColumns(input, scored),
    // Later entries give the positions of its commit and label.
    commit_position: null,
    label_position: null,
  };
  const columns = { ...columnsOf(dependencies, record, interactions, row), ...scoreColumns };
  return {
    after: { ...before, position, domain, stateRow: stateColumns(scored.state, place, scoreColumns.verdict) },
    statement: sealingOf(
      dependencies.seals,
      row,
      interactions,
      columns,
      fresh && { ...fresh, ...scoreColumns, session_id },
    ),
  };
}

async function sealLabel(
  dependencies: SealingDependencies,
  { input, before, place }: SealedRecord,
): Promise<Sealing> {
  const label = labelInputSchema.parse(input);
  const document = await documentOf(dependencies, label);
  const state: OperatorState = computeLabel(document, label);
  const domain = (before.domain ?? label.weights.domain) as Domain;
  const verdict = verdictColumn(document, state, domain);
  return { after: { ...before, stateRow: stateColumns(state, place, verdict) }, statement: null };
}

function sealSkipped(dependencies: SealingDependencies, record: SealedRecord): Sealing {
  const { before, position, rows, fresh } = record;
  const { as_of, session_id } = record.input as { readonly as_of: string; readonly session_id: string };
  const link = frozenLink(before.frozen, { at: Date.parse(as_of), position });
  const row = rows.skipped.get(session_id);
  const columns = { ...columnsOf(dependencies, record, skippedInteractions, row), ...link };
  return {
    after: { ...before, frozen: lastFrozen(link) },
    statement: sealingOf(
      dependencies.seals,
      row,
      skippedInteractions,
      columns,
      fresh && { ...fresh, ...link, session_id },
    ),
  };
}

function sealDecision(dependencies: SealingDependencies, record: SealedRecord): Sealing {
  const { before, rows, fresh } = record;
  const { decision_id } = record.input as { readonly decision_id: string };
  const row = rows.decision.get(decision_id);
  const columns = columnsOf(dependencies, record, decisions, row);
  return {
    after: before,
    statement: sealingOf(dependencies.seals, row, decisions, columns, fresh && { ...fresh, decision_id }),
  };
}

/** The team stands in the operator's row, which is sealed after all records. */
function takeTeam(_dependencies: SealingDependencies, { input, before }: SealedRecord): Sealing {
  return { after: { ...before, team: teamSetSchema.parse(input).team }, statement: null };
}

function sealDraw({ seals }: SealingDependencies, record: SealedRecord): Sealing {
  const { before, position, rows, fresh } = record;
  const { operator_id, session_id, probe_id, probe_session_id } = PROBE_DETAILS.PROBE_ASSIGNED.parse(
    record.input,
  );
  const columns = { operator_id, position, probe_id, probe_session_id };
  const row = fresh && { ...columns, org_id: fresh.org_id, session_id };
  return { after: before, statement: sealingOf(seals, rows.draw.get(session_id), probeDraws, columns, row) };
}

/** The record's columns for a row that exists. */
function columnsOf<Row extends object>(
  { seals }: SealingDependencies,
  { columns, fresh, entryId }: SealedRecord,
  kind: RecordKind<Row>,
  row: Row | undefined,
): RecordColumns & { readonly request_id?: string } {
  const isUnsealed = fresh !== null && row !== undefined && shareOf(seals, kind, row) === null;
  return isUnsealed ? { ...columns, request_id: entryId } : columns;
}

interface RequestFacts {
  readonly at: number;
  readonly request_digest: Uint8Array;
}

/** Facts of the request behind an input: when it came, and the digest by which a repeat is recognised. */
function requestFactsOf(
  { installation }: SealingDependencies,
  eventType: string,
  input: Readonly<Record<string, unknown>>,
): RequestFacts {
  const { v: _v, algo: _algo, as_of, prior: _prior, state: _state, weights: _weights, ...request } = input;
  const kind = eventType === "DRS_COMPUTED" ? "decision" : "score";
  return {
    at: Date.parse(String(as_of)),
    request_digest: requestDigest(installation.key, canonicalJson({ kind, ...request })),
  };
}

/** Seals a row with its record's columns, or inserts `fresh` if there is no row; null if there is neither. */
function sealingOf<Row extends object>(
  seals: Seals,
  row: Row | undefined,
  kind: RecordKind<Row>,
  columns: Partial<Row>,
  fresh: Row | null = null,
): Statement | null {
  if (row === undefined) return fresh === null ? null : kind.save!(sealed(seals, kind, fresh).row);
  const { seal } = sealed(seals, kind, { ...row, ...columns }).row;
  return updateRecordRow(kind, row, { ...columns, seal });
}

function documentOf(
  dependencies: SealingDependencies,
  { algo }: { readonly algo: { readonly model_sha256: string } },
) {
  return modelDocument(dependencies, algo.model_sha256);
}
