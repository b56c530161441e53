/**
 * Reads do not slow down with history: every GET of the catalogue that reads the database, with 1,000,000
 * interactions and with 10,000. The application is asked without a network, which would only hide the
 * difference.
 */
import { ROUTES } from "../../src/http/routes.ts";
import { type BenchOptions, median, type Ratio, type Row, timed } from "./figures.ts";
import { type History, openHistory } from "./history.ts";
import {
  ask,
  ASKED_ORGANIZATION,
  historyPlans,
  operatorName,
  type Question,
  reportPath,
} from "./history_plan.ts";

const AT_MOST = 1.5;
const WARM_UP_ROUNDS = 5;
const ROUNDS_MAX = 200;
/** The time for a read of both histories together, unless its first rounds take longer. */
const BUDGET_MS = 5_000;
const QUICK_BUDGET_MS = 1_000;
const QUARTER_DAYS = 90;

interface Read {
  /** The catalogue's operation, or a name for what is not in the catalogue. */
  readonly operation: string;
  readonly name: string;
  question(history: History, round: number): Question;
  /** How many items the answer has, if its time grows with them: the time of one item is compared. */
  readonly each?: (history: History) => { readonly of: string; readonly count: number };
  /** Whether to wait only for the first bytes of the answer. */
  readonly begins?: true;
}

/** GETs that read nothing from the database. */
const WITHOUT_DATABASE = ["getSelfDescription", "getOpenApi", "getShadow"];

/** GETs of a signed-in user: they read the organization's users and sessions, whatever the history. */
const OF_SESSIONS = ["getMe", "getSessions", "getPasskeys", "getUserSessions"];

/** With the organization's key. */
function own(path: string): Read["question"] {
  return ({ facts }) => ({ path, key: facts.key });
}

/** Takes the operators in turn. */
function ofOperator(rest: string): Read["question"] {
  return ({ facts }, round) => ({
    path: `/v1/operator/${operatorName(round % facts.operators)}/${rest}`,
    key: facts.key,
  });
}

const entries: Read["each"] = ({ facts }) => ({ of: "entry", count: facts.entries });

