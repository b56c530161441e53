import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { hmacSha256 } from "../../src/keys/hmac.ts";

Deno.test("HMAC-SHA256 is that of RFC 4231, under a key of text or of bytes", () => {
  const expected = "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843";
  const key = new TextEncoder().encode("Jefe");
  for (let use = 0; use < 2; use += 1) {
    assert.equal(hmacSha256("Jefe", "what do ya want for nothing?").toHex(), expected);
    assert.equal(hmacSha256(key, "what do ya ", "want for ", "nothing?").toHex(), expected);
  }
});

Deno.test("however many keys are used, each makes its own HMAC", () => {
  const keys = Array.from({ length: 100 }, (_, index) => `key ${index} é`);
  for (const key of [...keys, ...keys]) {
    assert.equal(hmacSha256(key, "text").toHex(), createHmac("sha256", key).update("text").digest("hex"));
  }
});
