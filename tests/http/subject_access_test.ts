/**
 * Subject access: GET /v1/operator/{operator_id}/export. The copy holds everything about one reviewer and
 * nothing about anybody else, as data and as a page, and is sent as it is read.
 * Source: contract, section 4; Regulation (EU) 2016/679, Article 15.
 */
import assert from "node:assert/strict";
import { subjectResponseSchema } from "../../src/domain/subject.ts";
import { formatCheckpoint, signNote } from "../../src/evidence/note.ts";
import { nodeCrypto, signerFromPem } from "../../src/evidence/node_crypto.ts";
import { originOf } from "../../src/operations/shared/deployment.ts";
import { acknowledgeRestore } from "../../src/operations/restoring/restores.ts";
import { pruneChains } from "../../src/operations/chains/retention.ts";
import { openSubjectAccess } from "../../src/operations/subjects/subject_access.ts";
import { type Database, query } from "../../src/store/database.ts";
import {
  EPOCH,
  type Harness,
  type HarnessOptions,
  MASTER_KEY,
  openHarness,
  scoreRequest,
  SIGNING_KEY_PEM,
  withAlterations,
  withHarness,
} from "../harness.ts";
import { JIS_2_0_0 } from "../models.ts";
import { refuses } from "../scenario.ts";

const DAY = 86_400_000;
const UNKNOWN_KEY = "jis_ABCDEFGHJKMNPQRSTVWXYZ0123";

// deno-lint-ignore no-explicit-any -- an answer is whatever the service said
type Json = any;

// ---- fixtures ---------------------------------------------------------------------------------------------

async function post({ send }: Harness, path: string, key: string, body: unknown): Promise<Json> {
  const answer = await send(path, { key, body });
  assert.equal(answer.status, 200, answer.text);
  return answer.body;
}

interface Seed {
  readonly operator?: string;
  readonly tag?: string;
}

/** A reviewer with a record of every kind: nine entries. */
async function seed(harness: Harness, key: string, { operator = "operator-1", tag = "s" }: Seed = {}) {
  const score = (name: string, interaction: Json = {}) =>
    scoreRequest({ operator_id: operator, session_id: `${tag}-${name}` }, interaction);
  await post(harness, "/v1/score", key, score("late", { outcome_correct: null }));
  await post(harness, "/v1/score?mode=lite", key, score("lite", { decision: "rejected" }));
  await post(harness, "/v1/score?mode_override=incident_frozen", key, score("frozen"));
  const interactions = [1, 2, 3].map((index) => ({
    session_id: `${tag}-batch-${index}`,
    time_to_decision_ms: 8000 + index,
    decision: "accepted",
  }));
  await post(harness, "/v1/score/batch", key, { operator_id: operator, domain: "legal", interactions });
  await post(harness, `/v1/score/${tag}-late/commit`, key, { outcome_correct: true });
  await post(harness, "/v1/decision/score", key, {
    operator_id: operator,
    decision_id: `${tag}-decision`,
    domain: "legal",
    time_to_decision_ms: 900,
    decision: "accepted",
    stakes: "high",
  });
}

/** Scores `count` interactions of one reviewer, in batches. */
async function seedMany(
  harness: Harness,
  key: string,
  { operator, count }: { readonly operator: string; readonly count: number },
): Promise<void> {
  for (let first = 0; first < count; first += 100) {
    const interactions = Array.from({ length: Math.min(100, count - first) }, (_, index) => ({
      session_id: `${operator}-${first + index}`,
      time_to_decision_ms: 9000 + index,
      decision: "accepted",
    }));
    await post(harness, "/v1/score/batch", key, { operator_id: operator, domain: "general", interactions });
  }
}

const pathOf = (operator = "operator-1", query = "") => `/v1/operator/${operator}/export${query}`;

async function copyOf(harness: Harness, key: string, operator = "operator-1"): Promise<Json> {
  const answer = await harness.send(pathOf(operator), { key });
  assert.equal(answer.status, 200, answer.text);
  return answer.body;
}

async function pageOf(harness: Harness, key: string, operator = "operator-1"): Promise<string> {
  const answer = await harness.send(pathOf(operator, "?format=html"), { key });
  assert.equal(answer.status, 200, answer.text);
  return answer.text;
}

const shownOf = ({ records }: Json) =>
  records.map(({ chain, seq, event_type, session_id, decision_id }: Json) =>
    `${chain} ${seq} ${event_type} ${session_id ?? decision_id}`
  );

// ---- completeness -----------------------------------------------------------------------------------------

