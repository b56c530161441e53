/** Shared by tests of webhooks with the whole program. */
import assert from "node:assert/strict";
import { createOrganization, freshDeployment, type RunningService, startService } from "./program.ts";
import { pastOf } from "./delivering.ts";
import { certificate, type Receiver } from "./receiver.ts";
import { scoreRequest } from "./harness.ts";

export interface WebhookProgram {
  readonly directory: string;
  readonly env: Readonly<Record<string, string>>;
  service: RunningService;
  readonly key: string;
  /** Starts the program again, after it was stopped or killed. */
  restart(env?: Readonly<Record<string, string>>): Promise<void>;
}

/** Runs a test against the program, an organization, and an operator whose scores are committed at once. */
export async function withProgram(
  env: Readonly<Record<string, string>>,
  test: (program: WebhookProgram) => Promise<void>,
): Promise<void> {
  const deployment = await freshDeployment();
  const authority = `${deployment.directory}/authority.pem`;
  await Deno.writeTextFile(authority, (await certificate()).authority);
  const all = {
    ...deployment.env,
    JISS_WEBHOOK_ALLOW: "127.0.0.0/8,::1/128",
    JISS_EXTRA_CA_FILE: authority,
    ...env,
  };
  const service = await startService(["serve"], { env: all });
  const program: WebhookProgram = {
    directory: deployment.directory,
    env: all,
    service,
    key: await createOrganization(service, all),
    async restart(more = {}) {
      program.service = await startService(["serve"], { env: { ...all, ...more } });
    },
  };
  try {
    const body = pastOf("operator-1");
    const { status } = await program.service.send("/v1/score/batch", { key: program.key, body });
    assert.equal(status, 200);
    await test(program);
  } finally {
    await program.service.stop().catch(() => {});
    await deployment.remove();
  }
}

export interface Registered {
  readonly id: string;
  readonly signing_secret: string;
}

export async function register(
  { service, key }: WebhookProgram,
  { url }: Pick<Receiver, "url">,
  fields: Record<string, unknown> = {},
): Promise<Registered> {
  const { status, body } = await service.send("/v1/admin/webhook/register", {
    key,
    body: { url: `${url}/hook`, secret: "a-secret-of-the-receiver", ...fields },
  });
  assert.equal(status, 201, JSON.stringify(body));
  return body;
}

export async function score({ service, key }: WebhookProgram, session: string) {
  const { status, body } = await service.send("/v1/score", {
    key,
    body: scoreRequest({ session_id: session }),
  });
  assert.equal(status, 200, JSON.stringify(body));
  return body;
}

export async function deliveriesOf({ service, key }: WebhookProgram, id: string, search = "") {
  const { status, body } = await service.send(`/v1/admin/webhook/${id}/deliveries${search}`, { key });
  assert.equal(status, 200, JSON.stringify(body));
  return body;
}

/** Asks again until the answer satisfies the condition. */
export async function eventually<T>(ask: () => Promise<T>, condition: (answer: T) => boolean): Promise<T> {
  for (;;) {
    const answer = await ask();
    if (condition(answer)) return answer;
    await new Promise((next) => setTimeout(next, 25));
  }
}
