/**
 * The pictures of docs/understand/scoring-model.md are those that the script draws from the kept figures, and
 * these are of the model in use.
 */
import assert from "node:assert/strict";
import { type Kept, picturesOf } from "../../scripts/validation_pictures.ts";
import { tablesIn, tablesOf } from "../../scripts/validation_rows.ts";
import { nodeCrypto } from "../../src/evidence/node_crypto.ts";
import { modelSha256 } from "../../src/evidence/hashes.ts";
import { DEFAULT_MODEL_DOCUMENT as model } from "../../src/scoring/model.ts";
import { CERTAINTY_GROUPS, SUPPLIES } from "../../src/simulation/certainty.ts";
import { CHECK_OPERATORS, CHECK_SEEDS, validate } from "../../src/simulation/validation.ts";
import { JIS_2_0_0 } from "../models.ts";

const DOCS = `${import.meta.dirname}/../../docs/understand`;
const kept: Kept = JSON.parse(await Deno.readTextFile(`${DOCS}/validation/simulation.json`));
const page = await Deno.readTextFile(`${DOCS}/scoring-model.md`);
const RENEW =
  "renew it: jiss simulate --json > docs/understand/validation/simulation.json, then deno task plots";

Deno.test("the kept figures are those of the check, on the model in use", () => {
  assert.deepEqual([kept.model, kept.model_sha256], [model.version, modelSha256(nodeCrypto, model)], RENEW);
  assert.deepEqual([kept.seeds, kept.operators], [CHECK_SEEDS, CHECK_OPERATORS], RENEW);
});

Deno.test("the pictures are those that the script draws, and the page shows each of them and no other", async () => {
  const pictures = picturesOf(kept, model);
  const files: string[] = [];
  for await (const { name } of Deno.readDir(`${DOCS}/validation`)) {
    if (name.endsWith(".svg")) files.push(name);
  }
  assert.deepEqual(files.sort(), Object.keys(pictures).sort());
  for (const [name, picture] of Object.entries(pictures)) {
    assert.equal(await Deno.readTextFile(`${DOCS}/validation/${name}`), picture, `${name}: deno task plots`);
  }
  const shown = [...page.matchAll(/!\[([^\]]+)\]\(validation\/([^)]+)\)/g)].map(([, , name]) => name!);
  assert.deepEqual(shown.sort(), files);
});

Deno.test("every picture has a name, a description with the model, and a style for a dark ground", () => {
  const pictures = Object.values(picturesOf(kept, model));
  for (const picture of pictures) {
    const [, title] = /<title id="title">([^<]+)<\/title>/.exec(picture)!;
    const [, description] = /<desc id="desc">([^<]+)<\/desc>/.exec(picture)!;
    assert.ok(title!.length > 10 && description!.includes(`Model ${model.version};`));
    assert.match(picture, /^<svg [^>]*role="img" aria-labelledby="title desc"/);
    assert.match(picture, /prefers-color-scheme:dark/);
    assert.doesNotMatch(picture, /NaN|undefined|Infinity|<script|https?:(?!\/\/www\.w3\.org\/2000\/svg")/);
  }
  assert.equal(
    new Set(pictures.map((picture) => /<title[^>]*>([^<]+)/.exec(picture)![1])).size,
    pictures.length,
  );
});

Deno.test("each picture is drawn from any validation, and says what it measured in words", () => {
  const generator = validate({ model: JIS_2_0_0, seeds: [1], operators: 2 });
  let step = generator.next();
  while (!step.done) step = generator.next();
  const pictures = picturesOf({ ...step.value, model_sha256: "" }, JIS_2_0_0);
  for (const [name, picture] of Object.entries(pictures)) {
    assert.doesNotMatch(picture, /NaN|undefined|Infinity/, name);
  }
  const described = (name: string) => /<desc id="desc">([^<]+)<\/desc>/.exec(pictures[name]!)![1]!;
  for (const group of Object.keys(CERTAINTY_GROUPS)) assert.ok(described("truth.svg").includes(group), group);
  for (const { name, values } of Object.values(SUPPLIES)) {
    assert.ok(described("truth.svg").includes(`By ${name}: `), name);
    assert.ok(values.every((value) => described("truth.svg").includes(` % at ${value}`)));
  }
  assert.match(described("coverage.svg"), /Field has: \d+(\.\d)? % after 50/);
});

Deno.test("figures of another model, or with missing ones, make no picture", () => {
  assert.throws(() => picturesOf({ ...kept, model: "jis-0" }, model), /is of model jis-0/);
  assert.throws(() => picturesOf({ ...kept, figures: [] }, model), /lacks a figure/);
});

Deno.test("the page's tables of simulated figures are those of the kept figures", () => {
  assert.deepEqual(tablesIn(page), tablesOf(kept), RENEW);
});
