/**
 * Passkeys in Chromium, with authenticators that it simulates: the page's functions and the service's, over a small service
 * of the test's own. It listens on 127.0.0.1, and its pages are opened at localhost, as those of `jiss dev` must be.
 */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import type { CDPSession, Page } from "playwright-core";
import { formOf } from "../../scripts/web.ts";
import type { PasskeyAuthentication } from "../../src/domain/passkey.ts";
import {
  authenticationOptions,
  registrationOptions,
  type StoredPasskey,
  verifyAuthentication,
  verifyRegistration,
} from "../../src/identity/passkeys.ts";
import { PasskeyRefusal } from "../../src/identity/passkey_refusal.ts";
import { relyingPartyOf } from "../../src/identity/relying_party.ts";
import type * as passkeys from "../../src/web/shared/passkeys.ts";
import { addAuthenticator, type Simulated } from "./virtual_authenticator.ts";
import {
  browserTests,
  chromiumIsMissing,
  INTRANET,
  NEEDS_CHROMIUM,
  type Visit,
  withBrowser,
} from "./browser.ts";

// ---- the service ------------------------------------------------------------------------------------------

const USERS = ["ada", "ben"] as const;
type User = (typeof USERS)[number];

interface Service {
  readonly port: number;
  /** The passkeys that it has, by their ids. */
  readonly stored: Map<string, StoredPasskey>;
}

type Handler = (body: unknown) => Promise<unknown> | unknown;

/** The page's module, bundled as the pages of the service are. */
async function bundledPasskeys(): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["bundle", "--quiet", ...formOf("passkeys.js"), "--minify", "src/web/shared/passkeys.ts"],
    cwd: `${import.meta.dirname}/../..`,
  }).output();
  assert.ok(success, new TextDecoder().decode(stderr));
  return new TextDecoder().decode(stdout);
}

let bundled: Promise<string> | null = null;

async function withService(use: (service: Service) => Promise<void>): Promise<void> {
  const script = await (bundled ??= bundledPasskeys());
  const files: Readonly<Record<string, readonly [type: string, text: string]>> = {
    "/": [
      "text/html",
      `<!doctype html><html lang="en"><title>Sign in</title><script type="module" src="/page.js"></script>`,
    ],
    "/page.js": [
      "text/javascript",
      `import * as passkeys from "/passkeys.js"; globalThis.passkeys = passkeys;`,
    ],
    "/passkeys.js": ["text/javascript", script],
    "/favicon.ico": ["image/x-icon", ""],
  };
  const stored = new Map<string, StoredPasskey>();
  let handlers: Readonly<Record<string, Handler>> = {};
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
    const { pathname } = new URL(request.url);
    const handler = handlers[pathname];
    if (handler !== undefined) return await answerOf(handler, request);
    const [type, text] = files[pathname]!;
    return new Response(text, {
      headers: {
        "Content-Type": `${type}; charset=utf-8`,
        "Content-Security-Policy": "default-src 'none'; script-src 'self'; connect-src 'self'",
      },
    });
  });
  const { port } = server.addr;
  handlers = handlersOf(`http://127.0.0.1:${port}`, stored);
  try {
    await use({ port, stored });
  } finally {
    await server.shutdown();
  }
}

function handlersOf(
  baseUrl: string,
  stored: Map<string, StoredPasskey>,
): Readonly<Record<string, Handler>> {
  const relyingParty = relyingPartyOf(baseUrl);
  assert.ok(relyingParty.rpId !== null);
  let asked: { readonly challenge: Uint8Array; readonly user: User | null } | null = null;
  const ask = (user: User | null) => {
    asked = { challenge: new Uint8Array(randomBytes(32)), user };
    return { ...relyingParty, challenge: asked.challenge };
  };
  /** What was asked last; it counts once. */
  const take = () => {
    assert.ok(asked !== null);
    const { challenge, user } = asked;
    asked = null;
    return { expected: { ...relyingParty, challenge }, user };
  };
  return {
    "/register/options": (body) => {
      const { user } = body as { readonly user: User };
      return registrationOptions({
        ...ask(user),
        rpName: "JISS",
        userId: user,
        userName: user,
        userDisplayName: user,
        existing: [...stored.values()].filter(({ userId }) => userId === user).map((one) => one.credentialId),
      });
    },
    "/register": async (response) => {
      const { expected, user } = take();
      const passkey = await verifyRegistration({ ...expected, response });
      stored.set(passkey.credentialId, { ...passkey, userId: user! });
      const { publicKey, ...shown } = passkey;
      return { ...shown, bytes: publicKey.length };
    },
    "/sign-in/options": () => authenticationOptions(ask(null)),
    "/sign-in": async (response) => {
      const { expected } = take();
      const { id } = response as PasskeyAuthentication;
      const credential = stored.get(id) ?? null;
      const { newCounter } = await verifyAuthentication({ ...expected, response, credential });
      stored.set(id, { ...credential!, counter: newCounter });
      return { user: credential!.userId, newCounter };
    },
  };
}

