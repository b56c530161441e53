/** Exercises that the service holds, over HTTP: set, page, decisions, results, effect, case sets. */
import assert from "node:assert/strict";
import { verifyDocument } from "../../src/evidence/document.ts";
import { nodeCrypto } from "../../src/evidence/node_crypto.ts";
import { builtInCaseSet } from "../../src/exercises/built_in.ts";
import { CASE_SET_EXAMPLE } from "../../src/exercises/example.ts";
import { DEFAULT_MODEL_DOCUMENT } from "../../src/scoring/model.ts";
import { alter, select } from "../altering.ts";
import { choiceOf, decideAll, decideNext, EXERCISE, setRun, type Setting } from "../exercising.ts";
import { type Harness, scoreRequest, withAlterations, withHarness } from "../harness.ts";

type Test = (setting: Setting & { readonly harness: Harness }) => Promise<void>;

function withSetting(test: Test, options: Parameters<typeof withHarness>[1] = {}) {
  return withHarness(async (harness) => {
    await test({ harness, send: harness.send, key: await harness.organization("acme") });
  }, { model: DEFAULT_MODEL_DOCUMENT, ...options });
}

Deno.test(
  "the list of exercises names each one that can be set, at its difficulties, and no other one",
  withSetting(async (setting) => {
    const { send, key } = setting;
    const { body } = await send("/v1/exercises", { key });
    assert.deepEqual([body.exercises, body.can_be_set.length], [[], 9]);
    for (const { id } of DEFAULT_MODEL_DOCUMENT.maintenance.exercises) {
      const listed = body.can_be_set.find(({ exercise_id }: { exercise_id: string }) => exercise_id === id);
      for (const difficulty of ["easy", "moderate", "hard"]) {
        const { status } = await send("/v1/exercises", {
          key,
          body: { ...EXERCISE, exercise_id: id, difficulty },
        });
        assert.equal(status, listed?.difficulties.includes(difficulty) ? 201 : 422, `${id} ${difficulty}`);
      }
    }
  }),
);

Deno.test(
  "an exercise is set, decided case by case, and its results lead to the entries of its scores",
  withSetting(async (setting) => {
    const { send, key } = setting;
    const { run, path } = await setRun(setting);
    assert.equal(run.evidence.entry.event_type, "EXERCISE_SET");
    assert.deepEqual([run.case_count, run.input.operator_id], [6, EXERCISE.operator_id]);
    const page = await decideAll(setting, path, (number) => number !== 2);
    assert.deepEqual([page.decided, page.next, page.solved.length], [6, null, 6]);
    assert.deepEqual(page.solved.map(({ correct }) => correct), [true, false, true, true, true, true]);
    const { status, body, text } = await send(`/v1/exercises/${run.run_id}`, { key });
    assert.equal(status, 200, text);
    assert.deepEqual([body.state, body.decided, body.figures.correct.count, body.figures.correct.of], [
      "done",
      6,
      5,
      6,
    ]);
    assert.equal(body.figures.wrong.of, 3);
    assert.equal(body.figures.right.of, 3);
    assert.equal(body.success.metric, "hit_rate");
    assert.equal(body.success.value, body.figures.wrong.share === 1 ? 1 : 2 / 3);
    assert.equal(body.entry_hash, run.evidence.entry_hash);
    for (const result of body.results) {
      const replay = await send(`/v1/decision/replay/${result.session_id}`, { key });
      assert.equal(replay.body.match, true, replay.text);
      const proof = await send(`/v1/audit/chain/proof/${result.seq}`, { key });
      assert.equal(proof.body.entry_hash, result.entry_hash, proof.text);
    }
    const bundle = await send("/v1/audit/chain/export", { key });
    const lines = bundle.text.trim().split("\n").map((line) => JSON.parse(line));
    const scores = lines.filter(({ event_type }) => event_type === "SCORE_COMPUTED");
    assert.deepEqual(
      [...new Set(scores.map(({ actor }) => actor))],
      ["system"],
      "no key can write such an entry",
    );
    assert.equal(bundle.text.includes(path.split(".")[1]!), false, "no token is on the chain");
  }),
);

