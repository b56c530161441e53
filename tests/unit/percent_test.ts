/** Percent has one form on all pages: a space before the sign, as in the sentences that are signed. */
import assert from "node:assert/strict";
import { shareInWords } from "../../src/pages/wording.ts";
import { percent } from "../../src/scoring/wording.ts";

const SOURCES = `${import.meta.dirname}/../../src`;
/** Style sheets have lengths in percent; the pages of earlier programs never change. */
const OTHERS = ["pages/style.ts", "pages/report_style.ts", "pages/earlier_report_document.ts"];

async function sourcesIn(folder: string): Promise<readonly string[]> {
  const found: string[] = [];
  for await (const { name, isDirectory } of Deno.readDir(`${SOURCES}/${folder}`)) {
    const path = `${folder}/${name}`;
    if (isDirectory) found.push(...await sourcesIn(path));
    else if (/\.tsx?$/.test(name) && !OTHERS.includes(path)) found.push(path);
  }
  return found;
}

Deno.test("pages write percent as the signed sentences do", () => {
  for (const [share, text] of [[0, "0 %"], [0.58, "58 %"], [0.9, "90 %"], [1, "100 %"]] as const) {
    assert.deepEqual([shareInWords(share), percent(share)], [text, text]);
  }
  assert.equal(shareInWords(0.8999), "89.9 %", "a share just under its threshold is not rounded up to it");
});

Deno.test("no source of a page sets the sign of percent by itself, nor without a space", async () => {
  const sources = [...await sourcesIn("web"), ...await sourcesIn("pages")];
  assert.ok(sources.length > 100);
  for (const path of sources) {
    const text = await Deno.readTextFile(`${SOURCES}/${path}`);
    assert.doesNotMatch(text, /[\d})]%/, `${path}: a sign without a space`);
    assert.doesNotMatch(text, /\} %/, `${path}: inPercent or shareInWords writes the sign`);
  }
});
