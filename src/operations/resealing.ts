/**
 * Sealing rows that carry no seal: those of a database that an earlier program wrote, and what an administrator accepts
 * after a restore. What a chain's records tell is made anew from them, so that no column is believed that somebody could
 * have altered; what no record tells is taken as it stands: an organization, its webhooks, request digests, and an
 * operator of whom retention has left nothing but the state.
 */
import { equalBytes } from "../evidence/crypto.ts";
import { organizationOf } from "../evidence/chain_name.ts";
import { entrySchema } from "../evidence/entry.ts";
import { entryHash } from "../evidence/hashes.ts";
import { computeLabel, computeScore, labelInputSchema, scoreInputSchema } from "../evidence/record.ts";
import type { OperatorState } from "../scoring/state.ts";
import { loadEpochs, newestHeads, placeOfHead, type StoredHead, updateHeld } from "../store/chains.ts";
import { type Database, query, type Statement } from "../store/database.ts";
import { frozenOperatorsQuery } from "../store/interactions.ts";
import { readHeld } from "../store/record_rows.ts";
import { readInputs, type RecordedInput } from "../store/recorded_inputs.ts";
import {
  type DecisionRow,
  decisions,
  frozenOperators,
  INSTALLATION_KEY,
  installations,
  type InteractionRow,
  interactions,
  type OperatorRow,
  operators,
  organizations,
  type RecordKind,
  type SkippedInteractionRow,
  skippedInteractions,
  subjects,
  webhooks,
} from "../store/records.ts";
import { sealed, type Seals, setOf, shareOf } from "../store/seals.ts";
import { type Dependencies, isEvidenceChain, SYSTEM_CHAIN } from "./dependencies.ts";
import { frozenLink, type LastFrozen, lastFrozen } from "./frozen_calls.ts";
import { NO_KEY } from "./key_issue.ts";
import { readOwnKeys } from "./own_keys.ts";
import { modelDocument } from "./replay.ts";
import { sealFollowing } from "./resealing_following.ts";
import { sealedRowFindings } from "./sealed_rows.ts";
import { movedTo, scoredColumns } from "./score.ts";
import { findDamages } from "./verification.ts";

export type SealingDependencies = Pick<
  Dependencies,
  "database" | "crypto" | "seals" | "signing" | "model" | "log" | "logName" | "installation"
>;

/**
 * Seals the rows of every family whose head holds no set of its own yet. A chain that is damaged is left as it is: its
 * rows answer nothing until an administrator has looked at it.
 */
