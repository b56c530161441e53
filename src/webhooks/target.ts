/**
 * The addresses that a webhook may call: public addresses and networks that the administrator allows. Some
 * addresses are never allowed, whatever the setting. A name is judged by all addresses that it resolves to.
 * Source: contract, section 1 (`JISS_WEBHOOK_ALLOW`) and 8.14; IANA's registries of special-purpose
 * addresses.
 */
import { isIP } from "node:net";
import { type Networks, parseNetworks, unmapped } from "../limits/networks.ts";

/** Metadata addresses of clouds that are not link-local: AWS, Google Cloud, Alibaba Cloud, Azure. */
export const METADATA_ADDRESSES: readonly string[] = [
  "fd00:ec2::254",
  "fd00:ec2::23",
  "fd20:ce::254",
  "100.100.100.200",
  "168.63.129.16",
];

/** Networks that no setting allows. */
const NEVER_ALLOWED = parseNetworks([
  // unspecified, "this network" (RFC 1122)
  "0.0.0.0/8",
  "::/128",
  // link-local, which includes metadata addresses of clouds (RFC 3927, RFC 4291)
  "169.254.0.0/16",
  "fe80::/10",
  // multicast and broadcast (RFC 5771, RFC 4291, RFC 919)
  "224.0.0.0/4",
  "ff00::/8",
  "255.255.255.255/32",
  ...METADATA_ADDRESSES.map((address) => `${address}/${address.includes(":") ? 128 : 32}`),
]);

/** IPv4 networks that are not globally reachable, or that nobody owns. */
const SPECIAL_V4 = parseNetworks([
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.88.99.0/24",
  "192.168.0.0/16",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "240.0.0.0/4",
]);

/** IPv6 networks that are assigned for use on the internet. */
const GLOBAL_V6 = parseNetworks(["2000::/3"]);
/** Networks within those that are not for such use. */
const SPECIAL_V6 = parseNetworks(["2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"]);

/**
 * The well-known prefix of IPv4/IPv6 translation (RFC 6052). It leads to the same place as the IPv4 address.
 */
const TRANSLATED = parseNetworks(["64:ff9b::/96"]);
/** Prefixes of translation within a network (RFC 8215). Only that network knows their length. */
const TRANSLATED_LOCALLY = parseNetworks(["64:ff9b:1::/48"]);
/** Networks whose last 32 bits are an IPv4 address: translated (also RFC 2765), or compatible (RFC 4291). */
const EMBEDDED_LAST = parseNetworks(["64:ff9b::/96", "64:ff9b:1::/48", "::ffff:0:0:0/96", "::/96"]);
/** Has the form of a compatible address, but is none. */
const LOOPBACK_V6 = parseNetworks(["::1/128"]);
/** Networks with an IPv4 address in bits 16 to 47: 6to4 (RFC 3056). */
const EMBEDDED_AFTER_16 = parseNetworks(["2002::/16"]);

export interface TargetPolicy {
  /** Networks that the administrator allows in addition to public addresses. */
  readonly allowed: Networks;
  /** Whether the service itself listens at this address. */
  isOwn(address: string, port: number): boolean;
}

/** The reason why an address is refused: it must never be called, or it is neither public nor allowed. */
export type Refusal = "never" | "not_allowed";

/** @returns null if a webhook may call the address. */
export function refusalOf(address: string, port: number, { allowed, isOwn }: TargetPolicy): Refusal | null {
  const plain = unmapped(address);
  // Only this machine knows where an address with a zone leads.
  if (isIP(plain) === 0 || plain.includes("%")) return "never";
  const inner = embeddedV4(plain);
  const forms = inner === null ? [plain] : [plain, inner];
  const readings = [...forms, ...shorterReadings(plain)];
  if (readings.some((form) => NEVER_ALLOWED.includes(form) || isOwn(form, port))) return "never";
  return isPublic(plain, inner) || forms.some((form) => allowed.includes(form)) ? null : "not_allowed";
}

function isPublic(address: string, inner: string | null): boolean {
  if (isIP(address) === 4) return !SPECIAL_V4.includes(address);
  if (TRANSLATED.includes(address)) return !SPECIAL_V4.includes(inner!);
  return GLOBAL_V6.includes(address) && !SPECIAL_V6.includes(address);
}

