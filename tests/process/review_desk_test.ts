/**
 * The servers of examples/review-desk without a browser: both behave alike, work goes on while JISS is away, an auditor
 * finds what was not drawn, labels and webhooks arrive, and nothing executes a probe.
 */
import assert from "node:assert/strict";
import { execute } from "../../examples/review-desk/server.ts";
import { drawOf } from "../../src/evidence/probes.ts";
import { probeSeed } from "../../src/keys/probe_secrets.ts";
import { Upkeep } from "../../src/operations/installation/upkeep.ts";
import { jwksOf, save, verifyProgram, withDirectory } from "../auditing.ts";
import { pastOf } from "../delivering.ts";
import { type Harness, openHarness } from "../harness.ts";
import { sealStock } from "../probing.ts";
import { certificate, opensslIsMissing } from "../receiver.ts";
import {
  askDesk,
  type Desk,
  emptied,
  FOLDER,
  isMissing,
  knownOf,
  type Language,
  LANGUAGES,
  ledgerOf,
  NEEDS,
  type Player,
  type ServedHarness,
  serveHarness,
  signIn,
  startDesk,
} from "../review_desk.ts";
import { eventually, withProgram } from "../webhook_program.ts";

const DAY_MS = 86_400_000;

interface Site {
  readonly harness: Harness;
  readonly jiss: ServedHarness;
  readonly key: string;
  readonly desk: Desk;
}

/** Runs a test with a desk, and with a JISS whose clock stands still. */
async function withDesk(
  language: Language,
  test: (site: Site) => Promise<void>,
  { args = ["--programme", "0.1"], prepare }: {
    readonly args?: readonly string[];
    readonly prepare?: (site: Omit<Site, "desk">) => Promise<void>;
  } = {},
): Promise<void> {
  const harness = await openHarness();
  const jiss = serveHarness(harness);
  try {
    const key = await harness.organization("acme");
    await prepare?.({ harness, jiss, key });
    const desk = await startDesk(language, { jiss: jiss.url, key, args });
    try {
      await test({ harness, jiss, key, desk });
    } finally {
      await desk.stop();
    }
  } finally {
    await jiss.close();
    await harness.close();
  }
}

function deskTest(
  name: string,
  test: (site: Site, language: Language) => Promise<void>,
  options: Parameters<typeof withDesk>[2] = {},
): void {
  for (const language of LANGUAGES) {
    Deno.test({
      name: `the review desk in ${language}: ${name} ${NEEDS[language]}`.trimEnd(),
      ignore: isMissing(language),
      fn: () => withDesk(language, (site) => test(site, language), options),
    });
  }
}

/** Accepts cases until so many live ones are decided. @returns how many probes came. */
async function acceptCases(player: Player, count: number): Promise<number> {
  let probes = 0;
  for (let live = 0; live < count;) {
    const { case: name, content } = await player.next();
    if (knownOf(content).isProbe) probes += 1;
    else live += 1;
    assert.equal(await player.decide(name, "accepted"), 200);
  }
  return probes;
}

// ---- both alike ---------------------------------------------------------------------------------------------

type Body = string | Readonly<Record<string, unknown>>;

