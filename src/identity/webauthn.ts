/**
 * What passkeys take from `@simplewebauthn/server`. The package takes a while to load (it brings X.509 for statements
 * that this service never asks for), so that `passkeys.ts` imports this file when the first passkey comes.
 */
export { verifyAuthenticationResponse, verifyRegistrationResponse } from "@simplewebauthn/server";
export { isoCBOR, verifySignature } from "@simplewebauthn/server/helpers";
