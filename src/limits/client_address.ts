/** Whose request it is: the address that Layer 1 counts, behind trusted proxies or not. */
import { BlockList, isIP, isIPv4 } from "node:net";

/** A list of networks; membership treats an IPv4-mapped IPv6 address as the IPv4 address that it is. */
export interface Networks {
  includes(address: string): boolean;
}

/** @throws {SyntaxError} naming the first text that is not an address or a CIDR. */
export function parseNetworks(cidrs: readonly string[]): Networks {
  const list = new BlockList();
  for (const cidr of cidrs) {
    const [address, bits, ...rest] = cidr.split("/");
    const version = isIP(address ?? "");
    const length = bits === undefined ? (version === 4 ? 32 : 128) : Number(bits);
    const whole = bits === undefined || /^[0-9]{1,3}$/.test(bits);
    if (version === 0 || rest.length > 0 || !whole || length > (version === 4 ? 32 : 128)) {
      throw new SyntaxError(`${cidr} is not a network like 10.0.0.0/8`);
    }
    list.addSubnet(address!, length, version === 4 ? "ipv4" : "ipv6");
  }
  return {
    includes(address) {
      const plain = unmapped(address);
      return isIP(plain) !== 0 && list.check(plain, isIPv4(plain) ? "ipv4" : "ipv6");
    },
  };
}

const MAPPED = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/;

/** An IPv4-mapped address, however it is spelt, as the IPv4 address that it is. */
function unmapped(address: string): string {
  if (isIP(address) !== 6 || address.includes("%")) return address;
  const [, high, low] = MAPPED.exec(new URL(`http://[${address}]`).hostname.slice(1, -1)) ?? [];
  if (high === undefined) return address;
  const bits = Number.parseInt(high, 16) * 0x1_0000 + Number.parseInt(low!, 16);
  return [24, 16, 8, 0].map((shift) => (bits >>> shift) & 0xff).join(".");
}

/** Some proxies write `203.0.113.7:4711` or `[2001:db8::1]:4711`. */
function withoutPort(hop: string): string {
  return /^\[([^\]]+)\](?::[0-9]+)?$/.exec(hop)?.[1] ?? /^([0-9.]+):[0-9]+$/.exec(hop)?.[1] ?? hop;
}

/**
 * The client's address: the peer's, or behind a trusted proxy the first address in `X-Forwarded-For`, read from
 * the right, that is not a trusted proxy itself.
 */
export function clientAddress(
  peer: string,
  { forwardedFor, trusted }: { readonly forwardedFor: string | null; readonly trusted: Networks },
): string {
  let client = unmapped(peer);
  const hops = (forwardedFor ?? "").split(",").map((hop) => withoutPort(hop.trim())).filter((hop) =>
    hop !== ""
  );
  while (trusted.includes(client)) {
    const next = hops.pop();
    if (next === undefined || isIP(next) === 0) break;
    client = unmapped(next);
  }
  return client;
}

/** What is counted as one client: an IPv4 address, or the /64 of an IPv6 one, which one host commonly owns. */
export function limitSubject(address: string): string {
  if (isIP(address) !== 6) return address;
  const [head = "", tail] = address.toLowerCase().split("%")[0]!.split("::");
  const left = head === "" ? [] : head.split(":");
  const right = tail === undefined || tail === "" ? [] : tail.split(":");
  const dotted = right.at(-1)?.includes(".") ? 1 : 0;
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - left.length - right.length - dotted);
  const groups = [...left, ...Array<string>(zeros).fill("0"), ...right];
  return `${groups.slice(0, 4).map((group) => Number.parseInt(group, 16).toString(16)).join(":")}::/64`;
}
