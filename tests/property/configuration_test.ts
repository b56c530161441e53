/**
 * For any content of the environment and of the files that it names, loading gives a configuration or a list of
 * what is wrong.
 */
import assert from "node:assert/strict";
import fc from "fast-check";
import { ConfigError, readConfig } from "../../src/config/config.ts";
import { KNOWN_VARIABLES, SECRET_VARIABLES } from "../../src/config/variables.ts";
import { DEFAULT_MODEL_DOCUMENT } from "../../src/scoring/model.ts";
import { alterations, altered } from "../fuzzing/altered_files.ts";
import { ODD_TEXTS } from "../fuzzing/json_values.ts";
import { PEPPER } from "../harness.ts";

const SEED = 20_261_122;
const MODEL = new TextEncoder().encode(JSON.stringify(DEFAULT_MODEL_DOCUMENT));
const ORGANIZATION = new TextEncoder().encode(JSON.stringify({
  org_id: "acme",
  name: "Acme",
  domain: "financial",
  tier: "standard",
  allowed_origins: "",
  api_key_file: "key",
}));

const text = fc.oneof(
  fc.constantFrom(...ODD_TEXTS),
  fc.constantFrom(
    "on",
    "off",
    "127.0.0.1:0",
    "10.0.0.0/8,::1/128",
    "https://x.example/",
    "kv",
    "file:/x",
    "{}",
  ),
  fc.string({ unit: "binary" }),
);
const environment = fc.dictionary(
  fc.oneof(
    { weight: 20, arbitrary: fc.constantFrom(...KNOWN_VARIABLES) },
    { weight: 1, arbitrary: fc.string().map((name) => `JISS_${name}`) },
  ),
  text,
  { maxKeys: 6, noNullPrototype: true },
);
const file = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.tuple(fc.constantFrom(MODEL, ORGANIZATION), alterations).map(([whole, done]) =>
    new TextDecoder().decode(altered(whole, done))
  ),
);

/** @throws any error that is no {@link ConfigError}, or whose message contains a secret. */
function assertReadOrRefused(
  variables: Readonly<Record<string, string>>,
  content: string,
): "read" | "refused" {
  try {
    readConfig(variables, () => content);
    return "read";
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    assert.ok(error.problems.length > 0);
    for (const name of SECRET_VARIABLES) {
      const secret = variables[name] ?? "";
      if (secret.length >= 12) assert.ok(!error.message.includes(secret), `the value of ${name} is in it`);
    }
    return "refused";
  }
}

Deno.test("any environment is either read or refused with everything that is wrong in it, and no secret", () => {
  const found = { read: 0, refused: 0 };
  fc.assert(
    fc.property(environment, file, fc.boolean(), (variables, content, isPeppered) => {
      const pepper: Record<string, string> = isPeppered ? { JISS_KEY_PEPPER: PEPPER } : {};
      found[assertReadOrRefused({ ...variables, ...pepper }, content)] += 1;
    }),
    { seed: SEED, numRuns: 2_000 },
  );
  assert.ok(found.read > 50 && found.refused > 50, JSON.stringify(found));
});

Deno.test("a model document or a bootstrap file with any change is either read or refused with a reason", () => {
  fc.assert(
    fc.property(
      fc.constantFrom("JISS_SCORING_MODEL_FILE", "JISS_BOOTSTRAP_ORG_FILE"),
      file,
      (name, content) => {
        assertReadOrRefused({ JISS_KEY_PEPPER: PEPPER, [name]: "/file" }, content);
      },
    ),
    { seed: SEED, numRuns: 500 },
  );
});
