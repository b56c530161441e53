import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import fc from "fast-check";
import { hmacSha256 } from "../../src/keys/hmac.ts";

Deno.test("HMAC-SHA256 equals RFC 4231's vectors, with a key of text or of bytes", () => {
  const expected = "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843";
  const key = new TextEncoder().encode("Jefe");
  for (let use = 0; use < 2; use += 1) {
    assert.equal(hmacSha256("Jefe", "what do ya want for nothing?").toHex(), expected);
    assert.equal(hmacSha256(key, "what do ya ", "want for ", "nothing?").toHex(), expected);
  }
});

Deno.test("HMAC-SHA256 equals the runtime's, for texts and keys of any number and length", () => {
  const text = fc.string({ unit: "grapheme", maxLength: 200 });
  const key = fc.oneof(text, fc.uint8Array({ maxLength: 200 }));
  fc.assert(fc.property(key, fc.array(text, { maxLength: 3 }), (key, texts) => {
    const expected = createHmac("sha256", key).update(texts.join("")).digest("hex");
    for (let use = 0; use < 2; use += 1) assert.equal(hmacSha256(key, ...texts).toHex(), expected);
  }));
});

Deno.test("a key of the block size, or a byte more or less, gives the runtime's HMAC", () => {
  for (const length of [0, 1, 63, 64, 65, 128]) {
    const key = "k".repeat(length);
    assert.equal(hmacSha256(key, "text").toHex(), createHmac("sha256", key).update("text").digest("hex"));
  }
});