async function answerOf(handler: Handler, request: Request): Promise<Response> {
  try {
    return Response.json(await handler(await request.json()));
  } catch (error) {
    if (!(error instanceof PasskeyRefusal)) throw error;
    return Response.json({ refused: error.code, message: error.message });
  }
}

// ---- the page ---------------------------------------------------------------------------------------------

type PageWindow = typeof globalThis & { readonly passkeys: typeof passkeys };

/** What came of an attempt: the service's answer, or the error that the page's function threw. */
type Outcome = Readonly<Record<string, unknown>>;

/** Registers in the page, or signs in. If `abortMs` is set, the page gives up after so many milliseconds. */
async function attempt(
  page: Page,
  { path, user, abortMs }: {
    readonly path: "/register" | "/sign-in";
    readonly user?: User;
    readonly abortMs?: number;
  },
): Promise<Outcome> {
  return await page.evaluate(async ([path, user, abortMs]) => {
    const { createPasskey, presentPasskey, PasskeyError } = (globalThis as PageWindow).passkeys;
    const post = async (path: string, body: unknown) => {
      const response = await fetch(path, { method: "POST", body: JSON.stringify(body) });
      return await response.json();
    };
    const controller = new AbortController();
    if (abortMs !== null) setTimeout(() => controller.abort(new RangeError("gave up")), abortMs);
    const options = await post(`${path}/options`, { user });
    try {
      const { signal } = controller;
      const answer = path === "/register"
        ? await createPasskey(options, { signal })
        : await presentPasskey(options, { signal });
      return await post(path, answer);
    } catch (error) {
      return error instanceof PasskeyError
        ? { problem: error.problem, message: error.message }
        : { thrown: String(error) };
    }
  }, [path, user ?? null, abortMs ?? null] as const);
}

const register = (page: Page, user: User = "ada") => attempt(page, { path: "/register", user });
const signIn = (page: Page) => attempt(page, { path: "/sign-in" });

async function obstacleOn(page: Page, rpId?: string): Promise<Outcome | null> {
  await page.goto("/?a=b#c");
  await page.waitForFunction(() => "passkeys" in globalThis);
  return await page.evaluate((rpId) => {
    const found = (globalThis as PageWindow).passkeys.passkeyObstacle(rpId);
    return found === null ? null : { problem: found.problem, message: found.message };
  }, rpId);
}

// ---- authenticators ---------------------------------------------------------------------------------------

type Options = Parameters<typeof addAuthenticator>[1];

interface Scene extends Service {
  readonly page: Page;
  readonly cdp: CDPSession;
  readonly authenticators: readonly Simulated[];
  /** Loads the page anew, with a script before it. */
  readonly reload: (script: string) => Promise<void>;
}

const define = browserTests(withService, ({ port }) => `http://localhost:${port}`);

/** A test on the page of the service, with authenticators. */
function passkeyTest(name: string, authenticators: readonly Options[], run: (scene: Scene) => Promise<void>) {
  define(name, async (visit, service) => {
    const { page } = await visit();
    const cdp = await page.context().newCDPSession(page);
    await cdp.send("WebAuthn.enable");
    const added: Simulated[] = [];
    for (const options of authenticators) added.push(await addAuthenticator(cdp, options));
    const open = async () => {
      await page.goto("/");
      await page.waitForFunction(() => "passkeys" in globalThis);
    };
    await open();
    const reload = async (script: string) => {
      await page.addInitScript(script);
      await open();
    };
    await run({ ...service, page, cdp, authenticators: added, reload });
  });
}

// ---- ceremonies -------------------------------------------------------------------------------------------

/** What is left out, as browsers and other programs leave it out. */
const BROWSERS: Readonly<Record<string, string>> = {
  "": "",
  ", by a browser that makes no JSON": `
    delete PublicKeyCredential.parseCreationOptionsFromJSON;
    delete PublicKeyCredential.parseRequestOptionsFromJSON;
    delete PublicKeyCredential.prototype.toJSON;`,
  ", by a program whose passkeys make no JSON": `
    PublicKeyCredential.prototype.toJSON = () => { throw new TypeError("Illegal invocation"); };`,
  ", by a browser that tells no transports": `
    delete PublicKeyCredential.prototype.toJSON;
    delete AuthenticatorAttestationResponse.prototype.getTransports;`,
};

