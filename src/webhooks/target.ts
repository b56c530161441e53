/**
 * Where a webhook may go: to public addresses and to networks that the administrator allows; to some, whatever is
 * allowed, never. A name is judged by all the addresses that it resolves to.
 * Source: contract, section 1 (`JISS_WEBHOOK_ALLOW`) and 8.14; IANA's registries of special-purpose addresses.
 */
import { isIP } from "node:net";
import { type Networks, parseNetworks, unmapped } from "../limits/networks.ts";

/** Where clouds keep metadata that are not link-local: AWS, Google Cloud, Alibaba Cloud, Azure. */
export const METADATA_ADDRESSES: readonly string[] = [
  "fd00:ec2::254",
  "fd00:ec2::23",
  "fd20:ce::254",
  "100.100.100.200",
  "168.63.129.16",
];

/** No setting opens these. */
const NEVER = parseNetworks([
  // unspecified, "this network" (RFC 1122)
  "0.0.0.0/8",
  "::/128",
  // link-local, where clouds keep their metadata (RFC 3927, RFC 4291)
  "169.254.0.0/16",
  "fe80::/10",
  // multicast and broadcast (RFC 5771, RFC 4291, RFC 919)
  "224.0.0.0/4",
  "ff00::/8",
  "255.255.255.255/32",
  ...METADATA_ADDRESSES.map((address) => `${address}/${address.includes(":") ? 128 : 32}`),
]);

/** IPv4 that is not globally reachable, or is nobody's. */
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

/** IPv6 that is given out for use on the internet … */
const GLOBAL_V6 = parseNetworks(["2000::/3"]);
/** … and what of it is not. */
const SPECIAL_V6 = parseNetworks(["2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"]);

/** The well-known prefix of IPv4/IPv6 translation (RFC 6052), which leads where the IPv4 address does. */
const TRANSLATED = parseNetworks(["64:ff9b::/96"]);
/** Prefixes of translation within a network (RFC 8215), of a length that only that network knows. */
const TRANSLATED_LOCALLY = parseNetworks(["64:ff9b:1::/48"]);
/** The IPv4 address stands in the last 32 bits: translated (also RFC 2765), or compatible (RFC 4291). */
const EMBEDDED_LAST = parseNetworks(["64:ff9b::/96", "64:ff9b:1::/48", "::ffff:0:0:0/96", "::/96"]);
/** It has the form of a compatible address. */
const LOOPBACK_V6 = parseNetworks(["::1/128"]);
/** 6to4 (RFC 3056): in bits 16 to 47. */
const EMBEDDED_AFTER_16 = parseNetworks(["2002::/16"]);

export interface TargetPolicy {
  /** What the administrator allows beside public addresses. */
  readonly allowed: Networks;
  /** Whether the service itself listens there. */
  isOwn(address: string, port: number): boolean;
}

/** Why an address is refused: never to be called, or not public and not allowed. */
export type Refusal = "never" | "not_allowed";

/** @returns null where a webhook may go there. */
export function refusalOf(address: string, port: number, { allowed, isOwn }: TargetPolicy): Refusal | null {
  const plain = unmapped(address);
  // Of an address with a zone nobody else knows where it leads.
  if (isIP(plain) === 0 || plain.includes("%")) return "never";
  const inner = embeddedV4(plain);
  const forms = inner === null ? [plain] : [plain, inner];
  const readings = [...forms, ...shorterReadings(plain)];
  if (readings.some((form) => NEVER.includes(form) || isOwn(form, port))) return "never";
  return isPublic(plain, inner) || forms.some((form) => allowed.includes(form)) ? null : "not_allowed";
}

function isPublic(address: string, inner: string | null): boolean {
  if (isIP(address) === 4) return !SPECIAL_V4.includes(address);
  if (TRANSLATED.includes(address)) return !SPECIAL_V4.includes(inner!);
  return GLOBAL_V6.includes(address) && !SPECIAL_V6.includes(address);
}

/** The IPv4 address that an IPv6 address leads to by its form; null where it does not. */
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
 * The IPv4 addresses that a locally translated one may lead to where the prefix is of 48, 56 or 64 bits (RFC 6052,
 * section 2.2); the last bits mean nothing then. What begins with zero is the filling of a longer prefix.
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
  // No dotted end, one run of zeros at most.
  const [head = "", tail] = canonical(address).split("::");
  const left = head === "" ? [] : head.split(":");
  const right = tail === undefined || tail === "" ? [] : tail.split(":");
  const zeros = Array<string>(8 - left.length - right.length).fill("0");
  return [...left, ...(tail === undefined ? [] : zeros), ...right].map((group) => Number.parseInt(group, 16));
}

/** Resolves a name to its addresses. @throws where it has none. */
export type Resolve = (host: string) => Promise<readonly string[]>;

/** A destination that may not be called, in words for who named it. */
export class TargetRefused extends Error {
  override readonly name = "TargetRefused";
}

const ALLOWING = "JISS_WEBHOOK_ALLOW lists the networks that may be called besides";

/**
 * The addresses of a destination, every one of which may be called.
 * @throws {TargetRefused} What a name resolves to is not told: who asks may not be meant to know the network.
 */
export async function allowedAddresses(
  url: URL,
  { policy, resolve }: { readonly policy: TargetPolicy; readonly resolve: Resolve },
): Promise<readonly string[]> {
  requireForm(url);
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const port = url.port === "" ? 443 : Number(url.port);
  if (isIP(host) !== 0) {
    const refusal = refusalOf(host, port, policy);
    if (refusal === null) return [host];
    throw new TargetRefused(
      refusal === "never"
        ? "must not lead to a link-local, metadata, unspecified or multicast address, nor to the service itself"
        : `must lead to a public address: ${ALLOWING}`,
    );
  }
  const addresses = await resolve(host).catch(() => []);
  if (addresses.length > 0 && addresses.every((address) => refusalOf(address, port, policy) === null)) {
    return addresses;
  }
  throw new TargetRefused(`must name a host that resolves to public addresses and no others: ${ALLOWING}`);
}

/** What registration asks of a URL, asked again of one that stood in the database. @throws {TargetRefused} */
function requireForm({ protocol, port, username, password }: URL): void {
  if (protocol === "https:" && port !== "0" && username === "" && password === "") return;
  throw new TargetRefused("must begin with https:// and hold no user, no password and no port 0");
}

/** Where the service listens. */
export interface OwnListener {
  /** With the port. */
  readonly url: string;
  /** As it is configured. */
  readonly host: string;
}

/**
 * Whether the service listens at an address: at its own, or, where it listens by a name or at every address of the
 * machine, at any that is not public.
 */
export function isListener(
  { url, host }: OwnListener,
  { address, port }: { readonly address: string; readonly port: number },
): boolean {
  const listening = new URL(url);
  const own = listening.port === "" ? (listening.protocol === "https:" ? 443 : 80) : Number(listening.port);
  if (port !== own) return false;
  const isOneAddress = isIP(host) !== 0 && !EVERY_ADDRESS.includes(canonical(host));
  return isOneAddress
    ? canonical(host) === canonical(address)
    : !isPublic(canonical(address), embeddedV4(canonical(address)));
}

const EVERY_ADDRESS: readonly string[] = ["0.0.0.0", "::"];

/** One spelling for each address. */
function canonical(address: string): string {
  return unmapped(isIP(address) === 6 ? new URL(`http://[${address}]`).hostname.slice(1, -1) : address);
}