/** Calls in their order. `CASE` stands for the case on the desk. */
const CALLS:
  readonly (readonly [method: string, path: string, body?: Body, headers?: Record<string, string>])[] = [
    ["GET", "/"],
    ["GET", "/review.js"],
    ["GET", "/ledger"],
    ["GET", "/events"],
    ["GET", "/nothing"],
    ["GET", "/server.ts"],
    ["GET", "/library.json"],
    ["POST", "/api/next", {}, { Cookie: "" }],
    ["POST", "/api/next", {}, { Cookie: `desk=${"0".repeat(32)}` }],
    ["POST", "/api/sign-in", { reviewer: "Reviewer Ada" }],
    ["POST", "/api/sign-in", { reviewer: 7 }],
    ["POST", "/api/sign-in", "[]"],
    ["POST", "/api/sign-in", "null"],
    ["POST", "/api/sign-in", "{"],
    ["POST", "/api/sign-in", { reviewer: "ada" }, { "Content-Type": "text/plain" }],
    ["POST", "/api/sign-in", { reviewer: "ada", rest: "x".repeat(10_000) }],
    ["POST", "/api/next", {}],
    ["POST", "/api/next", {}],
    ["POST", "/api/decisions", {}],
    ["POST", "/api/decisions", {
      case: "none",
      decision: "accepted",
      measurement: { time_to_decision_ms: 1 },
    }],
    ["POST", "/api/decisions", { case: "CASE", decision: "accepted" }],
    ["POST", "/api/decisions", { case: "CASE", decision: "agreed", measurement: { time_to_decision_ms: 1 } }],
    ["POST", "/api/decisions", {
      case: "CASE",
      decision: "modified",
      measurement: { time_to_decision_ms: 1 },
    }],
    ["POST", "/api/decisions", {
      case: "CASE",
      decision: "accepted",
      amount: 7,
      measurement: { time_to_decision_ms: 1 },
    }],
    ...[-1, 0.5, 1_000_001, "7", true].map((amount) =>
      ["POST", "/api/decisions", {
        case: "CASE",
        decision: "modified",
        amount,
        measurement: { time_to_decision_ms: 1 },
      }] as const
    ),
    ...[
      { time_to_decision_ms: null },
      { time_to_decision_ms: -1 },
      { time_to_decision_ms: 86_400_001 },
      { time_to_decision_ms: "1" },
      { time_to_decision_ms: true },
      { time_to_decision_ms: 1, hover_events: 0.5 },
      { time_to_decision_ms: 1, hover_events: 100_001 },
      { time_to_decision_ms: 1, scroll_depth: 1.1 },
      { time_to_decision_ms: 1, alternative_views_checked: -1 },
    ].map((measurement) =>
      ["POST", "/api/decisions", { case: "CASE", decision: "accepted", measurement }] as const
    ),
    ["POST", "/api/decisions", {
      case: "CASE",
      decision: "modified",
      amount: 7,
      measurement: {
        time_to_decision_ms: 1,
        hover_events: 2,
        scroll_depth: null,
        alternative_views_checked: 0,
      },
    }],
    ["POST", "/api/decisions", {
      case: "CASE",
      decision: "modified",
      amount: 7,
      measurement: { time_to_decision_ms: 2 },
    }],
    ["POST", "/api/decisions", {
      case: "CASE",
      decision: "accepted",
      measurement: { time_to_decision_ms: 1 },
    }],
    ["POST", "/next-month", {}],
    ["POST", "/next-month", {}],
    ["POST", "/nothing", {}],
    ["PUT", "/api/next", {}],
  ];

/** What a desk answers to all calls: status, headers that it chooses, and body. */
async function answersOf({ origin }: Desk, key: string): Promise<readonly unknown[]> {
  let cookie = "";
  let name = "";
  const answers: unknown[] = [];
  const signed = await signInWith(origin);
  cookie = signed;
  for (const [method, path, body, headers = {}] of CALLS) {
    const text = typeof body === "object" ? JSON.stringify(body) : body;
    const began = performance.now();
    const answer = await fetch(origin + path, {
      method,
      headers: { "Content-Type": "application/json", Cookie: cookie, ...headers },
      ...(text === undefined ? {} : { body: text.replace("CASE", name) }),
    });
    const got = await answer.text();
    // A case never comes sooner, whether a probe was due or not.
    if (path === "/api/next" && answer.ok) assert.ok(performance.now() - began > 95);
    assert.ok(!got.includes(key));
    if (path === "/api/next" && answer.ok) name = JSON.parse(got).case;
    const chosen = ["Content-Type", "Content-Length", "Cache-Control", "Content-Security-Policy"];
    answers.push({
      call: `${method} ${path} ${text?.slice(0, 150) ?? ""}`,
      status: answer.status,
      headers: chosen.map((header) => answer.headers.get(header)),
      // Which case comes is chance: its members are compared.
      body: path === "/api/next" && answer.ok
        ? Object.keys(JSON.parse(got).content)
        : got.replaceAll(/"(case|session_id)":"[^"]*"/g, '"$1":"…"'),
    });
  }
  return answers;
}

async function signInWith(origin: string): Promise<string> {
  const answer = await fetch(`${origin}/api/sign-in`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ reviewer: "reviewer-ada" }),
  });
  const cookie = answer.headers.get("Set-Cookie")!;
  assert.match(cookie, /^desk=[0-9a-f]{32}; HttpOnly; SameSite=Strict; Path=\/$/);
  assert.equal(await answer.text(), "{}");
  return cookie.split(";")[0]!;
}

