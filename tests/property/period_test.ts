/**
 * The law of a period: it counts for an operator what counting the operator's rows one by one gives, whatever
 * millisecond it starts and ends at; and if rows were deleted, altered or put back, it gives the same or
 * nothing.
 */
import assert from "node:assert/strict";
import fc from "fast-check";
import { MIGRATIONS } from "../../migrations/mod.ts";
import { DECISIONS } from "../../src/domain/enums.ts";
import { scoreParametersSchema } from "../../src/domain/score.ts";
import { nestedScoreRequestSchema } from "../../src/http/routes/scores.ts";
import type { Period } from "../../src/domain/period.ts";
import { eraseOperator } from "../../src/operations/subjects/erasure.ts";
import { readPeriod } from "../../src/operations/reporting/period_rows.ts";
import { scoreInteraction } from "../../src/operations/scoring/score.ts";
import type { PeriodData } from "../../src/scoring/period.ts";
import { query, type Statement } from "../../src/store/database.ts";
import { openLock } from "../../src/store/lock.ts";
import { migrate } from "../../src/store/migrate.ts";
import {
  frozenOperators,
  type InteractionRow,
  interactions,
  operators,
  type SkippedInteractionRow,
  skippedInteractions,
} from "../../src/store/records.ts";
import { AlteredRows } from "../../src/store/seals.ts";
import { IS_SERVER, openTestDatabase } from "../database.ts";
import { EPOCH, openHarness, scoreRequest } from "../harness.ts";
import { JIS_1_1_0 } from "../models.ts";
import { DAY, type History, instant, OPERATORS, START, store, stories, tell } from "../sealed_histories.ts";
import { fixedSeals } from "../seals.ts";

const SEED = 20_261_122;

const periods = fc.array(fc.tuple(instant, instant), { minLength: 1, maxLength: 8, size: "max" })
  .map((all): readonly Period[] =>
    all.map(([one, other]) => ({ start: Math.min(one, other), end: Math.max(one, other) + 1 }))
  );

type Counted = Pick<
  InteractionRow,
  "operator_id" | "t1" | "position" | "jis" | "n" | "departure" | "decision"
>;

/** By operator: the last row, known by its JIS and its count, and what was done. */
function countOneByOne(rows: readonly Counted[], { start, end }: Period) {
  return OPERATORS.flatMap((operator) => {
    const inside = rows.filter((row) => row.operator_id === operator && row.t1 >= start && row.t1 < end)
      .toSorted((one, other) => one.t1 - other.t1 || one.position - other.position);
    const last = inside.at(-1);
    if (last === undefined) return [];
    const referred = inside.filter(({ decision }) => decision === "deferred" || decision === "escalated");
    const departed = inside.filter((row) => row.departure > 0 && !referred.includes(row));
    return [{
      jis: last.jis,
      n: last.n,
      at: last.t1,
      interactions: inside.length,
      departures: departed.length,
      referrals: referred.length,
    }];
  });
}

type Figures = ReturnType<typeof countOneByOne>;

const countFrozen = (rows: readonly Pick<SkippedInteractionRow, "t1">[], { start, end }: Period) =>
  rows.filter(({ t1 }) => t1 >= start && t1 < end).length;

interface Rows {
  readonly rows: readonly Counted[];
  readonly frozen: { readonly rows: readonly Pick<SkippedInteractionRow, "t1">[] };
}

/** The order of the operators does not matter. */
function says({ records, incidentFreezes }: PeriodData, { rows, frozen }: Rows, period: Period): void {
  const expected = countOneByOne(rows, period);
  assert.equal(incidentFreezes, countFrozen(frozen.rows, period), nameOf(period));
  const sorted = (figures: Figures) => figures.map((one) => JSON.stringify(one)).sort();
  const figures = records.map(({ jis, n, at, interactions, departures, referrals }) => ({
    jis,
    n,
    at,
    interactions,
    departures,
    referrals,
  }));
  assert.deepEqual(sorted(figures), sorted(expected), nameOf(period));
}

const nameOf = ({ start, end }: Period) =>
  `${new Date(start).toISOString()} to ${new Date(end).toISOString()}`;

// ---- unaltered histories ----------------------------------------------------------------------------------

const call = fc.record({
  isErasure: fc.constantFrom(false, false, false, false, false, false, true),
  mode_override: fc.constantFrom("normal", "normal", "incident_frozen"),
  operator: fc.constantFrom(...OPERATORS),
  gap: fc.constantFrom(0, 1, DAY / 2, DAY / 2 - 1, DAY / 2 + 1, -DAY / 2),
  decision: fc.constantFrom(...DECISIONS),
  extent: fc.constantFrom(0, 0.004, 0.37, 1),
});

