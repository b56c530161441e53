/**
 * Where users see pseudonyms: no answer to a session names a reviewer, no guess leads from a name to a pseudonym, the figures of
 * small groups are withheld, and each look at a name is recorded. A key sees what it always did.
 */
import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { isGranted, type Role } from "../../src/domain/access.ts";
import { partCommitment } from "../../src/evidence/hashes.ts";
import { canonicalJson } from "../../src/evidence/canonical.ts";
import { fromHex, hex } from "../../src/evidence/crypto.ts";
import { nodeCrypto } from "../../src/evidence/node_crypto.ts";
import { OPERATOR_SORTS } from "../../src/domain/enums.ts";
import type { Route } from "../../src/http/exchange.ts";
import { ROUTES } from "../../src/http/routes.ts";
import { complianceReport } from "../../src/operations/reporting/reports.ts";
import { alertOfUsageSoFar } from "../alerting.ts";
import { filledBody, fillExamples, targetOf } from "../examples.ts";
import { type Answer, type Harness, OWN_ORIGIN, type RequestOptions, withHarness } from "../harness.ts";
import { MASTER_SECRETS, openHarness, scoreRequest } from "../harness.ts";
import { IS_SERVER } from "../database.ts";
import { decide, drawDue, sealStock, setPolicy } from "../probing.ts";
import { storedEvents } from "../scenario.ts";
import { signedInUser } from "../signing_in.ts";

interface Scene {
  readonly harness: Harness;
  readonly key: string;
  /** Sends a request as a page of the service does, with a session of a role. */
  readonly as: (role: Role, path: string, options?: RequestOptions) => Promise<Answer>;
  readonly pseudonymOf: (operatorId: string) => Promise<string>;
}

function pseudonymTest(
  name: string,
  test: (scene: Scene) => Promise<void>,
  options: Parameters<typeof withHarness>[1] = {},
): void {
  Deno.test(
    name,
    withHarness(async (harness) => {
      const key = await harness.organization("acme");
      const users = new Map<Role, string>();
      await test({
        harness,
        key,
        async as(role, path, options = {}) {
          const cookie = users.get(role) ?? (await signedInUser(harness, { orgId: "acme", role })).cookie;
          users.set(role, cookie);
          const headers = { Cookie: cookie, Origin: OWN_ORIGIN, "Sec-Fetch-Site": "same-origin" };
          return await harness.send(path, { ...options, headers: { ...headers, ...options.headers } });
        },
        async pseudonymOf(operatorId) {
          const answer = await harness.send("/v1/organization/operators/unmask", {
            key,
            body: { reviewer: operatorId, reason: "a test" },
          });
          assert.equal(answer.status, 200, answer.text);
          return answer.body.pseudonym;
        },
      });
    }, { privacy: "pseudonymous", ...options }),
  );
}

/** Names that no answer to a session may hold. */
const REVIEWERS = [
  "zoe-okafor",
  "yuri-lang",
  "xena-stone",
  "walt-brandt",
  "vera-novak",
  "uma-reyes",
] as const;

/** Scores some interactions of each reviewer. */
async function scoreReviewers(
  { harness: { send }, key }: Pick<Scene, "harness" | "key">,
  reviewers: readonly string[] = REVIEWERS,
  { count = 3, domain = "general" }: { readonly count?: number; readonly domain?: string } = {},
): Promise<void> {
  for (const operator of reviewers) {
    const interactions = Array.from({ length: count }, (_, index) => ({
      session_id: `${domain}-${reviewers.indexOf(operator)}-${index}`,
      time_to_decision_ms: 9_000,
      decision: index % 3 === 0 ? "rejected" : "accepted",
      outcome_correct: true,
    }));
    for (let first = 0; first < count; first += 100) {
      const body = { operator_id: operator, domain, interactions: interactions.slice(first, first + 100) };
      const answer = await send("/v1/score/batch", { key, body });
      assert.equal(answer.status, 200, answer.text);
    }
  }
}

