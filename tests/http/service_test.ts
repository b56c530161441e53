/** The service's descriptions of itself, and the headers and members of every answer. */
import { gunzipSync } from "node:zlib";
import assert from "node:assert/strict";
import { EPOCH, withHarness } from "../harness.ts";

Deno.test(
  "GET / answers ok with the program's version, and HEAD / the same without a body",
  withHarness(async ({ send }) => {
    const get = await send("/");
    assert.equal(get.status, 200);
    assert.deepEqual(get.body, {
      status: "ok",
      service: "jiss",
      version: "0.0.0-test",
      request_id: get.headers.get("X-Request-Id"),
      timestamp: new Date(EPOCH).toISOString(),
    });
    const head = await send("/", { method: "HEAD" });
    assert.equal(head.status, 200);
    assert.equal(head.headers.get("Content-Type"), "application/json");
    assert.equal(head.text, "");
  }),
);

Deno.test(
  "GET /v1 lists exactly the operations that exist, the frameworks and the stated patent",
  withHarness(async ({ send }) => {
    const { status, body } = await send("/v1");
    assert.equal(status, 200);
    assert.deepEqual(
      body.endpoints.map(({ method, path, auth }: Record<string, string>) => `${method} ${path} ${auth}`),
      [
        "GET / none",
        "HEAD / none",
        "GET /v1 none",
        "GET /openapi.json none",
        "POST /v1/score key",
        "POST /v1/score/batch key",
        "POST /v1/score/{session_id}/commit key",
        "POST /v1/decision/score key",
        "GET /v1/decision/replay/{id} key",
        "GET /v1/probes key",
        "GET /v1/probes/summary key",
        "POST /v1/probes key",
        "POST /v1/probes/batch key",
        "POST /v1/probes/draw key",
        "GET /v1/probes/policy key",
        "PUT /v1/probes/policy key",
        "POST /v1/probes/{probe_id}/recall key",
        "POST /v1/exercises key",
        "GET /v1/exercises key",
        "GET /v1/exercises/{run_id} key",
        "GET /exercise/{token}/state none",
        "POST /exercise/{token}/decisions none",
        "POST /v1/case-sets key",
        "GET /v1/case-sets key",
        "GET /v1/case-sets/{sha256} key",
        "GET /v1/operator/{operator_id}/profile key",
        "GET /v1/operator/{operator_id}/sparkline key",
        "GET /v1/operator/{operator_id}/export key",
        "DELETE /v1/operator/{operator_id} key",
        "POST /v1/organization/operators/unmask key",
        "POST /v1/organization/teams key",
        "GET /v1/organization/operators key",
        "GET /v1/organization/decisions key",
        "GET /v1/organization/dashboard key",
        "GET /v1/organization/shadow key",
        "GET /v1/organization/weeks key",
        "POST /v1/maintenance/recommend key",
        "POST /v1/cases key",
        "GET /v1/cases key",
        "GET /v1/cases/{case_id} key",
        "POST /v1/cases/{case_id}/events key",
        "POST /v1/operator/{operator_id}/page-link key",
        "GET /v1/contests key",
        "GET /me/{token}/state none",
        "GET /me/{token}/copy none",
        "POST /me/{token}/contests none",
        "GET /v1/compliance/report key",
        "GET /v1/compliance/report/{report_id} key",
        "GET /v1/compliance/reports key",
        "GET /v1/compliance/article14 key",
        "POST /v1/audit/append key",
        "GET /v1/audit/chain/verify key",
        "GET /v1/audit/chain/export key",
        "GET /v1/audit/chain/proof/{seq} key",
        "GET /v1/audit/checkpoint key",
        "GET /v1/admin/audit/verify-chain key",
        "GET /.well-known/jwks.json none",
        "POST /v1/admin/key/rotate key",
        "POST /v1/admin/key/revoke key",
        "POST /v1/keys key",
        "GET /v1/keys key",
        "DELETE /v1/keys/{key_id} key",
        "GET /v1/admin/audit-log key",
        "GET /v1/admin/audit-log/export key",
        "GET /v1/organization/alerts key",
        "POST /v1/organization/alerts/{alert_id}/ack key",
        "POST /v1/admin/webhook/register key",
        "GET /v1/admin/webhook/list key",
        "DELETE /v1/admin/webhook/{id} key",
        "POST /v1/admin/webhook/{id}/test key",
        "GET /v1/admin/webhook/{id}/deliveries key",
        "POST /v1/admin/webhook/{id}/deliveries/{delivery_id}/redeliver key",
        "POST /v1/users key",
        "GET /v1/users key",
        "PUT /v1/users/{user_id} key",
        "POST /v1/users/{user_id}/link key",
        "GET /v1/users/{user_id}/sessions key",
        "DELETE /v1/users/{user_id}/sessions/{session_id} key",
        "DELETE /v1/users/{user_id}/sessions key",
        "DELETE /v1/users/{user_id} key",
        "POST /v1/sign-in none",
        "POST /v1/sign-in/link none",
        "POST /v1/sign-in/link/use none",
        "POST /v1/sign-out user",
        "GET /v1/me user",
        "GET /v1/me/sessions user",
        "DELETE /v1/me/sessions/{session_id} user",
        "DELETE /v1/me/sessions user",
        "POST /v1/me/password user",
        "POST /v1/sign-in/passkey/options none",
        "POST /v1/sign-in/passkey none",
        "POST /v1/sign-in/link/passkey-options none",
        "POST /v1/me/passkeys/options user",
        "POST /v1/me/passkeys user",
        "GET /v1/me/passkeys user",
        "DELETE /v1/me/passkeys/{passkey_id} user",
        "POST /v1/admin/org/create master",
        "GET /v1/admin/org/{org_id}/usage master",
        "POST /v1/admin/billing/org/{org_id}/suspend master",
        "POST /v1/admin/billing/org/{org_id}/rotate master",
        "POST /v1/admin/org/{org_id}/suspend master",
        "POST /v1/admin/org/{org_id}/reactivate master",
        "POST /v1/admin/org/{org_id}/force-rotate master",
        "POST /v1/admin/org/{org_id}/force-revoke master",
        "POST /v1/admin/alerts/{alert_id}/ack master",
        "POST /assessments none",
        "GET /assessments/{sessionId} none",
      ],
    );
    assert.deepEqual(body.compliance, [
      "EU AI Act Article 14",
      "Colorado SB 205",
      "NYC Local Law 144",
      "SR 11-7",
    ]);
    assert.deepEqual(body.patent, { status: "none", filed: null, confirmation: null, claims: 0 });
    assert.equal(body.api_version, "1.11.0");
    assert.equal(body.service, "jiss");
  }),
);

