/**
 * Keeps a small deployment as the program of one schema step wrote it:
 *
 *   git worktree add /elsewhere COMMIT      the last commit of that step
 *   (cd /elsewhere && deno task web)
 *   deno run -A --lock=tests/deno.lock tests/kept_schemas/keep.ts /elsewhere tests/kept_schemas
 *
 * It runs that program, asks it for everything that it knows of what follows, stops it and keeps its files, its secrets, which
 * open nothing else, and its answers in `schema-N.json.gz`.
 */
import { gzipSync } from "node:zlib";
import { DatabaseSync } from "node:sqlite";
import { scoreRequest } from "../harness.ts";
import { watch } from "../program.ts";
import type { KeptCall, KeptSchema } from "./kept.ts";

const FILES = ["jiss.db", "lock.db", "signing-key.pem", "signing-key-previous.pem"];

const REPORT = "/v1/compliance/report?period_start=2026-11-01&period_end=2026-12-01";

/** An answer without them shows that the program does not know the call yet. */
const UNKNOWN = [404, 405, 501];

async function run(checkout: string, args: readonly string[], env: Readonly<Record<string, string>>) {
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--quiet", `${checkout}/main.ts`, ...args],
    env: { ...env },
  }).output();
  return { code, text: new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr) };
}

/** The calls of the first organization, in their order; `{report}` is the last report's id. */
function callsOf(): readonly (readonly [
  method: string,
  path: string,
  body?: unknown,
  isRepeatable?: boolean,
])[] {
  const score = (session: string, operator: string, interaction: Record<string, unknown> = {}) =>
    [
      "POST",
      "/v1/score",
      scoreRequest({ session_id: session, operator_id: operator }, interaction),
      true,
    ] as const;
  const late = { outcome_correct: null };
  return [
    score("s-1", "anna"),
    score("s-2", "anna", { decision: "rejected", outcome_correct: false }),
    score("s-3", "anna", { ...late, decision: "modified", modification_extent: 0.4 }),
    score("s-4", "bela", { ...late, decision: "escalated" }),
    score("s-5", "bela", { scenario_type: "error_injected", decision: "rejected" }),
    ["POST", "/v1/score?mode=lite", scoreRequest({ session_id: "s-6", operator_id: "cleo" }), true],
    score("s-7", "cleo", { ai_recommendation_presented: false }),
    ["POST", "/v1/score?mode_override=incident_frozen", scoreRequest({ session_id: "s-8" }), true],
    ["POST", "/v1/score/s-3/commit", { outcome_correct: true }, true],
    ["POST", "/v1/score/s-4/commit", { outcome_correct: false }, true],
    ["POST", "/v1/score/batch", {
      operator_id: "dora",
      domain: "financial",
      interactions: ["b-1", "b-2", "b-3"].map((session_id) => ({
        session_id,
        time_to_decision_ms: 5000,
        decision: "accepted",
      })),
    }, true],
    ["POST", "/v1/decision/score", {
      decision_id: "d-1",
      operator_id: "anna",
      domain: "general",
      time_to_decision_ms: 900,
      decision: "accepted",
    }, true],
    ["POST", "/v1/audit/append", { event_type: "TRAINING_DONE", payload: { operator: "a note" } }],
    ["POST", "/v1/organization/teams", { assignments: [{ operator_id: "anna", team: "North" }] }],
    ["GET", "/v1/decision/replay/s-2"],
    ["GET", "/v1/decision/replay/d-1"],
    ["GET", "/v1/operator/anna/profile"],
    ["GET", "/v1/organization/dashboard"],
    ["GET", REPORT],
    ["GET", "/v1/compliance/report/{report}"],
    ["GET", "/v1/compliance/article14"],
    ["POST", "/assessments", {
      sessionId: "a-visit",
      records: [1, 2, 3].map((count) => ({ time_to_decision_ms: 4000 + count, decision: "accepted" })),
    }],
    ["GET", "/assessments/a-visit"],
    ["POST", "/v1/admin/webhook/register", {
      url: "https://127.0.0.1:9/hook",
      events: ["score.committed"],
      secret: "x".repeat(32),
    }],
    score("s-9", "anna"),
    ["PUT", "/v1/probes/policy", {
      enabled: true,
      rate: 0.1,
      highest_share: 0.1,
      minimum: 0,
      ticket_minutes: 60,
    }],
    ["POST", "/v1/probes", { probe_id: "p-1", domain: "general", stakes: "standard", ai_correct: false }],
    ["POST", "/v1/probes", { probe_id: "p-2", domain: "general", stakes: "standard", ai_correct: true }],
    ["POST", "/v1/probes/p-2/recall"],
    ["GET", "/v1/probes"],
    ["POST", "/v1/keys", { name: "reads", scopes: ["read"], expires_at: "2099-12-31" }],
    ["POST", "/v1/users", { email: "ada@acme.example", name: "Ada Ruiz", role: "auditor" }],
    ["GET", "/v1/users"],
  ];
}

