/** Networks from the configuration, and whether an address is in one of them. */
import { BlockList, isIP, isIPv4 } from "node:net";

/** A list of networks; membership treats an IPv4-mapped IPv6 address as the IPv4 address that it is. */
export interface Networks {
  includes(address: string): boolean;
}

/** @throws {SyntaxError} that names the first text that is neither an address nor a CIDR. */
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

/**
 * Converts an IPv4-mapped address, in any spelling, to its IPv4 address; returns any other address unchanged.
 */
export function unmapped(address: string): string {
  if (isIP(address) !== 6 || address.includes("%")) return address;
  const [, high, low] = MAPPED.exec(new URL(`http://[${address}]`).hostname.slice(1, -1)) ?? [];
  if (high === undefined) return address;
  const bits = Number.parseInt(high, 16) * 0x1_0000 + Number.parseInt(low!, 16);
  return [24, 16, 8, 0].map((shift) => (bits >>> shift) & 0xff).join(".");
}