for (const [by, script] of Object.entries(BROWSERS)) {
  passkeyTest(`a person registers a passkey and signs in with it${by}`, [{}], async (scene) => {
    const { page, stored, authenticators: [authenticator], reload } = scene;
    await reload(script);
    const { credentialId, ...shown } = await register(page);
    const transports = script.includes("getTransports") ? [] : ["internal"];
    assert.deepEqual(shown, { counter: 1, transports, backedUp: false, bytes: 77 });
    assert.equal(stored.get(credentialId as string)!.userId, "ada");
    const [{ credentialId: kept, isResidentCredential, userHandle } = {}] = await authenticator!
      .credentials();
    const base64 = (text: string) => text.replaceAll("-", "+").replaceAll("_", "/");
    assert.equal(kept!.replaceAll("=", ""), base64(credentialId as string));
    assert.deepEqual([isResidentCredential, atob(userHandle!)], [true, "ada"]);
    assert.deepEqual(await signIn(page), { user: "ada", newCounter: 2 });
    assert.deepEqual(await signIn(page), { user: "ada", newCounter: 3 });
  });
}

passkeyTest(
  "who declines gets no passkey, uses none, and can try again",
  [{}],
  async ({ page, authenticators }) => {
    const [authenticator] = authenticators;
    await authenticator!.knowsItsUser(false);
    assert.deepEqual(await register(page), {
      problem: "declined",
      message:
        "No passkey was made: it was declined, it took too long, or the device can keep none. Try again, or use another device.",
    });
    await authenticator!.knowsItsUser(true);
    assert.equal((await register(page)).counter, 1);
    await authenticator!.knowsItsUser(false);
    assert.deepEqual(await signIn(page), {
      problem: "declined",
      message:
        "No passkey was used: it was declined, it took too long, or there is none of this service on the device. Try again, or use another device.",
    });
    await authenticator!.knowsItsUser(true);
    assert.equal((await signIn(page)).user, "ada");
  },
);

passkeyTest("a page that gives up gets its own reason", [{}], async ({ page, authenticators }) => {
  assert.equal((await register(page)).counter, 1);
  await authenticators[0]!.confirms(false);
  for (const path of ["/register", "/sign-in"] as const) {
    for (const abortMs of [0, 300]) {
      assert.deepEqual(
        await attempt(page, { path, user: "ben", abortMs }),
        { thrown: "RangeError: gave up" },
        `${path} ${abortMs}`,
      );
    }
  }
});

passkeyTest(
  "a passkey of another user, and one that is gone, are refused alike",
  [{}],
  async ({ page, stored }) => {
    const credentialId = (await register(page)).credentialId as string;
    const passkey = stored.get(credentialId)!;
    const message =
      "The service does not accept this passkey: use another one, or ask the administrator of your organization.";
    stored.set(credentialId, { ...passkey, userId: "ben" });
    assert.deepEqual(await signIn(page), { refused: "wrong_user", message });
    stored.delete(credentialId);
    assert.deepEqual(await signIn(page), { refused: "unknown_credential", message });
    stored.set(credentialId, passkey);
    assert.equal((await signIn(page)).user, "ada");
  },
);

passkeyTest(
  "a copy of an authenticator is refused by its counter",
  [{}],
  async ({ page, authenticators }) => {
    await register(page);
    for (const newCounter of [2, 3]) assert.deepEqual(await signIn(page), { user: "ada", newCounter });
    await authenticators[0]!.restore(2);
    assert.equal((await signIn(page)).refused, "counter_regressed");
    // By now the copy has counted as far as the service has.
    assert.deepEqual(await signIn(page), { user: "ada", newCounter: 4 });
  },
);

