/**
 * The OpenID provider as it describes itself, and its keys. Both are fetched when they are first needed and kept for a
 * time. Source: OpenID Connect Discovery 1.0.
 */
import * as oauth from "oauth4webapi";
import { KeptDocument } from "./kept_document.ts";
import { OidcRefused } from "./refusal.ts";
import { isSafe, type OidcSettings } from "./settings.ts";
import { ALGORITHMS, type KeySet, keySetOf } from "./tokens.ts";
import type { Fetch } from "./wire.ts";

/** Milliseconds after which the provider's description is fetched again. */
const METADATA_AGE_MS = 3_600_000;
/** Milliseconds after which the keys are fetched again: for so long a withdrawn key still counts. */
const KEYS_AGE_MS = 600_000;

/** The provider's description of itself, of which only the allowed algorithms are left. */
export type Metadata = oauth.AuthorizationServer & {
  readonly authorization_endpoint: string;
  readonly id_token_signing_alg_values_supported: string[];
};

export interface Provider {
  /** @throws {OidcRefused} */
  metadata(): Promise<Metadata>;
  readonly keys: KeptDocument<KeySet>;
  /** Options of each request by the library. */
  readonly requestOptions: {
    readonly [oauth.customFetch]: Fetch;
    readonly [oauth.allowInsecureRequests]: boolean;
  };
}

/** @param now epoch milliseconds. */
export function openProvider(
  { issuer }: OidcSettings,
  { fetch, now }: { readonly fetch: Fetch; readonly now: () => number },
): Provider {
  // The settings allow http on this machine alone, and each endpoint is held to the same rule.
  const requestOptions = { [oauth.customFetch]: fetch, [oauth.allowInsecureRequests]: true };
  const description = new KeptDocument(() => discover(issuer, requestOptions), {
    now,
    maxAgeMs: METADATA_AGE_MS,
  });
  const keys = new KeptDocument(async () => {
    const { jwks_uri } = await description.get();
    return await fetchKeys(jwks_uri!, fetch);
  }, { now, maxAgeMs: KEYS_AGE_MS });
  return { metadata: () => description.get(), keys, requestOptions };
}

async function discover(issuer: string, options: Provider["requestOptions"]): Promise<Metadata> {
  const answer = await oauth.discoveryRequest(new URL(issuer), options);
  if (answer.status !== 200) {
    throw refusalOfStatus(answer.status, "description of itself (.well-known/openid-configuration)");
  }
  let metadata: oauth.AuthorizationServer;
  try {
    metadata = await oauth.processDiscoveryResponse(new URL(issuer), answer);
  } catch (error) {
    if ((error as { readonly code?: unknown }).code !== oauth.JSON_ATTRIBUTE_COMPARISON) {
      throw new OidcRefused(
        "provider_error",
        "The identity provider's description of itself is no such document.",
      );
    }
    throw new OidcRefused(
      "misconfigured",
      `The identity provider names itself by another issuer than ${issuer}. The setting must be the same to the letter.`,
    );
  }
  return checked(metadata, new URL(issuer));
}

/** @throws {OidcRefused} if an address is missing, or others could read what is sent there. */
function checked(metadata: oauth.AuthorizationServer, issuer: URL): Metadata {
  const { authorization_endpoint, id_token_signing_alg_values_supported: algorithms } = metadata;
  for (const name of ["authorization_endpoint", "token_endpoint", "jwks_uri"] as const) {
    if (metadata[name] === undefined) {
      throw new OidcRefused("provider_error", `The identity provider has no ${name}.`);
    }
  }
  for (const [name, value] of Object.entries(metadata).filter(([name]) => ADDRESSES.includes(name))) {
    const url = typeof value === "string" ? URL.parse(value) : null;
    if (url === null || !isSafe(url) || (issuer.protocol === "https:" && url.protocol !== "https:")) {
      throw new OidcRefused(
        "provider_error",
        `The identity provider's ${name} is not an address with https.`,
      );
    }
  }
  const ours = ALGORITHMS.filter((name) => algorithms?.includes(name) ?? true);
  if (ours.length === 0) {
    throw new OidcRefused(
      "misconfigured",
      `The identity provider signs by none of the allowed algorithms: ${ALGORITHMS.join(", ")}.`,
    );
  }
  return {
    ...metadata,
    authorization_endpoint: authorization_endpoint!,
    id_token_signing_alg_values_supported: ours,
  };
}

/** The addresses of the provider that are used. */
const ADDRESSES: readonly string[] = [
  "authorization_endpoint",
  "end_session_endpoint",
  "jwks_uri",
  "token_endpoint",
  "userinfo_endpoint",
];

async function fetchKeys(address: string, fetch: Fetch): Promise<KeySet> {
  const answer = await fetch(address, { headers: { accept: "application/json" } });
  if (answer.status !== 200) throw refusalOfStatus(answer.status, "keys (jwks_uri)");
  return keySetOf(await answer.json().catch(() => null));
}

/** @param what was asked for. */
export function refusalOfStatus(status: number, what: string): OidcRefused {
  const message = `The identity provider answered ${status} to the request for its ${what}.`;
  if (status >= 500 || status === 429) return new OidcRefused("provider_unavailable", message);
  const hint = status === 404 ? " The setting of the issuer may be wrong." : "";
  return new OidcRefused("misconfigured", `${message}${hint}`);
}
