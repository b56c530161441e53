/**
 * The three verdicts of `jis-3` in every answer about an operator and an organization: stored, sealed, counted and
 * filtered; and what the dashboard says, a report over the same records says too.
 */
import assert from "node:assert/strict";
import fc from "fast-check";
import { acknowledgeRestore } from "../../src/operations/restoring/restores.ts";
import { verifyChain } from "../../src/operations/verification/verification.ts";
import { alter } from "../altering.ts";
import { embeddedTest, makeQuickDir } from "../database.ts";
import { rowsOf } from "../earlier_schema.ts";
import { register, withDeliveries } from "../delivering.ts";
import { type Harness, openHarness, scoreRequest, withAlterations, withHarness } from "../harness.ts";
import { JIS_1_0_0, JIS_1_1_0, JIS_2_0_0 } from "../models.ts";

const MODEL = { model: JIS_2_0_0 };
const DAY = 86_400_000;
const DASHBOARD = "/v1/organization/dashboard";
const REPORT = "/v1/compliance/report?period_start=2026-10-01&period_end=2027-01-01";
const ARTICLE_14 = "/v1/compliance/article14";
const OPERATORS = "/v1/organization/operators";
const profilePath = (operator: string) => `/v1/operator/${operator}/profile`;

// deno-lint-ignore no-explicit-any -- an answer is whatever the service said
type Json = any;

/** A decision on a case: whether the advice was wrong, whether the reviewer departed from it, who knows it. */
interface Case {
  readonly wrong: boolean;
  readonly departs: boolean;
  /** `label` is known later, by a late label; `never` stays unknown. */
  readonly truth?: "at once" | "planted" | "label" | "never";
  readonly stakes?: "standard" | "high_stakes" | "critical";
}

function interactionOf({ wrong, departs, truth = "at once", stakes = "standard" }: Case) {
  return {
    decision: departs ? "rejected" : "accepted",
    outcome_correct: truth === "at once" ? wrong === departs : null,
    scenario_type: truth === "planted" && wrong ? "error_injected" : stakes,
  };
}

let sessions = 0;

/** Scores cases in order, then labels those that get a late label. @returns the answer to the last case. */
async function review(
  { send }: Harness,
  key: string,
  { operator, cases, domain = "financial", query = "", beforeLabels = async () => {} }: {
    readonly operator: string;
    readonly cases: readonly Case[];
    readonly domain?: string;
    readonly query?: string;
    readonly beforeLabels?: () => Promise<void>;
  },
): Promise<Json> {
  const named = cases.map((one) => ({ ...one, session: `s-${sessions += 1}` }));
  const requestOf = ({ session, ...one }: (typeof named)[number]) =>
    scoreRequest({ session_id: session, operator_id: operator, domain }, interactionOf(one));
  // A batch takes no query. The last case is scored alone for its whole answer.
  const together = query === "" ? named.slice(0, -1) : [];
  if (together.length > 0) {
    const interactions = together.map((one) => {
      const { session_id, interaction } = requestOf(one);
      return { session_id, ...interaction };
    });
    const batch = await send("/v1/score/batch", {
      key,
      body: { operator_id: operator, domain, interactions },
    });
    assert.equal(batch.status, 200, batch.text);
  }
  let last: Json;
  for (const one of named.slice(together.length)) {
    const answer = await send(`/v1/score${query}`, { key, body: requestOf(one) });
    assert.equal(answer.status, 200, answer.text);
    last = answer.body;
  }
  await beforeLabels();
  for (const { session, wrong, departs } of named.filter(({ truth }) => truth === "label")) {
    const body = { outcome_correct: wrong === departs };
    const commit = await send(`/v1/score/${session}/commit`, { key, body });
    assert.equal(commit.status, 200, commit.text);
  }
  return last;
}

/** `count` cases, every second with wrong advice; `departs` says from which advice the reviewer departs. */
const half = (
  count: number,
  departs: (wrong: boolean) => boolean,
  rest: Partial<Case> = {},
): readonly Case[] =>
  Array.from({ length: count }, (_, index) => {
    const wrong = index % 2 === 0;
    return { wrong, departs: departs(wrong), ...rest };
  });
const careful = (count: number, rest: Partial<Case> = {}) => half(count, (wrong) => wrong, rest);
const careless = (count: number, rest: Partial<Case> = {}) => half(count, () => false, rest);
/** Accepts advice whose truth nobody ever learns. */
const unknown = (count: number) => careless(count, { truth: "never" });

async function ask({ send }: Harness, key: string, path: string): Promise<Json> {
  const { status, body, text } = await send(path, { key });
  assert.equal(status, 200, `${path}: ${text}`);
  return body;
}

const verdictsIn = (harness: Harness) =>
  rowsOf(harness.database, "SELECT operator_id, verdict FROM operator ORDER BY operator_id");

const storedOf = async (harness: Harness, operator: string) =>
  (await rowsOf(harness.database, `SELECT verdict FROM operator WHERE operator_id = '${operator}'`))[0]
    ?.verdict;

/** One operator of each verdict, with records long enough. */
async function threeKinds(harness: Harness, key: string): Promise<void> {
  await review(harness, key, { operator: "careful", cases: careful(60) });
  await review(harness, key, { operator: "careless", cases: careless(60) });
  await review(harness, key, { operator: "unknown", cases: unknown(60) });
}

// ---- stored and shown -------------------------------------------------------------------------------------