Deno.test(
  "a copy has every entry about the reviewer, in order, with its stored parts and the ids of its row",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    await seed(harness, key, { operator: "colleague", tag: "c" });
    await seed(harness, key);
    const copy = await copyOf(harness, key);
    assert.deepEqual(shownOf(copy), [
      "org/acme 10 SCORE_COMPUTED s-late",
      "org/acme 11 SCORE_COMPUTED s-lite",
      "org/acme 12 SCORE_SKIPPED s-frozen",
      "org/acme 13 SCORE_COMPUTED s-batch-1",
      "org/acme 14 SCORE_COMPUTED s-batch-2",
      "org/acme 15 SCORE_COMPUTED s-batch-3",
      "org/acme 16 OUTCOME_LABELLED s-late",
      "org/acme 17 SCORE_COMMITTED s-late",
      "org/acme 18 DRS_COMPUTED s-decision",
      "org/acme/admin 2 SUBJECT_ACCESS null",
    ]);
    assert.equal(copy.record_count, 10);

    const entries = await harness.database.read(
      query.selectFrom("audit_entry").selectAll().where("subject", "=", copy.pseudonym).orderBy("chain")
        .orderBy("seq").compile(),
    );
    const parts = await harness.database.read(query.selectFrom("audit_part").selectAll().compile());
    assert.equal(entries.length, 10);
    for (const [index, entry] of entries.entries()) {
      const record = copy.records[index];
      const held = (name: string) => {
        const part = parts.find((row) =>
          row.chain === entry.chain && row.seq === entry.seq && row.name === name
        );
        return part === undefined ? null : JSON.parse(part.data!);
      };
      assert.deepEqual(
        {
          chain: record.chain,
          seq: record.seq,
          event_id: record.event_id,
          entry_hash: record.entry_hash,
          timestamp: record.timestamp,
          input: record.input,
          result: record.result,
          detail: record.detail,
          altered: record.altered,
        },
        {
          chain: entry.chain,
          seq: entry.seq,
          event_id: entry.id,
          entry_hash: entry.entry_hash.toHex(),
          timestamp: entry.ts,
          input: held("input"),
          result: held("result"),
          detail: held("detail"),
          altered: false,
        },
      );
    }
  }),
);

Deno.test(
  "a copy is one JSON object of the document's schema with the envelope, and has no other members",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    await seed(harness, key);
    const { status, headers, body } = await harness.send(pathOf(), { key });
    assert.equal(status, 200);
    assert.equal(headers.get("Content-Type"), "application/json");
    assert.equal(headers.get("Cache-Control"), "no-store");
    assert.equal(body.request_id, headers.get("X-Request-Id"));
    assert.equal(body.timestamp, new Date(EPOCH).toISOString());
    assert.deepEqual(subjectResponseSchema.parse(body), body);
  }),
);

Deno.test(
  "a copy explains a score, a label or a decision as its replay does",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    await seed(harness, key);
    const { records } = await copyOf(harness, key);
    const replayOf = async (id: string) => (await harness.send(`/v1/decision/replay/${id}`, { key })).body;
    let explained = 0;
    for (const { event_type, session_id, decision_id, explanation } of records) {
      switch (event_type) {
        case "SCORE_COMPUTED":
        case "DRS_COMPUTED":
          assert.deepEqual(explanation, (await replayOf(session_id ?? decision_id)).explanation);
          break;
        case "OUTCOME_LABELLED":
          assert.deepEqual(explanation, (await replayOf(session_id)).label.explanation);
          break;
        default:
          assert.equal(explanation, null, event_type);
          continue;
      }
      explained += 1;
      assert.equal(explanation.length, 7);
    }
    assert.equal(explained, 7);
  }),
);

