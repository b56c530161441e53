/** Authenticators that Chromium simulates. */
import type { CDPSession } from "playwright-core";

/** An authenticator that the browser simulates; by default it is the device's own and everything is confirmed. */
export class Simulated {
  constructor(readonly cdp: CDPSession, readonly authenticatorId: string) {}

  async confirms(enabled: boolean): Promise<void> {
    const { authenticatorId } = this;
    await this.cdp.send("WebAuthn.setAutomaticPresenceSimulation", { authenticatorId, enabled });
  }

  async knowsItsUser(isUserVerified: boolean): Promise<void> {
    const { authenticatorId } = this;
    await this.cdp.send("WebAuthn.setUserVerified", { authenticatorId, isUserVerified });
  }

  async credentials() {
    const { authenticatorId } = this;
    return (await this.cdp.send("WebAuthn.getCredentials", { authenticatorId })).credentials;
  }

  /** Takes every passkey back to the counter of an earlier copy. */
  async restore(signCount: number): Promise<void> {
    const { authenticatorId } = this;
    for (const credential of await this.credentials()) {
      const { credentialId } = credential;
      await this.cdp.send("WebAuthn.removeCredential", { authenticatorId, credentialId });
      await this.cdp.send("WebAuthn.addCredential", {
        authenticatorId,
        credential: { ...credential, signCount },
      });
    }
  }
}

/** Adds one to a browser in which WebAuthn is enabled. */
export async function addAuthenticator(
  cdp: CDPSession,
  options: {
    readonly transport?: "internal" | "usb";
    readonly hasUserVerification?: boolean;
    readonly hasResidentKey?: boolean;
  } = {},
): Promise<Simulated> {
  const { authenticatorId } = await cdp.send("WebAuthn.addVirtualAuthenticator", {
    options: {
      protocol: "ctap2",
      transport: "internal",
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
      ...options,
    },
  });
  return new Simulated(cdp, authenticatorId);
}