Deno.test({
  name: `the review desks in both languages answer a table of calls alike ${NEEDS.Python}`,
  ignore: isMissing("Python"),
  async fn() {
    const answers: (readonly unknown[])[] = [];
    const jissUrls: string[] = [];
    for (const language of LANGUAGES) {
      // Without a programme no probe comes.
      await withDesk(language, async ({ desk, jiss, key }) => {
        answers.push(await answersOf(desk, key));
        jissUrls.push(jiss.url);
        assert.deepEqual(await emptied(desk), []);
      }, { args: [] });
    }
    const [typescript, python] = answers.map((list, index) =>
      JSON.stringify(list, null, 1).replaceAll(jissUrls[index]!, "http://jiss").split("\n")
    );
    assert.deepEqual(python, typescript);
    const statuses = new Set(answers[0]!.map((answer) => (answer as { status: number }).status));
    assert.deepEqual([...statuses].sort(), [200, 400, 401, 404, 409]);
  },
});

// ---- no probe takes effect ----------------------------------------------------------------------------------

Deno.test("the only way to the ledger of the review desk refuses what was drawn as a probe", () => {
  const item = {
    name: "0123456789",
    reviewer: "ada",
    session: "desk-1",
    probe: { probe_id: "desk-p01", session_id: "desk-1", ticket: "ticket", do_not_execute: true },
  } as unknown as Parameters<typeof execute>[1];
  const ledger: Parameters<typeof execute>[0] = [];
  const decision = { decision: "accepted", amount: null };
  assert.throws(() => execute(ledger, item, decision), /do_not_execute/);
  assert.deepEqual(ledger, []);
  execute(ledger, { ...item, probe: null }, decision);
  assert.equal(ledger.length, 1);
});

Deno.test({
  name:
    `the only way to the ledger of the review desk in Python refuses what was drawn as a probe ${NEEDS.Python}`,
  ignore: isMissing("Python"),
  async fn() {
    const program = `
import server
ledger = []
probe = {"session_id": "s", "do_not_execute": True}
try:
    server.execute(ledger, server.Item("ada", {}, probe), "accepted", None)
except RuntimeError:
    assert ledger == []
    server.execute(ledger, server.Item("ada", {}, None), "accepted", None)
    assert len(ledger) == 1
    print("refused")`;
    const { stdout, stderr } = await new Deno.Command("python3", {
      args: ["-B", "-c", program],
      cwd: FOLDER,
    }).output();
    assert.equal(new TextDecoder().decode(stdout).trim(), "refused", new TextDecoder().decode(stderr));
  },
});

// ---- JISS is away, or slow ----------------------------------------------------------------------------------

deskTest(
  "reviewers work on while JISS is away or silent, each decision counts once afterwards, and an auditor counts the cases that were not drawn for",
  async ({ harness, jiss, key, desk }, language) => {
    assert.deepEqual(await emptied(desk), []);
    const player = await signIn(desk, "ada");
    let probes = await acceptCases(player, 5);
    await emptied(desk);

    const before = (await ledgerOf(desk)).length;
    jiss.intercept = (path) => new Response(null, { status: path === "/v1/probes/draw" ? 429 : 503 });
    assert.equal(await acceptCases(player, 56), 0, "too many draws, no probe");
    jiss.intercept = () => new Response(null, { status: 503 });
    assert.equal(await acceptCases(player, 4), 0, "no draw, no probe");
    const missed = (await ledgerOf(desk)).slice(before);
    assert.equal(missed.length, 60);

    // Silence: nobody waits longer than two attempts of 1.5 seconds.
    const silence = Promise.withResolvers<Response>();
    jiss.intercept = () => silence.promise;
    const began = performance.now();
    const { case: name } = await player.next();
    const waited = performance.now() - began;
    assert.ok(waited > 2900 && waited < 8000, `${waited}`);
    assert.equal(await player.decide(name, "accepted"), 200);
    jiss.intercept = null;
    silence.resolve(new Response(null, { status: 503 }));

    probes += await acceptCases(player, 5);
    assert.deepEqual(await emptied(desk), []);
    const ledger = await ledgerOf(desk);
    const { body } = await harness.send("/v1/operator/ada/profile", { key });
    assert.equal(body.profile.total_interactions, ledger.length + probes);

    // The next day opens the seed.
    const day = new Date(harness.clock.now()).toISOString().slice(0, 10);
    harness.clock.advance(DAY_MS);
    await new Upkeep(harness.dependencies).run(harness.clock.now());
    const { crypto, installation } = harness.dependencies;
    const seed = probeSeed(installation.key, "acme", day);
    const silent = ledger.find((line) => line.case === name)!;
    const due = [...missed, silent].filter(({ session_id }) =>
      drawOf(crypto, seed, { operatorId: "ada", sessionId: session_id }).chance < 0.1
    );
    await withDirectory(async (directory) => {
      const { text } = await harness.send("/v1/audit/chain/export", { key });
      const bundle = await save(directory, "acme.ndjson", text);
      const jwks = await save(directory, "jwks.json", await jwksOf(harness));
      const { code, report } = await verifyProgram([bundle, "--key", jwks, "--json"]);
      assert.equal(code, 0, JSON.stringify(report));
      const found = report.bundles[0].findings.map((
        { code, detail }: Record<string, string>,
      ) => [code, detail]);
      const cases = due.length === 1 ? "1 case" : `${due.length} cases`;
      assert.deepEqual(found, due.length === 0 ? [] : [["PROBE_LEFT_OUT", cases]], language);
    });
  },
);