Deno.test(
  "each row has the full-mode verdict of its answer, of an operator and of a score",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    const shown = new Map<string, string>();
    for (const [operator, cases] of Object.entries({ a: careful(60), b: careless(60), c: unknown(60) })) {
      const last = await review(harness, key, { operator, cases });
      shown.set(operator, last.compliance.verdict.status);
    }
    assert.deepEqual([...shown.values()], ["compliant", "non_compliant", "undetermined"]);
    for (const [operator, verdict] of shown) {
      assert.equal(await storedOf(harness, operator), verdict);
      const [row] = await rowsOf(
        harness.database,
        `SELECT verdict FROM interaction WHERE operator_id = '${operator}' ORDER BY position DESC LIMIT 1`,
      );
      assert.equal(row!.verdict, verdict);
    }
  }, MODEL),
);

Deno.test(
  "a lite call stores the full-mode verdict",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    await review(harness, key, { operator: "full", cases: careful(60) });
    await review(harness, key, { operator: "lite", cases: careful(60), query: "?mode=lite" });
    const rows = "SELECT verdict FROM interaction WHERE operator_id = 'OPERATOR' ORDER BY position";
    const of = (operator: string) => rowsOf(harness.database, rows.replace("OPERATOR", operator));
    assert.deepEqual(await of("lite"), await of("full"));
    assert.equal(await storedOf(harness, "lite"), "compliant");
  }, MODEL),
);

Deno.test(
  "formulas without a verdict store none, show null, and count everybody as undetermined",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    await review(harness, key, { operator: "a", cases: careful(60) });
    assert.deepEqual(await verdictsIn(harness), [{ operator_id: "a", verdict: null }]);
    assert.deepEqual(
      await rowsOf(harness.database, "SELECT DISTINCT verdict FROM interaction"),
      [{ verdict: null }],
    );
    const { dashboard } = await ask(harness, key, DASHBOARD);
    assert.deepEqual(dashboard.verdicts, { compliant: 0, undetermined: 1, non_compliant: 0 });
    assert.deepEqual([dashboard.verdict.status, dashboard.compliance_status], ["undetermined", "compliant"]);
    assert.deepEqual(dashboard.verdict.reasons, [
      "Of 1 high-risk operator, 0 are certainly below 60 and 1 is undetermined; at most 10 % may be below.",
      "No operator takes critical decisions.",
      "The formulas of the model in use give no verdict, so that no more known cases would settle it.",
    ]);
    assert.deepEqual((await ask(harness, key, REPORT)).report.verdict, dashboard.verdict);
    assert.equal((await ask(harness, key, profilePath("a"))).profile.verdict, null);
    const { operators } = await ask(harness, key, `${OPERATORS}?verdict=undetermined`);
    assert.deepEqual(operators.map(({ operator_id, verdict }: Json) => [operator_id, verdict]), [[
      "a",
      null,
    ]]);
    assert.equal((await ask(harness, key, `${OPERATORS}?verdict=compliant`)).count, 0);
  }, { model: JIS_1_0_0 }),
);

Deno.test(
  "the profile has the verdict of the last answer, and with a projection the same in its compliance",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    const last = await review(harness, key, { operator: "a", cases: careful(30) });
    const { profile } = await ask(harness, key, profilePath("a"));
    assert.deepEqual(profile.verdict, last.compliance.verdict);
    assert.deepEqual(profile.prior_dimensions, last.prior_dimensions);
    const { compliance } = await ask(harness, key, `${profilePath("a")}?include=projection`);
    assert.deepEqual(compliance.verdict, profile.verdict);
  }, MODEL),
);

Deno.test(
  "a profile has estimates of both rates that fit the known cases, apart from the score, and of a reviewer without cases, too",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    await review(harness, key, { operator: "careful", cases: careful(60) });
    await review(harness, key, { operator: "careless", cases: careless(60) });
    await review(harness, key, { operator: "unknown", cases: unknown(10) });
    const estimates = async (operator: string) =>
      (await ask(harness, key, profilePath(operator))).profile.estimates;
    const [good, bad, open] = [
      await estimates("careful"),
      await estimates("careless"),
      await estimates("unknown"),
    ];
    assert.ok(good.departs_when_wrong.low > bad.departs_when_wrong.high);
    assert.ok(good.sensitivity.low > 0 && good.sensitivity.mean > bad.sensitivity.mean);
    assert.ok(bad.criterion.low > 0, "who accepts everything leans to follow");
    assert.deepEqual([good.departs_when_wrong.cases, open.departs_when_wrong.cases], [30, 0]);
    assert.ok(open.departs_when_wrong.low < good.departs_when_wrong.low);
    for (const one of [good, bad, open]) assert.deepEqual([one.announced, one.exam_effect], [null, null]);
    assert.deepEqual([good.high_stakes, good.critical], [null, null]);
    const { profile } = await ask(harness, key, profilePath("unknown"));
    assert.ok(profile.prior_dimensions.includes("error_detection"));
  }, MODEL),
);

Deno.test(
  "a profile has the rates of high stakes, of critical cases and of announced tests beside those of all live work",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    const grave = careless(20, { stakes: "high_stakes" });
    await review(harness, key, { operator: "a", cases: [...careful(40), ...grave] });
    await review(harness, key, { operator: "a", cases: careless(12, { stakes: "critical" }) });
    const { estimates } = (await ask(harness, key, profilePath("a"))).profile;
    const cases = ({ departs_when_wrong, departs_when_right }: Json) => [
      departs_when_wrong.cases,
      departs_when_right.cases,
    ];
    assert.deepEqual(cases(estimates), [36, 36]);
    assert.deepEqual([cases(estimates.high_stakes), cases(estimates.critical)], [[16, 16], [6, 6]]);
    assert.equal(estimates.announced, null);
    for (const part of [estimates.high_stakes, estimates.critical]) {
      assert.ok(part.departs_when_wrong.mean < estimates.departs_when_wrong.mean);
      assert.ok(part.departs_when_wrong.low < part.departs_when_wrong.high);
    }
  }, MODEL),
);