Deno.test(
  "nothing tells the truth of a case before it is decided, and with delayed feedback before the last one",
  withSetting(async (setting) => {
    const { send } = setting;
    const set = await builtInCaseSet("financial", "en");
    const { path } = await setRun(setting, { difficulty: "hard" });
    for (let number = 1; number <= 10; number += 1) {
      const { body, text } = await send(`${path}/state`);
      assert.doesNotMatch(text, /"ai_correct":|"explanation":|"extent":/);
      assert.deepEqual(body.solved, []);
      const answer = await decideNext(setting, path, {
        number,
        choice: choiceOf(set, body.next.id, number % 2 === 0),
      });
      assert.equal(answer.status, 200, answer.text);
      assert.equal(answer.body.solved.length, number === 10 ? 10 : 0);
    }
  }),
);

Deno.test(
  "each case is decided once: the same decision again changes nothing, another one is refused",
  withSetting(async (setting) => {
    const { send, harness } = setting;
    const { path } = await setRun(setting);
    const first = { number: 1, choice: 0 };
    const answer = await decideNext(setting, path, first);
    assert.equal(answer.status, 200, answer.text);
    const before = await harness.rowCounts();
    const again = await decideNext(setting, path, first);
    assert.deepEqual([again.status, again.body.decided], [200, 1], again.text);
    for (
      const [change, status] of [
        [{ number: 1, choice: 1 }, 409],
        [{ number: 1, choice: 0, time_to_decision_ms: 1 }, 409],
        [{ number: 3, choice: 0 }, 409],
        [{ number: 7, choice: 0 }, 409],
        [{ number: 0, choice: 0 }, 422],
        [{ number: 2, choice: 99 }, 422],
        [{ number: 2, choice: 0, advised: false }, 422],
      ] as const
    ) {
      const refusal = await decideNext(setting, path, change);
      assert.equal(refusal.status, status, `${JSON.stringify(change)} ${refusal.text}`);
    }
    assert.deepEqual(await harness.rowCounts(), before);
    const twins = await Promise.all([0, 1].map((choice) => decideNext(setting, path, { number: 2, choice })));
    assert.deepEqual(twins.map(({ status }) => status).sort(), [200, 409]);
    await decideAll(setting, path, () => true);
    assert.equal(
      (await decideNext(setting, path, { number: 7, choice: 0 })).body.error.message,
      "All cases of this exercise are decided.",
    );
    assert.equal((await send(`${path}/state`)).body.solved.length, 6);
  }),
);

Deno.test(
  "every other choice of a decided case is refused alike, whether it is as right or not, and the choice is recorded",
  withSetting(async (setting) => {
    const { send, key } = setting;
    const set = await builtInCaseSet("financial", "en");
    const fields = { exercise_id: "ex_independent_performance_1", difficulty: "hard" };
    const { run, path } = await setRun(setting, fields);
    for (let number = 1; number <= 10; number += 1) {
      const { id } = (await send(`${path}/state`)).body.next;
      const { length } = set.cases.find((one) => one.id === id)!.choices;
      const decided = { number, choice: number % length, advised: false };
      assert.equal((await decideNext(setting, path, decided)).status, 200);
      for (let choice = 0; choice < length; choice += 1) {
        const again = await decideNext(setting, path, { ...decided, choice });
        assert.equal(again.status, choice === decided.choice ? 200 : 409, again.text);
      }
    }
    const { body } = await send(`/v1/exercises/${run.run_id}`, { key });
    for (const { number, case_id, choice, first_choice } of body.results) {
      const { length } = set.cases.find((one) => one.id === case_id)!.choices;
      assert.deepEqual([choice, first_choice], [number % length, null]);
    }
  }),
);

Deno.test(
  "a first decision is recorded where the advice comes after it, and nowhere else",
  withSetting(async (setting) => {
    const { send, key } = setting;
    const { run, path } = await setRun(setting, { exercise_id: "ex_deferral_resistance_1" });
    for (const first_choice of [null, 99]) {
      assert.equal((await decideNext(setting, path, { number: 1, choice: 0, first_choice })).status, 422);
    }
    assert.equal((await decideNext(setting, path, { number: 1, choice: 0, first_choice: 1 })).status, 200);
    const { body } = await send(`/v1/exercises/${run.run_id}`, { key });
    assert.deepEqual([body.results[0].choice, body.results[0].first_choice], [0, 1]);
    const other = await setRun(setting);
    assert.equal(
      (await decideNext(setting, other.path, { number: 1, choice: 0, first_choice: 1 })).status,
      422,
    );
  }),
);

