/** Every view of the console, and every other page that a person reads: the pictures, the other browsers and the soak go through these lists. */
import assert from "node:assert/strict";
import type { DemoService } from "./demo_service.ts";

/** What the views of single things show: the demo's own, or what `fillDemo` has made. */
export interface Shown {
  readonly operator: string;
  /** An exercise of the catalogue, which has a sheet. */
  readonly exercise: string;
  readonly decision: string;
  readonly report: string;
  readonly case: string;
  readonly webhook: string;
}

export interface ConsoleView {
  /** Name of the view, and of its picture's file. */
  readonly name: string;
  /** The route below `/console`, as `src/web/console/main.tsx` writes it. */
  readonly route: string;
  /** The address below `/console`. */
  readonly at: (shown: Shown) => string;
}

function alone(name: string, route: string): ConsoleView {
  return { name, route, at: () => route };
}

/** The views behind the sign-in. A test compares them with the console's routes. */
export const CONSOLE_VIEWS: readonly ConsoleView[] = [
  alone("home", ""),
  alone("operators", "/operators"),
  alone("trends", "/trends"),
  { name: "operator", route: "/operators/:id", at: ({ operator }) => `/operators/${operator}` },
  {
    name: "exercise-sheet",
    route: "/operators/:id/sheets/:exercise",
    at: ({ operator, exercise }) => `/operators/${operator}/sheets/${exercise}`,
  },
  alone("decisions", "/decisions"),
  { name: "replay", route: "/decisions/:id", at: ({ decision }) => `/decisions/${decision}` },
  alone("labels", "/labels"),
  alone("reports", "/reports"),
  { name: "report", route: "/reports/:id", at: ({ report }) => `/reports/${report}` },
  alone("cases", "/cases"),
  { name: "case", route: "/cases/:id", at: (shown) => `/cases/${shown.case}` },
  alone("alerts", "/alerts"),
  alone("contests", "/contests"),
  alone("audit-log", "/audit-log"),
  alone("webhooks", "/webhooks"),
  { name: "webhook", route: "/webhooks/:id", at: ({ webhook }) => `/webhooks/${webhook}` },
  alone("users", "/users"),
  alone("keys", "/key"),
  alone("account", "/account"),
  alone("link-while-signed-in", "/link"),
  alone("verify", "/verify"),
];

/** Pages without a sign-in; those of one person stand behind a link, which `fillDemo` issues. */
export interface Links {
  /** A reviewer's own page. */
  readonly me: string;
  /** A run of an exercise. */
  readonly exercise: string;
}

export interface OpenPage {
  readonly name: string;
  readonly at: (links: Links) => string;
  /** A selector of what stands on the page once it is drawn. */
  readonly drawn: string;
}

export const OPEN_PAGES: readonly OpenPage[] = [
  { name: "sign-in", at: () => "/console", drawn: "h1" },
  { name: "verify-without-sign-in", at: () => "/console/verify", drawn: "#bundle" },
  { name: "demo", at: () => "/demo", drawn: "h1" },
  { name: "docs", at: () => "/docs", drawn: "h1" },
  { name: "errors", at: () => "/docs/errors", drawn: "h1" },
  { name: "me", at: ({ me }) => me, drawn: "h2" },
  { name: "exercise", at: ({ exercise }) => exercise, drawn: "h1" },
];

/** The destination that `fillDemo` registers; nobody listens there. */
const DESTINATION = "https://127.0.0.1:9/jiss";
/** The environment in which `fillDemo` may register it. */
export const FILLED: Readonly<Record<string, string>> = { JISS_WEBHOOK_ALLOW: "127.0.0.0/8" };

// deno-lint-ignore no-explicit-any -- an answer is whatever the service said
type Json = any;

async function ask({ service, key }: DemoService, path: string, body?: unknown): Promise<Json> {
  const answer = await service.send(path, { key, ...(body === undefined ? {} : { method: "POST", body }) });
  assert.ok(answer.status < 300, `${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body;
}

/**
 * Adds a report and a destination, so that each view of a single thing has one; the operator must have decisions, a case and a
 * recommendation. The service needs the environment `FILLED`.
 */
export async function fillOrganization(demo: DemoService, operator: string): Promise<Shown> {
  const { report } = await ask(demo, "/v1/compliance/report");
  const { id: webhook } = await ask(demo, "/v1/admin/webhook/register", {
    url: DESTINATION,
    secret: "a-secret-of-the-receiver",
  });
  const { exercises: [exercise] } = await ask(demo, "/v1/maintenance/recommend", { operator_id: operator });
  const { decisions: [decided] } = await ask(demo, `/v1/organization/decisions?operator_id=${operator}`);
  const { cases: [followUp] } = await ask(demo, `/v1/cases?operator_id=${operator}`);
  return {
    operator,
    exercise: exercise.id,
    decision: decided.id,
    report: report.report_id,
    case: followUp.case_id,
    webhook,
  };
}

/** Adds to the demo what it lacks, besides an exercise that is set and the links of one reviewer. */
export async function fillDemo(demo: DemoService): Promise<Shown & { readonly links: Links }> {
  const { cases: [{ operator_id: operator }] } = await ask(demo, "/v1/cases");
  const { can_be_set: [held] } = await ask(demo, "/v1/exercises");
  const { link: exercise } = await ask(demo, "/v1/exercises", {
    operator_id: operator,
    exercise_id: held.exercise_id,
    difficulty: held.difficulties[0],
    language: "en",
  });
  const { link: me } = await ask(demo, `/v1/operator/${operator}/page-link`, {});
  return { ...await fillOrganization(demo, operator), links: { me, exercise } };
}