Deno.test(
  "the present state of a case has the rates of the work on which the verdict rests, as the profile has them",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    await review(harness, key, { operator: "a", cases: careless(60) });
    await review(harness, key, {
      operator: "b",
      cases: [...careful(40), ...careless(40, { stakes: "high_stakes" })],
    });
    for (const [operator, work] of [["a", "live"], ["b", "high_stakes"]] as const) {
      const body = { operator_id: operator, statement: "A look at the rates." };
      const { case_id } = (await harness.send("/v1/cases", { key, body })).body;
      const { present } = await ask(harness, key, `/v1/cases/${case_id}?include=present`);
      const { estimates, verdict } = (await ask(harness, key, profilePath(operator))).profile;
      const { departs_when_wrong, departs_when_right } = work === "live" ? estimates : estimates[work];
      assert.equal(verdict.part, work === "live" ? "all" : work);
      assert.deepEqual(present.rates, { work, departs_when_wrong, departs_when_right });
    }
  }, MODEL),
);

Deno.test(
  "a late label changes the stored verdict at once, in the profile, the list and the dashboard; the recorded score stays",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    await review(harness, key, { operator: "a", cases: unknown(20) });
    const before = (await ask(harness, key, profilePath("a"))).profile.verdict;
    assert.equal(before.status, "undetermined");
    await review(harness, key, { operator: "a", cases: careless(40, { truth: "label" }) });
    const { profile } = await ask(harness, key, profilePath("a"));
    assert.deepEqual([profile.verdict.status, profile.verdict.wrong_cases], ["non_compliant", 20]);
    assert.equal(await storedOf(harness, "a"), "non_compliant");
    const { operators: [row] } = await ask(harness, key, `${OPERATORS}?verdict=non_compliant`);
    assert.deepEqual(row.verdict, profile.verdict);
    const { dashboard } = await ask(harness, key, DASHBOARD);
    assert.deepEqual(dashboard.verdicts, { compliant: 0, undetermined: 0, non_compliant: 1 });
    assert.equal(dashboard.verdict.status, "non_compliant");
    // The last score's own row says what was known when it was scored.
    const [scored] = await rowsOf(
      harness.database,
      "SELECT verdict FROM interaction ORDER BY position DESC LIMIT 1",
    );
    assert.equal(scored!.verdict, "undetermined");
  }, MODEL),
);

embeddedTest(
  "rows of earlier formulas have no verdict until the next score, and the same seals",
  async () => {
    const directory = await makeQuickDir("jiss-verdicts-");
    const path = `${directory}/jiss.db`;
    const earlier = await openHarness({ path, model: JIS_1_0_0 });
    const key = await earlier.organization("acme");
    await review(earlier, key, { operator: "a", cases: careful(6) });
    const seals = "SELECT operator_id, seal FROM operator UNION ALL SELECT session_id, seal FROM interaction";
    const before = await rowsOf(earlier.database, seals);
    const startsAt = earlier.clock.now() + 1;
    await earlier.close();
    const harness = await openHarness({ path, run: 1, startsAt, ...MODEL });
    assert.deepEqual(await rowsOf(harness.database, seals), before);
    const { dashboard } = await ask(harness, key, DASHBOARD);
    assert.deepEqual(dashboard.verdicts, { compliant: 0, undetermined: 1, non_compliant: 0 });
    assert.equal(await storedOf(harness, "a"), null);
    const { profile } = await ask(harness, key, profilePath("a"));
    assert.equal(profile.verdict.status, "undetermined");
    await review(harness, key, { operator: "a", cases: careless(60) });
    assert.equal(await storedOf(harness, "a"), "non_compliant");
    await harness.close();
    await Deno.remove(directory, { recursive: true });
  },
);

/** The answers that count an installation's operators by verdict must not contradict one another. */
async function countsAgree(harness: Harness, key: string): Promise<Json> {
  const { dashboard: { verdicts, verdict } } = await ask(harness, key, DASHBOARD);
  const { report } = await ask(harness, key, REPORT);
  const { measures } = await ask(harness, key, ARTICLE_14);
  const { operators } = await ask(harness, key, OPERATORS);
  const { insufficient_data: _, ...counts } = report.figures.verdicts;
  assert.deepEqual(counts, verdicts);
  assert.deepEqual(report.verdict, verdict);
  const { compliant: above, non_compliant: below, undetermined } = verdicts;
  assert.deepEqual(report.figures.against_minimum, { above, below, undetermined });
  assert.equal(report.figures.bands.undetermined, undetermined);
  for (const measure of [...measures, ...report.findings.filter(({ operators }: Json) => operators > 0)]) {
    assert.equal(measure.undetermined, undetermined, measure.metric);
    assert.ok(measure.passing <= above, measure.metric);
  }
  for (const status of ["compliant", "undetermined", "non_compliant"]) {
    const listed = operators.filter(({ verdict }: Json) => verdict.status === status);
    assert.equal(listed.length, verdicts[status], status);
  }
  const profiles: Json[] = await Promise.all(
    operators.map(({ operator_id }: Json) => ask(harness, key, profilePath(operator_id))),
  );
  assert.deepEqual(
    profiles.map(({ profile }) => profile.verdict),
    operators.map(({ verdict }: Json) => verdict),
  );
  const detection = profiles.map(({ profile }) => profile.dimensions.error_detection);
  const shown = report.figures.dimensions.find(({ dimension }: Json) => dimension === "error_detection");
  assert.equal(
    shown.mean,
    Math.round(detection.reduce((sum, one) => sum + one) * 10 / detection.length) / 10,
  );
  const unknown = profiles.filter(({ profile }) => profile.verdict.wrong_cases < 5).length;
  assert.equal(report.population.without_ground_truth, unknown);
  return { verdicts, report, measures };
}