passkeyTest(
  "a person has a passkey on each of two authenticators, and a second on neither",
  [{}, { transport: "usb" }],
  async ({ page, stored, authenticators: [own, key] }) => {
    await key!.confirms(false);
    assert.deepEqual((await register(page)).transports, ["internal"]);
    await own!.confirms(false);
    await key!.confirms(true);
    const { transports } = await register(page);
    assert.ok((transports as readonly string[]).includes("usb"));
    assert.deepEqual([...stored.values()].map(({ userId }) => userId), ["ada", "ada"]);
    assert.deepEqual(await register(page), {
      problem: "already_registered",
      message: "This device has a passkey of yours already: sign in with it, or use another device.",
    });
    const [first, second] = [...stored.keys()];
    assert.equal((await signIn(page)).user, "ada");
    assert.ok(stored.get(second!)!.counter > 1, "the key was used");
    assert.equal(stored.get(first!)!.counter, 1);
    await key!.confirms(false);
    await own!.confirms(true);
    assert.equal((await signIn(page)).user, "ada");
    assert.ok(stored.get(first!)!.counter > 1, "the device was used");
  },
);

passkeyTest(
  "two persons share a device, and each signs in as who they are",
  [{}],
  async ({ page, stored }) => {
    await register(page, "ada");
    await register(page, "ben");
    assert.deepEqual([...stored.values()].map(({ userId }) => userId), ["ada", "ben"]);
    const { user } = await signIn(page);
    assert.ok(USERS.includes(user as User));
    // The authenticator chooses; the other person's is what is left.
    for (const [id, { userId }] of stored) if (userId === user) stored.delete(id);
    assert.equal((await signIn(page)).refused, "unknown_credential");
  },
);

for (const lacking of ["hasUserVerification", "hasResidentKey"] as const) {
  passkeyTest(
    `an authenticator with ${lacking} false makes no passkey`,
    [{ transport: "usb", [lacking]: false }],
    async ({ page, stored }) => {
      // Chromium does not tell a page what the person's devices can do.
      assert.equal((await register(page)).problem, "declined");
      assert.equal(stored.size, 0);
    },
  );
}

// ---- obstacles --------------------------------------------------------------------------------------------

Deno.test({
  name: `a page says why it has no passkeys, and where it has them ${NEEDS_CHROMIUM}`,
  ignore: chromiumIsMissing(),
  fn: () =>
    withService(async ({ port }) => {
      const at = (host: string, use: (visited: Visit) => Promise<void>) =>
        withBrowser(`http://${host}:${port}`, async (visit) => use(await visit()));
      await at("localhost", async ({ page }) => {
        assert.equal(await obstacleOn(page), null);
        assert.equal(await obstacleOn(page, "localhost"), null);
        assert.deepEqual(await obstacleOn(page, "jiss.bank.example"), {
          problem: "wrong_address",
          message:
            "The passkeys of this service belong to jiss.bank.example, and this page was opened at localhost: open it there.",
        });
      });
      await at("localhost", async ({ page }) => {
        await page.addInitScript("delete globalThis.PublicKeyCredential");
        assert.deepEqual(await obstacleOn(page), {
          problem: "unsupported",
          message: "This browser has no passkeys: use a current one.",
        });
      });
      await at("127.0.0.1", async ({ page }) => {
        const there = {
          problem: "wrong_address",
          message: `Passkeys work at localhost, not at 127.0.0.1: open http://localhost:${port}/?a=b#c`,
        };
        assert.deepEqual(await obstacleOn(page), there);
        assert.deepEqual(await obstacleOn(page, "localhost"), there);
        assert.match(
          String((await obstacleOn(page, "jiss.bank.example"))!.message),
          /belong to jiss\.bank\.example/,
        );
        assert.deepEqual(await register(page), there);
        // This is what the browser says by itself.
        const own = await page.evaluate(async () => {
          const user = { id: new Uint8Array(1), name: "a", displayName: "a" };
          const pubKeyCredParams = [-7, -257].map((alg) => ({ type: "public-key" as const, alg }));
          const publicKey = { rp: { name: "a" }, user, challenge: new Uint8Array(32), pubKeyCredParams };
          return await navigator.credentials.create({ publicKey }).then(String, String);
        });
        assert.equal(own, "SecurityError: This is an invalid domain.");
      });
      await at(INTRANET, async ({ page }) => {
        const { problem, message } = (await obstacleOn(page))!;
        assert.equal(problem, "insecure");
        assert.match(message as string, /plain HTTP.*https:\/\//);
        assert.equal((await register(page)).problem, "insecure");
      });
      // The browser itself finds that a name above belongs to nobody.
      await at("jiss.localhost", async ({ page }) => {
        assert.equal(await obstacleOn(page, "localhost"), null);
        assert.deepEqual(await register(page), {
          problem: "wrong_address",
          message:
            "The passkeys of this service belong to localhost, and this page was opened at jiss.localhost: open it there.",
        });
      });
    }),
});
