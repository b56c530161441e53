/**
 * The name under which passkeys are made, from the address of the service. A passkey belongs to a host name for good: if
 * the host of the address changes, nobody can sign in with the passkeys that were made before.
 * Source: Web Authentication Level 3 (W3C), sections 4 ("RP ID") and 5.1.3; Secure Contexts (W3C), section 3.1.
 */

export interface RelyingParty {
  /** The host name. It has no port, so that a passkey outlives a change of the port. */
  readonly rpId: string;
  /** The only origin from which a page may use these passkeys. */
  readonly origin: string;
}

/** Why there can be no passkeys. */
export interface NoRelyingParty {
  readonly rpId: null;
  readonly reason: "unreadable" | "ip_address" | "plain_http";
  /** For the administrator: it says what to change. */
  readonly message: string;
}

/** Addresses at which `localhost` reaches the same service. */
const LOOPBACK: readonly string[] = ["127.0.0.1", "[::1]"];
const ADVICE =
  "Set JISS_BASE_URL to the address by which people open the service, like https://jiss.example.com.";

/**
 * The relying party for a service at this address; a path does not matter. An address of loopback stands for
 * `localhost`, because no browser makes a passkey for an address without a name: pages must be opened there.
 */
export function relyingPartyOf(baseUrl: string): RelyingParty | NoRelyingParty {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : null;
  if (url === null || url.hostname === "" || !/^https?:$/.test(url.protocol)) {
    return none("unreadable", `Passkeys need an address of http or https. ${ADVICE}`);
  }
  if (LOOPBACK.includes(url.hostname)) url.hostname = "localhost";
  const { hostname, protocol, origin } = url;
  if (isIpAddress(hostname)) {
    return none("ip_address", `Passkeys need a host name, and ${hostname} is an IP address. ${ADVICE}`);
  }
  if (protocol === "http:" && !/(?:^|\.)localhost$/.test(hostname)) {
    return none(
      "plain_http",
      `Browsers use passkeys over https and on localhost only, and ${origin} is neither. ${ADVICE}`,
    );
  }
  return { rpId: hostname, origin };
}

/** Whether a host as `URL` writes it is an address: it has put every spelling of IPv4 into four decimal numbers. */
function isIpAddress(hostname: string): boolean {
  return hostname.startsWith("[") || /^\d+\.\d+\.\d+\.\d+$/.test(hostname);
}

function none(reason: NoRelyingParty["reason"], message: string): NoRelyingParty {
  return { rpId: null, reason, message };
}