Deno.test(
  "pages for people have no rate limit, under a policy that allows neither another origin nor anything inline",
  withHarness(async ({ send }) => {
    const documents = ["/docs/verify-offline", "/docs/evidence-format", "/docs/formulas"];
    for (
      const path of ["/console", "/console/operators/ada", "/docs", "/docs/errors", ...documents, "/demo"]
    ) {
      for (let time = 0; time < 3; time += 1) {
        const { status, headers, text } = await send(path);
        assert.equal(status, 200, path);
        assert.equal(headers.get("Content-Type"), "text/html; charset=utf-8");
        const policy = headers.get("Content-Security-Policy")!;
        assert.match(
          policy,
          /^default-src 'none'; script-src 'self'; style-src 'self'(?: 'sha256-[^']+')+; /,
        );
        assert.doesNotMatch(policy, /unsafe|https?:|\*/);
        assert.doesNotMatch(text, /<script(?![^>]* src=)|<style|\son\w+=|\sstyle=/);
        for (const [, asset] of text.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)) {
          const answer = await send(asset!);
          assert.equal(answer.status, 200, asset!);
          assert.equal(answer.headers.get("Cache-Control"), "public, max-age=31536000, immutable");
        }
      }
    }
    for (const path of ["/console", "/docs", "/docs/errors", ...documents, "/demo"]) {
      const { status, headers } = await send(`${path}/?org=acme`);
      assert.deepEqual([status, headers.get("Location")], [308, `${path}?org=acme`]);
      assert.equal(headers.get("X-Content-Type-Options"), "nosniff");
    }
    const post = await send("/console", { method: "POST" });
    assert.deepEqual([post.status, post.headers.get("Allow")], [405, "GET, HEAD"]);
  }, { rateLimitIp: 1 }),
);

Deno.test(
  "an unknown path is 404 and a known path with another method is 405 with Allow, both in the envelope",
  withHarness(async ({ send }) => {
    const missing = await send("/v2");
    assert.equal(missing.status, 404);
    assert.equal(missing.body.error.code, "NOT_FOUND");
    for (
      const [method, path, allow] of [["PUT", "/v1/score", "POST"], ["DELETE", "/", "GET, HEAD"], [
        "POST",
        "/v1",
        "GET, HEAD",
      ]]
    ) {
      const answer = await send(path!, { method: method! });
      assert.equal(answer.status, 405);
      assert.equal(answer.body.error.code, "METHOD_NOT_ALLOWED");
      assert.equal(answer.headers.get("Allow"), allow);
    }
  }),
);