pseudonymTest(
  "the list, a profile and a decision show the pseudonym of the chain's entries",
  async ({ as, ...scene }) => {
    await scoreReviewers(scene);
    const pseudonym = await scene.pseudonymOf("zoe-okafor");
    const replay = await scene.harness.send("/v1/decision/replay/general-0-0", { key: scene.key });
    assert.equal(pseudonym, replay.body.evidence.entry.subject);
    const list = await as("viewer", "/v1/organization/operators");
    assert.equal(list.body.operators.length, REVIEWERS.length);
    assert.ok(
      list.body.operators.some(({ operator_id }: { operator_id: string }) => operator_id === pseudonym),
    );
    const profile = await as("viewer", `/v1/operator/${pseudonym}/profile`);
    assert.equal(profile.body.profile.operator_id, pseudonym);
    const decisions = await as("viewer", `/v1/organization/decisions?operator_id=${pseudonym}`);
    assert.deepEqual(
      decisions.body.decisions.map(({ operator_id }: { operator_id: string }) => operator_id),
      Array(3).fill(pseudonym),
    );
    const named = await scene.harness.send("/v1/operator/zoe-okafor/profile", { key: scene.key });
    assert.equal(named.body.profile.operator_id, "zoe-okafor");
  },
);

/** What a session may call, except what is about users. */
const CALLS: readonly Route[] = ROUTES.filter(({ auth, path }) =>
  auth.kind === "key" && isGranted({ kind: "role", role: "admin" }, auth.access) &&
  !path.startsWith("/v1/users")
);

pseudonymTest(
  "no answer to a session names a reviewer, whatever is called and however it ends",
  async ({ harness, key, as, pseudonymOf }) => {
    await scoreReviewers({ harness, key }, REVIEWERS, { count: 60 });
    const names = await fillExamples(async (path, body) => {
      const answer = await harness.send(path, { key, ...(body === undefined ? {} : { body }) });
      assert.ok(answer.status < 300, answer.text);
      return answer.body;
    }, () => harness.deliver());
    const ids = ["reviewer-ada", "reviewer-bruno"];
    const pseudonyms = Object.fromEntries(
      await Promise.all(ids.map(async (id) => [id, await pseudonymOf(id)] as const)),
    );
    const alertId = await alertOfUsageSoFar(harness, "acme");
    const masked: Readonly<Record<string, string>> = {
      ...names,
      ...pseudonyms,
      "01ALERTOFTHEEXAMPLE0000000": alertId,
    };
    const last = ["deleteOperator", "deleteWebhook", "postKeyRotation", "postKeyRevocation"];
    const rank = ({ operationId }: Route) => last.indexOf(operationId);
    const ended = new Map<string, Set<number>>();
    for (const route of CALLS.toSorted((one, other) => rank(one) - rank(other))) {
      // These two tell a name, for a reason that is recorded.
      if (["postUnmask", "postPageLink"].includes(route.operationId)) continue;
      for (const example of route.examples) {
        const query = Object.fromEntries(
          Object.entries(example.query ?? {}).map(([name, value]) => [name, masked[value] ?? value]),
        );
        const body = filledBody(example, masked);
        const answer = await as("admin", targetOf(route, { ...example, query }, masked), {
          method: route.method,
          ...(body === undefined ? {} : { body }),
        });
        const { text, status } = answer;
        assert.ok(status < 500, `${route.operationId}: ${text.slice(0, 300)}`);
        for (const name of [...ids, ...REVIEWERS]) {
          assert.ok(!text.includes(name), `${route.operationId} names ${name}: ${text.slice(0, 2_000)}`);
        }
        assertNoSalt(answer.body);
        ended.set(route.operationId, (ended.get(route.operationId) ?? new Set()).add(status));
      }
    }
    // The refusals, so that a call that fails before it could name anybody is not taken for one that does not.
    const refused = [...ended].flatMap(([name, statuses]) =>
      [...statuses].filter((status) => status >= 400).map((status) => `${name} ${status}`)
    );
    assert.deepEqual(refused.sort(), ["getChainExport 403", "getSubjectAccess 403", "postTeams 403"]);
  },
  { masterSecrets: MASTER_SECRETS, webhookAllow: ["127.0.0.0/8"], webhookBackoffMs: [0, 0] },
);

