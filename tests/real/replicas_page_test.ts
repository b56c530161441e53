/**
 * Follows docs/operate/replicas.md to the letter against a real libSQL server, with the test's own addresses
 * and paths.
 */
import assert from "node:assert/strict";
import { request as ask } from "node:http";
import { createOrganization, deploymentIn, runProgram, startService } from "../program.ts";
import { scoreRequest } from "../harness.ts";
import { certificate, opensslIsMissing } from "../receiver.ts";
import { freePort, HAS_SQLD, spawnSqld } from "../sqld.ts";

const PAGE = await Deno.readTextFile(`${import.meta.dirname}/../../docs/operate/replicas.md`);
const HOST = "jiss.db.bank.example";

/** The page's code blocks of one language, with the test's addresses and paths. */
function blocksOf(language: string, replaced: Readonly<Record<string, string>>): readonly string[] {
  const blocks = PAGE.matchAll(/^ *```(\w+)\n([^]*?)^ *```$/gm);
  return [...blocks].filter(([, name]) => name === language).map(([, , text]) =>
    Object.entries(replaced).reduce((block, [from, to]) => block.replaceAll(from, to), text!)
  );
}

/** Ends TLS and forwards requests, with the `Host` that the page uses. */
async function openTlsProxy(port: number) {
  const { cert, key } = await certificate();
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, cert, key, onListen() {} },
    async (request) => {
      const body = await request.bytes();
      const { pathname } = new URL(request.url);
      const { promise, resolve, reject } = Promise.withResolvers<Response>();
      const headers = { ...Object.fromEntries(request.headers), host: HOST, "accept-encoding": "identity" };
      const asked = ask(
        { host: "127.0.0.1", port, path: pathname, method: request.method, headers },
        (answer) => {
          const parts: Uint8Array<ArrayBuffer>[] = [];
          answer.on("data", (part) => parts.push(part));
          answer.on("end", () => resolve(new Response(new Blob(parts), { status: answer.statusCode! })));
        },
      );
      asked.on("error", reject);
      asked.end(body);
      return await promise;
    },
  );
  return { url: `https://localhost:${server.addr.port}`, close: () => server.shutdown() };
}

async function sh(script: string, cwd: string): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command("sh", { args: ["-ec", script], cwd }).output();
  const decoder = new TextDecoder();
  assert.ok(success, `${script}\n${decoder.decode(stderr)}`);
  return decoder.decode(stdout);
}

Deno.test({
  name:
    "docs/operate/replicas.md: its commands make a key, a token, a server and a namespace that a service starts on [needs sqld, openssl]",
  ignore: !HAS_SQLD || opensslIsMissing(),
  async fn() {
    const directory = await Deno.makeTempDir({ prefix: "jiss-test-" });
    const [http, admin, grpc] = [await freePort(), await freePort(), await freePort()];
    const proxy = await openTlsProxy(http);
    await Deno.writeTextFile(`${directory}/ca.pem`, (await certificate()).authority);
    const replaced = {
      "/etc/sqld/": `${directory}/`,
      "/run/secrets/": `${directory}/`,
      "/var/lib/sqld": `${directory}/sqld`,
      "10.0.0.5:8080": `127.0.0.1:${http}`,
      "127.0.0.1:9090": `127.0.0.1:${admin}`,
      "10.0.0.5:5001": `127.0.0.1:${grpc}`,
      [`https://${HOST}`]: proxy.url,
      "/etc/ssl/bank-ca.pem": `${directory}/ca.pem`,
    };
    const [keys, server, namespace, ...further] = blocksOf("sh", replaced);
    assert.deepEqual(further, []);
    await sh(keys!, directory);
    const makeToken = (name: string, claims: string) =>
      sh(
        keys!.replaceAll(/^ *openssl .*\n/gm, "").replace(`{"a":"rw","id":"jiss"}`, claims).replace(
          "/sqld-token",
          name,
        ),
        directory,
      );
    await makeToken("/other-token", `{"a":"rw","id":"other"}`);
    await makeToken("/reading-token", `{"a":"ro","id":"jiss"}`);
    const { command, arguments: given } = /^\s*(?<command>\w+) (?<arguments>[^]*)$/.exec(server!)!.groups as {
      command: string;
      arguments: string;
    };
    assert.equal(command, "sqld");
    const sqld = await spawnSqld({
      args: given.replaceAll("\\\n", " ").trim().split(/\s+/),
      cwd: directory,
      url: `http://127.0.0.1:${http}`,
    });
    await sh(namespace!, directory);

    const [block] = blocksOf("ini", replaced);
    const settings = Object.fromEntries(block!.trim().split(/\s+/).map((line) => line.split(/=(.*)/, 2)));
    // No KV Connect server runs here.
    delete settings.JISS_RATE_LIMIT_STORE;
    const deployment = await deploymentIn(directory);
    const env = { ...deployment.env, ...settings };
    const service = await startService(["serve"], { env });
    const key = await createOrganization(service, env);
    assert.equal((await service.send("/v1/score", { key, body: scoreRequest() })).status, 200);
    assert.equal(await service.stop(), 0);

    const reading = { ...env, JISS_DATABASE_AUTH_TOKEN_FILE: `${directory}/reading-token` };
    const exported = await runProgram(["export", "--org", "acme"], { env: reading });
    assert.equal(exported.code, 0, exported.stderr);

    const refusedWith = async (more: Readonly<Record<string, string>>) => {
      const { code, stderr } = await runProgram(["serve"], { env: { ...env, ...more } });
      assert.equal(code, 78, stderr);
      return stderr;
    };
    assert.match(await refusedWith({ JISS_DATABASE_AUTH_TOKEN_FILE: `${directory}/other-token` }), /404/);
    assert.match(await refusedWith(reading), /403.*Write permission/);
    await sh(keys!.replace("/sqld-token", "/strange-token").replace("/jwt.pem", "/strange.pem"), directory);
    assert.match(await refusedWith({ JISS_DATABASE_AUTH_TOKEN_FILE: `${directory}/strange-token` }), /401/);

    sqld.kill("SIGKILL");
    await sqld.status;
    await proxy.close();
    await deployment.remove();
  },
});