deskTest(
  "starts without JISS, and seals its library once JISS is there; a second start changes nothing",
  async ({ harness, jiss, key, desk }, language) => {
    const player = await signIn(desk, "ada");
    assert.equal(await acceptCases(player, 2), 0);
    assert.equal((await askDesk(desk, "/outbox")).waiting, 15, "twelve probes, policy, two decisions");
    jiss.intercept = null;
    assert.deepEqual(await emptied(desk), []);
    const sealed = async () => (await harness.send("/v1/probes/summary", { key })).body.states.sealed;
    assert.equal(await sealed(), 12);
    const again = await startDesk(language, { jiss: jiss.url, key });
    try {
      assert.deepEqual(await emptied(again), []);
      assert.equal(await sealed(), 12);
    } finally {
      await again.stop();
    }
  },
  {
    prepare({ jiss }) {
      jiss.intercept = () => new Response(null, { status: 503 });
      return Promise.resolve();
    },
  },
);

deskTest(
  "does not show a probe a second time while its decision waits for JISS, and recalls a probe of another application",
  async ({ harness, jiss, key, desk }) => {
    assert.deepEqual(await emptied(desk), []);
    const recalled = async (): Promise<readonly string[]> => {
      const { body } = await harness.send("/v1/probes?limit=200&state=recalled", { key });
      return body.probes.map(({ probe_id }: { probe_id: string }) => probe_id);
    };
    const player = await signIn(desk, "ada");
    jiss.intercept = (path) => path === "/v1/score" ? new Response(null, { status: 503 }) : undefined;
    const shown = new Set<string>();
    let decided = 0;
    for (; decided < 400 && shown.size < 2; decided += 1) {
      const { case: name, content } = await player.next();
      if (knownOf(content).isProbe) {
        assert.ok(!shown.has(content.purpose), "a probe came twice");
        shown.add(content.purpose);
        const after = await player.next();
        assert.equal(after.case, name, "the same until it is decided");
      }
      assert.equal(await player.decide(name, "rejected"), 200);
    }
    jiss.intercept = null;
    assert.deepEqual(await emptied(desk), []);
    // A probe of the other application comes sooner or later.
    for (let number = 0; (await recalled()).length === 0; number += 1) {
      assert.ok(number < 400);
      const { case: name } = await player.next();
      assert.equal(await player.decide(name, "rejected"), 200);
      assert.deepEqual(await emptied(desk), []);
    }
    assert.deepEqual((await recalled()).filter((id) => id.startsWith("desk-")), []);
  },
  {
    async prepare({ harness, key }) {
      await sealStock({ harness, key }, 40, { domain: "financial" });
    },
  },
);

deskTest(
  "says of a changed probe whether the amount is right, and of no other case anything about its truth",
  async ({ harness, key, desk }) => {
    assert.deepEqual(await emptied(desk), []);
    const player = await signIn(desk, "ada");
    const expected: boolean[] = [];
    for (let number = 0; number < 400 && expected.length < 4; number += 1) {
      const { case: name, content } = await player.next();
      const { truth, factor } = knownOf(content);
      const isMended = expected.length % 2 === 0;
      const right = truth === null ? 20 : Math.round(truth.from * factor);
      // 1,000,000 is right for nobody.
      const amount = isMended ? right : 1_000_000;
      assert.equal(await player.decide(name, "modified", amount), 200);
      if (truth !== null) expected.push(isMended);
    }
    assert.equal(expected.length, 4);
    assert.deepEqual(await emptied(desk), []);
    const { text } = await harness.send("/v1/audit/chain/export", { key });
    const scored = text.trim().split("\n").map((line) => JSON.parse(line))
      .flatMap(({ kind, data }) =>
        kind === "jis.part/1" && data.interaction !== undefined ? data.interaction : []
      );
    const truths = (isProbe: boolean) =>
      scored.filter((interaction) => (interaction.sealed_probe === true) === isProbe)
        .map(({ outcome_correct }) => outcome_correct);
    assert.deepEqual(truths(true), expected);
    assert.deepEqual(new Set(truths(false)), new Set([null]));
  },
);