Deno.test(
  "a link that was made up, is over, or is of an inactive organization shows nothing",
  withSetting(async (setting) => {
    const { send, harness, key } = setting;
    const { run, path } = await setRun(setting, { expires_hours: 2 });
    const [id, secret] = path.split("/")[2]!.split(".") as [string, string];
    const other = await setRun(setting);
    const wrong = [
      `${id}.${"A".repeat(22)}`,
      `${other.run.run_id}.${secret}`,
      `${id}.`,
      id,
      `${id}.${secret.toLowerCase()}`,
      "x",
    ];
    for (const token of wrong) {
      for (
        const [call, body] of [["state"], ["decisions", { number: 1, choice: 0, advised: true }]] as const
      ) {
        const answer = await send(
          `/exercise/${token}/${call}`,
          body
            ? {
              body: {
                ...body,
                time_to_decision_ms: 1,
                hover_events: null,
                scroll_depth: null,
                alternative_views_checked: null,
              },
            }
            : {},
        );
        assert.equal(answer.status, 404, `${token} ${answer.text}`);
      }
    }
    harness.clock.advance(2 * 3_600_000 + 1);
    assert.equal((await send(`${path}/state`)).status, 410);
    assert.equal((await decideNext(setting, path, { number: 1, choice: 0 })).status, 410);
    assert.equal((await send(`/v1/exercises/${run.run_id}`, { key })).body.state, "expired");
    assert.equal((await send(`${other.path}/state`)).status, 200);
    const suspended = await harness.master("ORG_SUSPEND", "/v1/admin/org/acme/suspend", {
      body: { confirm_org_id: "acme", idempotency_key: "suspended" },
      idempotencyKey: "suspended",
    });
    assert.equal(suspended.status, 200, suspended.text);
    assert.equal((await send(`${other.path}/state`)).status, 404);
    assert.equal((await decideNext(setting, other.path, { number: 1, choice: 0 })).status, 404);
  }, { adminDashboard: true }),
);

Deno.test(
  "an exercise moves neither score nor verdict, and shows among the announced tests",
  withSetting(async (setting) => {
    const { send, key } = setting;
    for (let number = 1; number <= 12; number += 1) {
      const answer = await send("/v1/score", {
        key,
        body: scoreRequest({ session_id: `live-${number}`, operator_id: EXERCISE.operator_id }),
      });
      assert.equal(answer.status, 200, answer.text);
    }
    const profile = async () =>
      (await send(`/v1/operator/${EXERCISE.operator_id}/profile`, { key })).body.profile;
    const before = await profile();
    const { path } = await setRun(setting);
    await decideAll(setting, path, () => false);
    const after = await profile();
    assert.deepEqual([after.jis, after.verdict?.status], [before.jis, before.verdict?.status]);
    assert.equal(before.estimates.announced, null);
    assert.notEqual(after.estimates.announced, null);
  }),
);

Deno.test(
  "the effect compares the live score before an exercise with that after thirty live interactions",
  withSetting(async (setting) => {
    const { send, key, harness } = setting;
    const live = async (name: string, count: number, outcome_correct: boolean) => {
      for (let number = 1; number <= count; number += 1) {
        harness.clock.advance(60_000);
        const answer = await send("/v1/score", {
          key,
          body: scoreRequest(
            { session_id: `${name}-${number}`, operator_id: EXERCISE.operator_id },
            { decision: number % 2 === 0 ? "accepted" : "overridden", outcome_correct },
          ),
        });
        assert.equal(answer.status, 200, answer.text);
      }
    };
    const effect = async (id: string) => (await send(`/v1/exercises/${id}`, { key })).body.effect;
    const early = await setRun(setting);
    await decideAll(setting, early.path, () => true);
    assert.equal((await effect(early.run.run_id)).status, "no_live_work_before");
    await live("before", 20, false);
    const { run, path } = await setRun(setting);
    assert.equal((await effect(run.run_id)).status, "not_done");
    await decideAll(setting, path, () => true);
    await live("after", 29, true);
    const tooEarly = await effect(run.run_id);
    assert.deepEqual([tooEarly.status, tooEarly.live_interactions, tooEarly.after], ["too_early", 29, null]);
    await live("last", 1, true);
    const measured = await effect(run.run_id);
    assert.deepEqual([measured.status, measured.live_interactions], ["measured", 30]);
    assert.ok(measured.difference > 5, JSON.stringify(measured));
    await live("later", 5, false);
    assert.deepEqual(await effect(run.run_id), measured, "later work changes nothing of it");
  }),
);

