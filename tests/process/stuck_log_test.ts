/**
 * Readers of the log that stop reading or went away: the service answers, stops when it is told to, and
 * counts lost lines.
 */
import assert from "node:assert/strict";
import { RELEASE_PERMISSIONS } from "../../scripts/compile.ts";
import { type Deployment, environmentOf, freshDeployment } from "../program.ts";

const MAIN = `${import.meta.dirname}/../../main.ts`;
/** A number of lines of about 190 bytes each. A pipe holds 64 KiB, which some 350 of them fill. */
const FILLS_THE_PIPE = 1_000;
/** More lines than the pipe and the queue of 1 MiB can hold. */
const FILLS_ALL = 9_000;
const CONNECTIONS = 16;

type Line = Readonly<Record<string, unknown>>;

/** A reader that takes the log's lines only when it is asked to. */
class PausingReader {
  readonly lines: Line[] = [];
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #decoder = new TextDecoder();
  #rest = "";

  constructor(stream: ReadableStream<Uint8Array>) {
    this.#reader = stream.getReader();
  }

  /** Reads up to the first line for which `isIt` is true. @throws if the log ends before. */
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

/** Python that starts the command in its arguments with a non-blocking standard output. */
const NON_BLOCKING = "import os, sys; os.set_blocking(1, False); os.execvp(sys.argv[1], sys.argv[1:])";

interface Streams {
  /** True if standard error goes to the same pipe as standard output. */
  readonly joined?: boolean;
  /** True if writing to a full standard output fails with "try again". */
  readonly nonBlocking?: boolean;
}

/**
 * Starts the service with its log in a pipe that the reader takes only when asked; if `joined`, with standard
 * error in it.
 */
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

Deno.test("a log reader that stops reading stops neither requests nor the end, and lost lines are reported as soon as it reads again", async () => {
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
  assert.match(await errors, /^jiss: the log cannot be written[^\n]*: its reader does not read[^\n]*\n$/);
  await deployment.remove();
});

Deno.test("a log reader that stops reading stops nothing if standard error goes to the same pipe", async () => {
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

Deno.test("a service whose log and standard error have no reader any more continues, counts lost lines, and stops", async () => {
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

Deno.test("a non-blocking pipe loses no line while the queue has room", async () => {
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

/** Waits until nothing listens at the address. */
async function untilClosed(url: string): Promise<void> {
  for (;;) {
    try {
      await (await fetch(url)).body?.cancel();
    } catch {
      return;
    }
  }
}

Deno.test("a second signal while the end waits for a log reader that stopped reading does not kill the service", async () => {
  const deployment = await freshDeployment();
  const { child, reader } = start(deployment);
  await child.stderr.cancel();
  const { url, metrics_url: metricsUrl } = await reader.readUntil(isNamed("listening"));
  await ask(String(url), FILLS_THE_PIPE);
  child.kill("SIGTERM");
  await untilClosed(String(metricsUrl));
  // Now the service waits for nothing but the log.
  child.kill("SIGTERM");
  const { code, signal } = await child.status;
  assert.equal(signal, null);
  // 130 if the second signal came so late that it counts as one of its own.
  assert.ok([0, 130].includes(code), `${code}`);
  await reader.goAway();
  await deployment.remove();
});
