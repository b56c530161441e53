/** The records that the catalogue's examples name, made over the service's own endpoints. */
import type { MasterScope } from "../src/keys/master_keys.ts";
import type { Route } from "../src/http/exchange.ts";
import { ROUTES } from "../src/http/routes.ts";

/** Sends a request of an organization, which must succeed; returns the body. */
// deno-lint-ignore no-explicit-any -- an answer is whatever the service said
export type Ask = (path: string, body?: unknown) => Promise<any>;

/** The secret with which a webhook is registered; the catalogue's examples show another one. */
export const SHARED_SECRET = "a-secret-that-a-receiver-shared-2026";

/** A destination on loopback at which nobody listens; the service must be allowed to call it. */
export const NOBODY = "https://127.0.0.1:9/jiss";

/** Uses a one-time link, which sets a password; resolves to the session, with the cookie as a browser sends it back. */
export type UseLink = (
  body: { readonly token: string; readonly password: string },
) => Promise<{ readonly cookie: string; readonly sessionId: string }>;

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
  const { link } = await ask("/v1/operator/reviewer-ada/page-link", bodyOf("postPageLink"));
  // A contest opens a case.
  await ask(`${new URL(link).pathname}/contests`, bodyOf("postContest"));
  const { cases: [followUp] } = await ask("/v1/cases");
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
    "01PAGEOFTHEEXAMPLE00000000.TOKENOFTHEEXAMPLE00000": link.split("/").at(-1),
    "01CASEOFTHEEXAMPLE00000000": followUp.case_id,
    ["0".repeat(64)]: set.sha256,
    "delivery-of-the-example": dead.delivery_id,
  };
}

/**
 * Makes the users that the examples name, and signs one in; returns the names that only the service can give. It takes
 * half a second, since passwords are hashed.
 */
export async function fillUsers(
  ask: Ask,
  useLink: UseLink,
): Promise<{ readonly names: Readonly<Record<string, string>>; readonly cookie: string }> {
  const invite = async (email: string, role: string) => {
    const { user_id, link } = await ask("/v1/users", { email, name: "A user of the examples", role });
    return { userId: user_id as string, token: String(link).split("#")[1]! };
  };
  const { userId, token } = await invite("ada.ruiz@acme.example", "admin");
  const { cookie, sessionId } = await useLink({ token, password: PASSWORD });
  const invited = await invite("cleo.park@acme.example", "viewer");
  const names = {
    ["f".repeat(64)]: sessionId,
    "usr_01ADMINOFTHEEXAMPLE0000000": userId,
    "usr_01USEROFTHEEXAMPLE00000000": invited.userId,
    [`usr_01USEROFTHEEXAMPLE00000000.${"0".repeat(43)}`]: invited.token,
  };
  return { names, cookie };
}

/** A password that the catalogue's examples send. */
const PASSWORD = "the password of the example";

/** The credentials with which the catalogue's examples are sent. */
export interface Credentials {
  readonly organizationKey: string;
  /** The cookie of the user's session, and the origin of the service's pages. */
  readonly cookie: string;
  readonly origin: string;
  readonly masterKeyOf: (scope: MasterScope) => string;
}

/** The headers of a route's key or session. */
export function credentialsFor(
  { auth }: Pick<Route, "auth">,
  { organizationKey, cookie, origin, masterKeyOf }: Credentials,
): Readonly<Record<string, string>> {
  switch (auth.kind) {
    case "none":
      return {};
    case "key":
      return { "X-API-Key": organizationKey };
    case "user":
      return { Cookie: cookie, Origin: origin };
    case "master":
      return { "X-API-Key": masterKeyOf(auth.scope) };
  }
}

/** The cookie that an answer gives, as a browser sends it back. */
export function cookieIn(headers: Headers): string {
  return headers.getSetCookie().map((cookie) => cookie.split(";")[0]!).join("; ");
}

/** The body that an example of a write sends. */
function bodyOf(operationId: string, at = 0): unknown {
  return ROUTES.find((route) => route.operationId === operationId)!.examples[at]!.body;
}

/** The path of a route with its parameters filled in. */
export function pathOf(route: Pick<Route, "path">, values: Readonly<Record<string, string>>): string {
  return route.path.replaceAll(/\{(\w+)\}/g, (_, name) => encodeURIComponent(values[name] ?? "x"));
}

/** The body of an example; `names` are those that only the service can give. */
export function filledBody(
  { body }: Route["examples"][number],
  names: Readonly<Record<string, string>>,
): Record<string, unknown> | undefined {
  if (body === undefined) return undefined;
  return filled(body, names) as Record<string, unknown>;
}

/** A value with each name in it filled in. */
function filled(value: unknown, names: Readonly<Record<string, string>>): unknown {
  if (typeof value === "string") return names[value] ?? value;
  if (Array.isArray(value)) return value.map((one) => filled(one, names));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, filled(member, names)]));
}

/** The path and query of an example; `names` are those that only the service can give. */
export function targetOf(
  route: Route,
  { path = {}, query = {} }: Route["examples"][number],
  names: Readonly<Record<string, string>>,
): string {
  const places = Object.fromEntries(
    Object.entries(path).map(([name, value]) => [name, names[value] ?? value]),
  );
  const search = new URLSearchParams(query).toString();
  return `${pathOf(route, places)}${search && `?${search}`}`;
}