const READS: readonly Read[] = [
  { operation: "getHealth", name: "health", question: () => ({ path: "/" }) },
  { operation: "getProfile", name: "profile", question: ofOperator("profile") },
  {
    operation: "getProfile",
    name: "profile with projection",
    question: ofOperator("profile?include=projection"),
  },
  { operation: "getSparkline", name: "sparkline of 90 days", question: ofOperator("sparkline?days=90") },
  {
    operation: "getSubjectAccess",
    name: "subject access, of each record",
    question: ofOperator("export"),
    each: ({ facts }) => ({ of: "record", count: facts.records }),
  },
  { operation: "getOperators", name: "operators", question: own("/v1/organization/operators?limit=200") },
  {
    operation: "getOperators",
    name: "operators with sparklines",
    question: own("/v1/organization/operators?limit=200&sort=-jis&include=sparkline"),
  },
  {
    operation: "getOperators",
    name: "operators by verdict",
    question: own("/v1/organization/operators?limit=50&sort=verdict&include=sparkline"),
  },
  { operation: "getDashboard", name: "dashboard", question: own("/v1/organization/dashboard") },
  { operation: "getWeeks", name: "weeks", question: own("/v1/organization/weeks") },
  { operation: "getProbes", name: "probes", question: own("/v1/probes") },
  { operation: "getProbeSummary", name: "summary of probes", question: own("/v1/probes/summary") },
  { operation: "getProbePolicy", name: "policy of probes", question: own("/v1/probes/policy") },
  { operation: "getExercises", name: "exercises", question: own("/v1/exercises") },
  {
    operation: "getExercise",
    name: "one exercise",
    question: ({ facts }) => ({ path: `/v1/exercises/${facts.exercise.id}`, key: facts.key }),
  },
  {
    operation: "getExercisePage",
    name: "page of an exercise",
    question: ({ facts }) => ({ path: `/exercise/${facts.exercise.token}/state` }),
  },
  { operation: "getCases", name: "cases", question: own("/v1/cases?state=all") },
  {
    operation: "getCase",
    name: "one case",
    question: ({ facts }) => ({ path: `/v1/cases/${facts.followUp}`, key: facts.key }),
  },
  { operation: "getAlerts", name: "alerts", question: own("/v1/organization/alerts?state=all") },
  { operation: "getContests", name: "contests", question: own("/v1/contests") },
  {
    operation: "getOwnPage",
    name: "a reviewer's own page",
    question: ({ facts }) => ({ path: `/me/${facts.ownPage}/state` }),
  },
  {
    operation: "getOwnCopy",
    name: "copy from a reviewer's own page, of each record",
    question: ({ facts }) => ({ path: `/me/${facts.ownPage}/copy` }),
    each: ({ facts }) => ({ of: "record", count: facts.records }),
  },
  { operation: "getCaseSets", name: "case sets", question: own("/v1/case-sets") },
  {
    operation: "getCaseSet",
    name: "one case set",
    question: ({ facts }) => ({ path: `/v1/case-sets/${facts.exercise.set}`, key: facts.key }),
  },
  { operation: "getDecisions", name: "decisions, newest", question: own("/v1/organization/decisions") },
  {
    operation: "getDecisions",
    name: "decisions of an operator",
    question: ({ facts }, round) => ({
      path: `/v1/organization/decisions?kind=score&operator_id=${operatorName(round % facts.operators)}`,
      key: facts.key,
    }),
  },
  {
    operation: "getReplay",
    name: "replay of a score",
    question: ({ facts }, round) => ({
      path: `/v1/decision/replay/${facts.sessions[round % facts.sessions.length]}`,
      key: facts.key,
    }),
  },
  {
    operation: "getReplay",
    name: "replay of a decision",
    question: ({ facts }) => ({ path: `/v1/decision/replay/${facts.decision}`, key: facts.key }),
  },
  { operation: "getReport", name: "report of a quarter", question: own(reportPath(QUARTER_DAYS)) },
  {
    operation: "getStoredReport",
    name: "stored report",
    question: ({ facts }) => ({ path: `/v1/compliance/report/${facts.report}`, key: facts.key }),
  },
  { operation: "getReports", name: "reports", question: own("/v1/compliance/reports") },
  { operation: "getArticle14", name: "Article 14", question: own("/v1/compliance/article14") },
  { operation: "getCheckpoint", name: "checkpoint", question: own("/v1/audit/checkpoint") },
  {
    operation: "getChainProof",
    name: "proof of an entry",
    question: ({ facts }, round) => ({
      path: `/v1/audit/chain/proof/${(round * 7919) % facts.entries}`,
      key: facts.key,
    }),
  },
  {
    operation: "getChainVerification",
    name: "chain verification, of each entry",
    question: own("/v1/audit/chain/verify"),
    each: entries,
  },
  {
    operation: "getChainExport",
    name: "bundle, its first bytes",
    question: own("/v1/audit/chain/export"),
    begins: true,
  },
  {
    operation: "getChainExport",
    name: "bundle, of each entry",
    question: own("/v1/audit/chain/export"),
    each: entries,
  },
  {
    operation: "getAdminChainVerification",
    name: "audit log's verification",
    question: own("/v1/admin/audit/verify-chain"),
  },
  { operation: "getAuditLog", name: "audit log", question: own("/v1/admin/audit-log") },
  { operation: "getAuditLogExport", name: "audit log's export", question: own("/v1/admin/audit-log/export") },
  { operation: "getKeys", name: "named keys", question: own("/v1/keys") },
  { operation: "getUsers", name: "users", question: own("/v1/users") },
  { operation: "getWebhooks", name: "webhooks", question: own("/v1/admin/webhook/list") },
  {
    operation: "getDeliveries",
    name: "deliveries",
    question: ({ facts }) => ({ path: `/v1/admin/webhook/${facts.webhook}/deliveries`, key: facts.key }),
  },
  {
    operation: "getUsage",
    name: "usage",
    question: ({ env }) => ({
      path: `/v1/admin/org/${ASKED_ORGANIZATION}/usage`,
      key: env.MASTER_ADMIN_KEY_ORG_USAGE_READ!,
    }),
  },
  {
    operation: "getAssessment",
    name: "demo run",
    question: ({ facts }) => ({ path: `/assessments/${facts.assessment}` }),
  },
  { operation: "getPublicKeys", name: "public keys", question: () => ({ path: "/.well-known/jwks.json" }) },
  {
    operation: "postMaintenance",
    name: "recommended exercises",
    question: ({ facts }, round) => ({
      path: "/v1/maintenance/recommend",
      key: facts.key,
      body: { operator_id: operatorName(round % facts.operators) },
    }),
  },
];

