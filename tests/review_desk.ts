/** The servers of examples/review-desk as processes of their own, and a reviewer who plays at them. */
import assert from "node:assert/strict";
import library from "../examples/review-desk/library.json" with { type: "json" };
import type { Harness } from "./harness.ts";
import { baseEnvironment } from "./program.ts";

export const FOLDER = `${import.meta.dirname}/../examples/review-desk`;

export type Language = "TypeScript" | "Python";
export const LANGUAGES: readonly Language[] = ["TypeScript", "Python"];

/** What a test of a language needs, as the end of its name; empty if it needs nothing. */
export const NEEDS: Readonly<Record<Language, string>> = { TypeScript: "", Python: "[needs python3]" };

export function isMissing(language: Language): boolean {
  if (language === "TypeScript") return false;
  try {
    const args = ["--version"];
    return !new Deno.Command("python3", { args, stdout: "null", stderr: "null" }).outputSync().success;
  } catch {
    return true;
  }
}

export interface Desk {
  readonly origin: string;
  /** Everything that it wrote to its output so far. */
  output(): string;
  stop(): Promise<void>;
}

export interface DeskOptions {
  readonly jiss: string;
  readonly key: string;
  readonly args?: readonly string[];
}

/** Starts a desk on a free port and waits until it listens. @throws if it ends before. */
export async function startDesk(language: Language, { jiss, key, args = [] }: DeskOptions): Promise<Desk> {
  const [command, ...line] = language === "Python" ? ["python3", "-B", `${FOLDER}/server.py`] : [
    ...[Deno.execPath(), "run", "--quiet", "--no-prompt", "--no-config", "--allow-net", "--allow-read"],
    ...["--allow-env=DESK_JISS_URL,DESK_API_KEY,PORT", `${FOLDER}/server.ts`],
  ];
  const child = new Deno.Command(command!, {
    args: [...line, ...args],
    clearEnv: true,
    env: { ...baseEnvironment(), DESK_JISS_URL: jiss, DESK_API_KEY: key, PORT: "0" },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  let output = "";
  const listening = Promise.withResolvers<string>();
  const drain = async (stream: ReadableStream<Uint8Array>) => {
    const decoder = new TextDecoder();
    for await (const piece of stream) {
      output += decoder.decode(piece, { stream: true });
      const found = /review desk at (http:\S+)\n/.exec(output);
      if (found !== null) listening.resolve(found[1]!);
    }
  };
  const ended = Promise.all([drain(child.stdout), drain(child.stderr), child.status]);
  ended.then(() => listening.reject(new Error(`the desk ended before it listened: ${output}`)));
  return {
    origin: await listening.promise,
    output: () => output,
    async stop() {
      child.kill("SIGTERM");
      await ended;
    },
  };
}

// ---- what a desk answers ------------------------------------------------------------------------------------

export interface ShownContent {
  readonly purpose: string;
  readonly asked: number;
  readonly recommended: number;
}

export interface LedgerLine {
  readonly case: string;
  readonly session_id: string;
  readonly reviewer: string;
  readonly decision: string;
  readonly labelled: boolean;
}

// deno-lint-ignore no-explicit-any -- an answer is whatever the desk said
export async function askDesk({ origin }: Pick<Desk, "origin">, path: string): Promise<any> {
  return await (await fetch(origin + path)).json();
}

export async function ledgerOf(desk: Pick<Desk, "origin">): Promise<readonly LedgerLine[]> {
  return (await askDesk(desk, "/ledger")).decisions;
}

/** Waits until JISS has everything. @returns what it refused. */
export async function emptied(
  desk: Pick<Desk, "origin">,
): Promise<readonly { readonly path: string; readonly status: number }[]> {
  for (;;) {
    const { waiting, set_aside } = await askDesk(desk, "/outbox");
    if (waiting === 0) return set_aside;
    await new Promise((next) => setTimeout(next, 25));
  }
}

// ---- what the player knows ----------------------------------------------------------------------------------

export interface Known {
  readonly isProbe: boolean;
  /** Null for a live case. */
  readonly truth: { readonly ai_correct: boolean; readonly from: number; readonly to: number } | null;
  /** The factor of the amounts that are shown. */
  readonly factor: number;
}

/** What the library says of the case that is shown. Each purpose occurs once there. */
export function knownOf({ purpose, asked }: Pick<ShownContent, "purpose" | "asked">): Known {
  const probe = library.probes.find((content) => content.purpose === purpose);
  const content = probe ?? library.cases.find((content) => content.purpose === purpose);
  assert.ok(content !== undefined, purpose);
  return { isProbe: probe !== undefined, truth: probe?.truth ?? null, factor: asked / content.asked };
}

/** A reviewer who uses the desk's calls without a browser. */
export interface Player {
  post(path: string, body: unknown): Promise<Response>;
  // deno-lint-ignore no-explicit-any -- a case as the desk shows it
  next(): Promise<any>;
  decide(name: string, decision: string, amount?: number): Promise<number>;
}

export async function signIn({ origin }: Pick<Desk, "origin">, reviewer: string): Promise<Player> {
  let cookie = "";
  const post = (path: string, body: unknown) =>
    fetch(origin + path, {
      method: "POST",
      headers: { "Content-Type": "application/json", Cookie: cookie },
      body: JSON.stringify(body),
    });
  const answer = await post("/api/sign-in", { reviewer });
  assert.equal(answer.status, 200, await answer.text());
  cookie = answer.headers.get("Set-Cookie")!.split(";")[0]!;
  return {
    post,
    async next() {
      const answer = await post("/api/next", {});
      assert.equal(answer.status, 200);
      return await answer.json();
    },
    async decide(name, decision, amount) {
      const measurement = { time_to_decision_ms: 9000 };
      const answer = await post("/api/decisions", { case: name, decision, amount, measurement });
      await answer.body?.cancel();
      return answer.status;
    },
  };
}

// ---- a JISS whose clock the test moves ----------------------------------------------------------------------

export interface ServedHarness {
  readonly url: string;
  /** Answers in place of JISS, or undefined; null: all pass. */
  intercept: ((path: string) => Response | Promise<Response> | undefined) | null;
  close(): Promise<void>;
}

/** Serves the application of a harness on loopback. */
export function serveHarness(harness: Harness): ServedHarness {
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
    const own = await served.intercept?.(new URL(request.url).pathname);
    if (own === undefined) return await harness.app.fetch(request, { peer: "127.0.0.1" });
    await request.body?.cancel();
    return own;
  });
  const served: ServedHarness = {
    url: `http://127.0.0.1:${server.addr.port}`,
    intercept: null,
    close: () => server.shutdown(),
  };
  return served;
}
