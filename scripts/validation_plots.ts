/**
 * `task plots`: the pictures of docs/understand/scoring-model.md and its rows of published studies, from
 * docs/understand/validation/simulation.json, the output of `jiss simulate --json`. The same file gives the
 * same bytes.
 */
import { DEFAULT_MODEL_DOCUMENT } from "../src/scoring/model.ts";
import { picturesOf } from "./validation_pictures.ts";
import { cellsOf, studyRows } from "./validation_rows.ts";

const DOCS = `${import.meta.dirname}/../docs/understand`;

const kept = JSON.parse(await Deno.readTextFile(`${DOCS}/validation/simulation.json`));
for (const [name, picture] of Object.entries(picturesOf(kept, DEFAULT_MODEL_DOCUMENT))) {
  await Deno.writeTextFile(`${DOCS}/validation/${name}`, picture);
  console.log(`docs/understand/validation/${name}`);
}

const rows = studyRows(kept);
const page = await Deno.readTextFile(`${DOCS}/scoring-model.md`);
const lines = page.split("\n").map((line) => {
  const [head] = cellsOf(line);
  const cells = head === undefined ? undefined : rows.get(head);
  return cells === undefined ? line : `| ${[head, ...cells].join(" | ")} |`;
});
await Deno.writeTextFile(`${DOCS}/scoring-model.md`, lines.join("\n"));
console.log("docs/understand/scoring-model.md");