Deno.test(
  "a copy has the profile of GET profile, the stored state, and the figures and call of each row",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    await seed(harness, key);
    const copy = await copyOf(harness, key);
    const { profile, jis_history } = (await harness.send("/v1/operator/operator-1/profile", { key })).body;
    assert.deepEqual([copy.profile, copy.jis_history], [profile, jis_history]);
    assert.deepEqual(copy.organization, { id: "acme", name: "Organization acme" });
    const [operator] = await harness.database.read(
      query.selectFrom("operator").select("state").compile(),
    );
    assert.deepEqual(copy.state, JSON.parse(operator!.state));
    const rows = await harness.database.read(query.selectFrom("interaction").selectAll().compile());
    assert.equal(rows.length, 5);
    for (const row of rows) {
      const record = copy.records.find(({ event_type, session_id }: Json) =>
        event_type === "SCORE_COMPUTED" && session_id === row.session_id
      );
      assert.equal(record.request_id, row.request_id);
      const { jis, low, high, verdict, d1, d2, d3, d4, d5, d6, d7 } = row;
      assert.deepEqual(record.full_mode, {
        jis,
        low,
        high,
        verdict,
        dimensions: {
          deferral_resistance: d1,
          error_detection: d2,
          independent_performance: d3,
          deliberation_depth: d4,
          post_error_recalibration: d5,
          domain_confidence: d6,
          decision_autonomy: d7,
        },
      });
    }
    // In lite mode the result has three dimensions, and the stored row has all.
    const lite = copy.records.find(({ session_id }: Json) => session_id === "s-lite");
    assert.equal(Object.keys(lite.result.dimensions).length, 3);
    assert.equal(Object.keys(lite.full_mode.dimensions).length, 7);
    for (const { event_type, request_id, full_mode } of copy.records) {
      assert.equal(request_id === null, event_type === "SUBJECT_ACCESS", event_type);
      assert.equal(full_mode === null, event_type !== "SCORE_COMPUTED", event_type);
    }
  }),
);

Deno.test(
  "a reviewer with frozen calls or decisions alone gets a copy with neither profile nor state",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    const frozen = scoreRequest({ operator_id: "frozen", session_id: "f" });
    await post(harness, "/v1/score?mode_override=incident_frozen", key, frozen);
    const decision = {
      operator_id: "decided",
      decision_id: "d",
      domain: "legal",
      time_to_decision_ms: 1,
      decision: "deferred",
    };
    await post(harness, "/v1/decision/score", key, decision);
    for (
      const [operator, shown] of [
        ["frozen", ["org/acme 1 SCORE_SKIPPED f", "org/acme/admin 2 SUBJECT_ACCESS null"]],
        ["decided", ["org/acme 2 DRS_COMPUTED d", "org/acme/admin 4 SUBJECT_ACCESS null"]],
      ] as const
    ) {
      const copy = await copyOf(harness, key, operator);
      assert.deepEqual(shownOf(copy), shown);
      assert.deepEqual([copy.profile, copy.state, copy.jis_history], [null, null, []]);
      assert.match(await pageOf(harness, key, operator), /You were never scored\./);
    }
  }),
);

// ---- other people's data ----------------------------------------------------------------------------------

Deno.test(
  "a copy holds nothing about colleagues, erased ones too, nor about another organization's operator of the same id",
  withHarness(async (harness) => {
    const [key, other] = [await harness.organization("acme"), await harness.organization("foreign")];
    await seed(harness, key, { operator: "colleague", tag: "colleague" });
    await seed(harness, key, { operator: "gone", tag: "gone" });
    await seed(harness, other, { operator: "operator-1", tag: "foreign" });
    await seed(harness, key);
    const erased = await harness.send("/v1/operator/gone", { key, method: "DELETE" });
    assert.equal(erased.status, 200);
    const colleague = await copyOf(harness, key, "colleague");
    for (const text of [(await harness.send(pathOf(), { key })).text, await pageOf(harness, key)]) {
      for (const name of ["colleague", "gone-", '"gone"', "foreign", colleague.pseudonym]) {
        assert.ok(!text.includes(name), name);
      }
      assert.ok(text.includes("s-batch-3"));
    }
    assert.equal((await copyOf(harness, other)).records.length, 10);
  }),
);

Deno.test(
  "a copy for a reviewer who returned after an erasure holds nothing from before it",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    await seed(harness, key, { tag: "before" });
    assert.equal((await harness.send("/v1/operator/operator-1", { key, method: "DELETE" })).status, 200);
    await post(harness, "/v1/score", key, scoreRequest({ session_id: "after" }));
    const { text, body } = await harness.send(pathOf(), { key });
    assert.deepEqual(shownOf(body), [
      "org/acme 11 SCORE_COMPUTED after",
      "org/acme/admin 3 SUBJECT_ACCESS null",
    ]);
    assert.ok(!text.includes("before-"));
  }),
);

// ---- the record of a copy ---------------------------------------------------------------------------------

