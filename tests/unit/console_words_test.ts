/** The console has one word for the person who is scored: operator, as the API has. */
import assert from "node:assert/strict";

/** The sheet of an exercise has the sentences of the model's catalogue, which say reviewer and are signed with it. */
const SHEET = "/exercise_sheet.tsx";
const CONSOLE = `${import.meta.dirname}/../../src/web/console`;

async function sourcesIn(folder: string): Promise<readonly string[]> {
  const found: string[] = [];
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    if (isDirectory) found.push(...await sourcesIn(`${folder}/${name}`));
    else found.push(`${folder}/${name}`);
  }
  return found;
}

/** A source without comments, imports, and the names of components and of members of the API. */
function readIn(source: string): string {
  return source.replace(/\/\*[^]*?\*\/|^\s*\/\/.*$|^import[^;]*;$/gm, "")
    .replace(/<Reviewer |function Reviewer\(|\{ reviewer: |readonly reviewer: |"reviewer-name"/g, "");
}

Deno.test("no text of the console calls an operator a reviewer", async () => {
  const sources = await sourcesIn(CONSOLE);
  assert.ok(sources.length > 50);
  for (const path of sources.filter((path) => !path.endsWith(SHEET))) {
    assert.doesNotMatch(readIn(await Deno.readTextFile(path)), /\breviewers?\b/i, path);
  }
});