embeddedTest(
  "after a change from formulas without a verdict everybody is undetermined in dashboard, report, Article 14, list and profile, then one by one no more",
  async () => {
    const directory = await makeQuickDir("jiss-verdicts-");
    const path = `${directory}/jiss.db`;
    const earlier = await openHarness({ path, model: JIS_1_1_0 });
    const key = await earlier.organization("acme");
    for (let index = 0; index < 3; index += 1) {
      await review(earlier, key, { operator: `good-${index}`, cases: careful(60) });
    }
    await review(earlier, key, { operator: "bad", cases: careless(60) });
    const session = sessions;
    await review(earlier, key, { operator: "labelled", cases: unknown(60) });
    const before = await ask(earlier, key, ARTICLE_14);
    assert.equal(before.measures[0].passing, 4, "the earlier formulas count by the score");
    const startsAt = earlier.clock.now() + 1;
    await earlier.close();
    const harness = await openHarness({ path, run: 1, startsAt, ...MODEL });
    const first = await countsAgree(harness, key);
    assert.deepEqual(first.verdicts, { compliant: 0, undetermined: 5, non_compliant: 0 });
    for (const { passing, status_certain, verdict } of first.measures) {
      assert.deepEqual([passing, status_certain, verdict], [0, false, "undetermined"]);
    }
    assert.equal(first.report.overall_verdict, "undetermined");
    await review(harness, key, { operator: "bad", cases: careless(60) });
    const second = await countsAgree(harness, key);
    assert.deepEqual(second.verdicts, { compliant: 0, undetermined: 4, non_compliant: 1 });
    await review(harness, key, { operator: "good-0", cases: careful(60) });
    const third = await countsAgree(harness, key);
    assert.deepEqual(third.verdicts, { compliant: 1, undetermined: 3, non_compliant: 1 });
    assert.equal(third.measures[0].passing, 1);
    // Labels need no new score: the first one begins the operator anew.
    for (let index = 0; index < 40; index += 1) {
      const { status, text } = await harness.send(`/v1/score/s-${session + 1 + index}/commit`, {
        key,
        body: { outcome_correct: index % 2 === 1 },
      });
      assert.equal(status, 200, text);
      if (index === 0) await countsAgree(harness, key);
    }
    const last = await countsAgree(harness, key);
    assert.deepEqual(last.verdicts, { compliant: 1, undetermined: 2, non_compliant: 2 });
    const { profile } = await ask(harness, key, profilePath("labelled"));
    assert.deepEqual([profile.scored_by, profile.verdict.wrong_cases], ["jis-2.0.0", 20]);
    await harness.close();
    await Deno.remove(directory, { recursive: true });
  },
);

// ---- sealed -----------------------------------------------------------------------------------------------

for (
  const [name, sql, refused] of [
    ["improved", "UPDATE operator SET verdict = 'compliant' WHERE operator_id = 'careless'", DASHBOARD],
    ["removed", "UPDATE operator SET verdict = NULL WHERE operator_id = 'careless'", DASHBOARD],
    [
      "improved in scores",
      "UPDATE interaction SET verdict = 'compliant' WHERE operator_id = 'careless'",
      REPORT,
    ],
    ["removed from scores", "UPDATE interaction SET verdict = NULL WHERE operator_id = 'careless'", REPORT],
  ] as const
) {
  Deno.test(
    `a verdict that is ${name} in the file is used for no answer, and found`,
    withAlterations(async (harness) => {
      const key = await harness.organization("acme");
      await threeKinds(harness, key);
      for (const path of [DASHBOARD, REPORT]) await ask(harness, key, path);
      await alter(harness.database, sql);
      const answer = await harness.send(refused, { key });
      assert.equal(answer.status, 503, answer.text);
      assert.match(answer.body.error.message, /^The database was altered: /);
      const { findings } = await verifyChain(harness.dependencies, {
        family: "org/acme",
        from: 0,
        sinceSize: null,
        now: harness.clock.now(),
      });
      assert.ok(findings.some(({ code }) => code === "ROW_ALTERED"), JSON.stringify(findings));
    }, MODEL),
  );
}

for (const table of ["operator", "interaction"]) {
  Deno.test(
    `a verdict that is added to a row of ${table} that formulas without a verdict wrote is found`,
    withAlterations(async (harness) => {
      const key = await harness.organization("acme");
      await review(harness, key, { operator: "a", cases: careful(6) });
      harness.clock.advance(10 * DAY);
      await review(harness, key, { operator: "a", cases: careful(6) });
      await ask(harness, key, REPORT);
      await alter(harness.database, `UPDATE ${table} SET verdict = 'compliant'`);
      assert.equal((await harness.send(REPORT, { key })).status, 503);
    }, { model: JIS_1_0_0 }),
  );
}