/** With the salt anybody could try which id leads to the commitment. */
function assertNoSalt(value: unknown): void {
  if (typeof value !== "object" || value === null) return;
  const { entry, salt } = value as { entry?: { subject?: string | null }; salt?: string };
  if (entry?.subject != null) assert.equal(salt, undefined);
  Object.values(value).forEach(assertNoSalt);
}

pseudonymTest(
  "a commitment that a session sees cannot be tried out against names",
  async ({ as, ...scene }) => {
    await scoreReviewers(scene);
    const path = "/v1/decision/replay/general-0-0";
    const tried = ({ recorded, evidence }: Answer["body"], salt: string) =>
      hex(partCommitment(nodeCrypto, {
        name: "result",
        salt: fromHex(salt),
        text: canonicalJson({ ...recorded, operator_id: "zoe-okafor" }),
      })) === evidence.sha256;
    const { body: whole } = await scene.harness.send(path, { key: scene.key });
    assert.ok(tried(whole, whole.evidence.salt));
    const { body: masked } = await as("auditor", path);
    assert.equal(masked.recorded.operator_id, await scene.pseudonymOf("zoe-okafor"));
    assert.equal(masked.evidence.sha256, whole.evidence.sha256);
    assert.ok(!JSON.stringify(masked).includes(whole.evidence.salt));
  },
);

