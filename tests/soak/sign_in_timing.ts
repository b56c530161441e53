/**
 * Whether a refused attempt to sign in tells who exists: reasons in random order, some attempts at once as they come in a
 * guessing attack, answers compared byte for byte and latencies by rank.
 */
import { SIGN_IN_FLOOR_MS } from "../../src/domain/limits.ts";
import { mannWhitney } from "../mann_whitney.ts";
import { createOrganization, freshDeployment, type RunningService, startService } from "../program.ts";
import { shapeOf, shuffled } from "./timing.ts";

const SIGNIFICANCE = 0.001;
/** Attempts under way at once. */
const AT_ONCE = 4;
/** Attempts as one user, below the limit. */
const ATTEMPTS_OF_USER = 8;
const PASSWORD = "correct horse battery";

const REASONS = ["a wrong password", "a user without a password", "a disabled user", "nobody"] as const;
type Reason = (typeof REASONS)[number];

export interface SignInTimingFigures {
  readonly reasons: Readonly<Record<string, { readonly median_ms: number }>>;
  /** Pairs that two runs tell apart. */
  readonly told_apart: readonly string[];
  readonly below_floor: number;
  /** 1 if no reason shows in the answer. */
  readonly different_answers: number;
}

interface Refusal {
  readonly reason: Reason;
  readonly latency: number;
  readonly shape: string;
}

export async function signInTiming(
  { attempts, seed }: { readonly attempts: number; readonly seed: string },
): Promise<SignInTimingFigures> {
  const deployment = await freshDeployment();
  const service = await startService(["serve"], {
    env: { ...deployment.env, JISS_RATE_LIMIT_IP: "1000000" },
  });
  try {
    const key = await createOrganization(service, deployment.env);
    const first = await sample(service, key, { attempts, seed });
    const suspects = pairsToldApart(first);
    const second = suspects.length === 0
      ? []
      : await sample(service, key, { attempts, seed: `${seed}-again` });
    const again = new Set(second.length === 0 ? [] : pairsToldApart(second));
    const all = [...first, ...second];
    return {
      reasons: Object.fromEntries(REASONS.map((reason) => [reason, { median_ms: medianOf(first, reason) }])),
      told_apart: suspects.filter((pair) => again.has(pair)),
      below_floor: all.filter(({ latency }) => latency < SIGN_IN_FLOOR_MS).length,
      different_answers: new Set(all.map(({ shape }) => shape)).size,
    };
  } finally {
    await service.stop();
    await deployment.remove();
  }
}

/** Makes users for each reason, and refuses each as often as asked. */
async function sample(
  service: RunningService,
  key: string,
  { attempts, seed }: { readonly attempts: number; readonly seed: string },
): Promise<readonly Refusal[]> {
  const users = Math.ceil(attempts / ATTEMPTS_OF_USER);
  const planned: { readonly reason: Reason; readonly email: string }[] = [];
  for (const [place, reason] of REASONS.entries()) {
    for (let user = 0; user < users; user += 1) {
      const email = `${seed}-${place}-${user}@acme.example`;
      await prepare(service, key, { reason, email });
      const count = Math.min(ATTEMPTS_OF_USER, attempts - user * ATTEMPTS_OF_USER);
      planned.push(...Array.from({ length: count }, () => ({ reason, email })));
    }
  }
  const queue = [...shuffled(planned, seed)];
  const refusals: Refusal[] = [];
  await Promise.all(Array.from({ length: AT_ONCE }, async () => {
    for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
      refusals.push(await refused(service, next));
    }
  }));
  return refusals;
}

async function prepare(
  service: RunningService,
  key: string,
  { reason, email }: { readonly reason: Reason; readonly email: string },
): Promise<void> {
  if (reason === "nobody") return;
  const send = async (path: string, options: Parameters<RunningService["send"]>[1]) => {
    const { status, body } = await service.send(path, options);
    if (status >= 300) throw new Error(`${path}: ${status} ${JSON.stringify(body)}`);
    return body;
  };
  const user = await send("/v1/users", {
    key,
    method: "POST",
    body: { email, name: "A user", role: "viewer" },
  });
  if (reason === "a user without a password") return;
  const token = user.link.split("#")[1];
  await send("/v1/sign-in/link/use", { method: "POST", body: { token, password: PASSWORD } });
  if (reason === "a wrong password") return;
  const change = { name: "A user", role: "viewer", disabled: true };
  await send(`/v1/users/${user.user_id}`, { key, method: "PUT", body: change });
}

async function refused(
  { url }: RunningService,
  { reason, email }: { readonly reason: Reason; readonly email: string },
): Promise<Refusal> {
  const sentAt = performance.now();
  const answer = await fetch(`${url}/v1/sign-in`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ email, password: "a wrong password" }),
  });
  const text = await answer.text();
  const latency = performance.now() - sentAt;
  const names = [...answer.headers.keys()].filter((name) => name !== "date").join();
  if (answer.status !== 401) throw new Error(`${reason}: ${answer.status} ${text}`);
  return { reason, latency, shape: shapeOf(`${names}\r\n${text}`) };
}

function latenciesOf(refusals: readonly Refusal[], reason: Reason): readonly number[] {
  return refusals.filter((one) => one.reason === reason).map(({ latency }) => latency);
}

function pairsToldApart(refusals: readonly Refusal[]): readonly string[] {
  const pairs = REASONS.flatMap((one, index) =>
    REASONS.slice(index + 1).map((other) => [one, other] as const)
  );
  return pairs.filter(([one, other]) =>
    mannWhitney(latenciesOf(refusals, one), latenciesOf(refusals, other)).p < SIGNIFICANCE / pairs.length
  ).map((pair) => pair.join(" | "));
}

function medianOf(refusals: readonly Refusal[], reason: Reason): number {
  const sorted = [...latenciesOf(refusals, reason)].sort((a, b) => a - b);
  return Math.round(sorted[sorted.length >> 1]!);
}
