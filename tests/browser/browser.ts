/**
 * Debian's Chromium on the pages of a real service. No page may call another origin, break its policy, or log
 * an error: otherwise the test that opened it fails.
 */
import assert from "node:assert/strict";
import axe from "axe-core";
import { type Browser, type BrowserContext, chromium, type Page, type Request } from "playwright-core";

export const CHROMIUM = "/usr/bin/chromium";
/** The suffix of the name of a test that needs it. */
export const NEEDS_CHROMIUM = `[needs ${CHROMIUM}]`;

export function chromiumIsMissing(): boolean {
  try {
    return !Deno.statSync(CHROMIUM).isFile;
  } catch {
    return true;
  }
}

export type Theme = "light" | "dark";
export const THEMES: readonly Theme[] = ["light", "dark"];

export interface Visit {
  readonly page: Page;
  /** Every request so far, in order: method, path with query, body size of the answer. */
  readonly requests: readonly Requested[];
  /** Resolves once every request has its answer. */
  readonly idle: () => Promise<void>;
  /** Errors that a test expects: a refused request writes one to the browser's log. */
  readonly expectErrors: (pattern: RegExp) => void;
}

export interface Requested {
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly bytes: number;
}

export interface VisitOptions {
  readonly theme?: Theme;
  readonly width?: number;
  readonly height?: number;
  /** A name of the IANA database; the machine's zone by default. */
  readonly timezone?: string;
  /** A telephone: the pointer is a finger. */
  readonly isTouched?: boolean;
}

/** A name that resolves to loopback but is no secure context: its pages have no `crypto.subtle`. */
export const INTRANET = "jiss.intranet.example";

/**
 * One browser for all tests of a file: starting it costs more than most of them. Each visit is a context of
 * its own, with its own cookies, storage and cache.
 */
let browser: Browser | null = null;

export async function closeBrowser(): Promise<void> {
  await browser?.close();
  browser = null;
}
Deno.test.afterAll(closeBrowser);

async function openBrowser(): Promise<Browser> {
  // A browser that one test broke is replaced.
  if (browser?.isConnected()) return browser;
  browser = await chromium.launch({
    executablePath: CHROMIUM,
    args: [
      "--no-sandbox",
      "--disable-gpu",
      // Work that would get a process of its own is small here.
      "--in-process-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
      `--host-resolver-rules=MAP ${INTRANET} 127.0.0.1`,
    ],
  });
  return browser;
}

/**
 * Calls `use` with `visit`, which opens a page in a context of its own; all are closed when `use` returns.
 */
export async function withBrowser(
  origin: string,
  use: (visit: (options?: VisitOptions) => Promise<Visit>) => Promise<void>,
): Promise<void> {
  const shared = await openBrowser();
  const visits: Watched[] = [];
  try {
    await use(async (options) => {
      const watched = await open(shared, origin, options);
      visits.push(watched);
      return watched;
    });
    for (const { complaints } of visits) assert.deepEqual(complaints(), []);
  } finally {
    for (const { context } of visits) await context.close();
  }
}

/** Makes a function that defines tests with a browser, on services that `withService` gives. */
export function browserTests<Given>(
  withService: (use: (given: Given) => Promise<void>) => Promise<void>,
  originOf: (given: Given) => string,
): (
  name: string,
  run: (visit: (options?: VisitOptions) => Promise<Visit>, given: Given) => Promise<void>,
) => void {
  return (name, run) =>
    Deno.test({
      name: `${name} ${NEEDS_CHROMIUM}`,
      ignore: chromiumIsMissing(),
      fn: () => withService((given) => withBrowser(originOf(given), (visit) => run(visit, given))),
    });
}

interface Watched extends Visit {
  readonly context: BrowserContext;
  readonly complaints: () => readonly string[];
}

