/**
 * The programs of docs/integrate/send-reviews.md, taken from the page and run unchanged with the page's own
 * jobs, against the whole program through a proxy that refuses and cuts: every job is answered, and counted
 * once.
 */
import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createOrganization, freshDeployment, type RunningService, startService } from "../program.ts";

const PAGE = await Deno.readTextFile(`${import.meta.dirname}/../../docs/integrate/send-reviews.md`);

// ---- the page ---------------------------------------------------------------------------------------------

interface Job {
  readonly path: string;
  // deno-lint-ignore no-explicit-any -- as the page has it
  readonly body: any;
}

const BLOCKS = [...PAGE.matchAll(/^```(\w+)\n(.*?)^```$/gms)].map(([, fence, code]) => ({
  fence: fence!,
  code: code!,
}));

/** The page's code block whose first line names the file. */
function codeOf(fence: string, file: string): string {
  const found = BLOCKS.filter((block) =>
    block.fence === fence && /^(?:\/\/|#) (\S+)\n/.exec(block.code)?.[1] === file
  );
  assert.equal(found.length, 1, `${file} is on docs/integrate/send-reviews.md once`);
  return found[0]!.code;
}

const JOBS: readonly Job[] = BLOCKS.filter(({ fence }) => fence === "json").map(({ code }) =>
  JSON.parse(code)
);

function jobOf(select: (job: Job) => boolean): Job {
  const [found, ...others] = JOBS.filter(select);
  assert.ok(found !== undefined && others.length === 0);
  return found;
}

const scoreOf = (scenario: string) =>
  jobOf(({ path, body }) => path === "/v1/score" && body.interaction.scenario_type === scenario);
const STANDARD = scoreOf("standard");
const PLANTED = scoreOf("error_injected");
const WITHHELD = scoreOf("ai_withheld");
const BATCH = jobOf(({ path }) => path === "/v1/score/batch");
const LABEL = jobOf(({ path }) => path.endsWith("/commit"));

/** A job under another `session_id`, with other fields of its interaction. */
function changed(job: Job, session: string, interaction: Record<string, unknown> = {}): Job {
  const body = { ...job.body, session_id: session, interaction: { ...job.body.interaction, ...interaction } };
  return { ...job, body };
}

const labelOf = (session: string, outcome_correct: boolean): Job => ({
  path: `/v1/score/${session}/commit`,
  body: { outcome_correct },
});

Deno.test("no program of docs/integrate/send-reviews.md reads a variable that would stop the service", () => {
  const named = BLOCKS.flatMap(({ code }) =>
    code.match(/\b[A-Z]+(?:_[A-Z]+)*_JISS_[A-Z_]+\b|\bJISS_[A-Z_]+\b/g) ?? []
  );
  assert.deepEqual([...new Set(named)].sort(), ["REVIEW_JISS_KEY_FILE", "REVIEW_JISS_URL"]);
});

// ---- the languages ----------------------------------------------------------------------------------------

interface Language {
  readonly name: string;
  /** The language of its code block on the page. */
  readonly fence: string;
  readonly file: string;
  /**
   * A command that the machine must have, with arguments that do nothing; null for the runtime of this test.
   */
  readonly needs: readonly [command: string, ...args: readonly string[]] | null;
  /** A command that builds it, in the file's directory. */
  readonly build?: readonly string[];
  readonly run: readonly [command: string, ...args: string[]];
}

const LANGUAGES: readonly Language[] = [
  {
    name: "TypeScript",
    fence: "ts",
    file: "send_to_jiss.ts",
    needs: null,
    run: [
      ...[Deno.execPath(), "run", "--quiet", "--no-config", "--check"] as const,
      ...["--allow-env", "--allow-net", "--allow-read", "send_to_jiss.ts"],
    ],
  },
  {
    name: "Python",
    fence: "python",
    file: "send_to_jiss.py",
    needs: ["python3", "--version"],
    run: ["python3", "send_to_jiss.py"],
  },
  {
    name: "Go",
    fence: "go",
    file: "send_to_jiss.go",
    needs: ["go", "version"],
    build: ["go", "build", "-o", "send_to_jiss", "send_to_jiss.go"],
    run: ["./send_to_jiss"],
  },
];

function isMissing({ needs }: Language): boolean {
  if (needs === null) return false;
  const [command, ...args] = needs;
  try {
    return !new Deno.Command(command, { args: [...args], stdout: "null", stderr: "null" }).outputSync()
      .success;
  } catch {
    return true;
  }
}

interface Sent {
  readonly code: number;
  readonly answers: readonly {
    readonly path: string;
    readonly status: number;
    readonly replayed: boolean;
    // deno-lint-ignore no-explicit-any -- an answer is whatever the service said
    readonly answer: any;
  }[];
}

type Send = (url: string, jobs: readonly Job[]) => Promise<Sent>;

/** A directory for each language's program, made once: compiling takes longer than running. */
const places = new Map<Language, Promise<string>>();

function placeOf(language: Language): Promise<string> {
  let place = places.get(language);
  if (place === undefined) places.set(language, place = prepared(language));
  return place;
}

async function prepared({ fence, file, build }: Language): Promise<string> {
  const directory = await Deno.makeTempDir({ prefix: "jiss-sender-" });
  await Deno.writeTextFile(`${directory}/${file}`, codeOf(fence, file));
  if (build !== undefined) {
    const [command, ...args] = build;
    const { success, stderr } = await new Deno.Command(command!, { args, cwd: directory }).output();
    assert.ok(success, new TextDecoder().decode(stderr));
  }
  return directory;
}

Deno.test.afterAll(async () => {
  for (const place of places.values()) await Deno.remove(await place, { recursive: true });
});

/** The page's program, ready to send jobs with the key. */
async function senderOf(language: Language, key: string): Promise<Send> {
  const directory = await placeOf(language);
  const keyFile = await Deno.makeTempFile({ dir: directory, prefix: "key-" });
  await Deno.writeTextFile(keyFile, `${key}\n`);
  const [command, ...args] = language.run;
  const path = command.startsWith("./") ? `${directory}/${command}` : command;
  return async (url, jobs) => {
    const child = new Deno.Command(path, {
      args,
      cwd: directory,
      env: { REVIEW_JISS_KEY_FILE: keyFile.slice(directory.length + 1), REVIEW_JISS_URL: url },
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    const writer = child.stdin.getWriter();
    await writer.write(new TextEncoder().encode(jobs.map((job) => `${JSON.stringify(job)}\n`).join("")));
    await writer.close();
    const { code, stdout, stderr } = await child.output();
    const errors = new TextDecoder().decode(stderr);
    assert.ok(code === 0 || code === 75, `${code}: ${errors}`);
    assert.ok(!errors.includes(key), "the key is in no log");
    const lines = new TextDecoder().decode(stdout).split("\n").slice(0, -1);
    const answers = lines.map((line) => JSON.parse(line)).map((answered) => ({
      ...answered,
      answer: JSON.parse(answered.answer),
    }));
    return { code, answers };
  };
}

// ---- the proxy --------------------------------------------------------------------------------------------

const RETRY_AFTER_SECONDS = 1;
/** By the test's clock, a timer of the program may fire this much early. */
const TIMER_GRAIN_MS = 10;

/** The fate of a request: sent on; answered by the proxy; cut before it was sent on, or after. */
type Fate = "on" | "lost" | "answer lost" | 429 | 500 | 503;

interface Proxy {
  readonly url: string;
  /** The path of each request so far. */
  readonly paths: readonly string[];
  close(): Promise<void>;
}

/** Once the fates are used up, every request is sent on. */
async function openProxy(to: string, fates: readonly Fate[] = []): Promise<Proxy> {
  const left = [...fates];
  const paths: string[] = [];
  let refusesUntil = 0;
  const server = createServer(async (request, response) => {
    const chunks: Uint8Array[] = [];
    for await (const chunk of request) chunks.push(chunk);
    paths.push(request.url!);
    // A client that comes before the time that it was given is refused again, and uses up no fate.
    const isEarly = performance.now() < refusesUntil - TIMER_GRAIN_MS;
    const fate = isEarly ? 503 : left.shift() ?? "on";
    if (fate === "lost") return request.socket.destroy();
    if (typeof fate === "number") {
      if (fate !== 500) refusesUntil = performance.now() + RETRY_AFTER_SECONDS * 1000;
      const headers = fate === 500 ? {} : { "Retry-After": `${RETRY_AFTER_SECONDS}` };
      return response.writeHead(fate, { "Content-Type": "text/html", ...headers }).end("<h1>Not now</h1>");
    }
    const answer = await fetch(to + request.url, {
      method: request.method!,
      headers: { "Content-Type": "application/json", "X-API-Key": String(request.headers["x-api-key"]) },
      body: new Blob(chunks as BlobPart[]),
    });
    const text = await answer.text();
    if (fate === "answer lost") {
      // Half of the answer arrives.
      response.writeHead(answer.status, { "Content-Length": String(text.length) });
      return response.write(text.slice(0, text.length / 2), () => request.socket.destroy());
    }
    const replayed = answer.headers.get("Idempotency-Replayed");
    response.writeHead(answer.status, {
      "Content-Type": "application/json",
      ...(replayed === null ? {} : { "Idempotency-Replayed": replayed }),
    }).end(text);
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    paths,
    close: () =>
      new Promise((closed) => {
        server.close(() => closed());
        server.closeAllConnections();
      }),
  };
}

// ---- the program ------------------------------------------------------------------------------------------

interface World {
  readonly service: RunningService;
  readonly send: Send;
  /** Sends through a proxy with these fates; resolves to the output and the path of each request. */
  through(
    fates: readonly Fate[],
    jobs: readonly Job[],
  ): Promise<Sent & { readonly paths: readonly string[] }>;
  /** The number of recorded scores. */
  counted(): Promise<number>;
}

interface Served {
  readonly service: RunningService;
  readonly env: Readonly<Record<string, string>>;
  stop(): Promise<void>;
}

/** One service for all tests: each has an organization of its own. */
let served: Promise<Served> | null = null;
let organizations = 0;

async function openService(): Promise<Served> {
  const { env, remove } = await freshDeployment();
  // If a reader tries both on one machine, the service's environment also has the sender's variables.
  const shared = { REVIEW_JISS_URL: "http://127.0.0.1:8080", REVIEW_JISS_KEY_FILE: "key" };
  const service = await startService(["serve"], { env: { ...env, ...shared } });
  return {
    service,
    env,
    async stop() {
      const code = await service.stop();
      await remove();
      assert.equal(code, 0, service.errors());
    },
  };
}

Deno.test.afterAll(async () => {
  await (await served)?.stop();
});

async function withWorld(language: Language, use: (world: World) => Promise<void>): Promise<void> {
  const { service, env } = await (served ??= openService());
  const orgId = `org-${++organizations}`;
  const key = await createOrganization(service, env, orgId);
  const send = await senderOf(language, key);
  await use({
    service,
    send,
    async through(fates, jobs) {
      const proxy = await openProxy(service.url, fates);
      try {
        return { ...await send(proxy.url, jobs), paths: proxy.paths };
      } finally {
        await proxy.close();
      }
    },
    async counted() {
      const { body } = await service.send(`/v1/admin/org/${orgId}/usage`, {
        key: env.MASTER_ADMIN_KEY_ORG_USAGE_READ!,
      });
      return body.interaction_count_current_period;
    },
  });
}

const statusesOf = ({ answers }: Sent) => answers.map(({ status, replayed }) => [status, replayed]);

for (const language of LANGUAGES) {
  const suffix = language.needs === null ? "" : ` [needs ${language.needs[0]}]`;
  const languageTest = (name: string, use: (world: World) => Promise<void>) =>
    Deno.test({
      name: `the ${language.name} sender of docs/integrate/send-reviews.md ${name}${suffix}`,
      ignore: isMissing(language),
      fn: () => withWorld(language, use),
    });

  languageTest(
    "records each of the page's jobs exactly once, whatever is refused and cut",
    async ({ through, counted }) => {
      const fates: readonly Fate[] = [
        ...["lost", 503, "on"] as const, // STANDARD
        ...["answer lost", "on"] as const, // PLANTED
        ...[429, 500, "on"] as const, // WITHHELD
        ...["answer lost", "lost", "on"] as const, // BATCH
        ...["answer lost", "on"] as const, // LABEL
      ];
      const jobs = [STANDARD, PLANTED, WITHHELD, BATCH, LABEL];
      const sent = await through(fates, jobs);
      assert.equal(sent.code, 0);
      assert.deepEqual(statusesOf(sent), [[200, false], [200, true], [200, false], [200, true], [200, true]]);
      assert.deepEqual(sent.answers.map(({ path }) => path), jobs.map(({ path }) => path));
      assert.equal(sent.paths.length, fates.length, "none comes before its Retry-After");
      assert.equal(await counted(), 5);
    },
  );

  languageTest(
    "sends a session again for the same answer, and repeats neither a wrong request nor a conflict",
    async ({ through, counted }) => {
      const wrong = changed(STANDARD, "review-wrong", { scroll_depth: 1.5 });
      const other = changed(STANDARD, STANDARD.body.session_id, { decision: "rejected" });
      const unknown = labelOf("review-unknown", true);
      const sent = await through([], [STANDARD, STANDARD, wrong, other, unknown]);
      assert.equal(sent.code, 0);
      assert.deepEqual(statusesOf(sent), [[200, false], [200, true], [422, false], [409, false], [
        404,
        false,
      ]]);
      assert.deepEqual(sent.answers[1]!.answer, sent.answers[0]!.answer);
      assert.equal(sent.answers[2]!.answer.error.code, "VALIDATION_FAILED");
      assert.equal(sent.paths.length, 5);
      assert.equal(await counted(), 1);
    },
  );

  languageTest(
    "leaves the queue as it is if the service stays away, after asking five times",
    async ({ through, counted }) => {
      const sent = await through(["on", 500, 500, 500, 500, 500], [STANDARD, PLANTED, WITHHELD]);
      assert.equal(sent.code, 75);
      assert.deepEqual(statusesOf(sent), [[200, false]]);
      assert.equal(sent.paths.length, 6);
      assert.equal(await counted(), 1);
    },
  );
}

// ---- the page's statements about answers ------------------------------------------------------------------

Deno.test("planted errors, cases without advice and late labels have the effect that docs/integrate/send-reviews.md states", () =>
  withWorld(LANGUAGES[0]!, async ({ send, service }) => {
    const { url } = service;
    const answersTo = async (...jobs: Job[]) => (await send(url, jobs)).answers;
    const [first, missed] = await answersTo(STANDARD, PLANTED);
    assert.deepEqual([first!.answer.provisional, first!.answer.committed], [true, false]);
    const reasons: string[] = first!.answer.maintenance_recommendation.recommendation.reasons;
    assert.ok(reasons.includes("no_ground_truth_evidence"));
    const detection = (at: typeof first) => at!.answer.dimensions.error_detection;
    assert.ok(detection(missed) < detection(first));
    for (const decision of ["rejected", "overridden", "deferred", "escalated"]) {
      const operator_id = `reviewer-${decision}`;
      const caught = changed(PLANTED, `review-${decision}`, { decision });
      const [before, after] = await answersTo(
        { ...STANDARD, body: { ...STANDARD.body, operator_id, session_id: `before-${decision}` } },
        { ...caught, body: { ...caught.body, operator_id } },
      );
      assert.ok(detection(after) > detection(before), decision);
    }
    const [refused] = await answersTo(labelOf(PLANTED.body.session_id, false));
    assert.equal(refused!.status, 409);

    const [alone, wrong] = await answersTo(
      WITHHELD,
      changed(WITHHELD, "review-alone", { outcome_correct: false }),
    );
    const independence = (at: typeof first) => at!.answer.dimensions.independent_performance;
    assert.ok(independence(alone) > independence(missed));
    assert.ok(independence(wrong) < independence(alone));
    const [unknown, label] = await answersTo(
      changed(WITHHELD, "review-late", { outcome_correct: null }),
      labelOf("review-late", true),
    );
    assert.deepEqual([unknown!.status, label!.status], [200, 200]);

    const [labelled, again, contradicted, next] = await answersTo(
      LABEL,
      LABEL,
      { ...LABEL, body: { outcome_correct: !LABEL.body.outcome_correct } },
      changed(STANDARD, "review-next"),
    );
    assert.deepEqual([labelled!.status, labelled!.replayed], [200, false]);
    const { jis, dimensions, committed, provisional } = labelled!.answer;
    assert.deepEqual([jis, dimensions], [first!.answer.jis, first!.answer.dimensions]);
    assert.deepEqual([committed, provisional], [true, false]);
    assert.deepEqual([again!.status, again!.replayed], [200, true]);
    assert.equal(contradicted!.status, 409);
    assert.equal(next!.status, 200);
    const [outcome] = await answersTo(
      changed(STANDARD, "review-with-outcome", { outcome_correct: true }),
      labelOf("review-with-outcome", true),
    ).then((answers) => answers.slice(1));
    assert.equal(outcome!.status, 409);
    // A commit without a body labels nothing; a label can still come.
    await answersTo(changed(STANDARD, "review-open"), { path: "/v1/score/review-open/commit", body: {} });
    const [open] = await answersTo(labelOf("review-open", false));
    assert.deepEqual([open!.status, open!.replayed], [200, false]);
  }));

Deno.test("lite, frozen and batched scores are as docs/integrate/send-reviews.md states", () =>
  withWorld(LANGUAGES[0]!, async ({ send, service, counted }) => {
    const answersTo = async (...jobs: Job[]) => (await send(service.url, jobs)).answers;
    const [lite] = await answersTo({ ...STANDARD, path: "/v1/score?mode=lite&role_tier=tier_2" });
    assert.deepEqual([lite!.answer.dimensions_computed, lite!.answer.role_tier], [3, "tier_2"]);
    const frozen = changed(STANDARD, "review-frozen");
    const [skipped, nothing, scored] = await answersTo(
      { ...frozen, path: "/v1/score?mode_override=incident_frozen" },
      labelOf("review-frozen", true),
      frozen,
    );
    assert.deepEqual([skipped!.status, skipped!.answer.skipped, skipped!.answer.jis], [200, true, null]);
    assert.equal(nothing!.status, 404);
    assert.deepEqual([scored!.status, scored!.replayed], [200, false]);
    const [item] = BATCH.body.interactions;
    const [batch, regrouped] = await answersTo(
      BATCH,
      { ...BATCH, body: { ...BATCH.body, interactions: [item] } },
    );
    assert.deepEqual([batch!.status, batch!.answer.count], [200, 2]);
    assert.equal(regrouped!.status, 409);
    assert.equal(await counted(), 4);
  }));
