/**
 * The examples of docs/operate/deploy with the real service, run or checked by the programs for which they
 * are written.
 */
import assert from "node:assert/strict";
import { freshDeployment, type RunningService, startService, until } from "../program.ts";
import { makeCertificate, opensslIsMissing } from "../receiver.ts";

const OPS = `${import.meta.dirname}/../../docs/operate/deploy`;
const SITE = "jiss.bank.example";
const LIMIT = 5;

function isMissing(...commands: readonly string[]): boolean {
  return commands.some((command) => {
    try {
      new Deno.Command(command, { args: ["--version"], stdin: "null", stdout: "null", stderr: "null" })
        .outputSync();
      return false;
    } catch {
      return true;
    }
  });
}

/** An example with its placeholders replaced; each must occur in it. */
async function exampleOf(
  name: string,
  replacements: readonly (readonly [string | RegExp, string])[],
): Promise<string> {
  let text = await Deno.readTextFile(`${OPS}/${name}`);
  for (const [from, to] of replacements) {
    const before = text;
    text = text.replaceAll(from, to);
    assert.notEqual(text, before, `${name} has ${from}`);
  }
  return text;
}

async function output(
  command: string,
  args: readonly string[],
): Promise<Deno.CommandOutput & { text: string }> {
  const done = await new Deno.Command(command, { args: [...args], stdout: "piped", stderr: "piped" })
    .output();
  return Object.assign(done, {
    text: new TextDecoder().decode(done.stdout) + new TextDecoder().decode(done.stderr),
  });
}

function freePort(): number {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return listener.addr.port;
}

interface Proxy {
  readonly port: number;
  readonly directory: string;
  readonly upstream: string;
  readonly cert: string;
  readonly key: string;
}

/** Starts a proxy from the text of its example. */
type Proxied = (proxy: Proxy) => Promise<Deno.ChildProcess>;

const nginx: Proxied = async ({ port, directory, upstream, cert, key }) => {
  const site = await exampleOf("nginx.conf", [
    ["listen 443 ssl http2;", `listen 127.0.0.1:${port} ssl http2;`],
    ["server 127.0.0.1:8080;", `server ${upstream};`],
    ["/etc/jiss/tls/cert.pem", cert],
    ["/etc/jiss/tls/key.pem", key],
  ]);
  const folders = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
    .map((name) => `${name}_temp_path ${directory}/${name};`).join(" ");
  // If root starts nginx, its workers run as a user who cannot write into this test's folder.
  const user = Deno.uid() === 0 ? "user root;" : "";
  const conf =
    `${user} daemon off; pid ${directory}/nginx.pid; error_log stderr; events {} http { ${folders}\n${site}\n}\n`;
  await Deno.writeTextFile(`${directory}/nginx.conf`, conf);
  const args = ["-e", "stderr", "-p", directory, "-c", `${directory}/nginx.conf`];
  const { success, text } = await output("nginx", ["-t", ...args]);
  assert.ok(success, text);
  return new Deno.Command("nginx", { args, stdout: "null", stderr: "null" }).spawn();
};

const caddy: Proxied = async ({ port, directory, upstream, cert, key }) => {
  const text = await exampleOf("Caddyfile", [
    [`${SITE} {`, `https://${SITE}:${port} {\n\tbind 127.0.0.1`],
    ["reverse_proxy 127.0.0.1:8080", `reverse_proxy ${upstream}`],
    ["/etc/jiss/tls/cert.pem", cert],
    ["/etc/jiss/tls/key.pem", key],
  ]);
  await Deno.writeTextFile(`${directory}/Caddyfile`, text);
  return new Deno.Command("caddy", {
    args: ["run", "--config", `${directory}/Caddyfile`, "--adapter", "caddyfile"],
    env: { HOME: directory, XDG_DATA_HOME: directory, XDG_CONFIG_HOME: directory },
    stdout: "null",
    stderr: "null",
  }).spawn();
};

/** Asks through a proxy from an address of its own; resolves to status and body. */
type Ask = (from: string, path: string, args?: readonly string[]) => Promise<readonly [number, string]>;

