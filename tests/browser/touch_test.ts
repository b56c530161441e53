/** Every view and page under a finger: controls are large enough to hit, and no field makes a telephone zoom. */
import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { chromiumIsMissing, NEEDS_CHROMIUM, withBrowser } from "./browser.ts";
import { go, shown, signInByLink } from "./console.ts";
import { withDemo } from "./demo_service.ts";
import { CONSOLE_VIEWS, fillDemo, FILLED, OPEN_PAGES } from "./views.ts";

/** Pixels, as the guidelines of the telephones' makers ask. */
const LEAST = 44;
/** Below it Safari on a telephone zooms into a field that takes the focus. */
const LEAST_TEXT = 16;
/** Smallest text of a chart on a telephone. */
const LEAST_DRAWN = 12;

/** Lines about each control that is too small. */
async function tooSmall(page: Page): Promise<readonly string[]> {
  return await page.evaluate(([least, leastText]) => {
    // Folded parts and those behind the button of the bar are touched, too. The reference has hundreds of equal folds.
    const folds = [...document.querySelectorAll("details")];
    for (const fold of folds.slice(0, 40)) fold.open = true;
    document.querySelector(".panel")?.classList.add("open");
    document.querySelector("#menu")?.removeAttribute("hidden");
    const faults: string[] = [];
    const isInText = (link: Element) => {
      const around = link.closest("p,li,td,th,dd,dt,h1,h2,h3,label,small,div")!;
      return getComputedStyle(link).display === "inline" &&
        around.textContent!.trim().length > link.textContent!.trim().length;
    };
    const name = (one: Element) =>
      `${one.localName}.${one.className} “${(one.textContent || one.id).trim().slice(0, 40)}”`;
    for (const one of document.querySelectorAll("a[href],button,input,select,textarea,summary")) {
      const style = getComputedStyle(one);
      if (!one.checkVisibility({ visibilityProperty: true, contentVisibilityAuto: true })) continue;
      if (one.localName === "a" && isInText(one)) continue;
      if (one.matches(".skip")) continue;
      const isChoice = one.matches("[type=radio],[type=checkbox]");
      const target = isChoice ? (one as HTMLInputElement).labels![0]! : one;
      const { height } = target.getBoundingClientRect();
      if (height < least - .5) faults.push(`${name(target)}: ${Math.round(height)} high`);
      if (
        !isChoice && one.matches("input,select,textarea") && Number.parseFloat(style.fontSize) < leastText
      ) {
        faults.push(`${name(one)}: text of ${style.fontSize}`);
      }
    }
    return [...new Set(faults)];
  }, [LEAST, LEAST_TEXT] as const);
}

/** Lines about each text of a chart that is too small, reaches out of its picture, or touches another one. */
async function badlyDrawn(page: Page): Promise<readonly string[]> {
  return await page.evaluate((least) =>
    [...document.querySelectorAll("svg")].flatMap((picture) => {
      const frame = picture.getBoundingClientRect();
      if (frame.width === 0) return [];
      const texts = [...picture.querySelectorAll("text")].map((text) => ({
        said: text.textContent,
        size: Number.parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM()!.a,
        box: text.getBoundingClientRect(),
      }));
      return texts.flatMap(({ said, size, box }, index) => {
        const isInside = box.left >= frame.left - 1 && box.right <= frame.right + 1 &&
          box.bottom <= frame.bottom + 1;
        const touched = texts.slice(index + 1).filter((other) =>
          box.left < other.box.right && other.box.left < box.right && box.top < other.box.bottom - 2 &&
          other.box.top < box.bottom - 2
        );
        return [
          ...(size < least ? [`“${said}” is drawn ${size.toFixed(1)} high`] : []),
          ...(isInside ? [] : [`“${said}” reaches out`]),
          ...touched.map((other) => `“${said}” touches “${other.said}”`),
        ];
      });
    }), LEAST_DRAWN);
}

Deno.test({
  name:
    `under a finger each control of each view is 44 pixels high, no field zooms, and charts are legible ${NEEDS_CHROMIUM}`,
  ignore: chromiumIsMissing(),
  fn: () =>
    withDemo(async (demo) => {
      const single = await fillDemo(demo);
      await withBrowser(demo.service.url, async (visit) => {
        const found: Record<string, readonly string[]> = {};
        const measure = async (page: Page, name: string) => {
          const faults = [...await tooSmall(page), ...await badlyDrawn(page)];
          if (faults.length > 0) found[name] = faults;
        };
        const outside = await visit({ isTouched: true, width: 390, height: 844 });
        for (const { name, at, drawn } of OPEN_PAGES) {
          await outside.page.goto(at(single.links));
          await outside.page.locator(drawn).first().waitFor({ state: "attached" });
          await outside.idle();
          await measure(outside.page, name);
          const begin = outside.page.getByRole("button", { name: /^Begin/ });
          if (await begin.count() === 0) continue;
          await begin.first().click();
          await outside.page.getByRole("radio").first().waitFor();
          await measure(outside.page, `a case of ${name}`);
        }
        const inside = await visit({ isTouched: true, width: 390, height: 844 });
        await signInByLink(inside.page, demo);
        assert.ok(await inside.page.evaluate(() => matchMedia("(pointer:coarse)").matches));
        for (const { name, at } of CONSOLE_VIEWS) {
          await go(inside.page, `/console${at(single)}`);
          await shown(inside.page);
          await inside.idle();
          await measure(inside.page, name);
        }
        assert.deepEqual(found, {});
      });
    }, { ...FILLED, JISS_RATE_LIMIT_IP: "1000000", JISS_RATE_LIMIT_KEY: "1000000" }),
});
