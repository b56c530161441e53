/**
 * The browser's {@link Crypto}. It does not use `crypto.subtle`, which a page over plain HTTP, as on an
 * intranet, does not have. Ed25519 follows RFC 8032's own rules, like the program's.
 */
import { ed25519 } from "@noble/curves/ed25519.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { concat, type Crypto } from "../../evidence/crypto.ts";

export const browserCrypto: Crypto = {
  sha256: (...chunks) => sha256(concat(...chunks)),
  sha256Stream() {
    const hash = sha256.create();
    return {
      update(chunk) {
        hash.update(chunk);
      },
      digest: () => hash.digest(),
    };
  },
  verifyEd25519(publicKey, message, signature) {
    if (publicKey.length !== 32 || signature.length !== 64) return false;
    try {
      return ed25519.verify(signature, message, publicKey, { zip215: false });
    } catch {
      return false;
    }
  },
};