Deno.test(
  "each presentation shows the advice as its exercise says, and the score records whether it was seen",
  withSetting(async (setting) => {
    const { send, key } = setting;
    const expected = [
      ["ex_deferral_resistance_1", "after_decision"],
      ["ex_deferral_resistance_2", "delayed"],
      ["ex_deferral_resistance_3", "on_request"],
      ["ex_independent_performance_1", "withheld"],
      ["ex_independent_performance_2", "alternating"],
    ] as const;
    for (const [exercise_id, presentation] of expected) {
      const { run, path } = await setRun(setting, { exercise_id });
      assert.equal(run.input.presentation, presentation);
      await decideAll(setting, path, () => true);
      const { body } = await send(`/v1/exercises/${run.run_id}`, { key });
      const advised = body.results.map(({ advised }: { advised: boolean }) => advised);
      assert.deepEqual(
        advised,
        presentation === "alternating"
          ? [true, false, true, false, true, false]
          : advised.map(() => presentation === "after_decision" || presentation === "delayed"),
      );
      assert.equal(body.figures.correct.share, 1);
      assert.equal(body.success.value, presentation === "on_request" ? null : 1, exercise_id);
    }
    const asking = await setRun(setting, { exercise_id: "ex_deferral_resistance_3" });
    for (let number = 1; number <= 4; number += 1) {
      assert.equal((await send(`${asking.path}/state`)).body.requests_left, 5 - number);
      assert.equal((await decideNext(setting, asking.path, { number, choice: 0 })).status, 200);
    }
    const { body: exhausted } = await send(`${asking.path}/state`);
    assert.deepEqual([exhausted.requests_left, exhausted.next.advice], [0, null]);
    assert.equal((await decideNext(setting, asking.path, { number: 5, choice: 0 })).status, 422);
    assert.equal(
      (await decideNext(setting, asking.path, { number: 5, choice: 0, advised: false })).status,
      200,
    );
  }),
);

Deno.test(
  "cases that the operator was not set yet come first",
  withSetting(async (setting) => {
    const [first, second] = [await setRun(setting), await setRun(setting)];
    const shown = async (path: string) => {
      const ids: string[] = [];
      await decideAll(
        {
          ...setting,
          send: async (address, options) => {
            const answer = await setting.send(address, options);
            if (answer.body?.next) ids.push(answer.body.next.id);
            return answer;
          },
        },
        path,
        () => true,
      );
      return ids;
    };
    const [one, other] = [await shown(first.path), await shown(second.path)];
    assert.equal(new Set([...one, ...other]).size, 10, "six and four others, then two again");
  }),
);

Deno.test(
  "what cannot be held, or names nothing, is refused with its place, and nothing is written",
  withSetting(async (setting) => {
    const { send, key, harness } = setting;
    const before = await harness.rowCounts();
    for (
      const [fields, path, words] of [
        [{ exercise_id: "ex_unknown" }, "exercise_id", /names no exercise.*ex_error_detection_1/],
        [{ exercise_id: "ex_deliberation_depth_1" }, "exercise_id", /cannot hold/],
        [{ exercise_id: "ex_domain_confidence_2" }, "exercise_id", /cannot hold/],
        [{ case_set: "nothing" }, "case_set", /GET \/v1\/case-sets/],
        [{ case_set: "legal" }, "domain", /of the case set, legal/],
        [{ domain: null }, "domain", /without live work/],
        [{ language: "fr" }, "language", /./],
        [{ expires_hours: 721 }, "expires_hours", /./],
      ] as const
    ) {
      const { status, body, text } = await send("/v1/exercises", { key, body: { ...EXERCISE, ...fields } });
      assert.equal(status, 422, text);
      assert.equal(body.error.details[0].path, path, text);
      assert.match(body.error.details[0].message, words);
    }
    assert.deepEqual(await harness.rowCounts(), before);
    await send("/v1/score", {
      key,
      body: scoreRequest({ operator_id: EXERCISE.operator_id, domain: "legal" }),
    });
    assert.equal(
      (await setRun(setting, { domain: null })).run.input.domain,
      "legal",
      "the domain of the latest work",
    );
  }),
);

