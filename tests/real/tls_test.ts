/** HTTPS served directly, with a certificate made for the test. */
import assert from "node:assert/strict";
import { freshDeployment, runProgram, startService, until } from "../program.ts";
import { certificate, opensslIsMissing } from "../receiver.ts";

Deno.test({
  name:
    "with a certificate and a key the service answers over TLS, with HSTS, and healthcheck uses it [needs openssl]",
  ignore: opensslIsMissing(),
  async fn() {
    const deployment = await freshDeployment();
    const [cert, key] = [`${deployment.directory}/cert.pem`, `${deployment.directory}/key.pem`];
    const made = await new Deno.Command("openssl", {
      args: [
        ...[
          "req",
          "-x509",
          "-newkey",
          "ec",
          "-pkeyopt",
          "ec_paramgen_curve:prime256v1",
          "-nodes",
          "-days",
          "2",
        ],
        ...[
          "-subj",
          "/CN=localhost",
          "-addext",
          "subjectAltName=IP:127.0.0.1",
          "-addext",
          "basicConstraints=critical,CA:FALSE",
        ],
        ...["-keyout", key, "-out", cert],
      ],
      stdout: "null",
      stderr: "null",
    }).output();
    assert.ok(made.success);
    const env = { ...deployment.env, JISS_TLS_CERT_FILE: cert, JISS_TLS_KEY_FILE: key };
    const service = await startService(["serve"], { env });
    assert.match(service.url, /^https:/);
    const client = Deno.createHttpClient({ caCerts: [await Deno.readTextFile(cert)] });
    const response = await fetch(service.url, { client });
    assert.equal(response.headers.get("Strict-Transport-Security"), "max-age=31536000");
    assert.equal((await response.json()).status, "ok");
    client.close();
    const health = await runProgram(["healthcheck"], {
      env: { ...env, JISS_PORT: new URL(service.url).port },
    });
    assert.equal(health.code, 0, health.stderr);
    // NODE_EXTRA_CA_CERTS, which the release may not ask Deno for, does no harm.
    const withAuthorities = await runProgram(["healthcheck"], {
      env: { ...env, JISS_PORT: new URL(service.url).port, NODE_EXTRA_CA_CERTS: cert },
    });
    assert.equal(withAuthorities.code, 0, withAuthorities.stderr);
    assert.equal(await service.stop(), 0);
    await deployment.remove();
  },
});

Deno.test({
  name:
    "clients that never finish their handshake keep nobody out, however few descriptors there are [needs openssl]",
  ignore: opensslIsMissing(),
  async fn() {
    const deployment = await freshDeployment();
    const { authority, cert, key } = await certificate();
    const [certFile, keyFile] = [`${deployment.directory}/cert.pem`, `${deployment.directory}/key.pem`];
    await Deno.writeTextFile(certFile, cert);
    await Deno.writeTextFile(keyFile, key, { mode: 0o600 });
    const service = await startService(["serve"], {
      descriptors: 256,
      env: { ...deployment.env, JISS_TLS_CERT_FILE: certFile, JISS_TLS_KEY_FILE: keyFile },
    });
    const { hostname, port } = new URL(service.url);
    const silent: Deno.Conn[] = [];
    for (let index = 0; index < 400; index += 1) {
      silent.push(await Deno.connect({ hostname, port: Number(port) }));
    }
    for (let index = 0; index < 20; index += 1) {
      // Each on a connection of its own.
      using client = Deno.createHttpClient({ caCerts: [authority] });
      assert.equal((await (await fetch(service.url, { client })).json()).status, "ok");
    }
    for (const connection of silent) connection.close();
    const messages = () => service.log().filter(({ level }) => level !== "info").map(({ msg }) => msg);
    await until(() => messages().length > 0);
    assert.deepEqual(messages(), [
      "the maximum number of connections is open: the one that has kept the service waiting longest is closed",
    ]);
    assert.equal(await service.stop(), 0, service.errors());
    await deployment.remove();
  },
});