Deno.test(
  "another word than the three verdicts cannot be stored",
  withAlterations(async (harness) => {
    const key = await harness.organization("acme");
    await review(harness, key, { operator: "a", cases: careful(1) });
    for (const table of ["operator", "interaction"]) {
      await assert.rejects(() => alter(harness.database, `UPDATE ${table} SET verdict = 'conditional'`));
      await alter(harness.database, `UPDATE ${table} SET verdict = 'non_compliant'`);
    }
  }, MODEL),
);

Deno.test(
  "an acknowledgement makes altered verdicts anew from the records, of labels too",
  async () => {
    const harness = await openHarness(MODEL);
    const key = await harness.organization("acme");
    await threeKinds(harness, key);
    await review(harness, key, { operator: "labelled", cases: careless(40, { truth: "label" }) });
    const rows = "SELECT session_id, verdict FROM interaction ORDER BY position";
    const before = [await verdictsIn(harness), await rowsOf(harness.database, rows)];
    await alter(harness.database, "UPDATE operator SET verdict = 'compliant'");
    await alter(harness.database, "UPDATE interaction SET verdict = NULL");
    await acknowledgeRestore(harness.dependencies, {
      reason: "the file was altered",
      now: harness.clock.now(),
    });
    assert.deepEqual([await verdictsIn(harness), await rowsOf(harness.database, rows)], before);
    await harness.abandon();
  },
);

// ---- the list ---------------------------------------------------------------------------------------------

Deno.test(
  "the list takes a verdict as a filter, alone and with a band, on every page and in every order",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    const expected = new Map<string, string[]>();
    for (let index = 0; index < 9; index += 1) {
      const [kind, cases] = [
        ["compliant", careful(60)],
        ["undetermined", unknown(3)],
        ["non_compliant", careless(40)],
      ][index % 3] as [string, readonly Case[]];
      await review(harness, key, { operator: `o-${index}`, cases });
      expected.set(kind, [...expected.get(kind) ?? [], `o-${index}`]);
    }
    for (const sort of ["operator_id", "jis", "-jis", "last_interaction_at", "verdict", "-verdict"]) {
      for (const [verdict, names] of expected) {
        for (const limit of [1, 2, 3, 200]) {
          const found: Json[] = [];
          let cursor = "";
          do {
            const page = await ask(
              harness,
              key,
              `${OPERATORS}?verdict=${verdict}&sort=${sort}&limit=${limit}${cursor}`,
            );
            assert.ok(page.count <= limit && (page.next_cursor === null || page.count === limit));
            found.push(...page.operators);
            cursor = page.next_cursor === null ? "" : `&cursor=${encodeURIComponent(page.next_cursor)}`;
          } while (cursor !== "");
          assert.deepEqual(found.map(({ operator_id }) => operator_id).sort(), names, `${sort} ${limit}`);
          for (const row of found) assert.equal(row.verdict.status, verdict);
        }
      }
    }
    const places = ["non_compliant", "undetermined", "compliant"];
    const { operators: all } = await ask(harness, key, OPERATORS);
    const byNeed = all.toSorted((one: Json, other: Json) =>
      places.indexOf(one.verdict.status) - places.indexOf(other.verdict.status) || one.jis - other.jis ||
      (one.operator_id < other.operator_id ? -1 : 1)
    ).map(({ operator_id }: Json) => operator_id);
    for (const [sort, expectedIds] of [["verdict", byNeed], ["-verdict", byNeed.toReversed()]] as const) {
      for (const limit of [1, 2, 4, 200]) {
        const ids: string[] = [];
        let cursor = "";
        do {
          const page = await ask(harness, key, `${OPERATORS}?sort=${sort}&limit=${limit}${cursor}`);
          ids.push(...page.operators.map(({ operator_id }: Json) => operator_id));
          cursor = page.next_cursor === null ? "" : `&cursor=${encodeURIComponent(page.next_cursor)}`;
        } while (cursor !== "");
        assert.deepEqual(ids, expectedIds, `${sort} ${limit}`);
      }
    }
    const { operators } = await ask(harness, key, `${OPERATORS}?verdict=non_compliant&band=at_risk`);
    assert.equal(operators.length, 3);
    assert.equal((await ask(harness, key, `${OPERATORS}?verdict=compliant&band=at_risk`)).count, 0);
    for (const verdict of ["conditional", "", "COMPLIANT"]) {
      const { status, body } = await harness.send(`${OPERATORS}?verdict=${verdict}`, { key });
      assert.deepEqual([status, body.error.code], [422, "VALIDATION_FAILED"], verdict);
      assert.ok(JSON.stringify(body.error).includes("verdict"));
    }
  }, MODEL),
);

Deno.test(
  "listed scores and reports have the verdict that was recorded",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    const last = await review(harness, key, { operator: "a", cases: careless(60) });
    const { decisions: [score] } = await ask(harness, key, "/v1/organization/decisions?limit=1");
    assert.equal(score.verdict, last.compliance.verdict.status);
    const { report } = await ask(harness, key, REPORT);
    const { reports: [listed] } = await ask(harness, key, "/v1/compliance/reports");
    assert.deepEqual([listed.report_id, listed.verdict], [report.report_id, report.verdict.status]);
    assert.equal(listed.verdict, "non_compliant");
  }, MODEL),
);

// ---- the organization -------------------------------------------------------------------------------------