async function throughProxy(
  start: Proxied,
  trusted: string | undefined,
  test: (ask: Ask, service: RunningService, directory: string) => Promise<void>,
): Promise<void> {
  const deployment = await freshDeployment();
  const { JISS_RATE_LIMIT_IP: _, ...env } = deployment.env;
  const service = await startService(["serve"], {
    env: {
      ...env,
      JISS_RATE_LIMIT_IP: String(LIMIT),
      ...(trusted === undefined ? {} : { JISS_TRUSTED_PROXIES: trusted }),
    },
  });
  const directory = `${deployment.directory}/proxy`;
  await Deno.mkdir(directory);
  const { cert, key } = await makeCertificate(`DNS:${SITE}`);
  await Deno.writeTextFile(`${directory}/cert.pem`, cert);
  await Deno.writeTextFile(`${directory}/key.pem`, key);
  const port = freePort();
  const proxy = await start({
    port,
    directory,
    upstream: new URL(service.url).host,
    cert: `${directory}/cert.pem`,
    key: `${directory}/key.pem`,
  });
  const ask: Ask = async (from, path, args = []) => {
    const { text } = await output("curl", [
      ...["--silent", "--cacert", `${directory}/cert.pem`, "--resolve", `${SITE}:${port}:127.0.0.1`],
      ...["--interface", from, "--write-out", "\n%{http_code}", ...args, `https://${SITE}:${port}${path}`],
    ]);
    const at = text.lastIndexOf("\n");
    return [Number(text.slice(at + 1)), text.slice(0, at)];
  };
  try {
    // The health check is not counted.
    while ((await ask("127.0.0.9", "/"))[0] !== 200) await new Promise((next) => setTimeout(next, 100));
    await test(ask, service, directory);
  } finally {
    proxy.kill("SIGTERM");
    await proxy.status;
    await service.stop();
    await deployment.remove();
  }
}

const PROXIES: readonly (readonly [string, Proxied])[] = [["nginx", nginx], ["caddy", caddy]];

for (const [name, start] of PROXIES) {
  Deno.test({
    name:
      `behind ${name} as in docs/operate/deploy each client has its own limit, cannot forge another address, and may send no body that is too large [needs ${name}, curl and openssl]`,
    ignore: isMissing(name, "curl") || opensslIsMissing(),
    async fn() {
      await throughProxy(start, "127.0.0.1,::1", async (ask, service, directory) => {
        for (let request = 0; request < LIMIT; request++) {
          assert.equal((await ask("127.0.0.2", "/v1"))[0], 200);
        }
        assert.equal((await ask("127.0.0.2", "/v1"))[0], 429);
        const forged = ["--header", "X-Forwarded-For: 198.51.100.7"];
        assert.equal((await ask("127.0.0.2", "/v1", forged))[0], 429, "the address comes from the proxy");
        assert.equal((await ask("127.0.0.3", "/v1"))[0], 200, "another client is another client");

        await Deno.writeFile(`${directory}/body`, new Uint8Array(5 * 1_048_576 + 1).fill(0x20));
        const [status, body] = await ask("127.0.0.4", "/v1/score/batch", [
          ...["--header", "Content-Type: application/json", "--header", "Expect:"],
          ...["--data-binary", `@${directory}/body`],
        ]);
        // The service answers before the body has come, and closes: a proxy that is still sending may lose
        // the answer.
        if (status !== 502 && body !== "") {
          assert.deepEqual([status, JSON.parse(body).error.code], [413, "PAYLOAD_TOO_LARGE"]);
        }
        await until(() =>
          service.log().some(({ route, status }) => route === "POST /v1/score/batch" && status === 413)
        );
      });
    },
  });

  Deno.test({
    name:
      `behind ${name} without JISS_TRUSTED_PROXIES all clients share one limit [needs ${name}, curl and openssl]`,
    ignore: isMissing(name, "curl") || opensslIsMissing(),
    async fn() {
      await throughProxy(start, undefined, async (ask) => {
        for (let request = 0; request < LIMIT; request++) await ask("127.0.0.2", "/v1");
        assert.equal((await ask("127.0.0.3", "/v1"))[0], 429);
      });
    },
  });
}

Deno.test("the proxies close idle connections to the service before its 75 seconds", async () => {
  const idle = [
    /upstream jiss \{[^}]*keepalive_timeout (\d+)s;/.exec(await Deno.readTextFile(`${OPS}/nginx.conf`)),
    /transport http \{[^}]*keepalive (\d+)s/.exec(await Deno.readTextFile(`${OPS}/Caddyfile`)),
  ];
  for (const found of idle) assert.ok(Number(found![1]) < 75);
});