Deno.test(
  "each copy is an entry of the audit log by the caller, which names the pseudonym and the format, never the id",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    await seed(harness, key, { operator: "a-person-by-name" });
    const { pseudonym } = await copyOf(harness, key, "a-person-by-name");
    await pageOf(harness, key, "a-person-by-name");
    const rows = await harness.database.read(
      query.selectFrom("audit_entry as e").innerJoin(
        "audit_part as p",
        (join) => join.onRef("p.chain", "=", "e.chain").onRef("p.seq", "=", "e.seq"),
      )
        .select(["e.body", "p.name", "p.data"]).where("e.event_type", "=", "SUBJECT_ACCESS").orderBy("e.seq")
        .compile(),
    );
    assert.deepEqual(
      rows.map(({ body, name, data }) => {
        const { chain, actor, org_id, prefix, subject } = JSON.parse(body);
        return { chain, actor, org_id, prefix, subject, name, data };
      }),
      ["json", "html"].map((format) => ({
        chain: "org/acme/admin",
        actor: "api",
        org_id: "acme",
        prefix: key.slice(0, 8),
        subject: pseudonym,
        name: "detail",
        data: JSON.stringify({ format }),
      })),
    );
    assert.ok(!JSON.stringify(rows).includes("a-person-by-name"));
  }),
);

Deno.test(
  "a copy that cannot be made is refused before anything is sent or recorded",
  withHarness(async (harness) => {
    const [key, other] = [await harness.organization("acme"), await harness.organization("other")];
    await seed(harness, key);
    await seed(harness, other, { operator: "theirs" });
    for (
      const [name, path, presented, status, code, names] of [
        ["an unknown operator", pathOf("nobody"), key, 404, "NOT_FOUND", "nobody"],
        ["as a page", pathOf("nobody", "?format=html"), key, 404, "NOT_FOUND", "nobody"],
        ["another organization's operator", pathOf("theirs"), key, 404, "NOT_FOUND", "theirs"],
        ["an id that is too long", pathOf("a".repeat(257)), key, 422, "VALIDATION_FAILED", "operator_id"],
        ["an encoded slash", pathOf("a%2Fb"), key, 422, "VALIDATION_FAILED", "operator_id"],
        ["an unknown format", pathOf("operator-1", "?format=pdf"), key, 422, "VALIDATION_FAILED", "format"],
        ["an empty format", pathOf("operator-1", "?format="), key, 422, "VALIDATION_FAILED", "format"],
        [
          "two formats",
          pathOf("operator-1", "?format=json&format=html"),
          key,
          422,
          "VALIDATION_FAILED",
          "once",
        ],
        ["no key", pathOf(), undefined, 401, "UNAUTHORIZED", "key"],
        ["an unknown key", pathOf(), UNKNOWN_KEY, 401, "UNAUTHORIZED", "key"],
      ] as const
    ) {
      await refuses(harness, {
        name,
        path,
        request: presented === undefined ? {} : { key: presented },
        status,
        code,
        names,
      });
    }
  }),
);

// ---- explanations in the copy -----------------------------------------------------------------------------

Deno.test(
  "a copy states the purpose, the method, the storage time, the recipients, how to contest, and for what the score must not be used",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    await seed(harness, key);
    const { notice, pseudonym, request_id } = await copyOf(harness, key);
    assert.equal(notice.retention.evidence_days, null);
    assert.equal(notice.retention.access_days, 90);
    assert.match(
      notice.retention.statement,
      /kept until the organization sets a retention, or until you are erased/,
    );
    assert.deepEqual(notice.recipients.list, []);
    assert.match(notice.recipients.statement, /^None: this installation passes none of it on/);
    assert.deepEqual(notice.contest.quote, { operator_id: "operator-1", pseudonym, request_id });
    assert.match(notice.contest.steps.join(" "), /Ask Organization acme to have a person review/);
    assert.match(notice.contest.steps.join(" "), /Article 16.*Article 17.*Article 77/);
    assert.match(notice.limits[0], /must not be used alone for a decision against a person/);
    assert.match(notice.automated_decisions, /Article 22/);
    assert.match(notice.logic.join(" "), /From 85 .* 75 .* 60 .*below 60.*below 40/);
    for (const name of ["one", "two"]) {
      const body = { url: `https://review.acme.example/${name}`, secret: "a-secret-of-the-receiver" };
      assert.equal((await harness.send("/v1/admin/webhook/register", { key, body })).status, 201);
    }
    const { recipients } = (await copyOf(harness, key)).notice;
    assert.deepEqual(recipients.list, ["review.acme.example"]);
    assert.match(recipients.statement, /sent, as they are made, to its receivers at review\.acme\.example;/);
    const page = await pageOf(harness, key);
    for (
      const said of [
        notice.purpose,
        notice.retention.statement,
        ...notice.limits,
        ...notice.logic,
        ...notice.contest.steps,
      ]
    ) {
      assert.ok(page.includes(escaped(said)), said);
    }
  }),
);