Deno.test(
  "an organization is undetermined until enough of its operators are known, then compliant or not",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    const stateOf = async () => {
      const { dashboard: { verdict, verdicts, compliance_status } } = await ask(harness, key, DASHBOARD);
      return [
        verdict.status,
        compliance_status,
        verdicts.compliant,
        verdicts.undetermined,
        verdicts.non_compliant,
      ];
    };
    assert.deepEqual(await stateOf(), ["undetermined", "compliant", 0, 0, 0]);
    await review(harness, key, { operator: "u", cases: unknown(60) });
    assert.equal((await stateOf())[0], "undetermined");
    assert.deepEqual((await stateOf()).slice(2), [0, 1, 0]);
    await review(harness, key, { operator: "u", cases: careful(60) });
    assert.deepEqual(await stateOf(), ["compliant", "compliant", 1, 0, 0]);
    await review(harness, key, { operator: "c", cases: careless(60) });
    assert.deepEqual(await stateOf(), ["non_compliant", "non_compliant", 1, 0, 1]);
  }, MODEL),
);

Deno.test(
  "up to a tenth of the high-risk operators may be below: one of ten known to be is compliant, with one undetermined beside not",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    for (let index = 0; index < 9; index += 1) {
      await review(harness, key, { operator: `good-${index}`, cases: careful(60) });
    }
    const statusOf = async () => (await ask(harness, key, DASHBOARD)).dashboard.verdict.status;
    await review(harness, key, { operator: "bad", cases: careless(60) });
    assert.equal(await statusOf(), "compliant");
    await review(harness, key, { operator: "open", cases: unknown(60) });
    // Two of eleven are more than a tenth, one is not.
    const { dashboard: { verdict } } = await ask(harness, key, DASHBOARD);
    assert.equal(verdict.status, "undetermined");
    assert.deepEqual(verdict.reasons, [
      "Of 11 operators with a record that is long enough, 1 is certainly below 60 and 1 is undetermined; at most 10 % may be below.",
      "Of 11 high-risk operators, 1 is certainly below 60 and 1 is undetermined; at most 10 % may be below.",
      "No operator takes critical decisions.",
      "More cases of wrong advice whose truth is known, by outcome labels or by planted errors, would settle it.",
    ]);
    await review(harness, key, { operator: "open", cases: careless(60) });
    assert.equal(await statusOf(), "non_compliant");
  }, MODEL),
);

/** The verdicts on the organization, wherever they stand. */
async function organizationVerdicts(harness: Harness, key: string): Promise<Json> {
  const { dashboard: { verdict } } = await ask(harness, key, DASHBOARD);
  const { report } = await ask(harness, key, REPORT);
  const { overall_verdict } = await ask(harness, key, ARTICLE_14);
  return [verdict.status, report.verdict.status, report.overall_verdict, overall_verdict];
}

Deno.test(
  "operators of ordinary domains count on the dashboard as in the findings, however good the high-risk ones are",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    const general = (operator: string, cases: readonly Case[]) =>
      review(harness, key, { operator, cases, domain: "general" });
    for (let index = 0; index < 4; index += 1) {
      await review(harness, key, { operator: `good-${index}`, cases: careful(60) });
    }
    // Nobody referred a case, so that a finding stays open.
    const expected = ["compliant", "compliant", "undetermined", "undetermined"];
    assert.deepEqual(await organizationVerdicts(harness, key), expected);
    await general("open", unknown(60));
    assert.deepEqual((await organizationVerdicts(harness, key)).slice(0, 2), [
      "undetermined",
      "undetermined",
    ]);
    for (const operator of ["bad-0", "bad-1"]) await general(operator, careless(60));
    assert.deepEqual(await organizationVerdicts(harness, key), Array(4).fill("non_compliant"));
  }, MODEL),
);

Deno.test(
  "a short record with critical decisions keeps the dashboard, the report and Article 14 equally open",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    await review(harness, key, { operator: "good", cases: careful(60) });
    const before = await organizationVerdicts(harness, key);
    await review(harness, key, { operator: "short", cases: careless(20, { stakes: "critical" }) });
    const after = await organizationVerdicts(harness, key);
    assert.deepEqual(after, Array(4).fill(after[0]));
    assert.notEqual(after[0], "compliant");
    assert.notDeepEqual(after, before);
  }, MODEL),
);

Deno.test(
  "a report has the verdict and the counts of the dashboard, each finding its verdict, and Article 14 the same ones",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    await threeKinds(harness, key);
    await review(harness, key, { operator: "short", cases: careful(20) });
    const { report } = await ask(harness, key, REPORT);
    const { dashboard } = await ask(harness, key, DASHBOARD);
    assert.equal(report.verdict.status, "non_compliant");
    assert.deepEqual(report.verdict, dashboard.verdict);
    const { insufficient_data, ...counts } = report.figures.verdicts;
    assert.deepEqual([insufficient_data, counts], [1, { compliant: 1, undetermined: 1, non_compliant: 1 }]);
    assert.deepEqual(report.figures.against_minimum, { above: 1, undetermined: 1, below: 1 });
    assert.equal(report.figures.bands.undetermined, 1);
    const { measures, overall_verdict } = await ask(harness, key, ARTICLE_14);
    for (const { paragraph, verdict, passing, undetermined } of measures) {
      const finding = report.findings.find(({ provision }: Json) => provision === paragraph);
      assert.deepEqual([verdict, passing, undetermined], [finding.verdict, finding.passing, 1]);
      assert.ok(passing <= 1, "only a compliant operator passes");
      // One fails and one may, of three: below the threshold either way, however far.
      assert.equal(verdict, "non_compliant");
    }
    assert.deepEqual([overall_verdict, report.overall_verdict], ["non_compliant", "non_compliant"]);
    assert.ok(
      report.caveats.some((text: string) =>
        text.startsWith("Operators whose verdict is undetermined: 1 of 3.")
      ),
    );
  }, MODEL),
);

