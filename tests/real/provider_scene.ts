/** The whole program, and a real OpenID provider at which its users sign in. */
import { exportJWK } from "jose";
import { CLIENT, newKey, SECRET } from "../openid.ts";
import { createOrganization, freshDeployment, type RunningService, startService } from "../program.ts";
import { type Browser, type RunningProvider, startProvider } from "./openid_provider.ts";

/** What the person types into the forms of the provider. */
export const TYPED = { login: "ada", password: "x", logout: "yes" };

export interface Scene {
  readonly service: RunningService;
  /** The address at which browsers know the program. */
  readonly base: string;
  readonly provider: RunningProvider;
  readonly key: string;
  /** Sends the browser through the provider's forms; resolves to where it ends. */
  signIn(browser: Browser): Promise<string>;
  me(browser: Browser): Promise<{ readonly status: number; readonly body: Record<string, never> }>;
  /** Ends the provider and starts another at the same address, with claims of its own. */
  restart(person?: Readonly<Record<string, unknown>>): Promise<void>;
}

function freePort(): number {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr as Deno.NetAddr;
  listener.close();
  return port;
}

export const OFFICER = {
  name: "Ada Ruiz",
  email: "ada@acme.example",
  email_verified: true,
  groups: ["jiss-officers"],
};

/** Runs with the program and a provider. `host`: the name under which browsers know the program. */
export async function withScene(
  run: (scene: Scene) => Promise<void>,
  { person: first = OFFICER, host = "127.0.0.1" }: {
    readonly person?: Readonly<Record<string, unknown>> | undefined;
    readonly host?: string;
  } = {},
): Promise<void> {
  const deployment = await freshDeployment();
  const port = freePort();
  const base = `http://${host}:${port}`;
  const signing = await newKey("first", "RS256");
  const optionsOf = async (person: Readonly<Record<string, unknown>>) => ({
    client: {
      client_id: CLIENT,
      client_secret: SECRET,
      token_endpoint_auth_method: "client_secret_post",
      redirect_uris: [`${base}/sign-in/oidc/callback`],
      post_logout_redirect_uris: [`${base}/console`],
      backchannel_logout_uri: `${base}/sign-in/oidc/back-channel-logout`,
      backchannel_logout_session_required: true,
      response_types: ["code"],
      grant_types: ["authorization_code"],
      scope: "openid profile email groups",
      id_token_signed_response_alg: "RS256",
    },
    keys: [{ ...await exportJWK(signing.privateKey), kid: signing.kid, alg: signing.alg, use: "sig" }],
    person,
    claimsInUserInfo: true,
  });
  let provider = await startProvider(await optionsOf(first));
  const mapFile = `${deployment.directory}/map.json`;
  await Deno.writeTextFile(
    mapFile,
    JSON.stringify({
      rules: [
        { when: { groups: "jiss-admins" }, organization: "acme", role: "admin" },
        { when: { groups: "jiss-officers" }, organization: "acme", role: "officer" },
      ],
    }),
  );
  const service = await startService(["serve"], {
    env: {
      ...deployment.env,
      JISS_PORT: String(port),
      JISS_BASE_URL: base,
      JISS_OIDC_ISSUER: provider.issuer,
      JISS_OIDC_CLIENT_ID: CLIENT,
      JISS_OIDC_CLIENT_SECRET: SECRET,
      JISS_OIDC_SCOPES: "openid profile email groups",
      JISS_OIDC_MAP_FILE: mapFile,
      JISS_RATE_LIMIT_IP: "100000",
    },
  });
  try {
    await run({
      service,
      base,
      get provider() {
        return provider;
      },
      key: await createOrganization(service, deployment.env),
      signIn: (browser) => browser.visit(`${base}/sign-in/oidc`, `${base}/console/signed-in`, TYPED),
      async me(browser) {
        const answer = await fetch(`${base}/v1/me`, { headers: { Cookie: browser.cookie } });
        return { status: answer.status, body: await answer.json() };
      },
      async restart(person = first) {
        await provider.stop();
        provider = await startProvider({ ...await optionsOf(person), port: provider.port });
      },
    });
  } finally {
    await service.stop();
    await provider.stop();
    await deployment.remove();
  }
}