Deno.test(
  "a copy names the retention of the organization's evidence, and holds nothing past it",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    await post(harness, "/v1/score", key, scoreRequest({ session_id: "old" }));
    harness.clock.advance(31 * DAY);
    await post(harness, "/v1/score", key, scoreRequest({ session_id: "new" }));
    await pruneChains(harness.dependencies, harness.clock.now());
    const copy = await copyOf(harness, key);
    assert.equal(copy.notice.retention.evidence_days, 30);
    assert.match(copy.notice.retention.statement, /removed once it is 30 days old/);
    assert.deepEqual(shownOf(copy), [
      "org/acme 2 SCORE_COMPUTED new",
      "org/acme/admin 2 SUBJECT_ACCESS null",
    ]);
    assert.equal(copy.record_count, 2);
  }, { evidenceRetentionDays: 30 }),
);

Deno.test(
  "a copy holds the records of every epoch, the older first",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    await post(harness, "/v1/score", key, scoreRequest({ session_id: "one" }));
    // The lock knows a size that the database never had, as after a restore.
    const origin = originOf(harness.dependencies, "org/acme");
    const checkpoint = { origin, size: 3, root: new Uint8Array(32) };
    harness.dependencies.lock.record([{
      ...checkpoint,
      family: "org/acme",
      epoch: 1,
      note: signNote(nodeCrypto, { text: formatCheckpoint(checkpoint), name: origin }, [
        signerFromPem(SIGNING_KEY_PEM),
      ]),
    }]);
    await acknowledgeRestore(harness.dependencies, { reason: "a test", now: harness.clock.now() });
    await post(harness, "/v1/score", key, scoreRequest({ session_id: "two" }));
    const copy = await copyOf(harness, key);
    assert.deepEqual(shownOf(copy), [
      "org/acme 1 SCORE_COMPUTED one",
      "org/acme/e2 1 SCORE_COMPUTED two",
      "org/acme/admin/e2 1 SUBJECT_ACCESS null",
    ]);
    assert.equal(copy.records[1].input.prior.entry_hash, copy.records[0].entry_hash);
  }),
);

// ---- altered ----------------------------------------------------------------------------------------------

Deno.test(
  "an altered record is shown as it is stored and marked, and the rest of the copy is complete",
  withAlterations(async (harness) => {
    const key = await harness.organization("acme");
    await post(harness, "/v1/score", key, scoreRequest({ operator_id: "colleague", session_id: "theirs" }));
    for (const session of ["fine", "number", "salt", "missing", "text", "theft", "body"]) {
      await post(harness, "/v1/score", key, scoreRequest({ session_id: session }));
    }
    const alter = async (seq: number, set: string, parameters: readonly unknown[] = []) =>
      await harness.database.batch([{
        sql: `UPDATE audit_part SET ${set} WHERE chain = 'org/acme' AND name = 'result' AND seq = ?`,
        parameters: [...parameters, seq],
        mustChange: 1,
      }]);
    await alter(3, `data = json_set(data, '$.jis', 99.5)`);
    await alter(4, `salt = zeroblob(32)`);
    await alter(5, `data = NULL, salt = NULL`);
    await alter(6, `data = '<not json>'`);
    await alter(7, `data = json_set(data, '$.session_id', 'theirs')`);
    await harness.database.batch([
      { sql: "DROP TRIGGER audit_entry_stays", parameters: [] },
      {
        sql:
          `UPDATE audit_entry SET body = json_set(body, '$.prefix', 'another!') WHERE chain = 'org/acme' AND seq = 8`,
        parameters: [],
        mustChange: 1,
      },
    ]);

    const { text, body: { records } } = await harness.send(pathOf(), { key });
    assert.deepEqual(
      records.map(({ seq, altered }: Json) => [seq, altered]),
      [[2, false], [3, true], [4, true], [5, true], [6, true], [7, true], [8, true], [2, false]],
    );
    const bySeq = (seq: number) => records.find((record: Json) => record.seq === seq && record.altered);
    assert.equal(bySeq(3).result.jis, 99.5);
    assert.equal(bySeq(5).result, null);
    assert.equal(bySeq(6).result, "<not json>");
    for (const { altered, explanation, session_id, request_id, full_mode } of records) {
      if (!altered) continue;
      assert.deepEqual([explanation, session_id, request_id, full_mode], [null, null, null, null]);
    }
    // The claims of an altered record reveal nothing about the colleague whom it names.
    const theirs = (await copyOf(harness, key, "colleague")).records[0];
    assert.ok(!text.includes(theirs.request_id) && !text.includes(theirs.entry_hash));

    const page = await pageOf(harness, key);
    assert.equal(page.match(/<strong>Altered\.<\/strong>/g)!.length, 6);
    assert.ok(page.includes("&lt;not json&gt;") && !page.includes("<not json>"));
    assert.ok(page.includes("99.5"));
    isWellFormed(page);
  }),
);