Deno.test(
  "every answer carries a request id that the body repeats, and the security headers",
  withHarness(async ({ send }) => {
    for (const path of ["/", "/v1", "/nowhere", "/v1/score"]) {
      const { headers, body } = await send(path);
      const id = headers.get("X-Request-Id");
      assert.equal((body.error ?? body).request_id, id);
      assert.equal(headers.get("X-Content-Type-Options"), "nosniff");
      assert.equal(headers.get("Referrer-Policy"), "no-referrer");
      assert.equal(headers.get("Cache-Control"), path.startsWith("/v1") ? "no-store" : null);
      assert.equal(headers.get("Strict-Transport-Security"), null);
    }
  }),
);

Deno.test(
  "over TLS every answer tells browsers to keep to TLS",
  withHarness(async ({ send }) => {
    assert.equal((await send("/")).headers.get("Strict-Transport-Security"), "max-age=31536000");
  }, { servesTls: true }),
);

Deno.test(
  "the access log names route, status and organization, and never a key, a body or a query",
  withHarness(async ({ send, organization, log }) => {
    const key = await organization("acme");
    await send("/v1/score?mode=lite&secret=of-the-query", { key, body: { operator_id: "body-secret" } });
    const line = log.findLast((entry) => entry.msg === "request")!;
    assert.equal(line.route, "POST /v1/score");
    assert.equal(line.status, 422);
    assert.equal(line.org_id, "acme");
    assert.equal(typeof line.duration_ms, "number");
    const all = JSON.stringify(log);
    for (const secret of [key, "of-the-query", "body-secret"]) assert.ok(!all.includes(secret), secret);
  }),
);

Deno.test(
  "once the service drains, new requests get 503 with Retry-After",
  withHarness(async ({ send, drain }) => {
    drain();
    for (const path of ["/", "/v1", "/v1/score"]) {
      const { status, body, headers } = await send(path);
      assert.deepEqual([status, body.error.code], [503, "SERVICE_UNAVAILABLE"]);
      assert.equal(headers.get("Retry-After"), "1");
    }
  }),
);

Deno.test(
  "a Host header with more than a host is 400 and selects no route",
  withHarness(async ({ send }) => {
    for (const host of ["x/v1?", "x/v1/score?mode=lite&z=", "a b", "user@x", "x#", ""]) {
      const { status, body } = await send("/", { headers: { Host: host } });
      assert.deepEqual([status, body.error.code], [400, "VALIDATION_FAILED"], host);
    }
    for (
      const host of ["localhost", "127.0.0.1:8080", "[::1]:8080", "jiss.bank.example", "my_host:1", "x:"]
    ) {
      assert.equal((await send("/", { headers: { Host: host } })).status, 200, host);
    }
  }),
);

Deno.test(
  "documents and pages are sent compressed to whoever takes it, and answers with data never",
  withHarness(async (harness) => {
    const key = await harness.organization("acme");
    const ask = async (path: string, headers: Readonly<Record<string, string>>, method = "GET") => {
      const answer = await harness.app.fetch(new Request(`http://jiss.test${path}`, { method, headers }), {
        peer: "192.0.2.1",
      });
      return { headers: answer.headers, bytes: new Uint8Array(await answer.arrayBuffer()) };
    };
    const gzip = { "Accept-Encoding": "br;q=1, gzip;q=0.8" };
    const plain = await ask("/openapi.json", {});
    assert.equal(plain.headers.get("Content-Encoding"), null);
    const small = await ask("/openapi.json", gzip);
    assert.deepEqual([small.headers.get("Content-Encoding"), small.headers.get("Vary")], [
      "gzip",
      "Accept-Encoding",
    ]);
    assert.ok(small.bytes.length < plain.bytes.length / 5, `${small.bytes.length} of ${plain.bytes.length}`);
    assert.equal(small.headers.get("Content-Length"), String(small.bytes.length));
    assert.deepEqual(new Uint8Array(gunzipSync(small.bytes)), plain.bytes);
    const head = await ask("/openapi.json", gzip, "HEAD");
    assert.equal(head.headers.get("Content-Length"), String(small.bytes.length));
    assert.equal((await ask("/docs/verify-offline", gzip)).headers.get("Content-Encoding"), "gzip");
    assert.equal(
      (await ask("/openapi.json", { "Accept-Encoding": "gzip;q=0" })).headers.get("Content-Encoding"),
      null,
    );
    for (const path of ["/v1/organization/dashboard", "/v1/organization/operators"]) {
      const answer = await ask(path, { ...gzip, "X-API-Key": key });
      assert.equal(answer.headers.get("Content-Encoding"), null, path);
    }
  }),
);