/** The IPv4 address that is embedded in an IPv6 address; null if there is none. */
function embeddedV4(address: string): string | null {
  if (isIP(address) !== 6 || LOOPBACK_V6.includes(address)) return null;
  const groups = groupsOf(address);
  const [high, low] = EMBEDDED_LAST.includes(address)
    ? [groups[6]!, groups[7]!]
    : EMBEDDED_AFTER_16.includes(address)
    ? [groups[1]!, groups[2]!]
    : [null, null];
  return high === null ? null : [high >> 8, high & 0xff, low! >> 8, low! & 0xff].join(".");
}

/**
 * The IPv4 addresses that a locally translated address may lead to if the prefix has 48, 56 or 64 bits (RFC
 * 6052, section 2.2); its last bits mean nothing then. A reading that begins with zero is the padding of a
 * longer prefix.
 */
function shorterReadings(address: string): readonly string[] {
  if (!TRANSLATED_LOCALLY.includes(address)) return [];
  const bytes = groupsOf(address).flatMap((group) => [group >> 8, group & 0xff]);
  return [[6, 7, 9, 10], [7, 9, 10, 11], [9, 10, 11, 12]]
    .map((places) => places.map((place) => bytes[place]!))
    .filter(([first]) => first !== 0)
    .map((parts) => parts.join("."));
}

/** The eight groups of an IPv6 address. */
function groupsOf(address: string): readonly number[] {
  // The canonical form has no dotted end and at most one run of zeros.
  const [head = "", tail] = canonical(address).split("::");
  const left = head === "" ? [] : head.split(":");
  const right = tail === undefined || tail === "" ? [] : tail.split(":");
  const zeros = Array<string>(8 - left.length - right.length).fill("0");
  return [...left, ...(tail === undefined ? [] : zeros), ...right].map((group) => Number.parseInt(group, 16));
}

/** Resolves a name to its addresses. @throws if it has none. */
export type Resolve = (host: string) => Promise<readonly string[]>;

/** A destination that may not be called. The message is for the client that named it. */
export class TargetRefused extends Error {
  override readonly name = "TargetRefused";
}

/**
 * The addresses of a destination. Each of them may be called.
 * @throws {TargetRefused} if one of them may not. The message hides what a name resolves to: the client may
 * not be entitled to know the network.
 */
export async function allowedAddresses(
  url: URL,
  { policy, resolve }: { readonly policy: TargetPolicy; readonly resolve: Resolve },
): Promise<readonly string[]> {
  requireUrlForm(url);
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const port = url.port === "" ? 443 : Number(url.port);
  if (isIP(host) !== 0) {
    const refusal = refusalOf(host, port, policy);
    if (refusal === null) return [host];
    throw new TargetRefused(
      refusal === "never"
        ? "must not lead to a link-local, metadata, unspecified or multicast address, or to the service itself"
        : "must lead to a public address, or to a network that JISS_WEBHOOK_ALLOW lists",
    );
  }
  const addresses = await resolve(host).catch(() => []);
  if (addresses.length > 0 && addresses.every((address) => refusalOf(address, port, policy) === null)) {
    return addresses;
  }
  throw new TargetRefused(
    "must name a host that resolves only to public addresses, or to networks that JISS_WEBHOOK_ALLOW lists",
  );
}

/** Repeats the checks of registration for a URL from the database. @throws {TargetRefused} if one fails. */
function requireUrlForm({ protocol, port, username, password }: URL): void {
  if (protocol === "https:" && port !== "0" && username === "" && password === "") return;
  throw new TargetRefused("must begin with https:// and must not contain a user, a password or port 0");
}

/** The listener of the service. */
export interface OwnListener {
  /** Includes the port. */
  readonly url: string;
  /** The host as configured. */
  readonly host: string;
}

/**
 * Whether the service listens at an address. If it listens at one address, only that address counts. If it
 * listens by name or at every address of the machine, all addresses count that are not public.
 */
export function isOwnListener(
  { url, host }: OwnListener,
  { address, port }: { readonly address: string; readonly port: number },
): boolean {
  const listening = new URL(url);
  const ownPort = listening.port === ""
    ? (listening.protocol === "https:" ? 443 : 80)
    : Number(listening.port);
  if (port !== ownPort) return false;
  const isOneAddress = isIP(host) !== 0 && !EVERY_ADDRESS.includes(canonical(host));
  return isOneAddress
    ? canonical(host) === canonical(address)
    : !isPublic(canonical(address), embeddedV4(canonical(address)));
}

const EVERY_ADDRESS: readonly string[] = ["0.0.0.0", "::"];

/** The same spelling for all forms of an address. */
function canonical(address: string): string {
  return unmapped(isIP(address) === 6 ? new URL(`http://[${address}]`).hostname.slice(1, -1) : address);
}
