/**
 * Passkeys in the browser: makes one, and presents one. Nothing is sent: the caller gets the options from the service and
 * sends the answer to it.
 *
 * JSON is turned into the browser's own objects by the browser if it can, else here: browsers of 2024 and programs that keep
 * passwords know passkeys and not their JSON.
 * Source: Web Authentication Level 3 (W3C), sections 5.1 and 5.6.
 */
import type {
  PasskeyAuthentication,
  PasskeyCreationOptions,
  PasskeyRegistration,
  PasskeyRequestOptions,
} from "../../domain/passkey.ts";

export type PasskeyProblem =
  /** The browser has no passkeys. */
  | "unsupported"
  /** The page came over plain HTTP. */
  | "insecure"
  /** The page was opened at an IP address, or at another name than that of the passkeys. */
  | "wrong_address"
  /** The person declined, took too long, or has no passkey here. */
  | "declined"
  /** The device has a passkey of this person already. */
  | "already_registered"
  /** The device cannot keep a passkey, or cannot check who uses it. */
  | "unsuitable_device"
  | "failed";

/** Why there is no passkey. The message is for the person, and says what to do. */
export class PasskeyError extends Error {
  override readonly name = "PasskeyError";
  constructor(readonly problem: PasskeyProblem, message: string) {
    super(message);
  }
}

const LOCALHOST = "localhost";
/** Addresses at which the same service is reached as at `localhost`. No passkey belongs to an address without a name. */
const LOOPBACK: readonly string[] = ["127.0.0.1", "[::1]"];

/**
 * Why no passkey can be used on this page, before anything is asked; null if one can.
 * @param rpId name to which the passkeys belong, if it is known.
 */
