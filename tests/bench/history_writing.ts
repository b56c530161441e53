/** Fills a database with a history: one call of the service's own operation for each interaction. */
import type { Service } from "../../src/service/compose.ts";
import type { Interaction } from "../../src/domain/interaction.ts";
import { apiKeyPrefix } from "../../src/keys/api_key.ts";
import type { Dependencies } from "../../src/operations/dependencies.ts";
import { createOrganization } from "../../src/operations/organizations/organizations.ts";
import { scoreInteraction } from "../../src/operations/scoring/score.ts";
import {
  type ArchetypeName,
  ARCHETYPES,
  DEFAULT_ENVIRONMENT,
  drawInteraction,
  drawOperator,
  type Operator,
} from "../../src/simulation/archetypes.ts";
import { seeded } from "../../src/simulation/random.ts";
import {
  ask,
  ASKED_ORGANIZATION,
  DAY_MS,
  DAYS,
  type Facts,
  HISTORY_END,
  HISTORY_START,
  type HistoryPlan,
  interactionsOf,
  operatorName,
  organizationName,
  reportPath,
} from "./history_plan.ts";

/** Interactions that are given to the writer at once: fewer than its queue holds. */
const AT_ONCE = 7_500;
/** The number of interactions between two messages about progress. */
const TELL_EVERY = 75_000;
/** Sessions that are replayed, from the middle of the history. */
const SESSIONS = 50;
/** The number that the log of deliveries keeps. */
const DELIVERIES = 1_000;

interface Reviewer {
  /** Its index. */
  readonly organization: number;
  readonly operatorId: string;
  readonly operator: Operator;
  interactions: number;
}

interface Event {
  readonly reviewer: Reviewer;
  readonly sessionId: string;
  readonly interaction: Interaction;
  readonly at: number;
}

export async function writeHistory(service: Service, plan: HistoryPlan): Promise<Facts> {
  const keys: string[] = [];
  for (let index = 0; index < plan.organizations; index += 1) {
    keys.push(await newOrganization(service, organizationName(index)));
  }
  const sessions: string[] = [];
  const started = performance.now();
  let written = 0;
  let waiting: Event[] = [];
  for (const round of roundsOf(plan)) {
    sessions.push(...round.slice(0, plan.asked).map(({ sessionId }) => sessionId));
    waiting.push(...round);
    const isLast = written + waiting.length === interactionsOf(plan);
    if (waiting.length < AT_ONCE && !isLast) continue;
    // By organization, and within each in order of time: a commit signs each chain that it touches.
    const inOrder = waiting.toSorted((a, b) => a.reviewer.organization - b.reviewer.organization);
    await Promise.all(inOrder.map((event) => scoreEvent(service.dependencies, { event, keys })));
    written += waiting.length;
    waiting = [];
    if (written % TELL_EVERY === 0 || isLast) {
      const seconds = Math.round((performance.now() - started) / 1000);
      console.error(`${plan.name}: ${written} of ${interactionsOf(plan)} interactions after ${seconds} s`);
    }
  }
  return await addRecords(service, { key: keys[0]!, sessions });
}

/** One interaction of each asked operator, then those of the others whose turn it is. */
function* roundsOf(plan: HistoryPlan): Generator<readonly Event[]> {
  const { asked, operators, rounds } = plan;
  const reviewers = Array.from({ length: operators }, (_, index) => reviewerOf(index, plan));
  const random = seeded(`history/${plan.name}`);
  let others = 0;
  for (let round = 0; round < rounds; round += 1) {
    const start = HISTORY_START + Math.floor(round * DAYS * DAY_MS / rounds);
    yield Array.from({ length: interactionsOf(plan) / rounds }, (_, index) => {
      const isAsked = index < asked;
      const reviewer = reviewers[isAsked ? index : asked + others % (operators - asked)]!;
      if (!isAsked) others += 1;
      const { operator, interactions } = reviewer;
      reviewer.interactions += 1;
      return {
        reviewer,
        sessionId: `session-${round}-${index}`,
        interaction: drawInteraction(operator, interactions, DEFAULT_ENVIRONMENT, random),
        at: start + index,
      };
    });
  }
}

function reviewerOf(index: number, { asked, organizations }: HistoryPlan): Reviewer {
  const archetypes = Object.keys(ARCHETYPES) as ArchetypeName[];
  const random = seeded(`reviewer/${index}`);
  return {
    organization: index < asked ? 0 : 1 + index % (organizations - 1),
    operatorId: operatorName(index),
    operator: drawOperator(archetypes[index % archetypes.length]!, random),
    interactions: 0,
  };
}

