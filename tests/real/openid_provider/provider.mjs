/**
 * A real OpenID provider on loopback, run by Node: npm's `oidc-provider` with one client and one person. The argument is
 * JSON (`Options` in ../openid_provider.ts). It prints its issuer once it listens.
 */
import { createServer } from "node:http";
import process from "node:process";

const options = JSON.parse(process.argv[2]);
const { Provider } = await import(options.module);

/** The page of a logout has nothing but a form, which the test sends. */
function logoutSource(context, form) {
  context.body = form;
}

const server = createServer();
server.listen(options.port, "127.0.0.1", () => {
  const issuer = `http://127.0.0.1:${server.address().port}`;
  const provider = new Provider(issuer, {
    clients: [options.client],
    jwks: { keys: options.keys },
    cookies: { keys: ["a cookie key of the tests"] },
    claims: {
      openid: ["sub"],
      profile: ["name"],
      email: ["email", "email_verified"],
      groups: ["groups"],
    },
    conformIdTokenClaims: options.claimsInUserInfo,
    features: {
      devInteractions: { enabled: true },
      backchannelLogout: { enabled: true },
      rpInitiatedLogout: { enabled: true, logoutSource },
    },
    enabledJWA: { idTokenSigningAlgValues: options.keys.map(({ alg }) => alg) },
    findAccount: (_context, sub) => ({
      accountId: sub,
      claims: () => ({ sub, ...options.person }),
    }),
    // Its own dispatcher sends nothing to loopback.
    fetch: (url, { dispatcher: _, ...request }) => fetch(url, request),
  });
  server.on("request", provider.callback());
  process.stdout.write(`${issuer}\n`);
});
