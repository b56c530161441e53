/** Steps of a person in any browser, over the few commands that every driver has: the path through the pages is written once. */
import assert from "node:assert/strict";
import axe from "axe-core";
import type { Theme } from "./browser.ts";

export interface WindowOptions {
  readonly theme: Theme;
  /** Width of the page in CSS pixels. */
  readonly width: number;
  readonly height: number;
}

/** One window of a browser that a driver has started for it alone. */
export interface Driver {
  /** The browser with its version, as it names itself. */
  readonly browser: string;
  /** Opens an address and resolves once the page is loaded. */
  open(url: string): Promise<void>;
  /**
   * Calls the function, which is given as its source, in the page.
   * @param args JSON.
   * @returns what it returns or resolves to, as JSON.
   * @throws what it throws.
   */
  call(source: string, args: readonly unknown[]): Promise<unknown>;
  /** Clicks with the mouse at a point of the window, in CSS pixels. */
  clickAt(x: number, y: number): Promise<void>;
  /** Presses and releases keys, one after another; each is a character or a code of WebDriver. */
  press(keys: readonly string[]): Promise<void>;
  /** A PNG of what the window shows. */
  screenshot(): Promise<Uint8Array>;
  /** Errors of scripts, errors and warnings that were logged, and breaches of a page's policy, so far. */
  complaints(): Promise<readonly string[]>;
  close(): Promise<void>;
}

/** A browser that a test drives. */
export interface Engine {
  readonly name: string;
  /** The programs that it needs. */
  readonly programs: readonly string[];
  start(options: WindowOptions): Promise<Driver>;
}

/** The programs of an engine that this machine does not have. */
export function missingPrograms({ programs }: Engine): readonly string[] {
  return programs.filter((path) => {
    try {
      return !Deno.statSync(path).isFile;
    } catch {
      return true;
    }
  });
}

/**
 * What a program says once it has started, as the pattern matches it; what it says later is read and forgotten, since a full pipe would
 * stop it.
 * @throws if it ends before.
 */
export async function saying(
  output: ReadableStream<Uint8Array<ArrayBuffer>>,
  pattern: RegExp,
): Promise<RegExpExecArray> {
  const found = Promise.withResolvers<RegExpExecArray>();
  const read = async () => {
    let said = "";
    for await (const text of output.pipeThrough(new TextDecoderStream())) {
      if (said.length < 100_000) said += text;
      const match = pattern.exec(said);
      if (match !== null) found.resolve(match);
    }
    found.reject(new Error(`it ended after it said ${said}`));
  };
  read();
  return await found.promise;
}

/** Codes of keys. Source: W3C WebDriver, section 15.4.2. */
export const KEYS = { enter: "\uE007", tab: "\uE004", escape: "\uE00C", backspace: "\uE003" } as const;

export type Role = "button" | "link" | "heading" | "radio" | "cell" | "rowheader" | "region" | "navigation";

const PATIENCE_MS = 30_000;
const LOOK_MS = 50;

/** A person at a window: finds things by role and name as a screen reader tells them, clicks, types and reads. */
export class Visitor {
  #expected: RegExp[] = [];
  /** Clicks so far. */
  clicks = 0;

  /** The service whose pages are opened by their paths. */
  origin = "";

  constructor(readonly driver: Driver) {}

  async open(path: string): Promise<void> {
    await this.driver.open(new URL(path, this.origin).href);
  }

  /** Calls a function in the page. It may use only what it is given. */
  // deno-lint-ignore no-explicit-any -- the arguments are the function's own
  async evaluate<Args extends readonly any[], Result>(
    run: (...args: Args) => Result | Promise<Result>,
    ...args: Args
  ): Promise<Result> {
    return await this.driver.call(run.toString(), args) as Result;
  }

  /** Resolves once the function says something else than `false` or `null` in the page. */
  // deno-lint-ignore no-explicit-any -- the arguments are the function's own
  async until<Args extends readonly any[], Result>(
    what: string,
    run: (...args: Args) => Result | Promise<Result>,
    ...args: Args
  ): Promise<Exclude<Result, false | null>> {
    const end = performance.now() + PATIENCE_MS;
    for (;;) {
      const said = await this.evaluate(run, ...args);
      if (said !== false && said !== null) return said as Exclude<Result, false | null>;
      if (performance.now() > end) {
        const text = await this.evaluate(() => document.body.innerText);
        assert.fail(`${this.driver.browser} waited for ${what}; the page says: ${text.slice(0, 1500)}`);
      }
      await new Promise((next) => setTimeout(next, LOOK_MS));
    }
  }

  async sees(text: string): Promise<void> {
    await this.until(`“${text}”`, (wanted: string) => document.body.innerText.includes(wanted), text);
  }

  async seesElement(selector: string): Promise<void> {
    await this.until(selector, (wanted: string) => document.querySelector(wanted) !== null, selector);
  }

  /** Resolves once something with this role has this name, or the name that the pattern matches. */
  async finds(role: Role, name: string | RegExp): Promise<void> {
    await this.#place(role, name);
  }

  async click(role: Role, name: string | RegExp): Promise<void> {
    this.clicks += 1;
    await this.#clickThere(await this.#place(role, name));
  }

