/**
 * `task plots`: the pictures of docs/understand/scoring-model.md and its tables of simulated figures, from
 * docs/understand/validation/simulation.json, the output of `jiss simulate --json`. The same file gives the
 * same bytes.
 */
import { DEFAULT_MODEL_DOCUMENT } from "../src/scoring/model.ts";
import { picturesOf } from "./validation_pictures.ts";
import { tablesOf, withTables } from "./validation_rows.ts";

const DOCS = `${import.meta.dirname}/../docs/understand`;

const kept = JSON.parse(await Deno.readTextFile(`${DOCS}/validation/simulation.json`));
for (const [name, picture] of Object.entries(picturesOf(kept, DEFAULT_MODEL_DOCUMENT))) {
  await Deno.writeTextFile(`${DOCS}/validation/${name}`, picture);
  console.log(`docs/understand/validation/${name}`);
}

const page = await Deno.readTextFile(`${DOCS}/scoring-model.md`);
await Deno.writeTextFile(`${DOCS}/scoring-model.md`, withTables(page, tablesOf(kept)));
console.log("docs/understand/scoring-model.md");