Deno.test(
  "a call with an Idempotency-Key sets one exercise, and gets the same link again",
  withSetting(async ({ send, key }) => {
    const call = () => send("/v1/exercises", { key, body: EXERCISE, headers: { "Idempotency-Key": "once" } });
    const [first, second] = [await call(), await call()];
    assert.equal(second.headers.get("Idempotency-Replayed"), "true");
    assert.deepEqual(second.body, first.body);
    const { body } = await send("/v1/exercises", { key });
    assert.equal(body.count, 1);
    assert.equal(JSON.stringify(body).includes("/exercise/"), false, "no list shows a link");
  }),
);

Deno.test(
  "the list goes back page by page, and by operator",
  withSetting(async (setting) => {
    const { send, key } = setting;
    const ids: string[] = [];
    for (const operator_id of ["one", "two", "one", "two", "one"]) {
      ids.unshift((await setRun(setting, { operator_id })).run.run_id);
    }
    const seen: string[] = [];
    let cursor = "";
    do {
      const { body } = await send(`/v1/exercises?limit=2${cursor && `&cursor=${cursor}`}`, { key });
      seen.push(...body.exercises.map(({ run_id }: { run_id: string }) => run_id));
      cursor = body.next_cursor ?? "";
    } while (cursor !== "");
    assert.deepEqual(seen, ids);
    const own = await send("/v1/exercises?operator_id=two", { key });
    assert.deepEqual(own.body.exercises.map(({ run_id }: { run_id: string }) => run_id), [ids[1], ids[3]]);
    assert.equal((await send("/v1/exercises?operator_id=nobody", { key })).body.count, 0);
    const stranger = await setting.harness.organization("other");
    assert.equal((await send("/v1/exercises", { key: stranger })).body.count, 0);
    assert.equal((await send(`/v1/exercises/${ids[0]}`, { key: stranger })).status, 404);
  }),
);

Deno.test(
  "an erasure takes the exercise with its results, and its link with it",
  withSetting(async (setting) => {
    const { send, key } = setting;
    const { run, path } = await setRun(setting);
    await decideNext(setting, path, { number: 1, choice: 0 });
    const copy = await send(`/v1/operator/${EXERCISE.operator_id}/export`, { key });
    assert.equal(copy.status, 200, copy.text);
    assert.match(copy.text, /EXERCISE_SET/);
    const page = await send(`/v1/operator/${EXERCISE.operator_id}/export?format=html`, { key });
    assert.match(page.text, /An exercise: Find the Planted Error/);
    assert.match(page.text, /6 cases; field: financial/);
    const erased = await send(`/v1/operator/${EXERCISE.operator_id}`, { key, method: "DELETE" });
    assert.equal(erased.status, 200, erased.text);
    assert.equal((await send(`${path}/state`)).status, 410);
    assert.equal((await decideNext(setting, path, { number: 2, choice: 0 })).status, 410);
    assert.equal((await send(`/v1/exercises/${run.run_id}`, { key })).status, 410);
    assert.equal((await send("/v1/exercises", { key })).body.count, 0);
    const again = await setRun(setting);
    assert.equal(
      (await send(`${again.path}/state`)).status,
      200,
      "a new exercise for the same name begins anew",
    );
  }),
);

Deno.test(
  "the list goes on past the exercises of an erased operator",
  withSetting(async (setting) => {
    const { send, key } = setting;
    const ids: string[] = [];
    for (let number = 0; number < 6; number += 1) {
      ids.unshift((await setRun(setting, { operator_id: `operator-${number}` })).run.run_id);
    }
    for (const number of [3, 4]) await send(`/v1/operator/operator-${number}`, { key, method: "DELETE" });
    const seen: string[] = [];
    let cursor = "";
    do {
      const { body } = await send(`/v1/exercises?limit=1${cursor && `&cursor=${cursor}`}`, { key });
      seen.push(...body.exercises.map(({ run_id }: { run_id: string }) => run_id));
      cursor = body.next_cursor ?? "";
    } while (cursor !== "");
    assert.deepEqual(seen, ids.filter((id) => id !== ids[1] && id !== ids[2]));
  }),
);

