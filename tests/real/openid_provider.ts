/**
 * A real OpenID provider on loopback, npm's `oidc-provider`, as a process of Node; and a person with a browser that
 * knows nothing but cookies, redirects and forms. `.ci/run` installs the provider.
 */
import assert from "node:assert/strict";
import type { JWK } from "jose";

const ROOT = `${import.meta.dirname}/../..`;
const SCRIPT = `${import.meta.dirname}/openid_provider/provider.mjs`;
/** .ci/run makes it from openid_provider/package-lock.json. */
const MODULE = `${ROOT}/dist/tools/openid-provider/node_modules/oidc-provider/lib/index.js`;

/** Whether Node or the provider is missing. */
export function providerIsMissing(): boolean {
  try {
    Deno.statSync(MODULE);
    return !new Deno.Command("node", { args: ["--version"], stdout: "null", stderr: "null" }).outputSync()
      .success;
  } catch {
    return true;
  }
}

/** Ends providers that a failed test left running, when its file ends. */
const running = new Set<Deno.ChildProcess>();
globalThis.addEventListener("unload", () => running.forEach((child) => child.kill("SIGKILL")));

export interface Options {
  /** 0 for any that is free. */
  readonly port?: number;
  /** The client's metadata (OpenID Connect Dynamic Client Registration 1.0). */
  readonly client: Readonly<Record<string, unknown>>;
  /** Private keys, each with `alg`. The first of an algorithm signs. */
  readonly keys: readonly JWK[];
  /** Claims about everybody. */
  readonly person: Readonly<Record<string, unknown>>;
  /** Whether claims of scopes are at UserInfo alone, as the specification has it. */
  readonly claimsInUserInfo: boolean;
}

export interface RunningProvider {
  readonly issuer: string;
  readonly port: number;
  stop(): Promise<void>;
}

export async function startProvider(options: Options): Promise<RunningProvider> {
  const child = new Deno.Command("node", {
    args: [SCRIPT, JSON.stringify({ port: 0, ...options, module: MODULE })],
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  running.add(child);
  const errors = new Response(child.stderr).text();
  const lines = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  const { value } = await lines.read();
  if (value === undefined) throw new Error(`the provider did not start: ${await errors}`);
  const drained = (async () => {
    while (!(await lines.read()).done);
  })();
  const issuer = value.trim();
  return {
    issuer,
    port: Number(new URL(issuer).port),
    async stop() {
      if (!running.has(child)) return;
      child.kill("SIGTERM");
      await Promise.all([child.status, errors, drained]);
      running.delete(child);
    },
  };
}

/** A page, and the address at which it stands. */
interface Page {
  readonly url: string;
  readonly html: string;
}

export class Browser {
  readonly #cookies = new Map<string, string>();

  /** The cookies, as the browser sends them. */
  get cookie(): string {
    return [...this.#cookies].map(([name, value]) => `${name}=${value}`).join("; ");
  }

  /** Follows redirects until one leads to an address that begins with `end`, or a page comes. */
  async open(url: string, end: string, init: RequestInit = {}): Promise<Page | string> {
    let [next, request] = [url, init];
    for (let step = 0; step < 20; step += 1) {
      if (next.startsWith(end)) return next;
      const answer = await fetch(next, { ...request, redirect: "manual", headers: { cookie: this.cookie } });
      for (const set of answer.headers.getSetCookie()) {
        const [, name, value] = /^([^=]+)=([^;]*)/.exec(set)!;
        if (value === "") this.#cookies.delete(name!);
        else this.#cookies.set(name!, value!);
      }
      const html = await answer.text();
      const location = answer.headers.get("location");
      if (location === null) {
        assert.equal(answer.status, 200, html);
        return { url: next, html };
      }
      [next, request] = [new URL(location, next).href, {}];
    }
    throw new Error(`too many redirects, the last to ${next}`);
  }

  /**
   * Goes to an address, fills in each form that comes, and returns the address that begins with `end`.
   * @param fields by the names of the forms' inputs.
   */
  async visit(url: string, end: string, fields: Readonly<Record<string, string>>): Promise<string> {
    let at = await this.open(url, end);
    for (let step = 0; step < 5 && typeof at !== "string"; step += 1) {
      at = await this.open(...formOf(at, end, fields));
    }
    assert.ok(typeof at === "string", "too many forms");
    return at;
  }
}

/** The request that the first form of a page makes. */
function formOf({ url, html }: Page, end: string, fields: Readonly<Record<string, string>>) {
  const unescape = (text: string) =>
    text.replaceAll("&amp;", "&").replaceAll("&#x3D;", "=").replaceAll("&#39;", "'");
  const [, tag, inside] = /<form([^>]*)>(.*?)<\/form>/s.exec(html) ?? [];
  assert.ok(tag !== undefined, html);
  const attribute = (text: string, name: string) => new RegExp(`\\b${name}="([^"]*)"`).exec(text)?.[1];
  const body = new URLSearchParams();
  for (const [input] of inside!.matchAll(/<(?:input|button)\b[^>]*>/g)) {
    const name = attribute(input, "name");
    if (name !== undefined) body.set(name, unescape(attribute(input, "value") ?? ""));
  }
  for (const [name, value] of Object.entries(fields)) {
    if (name in Object.fromEntries(body) || /form="/.test(html)) body.set(name, value);
  }
  const target = new URL(unescape(attribute(tag!, "action") ?? ""), url).href;
  return [target, end, { method: "POST", body }] as const;
}