Deno.test(
  "a score whose model document was altered is shown without an explanation",
  withAlterations(async (harness) => {
    const key = await harness.organization("acme");
    await seed(harness, key);
    // The score was made under a document that is no longer in use and was altered.
    const { dependencies } = harness;
    const model = { ...dependencies.model, sha256: "0".repeat(64) };
    await harness.database.batch([{
      sql: `UPDATE model_document SET document = json_set(document, '$.version', 'x')`,
      parameters: [],
    }]);
    const access = await openSubjectAccess({ ...dependencies, model }, {
      actor: "api",
      orgId: "acme",
      prefix: null,
    }, { operatorId: "operator-1", format: "json", call: { now: EPOCH, requestId: "01" } });
    const records = await Array.fromAsync(access.records);
    assert.equal(records.length, 10);
    assert.ok(records.every(({ explanation, altered }) => explanation === null && !altered));
    const lines = harness.log.filter(({ msg }) => msg === "a model document cannot be used");
    assert.equal(lines.length, 1);
  }),
);

// ---- the page ---------------------------------------------------------------------------------------------

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character]!);
}

const VOID = new Set(["meta", "link"]);

/** Asserts that every opened element is closed, in order, and that no stray "<" or "&" occurs. */
function isWellFormed(page: string): void {
  const open: string[] = [];
  const text = page.replace(/^<!DOCTYPE html>\n/, "").replace(/<style>[^<]*<\/style>/, "");
  for (const [tag, slash, name] of text.matchAll(/<(\/?)([a-z][a-z0-9]*)(?:\s[a-z-]+="[^"<>]*")*>|</g)) {
    assert.ok(name !== undefined, `a stray "<": ${tag}`);
    if (slash === "/") assert.equal(open.pop(), name, `</${name}>`);
    else if (!VOID.has(name)) open.push(name);
  }
  assert.deepEqual(open, []);
  const bare = text.replace(/&(?:amp|lt|gt|quot|#39);/g, "");
  assert.ok(!bare.includes("&"), "a stray &");
}

Deno.test(
  "format=html is a well-formed page under a policy without script, with an article for each record and its end",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    await seed(harness, key);
    const { status, headers, text } = await harness.send(pathOf("operator-1", "?format=html"), { key });
    assert.equal(status, 200);
    assert.equal(headers.get("Content-Type"), "text/html; charset=utf-8");
    assert.match(headers.get("Content-Security-Policy")!, /^default-src 'none'; style-src 'sha256-[^']+';/);
    assert.doesNotMatch(headers.get("Content-Security-Policy")!, /unsafe|script-src/);
    const styles = [...text.matchAll(/<style>(.*?)<\/style>/gs)];
    assert.equal(styles.length, 1);
    const digest = new Uint8Array(
      await crypto.subtle.digest("SHA-256", new TextEncoder().encode(styles[0]![1]!)),
    ).toBase64();
    assert.ok(headers.get("Content-Security-Policy")!.includes(`'sha256-${digest}'`));
    assert.match(styles[0]![1]!, /prefers-color-scheme:dark/);
    assert.match(styles[0]![1]!, /@media print/);

    isWellFormed(text);
    assert.match(text, /^<!DOCTYPE html>\n<html lang="en">/);
    assert.doesNotMatch(text, /<script|javascript:|\sstyle=|\son\w+=|\ssrc=|\bundefined\b|\bNaN\b|\[object/);
    const articles = [
      ...text.matchAll(/<article class="record" aria-labelledby="record-(\d+)">\n<h3 id="record-(\d+)">/g),
    ];
    assert.deepEqual(articles.map(([, own, head]) => [own, head]), numbers(10).map((n) => [`${n}`, `${n}`]));
    const ids = [...text.matchAll(/\sid="([^"]+)"/g)].map(([, id]) => id);
    assert.equal(new Set(ids).size, ids.length);
    for (const [, target] of text.matchAll(/href="#([^"]+)"/g)) assert.ok(ids.includes(target), target!);
    assert.ok(
      text.endsWith(
        `<p class="statement">This copy is whole: it has 10 records. One that ends before this line was cut short.</p>
</main>
</body>
</html>
`,
      ),
    );
  }),
);

const numbers = (count: number) => Array.from({ length: count }, (_, index) => index + 1);

/**
 * The text that a reader sees before anything is unfolded: without style and tags, one space between words.
 */
function readable(html: string): string {
  return html.replace(/<style>.*?<\/style>/s, "").replace(/<details>.*?<\/details>/gs, " ")
    .replace(/<[^>]*>/g, " ").replace(/&#39;/g, "'").replace(/\s+/g, " ");
}

Deno.test(
  "the page says in words what was measured, how each score came about and for what it was used",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    await seed(harness, key);
    const { profile, records } = await copyOf(harness, key);
    const text = readable(await pageOf(harness, key));
    const { result, explanation } = records[0];
    for (
      const said of [
        `Your score is ${profile.jis} of 100`,
        "You decided 5 cases, the last of",
        "All known cases together count as ",
        "That is too little for a verdict.",
        "Case s-late: scored",
        "You accepted the AI's recommendation, after 14.2 seconds.",
        "You pointed at the evidence 5 times, scrolled through 80 % of it and opened 1 other view.",
        `${result.jis} of 100, ${result.band}; with what was known, between ${result.uncertainty.low} and ${result.uncertainty.high}. Provisional`,
        explanation.find(({ before, after }: Json) => before !== after).rules[0],
        "Practice was recommended",
        "You rejected the AI's recommendation",
        "Lite mode: three of the seven dimensions were looked at.",
        "Case s-frozen: not scored",
        "Nothing: scoring was frozen during an incident",
        "Not measured.",
        "Your decision proved right.",
        "It moved your record: the next score shows it. The score of the case stays as it was.",
        "Case s-late: score made final",
        "Decision s-decision: how risky it was",
        "What hung on it: high.",
        "As a page.",
      ]
    ) {
      assert.ok(text.includes(said), `${said}\n${text.slice(0, 20_000)}`);
    }
    // Raw data come after the words, and are folded away.
    const page = await pageOf(harness, key);
    for (const data of ["effective_n", "model_sha256", records[0].entry_hash]) {
      assert.ok(page.includes(data) && !text.includes(data), data);
    }
  }),
);

Deno.test(
  "the page says that a late label counts at once with the formulas jis-3",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    await seed(harness, key);
    const text = readable(await pageOf(harness, key));
    assert.match(
      text,
      /It moved your record: your present score and verdict count it at once\. The score of the case stays as it was\./,
    );
    assert.doesNotMatch(text, /the next score shows it/);
  }, { model: JIS_2_0_0 }),
);

