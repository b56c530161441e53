/** Readers of the log that stand still or went away: the service answers, stops when it is told to, and counts lost lines. */
import assert from "node:assert/strict";
import { RELEASE_PERMISSIONS } from "../../scripts/compile.ts";
import { type Deployment, environmentOf, freshDeployment } from "../program.ts";

const MAIN = `${import.meta.dirname}/../../main.ts`;
/** Each is a line of about 190 bytes: what a pipe holds at most, 64 KiB, is full after some 350 of them. */
const FILLS_THE_PIPE = 1_000;
/** More than the pipe and the lines that wait for it, 1 MiB, can hold. */
const FILLS_ALL = 9_000;
const CONNECTIONS = 16;

type Line = Readonly<Record<string, unknown>>;

/** Takes the log's lines only when it is asked to. */
class PausingReader {
  readonly lines: Line[] = [];
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #decoder = new TextDecoder();
  #rest = "";

  constructor(stream: ReadableStream<Uint8Array>) {
    this.#reader = stream.getReader();
  }

  /** Reads until a line is there that `isIt`, and no further. @throws where the log ends before. */
  async readUntil(isIt: (line: Line) => boolean): Promise<Line> {
    for (let looked = 0;;) {
      const found = this.lines.slice(looked).find(isIt);
      if (found !== undefined) return found;
      looked = this.lines.length;
      assert.ok(await this.#readMore(), `the log ended: ${JSON.stringify(this.lines.slice(-3))}`);
    }
  }

  async readToEnd(): Promise<void> {
    while (await this.#readMore());
  }

  async goAway(): Promise<void> {
    await this.#reader.cancel();
  }

  async #readMore(): Promise<boolean> {
    const { value, done } = await this.#reader.read();
    if (done) return false;
    const pieces = (this.#rest + this.#decoder.decode(value, { stream: true })).split("\n");
    this.#rest = pieces.pop()!;
    for (const piece of pieces) this.lines.push(JSON.parse(piece));
    return true;
  }
}

/** Becomes the command that its arguments name, with standard output that does not wait for its reader. */
const NON_BLOCKING = "import os, sys; os.set_blocking(1, False); os.execvp(sys.argv[1], sys.argv[1:])";

interface Streams {
  /** Whether standard error goes the way of standard output. */
  readonly joined?: boolean;
  /** Whether standard output says "try again" where it has no room. */
  readonly nonBlocking?: boolean;
}

/** The service with standard output, and standard error where it is `joined`, in a pipe that this reads when asked to. */
function start({ env }: Deployment, { joined = false, nonBlocking = false }: Streams = {}) {
  const serve = [Deno.execPath(), "run", "--quiet", "--no-prompt", ...RELEASE_PERMISSIONS, MAIN, "serve"];
  const command = nonBlocking ? ["python3", "-c", NON_BLOCKING, ...serve] : serve;
  const child = new Deno.Command("sh", {
    args: ["-c", joined ? 'exec "$@" 2>&1' : 'exec "$@"', "sh", ...command],
    clearEnv: true,
    env: environmentOf({ ...env, JISS_PORT: "0", JISS_LOG: "json", JISS_METRICS_ADDR: "127.0.0.1:0" }),
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  return { child, reader: new PausingReader(child.stdout) };
}

const isNamed = (name: string) => ({ msg }: Line) => msg === name;
const isLoss = isNamed("log lines could not be written");

async function ask(url: string, count: number): Promise<void> {
  let sent = 0;
  await Promise.all(Array.from({ length: CONNECTIONS }, async () => {
    while (sent < count) {
      sent += 1;
      const response = await fetch(url);
      assert.equal(response.status, 200);
      await response.body!.cancel();
    }
  }));
}

async function lostLines(metricsUrl: string): Promise<number> {
  const text = await (await fetch(`${metricsUrl}/metrics`)).text();
  const value = /^jiss_log_lines_lost_total (\d+)$/m.exec(text)?.[1];
  assert.ok(value !== undefined, text);
  return Number(value);
}

Deno.test("a log reader that stands still stops neither requests nor the end, and what was lost is told as soon as it reads again", async () => {
  const deployment = await freshDeployment();
  const { child, reader } = start(deployment);
  const errors = new Response(child.stderr).text();
  const { url, metrics_url: metricsUrl } = await reader.readUntil(isNamed("listening"));
  await ask(String(url), FILLS_ALL);
  const lost = await lostLines(String(metricsUrl));
  assert.ok(lost > 0);

  assert.equal((await reader.readUntil(isLoss)).lost, lost);
  const requests = reader.lines.filter(isNamed("request")).length;
  assert.equal(requests + lost, FILLS_ALL);
  assert.equal(await lostLines(String(metricsUrl)), lost);

  await ask(String(url), FILLS_THE_PIPE);
  child.kill("SIGTERM");
  assert.equal((await child.status).code, 0);
  await reader.readToEnd();
  assert.match(await errors, /^jiss: the log cannot be written[^\n]*: its reader takes none[^\n]*\n$/);
  await deployment.remove();
});

Deno.test("a log reader that stands still stops nothing where standard error goes the same way", async () => {
  const deployment = await freshDeployment();
  const { child, reader } = start(deployment, { joined: true });
  await child.stderr.cancel();
  const { url } = await reader.readUntil(isNamed("listening"));
  await ask(String(url), FILLS_ALL);
  await ask(String(url), FILLS_THE_PIPE);
  child.kill("SIGTERM");
  assert.equal((await child.status).code, 0);
  await reader.goAway();
  await deployment.remove();
});

Deno.test("a service whose log and standard error nobody reads any more goes on, counts what is lost, and stops", async () => {
  const deployment = await freshDeployment();
  const { child, reader } = start(deployment);
  const { url, metrics_url: metricsUrl } = await reader.readUntil(isNamed("listening"));
  await reader.goAway();
  await child.stderr.cancel();
  await ask(String(url), 100);
  assert.ok(await lostLines(String(metricsUrl)) > 0);
  child.kill("SIGTERM");
  assert.equal((await child.status).code, 0);
  await deployment.remove();
});

Deno.test("a pipe that does not wait for its reader loses no line that may wait", async () => {
  const deployment = await freshDeployment();
  const { child, reader } = start(deployment, { nonBlocking: true });
  const errors = new Response(child.stderr).text();
  const { url, metrics_url: metricsUrl } = await reader.readUntil(isNamed("listening"));
  // Three times, so that lines are also added while the reader catches up.
  for (let round = 0; round < 3; round += 1) {
    await ask(String(url), FILLS_THE_PIPE);
    assert.equal(await lostLines(String(metricsUrl)), 0);
    await reader.readUntil(isNamed("request"));
  }
  child.kill("SIGTERM");
  await reader.readToEnd();
  assert.equal((await child.status).code, 0);
  assert.equal(reader.lines.filter(isNamed("request")).length, 3 * FILLS_THE_PIPE);
  assert.equal(reader.lines.at(-1)!.msg, "stopped");
  assert.equal(await errors, "");
  await deployment.remove();
});

/** Waits until nobody listens there. */
async function untilClosed(url: string): Promise<void> {
  for (;;) {
    try {
      await (await fetch(url)).body?.cancel();
    } catch {
      return;
    }
  }
}

Deno.test("a signal that comes again while the end waits for a reader that stands still does not kill", async () => {
  const deployment = await freshDeployment();
  const { child, reader } = start(deployment);
  await child.stderr.cancel();
  const { url, metrics_url: metricsUrl } = await reader.readUntil(isNamed("listening"));
  await ask(String(url), FILLS_THE_PIPE);
  child.kill("SIGTERM");
  await untilClosed(String(metricsUrl));
  // Nothing but the log is waited for now.
  child.kill("SIGTERM");
  const { code, signal } = await child.status;
  assert.equal(signal, null);
  // 130 says that the second one came so late that it was one of its own.
  assert.ok([0, 130].includes(code), `${code}`);
  await reader.goAway();
  await deployment.remove();
});