Deno.test(
  "a decision that races an erasure leaves nothing of the operator behind",
  withSetting(async (setting) => {
    const { send, key } = setting;
    for (let round = 0; round < 20; round += 1) {
      const operator_id = `operator-${round}`;
      const { path } = await setRun(setting, { operator_id });
      const decision = (async () => {
        for (let turns = 0; turns < round; turns += 1) await Promise.resolve();
        return await decideNext(setting, path, { number: 1, choice: 0 });
      })();
      const erased = send(`/v1/operator/${operator_id}`, { key, method: "DELETE" });
      assert.equal((await erased).status, 200);
      assert.ok([200, 410].includes((await decision).status));
      assert.equal((await send(`/v1/operator/${operator_id}/profile`, { key })).status, 404);
    }
  }),
);

Deno.test(
  "an organization's own set goes before one of the program with the same name, and a hash names any listed set",
  withSetting(async (setting) => {
    const { send, key } = setting;
    await setRun(setting);
    const own = { ...CASE_SET_EXAMPLE, name: "financial" };
    const { body: { sha256 } } = await send("/v1/case-sets", { key, body: own });
    await setRun(setting, { language: "de" });
    await setRun(setting);
    const named = await setRun(setting, { case_set: "financial" });
    assert.equal(named.run.input.case_set.sha256, sha256);
    const { body: { case_sets } } = await send("/v1/case-sets", { key });
    const unused = case_sets.find((one: Record<string, unknown>) =>
      one.domain === "aviation" && one.language === "de"
    );
    assert.equal(unused.added_at, null);
    const byHash = await setRun(setting, { case_set: unused.sha256, domain: null });
    assert.deepEqual([byHash.run.input.language, byHash.run.input.domain], ["de", "aviation"]);
    const other = await send("/v1/exercises", {
      key,
      body: { ...EXERCISE, domain: null, case_set: unused.sha256, language: "en" },
    });
    assert.deepEqual([other.status, other.body.error.details[0].path], [422, "language"]);
  }),
);

Deno.test(
  "an exercise in another domain is not taken for live work in it",
  withSetting(async (setting) => {
    const { send, key } = setting;
    await send("/v1/score", {
      key,
      body: scoreRequest({ operator_id: EXERCISE.operator_id, domain: "legal" }),
    });
    const { path } = await setRun(setting, { domain: "aviation" });
    await decideAll(setting, path, () => true, "aviation");
    assert.equal((await setRun(setting, { domain: null })).run.input.domain, "legal");
    const announced = await send("/v1/score/batch", {
      key,
      body: {
        operator_id: EXERCISE.operator_id,
        domain: "aviation",
        interactions: Array.from({ length: 100 }, (_, number) => ({
          session_id: `announced-${number}`,
          time_to_decision_ms: 9000,
          decision: "accepted",
          scenario_type: "calibration",
        })),
      },
    });
    assert.equal(announced.status, 200, announced.text);
    assert.equal(
      (await setRun(setting, { domain: null })).run.input.domain,
      "legal",
      "however many there are",
    );
  }),
);

Deno.test(
  "a link ends with the retention of evidence, and the case set is kept as long",
  withSetting(async (setting) => {
    const { harness: { clock, database } } = setting;
    const { run } = await setRun(setting, { expires_hours: 24 });
    assert.equal(Date.parse(run.input.expires_at) - Date.parse(run.set_at), 24 * 3_600_000);
    clock.advance(2 * 86_400_000);
    const later = await setRun(setting, { expires_hours: 720 });
    assert.equal(Date.parse(later.run.input.expires_at) - Date.parse(later.run.set_at), 3 * 86_400_000);
    assert.notEqual(later.run.input.case_set.seq, run.input.case_set.seq);
    assert.equal(later.run.input.case_set.sha256, run.input.case_set.sha256);
    const added = async () =>
      (await select(
        database,
        "SELECT body FROM audit_entry WHERE event_type = 'CASE_SET_ADDED' ORDER BY seq",
      ))
        .map(({ body }) => JSON.parse(String(body)).actor);
    assert.deepEqual(await added(), ["system", "system"]);
    await setting.send("/v1/case-sets", { key: setting.key, body: CASE_SET_EXAMPLE });
    clock.advance(2 * 86_400_000);
    await setRun(setting, { case_set: CASE_SET_EXAMPLE.name, expires_hours: 48 });
    assert.deepEqual((await added()).slice(2), ["api", "api"], "its own set stays its own");
  }, { evidenceRetentionDays: 3 }),
);