export async function sealUnsealed(dependencies: SealingDependencies): Promise<void> {
  const heads = [...(await newestHeads(dependencies.database)).values()].filter(({ held }) => held === null);
  if (heads.length === 0) return;
  const { database, crypto, log } = dependencies;
  const { keys } = await readOwnKeys(dependencies);
  const pins = keys.map((key) => ({ ...key, prefix: null }));
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

/** The heads whose rows are not those that were written: what a restore's acknowledgement accepts. */
export async function unheldHeads(
  dependencies: Pick<SealingDependencies, "database" | "seals">,
): Promise<readonly StoredHead[]> {
  const unheld: StoredHead[] = [];
  for (const head of (await newestHeads(dependencies.database)).values()) {
    if (!await isHeld(dependencies, head.family) || await isAltered(dependencies, head.family)) {
      unheld.push(head);
    }
  }
  return unheld;
}

/** Whether a row beside a family's entries is not the one that was written with them. */
async function isAltered(
  dependencies: Pick<SealingDependencies, "database" | "seals">,
  family: string,
): Promise<boolean> {
  const findings = sealedRowFindings(dependencies, family, () => Promise.resolve());
  return (await findings.next()).done !== true;
}

/** Whether the rows that belong to a family are those whose set its newest head holds. */
export async function isHeld(
  { database, seals }: Pick<SealingDependencies, "database" | "seals">,
  family: string,
): Promise<boolean> {
  const { head, rows } = await readHeld(database, family);
  const held = head.held && seals.openSet(placeOfHead(head), head.held);
  const shares = rows.map(([kind, row]) => shareOf(seals, kind, row));
  return held !== null && shares.every((share) => share !== null) && equalBytes(setOf(shares), held);
}

/**
 * Seals the rows of a family, and holds their set. Unless they were written by a program that knew no seals, an
 * organization whose row was altered loses its key, and a webhook is disabled: somebody may have put in a key or an
 * address of his own.
 */
export async function sealFamily(
  dependencies: SealingDependencies,
  head: StoredHead,
  { isUpgrade }: { readonly isUpgrade: boolean },
): Promise<void> {
  const { database, seals } = dependencies;
  const { family } = head;
  if (family === SYSTEM_CHAIN) await sealInstallation(dependencies);
  else if (isEvidenceChain(family)) await sealRecords(dependencies, family);
  else await sealRegistered(dependencies, organizationOf(family)!, { isUpgrade });
  const { rows } = await readHeld(database, family);
  const shares = rows.map(([kind, row]) => shareOf(seals, kind, row)!);
  const held = seals.closeSet(placeOfHead(head), setOf(shares));
  await database.batch([updateHeld({ ...head, held }, head)]);
}

async function sealInstallation({ database, seals }: SealingDependencies): Promise<void> {
  const [row] = await database.read(installations.load(JSON.stringify([INSTALLATION_KEY])));
  await database.batch([installations.save!(sealed(seals, installations, row!).row)]);
}

async function sealRegistered(
  { database, seals }: SealingDependencies,
  orgId: string,
  { isUpgrade }: { readonly isUpgrade: boolean },
): Promise<void> {
  const [[organization], destinations] = await database.snapshot([
    query.selectFrom("organization").selectAll().where("org_id", "=", orgId).compile(),
    query.selectFrom("webhook").selectAll().where("org_id", "=", orgId).compile(),
  ]);
  const statements: Statement[] = destinations.map((row) => {
    const isKept = isUpgrade || shareOf(seals, webhooks, row) !== null;
    const { row: { active, seal } } = sealed(seals, webhooks, isKept ? row : { ...row, active: 0 });
    return query.updateTable("webhook").set({ active, seal }).where("webhook_id", "=", row.webhook_id)
      .compile();
  });
  if (organization !== undefined) {
    const { active: _, ...row } = organization;
    const isKept = isUpgrade || shareOf(seals, organizations, row) !== null;
    statements.push(
      organizations.save!(sealed(seals, organizations, isKept ? row : { ...row, ...NO_KEY }).row),
    );
  }
  if (statements.length > 0) await database.batch(statements);
}

/** What is known of an operator by its records so far. */
interface Moved {
  readonly subject: string;
  /** Of the last interaction; null where none is held. */
  readonly position: number | null;
  readonly domain: string | null;
  /** The operator's row after the last event that moved it. */
  readonly moved: ReturnType<typeof movedTo> | null;
  /** The last frozen call; null where none is held. */
  readonly frozen: LastFrozen | null;
}

const EVENTS = ["SCORE_COMPUTED", "SCORE_SKIPPED", "DRS_COMPUTED", "OUTCOME_LABELLED"];

async function sealRecords(dependencies: SealingDependencies, family: string): Promise<void> {
  const { database } = dependencies;
  const orgId = organizationOf(family)!;
  const known = new Map<string, Moved>();
  for (const { chain, firstPosition, minIndex, frontier } of await loadEpochs(database, family)) {
    const span = { chain, first: minIndex, end: frontier.size, eventTypes: EVENTS };
    for await (const page of readInputs(database, span)) {
      const rows = await rowsOf(database, orgId, page);
      const statements: Statement[] = [];
      for (const input of page) {
        const event = { input, position: firstPosition + input.seq };
        const statement = await sealEvent(dependencies, event, { known, rows });
        if (statement !== null) statements.push(statement);
      }
      if (statements.length > 0) await database.batch(statements);
    }
  }
  await sealFollowing(dependencies, family);
  await sealOperators(dependencies, orgId, known);
  await sealFrozenOperators(dependencies, orgId, known);
}

/** The rows of a page's records, by their ids. */
interface PageRows {
  readonly interaction: ReadonlyMap<string, InteractionRow>;
  readonly skipped: ReadonlyMap<string, SkippedInteractionRow>;
  readonly decision: ReadonlyMap<string, DecisionRow>;
}

async function rowsOf(database: Database, orgId: string, page: readonly RecordedInput[]): Promise<PageRows> {
  const keys = JSON.stringify(page.map(({ data }) => {
    const { session_id, decision_id } = JSON.parse(data);
    return [orgId, session_id ?? decision_id];
  }));
  const [scores, skipped, decided] = await database.snapshot<
    [InteractionRow, SkippedInteractionRow, DecisionRow]
  >([interactions.load(keys), skippedInteractions.load(keys), decisions.load(keys)]);
  return {
    interaction: new Map(scores.map((row) => [row.session_id, row])),
    skipped: new Map(skipped.map((row) => [row.session_id, row])),
    decision: new Map(decided.map((row) => [row.decision_id, row])),
  };
}

interface RecordedEvent {
  readonly input: RecordedInput;
  readonly position: number;
}

/** The statement that seals the row of a record; null where it has none. */
async function sealEvent(
  dependencies: SealingDependencies,
  { input: { seq, event_type, body, data }, position }: RecordedEvent,
  { known, rows }: { readonly known: Map<string, Moved>; readonly rows: PageRows },
): Promise<Statement | null> {
  const { crypto, seals } = dependencies;
  const { subject } = entrySchema.parse(JSON.parse(body));
  const input = JSON.parse(data);
  const { operator_id: operatorId } = input;
  const before: Moved = {
    position: null,
    domain: null,
    moved: null,
    frozen: null,
    ...known.get(operatorId),
    subject: subject!,
  };
  const place = { entry: { seq }, hash: entryHash(crypto, body) };
  const named = { operator_id: operatorId as string, position };
  switch (event_type) {
    case "SCORE_COMPUTED": {
      const scoreInput = scoreInputSchema.parse(input);
      const scored = computeScore(await documentOf(dependencies, scoreInput), scoreInput);
      const { domain } = scoreInput;
      known.set(operatorId, { ...before, position, domain, moved: movedTo(scored.state, place) });
      const columns = {
        ...named,
        previous: before.position,
        ...scoredColumns(scoreInput, scored),
        // What follows it is told by later entries.
        commit_position: null,
        label_position: null,
      };
      return sealingOf(seals, rows.interaction.get(input.session_id), interactions, columns);
    }
    case "OUTCOME_LABELLED": {
      const label = labelInputSchema.parse(input);
      const state: OperatorState = computeLabel(await documentOf(dependencies, label), label);
      known.set(operatorId, { ...before, moved: movedTo(state, place) });
      return null;
    }
    case "SCORE_SKIPPED": {
      const link = frozenLink(before.frozen, { at: Date.parse(input.as_of), position });
      known.set(operatorId, { ...before, frozen: lastFrozen(link) });
      const columns = { ...named, ...link };
      return sealingOf(seals, rows.skipped.get(input.session_id), skippedInteractions, columns);
    }
    default:
      known.set(operatorId, before);
      return sealingOf(seals, rows.decision.get(input.decision_id), decisions, named);
  }
}

/** The statement that seals a row with what its record says of it; null where there is no row. */
function sealingOf<Row extends object>(
  seals: Seals,
  row: Row | undefined,
  kind: RecordKind<Row>,
  columns: Partial<Row>,
): Statement | null {
  if (row === undefined) return null;
  const { seal } = sealed(seals, kind, { ...row, ...columns }).row;
  const [orgId, id] = kind.keyOf(row);
  return query.updateTable(kind.name as "interaction").set({ ...columns as Partial<InteractionRow>, seal })
    .where("org_id", "=", orgId!)
    .where((kind.name === "decision" ? "decision_id" : "session_id") as "session_id", "=", id!).compile();
}

function documentOf(
  dependencies: SealingDependencies,
  { algo }: { readonly algo: { readonly model_sha256: string } },
) {
  return modelDocument(dependencies, algo.model_sha256);
}

/** The first position of every family, which is pruned where anything is. */
const PRUNED_POSITION = 0;

async function sealOperators(
  { database, seals }: SealingDependencies,
  orgId: string,
  known: ReadonlyMap<string, Moved>,
): Promise<void> {
  const [names, rows] = await database.snapshot([
    query.selectFrom("subject").selectAll().where("org_id", "=", orgId).compile(),
    query.selectFrom("operator").selectAll().where("org_id", "=", orgId).compile(),
  ]);
  const statements = [
    ...names.map((row) => {
      const pseudonym = known.get(row.operator_id)?.subject ?? row.pseudonym;
      const { seal } = sealed(seals, subjects, { ...row, pseudonym }).row;
      return query.updateTable("subject").set({ pseudonym, seal }).where("org_id", "=", orgId)
        .where("operator_id", "=", row.operator_id).compile();
    }),
    ...rows.map((row) => {
      const { position, domain, moved } = known.get(row.operator_id) ?? {};
      const told: OperatorRow = {
        ...row,
        ...(moved ?? movedTo(JSON.parse(row.state), { entry: { seq: row.prior_seq }, hash: row.prior_hash })),
        domain: domain ?? row.domain,
        position: position ?? PRUNED_POSITION,
      };
      return operators.save!(sealed(seals, operators, told).row);
    }),
  ];
  await writeInParts(database, statements);
}

/**
 * Makes the row of each operator that has frozen calls from its records. No other row stays: an operator whose frozen calls
 * were erased, or pruned, begins to have some with the next.
 */
async function sealFrozenOperators(
  { database, seals }: SealingDependencies,
  orgId: string,
  known: ReadonlyMap<string, Moved>,
): Promise<void> {
  const rows = await database.read(frozenOperatorsQuery(orgId));
  const told = [...known].flatMap(([operator_id, { frozen }]) =>
    frozen === null ? [] : [{ org_id: orgId, operator_id, ...frozen }]
  );
  await writeInParts(database, [
    ...rows.filter(({ operator_id }) => (known.get(operator_id)?.frozen ?? null) === null)
      .map((row) => frozenOperators.remove!(frozenOperators.keyOf(row))),
    ...told.map((row) => frozenOperators.save!(sealed(seals, frozenOperators, row).row)),
  ]);
}

/** Rows that one write seals: a state has some kilobytes. */
const OPERATORS_IN_WRITE = 200;

async function writeInParts(database: Database, statements: readonly Statement[]): Promise<void> {
  for (let first = 0; first < statements.length; first += OPERATORS_IN_WRITE) {
    await database.batch(statements.slice(first, first + OPERATORS_IN_WRITE));
  }
}