export async function readsAndHistory({ quick }: BenchOptions): Promise<readonly Row[]> {
  requireComplete();
  const plans = historyPlans(quick);
  const few = await openHistory(plans.few);
  const many = await openHistory(plans.many);
  try {
    const rows: Row[] = [];
    for (const read of READS) rows.push(await compare(read, { few, many, quick }));
    return rows;
  } finally {
    await few.service.close();
    await many.service.close();
  }
}

/** @throws if the catalogue has a GET that no read here asks. */
export function requireComplete(): void {
  const known = new Set([...READS.map(({ operation }) => operation), ...WITHOUT_DATABASE, ...OF_SESSIONS]);
  const missing = ROUTES.filter(({ method, operationId }) => method === "GET" && !known.has(operationId));
  if (missing.length > 0) {
    throw new Error(`no read asks ${missing.map(({ operationId }) => operationId).join(", ")}`);
  }
}

async function compare(
  read: Read,
  { few, many, quick }: { readonly few: History; readonly many: History; readonly quick: boolean },
): Promise<Ratio> {
  const times = { few: [] as number[], many: [] as number[] };
  const budget = quick ? QUICK_BUDGET_MS : BUDGET_MS;
  // A read of everything is warm by itself, and may take minutes.
  const warmUp = read.each === undefined ? WARM_UP_ROUNDS : 0;
  if (warmUp === 0) await answer(read, few, 0);
  const started = performance.now();
  // Interleaved, and each first in turn, so that a busy moment of the machine, and what one read leaves
  // behind, affects both.
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    if (round > warmUp && performance.now() - started > budget) break;
    const order = round % 2 === 0 ? (["few", "many"] as const) : (["many", "few"] as const);
    for (const which of order) {
      const taken = await timed(() => answer(read, which === "few" ? few : many, round));
      if (round >= warmUp) times[which].push(taken);
    }
  }
  const figure = (history: History, all: readonly number[]) => {
    const { of, count } = read.each?.(history) ?? { of: null, count: 1 };
    const { interactions } = history.facts;
    const perItem = of === null ? "" : `, for each ${of} of ${count.toLocaleString("en")}`;
    return {
      of: `${interactions.toLocaleString("en")} interactions; median of interleaved rounds${perItem}`,
      value: 1000 * median(all) / count,
      unit: "µs" as const,
    };
  };
  return {
    name: read.name,
    baseline: figure(few, times.few),
    measured: figure(many, times.many),
    goal: { atMost: AT_MOST },
  };
}

/**
 * Reads the answer's bytes without keeping or parsing them: what a client does with them is not the service's
 * cost.
 */
async function answer(read: Read, history: History, round: number): Promise<void> {
  const { body } = await ask(history.service, read.question(history, round));
  if (body === null) return;
  for await (const _ of body) if (read.begins) return;
}