Deno.test(
  "an organization adds a case set, its versions stand beside each other, and an exercise uses one",
  withSetting(async (setting) => {
    const { send, key, harness } = setting;
    const added = await send("/v1/case-sets", { key, body: CASE_SET_EXAMPLE });
    assert.equal(added.status, 201, added.text);
    assert.equal(added.body.evidence.entry.event_type, "CASE_SET_ADDED");
    const counts = await harness.rowCounts();
    const again = await send("/v1/case-sets", { key, body: CASE_SET_EXAMPLE });
    assert.deepEqual([again.status, again.body.sha256, again.body.evidence.entry_hash], [
      201,
      added.body.sha256,
      added.body.evidence.entry_hash,
    ]);
    assert.deepEqual(await harness.rowCounts(), counts);
    const changed = { ...CASE_SET_EXAMPLE, title: "Four other loans" };
    const newer = await send("/v1/case-sets", { key, body: changed });
    assert.notEqual(newer.body.sha256, added.body.sha256);
    const list = await send("/v1/case-sets", { key });
    assert.equal(list.body.count, 28);
    assert.deepEqual(list.body.case_sets.slice(0, 2).map(({ title }: { title: string }) => title), [
      "Four other loans",
      "Four loans of the branch",
    ]);
    const byName = await setRun(setting, { case_set: "branch-loans", domain: null });
    assert.equal(byName.run.input.case_set.sha256, newer.body.sha256, "a name means the newest version");
    const byHash = await setRun(setting, { case_set: added.body.sha256, domain: null });
    assert.equal(byHash.run.input.case_set.sha256, added.body.sha256);
    assert.equal(byHash.run.case_count, 4);
    const whole = await send(`/v1/case-sets/${added.body.sha256}`, { key });
    assert.deepEqual(whole.body.case_set, CASE_SET_EXAMPLE);
    assert.equal((await send(`/v1/case-sets/${"0".repeat(64)}`, { key })).status, 404);
    const ofProgram = await builtInCaseSet("legal", "en");
    const same = await send("/v1/case-sets", { key, body: ofProgram });
    assert.deepEqual(
      [added.body.built_in, same.body.built_in],
      [false, true],
      "one of the program stays one",
    );
    const invalid = { ...CASE_SET_EXAMPLE, cases: CASE_SET_EXAMPLE.cases.slice(0, 3) };
    const refusal = await send("/v1/case-sets", { key, body: invalid });
    assert.deepEqual([refusal.status, refusal.body.error.details[0].path], [422, "cases"]);
  }),
);

Deno.test(
  "a case set of the program is added to the chain once, when an exercise first uses it",
  withSetting(async (setting) => {
    const { harness: { database } } = setting;
    const added = async () =>
      (await select(database, "SELECT seq FROM audit_entry WHERE event_type = 'CASE_SET_ADDED'")).length;
    await setRun(setting);
    await setRun(setting);
    assert.equal(await added(), 1);
    await setRun(setting, { language: "de" });
    assert.equal(await added(), 2);
  }),
);

Deno.test(
  "each saved answer proves offline what it says of an exercise, a case set or a probe; a changed one does not",
  withSetting(async (setting) => {
    const { send, key, harness: { verifierKey } } = setting;
    const { run } = await setRun(setting);
    const probe = { domain: "legal", stakes: "critical", ai_correct: false };
    const answers = [
      run,
      (await send("/v1/case-sets", { key, body: CASE_SET_EXAMPLE })).body,
      (await send("/v1/probes", { key, body: probe })).body,
    ];
    const faultOf = (body: Record<string, unknown>) =>
      verifyDocument(nodeCrypto, body, { keysFor: (origin) => [verifierKey(origin)] }).fault;
    for (const body of answers) {
      assert.equal(faultOf(body), null);
      const name = body.input === undefined ? "detail" : "input";
      assert.equal(faultOf({ ...body, [name]: { ...body[name], operator_id: "other" } }), "RESULT_MISMATCH");
    }
    const changes = [
      { run_id: "other" },
      { set_at: "other" },
      { case_count: 7 },
      { name: "other" },
      { wrong: 1 },
      { added_at: "other" },
      { probe_id: "other" },
      { stakes: "standard" },
      { sealed_at: "other" },
    ];
    for (const change of changes) {
      const [member] = Object.keys(change);
      const body = answers.find((answer) => Object.hasOwn(answer, member!));
      assert.equal(faultOf({ ...body, ...change }), "RESULT_MISMATCH", member);
    }
    assert.equal(faultOf({ ...run, decided: 6 }), "MALFORMED", "nothing stands beside it that is not proven");
  }),
);

