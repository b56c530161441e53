/** HTTPS served directly, with a certificate made for the test. */
import assert from "node:assert/strict";
import { environmentOf, freshDeployment, runProgram, watch } from "../program.ts";
import { opensslIsMissing } from "../receiver.ts";
import { RELEASE_PERMISSIONS } from "../../scripts/compile.ts";

Deno.test({
  name:
    "with a certificate and a key the service answers over TLS, with HSTS, and healthcheck follows [needs openssl]",
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
    const env = {
      ...deployment.env,
      JISS_TLS_CERT_FILE: cert,
      JISS_TLS_KEY_FILE: key,
      JISS_PORT: "0",
      JISS_LOG: "json",
    };
    const child = new Deno.Command(Deno.execPath(), {
      args: ["run", "--quiet", ...RELEASE_PERMISSIONS, `${import.meta.dirname}/../../main.ts`, "serve"],
      clearEnv: true,
      env: environmentOf(env),
      stdin: "null",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    const service = await watch(child);
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
    assert.equal(await service.stop(), 0);
    await deployment.remove();
  },
});
