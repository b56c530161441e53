/**
 * The requests of one sign-in: the authorization code is exchanged for an ID token, and UserInfo is asked for more. The
 * access token is used for that alone, and forgotten.
 */
import * as oauth from "oauth4webapi";
import { OidcRefused } from "./refusal.ts";
import { type Metadata, type Provider, refusalOfStatus } from "./provider.ts";
import { type OidcSettings, SECRET_METHODS } from "./settings.ts";

/** Characters of what the provider says about an error. */
const TOLD_LENGTH = 300;

/** The client as the library takes it. Times are checked by our clock, where the signature is. */
export function clientOf({ clientId }: OidcSettings): oauth.Client {
  return { client_id: clientId, [oauth.clockTolerance]: Number.MAX_SAFE_INTEGER };
}

/** What the provider sent back with the person. */
export interface Callback {
  readonly parameters: URLSearchParams;
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
}

/** The claims of an ID token. */
export type IdClaims = Readonly<Record<string, unknown>> & { readonly sub: string };

/** What the provider gave for the code. */
export interface Exchanged {
  readonly idToken: string;
  readonly claims: IdClaims;
  readonly accessToken: string;
}

/**
 * Exchanges the code of a callback.
 * @param readIdToken verifies the ID token, before anything else of the answer is believed.
 * @throws {OidcRefused}
 */
export async function exchangeCode(
  settings: OidcSettings,
  { provider, metadata, callback }: {
    readonly provider: Provider;
    readonly metadata: Metadata;
    readonly callback: Callback;
  },
  readIdToken: (token: string) => Promise<IdClaims>,
): Promise<Exchanged> {
  const client = clientOf(settings);
  const parameters = checkCallback(metadata, client, callback);
  try {
    const answer = await oauth.authorizationCodeGrantRequest(
      metadata,
      client,
      authenticationOf(settings, metadata),
      parameters,
      settings.redirectUri,
      callback.verifier,
      provider.requestOptions,
    );
    const idToken = await idTokenOf(answer.clone());
    const claims = idToken === null ? null : await readIdToken(idToken);
    // The library checks the token again, except for its signature and times, and everything around it.
    const tokens = await oauth.processAuthorizationCodeResponse(metadata, client, answer, {
      expectedNonce: callback.nonce,
      requireIdToken: true,
    });
    return { idToken: idToken!, claims: claims!, accessToken: tokens.access_token };
  } catch (error) {
    const { clientSecret } = settings;
    throw refusalOfToken(error, [
      clientSecret ?? "",
      ...parameters.values(),
      callback.verifier,
      callback.nonce,
    ]);
  }
}

/** @throws {OidcRefused} if the callback belongs to another sign-in or provider, or says that there is no code. */
function checkCallback(
  metadata: Metadata,
  client: oauth.Client,
  { parameters, state }: Callback,
): URLSearchParams {
  const states = parameters.getAll("state");
  if (states.length !== 1 || states[0] !== state) {
    const message = "The answer belongs to another sign-in than the one that this browser began.";
    throw new OidcRefused("wrong_state", message);
  }
  const issuers = parameters.getAll("iss");
  const isRequired = metadata.authorization_response_iss_parameter_supported === true;
  if (issuers.some((issuer) => issuer !== metadata.issuer) || (isRequired && issuers.length === 0)) {
    throw new OidcRefused("wrong_issuer", "The answer is not from the identity provider of the settings.");
  }
  try {
    const checked = oauth.validateAuthResponse(metadata, client, parameters, state);
    if (checked.get("code") !== null && checked.get("code") !== "") return checked;
  } catch (error) {
    if (error instanceof oauth.AuthorizationResponseError) {
      const message = `The identity provider refused the sign-in${codeIn(error.error)}.`;
      throw new OidcRefused("provider_error", message);
    }
    throw new OidcRefused("provider_error", "The identity provider's answer has an unknown form.");
  }
  throw new OidcRefused("replayed_or_bad_code", "The answer has no authorization code.");
}