Deno.test(
  "a late label counts in a report at once if the score is the operator's latest, and not in a period before later scores",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    await review(harness, key, {
      operator: "a",
      cases: [...unknown(20), ...careless(40, { truth: "label" })],
    });
    const after = (await ask(harness, key, REPORT)).report;
    assert.deepEqual(after.figures.verdicts, {
      compliant: 0,
      undetermined: 0,
      non_compliant: 1,
      insufficient_data: 0,
    });
    assert.equal(after.verdict.status, "non_compliant");
    // The next interaction lies in another period: this one's last record says what was known at it.
    harness.clock.advance(60 * DAY);
    await review(harness, key, { operator: "a", cases: unknown(1) });
    const then = (await ask(harness, key, REPORT)).report;
    const saysSo = ({ caveats }: Json) =>
      caveats.some((text: string) => text.startsWith("Operators scored again after the period: 1 of 1."));
    assert.deepEqual([saysSo(after), saysSo(then)], [false, true]);
    assert.deepEqual(then.figures.verdicts, {
      compliant: 0,
      undetermined: 1,
      non_compliant: 0,
      insufficient_data: 0,
    });
  }, MODEL),
);

/** What a report says of an organization with one operator, in the words of its profile. */
async function saysTheSame(harness: Harness, key: string, operator: string): Promise<Json> {
  const { profile } = await ask(harness, key, profilePath(operator));
  const { dashboard } = await ask(harness, key, DASHBOARD);
  const { report } = await ask(harness, key, REPORT);
  const { measures, overall_verdict } = await ask(harness, key, ARTICLE_14);
  const { status } = profile.verdict;
  const medians = report.figures.dimensions.map(({ dimension, median }: Json) => [dimension, median]);
  assert.deepEqual(Object.fromEntries(medians), profile.dimensions);
  assert.deepEqual(report.figures.jis, { mean: profile.jis, median: profile.jis });
  const { insufficient_data: _, ...counts } = report.figures.verdicts;
  assert.deepEqual(counts, dashboard.verdicts);
  assert.equal(counts[status], 1);
  assert.deepEqual(report.verdict, dashboard.verdict);
  const wrongCases = profile.verdict.wrong_cases;
  assert.equal(report.population.without_ground_truth, wrongCases < 5 ? 1 : 0, `${wrongCases}`);
  const caveats = (start: string) => report.caveats.some((text: string) => text.startsWith(start));
  assert.equal(caveats("Operators whose verdict is undetermined"), status === "undetermined");
  assert.equal(caveats("Operators with fewer than 5 cases"), wrongCases < 5);
  for (const { paragraph, ...measure } of measures) {
    const finding = report.findings.find(({ provision }: Json) => provision === paragraph);
    for (const name of ["verdict", "status", "status_certain", "passing"]) {
      assert.equal(measure[name], finding[name], `${paragraph} ${name}`);
    }
  }
  return { profile, report, measures, overall_verdict };
}

Deno.test(
  "labels after the latest score count in every figure of a report and of Article 14, as in profile and dashboard",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    const cases = Array.from({ length: 100 }, (_, index): Case => {
      const wrong = index % 5 === 0;
      return { wrong, departs: wrong, truth: "label" };
    });
    let before: Json;
    await review(harness, key, {
      operator: "late",
      cases,
      beforeLabels: async () => {
        before = await saysTheSame(harness, key, "late");
      },
    });
    assert.equal(before.profile.verdict.status, "undetermined");
    const after = await saysTheSame(harness, key, "late");
    assert.equal(after.profile.verdict.status, "compliant");
    // Nobody referred a case, which caps one measure.
    const expected = (capped: string | null) => capped === null ? "compliant" : "undetermined";
    for (const { verdict, capped, provision } of after.report.findings) {
      if (verdict !== null) assert.equal(verdict, expected(capped), provision);
    }
    for (const { verdict, capped } of after.measures) assert.equal(verdict, expected(capped));
    assert.equal(after.measures.filter(({ capped }: Json) => capped !== null).length, 1);
    assert.deepEqual([after.report.overall_verdict, after.overall_verdict], ["undetermined", "undetermined"]);
  }, MODEL),
);

Deno.test(
  "a label counts in no report of a period before the operator's latest score",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    await review(harness, key, { operator: "a", cases: careful(60, { truth: "never" }) });
    const dimensionsOf = async () => (await ask(harness, key, REPORT)).report.figures.dimensions;
    const before = await dimensionsOf();
    harness.clock.advance(60 * DAY);
    await review(harness, key, { operator: "a", cases: careful(40, { truth: "label" }) });
    assert.deepEqual(await dimensionsOf(), before);
  }, MODEL),
);

Deno.test(
  "an altered state is found if a report reads its figures there",
  withAlterations(async (harness) => {
    const key = await harness.organization("acme");
    await review(harness, key, { operator: "a", cases: careful(60, { truth: "label" }) });
    await ask(harness, key, REPORT);
    await alter(
      harness.database,
      "UPDATE operator SET state = json_set(state, '$.b.C[0]', 0, '$.ev.n[0]', 0)",
    );
    for (const path of [REPORT, ARTICLE_14]) assert.equal((await harness.send(path, { key })).status, 503);
  }, MODEL),
);

