/** Passkeys of users in tests, made and presented by a software authenticator over the service's own calls. */
import assert from "node:assert/strict";
import { cookieIn } from "./examples.ts";
import type { Harness, RequestOptions } from "./harness.ts";
import { SoftwareAuthenticator } from "./software_authenticator.ts";

/** An address at which browsers make passkeys. */
export const PASSKEY_ORIGIN = "http://jiss.localhost";

type Headers = Readonly<Record<string, string>>;

/** Asks for options; resolves to them, and to headers that carry the ceremony's cookie besides the given ones. */
async function optionsOf({ send }: Harness, path: string, request: RequestOptions) {
  const answer = await send(path, { method: "POST", ...request });
  assert.equal(answer.status, 200, answer.text);
  const headers = request.headers ?? {};
  const cookie = [headers.Cookie, cookieIn(answer.headers)].filter((one) => one !== undefined).join("; ");
  return { options: answer.body.options, headers: { ...headers, Origin: PASSKEY_ORIGIN, Cookie: cookie } };
}

/** A request that adds a passkey of the authenticator to the user of a session. */
export async function registrationRequest(
  harness: Harness,
  authenticator: SoftwareAuthenticator,
  headers: Headers,
): Promise<RequestOptions> {
  const begun = await optionsOf(harness, "/v1/me/passkeys/options", { headers });
  return {
    method: "POST",
    headers: begun.headers,
    body: { name: "work laptop", registration: authenticator.create(begun.options) },
  };
}

/** Adds a passkey to the user of a session; returns its id. */
export async function addPasskeyTo(
  harness: Harness,
  authenticator: SoftwareAuthenticator,
  headers: Headers,
): Promise<string> {
  const answer = await harness.send(
    "/v1/me/passkeys",
    await registrationRequest(harness, authenticator, headers),
  );
  assert.equal(answer.status, 201, answer.text);
  return answer.body.passkey_id;
}

/** A request that signs in with a passkey of the authenticator. */
export async function signInRequest(
  harness: Harness,
  authenticator: SoftwareAuthenticator,
): Promise<RequestOptions> {
  const begun = await optionsOf(harness, "/v1/sign-in/passkey/options", {});
  return { method: "POST", headers: begun.headers, body: { passkey: authenticator.get(begun.options) } };
}

/** A request that uses a one-time link with a passkey in place of a password. */
export async function linkRequest(
  harness: Harness,
  authenticator: SoftwareAuthenticator,
  token: string,
): Promise<RequestOptions> {
  const begun = await optionsOf(harness, "/v1/sign-in/link/passkey-options", { body: { token } });
  const passkey = { name: "work laptop", registration: authenticator.create(begun.options) };
  return { method: "POST", headers: begun.headers, body: { token, passkey } };
}