/** The secret in the body if the provider takes it there: in the header it is not encoded alike by all providers. */
function authenticationOf(
  { clientSecret, secretMethod }: OidcSettings,
  metadata: Metadata,
): oauth.ClientAuth {
  if (clientSecret === null) return oauth.None();
  const announced = metadata.token_endpoint_auth_methods_supported ?? ["client_secret_basic"];
  switch (secretMethod ?? SECRET_METHODS.find((method) => announced.includes(method))) {
    case "client_secret_post":
      return oauth.ClientSecretPost(clientSecret);
    case "client_secret_basic":
      return oauth.ClientSecretBasic(clientSecret);
    default:
      throw new OidcRefused("misconfigured", "The identity provider accepts no client secret.");
  }
}

/** The ID token of an answer; null if it has none, which the library reports. */
async function idTokenOf(answer: Response): Promise<string | null> {
  if (answer.status !== 200) return null;
  const body: unknown = await answer.json().catch(() => null);
  const token = (body as { readonly id_token?: unknown } | null)?.id_token;
  return typeof token === "string" ? token : null;
}

/** The claims of the UserInfo endpoint about the person. @throws {OidcRefused} */
export async function askUserInfo(
  settings: OidcSettings,
  { provider, metadata, accessToken, sub }: {
    readonly provider: Provider;
    readonly metadata: Metadata;
    readonly accessToken: string;
    readonly sub: string;
  },
): Promise<Readonly<Record<string, unknown>>> {
  const client = clientOf(settings);
  try {
    const answer = await oauth.userInfoRequest(metadata, client, accessToken, provider.requestOptions);
    return await oauth.processUserInfoResponse(metadata, client, sub, answer);
  } catch (error) {
    if (error instanceof OidcRefused) throw error;
    const status = statusIn(error);
    if (status !== null && status >= 400) {
      throw refusalOfStatus(status, "information about the person (UserInfo)");
    }
    const message = "The identity provider's UserInfo is no such answer, or is about another person.";
    throw new OidcRefused("provider_error", message);
  }
}

/** @param hidden must not be in the message. */
function refusalOfToken(error: unknown, hidden: readonly string[]): OidcRefused {
  if (error instanceof OidcRefused) return error;
  const status = statusIn(error);
  if (error instanceof oauth.ResponseBodyError) {
    const told = toldBy(error, hidden);
    if (error.error === "invalid_grant") {
      const message = `The authorization code was used before, has expired, or is for another client${told}.`;
      return new OidcRefused("replayed_or_bad_code", message);
    }
    if (["invalid_client", "unauthorized_client", "unsupported_grant_type"].includes(error.error)) {
      const message =
        `The identity provider does not accept this client, its secret, or the way in which it is sent${told}.`;
      return new OidcRefused("misconfigured", message);
    }
    return new OidcRefused("provider_error", `The identity provider did not exchange the code${told}.`);
  }
  if (status === 401) {
    const message =
      "The identity provider does not accept this client, its secret, or the way in which it is sent (401).";
    return new OidcRefused("misconfigured", message);
  }
  if (status !== null && status !== 200) return refusalOfStatus(status, "tokens (token_endpoint)");
  const message = "The identity provider's answer to the authorization code has no valid tokens.";
  return new OidcRefused("provider_error", message);
}

/** The status of the answer that an error of the library is about; null if it is about none. */
function statusIn(error: unknown): number | null {
  const { cause, response } = error as { readonly cause?: unknown; readonly response?: unknown };
  for (const answer of [response, cause]) {
    if (answer instanceof Response) return answer.status;
  }
  return null;
}

/** What the provider says about its error, in one line; without its words if they quote what is to be hidden. */
function toldBy(
  { error, error_description: description = "" }: oauth.ResponseBodyError,
  hidden: readonly string[],
) {
  const words = description.replace(/[\p{C}\p{Z}]+/gu, " ").trim().slice(0, TOLD_LENGTH);
  const quotes = hidden.some((text) => text !== "" && description.includes(text));
  return `${codeIn(error)}${words === "" || quotes ? "" : `, “${words}”`}`;
}

/** An error code of OAuth; nothing if it has another form, as anybody can send a callback. */
function codeIn(error: string): string {
  return /^[a-z_]{1,60}$/.test(error) ? `: ${error}` : "";
}