  /** Clicks what a selector finds first: for things that have no name of their own. */
  async clickSelector(selector: string): Promise<void> {
    this.clicks += 1;
    await this.#clickThere(
      await this.until(selector, (wanted: string) => {
        const element = document.querySelector(wanted);
        if (element === null) return null;
        element.scrollIntoView({ block: "center", inline: "center" });
        const { left, top, width, height } = element.getBoundingClientRect();
        return { x: left + width / 2, y: top + height / 2 };
      }, selector),
    );
  }

  /** Clicks the field with this label, empties it, and types. */
  async type(label: string, text: string): Promise<void> {
    await this.#clickThere(await this.#place("field", label));
    await this.evaluate(() => (document.activeElement as HTMLInputElement).select());
    await this.driver.press([...text]);
  }

  /** Chooses an option of the list with this label, as its script is told of it. */
  async choose(label: string, option: string): Promise<void> {
    await this.#place("field", label, option);
  }

  async press(...keys: readonly string[]): Promise<void> {
    await this.driver.press(keys);
  }

  async text(selector: string): Promise<string> {
    return await this.until(
      selector,
      (wanted: string) => document.querySelector(wanted)?.textContent ?? null,
      selector,
    );
  }

  /** Goes to a view as a link does: loading the page anew would forget the key. */
  async go(path: string): Promise<void> {
    await this.evaluate((to: string) => {
      const link = document.createElement("a");
      link.href = to;
      document.body.append(link);
      link.click();
      link.remove();
    }, path);
    await this.shown();
  }

  /** Resolves once no part of a view is loading any more. */
  async shown(): Promise<void> {
    // A view that was asked for begins to load with the next rendering.
    await this.evaluate(() => new Promise<null>((next) => setTimeout(() => next(null), 20)));
    await this.until(
      "the view",
      () => document.querySelector("main#main") !== null && document.querySelector(".loading") === null,
    );
  }

  /** Fails if the page is wider than its window. */
  async fits(what: string): Promise<void> {
    const [content, width] = await this.evaluate(() => {
      const { scrollWidth, clientWidth } = document.documentElement;
      return [scrollWidth, clientWidth] as const;
    });
    assert.ok(content <= width, `${this.driver.browser}, ${what}: ${content} pixels in a window of ${width}`);
  }

  /** Fails if axe-core finds anything wrong with the page. */
  async isAccessible(what: string): Promise<void> {
    await this.#withAxe();
    const violations = await this.evaluate(async () => {
      const found = await (globalThis as unknown as { axe: typeof axe }).axe.run(document);
      return found.violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" | ")}`);
    });
    assert.deepEqual(violations, [], `${this.driver.browser}, ${what}`);
  }

  /** Errors that a test expects: a browser logs a refused request. */
  expects(pattern: RegExp): void {
    this.#expected.push(pattern);
  }

  /** Fails if a script or a policy complained, except for what the test expects. */
  async hadNoComplaints(): Promise<void> {
    const complaints = (await this.driver.complaints()).filter((text) =>
      !this.#expected.some((pattern) => pattern.test(text))
    );
    assert.deepEqual(complaints, [], this.driver.browser);
  }

  async #withAxe(): Promise<void> {
    if (await this.evaluate(() => "axe" in globalThis)) return;
    // Evaluated from outside, so that the page's policy needs no exception.
    await this.driver.call(`() => { ${axe.source}; return null; }`, []);
  }

  async #clickThere({ x, y }: { readonly x: number; readonly y: number }): Promise<void> {
    await this.driver.clickAt(Math.round(x), Math.round(y));
  }

  /** The middle of the first visible element with a role and a name, which is scrolled into view and not covered. */
  async #place(
    role: Role | "field",
    name: string | RegExp,
    option: string | null = null,
  ): Promise<{ readonly x: number; readonly y: number }> {
    await this.#withAxe();
    const wanted = typeof name === "string" ? name : name.source;
    return await this.until(
      `${role} “${wanted}”`,
      findByRole,
      role,
      wanted,
      typeof name !== "string",
      option,
    );
  }
}

/** Runs in the page. Roles and names are computed by axe-core, which computes them in every browser alike. */
function findByRole(
  role: string,
  name: string,
  isPattern: boolean,
  option: string | null,
): { x: number; y: number } | null {
  const { axe } = globalThis as unknown as {
    // deno-lint-ignore no-explicit-any -- axe-core's inner functions have no types
    axe: { setup(root: Node): void; teardown(): void; commons: any };
  };
  const matches = isPattern
    ? (text: string) => new RegExp(name).test(text)
    : (text: string) => text === name || (role === "field" && text.startsWith(name));
  const fields = "input:not([type=radio], [type=checkbox]), select, textarea";
  const candidates = [...document.querySelectorAll<HTMLElement>(role === "field" ? fields : "body *")];
  axe.setup(document);
  try {
    for (const element of candidates) {
      if (!element.checkVisibility({ visibilityProperty: true })) continue;
      if (role !== "field" && axe.commons.aria.getRole(element) !== role) continue;
      if (!matches(axe.commons.text.accessibleText(element).replace(/\s+/g, " ").trim())) continue;
      if (element.matches(":disabled")) continue;
      if (option !== null && element instanceof HTMLSelectElement) {
        const chosen = [...element.options].find(({ text }) => text === option);
        if (chosen === undefined) continue;
        element.value = chosen.value;
        element.dispatchEvent(new Event("input", { bubbles: true }));
        element.dispatchEvent(new Event("change", { bubbles: true }));
        return { x: 0, y: 0 };
      }
      element.scrollIntoView({ block: "center", inline: "nearest" });
      // A link that breaks has several boxes, and the middle of all may be beside them.
      const box = element.getClientRects()[0] ?? element.getBoundingClientRect();
      const place = { x: box.left + box.width / 2, y: box.top + box.height / 2 };
      const there = document.elementFromPoint(place.x, place.y);
      if (there === null || !(element.contains(there) || there.contains(element))) continue;
      return place;
    }
  } finally {
    axe.teardown();
  }
  return null;
}