async function newOrganization({ dependencies }: Service, orgId: string): Promise<string> {
  const { body } = await createOrganization(
    dependencies,
    { actor: "system", orgId: null, prefix: null },
    {
      organization: {
        org_id: orgId,
        name: orgId,
        domain: "financial",
        tier: "enterprise",
        allowed_origins: [],
      },
      call: { now: HISTORY_START, requestId: dependencies.world.ulid(HISTORY_START) },
      scope: null,
      idempotency: null,
      apiKey: null,
    },
  );
  return body.api_key as string;
}

async function scoreEvent(
  dependencies: Dependencies,
  { event: { reviewer, sessionId, interaction, at }, keys }: {
    readonly event: Event;
    /** The organizations' keys, in their order. */
    readonly keys: readonly string[];
  },
): Promise<void> {
  const { organization, operatorId } = reviewer;
  await scoreInteraction(dependencies, {
    actor: "api",
    orgId: organizationName(organization),
    prefix: apiKeyPrefix(keys[organization]!),
  }, {
    request: {
      session_id: sessionId,
      operator_id: operatorId,
      domain: "financial",
      interaction,
      mode: "full",
      role_tier: "tier_1",
      mode_override: "normal",
    },
    call: { now: at, requestId: dependencies.world.ulid(at) },
  });
}

/** Everything else that can be read: the same in each history. */
async function addRecords(
  service: Service,
  { key, sessions }: {
    readonly key: string;
    readonly sessions: readonly string[];
  },
): Promise<Facts> {
  const { database, world } = service.dependencies;
  const posted = async (path: string, body: unknown) =>
    await (await ask(service, { path, key, body })).json();
  const decision = await posted("/v1/decision/score", {
    operator_id: operatorName(0),
    domain: "financial",
    time_to_decision_ms: 9_000,
    decision: "accepted",
  });
  const report = await (await ask(service, { path: reportPath(DAYS), key })).json();
  for (let days = 1; days < DAYS; days += 1) {
    await (await ask(service, { path: reportPath(days, days - 1), key })).body?.cancel();
  }
  const webhook = await posted("/v1/admin/webhook/register", {
    url: "https://198.41.0.4/hook",
    secret: "secret-of-the-bench-0001",
  });
  // Written past the service, so that nothing is sent.
  await database.batch(Array.from({ length: DELIVERIES }, (_, index) => ({
    sql:
      `INSERT INTO webhook_delivery (delivery_id, webhook_id, sequence, event, request_id, at, redelivery_of, status,
      counted, attempts, created_at, finished_at, next_at, lease, lease_until)
      VALUES (?, ?, NULL, 'score.committed', ?, ?, NULL, 'delivered', 1, ?, ?, ?, 0, NULL, 0)`,
    parameters: [
      crypto.randomUUID(),
      webhook.id,
      world.ulid(HISTORY_END),
      HISTORY_END - index,
      JSON.stringify([{
        at: new Date(HISTORY_END).toISOString(),
        response_status: 200,
        error: null,
        duration_ms: 12,
        counted: true,
      }]),
      HISTORY_END - index,
      HISTORY_END - index,
    ],
  })));
  const assessment = await posted("/assessments", {
    sessionId: "visit-1",
    records: [{ time_to_decision_ms: 9_000, decision: "rejected", outcome_correct: true }],
  });
  const exercise = await posted("/v1/exercises", {
    operator_id: operatorName(0),
    exercise_id: "ex_error_detection_1",
    domain: "financial",
  });
  const { link } = await posted(`/v1/operator/${operatorName(0)}/page-link`, {});
  const followUp = await posted("/v1/cases", {
    operator_id: operatorName(0),
    statement: "A case of the bench.",
  });
  const [{ size }] = await database.read<{ size: number }>({
    sql: "SELECT sum(size) AS size FROM audit_chain WHERE family = ?",
    parameters: [`org/${ASKED_ORGANIZATION}`],
    query: {} as never,
    queryId: {} as never,
  }) as [{ size: number }];
  const middle = Math.floor(sessions.length / 2);
  return {
    key,
    sessions: sessions.slice(middle, middle + SESSIONS),
    decision: decision.decision_id,
    report: report.report.report_id,
    webhook: webhook.id,
    assessment: assessment.sessionId,
    exercise: {
      id: exercise.run_id,
      token: exercise.link.split("/").at(-1),
      set: exercise.input.case_set.sha256,
    },
    ownPage: link.split("/").at(-1),
    followUp: followUp.case_id,
    entries: size,
  };
}
