/**
 * Sign-in of persons by OpenID Connect: authorization code flow with PKCE, logout at the provider, and the provider's
 * own logout by the back channel. Keeps nothing about a sign-in: the caller does, from {@link Oidc.begin} to
 * {@link Oidc.finish}. Source: OpenID Connect Core 1.0; RP-Initiated Logout 1.0; Back-Channel Logout 1.0; RFC 7636;
 * RFC 9207.
 */
import * as oauth from "oauth4webapi";
import { isMisleading } from "../domain/organization.ts";
import { askUserInfo, exchangeCode } from "./exchange.ts";
import { type Metadata, openProvider } from "./provider.ts";
import { checkSettings, type OidcSettings } from "./settings.ts";
import { type LogoutToken, verifyIdToken, verifyLogoutToken } from "./tokens.ts";
import { boundedFetch, type Fetch } from "./wire.ts";

/** Random bytes of each secret: 256 bits, as RFC 7636 recommends. */
const SECRET_BYTES = 32;

/** The secrets of a sign-in. Whoever began it must keep them, where only the same browser leads to them. */
export interface KeptSecrets {
  readonly state: string;
  readonly nonce: string;
  /** The verifier of PKCE. */
  readonly verifier: string;
}

/** A person whom the provider has identified. The issuer and `sub` together name the person for ever. */
export interface SignedIn {
  readonly sub: string;
  readonly email: string | null;
  /** Whether the provider says that the address belongs to the person. */
  readonly emailVerified: boolean;
  readonly name: string | null;
  /** The session at the provider, which a logout token names; null if the provider names none. */
  readonly sid: string | null;
  /** All claims: those of the ID token, and those of UserInfo that it lacks. */
  readonly claims: Readonly<Record<string, unknown>>;
  /** For {@link Oidc.endSessionUrl}. */
  readonly idToken: string;
}

export interface Oidc {
  /** Begins a sign-in: the address to send the browser to, and what to keep. @throws {OidcRefused} */
  begin(): Promise<{ readonly url: string; readonly kept: KeptSecrets }>;
  /**
   * Ends a sign-in. Of the callback's address only the query counts. The caller must not offer the same secrets twice.
   * @throws {OidcRefused}
   */
  finish(callbackUrl: string | URL, kept: KeptSecrets): Promise<SignedIn>;
  /**
   * The address at which the browser ends its session at the provider; null if the provider has none.
   * @throws {OidcRefused}
   */
  endSessionUrl(idToken: string | null): Promise<string | null>;
  /** What the provider's logout token ends. The caller remembers each `jti`. @throws {OidcRefused} */
  readLogoutToken(token: string): Promise<LogoutToken>;
}

export interface OidcDependencies {
  readonly fetch: Fetch;
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** Secure random bytes. */
  readonly random: (length: number) => Uint8Array;
}

/**
 * A client of the provider. Nothing is sent before it is used.
 * @throws {OidcRefused} `misconfigured` if the settings cannot work.
 */
export function createOidc(settings: OidcSettings, { fetch, now, random }: OidcDependencies): Oidc {
  checkSettings(settings);
  const { clientId, redirectUri, scopes, postLogoutRedirectUri } = settings;
  const provider = openProvider(settings, { fetch: boundedFetch(fetch, settings.timeoutMs), now });
  const secret = () => random(SECRET_BYTES).toBase64({ alphabet: "base64url", omitPadding: true });
  const expected = (metadata: Metadata) => ({
    keys: provider.keys,
    issuer: metadata.issuer,
    algorithms: metadata.id_token_signing_alg_values_supported,
    clientId,
    now: now(),
  });

  return {
    async begin() {
      const { authorization_endpoint } = await provider.metadata();
      const kept = { state: secret(), nonce: secret(), verifier: secret() };
      const url = withParameters(authorization_endpoint, {
        response_type: "code",
        client_id: clientId,
        redirect_uri: redirectUri,
        scope: scopes.join(" "),
        state: kept.state,
        nonce: kept.nonce,
        code_challenge: await oauth.calculatePKCECodeChallenge(kept.verifier),
        code_challenge_method: "S256",
      });
      return { url, kept };
    },

    async finish(callbackUrl, kept) {
      const metadata = await provider.metadata();
      const callback = { ...kept, parameters: queryOf(callbackUrl) };
      const { idToken, claims, accessToken } = await exchangeCode(
        settings,
        { provider, metadata, callback },
        (token) => verifyIdToken(token, { ...expected(metadata), nonce: kept.nonce }),
      );
      const { sub } = claims;
      const isAsked = settings.userInfo && metadata.userinfo_endpoint !== undefined;
      const more = isAsked ? await askUserInfo(settings, { provider, metadata, accessToken, sub }) : {};
      return signedIn(sub, merged(claims, more), idToken);
    },

    async endSessionUrl(idToken) {
      const { end_session_endpoint } = await provider.metadata();
      if (end_session_endpoint === undefined) return null;
      return withParameters(end_session_endpoint, {
        client_id: clientId,
        ...(idToken === null ? {} : { id_token_hint: idToken }),
        ...(postLogoutRedirectUri === null ? {} : { post_logout_redirect_uri: postLogoutRedirectUri }),
      });
    },

    async readLogoutToken(token) {
      return await verifyLogoutToken(token, expected(await provider.metadata()));
    },
  };
}

/** The claims of the ID token, and those of UserInfo that it lacks. An address comes with what the same source says of it. */
function merged(
  signed: Readonly<Record<string, unknown>>,
  more: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const { email: _address, email_verified: _verified, ...claims } = { ...more, ...signed };
  const { email, email_verified } = signed.email === undefined ? more : signed;
  return {
    ...claims,
    ...(email === undefined ? {} : { email }),
    ...(email_verified === undefined ? {} : { email_verified }),
  };
}

function signedIn(sub: string, claims: Readonly<Record<string, unknown>>, idToken: string): SignedIn {
  const { email, email_verified: verified, name, sid } = claims;
  const text = (value: unknown) =>
    typeof value === "string" && value !== "" && !isMisleading(value) ? value : null;
  return {
    sub,
    email: text(email),
    // Some providers write the truth value as a text.
    emailVerified: text(email) !== null && (verified === true || verified === "true"),
    name: text(name),
    sid: text(sid),
    claims,
    idToken,
  };
}

/** An address with further parameters. It keeps its own. */
function withParameters(address: string, parameters: Readonly<Record<string, string>>): string {
  const url = new URL(address);
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return url.href;
}

/** The query of a callback, whose host and path are what a proxy made of them. */
function queryOf(callbackUrl: string | URL): URLSearchParams {
  return URL.parse(callbackUrl, "http://callback.invalid")?.searchParams ?? new URLSearchParams();
}
