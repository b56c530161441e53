/**
 * Histories of operators as sealed rows, as the service leaves them: each row names the one before it and
 * continues its counts; the head of the chain holds the set of the operators. Erased operators and pruned
 * rows are remembered, so that a test can put their rows back.
 */
import fc from "fast-check";
import { DECISIONS } from "../src/domain/enums.ts";
import { frozenLink, lastFrozen } from "../src/operations/scoring/frozen_calls.ts";
import { type Database, query, type Statement } from "../src/store/database.ts";
import {
  type FrozenOperatorRow,
  frozenOperators,
  type InteractionRow,
  interactions,
  type OperatorRow,
  operators,
  organizations,
  type SkippedInteractionRow,
  skippedInteractions,
} from "../src/store/records.ts";
import { sealed, type Seals, setOf, shareOf } from "../src/store/seals.ts";

export const OPERATORS = ["a", "b", "c"] as const;
export const DAY = 86_400_000;
/** The start of a day. */
export const START = Date.UTC(2026, 10, 18);
const DAYS = 5;

/**
 * An instant that shows a count that is off by one: at the start or the middle of a day, or a millisecond
 * beside.
 */
export const instant = fc.oneof(
  { weight: 5, arbitrary: fc.tuple(fc.nat({ max: DAYS * 2 }), fc.constantFrom(-1, 0, 1)) },
  { weight: 2, arbitrary: fc.tuple(fc.constant(0), fc.nat({ max: DAYS * DAY })) },
).map(([half, past]) => START + half * DAY / 2 + past);

/** The events of an organization, in the order of its chain; most move the clock forward, some back. */
const step = fc.record({
  kind: fc.oneof(
    { weight: 7, arbitrary: fc.constant("score") },
    { weight: 4, arbitrary: fc.constant("frozen") },
    { weight: 1, arbitrary: fc.constant("other") },
    { weight: 1, arbitrary: fc.constant("erasure") },
  ),
  operator: fc.constantFrom(...OPERATORS),
  at: instant,
  decision: fc.constantFrom(...DECISIONS),
  departure: fc.constantFrom(0, 0, 0.004, 0.37, 1),
});
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

export interface Story {
  readonly steps: readonly Step[];
  /** Positions below it were pruned. */
  readonly pruned: number;
  /** Positions at which a new epoch begins, ascending. */
  readonly epochs: readonly number[];
}

export const stories: fc.Arbitrary<Story> = fc.record({
  steps: fc.array(step, { minLength: 1, maxLength: 40, size: "max" }),
  isOrdered: fc.boolean(),
  cut: fc.oneof(fc.constant(0), fc.nat({ max: 20 })),
  epochs: fc.uniqueArray(fc.integer({ min: 1, max: 40 }), { maxLength: 2 }),
}).map(({ steps, isOrdered, cut, epochs }) => ({
  steps: isOrdered ? steps.toSorted((one, other) => one.at - other.at) : steps,
  pruned: Math.min(cut, steps.length - 1),
  epochs: epochs.filter((position) => position < steps.length).sort((one, other) => one - other),
}));

/** The result of a story. */
export interface History {
  readonly orgId: string;
  /** Rows that are in the database. */
  readonly rows: readonly InteractionRow[];
  readonly operators: readonly OperatorRow[];
  /** Rows that were there once: of erased operators, and below the cut. */
  readonly gone: readonly InteractionRow[];
  /** Operators' rows that were there once, before the last step of each. */
  readonly earlier: readonly OperatorRow[];
  /** The same for calls that an incident froze. */
  readonly frozen: {
    readonly rows: readonly SkippedInteractionRow[];
    readonly operators: readonly FrozenOperatorRow[];
    readonly gone: readonly SkippedInteractionRow[];
    readonly earlier: readonly FrozenOperatorRow[];
  };
  /** Rows below it do not count: records up to here were pruned. */
  readonly keptFrom: number;
}

const isReferral = (decision: string) => decision === "deferred" || decision === "escalated";

/** Makes the rows of a story, sealed. */
export function tell(
  story: Story,
  { seals, orgId }: { readonly seals: Seals; readonly orgId: string },
): History {
  const rows: InteractionRow[] = [];
  const gone: InteractionRow[] = [];
  const earlier: OperatorRow[] = [];
  const now = new Map<string, { readonly row: InteractionRow; readonly operator: OperatorRow }>();
  const frozen = tellFrozen(story, { seals, orgId });
  for (const [position, { kind, operator, at, decision, departure }] of story.steps.entries()) {
    const before = now.get(operator);
    if (kind === "erasure") {
      if (before === undefined) continue;
      earlier.push(before.operator);
      for (let index = rows.length - 1; index >= 0; index -= 1) {
        if (rows[index]!.operator_id === operator) gone.push(...rows.splice(index, 1));
      }
      now.delete(operator);
    }
    if (kind !== "score") continue;
    const figures = {
      jis: 40 + position,
      n: (before?.row.n ?? 0) + 1,
      t0: before?.row.t0 ?? at,
      t1: Math.max(before?.row.t1 ?? at, at),
      tcrit: null,
      crit_count: 0,
      share_hs: 0,
      share_crit: 0,
      verdict: ([null, "compliant", "undetermined", "non_compliant"] as const)[position % 4]!,
    };
    const isDeparted = departure > 0 || isReferral(decision);
    const { row } = sealed<InteractionRow>(seals, interactions, {
      ...figures,
      org_id: orgId,
      session_id: `session-${position}`,
      operator_id: operator,
      request_digest: new Uint8Array(32),
      request_id: "request",
      at,
      domain: "general",
      decision,
      scenario_type: "standard",
      mode: "full",
      departure,
      position,
      committed: 1,
      low: 30 + position,
      high: 50 + position,
      ...{ d1: 70, d2: 70, d3: 70, d4: 70, d5: 70, d6: 70, d7: 70 },
      mean_c: 0.7,
      ground_truth: 0,
      previous: before?.row.position ?? null,
      departed: (before?.row.departed ?? 0) + (isDeparted ? 1 : 0),
      referred: (before?.row.referred ?? 0) + (isReferral(decision) ? 1 : 0),
      commit_position: null,
      label_position: null,
    });
    if (before !== undefined) earlier.push(before.operator);
    const { row: whole } = sealed<OperatorRow>(seals, operators, {
      ...figures,
      org_id: orgId,
      operator_id: operator,
      state: "{}",
      domain: "general",
      prior_seq: position,
      prior_hash: new Uint8Array(32),
      position,
    });
    rows.push(row);
    now.set(operator, { row, operator: whole });
  }
  const cut = rows.filter(({ position }) => position < story.pruned);
  return {
    orgId,
    rows: rows.filter(({ position }) => position >= story.pruned),
    operators: [...now.values()].map(({ operator }) => operator),
    gone: [...gone, ...cut],
    earlier,
    frozen,
    keptFrom: Math.max(-Infinity, ...story.steps.slice(0, story.pruned).map(({ at }) => at + 1)),
  };
}

