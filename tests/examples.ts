/** The records that the catalogue's examples name, made over the service's own endpoints. */
import type { Route } from "../src/http/exchange.ts";
import { ROUTES } from "../src/http/routes.ts";

/** Sends a request of an organization, which must succeed; returns the body. */
// deno-lint-ignore no-explicit-any -- an answer is whatever the service said
export type Ask = (path: string, body?: unknown) => Promise<any>;

/** The secret with which a webhook is registered; the catalogue's examples show another one. */
export const SHARED_SECRET = "a-secret-that-a-receiver-shared-2026";

/** A destination on loopback at which nobody listens; the service must be allowed to call it. */
export const NOBODY = "https://127.0.0.1:9/jiss";

/**
 * Makes records of every kind, almost all of one operator, under the names that the examples use; returns the
 * names that only the service can give.
 * @param deliver makes an attempt at what is due, or waits until the service may have made one.
 */
export async function fillExamples(
  ask: Ask,
  deliver: () => Promise<unknown>,
): Promise<Readonly<Record<string, string>>> {
  await ask("/v1/score/batch", {
    operator_id: "reviewer-ada",
    domain: "financial",
    interactions: Array.from({ length: 60 }, (_, index) => ({
      session_id: `case-2025-${index}`,
      time_to_decision_ms: 9000 + 100 * index,
      decision: index % 7 === 0 ? "rejected" : "accepted",
    })),
  });
  await ask("/v1/score", bodyOf("postScore"));
  await ask("/v1/score?mode=lite&role_tier=tier_2", bodyOf("postScore", 1));
  await ask("/v1/score/batch", bodyOf("postBatch"));
  await ask("/v1/score/case-2025-0/commit", { outcome_correct: true });
  await ask("/v1/score?mode_override=incident_frozen", bodyOf("postScore", 2));
  await ask("/v1/decision/score", bodyOf("postDecision"));
  const { probe_id } = await ask("/v1/probes", {
    domain: "financial",
    stakes: "standard",
    ai_correct: false,
  });
  const set = await ask("/v1/case-sets", bodyOf("postCaseSet"));
  const exercise = await ask("/v1/exercises", bodyOf("postExercise"));
  await ask("/assessments", bodyOf("postAssessment"));
  const { report } = await ask("/v1/compliance/report?period_start=2026-11-01&period_end=2026-12-01");
  const { id } = await ask("/v1/admin/webhook/register", { url: NOBODY, secret: SHARED_SECRET });
  const { key_id } = await ask("/v1/keys", { name: "for the examples", scopes: ["read"] });
  await ask("/v1/score/case-2025-1/commit", {});
  let dead;
  while (dead === undefined) {
    await deliver();
    [dead] = (await ask(`/v1/admin/webhook/${id}/deliveries?status=dead`)).deliveries;
  }
  return {
    "report-of-the-example": report.report_id,
    "webhook-of-the-example": id,
    "key-of-the-example": key_id,
    "probe-of-the-example": probe_id,
    "01RUNOFTHEEXAMPLE000000000": exercise.run_id,
    "01RUNOFTHEEXAMPLE000000000.TOKENOFTHEEXAMPLE00000": exercise.link.split("/").at(-1),
    ["0".repeat(64)]: set.sha256,
    "delivery-of-the-example": dead.delivery_id,
  };
}

/** The body that an example of a write sends. */
function bodyOf(operationId: string, at = 0): unknown {
  return ROUTES.find((route) => route.operationId === operationId)!.examples[at]!.body;
}

/** The path of a route with its parameters filled in. */
export function pathOf(route: Pick<Route, "path">, values: Readonly<Record<string, string>>): string {
  return route.path.replaceAll(/\{(\w+)\}/g, (_, name) => encodeURIComponent(values[name] ?? "x"));
}

/** The path and query of an example; `names` are those that only the service can give. */
export function targetOf(
  route: Route,
  { path = {}, query = {} }: Route["examples"][number],
  names: Readonly<Record<string, string>>,
): string {
  const filled = Object.fromEntries(
    Object.entries(path).map(([name, value]) => [name, names[value] ?? value]),
  );
  const search = new URLSearchParams(query).toString();
  return `${pathOf(route, filled)}${search && `?${search}`}`;
}
