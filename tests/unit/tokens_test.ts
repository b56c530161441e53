/** The sheet takes its colours and sizes from the tokens, and each pair of text and ground can be read. */
import assert from "node:assert/strict";
import { SHEET_PALETTES, SIZES } from "../../src/pages/tokens.ts";

const STYLES = new URL("../../src/web/styles/", import.meta.url);

interface Declaration {
  readonly property: string;
  readonly value: string;
  /** `file: property: value`. */
  readonly where: string;
}

/** All declarations of the sheet's files. */
function declarations(): readonly Declaration[] {
  return [...Deno.readDirSync(STYLES)].flatMap(({ name }) => {
    const text = Deno.readTextFileSync(new URL(name, STYLES)).replaceAll(/\/\*[\s\S]*?\*\//g, "");
    return [...text.matchAll(/([\w-]+)\s*:\s*([^;{}]+);/g)].map(([, property, value]) => ({
      property: property!,
      value: value!,
      where: `${name}: ${property}: ${value}`,
    }));
  });
}

/** Words of CSS that are no colour of anybody's choice. */
const NEUTRAL = ["transparent", "currentcolor", "inherit", "none", "CanvasText"];
/** Parts of a border or an outline that have no colour. */
const COLOURLESS = /-(?:collapse|spacing|radius|width|style|offset)$/;
const COLOURED = /^(?:color|accent-color|fill|stroke|background(?:-color)?|(?:border|outline)(?:-\w+)*)$/;
const SIZED = /^(?:font|font-size|border-radius|box-shadow|gap|(?:margin|padding)(?:-\w+)*)$/;
/** What a value of a colour may have besides colours. */
const OTHER_WORDS =
  /^(?:solid|dashed|dotted|double|local|scroll|to|right|left|linear-gradient|var|calc|fixed|0|\d*\.?\d+(?:px|rem|em|%)?)$/;

Deno.test("no colour is written outside the tokens", () => {
  const found = declarations();
  assert.ok(found.length > 500, String(found.length));
  for (const { property, value, where } of found) {
    assert.doesNotMatch(
      value,
      /#[\da-f]{3,8}\b|\b(?:rgba?|hsla?|oklch|oklab|lab|lch|color|color-mix)\(/i,
      where,
    );
    if (!COLOURED.test(property) || COLOURLESS.test(property)) continue;
    const words = value.replaceAll(/var\(--[\w-]+\)/g, "").split(/[\s,()]+/).filter((word) => word !== "");
    const colours = words.filter((word) => !NEUTRAL.includes(word) && !OTHER_WORDS.test(word));
    assert.deepEqual(colours, [], where);
  }
});

Deno.test("texts, spaces, corners and shadows have the sizes of the tokens", () => {
  for (const { property, value, where } of declarations()) {
    // The tables' own file is not on the scale yet.
    if (where.startsWith("tables.css") || !SIZED.test(property)) continue;
    assert.doesNotMatch(value.replaceAll(/var\(--[\w-]+\)/g, ""), /\d(?:px|rem)\b/, where);
  }
});

Deno.test("each token that is used exists, and each that exists is used", () => {
  const known = [...Object.keys(SHEET_PALETTES.light), ...Object.keys(SIZES)];
  const all = declarations().map(({ value }) => value).join(" ");
  const used = new Set([...all.matchAll(/var\(--([\w-]+)\)/g)].map(([, name]) => name!));
  assert.deepEqual([...used].filter((name) => !known.includes(name)), []);
  // `mark` is the printable pages' alone, and shadows use shades.
  const elsewhere = ["mark", "shade", "shade-strong"];
  assert.deepEqual(known.filter((name) => !used.has(name) && !elsewhere.includes(name)), []);
});

/** Relative luminance of a colour of six hexadecimal digits (WCAG 2.2). */
function luminance(colour: string): number {
  const [red, green, blue] = [1, 3, 5].map((at) => {
    const share = parseInt(colour.slice(at, at + 2), 16) / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red! + 0.7152 * green! + 0.0722 * blue!;
}

function contrast(one: string, other: string): number {
  const [dark, light] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (light! + 0.05) / (dark! + 0.05);
}

Deno.test("text has a contrast of 4.5 to 1 on each ground, and a control's line 3 to 1, in both themes", () => {
  for (const theme of ["light", "dark"] as const) {
    const palette = SHEET_PALETTES[theme];
    const grounds = ["paper", "sunk", "soft", "raised"] as const;
    const texts = ["ink", "muted", "bar", "good", "fair", "bad"] as const;
    const pairs = [
      ...texts.flatMap((text) => grounds.map((ground) => [text, ground] as const)),
      ...(["good", "fair", "bad"] as const).map((tone) => [tone, `${tone}-soft`] as const),
      ["bar-strong", "bar-soft"],
      ["paper", "bar"],
      ["paper", "bar-strong"],
    ] as const;
    for (const [text, ground] of pairs) {
      const found = contrast(palette[text], palette[ground]);
      assert.ok(found >= 4.5, `${theme}: ${text} on ${ground}: ${found.toFixed(2)}`);
    }
    for (const ground of ["paper", "raised"] as const) {
      assert.ok(contrast(palette.rule, palette[ground]) >= 3, `${theme}: rule on ${ground}`);
    }
  }
});