/** The frozen calls of a story; they neither change a score nor are changed by one. */
function tellFrozen(
  story: Story,
  { seals, orgId }: { readonly seals: Seals; readonly orgId: string },
): History["frozen"] {
  const now = new Map<string, FrozenOperatorRow>();
  const all: SkippedInteractionRow[] = [];
  const earlier: FrozenOperatorRow[] = [];
  const erased = new Set<SkippedInteractionRow>();
  for (const [position, { kind, operator, at }] of story.steps.entries()) {
    const before = now.get(operator);
    if (before !== undefined && (kind === "erasure" || kind === "frozen")) earlier.push(before);
    if (kind === "erasure") {
      all.filter(({ operator_id }) => operator_id === operator).forEach((row) => erased.add(row));
      now.delete(operator);
    }
    if (kind !== "frozen") continue;
    const link = frozenLink(before ?? null, { at, position });
    const { row } = sealed<SkippedInteractionRow>(seals, skippedInteractions, {
      org_id: orgId,
      session_id: `frozen-${position}`,
      operator_id: operator,
      request_digest: new Uint8Array(32),
      request_id: "request",
      at,
      ...link,
    });
    all.push(row);
    const own = { org_id: orgId, operator_id: operator, ...lastFrozen(link) };
    now.set(operator, sealed<FrozenOperatorRow>(seals, frozenOperators, own).row);
  }
  const isGone = (row: SkippedInteractionRow) => erased.has(row) || row.position < story.pruned;
  return {
    rows: all.filter((row) => !isGone(row)),
    operators: [...now.values()],
    gone: all.filter(isGone),
    earlier,
  };
}

const HASH = new Uint8Array(32).fill(3);

/** Puts a history into a database, with its chain. */
export async function store(
  { database, seals }: { readonly database: Database; readonly seals: Seals },
  { story, history }: { readonly story: Story; readonly history: History },
): Promise<void> {
  const { orgId, rows, frozen } = history;
  const shares = [
    ...history.operators.map((row) => shareOf(seals, operators, row)!),
    ...frozen.operators.map((row) => shareOf(seals, frozenOperators, row)!),
  ];
  const { row: organization } = sealed(seals, organizations, {
    org_id: orgId,
    name: orgId,
    domain: "general",
    tier: "starter",
    allowed_origins: "",
    inactive_reasons: "[]",
    inactive_since: "{}",
    prefix: null,
    key_hash: null,
    api_key_version: 1,
    api_key_rotated_at: null,
    created_at: START,
  });
  const starts = [0, ...story.epochs];
  const chains = starts.map((first, index): Statement => {
    const chain = index === 0 ? `org/${orgId}` : `org/${orgId}/e${index + 1}`;
    const size = (starts[index + 1] ?? story.steps.length) - first;
    const origin = `jiss.test/${chain}`;
    const epoch = index + 1;
    const place = { chain, origin, epoch, firstPosition: first, keyOrdinal: 1, size, head: HASH };
    const isLast = index === starts.length - 1;
    return query.insertInto("audit_chain").values({
      chain,
      family: `org/${orgId}`,
      origin,
      epoch,
      first_position: first,
      key_ordinal: 1,
      anchored_size: 0,
      size,
      head: HASH,
      last_ts: "",
      peaks: new Uint8Array(),
      min_index: Math.max(0, Math.min(size, story.pruned - first)),
      held: isLast ? seals.closeSet(place, setOf(shares)) : null,
    }).compile();
  });
  await database.batch([
    organizations.save!(organization),
    ...OPERATORS.map((operator) =>
      query.insertInto("subject")
        .values({ org_id: orgId, operator_id: operator, pseudonym: operator.padEnd(32, "0") }).compile()
    ),
    ...history.operators.map((row) => operators.save!(row)),
    ...rows.map((row) => interactions.save!(row)),
    ...frozen.operators.map((row) => frozenOperators.save!(row)),
    ...frozen.rows.map((row) => skippedInteractions.save!(row)),
    ...chains,
  ]);
}
