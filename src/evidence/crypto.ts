/**
 * The cryptography that evidence needs, passed in by the caller: node:crypto in the program; a JavaScript
 * library in a browser on a plain-HTTP intranet, which has no `crypto.subtle`.
 */
export interface Crypto {
  /** SHA-256 of the concatenation of the chunks; 32 bytes. */
  sha256(...chunks: Uint8Array[]): Uint8Array;
  /** SHA-256 of data that comes in pieces because it does not fit into memory. */
  sha256Stream(): Sha256Stream;
  /** Verifies an Ed25519 signature (RFC 8032) over `message`; false if it does not verify. Never throws. */
  verifyEd25519(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean;
}

export interface Sha256Stream {
  update(chunk: Uint8Array): void;
  /** The digest, 32 bytes; nothing may be added after it. */
  digest(): Uint8Array;
}

/** A signer: holds the log's private key and makes Ed25519 signatures of 64 bytes. */
export interface Signer {
  /** The raw public key, 32 bytes. */
  readonly publicKey: Uint8Array;
  sign(message: Uint8Array): Uint8Array;
}

const encoder = new TextEncoder();

export function utf8(text: string): Uint8Array {
  return encoder.encode(text);
}

/** Lower-case hexadecimal, as every hash in JSON is written. */
export function hex(bytes: Uint8Array): string {
  return bytes.toHex();
}

/** @throws {SyntaxError} if the text is not lower-case hexadecimal of whole bytes. */
export function fromHex(text: string): Uint8Array {
  if (!/^(?:[0-9a-f]{2})*$/.test(text)) throw new SyntaxError("not lower-case hexadecimal");
  return Uint8Array.fromHex(text);
}

/** Standard base64 with padding, as C2SP texts are written. */
export function base64(bytes: Uint8Array): string {
  return bytes.toBase64();
}

/**
 * @throws {SyntaxError} if the text is not the one base64 form of its bytes (no stray bits, no white space).
 */
export function fromBase64(text: string): Uint8Array {
  const bytes = Uint8Array.fromBase64(text, { lastChunkHandling: "strict" });
  if (bytes.toBase64() !== text) throw new SyntaxError("not canonical base64");
  return bytes;
}

export function concat(...chunks: Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(chunks.reduce((length, chunk) => length + chunk.length, 0));
  let offset = 0;
  for (const chunk of chunks) {
    whole.set(chunk, offset);
    offset += chunk.length;
  }
  return whole;
}

export function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, index) => byte === b[index]);
}
