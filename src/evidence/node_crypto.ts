/** The program's {@link Crypto}: node:crypto, synchronous, built into Deno. */
import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign, verify } from "node:crypto";
import { concat, type Crypto, fromHex, type Signer } from "./crypto.ts";

/** DER of a SubjectPublicKeyInfo for Ed25519, up to the 32 key bytes (RFC 8410). */
const SPKI_PREFIX = fromHex("302a300506032b6570032100");

export const nodeCrypto: Crypto = {
  sha256(...chunks) {
    const hash = createHash("sha256");
    for (const chunk of chunks) hash.update(chunk);
    // To digest a short text to a Buffer, which must then be copied, takes half as long again.
    return Uint8Array.fromHex(hash.digest("hex"));
  },
  sha256Stream() {
    const hash = createHash("sha256");
    return {
      update(chunk) {
        hash.update(chunk);
      },
      digest: () => new Uint8Array(hash.digest()),
    };
  },
  verifyEd25519(publicKey, message, signature) {
    if (publicKey.length !== 32 || signature.length !== 64) return false;
    try {
      const der = concat(SPKI_PREFIX, publicKey);
      const key = createPublicKey({ key: der as never, format: "der", type: "spki" });
      return verify(null, message, key, signature);
    } catch {
      return false;
    }
  },
};

function rawPublicKey(privateKey: KeyObject): Uint8Array {
  const der = createPublicKey(privateKey).export({ format: "der", type: "spki" });
  return new Uint8Array(der.subarray(der.length - 32));
}

/**
 * A signer from an Ed25519 private key in PKCS#8 PEM.
 * @throws {Error} if the text is not such a key; the message never holds any part of the text.
 */
export function signerFromPem(pem: string): Signer {
  let key: KeyObject;
  try {
    key = createPrivateKey({ key: pem, format: "pem" });
  } catch {
    throw new Error("is not a private key in PKCS#8 PEM");
  }
  if (key.asymmetricKeyType !== "ed25519") throw new Error("is not an Ed25519 key");
  return { publicKey: rawPublicKey(key), sign: (message) => new Uint8Array(sign(null, message, key)) };
}
