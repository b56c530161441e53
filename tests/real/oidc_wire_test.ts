/** What an OpenID provider can do to a client on the wire, over real sockets: nothing holds a sign-in, or the memory. */
import assert from "node:assert/strict";
import { createOidc, type Oidc } from "../../src/identity/oidc.ts";
import type { OidcReason } from "../../src/identity/refusal.ts";
import { openConnection } from "../../src/identity/wire.ts";
import { type Answer, refusal, settingsOf, signIn, TestProvider } from "../openid.ts";
import { certificate, makeCertificate, opensslIsMissing } from "../receiver.ts";

const TIMEOUT_MS = 400;
const MEBIBYTE = 1_048_576;

interface Scene {
  readonly provider: TestProvider;
  readonly client: Oidc;
}

interface SceneOptions {
  /** The provider's certificate; without one it speaks plain HTTP. */
  readonly tls?: { readonly cert: string; readonly key: string };
  /** Authorities that the client trusts, each PEM. */
  readonly trusted?: readonly string[];
}

/** A provider that listens on loopback. */
async function withServer(
  { tls, trusted = [] }: SceneOptions,
  test: (scene: Scene) => Promise<void>,
): Promise<void> {
  let provider: TestProvider | null = null;
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {}, ...tls },
    (request) => provider!.handle(request),
  );
  const scheme = tls === undefined ? "http" : "https";
  provider = new TestProvider(`${scheme}://127.0.0.1:${server.addr.port}/realm`);
  const connection = openConnection(trusted);
  const client = createOidc(settingsOf(provider.issuer, { timeoutMs: TIMEOUT_MS }), {
    fetch: connection.fetch,
    now: () => provider!.now,
    random: (length) => crypto.getRandomValues(new Uint8Array(length)),
  });
  try {
    await test({ provider, client });
  } finally {
    connection.close();
    await server.shutdown();
  }
}

const PIECE = new Uint8Array(65_536).fill(0x20);

/** A body of so many pieces, each of 64 KiB. */
function pieces(count: number, beforeEach: () => Promise<void> = () => Promise.resolve()): ReadableStream {
  let left = count;
  return new ReadableStream({
    async pull(controller) {
      await beforeEach();
      if (left === 0) return controller.close();
      left -= 1;
      controller.enqueue(PIECE);
    },
  });
}

/** 256 MiB, compressed. */
const BOMB = await new Response(pieces(4_096).pipeThrough(new CompressionStream("gzip"))).bytes();

const later = (milliseconds: number) => new Promise<void>((resolve) => setTimeout(resolve, milliseconds));

/** Answers that are too slow or too large, by the place where the provider gives them. */
const BAD: readonly (readonly [name: string, answer: Answer, reason: OidcReason, message: RegExp])[] = [
  [
    "no answer",
    async (request) => {
      await Promise.race([
        later(5_000),
        new Promise((resolve) => request.signal.addEventListener("abort", resolve)),
      ]);
      return new Response();
    },
    "provider_slow",
    /^The identity provider at 127\.0\.0\.1:\d+ gave no complete answer within 0\.4 s\.$/,
  ],
  [
    "an answer that drips",
    () => new Response(pieces(12, () => later(100)), { headers: { "Content-Type": "application/json" } }),
    "provider_slow",
    /within 0\.4 s/,
  ],
  [
    "a giant answer",
    () => new Response(pieces(4_096), { headers: { "Content-Type": "application/json" } }),
    "provider_error",
    /sent more than 1048576 bytes/,
  ],
  [
    "a giant answer that is compressed",
    () =>
      new Response(BOMB, {
        headers: { "Content-Type": "application/json", "Content-Encoding": "gzip" },
      }),
    "provider_error",
    /sent more than 1048576 bytes/,
  ],
];

for (const [name, answer, reason, message] of BAD) {
  Deno.test(`${name} ends a sign-in at once, wherever it comes, and takes little memory`, async () => {
    for (const part of ["openid-configuration", "keys", "token", "userinfo"]) {
      await withServer({}, async ({ provider, client }) => {
        provider.userInfo = { sub: "person-1" };
        provider.answers.set(part, answer);
        const before = Deno.memoryUsage().external;
        const began = performance.now();
        const [found, told] = await refusal(signIn(provider, { client }));
        assert.equal(found, reason, part);
        assert.match(told, message);
        assert.ok(performance.now() - began < 5 * TIMEOUT_MS, part);
        assert.ok(Deno.memoryUsage().external - before < 64 * MEBIBYTE, part);

        provider.answers.clear();
        provider.now += 60_000;
        assert.equal((await signIn(provider, { client })).sub, "person-1", "the next sign-in works");
      });
    }
  });
}