const partOf = (event: string) =>
  `(chain, seq) IN (SELECT chain, seq FROM audit_entry WHERE event_type = '${event}')`;

/** What somebody with the database's file changes; the calls that must refuse then. */
const ALTERATIONS:
  readonly (readonly [what: string, change: string, refused: readonly ("state" | "one" | "list")[]])[] = [
    [
      "the truth of a case",
      `UPDATE audit_part SET data = replace(data, '"ai_correct":false', '"ai_correct":true') WHERE ${
        partOf("CASE_SET_ADDED")
      }`,
      ["state"],
    ],
    ["a case set", `DELETE FROM audit_part WHERE ${partOf("CASE_SET_ADDED")}`, ["state"]],
    ["the entry of a case set", "DELETE FROM audit_entry WHERE event_type = 'CASE_SET_ADDED'", ["state"]],
    [
      "the operator of an exercise",
      `UPDATE audit_part SET data = replace(data, 'reviewer-ada', 'reviewer-bob') WHERE ${
        partOf("EXERCISE_SET")
      }`,
      ["state", "one", "list"],
    ],
    ["an exercise", `DELETE FROM audit_part WHERE ${partOf("EXERCISE_SET")}`, ["state", "one", "list"]],
    [
      "an exercise, as if its operator had been erased",
      `UPDATE audit_part SET data = NULL, salt = NULL WHERE ${partOf("EXERCISE_SET")}`,
      ["state", "one", "list"],
    ],
    ["a choice", `DELETE FROM audit_part WHERE ${partOf("EXERCISE_DECIDED")}`, ["state", "one", "list"]],
    [
      "a decided case before another",
      "DELETE FROM interaction WHERE session_id LIKE 'exercise-%-1-%'",
      ["state", "one", "list"],
    ],
    ["a live score after it", "DELETE FROM interaction WHERE session_id = 'after-15'", ["one"]],
    ["a live score before it", "DELETE FROM interaction WHERE session_id = 'before-2'", ["one"]],
  ];

for (const [what, change, refused] of ALTERATIONS) {
  Deno.test(
    `where ${what} was altered, what rests on it is refused`,
    withAlterations(async (harness) => {
      const setting = { send: harness.send, key: await harness.organization("acme") };
      const { send, key } = setting;
      const live = async (name: string, count: number) => {
        for (let number = 1; number <= count; number += 1) {
          const session = { session_id: `${name}-${number}`, operator_id: EXERCISE.operator_id };
          assert.equal((await send("/v1/score", { key, body: scoreRequest(session) })).status, 200);
        }
      };
      await live("before", 2);
      const { run, path } = await setRun(setting);
      await decideAll(setting, path, () => true);
      await live("after", 30);
      const calls = {
        state: () => send(`${path}/state`),
        one: () => send(`/v1/exercises/${run.run_id}`, { key }),
        list: () => send("/v1/exercises", { key }),
      };
      for (const call of Object.values(calls)) assert.equal((await call()).status, 200);
      await alter(harness.database, "PRAGMA defer_foreign_keys = ON", change);
      for (const [name, call] of Object.entries(calls)) {
        const { status, text } = await call();
        assert.equal(status, refused.includes(name as "one") ? 503 : 200, `${name}: ${text.slice(0, 300)}`);
      }
    }, { model: DEFAULT_MODEL_DOCUMENT }),
  );
}

Deno.test(
  "no organization can append an event with the name of one about exercises",
  withSetting(async ({ send, key }) => {
    for (const event_type of ["CASE_SET_ADDED", "EXERCISE_SET", "EXERCISE_X", "CASE_SET_Y"]) {
      const { status } = await send("/v1/audit/append", { key, body: { event_type, payload: {} } });
      assert.equal(status, 422, event_type);
    }
  }),
);