Deno.test({
  name: "systemd accepts the unit, and finds little that could still be denied to it [needs systemd-analyze]",
  ignore: isMissing("systemd-analyze"),
  async fn() {
    const directory = await Deno.makeTempDir({ prefix: "jiss-unit-" });
    const unit = await exampleOf("jiss.service", [
      // The unit's program has to be there.
      ["ExecStart=/opt/jiss/jiss serve", "ExecStart=/bin/true serve"],
    ]);
    await Deno.writeTextFile(`${directory}/jiss.service`, unit);
    const verified = await output("systemd-analyze", ["verify", `${directory}/jiss.service`]);
    assert.deepEqual([verified.code, verified.text], [0, ""]);
    // In tenths: 0 is sealed, 100 is open. The rest is for the network, and for memory that is both written
    // and executed.
    const rated = await output("systemd-analyze", [
      ...["security", "--no-pager", "--offline=yes", "--threshold=20", `${directory}/jiss.service`],
    ]);
    assert.equal(rated.code, 0, rated.text);
    await Deno.remove(directory, { recursive: true });
  },
});

Deno.test({
  name:
    "rsyslog as in docs/operate/deploy forwards only audit events, each line as it was logged [needs rsyslogd]",
  ignore: isMissing("rsyslogd"),
  async fn() {
    const directory = await Deno.makeTempDir({ prefix: "jiss-rsyslog-" });
    using siem = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    const conf = await exampleOf("rsyslog.conf", [
      [
        /module\(load="imjournal"[^)]*\)/g,
        `module(load="imfile" PollingInterval="1")\ninput(type="imfile" file="${directory}/log" tag="jiss:")`,
      ],
      [`target="siem.bank.example" port="6514"`, `target="127.0.0.1" port="${siem.addr.port}"`],
      [/\n *StreamDriver[^\n]*/g, ""],
    ]);
    await Deno.writeTextFile(
      `${directory}/rsyslog.conf`,
      `global(workDirectory="${directory}")\n${conf}`,
    );
    const audit = {
      time: "2026-11-22T10:00:00.000Z",
      level: "info",
      msg: "audit event",
      audit: true,
      seq: 7,
    };
    const lines = [
      { ...audit, audit: undefined, msg: "request" },
      audit,
      { ...audit, audit: false },
      { ...audit, seq: 8, detail: 'a "quoted" {brace} and é' },
    ].map((line) => JSON.stringify(line));
    await Deno.writeTextFile(`${directory}/log`, `no JSON\n${lines.join("\n")}\n`);
    const rsyslog = new Deno.Command("rsyslogd", {
      args: ["-n", "-f", `${directory}/rsyslog.conf`, "-i", `${directory}/pid`],
      stdout: "null",
      stderr: "null",
    }).spawn();
    try {
      using connection = await siem.accept();
      const expected = `${lines[1]}\n${lines[3]}\n`;
      const decoder = new TextDecoder();
      let received = "";
      const buffer = new Uint8Array(4_096);
      while (received.length < expected.length) {
        const count = await connection.read(buffer);
        if (count === null) break;
        received += decoder.decode(buffer.subarray(0, count), { stream: true });
      }
      assert.equal(received, expected);
    } finally {
      rsyslog.kill("SIGTERM");
      await rsyslog.status;
      await Deno.remove(directory, { recursive: true });
    }
  },
});

Deno.test("the alert rules name metrics that the service has", async () => {
  const rules = await Deno.readTextFile(`${OPS}/prometheus-rules.yaml`);
  const source = await Deno.readTextFile(`${import.meta.dirname}/../../src/observability/metrics.ts`);
  const named = new Set(
    [...rules.matchAll(/\b(?:expr: )?(jiss_[a-z_]+)/g)].map(([, name]) => name!),
  );
  assert.ok(named.size >= 6);
  for (const name of named) assert.ok(source.includes(`"${name}"`), name);
});

Deno.test({
  name: "Prometheus accepts the alert rules [needs promtool]",
  ignore: isMissing("promtool"),
  async fn() {
    const { success, text } = await output("promtool", ["check", "rules", `${OPS}/prometheus-rules.yaml`]);
    assert.ok(success, text);
  },
});

Deno.test({
  name: "Kubernetes accepts the manifest, and knows every field of it [needs kubernetes-validate]",
  ignore: isMissing("kubernetes-validate"),
  async fn() {
    for (const version of ["1.28", "1.36"]) {
      const args = ["--kubernetes-version", version, "--strict", `${OPS}/kubernetes.yaml`];
      const { success, text } = await output("kubernetes-validate", args);
      assert.ok(success, text);
    }
  },
});

Deno.test({
  name: "the Dockerfile has none of the usual faults [needs hadolint]",
  ignore: isMissing("hadolint"),
  async fn() {
    const { success, text } = await output("hadolint", [`${import.meta.dirname}/../../Dockerfile`]);
    assert.ok(success, text);
  },
});