Deno.test("a period counts what the service recorded, one by one, whoever was erased meanwhile", async () => {
  const harness = await openHarness();
  const { dependencies, clock, database } = harness;
  let runs = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(call, { maxLength: 25, size: "max" }), periods, async (calls, wanted) => {
      const orgId = `org-${runs += 1}`;
      await harness.organization(orgId);
      const caller = { actor: "api", orgId, prefix: null } as const;
      const first = clock.now();
      for (const [index, { isErasure, mode_override, operator, gap, decision, extent }] of calls.entries()) {
        clock.advance(gap);
        const now = { now: clock.now(), requestId: `request-${index}` };
        const isKnown = calls.slice(0, index).findLast((before) => before.operator === operator);
        if (isErasure) {
          if (isKnown !== undefined && !isKnown.isErasure) {
            await eraseOperator(dependencies, caller, { operatorId: operator, call: now });
          }
          continue;
        }
        const body = scoreRequest(
          { session_id: `session-${index}`, operator_id: operator },
          { decision, modification_extent: extent },
        );
        const request = {
          ...nestedScoreRequestSchema.parse(body),
          ...scoreParametersSchema.parse({ mode_override }),
        };
        await scoreInteraction(dependencies, caller, { request, call: now });
      }
      const [rows, frozen] = await database.snapshot([
        query.selectFrom("interaction").selectAll().where("org_id", "=", orgId).compile(),
        query.selectFrom("skipped_interaction").selectAll().where("org_id", "=", orgId).compile(),
      ]);
      // The drawn instants begin with the first call.
      for (const drawn of wanted) {
        const period = { start: drawn.start - START + first, end: drawn.end - START + first };
        const { data } = await readPeriod(dependencies, orgId, period);
        says(data, { rows, frozen: { rows: frozen } }, period);
      }
      clock.advance(30 * DAY);
    }),
    { seed: SEED, numRuns: IS_SERVER ? 5 : 25 },
  );
  await harness.close();
});

/** A database for histories whose rows the test writes itself. */
async function openHistories() {
  const database = await openTestDatabase(":memory:");
  await migrate(database, { migrations: MIGRATIONS, now: EPOCH });
  const seals = fixedSeals();
  const lock = openLock({ path: ":memory:", onTrouble: assert.ifError });
  return {
    reading: { database, seals, lock, model: { document: JIS_1_1_0, sha256: "0".repeat(64) } },
    async close() {
      await database.close();
      lock.close();
    },
  };
}

Deno.test("a period counts sealed rows one by one in any epoch, without erased and pruned ones", async () => {
  const { reading, close } = await openHistories();
  let runs = 0;
  await fc.assert(
    fc.asyncProperty(stories, periods, async (story, wanted) => {
      const history = tell(story, { seals: reading.seals, orgId: `org-${runs += 1}` });
      await store(reading, { story, history });
      for (const period of wanted) {
        const { data } = await readPeriod(reading, history.orgId, period);
        says(data, history, period);
      }
    }),
    { seed: SEED, numRuns: IS_SERVER ? 20 : 200 },
  );
  await close();
});

// ---- altered ----------------------------------------------------------------------------------------------

/**
 * Alterations of the file: each picks rows by a number, so that any row at any place can be chosen.
 */
const alterations = fc.array(
  fc.record({
    kind: fc.constantFrom(
      "delete",
      "delete-many",
      "alter",
      "put-back",
      "put-all-back",
      "other-operator",
      "operator-before",
      "operator-deleted",
      "operator-altered",
    ),
    /** Whether it is done to the rows of frozen calls; otherwise to those of scores. */
    isFrozen: fc.boolean(),
    pick: fc.nat(),
    span: fc.nat({ max: 12 }),
    column: fc.constantFrom(
      "t1",
      "position",
      "previous",
      "n",
      "departed",
      "referred",
      "decision",
      "departure",
      "jis",
      "t0",
    ),
    value: fc.nat({ max: 3 }),
  }),
  { minLength: 1, maxLength: 3 },
);
type Alteration = typeof alterations extends fc.Arbitrary<readonly (infer Value)[]> ? Value : never;

/**
 * The rows that a period reads: those of scores or of frozen calls in order, and the operators that have such
 * rows.
 */
interface RowSet {
  readonly table: "interaction" | "skipped_interaction";
  readonly operatorTable: "operator" | "frozen_operator";
  readonly rows: readonly (InteractionRow | SkippedInteractionRow)[];
  readonly gone: readonly Statement[];
  readonly earlier: readonly Statement[];
  readonly operators: readonly { readonly operator_id: string; readonly position: number }[];
}