export function passkeyObstacle(rpId?: string): PasskeyError | null {
  const { hostname } = location;
  if (LOOPBACK.includes(hostname) && (rpId === undefined || rpId === LOCALHOST)) {
    const there = new URL(location.href);
    there.hostname = LOCALHOST;
    return new PasskeyError(
      "wrong_address",
      `Passkeys work at ${LOCALHOST}, not at ${hostname}: open ${there.href}`,
    );
  }
  if (!isSecureContext) {
    return new PasskeyError(
      "insecure",
      "This page was opened over plain HTTP, where browsers have no passkeys: open it by an address that begins with https://, or ask the administrator for one.",
    );
  }
  if (rpId !== undefined && rpId !== hostname && !hostname.endsWith(`.${rpId}`)) {
    return new PasskeyError("wrong_address", wrongName(rpId));
  }
  if (/^[\d.]+$|^\[/.test(hostname)) {
    return new PasskeyError(
      "wrong_address",
      `Passkeys work at an address with a name, not at ${hostname}: ask the administrator for it.`,
    );
  }
  if (!("PublicKeyCredential" in globalThis) || navigator.credentials === undefined) {
    return new PasskeyError("unsupported", "This browser has no passkeys: use a current one.");
  }
  return null;
}

function wrongName(rpId: string): string {
  return `The passkeys of this service belong to ${rpId}, and this page was opened at ${location.hostname}: open it there.`;
}

/**
 * Makes a passkey, which the person confirms.
 * @throws {PasskeyError}; the signal's reason if it is aborted
 */
export async function createPasskey(
  options: PasskeyCreationOptions,
  { signal }: { readonly signal?: AbortSignal } = {},
): Promise<PasskeyRegistration> {
  const credential = await ask(
    options.rp.id,
    { signal, words: CREATION_WORDS },
    () => navigator.credentials.create({ publicKey: creationOf(options), ...(signal && { signal }) }),
  );
  const response = credential.response as AuthenticatorAttestationResponse;
  return jsonOf<PasskeyRegistration>(credential) ?? {
    id: toBase64url(credential.rawId),
    type: "public-key",
    response: {
      clientDataJSON: toBase64url(response.clientDataJSON),
      attestationObject: toBase64url(response.attestationObject),
      transports: response.getTransports?.() ?? [],
    },
  };
}

/**
 * Presents a passkey that the person chooses and confirms.
 * @throws {PasskeyError}; the signal's reason if it is aborted
 */
export async function presentPasskey(
  options: PasskeyRequestOptions,
  { signal }: { readonly signal?: AbortSignal } = {},
): Promise<PasskeyAuthentication> {
  const credential = await ask(
    options.rpId,
    { signal, words: REQUEST_WORDS },
    () => navigator.credentials.get({ publicKey: requestOf(options), ...(signal && { signal }) }),
  );
  const response = credential.response as AuthenticatorAssertionResponse;
  return jsonOf<PasskeyAuthentication>(credential) ?? {
    id: toBase64url(credential.rawId),
    type: "public-key",
    response: {
      clientDataJSON: toBase64url(response.clientDataJSON),
      authenticatorData: toBase64url(response.authenticatorData),
      signature: toBase64url(response.signature),
      userHandle: toBase64url(response.userHandle ?? new ArrayBuffer()),
    },
  };
}

// ---- failures ---------------------------------------------------------------------------------------------

/** What a failure means, by the name of the browser's error. */
type Words = Readonly<Record<string, readonly [problem: PasskeyProblem, message: string]>>;

const UNSUITABLE = [
  "unsuitable_device",
  "This device cannot keep a passkey, or cannot check who uses it: set up a PIN, a fingerprint or face recognition on it, or use another device.",
] as const;

const CREATION_WORDS: Words = {
  NotAllowedError: [
    "declined",
    "No passkey was made: it was declined, it took too long, or the device can keep none. Try again, or use another device.",
  ],
  InvalidStateError: [
    "already_registered",
    "This device has a passkey of yours already: sign in with it, or use another device.",
  ],
  ConstraintError: UNSUITABLE,
  NotSupportedError: UNSUITABLE,
};

const REQUEST_WORDS: Words = {
  NotAllowedError: [
    "declined",
    "No passkey was used: it was declined, it took too long, or there is none of this service on the device. Try again, or use another device.",
  ],
  ConstraintError: UNSUITABLE,
  NotSupportedError: UNSUITABLE,
};

async function ask(
  rpId: string,
  { signal, words }: { readonly signal: AbortSignal | undefined; readonly words: Words },
  call: () => Promise<Credential | null>,
): Promise<PublicKeyCredential> {
  const obstacle = passkeyObstacle(rpId);
  if (obstacle !== null) throw obstacle;
  signal?.throwIfAborted();
  try {
    const credential = await call();
    if (credential?.type === "public-key") return credential as PublicKeyCredential;
  } catch (error) {
    signal?.throwIfAborted();
    const { name = "", message = "" } = error as Partial<Error>;
    if (name === "SecurityError") throw new PasskeyError("wrong_address", wrongName(rpId));
    const known = words[name];
    if (known !== undefined) throw new PasskeyError(...known);
    throw new PasskeyError("failed", `The browser could not use a passkey: ${message || name || error}`);
  }
  throw new PasskeyError("failed", "The browser gave no passkey: try again, or use another browser.");
}

// ---- JSON -------------------------------------------------------------------------------------------------

function creationOf(options: PasskeyCreationOptions): PublicKeyCredentialCreationOptions {
  if (typeof PublicKeyCredential.parseCreationOptionsFromJSON === "function") {
    return PublicKeyCredential.parseCreationOptionsFromJSON(options);
  }
  const { challenge, user, excludeCredentials } = options;
  return {
    ...options,
    challenge: fromBase64url(challenge),
    user: { ...user, id: fromBase64url(user.id) },
    excludeCredentials: excludeCredentials.map(({ id, type }) => ({ type, id: fromBase64url(id) })),
  };
}

function requestOf(options: PasskeyRequestOptions): PublicKeyCredentialRequestOptions {
  if (typeof PublicKeyCredential.parseRequestOptionsFromJSON === "function") {
    return PublicKeyCredential.parseRequestOptionsFromJSON(options);
  }
  return { ...options, challenge: fromBase64url(options.challenge) };
}

/** The JSON that the browser makes; null if it cannot, or if the credential is another program's and has none. */
function jsonOf<Answer>(credential: PublicKeyCredential): Answer | null {
  try {
    return typeof credential.toJSON === "function" ? credential.toJSON() as Answer : null;
  } catch {
    return null;
  }
}

function fromBase64url(text: string): Uint8Array<ArrayBuffer> {
  const binary = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  return Uint8Array.from(binary, (character) => character.charCodeAt(0));
}

function toBase64url(buffer: ArrayBuffer): string {
  const binary = Array.from(new Uint8Array(buffer), (byte) => String.fromCharCode(byte)).join("");
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}
