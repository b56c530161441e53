/**
 * Sign-in and logout at Keycloak, whose zip comes from Maven Central:
 * `mvn dependency:get -Dartifact=org.keycloak:keycloak-quarkus-dist:26.7.3:zip -Dtransitive=false`.
 */
import assert from "node:assert/strict";
import { createServer } from "node:net";
import { claimsMapSchema, grantOf } from "../../src/identity/claims_map.ts";
import { createOidc, type Oidc, type SignedIn } from "../../src/identity/oidc.ts";
import type { OidcSettings } from "../../src/identity/settings.ts";
import { openConnection, type ProviderConnection } from "../../src/identity/wire.ts";
import { CLIENT, type Json, refusal, SECRET, settingsOf } from "../openid.ts";
import { Browser } from "./openid_provider.ts";

const VERSION = "26.7.3";
const NEEDS = `[needs Keycloak ${VERSION} in ~/.m2, Java 17 and unzip]`;
const ARCHIVE = `${
  Deno.env.get("HOME")
}/.m2/repository/org/keycloak/keycloak-quarkus-dist/${VERSION}/keycloak-quarkus-dist-${VERSION}.zip`;
/** Its first start makes a database, and takes a minute or two on a busy machine. */
const START_MS = 300_000;
const ADMIN = { username: "admin", password: "a-password-of-the-administrator" };
const TYPED = { username: "ada", password: "a-password-of-the-person" };

function isMissing(): boolean {
  try {
    Deno.statSync(ARCHIVE);
    return ["java -version", "unzip -v"].some((line) => {
      const [command, argument] = line.split(" ");
      return !new Deno.Command(command!, { args: [argument!], stdout: "null", stderr: "null" }).outputSync()
        .success;
    });
  } catch {
    return true;
  }
}

/** A client with mappers of its own, and one as Keycloak makes it. */
const MAPPED = CLIENT;
const PLAIN = "jiss-plain";

/** A mapper that writes into the ID token. */
function mapper(name: string, config: Readonly<Record<string, string>>): Json {
  const to = { "id.token.claim": "true", "access.token.claim": "false", "userinfo.token.claim": "false" };
  return { name, protocol: "openid-connect", protocolMapper: name, config: { ...to, ...config } };
}

/** A realm with one person, as its export would be. */
function realm(own: string): Json {
  const client = (clientId: string, protocolMappers: readonly Json[]): Json => ({
    clientId,
    secret: SECRET,
    publicClient: false,
    standardFlowEnabled: true,
    redirectUris: [`${own}/callback`],
    attributes: {
      "post.logout.redirect.uris": `${own}/farewell`,
      "backchannel.logout.url": `${own}/logout`,
      "backchannel.logout.session.required": "true",
      "pkce.code.challenge.method": "S256",
    },
    protocolMappers,
  });
  const many = { multivalued: "true", "jsonType.label": "String" };
  return {
    realm: "acme",
    enabled: true,
    sslRequired: "none",
    roles: { realm: [{ name: "jiss-admin" }], client: { [MAPPED]: [{ name: "officer" }] } },
    groups: [{ name: "jiss", subGroups: [{ name: "officers" }] }],
    users: [{
      username: TYPED.username,
      enabled: true,
      email: "ada@acme.example",
      emailVerified: true,
      firstName: "Ada",
      lastName: "Lovelace",
      credentials: [{ type: "password", value: TYPED.password }],
      realmRoles: ["jiss-admin"],
      clientRoles: { [MAPPED]: ["officer"] },
      groups: ["/jiss/officers"],
    }],
    clients: [
      client(MAPPED, [
        mapper("oidc-group-membership-mapper", { "claim.name": "groups", "full.path": "true" }),
        mapper("oidc-usermodel-realm-role-mapper", { "claim.name": "realm_access.roles", ...many }),
        mapper("oidc-usermodel-client-role-mapper", {
          "claim.name": "resource_access.${client_id}.roles",
          "usermodel.clientRoleMapping.clientId": MAPPED,
          ...many,
        }),
      ]),
      client(PLAIN, []),
    ],
  };
}