function rowSetOf({ rows, gone, earlier, operators: present, frozen }: History, isFrozen: boolean): RowSet {
  return isFrozen
    ? {
      table: "skipped_interaction",
      operatorTable: "frozen_operator",
      ...frozen,
      gone: frozen.gone.map((row) => skippedInteractions.save!(row)),
      earlier: frozen.earlier.map((row) => frozenOperators.save!(row)),
    }
    : {
      table: "interaction",
      operatorTable: "operator",
      rows,
      operators: present,
      gone: gone.map((row) => interactions.save!(row)),
      earlier: earlier.map((row) => operators.save!(row)),
    };
}

/** The statements of an alteration; none if there is nothing to pick. */
function statementsOf(
  history: History,
  { kind, isFrozen, pick, span, column, value }: Alteration,
): readonly Statement[] {
  const { orgId } = history;
  const { table, operatorTable, rows, gone, earlier, operators: present } = rowSetOf(history, isFrozen);
  const one = <Row>(all: readonly Row[]) => (all.length === 0 ? [] : [all[pick % all.length]!]);
  // Both tables have the columns that are named here.
  const update = query.updateTable(table as "interaction").where("org_id", "=", orgId);
  const deletion = ({ session_id }: { readonly session_id: string }) =>
    query.deleteFrom(table).where("org_id", "=", orgId).where("session_id", "=", session_id).compile();
  const ofOperator = ({ operator_id }: { readonly operator_id: string }) =>
    query.deleteFrom(operatorTable).where("org_id", "=", orgId).where("operator_id", "=", operator_id)
      .compile();
  switch (kind) {
    case "delete":
      return one(rows).map(deletion);
    case "delete-many": {
      const from = rows.length === 0 ? 0 : pick % rows.length;
      return rows.slice(from, from + span).map(deletion);
    }
    case "alter":
      return one(rows).map((row) => {
        const name = column in row ? column : "n";
        const changed = name === "decision"
          ? DECISIONS[value]!
          : name === "t1"
          ? row.t1 + [1, -1, DAY, -DAY][value]!
          : name === "previous"
          ? [null, 0, row.position, (row.previous ?? 1) - 1][value]!
          : Number(row[name as "n"]) + value - 1;
        return update.set({ [name]: changed }).where("session_id", "=", row.session_id).compile();
      });
    case "put-back":
      return one(gone);
    case "put-all-back": {
      const from = gone.length === 0 ? 0 : pick % gone.length;
      return gone.slice(from, from + span);
    }
    case "other-operator":
      return one(rows).map((row) =>
        update.set({ operator_id: OPERATORS[value % OPERATORS.length]! })
          .where("session_id", "=", row.session_id).compile()
      );
    case "operator-before":
      return one(earlier);
    case "operator-deleted":
      return one(present).map(ofOperator);
    case "operator-altered":
      return one(present).map((row) =>
        query.updateTable(operatorTable).set({ position: row.position + value - 1 })
          .where("org_id", "=", orgId).where("operator_id", "=", row.operator_id).compile()
      );
  }
}

Deno.test("if any row was deleted, altered or put back, a period gives the same counts as before, or nothing", async () => {
  const { reading, close } = await openHistories();
  const { database, seals } = reading;
  const met = new Map<string, { same: number; refused: number }>();
  let runs = 0;
  await fc.assert(
    fc.asyncProperty(stories, periods, alterations, async (story, wanted, changes) => {
      const history = tell(story, { seals, orgId: `org-${runs += 1}` });
      await store(reading, { story, history });
      for (const change of changes) {
        for (const statement of statementsOf(history, change)) {
          // A row that is already there cannot be put back.
          await database.batch([statement]).catch(() => {});
        }
      }
      const isPutBack = changes.some(({ kind }) => kind.startsWith("put"));
      for (const period of wanted) {
        // Nobody gets an answer about records past their retention, so a row put back there is not looked at.
        if (isPutBack && period.start < history.keptFrom) continue;
        const found = await readPeriod(reading, history.orgId, period).catch((error) => error);
        const [{ kind, isFrozen }] = changes as [Alteration, ...Alteration[]];
        const counts = met.getOrInsert(`${kind}${isFrozen ? " of frozen calls" : ""}`, {
          same: 0,
          refused: 0,
        });
        if (found instanceof AlteredRows) {
          counts.refused += 1;
          continue;
        }
        if (found instanceof Error) throw found;
        counts.same += 1;
        says(found.data, history, period);
      }
    }),
    { seed: SEED, numRuns: IS_SERVER ? 300 : 1500 },
  );
  // Each kind had both outcomes, or the test shows nothing about it; an operator's own row is in every
  // answer.
  assert.equal(met.size, 18);
  for (const [kind, { same, refused }] of met) {
    assert.ok(refused > 0, `${kind} was refused`);
    if (!kind.startsWith("operator")) assert.ok(same > 0, `${kind} made no difference`);
  }
  await close();
});
