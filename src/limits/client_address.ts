/** Finds the client address of a request, which Layer 1 counts, with or without trusted proxies. */
import { isIP } from "node:net";
import { type Networks, unmapped } from "./networks.ts";

/** Removes the port: some proxies write `203.0.113.7:4711` or `[2001:db8::1]:4711`. */
function withoutPort(hop: string): string {
  return /^\[([^\]]+)\](?::[0-9]+)?$/.exec(hop)?.[1] ?? /^([0-9.]+):[0-9]+$/.exec(hop)?.[1] ?? hop;
}

/**
 * The client's address: the peer's address or, if the peer is a trusted proxy, the first address in
 * `X-Forwarded-For`, read from the right, that is not a trusted proxy itself.
 */
export function clientAddress(
  peer: string,
  { forwardedFor, trusted }: { readonly forwardedFor: string | null; readonly trusted: Networks },
): string {
  let client = unmapped(peer);
  const hops = (forwardedFor ?? "").split(",").map((hop) => withoutPort(hop.trim())).filter((hop) =>
    hop !== ""
  );
  while (hops.length > 0 && trusted.includes(client)) {
    const next = hops.pop()!;
    if (isIP(next) === 0) break;
    client = unmapped(next);
  }
  return client;
}

/**
 * The unit that is counted as one client: an IPv4 address, or the /64 of an IPv6 address, which one host
 * commonly owns.
 */
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