async function keep(checkout: string, folder: string): Promise<void> {
  const site = await Deno.makeTempDir({ prefix: "jiss-keep-" });
  const data = `${site}/data`;
  await run(checkout, ["init", data], {});
  const secrets = Object.fromEntries(
    (await Deno.readTextFile(`${data}/jiss.env`)).trim().split("\n").map((line) =>
      line.split(/=(.*)/).slice(0, 2)
    ),
  ) as Record<string, string>;
  const help = (await run(checkout, ["--help"], {})).text;
  const settings: Record<string, string> = {};
  // A program ends if it does not know a variable.
  const hasWebhooks = Deno.readTextFileSync(`${checkout}/migrations/mod.ts`).includes("webhooks");
  if (hasWebhooks) settings.JISS_WEBHOOK_ALLOW = "127.0.0.0/8";
  const env = { ...secrets, ...settings, JISS_DATA_DIR: data, JISS_PORT: "0", JISS_LOG: "json" };
  const service = await watch(
    new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", "--quiet", "--unstable-kv", `${checkout}/main.ts`, "serve"],
      env,
      stdin: "null",
      stdout: "piped",
      stderr: "piped",
    }).spawn(),
  );

  const keys: Record<string, string> = {};
  const suspended: string[] = [];
  for (const organization of ["acme", "quiet"]) {
    const { status, body } = await service.send("/v1/admin/org/create", {
      key: secrets.MASTER_ADMIN_KEY_ORG_CREATE!,
      headers: { "Idempotency-Key": `create-${organization}` },
      body: {
        org_id: organization,
        name: organization,
        domain: "financial",
        tier: "standard",
        allowed_origins: "",
      },
    });
    if (status !== 201) throw new Error(JSON.stringify(body));
    keys[organization] = body.api_key;
  }

  const calls: KeptCall[] = [];
  const erased: Record<string, string> = {};
  async function ask(
    method: string,
    path: string,
    { organization = "acme", body, isRepeatable = false }: {
      readonly organization?: string;
      readonly body?: unknown;
      readonly isRepeatable?: boolean;
    } = {},
  ): Promise<string | null> {
    const response = await fetch(service.url + path, {
      method,
      headers: {
        "X-API-Key": keys[organization]!,
        ...(body === undefined ? {} : { "Content-Type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (UNKNOWN.includes(response.status)) {
      console.error(`not known to it: ${method} ${path}`);
      return null;
    }
    if (!response.ok) throw new Error(`${method} ${path}: ${text}`);
    calls.push({ method, path, organization, ...(body === undefined ? {} : { body }), text, isRepeatable });
    return text;
  }

  let report = "";
  for (const [method, path, body, isRepeatable = false] of callsOf()) {
    const text = await ask(method, path.replace("{report}", report), { body, isRepeatable });
    if (path === REPORT && text !== null) report = JSON.parse(text).report.report_id;
  }
  await ask("POST", "/v1/score", {
    organization: "quiet",
    body: scoreRequest({ session_id: "q-1" }),
    isRepeatable: true,
  });
  const goes = scoreRequest({ session_id: "e-1", operator_id: "emil-who-goes" });
  const scored = await service.send("/v1/score", { key: keys.acme!, body: goes });
  const gone = await service.send("/v1/operator/emil-who-goes", { key: keys.acme!, method: "DELETE" });
  if (scored.status === 200 && gone.status === 200) erased["emil-who-goes"] = "e-1";
  const rotated = await service.send("/v1/admin/key/rotate", { key: keys.acme!, method: "POST" });
  if (rotated.status === 200) keys.acme = rotated.body.new_api_key;
  const suspend = secrets.MASTER_ADMIN_KEY_BILLING_SUSPEND;
  if (suspend !== undefined) {
    const { status } = await service.send("/v1/admin/billing/org/quiet/suspend", {
      key: suspend,
      headers: { "Idempotency-Key": "suspend-quiet" },
      body: { confirm_org_id: "quiet", idempotency_key: "suspend-quiet" },
    });
    if (status === 200) suspended.push("quiet");
    else console.error(`suspend: ${status}`);
  }
  if (help.includes("rotate-signing-key")) {
    const { code, text } = await run(checkout, ["rotate-signing-key"], env);
    if (code !== 0) throw new Error(text);
  }
  await ask("POST", "/v1/score", {
    body: scoreRequest({ session_id: "s-10", operator_id: "anna" }),
    isRepeatable: true,
  });
  await service.stop();

  const database = new DatabaseSync(`${data}/jiss.db`);
  const { version } = database.prepare("SELECT max(version) AS version FROM schema_migration").get() as {
    version: number;
  };
  database.close();
  const files: Record<string, string> = {};
  for (const name of FILES) {
    const bytes = await Deno.readFile(`${data}/${name}`).catch(() => null);
    if (bytes !== null) files[name] = bytes.toBase64();
  }
  const commit = new TextDecoder().decode(
    (await new Deno.Command("git", { args: ["-C", checkout, "rev-parse", "HEAD"] }).output()).stdout,
  ).trim();
  const kept: KeptSchema = {
    version,
    commit,
    keptAt: new Date().toISOString(),
    env: { ...secrets, ...settings },
    files,
    keys,
    suspended,
    erased,
    calls,
  };
  const path = `${folder}/schema-${version}.json.gz`;
  await Deno.writeFile(path, gzipSync(JSON.stringify(kept), { level: 9 }));
  await Deno.remove(site, { recursive: true });
  console.log(`${path}: ${calls.length} answers, ${(await Deno.stat(path)).size} bytes`);
}

if (import.meta.main) await keep(Deno.args[0]!, Deno.args[1]!);