async function freePort(): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>();
  const server = createServer().listen(0, "127.0.0.1", () => {
    const { port } = server.address() as { port: number };
    server.close(() => resolve(port));
  });
  return await promise;
}

interface Keycloak {
  readonly origin: string;
  readonly issuer: string;
  stop(): Promise<void>;
}

async function startKeycloak(directory: string, own: string): Promise<Keycloak> {
  const unzipped = await new Deno.Command("unzip", { args: ["-q", ARCHIVE, "-d", directory] }).output();
  assert.ok(unzipped.success, new TextDecoder().decode(unzipped.stderr));
  const home = `${directory}/keycloak-${VERSION}`;
  await Deno.mkdir(`${home}/data/import`, { recursive: true });
  await Deno.writeTextFile(`${home}/data/import/acme-realm.json`, JSON.stringify(realm(own)));
  const port = await freePort();
  const log = await Deno.open(`${directory}/keycloak.log`, { create: true, write: true });
  const child = new Deno.Command(`${home}/bin/kc.sh`, {
    args: ["start-dev", "--import-realm", "--http-host=127.0.0.1", `--http-port=${port}`, "--cache=local"],
    env: { KC_BOOTSTRAP_ADMIN_USERNAME: ADMIN.username, KC_BOOTSTRAP_ADMIN_PASSWORD: ADMIN.password },
    stdin: "null",
    stdout: "piped",
    stderr: "null",
  }).spawn();
  const written = child.stdout.pipeTo(log.writable);
  const origin = `http://127.0.0.1:${port}`;
  const issuer = `${origin}/realms/acme`;
  let isRunning = true;
  const stopped = child.status.then(() => isRunning = false);
  const stop = async () => {
    if (isRunning) child.kill("SIGTERM");
    await Promise.all([stopped, written]);
  };
  const until = performance.now() + START_MS;
  for (;;) {
    const status = await fetch(`${issuer}/.well-known/openid-configuration`)
      .then(async (answer) => (await answer.text(), answer.status), () => 0);
    if (status === 200) return { origin, issuer, stop };
    if (!isRunning || performance.now() > until) {
      await stop();
      throw new Error(`Keycloak did not start: ${await Deno.readTextFile(`${directory}/keycloak.log`)}`);
    }
    await new Promise((later) => setTimeout(later, 250));
  }
}

/** Gives the realm another key, which signs from now on. */
async function rotateKey({ origin }: Keycloak): Promise<void> {
  const login = await fetch(`${origin}/realms/master/protocol/openid-connect/token`, {
    method: "POST",
    body: new URLSearchParams({ grant_type: "password", client_id: "admin-cli", ...ADMIN }),
  });
  const { access_token } = await login.json();
  const made = await fetch(`${origin}/admin/realms/acme/components`, {
    method: "POST",
    headers: { "Content-Type": "application/json", Authorization: `Bearer ${access_token}` },
    body: JSON.stringify({
      name: "another key",
      providerId: "rsa-generated",
      providerType: "org.keycloak.keys.KeyProvider",
      config: { priority: ["1000"], enabled: ["true"], active: ["true"], algorithm: ["RS256"] },
    }),
  });
  assert.equal(made.status, 201, await made.text());
}

const header = (token: string) =>
  JSON.parse(
    new TextDecoder().decode(Uint8Array.fromBase64(token.split(".")[0]!, { alphabet: "base64url" })),
  );