pseudonymTest(
  "a session cannot ask by name: a known one is answered as an unknown one is",
  async ({ as, ...scene }) => {
    await scoreReviewers(scene);
    const requests: readonly ((name: string) => [string, RequestOptions?])[] = [
      (name) => [`/v1/operator/${name}/profile`],
      (name) => [`/v1/operator/${name}/sparkline`],
      (name) => [`/v1/operator/${name}/export`],
      (name) => [`/v1/operator/${name}`, { method: "DELETE" }],
      (name) => [`/v1/organization/decisions?operator_id=${name}`],
      (name) => [`/v1/exercises?operator_id=${name}`],
      (name) => ["/v1/maintenance/recommend", { body: { operator_id: name } }],
      (name) => ["/v1/exercises", { body: { operator_id: name, exercise_id: "ex_deferral_resistance_1" } }],
    ];
    for (const requestOf of requests) {
      const shown = async (name: string) => {
        const { status, text } = await as("admin", ...requestOf(name));
        assert.ok(status === 404 || status === 422, `${requestOf(name)[0]}: ${text}`);
        return [status, text.replaceAll(name, "NAME").replaceAll(/"(?:request_id|timestamp)":"[^"]*"/g, "")];
      };
      assert.deepEqual(await shown("zoe-okafor"), await shown("nobody"));
    }
  },
);

pseudonymTest("no order of a list tells the order of the names", async ({ as, ...scene }) => {
  // Equal records, so that nothing but names and pseudonyms can order them.
  await scoreReviewers(scene);
  for (const sort of OPERATOR_SORTS) {
    const seen: string[] = [];
    let cursor = "";
    do {
      const page = await as("viewer", `/v1/organization/operators?sort=${sort}&limit=2${cursor}`);
      seen.push(...page.body.operators.map(({ operator_id }: { operator_id: string }) => operator_id));
      const { next_cursor: next } = page.body;
      if (next !== null) {
        assert.doesNotMatch(atob(next.replaceAll("-", "+").replaceAll("_", "/")), /okafor|lang|stone/);
      }
      cursor = next === null ? "" : `&cursor=${next}`;
    } while (cursor !== "");
    const sorted = seen.toSorted();
    assert.equal(new Set(seen).size, REVIEWERS.length, sort);
    if (!sort.endsWith("last_interaction_at")) {
      assert.deepEqual(seen, sort.startsWith("-") ? sorted.reverse() : sorted, sort);
    }
  }
});

pseudonymTest("a search finds pseudonyms and no name", async ({ as, ...scene }) => {
  await scoreReviewers(scene);
  const path = "/v1/organization/operators?q=";
  const found = async (q: string) => {
    const { status, body } = await as("admin", path + q);
    assert.equal(status, 200);
    return body.operators.map(({ operator_id }: { operator_id: string }) => operator_id);
  };
  for (const part of ["zoe-okafor", "okafor", "zoe", "-", "o", "Lang"]) {
    assert.deepEqual(await found(part), [], part);
  }
  const pseudonym = await scene.pseudonymOf("zoe-okafor");
  for (const part of [pseudonym, pseudonym.slice(0, 8), pseudonym.slice(8, 20).toUpperCase()]) {
    assert.ok((await found(part)).includes(pseudonym), part);
    // A letter of a name never leads to a pseudonym without it.
    assert.ok((await found(part)).every((id: string) => id.includes(part.toLowerCase())), part);
  }
  const page = await as("admin", `${path}${pseudonym[0]}&limit=1`);
  if (page.body.next_cursor !== null) {
    const next = await as("admin", `${path}${pseudonym[0]}&limit=1&cursor=${page.body.next_cursor}`);
    assert.equal(next.status, 200, next.text);
    assert.ok(next.body.operators[0].operator_id > page.body.operators[0].operator_id);
  }
  // A key, which sees names, searches names.
  const { body } = await scene.harness.send(`${path}okafor`, { key: scene.key });
  assert.deepEqual(body.operators.map(({ operator_id }: { operator_id: string }) => operator_id), [
    "zoe-okafor",
  ]);
});

pseudonymTest(
  "who a reviewer is takes an officer and a reason, and is on the chain",
  async ({ as, ...scene }) => {
    const { harness } = scene;
    await scoreReviewers(scene);
    const pseudonym = await scene.pseudonymOf("zoe-okafor");
    const path = "/v1/organization/operators/unmask";
    for (const role of ["viewer", "auditor"] as const) {
      const { status } = await as(role, path, { body: { reviewer: pseudonym, reason: "curious" } });
      assert.equal(status, 403, role);
    }
    for (const body of [{ reviewer: pseudonym }, { reason: "x" }, { reviewer: pseudonym, reason: " " }]) {
      assert.equal((await as("officer", path, { body })).status, 422);
    }
    assert.equal((await as("officer", path, { body: { reviewer: "nobody", reason: "x" } })).status, 404);
    const before = (await storedEvents(harness, "org/acme/admin")).length;
    const told = await as("officer", path, { body: { reviewer: pseudonym, reason: "a probe was missed" } });
    assert.equal(told.status, 200, told.text);
    assert.equal(told.body.name, "zoe-okafor");
    const asked = await as("officer", path, { body: { reviewer: "yuri-lang", reason: "asked for a copy" } });
    assert.match(asked.body.pseudonym, /^[0-9a-f]{32}$/);
    const events = (await storedEvents(harness, "org/acme/admin")).slice(before);
    assert.deepEqual(events.map(({ type }) => type), ["SUBJECT_UNMASKED", "SUBJECT_UNMASKED"]);
    harness.clock.advance(1_000);
    const log = await as("auditor", "/v1/admin/audit-log?event_type=SUBJECT_UNMASKED");
    const [second, first] = log.body.events;
    assert.equal(first.actor, "user");
    assert.match(first.user_name, /^officer/);
    assert.deepEqual(first.detail, { asked_by: "pseudonym", reason: "a probe was missed" });
    assert.deepEqual(second.detail, { asked_by: "name", reason: "asked for a copy" });
    const copy = await harness.send("/v1/operator/zoe-okafor/export?format=html", { key: scene.key });
    assert.match(copy.text, /Somebody looked up who you are[^]*a probe was missed/);
  },
);

pseudonymTest("blanks of no width are no reason", async ({ as, ...scene }) => {
  await scoreReviewers(scene);
  const body = { reviewer: "zoe-okafor", reason: "\u200b\u200b" };
  assert.equal((await as("officer", "/v1/organization/operators/unmask", { body })).status, 422);
  const path = `/v1/operator/${await scene.pseudonymOf("zoe-okafor")}/page-link`;
  assert.equal((await as("officer", path, { body: { reason: "\u200b" } })).status, 422);
});

pseudonymTest(
  "the Idempotency-Key of a key's call does not tell a user of whom it was",
  async ({ as, harness, key, pseudonymOf }) => {
    await scoreReviewers({ harness, key });
    const body = { exercise_id: "ex_deferral_resistance_1", domain: "financial" };
    const headers = { "Idempotency-Key": "exercise-zoe-okafor" };
    const set = await harness.send("/v1/exercises", {
      key,
      headers,
      body: { operator_id: "zoe-okafor", ...body },
    });
    assert.equal(set.status, 201, set.text);
    for (const reviewer of ["yuri-lang", "zoe-okafor"]) {
      const { status, body: said } = await as("officer", "/v1/exercises", {
        headers,
        body: { operator_id: await pseudonymOf(reviewer), ...body },
      });
      // The user's own first call under this key; a second with another body is refused as the user's own.
      assert.equal(status, reviewer === "yuri-lang" ? 201 : 422);
      assert.notEqual(said.run_id, set.body.run_id);
    }
  },
);

Deno.test(
  { name: "a list for users is refused if the row of a pseudonym is gone", ignore: IS_SERVER },
  async () => {
    const path = await Deno.makeTempFile({ prefix: "jiss-pseudonyms-", suffix: ".db" });
    await Deno.remove(path);
    const harness = await openHarness({ path, privacy: "pseudonymous" });
    try {
      const key = await harness.organization("acme");
      await scoreReviewers({ harness, key });
      const { cookie } = await signedInUser(harness, { orgId: "acme", role: "viewer" });
      const file = new DatabaseSync(path);
      file.exec("PRAGMA foreign_keys = OFF; DELETE FROM subject WHERE operator_id = 'zoe-okafor'");
      file.close();
      for (const sort of ["operator_id", "jis"]) {
        const list = await harness.send(`/v1/organization/operators?sort=${sort}`, {
          headers: { Cookie: cookie },
        });
        assert.equal(list.status, 503, sort);
      }
    } finally {
      await harness.abandon();
      for (const suffix of ["", "-wal", "-shm"]) await Deno.remove(path + suffix).catch(() => {});
    }
  },
);

pseudonymTest(
  "a reviewer who was erased has no pseudonym any more, and gets another on coming back",
  async ({ as, ...scene }) => {
    await scoreReviewers(scene);
    const pseudonym = await scene.pseudonymOf("zoe-okafor");
    const erased = await as("admin", `/v1/operator/${pseudonym}`, { method: "DELETE" });
    assert.equal(erased.status, 200, erased.text);
    assert.ok(!erased.text.includes("zoe-okafor"));
    assert.equal((await as("viewer", `/v1/operator/${pseudonym}/profile`)).status, 404);
    const body = { reviewer: pseudonym, reason: "x" };
    assert.equal((await as("officer", "/v1/organization/operators/unmask", { body })).status, 404);
    await scene.harness.send("/v1/score", {
      key: scene.key,
      body: scoreRequest({ operator_id: "zoe-okafor", session_id: "after" }),
    });
    assert.notEqual(await scene.pseudonymOf("zoe-okafor"), pseudonym);
  },
);

const PERIOD = "/v1/compliance/report?period_start=2020-01-01&period_end=2099-01-01";

/** The reads of figures of groups. */
const GROUP_READS = [
  "/v1/organization/dashboard",
  "/v1/compliance/article14",
  "/v1/probes/summary",
] as const;

pseudonymTest(
  "four reviewers are too few for a figure of them all, and five are not",
  async ({ as, ...scene }) => {
    await scoreReviewers(scene, REVIEWERS.slice(0, 4), { count: 60 });
    for (const path of [...GROUP_READS.slice(0, 2), PERIOD, `${PERIOD}&format=html`]) {
      const few = await as("viewer", path);
      assert.equal(few.status, 422, `${path}: ${few.text.slice(0, 300)}`);
      assert.equal(few.body.error?.code, "INSUFFICIENT_DATA", path);
      assert.match(few.body.error.message, /about 4 reviewers/);
    }
    await scoreReviewers(scene, [REVIEWERS[4]], { count: 60, domain: "insurance" });
    for (const path of [...GROUP_READS, PERIOD, `${PERIOD}&format=html`]) {
      const enough = await as("viewer", path);
      assert.equal(enough.status, 200, `${path}: ${enough.text.slice(0, 300)}`);
    }
    for (const path of GROUP_READS) {
      assert.equal((await scene.harness.send(path, { key: scene.key })).status, 200);
    }
  },
);

pseudonymTest(
  "the halves of the rule and the findings of few reviewers are withheld, and a key sees them",
  async ({ as, ...scene }) => {
    await scoreReviewers(scene, REVIEWERS, { count: 60 });
    // Two of them decide in a high-risk domain, and one takes critical decisions.
    await scoreReviewers(scene, REVIEWERS.slice(0, 2), { count: 60, domain: "healthcare" });
    await scene.harness.send("/v1/score", {
      key: scene.key,
      body: scoreRequest({ operator_id: REVIEWERS[5], session_id: "grave" }, { scenario_type: "critical" }),
    });
    const path = "/v1/organization/dashboard";
    const { dashboard: whole } = (await scene.harness.send(path, { key: scene.key })).body;
    assert.deepEqual(
      [whole.organization_rule.high_risk_operators, whole.organization_rule.critical_operators],
      [2, 1],
    );
    const { dashboard } = (await as("viewer", path)).body;
    const { high_risk_operators, high_risk_below_minimum, critical_below_critical, reasons } =
      dashboard.organization_rule;
    assert.deepEqual([high_risk_operators, high_risk_below_minimum, critical_below_critical], [
      2,
      null,
      null,
    ]);
    assert.deepEqual(reasons, ["The figures of a group of fewer than 5 reviewers are withheld."]);
    assert.equal(dashboard.mean_jis, whole.mean_jis);
    for (const reason of dashboard.verdict.reasons) assert.doesNotMatch(reason, /^Of [1-4] /);
    assert.ok(whole.verdict.reasons.some((reason: string) => /^Of [1-4] /.test(reason)));

    const { body: measured } = await scene.harness.send("/v1/compliance/article14", { key: scene.key });
    assert.ok(measured.measures.every(({ passing }: { passing: number | null }) => passing !== null));

    const issued = await as("viewer", PERIOD);
    const small = issued.body.report.findings.filter(({ operators }: { operators: number }) =>
      operators > 0 && operators < 5
    );
    assert.ok(small.length > 0);
    for (const { passing, observed, undetermined, status, verdict } of small) {
      assert.deepEqual([passing, observed, undetermined], [null, null, null]);
      assert.ok(
        status === "not_applicable" || (status === "insufficient_data" && verdict === "undetermined"),
      );
    }
    assert.ok(
      issued.body.report.caveats.includes("The figures of a group of fewer than 5 reviewers are withheld."),
    );
    // A report is made to be passed on: what is issued has no small group, whoever asks.
    const again = await scene.harness.send(PERIOD, { key: scene.key });
    assert.deepEqual(again.body.report, issued.body.report);
    const page = await as("viewer", `${PERIOD}&format=html`);
    assert.match(
      page.text,
      /Figures about fewer than 5 people are withheld: those of 1 provision and 2 counts of the organization rule\./,
    );
    assert.match(page.text, /observed: withheld, fewer than five reviewers/);
    const stored = await as("viewer", `/v1/compliance/report/${issued.body.report.report_id}`);
    assert.equal(stored.status, 200, stored.text);
  },
);

pseudonymTest(
  "strata of probes that few reviewers decided are left out, and so are probes of a dashboard",
  async ({ as, ...scene }) => {
    const programme = { harness: scene.harness, key: scene.key };
    await scoreReviewers(scene, REVIEWERS, { count: 60 });
    await setPolicy(programme, { minimum: 10 });
    await sealStock(programme, 12);
    for (const [index, operator] of REVIEWERS.entries()) {
      const { probe } = await drawDue(programme, { prefix: `case-${index}`, operator_id: operator });
      const decided = await decide(programme, probe, {}, { operator_id: operator });
      assert.equal(decided.status, 200, decided.text);
      const summary = await as("viewer", "/v1/probes/summary");
      const dashboard = await as("viewer", "/v1/organization/dashboard");
      const people = index + 1;
      assert.equal(summary.status, people < 5 ? 422 : 200, summary.text);
      assert.equal(dashboard.body.dashboard.probes === null, people < 5);
      if (people >= 5) {
        const { by_domain, by_operator } = summary.body;
        assert.deepEqual(by_domain.map(({ reviewers }: { reviewers: number }) => reviewers), [people]);
        const shown = by_operator.map(({ operator_id }: { operator_id: string }) => operator_id);
        assert.ok(shown.every((name: string) => /^[0-9a-f]{32}$/.test(name)));
      }
    }
    const report = await as("viewer", PERIOD);
    assert.equal(report.body.report.probes.wrong.probes + report.body.report.probes.right.probes, 6);
    const stored = await as("viewer", `/v1/compliance/report/${report.body.report.report_id}`);
    assert.equal(stored.status, 200, stored.text);
    const article14 = await as("viewer", "/v1/compliance/article14");
    assert.deepEqual(article14.body.probes, report.body.report.probes);
  },
);

pseudonymTest(
  "a report from when users saw names is refused to users if it may have figures of few reviewers",
  async ({ as, harness, key }) => {
    await scoreReviewers({ harness, key }, REVIEWERS.slice(0, 3), { count: 60 });
    const now = harness.clock.now();
    const { report: { report_id } } = await complianceReport(
      { ...harness.dependencies, privacy: "named" },
      { actor: "api", orgId: "acme", prefix: null },
      { period: { start: 0, end: now + 1 }, call: { now, requestId: harness.dependencies.world.ulid(now) } },
    );
    for (const format of ["json", "html"]) {
      const path = `/v1/compliance/report/${report_id}?format=${format}`;
      assert.equal((await as("auditor", path)).status, 403, format);
      assert.equal((await harness.send(path, { key })).status, 200, format);
    }
  },
);

Deno.test(
  "where people see names, nothing is masked, withheld or refused",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    await scoreReviewers({ harness, key }, REVIEWERS.slice(0, 2));
    const { cookie } = await signedInUser(harness, { orgId: "acme", role: "auditor" });
    const headers = { Cookie: cookie };
    const { body: me } = await harness.send("/v1/me", { headers });
    assert.equal(me.privacy, "named");
    const list = await harness.send("/v1/organization/operators", { headers });
    assert.deepEqual(
      list.body.operators.map(({ operator_id }: { operator_id: string }) => operator_id),
      ["yuri-lang", "zoe-okafor"],
    );
    for (
      const path of ["/v1/organization/dashboard", "/v1/audit/chain/export", "/v1/operator/zoe-okafor/export"]
    ) {
      assert.equal((await harness.send(path, { headers })).status, 200, path);
    }
    const replay = await harness.send("/v1/decision/replay/general-0-0", { headers });
    assert.match(replay.body.evidence.salt, /^[0-9a-f]{64}$/);
  }),
);