// ---- what becomes known later -------------------------------------------------------------------------------

deskTest(
  "outcomes of the next month label a share of the ledger, each once, and never a probe",
  async ({ harness, key, desk }) => {
    const player = await signIn(desk, "ada");
    const decisions = ["accepted", "rejected", "escalated", "accepted"];
    for (let number = 0; number < 24; number += 1) {
      const { case: name } = await player.next();
      assert.equal(await player.decide(name, decisions[number % decisions.length]!), 200);
    }
    const answer = await player.post("/next-month", {});
    const { labelled } = await answer.json();
    const settled = (await ledgerOf(desk)).filter((line) => line.labelled);
    assert.equal(settled.length, labelled);
    assert.ok(labelled >= 4, `${labelled}`);
    assert.deepEqual(await emptied(desk), [], "JISS takes every label");
    await player.post("/next-month", {}).then((answer) => answer.body?.cancel());
    assert.deepEqual(await emptied(desk), []);
    const { text } = await harness.send("/v1/audit/chain/export", { key });
    const labels = text.split("\n").filter((line) => line.includes('"OUTCOME_LABELLED"')).length;
    assert.equal(labels, (await ledgerOf(desk)).filter((line) => line.labelled).length);
    assert.ok(labels > labelled);
  },
);

for (const language of LANGUAGES) {
  Deno.test({
    name:
      `the review desk in ${language}: deliveries that JISS signed are shown, and no other ones [needs openssl${
        language === "Python" ? " and python3" : ""
      }]`,
    ignore: opensslIsMissing() || isMissing(language),
    fn: () =>
      withProgram({ JISS_WEBHOOK_BACKOFF_MS: "0,0" }, async ({ directory, service, key }) => {
        const { cert, key: privateKey } = await certificate();
        const files = [await save(directory, "cert.pem", cert), await save(directory, "key.pem", privateKey)];
        const hook = `https://127.0.0.1:${freePort()}/hook`;
        const options = {
          jiss: service.url,
          key,
          args: ["--hook", hook, "--cert", files[0]!, "--key", files[1]!],
        };
        // The second start registers anew: the first one's secret is gone with it.
        await (await startDesk(language, options)).stop();
        const desk = await startDesk(language, options);
        try {
          const list = await service.send("/v1/admin/webhook/list", { key });
          assert.deepEqual(list.body.webhooks.map(({ url }: { url: string }) => url), [hook]);
          // A reviewer with a long record, whose scores are final at once.
          const past = pastOf("reviewer-ada");
          assert.equal((await service.send("/v1/score/batch", { key, body: past })).status, 200);
          const player = await signIn(desk, "reviewer-ada");
          const { case: name } = await player.next();
          assert.equal(await player.decide(name, "accepted"), 200);
          const { session_id } = (await ledgerOf(desk))[0]!;
          const { events } = await eventually(
            () => askDesk(desk, "/events"),
            ({ events }) => events.some((event: Record<string, unknown>) => event.session_id === session_id),
          );
          const event = events.find((event: Record<string, unknown>) => event.session_id === session_id);
          assert.deepEqual([event.event, event.operator_id], ["score.committed", "reviewer-ada"]);

          const client = Deno.createHttpClient({ caCerts: [(await certificate()).authority] });
          const forged = await fetch(hook, {
            client,
            method: "POST",
            headers: {
              "X-SERVICE-Timestamp": `${Math.floor(Date.now() / 1000)}`,
              "X-SERVICE-Idempotency-Key": "forged",
              "X-SERVICE-Signature": `sha256=${"0".repeat(64)}`,
            },
            body: '{"event":"score.committed","delivery_id":"forged"}',
          });
          await forged.body?.cancel();
          client.close();
          assert.equal(forged.status, 401);
          assert.ok(!JSON.stringify(await askDesk(desk, "/events")).includes("forged"));
        } finally {
          await desk.stop();
        }
      }),
  });
}

/** A port of loopback that nobody listens at now. */
function freePort(): number {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return listener.addr.port;
}