Deno.test({
  name: `a person signs in at Keycloak, gets a role by each kind of claim, and is logged out ${NEEDS}`,
  ignore: isMissing(),
  async fn(step) {
    const directory = await Deno.makeTempDir({ prefix: "jiss-keycloak-" });
    const logoutTokens: string[] = [];
    const receiver = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
      logoutTokens.push((await request.formData()).get("logout_token") as string);
      return new Response();
    });
    const own = `http://127.0.0.1:${receiver.addr.port}`;
    const [redirectUri, farewell] = [`${own}/callback`, `${own}/farewell`];
    const keycloak = await startKeycloak(directory, own);
    const connection: ProviderConnection = openConnection([]);
    let ahead = 0;
    const clientOf = (settings: Partial<OidcSettings> = {}): Oidc =>
      createOidc(
        settingsOf(keycloak.issuer, {
          redirectUri,
          postLogoutRedirectUri: farewell,
          userInfo: false,
          timeoutMs: 30_000,
          ...settings,
        }),
        {
          fetch: connection.fetch,
          now: () => Date.now() + ahead,
          random: (length) => crypto.getRandomValues(new Uint8Array(length)),
        },
      );
    const signIn = async (client: Oidc, browser = new Browser()): Promise<SignedIn> => {
      const { url, kept } = await client.begin();
      return await client.finish(await browser.visit(url, redirectUri, TYPED), kept);
    };
    try {
      const client = clientOf();
      const browser = new Browser();
      const person = await signIn(client, browser);

      await step.step("the claims are those of the person, with mappers for the roles and groups", () => {
        const { email, emailVerified, name, sid, claims } = person;
        assert.deepEqual([email, emailVerified, name], ["ada@acme.example", true, "Ada Lovelace"]);
        assert.ok(sid !== null);
        for (
          const when of [
            { groups: "/jiss/officers" },
            { "realm_access.roles": "jiss-admin" },
            { "resource_access.jiss.roles": "officer" },
            { "/resource_access/jiss/roles": ["auditor", "officer"] },
          ]
        ) {
          const map = claimsMapSchema.parse({ rules: [{ when, organization: "acme", role: "officer" }] });
          assert.deepEqual(
            grantOf(map, claims),
            { organization: "acme", role: "officer" },
            JSON.stringify(when),
          );
        }
      });

      await step.step("without mappers neither the ID token nor UserInfo has roles or groups", async () => {
        const { claims } = await signIn(clientOf({ clientId: PLAIN, userInfo: true }));
        assert.equal(claims.email, "ada@acme.example");
        for (const name of ["groups", "realm_access", "resource_access"]) {
          assert.equal(claims[name], undefined);
        }
      });

      await step.step("the secret may go in the header, and a wrong one is refused", async () => {
        await signIn(clientOf({ secretMethod: "client_secret_basic" }));
        for (const secretMethod of ["client_secret_basic", "client_secret_post"] as const) {
          const wrong = clientOf({ clientSecret: "another-secret", secretMethod });
          assert.equal((await refusal(signIn(wrong), ["another-secret"]))[0], "misconfigured");
        }
      });

      await step.step("a code serves once, and a realm that is not there is told", async () => {
        const other = clientOf();
        const { url, kept } = await other.begin();
        const callback = await new Browser().visit(url, redirectUri, TYPED);
        await other.finish(callback, kept);
        assert.equal((await refusal(other.finish(callback, kept)))[0], "replayed_or_bad_code");
        const lost = clientOf({ issuer: `${keycloak.origin}/realms/nowhere` });
        const [reason, message] = await refusal(lost.begin());
        assert.equal(reason, "misconfigured");
        assert.match(message, /404 .* The setting of the issuer may be wrong/);
      });

      await step.step("a new key of the realm is followed", async () => {
        await rotateKey(keycloak);
        ahead += 11_000;
        const renewed = await signIn(client);
        assert.notEqual(header(renewed.idToken).kid, header(person.idToken).kid);
        ahead = 0;
      });

      await step.step(
        "a logout sends the person back, and a logout token that ends the session",
        async () => {
          const leave = await client.endSessionUrl(person.idToken);
          assert.equal(await browser.visit(leave!, farewell, TYPED), farewell);
          const found = await Promise.all(logoutTokens.map((token) => client.readLogoutToken(token)));
          assert.deepEqual(found.map(({ sub, sid }) => [sub, sid]), [[person.sub, person.sid]]);
          assert.equal((await refusal(client.readLogoutToken(person.idToken)))[0], "wrong_token");
        },
      );
    } finally {
      connection.close();
      await keycloak.stop();
      await receiver.shutdown();
      await Deno.remove(directory, { recursive: true });
    }
  },
});
