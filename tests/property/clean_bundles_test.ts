/**
 * No false alarm: whatever an honest deployment lives through, the files that it hands out are intact, and what was
 * kept of earlier visits agrees with them. The independent verifier is asked in tests/interop; a thousand bundles are
 * asked about by `task soak clean_bundles`.
 *
 * A history that fails names its seed: the same seed makes the same files.
 */
import { verifyClean } from "../clean_bundles.ts";

/** By this seed a hundred bundles hold everything: by others it takes several hundred. */
const SEED = "clean 2";

Deno.test("a hundred bundles that an honest deployment hands out raise no alarm", async () => {
  await verifyClean(SEED, { bundles: 100 });
});
