/** How the service is known to an OpenID provider, and what such settings must be. */
import { OidcRefused } from "./refusal.ts";

/** Milliseconds that the provider has for each answer, if the settings name no other time. */
export const PROVIDER_TIMEOUT_MS = 5_000;

/** Ways to send the secret, by the names of OpenID Connect Core 1.0, section 9. */
export const SECRET_METHODS = ["client_secret_post", "client_secret_basic"] as const;
export type SecretMethod = (typeof SECRET_METHODS)[number];

export interface OidcSettings {
  /** The issuer exactly as the provider names itself. */
  readonly issuer: string;
  readonly clientId: string;
  /** Null for a public client, which proves itself by PKCE alone. */
  readonly clientSecret: string | null;
  /**
   * How the secret is sent, if the provider accepts only the way that is registered for the client; null for the way
   * that the provider announces.
   */
  readonly secretMethod: SecretMethod | null;
  /** The address to which the provider sends the person back, as it is registered there. */
  readonly redirectUri: string;
  /** Scopes to ask for, with `openid` among them. */
  readonly scopes: readonly string[];
  /** The address to which the provider sends the person after a logout; null if none is registered there. */
  readonly postLogoutRedirectUri: string | null;
  /** Whether the provider's UserInfo endpoint is asked for the claims that the ID token lacks. */
  readonly userInfo: boolean;
  /** Milliseconds for each request to the provider. */
  readonly timeoutMs: number;
}

/** @throws {OidcRefused} `misconfigured` with the first setting that cannot work. */
export function checkSettings(settings: OidcSettings): void {
  const { issuer, clientId, clientSecret, redirectUri, postLogoutRedirectUri, scopes } = settings;
  assertAddress("issuer", issuer);
  if (/[?#]/.test(issuer)) throw misconfigured("The issuer must have no query and no fragment.");
  assertAddress("redirect URI", redirectUri);
  if (redirectUri.includes("#")) throw misconfigured("The redirect URI must have no fragment.");
  if (postLogoutRedirectUri !== null) assertAddress("redirect URI after a logout", postLogoutRedirectUri);
  if (clientId === "") throw misconfigured("The client id must not be empty.");
  if (clientSecret === "") throw misconfigured("The client secret must not be empty.");
  if (!scopes.includes("openid")) throw misconfigured("The scopes must contain openid.");
  const odd = scopes.find((scope) => !SCOPE.test(scope));
  if (odd !== undefined) {
    throw misconfigured("A scope must consist of printable characters, without spaces or quotes.");
  }
}

/** RFC 6749, appendix A.4. */
const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]+$/;

function assertAddress(name: string, text: string): void {
  const url = URL.parse(text);
  if (url === null || !isSafe(url)) {
    throw misconfigured(`The ${name} must be an address with https, or with http on this machine itself.`);
  }
  if (url.username !== "" || url.password !== "") {
    throw misconfigured(`The ${name} must contain no user and no password.`);
  }
}

/** Whether nobody on the network can read or alter what is sent there. */
export function isSafe({ protocol, hostname }: URL): boolean {
  return protocol === "https:" || (protocol === "http:" && isLoopback(hostname));
}

/** @param hostname as a URL has it, which brings every form of an IPv4 address to this one. */
function isLoopback(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}

function misconfigured(message: string): OidcRefused {
  return new OidcRefused("misconfigured", message);
}