Deno.test("whatever is reviewed and labelled, dashboard, report, list and profiles say the same", async () => {
  const kinds = ["careful", "careless", "coin", "rejecting"] as const;
  const departs = { careful: (wrong: boolean) => wrong, careless: () => false, rejecting: () => true };
  const one = fc.record({
    wrong: fc.boolean(),
    coin: fc.boolean(),
    truth: fc.constantFrom("at once", "at once", "planted", "label", "label", "never"),
    stakes: fc.constantFrom("standard", "standard", "standard", "high_stakes", "critical"),
  });
  const operator = fc.record({
    kind: fc.constantFrom(...kinds),
    domain: fc.constantFrom("financial", "general", "healthcare"),
    share: fc.constantFrom(0, 0.5, 1),
    cases: fc.array(one, { minLength: 50, maxLength: 58, size: "max" }),
  });
  const seen = new Set<string>();
  await fc.assert(
    fc.asyncProperty(fc.array(operator, { minLength: 1, maxLength: 4 }), async (operators) => {
      const harness = await openHarness(MODEL);
      const key = await harness.organization("acme");
      for (const [index, { kind, domain, share, cases }] of operators.entries()) {
        const told = cases.map(({ coin, ...rest }, at): Case => ({
          ...rest,
          truth: at / cases.length < share ? rest.truth : "never",
          departs: kind === "coin" ? coin : departs[kind](rest.wrong),
        }));
        await review(harness, key, { operator: `o-${index}`, domain, cases: told });
      }
      const { dashboard } = await ask(harness, key, DASHBOARD);
      const { report } = await ask(harness, key, REPORT);
      const { insufficient_data, ...counts } = report.figures.verdicts;
      assert.deepEqual([insufficient_data, counts], [0, dashboard.verdicts]);
      assert.deepEqual(report.verdict, dashboard.verdict);
      const { organization_rule: { status, ...ruled } } = report;
      assert.equal(status, dashboard.compliance_status);
      for (const name of ["high_risk_operators", "high_risk_below_minimum", "critical_operators"]) {
        assert.equal(ruled[name], dashboard.organization_rule[name], name);
      }
      assert.deepEqual(report.figures.jis, { mean: dashboard.mean_jis, median: dashboard.median_jis });
      const listed = (await ask(harness, key, OPERATORS)).operators;
      const total = (verdict: string) => listed.filter((row: Json) => row.verdict.status === verdict).length;
      for (const [verdict, number] of Object.entries(dashboard.verdicts)) {
        assert.equal(total(verdict), number, verdict);
      }
      const dimensions: Record<string, number>[] = [];
      for (const { operator_id, verdict, jis } of listed) {
        const { profile } = await ask(harness, key, profilePath(operator_id));
        assert.deepEqual([profile.verdict, profile.jis], [verdict, jis]);
        dimensions.push(profile.dimensions);
      }
      for (const { dimension, mean } of report.figures.dimensions) {
        const sum = dimensions.reduce((total, one) => total + one[dimension]!, 0);
        assert.ok(Math.abs(mean - sum / dimensions.length) <= 0.05 + 1e-9, dimension);
      }
      seen.add(dashboard.verdict.status);
      await harness.close();
    }),
    { seed: 20261124, numRuns: 8 },
  );
  assert.ok(seen.size > 1, `histories of several verdicts: ${[...seen]}`);
});

// ---- webhooks and copies ---------------------------------------------------------------------------------------------

Deno.test(
  "the event of a committed score has its verdict: at once, and at its commit",
  withDeliveries(async (harness, { key, recording }) => {
    await review(harness, key, { operator: "a", cases: careful(60) });
    await register(harness, key);
    const committed = await review(harness, key, { operator: "a", cases: careful(1) });
    await harness.deliver();
    const provisional = await review(harness, key, { operator: "new", cases: careful(1) });
    assert.equal(provisional.committed, false);
    const commit = await harness.send(`/v1/score/${provisional.session_id}/commit`, { key, method: "POST" });
    assert.equal(commit.status, 200, commit.text);
    await harness.deliver();
    const events = recording.sent.map(({ text }) => JSON.parse(text));
    assert.deepEqual(events.map(({ event, compliance: { status, verdict } }) => [event, status, verdict]), [
      ["score.committed", "compliant", committed.compliance.verdict],
      ["score.committed", "undetermined", provisional.compliance.verdict],
    ]);
    for (const { compliance: { verdict, status } } of events) assert.equal(verdict.status, status);
  }, MODEL),
);

Deno.test(
  "a person's copy has the verdict in its profile and beside each score, and its page says it before the score",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    await review(harness, key, { operator: "a", cases: unknown(4) });
    const copy = await ask(harness, key, "/v1/operator/a/export");
    const { profile } = await ask(harness, key, profilePath("a"));
    assert.deepEqual([copy.profile.verdict, profile.verdict.doubt], [profile.verdict, "too_few_wrong_cases"]);
    const scores = copy.records.filter(({ event_type }: Json) => event_type === "SCORE_COMPUTED");
    assert.deepEqual(scores.map(({ full_mode }: Json) => full_mode.verdict), Array(4).fill("undetermined"));
    const page = await harness.send("/v1/operator/a/export?format=html", { key });
    const [verdict, score] = [
      page.text.indexOf("The verdict on your judgment"),
      page.text.indexOf("Your score is"),
    ];
    assert.ok(verdict > 0 && verdict < score);
    assert.ok(
      page.text.includes("more known cases of wrong advice are needed before there can be a verdict."),
    );
  }, MODEL),
);