async function open(
  browser: Browser,
  origin: string,
  { theme = "light", width = 1200, height = 900, timezone, isTouched = false }: VisitOptions = {},
): Promise<Watched> {
  const context = await browser.newContext({
    baseURL: origin,
    colorScheme: theme,
    viewport: { width, height },
    reducedMotion: "reduce",
    hasTouch: isTouched,
    isMobile: isTouched,
    ...(timezone === undefined ? {} : { timezoneId: timezone }),
  });
  // A breach that the page's script catches is told to listeners alone.
  await context.addInitScript(() =>
    addEventListener(
      "securitypolicyviolation",
      ({ violatedDirective, blockedURI }) =>
        console.error(`broke its policy: ${violatedDirective} ${blockedURI}`),
    )
  );
  const page = await context.newPage();
  // In the order in which they were made, not in which they ended.
  const made = new Map<Request, Requested | null>();
  const requests: Requested[] = [];
  const complaints: string[] = [];
  const expected: RegExp[] = [];
  let pending = 0;
  page.on("requestfailed", () => pending -= 1);
  page.on("request", (request) => {
    pending += 1;
    made.set(request, null);
    const url = request.url();
    if (!url.startsWith(`${origin}/`) && !/^(?:data|blob):/.test(url)) complaints.push(`asked ${url}`);
  });
  page.on("requestfinished", async (request) => {
    const { pathname, search, protocol } = new URL(request.url());
    if (protocol.startsWith("http")) {
      // A page that closes in the meantime takes the response with it.
      const response = await request.response().catch(() => null);
      const sizes = await request.sizes().catch(() => null);
      made.set(request, {
        method: request.method(),
        path: pathname + search,
        status: response?.status() ?? 0,
        bytes: sizes?.responseBodySize ?? 0,
      });
      requests.splice(0, Infinity, ...[...made.values()].filter((known) => known !== null));
    }
    pending -= 1;
  });
  page.on("pageerror", (error) => complaints.push(`threw ${error}`));
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") {
      complaints.push(`wrote ${message.text()}`);
    }
  });
  return {
    page,
    context,
    requests,
    async idle() {
      while (pending > 0) await new Promise((next) => setTimeout(next, 10));
    },
    expectErrors: (pattern) => expected.push(pattern),
    complaints: () => complaints.filter((text) => !expected.some((pattern) => pattern.test(text))),
  };
}

/** Fails if axe-core finds anything wrong with the page. */
export async function assertAccessible(page: Page, what: string): Promise<void> {
  // Evaluated from outside, so that the page's policy needs no exception; once, since it is long.
  if (!await page.evaluate(() => "axe" in globalThis)) await page.evaluate(axe.source);
  const violations = await page.evaluate(async () => {
    const found = await (globalThis as unknown as { axe: typeof axe }).axe.run(document);
    return found.violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" | ")}`);
  });
  assert.deepEqual(violations, [], what);
}

/** Fails if the page is wider than its window. */
export async function assertFits(page: Page, what: string): Promise<void> {
  const [content, width] = await page.evaluate(() => {
    const { scrollWidth, clientWidth } = document.documentElement;
    return [scrollWidth, clientWidth] as const;
  });
  assert.ok(content <= width, `${what}: ${content} pixels in a window of ${width}`);
}

/** The text of what has the focus. */
export async function focused(page: Page): Promise<string> {
  return await page.evaluate(() => (document.activeElement as HTMLElement).innerText ?? "");
}

/** Presses Tab until what has this text has the focus. */
export async function tabTo(page: Page, text: string): Promise<void> {
  for (let steps = 0; steps < 60; steps += 1) {
    if (await focused(page) === text) return;
    await page.keyboard.press("Tab");
  }
  assert.fail(`${text} cannot be reached`);
}

/** Presses Tab until a choice has the focus. */
export async function tabToChoices(page: Page): Promise<void> {
  for (let steps = 0; steps < 40; steps += 1) {
    await page.keyboard.press("Tab");
    if (await page.evaluate(() => document.activeElement instanceof HTMLInputElement)) return;
  }
  assert.fail("no decision can be reached");
}