Deno.test(
  "an organization's name cannot become markup of the page",
  withHarness(async (harness) => {
    const name = `<script>alert("1")</script></title><img src=x onerror='y'> & Sons`;
    const created = await harness.send("/v1/admin/org/create", {
      headers: { "X-API-Key": MASTER_KEY, "Idempotency-Key": "1" },
      body: { org_id: "x", name, domain: "legal", tier: "starter", allowed_origins: "" },
    });
    const key = created.body.api_key;
    await seed(harness, key);
    assert.equal((await copyOf(harness, key)).organization.name, name);
    const page = await pageOf(harness, key);
    isWellFormed(page);
    assert.doesNotMatch(page, /<script|<img/);
    assert.ok(page.includes(`<title>What is kept about operator-1: ${escaped(name)}</title>`));
    assert.ok(page.includes(escaped(`Ask ${name} to have a person review`)));
  }),
);

// ---- long copies ------------------------------------------------------------------------------------------

Deno.test("a copy whose reviewer is erased before anything of it was sent is 404, and so is the next one", async () => {
  let erase: (() => Promise<unknown>) | null = null;
  const harness = await openHarness({
    wrap: (database) => ({
      ...database,
      async snapshot(queries) {
        const isOfRecords = (queries as readonly { sql: string }[]).some(({ sql }) =>
          / "subject" = /.test(sql)
        );
        const erasing = isOfRecords ? erase : null;
        if (erasing !== null) {
          erase = null;
          await erasing();
        }
        return await database.snapshot(queries);
      },
    }),
  });
  const key = await harness.organization("acme");
  await seedMany(harness, key, { operator: "leaving", count: 3 });
  erase = () => harness.send("/v1/operator/leaving", { key, method: "DELETE" });
  const first = await harness.send("/v1/operator/leaving/export", { key });
  assert.equal(erase, null, "the reviewer was erased during the request");
  const next = await harness.send("/v1/operator/leaving/export", { key });
  assert.deepEqual(
    [first, next].map(({ status, body }) => [status, body.error.code]),
    [
      [404, "NOT_FOUND"],
      [404, "NOT_FOUND"],
    ],
  );
  await harness.close();
});

interface Watched extends HarnessOptions {
  /** Size of the database's largest answer in rows since `largest` was set to 0, and the number of reads. */
  readonly seen: { rows: number; reads: number };
}

