/**
 * Compression of what is the same for every caller: pages, their files, and the documents of the service. An answer that holds
 * a secret, or what somebody sent, is never compressed: its length would tell of both (the attack BREACH, CVE-2013-3587).
 */
import { accepts } from "hono/accepts";
import { gzipSync } from "node:zlib";
import type { AppContext } from "./exchange.ts";

/** Bytes from which compression is worth its header. */
const LEAST_BYTES = 1_400;
/** Texts whose compressed form is kept. */
const KEPT_MAX = 64;

const kept = new Map<string, Uint8Array<ArrayBuffer>>();

/** The bytes of a public text as the client takes them, with the headers that say so. */
export function encoded(
  context: AppContext,
  text: string,
): { readonly bytes: Uint8Array<ArrayBuffer>; readonly headers: Readonly<Record<string, string>> } {
  const headers = { Vary: "Accept-Encoding" };
  const encoding = accepts(context, {
    header: "Accept-Encoding",
    supports: ["gzip", "identity"],
    default: "identity",
    match: (given) => given.some(({ type, q }) => type === "gzip" && q > 0) ? "gzip" : "identity",
  });
  if (encoding !== "gzip" || text.length < LEAST_BYTES) {
    return { bytes: new TextEncoder().encode(text), headers };
  }
  return { bytes: compressed(text), headers: { ...headers, "Content-Encoding": "gzip" } };
}

function compressed(text: string): Uint8Array<ArrayBuffer> {
  const known = kept.get(text);
  if (known !== undefined) return known;
  const made = new Uint8Array(gzipSync(text, { level: 9 }));
  if (kept.size >= KEPT_MAX) kept.delete(kept.keys().next().value!);
  kept.set(text, made);
  return made;
}