Deno.test("an answer just within the limits is taken", async () => {
  await withServer({}, async ({ provider, client }) => {
    const text = JSON.stringify(provider.description());
    provider.answers.set("openid-configuration", async () => {
      await later(TIMEOUT_MS / 4);
      return new Response(text.padEnd(MEBIBYTE), { headers: { "Content-Type": "application/json" } });
    });
    assert.equal((await signIn(provider, { client })).sub, "person-1");
  });
});

Deno.test("a provider that is down is told, and nothing waits for it", async () => {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const issuer = `http://127.0.0.1:${listener.addr.port}`;
  listener.close();
  const connection = openConnection([]);
  const client = createOidc(settingsOf(issuer), {
    fetch: connection.fetch,
    now: Date.now,
    random: (length) => new Uint8Array(length),
  });
  const [reason, message] = await refusal(client.begin());
  assert.equal(reason, "provider_unavailable");
  assert.match(message, /^The identity provider at 127\.0\.0\.1:\d+ cannot be reached: .*refused/);
  connection.close();
});

Deno.test("a provider that hangs up, or speaks another protocol, is told", async () => {
  for (const greeting of ["", "SSH-2.0-OpenSSH_9.2\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n{"]) {
    const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    const served = (async () => {
      const connection = await listener.accept();
      await connection.read(new Uint8Array(4_096));
      await connection.write(new TextEncoder().encode(greeting));
      connection.close();
    })();
    const connection = openConnection([]);
    const client = createOidc(settingsOf(`http://127.0.0.1:${listener.addr.port}`), {
      fetch: connection.fetch,
      now: Date.now,
      random: (length) => new Uint8Array(length),
    });
    assert.equal((await refusal(client.begin()))[0], "provider_unavailable", greeting);
    await served;
    connection.close();
    listener.close();
  }
});

Deno.test("no redirect is followed, as it could lead anywhere", async () => {
  let followed = 0;
  const elsewhere = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, () => {
    followed += 1;
    return new Response();
  });
  const location = `http://127.0.0.1:${elsewhere.addr.port}/`;
  for (const part of ["openid-configuration", "keys", "token", "userinfo"]) {
    for (const status of [301, 302, 303, 307, 308]) {
      await withServer({}, async ({ provider, client }) => {
        provider.userInfo = { sub: "person-1" };
        provider.answers.set(part, () => new Response(null, { status, headers: { location } }));
        await refusal(signIn(provider, { client }));
      });
    }
  }
  assert.equal(followed, 0);
  await elsewhere.shutdown();
});

Deno.test({
  name:
    "a provider with a certificate of the organization's own authority is trusted if that is set [needs openssl]",
  ignore: opensslIsMissing(),
  async fn() {
    const { authority, cert, key } = await certificate();
    await withServer({ tls: { cert, key }, trusted: [authority] }, async ({ provider, client }) => {
      assert.equal((await signIn(provider, { client })).sub, "person-1");
    });
    const other = await makeCertificate("DNS:localhost,IP:127.0.0.1");
    for (const trusted of [[], [other.authority]]) {
      await withServer({ tls: { cert, key }, trusted }, async ({ client }) => {
        const [reason, message] = await refusal(client.begin());
        assert.equal(reason, "provider_unavailable");
        assert.match(message, /cannot be reached: .*certificate.*\.$/);
      });
    }
  },
});

Deno.test({
  name: "a certificate for another name, or one that has expired, is refused [needs openssl]",
  ignore: opensslIsMissing(),
  async fn() {
    const names = await makeCertificate("DNS:idp.example");
    const expired = await makeCertificate("IP:127.0.0.1", -1);
    for (const { authority, cert, key } of [names, expired]) {
      await withServer({ tls: { cert, key }, trusted: [authority] }, async ({ client }) => {
        const [reason, message] = await refusal(client.begin());
        assert.equal(reason, "provider_unavailable");
        assert.match(message, /certificate/);
      });
    }
  },
});