function watched(): Watched {
  const seen = { rows: 0, reads: 0 };
  const wrap = (database: Database): Database => ({
    ...database,
    async read(compiled) {
      const rows = await database.read(compiled);
      seen.rows = Math.max(seen.rows, rows.length);
      seen.reads += 1;
      return rows;
    },
    async snapshot(queries) {
      const results = await database.snapshot(queries);
      for (const rows of results as readonly (readonly unknown[])[]) {
        seen.rows = Math.max(seen.rows, rows.length);
      }
      seen.reads += 1;
      return results;
    },
  });
  return { wrap, seen };
}

Deno.test("a copy is read in pages: ten times the records need ten times the reads, none of them larger", async () => {
  const { wrap, seen } = watched();
  const harness = await openHarness({ wrap: wrap! });
  const key = await harness.organization("acme");
  await seedMany(harness, key, { operator: "short", count: 120 });
  await seedMany(harness, key, { operator: "long", count: 1200 });
  const cost = async (path: string) => {
    Object.assign(seen, { rows: 0, reads: 0 });
    const answer = await harness.send(path, { key });
    assert.equal(answer.status, 200);
    return { ...seen };
  };
  for (const query of ["", "?format=html"]) {
    const [short, long] = [await cost(pathOf("short", query)), await cost(pathOf("long", query))];
    // In both cases the largest answer is the newest 100 points of the profile's history.
    assert.equal(short.rows, 100);
    assert.equal(long.rows, 100);
    assert.ok(
      long.reads > 5 * short.reads / 2 && long.reads < 12 * short.reads,
      `${short.reads} ${long.reads}`,
    );
  }
  await harness.close();
});

Deno.test("the entries of a page are found by the index of their pseudonym, however many others the chain has", async () => {
  const statements: string[] = [];
  const harness = await openHarness({
    wrap: (database) => ({
      ...database,
      async snapshot(queries) {
        for (const { sql } of queries as readonly { sql: string }[]) statements.push(sql);
        return await database.snapshot(queries);
      },
    }),
  });
  const key = await harness.organization("acme");
  await seed(harness, key);
  statements.length = 0;
  await copyOf(harness, key);
  const own = statements.filter((sql) => /"subject" = |"audit_part"/.test(sql));
  assert.ok(own.length >= 3);
  for (const sql of own) {
    const plan = await harness.database.read<{ detail: string }>({
      sql: `EXPLAIN QUERY PLAN ${sql}`,
      parameters: Array.from({ length: sql.split("?").length - 1 }, () => null),
      query: {} as never,
      queryId: {} as never,
    });
    const steps = plan.map(({ detail }) => detail).join("; ");
    assert.match(steps, /audit_entry_subject \(subject=\?/, sql);
    assert.doesNotMatch(steps, /SCAN (?:audit|e\b)|SEARCH audit_entry USING PRIMARY KEY \(chain=\?\)/, sql);
  }
  await harness.close();
});

Deno.test(
  "other requests are answered while a long copy is made, and scores made meanwhile are not in it",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    await seedMany(harness, key, { operator: "long", count: 400 });
    let done = false;
    const copying = copyOf(harness, key, "long").finally(() => {
      done = true;
    });
    let served = 0;
    while (!done) {
      served += 1;
      const body = scoreRequest({ operator_id: "long", session_id: `meanwhile-${served}` });
      await post(harness, "/v1/score", key, body);
    }
    assert.ok(served > 10, `${served}`);
    const copy = await copying;
    assert.equal(copy.records.length, copy.record_count);
    assert.ok(copy.record_count >= 401 && copy.record_count < 401 + served);
    assert.equal((await copyOf(harness, key, "long")).records.length, 400 + served + 2);
  }),
);

Deno.test(
  "a copy whose reviewer is erased while it is made ends early and is incomplete, after the page that had been read",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    await seedMany(harness, key, { operator: "long", count: 100 });
    const access = await openSubjectAccess(harness.dependencies, {
      actor: "api",
      orgId: "acme",
      prefix: null,
    }, { operatorId: "long", format: "json", call: { now: EPOCH, requestId: "01" } });
    const sessions: string[] = [];
    await assert.rejects(async () => {
      for await (const { session_id } of access.records) {
        sessions.push(session_id!);
        if (sessions.length > 1) continue;
        assert.equal((await harness.send("/v1/operator/long", { key, method: "DELETE" })).status, 200);
        // A new operator under the same id does not continue it.
        await post(harness, "/v1/score", key, scoreRequest({ operator_id: "long", session_id: "new" }));
      }
    }, { code: "NOT_FOUND" });
    assert.equal(sessions.length, 32);
    assert.ok(!sessions.includes("new"));
  }),
);
